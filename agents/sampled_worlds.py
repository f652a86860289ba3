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
from hashlib import blake2b

import numpy as np

from agents.errors import AgentError
from agents.greedy import (
    NO_MOVE,
    GreedyAgent,
    Scratch,
    play_to_the_end,
)
from agents.ranking import RankedMove
from agents.view import check_input, relations_of
from yukon_env.cards import N_CARDS
from yukon_env.engine.compiling import kernel
from yukon_env.engine.moves import is_won, play_games
from yukon_env.engine.state import (
    DEAL,
    FOUNDATION,
    GAME,
    HIDDEN,
    N_ACTIONS,
    N_DESTINATIONS,
    ROW,
    ZONE,
    compile_rules,
)
from yukon_env.engine.tables import shuffle_hidden
from yukon_env.evaluation import MAX_MOVES
from yukon_env.game import Game
from yukon_env.solver import Result, Verdict, solve
from yukon_env.variants import Variant, get_variant

JUDGES = ("greedy", "solver", "votes")
ONE = np.ones(1, np.bool_)
# Worlds that all plans are judged in before the clock is looked at.
BATCH = 8
# What tells reveals apart: the key of the position before, the card that moves, and where to.
Reveal = tuple[int, tuple[int, int]]
# Positions of plans that are remembered, at some 400 bytes.
MAX_KEPT = 1 << 16


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
class Plan:
    """Moves up to the next reveal.

    Attributes:
        actions: The moves.
        seen: What is seen before each of them: int8, shape (156,).
        votes: Solved worlds whose solution comes to the same reveal.
        won: Share of the worlds that can be won after it, as far as the judge can tell.
    """

    actions: tuple[int, ...]
    seen: tuple[np.ndarray, ...]
    votes: int = 0
    won: float = 0.0


@dataclass
class World:
    """One world, as the solver takes it."""

    variant: Variant
    record: np.ndarray
    hidden_known: bool = True


class SampledWorldsAgent:
    """Plays, up to the next reveal, the plan that wins most sampled worlds.

    The worlds depend on nothing but the seed, the observation and the mask. A plan once chosen is
    kept to, as long as the masks allow.

    Args:
        variant: The game, or its key.
        settings: How much is thought about a move.
        seed: For the worlds.
    """

    def __init__(
        self, variant: str | Variant, settings: Settings | None = None, seed: int = 0
    ) -> None:
        self.variant = get_variant(variant)
        self.settings = settings or Settings()
        self._salt = str(seed).encode()
        self._rules = compile_rules(self.variant)
        self._greedy = GreedyAgent(self.variant)
        scratch = Scratch()
        # What the greedy kernel takes after the rules.
        self._greedy_arrays = (
            relations_of(self._rules), self._greedy.weights,
            scratch.view, scratch.row, scratch.legal, scratch.scores,
        )  # fmt: skip
        self._kept: dict[bytes, int] = {}

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

        Numbers: the share of the worlds that can be won after the plan, the solutions that begin
        with it, and its moves; none for a move that no plan begins with.
        """
        (seen,), (mask,) = check_input(observation[np.newaxis], action_mask[np.newaxis])
        numbers: dict[int, dict[str, float]] = {}
        for plan in self._plans(seen, mask, choosing=False):
            about = {"won": plan.won, "votes": plan.votes, "plan moves": len(plan.actions)}
            numbers.setdefault(plan.actions[0], about)
        for action in np.flatnonzero(mask).tolist():
            numbers.setdefault(action, {})
        return [RankedMove(action, about) for action, about in numbers.items()]

    def _choose(self, seen: np.ndarray, mask: np.ndarray) -> int:
        action = self._kept.get(seen.tobytes(), NO_MOVE)
        if action == NO_MOVE or not mask[action]:
            plan = self._plans(seen, mask, choosing=True)[0]
            self._keep(plan)
            action = plan.actions[0]
        return action

    def _keep(self, plan: Plan) -> None:
        for seen, action in zip(plan.seen[1:], plan.actions[1:], strict=True):
            self._kept[seen.tobytes()] = action
        while len(self._kept) > MAX_KEPT:
            del self._kept[next(iter(self._kept))]

    def _plans(self, seen: np.ndarray, mask: np.ndarray, choosing: bool) -> list[Plan]:
        """Returns the plans, the best first; where there is but one to choose it is not judged."""
        limit = self.settings.seconds or math.inf
        start = time.perf_counter()
        worlds = self._sample(seen, mask)
        plans = self._propose(worlds, mask, start + limit / 2)
        if (
            len(worlds) > 1
            and self.settings.judge != "votes"
            and not (choosing and len(plans) == 1)
        ):
            self._judge(plans, worlds, start + limit)
        return sorted(plans, key=lambda plan: (-plan.won, -plan.votes))

    def _sample(self, seen: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Draws worlds: GAME, shape (n,). With one unknown card, or none, there is only one."""
        view = Game.from_observation(self.variant, seen.reshape(N_CARDS, ROW), mask)
        n_unknown = np.count_nonzero(seen[ZONE::ROW] == HIDDEN)
        worlds = np.repeat(view.record, self.settings.worlds if n_unknown > 1 else 1)
        digest = blake2b(self._salt + seen.tobytes() + mask.tobytes(), digest_size=8).digest()
        shuffle_hidden(worlds, np.array([int.from_bytes(digest, "little")], np.uint64))
        return worlds

    def _propose(self, worlds: np.ndarray, mask: np.ndarray, deadline: float) -> list[Plan]:
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

    def _judge(self, plans: list[Plan], worlds: np.ndarray, deadline: float) -> None:
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

    def _count_wins(self, plan: Plan, worlds: np.ndarray, deadline: float) -> int:
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
            after = self._play(game, action)
            if key_of(after) not in keys:
                keys.add(key_of(after))
                actions.append(action)
                game, allowed = after, mask_of(after)
        return actions

    def _cut(self, world: np.ndarray, actions: Sequence[int]) -> tuple[Reveal, Plan]:
        """Cuts moves off after the first reveal; returns what tells reveals apart, and the plan."""
        game, seen = world, []
        for action in actions:
            before = game
            seen.append(observe(before))
            game = self._play(before, action)
            if count_unknown(game) < count_unknown(world):
                break
        reveal = key_of(before), name_move(before, action)
        return reveal, Plan(tuple(actions[: len(seen)]), tuple(seen))

    def _play(self, game: np.ndarray, action: int) -> np.ndarray:
        after = game.copy()
        play_games(after, self._rules, np.array([action]), ONE)
        return after


def observe(game: np.ndarray) -> np.ndarray:
    """What is seen of a game (GAME, shape (1,)): int8, shape (156,)."""
    return game["seen"][0, : ROW * N_CARDS]


def mask_of(game: np.ndarray) -> np.ndarray:
    """The legal moves: int8, shape (417,); all zeros when the game is over."""
    mask = np.zeros(N_ACTIONS, np.int8)
    mask[game["legal"][0, : game["n_legal"][0]]] = 1
    return mask


def key_of(game: np.ndarray) -> int:
    """The position key of a game."""
    return int(game["key"][0])


def count_unknown(game: np.ndarray) -> int:
    """How many cards a player cannot place; a reveal makes them fewer."""
    return int(np.count_nonzero(observe(game)[ZONE::ROW] == HIDDEN))


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
