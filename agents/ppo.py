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
from sb3_contrib.common.maskable.distributions import MaskableCategorical, MaskableDistribution
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
# The logit of an illegal move: its probability is exactly 0, its share of the entropy finite.
ILLEGAL = -1e8
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

    def spread(self, logits: Tensor) -> Tensor:
        """Lays the logits of the moves, shape (moves,), out over all actions: (n, 417)."""
        table = logits.new_full((len(self.tables), N_ACTIONS), ILLEGAL)
        return table.index_put((self.positions, self.actions), logits)


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
        self.value = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))
        self._initialize()

    def _initialize(self) -> None:
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.orthogonal_(module.weight, gain=np.sqrt(2))
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
        # All moves are about equally likely at first, all positions worth the same.
        nn.init.orthogonal_(self.logit.weight, gain=0.01)
        nn.init.orthogonal_(self.value[-1].weight, gain=0.01)

    def forward(self, moves: Moves) -> tuple[Tensor, Tensor]:
        """Returns the logits, shape (moves,), and the values, shape (n,)."""
        embedded, context = self._embed(moves)
        scored = torch.relu(self.score(embedded) + context.index_select(0, moves.positions))
        return self.logit(scored).squeeze(1), self.value(context).squeeze(1)

    def values(self, moves: Moves) -> Tensor:
        """Returns the values alone, shape (n,)."""
        return self.value(self._embed(moves)[1]).squeeze(1)

    def _embed(self, moves: Moves) -> tuple[Tensor, Tensor]:
        """Embeds the moves, (moves, width), and the positions, (n, width)."""
        table = self.table(moves.tables).index_select(0, moves.positions)
        embedded = torch.relu(self.embed(torch.relu(self.move(moves.features) + table)))
        every = torch.arange(len(embedded))
        pooled = embedding_bag(every, embedded, moves.starts, mode="mean")
        context = torch.relu(self.context(torch.cat((pooled, moves.tables), dim=1)))
        return embedded, context


class MoveDistribution(MaskableDistribution):
    """A categorical distribution over the 417 actions, of logits that are masked already."""

    distribution: MaskableCategorical

    def proba_distribution_net(self, *args: Any, **kwargs: Any) -> nn.Module:
        """There is no last layer: `MoveNetwork` gives the logits."""
        raise NotImplementedError

    def proba_distribution(self, action_logits: Tensor) -> "MoveDistribution":  # type: ignore[override]
        """Takes the logits, shape (n, 417)."""
        self.distribution = MaskableCategorical(logits=action_logits, validate_args=False)
        return self

    def apply_masking(self, masks: Any) -> None:
        """Masks further actions."""
        self.distribution.apply_masking(masks)

    def log_prob(self, actions: Tensor) -> Tensor:
        """The log probabilities of actions, shape (n,)."""
        return self.distribution.log_prob(actions)

    def entropy(self) -> Tensor:
        """The entropies, shape (n,)."""
        return self.distribution.entropy()

    def sample(self) -> Tensor:
        """Draws actions, shape (n,)."""
        return self.distribution.sample()

    def mode(self) -> Tensor:
        """The likeliest actions, shape (n,)."""
        return self.distribution.logits.argmax(dim=1)

    def actions_from_params(self, action_logits: Tensor, deterministic: bool = False) -> Tensor:  # type: ignore[override]
        """Draws actions, or takes the likeliest."""
        return self.proba_distribution(action_logits).get_actions(deterministic)

    def log_prob_from_params(self, action_logits: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        """Draws actions and gives their log probabilities."""
        actions = self.actions_from_params(action_logits)
        return actions, self.log_prob(actions)


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
        use_sde: bool = False,
    ) -> None:
        self._width = width
        self._variant = get_variant(variant)
        self._rules = compile_rules(self._variant)
        super().__init__(observation_space, action_space, lr_schedule)

    def _build(self, lr_schedule: Callable[[float], float]) -> None:
        self.network = MoveNetwork(self._width)
        self.move_dist = MoveDistribution()
        self.optimizer = self.optimizer_class(
            self.network.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs
        )

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return {
            "observation_space": self.observation_space,
            "action_space": self.action_space,
            "lr_schedule": self._dummy_schedule,
            "variant": self._variant,
            "width": self._width,
        }

    def forward(
        self, obs: Observations, deterministic: bool = False, action_masks: Masks = None
    ) -> tuple[Tensor, Tensor, Tensor]:  # type: ignore[override]
        """Chooses actions.

        Returns:
            Actions int64 (n,), values (n, 1) and the actions' log probabilities (n,).
        """
        distribution, values = self._judge(obs, action_masks)
        actions = distribution.get_actions(deterministic=deterministic)
        return actions, values.unsqueeze(1), distribution.log_prob(actions)

    def evaluate_actions(
        self, obs: Observations, actions: Tensor, action_masks: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor | None]:  # type: ignore[override]
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
        return self.move_dist.proba_distribution(moves.spread(logits)), values

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
            return moves.spread(logits).argmax(dim=1).numpy()

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
