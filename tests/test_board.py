"""Boards as text: round trips, the forms of other programs, and boards that are refused."""

from __future__ import annotations

import pytest
from helpers import KEYS, STOCK_KEYS, play_randomly, played, random_table, text_of
from hypothesis import given, settings
from hypothesis import strategies as st
from rulebook import RULES
from test_rulebook import KNOWN_TABLES

from yukon_env import VARIANTS, Game
from yukon_env.board import format_board, parse_board
from yukon_env.errors import BoardError

YUKON = VARIANTS["yukon"]
COLUMNS = """\
8C
<5D> 5S 2C AC 9C TH
<9D> <4C> 3D 7S TC 4H TD
<4S> <2D> <QH> 3H 8H 3S QD KH
<AH> <9S> <QC> <6S> AS JS 8S KS 4D
<KC> <TS> <6H> <6C> <KD> 7H 3C 8D JC 9H
<2S> <6D> <5H> <JH> <2H> <5C> AD 7D 7C JD QS"""
PLAYED = """\
Foundations: C-2 D-0 H-0 S-A
Stock: <3C> <4C> <5C>
Waste: 2S 3S
AD 2D 3D 4D 5D 6D 7D 8D 9D TD JD QD KD
AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH
6C 7C 8C 9C TC JC QC KC
4S 5S 6S 7S 8S 9S TS JS QS KS
-
-
-"""


# --- Round trips -----------------------------------------------------------------------------


@pytest.mark.parametrize("key", KEYS)
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1))
def test_any_position_is_read_back(key: str, seed: int) -> None:
    table = random_table(key, seed)
    game = Game(key, text=text_of(table))
    board = game.board
    assert (board.columns, board.hidden, board.foundations) == (
        table.columns,
        table.hidden,
        table.foundations,
    )
    assert (board.stock, board.waste) == (table.stock, table.waste)
    assert parse_board(format_board(board, VARIANTS[key]), VARIANTS[key]) == board
    assert Game.from_text(game.to_text(), key).key == game.key


@pytest.mark.parametrize("key", KEYS)
def test_positions_of_play_are_read_back(key: str) -> None:
    game = Game(key, deal=3)
    for _ in play_randomly(game, seed=3, steps=150):
        again = Game.from_text(game.to_text(), key)
        assert again.board == game.board
        assert again.legal_moves() == game.legal_moves()


@pytest.mark.parametrize("key", KEYS)
def test_the_players_text_is_read_back(key: str) -> None:
    game = played(key, deal=4, steps=10)
    text = game.to_text(hide=True)
    again = Game.from_text(text, key)
    assert again.to_text() == text
    assert not again.hidden_known
    assert again.key == game.key
    assert (again.observation() == game.observation()).all()


def test_the_text_is_the_documented_one() -> None:
    assert (
        format_board(parse_board(COLUMNS, YUKON), YUKON)
        == "Foundations: C-0 D-0 H-0 S-0\n" + COLUMNS
    )
    written = format_board(parse_board(PLAYED, VARIANTS["canberra"]), VARIANTS["canberra"])
    assert written == PLAYED.replace("\nAD", "\nRedeals left: 1\nAD", 1)


def test_a_dealt_board_holds_plain_numbers() -> None:
    for key in KEYS:
        board = Game(key, deal=0).board
        numbers = [*board.hidden, *board.foundations, *board.stock, *board.columns[0]]
        assert {type(number) for number in numbers} == {int}


# --- Other forms -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        COLUMNS.replace("T", "10"),
        COLUMNS.lower(),
        COLUMNS.replace("T", "10").lower(),
        "\n".join(": " + line for line in COLUMNS.splitlines()),
        "\n".join("  " + line.replace(" ", "   ") + "\t" for line in COLUMNS.splitlines()),
        COLUMNS.replace("\n", "\r\n"),
        "\n\n" + COLUMNS.replace("\n", "\n\n") + "\n",
        "Foundations: H-0 C-0 D-0 S-0\n" + COLUMNS,
        COLUMNS + "\nfoundations:",
        "Stock:\nWaste:\n" + COLUMNS,
        *(text for text in KNOWN_TABLES[:1]),
    ],
)
def test_common_forms(text: str) -> None:
    assert parse_board(text, YUKON) == parse_board(COLUMNS, YUKON)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Stock:", "Talon:"),
        ("Stock: <3C> <4C> <5C>", "Talon: 3C 4C 5C"),
        ("Stock:", "STOCK :"),
        ("C-2 D-0 H-0 S-A", "H-0 C-2 D-0 S-1"),
        ("C-2 D-0 H-0 S-A", "S-A C-2"),
        ("C-2 D-0 H-0 S-A", "c-2 s-a"),
        ("-\n-\n-", ":\n:\n:"),
        ("-\n-\n-", ": -\n: -\n: -"),
    ],
)
def test_common_forms_of_labels(old: str, new: str) -> None:
    variant = VARIANTS["australian"]
    assert old in PLAYED
    assert parse_board(PLAYED.replace(old, new), variant) == parse_board(PLAYED, variant)


def test_high_foundations() -> None:
    text = "Foundations: C-10 D-T H-J S-Q\nKS\nQH KH\nJD QD KD\nJC QC KC\n-\n-\n-"
    assert parse_board(text, YUKON).foundations == (10, 10, 11, 12)


def test_a_seen_stock_is_written_face_up() -> None:
    text = PLAYED.replace("<3C> <4C> <5C>", "3C 4C 5C") + "\nRedeals left: 0"
    board = parse_board(text, VARIANTS["canberra"])
    assert board.stock_seen
    assert board.redeals_left == 0
    seen = Game("canberra", text=text).observation()
    assert seen[2].tolist() == [9, 0, 0]


# --- Boards that are refused -----------------------------------------------------------------

# (what is done to the board, what the message must name)
BAD_BOARDS = [
    pytest.param(("8C", "8C 8C"), "8C is on the board 2 times", id="card twice"),
    pytest.param(("8C", "AD"), "AD is on the board 2 times", id="one for another"),
    pytest.param((" QS", ""), "51 cards.*QS", id="51 cards"),
    pytest.param((" 7C JD QS", ""), "49 cards.*7C, JD, QS", id="three missing"),
    pytest.param(("8C\n", "Foundations: C-A\n8C\n"), "AC.*foundation", id="also on foundation"),
    pytest.param(("5S 2C", "<5S> 2C <AC>"), "line 2.*<AC>.*face-up", id="down on up"),
    pytest.param(("2C AC", "2C <AC>"), "line 2.*<AC>.*face-up.*column 2", id="down over up"),
    pytest.param(("8C\n", "<8C>\n"), "line 1.*<8C>.*face up", id="end face down"),
    pytest.param(("3D 7S", "1D 7S"), "line 3.*'1D'.*rank", id="unknown rank"),
    pytest.param(("3D 7S", "3X 7S"), "line 3.*'3X'.*suit", id="unknown suit"),
    pytest.param(("<9D>", "<9D"), "line 3.*'<9D'.*'>'", id="bracket not closed"),
    pytest.param(("<9D>", "9D>"), "line 3.*'9D>'", id="bracket not opened"),
    pytest.param(("8C\n", "8C\n-\n"), "line 8.*too many.*7", id="column too many"),
    pytest.param(("8C\n", ""), "7 columns.*6", id="column too few"),
    pytest.param((COLUMNS, "no board at all"), "line 1, 'no board at all'", id="no board"),
    pytest.param((COLUMNS, ""), "7 columns.*0", id="nothing"),
    pytest.param((COLUMNS, "-\n" * 7), "0 cards", id="no card"),
    pytest.param(("8C\n", "Reserve: 8C\n-\n"), "line 1.*'Reserve'.*Foundations", id="label"),
    pytest.param(("8C\n", "Stock: <8C>\n-\n"), "yukon has no stock", id="stock"),
    pytest.param(("8C\n", "Waste: 8C\n-\n"), "yukon has no stock and no waste", id="waste"),
    pytest.param(("<5D>", "<>"), "all face-down.*or none", id="some unknown"),
    pytest.param(("5D", "<>"), "line 2, '<<>> .*'<>'", id="brackets in brackets"),
    pytest.param(("8C\n", "<>\n"), "line 1.*face up", id="end unknown"),
    pytest.param(("8C\n", "8C <>\n"), "line 1.*<>.*face-up", id="unknown on top"),
    pytest.param(("8C\n", "Foundations: X-1\n8C\n"), "line 1.*'X-1'", id="foundation suit"),
    pytest.param(("8C\n", "Foundations: C-99\n8C\n"), "line 1.*'C-99'", id="foundation rank"),
    pytest.param(("8C\n", "Foundations: C2\n8C\n"), "line 1.*'C2'", id="foundation form"),
    pytest.param(("8C\n", "Redeals left: two\n8C\n"), "line 1.*'two'", id="redeals"),
    pytest.param(("8C\n", "Redeals left: 1\n8C\n"), "yukon has 0 redeals.*1", id="redeals given"),
    pytest.param(("8C\n", "Redeals left: unlimited\n8C\n"), "unlimited", id="redeals for ever"),
]


@pytest.mark.parametrize(("change", "message"), BAD_BOARDS)
def test_bad_boards(change: tuple[str, str], message: str) -> None:
    assert change[0] in COLUMNS
    with pytest.raises(BoardError, match=message):
        parse_board(COLUMNS.replace(*change, 1), YUKON)


BAD_LABELS = [
    pytest.param("canberra", ("<3C>", "<>"), "all face-down.*or none", id="unknown stock card"),
    pytest.param("australian", ("<3C> <4C> <5C>", "3C 4C 5C"), "no redeal", id="seen stock"),
    pytest.param("canberra", ("Waste: 2S 3S", "Waste: <2S> 3S"), "line 3.*'<2S>'", id="waste down"),
    pytest.param("canberra", ("-\n-\n-", "-\n-\n-\nRedeals left: 2"), "has 1 redeals", id="2 left"),
    pytest.param("tasmanian", ("-\n-\n-", "-\n-\n-\nRedeals left: 2"), "unlimited", id="limited"),
    pytest.param("canberra", ("<3C>", "<3S>"), "3S is on the board 2 times", id="stock and waste"),
    pytest.param("canberra", ("<4C>", "4C"), "line 2", id="stock seen in part"),
    pytest.param("canberra", ("C-2", "C-A C-2"), "line 1.*C", id="foundation twice"),
    pytest.param("canberra", ("Waste:", "Waste:\nWaste:"), "line 4.*Waste", id="label twice"),
]


@pytest.mark.parametrize(("key", "change", "message"), BAD_LABELS)
def test_bad_piles(key: str, change: tuple[str, str], message: str) -> None:
    assert change[0] in PLAYED
    with pytest.raises(BoardError, match=message):
        parse_board(PLAYED.replace(*change, 1), VARIANTS[key])


@settings(max_examples=200)
@given(st.text(alphabet="A2TJQK01CDHSx <>-:\n", max_size=200))
def test_any_text_is_a_board_or_an_error_of_ours(text: str) -> None:
    with pytest.raises(BoardError):
        parse_board(text, YUKON)


@given(data=st.data())
def test_any_damage_is_an_error_of_ours_or_still_a_board(data: st.DataObject) -> None:
    key = data.draw(st.sampled_from(STOCK_KEYS + KEYS[:2]))
    text = text_of(random_table(key, data.draw(st.integers(0, 1000))))
    place = data.draw(st.integers(0, len(text) - 1))
    damaged = text[:place] + data.draw(st.sampled_from("AT4C<>-: \n")) + text[place + 1 :]
    try:
        board = parse_board(damaged, VARIANTS[key])
    except BoardError:
        return
    assert parse_board(format_board(board, VARIANTS[key]), VARIANTS[key]) == board


def test_the_table_of_redeals_is_complete() -> None:
    assert {RULES[key].redeals for key in STOCK_KEYS} == {0, 1, None}
