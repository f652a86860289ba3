"""In which order moves are tried: it decides how soon a win is found, never whether."""

import numpy as np
from numba import njit

from yukon_env.engine.state import DEAL, FOUNDATION, NO_CARD
from yukon_env.solver.cardsets import BIT, EMPTY
from yukon_env.solver.position import PILE
from yukon_env.solver.techniques import AT_ROOT
from yukon_env.variants import N_COLUMNS

TURNS_CARD = 4096
LEAVES_ROOT = 2048
GOES_UP = 1536
EMPTIES_COLUMN = 1536
FROM_PILE = 1024
DEALS = 512
COMES_BACK = 0


@njit
def score(position, move):
    """The promise of a move: higher is tried earlier."""
    if move == DEAL:
        return DEALS
    card = move >> 3
    source = position.column[card]
    if source == PILE:
        return FROM_PILE + (GOES_UP if move & 7 == FOUNDATION else 0)
    if source >= N_COLUMNS:
        return COMES_BACK
    value = GOES_UP if move & 7 == FOUNDATION else 0
    under = position.beneath[card]
    if under == NO_CARD:
        value += EMPTIES_COLUMN
    elif position.hidden & BIT[under] != EMPTY:
        value += TURNS_CARD
    elif position.code[card] == AT_ROOT:
        value += LEAVES_ROOT
    return value


@njit
def next_random(state):
    """The next state of a 64-bit xorshift generator; for shuffling, not for statistics.

    Source: Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (2003).
    """
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    return state ^ (state << np.uint64(17))
