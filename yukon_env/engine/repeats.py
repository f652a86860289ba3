"""A player's rule, not the game's: never go back to a position of the same game.

Most lost games of a weak player are endless shuffling between legal parents. Legality itself
never depends on history, so this stands beside the rules and works on the position keys.
"""

import numpy as np
from numba import njit

from yukon_env.engine.compiling import kernel
from yukon_env.engine.moves import apply
from yukon_env.engine.state import new_games


class Repeats:
    """The positions that `n` games have been through.

    Call `forget` when a game starts anew, and `forbid` once for each position that it reaches.
    """

    def __init__(self, n: int) -> None:
        self._keys = np.empty((n, 256), np.uint64)
        self._counts = np.zeros(n, np.int64)
        self._scratch = new_games(1)

    def forget(self, which: np.ndarray) -> None:
        """Forgets the positions of the games in `which` (bool, shape (n,), or indices)."""
        self._counts[which] = 0

    def forbid(self, games: np.ndarray, rules: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Notes the position of each game and takes back the moves to a position it has been in.

        Args:
            games: GAME, shape (n,).
            rules: RULES, shape (1,).
            masks: int8, shape (n, 417): the legal moves; changed in place. Games that are over
                keep their all-ones masks.

        Returns:
            bool, shape (n,): games in play in which every legal move is taken back.
        """
        if self._counts.max() == self._keys.shape[1]:
            self._keys = np.concatenate((self._keys, np.empty_like(self._keys)), axis=1)
        stuck = np.empty(len(games), np.bool_)
        _forbid(games, rules, self._keys, self._counts, self._scratch, masks, stuck)
        return stuck


@kernel
def _forbid(games, rules, keys, counts, scratch, masks, stuck):
    for index in range(len(games)):
        game = games[index]
        if not contains(keys[index, : counts[index]], game.key):
            keys[index, counts[index]] = game.key
            counts[index] += 1
        n_left = 0
        for number in range(game.n_legal):
            action = game.legal[number]
            scratch[0] = game
            apply(scratch[0], rules[0], action)
            seen = contains(keys[index, : counts[index]], scratch[0].key)
            masks[index, action] = not seen
            n_left += not seen
        stuck[index] = game.n_legal > 0 and n_left == 0


@njit
def contains(keys, key):
    """Whether a position key is among `keys` (uint64, shape (n,))."""
    found = False
    for index in range(len(keys)):
        found |= keys[index] == key
    return found
