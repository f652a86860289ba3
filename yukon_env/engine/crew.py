"""Threads that step many games together.

A step of a thousand games takes less time than to wake a thread. So a thread that has nothing to do
goes on looking for some time, in compiled code, before it sleeps. The games are cut into blocks;
each thread takes its own ones first (they are in its cache), then those that others have not come
to. So the caller never waits for a thread to begin a block, only for it to end one that it has
begun. On a busy machine, where the others do not run, the caller does all of the work.
"""

import os
import time
import weakref
from collections.abc import Callable
from threading import Event, Thread

import numpy as np
from numba import carray, njit

from yukon_env.cards import N_CARDS
from yukon_env.engine.atomics import fetch_add, load, pointer, store
from yukon_env.engine.batch import (
    EPISODE,
    SETTINGS,
    are_actions,
    sample_part,
    step_part,
)
from yukon_env.engine.compiling import kernel
from yukon_env.engine.state import GAME, N_ACTIONS, ROW, RULES

# Games in a block: some microseconds of work.
BLOCK = 128
# How often a thread looks for work, or for the end of it, before it sleeps: for about a
# millisecond.
PATIENCE = 200_000
# Seconds that the caller sleeps where another thread holds a block and does not run.
NAP = 1e-5

THREAD_NAME = "yukon_env"

# What threads share is an int64 array, in lines so long that no two are in one cache line: for
# each thread how many of its blocks are taken, then how many blocks are done, then the work, in
# which arrays stand by their address.
LINE = 16
N_GAMES, GAMES, EPISODES, RULE, SETTING, POOL, N_POOL = range(7)
OBSERVATIONS, N_OBSERVATIONS, MASKS, ACTIONS, IS_DRAW, NUMBER = range(7, 13)
# What came of a piece of work.
REFUSED, UNFINISHED, DONE = range(3)
# More blocks than there are.
ALL = 1 << 40
# In place of how many blocks are taken: the thread is to end.
ENDED = -ALL


class Crew:
    """Threads for the games of one vector environment.

    Args:
        n_threads: How many, with the caller's; at most one for each block of games.
        games: GAME, shape (n,).
        episodes: EPISODE, shape (n,).
        rules: RULES, shape (1,).
        settings: SETTINGS, shape (1,).
        pool: int64: the deal numbers to draw from.

    Attributes:
        is_here: False in a forked process, in which threads do not live on.
    """

    def __init__(
        self,
        n_threads: int,
        games: np.ndarray,
        episodes: np.ndarray,
        rules: np.ndarray,
        settings: np.ndarray,
        pool: np.ndarray,
    ) -> None:
        self.is_here = True
        n_threads = min(n_threads, -(-len(games) // BLOCK))
        self._shared = np.full((n_threads + 2) * LINE, ENDED)
        work = self._shared[-LINE:]
        for place, array in (
            (GAMES, games),
            (EPISODES, episodes),
            (RULE, rules),
            (SETTING, settings),
            (POOL, pool),
        ):
            work[place] = array.ctypes.data
        work[N_GAMES], work[N_POOL] = len(games), len(pool)
        if n_threads > 1:
            # A thread that compiled it itself could not be ended before it had done so.
            follow(1, self._shared)
        self._shared[:-LINE] = ALL
        # Where the addresses point to must live as long as the threads.
        kept = self._shared, games, episodes, rules, settings, pool
        self._asleep: set[Event] = set()
        wakes = [Event() for _ in range(1, n_threads)]
        for me, wake in enumerate(wakes, start=1):
            arguments = me, kept, self._asleep, wake
            Thread(target=_follow, args=arguments, name=THREAD_NAME, daemon=True).start()
        self.close = weakref.finalize(self, _end, os.getpid(), self._shared, wakes)
        _CREWS.add(self)

    def step(self, actions: np.ndarray, observations: np.ndarray, masks: np.ndarray) -> bool:
        """Does what `batch.step_games` does."""
        return self._do(lead_step, actions, observations, masks)

    def sample(self, sampler: np.ndarray, actions: np.ndarray) -> None:
        """Does what `batch.sample_actions` does."""
        self._do(lead_draw, sampler, actions)

    def _do(self, lead: Callable[..., int], *arrays: np.ndarray) -> bool:
        """Does a piece of work with all threads; returns whether it was done at all."""
        if self._asleep:
            for wake in tuple(self._asleep):
                wake.set()
        try:
            status = lead(self._shared, *arrays)
            while status == UNFINISHED:
                time.sleep(NAP)
                status = wait(self._shared, 1)
        except BaseException:
            # After this the arrays may be freed, so that nobody may write to them; and nothing
            # interrupts compiled code.
            wait(self._shared, ALL)
            raise
        return status == DONE


_CREWS: weakref.WeakSet[Crew] = weakref.WeakSet()


def _leave_behind() -> None:
    """Runs in a process that was just forked."""
    for crew in _CREWS:
        crew.is_here = False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_behind)


def _follow(me: int, kept: tuple[np.ndarray, ...], asleep: set[Event], wake: Event) -> None:
    """Runs in a thread of the crew: works, and sleeps while there is no work."""
    shared = kept[0]
    while follow(me, shared):
        wake.clear()
        asleep.add(wake)
        if shared[me * LINE] >= 0:
            wake.wait()
        asleep.discard(wake)


def _end(pid: int, shared: np.ndarray, wakes: list[Event]) -> None:
    """Ends the threads."""
    if pid == os.getpid():
        for me, wake in enumerate(wakes, start=1):
            shared[me * LINE] = ENDED
            wake.set()


@kernel
def lead_step(shared, actions, observations, masks):
    """Steps all games, together with the other threads (see `batch.step_games`)."""
    if not are_actions(actions):
        return REFUSED
    work = _work(shared)
    work[ACTIONS] = actions.ctypes.data
    work[OBSERVATIONS] = observations.ctypes.data
    work[N_OBSERVATIONS] = len(observations)
    work[MASKS] = masks.ctypes.data
    work[IS_DRAW] = 0
    return _lead(shared)


@kernel
def lead_draw(shared, sampler, actions):
    """Draws actions for all games, together with the other threads."""
    sampler[0] += np.uint64(1)
    work = _work(shared)
    work[ACTIONS] = actions.ctypes.data
    work[NUMBER] = np.int64(sampler[0])
    work[IS_DRAW] = 1
    return _lead(shared)


@kernel
def wait(shared, patience):
    """Looks so often whether all blocks are done."""
    return _wait(shared, patience)


@kernel
def follow(me, shared):
    """Works off what is offered; returns where nothing comes: False if the thread is to end."""
    n_own = _first_block(me + 1, shared) - _first_block(me, shared)
    patience = PATIENCE
    while patience > 0:
        patience -= 1
        taken = load(shared, me * LINE)
        if taken < 0:
            return False
        if taken < n_own:
            _work_off(me, shared)
            patience = PATIENCE
    return True


@njit
def _lead(shared):
    """Offers the work to all threads and does what they leave."""
    n_threads = _n_threads(shared)
    store(shared, n_threads * LINE, 0)
    for thread in range(n_threads - 1, -1, -1):
        store(shared, thread * LINE, 0)
    _work_off(0, shared)
    return _wait(shared, PATIENCE)


@njit
def _wait(shared, patience):
    n_done, n_blocks = _n_threads(shared) * LINE, _n_blocks(shared)
    for _ in range(patience):
        if load(shared, n_done) >= n_blocks:
            return DONE
    return UNFINISHED


@njit
def _work_off(me, shared):
    """Does blocks until none is left."""
    n_threads = _n_threads(shared)
    for turn in range(n_threads):
        owner = (me + turn) % n_threads
        first = _first_block(owner, shared)
        n_own = _first_block(owner + 1, shared) - first
        while True:
            taken = fetch_add(shared, owner * LINE, 1)
            if not 0 <= taken < n_own:
                break
            _do_block(first + taken, shared)
            fetch_add(shared, n_threads * LINE, 1)


@njit
def _do_block(block, shared):
    """Steps the games of a block, or draws their actions."""
    work = _work(shared)
    n = work[N_GAMES]
    start, stop = block * BLOCK, min((block + 1) * BLOCK, n)
    games = carray(pointer(work[GAMES], GAME), n)
    actions = carray(pointer(work[ACTIONS], np.int64), n)
    if work[IS_DRAW] != 0:
        sample_part(games, np.uint64(work[NUMBER]), actions, start, stop)
        return
    step_part(
        games,
        carray(pointer(work[EPISODES], EPISODE), n),
        carray(pointer(work[RULE], RULES), 1),
        carray(pointer(work[SETTING], SETTINGS), 1),
        carray(pointer(work[POOL], np.int64), work[N_POOL]),
        actions,
        carray(pointer(work[OBSERVATIONS], np.int8), (work[N_OBSERVATIONS], ROW * N_CARDS)),
        carray(pointer(work[MASKS], np.int8), (n, N_ACTIONS)),
        start,
        stop,
    )


@njit
def _work(shared):
    """The line of the work."""
    return shared[len(shared) - LINE :]


@njit
def _n_threads(shared):
    """How many threads, with the caller's."""
    return len(shared) // LINE - 2


@njit
def _n_blocks(shared):
    """How many blocks the games are cut into."""
    return (_work(shared)[N_GAMES] + BLOCK - 1) // BLOCK


@njit
def _first_block(thread, shared):
    """The first block of a thread's own share."""
    return _n_blocks(shared) * thread // _n_threads(shared)
