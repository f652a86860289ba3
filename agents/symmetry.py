"""Symmetries of the games: the same position with other names for its suits and columns.

Columns may always change places. Suits may be renamed where the rules, as they are compiled, stay
the same: any way where a card lies on its own suit, within and between the colours where it lies
on the other colour.
"""

from itertools import permutations

import numpy as np

from yukon_env.cards import N_CARDS, N_RANKS, N_SUITS
from yukon_env.engine.state import (
    DEAL,
    FOUNDATION,
    N_DESTINATIONS,
    ZONE,
)
from yukon_env.variants import N_COLUMNS

_SUIT, _RANK = np.divmod(np.arange(N_CARDS), N_RANKS)


def suit_symmetries(rules: np.ndarray) -> np.ndarray:
    """Returns the renamings of the suits that keep the rules.

    Args:
        rules: A variant's record, from `compile_rules`.

    Returns:
        int64, shape (renamings, 4): the new suit of each suit; the first changes nothing.
    """
    children = [set(row.tolist()) for row in rules[0].children[:N_CARDS]]
    starters = set(rules[0].starters[: rules[0].n_starters].tolist())

    def keeps(suits: tuple[int, ...]) -> bool:
        cards = _rename(np.array([suits]))[0]
        return starters == {int(cards[card]) for card in starters} and all(
            children[cards[card]] == {int(cards[child]) for child in children[card]}
            for card in range(N_CARDS)
        )

    return np.array([suits for suits in permutations(range(N_SUITS)) if keeps(suits)])


def _rename(suits: np.ndarray) -> np.ndarray:
    """The new card of each card, int64 (n, 52), for new suits (n, 4)."""
    return suits[:, _SUIT] * N_RANKS + _RANK


def rename(
    observations: np.ndarray, masks: np.ndarray, suits: np.ndarray, columns: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Gives suits and columns other names, in each position its own.

    Args:
        observations: int8, shape (n, 52, 3).
        masks: int8 or bool, shape (n, 417, ...): sets of moves, or more to say of each.
        suits: Integers, shape (n, 4): the new suit of each suit.
        columns: Integers, shape (n, 7): the new place of each column.

    Returns:
        The same positions and moves under the new names.
    """
    n = len(observations)
    rows = np.arange(n)[:, np.newaxis]
    cards = _rename(suits)
    destinations = np.concatenate((columns, np.full((n, 1), FOUNDATION)), axis=1)
    # Zones beyond the columns keep their names; zone -1 is looked up from the end.
    zones = np.concatenate((columns, np.tile([*range(FOUNDATION, FOUNDATION + 3), -1], (n, 1))), 1)
    renamed = np.empty_like(observations)
    renamed[rows, cards] = observations
    renamed[:, :, ZONE] = zones[rows, renamed[:, :, ZONE]]
    moves = cards[:, :, np.newaxis] * N_DESTINATIONS + destinations[:, np.newaxis, :]
    offered = masks.copy()
    offered[rows, moves.reshape(n, -1)] = masks[:, :DEAL]
    return renamed, offered


def rename_at_random(
    observations: np.ndarray,
    masks: np.ndarray,
    symmetries: np.ndarray,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Gives each position names drawn at random (see `rename`).

    Args:
        observations: int8, shape (n, 52, 3).
        masks: int8 or bool, shape (n, 417, ...).
        symmetries: The renamings of suits to draw from, from `suit_symmetries`.
        rng: The draws.
    """
    n = len(observations)
    suits = symmetries[rng.integers(len(symmetries), size=n)]
    columns = rng.permuted(np.tile(np.arange(N_COLUMNS), (n, 1)), axis=1)
    return rename(observations, masks, suits, columns)
