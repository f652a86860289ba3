"""The greedy and the random player, their weights and their names."""

import json

import numpy as np
import pytest
from helpers import KEYS, assert_uniform, play_randomly, played

import agents
from agents.errors import AgentError
from agents.features import MOVE_FEATURES
from agents.greedy import (
    WEIGHTS,
    GreedyAgent,
    play_deals,
    read_weights,
    weights_file,
    write_weights,
)
from agents.random_agent import RandomAgent
from yukon_env import VARIANTS, Game
from yukon_env.errors import YukonError
from yukon_env.evaluation import evaluate

DEALS = np.arange(20_000, 20_060)


def views_of(key: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    game = Game(key, deal=seed)
    views = [(game.observation(), game.action_mask())]
    for _ in play_randomly(game, seed, 40):
        views.append((game.observation(), game.action_mask()))
    observations, masks = zip(*views, strict=True)
    return np.array(observations), np.array(masks)


@pytest.mark.parametrize("key", KEYS)
def test_chosen_actions_are_legal(key):
    observations, masks = views_of(key, 31_000)
    for agent in (agents.load(f"greedy:{key}"), agents.load("random", seed=3)):
        actions = agent.act(observations, masks)
        assert actions.dtype == np.int64
        assert masks[np.arange(len(actions)), actions].all()


def test_greedy_sees_no_hidden_card():
    agent = GreedyAgent("yukon")
    for deal in range(31_010, 31_020):
        game = played("yukon", deal, 10)
        first, *others = (
            agent.act(copy.observation()[None], copy.action_mask()[None])[0]
            for copy in (game, *(game.determinize(np.random.default_rng(i)) for i in range(5)))
        )
        assert set(others) == {first}


def test_greedy_decides_the_same_alone_and_in_a_batch():
    agent = GreedyAgent("yukon")
    observations, masks = views_of("yukon", 31_001)
    together = agent.act(observations, masks)
    alone = [agent.act(observations[i : i + 1], masks[i : i + 1])[0] for i in range(len(masks))]
    np.testing.assert_array_equal(together, alone)


def test_of_equal_scores_the_lowest_action_is_played():
    observations, masks = views_of("yukon", 31_002)
    agent = GreedyAgent("yukon", np.zeros(len(MOVE_FEATURES)))
    np.testing.assert_array_equal(agent.act(observations, masks), masks.argmax(axis=1))


@pytest.mark.parametrize("key", KEYS)
def test_whole_games_go_as_in_the_evaluation(key):
    agent = GreedyAgent(key)
    won, cards_up, moves = play_deals(agent.variant, agent.weights, DEALS)
    result = evaluate(agent, key, DEALS)
    np.testing.assert_array_equal(won, result.won)
    np.testing.assert_array_equal(cards_up, result.cards_up)
    np.testing.assert_array_equal(moves, result.moves)


@pytest.mark.parametrize("key", KEYS)
def test_every_variant_has_weights(key):
    weights = read_weights(weights_file(VARIANTS[key]), VARIANTS[key])
    assert weights.shape == (len(MOVE_FEATURES),)
    assert np.isfinite(weights).all()
    assert "tune_greedy" in json.loads(weights_file(VARIANTS[key]).read_text())["command"]


def test_no_weight_file_is_left_over():
    assert {file.stem for file in WEIGHTS.glob("*.json")} == set(KEYS)
    others = {file.stem for file in WEIGHTS.iterdir() if file.suffix != ".json"}
    assert others <= {f"{kind}-{key}" for kind in ("value", "policy") for key in KEYS}


def test_weights_are_read_as_written(tmp_path):
    file, variant = tmp_path / "yukon.json", VARIANTS["yukon"]
    weights = np.arange(len(MOVE_FEATURES)) / 4
    write_weights(file, variant, weights, command="none")
    np.testing.assert_array_equal(read_weights(file, variant), weights.astype(np.float32))


def test_bad_weight_files_are_refused(tmp_path):
    file, variant = tmp_path / "yukon.json", VARIANTS["yukon"]
    with pytest.raises(
        AgentError, match=r"no greedy weights for yukon .*experiments.tune_greedy yukon"
    ):
        read_weights(file, variant)
    write_weights(file, VARIANTS["russian"], np.zeros(len(MOVE_FEATURES)))
    with pytest.raises(AgentError, match="weights for russian, not for yukon"):
        read_weights(file, variant)
    file.write_text(json.dumps({"variant": "yukon", "weights": {"goes_up": 1, "charm": 2}}))
    with pytest.raises(AgentError, match=r"missing \[.*'turns'.*unknown \['charm'\]"):
        read_weights(file, variant)
    for text in (
        "{",
        "[]",
        '{"variant": "yukon"}',
        '{"variant": "yukon", "weights": {"turns": "x"}}',
    ):
        file.write_text(text)
        with pytest.raises(AgentError, match="is no weight file"):
            read_weights(file, variant)


def test_weights_of_another_length_are_refused():
    with pytest.raises(AgentError, match="weights need the shape"):
        GreedyAgent("yukon", np.zeros(3))


def test_random_is_uniform_and_seeded():
    observations, masks = np.zeros((6_000, 52, 3), np.int8), np.zeros((6_000, 417), np.int8)
    legal = [0, 7, 100, 415, 416]
    masks[:, legal] = 1
    actions = RandomAgent(7).act(observations, masks)
    assert_uniform(np.array([(actions == action).sum() for action in legal]))
    assert np.isin(actions, legal).all()
    np.testing.assert_array_equal(actions, RandomAgent(7).act(observations, masks))
    assert (actions != RandomAgent(8).act(observations, masks)).any()


@pytest.mark.parametrize("name", ["random", "greedy:yukon"])
def test_a_mask_that_allows_nothing_is_refused(name):
    observations, masks = views_of("yukon", 31_003)
    masks[2] = 0
    with pytest.raises(AgentError, match="mask of position 2 allows no action"):
        agents.load(name).act(observations, masks)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("genius", "unknown agent 'genius'; known are .*random.*greedy:VARIANT"),
        ("", "unknown agent ''"),
        ("greedy", "`greedy:` needs a variant.*yukon-relaxed"),
        ("greedy:klondike", "needs a variant, not 'klondike'.*tasmanian"),
        ("random:yukon", "write it without 'yukon'"),
    ],
)
def test_unknown_names_are_refused(name, message):
    with pytest.raises(AgentError, match=message):
        agents.load(name)
    with pytest.raises(YukonError):
        agents.load(name)
