"""Intervals and tests against SciPy and published values."""

import pytest
from scipy.stats import binomtest

from yukon_env.stats import mcnemar_exact, wilson_interval


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
