"""A small network over the features of moves.

Each move on offer is described by its features, each position by those of its table
(`agents.features`: both see only the observation and the mask). One small network, shared by all
moves and all variants, turns the two into the embedding of a move; the mean of the embeddings
gives every move a view of the others. From these come a logit for each move and the value of the
position. Nothing is computed for the actions that are illegal.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import embedding_bag

from agents.features import (
    MOVE_FEATURES,
    N_MOVE_FEATURES,
    N_TABLE_FEATURES,
    TABLE_FEATURES,
    move_features,
    table_features,
)
from agents.networks.base import Network, Offers, Rulebook


@dataclass(frozen=True)
class Moves:
    """The moves on offer in n positions, and the positions.

    Attributes:
        offers: The moves.
        features: float32, shape (moves, N_MOVE_FEATURES).
        tables: float32, shape (n, N_TABLE_FEATURES).
    """

    offers: Offers
    features: Tensor
    tables: Tensor


class MoveNetwork(Network):
    """Scores moves by their features; see the module's text."""

    name = "moves"
    inputs = (*MOVE_FEATURES, *TABLE_FEATURES)

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.move = nn.Linear(N_MOVE_FEATURES, width)
        self.table = nn.Linear(N_TABLE_FEATURES, width, bias=False)
        self.embed = nn.Linear(width, width)
        self.context = nn.Linear(width + N_TABLE_FEATURES, width)
        self.score = nn.Linear(width, width)
        self.logit = nn.Linear(width, 1, bias=False)
        self.value_hidden = nn.Linear(width, width)
        self.value = nn.Linear(width, 1)
        self.start_even(self.logit, self.value)

    def describe(
        self, observations: np.ndarray, masks: np.ndarray, book: Rulebook, which: np.ndarray
    ) -> Moves:
        """Reads positions; see `Network.describe`."""
        offers = Offers.of(masks)
        positions = offers.positions.numpy()
        features = np.empty((len(positions), N_MOVE_FEATURES), np.float32)
        tables = np.empty((len(observations), N_TABLE_FEATURES), np.float32)
        for rules, rows in book.split(which):
            features[rows[positions]] = move_features(observations[rows], masks[rows], rules)[0]
            tables[rows] = table_features(observations[rows], rules)
        return Moves(offers, torch.from_numpy(features), torch.from_numpy(tables))

    def forward(self, seen: Moves) -> tuple[Tensor, Tensor]:
        """Returns the logits, shape (moves,), and the values, shape (n,)."""
        embedded, context = self._embed(seen)
        of_position = context.index_select(0, seen.offers.positions)
        scored = torch.relu(self.score(embedded) + of_position)
        return self.logit(scored).squeeze(1), self._value(context)

    def values(self, seen: Moves) -> Tensor:
        """Returns the values alone, shape (n,)."""
        return self._value(self._embed(seen)[1])

    def _value(self, context: Tensor) -> Tensor:
        return self.value(torch.relu(self.value_hidden(context))).squeeze(1)

    def _embed(self, seen: Moves) -> tuple[Tensor, Tensor]:
        """Embeds the moves, (moves, width), and the positions, (n, width)."""
        table = self.table(seen.tables).index_select(0, seen.offers.positions)
        embedded = torch.relu(self.embed(torch.relu(self.move(seen.features) + table)))
        every = torch.arange(len(embedded))
        pooled = embedding_bag(every, embedded, seen.offers.starts, mode="mean")
        context = torch.relu(self.context(torch.cat((pooled, seen.tables), dim=1)))
        return embedded, context
