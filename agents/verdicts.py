"""Which games can still be won, by the solver: for training only, since it sees every card.

A policy is trained on what it can still win. A lost game gives no reward whatever is played, so
leaving it out, or ending it where it is lost, takes nothing from what there is to learn; it leaves
out noise, and puts the loss next to the move that brought it.

The solver gets a small budget, and what it does not win with it counts as lost. That is nearly
always true: what can be won at all is won within some hundred positions.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from yukon_env.deals import SPLITS
from yukon_env.engine.moves import play_games
from yukon_env.engine.state import compile_rules
from yukon_env.solver import Verdict, solve
from yukon_env.solver.api import solve_deal
from yukon_env.variants import Variant

# Bytes for the solver's tables: searches of some thousand positions need little.
MEMORY = 1 << 28


@dataclass
class _Position:
    """An engine record as the solver takes it."""

    variant: Variant
    record: np.ndarray
    hidden_known: bool = True


class LossFinder:
    """Finds where games become lost, one look after each move.

    While a game follows a win that the solver has found, the solver is not asked again.

    Args:
        variant: The game.
        n: How many games are played at once.
        max_states: Positions that the solver may visit to find a win.
    """

    def __init__(self, variant: Variant, n: int, max_states: int) -> None:
        self._variant = variant
        self._max_states = max_states
        # What is left of the last win found in each game; nothing if there is none.
        self._wins: list[tuple[int, ...]] = [()] * n

    def find(self, records: np.ndarray, actions: np.ndarray, in_play: np.ndarray) -> np.ndarray:
        """Says which games are lost.

        Args:
            records: GAME, shape (n,): positions, hidden cards included.
            actions: int64, shape (n,): the moves that led to them.
            in_play: bool, shape (n,): the games to look at; the others are forgotten.

        Returns:
            bool, shape (n,).
        """
        lost = np.zeros(len(records), np.bool_)
        for index, action in enumerate(actions.tolist()):
            win, self._wins[index] = self._wins[index], ()
            if in_play[index]:
                if win and win[0] == action:
                    self._wins[index] = win[1:]
                else:
                    self._wins[index] = self._solve(records[index : index + 1])
                lost[index] = not self._wins[index]
        return lost

    def _solve(self, record: np.ndarray) -> tuple[int, ...]:
        position = _Position(self._variant, record)
        return solve(position, max_states=self._max_states, memory=MEMORY).moves


def safe_moves(
    variant: Variant, records: np.ndarray, masks: np.ndarray, max_states: int
) -> np.ndarray:
    """Says which moves leave a game that can be won.

    Args:
        variant: The game.
        records: GAME, shape (n,): positions, hidden cards included.
        masks: int8 or bool, shape (n, 417): the legal moves to look at.
        max_states: Positions that the solver may visit after each move.

    Returns:
        bool, shape (n, 417).
    """
    safe = np.zeros(masks.shape, np.bool_)
    rows, actions = np.nonzero(masks)
    after = records[rows]
    play_games(after, compile_rules(variant), actions, np.ones(len(rows), np.bool_))
    for index, (row, action) in enumerate(zip(rows.tolist(), actions.tolist(), strict=True)):
        position = _Position(variant, after[index : index + 1])
        result = solve(position, max_states=max_states, memory=MEMORY)
        safe[row, action] = result.verdict == Verdict.WINNABLE
    return safe


def winnable_deals(variant: Variant, max_states: int) -> Iterator[int]:
    """Yields the train deals, in order, that the solver wins within so many positions."""
    for deal in SPLITS["train"]:
        if solve_deal(variant, deal, max_states=max_states, memory=MEMORY).moves:
            yield deal
