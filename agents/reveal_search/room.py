"""What the kernels of the search read, and the arrays they work in."""

from typing import NamedTuple

import numpy as np

from agents.greedy import Scratch as GreedyScratch
from agents.greedy import read_weights, weights_file
from agents.reveal_search.reach import Reach, new_reach
from agents.reveal_search.value import Description, Network, new_description
from agents.view import relations_of
from yukon_env.cards import N_CARDS
from yukon_env.engine.state import GAME, compile_rules
from yukon_env.evaluation import MAX_MOVES
from yukon_env.solver.abstraction import ABSTRACT_FRAME, ABSTRACT_GAME
from yukon_env.solver.position import KEY_WORDS, POSITION
from yukon_env.solver.position import MAX_MOVES as MAX_LISTED
from yukon_env.solver.search import FRAME, SEARCH
from yukon_env.solver.techniques import compile_lore
from yukon_env.variants import Variant

MAX_CANDIDATES = 256
# Reachable positions, and so options, to look at.
MAX_NODES = 3000
# States of one solution; the solver's table is filled by two thirds at most.
MAX_STATES = 5000
TABLE_ROWS = 1 << 13
MAX_DEPTH = 1 << 13


class Lore(NamedTuple):
    """All that is known of a variant.

    Attributes:
        rules: RULES, shape (1,): as the engine reads them.
        relations: RELATIONS, shape (1,): as the features of moves read them.
        solver: LORE, shape (1,): as the solver reads them.
        weights: float32, shape (N_MOVE_FEATURES,): the greedy player's.
        network: The learned value.
    """

    rules: np.ndarray
    relations: np.ndarray
    solver: np.ndarray
    weights: np.ndarray
    network: Network


def lore_of(variant: Variant, network: Network) -> Lore:
    """Collects what is known of a variant."""
    rules = compile_rules(variant)
    weights = read_weights(weights_file(variant), variant)
    return Lore(rules, relations_of(rules), compile_lore(variant), weights, network)


class Greedy(NamedTuple):
    """What the greedy player works in: see `agents.greedy.Scratch`."""

    looked: np.ndarray
    row: np.ndarray
    legal: np.ndarray
    scores: np.ndarray


class Solver(NamedTuple):
    """What the solver's search works in."""

    position: np.ndarray
    search: np.ndarray
    frames: np.ndarray
    moves: np.ndarray
    scratch: np.ndarray
    table: np.ndarray
    abstract_games: np.ndarray
    abstract_frames: np.ndarray
    abstract_table: np.ndarray


class Room(NamedTuple):
    """The arrays that the search works in.

    Attributes:
        games: GAME, shape (4,): one that is played out, one to try moves on, the game as the
            player sees it, and one on its way to a reveal.
        keys: uint64: positions that a player has been in.
        path: uint16: moves on the way to a reveal.
        hidden: uint8, shape (52,): hidden cards, while they are dealt anew.
        places: uint8, shape (52,): and where they lay.
        stream: uint64, shape (1,): a random stream.
        cards: uint8, shape (52,): the cards that may be revealed.
        position: POSITION, shape (1,).
        values: float64, shape (MAX_NODES,): of the options.
        order: int64, shape (MAX_NODES,): indices, the best first.
        greedy: What the greedy player works in.
        solver: What the solver works in.
        reach: The reachable positions.
        description: What the value works in.
    """

    games: np.ndarray
    keys: np.ndarray
    path: np.ndarray
    hidden: np.ndarray
    places: np.ndarray
    stream: np.ndarray
    cards: np.ndarray
    position: np.ndarray
    values: np.ndarray
    order: np.ndarray
    greedy: Greedy
    solver: Solver
    reach: Reach
    description: Description


def new_room() -> Room:
    """Makes the arrays."""
    greedy = GreedyScratch()
    return Room(
        games=np.zeros(4, GAME),
        keys=np.zeros(MAX_MOVES + 1, np.uint64),
        path=np.zeros(MAX_DEPTH, np.uint16),
        hidden=np.zeros(N_CARDS, np.uint8),
        places=np.zeros(N_CARDS, np.uint8),
        stream=np.zeros(1, np.uint64),
        cards=np.zeros(N_CARDS, np.uint8),
        position=np.zeros(1, POSITION),
        values=np.zeros(MAX_NODES, np.float64),
        order=np.zeros(MAX_NODES, np.int64),
        greedy=Greedy(greedy.view, greedy.row, greedy.legal, greedy.scores),
        solver=Solver(
            position=np.zeros(1, POSITION),
            search=np.zeros(1, SEARCH),
            frames=np.zeros(MAX_DEPTH, FRAME),
            moves=np.zeros(8 * MAX_DEPTH, np.uint32),
            scratch=np.zeros(MAX_LISTED, np.uint16),
            table=np.zeros((TABLE_ROWS, KEY_WORDS), np.uint64),
            abstract_games=np.zeros(1, ABSTRACT_GAME),
            abstract_frames=np.zeros(1, ABSTRACT_FRAME),
            abstract_table=np.zeros(1, np.uint64),
        ),
        reach=new_reach(MAX_NODES, MAX_NODES),
        description=new_description(),
    )
