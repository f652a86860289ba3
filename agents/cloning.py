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
        played: bool, shape (n, 417): the one that a player who is judged played, if it was right;
            else none.
    """

    observations: np.ndarray
    masks: np.ndarray
    choices: np.ndarray
    played: np.ndarray

    @classmethod
    def of(cls, parts: Sequence[tuple[np.ndarray, ...]]) -> "Decisions":
        """Joins batches of decisions, none or more; each is the four arrays."""
        nothing = np.empty((0, N_CARDS, ROW), np.int8), *np.empty((3, 0, N_ACTIONS), np.bool_)
        return cls(*(np.concatenate(arrays) for arrays in zip(nothing, *parts, strict=True)))

    @classmethod
    def join(cls, parts: Sequence["Decisions"]) -> "Decisions":
        """Joins decisions, one after the other."""
        return cls.of([part._arrays() for part in parts])

    def __len__(self) -> int:
        return len(self.observations)

    def _arrays(self) -> tuple[np.ndarray, ...]:
        return self.observations, self.masks, self.choices, self.played

    def __getitem__(self, rows: np.ndarray) -> "Decisions":
        return Decisions(*(array[rows] for array in self._arrays()))

    def telling(self) -> "Decisions":
        """Those that tell something: there was a choice, and a right one."""
        return self[self.choices.any(axis=1) & (self.masks.sum(axis=1) > 1)]

    def renamed(self, symmetries: np.ndarray, rng: np.random.Generator) -> "Decisions":
        """The same decisions under other names of suits and columns (see `agents.symmetry`)."""
        moves = np.stack((self.masks, self.choices, self.played), axis=2)
        observations, moves = rename_at_random(self.observations, moves, symmetries, rng)
        return Decisions(observations, *np.moveaxis(moves, 2, 0))

    def save(self, path: Path) -> None:
        """Writes one file, whole or not at all."""
        observations, *moves = self._arrays()
        arrays = observations, *(np.packbits(part, axis=1) for part in moves)
        write_whole(path, lambda file: np.savez(file, *arrays))

    @classmethod
    def load(cls, path: Path) -> "Decisions":
        """Reads the file that `save` wrote."""
        with np.load(path) as file:
            observations, *packed = (file[name] for name in file.files)
        moves = (np.unpackbits(bits, axis=1, count=N_ACTIONS).view(np.bool_) for bits in packed)
        return cls(observations, *moves)


def _only(actions: np.ndarray) -> np.ndarray:
    """The sets, bool (n, 417), that hold one action each, int64 (n,)."""
    return np.arange(N_ACTIONS) == actions[:, np.newaxis]


class _Recorder:
    """Plays as `player` does, and notes what `teacher` would have done there."""

    def __init__(self, teacher: Agent, player: Agent) -> None:
        self._teacher = teacher
        self._player = player
        self.decisions: list[tuple[np.ndarray, ...]] = []

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        actions = self._teacher.act(observations, action_masks)
        offered, choices = action_masks != 0, _only(np.asarray(actions))
        self.decisions.append((observations.copy(), offered, choices, np.zeros_like(choices)))
        if self._player is not self._teacher:
            actions = self._player.act(observations, action_masks)
        return actions


def teacher_decisions(
    teacher: Agent, variant: Variant, deals: np.ndarray, player: Agent | None = None
) -> Decisions:
    """Returns what an agent decides in the positions that a player of some deals comes to.

    Args:
        teacher: The agent.
        variant: The game.
        deals: Deal numbers.
        player: Who plays; None for the teacher itself.
    """
    recorder = _Recorder(teacher, player or teacher)
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
            mask, choice = game.action_mask()[np.newaxis] != 0, _only(np.array([action]))
            rows.append((game.observation()[np.newaxis], mask, choice, np.zeros_like(choice)))
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
        actions[in_play] = player.act(seen, offered)
        parts.append((seen, offered, right, right & _only(actions[in_play])))
        in_play[in_play] = right[np.arange(len(right)), actions[in_play]]
        play_games(games, rules, actions, in_play)
    return Decisions.of(parts).telling()


def log_chances(
    network: Network, decisions: Decisions, book: Rulebook, which: np.ndarray
) -> tuple[Tensor, Tensor, Tensor]:
    """What a network thinks of decisions.

    Args:
        network: The network.
        decisions: n decisions.
        book: The rules.
        which: Integers, shape (n,): the variant of each decision, by its place in `book`.

    Returns:
        The log probabilities of a right move, float32 (n,); those of the moves that were played,
        float32 (as many as there are); and whether the likeliest move is right, bool (n,).
    """
    seen = network.describe(decisions.observations, decisions.masks, book, which)
    table = seen.offers.in_slots(network(seen)[0], ILLEGAL).log_softmax(dim=1)
    offers = seen.offers
    right, played = (
        offers.in_slots(torch.from_numpy(moves)[offers.positions, offers.actions], False)
        for moves in (decisions.choices, decisions.played)
    )
    met = right.gather(1, table.argmax(dim=1, keepdim=True)).squeeze(1)
    return table.masked_fill(~right, ILLEGAL).logsumexp(dim=1), table[played], met
