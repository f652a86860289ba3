"""In which order the techniques are tried, and with how much room each.

Restarts first: a few short searches with disturbed move orders win most of the deals that can be
won. Then, where it is proven, the abstract game as a proof, then the real search with the abstract
game as its oracle; all with budgets that grow by stages, in tables sized to the stage.
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import count

import numpy as np

from yukon_env.cards import N_CARDS
from yukon_env.errors import BoardError
from yukon_env.solver import abstraction, workspace
from yukon_env.solver.search import EXHAUSTED, OUT_OF_STATES, RUNNING, WON
from yukon_env.solver.techniques import SAME
from yukon_env.solver.workspace import Workspace

# States between two looks at the clock: some hundredths of a second.
SLICE = 20_000
# No more abstract states than this for one question to the oracle, so that slices stay short.
_MAX_QUESTION = 100_000
# Which bits of the random words disturb the order of moves.
_NOISE = 2047


class Verdict(StrEnum):
    """What the solver found out."""

    WINNABLE = "winnable"
    UNWINNABLE = "unwinnable"
    UNKNOWN = "unknown"


class Kind(StrEnum):
    """What a stage does; a result says which kind of stage decided it."""

    RELAXATION = "relaxation"
    RESTARTS = "restarts"
    SEARCH = "search"
    ABSTRACTION = "abstraction"
    GUIDED_SEARCH = "guided search"
    LIMIT = "limit"


@dataclass(frozen=True)
class Stage:
    """One stage of a plan.

    Attributes:
        kind: What it does.
        states: How many positions each search may store; for a proof, abstract states it visits.
        restarts: How many searches, each with another order of moves.
        oracle: Abstract states for one question to the oracle at most; 0 for none.
        if_open: Whether to run a guided search even if the abstract game is still open.
    """

    kind: Kind
    states: int
    restarts: int = 1
    oracle: int = 0
    if_open: bool = False


def plan(lore: np.ndarray) -> Iterator[Stage]:
    """The stages for a variant, without end; limits end them."""
    if lore[0].abstraction:
        yield Stage(Kind.RESTARTS, 300, restarts=10)
        yield Stage(Kind.ABSTRACTION, 5_000)
        yield Stage(Kind.GUIDED_SEARCH, 300, oracle=1_000)
        yield Stage(Kind.RESTARTS, 1_000, restarts=10)
        for states in (100_000, 3_000_000, 20_000_000):
            yield Stage(Kind.ABSTRACTION, states)
            yield Stage(Kind.GUIDED_SEARCH, states // 100, oracle=states // 10)
        for power in count(4):
            yield Stage(Kind.GUIDED_SEARCH, 10 ** min(power, 9), oracle=10_000, if_open=True)
    if lore[0].spaces_for_kings and lore[0].suits == SAME and not lore[0].up_or_down:
        # Most of these deals are lost, and a proof has to go everywhere: restarts only delay it.
        yield Stage(Kind.SEARCH, 3_000)
    else:
        yield Stage(Kind.RESTARTS, 300, restarts=3)
        yield Stage(Kind.RESTARTS, 1_000, restarts=5)
        yield Stage(Kind.RESTARTS, 10_000, restarts=5)
    for power in count(6):
        yield Stage(Kind.SEARCH, 10 ** min(power, 9))


@dataclass(frozen=True)
class Outcome:
    """What a run of the stages came to."""

    verdict: Verdict
    moves: tuple[int, ...]
    states: int
    stage: Kind


class Run:
    """One game on its way through the stages.

    Args:
        game: The engine's record of the game, shape (1,).
        lore: What the solver knows of the variant.
        room: The arrays to work in.
        max_states: States, real and abstract ones together, after which to give up.
        deadline: Time of `time.perf_counter` at which to give up.
        seed: For the order of moves.
        stages: The stages to run, for experiments and tests; None for the plan of the variant.
    """

    def __init__(
        self,
        game: np.ndarray,
        lore: np.ndarray,
        room: Workspace,
        max_states: int,
        deadline: float,
        seed: int,
        stages: Iterable[Stage] | None = None,
    ) -> None:
        self.game = game
        self.lore = lore
        self.room = room
        self.max_states = max_states
        self.deadline = deadline
        self.seed = seed
        self.stages = plan(lore) if stages is None else stages
        self.states = 0
        self.alive = False

    def decide(self) -> Outcome:
        """Runs the stages until one decides, or a limit or Ctrl-C ends them."""
        try:
            return self._decide()
        except KeyboardInterrupt:
            return self._outcome(Verdict.UNKNOWN, Kind.LIMIT)

    def _decide(self) -> Outcome:
        n_cards, dead = workspace.load_root(self.room.root, self.game, self.lore)
        if n_cards != N_CARDS:
            raise BoardError(f"the solver needs all {N_CARDS} cards; this game has {n_cards}")
        self.states = 1
        if dead:
            return self._outcome(Verdict.UNWINNABLE, Kind.RELAXATION)
        for number, stage in enumerate(self.stages):
            if self._is_over():
                break
            if stage.kind == Kind.ABSTRACTION:
                verdict = self._prove(stage)
            elif stage.kind == Kind.GUIDED_SEARCH and not (self.alive or stage.if_open):
                continue
            else:
                verdict = self._search(stage, self.seed + 1_000_000 * number)
            if verdict != Verdict.UNKNOWN:
                return self._outcome(verdict, stage.kind)
        return self._outcome(Verdict.UNKNOWN, Kind.LIMIT)

    def _is_over(self) -> bool:
        return self.states >= self.max_states or time.perf_counter() >= self.deadline

    def _outcome(self, verdict: Verdict, stage: Kind) -> Outcome:
        moves: tuple[int, ...] = ()
        if verdict == Verdict.WINNABLE:
            depth = int(self.room.search[0].depth)
            moves = tuple(self.room.frames["move"][1 : depth + 1].tolist())
        return Outcome(verdict, moves, self.states, stage)

    def _search(self, stage: Stage, seed: int) -> Verdict:
        """Searches for a win, or until nothing is left to be searched."""
        room, search = self.room, self.room.search[0]
        search.n_rows, capacity = room.make_room(stage.states)
        search.max_stored = min(capacity, self.max_states - self.states)
        search.oracle_budget = min(stage.oracle, _MAX_QUESTION)
        search.noise = _NOISE
        search.n_restarts, search.n_begun, search.n_states = stage.restarts, 0, 0
        search.status = OUT_OF_STATES
        before = self.states
        while not self._is_over():
            n_states = min(SLICE, self.max_states - self.states)
            workspace.search_on(
                room.root, self.lore, *room.search_arrays, *room.abstract_arrays, seed, n_states
            )
            self.states = before + int(search.n_states)
            if search.status == WON:
                return Verdict.WINNABLE
            if search.status == EXHAUSTED and not search.cut:
                return Verdict.UNWINNABLE
            if search.status != RUNNING and search.n_begun == search.n_restarts:
                break
        return Verdict.UNKNOWN

    def _prove(self, stage: Stage) -> Verdict:
        """Tries to prove by the abstract game that the real one cannot be won."""
        room, game = self.room, self.room.abstract_game[0]
        game.n_rows, game.max_stored = room.make_abstract_room(4 * stage.states)
        before = self.states
        budget = min(stage.states, self.max_states - self.states)
        verdict = workspace.begin_abstract(room.root, self.lore, *room.abstract_arrays)
        while verdict == abstraction.OPEN and game.n_states < budget and not self._is_over():
            n_states = min(SLICE, budget - int(game.n_states))
            verdict = workspace.carry_on_abstract(*room.abstract_arrays, n_states)
            self.states = before + int(game.n_states)
        self.alive = verdict == abstraction.ALIVE
        return Verdict.UNWINNABLE if verdict == abstraction.DEAD else Verdict.UNKNOWN
