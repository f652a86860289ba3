"""A policy network over the legal moves, trained by MaskablePPO, and the agent that plays it.

The network is not flat. Each legal move is described by its features, each position by those of
its table (`agents.features`: both see only the observation and the mask). One small network,
shared by all moves and all variants, turns the two into the embedding of a move; the mean of the
embeddings gives every move a view of the others. From these come a logit for each move and the
value of the position.

The moves of a batch lie one after the other, whatever their number in each position, so nothing
is computed for the actions that are illegal.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import Tensor, nn
from torch.nn.functional import embedding_bag

from agents.errors import AgentError
from agents.features import (
    MOVE_FEATURES,
    N_MOVE_FEATURES,
    N_TABLE_FEATURES,
    TABLE_FEATURES,
    move_features,
    table_features,
)
from yukon_env.engine.state import N_ACTIONS, compile_rules
from yukon_env.variants import VARIANTS, Variant, get_variant

WIDTH = 64
# The logit of no move: its probability is exactly 0, its share of the entropy finite.
ILLEGAL = -1e8
NO_ACTION = -1
FILE_KIND = "yukon move network 1"


@dataclass(frozen=True)
class Moves:
    """The legal moves of n positions, one after the other.

    Attributes:
        features: float32, shape (moves, N_MOVE_FEATURES).
        tables: float32, shape (n, N_TABLE_FEATURES).
        positions: int64, shape (moves,): the position that a move belongs to.
        starts: int64, shape (n,): where the moves of each position begin.
        actions: int64, shape (moves,): the action's number.
    """

    features: Tensor
    tables: Tensor
    positions: Tensor
    starts: Tensor
    actions: Tensor

    @classmethod
    def of(cls, observations: np.ndarray, masks: np.ndarray, rules: np.ndarray) -> "Moves":
        """Describes the moves that the masks allow.

        Args:
            observations: int8, shape (n, 52, 3).
            masks: int8 or bool, shape (n, 417).
            rules: The variant's record, from `compile_rules`.
        """
        features, positions, actions = move_features(observations, masks, rules)
        starts = np.searchsorted(positions, np.arange(len(observations)))
        tables = table_features(observations, rules)
        arrays = features, tables, positions, starts, actions
        return cls(*(torch.from_numpy(array) for array in arrays))

    def in_slots(self, values: Tensor, fill: float) -> Tensor:
        """Lays one value per move, shape (moves,), out in a row per position: (n, most moves).

        Rows that are not full end in `fill`.
        """
        slots = torch.arange(len(values)) - self.starts.index_select(0, self.positions)
        width = int(slots.max()) + 1 if len(slots) else 1
        table = values.new_full((len(self.tables), width), fill)
        return table.index_put((self.positions, slots), values)


class MoveNetwork(nn.Module):
    """Gives each legal move a logit and each position a value.

    Args:
        width: Size of the embeddings.
    """

    def __init__(self, width: int = WIDTH) -> None:
        super().__init__()
        self.width = width
        self.move = nn.Linear(N_MOVE_FEATURES, width)
        self.table = nn.Linear(N_TABLE_FEATURES, width, bias=False)
        self.embed = nn.Linear(width, width)
        self.context = nn.Linear(width + N_TABLE_FEATURES, width)
        self.score = nn.Linear(width, width)
        self.logit = nn.Linear(width, 1, bias=False)
        self.value_hidden = nn.Linear(width, width)
        self.value = nn.Linear(width, 1)
        self._initialize()

    def _initialize(self) -> None:
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.orthogonal_(module.weight, gain=np.sqrt(2))
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
        # All moves are about equally likely at first, all positions worth the same.
        nn.init.orthogonal_(self.logit.weight, gain=0.01)
        nn.init.orthogonal_(self.value.weight, gain=0.01)

    def forward(self, moves: Moves) -> tuple[Tensor, Tensor]:
        """Returns the logits, shape (moves,), and the values, shape (n,)."""
        embedded, context = self._embed(moves)
        scored = torch.relu(self.score(embedded) + context.index_select(0, moves.positions))
        return self.logit(scored).squeeze(1), self._value(context)

    def values(self, moves: Moves) -> Tensor:
        """Returns the values alone, shape (n,)."""
        return self._value(self._embed(moves)[1])

    def _value(self, context: Tensor) -> Tensor:
        return self.value(torch.relu(self.value_hidden(context))).squeeze(1)

    def _embed(self, moves: Moves) -> tuple[Tensor, Tensor]:
        """Embeds the moves, (moves, width), and the positions, (n, width)."""
        table = self.table(moves.tables).index_select(0, moves.positions)
        embedded = torch.relu(self.embed(torch.relu(self.move(moves.features) + table)))
        every = torch.arange(len(embedded))
        pooled = embedding_bag(every, embedded, moves.starts, mode="mean")
        context = torch.relu(self.context(torch.cat((pooled, moves.tables), dim=1)))
        return embedded, context


class MoveDistribution(MaskableDistribution):
    """A categorical distribution over the moves of each position.

    Its tables have a row per position and a column for each of its moves, some ten of them, and
    not 417: that makes it many times cheaper than a masked distribution over all actions.

    Args:
        moves: The moves of n positions.
        logits: float32, shape (moves,).
    """

    def __init__(self, moves: Moves, logits: Tensor) -> None:
        super().__init__()
        self._actions = moves.in_slots(moves.actions, NO_ACTION)
        self._log_probs = torch.log_softmax(moves.in_slots(logits, ILLEGAL), dim=1)

    def apply_masking(self, masks: np.ndarray | Tensor | None) -> None:
        """Takes back the moves that the masks, shape (n, 417), do not allow."""
        if masks is not None:
            allowed = torch.as_tensor(masks).reshape(-1, N_ACTIONS) != 0
            offered = allowed.gather(1, self._actions.clamp(min=0)) & (self._actions >= 0)
            self._log_probs = self._log_probs.masked_fill(~offered, ILLEGAL).log_softmax(dim=1)

    def probabilities(self) -> Tensor:
        """The probabilities of all actions, float32 (n, 417); those of illegal ones are 0."""
        rows, slots = (self._actions >= 0).nonzero(as_tuple=True)
        table = self._log_probs.new_zeros((len(self._actions), N_ACTIONS))
        table[rows, self._actions[rows, slots]] = self._log_probs.exp()[rows, slots]
        return table

    def log_prob(self, actions: Tensor) -> Tensor:
        """The log probabilities of actions, int64 (n,); an illegal one has a huge negative one."""
        chosen = self._actions == actions.reshape(-1, 1)
        return (self._log_probs * chosen).sum(dim=1).masked_fill(~chosen.any(dim=1), ILLEGAL)

    def entropy(self) -> Tensor:
        """The entropies, float32 (n,)."""
        return -(self._log_probs.exp() * self._log_probs).sum(dim=1)

    def sample(self) -> Tensor:
        """Draws actions, int64 (n,)."""
        return self._in(torch.multinomial(self._log_probs.exp(), 1))

    def mode(self) -> Tensor:
        """The likeliest actions, int64 (n,)."""
        return self._in(self._log_probs.argmax(dim=1, keepdim=True))

    def _in(self, slots: Tensor) -> Tensor:
        return self._actions.gather(1, slots).squeeze(1)

    def proba_distribution_net(self, *args: Any, **kwargs: Any) -> nn.Module:
        """Not used: `MoveNetwork` gives the logits."""
        raise TypeError("a MoveDistribution is made of moves and their logits")

    proba_distribution = actions_from_params = log_prob_from_params = proba_distribution_net  # type: ignore[assignment]


Observations = dict[str, Tensor]
Masks = np.ndarray | Tensor | None


class MovePolicy(MaskableActorCriticPolicy):
    """`MoveNetwork` as a policy of sb3-contrib's MaskablePPO.

    The observation space is a Dict of `observation` (int8, (52, 3)) and `action_mask` (int8,
    (417,)), as `YukonSB3VecEnv` has it. Masks that are passed besides narrow the moves further.

    Args:
        observation_space: That Dict.
        action_space: Discrete(417).
        lr_schedule: Learning rate as a function of the remaining progress.
        variant: The game.
        width: Size of the network's embeddings.
    """

    def __init__(
        self,
        observation_space: spaces.Space,
        action_space: spaces.Space,
        lr_schedule: Callable[[float], float],
        *,
        variant: str | Variant,
        width: int = WIDTH,
    ) -> None:
        self._width = width
        self._variant = get_variant(variant)
        self._rules = compile_rules(self._variant)
        super().__init__(observation_space, action_space, lr_schedule)

    def _build(self, lr_schedule: Callable[[float], float]) -> None:
        self.network = MoveNetwork(self._width)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=lr_schedule(1), eps=1e-5)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return {
            "observation_space": self.observation_space,
            "action_space": self.action_space,
            "lr_schedule": self._dummy_schedule,
            "variant": self._variant,
            "width": self._width,
        }

    def forward(  # type: ignore[override]
        self, obs: Observations, deterministic: bool = False, action_masks: Masks = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Chooses actions.

        Returns:
            Actions int64 (n,), values (n, 1) and the actions' log probabilities (n,).
        """
        distribution, values = self._judge(obs, action_masks)
        actions = distribution.get_actions(deterministic=deterministic)
        return actions, values.unsqueeze(1), distribution.log_prob(actions)

    def evaluate_actions(  # type: ignore[override]
        self, obs: Observations, actions: Tensor, action_masks: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Judges actions that were chosen before.

        Returns:
            Values (n, 1), the actions' log probabilities (n,) and the entropies (n,).
        """
        distribution, values = self._judge(obs, action_masks)
        return values.unsqueeze(1), distribution.log_prob(actions), distribution.entropy()

    def get_distribution(self, obs: Observations, action_masks: Masks = None) -> MoveDistribution:  # type: ignore[override]
        """Returns the distribution over actions."""
        return self._judge(obs, action_masks)[0]

    def predict_values(self, obs: Observations) -> Tensor:  # type: ignore[override]
        """Returns the values of positions, (n, 1)."""
        return self.network.values(self._moves(obs, None)).unsqueeze(1)

    def _judge(self, obs: Observations, masks: Masks) -> tuple[MoveDistribution, Tensor]:
        moves = self._moves(obs, masks)
        logits, values = self.network(moves)
        return MoveDistribution(moves, logits), values

    def _moves(self, obs: Observations, masks: Masks) -> Moves:
        offered = obs["action_mask"].numpy().astype(np.bool_)
        if masks is not None:
            offered &= np.asarray(masks).reshape(offered.shape).astype(np.bool_)
        return Moves.of(obs["observation"].numpy(), offered, self._rules)


class PPOAgent:
    """Plays the likeliest move of a trained network.

    Attributes:
        variant: The game it was trained on.
        network: The network.
    """

    def __init__(self, variant: str | Variant, network: MoveNetwork) -> None:
        self.variant = get_variant(variant)
        self.network = network
        self._rules = compile_rules(self.variant)

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        """Chooses an action for each position.

        Args:
            observations: int8, shape (n, 52, 3).
            action_masks: int8 or bool, shape (n, 417).

        Returns:
            int64, shape (n,).

        Raises:
            AgentError: The arrays have other shapes, or a mask allows nothing.
        """
        moves = Moves.of(observations, action_masks, self._rules)
        barren = np.bincount(moves.positions, minlength=len(observations)) == 0
        if barren.any():
            raise AgentError(f"the mask of position {barren.argmax()} allows no action")
        with torch.inference_mode():
            logits, _ = self.network(moves)
            return MoveDistribution(moves, logits).mode().numpy()

    def save(self, path: str | Path) -> None:
        """Writes the agent into one file; a file that was there is replaced whole or not at all."""
        record = {
            "kind": FILE_KIND,
            "variant": self.variant.key,
            "width": self.network.width,
            "move_features": MOVE_FEATURES,
            "table_features": TABLE_FEATURES,
            "network": self.network.state_dict(),
        }
        path = Path(path)
        unfinished = path.with_name(path.name + ".part")
        torch.save(record, unfinished)
        os.replace(unfinished, path)

    @classmethod
    def load(cls, path: str | Path) -> "PPOAgent":
        """Reads an agent from the file that `save` wrote.

        Raises:
            AgentError: There is no such file, or it holds no agent that plays today's features.
        """
        record = _read_record(Path(path))
        if record["variant"] not in VARIANTS:
            raise AgentError(
                f"{path} plays {record['variant']!r}, a variant that is not known here"
            )
        if (record["move_features"], record["table_features"]) != (MOVE_FEATURES, TABLE_FEATURES):
            raise AgentError(f"{path} was trained on other features than today's; train it anew")
        network = MoveNetwork(record["width"])
        network.load_state_dict(record["network"])
        return cls(record["variant"], network)


def _read_record(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise AgentError(f"there is no file {path}")
    try:
        record = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises errors of many types for a file that is not its own
        raise AgentError(f"{path} holds no trained agent: {error}") from error
    if not isinstance(record, dict) or record.get("kind") != FILE_KIND:
        raise AgentError(f"{path} holds no trained agent: it is no {FILE_KIND!r} file")
    return record
