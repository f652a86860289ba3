"""What planners share: plans up to the next reveal, and how a planner keeps to one.

A *reveal* is a move that turns up a face-down card, or deals an unknown card of the stock. Up to
it nothing is left to chance, so a *plan*, once chosen, can be kept to.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from agents.errors import AgentError
from agents.greedy import NO_MOVE
from agents.ranking import RankedMove
from agents.view import check_input
from yukon_env.cards import N_CARDS
from yukon_env.engine.moves import play_games
from yukon_env.engine.state import HIDDEN, N_ACTIONS, ROW, ZONE, compile_rules
from yukon_env.game import Game
from yukon_env.variants import Variant, get_variant

ONE = np.ones(1, np.bool_)
# Positions of plans that are remembered, at some 400 bytes.
MAX_KEPT = 1 << 16


@dataclass(frozen=True)
class Plan:
    """Moves up to the next reveal, or to the end.

    Attributes:
        actions: The moves.
        numbers: What decides its rank, by name, then what explains it.
    """

    actions: tuple[int, ...]
    numbers: dict[str, float]


@dataclass
class World:
    """One world, as the solver takes it."""

    variant: Variant
    record: np.ndarray
    hidden_known: bool = True


class PlanningAgent(ABC):
    """Plays plans up to the next reveal.

    What is planned depends on nothing but the seed, the observation and the mask. A plan once
    chosen is kept to, as long as the masks allow.

    Args:
        variant: The game, or its key.
        seed: For the worlds.
    """

    def __init__(self, variant: str | Variant, seed: int = 0) -> None:
        self.variant = get_variant(variant)
        self._rules = compile_rules(self.variant)
        self._salt = str(seed).encode()
        self._kept: dict[bytes, int] = {}

    @abstractmethod
    def plans(self, view: Game, action_mask: np.ndarray, choosing: bool) -> list[Plan]:
        """Returns plans, the best first; at least one.

        Args:
            view: What the player sees; where the hidden cards lie in its record means nothing.
            action_mask: int8, shape (417,): the moves that a plan may begin with.
            choosing: Only the first plan matters; where there is but one it need not be judged.
        """

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        """Chooses an action for each position.

        Args:
            observations: int8, shape (n, 52, 3).
            action_masks: int8 or bool, shape (n, 417).

        Returns:
            int64, shape (n,).

        Raises:
            AgentError: The arrays have other shapes, or a mask allows nothing.
            BoardError: No game of the variant shows such an observation.
        """
        seen, masks = check_input(observations, action_masks)
        if len(masks) and not masks.any(axis=1).all():
            number = int(masks.any(axis=1).argmin())
            raise AgentError(f"the action mask of position {number} allows no action")
        games = zip(seen, masks, strict=True)
        return np.array([self._choose(view, mask) for view, mask in games], np.int64)

    def rank(self, observation: np.ndarray, action_mask: np.ndarray) -> list[RankedMove]:
        """Ranks the moves by the best plan that begins with each, whatever was planned before.

        The numbers are those of the plan, and its moves; none for a move that no plan begins with.
        """
        (seen,), (mask,) = check_input(observation[np.newaxis], action_mask[np.newaxis])
        numbers: dict[int, dict[str, float]] = {}
        for plan in self.plans(self._view(seen, mask), mask, choosing=False):
            about = {**plan.numbers, "plan moves": len(plan.actions)}
            numbers.setdefault(plan.actions[0], about)
        for action in np.flatnonzero(mask).tolist():
            numbers.setdefault(action, {})
        return [RankedMove(action, about) for action, about in numbers.items()]

    def _choose(self, seen: np.ndarray, mask: np.ndarray) -> int:
        action = self._kept.get(seen.tobytes(), NO_MOVE)
        if action == NO_MOVE or not mask[action]:
            view = self._view(seen, mask)
            plan = self.plans(view, mask, choosing=True)[0]
            self._keep(view.record, plan)
            action = plan.actions[0]
        return action

    def _view(self, seen: np.ndarray, mask: np.ndarray) -> Game:
        return Game.from_observation(self.variant, seen.reshape(N_CARDS, ROW), mask)

    def _keep(self, game: np.ndarray, plan: Plan) -> None:
        for action, following in zip(plan.actions, plan.actions[1:], strict=False):
            game = play(game, self._rules, action)
            self._kept[observe(game).tobytes()] = following
        while len(self._kept) > MAX_KEPT:
            del self._kept[next(iter(self._kept))]

    def draw_word(self, view: Game, mask: np.ndarray) -> int:
        """A 64-bit word that the seed and what the player sees decide."""
        known = observe(view.record).tobytes() + mask.tobytes()
        return int.from_bytes(blake2b(self._salt + known, digest_size=8).digest(), "little")


def play(game: np.ndarray, rules: np.ndarray, action: int) -> np.ndarray:
    """Returns the game (GAME, shape (1,)) after a move."""
    after = game.copy()
    play_games(after, rules, np.array([action]), ONE)
    return after


def observe(game: np.ndarray) -> np.ndarray:
    """What is seen of a game (GAME, shape (1,)): int8, shape (156,)."""
    return game["seen"][0, : ROW * N_CARDS]


def mask_of(game: np.ndarray) -> np.ndarray:
    """The legal moves: int8, shape (417,); all zeros when the game is over."""
    mask = np.zeros(N_ACTIONS, np.int8)
    mask[game["legal"][0, : game["n_legal"][0]]] = 1
    return mask


def count_unknown(game: np.ndarray) -> int:
    """How many cards a player cannot place; a reveal makes them fewer."""
    return int(np.count_nonzero(observe(game)[ZONE::ROW] == HIDDEN))
