"""The two records that the compiled rules work on: a game, and a variant.

Both are NumPy records, so a game is copied by copying a record, and many games are one array.
Kernels take arrays of records, also for a single game: Numba passes an array far faster than a
lone record.
"""

from functools import cache

import numpy as np

from yukon_env.cards import N_CARDS, N_SUITS
from yukon_env.variants import N_COLUMNS, Variant

# Zones: 0-6 are the columns. A player sees HIDDEN for a card whose place is not known.
FOUNDATION = 7
WASTE = 8
STOCK = 9
HIDDEN = -1

# Actions: card * N_DESTINATIONS + destination, and one to deal from the stock (or redeal).
N_DESTINATIONS = 8
DEAL = N_CARDS * N_DESTINATIONS
N_ACTIONS = DEAL + 1

# One row of `seen` per card: its zone, its position there, whether it is face up.
ZONE, POSITION, FACE_UP = 0, 1, 2
ROW = 3

# "No card": beneath a column's base, above its end, at the end of an empty column. It has a row
# in `seen`, in zone HIDDEN and face up, so that kernels may look it up without asking first.
NO_CARD = N_CARDS
UNLIMITED = -1

GAME = np.dtype(
    (
        np.record,
        np.dtype(
            [
                # Position key: equal for positions that differ only in the order of columns.
                ("key", np.uint64),
                # What a player sees: the observation, then the row of NO_CARD.
                ("seen", np.int8, (ROW * (N_CARDS + 1),)),
                # The cards directly beneath and above a card of a column, hidden ones included.
                ("beneath", np.uint8, (N_CARDS + 1,)),
                ("above", np.uint8, (N_CARDS + 1,)),
                # The end card of each column.
                ("end", np.uint8, (N_COLUMNS,)),
                # Cards on each foundation.
                ("up", np.uint8, (N_SUITS,)),
                ("n_pile", np.uint8),
                ("n_waste", np.uint8),
                ("redeals_left", np.int8),
                # Face-down cards in the columns.
                ("n_hidden", np.uint8),
                # The legal actions; none when the game is over.
                ("n_legal", np.uint16),
                ("legal", np.uint16, (N_ACTIONS,)),
                # The waste, first dealt first, then the stock, next to deal first.
                ("pile", np.uint8, (N_CARDS,)),
            ],
            align=True,
        ),
    )
)

# Up or down, any suit: four suits of two ranks.
MAX_CHILDREN = 8

RULES = np.dtype(
    (
        np.record,
        np.dtype(
            [
                # The cards that may lie on a card. Rows are filled up with the card itself, which
                # is never in another column than its own, so kernels need not count children.
                ("children", np.uint8, (N_CARDS + 1, MAX_CHILDREN)),
                ("max_children", np.uint8),
                # The cards that may start an empty column.
                ("starters", np.uint8, (N_CARDS,)),
                ("n_starters", np.uint8),
                ("hidden", np.uint8, (N_COLUMNS,)),
                ("up", np.uint8, (N_COLUMNS,)),
                ("stock", np.uint8),
                ("draw", np.uint8),
                ("redeals", np.int8),
                ("foundation_return", np.bool_),
            ],
            align=True,
        ),
    )
)


def new_games(n: int) -> np.ndarray:
    """Returns `n` games (dtype `GAME`) with no card on the table, to be dealt."""
    games = np.zeros(n, GAME)
    for links in ("beneath", "above", "end"):
        games[links] = NO_CARD
    seen = games["seen"].reshape(n, N_CARDS + 1, ROW)
    seen[:, :, ZONE] = HIDDEN
    seen[:, :, POSITION] = -1
    seen[:, NO_CARD, FACE_UP] = 1
    return games


@cache
def compile_rules(variant: Variant) -> np.ndarray:
    """Returns a variant as the kernels read it: an array of one record of dtype `RULES`."""
    rules = np.zeros(1, RULES)
    record = rules[0]
    record.children[:] = np.arange(N_CARDS + 1)[:, np.newaxis]
    for target in range(N_CARDS):
        children = [card for card in range(N_CARDS) if variant.may_lie_on(card, target)]
        record.children[target, : len(children)] = children
        record.max_children = max(record.max_children, len(children))
    starters = [card for card in range(N_CARDS) if variant.may_start_column(card)]
    record.starters[: len(starters)] = starters
    record.n_starters = len(starters)
    record.hidden[:] = variant.hidden
    record.up[:] = variant.up
    record.stock = variant.stock
    record.draw = variant.draw
    record.redeals = UNLIMITED if variant.redeals is None else variant.redeals
    record.foundation_return = variant.foundation_return
    rules.flags.writeable = False
    return rules
