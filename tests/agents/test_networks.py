"""What the network over cards reads from an observation."""

import numpy as np
import pytest
import torch

from agents.networks import CardNetwork, Rulebook
from agents.networks.cards import (
    NOTHING,
    RULE_NUMBERS,
    UNKNOWN_ZONE,
    UNSEEN,
    read_cards,
    rule_numbers,
)
from yukon_env.cards import N_CARDS, parse_card
from yukon_env.engine.state import compile_rules
from yukon_env.game import Game
from yukon_env.variants import VARIANTS


def test_neighbours_are_those_on_the_table():
    game = Game("yukon", deal=17)
    zones, places, beneath, above, ends = (part[0] for part in read_cards(game.observation()[None]))
    for column, text in enumerate(str(game).splitlines()[1:]):
        names = text.split()
        cards = [parse_card(name) for name in names if name != "<>"]
        hidden = names.count("<>")
        first = UNSEEN if hidden else NOTHING
        assert beneath[cards].tolist() == [first, *cards[:-1]]
        assert above[cards].tolist() == [*cards[1:], NOTHING]
        assert (zones[cards] == column).all()
        assert places[cards].tolist() == list(range(hidden, hidden + len(cards)))
        assert ends[column] == cards[-1]
    unseen = zones == UNKNOWN_ZONE
    assert unseen.sum() == 21
    assert (beneath[unseen] == UNSEEN).all()


def test_an_empty_column_has_no_end():
    observation = Game("yukon", deal=17).observation()
    observation[observation[:, 0] == 0] = -1, -1, 0
    ends = read_cards(observation[np.newaxis])[4]
    assert ends[0, 0] == NOTHING
    assert ends[0, 7] == NOTHING


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("yukon", {"other colour": 1}),
        ("yukon-relaxed", {"other colour": 1, "spaces take any card": 1}),
        ("russian", {"same suit": 1}),
        ("alaska", {"same suit": 1, "up and down": 1}),
        ("moosehide", {"same colour": 1, "other colour": 1}),
        ("tasmanian", {"same suit": 1, "stock": 24 / 52, "draw": 1, "redeals": 1, "returns": 1}),
    ],
)
def test_rules_are_told_by_numbers(key, expected):
    numbers = rule_numbers(compile_rules(VARIANTS[key]))
    told = {name: n for name, n in zip(RULE_NUMBERS, numbers.tolist(), strict=True) if n != 0}
    assert told == pytest.approx(expected)


def test_columns_have_no_names():
    torch.manual_seed(0)
    network, book = CardNetwork(8), Rulebook(["yukon"])
    torch.nn.init.normal_(network.logit.weight)
    game = Game("yukon", deal=17)
    observation, mask = game.observation(), game.action_mask()
    order = np.array([3, 1, 0, 2, 6, 5, 4])
    turned, offered = observation.copy(), mask.copy()
    in_column = (turned[:, 0] >= 0) & (turned[:, 0] < 7)
    turned[in_column, 0] = order[turned[in_column, 0]]
    places = np.arange(N_CARDS)[:, np.newaxis] * 8
    offered[(places + order).ravel()] = mask[(places + np.arange(7)).ravel()]
    which = np.zeros(1, np.int8)
    first = network.describe(observation[None], mask[None], book, which)
    second = network.describe(turned[None], offered[None], book, which)
    torch.testing.assert_close(network(first)[0].sort()[0], network(second)[0].sort()[0])
    torch.testing.assert_close(network.values(first), network.values(second))
