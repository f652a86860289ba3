"""Intervals and comparisons for win rates."""

from math import sqrt
from statistics import NormalDist


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
