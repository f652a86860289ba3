"""The agent that plays a legal move at random."""

import numpy as np

from agents.errors import AgentError
from agents.ranking import RankedMove
from agents.view import check_input, list_actions
from yukon_env.deals import next_below, stream_of_seed
from yukon_env.engine.compiling import kernel
from yukon_env.engine.state import N_ACTIONS


class RandomAgent:
    """Draws uniformly from the legal moves; the same seed makes the same draws."""

    def __init__(self, seed: int = 0) -> None:
        self._stream = np.array([stream_of_seed(seed, purpose=2)])

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        """Chooses an action for each position.

        Args:
            observations: int8, shape (n, 52, 3); not looked at.
            action_masks: int8 or bool, shape (n, 417).

        Returns:
            int64, shape (n,).

        Raises:
            AgentError: The arrays have other shapes, or a mask allows nothing.
        """
        _, masks = check_input(observations, action_masks)
        actions = np.empty(len(masks), np.int64)
        _draw(masks, self._stream, np.empty(N_ACTIONS, np.int64), actions)
        check_chosen(actions)
        return actions

    def rank(self, observation: np.ndarray, action_mask: np.ndarray) -> list[RankedMove]:
        """Ranks the moves of a position (see `agents.ranking`): all are equally likely."""
        legal = np.flatnonzero(action_mask).tolist()
        return [RankedMove(action, {"probability": 1 / len(legal)}) for action in legal]


def check_chosen(actions: np.ndarray) -> None:
    """Checks that every position got an action.

    Raises:
        AgentError: An action is -1: the mask of that position allows nothing.
    """
    if actions.size and actions.min() < 0:
        raise AgentError(f"the action mask of position {actions.argmin()} allows no action")


@kernel
def _draw(masks, stream, legal, actions):
    """Draws one action per mask; -1 where a mask allows nothing."""
    for game in range(masks.shape[0]):
        n = list_actions(masks[game], legal)
        actions[game] = legal[next_below(stream, n)] if n > 0 else -1
