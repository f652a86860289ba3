"""The arrays that the solver works in, and the compiled functions that Python calls.

A long search runs in slices: compiled code cannot be interrupted, so Python looks at the clock,
and hears Ctrl-C, between them.
"""

import threading

import numpy as np

from yukon_env.deals import mix
from yukon_env.engine.compiling import kernel
from yukon_env.solver import abstraction, search
from yukon_env.solver.abstraction import ABSTRACT_FRAME, ABSTRACT_GAME, MAX_ABSTRACT_DEPTH
from yukon_env.solver.position import KEY_WORDS, MAX_MOVES, POSITION, load
from yukon_env.solver.relaxation import is_dead_end
from yukon_env.solver.search import EXHAUSTED, FRAME, RUNNING, SEARCH, WON

_SMALL_DEPTH, _LARGE_DEPTH = 1 << 14, 1 << 20
_MOVES_PER_LEVEL = 8
# Shares of the memory for the two tables; the rest is for the levels of the search.
_TABLE_SHARE, _ABSTRACT_SHARE = 0.6, 0.3
_SEED_FACTOR = np.uint64(1_000_003)


class Workspace:
    """Arrays that are kept from one game to the next and grow when a stage needs more.

    Args:
        memory: Bytes that they may take in all.
    """

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.root = np.zeros(1, POSITION)
        self.position = np.zeros(1, POSITION)
        self.search = np.zeros(1, SEARCH)
        self.scratch = np.zeros(MAX_MOVES, np.uint16)
        self.abstract_game = np.zeros(1, ABSTRACT_GAME)
        self.abstract_frames = np.zeros(MAX_ABSTRACT_DEPTH, ABSTRACT_FRAME)
        self.table = np.zeros((1 << 10, KEY_WORDS), np.uint64)
        self.abstract_table = np.zeros(1 << 10, np.uint64)
        self._make_levels(_SMALL_DEPTH)

    def _make_levels(self, depth: int) -> None:
        self.frames = np.zeros(depth, FRAME)
        self.moves = np.zeros(depth * _MOVES_PER_LEVEL, np.uint32)

    def make_room(self, states: int) -> tuple[int, int]:
        """Sees to the table of positions and the levels of a search.

        Returns:
            The rows of the table, a power of two, and how many positions it may store: `states`,
            or fewer if memory does not allow as many.
        """
        rows, capacity = _table_size(states, int(self.memory * _TABLE_SHARE) // (8 * KEY_WORDS))
        if len(self.table) < rows:
            self.table = np.zeros((rows, KEY_WORDS), np.uint64)
        depth = _LARGE_DEPTH if states > _SMALL_DEPTH else _SMALL_DEPTH
        bytes_per_level = FRAME.itemsize + 4 * _MOVES_PER_LEVEL
        depth = min(depth, max(1 << 10, self.memory // 10 // bytes_per_level))
        if len(self.frames) < depth:
            self._make_levels(depth)
        return rows, capacity

    def make_abstract_room(self, states: int) -> tuple[int, int]:
        """Sees to the table of the abstract game; the same for it."""
        rows, capacity = _table_size(states, int(self.memory * _ABSTRACT_SHARE) // 8)
        if len(self.abstract_table) < rows:
            self.abstract_table = np.zeros(rows, np.uint64)
        return rows, capacity

    @property
    def search_arrays(self) -> tuple[np.ndarray, ...]:
        """What the kernels of the search take, after the rules."""
        return self.position, self.search, self.frames, self.moves, self.scratch, self.table

    @property
    def abstract_arrays(self) -> tuple[np.ndarray, ...]:
        """What the kernels of the abstract game take."""
        return self.abstract_game, self.abstract_frames, self.abstract_table


def _table_size(states: int, max_rows: int) -> tuple[int, int]:
    """Rows for so many states, filled by two thirds at most, and the states that fit."""
    rows = 1 << max(8, (states * 3 // 2).bit_length())
    while rows > 1 << 8 and rows > max_rows:
        rows >>= 1
    return rows, min(states, rows * 2 // 3)


_local = threading.local()


def workspace_for(memory: int) -> Workspace:
    """The workspace of this thread, made anew if it was made for another limit of memory."""
    workspace = getattr(_local, "workspace", None)
    if workspace is None or workspace.memory != memory:
        workspace = _local.workspace = Workspace(memory)
    return workspace


@kernel
def load_root(root, games, lores):
    """Makes an engine record the root; returns how many cards it holds and if it is a dead end."""
    n = load(root[0], games[0], lores[0])
    return n, lores[0].relaxation and is_dead_end(root[0], lores[0])


@kernel
def search_on(
    root, lores, position, searches, frames, moves, scratch, table,
    abstract_games, abstract_frames, abstract_table, seed, n_states,
):  # fmt: skip
    """Carries the searches of a stage on for about `n_states` states.

    When one search ends and proves nothing, the next begins, with another order of moves, until
    there have been as many as the stage wants.
    """
    this = searches[0]
    pause = this.n_states + n_states
    while this.n_states < pause:
        if this.status != RUNNING:
            if this.n_begun == this.n_restarts:
                return
            this.n_begun += 1
            this.random = mix(np.uint64(seed) * _SEED_FACTOR + np.uint64(this.n_begun))
            position[0] = root[0]
            search.start(this, position[0], lores[0], frames, moves, scratch, table)
        search.advance(
            this, position[0], lores[0], frames, moves, scratch, table,
            abstract_games[0], abstract_frames, abstract_table, pause - this.n_states,
        )  # fmt: skip
        if this.status == WON or (this.status == EXHAUSTED and not this.cut):
            return


@kernel
def begin_abstract(root, lores, games, frames, table):
    """Sets up the abstract game and begins its search; the verdict, if it is plain at once."""
    abstraction.set_root(games[0], table, root[0], lores[0])
    return abstraction.begin(games[0], frames, table, root[0].moved, root[0].up_set)


@kernel
def carry_on_abstract(games, frames, table, n_states):
    """Searches the abstract game on for `n_states` states."""
    return abstraction.go_on(games[0], frames, table, n_states)
