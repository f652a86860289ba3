"""Sets of cards as 64-bit words, so that a rule is asked about all cards at once.

Each suit has a lane of 16 bits, its ace lowest. The lanes stand in the order C, D, S, H, so that
the neighbours of a lane, going round, have the other colour and the lane opposite is the other
suit of the same colour: rotating a word by 16 or 48 bits changes the colour, by 32 only the suit.
"""

import numpy as np
from numba import njit

from yukon_env.cards import N_CARDS, N_RANKS

LANE_BITS = 16
_LANE_OF_SUIT = (0, 1, 3, 2)
_INDEX = [_LANE_OF_SUIT[card // N_RANKS] * LANE_BITS + card % N_RANKS for card in range(N_CARDS)]

# The word of one card; that of NO_CARD is the empty set.
BIT = np.array([1 << index for index in _INDEX] + [0], np.uint64)
# The card of a bit.
CARD_OF_BIT = np.zeros(64, np.uint8)
CARD_OF_BIT[_INDEX] = np.arange(N_CARDS)

EMPTY = np.uint64(0)
ACES = np.uint64(0x0001_0001_0001_0001)
KINGS = np.uint64(0x1000_1000_1000_1000)
ALL = np.uint64(0x1FFF_1FFF_1FFF_1FFF)

ONE, TWO = np.uint64(1), np.uint64(2)
QUARTER, HALF, THREE_QUARTERS = np.uint64(16), np.uint64(32), np.uint64(48)

# Multiplying a lone bit by a de Bruijn sequence brings its index into the six top bits.
_SEQUENCE = 0x022FDD63CC95386D
_DE_BRUIJN = np.uint64(_SEQUENCE)
_TOP_SIX = np.uint64(58)
_INDEX_OF_PRODUCT = np.zeros(64, np.uint8)
for _index in range(64):
    _INDEX_OF_PRODUCT[((_SEQUENCE << _index) & (2**64 - 1)) >> 58] = _index


@njit
def turn(cards, bits):
    """Rotates the lanes: by QUARTER and THREE_QUARTERS to the other colour, by HALF within it."""
    return (cards << bits) | (cards >> (np.uint64(64) - bits))


@njit
def lowest(cards):
    """The lowest bit of a set that is not empty, as a set."""
    return cards & (~cards + ONE)


@njit
def index_of(bit):
    """The index, 0 to 63, of a lone bit."""
    return _INDEX_OF_PRODUCT[(bit * _DE_BRUIJN) >> _TOP_SIX]


@njit
def count(cards):
    """How many cards are in a set; meant for small ones."""
    n = 0
    while cards != EMPTY:
        cards &= cards - ONE
        n += 1
    return n


@njit
def next_up(up):
    """The next card of each suit that may go up; `up` is the set of cards that are up."""
    return (up + ACES) & ALL
