"""Threads that step many games together.

A step of a thousand games takes less time than to wake a thread. So a thread that has nothing to do
goes on looking for some time, in compiled code, before it sleeps. The caller does not wait for
any: the games are cut into blocks, each thread takes its own ones first (they are in its cache),
then those that others have not come to. On a busy machine, where the others do not run, the
caller does all of it.
"""

import os
import time
import weakref
from threading import Event, Thread

import numpy as np
from numba import carray, njit

from yukon_env.cards import N_CARDS
from yukon_env.engine.atomics import fetch_add, load, pointer, store
from yukon_env.engine.batch import are_actions, sample_actions, step_part
from yukon_env.engine.compiling import kernel
from yukon_env.engine.state import N_ACTIONS, ROW

# Games in a block: some microseconds of work.
BLOCK = 64
# How often a thread looks for work, or for the end of it, before it sleeps: for about a
# millisecond.
PATIENCE = 200_000
# Seconds that the caller sleeps where another thread holds a block and does not run.
NAP = 1e-5

THREAD_NAME = "yukon_env"

# What threads share is an int64 array, in lines so long that no two are in one cache line: for
# each thread how many of its blocks are taken, then how many blocks are done, then the work.
LINE = 16
OBSERVATIONS, N_OBSERVATIONS, MASKS, ACTIONS, SAMPLING, NUMBER, STOPPED = range(7)
# What came of a piece of work.
REFUSED, UNFINISHED, DONE = range(3)
# More blocks than there are.
ALL = 1 << 40


class Crew:
    """Threads for the games of one vector environment.

    Args:
        n_threads: How many, with the caller's.
        games: GAME, shape (n,).
        episodes: EPISODE, shape (n,).
        rules: RULES, shape (1,).
        settings: SETTINGS, shape (1,).
        pool: int64: the deal numbers to draw from.
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
        # Threads do not live on in a forked process.
        self.pid = os.getpid()
        self._shared = np.full((n_threads + 2, LINE), ALL)
        self._work = self._shared[-1]
        self._work[STOPPED] = 0
        self._arguments = (self._shared.reshape(-1), games, episodes, rules, settings, pool)
        self._asleep: set[Event] = set()
        wakes = [Event() for _ in range(1, n_threads)]
        for me, wake in enumerate(wakes, start=1):
            arguments = me, self._arguments, self._asleep, wake
            Thread(target=_follow, args=arguments, name=THREAD_NAME, daemon=True).start()
        self.close = weakref.finalize(self, _stop, self.pid, self._work, wakes)

    def step(self, actions: np.ndarray, observations: np.ndarray, masks: np.ndarray) -> bool:
        """Does what `batch.step_games` does."""
        self._wake_up()
        return self._finish(lead_step(*self._arguments, actions, observations, masks))

    def sample(self, number: np.ndarray, actions: np.ndarray) -> None:
        """Does what `batch.sample_actions` does, for all games."""
        self._wake_up()
        self._finish(lead_sample(*self._arguments, number, actions))

    def _wake_up(self) -> None:
        for wake in tuple(self._asleep):
            wake.set()

    def _finish(self, status: int) -> bool:
        """Waits for blocks that other threads hold; returns whether the work was done at all."""
        try:
            while status == UNFINISHED:
                time.sleep(NAP)
                status = wait(*self._arguments[:2])
        except BaseException:
            # After this the arrays may be freed, so that nobody may write to them.
            while wait(*self._arguments[:2]) == UNFINISHED:
                pass
            raise
        return status == DONE


def _follow(me: int, arguments: tuple[np.ndarray, ...], asleep: set[Event], wake: Event) -> None:
    """Runs in a thread of the crew: works, and sleeps while there is no work."""
    stopped = arguments[0][-LINE:][STOPPED:]
    while follow(me, *arguments):
        wake.clear()
        asleep.add(wake)
        if not stopped[0]:
            wake.wait()
        asleep.discard(wake)


def _stop(pid: int, work: np.ndarray, wakes: list[Event]) -> None:
    """Ends the threads."""
    if pid == os.getpid():
        work[STOPPED] = 1
        for wake in wakes:
            wake.set()


@kernel
def lead_step(
    shared, games, episodes, rules, settings, pool, actions, observations, masks
):  # fmt: skip
    """Steps all games, together with the other threads (see `batch.step_games`)."""
    if not are_actions(actions):
        return REFUSED
    work = shared[len(shared) - LINE :]
    work[ACTIONS] = actions.ctypes.data
    work[OBSERVATIONS] = observations.ctypes.data
    work[N_OBSERVATIONS] = len(observations)
    work[MASKS] = masks.ctypes.data
    work[SAMPLING] = 0
    return _lead(shared, games, episodes, rules, settings, pool)


@kernel
def lead_sample(shared, games, episodes, rules, settings, pool, number, actions):
    """Draws actions for all games, together with the other threads."""
    work = shared[len(shared) - LINE :]
    work[ACTIONS] = actions.ctypes.data
    work[NUMBER] = number.ctypes.data
    work[SAMPLING] = 1
    return _lead(shared, games, episodes, rules, settings, pool)


@njit
def _lead(shared, games, episodes, rules, settings, pool):
    """Offers the work to all threads and does what they leave."""
    n_done = len(shared) - 2 * LINE
    store(shared, n_done, 0)
    for n_taken in range(n_done - LINE, -LINE, -LINE):
        store(shared, n_taken, 0)
    _work_off(0, shared, games, episodes, rules, settings, pool)
    return wait(shared, games)


@kernel
def wait(shared, games):
    """Waits for some time until all blocks are done."""
    for _ in range(PATIENCE):
        if load(shared, len(shared) - 2 * LINE) >= _n_blocks(games):
            return DONE
    return UNFINISHED


@kernel
def follow(me, shared, games, episodes, rules, settings, pool):
    """Works off what is offered; returns when there is nothing: whether to look again later."""
    patience = PATIENCE
    while patience > 0:
        if load(shared, len(shared) - LINE + STOPPED) != 0:
            return False
        n_own = _first_block(me + 1, shared, games) - _first_block(me, shared, games)
        patience -= 1
        if load(shared, me * LINE) < n_own:
            _work_off(me, shared, games, episodes, rules, settings, pool)
            patience = PATIENCE
    return True


@njit
def _work_off(me, shared, games, episodes, rules, settings, pool):
    """Does blocks until none is left."""
    n_threads = len(shared) // LINE - 2
    for turn in range(n_threads):
        owner = (me + turn) % n_threads
        first, stop = _first_block(owner, shared, games), _first_block(owner + 1, shared, games)
        while True:
            block = first + fetch_add(shared, owner * LINE, 1)
            if block >= stop:
                break
            _do_block(block, shared, games, episodes, rules, settings, pool)
            fetch_add(shared, len(shared) - 2 * LINE, 1)


@njit
def _do_block(block, shared, games, episodes, rules, settings, pool):
    """Steps the games of a block, or draws their actions."""
    start, stop = block * BLOCK, min((block + 1) * BLOCK, len(games))
    work = shared[len(shared) - LINE :]
    actions = carray(pointer(work[ACTIONS], np.int64), len(games))
    if work[SAMPLING] != 0:
        number = carray(pointer(work[NUMBER], np.uint64), 1)
        sample_actions(games, number, actions, start, stop)
        return
    shape = work[N_OBSERVATIONS], ROW * N_CARDS
    observations = carray(pointer(work[OBSERVATIONS], np.int8), shape)
    masks = carray(pointer(work[MASKS], np.int8), (len(games), N_ACTIONS))
    step_part(
        games, episodes, rules, settings, pool, actions, observations, masks, start, stop
    )  # fmt: skip


@njit
def _n_blocks(games):
    return (len(games) + BLOCK - 1) // BLOCK


@njit
def _first_block(thread, shared, games):
    """The first of the blocks that a thread takes first."""
    return _n_blocks(games) * thread // (len(shared) // LINE - 2)
