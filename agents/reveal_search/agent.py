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

        Their numbers are the estimate, and where worlds were sampled, the share of them won, how
        many were tried, and the learned value.
        """
        if count_unknown(view.record) <= 1:
            return [self._finish(view, action_mask)]
        # Where no way to a reveal was found (with `options` there is none), one move at a time.
        return self._search(view, action_mask) or [
            Plan((self._greedy_move(view.record, action_mask),), {"estimate": 0.0})
        ]

    def _finish(self, view: Game, action_mask: np.ndarray) -> Plan:
        """The rest of the game; there is no hidden card but one, and so no doubt which it is.

        The greedy player's win, since the solver's may take hundreds of moves; else the solver's;
        and if nobody is known to win, what the greedy player would do.
        """
        actions, won = self._play_greedily(view, action_mask)
        if not won:
            result = solve(World(self.variant, view.record), max_states=SOLVE_STATES)
            if result.verdict == Verdict.WINNABLE and action_mask[result.moves[0]]:
                actions, won = result.moves, True
        return Plan(actions, {"estimate": float(won)})

    def _play_greedily(self, view: Game, mask: np.ndarray) -> tuple[tuple[int, ...], bool]:
        """What the greedy player does to the end, entering no position twice; whether he wins."""
        game, repeats = view.record, Repeats(1)
        actions: list[int] = []
        # Notes where the moves begin; what the first may be is for the given mask to say.
        repeats.forbid(game, self._rules, mask_of(game)[np.newaxis])
        while mask.any() and len(actions) < MAX_MOVES:
            actions.append(self._greedy_move(game, mask))
            game = play(game, self._rules, actions[-1])
            mask = mask_of(game)
            repeats.forbid(game, self._rules, mask[np.newaxis])
        return tuple(actions), Game.of_record(self.variant, game).won

    def _greedy_move(self, game: np.ndarray, mask: np.ndarray) -> int:
        seen = observe(game).reshape(1, N_CARDS, ROW)
        return int(self._greedy.act(seen, mask[np.newaxis])[0])

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
            "won": int(found.wins[index]) / n_worlds if n_worlds else math.nan,
            "worlds": n_worlds,
        }
        if self.settings.weight:
            numbers["value"] = float(found.values[index])
        return Plan(tuple(actions), numbers)
