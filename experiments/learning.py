"""How far learning comes: `python -m experiments.learning`.

Draws the learning curves of the runs in `experiments/results/learning/` (a folder for each, with
the `run.json` that training left, and the validation part of its `learning_curve.json`), beside the
greedy player on the same validation deals, and writes the page there.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from agents.files import write_text
from agents.greedy import play_deals, read_weights, weights_file
from experiments.learning_curve import ValidationPoint, draw_validation
from experiments.results import FOLDER, markdown
from experiments.runs import write_whole
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
its likeliest move. Test deals were not played.
"""


@dataclass(frozen=True)
class Curve:
    """A run that is kept.

    Attributes:
        name: The name of its folder.
        command: What was called.
        variant: The game.
        points: (seconds, steps, wins, games), on validation deals.
        greedy: How many of the same deals the greedy player wins.
    """

    name: str
    command: str
    variant: Variant
    points: list[ValidationPoint]
    greedy: int


def main() -> None:
    """Writes the page and the picture."""
    curves = read_curves(RUNS)
    draw(curves, RUNS / PICTURE)
    write_text(RUNS / PAGE, write_page(curves))
    print(f"{RUNS / PAGE}, {RUNS / PICTURE}")


def read_curves(folder: Path) -> list[Curve]:
    """Reads the runs in a folder, in the order of their names."""
    return [_read_curve(path.parent) for path in sorted(folder.glob(f"*/{CURVE_FILE}"))]


def _read_curve(folder: Path) -> Curve:
    about: dict[str, Any] = json.loads((folder / "run.json").read_text())
    validation = json.loads((folder / CURVE_FILE).read_text())["validation"]
    variant = VARIANTS[about["variant"]]
    points = [tuple(point) for point in validation[variant.key]]
    deals = np.array(SPLITS["validation"][: points[-1][3]])
    won, _, _ = play_deals(variant, read_weights(weights_file(variant), variant), deals)
    return Curve(folder.name, about["command"], variant, points, int(won.sum()))


def draw(curves: list[Curve], path: Path) -> None:
    """Draws a panel for each run."""
    figure = Figure(figsize=(4 * len(curves), 3.6), layout="constrained")
    panels = figure.subplots(1, len(curves), squeeze=False)[0]
    for axes, curve in zip(panels, curves, strict=True):
        _draw_panel(axes, curve)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    write_whole(path, lambda file: figure.savefig(file, format="png", dpi=120))


def _draw_panel(axes: Axes, curve: Curve) -> None:
    # The first point is of random weights.
    draw_validation(axes, curve.points[1:], "the policy, 95 % interval")
    games = curve.points[-1][3]
    axes.axhline(
        100 * curve.greedy / games, color="black", linestyle="--", label="the greedy player"
    )
    axes.set(xlabel="seconds", ylabel="% won", title=f"{curve.variant.title}, {games:,} deals")
    axes.grid(alpha=0.3)


def write_page(curves: list[Curve]) -> str:
    """Writes the page: a table, the picture, and the commands."""
    rows = [_describe(curve) for curve in curves]
    head = ("run", "game", "minutes", "million moves", "deals", "won, %", "greedy player, %")
    commands = "\n".join(curve.command for curve in curves)
    return f"{_ABOUT}\n{markdown(head, rows)}\n\n![Curves]({PICTURE})\n\n```\n{commands}\n```\n"


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
