"""A network over the cards, without features made by hand.

Each card is embedded by which one it is, its zone and position, and the cards directly beneath and
above it, all read from the observation. The cards of a zone are summed up: that makes a view of
each column, and these, summed up in turn, make a view of the table, to which a few numbers about
the rules are added. The logit of a move comes from the card that moves, the card it leaves, the
one it comes to lie on, the two columns and the table; the value from the table.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from torch import Tensor, nn

from agents.networks.base import Network, Offers, Rulebook
from agents.view import check_observations
from yukon_env.cards import N_CARDS, N_RANKS, N_SUITS
from yukon_env.engine.state import (
    DEAL,
    FACE_UP,
    FOUNDATION,
    POSITION,
    ROW,
    RULES,
    STOCK,
    UNLIMITED,
    ZONE,
)
from yukon_env.variants import N_COLUMNS

# The zones of the observation, and last that of the cards whose place is not known.
N_ZONES = STOCK + 2
UNKNOWN_ZONE = STOCK + 1
# Positions 0 to 51, and last the one that is not known.
N_POSITIONS = N_CARDS + 1
# What may lie beneath or above a card besides another: a card not seen, or nothing at all.
UNSEEN, NOTHING = N_CARDS, N_CARDS + 1
N_NEIGHBOURS = N_CARDS + 2

# About how many cards a zone holds: divided by it, sums are about as large as their parts.
USUAL_CARDS = 8

RULE_NUMBERS = (
    "same suit", "same colour", "other colour", "up and down", "spaces take any card", "stock",
    "draw", "redeals", "returns",
)  # fmt: skip


@dataclass(frozen=True)
class Cards:
    """The cards of n positions, and the moves on offer.

    Attributes:
        offers: The moves.
        zones: int64, shape (n, 52): 0 to N_ZONES - 1.
        places: int64, shape (n, 52): 0 to N_POSITIONS - 1.
        beneath: int64, shape (n, 52): a card, UNSEEN or NOTHING.
        above: The same for what lies above.
        ends: int64, shape (n, 8): the card at the end of each column, UNSEEN or NOTHING; NOTHING
            for the foundations.
        rules: float32, shape (n, len(RULE_NUMBERS)).
    """

    offers: Offers
    zones: Tensor
    places: Tensor
    beneath: Tensor
    above: Tensor
    ends: Tensor
    rules: Tensor


class CardNetwork(Network):
    """Scores pairs of a card and a destination; see the module's text."""

    name = "cards"
    inputs = RULE_NUMBERS

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.card = nn.Parameter(0.5 * torch.randn(N_CARDS, width))
        self.zone = _embedding(N_ZONES - N_COLUMNS + 1, width)
        self.place = _embedding(N_POSITIONS, width)
        self.beneath = _embedding(N_NEIGHBOURS, width)
        self.above = _embedding(N_NEIGHBOURS, width)
        self.embed = nn.Linear(width, width)
        # What stands for a card where there is none: UNSEEN and NOTHING.
        self.no_card = nn.Parameter(torch.zeros(2, width))
        self.column = nn.Linear(width, width)
        self.table = nn.Linear((N_ZONES - N_COLUMNS + 1) * width + len(RULE_NUMBERS), width)
        # A move: its head, what it leaves, what it lands on, both zones, the table.
        self.pair = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(5))
        self.destination = _embedding(FOUNDATION + 2, width)
        self.context = nn.Linear(width, width)
        self.score = nn.Linear(width, width)
        self.logit = nn.Linear(width, 1, bias=False)
        self.value_hidden = nn.Linear(width, width)
        self.value = nn.Linear(width, 1)
        self.start_even(self.logit, self.value)

    def describe(
        self, observations: np.ndarray, masks: np.ndarray, book: Rulebook, which: np.ndarray
    ) -> Cards:
        """Reads positions; see `Network.describe`."""
        numbers = np.empty((len(observations), len(RULE_NUMBERS)), np.float32)
        for rules, rows in book.split(which):
            numbers[rows] = rule_numbers(rules)
        arrays = (*read_cards(observations), numbers)
        return Cards(Offers.of(masks), *(torch.from_numpy(array) for array in arrays))

    def forward(self, seen: Cards) -> tuple[Tensor, Tensor]:
        """Returns the logits, shape (moves,), and the values, shape (n,)."""
        cards, zones, table = self._embed(seen)
        return self._score(seen, cards, zones, table), self._value(table)

    def values(self, seen: Cards) -> Tensor:
        """Returns the values alone, shape (n,)."""
        return self._value(self._embed(seen)[2])

    def _value(self, table: Tensor) -> Tensor:
        return self.value(torch.relu(self.value_hidden(table))).squeeze(1)

    def _embed(self, seen: Cards) -> tuple[Tensor, Tensor, Tensor]:
        """Embeds cards (n, 54, width), zones (n, N_ZONES, width) and tables (n, width)."""
        n = len(seen.zones)
        # Columns have no names: the first of these zones is any of them.
        kinds = (seen.zones - N_COLUMNS + 1).clamp(min=0)
        mixed = self.card + self.zone(kinds) + self.place(seen.places)
        mixed = mixed + self.beneath(seen.beneath) + self.above(seen.above)
        cards = torch.relu(self.embed(torch.relu(mixed)))
        zones = cards.new_zeros(n, N_ZONES, self.width)
        zones = zones.scatter_add(1, seen.zones.unsqueeze(2).expand_as(cards), cards / USUAL_CARDS)
        columns = torch.relu(self.column(zones[:, :N_COLUMNS])).mean(dim=1)
        others = zones[:, N_COLUMNS:].flatten(1)
        table = torch.relu(self.table(torch.cat((columns, others, seen.rules), dim=1)))
        return torch.cat((cards, self.no_card.expand(n, 2, self.width)), dim=1), zones, table

    def _score(self, seen: Cards, cards: Tensor, zones: Tensor, table: Tensor) -> Tensor:
        """Scores the moves on offer.

        A deal has no card: it is told by its destination, and by the stock as the zone it leaves.
        """
        positions, actions = seen.offers.positions, seen.offers.actions
        deals = actions == DEAL
        heads = (actions >> 3).clamp(max=N_CARDS - 1)
        targets = (actions & 7).masked_fill(deals, FOUNDATION)
        sources = seen.zones[positions, heads].masked_fill(deals, STOCK)
        parts = (
            cards[positions, heads.masked_fill(deals, NOTHING)],
            cards[positions, seen.beneath[positions, heads].masked_fill(deals, NOTHING)],
            cards[positions, seen.ends[positions, targets]],
            zones[positions, sources],
            zones[positions, targets],
        )
        # What matters of a destination is whether it is a column.
        kinds = targets.masked_fill(targets < FOUNDATION, 0).masked_fill(deals, FOUNDATION + 1)
        mixed = self.destination(kinds) + self.context(table).index_select(0, positions)
        for layer, part in zip(self.pair, parts, strict=True):
            mixed = mixed + layer(part)
        return self.logit(torch.relu(self.score(torch.relu(mixed)))).squeeze(1)


def _embedding(n: int, width: int) -> nn.Embedding:
    embedding = nn.Embedding(n, width)
    nn.init.normal_(embedding.weight, std=0.5)
    return embedding


def read_cards(observations: np.ndarray) -> tuple[np.ndarray, ...]:
    """Reads where each card is and what lies beneath and above it.

    Args:
        observations: int8, shape (n, 52, 3).

    Returns:
        zones, places, beneath, above and ends, as `Cards` has them.

    Raises:
        AgentError: The array has another shape.
    """
    rows = check_observations(observations).reshape(-1, N_CARDS, ROW).astype(np.int64)
    n, cards = len(rows), np.arange(N_CARDS)
    # A face-down card counts as not seen, even if the observation tells which it is; but not in
    # the stock, where a player may know it.
    seen = (rows[:, :, POSITION] >= 0) & ((rows[:, :, FACE_UP] == 1) | (rows[:, :, ZONE] == STOCK))
    zones = np.where(seen, rows[:, :, ZONE], UNKNOWN_ZONE)
    places = np.where(seen, rows[:, :, POSITION], N_CARDS)
    # A table of who is where, with a place beneath each base and two more above.
    at = np.full((n, N_ZONES, N_CARDS + 3), UNSEEN)
    games = np.broadcast_to(np.arange(n)[:, np.newaxis], zones.shape)
    at[games[seen], zones[seen], places[seen] + 1] = np.broadcast_to(cards, zones.shape)[seen]
    heights = np.zeros((n, N_ZONES), np.int64)
    np.maximum.at(heights, (games[seen], zones[seen]), places[seen] + 1)
    beneath = np.where(places == 0, NOTHING, at[games, zones, places])
    above = np.where(places + 1 == heights[games, zones], NOTHING, at[games, zones, places + 2])
    ends = np.full((n, FOUNDATION + 1), NOTHING)
    tops = np.take_along_axis(at, heights[:, :, np.newaxis], axis=2)[:, :N_COLUMNS, 0]
    ends[:, :N_COLUMNS] = np.where(heights[:, :N_COLUMNS] == 0, NOTHING, tops)
    return zones, places, beneath, above, ends


def rule_numbers(rules: np.ndarray) -> np.ndarray:
    """What tells one game from another, as numbers from 0 to about 1.

    Args:
        rules: A variant's record, from `compile_rules`.

    Returns:
        float32, shape (len(RULE_NUMBERS),).
    """
    return _rule_numbers(rules.tobytes())


@cache
def _rule_numbers(rules: bytes) -> np.ndarray:
    record = np.frombuffer(rules, RULES)[0]
    # The middle of a suit has all the children that a card can have.
    target = N_RANKS // 2
    children = {int(card) for card in record.children[target]} - {target}
    suits = {card // N_RANKS for card in children}
    redeals = 1.0 if record.redeals == UNLIMITED else record.redeals / 2
    return np.array(
        [
            0 in suits,
            # Suits are in the order C D H S: the other black one is the last.
            N_SUITS - 1 in suits,
            1 in suits,
            any(card % N_RANKS > target for card in children),
            record.n_starters == N_CARDS,
            record.stock / N_CARDS,
            record.draw / 3,
            redeals,
            record.foundation_return,
        ],
        np.float32,
    )
