"""`YukonVectorEnv`: equal to `SyncVectorEnv` bit for bit, and what it does beyond that."""

from __future__ import annotations

import copy
import gc
import multiprocessing
import os
import pickle
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from helpers import COMPILED, ENV_IDS, KEYS, SPADES_LEFT, assert_same, assert_uniform

from yukon_env import Game, YukonEnv, YukonError, YukonVectorEnv
from yukon_env.engine import crew
from yukon_env.engine.crew import THREAD_NAME
from yukon_env.errors import MoveError
from yukon_env.variants import VARIANTS

MODES = list(AutoresetMode)
KS_UP = 51 * 8 + 7


class Pair:
    """The native environment beside Gymnasium's; every result of the two is compared."""

    def __init__(
        self,
        env_id: str = "Yukon-v0",
        n: int = 5,
        mode: AutoresetMode = AutoresetMode.NEXT_STEP,
        max_episode_steps: int = 30,
        **arguments: Any,
    ) -> None:
        def make() -> gym.Env:
            return gym.make(env_id, max_episode_steps=max_episode_steps, **arguments)

        self.native = gym.make_vec(
            env_id, n, autoreset_mode=mode, max_episode_steps=max_episode_steps, **arguments
        )
        self.sync = SyncVectorEnv([make] * n, autoreset_mode=mode)
        self.n, self.mode = n, mode
        self.rng = np.random.default_rng(0)
        self.over = np.zeros(n, np.bool_)

    def reset(self, **arguments: Any) -> dict[str, Any]:
        """Resets both; returns the infos."""
        results = [env.reset(**copy.deepcopy(arguments)) for env in (self.native, self.sync)]
        assert_same(results[0], results[1])
        return results[0][1]

    def step(self, actions: np.ndarray) -> tuple:
        """Steps both; returns the result."""
        results = [env.step(actions.copy()) for env in (self.native, self.sync)]
        assert_same(results[0], results[1])
        self.over = results[0][2] | results[0][3]
        return results[0]

    def play(self, steps: int, illegal: float = 0.0) -> int:
        """Plays random actions, mostly legal; returns how many games ended."""
        ended = 0
        for _ in range(steps):
            actions = self.native.sample_legal_actions()  # type: ignore[attr-defined]
            wild = self.rng.random(self.n) < illegal
            actions[wild] = self.rng.integers(417, size=wild.sum())
            self.step(actions)
            ended += int(self.over.sum())
            if self.mode == AutoresetMode.DISABLED and self.over.any():
                self.reset(options={"reset_mask": self.over})
        return ended


# --- Equal to SyncVectorEnv ------------------------------------------------------------------

ARGUMENTS: list[dict[str, Any]] = [
    {},
    {"illegal_action": "terminate"},
    {"shaping": 0.5, "discount": 0.99, "perfect_information": True},
    {"deals": [3, 1, 4], "shaping": 0.1, "illegal_action": "terminate"},
    {"deals": range(10, 12)},
]


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=str)
@pytest.mark.parametrize("mode", MODES)
def test_random_play(mode: AutoresetMode, arguments: dict[str, Any]) -> None:
    pair = Pair(mode=mode, **arguments)
    pair.reset(seed=3)
    assert pair.play(100, illegal=0.1) > 10


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("env_id", ENV_IDS)
def test_every_game(env_id: str, mode: AutoresetMode) -> None:
    pair = Pair(env_id, n=3, mode=mode)
    pair.reset(seed=3)
    assert pair.play(70) > 3


@pytest.mark.parametrize("mode", MODES)
def test_legal_play_where_illegal_actions_are_errors(mode: AutoresetMode) -> None:
    pair = Pair("RussianSolitaire-v0", mode=mode, illegal_action="raise")
    pair.reset(seed=3)
    assert pair.play(100) > 10


@pytest.mark.parametrize("mode", MODES)
def test_wins(mode: AutoresetMode) -> None:
    pair = Pair(mode=mode)
    pair.reset(seed=1, options={"board": SPADES_LEFT})
    for rank in range(13):
        # The later games start later, so that they do not all end in one step.
        actions = (39 + np.maximum(rank - np.arange(pair.n) // 2, 0)) * 8 + 7
        result = pair.step(actions)
    assert result[1].tolist() == [1.0, 1.0, 0.0, 0.0, 0.0]
    if mode == AutoresetMode.DISABLED:
        pair.reset(options={"reset_mask": pair.over})
    pair.play(60)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "arguments",
    [
        {"seed": 7},
        {"seed": [4, 2, 4, 9, 0]},
        {"seed": [4, None, 4, None, 0]},
        {"seed": [None] * 5},
        {"seed": [None, 1, 2, 3, 4]},
        {},
        {"options": {}},
        {"options": {"deal": 5}},
        {"options": {"deck": list(range(52))}},
        {"options": {"board": SPADES_LEFT}},
        {"seed": 8, "options": {"deal": 5}},
        {"options": {"reset_mask": np.array([True, False, False, True, False])}},
        {"options": {"reset_mask": np.ones(5, np.bool_)}},
        {"seed": [1, 2, None, 4, 5],
         "options": {"reset_mask": np.array([True, False, True, True, False])}},
        {"options": {"deal": 9, "reset_mask": np.array([False, False, False, True, True])}},
    ],
    ids=lambda arguments: str(arguments)[:60],
)  # fmt: skip
def test_resets_in_the_middle(mode: AutoresetMode, arguments: dict[str, Any]) -> None:
    pair = Pair(mode=mode, max_episode_steps=12)
    pair.reset(seed=3)
    for steps in (5, 7, 12):  # in the middle, after the end, and again
        pair.play(steps)
        pair.reset(**arguments)
    pair.play(30)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("arguments", [{}, {"shaping": 0.5}, {"illegal_action": "terminate"}])
def test_the_last_step_allowed_may_end_the_game_too(
    mode: AutoresetMode, arguments: dict[str, Any]
) -> None:
    pair = Pair(mode=mode, n=2, max_episode_steps=13, **arguments)
    pair.reset(seed=1, options={"board": SPADES_LEFT})
    for rank in range(13):
        result = pair.step(np.full(2, (39 + rank) * 8 + 7))
    assert result[2].all()


@pytest.mark.parametrize("mode", MODES)
def test_a_reset_right_after_the_end(mode: AutoresetMode) -> None:
    pair = Pair(mode=mode, max_episode_steps=3)
    pair.reset(seed=3)
    for _ in range(3):
        pair.step(pair.native.sample_legal_actions())  # type: ignore[attr-defined]
    assert pair.over.all()
    pair.reset(options={"reset_mask": np.array([True, False, True, False, False])})
    if mode == AutoresetMode.DISABLED:
        pair.reset(options={"reset_mask": np.array([False, True, False, True, True])})
    pair.play(20)


def test_the_action_of_a_game_that_is_over_is_ignored() -> None:
    # In the mode NextStep, where it is dealt anew; also if illegal actions are errors.
    pair = Pair(max_episode_steps=3, illegal_action="raise")
    pair.reset(seed=3)
    for _ in range(3):
        pair.step(pair.native.sample_legal_actions())  # type: ignore[attr-defined]
    assert pair.over.all()
    pair.step(np.array([0, -1, 417, 2**62, -(2**62)]))
    with pytest.raises(MoveError, match="not 417"):
        pair.native.step(np.array([0, 0, 0, 417, 0]))


def test_attributes_like_those_of_gymnasium() -> None:
    for mode in MODES:
        pair = Pair(mode=mode)
        for name in ("num_envs", "single_observation_space", "single_action_space",
                     "observation_space", "action_space"):  # fmt: skip
            assert getattr(pair.native, name) == getattr(pair.sync, name)
        assert pair.native.metadata["autoreset_mode"] == pair.sync.metadata["autoreset_mode"]


# --- Making one ------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", ENV_IDS)
def test_make_vec_builds_the_native_environment(env_id: str) -> None:
    envs = gym.make_vec(env_id, num_envs=3)
    assert isinstance(envs.unwrapped, YukonVectorEnv)
    assert envs.unwrapped.variant.env_id == env_id
    assert envs.spec is not None
    assert envs.num_envs == 3


def test_the_step_limit_of_a_registered_environment() -> None:
    envs = gym.make_vec("TasmanianPatience-v0", num_envs=2)
    envs.reset(options={"deal": 0})
    ends = [envs.step(np.array([416, 416]))[3].tolist() for _ in range(500)]
    assert ends == [[False] * 2] * 499 + [[True] * 2]


@pytest.mark.parametrize("mode", MODES)
def test_the_mode_may_be_text(mode: AutoresetMode) -> None:
    assert YukonVectorEnv(2, autoreset_mode=mode.value).autoreset_mode is mode


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_envs": 0}, "0"),
        ({"num_threads": 0}, "0"),
        ({"variant": "klondike"}, "klondike"),
        ({"deals": "training"}, "training"),
        ({"illegal_action": "punish"}, "punish"),
        ({"shaping": float("nan")}, "nan"),
        ({"max_episode_steps": 0}, "max_episode_steps"),
        ({"autoreset_mode": "sometimes"}, "sometimes.*NextStep.*SameStep.*Disabled"),
        ({"render_mode": "holodeck"}, "holodeck"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(YukonError, match=message):
        YukonVectorEnv(**arguments)


def test_without_a_step_limit() -> None:
    envs = YukonVectorEnv(1, "tasmanian", max_episode_steps=None)
    envs.reset(options={"deal": 0})
    assert not any(envs.step(np.array([416]))[3].any() for _ in range(600))


# --- Threads and copies ----------------------------------------------------------------------


def rollout(envs: YukonVectorEnv, steps: int) -> list:
    return [envs.step(envs.sample_legal_actions()) for _ in range(steps)]


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize(("n", "threads"), [(1000, 2), (800, 3), (384, 3), (200, 5), (7, 3)])
def test_threads_change_nothing(mode: str, n: int, threads: int) -> None:
    results = []
    for num_threads in (1, threads):
        envs = YukonVectorEnv(
            n, "canberra", autoreset_mode=mode, max_episode_steps=20, num_threads=num_threads
        )
        envs.reset(seed=5)
        results.append(rollout(envs, 60))
        envs.close()
    assert_same(results[0], results[1])


def helpers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == THREAD_NAME]


def wait_until(condition: Callable[[], Any]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
@pytest.mark.parametrize("ending", ["close", "forget"])
def test_threads_end_with_their_environment(ending: str) -> None:
    envs = YukonVectorEnv(300, num_threads=3)
    envs.reset(seed=1)
    rollout(envs, 2)
    assert len(helpers()) == 2
    if ending == "close":
        envs.close()
    del envs
    gc.collect()
    wait_until(lambda: not helpers())


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_threads_find_all_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    follow, callers = crew.follow, []

    def note(me: int, shared: np.ndarray) -> bool:
        callers.append(threading.current_thread())
        return follow(me, shared)

    monkeypatch.setattr(crew, "follow", note)
    envs = YukonVectorEnv(300, num_threads=3)
    envs.reset(seed=1)
    rollout(envs, 2)
    assert callers[0] is threading.main_thread()
    envs.close()
    wait_until(lambda: not helpers())


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_threads_sleep_when_there_is_no_work_and_wake_for_more() -> None:
    envs, twin = YukonVectorEnv(500, num_threads=3), YukonVectorEnv(500)
    for each in (envs, twin):
        each.reset(seed=1)
    for _ in range(3):
        assert_same(rollout(envs, 20), rollout(twin, 20))
        asleep = envs._threads()._asleep
        wait_until(lambda: len(asleep) == 2)  # noqa: B023
    wait_until(lambda: rollout(envs, 200) and len(asleep) < 2)
    envs.close()


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
@pytest.mark.parametrize("moment", ["lead_step", "wait"])
def test_an_interrupt_waits_for_blocks_that_are_being_written(
    moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = []

    def interrupt(*arguments: Any) -> int:
        raise KeyboardInterrupt

    def wait(shared: np.ndarray, patience: int) -> int:
        waits.append(patience)
        return crew.DONE if patience == crew.ALL else interrupt()

    envs = YukonVectorEnv(200, num_threads=2)
    envs.reset(seed=1)
    rollout(envs, 2)
    monkeypatch.setattr(crew, "lead_step", lambda *arguments: crew.UNFINISHED)
    monkeypatch.setattr(crew, "wait", wait)
    if moment == "lead_step":
        monkeypatch.setattr(crew, "lead_step", interrupt)
    with pytest.raises(KeyboardInterrupt):
        envs.step(envs.sample_legal_actions())
    assert waits[-1] == crew.ALL
    monkeypatch.undo()
    envs.close()


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_a_thread_does_all_the_work_where_no_other_comes_to_it() -> None:
    envs, twin = YukonVectorEnv(300, num_threads=2), YukonVectorEnv(300)
    for each in (envs, twin):
        each.reset(seed=1)
    actions = envs.sample_legal_actions()
    envs.step(actions)
    threads = envs._threads()
    envs.close()
    wait_until(lambda: not helpers())
    shared = threads._shared
    # The same work once more: none of its blocks is taken, and none is done.
    shared[: 3 * crew.LINE : crew.LINE] = 0
    assert crew.follow(1, shared)
    twin.step(actions)
    twin.step(actions)
    assert (envs.records == twin.records).all()
    assert (envs._masks == twin.action_masks()).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own() -> None:
    envs, twin = YukonVectorEnv(200, num_threads=2), YukonVectorEnv(200)
    for each in (envs, twin):
        each.reset(seed=1)
        rollout(each, 5)
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=lambda: theirs.send(rollout(envs, 5)))
    process.start()
    assert ours.poll(60)
    assert_same(ours.recv(), rollout(twin, 5))
    process.join()
    twin = copy.deepcopy(envs)
    assert_same(rollout(envs, 5), rollout(twin, 5))
    envs.close()


@pytest.mark.parametrize("threads", [1, 2])
def test_no_game_is_touched_where_one_action_is_none(threads: int) -> None:
    envs = YukonVectorEnv(200, num_threads=threads)
    envs.reset(seed=1)
    actions, before = envs.sample_legal_actions(), envs.records.copy()
    actions[150] = 417
    with pytest.raises(MoveError, match="a number from 0 to 416, not 417"):
        envs.step(actions)
    assert (envs.records == before).all()
    envs.close()


@pytest.mark.parametrize("threads", [1, 2])
def test_the_action_of_a_game_that_is_dealt_anew_may_be_any_number(threads: int) -> None:
    envs, twin = (
        YukonVectorEnv(200, max_episode_steps=1, num_threads=count) for count in (threads, 1)
    )
    for each in (envs, twin):
        each.reset(seed=1)
        rollout(each, 1)
    actions = twin.sample_legal_actions()
    assert_same(envs.step(np.full(200, 417)), twin.step(actions))
    envs.close()


def arrays_of(result: Any) -> list[np.ndarray]:
    """Every array in a nested result."""
    if isinstance(result, np.ndarray) and result.dtype != object:
        return [result]
    if isinstance(result, dict):
        result = list(result.values())
    if result is None or isinstance(result, bool | int | float):
        return []
    return [array for entry in result for array in arrays_of(entry)]


@pytest.mark.parametrize("mode", MODES)
def test_arrays_are_the_callers_to_keep(mode: AutoresetMode) -> None:
    envs, twin = (YukonVectorEnv(4, autoreset_mode=mode, max_episode_steps=9) for _ in range(2))

    def calls(env: YukonVectorEnv) -> Any:
        yield env.reset(seed=1)
        for _ in range(25):
            result = env.step(env.sample_legal_actions())
            over = result[2] | result[3]
            yield result
            yield env.action_masks()
            if mode == AutoresetMode.DISABLED and over.any():
                yield env.reset(options={"reset_mask": over})

    kept, copies = [], []
    for spoiled, clean in zip(calls(envs), calls(twin), strict=True):
        assert_same(spoiled, clean)
        kept.append(clean)
        copies.append(copy.deepcopy(clean))
        for array in arrays_of(spoiled):
            array[...] = 1
    assert_same(kept, copies)


def test_without_copies_the_next_call_overwrites() -> None:
    envs, twin = YukonVectorEnv(3, copy=False), YukonVectorEnv(3)
    first, info = envs.reset(seed=1)
    assert_same((first, info), twin.reset(seed=1))
    for _ in range(30):
        actions = envs.sample_legal_actions()
        result, expected = envs.step(actions), twin.step(twin.sample_legal_actions())
        assert_same(result, expected)
        assert np.shares_memory(result[0], first)
        assert np.shares_memory(result[4]["action_mask"], info["action_mask"])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("perfect_information", [False, True])
def test_without_copies_nothing_that_is_returned_can_change_a_game(
    mode: AutoresetMode, perfect_information: bool
) -> None:
    envs, twin = (
        YukonVectorEnv(
            4,
            autoreset_mode=mode,
            perfect_information=perfect_information,
            max_episode_steps=9,
            copy=copied,
        )
        for copied in (False, True)
    )
    first: Any = envs.reset(seed=1)
    expected: Any = twin.reset(seed=1)
    for _ in range(9 if mode == AutoresetMode.DISABLED else 25):
        assert_same(first, expected)
        for array in arrays_of(first):
            if array.flags.writeable:
                array[...] = 0
        first = envs.step(envs.sample_legal_actions())
        expected = twin.step(twin.sample_legal_actions())


def test_a_copied_environment_shows_its_own_games() -> None:
    envs = YukonVectorEnv(4, copy=False)
    envs.reset(seed=1)
    twin: YukonVectorEnv = pickle.loads(pickle.dumps(envs))
    for _ in range(30):
        actions = envs.sample_legal_actions()
        assert (twin.sample_legal_actions() == actions).all()
        assert_same(envs.step(actions), twin.step(actions))


# --- Legal actions ---------------------------------------------------------------------------


def test_sampled_actions_are_legal_and_reproducible() -> None:
    for key in KEYS:
        envs, twin = YukonVectorEnv(30, key), YukonVectorEnv(30, key)
        for each in (envs, twin):
            each.reset(seed=6)
        for _ in range(30):
            actions = envs.sample_legal_actions()
            assert actions.dtype == np.int64
            assert (actions == twin.sample_legal_actions()).all()
            assert envs.action_masks()[np.arange(30), actions].all()
            assert not envs.step(actions)[4]["illegal_action"].any()
            twin.step(actions)


def test_sampling_is_uniform() -> None:
    envs = YukonVectorEnv(4000)
    envs.reset(seed=0, options={"deal": 1})
    legal = Game("yukon", deal=1).legal_moves()
    for _ in range(2):
        actions = envs.sample_legal_actions()
        assert set(actions) == {int(move) for move in legal}
        assert_uniform(np.bincount(actions)[sorted(legal)])


def test_draws_tell_nothing_of_each_other() -> None:
    envs = YukonVectorEnv(20_000)
    envs.reset(seed=0, options={"deal": 1})
    first, second = (
        np.unique(envs.sample_legal_actions(), return_inverse=True)[1] for _ in range(2)
    )
    n = first.max() + 1
    assert_uniform(np.bincount(first * n + second, minlength=n * n))
    assert_uniform(np.bincount(first[:-1] * n + first[1:], minlength=n * n))


def test_sampling_where_games_are_over() -> None:
    envs = YukonVectorEnv(20_000, autoreset_mode="Disabled")
    envs.reset(seed=0, options={"board": "Foundations: C-K D-K H-K S-Q\nKS" + "\n-" * 6})
    envs.step(np.full(20_000, KS_UP))
    assert_uniform(np.bincount(envs.sample_legal_actions(), minlength=417))


# --- Errors touch nothing --------------------------------------------------------------------


def frozen(envs: YukonVectorEnv) -> bytes:
    return pickle.dumps((envs.save_state(), envs.action_masks()))


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (np.zeros(2, np.int64), r"shape \(3,\)"),
        (np.zeros((3, 1), np.int64), r"shape \(3,\)"),
        (np.zeros(3), "float64"),
        ([0, 0, -1], "-1"),
        ([0, 0, 417], "417"),
        ([True] * 3, "bool"),
        (None, "shape"),
        (["deal"] * 3, "integers"),
    ],
    ids=str,
)
def test_what_are_no_actions(actions: Any, message: str) -> None:
    envs = YukonVectorEnv(3)
    envs.reset(seed=1)
    before = frozen(envs)
    with pytest.raises(MoveError, match=message):
        envs.step(actions)
    assert frozen(envs) == before


def test_an_illegal_action_may_be_an_error() -> None:
    envs = YukonVectorEnv(3, illegal_action="raise")
    envs.reset(seed=1, options={"board": SPADES_LEFT})
    before = frozen(envs)
    with pytest.raises(MoveError, match="2S>foundation is illegal: 2S is not the end card"):
        envs.step(np.array([39, 39, 40]) * 8 + 7)
    assert frozen(envs) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seed": [1, 2]}, "sequence of 3"),
        ({"seed": [1, 2, -1]}, "seed"),
        ({"seed": [1, 2, "x"]}, "seed"),
        ({"options": {"dea": 1}}, "'dea'"),
        ({"options": 5}, "dict or None, not 5"),
        ({"options": [1]}, "dict or None"),
        ({"seed": 5, "options": {"deal": -1}}, "-1"),
        ({"options": {"reset_mask": np.zeros(3, np.bool_)}}, "True in it"),
        ({"options": {"reset_mask": np.ones(2, np.bool_)}}, r"\(3,\)"),
        ({"options": {"reset_mask": np.ones(3)}}, "float64"),
        ({"seed": 5, "options": {"board": Game("yukon", deal=1).to_text(hide=True)}}, "hidden"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_bad_resets(arguments: dict[str, Any], message: str) -> None:
    envs = YukonVectorEnv(3)
    envs.reset(seed=1)
    rollout(envs, 5)
    before = frozen(envs)
    with pytest.raises(YukonError, match=message):
        envs.reset(**arguments)
    assert frozen(envs) == before


@pytest.mark.parametrize("seed", [-1, -2])
def test_a_negative_seed(seed: int) -> None:
    envs = YukonVectorEnv(3)
    envs.reset(seed=1)
    before = frozen(envs)
    with pytest.raises((YukonError, gym.error.Error)):
        envs.reset(seed=seed)
    assert frozen(envs) == before


def test_options_are_read_not_popped() -> None:
    options = {"deal": 5, "reset_mask": np.array([True, False, True])}
    envs = YukonVectorEnv(3)
    envs.reset(seed=1)
    envs.reset(options=options)
    assert list(options) == ["deal", "reset_mask"]


def test_a_game_that_is_over_must_be_reset_where_resets_are_disabled() -> None:
    envs = YukonVectorEnv(3, autoreset_mode="Disabled", max_episode_steps=2)
    envs.reset(seed=1)
    rollout(envs, 2)
    before = frozen(envs)
    with pytest.raises(YukonError, match="game 0 is over"):
        envs.step(np.zeros(3, np.int64))
    assert frozen(envs) == before
    envs.reset(options={"reset_mask": np.ones(3, np.bool_)})
    rollout(envs, 2)


def test_a_step_before_the_first_reset_is_an_error() -> None:
    with pytest.raises((YukonError, gym.error.ResetNeeded)):
        YukonVectorEnv(2).step(np.zeros(2, np.int64))


def test_a_first_reset_of_some_games_leaves_the_others_unseeded() -> None:
    drawn = set()
    for _ in range(2):
        envs = YukonVectorEnv(2)
        envs.reset(options={"reset_mask": np.array([True, False])})
        drawn.add(int(envs.reset()[1]["deal"][1]))
    assert len(drawn) == 2


# --- Saved states, pickles, views ------------------------------------------------------------


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("key", ["yukon", "canberra"])
def test_states_and_pickles_continue_identically(key: str, mode: str) -> None:
    def make() -> YukonVectorEnv:
        return YukonVectorEnv(
            6, key, autoreset_mode=mode, max_episode_steps=25, shaping=0.5, num_threads=2
        )

    envs, other = make(), make()
    envs.reset(seed=5)
    rollout(envs, 30)
    state = envs.save_state()
    bytes_of_state = pickle.dumps(state)
    twins = [pickle.loads(pickle.dumps(envs)), copy.deepcopy(envs)]
    expected = rollout(envs, 60)
    other.restore_state(pickle.loads(bytes_of_state))
    assert (other.action_masks() == twins[0].action_masks()).all()
    for twin in (*twins, other):
        assert_same(rollout(twin, 60), expected)
    envs.restore_state(state)
    assert_same(rollout(envs, 60), expected)
    assert pickle.dumps(state) == bytes_of_state


def test_a_state_goes_to_a_single_environment_and_back() -> None:
    envs, env = YukonVectorEnv(1), YukonEnv()
    envs.reset(seed=5)
    env.restore_state(envs.save_state())
    assert (env.action_masks() == envs.action_masks()[0]).all()


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (YukonVectorEnv(2, "russian"), "yukon.*russian"),
        (YukonVectorEnv(2, replace(VARIANTS["yukon"], spaces="any")), "spaces='king'.*'any'"),
        (YukonVectorEnv(3), "2 games.*3"),
    ],
)
def test_a_state_of_another_environment_is_refused(other: YukonVectorEnv, message: str) -> None:
    envs = YukonVectorEnv(2)
    envs.reset(seed=1)
    other.reset(seed=1)
    before = frozen(other)
    with pytest.raises(YukonError, match=message):
        other.restore_state(envs.save_state())
    assert frozen(other) == before


@pytest.mark.parametrize("key", KEYS)
def test_views_and_pictures_hide_hidden_cards(key: str) -> None:
    game = Game(key, deal=2)
    seen = []
    for seed in (1, 2):
        guess = game.determinize(np.random.default_rng(seed))
        envs = YukonVectorEnv(2, key, render_mode="ansi")
        observations, info = envs.reset(options={"board": guess.to_text()})
        view = envs.game(1)
        assert view.key == game.key
        assert not view.hidden_known
        seen.append((observations, info, envs.render(), view.to_text(), str(view.board)))
    assert_same(seen[0], seen[1])
    single = YukonEnv(key, render_mode="ansi")
    single.reset(options={"deal": 2})
    assert seen[0][2] == (single.render(),) * 2


def test_perfect_information() -> None:
    envs = YukonVectorEnv(2, perfect_information=True)
    observations, _ = envs.reset(options={"deal": 3})
    game = Game("yukon", deal=3)
    assert (observations == game.observation(perfect_information=True)).all()
    assert envs.game(0).board == game.board


@pytest.mark.parametrize("perfect_information", [False, True])
def test_a_game_that_was_never_dealt_is_an_empty_table(perfect_information: bool) -> None:
    env = YukonVectorEnv(2, perfect_information=perfect_information, autoreset_mode="Disabled")
    observations, _ = env.reset(seed=0, options={"reset_mask": np.array([True, False])})
    assert (observations[1] == [-1, -1, 0]).all()
    assert YukonEnv(perfect_information=perfect_information).action_masks().all()
