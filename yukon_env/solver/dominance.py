"""Dominances: moves so safe that nothing else need be tried.

If a position can be won at all, it can be won after such a move; so the search plays it at once.
The proofs, and the rules of thumb that are wrong, are in the README of this package.
"""

import numpy as np
from numba import njit

from yukon_env.cards import N_RANKS, N_SUITS
from yukon_env.engine.state import FOUNDATION, N_DESTINATIONS, NO_CARD
from yukon_env.solver.cardsets import BIT, CARD_OF_BIT, EMPTY, KINGS, count, index_of, lowest
from yukon_env.solver.position import may_go_up
from yukon_env.variants import N_COLUMNS

NO_MOVE = -1


@njit
def forced_move(position, lore):
    """A move that dominates all others, or NO_MOVE."""
    if lore.unwanted_up:
        move = unwanted_card_up(position, lore)
        if move != NO_MOVE:
            return move
    if lore.kings_to_spaces and position.n_empty > 0:
        return king_to_space(position)
    return NO_MOVE


@njit
def unwanted_card_up(position, lore):
    """The move up of a card that no card outside the foundations could lie on."""
    for suit in range(N_SUITS):
        rank = np.int64(position.up[suit])
        card = suit * N_RANKS + rank
        if (
            rank < N_RANKS
            and lore.child_set[card] & ~position.up_set == EMPTY
            and may_go_up(position, card)
            and (lore.unwanted_up_from_waste or position.face_up & BIT[card] != EMPTY)
        ):
            return card * N_DESTINATIONS + FOUNDATION
    return NO_MOVE


@njit
def king_to_space(position):
    """The move of a king to an empty column, when each king that needs one can have one."""
    kings = KINGS & ~position.up_set
    wanting = kings
    while kings != EMPTY:
        bit = lowest(kings)
        kings ^= bit
        card = CARD_OF_BIT[index_of(bit)]
        if position.column[card] < N_COLUMNS and position.beneath[card] == NO_CARD:
            wanting ^= bit
    if count(wanting) > position.n_empty or wanting & position.face_up == EMPTY:
        return NO_MOVE
    card = np.int64(CARD_OF_BIT[index_of(lowest(wanting & position.face_up))])
    column = 0
    while position.end[column] != NO_CARD:
        column += 1
    return card * N_DESTINATIONS + column
