"""The abstract game: a smaller game that can be won wherever the real one can.

It forgets on which of its parents a moved card lies, and what lies on it. Kept are the set of
cards that have left the place where they lay at the root and are not up (the *loose* cards) and
what is up. Per class of rank and colour there is a *slot* for each card of the class above whose
root neighbour has gone and which is not up itself; the loose cards of a class never outnumber its
slots, for in the real game each lies on a parent of its own. Likewise the loose kings never
outnumber the columns whose base has gone.

Nothing comes back in this game, so its states form a directed acyclic graph, small enough to be
searched with a table of what is known to be dead or alive. Each real move is an abstract move or
changes nothing here; so what is dead in the abstract is dead in earnest. Alive is but a hint.

For games of alternating colours, downwards, kings to spaces, without stock. The proof is in the
README of this package.
"""

import numpy as np
from numba import njit

from yukon_env.engine.state import NO_CARD
from yukon_env.solver.cardsets import (
    ACES,
    ALL,
    BIT,
    EMPTY,
    HALF,
    KINGS,
    ONE,
    QUARTER,
    THREE_QUARTERS,
    count,
    index_of,
    lowest,
    next_up,
    turn,
)

OPEN, DEAD, ALIVE = range(3)

ABSTRACT_GAME = np.dtype(
    (
        np.record,
        np.dtype(
            [
                # At the root: cards in the open, face up, at a column's base; empty columns.
                ("in_open", np.uint64),
                ("face_up", np.uint64),
                ("bases", np.uint64),
                ("hidden", np.uint64),
                ("spaces", np.int64),
                # By bit index: the card beneath, as a set. For a card with a parent above it in
                # its own column: those parents, and the cards from there down to it, without it.
                ("beneath", np.uint64, (64,)),
                ("parents_above", np.uint64),
                ("parent", np.uint64, (64, 2)),
                ("between", np.uint64, (64, 2)),
                ("depth", np.int64),
                ("n_rows", np.int64),
                ("n_stored", np.int64),
                ("max_stored", np.int64),
                ("n_states", np.int64),
            ],
            align=True,
        ),
    )
)

# One level of the search: a state, its key, and the cards that may still be tried.
ABSTRACT_FRAME = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("moved", np.uint64),
                ("up", np.uint64),
                ("in_open", np.uint64),
                ("key", np.uint64),
                ("leaving", np.uint64),
                ("rising", np.uint64),
            ],
            align=True,
        ),
    )
)

# A state is at most 104 moves from its root.
MAX_ABSTRACT_DEPTH = 128

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
# Bits of a key's word that no state needs; they hold what is known of it.
_VERDICT_SHIFT = np.uint64(62)
_VERDICT = np.uint64(0xC000_0000_0000_0000)


@njit
def set_root(game, table, position, lore):
    """Makes the position, itself a root, the root of the abstract game; empties the table."""
    game.in_open = EMPTY
    game.face_up = position.face_up
    game.hidden = position.hidden
    game.bases = EMPTY
    game.spaces = position.n_empty
    game.parents_above = EMPTY
    for column in range(len(position.end)):
        card = np.int64(position.end[column])
        game.in_open |= BIT[card]
        above = EMPTY
        while card != NO_CARD:
            index = index_of(BIT[card])
            under = np.int64(position.beneath[card])
            game.beneath[index] = BIT[under]
            if under == NO_CARD:
                game.bases |= BIT[card]
            parents = lore.parent_set[card]
            game.parent[index, 0] = lowest(parents)
            game.parent[index, 1] = parents ^ lowest(parents)
            for which in range(2):
                game.between[index, which] = EMPTY
                parent = game.parent[index, which]
                if parent & above != EMPTY:
                    game.parents_above |= BIT[card]
                    game.between[index, which] = _between(position, card, parent)
            above |= BIT[card]
            card = under
    game.n_stored = 0
    game.n_states = 0
    table[: game.n_rows] = EMPTY


@njit
def _between(position, card, parent):
    """The cards above a card, up to a parent in the same column."""
    cards = EMPTY
    while cards & parent == EMPTY:
        card = np.int64(position.above[card])
        cards |= BIT[card]
    return cards


# ---------------------------------------------------------------------------------------------
# The rules of the abstract game
# ---------------------------------------------------------------------------------------------


@njit
def opened_by(game, gone):
    """The cards in the open when these cards have left their root places."""
    in_open = game.in_open
    while gone != EMPTY:
        bit = lowest(gone)
        gone ^= bit
        in_open |= game.beneath[index_of(bit)]
    return in_open


@njit
def free_spaces(game, gone, loose):
    """Columns whose base has gone and which no loose king needs."""
    return game.spaces + count(game.bases & gone) - count(loose & KINGS)


@njit
def may_leave(game, gone, in_open, face_up, loose, up, spaces):
    """The cards that can leave their root places: a free slot is there, or, for kings, a space.

    `up` holds the cards that are no parents because they are up; the others are arguments of
    their own, since the relaxed game asks with sets of what may be rather than of what is.
    """
    slots = in_open & ~up
    one = turn((slots >> ONE) & ALL, QUARTER)
    other = turn((slots >> ONE) & ALL, THREE_QUARTERS)
    leaving = ((one | other) & ~turn(loose, HALF)) | (one & other)
    if spaces > 0:
        leaving |= KINGS
    leaving &= face_up & ~gone & ~(game.bases & KINGS)
    shut = leaving & game.parents_above
    while shut != EMPTY:
        bit = lowest(shut)
        shut ^= bit
        index = index_of(bit)
        if not (
            _is_usable(game.parent[index, 0], game.between[index, 0], slots, gone)
            or _is_usable(game.parent[index, 1], game.between[index, 1], slots, gone)
        ):
            leaving ^= bit
    return leaving


@njit
def _is_usable(parent, between, slots, gone):
    """Whether a parent is in the open and not shut in above the card in its own column."""
    return parent & slots != EMPTY and (between == EMPTY or between & gone != EMPTY)


@njit
def may_rise(in_open, loose, up, next_cards):
    """Which of the next cards can go up: in the open, and the loose children have slots without."""
    children = (loose << ONE) & ALL
    one = turn(children, QUARTER)
    other = turn(children, THREE_QUARTERS)
    partner_open = turn(in_open & ~up, HALF)
    return next_cards & in_open & (~(one | other) | (~(one & other) & partner_open))


@njit
def unwanted(up):
    """The cards whose children are all up."""
    gone_below = ((up << ONE) & ALL) | ACES
    return turn(gone_below, QUARTER) & turn(gone_below, THREE_QUARTERS)


@njit
def is_abstract_dead_end(game, moved, up, in_open):
    """The dead-end test of the abstract game: relaxed reachability, slots counted.

    A loose card fills a slot for as long as it cannot go up even in the relaxed game.
    """
    gone = moved | up
    can_up = up
    can_open = in_open
    while True:
        loose = moved & ~can_up
        new_up = may_rise(can_open, loose, up, next_up(can_up))
        spaces = free_spaces(game, gone, loose)
        face_up = (game.face_up | can_open) & ~up
        new = may_leave(game, gone, can_open, face_up, loose, up, spaces)
        if new_up == EMPTY and new == EMPTY:
            return True
        can_up |= new_up
        if can_up == ALL:
            return False
        new = (new | new_up) & ~gone
        gone |= new
        while new != EMPTY:
            bit = lowest(new)
            new ^= bit
            can_open |= game.beneath[index_of(bit)]


# ---------------------------------------------------------------------------------------------
# The search
# ---------------------------------------------------------------------------------------------


@njit
def key_of(moved, up):
    """A state as one word: in each lane a mark at the next card to go up, the loose cards above."""
    return (moved << ONE) | (up + ACES)


@njit
def _find(table, n_rows, key):
    """The row of a key, or of the free row where it belongs."""
    last = np.uint64(n_rows - 1)
    row = ((key * _FACTOR) >> np.uint64(30)) & last
    while table[row] != EMPTY and table[row] & ~_VERDICT != key:
        row = (row + ONE) & last
    return row


@njit
def _store(game, table, key, verdict):
    row = _find(table, game.n_rows, key)
    if table[row] == EMPTY and game.n_stored < game.max_stored:
        table[row] = key | (np.uint64(verdict) << _VERDICT_SHIFT)
        game.n_stored += 1


@njit
def _known(game, table, key):
    return np.int64(table[_find(table, game.n_rows, key)] >> _VERDICT_SHIFT)


@njit
def ask(game, frames, table, moved, up, budget):
    """Says whether a state is DEAD or ALIVE, or OPEN when that takes more than `budget` states."""
    verdict = begin(game, frames, table, moved, up)
    if verdict == OPEN:
        verdict = go_on(game, frames, table, budget)
    return verdict


@njit
def begin(game, frames, table, moved, up):
    """Begins the search of a state; its verdict if that is plain at once, else OPEN."""
    game.depth = -1
    return _enter(game, frames, table, moved, up, opened_by(game, moved | up))


@njit
def go_on(game, frames, table, budget):
    """Searches on, for `budget` states; OPEN if that was not enough."""
    stop = game.n_states + budget
    while game.n_states < stop:
        frame = frames[game.depth]
        moved, up, in_open = frame.moved, frame.up, frame.in_open
        if frame.rising != EMPTY:
            bit = lowest(frame.rising)
            frame.rising ^= bit
            if moved & bit == EMPTY:
                in_open |= game.beneath[index_of(bit)]
            moved &= ~bit
            up |= bit
        elif frame.leaving != EMPTY:
            bit = _best(game, frame.leaving)
            frame.leaving ^= bit
            moved |= bit
            in_open |= game.beneath[index_of(bit)]
        else:
            _store(game, table, frame.key, DEAD)
            if game.depth == 0:
                return DEAD
            game.depth -= 1
            continue
        if _enter(game, frames, table, moved, up, in_open) == ALIVE:
            for depth in range(game.depth + 1):
                _store(game, table, frames[depth].key, ALIVE)
            return ALIVE
    return OPEN


@njit
def _best(game, leaving):
    """Which card to move first: one with a face-down card beneath."""
    left = leaving
    while left != EMPTY:
        bit = lowest(left)
        left ^= bit
        if game.beneath[index_of(bit)] & game.hidden != EMPTY:
            return bit
    return lowest(leaving)


@njit
def _enter(game, frames, table, moved, up, in_open):
    """Makes forced moves, then looks the state up; if nothing is known, it becomes a level."""
    forced = True
    while forced:
        forced = False
        rising = next_up(up) & in_open & unwanted(up)
        if rising != EMPTY:
            forced = True
            up |= rising
            new = rising & ~moved
            moved &= ~rising
            in_open |= opened_by(game, new)
        gone = moved | up
        wanting = KINGS & ~gone & ~game.bases
        kings = wanting & (game.face_up | in_open)
        if kings != EMPTY and free_spaces(game, gone, moved) >= count(wanting):
            forced = True
            moved |= kings
            in_open |= opened_by(game, kings)
    if up == ALL:
        return ALIVE
    key = key_of(moved, up)
    verdict = _known(game, table, key)
    if verdict != OPEN:
        return verdict
    game.n_states += 1
    if is_abstract_dead_end(game, moved, up, in_open):
        _store(game, table, key, DEAD)
        return DEAD
    game.depth += 1
    frame = frames[game.depth]
    frame.moved = moved
    frame.up = up
    frame.in_open = in_open
    frame.key = key
    frame.rising = may_rise(in_open, moved, up, next_up(up))
    gone = moved | up
    face_up = (game.face_up | in_open) & ~up
    frame.leaving = may_leave(
        game, gone, in_open, face_up, moved, up, free_spaces(game, gone, moved)
    )
    return OPEN
