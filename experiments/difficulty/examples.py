"""Deals to look at: `python -m experiments.difficulty.examples FOLDER ...`.

For each variant some easy deals, hard ones, and ones that cannot be won, with the shortest reason.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from experiments.difficulty.reasons import find_reason, reason_text
from experiments.difficulty.report import Report, run_analysis
from experiments.difficulty.tables import Deals
from experiments.results import markdown
from yukon_env import Game
from yukon_env.solver import Verdict

_EACH = 2
# Reasons are looked for in so many deals of a variant.
_TRIED = 100
# Longer reasons are only counted: nobody would check them by hand.
_SHOWN = 12
_ABOUT = """\
*Easy* deals are those that the solver wins after the fewest positions, *hard* ones after the most.
Of those that *cannot be won* the first ones have the shortest reason among the first {tried} that
the dead-end test settles: these cards, as they lie in their columns from the base up (`<5H>` is
face down), block each other even if all other cards were out of the way; reasons of more than
{shown} cards are only counted. The last has the longest proof. `python -m yukon_env.solver
--variant V --deal N` shows a win of any of them, or that there is none."""
_HEADER = ("variant", "deal", "kind", "states", "decided by", "moves", "won by", "reason")


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes examples.md."""
    run_analysis("examples", __doc__, analyse, arguments)


def analyse(found: dict[str, Deals]) -> Report:
    """Chooses deals of each variant."""
    rows = [row for deals in found.values() for row in choose(deals)]
    about = _ABOUT.format(tried=_TRIED, shown=_SHOWN)
    return Report("Deals to look at", f"{about}\n\n{markdown(_HEADER, rows)}")


def choose(deals: Deals) -> Iterator[tuple[str, ...]]:
    """The rows of a variant."""
    verdicts, states = deals.verdicts, deals.verdicts.states
    winnable = np.flatnonzero(verdicts.winnable)
    lost = np.flatnonzero(deals.column("solver_verdict") == Verdict.UNWINNABLE)
    length = np.nan_to_num(deals.column("solver_length"))
    by_ease = winnable[np.lexsort((length[winnable], states[winnable]))]
    for row in by_ease[:_EACH]:
        yield _row(deals, row, "easy")
    for row in by_ease[:_EACH:-1][:_EACH]:
        yield _row(deals, row, "hard")
    reasons = find_reasons(deals)
    for row in sorted(reasons, key=lambda row: (len(reasons[row]), row))[:_EACH]:
        game = Game(deals.variant, deal=int(deals.deals[row]))
        text = f"{len(reasons[row])} cards block each other"
        if len(reasons[row]) <= _SHOWN:
            text = reason_text(game, reasons[row])
        yield _row(deals, row, "cannot be won", text)
    for row in lost[np.argsort(-states[lost], kind="stable")][:1]:
        yield _row(deals, row, "cannot be won", "the longest proof")


def find_reasons(deals: Deals) -> dict[int, frozenset[int]]:
    """Cards that block each other, by the row of the deal."""
    settled = np.flatnonzero(deals.column("solver_stage") == "relaxation")[:_TRIED]
    found = {
        int(row): find_reason(Game(deals.variant, deal=int(deals.deals[row]))) for row in settled
    }
    return {row: cards for row, cards in found.items() if cards is not None}


def _row(deals: Deals, row: int, kind: str, reason: str = "") -> tuple[str, ...]:
    length = deals.table["solver_length"][int(row)].as_py()
    winners = [label for label in deals.agents if deals.column(f"{label}_won")[row]]
    return (
        f"`{deals.variant.key}`",
        f"{deals.deals[row]}",
        kind,
        f"{deals.verdicts.states[row]:,}",
        deals.column("solver_stage")[row],
        "" if length is None else str(length),
        ", ".join(winners),
        reason,
    )


if __name__ == "__main__":
    main()
