"""Intervals and comparisons for win rates."""

from math import sqrt
from statistics import NormalDist

import numpy as np


def wilson_interval(wins: int, games: int, confidence: float = 0.95) -> tuple[float, float]:
    """The Wilson score interval of a win rate.

    Source: Wilson, "Probable inference, the law of succession, and statistical inference",
    Journal of the American Statistical Association 22 (1927).

    Args:
        wins: Games won.
        games: Games played, at least 1.
        confidence: Coverage, between 0 and 1.

    Returns:
        The lower and upper end, as shares between 0 and 1.

    Raises:
        ValueError: There are no games, or more wins than games.
    """
    if not 0 <= wins <= games or games < 1:
        raise ValueError(f"{wins} wins of {games} games is no win rate")
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rate = wins / games
    centre = rate + z * z / (2 * games)
    spread = z * sqrt(rate * (1 - rate) / games + z * z / (4 * games * games))
    scale = 1 + z * z / games
    low = (centre - spread) / scale if wins > 0 else 0.0
    return low, (centre + spread) / scale if wins < games else 1.0


def conservative_interval(
    wins: int, undecided: int, games: int, confidence: float = 0.95
) -> tuple[float, float]:
    """An interval for a share of which some cases are not decided.

    The lower end is Wilson's with all undecided cases lost, the upper end with all of them won;
    as Blake and Gent, "The winnability of Klondike solitaire and many other patience games",
    Journal of Artificial Intelligence Research 85 (2026).

    Args:
        wins: Cases that are decided and won.
        undecided: Cases that are not decided.
        games: All cases, at least 1.
        confidence: Coverage, between 0 and 1.

    Raises:
        ValueError: There are no games, or the counts do not go together.
    """
    low, _ = wilson_interval(wins, games, confidence)
    _, high = wilson_interval(wins + undecided, games, confidence)
    return low, high


def paired_bootstrap(
    first: np.ndarray,
    second: np.ndarray,
    *,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> tuple[float, float]:
    """The percentile bootstrap interval of a mean difference, both measured on the same deals.

    Deals are drawn with both their values. How often each difference comes up in a draw of n
    deals is a multinomial, which is drawn instead of the deals: the same, and far faster.

    Source: Efron and Tibshirani, "An introduction to the bootstrap" (1993), chapter 13.

    Args:
        first: Values of the first, shape (n,): bool or numbers.
        second: Values of the second on the same deals, shape (n,).
        confidence: Coverage, between 0 and 1.
        resamples: Draws of n deals each.
        seed: Fixes the draws.

    Returns:
        The lower and upper end for the mean of `first` less that of `second`.

    Raises:
        ValueError: The shapes differ, or there are no deals.
    """
    first, second = np.asarray(first, float), np.asarray(second, float)
    if first.shape != second.shape or first.ndim != 1 or not first.size:
        raise ValueError(f"shapes {first.shape} and {second.shape} are no pairs on the same deals")
    values, counts = np.unique(first - second, return_counts=True)
    n = first.size
    draws = np.random.default_rng(seed).multinomial(n, counts / n, size=resamples)
    tail = (1 - confidence) / 2
    low, high = np.quantile(draws @ values / n, (tail, 1 - tail))
    return float(low), float(high)


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """Two-sided p-value of the exact McNemar test.

    Source: McNemar, "Note on the sampling error of the difference between correlated
    proportions", Psychometrika 12 (1947), with the exact binomial in place of chi-square.

    Args:
        only_first: Deals that only the first of two agents won.
        only_second: Deals that only the second won.
    """
    fewer, games = min(int(only_first), int(only_second)), int(only_first) + int(only_second)
    ways = tail = 1
    for wins in range(fewer):
        ways = ways * (games - wins) // (wins + 1)
        tail += ways
    return min(1.0, 2 * tail / 2**games)
