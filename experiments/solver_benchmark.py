"""How many deals the solver decides, and how fast: `python -m experiments.solver_benchmark`.

Counting rule: the first deals of the test split, one thread, one call of `solve` per deal, each
with at most so many states and no limit of time; compiling is done before. Times are wall-clock,
and so include what other programs on the machine take; the mean is given as processor time, too.
Each win is replayed, outside the measured time, by the plain rule-book of the tests; one that did
not end in a won game would stop the command. Undecided deals are counted as such: the winnable
share is given for all of them lost and, after the slash, for all of them won.
"""

import argparse
import platform
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from yukon_env import VARIANTS, Game
from yukon_env.deals import SPLITS, deck_of_deal
from yukon_env.solver import Verdict, solve
from yukon_env.solver.api import MAX_STATES
from yukon_env.stats import wilson_interval

TESTS = Path(__file__).parent.parent / "tests"
DEALS = {"russian": 10_000}
DEFAULT_DEALS = 1_000
HEADER = (
    f"{'variant':<16} {'deals':>6} {'decided':>8} {'winnable':>9} {'95 % Wilson':>15} "
    f"{'median':>9} {'mean':>9} {'mean CPU':>9} {'p99':>9} {'max':>10}"
)


@dataclass
class Row:
    """What was measured for one variant.

    Attributes:
        key: The variant.
        verdicts: How many deals had each verdict.
        stages: How many deals each kind of stage decided.
        wall: Seconds per deal.
        cpu: Seconds of processor time per deal.
        undecided: The deals left open.
    """

    key: str
    verdicts: Counter[str] = field(default_factory=Counter)
    stages: Counter[str] = field(default_factory=Counter)
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    undecided: list[int] = field(default_factory=list)

    def __str__(self) -> str:
        n = len(self.wall)
        won, unknown = self.verdicts["winnable"], self.verdicts["unknown"]
        low, _ = wilson_interval(won, n)
        _, high = wilson_interval(won + unknown, n)
        share = f"{100 * won / n:.1f} %"
        if unknown:
            share = f"{100 * won / n:.1f}/{100 * (won + unknown) / n:.1f} %"
        ms = 1e3 * np.array(self.wall)
        times = [np.median(ms), ms.mean(), 1e3 * np.mean(self.cpu), np.percentile(ms, 99), ms.max()]
        columns = " ".join(f"{_ms(value):>9}" for value in times)
        return (
            f"{self.key:<16} {n:>6} {n - unknown:>8} {share:>9} "
            f"{f'[{100 * low:.1f}, {100 * high:.1f}]':>15} {columns}"
        )


def _ms(value: float) -> str:
    return f"{value:.3f} ms" if value < 10 else f"{value:.0f} ms"


def main() -> None:
    """Measures the variants asked for and prints one table."""
    args = _parse_args()
    print(__doc__.split("\n\n")[1].replace("\n", " "))
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    print(f"{machine}; at most {args.max_states:,} states per deal\n\n{HEADER}")
    for key in args.variants:
        deals = SPLITS["test"][: args.deals or DEALS.get(key, DEFAULT_DEALS)]
        row = measure(key, deals, args.max_states)
        print(row, flush=True)
        if args.stages:
            print("    " + ", ".join(f"{stage} {n}" for stage, n in row.stages.most_common()))
        if row.undecided:
            print(f"    undecided: {row.undecided}")


def measure(key: str, deals: range, max_states: int) -> Row:
    """Solves the deals of one variant and replays the wins."""
    for deal in range(30):
        solve(Game(key, deal=SPLITS["validation"][deal]), max_states=100_000)
    row = Row(key)
    for deal in deals:
        game = Game(key, deal=deal)
        wall, cpu = time.perf_counter(), time.thread_time()
        result = solve(game, max_states=max_states)
        row.cpu.append(time.thread_time() - cpu)
        row.wall.append(time.perf_counter() - wall)
        row.verdicts[result.verdict] += 1
        row.stages[result.stage] += 1
        if result.verdict == Verdict.WINNABLE:
            check_win(key, deal, result.moves)
        elif result.verdict == Verdict.UNKNOWN:
            row.undecided.append(deal)
    return row


def check_win(key: str, deal: int, moves: tuple[int, ...]) -> None:
    """Replays a win by the rule-book of the tests.

    Raises:
        ValueError: The moves are not legal, or do not win.
    """
    sys.path[:0] = [path for path in (str(TESTS), str(TESTS / "solver")) if path not in sys.path]
    import rulebook
    from replay import replay

    table = rulebook.deal(key, deck_of_deal(deal).tolist())
    if not rulebook.is_won(replay(table, moves)):
        raise ValueError(f"{key}, deal {deal}: the solution does not win")


def _parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("variants", nargs="*", default=list(VARIANTS), help="all unless given")
    parser.add_argument("--deals", type=int, help="first deals of the test split")
    parser.add_argument("--max-states", type=int, default=MAX_STATES)
    parser.add_argument("--stages", action="store_true", help="show which stages decided")
    args = parser.parse_args()
    unknown = [key for key in args.variants if key not in VARIANTS]
    if unknown:
        parser.error(f"unknown variant {unknown[0]!r}; known are {', '.join(VARIANTS)}")
    return args


if __name__ == "__main__":
    main()
