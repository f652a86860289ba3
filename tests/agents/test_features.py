"""Move and table features: against a plain computation, and blind to hidden cards."""

import numpy as np
import pytest
from helpers import KEYS, play_randomly, played
from plain_features import Table, describe

from agents.errors import AgentError
from agents.features import (
    MOVE_FEATURES,
    TABLE_FEATURES,
    move_features,
    table_features,
)
from yukon_env import VARIANTS, Game
from yukon_env.engine.state import N_ACTIONS, compile_rules


def views_of(key: str, deals: range, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Observations and masks of random play, game over left out."""
    observations, masks = [], []
    for deal in deals:
        game = Game(key, deal=deal)
        for _ in play_randomly(game, deal, steps):
            if game.legal_moves():
                observations.append(game.observation())
                masks.append(game.action_mask())
    return np.array(observations), np.array(masks)


@pytest.mark.parametrize("key", KEYS)
def test_move_features_equal_the_plain_computation(key):
    observations, masks = views_of(key, range(30_000, 30_006), 40)
    features, game_index, actions = move_features(observations, masks, compile_rules(VARIANTS[key]))
    for row, game, action in zip(features, game_index, actions, strict=True):
        plain = describe(Table.of(VARIANTS[key], observations[game]), int(action))
        fast = {name: float(row[MOVE_FEATURES.index(name)]) for name in plain}
        assert fast == pytest.approx({name: float(value) for name, value in plain.items()}), action


@pytest.mark.parametrize("key", KEYS)
def test_every_legal_move_has_a_row(key):
    observations, masks = views_of(key, range(30_010, 30_013), 30)
    features, game_index, actions = move_features(observations, masks, compile_rules(VARIANTS[key]))
    expected = np.argwhere(masks)
    np.testing.assert_array_equal(game_index, expected[:, 0])
    np.testing.assert_array_equal(actions, expected[:, 1])
    assert features.dtype == np.float32
    assert features.shape == (len(expected), len(MOVE_FEATURES))
    assert np.isfinite(features).all()


@pytest.mark.parametrize("key", ["yukon", "roslin", "tasmanian"])
def test_hidden_cards_have_no_say(key):
    game = played(key, 30_020, 12)
    other = game.determinize(np.random.default_rng(5))
    assert game.to_text() != other.to_text()
    rules = compile_rules(VARIANTS[key])
    for one, two in zip(
        move_features(game.observation()[None], game.action_mask()[None], rules),
        move_features(other.observation()[None], other.action_mask()[None], rules),
        strict=True,
    ):
        np.testing.assert_array_equal(one, two)
    told = table_features(game.observation(perfect_information=True)[None], rules)
    if not VARIANTS[key].stock:
        np.testing.assert_array_equal(told, table_features(game.observation()[None], rules))


def test_a_bool_mask_says_the_same():
    game = played("yukon", 30_021, 10)
    rules = compile_rules(VARIANTS["yukon"])
    observation, mask = game.observation()[None], game.action_mask()[None]
    for one, two in zip(
        move_features(observation, mask, rules),
        move_features(observation, mask.astype(bool), rules),
        strict=True,
    ):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("key", KEYS)
def test_a_mask_of_ones_is_survived(key):
    """A game that is over has a mask of ones; most of those moves nobody could play."""
    observations, masks = views_of(key, range(30_030, 30_032), 60)
    everything = np.ones_like(masks)
    features, _, _ = move_features(observations, everything, compile_rules(VARIANTS[key]))
    assert np.isfinite(features).all()


@pytest.mark.parametrize("key", ["yukon", "tasmanian"])
def test_observations_of_no_game_are_survived(key):
    """A space's samples, and arrays of zeros, are what libraries try a policy on."""
    rng = np.random.default_rng(9)
    observations = rng.integers(-1, 52, (200, 52, 3)).astype(np.int8)
    observations[:, :, 0] %= 10
    observations[100:, :, 1] %= 8
    observations[100:, :, 2] = 1
    observations[0] = 0
    masks = np.ones((200, N_ACTIONS), np.int8)
    rules = compile_rules(VARIANTS[key])
    assert np.isfinite(move_features(observations, masks, rules)[0]).all()
    assert np.isfinite(table_features(observations, rules)).all()


def test_table_features_of_a_first_deal():
    rules = compile_rules(VARIANTS["yukon"])
    row = table_features(Game("yukon", deal=30_040).observation()[None], rules)[0]
    said = dict(zip(TABLE_FEATURES, row.tolist(), strict=True))
    assert said["hidden"] == 1
    assert said["face_up"] == pytest.approx(31 / 52)
    assert said["keys"] == pytest.approx(6 / 7)
    assert [said[f"hidden_{i}"] for i in range(1, 8)] == pytest.approx(
        [1, 5 / 6, 4 / 6, 0.5, 2 / 6, 1 / 6, 0]
    )
    assert said["up"] == said["spaces"] == said["waste"] == said["stock"] == 0


@pytest.mark.parametrize("key", KEYS)
def test_table_features_do_not_name_columns(key):
    game = played(key, 30_041, 25)
    rules = compile_rules(VARIANTS[key])
    observation = game.observation()
    renamed = observation.copy()
    in_columns = (observation[:, 0] >= 0) & (observation[:, 0] < 7)
    renamed[in_columns, 0] = (observation[in_columns, 0] + 3) % 7
    np.testing.assert_array_equal(
        table_features(observation[None], rules), table_features(renamed[None], rules)
    )


def test_other_shapes_are_refused():
    rules = compile_rules(VARIANTS["yukon"])
    game = Game("yukon", deal=1)
    with pytest.raises(AgentError, match=r"observations need the shape \(n, 52, 3\)"):
        move_features(game.observation(), game.action_mask()[None], rules)
    with pytest.raises(AgentError, match=r"masks need the shape \(1, 417\)"):
        move_features(game.observation()[None], np.ones((2, N_ACTIONS), np.int8), rules)
