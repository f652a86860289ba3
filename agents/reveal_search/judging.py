"""How plans are judged: the greedy player plays them out, in the same worlds for all plans.

The estimate of a plan is its share of worlds won, drawn towards the learned value as if that were
so many worlds more. All plans are tried in some worlds, and the best few then in more.
"""

import numpy as np
from numba import njit

from agents.greedy import play_to_the_end
from agents.reveal_search.candidates import PLAYED, deal_world, pick_best, play_in
from yukon_env.engine.moves import is_won


@njit
def judge(room, lore, candidates, n, base, effort):
    """Orders the first `n` plans in `room.order`, the best first.

    Args:
        room: A `Room`.
        lore: A `Lore`.
        candidates: `Candidates`, with values; `wins` and `worlds` are overwritten.
        n: How many there are.
        base: Names the worlds, see `deal_world`.
        effort: A record of dtype EFFORT.
    """
    for index in range(n):
        candidates.wins[index] = candidates.worlds[index] = 0
        room.order[index] = index
    if n < 2:
        return
    _try(room, lore, candidates, n, base, 0, effort.worlds)
    _sort(room, candidates, n, effort.weight)
    n_finalists = min(n, effort.finalists)
    if n_finalists > 1 and effort.more > 0:
        _try(room, lore, candidates, n_finalists, base, effort.worlds, effort.more)
        _sort(room, candidates, n_finalists, effort.weight)


@njit
def estimate(candidates, index, weight):
    """The chance to win after a plan, as far as is known."""
    trust = weight + candidates.worlds[index]
    if trust == 0:
        return candidates.values[index]
    return (candidates.wins[index] + weight * candidates.values[index]) / trust


@njit
def _try(room, lore, candidates, n, base, first, n_worlds):
    """Plays the first `n` plans of the order out in so many worlds from `first` on."""
    for place in range(n):
        index = room.order[place]
        candidates.worlds[index] += n_worlds
        for world in range(first, first + n_worlds):
            candidates.wins[index] += play_out(room, lore, candidates, index, base, world)


@njit
def play_out(room, lore, candidates, index, base, world):
    """Whether the greedy player wins a world after a plan."""
    games, greedy = room.games, room.greedy
    games[PLAYED] = candidates.games[index]
    deal_world(room, PLAYED, base, world)
    play_in(games, PLAYED, lore, np.int64(candidates.moves[index, candidates.lengths[index] - 1]))
    play_to_the_end(
        games, lore.rules, lore.relations, lore.weights,
        greedy.looked, greedy.row, greedy.legal, greedy.scores, room.keys,
    )  # fmt: skip
    return is_won(games[PLAYED])


@njit
def _sort(room, candidates, n, weight):
    """Sorts the first `n` plans of the order by their estimates."""
    order = room.order[:n].copy()
    for place in range(n):
        room.values[place] = estimate(candidates, order[place], weight)
    sorted_places = np.empty(n, np.int64)
    pick_best(room.values, n, n, sorted_places)
    for place in range(n):
        room.order[place] = order[sorted_places[place]]
