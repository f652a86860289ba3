"""The dead-end test: relaxed reachability.

Forget what moves destroy. Starting from the cards that lie open, repeat: this card can leave its
place, so the one beneath lies open; this parent can lie open, so its children can come; this
column can be empty. What can be done in the real game can be done, in the same order, in the
relaxed one. So where some foundation can never be completed even there, the position is lost.
"""

import numpy as np
from numba import njit

from yukon_env.engine.state import NO_CARD
from yukon_env.solver.cardsets import (
    ALL,
    BIT,
    CARD_OF_BIT,
    EMPTY,
    HALF,
    ONE,
    QUARTER,
    THREE_QUARTERS,
    index_of,
    lowest,
    next_up,
    turn,
)
from yukon_env.solver.position import PILE
from yukon_env.solver.techniques import ALTERNATING, ANY, SAME
from yukon_env.variants import N_COLUMNS


@njit
def children_of(lore, cards):
    """The cards that may lie on at least one of these cards."""
    near = (cards >> ONE) & ALL
    if lore.up_or_down:
        near |= (cards << ONE) & ALL
    if lore.suits == SAME:
        return near
    others = turn(near, QUARTER) | turn(near, THREE_QUARTERS)
    if lore.suits == ALTERNATING:
        return others
    others |= turn(near, HALF)
    if lore.suits == ANY:
        return others | near
    return others


@njit
def is_dead_end(position, lore):
    """Whether not even the relaxed game can be won from this position."""
    # Cards that can be up; that can have left the place where they lie now; that can be in the
    # open, with nothing on them.
    up = position.up_set
    gone = EMPTY
    in_open = EMPTY
    for column in range(N_COLUMNS):
        in_open |= BIT[position.end[column]]
    space = position.n_empty > 0
    # Cards that can be played or grabbed; in a column these need not be in the open.
    at_hand = position.face_up
    in_pile = EMPTY
    if lore.stock:
        in_pile = _pile_set(position, np.int64(0))
        reachable = in_pile
        if position.redeals_left == 0:
            reachable = _pile_set(position, max(np.int64(position.n_waste) - 1, np.int64(0)))
        in_open |= reachable
        at_hand |= reachable
    while True:
        leaving = EMPTY
        rising = next_up(up) & in_open
        while rising != EMPTY:
            leaving |= rising
            up |= rising
            rising = next_up(up) & in_open
        if up == ALL:
            return False
        # A card of stock or waste is a parent only once it lies in a column.
        parents = in_open & ~position.up_set & ~(in_pile & ~gone)
        coming = children_of(lore, parents) & at_hand & ~gone
        if space:
            leaving |= _starters(position, lore, at_hand & ~gone)
        coming &= ~leaving
        leaving &= ~gone
        while coming != EMPTY:
            bit = lowest(coming)
            coming ^= bit
            card = CARD_OF_BIT[index_of(bit)]
            if _can_reach_one(position, card, lore.parent_set[card] & parents, gone):
                leaving |= bit
        if leaving == EMPTY:
            return True
        gone |= leaving
        while leaving != EMPTY:
            bit = lowest(leaving)
            leaving ^= bit
            card = CARD_OF_BIT[index_of(bit)]
            under = position.beneath[card]
            if position.column[card] < N_COLUMNS:
                space |= under == NO_CARD
                in_open |= BIT[under]
                at_hand |= BIT[under]
            elif position.redeals_left == 0:
                in_open |= BIT[under]
                at_hand |= BIT[under]


@njit
def _pile_set(position, start):
    """The cards of the waste from index `start` on, and of the stock."""
    cards = EMPTY
    for index in range(start, position.n_pile):
        cards |= BIT[position.pile[index]]
    return cards


@njit
def _starters(position, lore, cards):
    """Which of these cards may be moved to an empty column; a column's base never may."""
    starters = lore.starter_set & cards
    left = starters
    while left != EMPTY:
        bit = lowest(left)
        left ^= bit
        card = CARD_OF_BIT[index_of(bit)]
        if position.column[card] < N_COLUMNS and position.beneath[card] == NO_CARD:
            starters ^= bit
    return starters


@njit
def _can_reach_one(position, card, parents, gone):
    """Whether one of the parents is not shut in the same group as the card.

    A parent that lies above the card in its own column would come along, unless something
    between them (or the parent itself) can leave first.
    """
    column = position.column[card]
    if column == PILE:
        return True
    while parents != EMPTY:
        bit = lowest(parents)
        parents ^= bit
        parent = CARD_OF_BIT[index_of(bit)]
        if position.column[parent] != column:
            return True
        between = position.above[card]
        while between != NO_CARD and BIT[between] & gone == EMPTY and between != parent:
            between = position.above[between]
        if between != parent or BIT[between] & gone != EMPTY:
            return True
    return False
