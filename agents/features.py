"""Features of legal moves and of whole positions, seen with a player's eyes.

Moves are described by what they do to the table (`agents.view`, whose words are used here): what
they turn up, open, bury and free. A linear score over these features is the greedy player; a
network can score them too.

What a move *opens* is a card it makes a column's end, or a space; what it *closes* is an end or
space that is gone after it.
"""

from enum import IntEnum, auto

import numpy as np
from numba import njit

from agents.view import (
    MAX_COLUMN,
    NOTHING,
    ON_HIDDEN,
    VIEW,
    bit,
    bit_or_nothing,
    check_input,
    check_observations,
    count,
    has,
    list_actions,
    look,
    look_at_stock,
    relations_of,
)
from yukon_env.cards import N_CARDS, N_RANKS, N_SUITS
from yukon_env.engine.compiling import kernel
from yukon_env.engine.state import (
    DEAL,
    FOUNDATION,
    N_ACTIONS,
    NO_CARD,
    ROW,
    WASTE,
    ZONE,
)
from yukon_env.variants import KING, N_COLUMNS


class MoveFeature(IntEnum):
    """What is said of one move; counts are divided by about the largest usual count."""

    # The foundations.
    GOES_UP = 0  # 1 when the move is to a foundation
    UP_SAFE = auto()  # it goes up, and all its children are up already
    UP_EARLY = auto()  # it goes up with a child not up: share of the hidden cards still hidden
    UP_LEAD = auto()  # it goes up: its rank above the lowest foundation, / 12
    UP_CONTINUES = auto()  # it goes up, and the next of its suit can follow at once
    RETURNS = auto()  # 1 when it comes back from a foundation
    RETURN_RANK = auto()  # its rank then, / 12
    # What it leaves.
    TURNS = auto()  # it turns a hidden card up
    TURNS_BENEATH = auto()  # it turns one: hidden cards of that column, that one counted, / 6
    TURNS_LAST = auto()  # it turns the only hidden card of the column
    TURN_OUTS = auto()  # it turns one: share of the unknown cards that would be ready or playable
    SOURCE_HIDDEN = auto()  # it turns none: hidden cards of the column it leaves, / 6
    LEAVES_PARENT = auto()  # the head lay on its parent: the move can be taken back
    LEAVES_PARENT_EARLY = auto()  # the same, times the share of the hidden cards still hidden
    LEAVES_MISFIT = auto()  # the head lay on a face-up card that is no parent of it
    LEAVES_MISFIT_EARLY = auto()
    EMPTIES = auto()  # the column it leaves becomes empty
    EMPTIES_EARLY = auto()
    EXPOSES_READY = auto()  # the face-up card it exposes is ready
    FREES_READY = auto()  # ready cards that lay under the group, / 2
    FREES_SOON = auto()  # cards one or two ranks from ready that lay under the group, / 4
    FREES_KEY_PARENTS = auto()  # parents of unplayable keys that lay under the group, / 4
    FREES_PARENTS = auto()  # parents of unplayable misfits that lay under the group, / 4
    UNDOES_INVERSIONS = auto()  # pairs: a card under the group, a higher one of its suit in it
    UNDOES_INVERSIONS_EARLY = auto()
    UNDOES_BLOCKS = auto()  # pairs: a key or misfit under the group, a parent of it in it, / 4
    UNBLOCKS_KEY = auto()  # parents, in the group, of the key of the column it leaves
    UNLOCKS_KEY = auto()  # all parents of that key are up or were above it, and now one is not
    # The group.
    GROUP_SIZE = auto()  # cards moved, / 10
    GROUP_JOINTS = auto()  # cards of the group that lie on a parent in the group, / 10
    GROUP_OFF_HIDDEN = auto()  # cards moved off a column with hidden cards, / 10
    GROUP_ONTO_HIDDEN = auto()  # cards moved onto a column with hidden cards, / 10
    HEAD_CHOICE = auto()  # another column, too, would take the head now
    HEAD_RANK = auto()  # rank of the head when it lands on a card, / 12
    # What it covers.
    FILLS = auto()  # it fills a space
    FILLS_EARLY = auto()
    FILLS_LAST = auto()  # it fills the only space
    FILLS_RANK = auto()  # it fills a space: the rank of the head, / 12
    TARGET_LEAD = auto()  # ranks between the card it lands on and that suit's foundation, / 12
    TARGET_HIDDEN = auto()  # hidden cards of the column it lands on, / 6
    TARGET_SIZE = auto()  # face-up cards of that column, / 10
    TARGET_RUN = auto()  # cards at its end that each lie on a parent, / 10
    TARGET_ORDERED = auto()  # that column is such a run from a king on the bare table
    BURIES_READY = auto()  # like FREES_READY, of the cards now covered
    BURIES_SOON = auto()
    BURIES_KEY_PARENTS = auto()
    BURIES_PARENTS = auto()
    MAKES_INVERSIONS = auto()
    MAKES_INVERSIONS_EARLY = auto()
    MAKES_BLOCKS = auto()
    BLOCKS_KEY = auto()
    LOCKS_KEY = auto()
    # What becomes playable by what it opens, or is playable no more by what it closes.
    OPENS_KEYS = auto()  # keys, / 2
    OPENS_MISFITS = auto()  # misfits, / 4
    OPENS_BASES = auto()  # bases, / 2
    OPENS_WASTE = auto()  # the top card of the waste
    CLOSES_KEYS = auto()
    CLOSES_MISFITS = auto()
    CLOSES_BASES = auto()
    CLOSES_WASTE = auto()
    # The stock and the waste.
    WASTE_USED = auto()  # it plays the top card of the waste
    WASTE_NEXT_FITS = auto()  # it does, and the card under that is ready or playable
    WASTE_FREES = auto()  # it does: ready cards and soon ready ones below that in the waste, / 4
    DEALS = auto()  # it deals from the stock
    DEAL_BURIES = auto()  # it deals, while the top card of the waste is ready or playable
    DEAL_OUTS = auto()  # it deals: chance that the card on top then is ready or playable
    DEAL_LEFT = auto()  # it deals: cards left in the stock, / 24
    REDEALS = auto()  # it makes the waste the stock again


class TableFeature(IntEnum):
    """What is said of a whole position, whatever the names of suits and columns."""

    HIDDEN = 0  # hidden cards in the columns, / 21
    UNKNOWN = auto()  # cards whose place is not known, / 24
    SPACES = auto()  # empty columns, / 3
    UP = auto()  # cards on the foundations, / 52
    UP_1 = auto()  # cards on each foundation, the lowest first, / 13
    UP_2 = auto()
    UP_3 = auto()
    UP_4 = auto()
    HIDDEN_1 = auto()  # hidden cards of each column, the most first, / 6
    HIDDEN_2 = auto()
    HIDDEN_3 = auto()
    HIDDEN_4 = auto()
    HIDDEN_5 = auto()
    HIDDEN_6 = auto()
    HIDDEN_7 = auto()
    FACE_UP = auto()  # face-up cards in the columns, / 52
    PLACED = auto()  # those on their parent, / 52
    MISFITS = auto()  # those on another face-up card, / 30
    KEYS = auto()  # those on a hidden card, / 7
    PLAYABLE_KEYS = auto()  # keys that a column takes now, / 7
    PLAYABLE_MISFITS = auto()  # misfits that a column takes now, / 10
    PLAYABLE_UNKNOWN = auto()  # share of the unknown cards that would be ready or playable
    READY_SEEN = auto()  # ready cards that lie face up in a column, / 4
    READY_ENDS = auto()  # ready cards that can go up now, / 4
    INVERSIONS = auto()  # pairs in a column: a card, and above it a higher one of its suit, / 30
    BLOCKS = auto()  # pairs in a column: a key or misfit, and above it a parent of it, / 15
    STOCK = auto()  # cards in the stock, / 24
    WASTE = auto()  # cards in the waste, / 24
    WASTE_FITS = auto()  # the top card of the waste is ready or playable


MOVE_FEATURES: tuple[str, ...] = tuple(feature.name.lower() for feature in MoveFeature)
TABLE_FEATURES: tuple[str, ...] = tuple(feature.name.lower() for feature in TableFeature)
N_MOVE_FEATURES = len(MOVE_FEATURES)
N_TABLE_FEATURES = len(TABLE_FEATURES)

_F = MoveFeature
_T = TableFeature

# --------------------------------------------------------------------------------------------
# One move
# --------------------------------------------------------------------------------------------


@njit
def describe_move(seen, relations, view, action, row):
    """Writes the features of a move.

    Args:
        seen: int8, shape (156,) or longer: the observation, row after row.
        relations: One record of dtype `RELATIONS`.
        view: One record of dtype `VIEW`, filled in by `look`.
        action: The action's number. What no player could do leaves the row zero.
        row: float32, shape (N_MOVE_FEATURES,), overwritten.
    """
    row[:] = 0
    if action == DEAL:
        _describe_deal(seen, relations, view, row)
        return
    head = action >> 3
    target = action & 7
    source = int(seen[ROW * head + ZONE])
    if source < 0 or source > WASTE:
        return
    group = _group(view, head, source)
    opened, closed = _openings(relations, view, head, source, target)
    _describe_change(view, bit(head), opened, closed, row)
    if source < N_COLUMNS:
        _describe_leaving(view, head, source, group, closed, row)
    elif source == WASTE:
        _describe_waste(view, row)
    else:
        row[_F.RETURNS] = 1
        row[_F.GROUP_SIZE] = 1 / 10
        row[_F.RETURN_RANK] = (head % N_RANKS) / KING
    if target == FOUNDATION:
        _describe_going_up(relations, view, head, source, row)
    else:
        _describe_landing(view, head, target, row)
        _describe_pairs(relations, view, head, source, target, row)
        _describe_keys(relations, view, head, source, target, group, row)


@njit
def _group(view, head, source):
    """The set of cards that move with this head, itself included."""
    if source < N_COLUMNS:
        return view.column[source] & ~view.below[head]
    return bit(head)


@njit
def _openings(relations, view, head, source, target):
    """The sets of cards that would be taken by what the move opens, and by what it closes."""
    if source >= N_COLUMNS:
        opened = NOTHING
        if target != FOUNDATION:
            opened = relations.children[head] & ~view.column[target]
        return opened, _closed_by_landing(relations, view, target)
    under = view.beneath[head]
    opened = NOTHING
    if under == NO_CARD:
        opened = relations.starters & ~view.bases
    elif under != ON_HIDDEN:
        opened = relations.children[under] & ~view.below[under]
    if target == FOUNDATION:
        return opened, relations.children[head] & ~view.column[source]
    # The group's end changes columns: it may take cards that lay under the group, and no longer
    # those of its new column.
    children = relations.children[view.end[source]]
    opened |= children & view.below[head]
    closed = children & view.column[target]
    return opened, closed | _closed_by_landing(relations, view, target)


@njit
def _closed_by_landing(relations, view, target):
    """The cards that the end or space which is covered would have taken."""
    if target == FOUNDATION:
        return NOTHING
    if view.end[target] == NO_CARD:
        return relations.starters & ~view.bases
    return relations.children[view.end[target]] & ~view.column[target]


@njit
def _describe_change(view, head, opened, closed, row):
    """Counts the cards that gain their first place, and those that lose their only one."""
    gain = opened & ~view.takes & ~head
    loss = closed & view.takes & ~view.takes_twice & ~opened & ~head
    waste = bit_or_nothing(view.waste_top)
    row[_F.OPENS_KEYS] = count(gain & view.keys) / 2
    row[_F.OPENS_MISFITS] = count(gain & view.misfits) / 4
    row[_F.OPENS_BASES] = count(gain & view.bases) / 2
    row[_F.OPENS_WASTE] = count(gain & waste)
    row[_F.CLOSES_KEYS] = count(loss & view.keys) / 2
    row[_F.CLOSES_MISFITS] = count(loss & view.misfits) / 4
    row[_F.CLOSES_BASES] = count(loss & view.bases) / 2
    row[_F.CLOSES_WASTE] = count(loss & waste)


@njit
def _describe_leaving(view, head, source, group, closed, row):
    """What lies beneath the group in the column that it leaves."""
    under = view.beneath[head]
    hidden = view.hidden[source]
    rest = view.below[head]
    if under == ON_HIDDEN:
        lost = closed & view.takes & ~view.takes_twice
        row[_F.TURNS] = 1
        row[_F.TURNS_BENEATH] = hidden / 6
        row[_F.TURNS_LAST] = hidden == 1
        row[_F.TURN_OUTS] = share_that_fits(view, view.takes & ~lost)
    else:
        row[_F.SOURCE_HIDDEN] = hidden / 6
        row[_F.EXPOSES_READY] = has(view.ready, under)
    row[_F.LEAVES_PARENT] = has(view.placed, head)
    row[_F.LEAVES_MISFIT] = has(view.misfits, head)
    row[_F.LEAVES_PARENT_EARLY] = has(view.placed, head) * view.early
    row[_F.LEAVES_MISFIT_EARLY] = has(view.misfits, head) * view.early
    row[_F.EMPTIES] = under == NO_CARD
    row[_F.EMPTIES_EARLY] = view.early if under == NO_CARD else 0
    row[_F.FREES_READY] = count(rest & view.ready) / 2
    row[_F.FREES_SOON] = count(rest & view.soon) / 4
    row[_F.FREES_KEY_PARENTS] = count(rest & view.key_parents) / 4
    row[_F.FREES_PARENTS] = count(rest & view.misfit_parents) / 4
    row[_F.GROUP_SIZE] = count(group) / 10
    row[_F.GROUP_OFF_HIDDEN] = count(group) / 10 if hidden > 0 else 0
    row[_F.GROUP_JOINTS] = (int(view.joints[view.end[source]]) - int(view.joints[head])) / 10


@njit
def share_that_fits(view, takes):
    """The share of the unknown cards that are ready, or that these places take."""
    return count(view.unknown & (takes | view.ready)) / max(view.n_unknown, 1)


@njit
def _describe_waste(view, row):
    row[_F.WASTE_USED] = 1
    row[_F.WASTE_NEXT_FITS] = has(view.takes | view.ready, view.waste_next)
    row[_F.WASTE_FREES] = count(view.waste & (view.ready | view.soon) & ~bit(view.waste_top)) / 4
    row[_F.GROUP_SIZE] = 1 / 10


@njit
def _describe_going_up(relations, view, head, source, row):
    suit, rank = head // N_RANKS, head % N_RANKS
    safe = relations.children[head] & ~view.gone == NOTHING
    row[_F.GOES_UP] = 1
    row[_F.UP_SAFE] = safe
    row[_F.UP_EARLY] = 0 if safe else view.early
    lowest = min(min(view.up[0], view.up[1]), min(view.up[2], view.up[3]))
    row[_F.UP_LEAD] = (rank - lowest) / KING
    if rank < KING:
        can_go = view.ends | bit_or_nothing(view.waste_top)
        if source < N_COLUMNS:
            can_go |= bit_or_nothing(view.beneath[head])
        elif source == WASTE:
            can_go |= bit_or_nothing(view.waste_next)
        row[_F.UP_CONTINUES] = has(can_go, suit * N_RANKS + rank + 1)


@njit
def _describe_landing(view, head, target, row):
    """What is in the column that the group lands on."""
    covered = view.column[target]
    end = int(view.end[target])
    row[_F.HEAD_CHOICE] = has(view.takes_twice, head)
    if end == NO_CARD:
        row[_F.FILLS] = 1
        row[_F.FILLS_EARLY] = view.early
        row[_F.FILLS_LAST] = view.n_spaces == 1
        row[_F.FILLS_RANK] = (head % N_RANKS) / KING
        return
    row[_F.HEAD_RANK] = (head % N_RANKS) / KING
    row[_F.TARGET_LEAD] = (end % N_RANKS - view.up[end // N_RANKS]) / KING
    row[_F.TARGET_HIDDEN] = view.hidden[target] / 6
    row[_F.TARGET_SIZE] = count(covered) / 10
    row[_F.TARGET_RUN] = view.run[end] / 10
    from_king = view.place[target, 0] % N_RANKS == KING and view.hidden[target] == 0
    row[_F.TARGET_ORDERED] = from_king and view.run[end] + 1 == view.length[target]
    row[_F.BURIES_READY] = count(covered & view.ready) / 2
    row[_F.BURIES_SOON] = count(covered & view.soon) / 4
    row[_F.BURIES_KEY_PARENTS] = count(covered & view.key_parents) / 4
    row[_F.BURIES_PARENTS] = count(covered & view.misfit_parents) / 4


@njit
def _describe_pairs(relations, view, head, source, target, row):
    """Counts pairs of a card beneath and a card of the group that are in each other's way."""
    covered = view.column[target]
    rest = NOTHING
    made = undone = blocks_made = blocks_undone = 0
    card = head
    if source < N_COLUMNS:
        rest = view.below[head]
        card = int(view.end[source])
    for _ in range(MAX_COLUMN):
        inversions, blocks = pairs_above(relations, view, covered, card)
        made += inversions
        blocks_made += blocks
        inversions, blocks = pairs_above(relations, view, rest, card)
        undone += inversions
        blocks_undone += blocks
        if card == head or view.beneath[card] >= NO_CARD:
            break
        card = int(view.beneath[card])
    row[_F.MAKES_INVERSIONS] = made / 10
    row[_F.MAKES_INVERSIONS_EARLY] = made / 10 * view.early
    row[_F.UNDOES_INVERSIONS] = undone / 10
    row[_F.UNDOES_INVERSIONS_EARLY] = undone / 10 * view.early
    row[_F.MAKES_BLOCKS] = blocks_made / 4
    row[_F.UNDOES_BLOCKS] = blocks_undone / 4


@njit
def _describe_keys(relations, view, head, source, target, group, row):
    """What the group does to the keys of the columns it leaves and lands on."""
    if view.hidden[target] > 0:
        covered = view.column[target]
        key = view.key[target]
        row[_F.BLOCKS_KEY] = count(group & relations.parents[key])
        row[_F.LOCKS_KEY] = locks(relations, view, key, covered, group)
        row[_F.GROUP_ONTO_HIDDEN] = count(group) / 10
    if source < N_COLUMNS and view.hidden[source] > 0:
        rest = view.below[head]
        key = view.key[source]
        if rest != NOTHING:
            row[_F.UNBLOCKS_KEY] = count(group & relations.parents[key])
            row[_F.UNLOCKS_KEY] = locks(relations, view, key, rest, group)


@njit
def locks(relations, view, key, others, group):
    """Whether this group on a column locks its key: no parent is left outside of it."""
    free = relations.parents[key] & ~(view.gone | others)
    return free != NOTHING and free & ~group == NOTHING and not has(relations.starters, key)


@njit
def pairs_above(relations, view, cards, above):
    """Counts the cards that one card lies on to their harm.

    Returns:
        How many of `cards` are lower ones of its suit, and how many are keys or misfits that
        need it as a parent.
    """
    loose = cards & (view.keys | view.misfits)
    return count(cards & relations.lower[above]), count(loose & relations.children[above])


@njit
def _describe_deal(seen, relations, view, row):
    if view.n_stock == 0:
        row[_F.REDEALS] = 1
        return
    look_at_stock(seen, relations, view)
    fits = view.takes | view.ready
    row[_F.DEALS] = 1
    row[_F.DEAL_BURIES] = has(fits, view.waste_top)
    row[_F.DEAL_LEFT] = view.n_stock / 24
    if view.dealt_top == NO_CARD:
        row[_F.DEAL_OUTS] = share_that_fits(view, view.takes)
    else:
        row[_F.DEAL_OUTS] = has(fits, view.dealt_top)


# --------------------------------------------------------------------------------------------
# A whole position
# --------------------------------------------------------------------------------------------


@njit
def describe_table(relations, view, row):
    """Writes the features of a position into `row` (float32, shape (N_TABLE_FEATURES,))."""
    fits = view.takes | view.ready
    row[_T.HIDDEN] = view.early
    row[_T.UNKNOWN] = view.n_unknown / 24
    row[_T.SPACES] = view.n_spaces / 3
    row[_T.FACE_UP] = count(view.placed | view.misfits | view.keys | view.bases) / N_CARDS
    row[_T.PLACED] = count(view.placed) / N_CARDS
    row[_T.MISFITS] = count(view.misfits) / 30
    row[_T.KEYS] = count(view.keys) / 7
    row[_T.PLAYABLE_KEYS] = count(view.keys & view.takes) / 7
    row[_T.PLAYABLE_MISFITS] = count(view.misfits & view.takes) / 10
    row[_T.PLAYABLE_UNKNOWN] = share_that_fits(view, view.takes)
    row[_T.STOCK] = view.n_stock / 24
    row[_T.WASTE] = view.n_waste / 24
    row[_T.WASTE_FITS] = has(fits, view.waste_top)
    _describe_ready(view, row)
    _describe_heights(view, row)
    _describe_column_pairs(relations, view, row)


@njit
def _describe_ready(view, row):
    columns = NOTHING
    for column in range(N_COLUMNS):
        columns |= view.column[column]
    can_go = view.ends | bit_or_nothing(view.waste_top)
    row[_T.READY_SEEN] = count(view.ready & columns) / 4
    row[_T.READY_ENDS] = count(view.ready & can_go) / 4


@njit
def _describe_heights(view, row):
    """Writes the foundations, lowest first, and the hidden cards of columns, most first."""
    total = 0
    for suit in range(N_SUITS):
        place = 0
        for other in range(N_SUITS):
            place += (view.up[other], other) < (view.up[suit], suit)
        row[_T.UP_1 + place] = view.up[suit] / N_RANKS
        total += view.up[suit]
    row[_T.UP] = total / N_CARDS
    for column in range(N_COLUMNS):
        place = 0
        for other in range(N_COLUMNS):
            place += (view.hidden[other], other) > (view.hidden[column], column)
        row[_T.HIDDEN_1 + place] = view.hidden[column] / 6


@njit
def _describe_column_pairs(relations, view, row):
    inversions = blocks = 0
    for column in range(N_COLUMNS):
        for position in range(view.hidden[column], view.length[column]):
            card = int(view.place[column, position])
            more = pairs_above(relations, view, view.below[card], card)
            inversions += more[0]
            blocks += more[1]
    row[_T.INVERSIONS] = inversions / 30
    row[_T.BLOCKS] = blocks / 15


# --------------------------------------------------------------------------------------------
# Many positions, from Python
# --------------------------------------------------------------------------------------------


@kernel
def _describe_moves(seen, masks, relations, view, actions, features, game_index):
    """Describes the legal moves of many positions, one after the other."""
    legal = np.empty(N_ACTIONS, np.int64)
    total = 0
    for game in range(seen.shape[0]):
        look(seen[game], relations[0], view[0])
        for index in range(list_actions(masks[game], legal)):
            describe_move(seen[game], relations[0], view[0], legal[index], features[total])
            actions[total] = legal[index]
            game_index[total] = game
            total += 1


@kernel
def _describe_tables(seen, relations, view, features):
    for game in range(seen.shape[0]):
        look(seen[game], relations[0], view[0])
        describe_table(relations[0], view[0], features[game])


def move_features(
    observations: np.ndarray, action_masks: np.ndarray, rules: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Describes every legal move of each position.

    Args:
        observations: int8, shape (n, 52, 3).
        action_masks: int8 or bool, shape (n, 417).
        rules: The variant's record, from `compile_rules`.

    Returns:
        features: float32, shape (moves, N_MOVE_FEATURES), for all positions one after the other.
        game_index: int64, shape (moves,): the position that a move belongs to.
        actions: int64, shape (moves,): the action's number.

    Raises:
        AgentError: The arrays have other shapes.
    """
    seen, masks = check_input(observations, action_masks)
    total = np.count_nonzero(masks)
    features = np.empty((total, N_MOVE_FEATURES), np.float32)
    game_index = np.empty(total, np.int64)
    actions = np.empty(total, np.int64)
    view = np.zeros(1, VIEW)
    _describe_moves(seen, masks, relations_of(rules), view, actions, features, game_index)
    return features, game_index, actions


def table_features(observations: np.ndarray, rules: np.ndarray) -> np.ndarray:
    """Describes whole positions.

    Args:
        observations: int8, shape (n, 52, 3).
        rules: The variant's record, from `compile_rules`.

    Returns:
        float32, shape (n, N_TABLE_FEATURES).

    Raises:
        AgentError: The array has another shape.
    """
    seen = check_observations(observations)
    features = np.zeros((len(seen), N_TABLE_FEATURES), np.float32)
    _describe_tables(seen, relations_of(rules), np.zeros(1, VIEW), features)
    return features
