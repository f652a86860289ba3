"""A game as text that a person reads at a glance."""

from itertools import zip_longest

from yukon_env.board import UNKNOWN
from yukon_env.cards import N_RANKS, N_SUITS, SUITS, card_text
from yukon_env.game import Game

FACE_DOWN = "##"
BLANK = "  "


def draw_game(game: Game) -> str:
    """Draws a game: foundations and piles above, the columns downwards, face-down cards as `##`.

    Face-down cards that are known (with perfect information) are in angle brackets.
    """
    board = game.board
    lines = [f"{game.variant.title}", f"Foundations  {_foundations(board.foundations)}"]
    if game.variant.stock:
        top = card_text(board.waste[-1]) if board.waste else "--"
        lines.append(f"Stock {len(board.stock)} cards   Waste {len(board.waste)} cards, top {top}")
    lines += ["", "".join(f"  {number}  " for number in range(1, len(board.columns) + 1)).rstrip()]
    columns = [
        [_cell(card, position < hidden) for position, card in enumerate(cards)]
        for cards, hidden in zip(board.columns, board.hidden, strict=True)
    ]
    rows = zip_longest(*columns, fillvalue=f" {BLANK} ")
    lines += ["".join(f" {cell}" for cell in row).rstrip() for row in rows]
    if game.won:
        lines.append("Won.")
    elif game.dead_end:
        lines.append("Dead end.")
    return "\n".join(lines)


def _foundations(counts: tuple[int, ...]) -> str:
    tops = (
        card_text(suit * N_RANKS + counts[suit] - 1) if counts[suit] else f"-{SUITS[suit]}"
        for suit in range(N_SUITS)
    )
    return "  ".join(tops)


def _cell(card: int, face_down: bool) -> str:
    if not face_down:
        return f" {card_text(card)} "
    return f" {FACE_DOWN} " if card == UNKNOWN else f"<{card_text(card)}>"
