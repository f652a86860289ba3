"""What makes a deal hard: `python -m experiments.difficulty.predict FOLDER ...`.

Fits plain linear models that tell from a deal's descriptive figures whether it can be won, how many
states the solver takes for a win, and whether each agent wins; and measures them on deals that were
held out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from experiments.difficulty.report import Report, percent, run_analysis
from experiments.difficulty.schema import FIGURES
from experiments.difficulty.tables import Deals
from experiments.results import markdown

# Every so many-th deal is held out.
_HOLD_OUT = 4
# No model is fitted where either outcome is rarer than this, in all.
_LEAST = 40
_NAMES = [column.name for column in FIGURES]
_ABOUT = f"""\
Every {_HOLD_OUT}th deal is held out; a logistic regression on the standardized figures of the
others says whether a deal is *winnable* (undecided deals are left out of this model alone), and
whether an agent wins. *Always the commoner* is the accuracy of a guess that never looks at the
deal; AUC is the chance that of a deal won and one lost the model finds the first the easier. For
*states* (decimal logarithm, winnable deals only) it is a linear regression, with the share of the
variance that it explains. The *figures* are those of the largest weights: + makes a deal easier
(fewer states), - harder. What the figures count:"""
_HEADER = (
    "variant", "what", "deals", "held out", "accuracy, %", "always the commoner, %", "AUC", "R2",
    "figures",
)  # fmt: skip


@dataclass(frozen=True)
class Fit:
    """A model of one thing in one variant.

    Attributes:
        target: What it tells.
        weights: float, shape (n_figures,): of the standardized figures, positive for easier.
        truth: The outcome of the held-out deals.
        guess: The model's chance of it, or its value, for the held-out deals.
        n_fitted: How many deals it was fitted on.
    """

    target: str
    weights: np.ndarray
    truth: np.ndarray
    guess: np.ndarray
    n_fitted: int

    @property
    def yes_or_no(self) -> bool:
        """Whether the outcome is won or lost, and not a number."""
        return self.truth.dtype == np.bool_


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes predict.md and predict.png."""
    run_analysis("predict", __doc__, analyse, arguments)


def analyse(found: dict[str, Deals]) -> Report:
    """Fits and measures all models."""
    fits = {key: list(fit_all(deals)) for key, deals in found.items()}
    rows = [row_of(key, fit) for key in fits for fit in fits[key]]
    figures = "\n".join(f"- `{column.name}`: {column.text}" for column in FIGURES)
    text = f"{_ABOUT}\n\n{figures}\n\n{markdown(_HEADER, rows)}"
    return Report("What makes a deal hard", text, draw(fits))


def fit_all(deals: Deals) -> Iterator[Fit]:
    """Fits a model of each outcome that is not nearly always the same."""
    verdicts = deals.verdicts
    figures = np.stack([deals.column(name) for name in _NAMES], axis=1).astype(float)
    decided, winnable = ~verdicts.undecided, verdicts.winnable
    targets = {"winnable": (figures[decided], winnable[decided])}
    for label in deals.agents:
        targets[label] = (figures, deals.column(f"{label}_won").astype(np.bool_))
    for target, (known, won) in targets.items():
        if min(won.sum(), (~won).sum()) >= _LEAST:
            yield fit(target, known, won)
    if winnable.sum() >= _LEAST:
        yield fit("states", figures[winnable], np.log10(verdicts.states[winnable]))


def fit(target: str, figures: np.ndarray, outcome: np.ndarray) -> Fit:
    """Fits one model and applies it to the held-out deals.

    Args:
        target: What the outcome is.
        figures: float, shape (n, n_figures).
        outcome: bool or float, shape (n,).
    """
    held_out = np.arange(len(outcome)) % _HOLD_OUT == 0
    logistic = outcome.dtype == np.bool_
    model = make_pipeline(
        StandardScaler(), LogisticRegression(max_iter=1000) if logistic else LinearRegression()
    )
    model.fit(figures[~held_out], outcome[~held_out])
    weights = np.ravel(model[-1].coef_)
    if logistic:
        guess = model.predict_proba(figures[held_out])[:, 1]
    else:
        guess, weights = model.predict(figures[held_out]), -weights
    return Fit(target, weights, outcome[held_out], guess, int((~held_out).sum()))


def row_of(key: str, fit: Fit) -> tuple[str, ...]:
    """A row of the table."""
    largest = np.argsort(-abs(fit.weights), kind="stable")[:3]
    named = [f"{'+' if fit.weights[i] > 0 else '-'}{_NAMES[i]}" for i in largest]
    accuracy = commoner = auc = explained = ""
    if fit.yes_or_no:
        accuracy = percent(float(((fit.guess > 0.5) == fit.truth).mean()))
        commoner = percent(max(fit.truth.mean(), 1 - fit.truth.mean()))
        if 0 < fit.truth.mean() < 1:
            auc = f"{roc_auc_score(fit.truth, fit.guess):.3f}"
    else:
        explained = f"{r2_score(fit.truth, fit.guess):.3f}"
    return (
        f"`{key}`", fit.target, f"{fit.n_fitted:,}", f"{len(fit.truth):,}", accuracy, commoner,
        auc, explained, ", ".join(named),
    )  # fmt: skip


def draw(fits: dict[str, list[Fit]]) -> Figure:
    """The weights of the models of `winnable` and of one agent; and how the held-out deals went."""
    targets = list(dict.fromkeys(fit.target for some in fits.values() for fit in some))
    # Random play tells least of a deal, so another agent is shown where there is one.
    players = [target for target in targets if target not in ("winnable", "states")]
    shown = ["winnable", *sorted(players, key=lambda player: player == "random")[:1]]
    figure = Figure(figsize=(1.5 + 5.2 * len(shown), 9.5), layout="constrained")
    axes = np.reshape(figure.subplots(2, len(shown), height_ratios=(3, 2)), (2, -1))
    for column, target in enumerate(shown):
        chosen = {key: fit for key, some in fits.items() for fit in some if fit.target == target}
        if not chosen:
            continue
        title = "can be won, all cards seen" if target == "winnable" else f"{target} wins"
        _draw_weights(figure, axes[0, column], chosen, title)
        _draw_tenths(axes[1, column], chosen)
    return figure


def _draw_weights(figure: Figure, axes: Axes, fits: dict[str, Fit], title: str) -> None:
    axes.set_title(f"{title}: weight of each figure")
    weights = np.stack([fit.weights for fit in fits.values()], axis=1)
    picture = axes.imshow(weights, cmap="RdBu", vmin=-1.2, vmax=1.2, aspect="auto")
    for (row, column), weight in np.ndenumerate(weights):
        shade = "white" if abs(weight) > 0.8 else "black"
        axes.text(column, row, f"{weight:.1f}", ha="center", va="center", fontsize=7, color=shade)
    axes.set_yticks(range(len(_NAMES)), _NAMES)
    axes.set_xticks(range(len(fits)), list(fits), rotation=45, ha="right")
    figure.colorbar(picture, ax=axes, shrink=0.6, label="blue: easier, red: harder")


def _draw_tenths(axes: Axes, fits: dict[str, Fit]) -> None:
    """How often held-out deals were won, from the tenth that looked hardest to the easiest."""
    for number, (key, fit) in enumerate(fits.items()):
        order = np.argsort(fit.guess, kind="stable")
        tenths = [100 * fit.truth[part].mean() for part in np.array_split(order, 10)]
        style = "-" if number < 10 else "--"
        axes.plot(range(1, 11), tenths, style, marker="o", markersize=3, label=key)
    axes.set(
        xlabel="held-out deals in tenths, by the model: hardest to easiest",
        ylabel="won, %",
        ylim=(-2, 102),
        xticks=range(1, 11),
    )
    axes.grid(alpha=0.3)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), fontsize=7, ncols=4)


if __name__ == "__main__":
    main()
