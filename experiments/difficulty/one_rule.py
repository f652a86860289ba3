"""What one rule is worth: `python -m experiments.difficulty.one_rule FOLDER ...`.

Compares yukon with games that differ from it in one thing alone, on the same deals: for a player
who sees every card, by the solver, and for each agent that played both.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from experiments.difficulty.errors import StudyError
from experiments.difficulty.report import Report, between, interval, run_analysis
from experiments.difficulty.tables import Deals
from experiments.results import markdown
from yukon_env.stats import mcnemar_exact, paired_bootstrap

# Deals won: with the undecided ones lost, and with them won.
Wins = Callable[[Deals], tuple[np.ndarray, np.ndarray]]

BASE = "yukon"
CHANGES = {
    "yukon-relaxed": "spaces take any card (yukon: kings)",
    "russian": "build in suit (yukon: alternating)",
    "moosehide": "build on any suit but one's own (yukon: alternating)",
    "roslin": "build up or down (yukon: down)",
    "yukon-open": "all cards face up (yukon: 21 face down)",
    "yukon-odessa": "odessa's layout",
    "yukon-queensland": "queensland's layout",
    "yukon-australian": "australian's layout, with a stock",
}
_ABOUT = """\
Each game differs from `yukon` in one thing, and both are measured on the same deals (agents on test
deals only). The difference is in points of the share of deals won, this game's less yukon's, with
the 95 % paired bootstrap interval; p is of the exact McNemar test. Undecided deals are counted in
the way that is worst for each end of the interval, and the larger p is given. The solver says what
a player who sees every card can win. Cards that lie face up can be grabbed, so `yukon-open` changes
more than what is seen. An agent that was made for yukon plays other layouts by what it knows of
yukon, and knows nothing of a stock."""
_HEADER = (
    "change", "variant", "measured", "deals", "yukon, %", "changed, %", "difference", "95 %",
    "only changed", "only yukon", "p",
)  # fmt: skip


@dataclass(frozen=True)
class Pair:
    """Wins on the same deals: bool arrays of shape (n,), undecided deals lost and won."""

    base: tuple[np.ndarray, np.ndarray]
    changed: tuple[np.ndarray, np.ndarray]

    def interval(self) -> tuple[float, float]:
        """The bootstrap interval of the difference; see the text of the report."""
        low, _ = paired_bootstrap(self.changed[0], self.base[1])
        _, high = paired_bootstrap(self.changed[1], self.base[0])
        return low, high

    def p_value(self) -> float:
        """The larger p of the exact McNemar test."""
        extremes = ((self.changed[0], self.base[1]), (self.changed[1], self.base[0]))
        return max(mcnemar_exact(*_only(first, second)) for first, second in extremes)


def _only(first: np.ndarray, second: np.ndarray) -> tuple[int, int]:
    """Deals that only the first won, and those that only the second did."""
    return int((first & ~second).sum()), int((second & ~first).sum())


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes one_rule.md and one_rule.png."""
    run_analysis("one_rule", __doc__, analyse, arguments)


def analyse(found: dict[str, Deals]) -> Report:
    """Compares each game with yukon.

    Raises:
        StudyError: There is no yukon, or nothing to compare it with.
    """
    changed = [key for key in CHANGES if key in found]
    if BASE not in found or not changed:
        raise StudyError(f"this compares {BASE} with {', '.join(CHANGES)}: some must be there")
    rows, drawn = [], []
    for key in changed:
        for measure, pair in pairs_of(found[BASE], found[key]).items():
            rows.append(row_of(key, measure, pair))
            drawn.append((CHANGES[key].partition(" (")[0], measure, pair))
    text = f"{_ABOUT}\n\n{markdown(_HEADER, rows)}"
    return Report("What one rule is worth", text, draw(drawn))


def pairs_of(base: Deals, changed: Deals) -> dict[str, Pair]:
    """What both games were measured with: the solver, and agents of the same label."""
    pairs = {"solver": Pair(*_on_same_deals(base, changed, _solver_wins))}
    for label in [label for label in base.agents if label in changed.agents]:

        def wins(deals: Deals, label: str = label) -> tuple[np.ndarray, np.ndarray]:
            return (deals.column(f"{label}_won"),) * 2

        pairs[label] = Pair(*_on_same_deals(base.of_test(), changed.of_test(), wins))
    return pairs


def _solver_wins(deals: Deals) -> tuple[np.ndarray, np.ndarray]:
    verdicts = deals.verdicts
    return verdicts.winnable, verdicts.winnable | verdicts.undecided


def _on_same_deals(base: Deals, changed: Deals, wins: Wins) -> list[tuple[np.ndarray, np.ndarray]]:
    common = np.intersect1d(base.deals, changed.deals)
    if not common.size:
        raise StudyError(f"{base.variant} and {changed.variant} have no deal in common")
    rows = [np.searchsorted(deals.deals, common) for deals in (base, changed)]
    both = []
    for deals, which in zip((base, changed), rows, strict=True):
        low, high = wins(deals)
        both.append((low[which], high[which]))
    return both


def row_of(key: str, measure: str, pair: Pair) -> tuple[str, ...]:
    """A row of the table."""
    only_changed, only_base = _only(pair.changed[0], pair.base[0])
    differences = (
        pair.changed[0].mean() - pair.base[1].mean(),
        pair.changed[1].mean() - pair.base[0].mean(),
    )
    return (
        CHANGES[key],
        f"`{key}`",
        measure,
        f"{len(pair.base[0]):,}",
        between(*(wins.mean() for wins in pair.base)),
        between(*(wins.mean() for wins in pair.changed)),
        between(*differences),
        interval(pair.interval()),
        f"{only_changed:,}",
        f"{only_base:,}",
        f"{pair.p_value():.2g}",
    )


def draw(rows: list[tuple[str, str, Pair]]) -> Figure:
    """A group per change: the difference for the solver, and for each agent."""
    figure = Figure(figsize=(8, 1 + 0.26 * len(rows)), layout="constrained")
    axes = figure.subplots()
    measures = list(dict.fromkeys(measure for _, measure, _ in rows))
    labels: dict[float, str] = {}
    place = 0.0
    for number, (change, measure, pair) in enumerate(rows):
        if number and change != rows[number - 1][0]:
            place += 0.6
        low, high = pair.interval()
        colour = f"C{measures.index(measure)}"
        axes.plot([100 * low, 100 * high], [place, place], color=colour, linewidth=2)
        middle = 50 * sum(
            changed.mean() - base.mean()
            for changed, base in zip(pair.changed, pair.base, strict=True)
        )
        name = measure if measure not in axes.get_legend_handles_labels()[1] else None
        axes.plot(middle, place, "o", color=colour, label=name)
        if change not in labels.values():
            labels[place] = change
        place += 1
    axes.set_yticks(list(labels), list(labels.values()))
    axes.invert_yaxis()
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_xlabel("points won more than in yukon, on the same deals [95 %]")
    axes.grid(axis="x", alpha=0.3)
    axes.legend()
    return figure


if __name__ == "__main__":
    main()
