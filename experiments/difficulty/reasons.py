"""Why a deal cannot be won, in few cards: a set of cards of which each waits for the others.

This is the dead-end test of the solver (see its README, relaxed reachability), written
plainly and for chosen cards only: all other cards are thought to be out of the way, on their
foundations and wherever they are wanted, at once. If even then the chosen ones cannot all go up,
they are a reason, and one that can be checked by hand. Not every unwinnable deal has one.
"""

import random
from dataclasses import dataclass

from yukon_env.cards import N_CARDS, N_RANKS, card_text
from yukon_env.engine.state import STOCK
from yukon_env.game import Game
from yukon_env.solver.techniques import Techniques

_TRIES = 5


@dataclass(frozen=True)
class _Table:
    """A deal, so that much can be asked of it.

    Attributes:
        column: The column of each card; that of a card of the stock is STOCK.
        place: The place of each card in its column, from the base up.
        above: The card directly on each card, if there is one.
        hidden: The face-down cards.
        bases: The base card of each column; None where there is none.
        parents: The cards that each card may lie on.
        starters: The cards that may start an empty column, bases left out.
    """

    column: list[int]
    place: list[int]
    above: list[int | None]
    hidden: frozenset[int]
    bases: list[int | None]
    parents: list[list[int]]
    starters: frozenset[int]

    @classmethod
    def of(cls, game: Game) -> "_Table":
        """Reads a deal."""
        variant, board = game.variant, game.board
        column, place = [STOCK] * N_CARDS, [0] * N_CARDS
        above: list[int | None] = [None] * N_CARDS
        for number, cards in enumerate(board.columns):
            for height, card in enumerate(cards):
                column[card], place[card] = number, height
                above[card] = cards[height + 1] if height + 1 < len(cards) else None
        bases = [cards[0] if cards else None for cards in board.columns]
        hidden = [
            card
            for cards, down in zip(board.columns, board.hidden, strict=True)
            for card in cards[:down]
        ]
        parents = [
            [parent for parent in range(N_CARDS) if variant.may_lie_on(card, parent)]
            for card in range(N_CARDS)
        ]
        starters = [card for card in range(N_CARDS) if variant.may_start_column(card)]
        return cls(
            column, place, above, frozenset(hidden), bases, parents,
            frozenset(starters) - frozenset(base for base in bases if base is not None),
        )  # fmt: skip


def find_reason(game: Game) -> frozenset[int] | None:
    """Finds few cards that block each other in a deal; None if the dead-end test finds none.

    Cards are left out one by one as long as the rest still block each other, in several orders;
    the smallest set is kept. None of its cards can be left out.

    Args:
        game: A deal; nothing may have been played.
    """
    table, everything = _Table.of(game), frozenset(range(N_CARDS))
    if not Techniques.of(game.variant).relaxation or not _blocked(table, everything):
        return None
    found = everything
    for number in range(_TRIES):
        order = sorted(everything)
        random.Random(number).shuffle(order)
        cards = everything
        for card in order:
            if _blocked(table, cards - {card}):
                cards -= {card}
        found = min(found, cards, key=len)
    return found


def reason_text(game: Game, cards: frozenset[int]) -> str:
    """The cards of a reason as they lie, base first: `column 2: 5H 3C; column 4: 4H`.

    Face-down cards are written as on a board, `<5H>`.
    """
    parts = []
    for number, (column, hidden) in enumerate(
        zip(game.board.columns, game.board.hidden, strict=True), start=1
    ):
        names = [
            f"<{card_text(card)}>" if place < hidden else card_text(card)
            for place, card in enumerate(column)
            if card in cards
        ]
        if names:
            parts.append(f"column {number}: {' '.join(names)}")
    in_stock = [card_text(card) for card in game.board.stock if card in cards]
    if in_stock:
        parts.append(f"stock: {' '.join(in_stock)}")
    return "; ".join(parts)


def _blocked(table: _Table, cards: frozenset[int]) -> bool:
    """Whether these cards cannot all go up, though all others are out of the way."""
    # What can have left the place where it was dealt, and what can have gone up.
    gone = set(range(N_CARDS)) - cards
    up = set(gone)
    while True:
        rising = {card for card in cards - up if _can_go_up(table, card, gone, up)}
        space = any(base is None or base in gone for base in table.bases)
        leaving = {card for card in cards - gone if _can_move(table, card, cards, gone, space)}
        if not rising and leaving <= gone:
            return len(up) < N_CARDS
        up |= rising
        gone |= rising | leaving


def _can_go_up(table: _Table, card: int, gone: set[int], up: set[int]) -> bool:
    first = card - card % N_RANKS
    return _is_open(table, card, gone) and up.issuperset(range(first, card))


def _can_move(table: _Table, card: int, cards: frozenset[int], gone: set[int], space: bool) -> bool:
    """Whether the card can be grabbed and has a place to go to."""
    if card in table.hidden and not _is_open(table, card, gone):
        return False
    if space and card in table.starters:
        return True
    return any(
        parent not in cards or _can_take(table, parent, card, gone)
        for parent in table.parents[card]
    )


def _can_take(table: _Table, parent: int, card: int, gone: set[int]) -> bool:
    """Whether a parent can lie open in a column while the card comes to it."""
    if table.column[parent] == STOCK and parent not in gone:
        return False
    if table.column[parent] == table.column[card] and table.place[parent] > table.place[card]:
        # In the card's own group: something between them, or the parent, must leave first.
        between = table.above[card]
        while between != parent and between not in gone:
            between = table.above[between]  # type: ignore[index]
        if between not in gone:
            return False
    return _is_open(table, parent, gone)


def _is_open(table: _Table, card: int, gone: set[int]) -> bool:
    """Whether the card can have nothing on it: the next card above, if there is one, has left."""
    above = table.above[card]
    return above is None or above in gone
