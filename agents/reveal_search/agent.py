"""The player that searches for the best reveal."""

import math
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from agents.errors import AgentError
from agents.greedy import WEIGHTS
from agents.planning import Plan, PlanningAgent, World, count_unknown
from agents.reveal_search.candidates import SEEN, new_candidates
from agents.reveal_search.judging import estimate
from agents.reveal_search.room import MAX_STATES, lore_of, new_room
from agents.reveal_search.search import search_plans
from agents.reveal_search.value import Network, no_network, read_network
from yukon_env.game import Game
from yukon_env.solver import Verdict, solve
from yukon_env.variants import Variant

# States for the solution of a game in which no card is unknown.
SOLVE_STATES = 200_000


@dataclass(frozen=True)
class Settings:
    """How much is thought about a reveal.

    Attributes:
        solved: Worlds to solve for a plan.
        states: Positions that the solver may store in one world.
        orders: Orders in which the solver tries moves, in turn: few make few plans, and cost
            less to judge. 0: another order in every world.
        options: Of all reveals that can be reached, so many of the highest value are plans, too.
        worlds: Worlds in which every plan is played out.
        finalists: Plans that are played out in more.
        more: Worlds in which these are.
        weight: Worlds that the learned value counts for.
    """

    solved: int = 8
    states: int = 300
    orders: int = 0
    options: int = 0
    worlds: int = 8
    finalists: int = 4
    more: int = 16
    weight: float = 16.0

    def __post_init__(self) -> None:
        for field in fields(self):
            if not 0 <= getattr(self, field.name) < 1e6:
                raise AgentError(f"{field.name} is at least 0 and less than a million")
        if not 0 < self.states <= MAX_STATES:
            raise AgentError(f"states is from 1 to {MAX_STATES}")


def network_file(variant: Variant) -> Path:
    """Returns where the learned value of a variant lies."""
    return WEIGHTS / f"value-{variant.key}.npz"


class RevealSearchAgent(PlanningAgent):
    """Plays, up to the next reveal, the plan that does best in sampled worlds.

    Args:
        variant: The game, or its key.
        settings: How much is thought about a reveal.
        seed: For the worlds.
        network: The learned value; None reads the variant's, and where there is none, only the
            worlds count.
    """

    def __init__(
        self,
        variant: str | Variant,
        settings: Settings | None = None,
        seed: int = 0,
        network: Network | None = None,
    ) -> None:
        super().__init__(variant, seed)
        self.settings = settings or Settings()
        path = network_file(self.variant)
        if network is None and path.exists():
            network = read_network(path)
        self._weight = 0.0 if network is None else float(self.settings.weight)
        self._lore = lore_of(self.variant, network or no_network())
        self._room = new_room()
        self._candidates = new_candidates()

    def plans(self, view: Game, action_mask: np.ndarray, choosing: bool) -> list[Plan]:
        """Returns the plans that are thought of, the best first.

        Their numbers are the estimate, the share of sampled worlds won, how many of these were
        tried, and the learned value.
        """
        certain = count_unknown(view.record) <= 1
        plans = self._solve(view, action_mask) if certain else self._search(view, action_mask)
        # No way to a reveal was found, and with `options` there is none: any move will do.
        return plans or [Plan((int(action_mask.argmax()),), {"estimate": 0.0})]

    def _solve(self, view: Game, action_mask: np.ndarray) -> list[Plan]:
        """The solver's win; there is no hidden card but one, and so no doubt which it is."""
        result = solve(World(self.variant, view.record), max_states=SOLVE_STATES)
        if result.verdict == Verdict.WINNABLE and action_mask[result.moves[0]]:
            return [Plan(result.moves, {"estimate": 1.0})]
        return []

    def _search(self, view: Game, action_mask: np.ndarray) -> list[Plan]:
        settings, room = self.settings, self._room
        room.games[SEEN : SEEN + 1] = view.record
        room.reach.allowed[:] = action_mask != 0
        n = search_plans(
            room, self._lore, self._candidates, np.uint64(self.draw_word(view, action_mask)),
            settings.solved, settings.states, settings.orders, settings.options,
            self._weight, settings.worlds, settings.finalists, settings.more,
        )  # fmt: skip
        return [self._plan(int(index)) for index in room.order[:n]]

    def _plan(self, index: int) -> Plan:
        found = self._candidates
        actions = found.moves[index, : found.lengths[index]].tolist()
        n_worlds = int(found.worlds[index])
        numbers = {
            "estimate": float(estimate(found, index, self._weight)),
            "won": int(found.wins[index]) / n_worlds if n_worlds else math.nan,
            "worlds": n_worlds,
        }
        if self._weight:
            numbers["value"] = float(found.values[index])
        return Plan(tuple(actions), numbers)
