"""What is measured on a deal. Each measure gives some columns, and can be had without the others.

A measure is data: it travels to the process or machine that does the work. What it gives depends
on nothing but itself, the variant and the chunk of deals, except for the columns of seconds.
"""

from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np

import agents
from experiments.difficulty.figures import describe_deals
from experiments.difficulty.schema import AGENT, FIGURES, LOST_AT, SOLVER, Column
from yukon_env import Game
from yukon_env.evaluation import Evaluation, evaluate
from yukon_env.solver import Verdict, solve
from yukon_env.solver.api import solve_deal
from yukon_env.variants import Variant

UNDECIDED = -1


class Measure(Protocol):
    """Something that can be measured on the deals of a variant."""

    @property
    def name(self) -> str:
        """A name that no other measure of the variant has."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns it gives, in full names."""

    def settings(self) -> dict[str, Any]:
        """All that decides what it gives, for JSON."""

    def measure(self, variant: Variant, deals: range) -> dict[str, Any]:
        """Measures a chunk of deals; a sequence of n values per column."""


@dataclass(frozen=True)
class Figures:
    """The descriptive figures of the deals."""

    name = "figures"
    columns = FIGURES

    def settings(self) -> dict[str, Any]:
        """Nothing: there is one way to count."""
        return {}

    def measure(self, variant: Variant, deals: range) -> dict[str, Any]:
        """Counts the figures."""
        return describe_deals(variant, deals)


@dataclass(frozen=True)
class Solver:
    """The solver's verdict, all cards seen.

    Attributes:
        max_states: Positions it may visit on a deal.
    """

    max_states: int
    name = "solver"
    columns = SOLVER

    def settings(self) -> dict[str, Any]:
        """The limit."""
        return asdict(self)

    def measure(self, variant: Variant, deals: range) -> dict[str, Any]:
        """Solves the deals."""
        _warm_up(variant)
        results = [solve_deal(variant, deal, max_states=self.max_states) for deal in deals]
        return {
            "solver_verdict": [str(result.verdict) for result in results],
            "solver_states": [result.states for result in results],
            "solver_stage": [result.stage for result in results],
            "solver_length": [len(result.moves) or None for result in results],
            "solver_seconds": [result.seconds for result in results],
        }


@cache
def _warm_up(variant: Variant) -> None:
    """Compiles, or loads what was compiled, so that no deal's seconds hold that."""
    for deal in range(5):
        solve_deal(variant, deal, max_states=2_000)


@dataclass(frozen=True)
class Player:
    """What an agent does, hidden cards hidden.

    The games of a chunk are played together, by an agent made anew whose seed is the chunk's
    first deal number.

    Attributes:
        label: What its columns are called.
        agent: Its name for `agents.load`.
        max_moves: Moves after which a game is cut.
        lost_at: States that the solver may visit on a position to find where the game became
            unwinnable; 0 to leave that out.
    """

    label: str
    agent: str
    max_moves: int
    lost_at: int

    @property
    def name(self) -> str:
        """The label."""
        return f"agent-{self.label}"

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of an agent, with its label before them."""
        columns = (*AGENT, LOST_AT) if self.lost_at else AGENT
        return tuple(
            Column(self.label + column.name, column.type, f"{self.agent}: {column.text}")
            for column in columns
        )

    def settings(self) -> dict[str, Any]:
        """All of it."""
        return asdict(self)

    def measure(self, variant: Variant, deals: range) -> dict[str, Any]:
        """Plays the deals."""
        _warm_up_agent(self.agent, variant)
        recorder = _Recorder(agents.load(self.agent, seed=deals.start))
        result = evaluate(recorder, variant, deals, max_moves=self.max_moves, batch_size=len(deals))
        columns: dict[str, Any] = {
            "_won": result.won,
            "_moves": result.moves,
            "_cards_up": result.cards_up,
            "_hidden": result.hidden,
            "_ending": result.ending.tolist(),
            "_seconds": np.full(len(deals), result.seconds / len(deals)),
        }
        if self.lost_at:
            lines = recorder.lines(result)
            columns["_lost_at"] = [
                None if won else moves_until_lost(variant, deal, line, self.lost_at)
                for deal, won, line in zip(deals, result.won, lines, strict=True)
            ]
        return {self.label + name: column for name, column in columns.items()}


@cache
def _warm_up_agent(agent: str, variant: Variant) -> None:
    """Plays some moves, so that no game's seconds hold the compiling."""
    evaluate(agents.load(agent), variant, [0], max_moves=5)


class _Recorder:
    """Plays as an agent does, and keeps its actions."""

    def __init__(self, agent: agents.Agent) -> None:
        self._agent = agent
        self._steps: list[np.ndarray] = []

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        """The agent's actions."""
        actions = self._agent.act(observations, action_masks)
        self._steps.append(np.array(actions))
        return actions

    def lines(self, result: Evaluation) -> list[list[int]]:
        """The actions of each game.

        All games began with the first step, so those asked at a step are those that played more
        moves, in order.
        """
        lines: list[list[int]] = [[] for _ in result.deals]
        for number, actions in enumerate(self._steps):
            playing = np.flatnonzero(result.moves > number)
            for game, action in zip(playing, actions, strict=True):
                lines[game].append(int(action))
        return lines


def moves_until_lost(variant: Variant, deal: int, line: list[int], max_states: int) -> int | None:
    """Finds when a game became unwinnable, all cards seen.

    A game that cannot be won stays so, whatever is played; so the solver is asked at the end, at
    the start, and then halfway between a position that can be won and one that cannot.

    Args:
        variant: The game.
        deal: The deal number.
        line: The actions that were played.
        max_states: Positions that the solver may visit at each question.

    Returns:
        After how many moves it could not be won any more; None if it could to the end, UNDECIDED
        if the solver left a question open.
    """
    game = Game(variant, deal=deal)
    positions = [game.copy()]
    for action in line:
        game.play(action)
        positions.append(Game.of_record(variant, game.record))

    def verdict(move: int) -> Verdict:
        return solve(positions[move], max_states=max_states).verdict

    verdicts = {move: verdict(move) for move in (0, len(line))}
    if verdicts[len(line)] == Verdict.WINNABLE:
        return None
    if verdicts[0] == Verdict.UNWINNABLE:
        return 0
    alive, lost = 0, len(line)
    while Verdict.UNKNOWN not in verdicts.values() and lost - alive > 1:
        middle = (alive + lost) // 2
        verdicts[middle] = verdict(middle)
        if verdicts[middle] == Verdict.WINNABLE:
            alive = middle
        else:
            lost = middle
    return UNDECIDED if Verdict.UNKNOWN in verdicts.values() else lost
