"""Brute force: every position that can be reached, without any pruning, in plain Python.

It knows the rule-book's questions "may this card lie on that one" and "does an empty column take
it", and nothing of the solver. A test checks that its moves are the rule-book's moves.

A state is (columns, foundations, stock, waste, redeals left); a column is (cards, how many of
them are face down). Columns are kept sorted, since their order means nothing.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from typing import Any

import rulebook
from rulebook import Rules, Table

Column = tuple[tuple[int, ...], int]
State = tuple[tuple[Column, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...], int | None]
Option = tuple[int, int]
WON = (13, 13, 13, 13)
SPACE, UP, DEAL = 100, 101, 102


@cache
def parents_of(rules: Rules) -> list[frozenset[int]]:
    """For each card, those it may lie on."""
    return [
        frozenset(t for t in rulebook.CARDS if rulebook.may_lie_on(rules, card, t))
        for card in rulebook.CARDS
    ]


def state_of(table: Table) -> State:
    """The state of a table of the rule-book."""
    columns = tuple(sorted(zip(table.columns, table.hidden, strict=True)))
    return columns, table.foundations, table.stock, table.waste, table.redeals_left


def table_of_board(board: Any, name: str) -> Table:
    """The table of the rule-book that shows a `Board`."""
    return Table(
        rules=rulebook.RULES[name],
        columns=board.columns,
        hidden=board.hidden,
        foundations=board.foundations,
        stock=board.stock,
        waste=board.waste,
        stock_seen=board.stock_seen,
        redeals_left=board.redeals_left,
    )


def lifted(column: Column, position: int) -> Column:
    """What is left of a column when a group is taken; the card beneath turns face up."""
    cards, hidden = column[0][:position], column[1]
    return cards, hidden - (hidden == len(cards) > 0)


def options(rules: Rules, state: State) -> Iterator[tuple[Option, State]]:
    """Every legal move, and the state that it leads to.

    A move is (the group's head, the card it goes on): SPACE for an empty column, UP for its
    foundation, and (DEAL, DEAL) for the deal.
    """
    columns, up, stock, waste, redeals = state
    parents = parents_of(rules)

    def put(
        card: int, group: tuple[int, ...], rest: list[Column]
    ) -> Iterator[tuple[int, list[Column]]]:
        """Every way to lay a group headed by `card` onto one of the columns `rest`."""
        seen_space = False
        for i, (cards, hidden) in enumerate(rest):
            if cards and cards[-1] in parents[card]:
                yield cards[-1], [*rest[:i], (cards + group, hidden), *rest[i + 1 :]]
            elif not cards and not seen_space and rulebook.empty_column_takes(rules, card):
                seen_space = True
                yield SPACE, [*rest[:i], (group, 0), *rest[i + 1 :]]

    def raised(card: int) -> tuple[int, ...] | None:
        suit, rank = divmod(card, 13)
        return (*up[:suit], rank + 1, *up[suit + 1 :]) if up[suit] == rank else None

    # Search goes on with what comes last here: moves up first, returns last.
    if rules.foundation_return:
        for suit in range(4):
            if up[suit]:
                card = suit * 13 + up[suit] - 1
                lower = (*up[:suit], up[suit] - 1, *up[suit + 1 :])
                for target, laid in put(card, (card,), list(columns)):
                    if target != SPACE or card % 13 == 12:
                        yield (card, target), (tuple(sorted(laid)), lower, stock, waste, redeals)
    if stock:
        draw = rules.draw
        yield (DEAL, DEAL), (columns, up, stock[draw:], waste + stock[:draw], redeals)
    elif waste and redeals != 0:
        left = None if redeals is None else redeals - 1
        yield (DEAL, DEAL), (columns, up, waste, (), left)
    for i, column in enumerate(columns):
        others = [*columns[:i], *columns[i + 1 :]]
        cards, hidden = column
        for position in range(hidden, len(cards)):
            left_over = lifted(column, position)
            for target, laid in put(cards[position], cards[position:], others):
                if position > 0 or target != SPACE:
                    laid = [*laid, left_over]
                    yield (
                        (cards[position], target),
                        (tuple(sorted(laid)), up, stock, waste, redeals),
                    )
        if cards and (higher := raised(cards[-1])):
            laid = [*others, lifted(column, len(cards) - 1)]
            yield (cards[-1], UP), (tuple(sorted(laid)), higher, stock, waste, redeals)
    if waste:
        card = waste[-1]
        for target, laid in put(card, (card,), list(columns)):
            yield (card, target), (tuple(sorted(laid)), up, stock, waste[:-1], redeals)
        if higher := raised(card):
            yield (card, UP), (columns, higher, stock, waste[:-1], redeals)


def can_be_won(rules: Rules, start: State, max_states: int) -> bool | None:
    """Whether the state can be won; None when that takes more states than allowed."""
    seen = {start}
    stack = [start]
    while stack:
        state = stack.pop()
        if state[1] == WON:
            return True
        for _, successor in options(rules, state):
            if successor not in seen:
                if len(seen) >= max_states:
                    return None
                seen.add(successor)
                stack.append(successor)
    return False


# ---------------------------------------------------------------------------------------------
# Reduced games
# ---------------------------------------------------------------------------------------------


STOCK_NAMES = ("australian", "raw-prawn", "canberra", "tasmanian")


def reduced_table(name: str, rng: random.Random) -> Table:
    """A small game: few cards lie where they can matter, and most of those face down.

    Some games keep the high ranks, and the low ones are up. The others keep the low ranks; of
    each suit the high ones lie in order at the base of a column. Where there is a stock, some
    cards lie in it.
    """
    rules = rulebook.RULES[name]
    columns: list[list[int]] = [[] for _ in range(7)]
    low = rng.random() < (0.7 if name in STOCK_NAMES else 0.4)
    # With few rules there are many positions: brute force needs smaller games there.
    is_free = rules.empty == "any" or rules.build in ("up or down, alternating colour", "down, any")
    if is_free:
        ranks = rng.randint(1, 3) if low else rng.randint(2, 6)
    else:
        ranks = rng.randint(2, 5) if low else rng.randint(3, 9)
    foundations = [0] * 4
    cards = []
    for suit in range(4):
        n = min(13, max(1, ranks + rng.choice([-1, 0, 0, 1])))
        if low:
            columns[suit] = [suit * 13 + rank for rank in range(12, n - 1, -1)]
            cards += [suit * 13 + rank for rank in range(n)]
        else:
            foundations[suit] = 13 - n
            cards += [suit * 13 + rank for rank in range(13 - n, 13)]
    rng.shuffle(cards)
    if rng.random() < 0.4:
        # Low cards lie deep: such games are lost more often.
        cards.sort(key=lambda card: card % 13 + rng.random() * 4)
    waste: list[int] = []
    stock: list[int] = []
    redeals_left = rules.redeals
    if name in STOCK_NAMES:
        n_pile = rng.randint(0, len(cards) // 2)
        pile = [cards.pop(rng.randrange(len(cards))) for _ in range(n_pile)]
        n_waste = rng.choice([0, 0, rng.randint(0, len(pile))])
        waste, stock = pile[:n_waste], pile[n_waste:]
        if redeals_left is not None:
            redeals_left = rng.randint(0, redeals_left)
    used = rng.sample(range(7), rng.choice([2, 4, 5, 6, 7, 7, 7, 7]))
    for card in cards:
        columns[rng.choice(used)].append(card)
    hidden = [max(0, len(column) - 1 - rng.choice([0, 0, 1, 2])) for column in columns]
    return Table(
        rules=rules,
        columns=tuple(tuple(column) for column in columns),
        hidden=tuple(hidden),
        foundations=(foundations[0], foundations[1], foundations[2], foundations[3]),
        stock=tuple(stock),
        waste=tuple(waste),
        stock_seen=bool(stock) and redeals_left != rules.redeals,
        redeals_left=redeals_left,
    )


def played_table(table: Table, rng: random.Random, n_moves: int) -> Table:
    """The table after some random moves."""
    for _ in range(n_moves):
        actions = sorted(rulebook.legal_actions(table))
        if not actions:
            break
        table = rulebook.play(table, rng.choice(actions))
    return table
