"""Labels for the value: how often the greedy player wins on from a position.

The plans of every decision of a game are played, each in a world of its own, and then the greedy
player goes on several times, the hidden cards dealt anew each time. The games themselves go on
with a plan that did well, or now and then with any plan.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from agents.greedy import play_to_the_end
from agents.reveal_search.candidates import (
    AHEAD,
    PLAYED,
    SEEN,
    play_in,
    propose,
    unknown_cards,
)
from agents.reveal_search.judging import estimate
from agents.reveal_search.settings import Settings
from agents.reveal_search.value import N_FEATURES, describe_revealed, sketch_position
from yukon_env.deals import fill_deck, next_below, next_word
from yukon_env.engine.compiling import kernel
from yukon_env.engine.moves import deal, is_won
from yukon_env.engine.tables import shuffle_hidden_cards
from yukon_env.evaluation import MAX_MOVES
from yukon_env.solver.cardsets import BIT, EMPTY, count
from yukon_env.solver.position import load
from yukon_env.variants import N_COLUMNS

# How the games are played, and how sure their labels are.
EFFORT_OF_LABELS = Settings(solved=6, states=300, options=4, weight=4.0).record()
N_PLAYED_OUT = 4
RANDOM_SHARE = 0.15
MAX_TOKENS = 1500


class Samples(NamedTuple):
    """Labelled positions.

    Attributes:
        tokens: int16, shape (all tokens,): those of all samples, one after the other.
        starts: int64, shape (n + 1,): where the tokens of each sample begin.
        features: float32, shape (n, N_FEATURES).
        labels: float32, shape (n,): shares of wins.
    """

    tokens: np.ndarray
    starts: np.ndarray
    features: np.ndarray
    labels: np.ndarray


def new_samples(n: int) -> Samples:
    """Makes room for `n` samples."""
    return Samples(
        tokens=np.zeros(400 * n + 256 * MAX_TOKENS, np.int16),
        starts=np.zeros(n + 1, np.int64),
        features=np.zeros((n, N_FEATURES), np.float32),
        labels=np.zeros(n, np.float32),
    )


@kernel
def label_plans(room, lore, candidates, deals, samples, deck, stream):
    """Plays deals until the samples are full.

    Args:
        room: A `Room`.
        lore: A `Lore`.
        candidates: `Candidates`.
        deals: int64, shape (n,): deal numbers.
        samples: `Samples`, overwritten.
        deck: uint8, shape (52,), overwritten.
        stream: uint64, shape (2,): one random stream for the labels, one for the decks.

    Returns:
        The number of samples, and of games played.
    """
    n = 0
    for number in range(len(deals)):
        fill_deck(deals[number], deck, stream[1:])
        deal(room.games[SEEN], lore.rules[0], deck)
        moves = 0
        while moves < MAX_MOVES:
            unknown = unknown_cards(room.games[SEEN])
            if count(unknown) <= 1 or room.games[SEEN].n_legal == 0:
                break
            n_plans = propose(
                room, lore, candidates, unknown, next_word(stream), EFFORT_OF_LABELS[0]
            )
            if n_plans == 0:
                break
            if n + n_plans > len(samples.labels) or (
                samples.starts[n] + n_plans * MAX_TOKENS > len(samples.tokens)
            ):
                return n, number
            for index in range(n_plans):
                samples.labels[n] = _label(
                    room, lore, candidates, index, unknown, samples, n, stream
                )
                n += 1
            moves += _go_on(room, lore, candidates, n_plans, stream)
    return n, len(deals)


@njit
def _label(room, lore, candidates, index, unknown, samples, n, stream):
    """Writes sample `n`, of one plan in one world, and returns its label."""
    games, greedy = room.games, room.greedy
    games[AHEAD] = candidates.games[index]
    shuffle_hidden_cards(games[AHEAD], room.hidden, room.places, stream)
    move = np.int64(candidates.moves[index, candidates.lengths[index] - 1])
    play_in(games, AHEAD, lore, move)
    describe_game(room, lore, unknown, samples, n)
    candidates.wins[index], candidates.worlds[index] = 0, N_PLAYED_OUT
    for _ in range(N_PLAYED_OUT):
        games[PLAYED] = games[AHEAD]
        shuffle_hidden_cards(games[PLAYED], room.hidden, room.places, stream)
        play_to_the_end(
            games, lore.rules, lore.relations, lore.weights,
            greedy.looked, greedy.row, greedy.legal, greedy.scores, room.keys,
        )  # fmt: skip
        candidates.wins[index] += is_won(games[PLAYED])
    return candidates.wins[index] / N_PLAYED_OUT


@njit
def _go_on(room, lore, candidates, n_plans, stream):
    """Plays a plan in the game itself; returns how many moves that were."""
    weight = EFFORT_OF_LABELS[0].weight
    best = np.int64(next_below(stream, n_plans))
    if (next_word(stream) >> np.uint64(40)) / 2.0**24 >= RANDOM_SHARE:
        for index in range(n_plans):
            if estimate(candidates, index, weight) > estimate(candidates, best, weight):
                best = index
    for place in range(candidates.lengths[best]):
        play_in(room.games, SEEN, lore, np.int64(candidates.moves[best, place]))
    return candidates.lengths[best]


@njit
def describe_game(room, lore, before, samples, n):
    """Writes the tokens and features of `room.games[AHEAD]`, in which a card of `before` turned."""
    description = room.description
    position = room.position[0]
    load(position, room.games[AHEAD], lore.solver[0])
    shown = before & ~unknown_cards(room.games[AHEAD])
    column, n_dealt = _find_revealed(position, shown, room.cards)
    n_revealed = max(n_dealt, 1)
    n_tokens = sketch_position(position, lore.solver[0], before, column, n_dealt, description)
    n_more, n_off = describe_revealed(
        position, lore.solver[0], room.cards, n_revealed, description, 0
    )
    tokens = samples.tokens[samples.starts[n] :]
    tokens[:n_tokens] = description.tokens[:n_tokens]
    for index in range(n_off):
        place = 0
        while tokens[place] != description.more[index]:
            place += 1
        n_tokens -= 1
        tokens[place] = tokens[n_tokens]
    for index in range(n_off, n_more):
        tokens[n_tokens] = description.more[index]
        n_tokens += 1
    samples.starts[n + 1] = samples.starts[n] + n_tokens
    samples.features[n] = description.features[0]


@njit
def _find_revealed(position, shown, cards):
    """Writes the revealed cards; returns the column turned up (or -1) and the cards dealt."""
    for column in range(N_COLUMNS):
        if BIT[position.end[column]] & shown != EMPTY:
            cards[0] = position.end[column]
            return column, 0
    n_dealt = 0
    for index in range(position.n_waste):
        if BIT[position.pile[index]] & shown != EMPTY:
            cards[n_dealt] = position.pile[index]
            n_dealt += 1
    return -1, n_dealt
