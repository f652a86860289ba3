"""Draws the learning curve of a training run."""

from collections.abc import Mapping, Sequence
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
    validation: Mapping[str, Sequence[ValidationPoint]],
    title: str,
    rate: str,
    path: Path,
) -> None:
    """Draws win rates over time, with the steps trained along the top.

    Args:
        training: Points (seconds, steps, rate).
        validation: For each variant, points (seconds, steps, wins, games).
        title: What stands above.
        rate: What the rate of the training points is.
        path: The PNG file.
    """
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    if training:
        times, _, rates = zip(*training, strict=True)
        axes.plot(times, [100 * share for share in rates], alpha=0.7, label=rate)
    for variant, points in validation.items():
        games = points[-1][3]
        label = f"{variant}: {games:,} validation deals won, likeliest move, 95 % interval"
        draw_validation(axes, points, label)
    axes.set(xlabel="seconds", ylabel="%", title=title)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    figure.legend(loc="outside lower center")
    curves = [curve for curve in (training, *validation.values()) if curve]
    seconds, steps = max((curve[-1][:2] for curve in curves), default=(0.0, 0))
    _add_steps(axes, seconds, steps)
    write_whole(path, lambda file: figure.savefig(file, format="png", dpi=150))


def draw_validation(axes: Axes, validation: Sequence[ValidationPoint], label: str) -> None:
    """Draws the deterministic player's win rates with their 95 % intervals."""
    seconds = [point[0] for point in validation]
    rates = [100 * wins / games for _, _, wins, games in validation]
    intervals = [wilson_interval(wins, games) for _, _, wins, games in validation]
    below = [max(0.0, rate - 100 * low) for rate, (low, _) in zip(rates, intervals, strict=True)]
    above = [max(0.0, 100 * high - rate) for rate, (_, high) in zip(rates, intervals, strict=True)]
    axes.errorbar(seconds, rates, yerr=(below, above), marker="o", capsize=3, label=label)


def _add_steps(axes: Axes, seconds: float, steps: float) -> None:
    """Adds the axis of the steps: they grow steadily with time, so one factor serves."""
    if seconds > 0 and steps > 0:
        rate = steps / 1e6 / seconds
        scale = (lambda x: np.multiply(x, rate), lambda x: np.divide(x, rate))
        axes.secondary_xaxis("top", functions=scale).set_xlabel("million steps")
