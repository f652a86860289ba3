"""Tables that do not come from a deal: boards laid out by hand, and guesses at hidden cards."""

import numpy as np
from numba import njit

from yukon_env.cards import N_CARDS, N_RANKS, N_SUITS
from yukon_env.deals import shuffle
from yukon_env.engine.compiling import kernel
from yukon_env.engine.moves import (
    add_to_column,
    add_to_foundation,
    clear,
    list_moves,
    set_redeals,
    show_stock_card,
    show_waste_card,
)
from yukon_env.engine.state import FACE_UP, NO_CARD, ROW, STOCK, ZONE
from yukon_env.variants import N_COLUMNS


@kernel
def lay_out(games, rules, columns, heights, hidden, up, pile, n_waste, stock_seen, redeals):
    """Sets up the one game in `games` as a given table.

    Args:
        games: GAME, shape (1,); overwritten.
        rules: RULES, shape (1,).
        columns: uint8, shape (7, 52): the cards of each column, base first.
        heights: int64, shape (7,): how many cards each column holds.
        hidden: int64, shape (7,): how many of them are face down.
        up: int64, shape (4,): cards on each foundation.
        pile: uint8: the waste, first dealt first, then the stock, next to deal first.
        n_waste: How many cards of `pile` are the waste.
        stock_seen: Whether the stock's cards have been seen, that is, redealt.
        redeals: Redeals left, or UNLIMITED.
    """
    game = games[0]
    clear(game)
    for column in range(N_COLUMNS):
        for position in range(heights[column]):
            face_up = position >= hidden[column]
            add_to_column(game, columns[column, position], column, position, face_up)
    for suit in range(N_SUITS):
        for rank in range(up[suit]):
            add_to_foundation(game, suit * N_RANKS + rank)
    game.n_pile = len(pile)
    game.n_waste = n_waste
    for index in range(len(pile)):
        game.pile[index] = pile[index]
        if index < n_waste:
            show_waste_card(game, index)
        elif stock_seen:
            show_stock_card(game, index)
    set_redeals(game, 0 if len(pile) == 0 and redeals > 0 else redeals)
    list_moves(game, rules[0])


@kernel
def shuffle_hidden(games, stream):
    """Deals the hidden cards of each game anew among the hidden places, uniformly.

    What a player sees stays as it is.

    Args:
        games: GAME, shape (n,); changed in place.
        stream: uint64, shape (1,): the random stream (see `deals.next_word`).
    """
    places = np.empty(N_CARDS, np.uint8)
    cards = np.empty(N_CARDS, np.uint8)
    for index in range(len(games)):
        shuffle_hidden_cards(games[index], cards, places, stream)


@njit
def shuffle_hidden_cards(game, cards, places, stream):
    """Replaces hidden cards in all links and in the stock; `places` is who lies there now."""
    n = 0
    for card in range(N_CARDS):
        if game.seen[ROW * card + FACE_UP] == 0 and game.seen[ROW * card + ZONE] != STOCK:
            places[n] = card
            cards[n] = card
            n += 1
    shuffle(cards, n, stream)
    replacement = np.arange(N_CARDS + 1).astype(np.uint8)
    for index in range(n):
        replacement[places[index]] = cards[index]
    _relabel(game, replacement)


@njit
def _relabel(game, replacement):
    beneath = game.beneath.copy()
    above = game.above.copy()
    for card in range(N_CARDS):
        game.beneath[replacement[card]] = replacement[beneath[card]]
        game.above[replacement[card]] = replacement[above[card]]
    game.above[NO_CARD] = NO_CARD
    for index in range(game.n_pile):
        game.pile[index] = replacement[game.pile[index]]
