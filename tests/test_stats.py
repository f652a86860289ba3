"""Intervals and tests against SciPy and published values."""

import numpy as np
import pytest
from scipy.stats import binomtest, bootstrap

from yukon_env.stats import (
    conservative_interval,
    mcnemar_exact,
    paired_bootstrap,
    wilson_interval,
)


@pytest.mark.parametrize(
    ("wins", "games"), [(0, 1), (1, 1), (0, 50), (50, 50), (1, 10), (8973, 10_000), (4086, 60_000)]
)
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_wilson_is_scipys(wins: int, games: int, confidence: float) -> None:
    expected = binomtest(wins, games).proportion_ci(confidence, method="wilson")
    assert wilson_interval(wins, games, confidence) == pytest.approx(tuple(expected), abs=1e-12)


@pytest.mark.parametrize(("wins", "games"), [(-1, 5), (6, 5), (0, 0)])
def test_what_is_no_win_rate_is_refused(wins: int, games: int) -> None:
    with pytest.raises(ValueError, match="no win rate"):
        wilson_interval(wins, games)


@pytest.mark.parametrize(
    ("first", "second"), [(0, 0), (1, 0), (5, 5), (3, 11), (38, 911), (2000, 1900)]
)
def test_mcnemar_is_the_binomial_test(first: int, second: int) -> None:
    expected = binomtest(first, first + second).pvalue if first + second else 1.0
    assert mcnemar_exact(first, second) == pytest.approx(expected, rel=1e-9)
    assert mcnemar_exact(first, second) == mcnemar_exact(second, first)


def test_undecided_cases_are_counted_both_ways() -> None:
    assert conservative_interval(90, 0, 100) == wilson_interval(90, 100)
    assert conservative_interval(90, 4, 100) == (
        wilson_interval(90, 100)[0],
        wilson_interval(94, 100)[1],
    )
    with pytest.raises(ValueError, match="no win rate"):
        conservative_interval(90, 11, 100)


def test_paired_bootstrap_is_scipys() -> None:
    chance = np.random.default_rng(1)
    first = chance.random(400) < 0.6
    second = np.where(chance.random(400) < 0.8, first, chance.random(400) < 0.4)
    expected = bootstrap(
        (first.astype(float), second.astype(float)),
        lambda one, other, axis: one.mean(axis=axis) - other.mean(axis=axis),
        paired=True,
        method="percentile",
        rng=np.random.default_rng(2),
    ).confidence_interval
    low, high = paired_bootstrap(first, second)
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=0.004)
    # Pairs matter: as two samples of their own, these would vary twice as much.
    assert high - low < 0.75 * 2 * 1.96 * np.sqrt(first.var() / 400 + second.var() / 400)


def test_paired_bootstrap_of_known_values() -> None:
    values = np.arange(50)
    assert paired_bootstrap(values + 3, values) == (3, 3)
    # 30 of 100 pairs differ, all one way: the mean is a binomial share.
    first = np.arange(100) < 30
    low, high = paired_bootstrap(first, np.zeros(100), resamples=100_000)
    assert (low, high) == pytest.approx((0.21, 0.39), abs=0.01)
    assert paired_bootstrap(first, values.repeat(2)) == paired_bootstrap(first, values.repeat(2))


@pytest.mark.parametrize(("first", "second"), [([], []), ([1, 2], [1]), ([[1]], [[1]])])
def test_what_is_no_pairs_is_refused(first: list, second: list) -> None:
    with pytest.raises(ValueError, match="no pairs"):
        paired_bootstrap(np.array(first), np.array(second))
