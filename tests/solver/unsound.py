"""Rules of thumb that are wrong: each forgets moves without which some game cannot be won.

A rule is given the state, its moves, and the move that led to it, and returns the moves that it
would have the search try.
"""

from __future__ import annotations

from collections.abc import Callable

import rulebook
from brute import DEAL, SPACE, UP, WON, Option, State, options
from rulebook import Rules

Moves = list[tuple[Option, State]]
# The last move: its head, and the card that the head lay on before (None for the bare table).
Last = tuple[int, int | None] | None
Rule = Callable[[Rules, State, Moves, Last], Moves]


def can_be_won_with(rule: Rule, rules: Rules, start: State, max_states: int) -> bool | None:
    """Whether a search that follows the rule finds a win; None if that takes too many states."""
    seen: set[tuple[State, Last]] = {(start, None)}
    stack: list[tuple[State, Last]] = [(start, None)]
    while stack:
        state, last = stack.pop()
        if state[1] == WON:
            return True
        for (head, _), successor in rule(rules, state, list(options(rules, state)), last):
            entry = successor, (head, beneath(state, head)[0])
            if entry not in seen:
                if len(seen) >= max_states:
                    return None
                seen.add(entry)
                stack.append(entry)
    return False


def beneath(state: State, card: int) -> tuple[int | None, bool]:
    """The card beneath a card of a column, None for its base, and whether that is face down."""
    for cards, hidden in state[0]:
        if card in cards:
            position = cards.index(card)
            return (cards[position - 1], position <= hidden) if position else (None, False)
    return None, False


def changes_parent(rules: Rules, state: State, option: Option) -> bool:
    """Whether a card goes from one legal parent to the other."""
    head, target = option
    under, face_down = beneath(state, head)
    lies_well = under is not None and not face_down and rulebook.may_lie_on(rules, head, under)
    return lies_well and target not in (SPACE, UP, DEAL)


def forced(moves: Moves, wanted: list[bool]) -> Moves:
    """The first move that is wanted, alone; all moves if none is."""
    first = [move for move, is_wanted in zip(moves, wanted, strict=True) if is_wanted][:1]
    return first or moves


def up_at_once(rules: Rules, state: State, moves: Moves, last: Last) -> Moves:
    """Any card that can go up goes up at once."""
    return forced(moves, [target == UP for (_, target), _ in moves])


def klondike_rule(rules: Rules, state: State, moves: Moves, last: Last) -> Moves:
    """A card goes up at once if the other colour is up to two ranks less, its own to three."""

    def is_safe(card: int) -> bool:
        rank = card % 13
        up = state[1]
        suits = [suit for suit in range(4) if suit != card // 13]
        needed = {
            suit: rank - 1 if rulebook.is_red(suit * 13) != rulebook.is_red(card) else rank - 2
            for suit in suits
        }
        return all(up[suit] >= count for suit, count in needed.items())

    return forced(moves, [target == UP and is_safe(head) for (head, target), _ in moves])


def twos_up(rules: Rules, state: State, moves: Moves, last: Last) -> Moves:
    """Twos go up at once."""
    return forced(moves, [target == UP and head % 13 <= 1 for (head, target), _ in moves])


def never_change_parent(rules: Rules, state: State, moves: Moves, last: Last) -> Moves:
    """A card never goes from one legal parent to the other."""
    return [move for move in moves if not changes_parent(rules, state, move[0])]


def change_parent_only_to_free_for_foundation(
    rules: Rules, state: State, moves: Moves, last: Last
) -> Moves:
    """It does so only where the card it leaves can go up then."""

    def frees(head: int) -> bool:
        under = beneath(state, head)[0]
        return under is not None and state[1][under // 13] == under % 13

    return [
        move for move in moves if not changes_parent(rules, state, move[0]) or frees(move[0][0])
    ]


def join_settled_run(rules: Rules, state: State, moves: Moves, last: Last) -> Moves:
    """A card that fits on a run built from a king at a base goes there at once."""
    ends = set()
    for cards, hidden in state[0]:
        pairs = zip(cards[1:], cards, strict=False)
        is_settled = all(rulebook.may_lie_on(rules, card, under) for card, under in pairs)
        if cards and not hidden and cards[0] % 13 == 12 and is_settled:
            ends.add(cards[-1])
    return forced(
        moves,
        [t in ends and not changes_parent(rules, state, (head, t)) for (head, t), _ in moves],
    )


def turn_at_once(rules: Rules, state: State, moves: Moves, last: Last) -> Moves:
    """A move that turns a card up is made at once."""
    return forced(moves, [beneath(state, head)[1] for (head, _), _ in moves])


def never_back(rules: Rules, state: State, moves: Moves, last: Last) -> Moves:
    """The card moved last does not go straight back to the card it came from."""
    return [move for move in moves if last is None or move[0] != last]


RULES_OF_THUMB: dict[str, Rule] = {
    "up at once": up_at_once,
    "klondike rule": klondike_rule,
    "twos up": twos_up,
    "never change parent": never_change_parent,
    "change parent only for the foundation": change_parent_only_to_free_for_foundation,
    "join a settled run": join_settled_run,
    "turn at once": turn_at_once,
    "never back": never_back,
}
