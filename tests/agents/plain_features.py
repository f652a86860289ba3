"""Move features, computed slowly and plainly from lists of cards, to compare with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from yukon_env.variants import Variant

DEAL, FOUNDATION, WASTE, STOCK = 416, 7, 8, 9


def suit(card: int) -> int:
    return card // 13


def rank(card: int) -> int:
    return card % 13


@dataclass
class Table:
    """What a player sees; `columns` hold only face-up cards, base first."""

    variant: Variant
    columns: list[list[int]]
    hidden: list[int]
    up: list[int]
    waste: list[int]
    stock: dict[int, int]
    unknown: list[int]

    @classmethod
    def of(cls, variant: Variant, observation: np.ndarray) -> Table:
        """Reads an observation, int8 of shape (52, 3)."""
        rows = observation.tolist()
        columns, hidden = [], []
        for column in range(7):
            cards = sorted((row[1], card) for card, row in enumerate(rows) if row[0] == column)
            columns.append([card for _, card in cards])
            hidden.append(cards[0][0] if cards else 0)
        return cls(
            variant,
            columns,
            hidden,
            [sum(rows[s * 13 + r][0] == FOUNDATION for r in range(13)) for s in range(4)],
            [c for _, c in sorted((row[1], c) for c, row in enumerate(rows) if row[0] == WASTE)],
            {row[1]: card for card, row in enumerate(rows) if row[0] == STOCK},
            [card for card, row in enumerate(rows) if row[0] == -1],
        )

    @property
    def n_stock(self) -> int:
        """Cards left in the stock."""
        seen = sum(map(len, self.columns)) + len(self.waste) + sum(self.up)
        return 52 - seen - sum(self.hidden)

    def where(self, card: int) -> tuple[int, int] | None:
        """The column of a card, and its index among the face-up cards there."""
        for column, cards in enumerate(self.columns):
            if card in cards:
                return column, cards.index(card)
        return None

    def is_ready(self, card: int) -> bool:
        """Whether the card is the next of its suit to go up."""
        return rank(card) == self.up[suit(card)]

    def is_soon(self, card: int) -> bool:
        """Whether one or two cards of its suit go up before it."""
        return 1 <= rank(card) - self.up[suit(card)] <= 2

    def places(self, card: int) -> list[int]:
        """The columns that would take the card; a base has no use for a space."""
        found = []
        for column, cards in enumerate(self.columns):
            if cards and card not in cards:
                fits = self.variant.may_lie_on(card, cards[-1])
            else:
                is_base = self.where(card) is not None and self.kind(card) == "base"
                fits = not cards and not is_base and self.variant.may_start_column(card)
            if fits:
                found.append(column)
        return found

    def kind(self, card: int) -> str:
        """What a card of a column lies on, in one word."""
        column, index = self.where(card) or (-1, -1)
        if index == 0:
            return "key" if self.hidden[column] else "base"
        under = self.columns[column][index - 1]
        return "placed" if self.variant.may_lie_on(card, under) else "misfit"

    def is_space(self, column: int) -> bool:
        """Whether the column is empty."""
        return not self.columns[column] and not self.hidden[column]

    def after(self, action: int) -> Table:
        """The table after a move of a card, a card turned up left out."""
        head, target = divmod(action, 8)
        columns = [list(cards) for cards in self.columns]
        hidden, up, waste = list(self.hidden), list(self.up), list(self.waste)
        place = self.where(head)
        group = [head]
        if place:
            column, index = place
            group = columns[column][index:]
            del columns[column][index:]
        elif waste and waste[-1] == head:
            waste.pop()
        else:
            up[suit(head)] -= 1
        if target == FOUNDATION:
            up[suit(head)] += 1
        else:
            columns[target] += group
        return Table(self.variant, columns, hidden, up, waste, self.stock, self.unknown)


def describe(table: Table, action: int) -> dict[str, float]:
    """The features of a legal action that are checked, by name."""
    if action == DEAL:
        return _describe_deal(table)
    head, target = divmod(action, 8)
    place = table.where(head)
    rest, group, hidden = [], [head], 0
    if place:
        column, index = place
        rest, group = table.columns[column][:index], table.columns[column][index:]
        hidden = table.hidden[column]
    covered = table.columns[target] if target != FOUNDATION else []
    loose = [c for cards in table.columns for c in cards if table.kind(c) in ("key", "misfit")]
    turns = bool(place) and not rest and hidden > 0
    fills = target != FOUNDATION and not covered
    return {
        "goes_up": target == FOUNDATION,
        "up_safe": target == FOUNDATION and _is_safe(table, head),
        "returns": place is None and head not in table.waste,
        "turns": turns,
        "turns_beneath": hidden / 6 if turns else 0,
        "turns_last": turns and hidden == 1,
        "source_hidden": 0 if turns else hidden / 6,
        "leaves_parent": bool(place) and table.kind(head) == "placed",
        "leaves_misfit": bool(place) and table.kind(head) == "misfit",
        "empties": bool(place) and not rest and not hidden,
        "exposes_ready": bool(rest) and table.is_ready(rest[-1]),
        "frees_ready": sum(map(table.is_ready, rest)) / 2,
        "frees_soon": sum(map(table.is_soon, rest)) / 4,
        "buries_ready": sum(map(table.is_ready, covered)) / 2,
        "buries_soon": sum(map(table.is_soon, covered)) / 4,
        "group_size": len(group) / 10,
        "fills": fills,
        "fills_last": fills and sum(table.is_space(c) for c in range(7)) == 1,
        "target_hidden": table.hidden[target] / 6 if covered else 0,
        "makes_inversions": _inversions(covered, group) / 10,
        "undoes_inversions": _inversions(rest, group) / 10 if target != FOUNDATION else 0,
        "makes_blocks": _blocks(table, covered, group, loose) / 4,
        "undoes_blocks": _blocks(table, rest, group, loose) / 4 if target != FOUNDATION else 0,
        "waste_used": head in table.waste,
        "deals": 0,
        "redeals": 0,
        **_describe_change(table, action),
    }


def _describe_deal(table: Table) -> dict[str, float]:
    if table.n_stock == 0:
        return {"redeals": 1, "deals": 0}
    top = min(table.variant.draw, table.n_stock) - 1
    cards = [table.stock[top]] if top in table.stock else table.unknown
    fits = [card for card in cards if table.is_ready(card) or table.places(card)]
    last = table.waste[-1:]
    return {
        "redeals": 0,
        "deals": 1,
        "deal_outs": len(fits) / len(cards),
        "deal_left": table.n_stock / 24,
        "deal_buries": any(table.is_ready(card) or table.places(card) for card in last),
    }


def _describe_change(table: Table, action: int) -> dict[str, float]:
    """Which cards of the columns gain a first place by the move, and which lose their last."""
    head, _ = divmod(action, 8)
    after = table.after(action)
    features = {}
    for kind, name, scale in (("key", "keys", 2), ("misfit", "misfits", 4), ("base", "bases", 2)):
        gains = losses = 0
        for card in (card for cards in table.columns for card in cards):
            if card != head and table.kind(card) == kind:
                before, then = bool(table.places(card)), bool(_places_after(table, after, card))
                gains += then and not before
                losses += before and not then
        features[f"opens_{name}"] = gains / scale
        features[f"closes_{name}"] = losses / scale
    return features


def _places_after(table: Table, after: Table, card: int) -> list[int]:
    """The places of a card after a move; a column whose next card is not known yet has none."""
    return [
        column for column in after.places(card) if after.columns[column] or not table.hidden[column]
    ]


def _is_safe(table: Table, head: int) -> bool:
    children = [card for card in range(52) if table.variant.may_lie_on(card, head)]
    return all(rank(card) < table.up[suit(card)] for card in children)


def _inversions(beneath: list[int], above: list[int]) -> int:
    return sum(suit(x) == suit(y) and rank(x) < rank(y) for x in beneath for y in above)


def _blocks(table: Table, beneath: list[int], above: list[int], loose: list[int]) -> int:
    return sum(x in loose and table.variant.may_lie_on(x, y) for x in beneath for y in above)
