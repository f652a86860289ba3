"""What others played, to be imitated: decisions of the solver and of any agent.

A decision is a position as a player sees it, the moves that were offered, and the one that was
chosen. The solver chooses with every card in view; an agent sees what a player sees, by the
protocol of `yukon_env.evaluation`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from agents.networks import Network, Rulebook
from agents.policy import ILLEGAL
from agents.verdicts import MEMORY
from yukon_env.cards import N_CARDS
from yukon_env.engine.state import N_ACTIONS, ROW
from yukon_env.evaluation import Agent, evaluate
from yukon_env.game import Game
from yukon_env.solver.api import solve_deal
from yukon_env.variants import Variant


@dataclass(frozen=True)
class Decisions:
    """Decisions of one variant.

    Attributes:
        observations: int8, shape (n, 52, 3).
        masks: bool, shape (n, 417): the moves that were offered.
        actions: int64, shape (n,): the one that was chosen.
    """

    observations: np.ndarray
    masks: np.ndarray
    actions: np.ndarray

    @classmethod
    def of(
        cls,
        observations: Sequence[np.ndarray],
        masks: Sequence[np.ndarray],
        actions: Sequence[np.ndarray],
    ) -> "Decisions":
        """Joins batches of decisions, none or more."""
        return cls(
            np.concatenate([np.empty((0, N_CARDS, ROW), np.int8), *observations]),
            np.concatenate([np.empty((0, N_ACTIONS), np.bool_), *masks]),
            np.concatenate([np.empty(0, np.int64), *actions]),
        )

    @classmethod
    def join(cls, parts: Sequence["Decisions"]) -> "Decisions":
        """Joins decisions, one after the other."""
        columns = ([getattr(part, field.name) for part in parts] for field in fields(cls))
        return cls.of(*columns)

    def __len__(self) -> int:
        return len(self.actions)

    def __getitem__(self, rows: np.ndarray) -> "Decisions":
        return Decisions(self.observations[rows], self.masks[rows], self.actions[rows])

    def save(self, path: Path) -> None:
        """Writes one file, whole or not at all."""
        unfinished = path.with_suffix(".part.npz")
        bits = np.packbits(self.masks, axis=1)
        np.savez(unfinished, observations=self.observations, masks=bits, actions=self.actions)
        unfinished.replace(path)

    @classmethod
    def load(cls, path: Path) -> "Decisions":
        """Reads the file that `save` wrote."""
        with np.load(path) as file:
            masks = np.unpackbits(file["masks"], axis=1, count=N_ACTIONS).view(np.bool_)
            return cls(file["observations"], masks, file["actions"])


class _Recorder:
    """An agent that notes what another one decides."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self.observations: list[np.ndarray] = []
        self.masks: list[np.ndarray] = []
        self.actions: list[np.ndarray] = []

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        actions = self._agent.act(observations, action_masks)
        self.observations.append(observations.copy())
        self.masks.append(action_masks != 0)
        self.actions.append(np.asarray(actions, np.int64))
        return actions


def teacher_decisions(teacher: Agent, variant: Variant, deals: np.ndarray) -> Decisions:
    """Lets an agent play deals by the evaluator's protocol and returns what it decided.

    Decisions that were none, with one move on offer, are left out.
    """
    recorder = _Recorder(teacher)
    evaluate(recorder, variant, deals)
    decisions = Decisions.of(recorder.observations, recorder.masks, recorder.actions)
    return decisions[decisions.masks.sum(axis=1) > 1]


def solver_decisions(variant: Variant, deals: np.ndarray, max_states: int) -> Decisions:
    """Plays the solver's wins, and returns the moves as decisions.

    Args:
        variant: The game.
        deals: Deal numbers; those that the solver does not win give no decisions.
        max_states: Positions that it may visit for each deal.
    """
    rows: list[tuple[np.ndarray, np.ndarray, int]] = []
    for deal in deals.tolist():
        game = Game(variant, deal=deal)
        for action in solve_deal(variant, deal, max_states=max_states, memory=MEMORY).moves:
            mask = game.action_mask() != 0
            if mask.sum() > 1:
                rows.append((game.observation(), mask, action))
            game.play(action)
    if not rows:
        return Decisions.of([], [], [])
    observations, masks, actions = zip(*rows, strict=True)
    return Decisions(np.stack(observations), np.stack(masks), np.array(actions, np.int64))


def log_chances(
    network: Network, decisions: Decisions, book: Rulebook, which: np.ndarray
) -> tuple[Tensor, Tensor]:
    """What a network thinks of decisions.

    Args:
        network: The network.
        decisions: n decisions.
        book: The rules.
        which: Integers, shape (n,): the variant of each decision, by its place in `book`.

    Returns:
        The log probabilities of the chosen moves, float32 (n,), and whether they are the
        likeliest, bool (n,).
    """
    seen = network.describe(decisions.observations, decisions.masks, book, which)
    table = seen.offers.in_slots(network(seen)[0], ILLEGAL).log_softmax(dim=1)
    chosen = seen.offers.in_slots(seen.offers.actions, -1) == torch.from_numpy(
        decisions.actions
    ).unsqueeze(1)
    return table[chosen], chosen[torch.arange(len(table)), table.argmax(dim=1)]
