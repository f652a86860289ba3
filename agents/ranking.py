"""A move explained: what an agent thinks of each legal move, in numbers.

An agent that can say so has a method `rank(observation, action_mask) -> list[RankedMove]`, for one
position: int8 of shape (52, 3) and int8 or bool of shape (417,). The list holds every move that
the mask allows, the best first.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np


@dataclass(frozen=True)
class RankedMove:
    """A move, and what an agent says of it.

    Attributes:
        action: The action's number.
        numbers: What decides its rank, by name, then what explains it.
    """

    action: int
    numbers: dict[str, float]


@runtime_checkable
class Ranker(Protocol):
    """An agent that can explain its choice."""

    def rank(self, observation: np.ndarray, action_mask: np.ndarray) -> list[RankedMove]:
        """Ranks the moves that the mask allows, the best first."""


def ranked(moves: Iterable[RankedMove]) -> list[RankedMove]:
    """Sorts moves by their first number, the highest first; of equal ones the lowest action."""
    return sorted(moves, key=lambda move: (-next(iter(move.numbers.values())), move.action))
