"""The networks of `agents.networks` as a policy of sb3-contrib's MaskablePPO."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import Tensor, nn

from agents.networks import NETWORKS, Offers, Rulebook
from agents.policy import ILLEGAL
from yukon_env.engine.state import N_ACTIONS
from yukon_env.variants import Variant

NO_ACTION = -1


class MoveDistribution(MaskableDistribution):
    """A categorical distribution over the moves of each position.

    Its tables have a row per position and a column for each of its moves, some ten of them, and
    not 417: that makes it many times cheaper than a masked distribution over all actions.

    Args:
        offers: The moves of n positions.
        logits: float32, shape (moves,).
    """

    def __init__(self, offers: Offers, logits: Tensor) -> None:
        super().__init__()
        self._actions = offers.in_slots(offers.actions, NO_ACTION)
        self._log_probs = torch.log_softmax(offers.in_slots(logits, ILLEGAL), dim=1)

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
        """Not used: the network gives the logits."""
        raise TypeError("a MoveDistribution is made of moves and their logits")

    proba_distribution = actions_from_params = log_prob_from_params = proba_distribution_net  # type: ignore[assignment]


Observations = dict[str, Tensor]
Masks = np.ndarray | Tensor | None


class NetworkPolicy(MaskableActorCriticPolicy):
    """A network over the moves on offer, as a policy.

    The observation space is a Dict of `observation` (int8, (52, 3)), `action_mask` (int8, (417,))
    and, with several variants, `variant` (int8, (1,)), as `agents.sb3_vec_env` has it. Masks that
    are passed besides narrow the moves further.

    Args:
        observation_space: That Dict.
        action_space: Discrete(417).
        lr_schedule: Learning rate as a function of the remaining progress.
        variants: The games.
        network: A name in `NETWORKS`.
        width: Size of the network's embeddings.
    """

    def __init__(
        self,
        observation_space: spaces.Space,
        action_space: spaces.Space,
        lr_schedule: Callable[[float], float],
        *,
        variants: Sequence[str | Variant],
        network: str = "moves",
        width: int = 64,
    ) -> None:
        self._book = Rulebook(variants)
        self._kind = network
        self._width = width
        super().__init__(observation_space, action_space, lr_schedule)

    def _build(self, lr_schedule: Callable[[float], float]) -> None:
        self.network = NETWORKS[self._kind](self._width)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=lr_schedule(1), eps=1e-5)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return {
            "observation_space": self.observation_space,
            "action_space": self.action_space,
            "lr_schedule": self._dummy_schedule,
            "variants": self._book.variants,
            "network": self._kind,
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
        return self.network.values(self._read(obs, None)).unsqueeze(1)

    def _judge(self, obs: Observations, masks: Masks) -> tuple[MoveDistribution, Tensor]:
        seen = self._read(obs, masks)
        logits, values = self.network(seen)
        return MoveDistribution(seen.offers, logits), values

    def _read(self, obs: Observations, masks: Masks) -> Any:
        """Describes positions, of several variants maybe, for the network."""
        offered = obs["action_mask"].numpy().astype(np.bool_)
        if masks is not None:
            offered &= np.asarray(masks).reshape(offered.shape).astype(np.bool_)
        which = np.zeros(len(offered), np.int8)
        if "variant" in obs:
            which = obs["variant"].numpy().reshape(-1)
        return self.network.describe(obs["observation"].numpy(), offered, self._book, which)
