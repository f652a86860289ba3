"""The compiled rules against the plain rule-book, and the worked examples of the rules."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
import rulebook
from helpers import (
    BURIED_ACE,
    KEYS,
    ONE_MOVE_LEFT,
    STOCK_KEYS,
    choose,
    lay_out,
    play_randomly,
    random_table,
    text_of,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from rulebook import CARDS, DEAL, FOUNDATION, RULES, Rules, Table
from test_rulebook import BUILD_EXAMPLES, FIRST_DEALS, KNOWN_TABLES, WORKED_EXAMPLES

from yukon_env import VARIANTS, Game, Variant, deck_of_deal
from yukon_env.engine.batch import EPISODE, SETTINGS, first_illegal
from yukon_env.engine.moves import deal_games, play_games
from yukon_env.engine.state import compile_rules, new_games

SEEDS = st.integers(0, 2**32 - 1)
DEALS = st.integers(0, 2**63 - 1)


def find_illegal(games: np.ndarray, actions: np.ndarray) -> int:
    """Index of the first game whose action is illegal, or -1."""
    return first_illegal(games, np.zeros(len(games), EPISODE), np.zeros(1, SETTINGS), actions)


def destinations(game: Game, card: str) -> set[int]:
    """Returns where a card may go."""
    number = rulebook.card_number(card)
    return {move % 8 for move in game.legal_moves() if move != DEAL and move // 8 == number}


def assert_agree(game: Game, table: Table, legal: set[int]) -> None:
    """Compares everything that an engine shows with the rule-book."""
    moves = [int(move) for move in game.legal_moves()]
    assert sorted(moves) == sorted(legal)
    for perfect in (False, True):
        rows = rulebook.observation(table, perfect_information=perfect)
        assert game.observation(perfect_information=perfect).tolist() == [list(row) for row in rows]
    marked = np.flatnonzero(game.action_mask()).tolist()
    assert marked == (sorted(legal) or list(range(417)))
    assert game.won == rulebook.is_won(table)
    assert game.dead_end == (not legal and not rulebook.is_won(table))
    assert game.record["n_hidden"][0] == sum(table.hidden)
    board = game.board
    assert board.columns == table.columns
    assert board.hidden == table.hidden
    assert board.foundations == table.foundations
    assert (board.stock, board.waste) == (table.stock, table.waste)
    if table.stock or table.waste:  # else there is nothing to redeal
        assert board.redeals_left == table.redeals_left


def play_both(game: Game, table: Table, seed: int, steps: int) -> None:
    """Plays the same random moves in the engine and by the rule-book, comparing after each."""
    chance = random.Random(seed)
    key = game.variant.key
    for _ in range(steps):
        legal = rulebook.legal_actions(table)
        assert_agree(game, table, legal)
        assert Game(key, text=text_of(table)).key == game.key
        if not legal:
            return
        action = choose(sorted(legal), chance)
        game.play(action)
        table = rulebook.play(table, action)


# --- Against the rule-book -------------------------------------------------------------------


@pytest.mark.parametrize("key", KEYS)
@settings(max_examples=3)
@given(deal=DEALS, seed=SEEDS)
def test_random_play(key: str, deal: int, seed: int) -> None:
    deck = deck_of_deal(deal).tolist()
    play_both(Game(key, deck=deck), rulebook.deal(key, deck), seed, steps=70)


@pytest.mark.parametrize("key", KEYS)
@settings(max_examples=20)
@given(seed=SEEDS)
def test_random_play_from_the_middle_of_a_game(key: str, seed: int) -> None:
    table = random_table(key, seed)
    play_both(Game(key, text=text_of(table)), table, seed, steps=12)


@pytest.mark.slow
@pytest.mark.parametrize("key", KEYS)
@settings(max_examples=100)
@given(deal=DEALS, seed=SEEDS)
def test_long_random_play(key: str, deal: int, seed: int) -> None:
    deck = deck_of_deal(deal).tolist()
    play_both(Game(key, deck=deck), rulebook.deal(key, deck), seed, steps=200)


@pytest.mark.parametrize("key", KEYS)
@settings(max_examples=10)
@given(seed=SEEDS)
def test_undo_restores_everything(key: str, seed: int) -> None:
    game = Game(key, text=text_of(random_table(key, seed)))
    before = [game.record.copy()]
    for _ in play_randomly(game, seed, steps=40):
        before.append(game.record.copy())
    for record in reversed(before[:-1]):
        game.undo()
        assert game.record.tobytes() == record.tobytes()


@pytest.mark.parametrize("key", KEYS)
@settings(max_examples=5)
@given(deal=DEALS, seed=SEEDS)
def test_always_52_cards(key: str, deal: int, seed: int) -> None:
    game = Game(key, deal=deal)
    for _ in play_randomly(game, seed, steps=200):
        seen = game.observation(perfect_information=True)
        assert (seen[:, 0] >= 0).all()
        places = {(zone, position, card // 13 if zone == FOUNDATION else 0)
                  for card, (zone, position, _) in enumerate(seen.tolist())}  # fmt: skip
        assert len(places) == 52


@pytest.mark.parametrize("key", KEYS)
def test_first_illegal_knows_exactly_the_legal_moves(key: str) -> None:
    games = new_games(417)
    for seed in range(5):
        game = Game(key, text=text_of(random_table(key, seed)))
        legal = {int(move) for move in game.legal_moves()}
        if not legal:
            continue
        games[:] = game.record[0]
        for action in range(417):
            assert find_illegal(games[:1], np.array([action])) == (-1 if action in legal else 0)


# --- The worked examples ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variant", "columns", "card", "expected"),
    [pytest.param(*example[1:], id=f"{example[1]}-{example[0]}") for example in WORKED_EXAMPLES],
)
def test_worked_examples(variant: str, columns: list[str], card: str, expected: set[int]) -> None:
    assert destinations(Game(variant, text=lay_out(*columns, of=card)), card) == expected


@pytest.mark.parametrize(("key", "on_7h", "on_ks", "on_ad"), BUILD_EXAMPLES)
def test_building(key: str, on_7h: str, on_ks: str, on_ad: str) -> None:
    for target, expected in (("7H", on_7h), ("KS", on_ks), ("AD", on_ad)):
        for card in set(CARDS) - {rulebook.card_number(target)}:
            name = rulebook.card_text(card)
            game = Game(key, text=lay_out(name, target, "JD" if name != "JD" else "JC", of=name))
            assert (1 in destinations(game, name)) == (name in expected.split())


@pytest.mark.parametrize("key", KEYS)
def test_a_king_at_the_base_has_no_move_to_an_empty_column(key: str) -> None:
    base = Game(key, text=lay_out("KH 5D", "2C", of="KH"))
    assert destinations(base, "KH") == set()
    above = Game(key, text=lay_out("2D KH 5D", "2C", of="KH"))
    assert destinations(above, "KH") == {2, 3, 4, 5, 6}


def test_a_covered_card_does_not_go_up() -> None:
    text = lay_out("<9S> 7H QC 3D", "4S", "4H", of="QC", foundations=(11, 2, 0, 0))
    game = Game("yukon", text=text)
    assert destinations(game, "QC") == set()
    assert destinations(game, "3D") == {1, FOUNDATION}
    game.play("3D>4S")
    assert destinations(game, "QC") == {FOUNDATION}


def test_a_group_moves_whole_and_what_it_uncovers_turns_up() -> None:
    game = Game("yukon", text=lay_out("<2D> <2H> 9H 6C 8D 4C", "TC", "5S", of="9H"))
    game.play("9H>TC")
    assert game.to_text().splitlines()[1] == "<2D> 2H"
    assert game.to_text().splitlines()[2] == "TC 9H 6C 8D 4C"


@pytest.mark.parametrize("key", KEYS)
def test_foundation_return(key: str) -> None:
    columns = ("6H", "6S", "6D", "7S", "8S")
    game = Game(key, text=lay_out(*columns, of="5H", foundations=(13, 0, 5, 0)))
    returns = key in STOCK_KEYS
    assert destinations(game, "5H") == ({0} if returns else set())
    assert destinations(game, "4H") == set()
    assert destinations(game, "KC") == ({5, 6} if returns else set())


@pytest.mark.parametrize("key", KEYS)
def test_first_deal(key: str) -> None:
    seen = Game(key, deal=0).observation()
    face_up, face_down, stock = FIRST_DEALS[key]
    assert seen[:, 2].sum() == face_up
    assert (seen == (-1, -1, 0)).all(axis=1).sum() == face_down + stock


@pytest.mark.parametrize("text", KNOWN_TABLES)
def test_known_boards(text: str) -> None:
    game = Game("yukon", text=text)
    table = rulebook.read_table("yukon", text)
    assert_agree(game, table, rulebook.legal_actions(table))
    assert Game("yukon", text=game.to_text()).board == game.board


@pytest.mark.parametrize("key", KEYS)
def test_the_last_card_wins(key: str) -> None:
    game = Game(key, text=ONE_MOVE_LEFT)
    assert not game.won
    game.play("KS>foundation")
    assert game.won
    assert not game.dead_end
    assert game.legal_moves() == []
    assert game.action_mask().all()


@pytest.mark.parametrize("key", KEYS)
def test_a_buried_ace_is_a_dead_end_of_the_strict_games(key: str) -> None:
    rules = RULES[key]
    assert Game(key, text=BURIED_ACE).dead_end == (
        rules.empty == "king" and not rules.foundation_return
    )


# --- Variants of one's own -------------------------------------------------------------------

SUIT_WORDS = {
    "alternating": "alternating colour",
    "same": "same suit",
    "any other": "any suit but its own",
    "any": "any suit",
}
OWN_LAYOUTS = [
    ((0, 1, 2, 3, 4, 5, 6), (1, 5, 5, 5, 5, 5, 5), 0, 0),
    ((0, 1, 0, 1, 0, 1, 0), (3, 3, 3, 3, 3, 3, 3), 2, 2),
    ((0,) * 7, (1,) * 7, 3, None),
]


@pytest.mark.parametrize("layout", OWN_LAYOUTS, ids=["no stock", "two redeals", "big stock"])
@pytest.mark.parametrize("foundation_return", [False, True])
@pytest.mark.parametrize("up_or_down", [False, True])
@pytest.mark.parametrize("suits", SUIT_WORDS)
def test_any_declared_variant_is_played(
    suits: str, up_or_down: bool, foundation_return: bool, layout: tuple
) -> None:
    hidden, up, draw, redeals = layout
    spaces = "any" if foundation_return else "king"
    fields: dict[str, Any] = {
        "suits": suits, "up_or_down": up_or_down, "spaces": spaces,
        "draw": draw, "redeals": redeals, "foundation_return": foundation_return,
    }  # fmt: skip
    variant = Variant("own", "Own", hidden, up, **fields)
    build = f"{'up or down' if up_or_down else 'down'}, {SUIT_WORDS[suits]}"
    rules = Rules(hidden, up, build, spaces, draw, redeals, foundation_return)
    deck = deck_of_deal(3).tolist()
    game, table = Game(variant, deck=deck), rulebook.deal_from_rules(rules, deck)
    chance = random.Random(0)
    for _ in range(25):
        legal = rulebook.legal_actions(table)
        assert_agree(game, table, legal)
        if not legal:
            break
        action = choose(sorted(legal), chance)
        game.play(action)
        table = rulebook.play(table, action)


# --- Position keys ---------------------------------------------------------------------------


@pytest.mark.parametrize("key", KEYS)
@settings(max_examples=10)
@given(seed=SEEDS)
def test_the_key_ignores_the_order_of_columns(key: str, seed: int) -> None:
    lines = text_of(random_table(key, seed)).splitlines()
    shuffled = lines[-7:]
    random.Random(seed).shuffle(shuffled)
    one, other = Game(key, text="\n".join(lines)), Game(key, text="\n".join(lines[:-7] + shuffled))
    assert one.key == other.key


def view(game: Game) -> tuple:
    """What a player sees of a game, whatever the order of the columns."""
    board = Game.from_observation(game.variant, game.observation(), game.action_mask()).board
    columns = tuple(sorted(zip(board.columns, board.hidden, strict=True)))
    return columns, board.foundations, board.stock, board.waste, game.board.redeals_left


@pytest.mark.parametrize("key", KEYS)
def test_positions_of_a_game_have_the_same_key_only_if_they_look_the_same(key: str) -> None:
    views: dict[int, set[tuple]] = {}
    for seed in range(20):
        game = Game(key, deal=5)
        for _ in play_randomly(game, seed, steps=60):
            views.setdefault(game.key, set()).add(view(game))
    assert len(views) > 20
    ambiguous = [seen for seen in views.values() if len(seen) > 1]
    assert not ambiguous, ambiguous[0]


@pytest.mark.parametrize("key", STOCK_KEYS)
def test_a_card_that_went_from_the_stock_to_its_foundation_changes_the_key(key: str) -> None:
    # A player who must not re-enter a position could else never put such a card up.
    stock = "<AH> <2H> <3H>"
    columns = "KH 4H 5H 6H 7H 8H 9H TH JH QH" + "\n-" * 6
    game = Game(key, text=f"Foundations: C-K D-K H-0 S-K\nStock: {stock}\n{columns}")
    if VARIANTS[key].draw > 1:
        game = Game(key, text=f"Foundations: C-K D-K H-0 S-K\nStock: <AH>\n2H 3H {columns}")
    before = game.key
    game.play("deal")
    game.play("AH>foundation")
    assert game.key != before


def test_games_of_different_deals_have_different_keys() -> None:
    for key in KEYS:
        keys = Counter(Game(key, deal=deal).key for deal in range(300))
        assert max(keys.values()) == 1


# --- Kernels over many games -----------------------------------------------------------------


@pytest.mark.parametrize("key", KEYS)
def test_many_games_are_dealt_and_played_like_one(key: str) -> None:
    decks = np.stack([deck_of_deal(deal) for deal in range(20)])
    games, rules = new_games(20), compile_rules(VARIANTS[key])
    deal_games(games, rules, decks, np.ones(20, np.bool_))
    single = [Game(key, deck=deck) for deck in decks]
    actions = games["legal"][:, 0].astype(np.int64)
    assert find_illegal(games, actions) == -1
    before = games.copy()
    which = np.arange(20) % 3 > 0
    play_games(games, rules, actions, which)
    assert games[~which].tobytes() == before[~which].tobytes()
    play_games(games, rules, actions, ~which)
    for game, record in zip(single, games, strict=True):
        game.play(game.legal_moves()[0])
        assert game.record[0].tobytes() == record.tobytes()
