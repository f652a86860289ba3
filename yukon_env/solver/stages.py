"""In which order the techniques are tried, and with how much room each.

Restarts first: a few short searches with disturbed move orders win most of the deals that can be
won. Then, where it is proven, the abstract game as a proof, then the real search with the abstract
game as its oracle; all with budgets that grow by stages, in tables sized to the stage.
"""

import time
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numba import njit

from yukon_env.deals import mix
from yukon_env.engine.compiling import kernel
from yukon_env.solver import abstraction, search
from yukon_env.solver.abstraction import ABSTRACT_FRAME, ABSTRACT_GAME, MAX_ABSTRACT_DEPTH
from yukon_env.solver.position import KEY_WORDS, MAX_MOVES, POSITION, load
from yukon_env.solver.relaxation import is_dead_end
from yukon_env.solver.search import EXHAUSTED, FRAME, OUT_OF_STATES, RUNNING, SEARCH, WON

# States between two looks at the clock, at most some hundredths of a second.
SLICE = 20_000
_MAX_NOISE = np.uint64(8191)


class Verdict(StrEnum):
    """What the solver found out."""

    WINNABLE = "winnable"
    UNWINNABLE = "unwinnable"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Stage:
    """One stage of a plan.

    Attributes:
        name: What a result calls it.
        states: How many positions each search may store; for an abstract proof, states it visits.
        restarts: How many searches, each with another order of moves; 0 for an abstract proof.
        noise: How much the order of moves is disturbed, as a mask of bits.
        oracle: Abstract states for one question to the oracle at most; 0 for none.
    """

    name: str
    states: int
    restarts: int = 1
    noise: int = 0
    oracle: int = 0


def plan(has_abstraction: bool) -> list[Stage]:
    """The stages for a variant."""
    stages = [Stage("restarts", 300, restarts=10, noise=2047)]
    for states in (1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000):
        if has_abstraction:
            stages.append(Stage("abstraction", states, restarts=0))
            stages.append(Stage("guided search", states, noise=2047, oracle=states // 10))
        else:
            stages.append(Stage("search", states, noise=2047))
    return stages


class Workspace:
    """Arrays that the kernels work in, kept from one game to the next and grown when needed.

    Args:
        memory: Bytes that all arrays together may take.
    """

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.position = np.zeros(1, POSITION)
        self.root = np.zeros(1, POSITION)
        self.search = np.zeros(1, SEARCH)
        self.frames = np.zeros(1 << 14, FRAME)
        self.moves = np.zeros(1 << 17, np.uint32)
        self.scratch = np.zeros(MAX_MOVES, np.uint16)
        self.table = np.zeros((1 << 12, KEY_WORDS), np.uint64)
        self.abstract_game = np.zeros(1, ABSTRACT_GAME)
        self.abstract_frames = np.zeros(MAX_ABSTRACT_DEPTH, ABSTRACT_FRAME)
        self.abstract_table = np.zeros(1 << 12, np.uint64)


def rows_for(states: int) -> int:
    """The size of a table, a power of two, that so many states fill by two thirds at most."""
    return 1 << max(int(states * 3 // 2), 15).bit_length()


@kernel
def load_root(root, games, lores):
    """Makes an engine record the root; returns how many cards it holds and if it is a dead end."""
    n = load(root[0], games[0], lores[0])
    return n, lores[0].relaxation and is_dead_end(root[0], lores[0])


@kernel
def run_restarts(
    root, position, searches, lores, frames, moves, scratch, table,
    abstract_games, abstract_frames, abstract_table, n_restarts, seed,
):  # fmt: skip
    """Searches from the root, up to `n_restarts` times; returns the states visited."""
    total = 0
    for restart in range(n_restarts):
        _begin(root, position, searches, lores, frames, moves, scratch, table, seed, restart)
        search.run_to_budget(
            searches[0], position[0], lores[0], frames, moves, scratch, table,
            abstract_games[0], abstract_frames, abstract_table,
        )  # fmt: skip
        total += searches[0].n_stored + searches[0].abstract_states
        if searches[0].status == WON or (searches[0].status == EXHAUSTED and not searches[0].cut):
            break
    return total


@njit
def _begin(root, position, searches, lores, frames, moves, scratch, table, seed, restart):
    position[0] = root[0]
    searches[0].random = mix(np.uint64(seed) * np.uint64(1_000_003) + np.uint64(restart + 1))
    search.start(searches[0], position[0], lores[0], frames, moves, scratch, table)


@kernel
def begin_search(root, position, searches, lores, frames, moves, scratch, table, seed, restart):
    """Begins one search, to be carried on by `carry_on`."""
    _begin(root, position, searches, lores, frames, moves, scratch, table, seed, restart)


@kernel
def carry_on(
    position, searches, lores, frames, moves, scratch, table,
    abstract_games, abstract_frames, abstract_table, n_states,
):  # fmt: skip
    """Searches on for about `n_states` states."""
    search.advance(
        searches[0], position[0], lores[0], frames, moves, scratch, table, n_states,
        abstract_games[0], abstract_frames, abstract_table,
    )  # fmt: skip


@kernel
def begin_abstract(root, lores, games, frames, table):
    """Sets up the abstract game and begins its search; the verdict, if it is plain at once."""
    abstraction.set_root(games[0], table, root[0], lores[0])
    return abstraction.begin(games[0], frames, table, root[0].moved, root[0].up_set)


@kernel
def carry_on_abstract(games, frames, table, n_states):
    """Searches the abstract game on for `n_states` states."""
    return abstraction.go_on(games[0], frames, table, n_states)


@dataclass(frozen=True)
class Outcome:
    """What a run of the stages came to."""

    verdict: Verdict
    moves: tuple[int, ...]
    states: int
    stage: str


def decide(game, lores, workspace: Workspace, max_states: int, deadline: float, seed: int) -> Outcome:
    """Runs the stages on one engine record (array of shape (1,))."""
    w = workspace
    n_cards, dead = load_root(w.root, game, lores)
    if n_cards != 52:
        raise ValueError(f"the solver needs all 52 cards, this game shows it {n_cards}")
    if dead:
        return Outcome(Verdict.UNWINNABLE, (), 1, "relaxation")
    states = 1
    for index, stage in enumerate(plan(bool(lores[0].abstraction))):
        if states >= max_states or time.perf_counter() > deadline:
            break
        if stage.restarts == 0:
            used, verdict = _prove(w, lores, stage, max_states - states, deadline)
        else:
            used, verdict = _search(w, lores, stage, max_states - states, deadline, seed + 1000 * index)
        states += used
        if verdict != Verdict.UNKNOWN:
            moves = ()
            if verdict == Verdict.WINNABLE:
                depth = int(w.search[0].depth)
                moves = tuple(int(move) for move in w.frames["move"][1 : depth + 1])
            return Outcome(verdict, moves, states, stage.name)
    return Outcome(Verdict.UNKNOWN, (), states, "limit")


def _search(w, lores, stage, max_states, deadline, seed):
    s = w.search[0]
    s.max_stored = min(stage.states, max_states)
    s.n_rows = rows_for(stage.states)
    s.oracle_budget = stage.oracle
    s.noise = stage.noise & int(_MAX_NOISE)
    if len(w.table) < s.n_rows:
        w.table = np.zeros((int(s.n_rows), KEY_WORDS), np.uint64)
    if stage.states > 20_000 and len(w.frames) < 1 << 20:
        w.frames = np.zeros(1 << 20, FRAME)
        w.moves = np.zeros(1 << 23, np.uint32)
    args = (w.position, w.search, lores, w.frames, w.moves, w.scratch, w.table)
    oracle = (w.abstract_game, w.abstract_frames, w.abstract_table)
    if stage.restarts * stage.states <= SLICE and stage.restarts * stage.states * max(stage.oracle, 1) < 100_000_000:
        total = run_restarts(w.root, *args, *oracle, stage.restarts, seed)
    else:
        total = 0
        for restart in range(stage.restarts):
            begin_search(w.root, *args, seed, restart)
            while s.status == RUNNING and time.perf_counter() < deadline and total + s.n_stored + s.abstract_states < max_states:
                carry_on(*args, *oracle, SLICE)
            total += int(s.n_stored + s.abstract_states)
            if s.status in (WON, RUNNING) or (s.status == EXHAUSTED and not s.cut):
                break
    if s.status == WON:
        return total, Verdict.WINNABLE
    if s.status == EXHAUSTED and not s.cut:
        return total, Verdict.UNWINNABLE
    return total, Verdict.UNKNOWN


def _prove(w, lores, stage, max_states, deadline):
    g = w.abstract_game[0]
    g.n_rows = rows_for(stage.states * 2)
    g.max_stored = g.n_rows * 2 // 3
    if len(w.abstract_table) < g.n_rows:
        w.abstract_table = np.zeros(int(g.n_rows), np.uint64)
    budget = min(stage.states, max_states)
    verdict = begin_abstract(w.root, lores, w.abstract_game, w.abstract_frames, w.abstract_table)
    while verdict == abstraction.OPEN and g.n_states < budget and time.perf_counter() < deadline:
        verdict = carry_on_abstract(w.abstract_game, w.abstract_frames, w.abstract_table, min(SLICE, budget - int(g.n_states)))
    return int(g.n_states), Verdict.UNWINNABLE if verdict == abstraction.DEAD else Verdict.UNKNOWN


__all__ = ["OUT_OF_STATES"]
