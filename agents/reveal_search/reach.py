"""Where a player can get before the next card is turned up, and by which moves.

Between two reveals nothing is left to chance: a reveal is a move that turns up a card of a column,
or deals cards from the stock that nobody has seen. So a decision is to choose among the *options*:
each is a reachable position with a move there that reveals.

Positions, their keys and moves are the solver's (`yukon_env.solver.position`). The hidden cards of
a position are placeholders: nothing here depends on which of them lies where.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from yukon_env.engine.state import DEAL, N_ACTIONS
from yukon_env.solver import transpositions
from yukon_env.solver.cardsets import BIT, EMPTY
from yukon_env.solver.dominance import NO_MOVE, forced_move
from yukon_env.solver.position import (
    KEY_WORDS,
    MAX_MOVES,
    POSITION,
    do,
    key_after,
    list_moves,
)
from yukon_env.variants import N_COLUMNS

NO_PARENT = -1
# Of the positions that differ only in which of its parents each card lies on, these many are
# enough, unless they lead to few options.
PER_CORE, ALL = 3, 255
FEW_OPTIONS = 6

# The lowest bits of the codes in a word of the key: 18 cards, or 16 in the last word.
_CODE_BITS = np.array([sum(1 << (3 * card) for card in range(n)) for n in (18, 18, 16)], np.uint64)
_NOT_CODES = np.array([2**64 - 1 - 7 * int(bits) for bits in _CODE_BITS], np.uint64)
_ONE, _TWO = np.uint64(1), np.uint64(2)


class Reach(NamedTuple):
    """The reachable positions of one decision, and its options.

    Attributes:
        positions: POSITION, shape (nodes,); the first is where the player stands.
        parents: int32, shape (nodes,): the position that each was first reached from.
        moves: uint16, shape (nodes,): and by which move.
        option_nodes: int32, shape (options,): the position of each option.
        option_moves: uint16, shape (options,): the move that reveals.
        table: uint64, shape (rows, 3): the keys of the positions.
        cores: uint64, shape (rows, 3): their cores.
        core_counts: uint8, shape (rows,): positions found of each core.
        option_cores: uint64, shape (rows, 3): the cores that options lead to.
        listed: uint16, shape (MAX_MOVES,): room for the moves of one position.
        allowed: bool, shape (417,): the moves that may be made first.
    """

    positions: np.ndarray
    parents: np.ndarray
    moves: np.ndarray
    option_nodes: np.ndarray
    option_moves: np.ndarray
    table: np.ndarray
    cores: np.ndarray
    core_counts: np.ndarray
    option_cores: np.ndarray
    listed: np.ndarray
    allowed: np.ndarray


def new_reach(max_nodes: int, max_options: int) -> Reach:
    """Makes room for so many positions and options."""
    rows = 1 << (2 * max(max_nodes, max_options)).bit_length()
    return Reach(
        positions=np.zeros(max_nodes, POSITION),
        parents=np.zeros(max_nodes, np.int32),
        moves=np.zeros(max_nodes, np.uint16),
        option_nodes=np.zeros(max_options, np.int32),
        option_moves=np.zeros(max_options, np.uint16),
        table=np.zeros((rows, KEY_WORDS), np.uint64),
        cores=np.zeros((rows, KEY_WORDS), np.uint64),
        core_counts=np.zeros(rows, np.uint8),
        option_cores=np.zeros((rows, KEY_WORDS), np.uint64),
        listed=np.zeros(MAX_MOVES, np.uint16),
        allowed=np.ones(N_ACTIONS, np.bool_),
    )


@njit
def core_word(word, index):
    """A word of a key without which of its parents a card lies on."""
    # Codes are 0 (as at the root), 1 to 4 (on a parent) and 5 (at a base): 1 to 4 become 1.
    bits = _CODE_BITS[index]
    placed = (word | (word >> _ONE) | (word >> _TWO)) & bits
    at_base = word & (word >> _TWO) & bits
    return (word & _NOT_CODES[index]) | placed | (at_base << _TWO)


@njit
def reveals(position, unknown, move):
    """Whether a move shows the player a card that he has not seen."""
    if move == DEAL:
        return (
            position.n_waste < position.n_pile
            and BIT[position.pile[position.n_waste]] & unknown != EMPTY
        )
    card = move >> 3
    return position.column[card] < N_COLUMNS and BIT[position.beneath[card]] & position.hidden != (
        EMPTY
    )


@njit
def explore(reach, lore, unknown, max_per_core):
    """Finds the positions that can be reached from `reach.positions[0]`, and the options.

    Args:
        reach: A `Reach`; its first position is set, the rest is overwritten.
        lore: One record of the solver's `LORE`.
        unknown: The set of the cards whose place is not known.
        max_per_core: Positions to store that differ only in which parents cards lie on.

    Returns:
        The number of options.
    """
    transpositions.clear(reach.table, len(reach.table))
    transpositions.clear(reach.cores, len(reach.cores))
    transpositions.clear(reach.option_cores, len(reach.option_cores))
    key = reach.positions[0].key
    row, _ = transpositions.find(reach.table, len(reach.table), key[0], key[1], key[2])
    transpositions.store(reach.table, row, key[0], key[1], key[2])
    reach.parents[0] = NO_PARENT
    n_nodes, n_options = 1, 0
    node = 0
    while node < n_nodes:
        for index in range(_list_useful_moves(reach, lore, node)):
            move = np.int64(reach.listed[index])
            if node == 0 and not reach.allowed[move]:
                continue
            if reveals(reach.positions[node], unknown, move):
                n_options = _add_option(reach, lore, node, move, n_options)
            else:
                n_nodes = _add_position(reach, lore, node, move, n_nodes, max_per_core)
        node += 1
    return n_options


@njit
def _core_after(position, lore, move):
    """The key of the position that a move leads to, but for which parents cards lie on."""
    key_0, key_1, key_2 = key_after(position, lore, move)
    return core_word(key_0, 0), core_word(key_1, 1), core_word(key_2, 2)


@njit
def _add_option(reach, lore, node, move, n):
    """Adds an option, the first to its core; returns how many there are."""
    core = _core_after(reach.positions[node], lore, move)
    row, known = transpositions.find(
        reach.option_cores, len(reach.option_cores), core[0], core[1], core[2]
    )
    if known or n == len(reach.option_nodes):
        return n
    transpositions.store(reach.option_cores, row, core[0], core[1], core[2])
    reach.option_nodes[n] = node
    reach.option_moves[n] = move
    return n + 1


@njit
def _add_position(reach, lore, node, move, n, max_per_core):
    """Adds the position after a move, if it is new; returns how many there are."""
    if n == len(reach.positions):
        return n
    position = reach.positions[node]
    key = key_after(position, lore, move)
    row, known = transpositions.find(reach.table, len(reach.table), key[0], key[1], key[2])
    if known:
        return n
    core = _core_after(position, lore, move)
    place, known = transpositions.find(reach.cores, len(reach.cores), core[0], core[1], core[2])
    if not known:
        transpositions.store(reach.cores, place, core[0], core[1], core[2])
        reach.core_counts[place] = 0
    if reach.core_counts[place] >= max_per_core:
        return n
    reach.core_counts[place] += 1
    transpositions.store(reach.table, row, key[0], key[1], key[2])
    reach.positions[n] = position
    do(reach.positions[n], lore, move)
    reach.parents[n] = node
    reach.moves[n] = move
    return n + 1


@njit
def _list_useful_moves(reach, lore, node):
    """Lists the moves of a position; only one, where one is as good as any."""
    position = reach.positions[node]
    move = forced_move(position, lore)
    if move != NO_MOVE and (node > 0 or reach.allowed[move]):
        reach.listed[0] = move
        return 1
    return list_moves(position, lore, reach.listed)
