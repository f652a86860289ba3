"""Luck and skill: `python -m experiments.difficulty.luck FOLDER ...`.

For each variant, how much of what can be won random play wins, how much the agents, and how far
the one that won most is from a player who sees every card.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from matplotlib.figure import Figure

from experiments.difficulty.errors import StudyError
from experiments.difficulty.measures import UNDECIDED
from experiments.difficulty.report import (
    Report,
    between,
    counted,
    interval,
    percent,
    run_analysis,
    span,
)
from experiments.difficulty.schema import LOST_AT
from experiments.difficulty.tables import Deals
from experiments.results import markdown
from yukon_env.stats import paired_bootstrap, wilson_interval

_ABOUT = """\
On test deals, by the protocol of the main README. *Winnable* is what a player who sees every card
can win: the rest is lost by the deal alone. *Won most* names the agent of the dataset that did. *Of
the winnable* is the share it won of the deals that can be won, with its 95 % Wilson interval.
*Skill* is what it wins more than random play, and *room* what is winnable but not won by it:
knowledge of the hidden cards, and play that could be better; both in points, with 95 % paired
bootstrap intervals. Undecided deals are counted in the way that is worst for each end."""


_ABOUT_LOSSES = """\
Where games are lost, in per cent of the deals: *at the deal*, which nobody could have won; *in
play*, by a move after which the game could not be won any more, the median of which is given; or
*never*: the game ended, out of new positions or of moves, where it could still be won."""
_LOSSES_HEADER = (
    "variant", "agent", "deals", "won", "at the deal", "in play", "median move", "never",
    "undecided",
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes luck.md and luck.png."""
    run_analysis("luck", __doc__, analyse, arguments)


def analyse(found: dict[str, Deals]) -> Report:
    """Sets what can be won against what agents win.

    Raises:
        StudyError: No agent was measured.
    """
    played = {key: deals.of_test() for key, deals in found.items() if deals.agents}
    if not played:
        raise StudyError("no agent was measured: give some with --agents")
    labels = list(dict.fromkeys(label for deals in played.values() for label in deals.agents))
    header = (
        "variant", "deals", "winnable, %", *(f"{label}, %" for label in labels), "won most",
        "of the winnable, %", "skill", "room",
    )  # fmt: skip
    rows = [row_of(deals, labels) for deals in played.values()]
    text = f"{_ABOUT}\n\n{markdown(header, rows)}"
    lost = [row for deals in played.values() for row in rows_of_losses(deals)]
    if lost:
        text += f"\n\n{_ABOUT_LOSSES}\n\n{markdown(_LOSSES_HEADER, lost)}"
    return Report("Luck and skill", text, draw(played, labels))


def row_of(deals: Deals, labels: list[str]) -> tuple[str, ...]:
    """A row of the table."""
    verdicts = deals.verdicts
    at_most = verdicts.winnable | verdicts.undecided
    wins = {label: deals.column(f"{label}_won") for label in deals.agents}
    leader = max(wins, key=lambda label: int(wins[label].sum()))
    shares = []
    for label in labels:
        won = wins.get(label)
        shares.append("" if won is None else f"{percent(won.mean())} {_wilson(won)}")
    skill = ""
    if "random" in wins:
        ends = paired_bootstrap(wins[leader], wins["random"])
        skill = f"{percent(wins[leader].mean() - wins['random'].mean())} {interval(ends)}"
    low, _ = paired_bootstrap(verdicts.winnable, wins[leader])
    _, high = paired_bootstrap(at_most, wins[leader])
    room = (verdicts.winnable.mean() - wins[leader].mean(), at_most.mean() - wins[leader].mean())
    of_winnable = verdicts.share_won(wins[leader])
    return (
        f"`{deals.variant.key}`",
        span(deals),
        between(verdicts.winnable.mean(), at_most.mean()),
        *shares,
        deals.agents[leader],
        f"{between(*of_winnable[:2])} {interval(of_winnable[2:])}" if of_winnable else "",
        skill,
        f"{between(*room)} {interval((low, high))}",
    )


def rows_of_losses(deals: Deals) -> Iterator[tuple[str, ...]]:
    """A row per agent of which it is known when its games became unwinnable."""
    for label in deals.agents:
        if label + LOST_AT.name not in deals.table.column_names:
            continue
        won, lost_at = deals.column(f"{label}_won"), deals.column(label + LOST_AT.name)
        never, in_play = ~won & np.isnan(lost_at), lost_at > 0
        shares = (won, lost_at == 0, in_play, never, lost_at == UNDECIDED)
        texts = [percent(share.mean()) for share in shares]
        texts.insert(3, f"{np.median(lost_at[in_play]):.0f}" if in_play.any() else "")
        yield f"`{deals.variant.key}`", deals.agents[label], f"{len(won):,}", *texts


def _wilson(won: np.ndarray) -> str:
    return interval(wilson_interval(int(won.sum()), len(won)))


def draw(played: dict[str, Deals], labels: list[str]) -> Figure:
    """A row per variant: a mark for what can be won, and one for each agent."""
    figure = Figure(figsize=(8, 1.2 + 0.34 * len(played)), layout="constrained")
    axes = figure.subplots()
    for place, deals in enumerate(played.values()):
        verdicts = deals.verdicts
        ceiling = 100 * (verdicts.winnable | verdicts.undecided).mean()
        axes.barh(
            place, 100 - ceiling, left=ceiling, height=0.7, color="0.85",
            label="cannot be won" if place == 0 else None,
        )  # fmt: skip
        axes.plot(
            [100 * verdicts.winnable.mean(), ceiling], [place] * 2, "|-", color="black",
            markersize=12, label="winnable, all cards seen" if place == 0 else None,
        )  # fmt: skip
    for number, label in enumerate(labels):
        having = [(p, d) for p, d in enumerate(played.values()) if label in d.agents]
        shares = [100 * deals.column(f"{label}_won").mean() for _, deals in having]
        axes.plot(shares, [place for place, _ in having], "o", color=f"C{number}", label=label)
    names = [counted(key, len(deals.deals)) for key, deals in played.items()]
    axes.set_yticks(range(len(played)), names)
    axes.invert_yaxis()
    axes.set(xlim=(-1, 101), xlabel="deals won, % (in brackets: how many were played)")
    axes.grid(axis="x", alpha=0.3)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure


if __name__ == "__main__":
    main()
