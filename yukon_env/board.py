"""Boards as text.

The form, base cards first, `<4C>` face down, `<>` face down and unknown, `-` an empty column:

    Foundations: C-2 D-0 H-0 S-0
    Stock: <4D> <9S>
    Waste: KC
    8C
    <5D> 5S 3C JC 9C TH
    ...

Labelled lines may stand anywhere; those with nothing to say may be left out. The forms of the
common programs are read, too: `10H`, lower case, `Talon:` for the stock, a colon before a column.
PySolFC deals its stock games with one card on the waste already: the first deal played here.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from yukon_env.cards import N_CARDS, N_RANKS, N_SUITS, RANKS, SUITS, card_text, parse_card
from yukon_env.errors import BoardError, CardError
from yukon_env.variants import N_COLUMNS, Variant

UNKNOWN = -1
EMPTY_COLUMN = "-"


@dataclass(frozen=True)
class Board:
    """Where every card lies.

    Attributes:
        columns: Seven tuples of card numbers, base first; UNKNOWN for a card nobody names.
        hidden: How many cards of each column are face down.
        foundations: Cards on each foundation, suits C D H S.
        stock: The stock, next card to deal first.
        waste: The waste, the card dealt first at index 0.
        stock_seen: Whether a redeal has shown the stock's cards.
        redeals_left: Redeals left; None for ever.
    """

    columns: tuple[tuple[int, ...], ...]
    hidden: tuple[int, ...]
    foundations: tuple[int, ...] = (0,) * N_SUITS
    stock: tuple[int, ...] = ()
    waste: tuple[int, ...] = ()
    stock_seen: bool = False
    redeals_left: int | None = 0

    @property
    def unknown(self) -> int:
        """How many cards are UNKNOWN."""
        return sum(card == UNKNOWN for cards in (*self.columns, self.stock) for card in cards)


def format_board(board: Board, variant: Variant, hide: bool = False) -> str:
    """Writes a board of a variant as text; with `hide`, hidden cards are written `<>`."""
    lines = [f"Foundations: {_format_foundations(board.foundations)}"]
    if board.stock:
        down = not board.stock_seen
        words = (_format_card(card, down, hide and down) for card in board.stock)
        lines.append(f"Stock: {' '.join(words)}")
    if board.waste:
        lines.append(f"Waste: {' '.join(card_text(card) for card in board.waste)}")
    if variant.redeals:
        lines.append(f"Redeals left: {board.redeals_left}")
    for cards, hidden in zip(board.columns, board.hidden, strict=True):
        column = (_format_card(card, i < hidden, hide) for i, card in enumerate(cards))
        lines.append(" ".join(column) or EMPTY_COLUMN)
    return "\n".join(lines)


def _format_foundations(counts: Iterable[int]) -> str:
    ranks = "0" + RANKS
    return " ".join(f"{suit}-{ranks[up]}" for suit, up in zip(SUITS, counts, strict=True))


def _format_card(card: int, face_down: bool, hide: bool) -> str:
    if not face_down:
        return card_text(card)
    return "<>" if hide or card == UNKNOWN else f"<{card_text(card)}>"


def parse_board(text: str, variant: Variant) -> Board:
    """Reads a board.

    Args:
        text: A board in the form of this module's docstring.
        variant: The game it is a board of.

    Raises:
        BoardError: The text is no board, or one that no game could show; says which card or line
            is wrong, and why.
    """
    if not isinstance(text, str):
        raise BoardError(f"a board is text, not {text!r}")
    board = Board(columns=(), hidden=(), redeals_left=variant.redeals)
    labels: set[str] = set()
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            board = _parse_line(line.strip(), board, labels)
        except (BoardError, CardError) as error:
            raise BoardError(f"line {number}, {line.strip()!r}: {error}") from None
    if len(board.columns) != N_COLUMNS:
        raise BoardError(
            f"a board has {N_COLUMNS} columns, this text has {len(board.columns)} "
            f"(write an empty one as {EMPTY_COLUMN!r})"
        )
    check_board(board, variant)
    return board


def _parse_line(line: str, board: Board, labels: set[str]) -> Board:
    """Adds what one line says to the board, and its label to those that were there before."""
    words, colon, rest = line.rpartition(":")
    label = words.strip().lower().replace("talon", "stock")
    if label in labels:
        raise BoardError(f"there is a line {words.strip()!r} already")
    if label:
        labels.add(label)
    match label:
        case _ if not line:
            return board
        case "":
            return _parse_column(rest if colon else line, board)
        case "foundations":
            return replace(board, foundations=_parse_foundations(rest))
        case "stock":
            cards, seen = _parse_stock(rest)
            # Other programs write Talon, and never say whether its cards have been seen.
            seen = seen and words.strip().lower() == "stock"
            return replace(board, stock=cards, stock_seen=seen)
        case "waste":
            return replace(board, waste=tuple(parse_card(word) for word in rest.split()))
        case "redeals left":
            return replace(board, redeals_left=_parse_redeals(rest.strip()))
    raise BoardError(
        f"unknown label {words.strip()!r}; "
        "known are Foundations, Stock (Talon), Waste, Redeals left"
    )


def _parse_column(line: str, board: Board) -> Board:
    number = len(board.columns) + 1
    if number > N_COLUMNS:
        raise BoardError(f"a column too many: a board has {N_COLUMNS}")
    words = [] if line.strip() in ("", EMPTY_COLUMN) else line.split()
    cards = [_parse_place(word) for word in words]
    hidden = sum(not face_up for _, face_up in cards)
    for (_, under_up), (_, face_up), word in zip(cards, cards[1:], words[1:], strict=False):
        if under_up and not face_up:
            raise BoardError(f"the face-down {word} lies on a face-up card in column {number}")
    if cards and hidden == len(cards):
        raise BoardError(f"the end card {words[-1]} of column {number} must be face up")
    columns = (*board.columns, tuple(card for card, _ in cards))
    return replace(board, columns=columns, hidden=(*board.hidden, hidden))


def _parse_stock(text: str) -> tuple[tuple[int, ...], bool]:
    """Reads a stock, its cards like <4C>, or like 4C when a redeal has shown them all."""
    cards = [_parse_place(word) for word in text.split()]
    seen = {face_up for _, face_up in cards}
    if len(seen) > 1:
        raise BoardError("a redeal shows all cards of the stock or none: write all like <4C> or 4C")
    return tuple(card for card, _ in cards), True in seen


def _parse_place(word: str) -> tuple[int, bool]:
    """Reads `4C`, `<4C>` or `<>`; returns the card and whether it is face up."""
    if not word.startswith("<"):
        return parse_card(word), True
    if not word.endswith(">"):
        raise BoardError(f"{word!r} lacks its closing '>'")
    return (UNKNOWN if word == "<>" else parse_card(word[1:-1])), False


def _parse_foundations(text: str) -> tuple[int, ...]:
    """Reads `C-2 D-0 H-A S-K` in any order; suits that are not named are empty."""
    counts: list[int | None] = [None] * N_SUITS
    for word in text.split():
        suit, _, top = word.upper().replace("10", "T").partition("-")
        if len(suit) != 1 or suit not in SUITS or len(top) != 1 or top not in "01" + RANKS:
            raise BoardError(f"{word!r} is no foundation; one is written like C-2 or S-0")
        if counts[SUITS.index(suit)] is not None:
            raise BoardError(f"the foundation of {suit} is there twice")
        counts[SUITS.index(suit)] = ("0" + RANKS).index(top.replace("1", "A"))
    return tuple(up or 0 for up in counts)


def _parse_redeals(text: str) -> int | None:
    if text == "unlimited":
        return None
    if not text.isdecimal():
        raise BoardError(f"redeals left must be a number or 'unlimited', not {text!r}")
    return int(text)


def check_board(board: Board, variant: Variant) -> None:
    """Checks that a game of this variant could show the board.

    Raises:
        BoardError: A card is twice or not there, or a pile does not belong to the variant.
    """
    _check_piles(board, variant)
    tableau = [*(card for column in board.columns for card in column), *board.stock, *board.waste]
    up = [
        suit * N_RANKS + rank for suit in range(N_SUITS) for rank in range(board.foundations[suit])
    ]
    counts = Counter(card for card in (*tableau, *up) if card != UNKNOWN)
    twice = [card for card, count in counts.items() if count > 1]
    if twice:
        where = " (once on a foundation)" if twice[0] in up else ""
        raise BoardError(f"{card_text(twice[0])} is on the board {counts[twice[0]]} times{where}")
    missing = [card for card in range(N_CARDS) if card not in counts]
    if len(missing) != board.unknown:
        _raise_missing(missing, board.unknown)
    n_face_down = sum(board.hidden) + (0 if board.stock_seen else len(board.stock))
    if board.unknown not in (0, n_face_down):
        raise BoardError("either all face-down cards are written <>, or none")


def _check_piles(board: Board, variant: Variant) -> None:
    if (board.stock or board.waste) and not variant.stock:
        raise BoardError(f"{variant.key} has no stock and no waste")
    left, allowed = board.redeals_left, variant.redeals
    if allowed is not None and (left is None or left > allowed):
        given = "unlimited redeals" if left is None else f"{left} redeals left"
        raise BoardError(f"{variant.key} has {allowed} redeals; the board has {given}")
    if allowed is None and left is not None:
        raise BoardError(f"{variant.key} has unlimited redeals; the board has {left} left")
    if board.stock_seen and allowed == 0:
        raise BoardError(
            f"{variant.key} has no redeal, so its stock is never seen: write its cards as <4C>"
        )


def _raise_missing(missing: list[int], unknown: int) -> None:
    names = ", ".join(card_text(card) for card in missing)
    if unknown:
        raise BoardError(f"{unknown} cards are written <>, but {len(missing)} are missing: {names}")
    count = N_CARDS - len(missing)
    raise BoardError(f"the board holds {count} cards, not {N_CARDS}; missing: {names}")
