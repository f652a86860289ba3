"""The rules: deal, list the legal moves, play one.

Every function is a plain kernel over one game record (`state.GAME`) and one rules record
(`state.RULES`); no variant is named here. An action given to `play` must be legal, that is, be
in the game's own list: `is_legal` says so.
"""

import numpy as np
from numba import njit

from yukon_env.cards import N_CARDS, N_RANKS, N_SUITS
from yukon_env.engine.compiling import inlined, kernel
from yukon_env.engine.state import (
    DEAL,
    FACE_UP,
    FOUNDATION,
    HIDDEN,
    MAX_CHILDREN,
    N_DESTINATIONS,
    NO_CARD,
    POSITION,
    ROW,
    STOCK,
    UNLIMITED,
    WASTE,
    ZONE,
)
from yukon_env.variants import N_COLUMNS

# The key of a position is the sum, over the cards whose place is known, of CARD_WORDS[card] *
# PLACE_WORDS[what the card lies on]: a card (0-51), the bare table (NO_CARD), a face-down card, or
# else the pile it is in; plus CARD_WORDS[NO_CARD] for each redeal left. It holds only what a player
# sees, and tells positions of one deal apart: which hidden card is where does not enter.
ON_HIDDEN = NO_CARD + 1
IN_WASTE = NO_CARD + 2
IN_STOCK = NO_CARD + 3
ON_FOUNDATION = NO_CARD + 4
_WORDS = np.random.SeedSequence(52).generate_state(N_CARDS + ON_FOUNDATION + 2, np.uint64)
CARD_WORDS = _WORDS[: N_CARDS + 1] | np.uint64(1)
PLACE_WORDS = _WORDS[N_CARDS + 1 :] | np.uint64(1)

# Cards that a move lifts without asking whether there are so many.
SHORT = 4


@inlined
def show(game, card, zone, position, face_up):
    """Writes the row of `seen` of one card."""
    place(game, card, zone, position)
    game.seen[ROW * card + FACE_UP] = face_up


@inlined
def place(game, card, zone, position):
    """Writes where a card lies."""
    game.seen[ROW * card + ZONE] = zone
    game.seen[ROW * card + POSITION] = position


@inlined
def place_code(game, card):
    """What a face-up card of a column lies on, as an index of PLACE_WORDS."""
    under = game.beneath[card]
    if game.seen[ROW * under + FACE_UP] == 0:
        return ON_HIDDEN
    return int(under)


@njit
def clear(game):
    """Makes the record a table without cards."""
    game.key = 0
    for card in range(N_CARDS + 1):
        show(game, card, HIDDEN, -1, card == NO_CARD)
        game.beneath[card] = NO_CARD
        game.above[card] = NO_CARD
    for column in range(N_COLUMNS):
        game.end[column] = NO_CARD
    for suit in range(N_SUITS):
        game.up[suit] = 0
    game.n_pile = 0
    game.n_waste = 0
    game.n_hidden = 0
    game.n_legal = 0


@njit
def add_to_column(game, card, column, position, face_up):
    """Lays a card on the end of a column, while a table is being set up."""
    end = game.end[column]
    game.beneath[card] = end
    game.above[end] = card
    game.above[NO_CARD] = NO_CARD
    game.end[column] = card
    if face_up:
        show(game, card, column, position, 1)
        game.key += CARD_WORDS[card] * PLACE_WORDS[place_code(game, card)]
    else:
        game.n_hidden += 1


@njit
def deal(game, rules, deck):
    """Lays out a deck (52 card numbers, first dealt first) and lists the moves."""
    clear(game)
    dealt = 0
    row = 0
    while dealt < N_CARDS - rules.stock:
        for column in range(N_COLUMNS):
            if row < rules.hidden[column] + rules.up[column]:
                add_to_column(game, deck[dealt], column, row, row >= rules.hidden[column])
                dealt += 1
        row += 1
    for index in range(rules.stock):
        game.pile[index] = deck[dealt + index]
    game.n_pile = rules.stock
    set_redeals(game, rules.redeals)
    list_moves(game, rules)


@inlined
def add_to_foundation(game, card):
    """Lays the next card of its suit on a foundation."""
    show(game, card, FOUNDATION, card % N_RANKS, 1)
    game.up[card // N_RANKS] += 1
    game.key += CARD_WORDS[card] * PLACE_WORDS[ON_FOUNDATION]


@njit
def set_redeals(game, redeals):
    """Sets how many redeals are left, while a table is being set up."""
    game.redeals_left = redeals
    if redeals != UNLIMITED:
        game.key += CARD_WORDS[NO_CARD] * np.uint64(redeals)


@njit
def show_waste_card(game, index):
    """Shows the card at this index of the pile as a card of the waste."""
    card = game.pile[index]
    show(game, card, WASTE, index, 1)
    game.key += CARD_WORDS[card] * PLACE_WORDS[IN_WASTE]


@njit
def show_stock_card(game, index):
    """Shows the card at this index of the pile as a card of the stock that was seen before."""
    card = game.pile[index]
    show(game, card, STOCK, index - game.n_waste, 0)
    game.key += CARD_WORDS[card] * PLACE_WORDS[IN_STOCK]


@inlined
def is_won(game):
    """Whether all 52 cards are on the foundations."""
    return int(game.up[0]) + game.up[1] + game.up[2] + game.up[3] == N_CARDS


@inlined
def is_legal(game, action):
    """Whether the action is in the game's list of legal moves."""
    found = False
    for index in range(game.n_legal):
        found |= game.legal[index] == action
    return found


@inlined
def list_moves(game, rules):
    """Writes the legal actions into `game.legal`; none when the game is won.

    Entries are written unconditionally and kept by advancing the count: far faster than a branch.
    """
    # Each call has a constant of its own, so that the compiler unrolls the loop over children.
    if rules.max_children <= 2:
        n = _list_column_moves(game, rules, 2)
    elif rules.max_children <= 4:
        n = _list_column_moves(game, rules, 4)
    else:
        n = _list_column_moves(game, rules, MAX_CHILDREN)
    n = _list_foundation_moves(game, n)
    if rules.stock > 0:
        n = _list_stock_moves(game, rules, n)
    if rules.foundation_return:
        n = _list_returns(game, rules, n)
    game.n_legal = 0 if is_won(game) else n


@inlined
def _list_column_moves(game, rules, width):
    """Lists moves of face-up cards between columns; `width` children of each end are tried."""
    n = 0
    n_empty = 0
    for column in range(N_COLUMNS):
        end = game.end[column]
        n_empty += end == NO_CARD
        for child in range(width):
            card = rules.children[end, child]
            zone = np.uint8(game.seen[ROW * card + ZONE])
            game.legal[n] = int(card) * N_DESTINATIONS + column
            n += (zone < N_COLUMNS) & (zone != column)
    if n_empty > 0:
        n = _list_moves_to_spaces(game, rules, n)
    return n


@njit
def _list_moves_to_spaces(game, rules, n):
    """Lists moves to empty columns. A column's base stays: moving it would only rename columns."""
    for column in range(N_COLUMNS):
        if game.end[column] == NO_CARD:
            for index in range(rules.n_starters):
                card = int(rules.starters[index])
                zone = game.seen[ROW * card + ZONE]
                game.legal[n] = card * N_DESTINATIONS + column
                n += (zone >= 0) & (zone < N_COLUMNS) & (game.seen[ROW * card + POSITION] > 0)
    return n


@inlined
def _list_foundation_moves(game, n):
    """Lists the column ends that may go up."""
    for suit in range(N_SUITS):
        rank = int(game.up[suit])
        card = np.uint8(suit * N_RANKS + rank)
        zone = np.uint8(game.seen[ROW * card + ZONE])
        game.legal[n] = int(card) * N_DESTINATIONS + FOUNDATION
        n += (rank < N_RANKS) & (zone < N_COLUMNS) & (game.above[card] == NO_CARD)
    return n


@njit
def _list_stock_moves(game, rules, n):
    """Lists what the waste's top card may do, and the deal or redeal."""
    if game.n_waste > 0:
        card = int(game.pile[game.n_waste - 1])
        n = _list_targets(game, rules, card, _may_start(rules, card), n)
        if game.up[card // N_RANKS] == card % N_RANKS:
            game.legal[n] = card * N_DESTINATIONS + FOUNDATION
            n += 1
    if game.n_waste < game.n_pile or (game.n_waste > 0 and game.redeals_left != 0):
        game.legal[n] = DEAL
        n += 1
    return n


@njit
def _list_returns(game, rules, n):
    """Lists the moves of the foundations' top cards back to the tableau."""
    for suit in range(N_SUITS):
        if game.up[suit] > 0:
            card = suit * N_RANKS + int(game.up[suit]) - 1
            n = _list_targets(game, rules, card, card % N_RANKS == N_RANKS - 1, n)
    return n


@njit
def _list_targets(game, rules, card, may_start, n):
    """Lists the columns that a card from outside the tableau may go to."""
    for column in range(N_COLUMNS):
        end = game.end[column]
        fits = (end == NO_CARD) & may_start
        for child in range(rules.max_children):
            fits |= rules.children[end, child] == card
        game.legal[n] = card * N_DESTINATIONS + column
        n += fits
    return n


@njit
def _may_start(rules, card):
    found = False
    for index in range(rules.n_starters):
        found |= rules.starters[index] == card
    return found


@inlined
def play(game, rules, action):
    """Plays a legal action, turns up what it uncovers, and lists the new moves."""
    apply(game, rules, action)
    list_moves(game, rules)


@inlined
def apply(game, rules, action):
    """Plays a legal action without listing the moves that follow."""
    if action == DEAL:
        _deal_from_stock(game, rules)
    else:
        _move(game, np.uint8(action >> 3), np.uint8(action & 7))


@inlined
def _move(game, card, destination):
    """Moves a card, with all that lies on it, to a column or its foundation."""
    source = np.uint8(game.seen[ROW * card + ZONE])
    if source < N_COLUMNS:
        _move_from_column(game, card, source, destination)
    else:
        if source == WASTE:
            _take_from_waste(game, card)
        else:
            game.up[card // N_RANKS] -= 1
            game.key -= CARD_WORDS[card] * PLACE_WORDS[ON_FOUNDATION]
        _put(game, card, card, destination)


@inlined
def _move_from_column(game, card, source, destination):
    under = game.beneath[card]
    last = game.end[source]
    position = game.seen[ROW * card + POSITION]
    game.key -= CARD_WORDS[card] * PLACE_WORDS[place_code(game, card)]
    game.end[source] = under
    game.above[under] = NO_CARD
    _put(game, card, last, destination)
    if game.seen[ROW * under + FACE_UP] == 0:
        show(game, under, source, position - 1, 1)
        game.n_hidden -= 1
        game.key += CARD_WORDS[under] * PLACE_WORDS[place_code(game, under)]


@inlined
def _put(game, card, last, destination):
    """Lays down the lifted cards from `card` up to `last`."""
    if destination == FOUNDATION:
        add_to_foundation(game, card)
        return
    end = game.end[destination]
    game.beneath[card] = end
    game.above[end] = card
    game.above[NO_CARD] = NO_CARD
    game.end[destination] = last
    game.key += CARD_WORDS[card] * PLACE_WORDS[end]
    position = game.seen[ROW * end + POSITION] + 1
    # Most moves are of no more cards than SHORT. Writing NO_CARD's row in vain, and mending it, is
    # cheaper than a loop whose end the processor cannot foresee.
    for _ in range(SHORT):
        place(game, card, destination, position)
        position += 1
        card = game.above[card]
    while card != NO_CARD:
        place(game, card, destination, position)
        position += 1
        card = game.above[card]
    place(game, NO_CARD, HIDDEN, -1)


@njit
def _take_from_waste(game, card):
    """Removes the waste's top card from the pile."""
    game.key -= CARD_WORDS[card] * PLACE_WORDS[IN_WASTE]
    game.n_waste -= 1
    game.n_pile -= 1
    for index in range(game.n_waste, game.n_pile):
        game.pile[index] = game.pile[index + 1]
    if game.n_pile == 0 and game.redeals_left > 0:
        # Redeals of nothing: positions that differ only in them are the same.
        game.key -= CARD_WORDS[NO_CARD] * np.uint64(game.redeals_left)
        game.redeals_left = 0


@njit
def _deal_from_stock(game, rules):
    """Turns the next cards onto the waste; with the stock empty, makes the waste the stock."""
    if game.n_waste == game.n_pile:
        _redeal(game)
        return
    for _ in range(min(int(rules.draw), int(game.n_pile) - int(game.n_waste))):
        card = game.pile[game.n_waste]
        if game.seen[ROW * card + ZONE] == STOCK:
            game.key -= CARD_WORDS[card] * PLACE_WORDS[IN_STOCK]
        show_waste_card(game, game.n_waste)
        game.n_waste += 1
    for index in range(game.n_waste, game.n_pile):
        card = game.pile[index]
        if game.seen[ROW * card + ZONE] == STOCK:
            show(game, card, STOCK, index - game.n_waste, 0)


@njit
def _redeal(game):
    """Turns the waste over to be the stock; its cards have all been seen."""
    game.n_waste = 0
    for index in range(game.n_pile):
        game.key -= CARD_WORDS[game.pile[index]] * PLACE_WORDS[IN_WASTE]
        show_stock_card(game, index)
    if game.redeals_left != UNLIMITED:
        game.redeals_left -= 1
        game.key -= CARD_WORDS[NO_CARD]


@kernel
def deal_games(games, rules, decks, which):
    """Lays out games (GAME, (n,)) on their decks (uint8, (n, 52)) where `which` (bool) says so."""
    for index in range(len(games)):
        if which[index]:
            deal(games[index], rules[0], decks[index])


@kernel
def play_games(games, rules, actions, which):
    """Plays legal actions (int64, (n,)) in games (GAME, (n,)) where `which` (bool) says so."""
    for index in range(len(games)):
        if which[index]:
            play(games[index], rules[0], actions[index])
