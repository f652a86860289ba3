"""A plain rule-book of the fourteen games, written from RULES.md alone.

It is slow on purpose: every question is answered by looking at the whole table and trying every
card against every destination. It shares no code and no idea with the fast engine, so that where
the two agree, they agree because both follow the rules. "Rule n" in a comment is rule n of
RULES.md, section "Rules common to the family".

A table is never changed; `play` returns a new one.

Words, as in RULES.md: the *base* of a column is its first card, its *end* the last one. A *group*
is a face-up card, its *head*, and everything lying on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

Entry = TypeVar("Entry")

# ---------------------------------------------------------------------------------------------
# Cards
# ---------------------------------------------------------------------------------------------

SUITS = "CDHS"
RANKS = "A23456789TJQK"
ACE = 0
KING = 12

CARDS = range(52)
COLUMNS = range(7)

# Destinations of a move: 0-6 are the columns, 7 is the card's foundation.
FOUNDATION = 7
DESTINATIONS = range(8)

# Action numbers: card * 8 + destination, and one more for the stock.
DEAL = 416
ACTION_COUNT = 417

# Zones of an observation: 0-6 are the columns.
ZONE_FOUNDATION = 7
ZONE_WASTE = 8
ZONE_STOCK = 9
NOT_KNOWN = (-1, -1, 0)


def suit_of(card: int) -> int:
    """Returns 0 clubs, 1 diamonds, 2 hearts, 3 spades."""
    return card // 13


def rank_of(card: int) -> int:
    """Returns 0 for an ace, 1 for a two, ... 12 for a king."""
    return card % 13


def is_red(card: int) -> bool:
    """Says whether the card is a diamond or a heart."""
    return SUITS[suit_of(card)] in "DH"


def card_number(text: str) -> int:
    """Reads a card such as `AC`, `TD`, `10D` or `kh`."""
    rank_and_suit = text.upper().replace("10", "T")
    rank = RANKS.index(rank_and_suit[0])
    suit = SUITS.index(rank_and_suit[1])
    return suit * 13 + rank


def card_text(card: int) -> str:
    """Writes a card as rank, then suit."""
    return RANKS[rank_of(card)] + SUITS[suit_of(card)]


# ---------------------------------------------------------------------------------------------
# Variants
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rules:
    """One row of the table of variants in RULES.md.

    Attributes:
        hidden: Face-down cards of each column at the start, left to right.
        up: Face-up cards of each column at the start, left to right.
        build: The build rule in the words of RULES.md: a direction ("down" or "up or down"), a
            comma, and what the suits must be to each other ("alternating colour", "same suit",
            "any suit but its own" or "any suit").
        empty: What an empty column takes: "king" or "any".
        draw: How many stock cards one deal move turns. Without a stock it means nothing.
        redeals: How many times the waste may become the stock again; None is without limit.
        foundation_return: Whether a foundation's top card may come back to a column.
    """

    hidden: tuple[int, ...]
    up: tuple[int, ...]
    build: str
    empty: str
    draw: int = 1
    redeals: int | None = 0
    foundation_return: bool = False


YUKON_HIDDEN = (0, 1, 2, 3, 4, 5, 6)
YUKON_UP = (1, 5, 5, 5, 5, 5, 5)
QUEENSLAND_UP = (5, 5, 5, 4, 4, 4, 4)
NONE_HIDDEN = (0, 0, 0, 0, 0, 0, 0)
FOUR_UP = (4, 4, 4, 4, 4, 4, 4)

RULES: dict[str, Rules] = {
    "yukon": Rules(YUKON_HIDDEN, YUKON_UP, "down, alternating colour", "king"),
    "yukon-relaxed": Rules(YUKON_HIDDEN, YUKON_UP, "down, alternating colour", "any"),
    "russian": Rules(YUKON_HIDDEN, YUKON_UP, "down, same suit", "king"),
    "russian-relaxed": Rules(YUKON_HIDDEN, YUKON_UP, "down, same suit", "any"),
    "alaska": Rules(YUKON_HIDDEN, YUKON_UP, "up or down, same suit", "king"),
    "moosehide": Rules(YUKON_HIDDEN, YUKON_UP, "down, any suit but its own", "king"),
    "roslin": Rules(YUKON_HIDDEN, YUKON_UP, "up or down, alternating colour", "king"),
    "odessa": Rules(
        (3, 3, 3, 3, 3, 3, 3), (3, 5, 5, 5, 5, 5, 3), "down, same suit", "king"
    ),
    "queensland": Rules(YUKON_HIDDEN, QUEENSLAND_UP, "down, same suit", "any"),
    "brisbane": Rules(YUKON_HIDDEN, QUEENSLAND_UP, "down, any suit", "any"),
    "australian": Rules(
        NONE_HIDDEN, FOUR_UP, "down, same suit", "king",
        draw=1, redeals=0, foundation_return=True,
    ),
    "raw-prawn": Rules(
        NONE_HIDDEN, FOUR_UP, "down, same suit", "any",
        draw=1, redeals=0, foundation_return=True,
    ),
    "canberra": Rules(
        NONE_HIDDEN, FOUR_UP, "down, same suit", "king",
        draw=1, redeals=1, foundation_return=True,
    ),
    "tasmanian": Rules(
        NONE_HIDDEN, FOUR_UP, "down, same suit", "king",
        draw=3, redeals=None, foundation_return=True,
    ),
}  # fmt: skip


def may_lie_on(rules: Rules, card: int, target: int) -> bool:
    """Says whether `card` may be put on `target`, the end card of a column (rule 2)."""
    direction, suits = rules.build.split(", ")
    return ranks_fit(direction, card, target) and suits_fit(suits, card, target)


def ranks_fit(direction: str, card: int, target: int) -> bool:
    """Says whether the card's rank suits the target's.

    Rule 2, "no rank wraps": ranks run from 0 to 12 and are compared as plain numbers, so an ace
    (0) and a king (12) are never neighbours.
    """
    one_below = rank_of(card) == rank_of(target) - 1
    one_above = rank_of(card) == rank_of(target) + 1
    if direction == "down":
        return one_below
    if direction == "up or down":
        return one_below or one_above
    raise ValueError(f"unknown build direction {direction!r}")


def suits_fit(suits: str, card: int, target: int) -> bool:
    """Says whether the card's suit suits the target's."""
    if suits == "alternating colour":
        return is_red(card) != is_red(target)
    if suits == "same suit":
        return suit_of(card) == suit_of(target)
    if suits == "any suit but its own":
        return suit_of(card) != suit_of(target)
    if suits == "any suit":
        return True
    raise ValueError(f"unknown build suits {suits!r}")


def empty_column_takes(rules: Rules, card: int) -> bool:
    """Says whether an empty column takes a group with this head (rule 3)."""
    if rules.empty == "king":
        return rank_of(card) == KING
    if rules.empty == "any":
        return True
    raise ValueError(f"unknown empty rule {rules.empty!r}")


# ---------------------------------------------------------------------------------------------
# Tables
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """Everything that lies on the table, known to the player or not.

    Attributes:
        rules: The variant.
        columns: Seven columns, each from its base to its end.
        hidden: How many cards at the base of each column are face down.
        foundations: How many cards of each suit are up, in the order C D H S.
        stock: The stock, the next card to deal first.
        waste: The waste, the card dealt first first; so the last one is its top card.
        stock_seen: Whether a redeal has happened, so that the stock's cards are known.
        redeals_left: How many redeals are left; None is without limit.
    """

    rules: Rules
    columns: tuple[tuple[int, ...], ...]
    hidden: tuple[int, ...]
    foundations: tuple[int, ...]
    stock: tuple[int, ...]
    waste: tuple[int, ...]
    stock_seen: bool
    redeals_left: int | None


def deal(name: str, deck: Sequence[int]) -> Table:
    """Deals a deck for the variant of that name."""
    return deal_from_rules(RULES[name], deck)


def deal_from_rules(rules: Rules, deck: Sequence[int]) -> Table:
    """Deals a deck: RULES.md, section "From a deck to a table".

    Args:
        rules: The variant.
        deck: The 52 cards, the first one dealt first.

    Returns:
        The table before the first move.

    Raises:
        ValueError: The deck is not the 52 cards, or the columns want more than that.
    """
    if sorted(deck) != list(CARDS):
        raise ValueError("a deck is the 52 cards, each of them once")
    heights = [rules.hidden[column] + rules.up[column] for column in COLUMNS]
    if sum(heights) > 52:
        raise ValueError("the columns want more than 52 cards")

    columns: list[list[int]] = [[] for _ in COLUMNS]
    undealt = list(deck)
    for row in range(max(heights)):
        for column in COLUMNS:
            column_lacks_a_card_in_this_row = row < heights[column]
            if column_lacks_a_card_in_this_row:
                columns[column].append(undealt.pop(0))

    return Table(
        rules=rules,
        columns=tuple(tuple(column) for column in columns),
        hidden=tuple(rules.hidden),
        foundations=(0, 0, 0, 0),
        stock=tuple(undealt),
        waste=(),
        stock_seen=False,
        redeals_left=rules.redeals,
    )


def read_table(name: str, text: str) -> Table:
    """Reads a table from the text form of RULES.md; good input is assumed.

    One line per column, base first, `<4C>` face down; an empty column is an empty line or `-`.
    Lines with a label may stand before or after the columns and may be left out:
    `Foundations: C-2 D-0 H-0 S-0`, `Stock: 4C 5D` (next to deal first), `Waste: 7S 8S` (dealt
    first first). Stock cards are read with or without angle brackets.

    The text form does not say how many redeals are gone: the table is read as one with none gone
    and the stock not seen. For another, use `dataclasses.replace`. The table need not hold all 52
    cards.

    Args:
        name: The variant.
        text: The table.

    Returns:
        The table.

    Raises:
        ValueError: There are not seven columns, or a line has an unknown label.
    """
    column_lines: list[str] = []
    foundations = [0, 0, 0, 0]
    stock: tuple[int, ...] = ()
    waste: tuple[int, ...] = ()
    for line in text.split("\n"):
        if ":" not in line:
            column_lines.append(line.strip())
            continue
        label, content = line.split(":")
        if label.strip() == "Foundations":
            for entry in content.split():
                suit, count = entry.split("-")
                foundations[SUITS.index(suit)] = int(count)
        elif label.strip() == "Stock":
            stock = read_cards(content)
        elif label.strip() == "Waste":
            waste = read_cards(content)
        else:
            raise ValueError(f"unknown label {label!r}")

    column_lines = without_surrounding_blank_lines(column_lines)
    if len(column_lines) != 7:
        raise ValueError(f"seven columns are wanted, here are {len(column_lines)}")
    rules = RULES[name]
    return Table(
        rules=rules,
        columns=tuple(read_cards(line) for line in column_lines),
        hidden=tuple(line.count("<") for line in column_lines),
        foundations=tuple(foundations),
        stock=stock,
        waste=waste,
        stock_seen=False,
        redeals_left=rules.redeals,
    )


def read_cards(text: str) -> tuple[int, ...]:
    """Reads cards with spaces between them, face down or not; `-` stands for no card."""
    return tuple(card_number(word.strip("<>")) for word in text.split() if word != "-")


def without_surrounding_blank_lines(lines: list[str]) -> list[str]:
    """Takes blank lines off, last and first in turn, as long as there are more than seven."""
    kept = list(lines)
    while len(kept) > 7 and "" in (kept[0], kept[-1]):
        if kept[-1] == "":
            kept.pop()
        if len(kept) > 7 and kept[0] == "":
            kept.pop(0)
    return kept


# ---------------------------------------------------------------------------------------------
# Where a card is
# ---------------------------------------------------------------------------------------------


def place_of(table: Table, card: int) -> tuple[int, int] | None:
    """Finds a card that lies in a column.

    Returns:
        Its column, and its position there counted from the base (0); None if it is in no column.
    """
    for column in COLUMNS:
        for position, other in enumerate(table.columns[column]):
            if other == card:
                return column, position
    return None


def is_on_top_of_its_foundation(table: Table, card: int) -> bool:
    """Says whether the card is up, and the last of its suit that went up."""
    cards_up = table.foundations[suit_of(card)]
    return cards_up > 0 and rank_of(card) == cards_up - 1


def is_on_top_of_the_waste(table: Table, card: int) -> bool:
    """Says whether the card is the one dealt last of those in the waste."""
    return len(table.waste) > 0 and table.waste[-1] == card


# ---------------------------------------------------------------------------------------------
# Legal moves
# ---------------------------------------------------------------------------------------------


def legal_actions(table: Table) -> set[int]:
    """Lists the legal moves as action numbers; there are none once the game is won or lost."""
    if is_won(table):
        return set()
    actions = set()
    for card in CARDS:
        for destination in DESTINATIONS:
            if may_move(table, card, destination):
                actions.add(card * 8 + destination)
    if may_deal(table) or may_redeal(table):
        actions.add(DEAL)
    return actions


def may_move(table: Table, card: int, destination: int) -> bool:
    """Says whether a card, with what lies on it, may go to a destination."""
    if destination == FOUNDATION:
        return may_go_up(table, card)
    if place_of(table, card) is not None:
        return may_move_between_columns(table, card, destination)
    if is_on_top_of_the_waste(table, card):
        return may_come_from_the_waste(table, card, destination)
    if is_on_top_of_its_foundation(table, card):
        return may_come_back_from_its_foundation(table, card, destination)
    return False


def may_go_up(table: Table, card: int) -> bool:
    """Says whether a card may go to its foundation.

    Rule 4: only a column's end card or the waste's top card, by suit, ace to king.
    """
    is_an_end = any(len(column) > 0 and column[-1] == card for column in table.columns)
    is_next_of_its_suit = rank_of(card) == table.foundations[suit_of(card)]
    return (is_an_end or is_on_top_of_the_waste(table, card)) and is_next_of_its_suit


def may_move_between_columns(table: Table, card: int, destination: int) -> bool:
    """Says whether the group headed by a card of some column may go to another column."""
    place = place_of(table, card)
    assert place is not None
    column, position = place

    # Rule 1: any face-up card; the order of those lying on it does not matter.
    is_face_up = position >= table.hidden[column]
    if not is_face_up:
        return False

    # Rule 2: to another column.
    if destination == column:
        return False

    # Rule 10: the base card of a column never moves to an empty column.
    is_base = position == 0
    if is_base and len(table.columns[destination]) == 0:
        return False

    return column_takes(table, card, destination)


def may_come_from_the_waste(table: Table, card: int, destination: int) -> bool:
    """Says whether the waste's top card may go to a column (rule 7)."""
    return column_takes(table, card, destination)


def may_come_back_from_its_foundation(table: Table, card: int, destination: int) -> bool:
    """Says whether a foundation's top card may go back to a column (rule 6)."""
    if not table.rules.foundation_return:
        return False
    # Rule 6: "or, a king, to an empty column", also where any card may fill an empty column.
    if len(table.columns[destination]) == 0:
        return rank_of(card) == KING
    return may_lie_on(table.rules, card, table.columns[destination][-1])


def column_takes(table: Table, card: int, destination: int) -> bool:
    """Says whether a column takes a group with this head: rule 3 if it is empty, else rule 2."""
    if len(table.columns[destination]) == 0:
        return empty_column_takes(table.rules, card)
    return may_lie_on(table.rules, card, table.columns[destination][-1])


def may_deal(table: Table) -> bool:
    """Says whether the stock has a card to deal (rule 7)."""
    return len(table.stock) > 0


def may_redeal(table: Table) -> bool:
    """Says whether the waste may be turned over to be the stock again (rule 7)."""
    redeals_are_left = table.redeals_left is None or table.redeals_left > 0
    return len(table.stock) == 0 and len(table.waste) > 0 and redeals_are_left


# ---------------------------------------------------------------------------------------------
# Playing
# ---------------------------------------------------------------------------------------------


def play(table: Table, action: int) -> Table:
    """Plays one move.

    Args:
        table: The table before the move; it stays as it is.
        action: An action number.

    Returns:
        The table after the move.

    Raises:
        ValueError: The move is not legal.
    """
    if action not in legal_actions(table):
        raise ValueError(f"illegal move: {action_text(action)}")
    if action == DEAL:
        return after_deal(table) if may_deal(table) else after_redeal(table)
    card, destination = divmod(action, 8)
    group, table_without_it = take(table, card)
    return put(table_without_it, group, destination)


def action_text(action: int) -> str:
    """Writes an action for an error message."""
    if action == DEAL:
        return "deal"
    if action not in range(DEAL):
        return f"no such action as {action}"
    card, destination = divmod(action, 8)
    return f"{card_text(card)} to {'foundation' if destination == FOUNDATION else destination}"


def after_deal(table: Table) -> Table:
    """Turns the next stock cards onto the waste, or what is left if that is fewer (rule 7)."""
    draw = table.rules.draw
    return replace(table, stock=table.stock[draw:], waste=table.waste + table.stock[:draw])


def after_redeal(table: Table) -> Table:
    """Makes the waste the stock again; the first card dealt comes first again (rule 7)."""
    redeals_left = None if table.redeals_left is None else table.redeals_left - 1
    return replace(table, stock=table.waste, waste=(), stock_seen=True, redeals_left=redeals_left)


def take(table: Table, card: int) -> tuple[tuple[int, ...], Table]:
    """Takes a card and everything lying on it off the table.

    Args:
        table: The table.
        card: A card that may move.

    Returns:
        The cards taken, and the table without them.
    """
    place = place_of(table, card)
    if place is not None:
        # Rule 1: the card and everything lying on it. Nothing is left behind.
        column, position = place
        group = table.columns[column][position:]
        left = table.columns[column][:position]
        # Rule 5: a face-down card that is uncovered turns face up at once.
        hidden = table.hidden[column]
        if len(left) > 0 and hidden == len(left):
            hidden = hidden - 1
        return group, replace(
            table,
            columns=with_entry(table.columns, column, left),
            hidden=with_entry(table.hidden, column, hidden),
        )
    if is_on_top_of_the_waste(table, card):
        return (card,), replace(table, waste=table.waste[:-1])
    # Rule 6: back from its foundation.
    suit = suit_of(card)
    foundations = with_entry(table.foundations, suit, table.foundations[suit] - 1)
    return (card,), replace(table, foundations=foundations)


def put(table: Table, group: tuple[int, ...], destination: int) -> Table:
    """Puts cards that were taken off the table on a column or on a foundation."""
    if destination == FOUNDATION:
        # Rule 4: one card at a time.
        (card,) = group
        suit = suit_of(card)
        foundations = with_entry(table.foundations, suit, table.foundations[suit] + 1)
        return replace(table, foundations=foundations)
    column = table.columns[destination] + group
    return replace(table, columns=with_entry(table.columns, destination, column))


def with_entry(entries: tuple[Entry, ...], index: int, entry: Entry) -> tuple[Entry, ...]:
    """Returns the same tuple with one entry changed."""
    changed = list(entries)
    changed[index] = entry
    return tuple(changed)


# ---------------------------------------------------------------------------------------------
# The end of a game
# ---------------------------------------------------------------------------------------------


def is_won(table: Table) -> bool:
    """Says whether all 52 cards are on the foundations (rule 8)."""
    return all(cards_up == 13 for cards_up in table.foundations)


def is_dead_end(table: Table) -> bool:
    """Says whether the game is lost: not won, and no legal move (rule 9)."""
    return not is_won(table) and len(legal_actions(table)) == 0


# ---------------------------------------------------------------------------------------------
# What a player is shown: DESIGN.md, sections "Observation" and "Actions"
# ---------------------------------------------------------------------------------------------


def observation(table: Table, perfect_information: bool = False) -> list[tuple[int, int, int]]:
    """Writes what the player sees.

    Args:
        table: The table.
        perfect_information: Whether hidden cards show where they are.

    Returns:
        One row per card number: zone, position, face_up.
    """
    rows = [NOT_KNOWN for _ in CARDS]
    for column in COLUMNS:
        for position, card in enumerate(table.columns[column]):
            is_face_up = position >= table.hidden[column]
            if is_face_up:
                rows[card] = (column, position, 1)
            elif perfect_information:
                rows[card] = (column, position, 0)
    for card in CARDS:
        is_up = rank_of(card) < table.foundations[suit_of(card)]
        if is_up:
            rows[card] = (ZONE_FOUNDATION, rank_of(card), 1)
    for position, card in enumerate(table.waste):
        rows[card] = (ZONE_WASTE, position, 1)
    for position, card in enumerate(table.stock):
        if table.stock_seen or perfect_information:
            rows[card] = (ZONE_STOCK, position, 0)
    return rows


def action_mask(table: Table) -> list[int]:
    """Writes the legal moves as 417 zeros and ones; all ones when the game is over."""
    if is_won(table) or is_dead_end(table):
        return [1] * ACTION_COUNT
    legal = legal_actions(table)
    return [1 if action in legal else 0 for action in range(ACTION_COUNT)]
