"""`Game`: moves as text, errors, explanations, copies, the player's view, determinization."""

from __future__ import annotations

import copy
import pickle
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
    SPADES_LEFT,
    STOCK_KEYS,
    assert_uniform,
    lay_out,
    play_randomly,
    played,
    random_table,
    text_of,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from yukon_env import VARIANTS, Game, Move, YukonError, deck_of_deal
from yukon_env.errors import BoardError, MoveError

SEEDS = st.integers(0, 2**32 - 1)
AH_IN_STOCK = (
    "Foundations: C-K D-K H-0 S-K\nStock: <AH> <2H>\nWaste: 4H 3H\n5H 6H 7H 8H 9H\nTH JH QH KH"
    + "\n-" * 5
)


# --- Ways to make a game ---------------------------------------------------------------------


@pytest.mark.parametrize("key", KEYS)
def test_the_same_game_in_every_way(key: str) -> None:
    game = Game(key, deal=12)
    others = [
        Game(VARIANTS[key], deck=deck_of_deal(12)),
        Game(key, deck=deck_of_deal(12).tolist()),
        Game(key, text=game.to_text()),
        Game.from_text(game.to_text(), key),
        Game.from_board(game.board, key),
        game.copy(),
        copy.deepcopy(game),
        pickle.loads(pickle.dumps(game)),
    ]
    for other in others:
        assert other.board == game.board
        assert other.key == game.key
        assert other.legal_moves() == game.legal_moves()


@pytest.mark.parametrize(
    "sources", [{}, {"deal": 1, "text": ""}, {"deal": 1, "deck": range(52)}], ids=str
)
def test_a_game_has_one_source(sources: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="exactly one"):
        Game("yukon", **sources)


@pytest.mark.parametrize(
    ("variant", "source", "message"),
    [
        ("klondike", {"deal": 1}, "klondike"),
        ("yukon", {"deal": -1}, "-1"),
        ("yukon", {"deck": [0] * 52}, "AC 52 times"),
        ("yukon", {"text": "AC"}, "7 columns"),
    ],
)
def test_bad_sources(variant: str, source: dict[str, Any], message: str) -> None:
    with pytest.raises(YukonError, match=message):
        Game(variant, **source)


# --- Moves as text ---------------------------------------------------------------------------


@pytest.mark.parametrize("key", KEYS)
@settings(max_examples=10)
@given(seed=SEEDS)
def test_moves_are_read_back(key: str, seed: int) -> None:
    game = Game(key, text=text_of(random_table(key, seed)))
    for action in range(417):
        move = game.move(action)
        assert (move, int(move)) == (action, action)
        assert game.move(str(move)) == move
        assert game.move(str(move).lower()) == move
        assert pickle.loads(pickle.dumps(move)).text == move.text
    for move in game.legal_moves():
        again = game.copy()
        again.play(str(move))
        game.play(move)
        assert again.key == game.key
        game.undo()


def test_the_text_of_moves() -> None:
    game = Game("australian", text=lay_out("7H", "8H", "2C KS", of="KS"))
    texts = {int(m): str(m) for m in (game.move(action) for action in (416, 0 * 8 + 7))}
    assert texts == {416: "deal", 7: "AC>foundation"}
    assert str(game.legal_moves()[0]) == "7H>8H"
    assert "KS>column 4" in [str(move) for move in game.legal_moves()]
    assert repr(game.move("7H>8H")) == f"Move({32 * 8 + 1}, '7H>8H')"
    assert game.move(" 7h > 8h ") == game.move("7H>column 2") == game.move("7H>8H")


@pytest.mark.parametrize(
    ("move", "message"),
    [
        ("7H", "'7H' is no move"),
        ("", "'' is no move"),
        ("7X>8C", "suit"),
        ("7H>9", "rank|suit"),
        ("7H>", "rank|suit"),
        ("7H>6C", "6C is not the end"),
        ("7H>column 0", "numbered 1 to 7"),
        ("7H>column 8", "numbered 1 to 7"),
        ("7H>column x", "numbered 1 to 7"),
        (417, "0 to 416, not 417"),
        (-1, "0 to 416, not -1"),
    ],
)
def test_what_is_no_move(move: int | str, message: str) -> None:
    game = Game("yukon", deal=0)
    before = game.record.tobytes()
    for ask in (game.move, game.play, game.explain_illegal):
        with pytest.raises(MoveError, match=message):
            ask(move)
    assert game.record.tobytes() == before


@pytest.mark.parametrize("move", [2.7, None, [1]], ids=str)
def test_what_is_no_whole_number_is_no_move(move: Any) -> None:
    with pytest.raises(MoveError):
        Game("yukon", deal=0).move(move)


def test_nothing_to_undo() -> None:
    game = Game("yukon", deal=0)
    with pytest.raises(MoveError, match="no move to take back"):
        game.undo()


# --- Why a move is illegal -------------------------------------------------------------------

KING_BASE = lay_out("KH 5D", "2C", of="KH")
SPADES_TO_JACK = "Foundations: C-Q D-K H-K S-J\nKC\nQS\nKS" + "\n-" * 4

# key, board, move, the reason that must be given
REASONS = [
    ("yukon", KING_BASE, "deal", "stock"),
    ("yukon", KING_BASE, "8S>column 1", "8S is not face up"),
    ("yukon", KING_BASE, "5D>foundation", "needs AD next, not 5D"),
    ("yukon", KING_BASE, "KH>foundation", "KH is not the end card"),
    ("yukon", KING_BASE, "5D>column 1", "5D is in column 1 already"),
    ("yukon", KING_BASE, "2C>5D", "2C may not lie on 5D in yukon"),
    ("yukon", KING_BASE, "5D>column 3", "5D may not start an empty column in yukon"),
    ("yukon", KING_BASE, "KH>column 3", "KH is the base of a column.*rename"),
    ("yukon", SPADES_LEFT, "KH>column 2", "KH is on its foundation"),
    ("yukon", SPADES_LEFT, "KH>foundation", "KH is on its foundation"),
    ("australian", SPADES_LEFT, "KH>foundation", "KH is on its foundation"),
    ("australian", AH_IN_STOCK, "4H>9H", "4H is in the waste, but not on top"),
    ("australian", AH_IN_STOCK, "AH>foundation", "AH is not face up"),
    ("australian", AH_IN_STOCK, "3H>column 3", "3H may not start an empty column"),
]


@pytest.mark.parametrize(("key", "text", "move", "reason"), REASONS, ids=lambda arg: arg[:20])
def test_reasons(key: str, text: str, move: str, reason: str) -> None:
    game = Game(key, text=text)
    before = game.record.tobytes()
    with pytest.raises(MoveError, match=f"{move.split('>')[0]}.* is illegal: .*{reason}"):
        game.play(move)
    assert game.record.tobytes() == before


def test_the_reason_in_a_game_that_is_won() -> None:
    game = Game("yukon", text=ONE_MOVE_LEFT)
    game.play("KS>foundation")
    with pytest.raises(MoveError, match="the game is won"):
        game.play("KS>column 1")


@pytest.mark.parametrize(
    ("text", "move"), [(SPADES_TO_JACK, "JS>column 4"), (AH_IN_STOCK, "QC>column 3")]
)
def test_the_reason_for_a_card_on_its_foundation_is_true(text: str, move: str) -> None:
    # In raw-prawn any card of a column may start an empty column, so that is not the reason.
    game = Game("raw-prawn", text=text)
    assert f"{move[:2]} may not start an empty column in raw-prawn" not in (
        game.explain_illegal(move)
    )


@pytest.mark.parametrize("key", KEYS)
@settings(max_examples=5)
@given(seed=SEEDS)
def test_every_illegal_action_is_explained(key: str, seed: int) -> None:
    game = Game(key, text=text_of(random_table(key, seed)))
    legal = game.legal_moves()
    for action in set(range(417)) - {int(move) for move in legal}:
        reason = game.explain_illegal(action)
        words = reason.split()
        assert len(words) >= 4
        assert action == 416 or game.won or rulebook.card_text(action // 8) in reason


# --- Copies and undo -------------------------------------------------------------------------


def test_a_copy_goes_its_own_way() -> None:
    game = played("yukon", 5, 10)
    before = game.record.tobytes()
    twin = game.copy()
    for _ in range(10):
        twin.undo()
    twin.play(twin.legal_moves()[0])
    assert game.record.tobytes() == before
    for _ in range(10):
        game.undo()
    assert game.key == Game("yukon", deal=5).key


@pytest.mark.parametrize("again", [copy.deepcopy, lambda game: pickle.loads(pickle.dumps(game))])
@pytest.mark.parametrize("key", ["yukon", "canberra"])
def test_copies_in_the_middle_of_a_game_continue_identically(key: str, again: Any) -> None:
    game = played(key, 5, 20)
    twin = again(game)
    assert list(play_randomly(game, 1, 30)) == list(play_randomly(twin, 1, 30))
    assert twin.record.tobytes() == game.record.tobytes()
    twin.undo()


def test_repr() -> None:
    assert repr(Game("yukon", text=ONE_MOVE_LEFT)) == "<Game yukon: 51 cards up, in play>"
    assert repr(Game("yukon", text=BURIED_ACE)) == "<Game yukon: 39 cards up, dead end>"


# --- The player's view -----------------------------------------------------------------------


def seen_by_player(game: Game) -> tuple:
    """Everything a game shows to a player."""
    return (
        game.observation().tolist(),
        game.action_mask().tolist(),
        [str(move) for move in game.legal_moves()],
        [game.explain_illegal(action) for action in range(417) if action not in game.legal_moves()],
        (game.key, game.won, game.dead_end, repr(game), game.to_text(hide=True)),
    )


def n_hidden(game: Game) -> int:
    return int((game.observation()[:, 0] < 0).sum())


@pytest.mark.parametrize("rng", [3, None, "seed", np.random.RandomState(0)], ids=str)
def test_what_is_no_generator(rng: Any) -> None:
    with pytest.raises(YukonError, match="Generator"):
        Game("yukon", deal=1).determinize(rng)


@pytest.mark.parametrize("key", KEYS)
@settings(max_examples=5)
@given(seed=SEEDS)
def test_games_that_differ_in_hidden_cards_look_the_same(key: str, seed: int) -> None:
    game = Game(key, deal=seed)
    for _ in play_randomly(game, seed, steps=seed % 40):
        pass
    other = game.determinize(np.random.default_rng(seed))
    assert n_hidden(game) < 2 or other.board != game.board
    assert seen_by_player(other) == seen_by_player(game)
    view = Game.from_observation(key, game.observation(), game.action_mask())
    assert seen_by_player(view)[:4] == seen_by_player(game)[:4]
    guess = view.determinize(np.random.default_rng(0))
    assert seen_by_player(guess) == seen_by_player(view)
    assert guess.hidden_known
    assert sorted(card for column in guess.board.columns for card in column) == sorted(
        card for column in guess.board.columns for card in column if card >= 0
    )


@pytest.mark.parametrize("key", KEYS)
def test_the_view_has_the_key_of_the_game(key: str) -> None:
    game = Game(key, deal=2)
    for _ in play_randomly(game, seed=2, steps=150):
        view = Game.from_observation(key, game.observation(), game.action_mask())
        assert view.key == game.key or game.dead_end
        assert n_hidden(game) == view.board.unknown


def test_redeals_mean_nothing_when_no_card_is_left_to_redeal() -> None:
    text = SPADES_LEFT.replace("2S AS", "2S") + "\nWaste: AS\nRedeals left: 0"
    gone = Game("canberra", text=text)
    unused = Game("canberra", text=text.replace("left: 0", "left: 1"))
    for game in (gone, unused):
        game.play("AS>foundation")
        view = Game.from_observation("canberra", game.observation(), game.action_mask())
        assert view.key == game.key
        assert Game("canberra", text=game.to_text()).key == game.key


@pytest.mark.parametrize("key", STOCK_KEYS)
@settings(max_examples=5)
@given(seed=SEEDS)
def test_the_view_from_the_middle_of_a_game(key: str, seed: int) -> None:
    game = Game(key, text=text_of(random_table(key, seed)))
    view = Game.from_observation(key, game.observation(), game.action_mask())
    assert seen_by_player(view)[:3] == seen_by_player(game)[:3]


@pytest.mark.parametrize("key", KEYS)
def test_determinizing_changes_only_hidden_cards_and_keeps_all_52(key: str) -> None:
    rng = np.random.default_rng(0)
    for seed in range(20):
        game = Game(key, text=text_of(random_table(key, seed)))
        guess = game.determinize(rng)
        assert guess is not game
        seen = game.observation()[:, 0] >= 0
        truth, guessed = game.observation(True), guess.observation(True)
        assert (truth[seen] == guessed[seen]).all()
        places = sorted(truth[~seen].tolist())
        assert sorted(guessed[~seen].tolist()) == places
        with pytest.raises(MoveError, match="take back"):
            guess.undo()
        # The guess is a whole game: it can be played, and laid out again.
        for _ in play_randomly(guess, seed, 40):
            assert Game(key, text=guess.to_text()).observation(True).tolist() == (
                guess.observation(True).tolist()
            )


SMALL_HIDDEN = (
    "Foundations: C-K D-K H-9 S-9\n<TH> <JH> TS\n<QH> JS\n<KH> QS\nKS" + "\n-" * 3,
    "Foundations: C-K D-K H-9 S-9\nStock: <TH> <JH> <QH> <KH>\nTS\nJS\nQS\nKS" + "\n-" * 3,
)


@pytest.mark.parametrize("unknown", [False, True], ids=["true cards", "unknown"])
@pytest.mark.parametrize(
    ("key", "text"), [("yukon", SMALL_HIDDEN[0]), ("australian", SMALL_HIDDEN[1])]
)
def test_determinizing_is_uniform_over_arrangements(key: str, text: str, unknown: bool) -> None:
    game = Game(key, text=text)
    if unknown:
        game = Game.from_observation(key, game.observation())
    rng = np.random.default_rng(1)
    counts = Counter(game.determinize(rng).to_text() for _ in range(24 * 100))
    assert len(counts) == 24
    assert_uniform(list(counts.values()))


@pytest.mark.parametrize("key", ["yukon", "tasmanian"])
def test_each_hidden_card_is_equally_likely_at_each_place(key: str) -> None:
    game = Game(key, deal=9)
    hidden = game.observation()[:, 0] < 0
    rng = np.random.default_rng(2)
    counts: Counter[tuple] = Counter()
    for _ in range(600):
        for card, row in zip(
            np.flatnonzero(hidden), game.determinize(rng).observation(True)[hidden], strict=True
        ):
            counts[int(card), *row.tolist()] += 1
    n = int(hidden.sum())
    assert len(counts) == n * n
    assert_uniform(list(counts.values()), degrees=(n - 1) ** 2)


@pytest.mark.parametrize(
    ("key", "text", "move"),
    [("yukon", SMALL_HIDDEN[0], "QS>KH"), ("australian", SMALL_HIDDEN[1], "deal")],
)
def test_a_move_that_shows_an_unknown_card_needs_a_guess(key: str, text: str, move: str) -> None:
    known = Game(key, text=text)
    game = Game.from_observation(key, known.observation())
    move = "deal" if move == "deal" else "TS>foundation"
    before = game.record.tobytes()
    with pytest.raises(MoveError, match=r"turns up.*determinize"):
        game.play(move)
    assert game.record.tobytes() == before
    with pytest.raises(MoveError, match="take back"):
        game.undo()
    game.determinize(np.random.default_rng(0)).play(move)


def test_a_view_plays_what_shows_nothing() -> None:
    known = Game("yukon", text=lay_out("2C 9H 3D", "TC", of="9H"))
    view = Game.from_observation("yukon", known.observation())
    view.play("9H>TC")
    known.play("9H>TC")
    assert (view.observation() == known.observation()).all()
    view.undo()


def broken(change: Any) -> np.ndarray:
    observation = Game("canberra", deal=0).observation()
    return change(observation)


def with_row(card: int, row: tuple[int, int, int]) -> Any:
    def change(observation: np.ndarray) -> np.ndarray:
        observation[card] = row
        return observation

    return change


FACE_UP = next(
    card for card in range(1, 13) if Game("canberra", deal=0).observation()[card, 2] == 1
)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda o: o[:51], id="51 rows"),
        pytest.param(lambda o: o.ravel(), id="flat"),
        pytest.param(with_row(FACE_UP, (10, 0, 1)), id="zone 10"),
        pytest.param(with_row(FACE_UP, (7, 0, 1)), id="wrong card on a foundation"),
        pytest.param(with_row(FACE_UP, (0, 40, 1)), id="gap in a column"),
        pytest.param(with_row(FACE_UP, (0, 0, 1)), id="two cards at one place"),
    ],
)
def test_an_observation_of_no_game_is_refused(change: Any) -> None:
    with pytest.raises(BoardError):
        Game.from_observation("canberra", broken(change))


@pytest.mark.parametrize("seed", range(3))
def test_moves_compare_as_numbers(seed: int) -> None:
    game = Game("yukon", deal=seed)
    move = random.Random(seed).choice(game.legal_moves())
    assert isinstance(move, Move)
    assert np.array([move]).dtype == np.int64
