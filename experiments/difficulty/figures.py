"""Descriptive figures of deals: what can be counted on the table before the first move."""

import numpy as np

from yukon_env.cards import N_CARDS, N_RANKS
from yukon_env.deals import deck_of_deal
from yukon_env.engine.batch import SETTINGS, observe_games
from yukon_env.engine.moves import deal_games
from yukon_env.engine.state import (
    DEAL,
    FACE_UP,
    FOUNDATION,
    N_ACTIONS,
    N_DESTINATIONS,
    POSITION,
    ROW,
    STOCK,
    ZONE,
    compile_rules,
    new_games,
)
from yukon_env.variants import N_COLUMNS, Variant

_CARDS = np.arange(N_CARDS)
_RANKS = _CARDS % N_RANKS
_SUITS = _CARDS // N_RANKS
_ACE, _TWO, _THREE, _KING = 0, 1, 2, N_RANKS - 1


def describe_deals(variant: Variant, deals: range) -> dict[str, np.ndarray]:
    """Counts the figures of some deals.

    Returns:
        int64 arrays of shape (n,), by the names of `schema.FIGURES`.
    """
    games = new_games(len(deals))
    every = np.ones(len(deals), np.bool_)
    decks = np.stack([deck_of_deal(deal) for deal in deals])
    deal_games(games, compile_rules(variant), decks, every)
    zone, position, face_up = np.moveaxis(_true_places(games, every), 2, 0)
    return {
        **_count_moves(games, zone, position, face_up),
        **_count_buried(zone, position, face_up),
        **_count_pairs(variant, zone, position, face_up),
    }


def _true_places(games: np.ndarray, every: np.ndarray) -> np.ndarray:
    """The observations of perfect information: int8, shape (n, 52, 3)."""
    settings = np.zeros(1, SETTINGS)
    settings["perfect_information"] = True
    observations = np.empty((len(games), N_CARDS * ROW), np.int8)
    masks = np.empty((len(games), N_ACTIONS), np.int8)
    observe_games(games, settings, observations, masks, every)
    places = observations.reshape(-1, N_CARDS, ROW)
    assert (ZONE, POSITION, FACE_UP) == (0, 1, 2)
    return places


def _count_moves(
    games: np.ndarray, zone: np.ndarray, position: np.ndarray, face_up: np.ndarray
) -> dict[str, np.ndarray]:
    listed = np.arange(games["legal"].shape[1]) < games["n_legal"][:, np.newaxis]
    card, destination = np.divmod(games["legal"].astype(np.int64), N_DESTINATIONS)
    moves = listed & (games["legal"] != DEAL)
    card = np.where(moves, card, 0)
    # The first face-up card of a column lies on a face-down one, if there is any.
    in_column = (zone >= 0) & (zone < N_COLUMNS)
    down = [((zone == column) & (face_up == 0)).sum(axis=1) for column in range(N_COLUMNS)]
    n_down = np.stack(down, axis=1)[np.arange(len(zone))[:, np.newaxis], zone % N_COLUMNS]
    on_hidden = in_column & (face_up == 1) & (n_down > 0) & (position == n_down)
    return {
        "start_moves": games["n_legal"].astype(np.int64),
        "start_ups": (moves & (destination == FOUNDATION)).sum(axis=1),
        "start_turns": (moves & np.take_along_axis(on_hidden, card, axis=1)).sum(axis=1),
    }


def _count_buried(
    zone: np.ndarray, position: np.ndarray, face_up: np.ndarray
) -> dict[str, np.ndarray]:
    in_column, in_stock, low = zone < N_COLUMNS, zone == STOCK, _RANKS <= _THREE
    hidden = in_column & (face_up == 0)
    same_column = (zone[:, :, np.newaxis] == zone[:, np.newaxis]) & in_column[:, :, np.newaxis]
    cards_on = (same_column & (position[:, np.newaxis] > position[:, :, np.newaxis])).sum(axis=2)
    depth = np.where(in_stock, position, cards_on)
    return {
        "hidden_low": (hidden & low).sum(axis=1),
        "hidden_kings": (hidden & (_RANKS == _KING)).sum(axis=1),
        "hidden_ranks": (hidden * _RANKS).sum(axis=1),
        "stock_low": (in_stock & low).sum(axis=1),
        "aces_depth": depth[:, _RANKS == _ACE].sum(axis=1),
        "deepest_ace": depth[:, _RANKS == _ACE].max(axis=1).astype(np.int64),
        "twos_depth": depth[:, _RANKS == _TWO].sum(axis=1),
        "kings_depth": np.where(in_column, position, 0)[:, _RANKS == _KING].sum(axis=1),
    }


def _count_pairs(
    variant: Variant, zone: np.ndarray, position: np.ndarray, face_up: np.ndarray
) -> dict[str, np.ndarray]:
    lower, upper = np.s_[:, :, np.newaxis], np.s_[:, np.newaxis]
    in_column = zone < N_COLUMNS
    same_column = (zone[lower] == zone[upper]) & in_column[lower]
    two_columns = (zone[lower] != zone[upper]) & in_column[lower] & in_column[upper]
    steps = position[upper] - position[lower]
    above = same_column & (steps > 0)
    same_suit = _SUITS[:, np.newaxis] == _SUITS
    higher_above = _RANKS[:, np.newaxis] < _RANKS
    # lies_on[a, b]: b is a place for a.
    lies_on = np.array([[variant.may_lie_on(a, b) for b in range(N_CARDS)] for a in range(N_CARDS)])
    seen, hidden = face_up == 1, in_column & (face_up == 0)
    both_seen = seen[lower] & seen[upper]
    low = (_RANKS <= _TWO)[:, np.newaxis]

    def count(pairs: np.ndarray) -> np.ndarray:
        return pairs.sum(axis=(1, 2))

    return {
        "suit_crossings": count(above & same_suit & higher_above),
        "parents_above": count(above & lies_on),
        "children_above": count(above & lies_on.T),
        "places_hidden": count(seen[lower] & hidden[upper] & lies_on),
        "places_open": count(two_columns & both_seen & lies_on),
        "joined": count(same_column & (steps == 1) & both_seen & lies_on.T),
        "own_suit_high": count(above & same_suit & higher_above & low),
    }
