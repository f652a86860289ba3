"""Plays a solution by the plain rule-book, which shares nothing with the solver."""

from collections.abc import Iterable

import rulebook
from rulebook import Table


def replay(table: Table, moves: Iterable[int]) -> Table:
    """Plays the moves one by one, asking the rule-book of each whether it is legal.

    (`rulebook.play` would ask it of all 417.)

    Raises:
        ValueError: A move is not legal.
    """
    for move in moves:
        if move == rulebook.DEAL:
            if rulebook.may_deal(table):
                table = rulebook.after_deal(table)
            elif rulebook.may_redeal(table):
                table = rulebook.after_redeal(table)
            else:
                raise ValueError("illegal move: nothing can be dealt")
            continue
        card, destination = divmod(move, 8)
        if rulebook.is_won(table) or not rulebook.may_move(table, card, destination):
            raise ValueError(f"illegal move: {rulebook.action_text(move)}")
        group, rest = rulebook.take(table, card)
        table = rulebook.put(rest, group, destination)
    return table
