"""Renamed suits and columns against games that are dealt under those names."""

import numpy as np
import pytest

from agents.symmetry import rename, rename_at_random, suit_symmetries
from yukon_env.deals import deck_of_deal
from yukon_env.engine.state import compile_rules
from yukon_env.game import Game
from yukon_env.variants import VARIANTS

SYMMETRIES = {"alternating": 8, "same": 24, "any other": 24, "any": 24}


@pytest.mark.parametrize("key", VARIANTS)
def test_suits_are_renamed_where_the_rules_stay_the_same(key):
    symmetries = suit_symmetries(compile_rules(VARIANTS[key]))
    assert symmetries[0].tolist() == [0, 1, 2, 3]
    assert len(symmetries) == SYMMETRIES[VARIANTS[key].suits]


@pytest.mark.parametrize("key", ["yukon", "russian", "tasmanian"])
def test_a_game_with_renamed_suits_is_the_game_of_the_renamed_deck(key):
    symmetries = suit_symmetries(compile_rules(VARIANTS[key]))
    rng = np.random.default_rng(0)
    columns = np.arange(7)[np.newaxis]
    for suits in symmetries:
        deck = deck_of_deal(20_000)
        game, other = Game(key, deck=deck), Game(key, deck=suits[deck // 13] * 13 + deck % 13)
        while not (game.won or game.dead_end):
            action = int(rng.choice(np.flatnonzero(game.action_mask())))
            chosen = np.arange(417) == action
            moves = np.stack((game.action_mask(), chosen), axis=1)[np.newaxis]
            before = game.observation()[np.newaxis], moves
            observations, moves = rename(*before, suits[np.newaxis], columns)
            np.testing.assert_array_equal(observations[0], other.observation())
            np.testing.assert_array_equal(moves[0, :, 0], other.action_mask())
            game.play(action)
            other.play(int(moves[0, :, 1].argmax()))
            if rng.random() < 0.05:
                break


def test_columns_change_places():
    game = Game("yukon", deal=17)
    order = np.array([[3, 1, 0, 2, 6, 5, 4]])
    same = np.arange(4)[np.newaxis]
    mask = game.action_mask()
    for action in np.flatnonzero(mask):
        chosen = np.arange(417) == action
        observations, masks = rename(game.observation()[None], chosen[None], same, order)
        head, target = divmod(int(action), 8)
        assert masks[0, head * 8 + (target if target == 7 else order[0, target])]
        assert masks.sum() == 1
        zones = game.observation()[:, 0]
        seen = zones >= 0
        np.testing.assert_array_equal(observations[0, seen, 0], order[0, zones[seen]])
        assert (observations[0, ~seen, 0] == -1).all()


def test_names_drawn_at_random_differ_from_position_to_position():
    game = Game("russian", deal=17)
    n = 20
    batch = [np.stack([part] * n) for part in (game.observation(), game.action_mask())]
    symmetries = suit_symmetries(compile_rules(VARIANTS["russian"]))
    observations, masks = rename_at_random(*batch, symmetries, np.random.default_rng(0))
    assert len({observation.tobytes() for observation in observations}) > n // 2
    assert (masks.sum(axis=1) == batch[1][0].sum()).all()
