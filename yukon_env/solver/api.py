"""What users of the solver call: `solve` for one game, `solve_deals` for many."""

import math
import os
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from yukon_env.deals import check_deal, deck_of_deal
from yukon_env.engine.moves import deal_games
from yukon_env.engine.state import compile_rules, new_games
from yukon_env.errors import BoardError
from yukon_env.solver.stages import Run, Verdict
from yukon_env.solver.techniques import compile_lore
from yukon_env.solver.workspace import workspace_for
from yukon_env.variants import Variant, get_variant

MAX_STATES = 50_000_000
MEMORY = 1 << 30


class SolvableGame(Protocol):
    """What the solver wants of a game; `yukon_env.Game` has it."""

    variant: Variant
    record: np.ndarray
    hidden_known: bool


@dataclass(frozen=True)
class Result:
    """What the solver says of a game.

    Attributes:
        verdict: Whether the game can be won; UNKNOWN if a limit came first.
        moves: The action numbers of a win, one after the other; empty unless winnable.
        states: Positions visited, those of the abstract game included.
        seconds: How long it took.
        stage: Which kind of stage decided it; "limit" if none did.
    """

    verdict: Verdict
    moves: tuple[int, ...]
    states: int
    seconds: float
    stage: str


def solve(
    game: SolvableGame,
    *,
    max_states: int = MAX_STATES,
    time_limit: float | None = None,
    seed: int = 0,
    memory: int = MEMORY,
) -> Result:
    """Decides whether a game can be won from its present position, and how.

    The face-down cards and the stock are known to the solver, so this is the verdict of a player
    with perfect information. It is the same for the same seed and limit of states. A limit, or
    Ctrl-C, gives UNKNOWN.

    Args:
        game: A game whose face-down cards are known.
        max_states: Positions to visit at most, those of the abstract game included.
        time_limit: Seconds to spend at most; None for no limit.
        seed: For the order in which moves are tried.
        memory: Bytes that the solver's tables may take.

    Raises:
        BoardError: The game has face-down cards that nobody knows.
    """
    if not game.hidden_known:
        raise BoardError("the solver must know the face-down cards; determinize the game first")
    return _solve_record(game.variant, game.record, max_states, time_limit, seed, memory)


def _solve_record(
    variant: Variant,
    record: np.ndarray,
    max_states: int,
    time_limit: float | None,
    seed: int,
    memory: int,
) -> Result:
    """Solves a game that is an engine record (GAME, shape (1,))."""
    start = time.perf_counter()
    deadline = math.inf if time_limit is None else start + time_limit
    workspace = workspace_for(memory)
    outcome = Run(record, compile_lore(variant), workspace, max_states, deadline, seed).decide()
    return Result(
        outcome.verdict,
        outcome.moves,
        outcome.states,
        time.perf_counter() - start,
        str(outcome.stage),
    )


def solve_deals(
    variant: str | Variant,
    deals: Iterable[int],
    *,
    workers: int | None = None,
    progress: bool = True,
    max_states: int = MAX_STATES,
    time_limit: float | None = None,
    seed: int = 0,
    memory: int = MEMORY,
) -> list[Result]:
    """Solves many deals, on all cores.

    Args:
        variant: The variant, or its key.
        deals: Deal numbers.
        workers: Processes; None for one per core.
        progress: Whether to show how far it is.
        max_states: As in `solve`, for each deal.
        time_limit: As in `solve`, for each deal.
        seed: As in `solve`.
        memory: As in `solve`, for each process.

    Returns:
        One result per deal, in the order of `deals`. Without a time limit they do not depend on
        the number of workers, but for the seconds.
    """
    variant = get_variant(variant)
    numbers = [check_deal(deal) for deal in deals]
    job = partial(
        solve_deal,
        variant,
        max_states=max_states,
        time_limit=time_limit,
        seed=seed,
        memory=memory,
    )
    workers = min(workers or _n_cores(), max(1, len(numbers)))
    if workers == 1:
        return list(_shown(map(job, numbers), len(numbers), progress))
    with ProcessPoolExecutor(workers) as pool:
        chunk = max(1, min(50, len(numbers) // (8 * workers)))
        results = pool.map(job, numbers, chunksize=chunk)
        return list(_shown(results, len(numbers), progress))


def solve_deal(
    variant: Variant,
    deal: int,
    *,
    max_states: int = MAX_STATES,
    time_limit: float | None = None,
    seed: int = 0,
    memory: int = MEMORY,
) -> Result:
    """Solves one deal; the arguments are those of `solve`."""
    record = new_games(1)
    deal_games(record, compile_rules(variant), deck_of_deal(deal)[np.newaxis], np.ones(1, np.bool_))
    return _solve_record(variant, record, max_states, time_limit, seed, memory)


def _n_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _shown(results: Iterator[Result], total: int, progress: bool) -> Iterator[Result]:
    """Passes the results on, with a progress bar on standard error if wanted."""
    if not progress:
        yield from results
        return
    try:
        from tqdm import tqdm
    except ImportError:
        yield from _counted(results, total)
    else:
        yield from tqdm(results, total=total, unit="deal")


def _counted(results: Iterator[Result], total: int) -> Iterator[Result]:
    shown = 0.0
    for n, result in enumerate(results, start=1):
        if time.monotonic() - shown > 0.5 or n == total:
            shown = time.monotonic()
            print(
                f"\r{n}/{total} deals", end="" if n < total else "\n", file=sys.stderr, flush=True
            )
        yield result


__all__ = ["MAX_STATES", "MEMORY", "Result", "solve", "solve_deal", "solve_deals"]
