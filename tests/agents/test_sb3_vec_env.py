"""`YukonSB3VecEnv` against games replayed one by one."""

import numpy as np
import pytest
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

from agents.mixed_vec_env import MixedSB3VecEnv
from agents.sb3_vec_env import YukonSB3VecEnv
from yukon_env.env import YukonEnv
from yukon_env.evaluation import evaluate
from yukon_env.game import Game


def choose(masks: np.ndarray) -> np.ndarray:
    """The offered action of the highest number."""
    return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


def choose_at_random(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (rng.random(masks.shape) * masks).argmax(axis=1)


def play_episodes(env: YukonSB3VecEnv, steps: int, seed: int = 0) -> list[dict]:
    """Plays at random; returns the infos of the games that ended, with their actions."""
    rng = np.random.default_rng(seed)
    env.seed(seed)
    env.reset()
    actions_of: list[list[int]] = [[] for _ in range(env.num_envs)]
    episodes = []
    for _ in range(steps):
        actions = choose_at_random(get_action_masks(env), rng)
        for played, action in zip(actions_of, actions, strict=True):
            played.append(int(action))
        _, _, dones, infos = env.step(actions)
        for index in np.flatnonzero(dones):
            episodes.append({**infos[index], "actions": actions_of[index]})
            actions_of[index] = []
    return episodes


def test_masks_are_one_array_and_part_of_the_observation():
    env = YukonSB3VecEnv(5)
    observations = env.reset()
    masks = env.env_method("action_masks")
    assert is_masking_supported(env)
    assert masks.shape == (5, 417)
    assert masks.dtype == np.bool_
    np.testing.assert_array_equal(masks, observations["action_mask"])
    assert env.observation_space["observation"].contains(observations["observation"][0])
    assert env.env_method("action_masks", indices=[1, 3]).shape == (2, 417)
    with pytest.raises(AttributeError, match="only `action_masks`"):
        env.env_method("undo")


@pytest.mark.parametrize("variant", ["yukon", "tasmanian"])
def test_games_end_as_they_do_one_by_one(variant):
    env = YukonSB3VecEnv(8, variant, shaping=0.5, discount=0.9, max_episode_steps=60)
    single = YukonEnv(variant, shaping=0.5, discount=0.9)
    episodes = play_episodes(env, 200)
    assert len(episodes) > 20
    for episode in episodes:
        single.reset(options={"deal": episode["deal"]})
        played = [single.step(action) for action in episode["actions"]]
        observation, _, terminated, _, info = played[-1]
        last = episode["terminal_observation"]
        np.testing.assert_array_equal(last["observation"], observation)
        np.testing.assert_array_equal(last["action_mask"], info["action_mask"])
        assert episode["TimeLimit.truncated"] == (not terminated)
        assert episode["is_success"] == info["is_success"]
        assert episode["episode"]["l"] == len(played)
        assert episode["episode"]["r"] == pytest.approx(sum(step[1] for step in played))


def test_only_new_positions_are_offered():
    env = YukonSB3VecEnv(6, allow_repeats=False)
    rng = np.random.default_rng(1)
    env.seed(1)
    env.reset()
    deals = env.games.save_state()["episodes"]["deal"]
    games = [Game("yukon", deal=int(deal)) for deal in deals]
    seen = [{game.key} for game in games]
    going = set(range(6))
    for _ in range(60):
        masks = env.action_masks()
        for index in going:
            assert new_positions(games[index], seen[index]) == set(np.flatnonzero(masks[index]))
        actions = choose_at_random(masks, rng)
        _, _, dones, infos = env.step(actions)
        for index in list(going):
            games[index].play(int(actions[index]))
            seen[index].add(games[index].key)
            if dones[index]:
                assert infos[index]["is_success"] == games[index].won
                assert games[index].won or not new_positions(games[index], seen[index])
                going.remove(index)
    assert len(going) < 6


def new_positions(game: Game, seen: set[int]) -> set[int]:
    """The legal actions that lead to positions not seen."""
    actions = set()
    for action in np.flatnonzero(game.action_mask()):
        after = game.copy()
        after.play(int(action))
        if after.key not in seen:
            actions.add(int(action))
    return actions


def test_shaping_adds_nothing_to_the_return_of_a_game():
    env = YukonSB3VecEnv(16, allow_repeats=False, shaping=1.0, max_episode_steps=None)
    episodes = play_episodes(env, 300)
    assert any(episode["is_success"] for episode in episodes)
    for episode in episodes:
        assert episode["episode"]["r"] == pytest.approx(float(episode["is_success"]))


def test_the_rules_are_those_of_the_evaluation():
    deals = range(20_000, 20_040)
    expected = evaluate(lambda _, masks: choose(masks), "yukon", deals)
    env = YukonSB3VecEnv(16, deals=deals, allow_repeats=False, max_episode_steps=200)
    env.seed(0)
    env.reset()
    compared = 0
    for _ in range(300):
        _, _, _, infos = env.step(choose(env.action_masks()))
        for info in filter(None, infos):
            row = info["deal"] - deals.start
            assert info["is_success"] == expected.won[row]
            assert info["episode"]["l"] == expected.moves[row]
            compared += 1
    assert compared > 30


def test_a_saved_state_goes_on_the_same_way():
    env, other = (YukonSB3VecEnv(8, allow_repeats=False) for _ in range(2))
    play_episodes(env, 40)
    observations = other.restore_state(env.save_state())
    for _ in range(100):
        np.testing.assert_array_equal(observations["action_mask"], env.action_masks())
        actions = choose(env.action_masks())
        expected, rewards, dones, infos = env.step(actions)
        observations, *rest = other.step(actions)
        np.testing.assert_array_equal(observations["observation"], expected["observation"])
        np.testing.assert_array_equal(rest[0], rewards)
        np.testing.assert_array_equal(rest[1], dones)
        assert [info.get("episode") for info in rest[2]] == [info.get("episode") for info in infos]


def test_games_end_where_they_are_lost():
    env = YukonSB3VecEnv(
        8, "russian", allow_repeats=False, solver_states=2000, shaping=1.0, max_episode_steps=None
    )
    episodes = play_episodes(env, 60)
    early = 0
    for episode in episodes:
        game = Game("russian", deal=episode["deal"])
        if game.dead_end:
            continue
        verdicts = [game.solve().verdict]
        for action in episode["actions"]:
            game.play(action)
            verdicts.append(game.solve().verdict)
        early += not (game.won or game.dead_end)
        # A lost deal ends at its first move; any other when the loss comes.
        assert all(verdict == "winnable" for verdict in verdicts[1:-1])
        assert episode["is_success"] == game.won == (verdicts[-1] == "winnable")
        assert episode["episode"]["r"] == pytest.approx(float(game.won))
    assert len(episodes) > 50
    assert early > 20


def test_several_variants_behave_as_each_alone():
    counts = {"yukon": 3, "australian": 2}
    alone = [YukonSB3VecEnv(n, variant, max_episode_steps=20) for variant, n in counts.items()]
    mixed = MixedSB3VecEnv(
        [YukonSB3VecEnv(n, variant, max_episode_steps=20) for variant, n in counts.items()]
    )
    mixed.seed(5)
    for env, seed in zip(alone, (5, 8), strict=True):
        env.seed(seed)
    observations = mixed.reset()
    parts = [env.reset() for env in alone]
    assert observations["variant"].tolist() == [[0], [0], [0], [1], [1]]
    for _ in range(45):
        for name in ("observation", "action_mask"):
            joined = np.concatenate([part[name] for part in parts])
            np.testing.assert_array_equal(observations[name], joined)
        actions = choose(get_action_masks(mixed))
        observations, rewards, dones, infos = mixed.step(actions)
        steps = [alone[0].step(actions[:3]), alone[1].step(actions[3:])]
        parts = [step[0] for step in steps]
        np.testing.assert_array_equal(rewards, np.concatenate([step[1] for step in steps]))
        np.testing.assert_array_equal(dones, np.concatenate([step[2] for step in steps]))
        for index in np.flatnonzero(dones):
            last = infos[index]["terminal_observation"]
            assert last["variant"].tolist() == observations["variant"][index].tolist()
    state = mixed.save_state()
    after = [mixed.step(choose(mixed.action_masks()))[0] for _ in range(5)][-1]
    mixed.restore_state(state)
    again = [mixed.step(choose(mixed.action_masks()))[0] for _ in range(5)][-1]
    np.testing.assert_array_equal(after["observation"], again["observation"])
