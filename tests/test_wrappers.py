"""The wrappers: the mask in the observation, no position twice, the solver's verdict."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from yukon_env import Game, YukonEnv, YukonError
from yukon_env.wrappers import MaskInObservation, NoRepeats, VerdictInInfo

LAST_FOUR = "Foundations: C-Q D-Q H-Q S-Q\nKC\nKD\nKH\nKS\n-\n-\n-"


def table(env: gym.Env) -> Game:
    """The true game of an environment."""
    unwrapped = env.unwrapped
    assert isinstance(unwrapped, YukonEnv)
    return Game.of_record(unwrapped.variant, unwrapped.records)


@pytest.mark.parametrize("key", ["observation", "observations"])
def test_mask_in_observation(key: str) -> None:
    env = MaskInObservation(gym.make("Yukon-v0"), observation_key=key)
    observation, info = env.reset(seed=1)
    assert set(observation) == {key, "action_mask"}
    assert env.observation_space.contains(observation)
    np.testing.assert_array_equal(observation["action_mask"], info["action_mask"])
    action = int(observation["action_mask"].argmax())
    observation, _, _, _, info = env.step(action)
    np.testing.assert_array_equal(observation["action_mask"], info["action_mask"])


@pytest.mark.filterwarnings("ignore:.*different from the unwrapped version")
def test_mask_in_observation_passes_the_checker() -> None:
    check_env(MaskInObservation(YukonEnv("canberra")), skip_render_check=True)


@pytest.mark.parametrize("variant", ["yukon", "yukon-relaxed", "alaska", "tasmanian"])
def test_no_position_is_entered_twice(variant: str) -> None:
    env = NoRepeats(YukonEnv(variant))
    rng = np.random.default_rng(0)
    for seed in range(5):
        _, info = env.reset(seed=seed)
        seen = {table(env).key}
        for _ in range(300):
            np.testing.assert_array_equal(env.action_masks(), info["action_mask"])
            _, _, terminated, _, info = env.step(rng.choice(np.flatnonzero(info["action_mask"])))
            key = table(env).key
            assert key not in seen
            seen.add(key)
            if terminated:
                break


def keys_after(game: Game) -> dict[int, int]:
    """The position key that each legal move leads to."""
    keys = {}
    for move in game.legal_moves():
        game.play(move)
        keys[int(move)] = game.key
        game.undo()
    return keys


def test_no_repeats_takes_away_the_moves_that_lead_back_and_ends_where_all_do() -> None:
    env = NoRepeats(YukonEnv("yukon"))
    n_stuck = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        _, info = env.reset(seed=seed)
        seen, terminated = {table(env).key}, False
        while not terminated:
            after = keys_after(table(env))
            marked = set(np.flatnonzero(info["action_mask"]).tolist())
            assert marked == {move for move, key in after.items() if key not in seen}
            _, reward, terminated, _, info = env.step(rng.choice(sorted(marked)))
            seen.add(table(env).key)
        assert reward == info["is_success"]
        assert info["action_mask"].all()
        assert set(keys_after(table(env)).values()) <= seen
        n_stuck += not info["is_success"] and not table(env).dead_end
    assert n_stuck > 0


def test_verdict_is_that_of_the_solver_until_the_end() -> None:
    env = VerdictInInfo(YukonEnv("yukon", perfect_information=True))
    _, info = env.reset(options={"board": LAST_FOUR})
    for king in (12, 25, 38, 51):
        assert info["verdict"] == "winnable"
        _, _, terminated, _, info = env.step(king * 8 + 7)
    assert terminated
    assert info["verdict"] == "winnable"


def test_verdicts_of_whole_deals() -> None:
    env = VerdictInInfo(YukonEnv("russian", perfect_information=True))
    verdicts = set()
    for deal in range(60):
        _, info = env.reset(options={"deal": deal})
        assert info["verdict"] == Game("russian", deal=deal).solve().verdict.value
        verdicts.add(info["verdict"])
    assert verdicts == {"winnable", "unwinnable"}


def test_verdicts_need_perfect_information() -> None:
    with pytest.raises(YukonError, match="perfect_information"):
        VerdictInInfo(YukonEnv("yukon"))


def test_wrappers_of_other_environments_are_refused() -> None:
    with pytest.raises(YukonError, match="YukonEnv"):
        NoRepeats(gym.make("CartPole-v1"))


def test_shaping_is_taken_back_where_no_repeats_ends_a_game() -> None:
    env = NoRepeats(YukonEnv("yukon", shaping=1.0))
    for seed in range(10):
        rng = np.random.default_rng(seed)
        _, info = env.reset(seed=seed)
        total, terminated = 0.0, False
        while not terminated:
            action = rng.choice(np.flatnonzero(info["action_mask"]))
            _, reward, terminated, _, info = env.step(action)
            total += reward
        assert total == pytest.approx(float(info["is_success"]))


def test_wrappers_are_in_the_spec() -> None:
    env = NoRepeats(gym.make("Yukon-v0"))
    assert env.spec is not None
    assert isinstance(gym.make(env.spec), NoRepeats)
