"""The transposition table: the positions that have been seen, as whole keys.

Open addressing with linear probing over rows of three 64-bit words. Row 0 0 0 is free: a key is
never 0 because `position.load` sets a mark in it. Nothing is ever replaced, and keys are compared
whole, so "seen" is exact; a table that is full is the caller's to notice.
"""

import numpy as np
from numba import njit

from yukon_env.solver.cardsets import EMPTY

_FACTOR_0 = np.uint64(0x9E3779B97F4A7C15)
_FACTOR_1 = np.uint64(0xD6E8FEB86659FD93)
_FACTOR_2 = np.uint64(0xBF58476D1CE4E5B9)
_HALF = np.uint64(32)


@njit
def clear(table, n_rows):
    """Frees the first `n_rows` rows, a power of two; only they are used until the next time."""
    table[:n_rows] = EMPTY


@njit
def find(table, n_rows, key_0, key_1, key_2):
    """The row of a key, or of the free row where it belongs: (row, whether it is there)."""
    word = key_0 * _FACTOR_0 + key_1 * _FACTOR_1 + key_2 * _FACTOR_2
    word = (word ^ (word >> _HALF)) * _FACTOR_0
    last = np.uint64(n_rows - 1)
    row = (word >> _HALF) & last
    while True:
        found = table[row, 0]
        if found == key_0 and table[row, 1] == key_1 and table[row, 2] == key_2:
            return row, True
        if found == EMPTY and table[row, 1] == EMPTY and table[row, 2] == EMPTY:
            return row, False
        row = (row + np.uint64(1)) & last


@njit
def store(table, row, key_0, key_1, key_2):
    """Writes a key into the free row that `find` gave."""
    table[row, 0] = key_0
    table[row, 1] = key_1
    table[row, 2] = key_2
