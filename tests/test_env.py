"""`YukonEnv`: Gymnasium's interface, options, illegal actions, rewards, endings, saved states."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from helpers import (
    BURIED_ACE,
    ENV_IDS,
    KEYS,
    ONE_MOVE_LEFT,
    SPADES_LEFT,
    assert_same,
    assert_uniform,
    played,
)

from yukon_env import VARIANTS, Game, YukonEnv, YukonError, deck_of_deal
from yukon_env.errors import MoveError

ROOT = Path(__file__).parent.parent
INFO_KEYS = ["action_mask", "deal", "is_success", "illegal_action"]
SPADES_UP = [(39 + rank) * 8 + 7 for rank in range(13)]
ILLEGAL = 0 * 8 + 0  # AC to column 1, which no board below allows


def rollout(env: Any, steps: int, seed: int = 0) -> list:
    """Steps random legal actions, starting anew when a game ends; returns all that is seen."""
    rng = np.random.default_rng(seed)
    seen = []
    for _ in range(steps):
        action = int(rng.choice(np.flatnonzero(env.unwrapped.action_masks())))
        result = env.step(action)
        seen.append(result)
        if result[2] or result[3]:
            seen.append(env.reset())
    return seen


def frozen(env: YukonEnv) -> bytes:
    """The whole state of an environment, to see that nothing has changed."""
    return pickle.dumps((env.save_state(), env.np_random.bit_generator.state))


# --- The interface ---------------------------------------------------------------------------

# Warnings of the checkers that are meant to be there, each with its reason.
EXPECTED_WARNINGS = [
    # (52, 3) is a table of cards: not an image, and flattening it is the policy's choice.
    "Your observation  has an unconventional shape",
]


@pytest.mark.parametrize("env_id", ENV_IDS)
def test_gymnasium_checks(env_id: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gym.make(env_id, render_mode="ansi").unwrapped)


@pytest.mark.parametrize("env_id", ENV_IDS)
def test_stable_baselines3_checks(env_id: str) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for message in EXPECTED_WARNINGS:
            warnings.filterwarnings("ignore", message)
        checker.check_env(gym.make(env_id, render_mode="ansi"))


def test_registration() -> None:
    registered = {
        name for name, spec in gym.registry.items() if "yukon_env" in str(spec.entry_point)
    }
    assert registered == set(ENV_IDS)
    for variant in VARIANTS.values():
        env = gym.make(variant.env_id)
        assert env.unwrapped.variant is variant  # type: ignore[attr-defined]
        assert env.spec is not None
        assert env.spec.max_episode_steps == 500
        assert isinstance(env.spec.entry_point, str)


def test_make_in_a_fresh_process() -> None:
    code = (
        "import gymnasium as g; e = g.make('yukon_env:Yukon-v0'); print(e.reset(seed=1)[1]['deal'])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert int(run.stdout) == YukonEnv().reset(seed=1)[1]["deal"]
    assert run.stderr == ""


@pytest.mark.parametrize("key", KEYS)
def test_spaces_hold_what_is_seen(key: str) -> None:
    for perfect in (False, True):
        env = YukonEnv(key, perfect_information=perfect)
        assert env.action_space == gym.spaces.Discrete(417)
        observation, info = env.reset(seed=1)
        for result in [(observation, 0.0, False, False, info), *rollout(env, 150)]:
            assert env.observation_space.contains(result[0])
            assert list(result[-1]) == INFO_KEYS
            assert result[-1]["action_mask"].dtype == np.int8


def test_types() -> None:
    env = YukonEnv()
    _, info = env.reset(seed=1)
    observation, reward, terminated, truncated, step_info = env.step(ILLEGAL)
    types = [type(value) for value in (observation, reward, terminated, truncated)]
    assert types == [np.ndarray, float, bool, bool]
    for shown in (info, step_info):
        assert [type(shown[name]) for name in INFO_KEYS] == [np.ndarray, int, bool, bool]
    assert env.action_masks().dtype == np.bool_


@pytest.mark.parametrize("key", KEYS)
def test_the_environment_shows_the_game(key: str) -> None:
    env = YukonEnv(key)
    observation, info = env.reset(options={"deal": 7})
    game = Game(key, deal=7)
    rng = np.random.default_rng(0)
    for _ in range(60):
        assert (observation == game.observation()).all()
        assert (info["action_mask"] == game.action_mask()).all()
        assert (env.action_masks() == game.action_mask()).all()
        assert env.game().key == game.key or not game.legal_moves()
        if not game.legal_moves():
            break
        action = int(rng.choice(game.legal_moves()))
        game.play(action)
        observation, _, terminated, _, info = env.step(action)
        assert terminated == (game.won or game.dead_end)


def test_arrays_are_the_callers_to_keep() -> None:
    env = YukonEnv()
    first, info = env.reset(options={"deal": 1})
    kept = copy.deepcopy((first, info))
    seen = env.step(int(np.flatnonzero(info["action_mask"])[0]))
    assert_same((first, info), kept)
    later = copy.deepcopy(seen)
    first[:] = info["action_mask"][:] = 0
    seen[0][:] = seen[4]["action_mask"][:] = 0
    again = env.step(ILLEGAL)
    assert (again[0] == later[0]).all()
    assert (again[4]["action_mask"] == later[4]["action_mask"]).all()


# --- Reset -----------------------------------------------------------------------------------


def deals(env: YukonEnv, n: int, **first: Any) -> list[int]:
    return [env.reset(**(first if i == 0 else {}))[1]["deal"] for i in range(n)]


def test_a_seed_fixes_the_sequence_of_deals() -> None:
    env = YukonEnv()
    first = deals(env, 5, seed=3)
    assert deals(env, 5, seed=3) == first == deals(YukonEnv("russian"), 5, seed=3)
    assert len(set(first)) == 5
    assert min(first) >= 20_000
    others = {deals(env, 1, seed=seed)[0] for seed in range(50)}
    assert len(others) == 50


def test_without_a_seed_the_sequence_goes_on() -> None:
    env = YukonEnv()
    whole = deals(env, 6, seed=3)
    assert deals(env, 3, seed=3) + deals(env, 3) == whole
    assert deals(YukonEnv(), 1) != deals(YukonEnv(), 1)


def test_a_game_given_does_not_disturb_the_sequence() -> None:
    env = YukonEnv()
    whole = deals(env, 2, seed=3)
    env.reset(seed=3, options={"deal": 5})
    assert deals(env, 2) == whole


def test_draws_are_uniform() -> None:
    env = YukonEnv(deals=range(100, 105))
    drawn = deals(env, 2000, seed=0)
    assert_uniform([drawn.count(deal) for deal in range(100, 105)])


DECK = deck_of_deal(77)


@pytest.mark.parametrize(
    ("options", "deal", "game"),
    [
        ({"deal": 77}, 77, Game("yukon", deal=77)),
        ({"deal": np.int64(77)}, 77, Game("yukon", deal=77)),
        ({"deck": DECK}, -1, Game("yukon", deal=77)),
        ({"deck": DECK.tolist()}, -1, Game("yukon", deal=77)),
        ({"board": Game("yukon", deal=77).to_text()}, -1, Game("yukon", deal=77)),
        ({"board": SPADES_LEFT}, -1, Game("yukon", text=SPADES_LEFT)),
    ],
)
def test_options(options: dict[str, Any], deal: int, game: Game) -> None:
    env, before = YukonEnv(), dict(options)
    for _ in range(2):
        observation, info = env.reset(seed=1, options=options)
        assert info["deal"] == deal
        assert type(info["deal"]) is int
        assert (observation == game.observation()).all()
        assert list(options) == list(before)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dea": 1}, "'dea'; known are deal, deck, board"),
        ({"deal": 1, "colour": 2}, "'colour'"),
        ({"deal": 1, "board": ""}, "one of"),
        ({"deal": -1}, "-1"),
        ({"deal": 2**63}, str(2**63)),
        ({"deal": 1.0}, "1.0"),
        ({"deck": [0] * 52}, "AC 52 times"),
        ({"board": "AC"}, "7 columns"),
        ({"board": Game("yukon", deal=1).to_text(hide=True)}, "hidden cards"),
        ({"deal": None}, "None"),
        ({"deck": None}, "None"),
        ({"board": None}, "None"),
        ({"board": 5}, "5"),
        (5, "dict or None, not 5"),
        ([("deal", 1)], "dict or None"),
        ("deal", "dict or None"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_bad_options_change_nothing(options: dict[str, Any], message: str) -> None:
    env = YukonEnv()
    env.reset(seed=4)
    before = frozen(env)
    with pytest.raises(YukonError, match=message):
        env.reset(seed=9, options=options)
    assert frozen(env) == before


@pytest.mark.parametrize("seed", [-1, 1.5, "1"])
def test_bad_seeds_change_nothing(seed: Any) -> None:
    env = YukonEnv()
    env.reset(seed=4)
    before = frozen(env)
    with pytest.raises((YukonError, gym.error.Error)):
        env.reset(seed=seed)
    assert frozen(env) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"variant": "klondike"}, "klondike"),
        ({"deals": "training"}, "training"),
        ({"illegal_action": "punish"}, "punish"),
        ({"shaping": float("nan")}, "nan"),
        ({"shaping": float("inf")}, "inf"),
        ({"discount": 1.1}, "1.1"),
        ({"discount": -0.1}, "-0.1"),
        ({"render_mode": "holodeck"}, "holodeck"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(YukonError, match=message):
        YukonEnv(**arguments)


def test_a_step_before_the_first_reset_is_an_error() -> None:
    with pytest.raises((YukonError, gym.error.ResetNeeded)):
        YukonEnv().step(0)


# --- Illegal actions -------------------------------------------------------------------------


def started(**arguments: Any) -> tuple[YukonEnv, np.ndarray, dict[str, Any]]:
    env = YukonEnv(**arguments)
    observation, info = env.reset(options={"board": SPADES_LEFT})
    return env, observation, info


def test_an_illegal_action_changes_nothing() -> None:
    env, observation, info = started()
    after = env.step(ILLEGAL)
    assert (after[0] == observation).all()
    assert after[1:4] == (0.0, False, False)
    assert_same(after[4], info | {"illegal_action": True})
    assert env.step(SPADES_UP[0])[4]["illegal_action"] is False


def test_an_illegal_action_may_end_the_episode() -> None:
    env, observation, _ = started(illegal_action="terminate")
    after = env.step(ILLEGAL)
    assert (after[0] == observation).all()
    assert after[1:4] == (0.0, True, False)
    assert after[4]["illegal_action"]
    assert not after[4]["is_success"]
    assert env.reset()[1]["illegal_action"] is False
    started(illegal_action="terminate")[0].step(SPADES_UP[0])


def test_an_illegal_action_may_be_an_error() -> None:
    env, _, _ = started(illegal_action="raise", render_mode="ansi")
    before = frozen(env)
    with pytest.raises(MoveError, match=r"2S>foundation is illegal: 2S is not the end card"):
        env.step(SPADES_UP[1])
    assert frozen(env) == before
    assert not env.step(SPADES_UP[0])[4]["illegal_action"]


@pytest.mark.parametrize("mode", ["ignore", "terminate", "raise"])
@pytest.mark.parametrize("action", [-1, 417, 2**70, 1.0, 1.5, "1", None, [1, 2]], ids=str)
def test_what_is_no_action_is_an_error(mode: Any, action: Any) -> None:
    env, _, _ = started(illegal_action=mode)
    before = frozen(env)
    with pytest.raises(MoveError, match="an action is a"):
        env.step(action)
    assert frozen(env) == before


@pytest.mark.parametrize("cast", [int, np.int64, np.uint16, np.int8, lambda a: np.array(a)])
def test_integers_of_any_kind_are_actions(cast: Any) -> None:
    env, _, _ = started()
    low = cast(7)
    assert env.step(low)[4]["illegal_action"]
    if cast is not np.int8:
        assert not env.step(cast(SPADES_UP[0]))[4]["illegal_action"]


# --- Rewards and endings ---------------------------------------------------------------------


@pytest.mark.parametrize("key", KEYS)
def test_a_win(key: str) -> None:
    env = YukonEnv(key)
    env.reset(options={"board": SPADES_LEFT})
    results = [env.step(action) for action in SPADES_UP]
    assert [result[1] for result in results] == [0.0] * 12 + [1.0]
    assert [result[2] for result in results] == [False] * 12 + [True]
    assert [result[4]["is_success"] for result in results] == [False] * 12 + [True]
    assert results[-1][4]["action_mask"].all()
    over = env.step(0)
    assert over[1:4] == (0.0, True, False)


def test_a_dead_end() -> None:
    # When KH has gone up, only spades are left, and none lies on another in Yukon.
    env = YukonEnv("yukon")
    board = "Foundations: C-K D-K H-Q S-0\nTS AS 2S\n3S\n4S\n5S\n6S\n7S\n8S 9S JS QS KS KH"
    env.reset(options={"board": board})
    after = env.step((2 * 13 + 12) * 8 + 7)
    assert after[1:4] == (0.0, True, False)
    assert not after[4]["is_success"]
    assert after[4]["action_mask"].all()


def test_truncation_is_not_termination() -> None:
    env = gym.make("Yukon-v0", max_episode_steps=3)
    env.reset(options={"board": SPADES_LEFT})
    ends = [env.step(action)[2:4] for action in SPADES_UP[:3]]
    assert ends == [(False, False), (False, False), (False, True)]


def test_a_win_in_the_last_step_is_terminated() -> None:
    env = gym.make("Yukon-v0", max_episode_steps=1)
    env.reset(options={"board": ONE_MOVE_LEFT})
    assert env.step(SPADES_UP[12])[1:3] == (1.0, True)


def test_the_step_limit_of_a_registered_environment() -> None:
    env = gym.make("TasmanianPatience-v0")
    env.reset(options={"deal": 0})
    ends = [env.step(416)[2:4] for _ in range(500)]
    assert ends == [(False, False)] * 499 + [(False, True)]


def test_shaping_by_hand() -> None:
    # Yukon has 21 hidden cards: progress is (cards up + cards revealed) / 73.
    # Here 51 - 4 = 47 cards are up at first and all but one are revealed.
    board = "Foundations: C-K D-K H-K S-8\n<TS> 9S\nJS\nQS\nKS" + "\n-" * 3
    env = YukonEnv("yukon", shaping=2.0, discount=0.9)
    env.reset(options={"board": board})
    progress = [(up + revealed) / 73 for up, revealed in ((47, 20), (48, 21), (49, 21), (50, 21))]
    rewards = [env.step(SPADES_UP[rank])[1] for rank in (8, 9, 10)]
    expected = [2 * (0.9 * b - a) for a, b in pairwise(progress)]
    assert rewards == pytest.approx(expected)
    assert env.step(ILLEGAL)[1] == pytest.approx(2 * (0.9 - 1) * progress[-1])
    assert env.step(SPADES_UP[11])[1] == pytest.approx(2 * (0.9 * 72 / 73 - progress[-1]))
    assert env.step(SPADES_UP[12])[1] == pytest.approx(1 - 2 * 72 / 73)
    assert env.step(0)[1] == 0.0


@pytest.mark.parametrize("key", KEYS)
def test_shaping_telescopes(key: str) -> None:
    plain, shaped = YukonEnv(key), YukonEnv(key, shaping=0.7)
    rng = np.random.default_rng(0)
    n_hidden = sum(VARIANTS[key].hidden)
    finished = 0
    for seed in range(6):
        board = played(key, seed, 30).to_text() if seed else SPADES_LEFT
        start = Game(key, text=board)
        if start.dead_end:
            continue
        up, hidden = int(start.record["up"].sum()), int(start.record["n_hidden"][0])
        potential = (up + n_hidden - hidden) / (52 + n_hidden)
        plain.reset(options={"board": board})
        shaped.reset(options={"board": board})
        rewards = np.zeros(2)
        for _ in range(300):
            legal = np.flatnonzero(plain.action_masks())
            ups = legal[legal % 8 == 7]
            action = int(rng.choice(ups if ups.size else legal))
            results = [env.step(action) for env in (plain, shaped)]
            rewards += [result[1] for result in results]
            if results[0][2]:
                assert rewards[1] == pytest.approx(rewards[0] - 0.7 * potential)
                finished += 1
                break
    assert finished


# --- Saved states, pickles, copies -----------------------------------------------------------


@pytest.mark.parametrize("key", ["yukon", "canberra"])
def test_save_and_restore(key: str) -> None:
    env, other = YukonEnv(key), YukonEnv(key)
    env.reset(seed=5)
    rollout(env, 20)
    state = env.save_state()
    frozen = pickle.dumps(state)
    expected = rollout(env, 200)
    assert pickle.dumps(state) == frozen
    env.restore_state(state)
    assert_same(rollout(env, 200), expected)
    other.restore_state(pickle.loads(frozen))
    assert_same(rollout(other, 200), expected)
    assert pickle.dumps(state) == frozen


def test_a_state_of_another_environment_is_refused() -> None:
    env = YukonEnv("yukon")
    env.reset(seed=1)
    state = env.save_state()
    other = YukonEnv("russian")
    other.reset(seed=1)
    before = frozen(other)
    for bad in (
        state,
        {},
        5,
        {"variant": "russian"},
        {"variant": other.variant},
        state | {"variant": other.variant, "episodes": None},
    ):
        with pytest.raises(YukonError):
            other.restore_state(bad)  # type: ignore[arg-type]
        assert frozen(other) == before


@pytest.mark.parametrize("again", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("env_id", ["Yukon-v0", "Canberra-v0"])
def test_copies_in_the_middle_of_a_game_continue_identically(env_id: str, again: Any) -> None:
    env = gym.make(env_id, shaping=0.5, max_episode_steps=60)
    env.reset(seed=2)
    rollout(env, 20)
    twin = again(env)
    assert_same(rollout(twin, 100), rollout(env, 100))


# --- Hidden cards ----------------------------------------------------------------------------


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("steps", [0, 15])
def test_hidden_cards_are_hidden_everywhere(key: str, steps: int) -> None:
    game = played(key, 6, steps)
    if (game.observation()[:, 0] >= 0).all():
        pytest.skip("no card is hidden")
    boards = [game.determinize(np.random.default_rng(seed)).to_text() for seed in (1, 2)]
    assert boards[0] != boards[1]
    seen = []
    for board in boards:
        env = YukonEnv(key, illegal_action="raise", render_mode="ansi")
        observation, info = env.reset(options={"board": board})
        errors = []
        for action in np.flatnonzero(info["action_mask"] == 0):
            with pytest.raises(MoveError) as error:
                env.step(action)
            errors.append(str(error.value))
        view = env.game()
        shown = [view.to_text(), view.key, repr(view), str(view.board), str(view.legal_moves())]
        name = repr(env).replace(hex(id(env)), "")
        seen.append([observation, info, env.render(), name, errors, *shown])
    assert_same(seen[0], seen[1])


def test_perfect_information_shows_the_truth() -> None:
    env = YukonEnv("yukon", perfect_information=True, render_mode="ansi")
    observation, _ = env.reset(options={"deal": 3})
    game = Game("yukon", deal=3)
    assert (observation == game.observation(perfect_information=True)).all()
    assert env.game().board == game.board
    assert f"<{game.to_text().split('<')[1][:2]}>" in str(env.render())


# --- Rendering -------------------------------------------------------------------------------

PICTURE = """\
Canberra
Foundations  2C  -D  -H  AS
Stock 3 cards   Waste 2 cards, top 3S
"""


def test_rendering() -> None:
    env = YukonEnv("canberra", render_mode="ansi")
    columns = [
        "AD 2D 3D 4D 5D 6D 7D 8D 9D TD JD QD KD",
        "AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH",
        "6C 7C 8C 9C TC JC QC KC",
        "4S 5S 6S 7S 8S 9S TS JS QS KS",
    ]
    board = "Foundations: C-2 D-0 H-0 S-A\nStock: <3C> <4C> <5C>\nWaste: 2S 3S\n"
    env.reset(options={"board": board + "\n".join(columns) + "\n-" * 3})
    picture = env.render()
    assert picture is not None
    assert picture.startswith(PICTURE)
    rows = [line.split() for line in picture.splitlines()[5:]]
    assert rows[0] == ["AD", "AH", "6C", "4S"]
    assert rows[12] == ["KD", "KH"]
    assert "3C" not in picture


def test_face_down_cards_and_endings_are_drawn() -> None:
    env = YukonEnv(render_mode="ansi")
    env.reset(options={"deal": 0})
    assert str(env.render()).count("##") == 21
    env.reset(options={"board": ONE_MOVE_LEFT})
    env.step(SPADES_UP[12])
    assert str(env.render()).endswith("Won.")
    env.reset(options={"board": BURIED_ACE})
    assert str(env.render()).endswith("Dead end.")


def test_rendering_needs_a_mode() -> None:
    env = YukonEnv()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None
