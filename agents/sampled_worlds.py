"""Sampled worlds: guess the hidden cards, solve each guess, play what serves most of them.

A *world* is the game with its hidden cards dealt anew, uniformly, as a player may imagine them. A
*reveal* is a move that turns up a face-down card, or deals an unknown card of the stock. A *plan*
is a line of moves up to the next reveal: it can be played in every world.

Some worlds are solved as if all their cards were seen; the beginning of each solution is a plan,
and what the greedy player would do is one more. Then all plans are played in all worlds, and
judged by how many of these can still be won: as the solver says, who sees every card and so is
too hopeful, or as the greedy player shows, who does not.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agents.errors import AgentError
from agents.greedy import (
    GreedyAgent,
    Scratch,
    play_to_the_end,
)
from agents.planning import Plan, PlanningAgent, World, count_unknown, mask_of, observe, play
from agents.view import relations_of
from yukon_env.cards import N_CARDS
from yukon_env.engine.compiling import kernel
from yukon_env.engine.moves import is_won, play_games
from yukon_env.engine.state import (
    DEAL,
    FOUNDATION,
    GAME,
    N_DESTINATIONS,
    ROW,
)
from yukon_env.engine.tables import shuffle_hidden
from yukon_env.evaluation import MAX_MOVES
from yukon_env.game import Game
from yukon_env.solver import Result, Verdict, solve
from yukon_env.variants import Variant

JUDGES = ("greedy", "solver", "votes")
# Worlds that all plans are judged in before the clock is looked at.
BATCH = 8
# What tells reveals apart: the key of the position before, the card that moves, and where to.
Reveal = tuple[int, tuple[int, int]]


@dataclass(frozen=True)
class Settings:
    """How much is thought about a move.

    Attributes:
        worlds: Worlds in which the plans are compared.
        solved: How many of them are solved for a plan.
        states: Positions that the solver may visit in one world.
        judge: Who says how many worlds can be won after a plan: the greedy player, the solver,
            or nobody (votes): then the plan that most solutions begin with is played.
        seconds: Time for a move, None for no limit; with one, the choice depends on the machine.
    """

    worlds: int = 32
    solved: int = 16
    states: int = 1000
    judge: str = "greedy"
    seconds: float | None = None

    def __post_init__(self) -> None:
        if min(self.solved, self.states) < 1 or self.worlds < self.solved:
            raise AgentError("solved and states are at least 1, worlds at least as many as solved")
        if self.judge not in JUDGES:
            raise AgentError(f"judge is one of {', '.join(JUDGES)}, not {self.judge!r}")
        if self.seconds is not None and not self.seconds > 0:
            raise AgentError(f"seconds is more than 0, not {self.seconds}")


@dataclass
class Draft:
    """A plan that is not judged yet.

    Attributes:
        actions: The moves.
        votes: Solved worlds whose solution comes to the same reveal.
        won: Share of the worlds that can be won after it, as far as the judge can tell.
    """

    actions: tuple[int, ...]
    votes: int = 0
    won: float = 0.0


class SampledWorldsAgent(PlanningAgent):
    """Plays, up to the next reveal, the plan that wins most sampled worlds.

    Args:
        variant: The game, or its key.
        settings: How much is thought about a move.
        seed: For the worlds.
    """

    def __init__(
        self, variant: str | Variant, settings: Settings | None = None, seed: int = 0
    ) -> None:
        super().__init__(variant, seed)
        self.settings = settings or Settings()
        self._greedy = GreedyAgent(self.variant)
        scratch = Scratch()
        # What the greedy kernel takes after the rules.
        self._greedy_arrays = (
            relations_of(self._rules), self._greedy.weights,
            scratch.view, scratch.row, scratch.legal, scratch.scores,
        )  # fmt: skip

    def plans(self, view: Game, action_mask: np.ndarray, choosing: bool) -> list[Plan]:
        """Returns the plans that are thought of, the best first."""
        limit = self.settings.seconds or math.inf
        start = time.perf_counter()
        worlds = self._sample(view, action_mask)
        drafts = self._propose(worlds, action_mask, start + limit / 2)
        if (
            len(worlds) > 1
            and self.settings.judge != "votes"
            and not (choosing and len(drafts) == 1)
        ):
            self._judge(drafts, worlds, start + limit)
        drafts.sort(key=lambda draft: (-draft.won, -draft.votes))
        return [Plan(draft.actions, {"won": draft.won, "votes": draft.votes}) for draft in drafts]

    def _sample(self, view: Game, mask: np.ndarray) -> np.ndarray:
        """Draws worlds: GAME, shape (n,). With one unknown card, or none, there is only one."""
        few = count_unknown(view.record) <= 1
        worlds = np.repeat(view.record, 1 if few else self.settings.worlds)
        shuffle_hidden(worlds, np.array([self.draw_word(view, mask)], np.uint64))
        return worlds

    def _propose(self, worlds: np.ndarray, mask: np.ndarray, deadline: float) -> list[Draft]:
        """Makes plans of what the greedy player does, and of solutions that the mask allows."""
        plans = dict([self._cut(worlds[:1], self._play_greedily(worlds[:1], mask))])
        # One that is the only world has the states of all.
        states = self.settings.states * (self.settings.solved if len(worlds) == 1 else 1)
        for world in np.split(worlds, len(worlds))[: self.settings.solved]:
            moves = self._solve(world, states, deadline).moves
            if moves and mask[moves[0]]:
                reveal, plan = self._cut(world, moves)
                plans.setdefault(reveal, plan).votes += 1
        for plan in plans.values():
            plan.won = plan.votes / min(len(worlds), self.settings.solved)
        return list(plans.values())

    def _judge(self, plans: list[Draft], worlds: np.ndarray, deadline: float) -> None:
        """Counts the worlds that can be won after each plan; in time, the same for all plans."""
        won, tried = np.zeros(len(plans)), 0
        for first in range(0, len(worlds), BATCH):
            batch = worlds[first : first + BATCH]
            won += [self._count_wins(plan, batch, deadline) for plan in plans]
            tried += len(batch)
            if time.perf_counter() > deadline:
                break
        for plan, wins in zip(plans, won, strict=True):
            plan.won = float(wins) / tried

    def _count_wins(self, plan: Draft, worlds: np.ndarray, deadline: float) -> int:
        after, every = worlds.copy(), np.ones(len(worlds), np.bool_)
        for action in plan.actions:
            play_games(after, self._rules, np.full(len(worlds), action), every)
        if self.settings.judge == "greedy":
            games, keys = np.empty(2, GAME), np.empty(MAX_MOVES + 1, np.uint64)
            return _count_greedy_wins(after, self._rules, *self._greedy_arrays, games, keys)
        results = (
            self._solve(world, self.settings.states, deadline)
            for world in np.split(after, len(after))
        )
        return sum(result.verdict == Verdict.WINNABLE for result in results)

    def _solve(self, world: np.ndarray, states: int, deadline: float) -> Result:
        time_left = max(0.0, deadline - time.perf_counter())
        return solve(World(self.variant, world), max_states=states, time_limit=time_left)

    def _play_greedily(self, world: np.ndarray, mask: np.ndarray) -> list[int]:
        """The greedy player's moves up to the next reveal; the first is one the mask allows."""
        game, allowed = world, mask.copy()
        actions: list[int] = []
        keys = {key_of(world)}
        hidden = count_unknown(world)
        while allowed.any() and len(actions) < MAX_MOVES and count_unknown(game) == hidden:
            view = observe(game).reshape(1, N_CARDS, ROW)
            action = int(self._greedy.act(view, allowed[np.newaxis])[0])
            allowed[action] = 0
            after = play(game, self._rules, action)
            if key_of(after) not in keys:
                keys.add(key_of(after))
                actions.append(action)
                game, allowed = after, mask_of(after)
        return actions

    def _cut(self, world: np.ndarray, actions: Sequence[int]) -> tuple[Reveal, Draft]:
        """Cuts moves off after the first reveal; returns what tells reveals apart, and the plan."""
        game, length = world, 0
        while length < len(actions) and count_unknown(game) == count_unknown(world):
            before, game = game, play(game, self._rules, actions[length])
            length += 1
        last = actions[length - 1]
        return (key_of(before), name_move(before, last)), Draft(tuple(actions[:length]))


def key_of(game: np.ndarray) -> int:
    """The position key of a game."""
    return int(game["key"][0])


def name_move(game: np.ndarray, action: int) -> tuple[int, int]:
    """A move's card, and the card it goes to, whatever the order of the columns."""
    card, destination = divmod(action, N_DESTINATIONS)
    is_column = action != DEAL and destination != FOUNDATION
    return card, int(game["end"][0, destination]) if is_column else -1


@kernel
def _count_greedy_wins(worlds, rules, relations, weights, view, row, legal, scores, games, keys):
    """In how many worlds the greedy player wins; `games` and `keys` are to work in."""
    n = 0
    for index in range(len(worlds)):
        games[0] = worlds[index]
        play_to_the_end(games, rules, relations, weights, view, row, legal, scores, keys)
        n += is_won(games[0])
    return n
