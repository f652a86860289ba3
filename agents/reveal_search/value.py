"""The value of a position just after a reveal: the chance that the player wins from there.

The value is learned. What it sees does not change when suits of a colour, or columns, change
places. A position is a bag of *tokens*, one for each small thing that is so: this rank lies on
that rank, this card lacks so many ranks to go up and has so many cards on it, this pair lies in
one column; and a few *features* of the whole. The embeddings of the tokens are summed, so that the
many cards that may be revealed cost little: all but the tokens of the revealed card are summed
once (the approach of the efficiently updatable networks of shogi and chess programs, Nasu 2018).
"""

from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np
from numba import njit

from agents.errors import AgentError
from agents.files import write_whole
from agents.view import count
from yukon_env.cards import N_CARDS, N_RANKS, N_SUITS
from yukon_env.engine.state import DEAL, NO_CARD
from yukon_env.solver.cardsets import BIT, CARD_OF_BIT, EMPTY, index_of, lowest, next_up
from yukon_env.solver.position import do
from yukon_env.variants import N_COLUMNS

# Suits of two cards: the same, another of the same colour, the other colour.
SAME_SUIT, SAME_COLOUR, OTHER_COLOUR = range(3)
RELATION = np.array(
    [
        [SAME_SUIT if a == b else OTHER_COLOUR if (a in (1, 2)) != (b in (1, 2)) else SAME_COLOUR
         for b in range(N_SUITS)]
        for a in range(N_SUITS)
    ],
    np.int64,
)  # fmt: skip
N_RELATIONS = 3
_PAIRS = N_RANKS * N_RANKS * N_RELATIONS
MAX_ON_TOP = 12
MAX_HIDDEN = 7
MAX_UP = 20
MAX_WASTE = 24

# Where a parent is, the best place first.
AT_END, UNDER_1, UNDER_2, UNDER_FEW, UNDER_MANY, NOT_KNOWN, OWN_ABOVE, OWN_BELOW, NOWHERE = range(9)
N_PLACES = 9
_UNDER = np.array([AT_END, UNDER_1, UNDER_2, UNDER_FEW, UNDER_FEW, UNDER_MANY], np.int64)

# Where each kind of token begins.
LIES_ON = 0  # rank, and what it lies on: bare table, a hidden card, or rank and relation
LIES_ON_KINDS = 2 + N_RANKS * N_RELATIONS
BURIED = LIES_ON + N_RANKS * LIES_ON_KINDS  # ranks it lacks to go up, cards on top of it
OVER_HIDDEN = BURIED + N_RANKS * MAX_ON_TOP  # rank, hidden cards in its column
PAIR = OVER_HIDDEN + N_RANKS * MAX_HIDDEN  # in one column: rank below, rank above, relation
COLUMN = PAIR + _PAIRS  # hidden cards, face-up cards
SUIT_UP = COLUMN + MAX_HIDDEN * MAX_UP  # cards on a foundation
UNKNOWN = SUIT_UP + N_RANKS + 1  # an unknown card: rank, ranks it lacks to go up
IN_WASTE = UNKNOWN + N_RANKS * N_RANKS  # ranks it lacks to go up, cards on top of it
WASTE_PAIR = IN_WASTE + N_RANKS * MAX_WASTE  # of one suit in the waste: rank below, rank above
STUCK = WASTE_PAIR + N_RANKS * N_RANKS  # a card not on its parent: where its parents are
STUCK_KINDS = 5
N_TOKENS = STUCK + STUCK_KINDS * N_PLACES * N_PLACES

N_FEATURES = 28
WIDTH, WIDTH_2 = 64, 32
MAX_ROWS = N_CARDS


class Network(NamedTuple):
    """The weights, float32.

    Attributes:
        tokens: Shape (N_TOKENS, WIDTH): the embeddings.
        features: Shape (N_FEATURES, WIDTH).
        bias: Shape (WIDTH,).
        hidden: Shape (WIDTH, WIDTH_2).
        hidden_bias: Shape (WIDTH_2,).
        out: Shape (WIDTH_2,).
        out_bias: Shape (1,).
    """

    tokens: np.ndarray
    features: np.ndarray
    bias: np.ndarray
    hidden: np.ndarray
    hidden_bias: np.ndarray
    out: np.ndarray
    out_bias: np.ndarray


SHAPES = {
    "tokens": (N_TOKENS, WIDTH),
    "features": (N_FEATURES, WIDTH),
    "bias": (WIDTH,),
    "hidden": (WIDTH, WIDTH_2),
    "hidden_bias": (WIDTH_2,),
    "out": (WIDTH_2,),
    "out_bias": (1,),
}


def no_network() -> Network:
    """A network that values all positions the same."""
    return Network(**{name: np.zeros(shape, np.float32) for name, shape in SHAPES.items()})


def read_network(path: Path) -> Network:
    """Reads a network that `write_network` wrote.

    Raises:
        AgentError: There is no such file, or it is for other tokens or features than today's.
    """
    try:
        with np.load(path) as file:
            arrays = {name: file[name] for name in SHAPES}
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise AgentError(f"{path} holds no learned value: {error}") from error
    if {name: array.shape for name, array in arrays.items()} != SHAPES:
        raise AgentError(f"{path} was trained on other tokens or features than today's")
    return Network(
        **{name: np.ascontiguousarray(array, np.float32) for name, array in arrays.items()}
    )


def write_network(path: Path, network: Network) -> None:
    """Writes a network, in half precision: a file is a third of a megabyte."""
    arrays = {name: array.astype(np.float16) for name, array in network._asdict().items()}
    write_whole(path, lambda file: np.savez_compressed(file, **arrays))


SKETCH = np.dtype(
    (
        np.record,
        np.dtype(
            [
                # Cards face up in columns (the revealed one left out), by what they lie on.
                ("placed", np.uint64),
                ("misfits", np.uint64),
                ("keys", np.uint64),
                ("bases", np.uint64),
                ("ends", np.uint64),
                # Cards that an end or a space would take.
                ("takes", np.uint64),
                ("unknown", np.uint64),
                ("ready", np.uint64),
                ("waste_top", np.uint64),
                ("n_hidden", np.int64),
                ("n_spaces", np.int64),
                ("n_stock", np.int64),
                ("n_waste", np.int64),
                ("redeals", np.int64),
                ("up", np.int64, (N_SUITS,)),
                # The column of the revealed card, or -1; the hidden cards beneath it.
                ("column", np.int64),
                ("beneath", np.int64),
            ],
            align=True,
        ),
    )
)


class Description(NamedTuple):
    """What describing a position needs room for.

    Attributes:
        sketch: SKETCH, shape (1,).
        tokens: int16, shape (2048,): tokens of the position without the revealed card.
        more: int16, shape (256,): tokens to take off for a revealed card, then those to add.
        column: uint8, shape (52,): the cards of a column, its end first.
        revealed: uint8, shape (52,): cards that may have been revealed together.
        on_top: int64, shape (52,): cards on top of each card that lies face up in a column.
        stuck: int16, shape (52,): the token of each card that is not on its parent.
        over_none: bool, shape (7,): columns without hidden cards.
        total: float32, shape (WIDTH,): the sum of the embeddings of `tokens`.
        features: float32, shape (MAX_ROWS, N_FEATURES): a row for each card that may be revealed.
        first: float32, shape (MAX_ROWS, WIDTH).
        second: float32, shape (MAX_ROWS, WIDTH_2).
        values: float32, shape (MAX_ROWS,).
    """

    sketch: np.ndarray
    tokens: np.ndarray
    more: np.ndarray
    column: np.ndarray
    revealed: np.ndarray
    on_top: np.ndarray
    stuck: np.ndarray
    over_none: np.ndarray
    total: np.ndarray
    features: np.ndarray
    first: np.ndarray
    second: np.ndarray
    values: np.ndarray


def new_description() -> Description:
    """Makes that room."""
    return Description(
        np.zeros(1, SKETCH),
        np.zeros(2048, np.int16),
        np.zeros(256, np.int16),
        np.zeros(N_CARDS, np.uint8),
        np.zeros(N_CARDS, np.uint8),
        np.zeros(N_CARDS, np.int64),
        np.zeros(N_CARDS, np.int16),
        np.zeros(N_COLUMNS, np.bool_),
        np.zeros(WIDTH, np.float32),
        np.zeros((MAX_ROWS, N_FEATURES), np.float32),
        np.zeros((MAX_ROWS, WIDTH), np.float32),
        np.zeros((MAX_ROWS, WIDTH_2), np.float32),
        np.zeros(MAX_ROWS, np.float32),
    )


# --------------------------------------------------------------------------------------------
# Tokens
# --------------------------------------------------------------------------------------------


@njit
def relation(card, other):
    """How the suits of two cards are related."""
    return RELATION[card // N_RANKS, other // N_RANKS]


@njit
def lacks(up, card):
    """How many cards must go up before this one can."""
    return min(max(card % N_RANKS - up[card // N_RANKS], 0), N_RANKS - 1)


@njit
def unknown_token(up, card):
    """The token of a card whose place is not known."""
    return UNKNOWN + (card % N_RANKS) * N_RANKS + lacks(up, card)


@njit
def sketch_position(position, lore, unknown, column, n_revealed, description):
    """Describes a position in which some cards have just been revealed, without these cards.

    Args:
        position: One record `POSITION`, after the reveal, whoever the revealed cards are.
        lore: One record of the solver's `LORE`.
        unknown: The set of unknown cards, the revealed ones included.
        column: The column whose end was turned up; or -1.
        n_revealed: How many cards on top of the waste have been revealed.
        description: A `Description`: `sketch` and `tokens` are overwritten.

    Returns:
        The number of tokens.
    """
    sketch = description.sketch[0]
    tokens = description.tokens
    sketch.placed = sketch.misfits = sketch.keys = sketch.bases = EMPTY
    sketch.ends = sketch.takes = sketch.waste_top = EMPTY
    sketch.unknown = unknown
    sketch.ready = next_up(position.up_set)
    sketch.n_hidden = 0
    sketch.n_spaces = 0
    sketch.column = column
    sketch.beneath = 0
    n = 0
    for suit in range(N_SUITS):
        sketch.up[suit] = position.up[suit]
        tokens[n] = SUIT_UP + sketch.up[suit]
        n += 1
    for index in range(N_COLUMNS):
        if position.end[index] == NO_CARD:
            sketch.n_spaces += 1
            tokens[n] = COLUMN
            n += 1
        elif index == column:
            sketch.beneath = _count_hidden(
                position, np.int64(position.beneath[position.end[index]])
            )
            sketch.n_hidden += sketch.beneath
        else:
            n = _describe_column(position, lore, index, description, n)
    if sketch.n_spaces > 0:
        sketch.takes |= lore.starter_set & ~sketch.bases
    n = _describe_waste(position, n_revealed, description, n)
    left = sketch.keys | sketch.misfits
    while left != EMPTY:
        bit = lowest(left)
        left ^= bit
        card = np.int64(CARD_OF_BIT[index_of(bit)])
        description.stuck[card] = _stuck_token(position, lore, card, NO_CARD, description)
        tokens[n] = description.stuck[card]
        n += 1
    left = unknown
    while left != EMPTY:
        bit = lowest(left)
        left ^= bit
        tokens[n] = unknown_token(sketch.up, np.int64(CARD_OF_BIT[index_of(bit)]))
        n += 1
    return n


@njit
def _stuck_token(position, lore, card, revealed, description):
    """The token of a card that is not on its parent; `revealed` is the card just turned up."""
    sketch = description.sketch[0]
    best, second = NOWHERE, NOWHERE
    left = lore.parent_set[card]
    if left == EMPTY and sketch.n_spaces > 0:
        best = AT_END
    while left != EMPTY:
        bit = lowest(left)
        left ^= bit
        parent = np.int64(CARD_OF_BIT[index_of(bit)])
        place = _place_of_parent(position, card, parent, revealed, description)
        if place < best:
            best, second = place, best
        elif place < second:
            second = place
    if card == revealed:
        kind = min(sketch.beneath, 3) - 1
    elif sketch.keys & BIT[card] != EMPTY:
        kind = min(_count_hidden(position, np.int64(position.beneath[card])), 3) - 1
    else:
        kind = 4 if description.over_none[position.column[card]] else 3
    return STUCK + (kind * N_PLACES + best) * N_PLACES + second


@njit
def _place_of_parent(position, card, parent, revealed, description):
    """Where a parent of a card is, seen from the card."""
    sketch = description.sketch[0]
    bit = BIT[parent]
    if parent == revealed:
        return AT_END if sketch.column >= 0 else NOT_KNOWN
    if sketch.unknown & bit != EMPTY:
        return NOT_KNOWN
    if position.face_up & bit == EMPTY:
        return NOWHERE if position.up_set & bit != EMPTY else NOT_KNOWN
    on_top = description.on_top[parent]
    if card != revealed and position.column[parent] == position.column[card]:
        return OWN_BELOW if on_top > description.on_top[card] else OWN_ABOVE
    return _UNDER[min(on_top, 5)]


@njit
def _count_hidden(position, card):
    n = 0
    while card != NO_CARD:
        n += 1
        card = np.int64(position.beneath[card])
    return n


@njit
def _describe_column(position, lore, column, description, n):
    """Adds the tokens of a column with a face-up end, and its cards to the sets."""
    sketch = description.sketch[0]
    tokens = description.tokens
    card = np.int64(position.end[column])
    sketch.ends |= BIT[card]
    mine = EMPTY
    n_up = 0
    while card != NO_CARD and position.face_up & BIT[card] != EMPTY:
        rank = card % N_RANKS
        under = np.int64(position.beneath[card])
        bit = BIT[card]
        mine |= bit
        kind = 0
        if under == NO_CARD:
            sketch.bases |= bit
        elif position.face_up & BIT[under] == EMPTY:
            sketch.keys |= bit
            kind = 1
        else:
            kind = 2 + (under % N_RANKS) * N_RELATIONS + relation(card, under)
            if lore.child_set[under] & bit != EMPTY:
                sketch.placed |= bit
            else:
                sketch.misfits |= bit
        tokens[n] = LIES_ON + rank * LIES_ON_KINDS + kind
        tokens[n + 1] = BURIED + lacks(sketch.up, card) * MAX_ON_TOP + min(n_up, MAX_ON_TOP - 1)
        n += 2
        for above in range(n_up):
            other = np.int64(description.column[above])
            tokens[n] = (
                PAIR + (rank * N_RANKS + other % N_RANKS) * N_RELATIONS + relation(card, other)
            )
            n += 1
        description.column[n_up] = card
        description.on_top[card] = n_up
        n_up += 1
        card = under
    hidden = _count_hidden(position, card)
    sketch.n_hidden += hidden
    description.over_none[column] = hidden == 0
    for index in range(n_up):
        tokens[n] = (
            OVER_HIDDEN
            + (np.int64(description.column[index]) % N_RANKS) * MAX_HIDDEN
            + min(hidden, MAX_HIDDEN - 1)
        )
        n += 1
    tokens[n] = COLUMN + min(hidden, MAX_HIDDEN - 1) * MAX_UP + min(n_up, MAX_UP - 1)
    sketch.takes |= lore.child_set[position.end[column]] & ~mine
    return n + 1


@njit
def _describe_waste(position, n_revealed, description, n):
    """Adds the tokens of the waste but for the revealed cards on top of it."""
    sketch = description.sketch[0]
    sketch.n_waste = position.n_waste
    sketch.n_stock = np.int64(position.n_pile) - np.int64(position.n_waste)
    sketch.redeals = position.redeals_left
    known = np.int64(position.n_waste) - n_revealed
    for index in range(known):
        card = np.int64(position.pile[index])
        n = _describe_waste_card(position, card, index, known, sketch.up, description.tokens, n)
    if n_revealed == 0 and known > 0:
        sketch.waste_top = BIT[position.pile[known - 1]]
    return n


@njit
def _describe_waste_card(position, card, index, n_below, up, tokens, n):
    """Adds the tokens of the card at this index of the waste, and of pairs with those below."""
    on_top = min(np.int64(position.n_waste) - 1 - index, MAX_WASTE - 1)
    tokens[n] = IN_WASTE + lacks(up, card) * MAX_WASTE + on_top
    n += 1
    for below in range(min(index, n_below)):
        other = np.int64(position.pile[below])
        if other // N_RANKS == card // N_RANKS:
            tokens[n] = WASTE_PAIR + (other % N_RANKS) * N_RANKS + card % N_RANKS
            n += 1
    return n


@njit
def describe_revealed(position, lore, cards, n_cards, description, row):
    """Writes the tokens of the revealed cards into `more`, and row `row` of the features.

    Args:
        position: As for `sketch_position`.
        lore: As there.
        cards: uint8: the revealed cards, the one on top of the waste last.
        n_cards: How many there are.
        description: As there.

    Returns:
        The number of tokens in `more`, and how many of them, the first, are to be taken off.
    """
    sketch = description.sketch[0]
    more = description.more
    n = 0
    shown = EMPTY
    for index in range(n_cards):
        more[n] = unknown_token(sketch.up, np.int64(cards[index]))
        n += 1
        shown |= BIT[cards[index]]
    card = np.int64(cards[n_cards - 1])
    _write_features(sketch, lore, card, shown, description.features[row])
    if sketch.column < 0:
        n_off = n
        known = np.int64(position.n_waste) - n_cards
        for index in range(n_cards):
            n = _describe_waste_card(
                position, np.int64(cards[index]), known + index, known, sketch.up, more, n
            )
        return n, n_off
    # The revealed card is a parent at hand for its children, which had it down as unknown.
    children = lore.child_set[card] & (sketch.keys | sketch.misfits)
    left = children
    while left != EMPTY:
        bit = lowest(left)
        left ^= bit
        more[n] = description.stuck[CARD_OF_BIT[index_of(bit)]]
        n += 1
    n_off = n
    left = children
    while left != EMPTY:
        bit = lowest(left)
        left ^= bit
        child = np.int64(CARD_OF_BIT[index_of(bit)])
        more[n] = _stuck_token(position, lore, child, card, description)
        n += 1
    rank = card % N_RANKS
    hidden = min(sketch.beneath, MAX_HIDDEN - 1)
    more[n] = LIES_ON + rank * LIES_ON_KINDS + (1 if hidden > 0 else 0)
    more[n + 1] = BURIED + lacks(sketch.up, card) * MAX_ON_TOP
    more[n + 2] = OVER_HIDDEN + rank * MAX_HIDDEN + hidden
    more[n + 3] = COLUMN + hidden * MAX_UP + 1
    n += 4
    if hidden > 0:
        more[n] = _stuck_token(position, lore, card, card, description)
        n += 1
    return n, n_off


@njit
def _write_features(sketch, lore, card, shown, row):
    """Writes what is said of the whole position, `card` being the last revealed."""
    bit = BIT[card]
    in_column = sketch.column >= 0
    keys, bases, ends, takes = sketch.keys, sketch.bases, sketch.ends, sketch.takes
    opened = EMPTY
    waste_top = sketch.waste_top
    if in_column:
        opened = lore.child_set[card] & ~takes
        playable = takes & bit != EMPTY
        takes |= opened
        ends |= bit
        if sketch.beneath > 0:
            keys |= bit
        else:
            bases |= bit
    else:
        waste_top = bit
        playable = takes & bit != EMPTY
    columns = keys | bases | sketch.placed | sketch.misfits
    unknown = sketch.unknown & ~shown
    n_unknown = count(unknown)
    ready = sketch.ready
    up = sketch.up
    row[0] = sketch.n_hidden / 21
    row[1] = n_unknown / 24
    row[2] = sketch.n_spaces / 3
    row[3] = (up[0] + up[1] + up[2] + up[3]) / 52
    row[4] = min(min(up[0], up[1]), min(up[2], up[3])) / 13
    row[5] = max(max(up[0], up[1]), max(up[2], up[3])) / 13
    row[6] = sketch.n_stock / 24
    row[7] = sketch.n_waste / 24
    row[8] = min(max(sketch.redeals, -1), 1)
    row[9] = count(keys) / 7
    row[10] = count(keys & takes) / 7
    row[11] = count(sketch.misfits) / 30
    row[12] = count(sketch.misfits & takes) / 10
    row[13] = count(sketch.placed) / 52
    row[14] = count(unknown & (takes | ready)) / max(n_unknown, 1)
    row[15] = count(ready & columns) / 4
    row[16] = count(ready & (ends | waste_top)) / 4
    row[17] = count(ready & unknown) / 4
    row[18] = waste_top & (ready | takes) != EMPTY
    row[19] = bit & ready != EMPTY
    row[20] = playable
    row[21] = count(opened & keys) / 2
    row[22] = count(opened & sketch.misfits) / 4
    row[23] = count(bases) / 7
    row[24] = sketch.beneath / 6
    row[25] = in_column
    row[26] = count(keys & takes) == 0
    row[27] = (sketch.misfits | keys) & (takes | (ready & ends)) == EMPTY


# --------------------------------------------------------------------------------------------
# The network
# --------------------------------------------------------------------------------------------


@njit(fastmath=True)
def add_up(network, tokens, n, total):
    """Writes the sum of the embeddings of the first `n` tokens."""
    table = network.tokens
    for unit in range(WIDTH):
        total[unit] = network.bias[unit]
    for index in range(n):
        token = tokens[index]
        for unit in range(WIDTH):
            total[unit] += table[token, unit]


@njit(fastmath=True)
def add_revealed(network, description, row, n_more, n_off):
    """Writes row `row` of `first`: the sum of the embeddings with the tokens in `more`."""
    first, more, table = description.first, description.more, network.tokens
    for unit in range(WIDTH):
        first[row, unit] = description.total[unit]
    for index in range(n_off):
        token = more[index]
        for unit in range(WIDTH):
            first[row, unit] -= table[token, unit]
    for index in range(n_off, n_more):
        token = more[index]
        for unit in range(WIDTH):
            first[row, unit] += table[token, unit]


@njit(fastmath=True)
def values_of_rows(network, description, n):
    """Turns the first `n` rows of `first` and `features` into values, in `values`."""
    first, second = description.first[:n], description.second[:n]
    extra = np.dot(description.features[:n], network.features)
    for row in range(n):
        for unit in range(WIDTH):
            first[row, unit] = max(first[row, unit] + extra[row, unit], np.float32(0))
    np.dot(first, network.hidden, second)
    for row in range(n):
        out = network.out_bias[0]
        for unit in range(WIDTH_2):
            active = max(second[row, unit] + network.hidden_bias[unit], np.float32(0))
            out += active * network.out[unit]
        description.values[row] = np.float32(1) / (np.float32(1) + np.exp(-out))


# --------------------------------------------------------------------------------------------
# Plans
# --------------------------------------------------------------------------------------------


@njit
def reveal(position, lore, move):
    """Plays a move that reveals; returns the column turned up (or -1) and the cards dealt."""
    if move == DEAL:
        before = np.int64(position.n_waste)
        do(position, lore, move)
        return -1, np.int64(position.n_waste) - before
    source = np.int64(position.column[move >> 3])
    do(position, lore, move)
    return source, 0


@njit
def value_plan(position, lore, move, unknown, cards, n_cards, network, description):
    """The value after a move that reveals, averaged over who the revealed cards may be.

    Where several cards are dealt at once, as many draws are averaged as there are cards.

    Args:
        position: One record `POSITION` before the move; it is played there.
        lore: One record of the solver's `LORE`.
        move: The move that reveals.
        unknown: The set of unknown cards.
        cards: uint8: cards that may be revealed.
        n_cards: How many of these to try.
        network: A `Network`.
        description: A `Description`.
    """
    column, n_dealt = reveal(position, lore, move)
    n = sketch_position(position, lore, unknown, column, n_dealt, description)
    add_up(network, description.tokens, n, description.total)
    n_revealed = max(n_dealt, 1)
    apart = n_cards // n_revealed
    for row in range(n_cards):
        for place in range(n_revealed):
            description.revealed[place] = cards[(row + place * apart) % n_cards]
        n_more, n_off = describe_revealed(
            position, lore, description.revealed, n_revealed, description, row
        )
        add_revealed(network, description, row, n_more, n_off)
    values_of_rows(network, description, n_cards)
    return description.values[:n_cards].mean()
