"""Draws the learning curve of a training run."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.runs import write_whole
from yukon_env.stats import wilson_interval

TrainingPoint = tuple[float, int, float]
ValidationPoint = tuple[float, int, int, int]


def draw_curve(
    training: Sequence[TrainingPoint],
    validation: Sequence[ValidationPoint],
    title: str,
    path: Path,
) -> None:
    """Draws win rates over time, with the moves trained on along the top.

    Args:
        training: Points (seconds, moves, win rate of the recent training games).
        validation: Points (seconds, moves, wins, games).
        title: What stands above.
        path: The PNG file.
    """
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    if training:
        seconds, _, rates = zip(*training, strict=True)
        axes.plot(seconds, [100 * rate for rate in rates], alpha=0.7, label="training deals")
    if validation:
        _draw_validation(axes, validation)
    axes.set(xlabel="seconds", ylabel="games won, %", title=title)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    last = max((*training, *validation), default=(0.0, 0))
    _add_moves(axes, last[0], last[1])
    write_whole(path, lambda file: figure.savefig(file, format="png", dpi=150))


def _draw_validation(axes: Axes, validation: Sequence[ValidationPoint]) -> None:
    """Draws the deterministic player's win rates with their 95 % intervals."""
    seconds = [point[0] for point in validation]
    rates = [100 * wins / games for _, _, wins, games in validation]
    intervals = [wilson_interval(wins, games) for _, _, wins, games in validation]
    below = [max(0.0, rate - 100 * low) for rate, (low, _) in zip(rates, intervals, strict=True)]
    above = [max(0.0, 100 * high - rate) for rate, (_, high) in zip(rates, intervals, strict=True)]
    label = f"{validation[-1][3]} validation deals, likeliest move, 95 % interval"
    axes.errorbar(seconds, rates, yerr=(below, above), marker="o", capsize=3, label=label)


def _add_moves(axes: Axes, seconds: float, moves: float) -> None:
    """Adds the axis of the moves: they grow steadily with time, so one factor serves."""
    if seconds > 0 and moves > 0:
        rate = moves / 1e6 / seconds
        scale = (lambda x: np.multiply(x, rate), lambda x: np.divide(x, rate))
        axes.secondary_xaxis("top", functions=scale).set_xlabel("million moves")
