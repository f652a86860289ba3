"""Labels for the value: whether the search itself wins on from a position.

The search plays games, and the positions just after their reveals are labelled with how each ended.
So that not only what the search would choose is judged, most games leave its choices once, for any
plan, and only what comes after is labelled.
"""

from collections.abc import Iterable

import numpy as np

from agents.planning import PlanningAgent, mask_of, play
from agents.reveal_search.candidates import AHEAD, unknown_cards
from agents.reveal_search.labels import MAX_TOKENS, Samples, describe_game
from agents.reveal_search.room import lore_of, new_room
from agents.reveal_search.value import no_network
from yukon_env.engine.compiling import kernel
from yukon_env.engine.state import compile_rules
from yukon_env.evaluation import MAX_MOVES
from yukon_env.game import Game

# A game leaves the search's choices at one of the first so many decisions, ...
LATEST = 16
# ... but one in so many never does, and is labelled whole.
KEEPERS = 4


def label_outcomes(
    player: PlanningAgent, deals: Iterable[int], samples: Samples, rng: np.random.Generator
) -> int:
    """Plays deals until the samples are full; returns how many there are.

    Args:
        player: The search.
        deals: Deal numbers.
        samples: Overwritten.
        rng: Draws where games leave the search's choices, and for what.
    """
    room, lore = new_room(), lore_of(player.variant, no_network())
    n = 0
    for deal in deals:
        leaves = -1 if rng.integers(KEEPERS) == 0 else int(rng.integers(LATEST))
        reveals, won = play_game(player, deal, leaves, rng)
        stop = n + len(reveals)
        room_left = len(samples.tokens) - samples.starts[n]
        if stop > len(samples.labels) or len(reveals) * MAX_TOKENS > room_left:
            break
        for number, (before, after) in enumerate(reveals, start=n):
            describe_reveal(room, lore, before, after, samples, number)
        samples.labels[n:stop] = won
        n = stop
    return n


def play_game(
    player: PlanningAgent, deal: int, leaves: int, rng: np.random.Generator
) -> tuple[list[tuple[np.ndarray, np.ndarray]], bool]:
    """Plays a deal.

    Args:
        player: Who plays.
        deal: The deal number.
        leaves: The decision, from 0, in which any of the player's plans is played; -1 for none.
        rng: Draws that plan.

    Returns:
        The games (GAME, shape (1,)) before and after each reveal from that decision on, and
        whether the game was won.
    """
    rules = compile_rules(player.variant)
    game = Game(player.variant, deal=deal).record.copy()
    reveals: list[tuple[np.ndarray, np.ndarray]] = []
    n_moves = decision = 0
    while n_moves < MAX_MOVES and (mask := mask_of(game)).any():
        # Planners make nothing of where the hidden cards lie; to hide them takes far longer.
        plans = player.plans(Game.of_record(player.variant, game), mask, choosing=False)
        if "worlds" not in plans[0].numbers:
            # There was nothing to guess any more, or no way to a reveal.
            return reveals, plans[0].numbers["estimate"] == 1.0
        plan = plans[rng.integers(len(plans))] if decision == leaves else plans[0]
        before = game
        for action in plan.actions:
            game = play(game, rules, action)
        if decision >= leaves:
            reveals.append((before, game))
        n_moves += len(plan.actions)
        decision += 1
    return reveals, False


@kernel
def describe_reveal(room, lore, before, after, samples, n):
    """Writes sample `n`: a game (GAME, shape (1,)) after a reveal; `before` is one before it."""
    room.games[AHEAD] = after[0]
    describe_game(room, lore, unknown_cards(before[0]), samples, n)
