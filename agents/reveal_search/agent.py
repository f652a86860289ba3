"""The player that searches for the best reveal."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from agents.greedy import WEIGHTS, GreedyAgent
from agents.planning import Plan, PlanningAgent, World, count_unknown, mask_of, observe, play
from agents.reveal_search.candidates import SEEN, new_candidates
from agents.reveal_search.judging import estimate
from agents.reveal_search.room import lore_of, new_room
from agents.reveal_search.search import search_plans
from agents.reveal_search.settings import Settings, default_settings
from agents.reveal_search.value import Network, no_network, read_network
from yukon_env.cards import N_CARDS
from yukon_env.engine.repeats import Repeats
from yukon_env.engine.state import ROW
from yukon_env.evaluation import MAX_MOVES
from yukon_env.game import Game
from yukon_env.solver import Verdict, solve
from yukon_env.variants import Variant

# States for the solution of a game in which no card is unknown.
SOLVE_STATES = 200_000


def network_file(variant: Variant) -> Path:
    """Returns where the learned value of a variant lies."""
    return WEIGHTS / f"value-{variant.key}.npz"


class RevealSearchAgent(PlanningAgent):
    """Plays, up to the next reveal, the plan that does best in sampled worlds.

    Args:
        variant: The game, or its key.
        settings: How much is thought about a reveal; None: as `default_settings` says.
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
        self.settings = settings or default_settings(self.variant)
        path = network_file(self.variant)
        if network is None and path.exists():
            network = read_network(path)
        if network is None:
            self.settings = replace(self.settings, weight=0.0)
        self._effort = self.settings.record()
        self._greedy = GreedyAgent(self.variant)
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
        """A win; there is no hidden card but one, and so no doubt which it is."""
        actions = self._finish(view.record, action_mask)
        if not actions:
            result = solve(World(self.variant, view.record), max_states=SOLVE_STATES)
            if result.verdict == Verdict.WINNABLE and action_mask[result.moves[0]]:
                actions = result.moves
        return [Plan(actions, {"estimate": 1.0})] if actions else []

    def _finish(self, game: np.ndarray, mask: np.ndarray) -> tuple[int, ...]:
        """The greedy player's win, or nothing: the solver's may take hundreds of moves."""
        repeats = Repeats(1)
        actions: list[int] = []
        repeats.forbid(game, self._rules, mask_of(game)[np.newaxis])
        while mask.any() and len(actions) < MAX_MOVES:
            seen = observe(game).reshape(1, N_CARDS, ROW)
            actions.append(int(self._greedy.act(seen, mask[np.newaxis])[0]))
            game = play(game, self._rules, actions[-1])
            if game["up"].sum() == N_CARDS:
                return tuple(actions)
            mask = mask_of(game)
            repeats.forbid(game, self._rules, mask[np.newaxis])
        return ()

    def _search(self, view: Game, action_mask: np.ndarray) -> list[Plan]:
        room = self._room
        room.games[SEEN : SEEN + 1] = view.record
        room.reach.allowed[:] = action_mask != 0
        word = np.uint64(self.draw_word(view, action_mask))
        n = search_plans(room, self._lore, self._candidates, word, self._effort)
        return [self._plan(int(index)) for index in room.order[:n]]

    def _plan(self, index: int) -> Plan:
        found = self._candidates
        actions = found.moves[index, : found.lengths[index]].tolist()
        n_worlds = int(found.worlds[index])
        numbers = {
            "estimate": float(estimate(found, index, self.settings.weight)),
            "won": float(found.wins[index]) / n_worlds if n_worlds else math.nan,
            "worlds": n_worlds,
        }
        if self.settings.weight:
            numbers["value"] = float(found.values[index])
        return Plan(tuple(actions), numbers)
