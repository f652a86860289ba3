"""What is to be imitated: decisions of the solver, its verdicts, and decisions of any agent.

A decision is a position as a player sees it, the moves that were offered, and those that would
have been right. The solver chooses with every card in view, and so do its verdicts; an agent sees
what a player sees. All keep to the protocol of `yukon_env.evaluation`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from agents.files import write_whole
from agents.networks import Network, Rulebook
from agents.policy import ILLEGAL
from agents.symmetry import rename_at_random
from agents.verdicts import MEMORY, safe_moves
from yukon_env.cards import N_CARDS
from yukon_env.deals import deck_of_deal
from yukon_env.engine.batch import observe_games
from yukon_env.engine.moves import deal_games, play_games
from yukon_env.engine.repeats import Repeats
from yukon_env.engine.state import N_ACTIONS, ROW, compile_rules, new_games
from yukon_env.evaluation import FAIR, MAX_MOVES, Agent, evaluate
from yukon_env.game import Game
from yukon_env.solver.api import solve_deal
from yukon_env.variants import Variant


@dataclass(frozen=True)
class Decisions:
    """Decisions of one variant, or of several.

    Attributes:
        observations: int8, shape (n, 52, 3).
        masks: bool, shape (n, 417): the moves that were offered.
        choices: bool, shape (n, 417): those of them that were right, one or more.
    """

    observations: np.ndarray
    masks: np.ndarray
    choices: np.ndarray

    @classmethod
    def of(cls, parts: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> "Decisions":
        """Joins batches of decisions, none or more."""
        nothing = np.empty((0, N_CARDS, ROW), np.int8), *np.empty((2, 0, N_ACTIONS), np.bool_)
        return cls(*(np.concatenate(arrays) for arrays in zip(nothing, *parts, strict=True)))

    @classmethod
    def join(cls, parts: Sequence["Decisions"]) -> "Decisions":
        """Joins decisions, one after the other."""
        return cls.of([(part.observations, part.masks, part.choices) for part in parts])

    def __len__(self) -> int:
        return len(self.observations)

    def __getitem__(self, rows: np.ndarray) -> "Decisions":
        return Decisions(self.observations[rows], self.masks[rows], self.choices[rows])

    def telling(self) -> "Decisions":
        """Those that tell something: not all moves were right, nor all wrong."""
        right = self.choices.sum(axis=1)
        return self[(right > 0) & (right < self.masks.sum(axis=1))]

    def renamed(self, symmetries: np.ndarray, rng: np.random.Generator) -> "Decisions":
        """The same decisions under other names of suits and columns (see `agents.symmetry`)."""
        both = np.stack((self.masks, self.choices), axis=2)
        observations, both = rename_at_random(self.observations, both, symmetries, rng)
        return Decisions(observations, both[:, :, 0], both[:, :, 1])

    def save(self, path: Path) -> None:
        """Writes one file, whole or not at all."""
        masks, choices = (np.packbits(moves, axis=1) for moves in (self.masks, self.choices))
        write_whole(
            path,
            lambda file: np.savez(
                file, observations=self.observations, masks=masks, choices=choices
            ),
        )

    @classmethod
    def load(cls, path: Path) -> "Decisions":
        """Reads the file that `save` wrote."""
        with np.load(path) as file:
            moves = (
                np.unpackbits(file[name], axis=1, count=N_ACTIONS).view(np.bool_)
                for name in ("masks", "choices")
            )
            return cls(file["observations"], *moves)


def _only(actions: np.ndarray) -> np.ndarray:
    """The sets, bool (n, 417), that hold one action each, int64 (n,)."""
    return np.arange(N_ACTIONS) == actions[:, np.newaxis]


class _Recorder:
    """An agent that notes what another one decides."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self.decisions: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        actions = np.asarray(self._agent.act(observations, action_masks))
        self.decisions.append((observations.copy(), action_masks != 0, _only(actions)))
        return actions


def teacher_decisions(teacher: Agent, variant: Variant, deals: np.ndarray) -> Decisions:
    """Lets an agent play deals, and returns what it decided."""
    recorder = _Recorder(teacher)
    evaluate(recorder, variant, deals)
    return Decisions.of(recorder.decisions).telling()


def solver_decisions(variant: Variant, deals: np.ndarray, max_states: int) -> Decisions:
    """Plays the solver's wins, and returns the moves as decisions.

    Args:
        variant: The game.
        deals: Deal numbers; those that the solver does not win give no decisions.
        max_states: Positions that it may visit for each deal.
    """
    rows = []
    for deal in deals.tolist():
        game = Game(variant, deal=deal)
        for action in solve_deal(variant, deal, max_states=max_states, memory=MEMORY).moves:
            mask = game.action_mask() != 0
            rows.append((game.observation()[None], mask[None], _only(np.array([action]))))
            game.play(action)
    return Decisions.of(rows).telling()


def judged_decisions(
    player: Agent, variant: Variant, deals: np.ndarray, max_states: int
) -> Decisions:
    """Lets an agent play deals until they are won or lost, and returns the right moves.

    Right is every move after which the solver still finds a win. So each position tells of all
    its moves, not of one alone; and the positions are those that the player comes to.

    Args:
        player: The agent.
        variant: The game.
        deals: Deal numbers; those that cannot be won give no decisions.
        max_states: Positions that the solver may visit after each move.
    """
    n, rules = len(deals), compile_rules(variant)
    games, repeats, in_play = new_games(n), Repeats(n), np.ones(n, np.bool_)
    deal_games(games, rules, np.stack([deck_of_deal(deal) for deal in deals.tolist()]), in_play)
    observations = np.empty((n, N_CARDS * ROW), np.int8)
    masks = np.empty((n, N_ACTIONS), np.int8)
    actions = np.zeros(n, np.int64)
    parts = []
    for _ in range(MAX_MOVES):
        observe_games(games, FAIR, observations, masks, in_play)
        in_play &= ~repeats.forbid(games, rules, masks) & (games["n_legal"] > 0)
        if not in_play.any():
            break
        seen, offered = observations[in_play].reshape(-1, N_CARDS, ROW), masks[in_play] != 0
        right = safe_moves(variant, games[in_play], offered, max_states)
        parts.append((seen, offered, right))
        actions[in_play] = player.act(seen, offered)
        in_play[in_play] = right[np.arange(len(right)), actions[in_play]]
        play_games(games, rules, actions, in_play)
    return Decisions.of(parts).telling()


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
        The log probabilities of a right move, float32 (n,), and whether the likeliest is one,
        bool (n,).
    """
    seen = network.describe(decisions.observations, decisions.masks, book, which)
    table = seen.offers.in_slots(network(seen)[0], ILLEGAL).log_softmax(dim=1)
    offers = seen.offers
    chosen = torch.from_numpy(decisions.choices)[offers.positions, offers.actions]
    right = offers.in_slots(chosen, False)
    met = right.gather(1, table.argmax(dim=1, keepdim=True)).squeeze(1)
    return table.masked_fill(~right, ILLEGAL).logsumexp(dim=1), met
