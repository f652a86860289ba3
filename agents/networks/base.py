"""What all networks share: the moves on offer, the rules by which they are read, the interface."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from agents.errors import AgentError
from yukon_env.engine.state import N_ACTIONS, compile_rules
from yukon_env.variants import Variant, get_variant


@dataclass(frozen=True)
class Offers:
    """The moves that n positions offer, one after the other, whatever their number in each.

    Attributes:
        actions: int64, shape (moves,): the action's number.
        positions: int64, shape (moves,): the position that a move belongs to.
        starts: int64, shape (n,): where the moves of each position begin.
    """

    actions: Tensor
    positions: Tensor
    starts: Tensor

    @classmethod
    def of(cls, masks: np.ndarray) -> "Offers":
        """Lists the moves that masks, int8 or bool of shape (n, 417), allow.

        Raises:
            AgentError: The masks have another shape, or one allows nothing.
        """
        if masks.ndim != 2 or masks.shape[1] != N_ACTIONS:
            raise AgentError(f"action masks need the shape (n, {N_ACTIONS}), not {masks.shape}")
        positions, actions = np.nonzero(masks)
        counts = np.bincount(positions, minlength=len(masks))
        if (counts == 0).any():
            raise AgentError(f"the mask of position {counts.argmin()} allows no action")
        starts = np.cumsum(counts) - counts
        return cls(*(torch.from_numpy(array) for array in (actions, positions, starts)))

    def in_slots(self, values: Tensor, fill: float) -> Tensor:
        """Lays one value per move, shape (moves,), out in a row per position: (n, most moves).

        Rows that are not full end in `fill`.
        """
        slots = torch.arange(len(values)) - self.starts.index_select(0, self.positions)
        width = int(slots.max()) + 1 if len(slots) else 1
        table = values.new_full((len(self.starts), width), fill)
        return table.index_put((self.positions, slots), values)


class Rulebook:
    """The rules of the variants that positions may be of.

    Args:
        variants: Keys or `Variant`s. A position names its variant by the place in this list.
    """

    def __init__(self, variants: Sequence[str | Variant]) -> None:
        self.variants = tuple(get_variant(variant) for variant in variants)
        self.rules = tuple(compile_rules(variant) for variant in self.variants)

    def split(self, which: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """The rules in use, each with the positions of its game.

        Args:
            which: Integers, shape (n,): the variant of each position.

        Returns:
            Pairs of a variant's record, from `compile_rules`, and bool of shape (n,).
        """
        parts = ((rules, which == index) for index, rules in enumerate(self.rules))
        return [(rules, rows) for rules, rows in parts if rows.any()]


class Network(nn.Module, ABC):
    """Gives each move on offer a logit and each position a value.

    Args:
        width: Size of the embeddings.
    """

    # The name in `NETWORKS`.
    name: ClassVar[str]
    # What the weights were trained to read; a file with another list does not fit.
    inputs: ClassVar[tuple[str, ...]]

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    @abstractmethod
    def describe(
        self, observations: np.ndarray, masks: np.ndarray, book: Rulebook, which: np.ndarray
    ) -> Any:
        """Reads positions.

        Args:
            observations: int8, shape (n, 52, 3).
            masks: int8 or bool, shape (n, 417); each allows a move.
            book: The rules.
            which: Integers, shape (n,): the variant of each position, by its place in `book`.

        Returns:
            What `forward` and `values` take; it has `offers`.
        """

    @abstractmethod
    def forward(self, seen: Any) -> tuple[Tensor, Tensor]:
        """Returns the logits, shape (moves,), and the values, shape (n,)."""

    @abstractmethod
    def values(self, seen: Any) -> Tensor:
        """Returns the values alone, shape (n,)."""

    def start_even(self, logit: nn.Linear, value: nn.Linear) -> None:
        """Sets the first weights: all moves about equally likely, all positions worth the same.

        Args:
            logit: The layer that the logits come from.
            value: The layer that the value comes from.
        """
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.orthogonal_(module.weight, gain=np.sqrt(2))
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
        for layer in (logit, value):
            nn.init.orthogonal_(layer.weight, gain=0.01)
