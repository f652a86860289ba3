"""Plays an agent on many deals in parts, on one core or more, and goes on after it was killed.

The deals are played in parts of equal size, each by an agent of its own whose seed is the run's
plus the part's first deal. So the results are the same for any number of processes, and a part
that is done need not be played again: it is kept as a file named after all that decides it.
"""

import hashlib
import json
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import agents
from agents.files import write_whole
from yukon_env.evaluation import Evaluation, evaluate
from yukon_env.variants import get_variant

ROWS = ("deals", "won", "moves", "cards_up", "hidden", "ending")


@dataclass(frozen=True)
class Part:
    """Some deals to be played by an agent; this alone decides the result.

    Attributes:
        agent: The agent's name.
        variant: The variant's key.
        first: The first deal.
        stop: The one after the last deal.
        seed: The run's seed.
        max_moves: Moves after which a game is cut.
        allow_repeats: Whether positions may be entered again.
    """

    agent: str
    variant: str
    first: int
    stop: int
    seed: int
    max_moves: int
    allow_repeats: bool

    def __len__(self) -> int:
        return self.stop - self.first

    def file(self, folder: Path) -> Path:
        """Where its result is kept."""
        text = json.dumps(asdict(self))
        return folder / f"{hashlib.blake2b(text.encode(), digest_size=12).hexdigest()}.npz"

    def play(self, progress: Callable[[int], None] = lambda games: None) -> Evaluation:
        """Plays the deals."""
        warm_up(self.agent, self.variant)
        return evaluate(
            agents.load(self.agent, self.seed + self.first),
            self.variant,
            range(self.first, self.stop),
            max_moves=self.max_moves,
            allow_repeats=self.allow_repeats,
            batch_size=len(self),
            progress=progress,
        )


@cache
def warm_up(agent: str, variant: str) -> None:
    """Plays one game, once in a process, so that compiling is not in the measured time."""
    evaluate(agents.load(agent), variant, [0])


def play_parts(
    parts: list[Part], folder: Path, jobs: int, progress: Callable[[int], None]
) -> Evaluation:
    """Plays parts that follow one another, except for those that `folder` has kept.

    Args:
        parts: What is to be played; by one agent, one protocol.
        folder: Where parts are kept as soon as they are done.
        jobs: Processes to play in.
        progress: Called with the number of games that have just ended.

    Returns:
        All games together; `seconds` is the time that the games took, in all processes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    missing = [part for part in parts if not part.file(folder).exists()]
    progress(sum(map(len, parts)) - sum(map(len, missing)))
    if jobs == 1:
        for part in missing:
            _keep(part, folder, part.play(progress))
    else:
        _play_in_processes(missing, folder, jobs, progress)
    return join([_read(part, folder) for part in parts])


def _play_in_processes(
    parts: list[Part], folder: Path, jobs: int, progress: Callable[[int], None]
) -> None:
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        running = {pool.submit(part.play): part for part in parts}
        try:
            for future in as_completed(running):
                _keep(running[future], folder, future.result())
                progress(len(running[future]))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _keep(part: Part, folder: Path, played: Evaluation) -> None:
    rows = {name: getattr(played, name) for name in ROWS}
    write_whole(part.file(folder), lambda file: np.savez(file, seconds=played.seconds, **rows))


def _read(part: Part, folder: Path) -> Evaluation:
    with np.load(part.file(folder)) as kept:
        return Evaluation(
            variant=get_variant(part.variant),
            max_moves=part.max_moves,
            allow_repeats=part.allow_repeats,
            seconds=float(kept["seconds"]),
            **{name: kept[name] for name in ROWS},
        )


def join(results: list[Evaluation]) -> Evaluation:
    """Makes one evaluation of several by the same protocol."""
    rows: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in results]) for name in ROWS
    }
    return replace(results[0], seconds=sum(part.seconds for part in results), **rows)


def forget(parts: list[Part], folder: Path) -> None:
    """Deletes what is kept of parts."""
    for part in parts:
        part.file(folder).unlink(missing_ok=True)
