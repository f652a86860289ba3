"""What the search for reveals is made of: the reveals in reach, the value, its labels."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from helpers import COMPILED, KEYS, played
from numba import njit
from test_reveal_search import plans_of, random_network, small_agent, unknown

from agents.reveal_search.candidates import (
    AHEAD,
    SEEN,
    new_candidates,
    unknown_cards,
)
from agents.reveal_search.labels import (
    N_PLAYED_OUT,
    Samples,
    describe_game,
    label_plans,
    new_samples,
)
from agents.reveal_search.reach import ALL, NO_PARENT, PER_CORE, Reach, explore, new_reach
from agents.reveal_search.room import lore_of, new_room
from agents.reveal_search.value import (
    N_FEATURES,
    N_TOKENS,
    Network,
    sketch_position,
    value_plan,
)
from agents.symmetry import suit_symmetries
from yukon_env import VARIANTS, Game
from yukon_env.cards import N_CARDS, N_RANKS
from yukon_env.engine.state import DEAL, N_ACTIONS, N_DESTINATIONS, compile_rules
from yukon_env.solver.cardsets import count
from yukon_env.solver.dominance import NO_MOVE, forced_move
from yukon_env.solver.position import POSITION, load
from yukon_env.solver.techniques import compile_lore
from yukon_env.variants import N_COLUMNS

# --------------------------------------------------------------------------------------------
# The reveals in reach
# --------------------------------------------------------------------------------------------

# Positions of one decision that the plain search will look at.
MAX_POSITIONS = 150
Layout = tuple[tuple[int, str], ...]


@njit
def _explore(game, reach, lore, max_per_core):
    load(reach.positions[0], game, lore)
    return explore(reach, lore, unknown_cards(game), max_per_core)


@njit
def _forced_move(game, position, lore):
    load(position, game, lore)
    return forced_move(position, lore)


def layout(game: Game) -> Layout:
    """Where each card lies; in columns only whether on bare table, on a parent, or on another."""
    board = game.board
    places = dict.fromkeys(range(N_CARDS), "up")
    places |= dict.fromkeys(board.stock, "stock") | dict.fromkeys(board.waste, "waste")
    for cards, hidden in zip(board.columns, board.hidden, strict=True):
        for index, card in enumerate(cards):
            on_parent = index > hidden and game.variant.may_lie_on(card, cards[index - 1])
            places[card] = "base" if index == 0 else "on parent" if on_parent else "on another"
    return tuple(sorted(places.items()))


def searched_moves(game: Game, allowed: set[int]) -> list[int]:
    """The moves that the search follows: the solver's forced one, or all but needless ones."""
    lore = compile_lore(game.variant)[0]
    forced = int(_forced_move(game.record[0], np.zeros(1, POSITION)[0], lore))
    if forced != NO_MOVE and forced in allowed:
        return [forced]
    on_foundation = game.observation()[:, 0] == N_COLUMNS
    return [
        move
        for move in allowed.intersection(map(int, game.legal_moves()))
        if lore.returns or move == DEAL or not on_foundation[move // N_DESTINATIONS]
    ]


def reachable_reveals(game: Game, allowed: set[int]) -> set[Layout] | None:
    """What can be seen after the next reveal, by plain search; None if that is too much."""
    keys, positions, found = {game.key}, [game], set()
    for position in positions:
        first = position is game
        for move in searched_moves(position, allowed if first else set(range(N_ACTIONS))):
            after = position.copy()
            after.play(move)
            if unknown(after) < unknown(game):
                found.add(layout(after))
            elif after.key not in keys:
                keys.add(after.key)
                positions.append(after)
        if len(positions) > MAX_POSITIONS:
            return None
    return found


def option_layouts(reach: Reach, n: int, game: Game) -> list[Layout]:
    """What can be seen after each of the options, their moves being played one after another."""
    layouts = []
    for option in range(n):
        moves, node = [reach.option_moves[option]], reach.option_nodes[option]
        while reach.parents[node] != NO_PARENT:
            moves.append(reach.moves[node])
            node = reach.parents[node]
        after = game.copy()
        for move in reversed(moves):
            assert unknown(after) == unknown(game)
            after.play(int(move))
        assert unknown(after) < unknown(game)
        layouts.append(layout(after))
    return layouts


@pytest.mark.parametrize(
    "key", ["yukon", "yukon-relaxed", "russian", "alaska", "moosehide", "canberra", "tasmanian"]
)
def test_the_reveals_in_reach_are_those_of_a_plain_search(key: str) -> None:
    """From random positions, once with all moves allowed and once with half of them."""
    reach, lore = new_reach(4 * MAX_POSITIONS, MAX_POSITIONS), compile_lore(VARIANTS[key])[0]
    rng = np.random.default_rng(0)
    n_compared, n_reveals = 0, 0
    for deal in range(22_000, 22_160):
        game = played(key, deal, 10 + deal % 60)
        if unknown(game) < 2 or not game.legal_moves():
            continue
        for mask in np.ones(N_ACTIONS, np.bool_), rng.random(N_ACTIONS) < 0.5:
            allowed = set(np.flatnonzero(mask).tolist())
            expected = reachable_reveals(game, allowed)
            if expected is None:
                continue
            reach.allowed[:] = mask
            found = option_layouts(reach, _explore(game.record[0], reach, lore, ALL), game)
            assert len(set(found)) == len(found)
            assert set(found) == expected
            few = option_layouts(reach, _explore(game.record[0], reach, lore, PER_CORE), game)
            assert set(few) <= expected
            n_compared += 1
            n_reveals += len(found)
        if min(n_compared, n_reveals) >= 8:
            break
    assert min(n_compared, n_reveals) >= 8


def test_only_where_no_reveal_is_in_reach_there_is_no_plan() -> None:
    agent = small_agent("russian")
    n_plans = []
    for deal in range(22_200, 22_240):
        game = played("russian", deal, 10 + deal % 60)
        if unknown(game) < 2 or not game.legal_moves():
            continue
        expected = reachable_reveals(game, set(range(N_ACTIONS)))
        if expected is not None:
            n_plans.append(len(plans_of(agent, game)))
            assert bool(n_plans[-1]) == bool(expected)
    assert min(n_plans) == 0
    assert max(n_plans) > 1


# --------------------------------------------------------------------------------------------
# The value
# --------------------------------------------------------------------------------------------


@njit
def _describe(room, lore, samples):
    """Describes `AHEAD`, which a move that reveals has made of `SEEN`."""
    describe_game(room, lore, unknown_cards(room.games[SEEN]), samples, 0)


@njit
def _value_by_steps(room, lore, move):
    """The value of the move in `SEEN` if it reveals what `_describe` has found in `AHEAD`."""
    before = unknown_cards(room.games[SEEN])
    n_revealed = count(before) - count(unknown_cards(room.games[AHEAD]))
    load(room.position[0], room.games[SEEN], lore.solver[0])
    value_plan(
        room.position[0], lore.solver[0], move, before,
        room.cards, n_revealed, lore.network, room.description,
    )  # fmt: skip
    return room.description.values[0]


@njit
def _whole_tokens(room, lore):
    """The tokens of `AHEAD` as of any position, whatever was revealed last."""
    load(room.position[0], room.games[AHEAD], lore.solver[0])
    n = sketch_position(
        room.position[0], lore.solver[0], unknown_cards(room.games[AHEAD]), -1, 0, room.description
    )
    return room.description.tokens[:n]


def plain_value(network: Network, tokens: np.ndarray, features: np.ndarray) -> float:
    first = network.bias + network.tokens[tokens].sum(axis=0) + features @ network.features
    second = np.maximum(first, 0) @ network.hidden + network.hidden_bias
    return float(1 / (1 + np.exp(-(np.maximum(second, 0) @ network.out + network.out_bias[0]))))


def seen_and_ahead(key: str, n_worlds: int = 1) -> Iterator[tuple[Game, int, Game]]:
    """Positions, moves that reveal something there, and the positions after them."""
    for deal in range(23_000, 23_032):
        game = played(key, deal, 6 * (deal % 4))
        for number in range(n_worlds):
            world = game.determinize(np.random.default_rng(number))
            for move in map(int, game.legal_moves()):
                after = world.copy()
                after.play(move)
                if unknown(after) < unknown(game):
                    yield game, move, after


def described(samples: Samples) -> tuple[np.ndarray, np.ndarray]:
    return samples.tokens[: samples.starts[1]], samples.features[0]


@pytest.mark.parametrize("key", KEYS)
def test_the_value_of_a_plan_is_the_value_of_what_it_shows(key: str) -> None:
    """Play adds up a plan without the revealed card, and then that; training sees the whole."""
    network = random_network(4)
    room, lore, samples = new_room(), lore_of(VARIANTS[key], network), new_samples(1)
    values = []
    for before, move, after in seen_and_ahead(key, n_worlds=2):
        room.games[SEEN], room.games[AHEAD] = before.record[0], after.record[0]
        _describe(room, lore, samples)
        values.append(plain_value(network, *described(samples)))
        assert _value_by_steps(room, lore, move) == pytest.approx(values[-1], abs=1e-4)
    assert len(values) >= 4
    assert np.std(values) > 0.01


@pytest.mark.parametrize("key", [key for key in KEYS if VARIANTS[key].draw <= 1])
def test_a_revealed_card_is_described_like_any_other(key: str) -> None:
    """Pairs of cards that are dealt to the waste at once are left out, so one at a time."""
    room, lore, samples = new_room(), lore_of(VARIANTS[key], random_network(4)), new_samples(1)
    for before, _, after in seen_and_ahead(key):
        room.games[SEEN], room.games[AHEAD] = before.record[0], after.record[0]
        _describe(room, lore, samples)
        assert sorted(described(samples)[0].tolist()) == sorted(_whole_tokens(room, lore).tolist())


def renamed(game: Game, suits: np.ndarray, columns: np.ndarray) -> Game:
    """The same game with other suits and another order of the columns."""

    def cards(those: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(int(suits[card // N_RANKS]) * N_RANKS + card % N_RANKS for card in those)

    board = game.board
    return Game.from_board(
        replace(
            board,
            columns=tuple(cards(board.columns[column]) for column in columns),
            hidden=tuple(board.hidden[column] for column in columns),
            foundations=tuple(board.foundations[suit] for suit in np.argsort(suits)),
            stock=cards(board.stock),
            waste=cards(board.waste),
        ),
        game.variant,
    )


@pytest.mark.parametrize("key", KEYS)
def test_other_names_of_suits_and_columns_do_not_change_what_the_value_sees(key: str) -> None:
    """Suits of a colour change places, or the colours do."""
    room, lore, samples = new_room(), lore_of(VARIANTS[key], random_network(4)), new_samples(1)
    symmetries = suit_symmetries(compile_rules(VARIANTS["yukon"]))
    rng = np.random.default_rng(0)
    n_compared = 0
    for before, _, after in seen_and_ahead(key):
        names = rng.choice(symmetries), rng.permutation(N_COLUMNS)
        seen = []
        for games in ((before, after), (renamed(before, *names), renamed(after, *names))):
            room.games[SEEN], room.games[AHEAD] = games[0].record[0], games[1].record[0]
            _describe(room, lore, samples)
            tokens, features = described(samples)
            seen.append((sorted(tokens.tolist()), features.tolist()))
        assert seen[0] == seen[1]
        n_compared += 1
    assert n_compared >= 2


# --------------------------------------------------------------------------------------------
# Labels
# --------------------------------------------------------------------------------------------


def label(key: str, seed: int) -> tuple[Samples, int]:
    room, lore, samples = new_room(), lore_of(VARIANTS[key], random_network(4)), new_samples(60)
    n, n_games = label_plans(
        room, lore, new_candidates(), np.arange(50, dtype=np.int64),
        samples, np.zeros(N_CARDS, np.uint8), np.array([seed, 0], np.uint64),
    )  # fmt: skip
    assert n_games < 50
    return samples, n


@pytest.mark.skipif(not COMPILED, reason="takes minutes without compiling")
@pytest.mark.parametrize("key", ["yukon", "tasmanian"])
def test_plans_are_labelled_until_the_samples_are_full(key: str) -> None:
    samples, n = label(key, seed=3)
    assert 30 < n <= 60
    starts = samples.starts[: n + 1]
    assert starts[0] == 0
    assert (np.diff(starts) > 50).all()
    tokens = samples.tokens[: starts[-1]]
    assert tokens.min() >= 0
    assert tokens.max() < N_TOKENS
    assert samples.features.shape == (60, N_FEATURES)
    assert np.isfinite(samples.features).all()
    wins = samples.labels[:n] * N_PLAYED_OUT
    assert set(wins.tolist()) <= set(range(N_PLAYED_OUT + 1))
    assert len(set(wins.tolist())) > 1


@pytest.mark.skipif(not COMPILED, reason="takes minutes without compiling")
def test_the_seed_fixes_the_labels() -> None:
    first, again, other = (label("yukon", seed)[0] for seed in (3, 3, 4))
    for one, two in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, two)
    assert not np.array_equal(first.labels, other.labels)
