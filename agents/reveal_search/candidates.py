"""Plans worth judging: the greedy player's, those of solved worlds, and the best by the value.

Judging is noisy, and the best of many noisy figures flatters: a few good plans beat all plans.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from agents.greedy import NO_MOVE, play_best_new, score_moves
from agents.reveal_search.reach import ALL, FEW_OPTIONS, NO_PARENT, PER_CORE, explore
from agents.reveal_search.room import MAX_CANDIDATES
from agents.reveal_search.value import value_plan
from yukon_env.cards import N_CARDS
from yukon_env.deals import mix, next_below
from yukon_env.engine.moves import play
from yukon_env.engine.repeats import contains
from yukon_env.engine.state import GAME, HIDDEN, ROW, ZONE
from yukon_env.engine.tables import shuffle_hidden_cards
from yukon_env.solver import search
from yukon_env.solver.cardsets import BIT, CARD_OF_BIT, EMPTY, index_of, lowest
from yukon_env.solver.position import load

PLAYED, TRIED, SEEN, AHEAD = range(4)
MAX_PLAN = 256
# Options are first valued over a few of the cards that may turn up.
N_FIRST_CARDS = 6
# Plans are not judged in the worlds that they come from.
SOLVED_WORLDS = 1 << 20

_WORLD = np.uint64(0x632BE59BD9B4E019)
_MOVE = np.uint64(0x9E3779B97F4A7C15)
# Which bits of the random words disturb the solver's order of moves.
_NOISE = np.uint64(2047)


class Candidates(NamedTuple):
    """Plans, each a way to a reveal.

    Attributes:
        games: GAME, shape (MAX_CANDIDATES,): just before the reveal.
        moves: uint16, shape (MAX_CANDIDATES, MAX_PLAN): the moves; the last one reveals.
        lengths: int64, shape (MAX_CANDIDATES,): how many there are.
        keys: uint64, shape (MAX_CANDIDATES,): what tells plans apart.
        values: float64, shape (MAX_CANDIDATES,): the learned value after the reveal.
        wins: int64, shape (MAX_CANDIDATES,): worlds won after it.
        worlds: int64, shape (MAX_CANDIDATES,): worlds tried.
    """

    games: np.ndarray
    moves: np.ndarray
    lengths: np.ndarray
    keys: np.ndarray
    values: np.ndarray
    wins: np.ndarray
    worlds: np.ndarray


def new_candidates() -> Candidates:
    """Makes room for plans."""
    return Candidates(
        games=np.zeros(MAX_CANDIDATES, GAME),
        moves=np.zeros((MAX_CANDIDATES, MAX_PLAN), np.uint16),
        lengths=np.zeros(MAX_CANDIDATES, np.int64),
        keys=np.zeros(MAX_CANDIDATES, np.uint64),
        values=np.zeros(MAX_CANDIDATES, np.float64),
        wins=np.zeros(MAX_CANDIDATES, np.int64),
        worlds=np.zeros(MAX_CANDIDATES, np.int64),
    )


@njit
def unknown_cards(game):
    """The set (see the solver's `cardsets`) of the cards whose place a player does not know."""
    unknown = EMPTY
    for card in range(N_CARDS):
        if game.seen[ROW * card + ZONE] == HIDDEN:
            unknown |= BIT[card]
    return unknown


@njit
def list_cards(cards, listed):
    """Writes the cards of a set, in order, and returns how many there are."""
    n = 0
    while cards != EMPTY:
        bit = lowest(cards)
        cards ^= bit
        listed[n] = CARD_OF_BIT[index_of(bit)]
        n += 1
    return n


@njit
def play_in(games, index, lore, action):
    """Plays a move in one of several games; apart, so that `play` is compiled in only once."""
    play(games[index], lore.rules[0], action)


@njit
def deal_world(room, index, base, world):
    """Deals the hidden cards of `room.games[index]` anew: the same way for the same world."""
    room.stream[0] = base + np.uint64(world) * _WORLD
    shuffle_hidden_cards(room.games[index], room.hidden, room.places, room.stream)


@njit
def propose(room, lore, candidates, unknown, base, effort):
    """Fills in the plans for `room.games[SEEN]`; returns how many there are.

    Args:
        room: A `Room`.
        lore: A `Lore`.
        candidates: `Candidates`, overwritten.
        unknown: The set of unknown cards.
        base: Names the worlds that are solved, see `deal_world`.
        effort: A record of dtype EFFORT.
    """
    n = _propose_greedy(room, lore, candidates, 0, unknown)
    for world in range(SOLVED_WORLDS, SOLVED_WORLDS + effort.solved):
        if win_world(room, lore, base, world, effort):
            n = _propose_solved(room, lore, candidates, n, unknown)
    if effort.options > 0:
        n = _propose_valued(room, lore, candidates, n, unknown, base, effort.options)
    for index in range(n):
        candidates.values[index] = _value_candidate(room, lore, candidates, index, unknown)
    return n


@njit
def _add(room, candidates, n, length):
    """Adds the plan in `room.path`, whose position before the reveal is `room.games[AHEAD]`."""
    if length > MAX_PLAN or n == MAX_CANDIDATES:
        return n
    key = mix(room.games[AHEAD].key + np.uint64(room.path[length - 1]) * _MOVE)
    if contains(candidates.keys[:n], key):
        return n
    candidates.games[n] = room.games[AHEAD]
    candidates.keys[n] = key
    candidates.lengths[n] = length
    for index in range(length):
        candidates.moves[n, index] = room.path[index]
    return n + 1


@njit
def _propose_greedy(room, lore, candidates, n, unknown):
    """Adds what the greedy player does, who enters no position twice."""
    games, greedy = room.games, room.greedy
    games[PLAYED] = games[SEEN]
    for length in range(len(room.keys)):
        games[AHEAD] = games[PLAYED]
        room.keys[length] = games[AHEAD].key
        n_legal = 0
        for index in range(games[AHEAD].n_legal):
            action = games[AHEAD].legal[index]
            greedy.legal[n_legal] = action
            n_legal += length > 0 or room.reach.allowed[action]
        score_moves(
            games[AHEAD].seen, lore.relations[0], lore.weights,
            greedy.looked[0], greedy.row, greedy.legal, n_legal, greedy.scores,
        )  # fmt: skip
        action = play_best_new(
            games, lore.rules, greedy.legal, n_legal, greedy.scores, room.keys[: length + 1]
        )
        if action == NO_MOVE:
            return n
        room.path[length] = action
        if unknown_cards(games[PLAYED]) != unknown:
            return _add(room, candidates, n, length + 1)
    return n


@njit
def win_world(room, lore, base, world, effort):
    """Whether the solver finds a win from `room.games[SEEN]` in one world."""
    room.games[AHEAD] = room.games[SEEN]
    deal_world(room, AHEAD, base, world)
    solver = room.solver
    load(solver.position[0], room.games[AHEAD], lore.solver[0])
    this = solver.search[0]
    this.n_rows = len(solver.table)
    this.max_stored = effort.states
    this.n_states = 0
    this.oracle_budget = 0
    this.noise = _NOISE
    this.random = mix(room.stream[0])
    if effort.orders > 0:
        this.random = mix(base + np.uint64(world % effort.orders))
    search.start(
        this, solver.position[0], lore.solver[0],
        solver.frames, solver.moves, solver.scratch, solver.table,
    )  # fmt: skip
    search.advance(
        this, solver.position[0], lore.solver[0],
        solver.frames, solver.moves, solver.scratch, solver.table,
        solver.abstract_games[0], solver.abstract_frames, solver.abstract_table, 2 * effort.states,
    )  # fmt: skip
    return this.status == search.WON


@njit
def _propose_solved(room, lore, candidates, n, unknown):
    """Adds the beginning of the win that the solver has just found."""
    games, solver = room.games, room.solver
    if not room.reach.allowed[solver.frames[1].move]:
        return n
    games[AHEAD] = games[SEEN]
    for length in range(solver.search[0].depth):
        action = np.int64(solver.frames[length + 1].move)
        room.path[length] = action
        games[TRIED] = games[AHEAD]
        play_in(games, TRIED, lore, action)
        if unknown_cards(games[TRIED]) != unknown:
            return _add(room, candidates, n, length + 1)
        games[AHEAD] = games[TRIED]
    return n


@njit
def _propose_valued(room, lore, candidates, n, unknown, base, n_options):
    """Adds the reveals of the highest learned value, of all that can be reached."""
    reach = room.reach
    load(reach.positions[0], room.games[SEEN], lore.solver[0])
    n_reached = explore(reach, lore.solver[0], unknown, PER_CORE)
    if n_reached < FEW_OPTIONS:
        n_reached = explore(reach, lore.solver[0], unknown, ALL)
    n_cards = list_cards(unknown, room.cards)
    n_first = min(N_FIRST_CARDS, n_cards)
    room.stream[0] = base
    for index in range(n_first):
        other = index + np.int64(next_below(room.stream, n_cards - index))
        room.cards[index], room.cards[other] = room.cards[other], room.cards[index]
    for option in range(n_reached):
        room.position[0] = reach.positions[reach.option_nodes[option]]
        room.values[option] = value_plan(
            room.position[0], lore.solver[0], np.int64(reach.option_moves[option]), unknown,
            room.cards, n_first, lore.network, room.description,
        )  # fmt: skip
    for place in range(pick_best(room.values, n_reached, n_options, room.order)):
        length = _read_path(room, room.order[place])
        room.games[AHEAD] = room.games[SEEN]
        for index in range(length - 1):
            play_in(room.games, AHEAD, lore, np.int64(room.path[index]))
        n = _add(room, candidates, n, length)
    return n


@njit
def _read_path(room, option):
    """Writes the moves to an option, the reveal included, into `room.path`; returns how many."""
    reach = room.reach
    length = 1
    node = reach.option_nodes[option]
    while reach.parents[node] != NO_PARENT:
        length += 1
        node = reach.parents[node]
    room.path[length - 1] = reach.option_moves[option]
    node = reach.option_nodes[option]
    for place in range(length - 2, -1, -1):
        room.path[place] = reach.moves[node]
        node = reach.parents[node]
    return length


@njit
def pick_best(values, n, n_best, order):
    """Writes the indices of the `n_best` highest values into `order`; returns how many."""
    kept = 0
    for index in range(n):
        if kept < n_best:
            place = kept
            kept += 1
        elif values[index] > values[order[kept - 1]]:
            place = kept - 1
        else:
            continue
        while place > 0 and values[order[place - 1]] < values[index]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = index
    return kept


@njit
def _value_candidate(room, lore, candidates, index, unknown):
    """The learned value of a plan, averaged over all cards that may be revealed."""
    n_cards = list_cards(unknown, room.cards)
    load(room.position[0], candidates.games[index], lore.solver[0])
    move = np.int64(candidates.moves[index, candidates.lengths[index] - 1])
    return value_plan(
        room.position[0], lore.solver[0], move, unknown,
        room.cards, n_cards, lore.network, room.description,
    )  # fmt: skip
