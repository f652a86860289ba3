"""How far learning comes: `python -m experiments.learning`.

Draws the learning curves of the runs in `experiments/results/learning/` (a folder for each, with
the `run.json` that training left, and the validation part of each `learning_curve.json`), beside
the greedy player on the same validation deals, and writes the page there.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from agents.files import write_text
from agents.greedy import play_deals, read_weights, weights_file
from experiments.learning_curve import ValidationPoint, draw_validation
from experiments.results import FOLDER, markdown
from experiments.runs import RUN_FILE, write_whole
from experiments.training.progress import CURVE_FILE
from yukon_env.deals import SPLITS
from yukon_env.stats import wilson_interval
from yukon_env.variants import VARIANTS, Variant

RUNS = FOLDER / "learning"
PAGE, PICTURE = "README.md", "curves.png"

_ABOUT = """\
# How far learning comes

Written by `python -m experiments.learning`, from the runs kept here. One run each: another seed
ends elsewhere. Validation deals from 10,000 on, by the protocol of the evaluation; the policy plays
its likeliest move. Test deals were not played. Steps are moves played, or decisions looked at.
"""

# Panels in a row of the picture.
IN_A_ROW = 4


@dataclass(frozen=True)
class Curve:
    """A game's curve in a run, or in a stage of one.

    Attributes:
        name: The run's folder, and the stage's in it.
        variant: The game.
        points: (seconds, steps, wins, games), on validation deals.
        greedy: How many of the same deals the greedy player wins.
    """

    name: str
    variant: Variant
    points: list[ValidationPoint]
    greedy: int


def main() -> None:
    """Writes the page and the picture."""
    curves = read_curves(RUNS)
    draw(curves, RUNS / PICTURE)
    write_text(RUNS / PAGE, write_page(curves, read_commands(RUNS)))
    print(f"{RUNS / PAGE}, {RUNS / PICTURE}")


def read_curves(folder: Path) -> list[Curve]:
    """Reads the curves of the runs in a folder, in the order of their names."""
    return [
        Curve(
            name=str(path.parent.relative_to(folder)),
            variant=VARIANTS[key],
            points=[tuple(point) for point in points],
            greedy=_count_greedy_wins(VARIANTS[key], games=points[-1][3]),
        )
        for path in sorted(folder.rglob(CURVE_FILE))
        for key, points in json.loads(path.read_text())["validation"].items()
    ]


# Many runs are validated on the same deals.
@cache
def _count_greedy_wins(variant: Variant, games: int) -> int:
    deals = np.array(SPLITS["validation"][:games])
    won, _, _ = play_deals(variant, read_weights(weights_file(variant), variant), deals)
    return int(won.sum())


def read_commands(folder: Path) -> list[str]:
    """Reads what was called for the runs in a folder, in the order of their names."""
    runs = [json.loads(path.read_text()) for path in sorted(folder.glob(f"*/{RUN_FILE}"))]
    return [call["command"] for run in runs for call in (run, *run.get("resumed", ()))]


def draw(curves: list[Curve], path: Path) -> None:
    """Draws a panel for each curve."""
    n_rows = -(-len(curves) // IN_A_ROW)
    n_columns = min(len(curves), IN_A_ROW)
    figure = Figure(figsize=(4 * n_columns, 3.4 * n_rows), layout="constrained")
    panels = figure.subplots(n_rows, n_columns, squeeze=False).flat
    for curve, axes in zip(curves, panels, strict=False):
        _draw_panel(axes, curve)
    for axes in panels:
        axes.set_axis_off()
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    write_whole(path, lambda file: figure.savefig(file, format="png", dpi=120))


def _draw_panel(axes: Axes, curve: Curve) -> None:
    _, _, wins, games = curve.points[-1]
    draw_validation(axes, curve.points, "the policy, 95 % interval")
    greedy = 100 * curve.greedy / games
    axes.axhline(greedy, color="black", linestyle="--", label="the greedy player")
    axes.set(xlabel="seconds", ylabel="% won", title=f"{curve.name}\n{curve.variant.key}")
    # Random weights win next to nothing, which is not worth the room.
    axes.set_ylim(bottom=0.7 * min(greedy, 100 * wins / games))
    axes.grid(alpha=0.3)


def write_page(curves: list[Curve], commands: list[str]) -> str:
    """Writes the page: a table, the picture, and the commands."""
    rows = [_describe(curve) for curve in curves]
    head = ("run", "game", "minutes", "million steps", "deals", "won, %", "greedy player, %")
    called = "\n".join(commands)
    return f"{_ABOUT}\n{markdown(head, rows)}\n\n![Curves]({PICTURE})\n\n```\n{called}\n```\n"


def _describe(curve: Curve) -> tuple[str, ...]:
    seconds, steps, wins, games = curve.points[-1]
    low, high = wilson_interval(wins, games)
    return (
        f"`{curve.name}`",
        f"`{curve.variant.key}`",
        f"{seconds / 60:.0f}",
        f"{steps / 1e6:.1f}",
        f"{games:,}",
        f"{100 * wins / games:.1f} [{100 * low:.1f}, {100 * high:.1f}]",
        f"{100 * curve.greedy / games:.1f}",
    )


if __name__ == "__main__":
    main()
