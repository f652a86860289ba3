"""How many deals can be won: `python -m experiments.difficulty.winnability FOLDER ...`.

For each variant the share of deals that can be won by a player who sees every card, as the solver
says, with an interval that counts undecided deals both ways.
"""

from collections.abc import Sequence

from matplotlib.figure import Figure

from experiments.difficulty.report import Report, between, counted, interval, run_analysis, span
from experiments.difficulty.tables import Deals
from experiments.results import markdown
from yukon_env.stats import conservative_interval

_ABOUT = """\
Deals that can be won by a player who sees every card from the start, but may move a face-down card
only once it is turned up, by the rules of the table of games in the main README. A win is a line
of moves; an unwinnable deal is proved to be so; a deal on which the solver gave up after so many
states is undecided. The interval is conservative: 95 % Wilson, its lower end with all undecided
deals lost, its upper end with all of them won (as Blake and Gent, JAIR 85, 2026)."""
_HEADER = (
    "variant", "deals", "winnable", "unwinnable", "undecided", "winnable, %", "95 %", "states",
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes winnability.md and winnability.png."""
    run_analysis("winnability", __doc__, analyse, arguments)


def analyse(found: dict[str, Deals]) -> Report:
    """Counts the verdicts of each variant."""
    rows, shares = [], {}
    for key, deals in found.items():
        verdicts = deals.verdicts
        n = len(verdicts.deals)
        wins, undecided = int(verdicts.winnable.sum()), int(verdicts.undecided.sum())
        ends = conservative_interval(wins, undecided, n)
        shares[counted(key, n)] = (wins / n, (wins + undecided) / n, *ends)
        counts = (wins, n - wins - undecided, undecided)
        rows.append(
            (
                f"`{key}`",
                span(deals),
                *(f"{count:,}" for count in counts),
                between(wins / n, (wins + undecided) / n),
                interval(ends),
                f"{deals.max_states:,}",
            )
        )
    text = f"{_ABOUT}\n\n{markdown(_HEADER, rows)}"
    return Report("How many deals can be won", text, draw(shares))


def draw(shares: dict[str, tuple[float, float, float, float]]) -> Figure:
    """A row per variant, as it is to be called: the share, and its conservative interval."""
    figure = Figure(figsize=(8, 0.8 + 0.32 * len(shares)), layout="constrained")
    axes = figure.subplots()
    ordered = sorted(shares.items(), key=lambda item: item[1])
    for place, (_, (low, high, least, most)) in enumerate(ordered):
        axes.plot([100 * least, 100 * most], [place, place], color="tab:blue", linewidth=2)
        axes.plot([100 * low, 100 * high], [place, place], "o", color="tab:blue", markersize=5)
        text = f"{between(low, high)} {interval((least, most))}"
        left = low > 0.6
        axes.annotate(
            text, (100 * (least if left else most), place), (-8 if left else 8, 0),
            textcoords="offset points", ha="right" if left else "left", va="center", fontsize=8,
        )  # fmt: skip
    axes.set_yticks(range(len(ordered)), [name for name, _ in ordered])
    label = "deals that can be won, all cards seen, % [95 %] (in brackets: how many were solved)"
    axes.set(xlim=(-2, 102), xlabel=label)
    axes.grid(axis="x", alpha=0.3)
    return figure


if __name__ == "__main__":
    main()
