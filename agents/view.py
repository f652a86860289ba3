"""The table as a player sees it, in the form that the features are computed from.

Everything here comes from the observation and the variant's rules (who may lie on whom); which
hidden card lies where is never known.

Words: a card's *parents* are the cards it may be moved onto, its *children* those that may be
moved onto it. A face-up card of a column lies on its parent (it is *placed*), on another face-up
card (a *misfit*), on a face-down card (a *key*: to move it turns that card), or on the bare table
(a *base*). A card is *ready* when it is the next of its suit to go up. It is *playable* when a
column takes it now.

Sets of cards are 64-bit masks: bit c is card c.
"""

from functools import cache

import numpy as np
from numba import njit

from agents.errors import AgentError
from yukon_env.cards import N_CARDS, N_RANKS, N_SUITS
from yukon_env.engine.moves import ON_HIDDEN
from yukon_env.engine.state import (
    FACE_UP,
    FOUNDATION,
    N_ACTIONS,
    NO_CARD,
    POSITION,
    ROW,
    RULES,
    STOCK,
    WASTE,
    ZONE,
)
from yukon_env.variants import N_COLUMNS

MAX_HIDDEN = 21
MAX_COLUMN = N_CARDS
SOON_RANKS = 2
NOTHING = np.uint64(0)
ONE = np.uint64(1)

_PAIRS = np.uint64(0x5555555555555555)
_FOURS = np.uint64(0x3333333333333333)
_BYTES = np.uint64(0x0F0F0F0F0F0F0F0F)
_EACH_BYTE = np.uint64(0x0101010101010101)
_S2, _S4, _S56 = np.uint64(2), np.uint64(4), np.uint64(56)

# The rules as masks, so that a question about many cards is one operation.
RELATIONS = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("children", np.uint64, (N_CARDS + 1,)),
                ("parents", np.uint64, (N_CARDS + 1,)),
                # The lower cards of a card's suit.
                ("lower", np.uint64, (N_CARDS,)),
                # The cards that may start an empty column.
                ("starters", np.uint64),
                ("draw", np.int64),
            ],
            align=True,
        ),
    )
)

# The table as a player sees it.
VIEW = np.dtype(
    (
        np.record,
        np.dtype(
            [
                # Masks per column: all its face-up cards. Per face-up card: those beneath it.
                ("column", np.uint64, (N_COLUMNS,)),
                ("below", np.uint64, (N_CARDS,)),
                # Masks of face-up cards in columns, by what they lie on.
                ("placed", np.uint64),
                ("misfits", np.uint64),
                ("keys", np.uint64),
                ("bases", np.uint64),
                # Cards that at least one, and that at least two, ends or spaces would take.
                ("takes", np.uint64),
                ("takes_twice", np.uint64),
                ("ends", np.uint64),
                ("ready", np.uint64),
                ("soon", np.uint64),
                # Parents of the keys, and of the misfits, that nothing takes now.
                ("key_parents", np.uint64),
                ("misfit_parents", np.uint64),
                ("unknown", np.uint64),
                # Cards on the foundations, and in the waste.
                ("gone", np.uint64),
                ("waste", np.uint64),
                # The card at each place; the card beneath a face-up card (or ON_HIDDEN, NO_CARD).
                ("place", np.uint8, (N_COLUMNS, MAX_COLUMN)),
                ("beneath", np.uint8, (N_CARDS,)),
                # Placed cards up to and with this one: in its column, and without a gap.
                ("joints", np.uint8, (N_CARDS,)),
                ("run", np.uint8, (N_CARDS,)),
                ("end", np.uint8, (N_COLUMNS,)),
                ("key", np.uint8, (N_COLUMNS,)),
                ("length", np.int64, (N_COLUMNS,)),
                ("hidden", np.int64, (N_COLUMNS,)),
                ("up", np.int64, (N_SUITS,)),
                ("pile", np.uint8, (N_CARDS,)),
                ("waste_top", np.int64),
                ("waste_next", np.int64),
                ("n_waste", np.int64),
                ("n_stock", np.int64),
                # The card that a deal would bring to the top of the waste, if it is known.
                ("dealt_top", np.int64),
                ("n_spaces", np.int64),
                ("n_hidden", np.int64),
                ("n_unknown", np.int64),
                # Hidden cards, as a share of the most that any variant deals.
                ("early", np.float64),
            ],
            align=True,
        ),
    )
)


# --------------------------------------------------------------------------------------------
# Sets of cards
# --------------------------------------------------------------------------------------------


@njit
def bit(card):
    """The set of this one card."""
    return ONE << np.uint64(card)


@njit
def bit_or_nothing(card):
    """The set of this one card; empty for NO_CARD and ON_HIDDEN."""
    return bit(card) if card < N_CARDS else NOTHING


@njit
def count(cards):
    """How many cards are in a set; LLVM makes it one instruction."""
    cards = cards - ((cards >> ONE) & _PAIRS)
    cards = (cards & _FOURS) + ((cards >> _S2) & _FOURS)
    return np.int64((((cards + (cards >> _S4)) & _BYTES) * _EACH_BYTE) >> _S56)


@njit
def has(cards, card):
    """1 if the card is in the set, else 0; NO_CARD and ON_HIDDEN never are."""
    return np.int64((cards >> np.uint64(card)) & ONE)


def relations_of(rules: np.ndarray) -> np.ndarray:
    """Returns rules (from `compile_rules`) as masks: an array of one record `RELATIONS`."""
    return _relations_of_bytes(rules.tobytes())


@cache
def _relations_of_bytes(rules: bytes) -> np.ndarray:
    record = np.frombuffer(rules, RULES)[0]
    relations = np.zeros(1, RELATIONS)
    for target in range(N_CARDS):
        for card in {int(child) for child in record.children[target]} - {target}:
            relations[0].children[target] |= bit(card)
            relations[0].parents[card] |= bit(target)
        suit, rank = divmod(target, N_RANKS)
        relations[0].lower[target] = ((1 << rank) - 1) << (suit * N_RANKS)
    relations[0].starters = sum(1 << int(card) for card in record.starters[: record.n_starters])
    relations[0].draw = record.draw
    relations.flags.writeable = False
    return relations


# --------------------------------------------------------------------------------------------
# The view
# --------------------------------------------------------------------------------------------


@njit
def look(seen, relations, view):
    """Fills in the view of a position.

    Args:
        seen: int8, shape (156,) or longer: the observation, row after row.
        relations: One record of dtype `RELATIONS`.
        view: One record of dtype `VIEW`, overwritten.
    """
    _clear(view)
    _read_rows(seen, view)
    _count_cards(view)
    for column in range(N_COLUMNS):
        _read_column(relations, view, column)
    for suit in range(N_SUITS):
        _mark_ready(view, suit)
    _find_places(relations, view)
    _find_wanted(relations, view)
    _read_pile(relations, view)


@njit
def _clear(view):
    view.placed = view.misfits = view.keys = view.bases = NOTHING
    view.takes = view.takes_twice = view.ends = NOTHING
    view.ready = view.soon = view.unknown = NOTHING
    view.gone = view.waste = NOTHING
    view.key_parents = view.misfit_parents = NOTHING
    view.n_waste = view.n_spaces = 0
    for column in range(N_COLUMNS):
        view.length[column] = 0
        view.hidden[column] = 0
    for suit in range(N_SUITS):
        view.up[suit] = 0
    for index in range(N_CARDS):
        view.pile[index] = NO_CARD


@njit
def _read_rows(seen, view):
    """Puts every card whose place is known there; `hidden` counts face-up cards for now.

    A face-down card of a column counts as not known, even if the observation tells which it is;
    so does a card whose row makes no sense.
    """
    for card in range(N_CARDS):
        zone = seen[ROW * card + ZONE]
        position = seen[ROW * card + POSITION]
        face_up = seen[ROW * card + FACE_UP]
        if not 0 <= position < MAX_COLUMN or (zone < N_COLUMNS and face_up == 0):
            view.unknown |= bit(card)
        elif 0 <= zone < N_COLUMNS:
            view.place[zone, position] = card
            view.length[zone] = max(view.length[zone], position + 1)
            view.hidden[zone] += 1
        elif zone == FOUNDATION:
            view.up[card // N_RANKS] += 1
            view.gone |= bit(card)
        elif zone == WASTE:
            view.n_waste += 1
            view.waste |= bit(card)
            view.pile[position] = card


@njit
def _count_cards(view):
    """Counts hidden cards per column, and the cards of the stock."""
    view.n_hidden = 0
    view.n_stock = N_CARDS - view.n_waste
    for column in range(N_COLUMNS):
        view.hidden[column] = view.length[column] - view.hidden[column]
        view.n_hidden += view.hidden[column]
        view.n_stock -= view.length[column]
    for suit in range(N_SUITS):
        view.n_stock -= view.up[suit]
    view.n_unknown = count(view.unknown)
    view.early = view.n_hidden / MAX_HIDDEN


@njit
def _read_column(relations, view, column):
    """Walks up the face-up cards of a column: what each lies on, and all that lie beneath it."""
    cards = NOTHING
    under = NO_CARD if view.hidden[column] == 0 else ON_HIDDEN
    joints = run = 0
    view.key[column] = NO_CARD
    for position in range(view.hidden[column], view.length[column]):
        card = int(view.place[column, position])
        this = bit(card)
        view.below[card] = cards
        view.beneath[card] = under
        if under == ON_HIDDEN:
            view.keys |= this
            view.key[column] = card
        elif under == NO_CARD:
            view.bases |= this
        elif has(relations.children[under], card):
            view.placed |= this
            joints += 1
            run += 1
        else:
            view.misfits |= this
            run = 0
        view.joints[card] = joints
        view.run[card] = run
        cards |= this
        under = card
    view.column[column] = cards
    view.end[column] = under if view.length[column] > 0 else NO_CARD


@njit
def _mark_ready(view, suit):
    """Marks the next card of a suit to go up as ready, and those after it as soon."""
    up = view.up[suit]
    if up < N_RANKS:
        view.ready |= bit(suit * N_RANKS + up)
    for rank in range(up + 1, min(up + 1 + SOON_RANKS, N_RANKS)):
        view.soon |= bit(suit * N_RANKS + rank)


@njit
def _find_places(relations, view):
    """Finds which cards the ends and spaces would take, with one place and with a choice."""
    for column in range(N_COLUMNS):
        end = int(view.end[column])
        if end == NO_CARD:
            view.n_spaces += 1
            taken = relations.starters & ~view.bases
        else:
            view.ends |= bit(end)
            taken = relations.children[end] & ~view.column[column]
        view.takes_twice |= view.takes & taken
        view.takes |= taken


@njit
def _find_wanted(relations, view):
    """Finds the parents of the keys and misfits that no end or space takes now."""
    stuck_keys = view.keys & ~view.takes
    stuck_misfits = view.misfits & ~view.takes
    for column in range(N_COLUMNS):
        for position in range(view.hidden[column], view.length[column]):
            card = int(view.place[column, position])
            if has(stuck_keys, card):
                view.key_parents |= relations.parents[card]
            if has(stuck_misfits, card):
                view.misfit_parents |= relations.parents[card]


@njit
def _read_pile(relations, view):
    """Notes the two top cards of the waste, and what is known of the next deal's top card."""
    n = view.n_waste
    view.waste_top = view.pile[n - 1] if n > 0 else NO_CARD
    view.waste_next = view.pile[n - 2] if n > 1 else NO_CARD
    view.dealt_top = NO_CARD


@njit
def look_at_stock(seen, relations, view):
    """Finds the card that a deal would bring to the top of the waste, if it has been seen."""
    wanted = min(relations.draw, view.n_stock) - 1
    for card in range(N_CARDS):
        if seen[ROW * card + ZONE] == STOCK and seen[ROW * card + POSITION] == wanted:
            view.dealt_top = card


# --------------------------------------------------------------------------------------------
# What an agent is given
# --------------------------------------------------------------------------------------------


@njit
def list_actions(mask, actions):
    """Writes the actions that a mask (int8, shape (417,)) allows, in order; returns how many."""
    n = 0
    for action in range(N_ACTIONS):
        actions[n] = action
        n += mask[action] != 0
    return n


def check_input(
    observations: np.ndarray, action_masks: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Returns observations as int8 of shape (n, 156) and masks as int8 of shape (n, 417).

    Raises:
        AgentError: The arrays have other shapes.
    """
    seen = check_observations(observations)
    masks = np.ascontiguousarray(action_masks)
    if masks.shape != (len(seen), N_ACTIONS):
        raise AgentError(
            f"action masks need the shape ({len(seen)}, {N_ACTIONS}), not {masks.shape}"
        )
    return seen, masks.view(np.int8) if masks.dtype == np.bool_ else masks.astype(
        np.int8, copy=False
    )


def check_observations(observations: np.ndarray) -> np.ndarray:
    """Returns observations as int8 of shape (n, 156).

    Raises:
        AgentError: The array has another shape.
    """
    array = np.ascontiguousarray(observations, np.int8)
    if array.ndim != 3 or array.shape[1:] != (N_CARDS, ROW):
        raise AgentError(f"observations need the shape (n, {N_CARDS}, {ROW}), not {array.shape}")
    return array.reshape(len(array), N_CARDS * ROW)
