"""The solver's position: small, exact, with moves that are done and undone.

It tells apart exactly the positions that differ by more than the order of the columns. A card
that has moved lies on one of its few possible parents, or is a column's base, or is up; so three
bits per card say where it is, and 172 bits (with the foundations) say the whole position. This
key is no hash: it cannot collide, so a proof of unwinnability does not rest on luck.

What is face up follows from the key, too: a face-down card is one whose root neighbour above has
never left. (A card that lies on a face-down card has the code AT_ROOT, even where that card would
be a legal parent; coming back to it later, face up by then, it has the parent's code.)

Moves have the engine's action numbers. Where several columns are empty only the first is a
target: the others lead to the same key.
"""

import numpy as np
from numba import njit

from yukon_env.cards import N_CARDS, N_RANKS, N_SUITS
from yukon_env.engine.state import (
    DEAL,
    FACE_UP,
    FOUNDATION,
    N_DESTINATIONS,
    NO_CARD,
    ROW,
    UNLIMITED,
)
from yukon_env.solver.cardsets import ALL, BIT, EMPTY
from yukon_env.solver.techniques import AT_ROOT
from yukon_env.variants import KING, N_COLUMNS

# Where a card is: 0-6 a column (face down or not), FOUNDATION, or PILE (stock and waste).
PILE = 8

# The key: 18 + 18 + 16 cards of three bits each, and what is left of the three words.
KEY_WORDS = 3
_CARDS_PER_WORD = 18
KEY_WORD = np.array([card // _CARDS_PER_WORD for card in range(N_CARDS + 1)], np.uint8)
KEY_SHIFT = np.array([3 * (card % _CARDS_PER_WORD) for card in range(N_CARDS + 1)], np.uint64)
UP_WORD = 2
UP_SHIFT = np.array([48, 52, 56, 60], np.uint64)
WASTE_WORD, REDEAL_WORD = 0, 1
REST_SHIFT = np.uint64(54)
# Set in every key, so that none is 0.
MARK_WORD, MARK = 1, np.uint64(1 << 63)

POSITION = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("key", np.uint64, (KEY_WORDS,)),
                # Sets of cards: face up in a column; face down in one; up; away from the root
                # place and not up.
                ("face_up", np.uint64),
                ("hidden", np.uint64),
                ("up_set", np.uint64),
                ("moved", np.uint64),
                ("code", np.uint8, (N_CARDS + 1,)),
                ("root_code", np.uint8, (N_CARDS + 1,)),
                ("column", np.uint8, (N_CARDS + 1,)),
                # The neighbours in a column; `beneath` of a waste card is the waste card under it.
                ("beneath", np.uint8, (N_CARDS + 1,)),
                ("above", np.uint8, (N_CARDS + 1,)),
                ("end", np.uint8, (N_COLUMNS,)),
                ("up", np.uint8, (N_SUITS,)),
                ("n_empty", np.uint8),
                ("n_pile", np.uint8),
                ("n_waste", np.uint8),
                ("redeals_left", np.int8),
                ("pile", np.uint8, (N_CARDS,)),
            ],
            align=True,
        ),
    )
)

MAX_MOVES = 192


@njit
def load(position, game, lore):
    """Makes the position of an engine record the root; returns how many cards it holds."""
    for word in range(KEY_WORDS):
        position.key[word] = MARK if word == MARK_WORD else EMPTY
    position.face_up = EMPTY
    position.hidden = EMPTY
    position.up_set = EMPTY
    position.moved = EMPTY
    for card in range(N_CARDS + 1):
        position.code[card] = AT_ROOT
        position.column[card] = PILE
        position.beneath[card] = NO_CARD
        position.above[card] = NO_CARD
    n = 0
    position.n_empty = 0
    for column in range(N_COLUMNS):
        position.end[column] = game.end[column]
        position.n_empty += game.end[column] == NO_CARD
        card = np.int64(game.end[column])
        while card != NO_CARD and n < N_CARDS:
            under = np.int64(game.beneath[card])
            position.column[card] = column
            position.beneath[card] = under
            position.above[under] = card
            if game.seen[ROW * card + FACE_UP] == 1:
                position.face_up |= BIT[card]
            else:
                position.hidden |= BIT[card]
            if game.seen[ROW * under + FACE_UP] == 1:
                set_code(position, card, lore.code[card, under])
            n += 1
            card = under
    position.above[NO_CARD] = NO_CARD
    for suit in range(N_SUITS):
        position.up[suit] = game.up[suit]
        position.key[UP_WORD] ^= np.uint64(game.up[suit]) << UP_SHIFT[suit]
        for rank in range(game.up[suit]):
            card = suit * N_RANKS + rank
            position.column[card] = FOUNDATION
            position.up_set |= BIT[card]
            n += 1
    position.n_pile = game.n_pile
    position.n_waste = 0
    position.redeals_left = game.redeals_left
    for index in range(game.n_pile):
        position.pile[index] = game.pile[index]
        n += 1
    if game.redeals_left != UNLIMITED:
        position.key[REDEAL_WORD] ^= np.uint64(game.redeals_left) << REST_SHIFT
    _set_waste(position, np.int64(game.n_waste))
    for card in range(N_CARDS + 1):
        position.root_code[card] = position.code[card]
    position.moved = EMPTY
    return n


@njit
def is_won(position):
    """Whether all 52 cards are up."""
    return position.up_set == ALL


@njit
def set_code(position, card, code):
    """Writes what a card lies on, into the key and the set of moved cards as well."""
    change = np.uint64(position.code[card] ^ code)
    position.key[KEY_WORD[card]] ^= change << KEY_SHIFT[card]
    position.code[card] = code
    if code == position.root_code[card]:
        position.moved &= ~BIT[card]
    else:
        position.moved |= BIT[card]


@njit
def _set_up(position, suit, n):
    """Sets how many cards of a suit are up, in the key as well."""
    change = np.uint64(position.up[suit] ^ n)
    position.key[UP_WORD] ^= change << UP_SHIFT[suit]
    position.up[suit] = n


@njit
def _set_waste(position, n_waste):
    """Moves the border between waste and stock; the order of their cards is fixed."""
    change = np.uint64(position.n_waste ^ np.uint8(n_waste))
    position.key[WASTE_WORD] ^= change << REST_SHIFT
    for index in range(position.n_waste, n_waste):
        under = position.pile[index - 1] if index > 0 else np.uint8(NO_CARD)
        position.beneath[position.pile[index]] = under
    for index in range(n_waste, position.n_waste):
        position.beneath[position.pile[index]] = NO_CARD
    position.n_waste = n_waste


@njit
def _set_redeals(position, redeals):
    change = np.uint64(position.redeals_left ^ redeals)
    position.key[REDEAL_WORD] ^= change << REST_SHIFT
    position.redeals_left = redeals


# ---------------------------------------------------------------------------------------------
# Moves
# ---------------------------------------------------------------------------------------------


@njit
def list_moves(position, lore, moves):
    """Writes the legal moves into `moves` (uint16) and returns how many there are."""
    n = 0
    space = -1
    for column in range(N_COLUMNS):
        end = position.end[column]
        if end == NO_CARD:
            if space < 0:
                space = column
            continue
        for child in range(lore.max_children):
            card = lore.children[end, child]
            if position.face_up & BIT[card] != EMPTY and position.column[card] != column:
                moves[n] = np.int64(card) * N_DESTINATIONS + column
                n += 1
    if space >= 0:
        for index in range(lore.n_starters):
            card = np.int64(lore.starters[index])
            if position.face_up & BIT[card] != EMPTY and position.beneath[card] != NO_CARD:
                moves[n] = card * N_DESTINATIONS + space
                n += 1
    for suit in range(N_SUITS):
        card = suit * N_RANKS + np.int64(position.up[suit])
        if position.up[suit] < N_RANKS and may_go_up(position, card):
            moves[n] = card * N_DESTINATIONS + FOUNDATION
            n += 1
    if lore.stock:
        n = _list_stock_moves(position, lore, moves, n, space)
    if lore.returns:
        n = _list_returns(position, lore, moves, n, space)
    return n


@njit
def may_go_up(position, card):
    """Whether the next card of a suit lies where it can go up."""
    if position.face_up & BIT[card] != EMPTY:
        return position.above[card] == NO_CARD
    return is_waste_top(position, card)


@njit
def is_waste_top(position, card):
    """Whether the card is the one on top of the waste."""
    return position.n_waste > 0 and position.pile[position.n_waste - 1] == card


@njit
def _list_stock_moves(position, lore, moves, n, space):
    if position.n_waste > 0:
        card = np.int64(position.pile[position.n_waste - 1])
        n = _list_targets(position, lore, moves, n, card)
        if space >= 0 and lore.starter_set & BIT[card] != EMPTY:
            moves[n] = card * N_DESTINATIONS + space
            n += 1
    if position.n_waste < position.n_pile or (position.n_waste > 0 and position.redeals_left != 0):
        moves[n] = DEAL
        n += 1
    return n


@njit
def _list_returns(position, lore, moves, n, space):
    for suit in range(N_SUITS):
        if position.up[suit] > 0:
            card = suit * N_RANKS + np.int64(position.up[suit]) - 1
            n = _list_targets(position, lore, moves, n, card)
            if space >= 0 and position.up[suit] == KING + 1:
                moves[n] = card * N_DESTINATIONS + space
                n += 1
    return n


@njit
def _list_targets(position, lore, moves, n, card):
    for column in range(N_COLUMNS):
        end = position.end[column]
        if end != NO_CARD and lore.code[card, end] != 0:
            moves[n] = card * N_DESTINATIONS + column
            n += 1
    return n


# What `undo` must know, in one integer: where the card was (4 bits), whether a card turned (1),
# the card's code (3), the card beneath it (6); for a deal the old border and redeals.
_TURNED, _CODE, _BENEATH = 4, 5, 8


@njit
def do(position, lore, move):
    """Plays a legal move and returns what `undo` needs."""
    if move == DEAL:
        return _do_deal(position, lore)
    card = move >> 3
    destination = move & 7
    source = np.int64(position.column[card])
    under = np.int64(position.beneath[card])
    last = card
    turned = 0
    if source < N_COLUMNS:
        last = np.int64(position.end[source])
        position.end[source] = under
        position.above[under] = NO_CARD
        if under == NO_CARD:
            position.n_empty += 1
        elif position.hidden & BIT[under] != EMPTY:
            turned = 1
            position.hidden ^= BIT[under]
            position.face_up ^= BIT[under]
    elif source == PILE:
        _take_from_waste(position)
        position.face_up |= BIT[card]
    else:
        _set_up(position, card // N_RANKS, np.int64(position.up[card // N_RANKS]) - 1)
        position.up_set ^= BIT[card]
        position.face_up |= BIT[card]
    info = source | turned << _TURNED | np.int64(position.code[card]) << _CODE | under << _BENEATH
    if destination == FOUNDATION:
        set_code(position, card, AT_ROOT)
        position.moved &= ~BIT[card]
        _set_up(position, card // N_RANKS, np.int64(position.up[card // N_RANKS]) + 1)
        position.up_set ^= BIT[card]
        position.face_up &= ~BIT[card]
        position.column[card] = FOUNDATION
    else:
        target = np.int64(position.end[destination])
        position.n_empty -= target == NO_CARD
        _lay(position, card, last, destination, target)
        set_code(position, card, lore.code[card, target])
    return info


@njit
def undo(position, move, info):
    """Takes back the move that was played last."""
    if move == DEAL:
        _undo_deal(position, info)
        return
    card = move >> 3
    destination = move & 7
    source = info & 15
    under = info >> _BENEATH
    last = card
    if destination == FOUNDATION:
        _set_up(position, card // N_RANKS, np.int64(position.up[card // N_RANKS]) - 1)
        position.up_set ^= BIT[card]
        position.face_up |= BIT[card]
    else:
        last = np.int64(position.end[destination])
        target = np.int64(position.beneath[card])
        position.end[destination] = target
        position.above[target] = NO_CARD
        position.n_empty += target == NO_CARD
    set_code(position, card, info >> _CODE & 7)
    if source < N_COLUMNS:
        _lay(position, card, last, source, under)
        if under == NO_CARD:
            position.n_empty -= 1
        elif info >> _TURNED & 1:
            position.hidden ^= BIT[under]
            position.face_up ^= BIT[under]
    elif source == PILE:
        _put_back_on_waste(position, card)
        position.beneath[card] = under
        position.face_up ^= BIT[card]
    else:
        _set_up(position, card // N_RANKS, np.int64(position.up[card // N_RANKS]) + 1)
        position.up_set ^= BIT[card]
        position.face_up ^= BIT[card]
        position.moved &= ~BIT[card]
        position.column[card] = FOUNDATION


@njit
def _lay(position, card, last, column, target):
    """Lays the lifted cards from `card` up to `last` onto the end of a column."""
    position.beneath[card] = target
    position.above[target] = card
    position.above[NO_CARD] = NO_CARD
    position.end[column] = last
    while card != NO_CARD:
        position.column[card] = column
        card = np.int64(position.above[card])


@njit
def _take_from_waste(position):
    n_waste = np.int64(position.n_waste) - 1
    _set_waste(position, n_waste)
    position.n_pile -= 1
    for index in range(n_waste, position.n_pile):
        position.pile[index] = position.pile[index + 1]


@njit
def _put_back_on_waste(position, card):
    n_waste = np.int64(position.n_waste)
    for index in range(position.n_pile, n_waste, -1):
        position.pile[index] = position.pile[index - 1]
    position.pile[n_waste] = card
    position.n_pile += 1
    position.column[card] = PILE
    position.above[card] = NO_CARD
    _set_waste(position, n_waste + 1)


@njit
def _do_deal(position, lore):
    info = np.int64(position.n_waste) | (np.int64(position.redeals_left) + 1) << 8
    if position.n_waste < position.n_pile:
        _set_waste(
            position,
            min(np.int64(position.n_pile), np.int64(position.n_waste) + np.int64(lore.draw)),
        )
    else:
        _set_waste(position, 0)
        if position.redeals_left != UNLIMITED:
            _set_redeals(position, np.int64(position.redeals_left) - 1)
    return info


@njit
def _undo_deal(position, info):
    _set_waste(position, info & 255)
    if position.redeals_left != UNLIMITED:
        _set_redeals(position, (info >> 8) - 1)


@njit
def key_after(position, lore, move):
    """The three words of the key that a move leads to, without playing it."""
    key_0, key_1, key_2 = position.key[0], position.key[1], position.key[2]
    if move == DEAL:
        n_waste = np.int64(position.n_waste)
        if n_waste < position.n_pile:
            new_waste = min(np.int64(position.n_pile), n_waste + np.int64(lore.draw))
        else:
            new_waste = 0
            if position.redeals_left != UNLIMITED:
                left = np.int64(position.redeals_left)
                key_1 ^= np.uint64(left ^ (left - 1)) << REST_SHIFT
        return key_0 ^ (np.uint64(n_waste ^ new_waste) << REST_SHIFT), key_1, key_2
    card = move >> 3
    destination = move & 7
    suit = card // N_RANKS
    source = position.column[card]
    up = np.int64(position.up[suit])
    if source == PILE:
        n_waste = np.int64(position.n_waste)
        key_0 ^= np.uint64(n_waste ^ (n_waste - 1)) << REST_SHIFT
    if destination == FOUNDATION:
        key_2 ^= np.uint64(up ^ (up + 1)) << UP_SHIFT[suit]
        new_code = AT_ROOT
    else:
        if source == FOUNDATION:
            key_2 ^= np.uint64(up ^ (up - 1)) << UP_SHIFT[suit]
        new_code = np.int64(lore.code[card, position.end[destination]])
    change = np.uint64(np.int64(position.code[card]) ^ new_code) << KEY_SHIFT[card]
    word = KEY_WORD[card]
    if word == 0:
        key_0 ^= change
    elif word == 1:
        key_1 ^= change
    else:
        key_2 ^= change
    return key_0, key_1, key_2
