"""The agent that plays a trained network (`agents.networks`), and the file that keeps it."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from agents.errors import AgentError
from agents.networks import NETWORKS, Network, Rulebook
from agents.ranking import RankedMove, ranked
from agents.view import check_input
from yukon_env.variants import VARIANTS, Variant

# The logit of no move: its probability is exactly 0, its share of the entropy finite.
ILLEGAL = -1e8
FILE_KIND = "yukon policy 1"


class PolicyAgent:
    """Plays the likeliest move of a trained network.

    Attributes:
        variant: The game it plays.
        trained_on: The games that the network was trained on; any other may be played, too.
        network: The network.
    """

    def __init__(
        self,
        variant: str | Variant,
        network: Network,
        trained_on: Sequence[str | Variant] | None = None,
    ) -> None:
        self.network = network
        self._book = Rulebook([variant])
        self.variant = self._book.variants[0]
        self.trained_on = Rulebook(trained_on or [variant]).variants

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
        seen, logits = self._judge(observations, action_masks)
        slots = seen.offers.in_slots(logits, ILLEGAL).argmax(dim=1)
        return seen.offers.actions[seen.offers.starts + slots].numpy()

    def rank(self, observation: np.ndarray, action_mask: np.ndarray) -> list[RankedMove]:
        """Ranks the moves of one position by their probability (see `agents.ranking`)."""
        seen, logits = self._judge(observation[np.newaxis], action_mask[np.newaxis])
        chances = torch.softmax(logits, dim=0).tolist()
        actions = seen.offers.actions.tolist()
        return ranked(
            RankedMove(action, {"probability": chance})
            for action, chance in zip(actions, chances, strict=True)
        )

    def _judge(self, observations: np.ndarray, masks: np.ndarray) -> tuple[Any, Tensor]:
        check_input(observations, masks)
        which = np.zeros(len(observations), np.int8)
        seen = self.network.describe(observations, masks, self._book, which)
        with torch.inference_mode():
            return seen, self.network(seen)[0]

    def save(self, path: str | Path) -> None:
        """Writes the agent into one file; a file that was there is replaced whole or not at all."""
        record = {
            "kind": FILE_KIND,
            "variants": [variant.key for variant in self.trained_on],
            "network": self.network.name,
            "width": self.network.width,
            "inputs": self.network.inputs,
            "weights": self.network.state_dict(),
        }
        path = Path(path)
        unfinished = path.with_name(path.name + ".part")
        torch.save(record, unfinished)
        os.replace(unfinished, path)

    @classmethod
    def load(cls, path: str | Path, variant: str | None = None) -> "PolicyAgent":
        """Reads an agent from the file that `save` wrote.

        Args:
            path: The file.
            variant: The game it is to play; None for the first that it was trained on.

        Raises:
            AgentError: There is no such file, or it holds no agent that reads today's inputs.
        """
        record = _read_record(Path(path))
        for key in (*record["variants"], *([variant] if variant else [])):
            if key not in VARIANTS:
                raise AgentError(f"{path} plays {key!r}, a variant that is not known here")
        kind = NETWORKS.get(record["network"])
        if kind is None or kind.inputs != tuple(record["inputs"]):
            raise AgentError(f"{path} was trained on other inputs than today's; train it anew")
        network = kind(record["width"])
        network.load_state_dict(record["weights"])
        return cls(variant or record["variants"][0], network, record["variants"])


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
