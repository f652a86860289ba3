"""The search: depth first, every position once, in slices that the caller may end.

The loop knows nothing of patience. It asks `position` for moves, `dominance` for a move that
makes the others superfluous, `relaxation` and `abstraction` for a proof that a position is lost,
`ordering` for the move to try first, and `transpositions` whether it was here before.
"""

import numpy as np
from numba import njit

from yukon_env.solver import abstraction, transpositions
from yukon_env.solver.dominance import NO_MOVE, forced_move
from yukon_env.solver.ordering import next_random, score
from yukon_env.solver.position import do, is_won, key_after, list_moves, undo
from yukon_env.solver.relaxation import is_dead_end

# Why a search stopped. Only EXHAUSTED proves anything of the position it started from, and it
# does so only if the search was not cut.
RUNNING, WON, EXHAUSTED, OUT_OF_STATES = range(4)

SEARCH = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("status", np.int64),
                ("depth", np.int64),
                # Positions stored by this search, and how many it may store.
                ("n_stored", np.int64),
                ("max_stored", np.int64),
                ("n_rows", np.int64),
                # Abstract states visited for one question to the oracle at most; 0: do not ask.
                ("oracle_budget", np.int64),
                # Searches of this stage: how many there may be, how many have begun, and the
                # states visited by all of them, abstract ones included.
                ("n_restarts", np.int64),
                ("n_begun", np.int64),
                ("n_states", np.int64),
                # Whether something was left out for lack of room.
                ("cut", np.bool_),
                ("random", np.uint64),
                # Which bits of the random words disturb the order of moves.
                ("noise", np.uint64),
            ],
            align=True,
        ),
    )
)

# One level of the search: the move that led to it, what takes it back, and the moves still to try.
FRAME = np.dtype(
    (
        np.record,
        np.dtype(
            [("info", np.int64), ("next", np.int64), ("stop", np.int64), ("move", np.int64)],
            align=True,
        ),
    )
)

_SCORE_SHIFT = 16
_MOVE_MASK = 0xFFFF


@njit
def start(search, position, lore, frames, moves, scratch, table):
    """Begins a search at the position."""
    search.status = RUNNING
    search.depth = 0
    search.n_stored = 0
    search.cut = False
    frames[0].next = 0
    frames[0].stop = 0
    transpositions.clear(table, search.n_rows)
    if is_won(position):
        search.status = WON
        return
    if not _follow_forced_moves(search, position, lore, frames):
        return
    if lore.relaxation and is_dead_end(position, lore):
        return
    key = position.key
    row, _ = transpositions.find(table, search.n_rows, key[0], key[1], key[2])
    transpositions.store(table, row, key[0], key[1], key[2])
    search.n_stored = 1
    search.n_states += 1
    _expand(search, position, lore, frames, moves, scratch)


@njit
def advance(
    search, position, lore, frames, moves, scratch, table,
    abstract_game, abstract_frames, abstract_table, slice_states,
):  # fmt: skip
    """Searches on, for about `slice_states` states, real and abstract ones together."""
    pause = search.n_states + slice_states
    while search.status == RUNNING and search.n_states < pause:
        frame = frames[search.depth]
        if frame.next == frame.stop:
            if search.depth == 0:
                search.status = EXHAUSTED
            else:
                search.depth -= 1
                undo(position, frame.move, frame.info)
            continue
        move = np.int64(moves[frame.next]) & _MOVE_MASK
        frame.next += 1
        key_0, key_1, key_2 = key_after(position, lore, move)
        _, seen = transpositions.find(table, search.n_rows, key_0, key_1, key_2)
        if seen or not _descend(search, position, lore, frames, move):
            continue
        if not _follow_forced_moves(search, position, lore, frames):
            continue
        key = position.key
        row, seen = transpositions.find(table, search.n_rows, key[0], key[1], key[2])
        if seen:
            continue
        if search.n_stored >= search.max_stored:
            search.status = OUT_OF_STATES
            return
        transpositions.store(table, row, key[0], key[1], key[2])
        search.n_stored += 1
        search.n_states += 1
        if lore.relaxation and is_dead_end(position, lore):
            continue
        if search.oracle_budget > 0:
            abstract_game.n_states = 0
            verdict = abstraction.ask(
                abstract_game, abstract_frames, abstract_table,
                position.moved, position.up_set, search.oracle_budget,
            )  # fmt: skip
            search.n_states += abstract_game.n_states
            if verdict == abstraction.DEAD:
                continue
        _expand(search, position, lore, frames, moves, scratch)


@njit
def _descend(search, position, lore, frames, move):
    """Plays a move and adds a level without moves; False, and nothing done, if room ran out."""
    if search.depth + 1 >= len(frames):
        search.cut = True
        return False
    stop = frames[search.depth].stop
    search.depth += 1
    frame = frames[search.depth]
    frame.move = move
    frame.info = do(position, lore, move)
    frame.next = stop
    frame.stop = stop
    return True


@njit
def _follow_forced_moves(search, position, lore, frames):
    """Plays forced moves as long as there are any; False if the game is won or room ran out."""
    move = forced_move(position, lore)
    while move != NO_MOVE:
        if not _descend(search, position, lore, frames, move):
            return False
        move = forced_move(position, lore)
    if is_won(position):
        search.status = WON
        return False
    return True


@njit
def _expand(search, position, lore, frames, moves, scratch):
    """Lists the moves of the position at the top level, the most promising first."""
    frame = frames[search.depth]
    first = frame.stop
    n = list_moves(position, lore, scratch)
    if first + n > len(moves):
        search.cut = True
        return
    for index in range(n):
        move = scratch[index]
        search.random = next_random(search.random)
        value = score(position, np.int64(move)) + np.int64(
            (search.random >> np.uint64(20)) & search.noise
        )
        entry = np.uint32(value << _SCORE_SHIFT | np.int64(move))
        place = first + index
        while place > first and moves[place - 1] < entry:
            moves[place] = moves[place - 1]
            place -= 1
        moves[place] = entry
    frame.next = first
    frame.stop = first + n
