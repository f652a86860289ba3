"""Tests of the rule-book: the worked examples of RULES.md, dealing, random play, endings."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from rulebook import (
    ACTION_COUNT,
    CARDS,
    COLUMNS,
    DEAL,
    FOUNDATION,
    KING,
    RULES,
    Rules,
    Table,
    action_mask,
    card_number,
    card_text,
    deal,
    deal_from_rules,
    is_dead_end,
    is_won,
    legal_actions,
    may_lie_on,
    observation,
    play,
    rank_of,
    read_table,
    suit_of,
)

KING_VARIANTS = [name for name, rules in RULES.items() if rules.empty == "king"]
ANY_VARIANTS = [name for name, rules in RULES.items() if rules.empty == "any"]
STOCK_VARIANTS = ["australian", "raw-prawn", "canberra", "tasmanian"]

KNOWN_TABLES = [
    """
    8C
    <5D> 5S 2C AC 9C TH
    <9D> <4C> 3D 7S TC 4H TD
    <4S> <2D> <QH> 3H 8H 3S QD KH
    <AH> <9S> <QC> <6S> AS JS 8S KS 4D
    <KC> <TS> <6H> <6C> <KD> 7H 3C 8D JC 9H
    <2S> <6D> <5H> <JH> <2H> <5C> AD 7D 7C JD QS
    """,
    """
    AH
    <7D> 6H 6S QC 8H 4H
    <6D> <KD> 9H 4C AS 8C TS
    <3C> <3H> <5H> KH 3S 5C QS 2H
    <8S> <7S> <5D> <9D> 4S 3D 7H JS TH
    <JD> <KS> <2C> <QH> <2D> AD 9S 7C 8D 4D
    <TD> <JH> <6C> <5S> <2S> <JC> AC QD 9C KC TC
    """,
    """
    TD
    <QC> 5H TH 9C 7H 4D
    <6S> <KS> 9D 4H KH TC 8D
    <5S> <7D> <3H> 5C 5D 6H QH 3D
    <JC> <KD> <4C> <AS> 4S JD 8C 8S KC
    <7C> <6C> <2C> <TS> <QS> 2D AD AC 7S AH
    <6D> <9H> <JS> <2S> <3S> <2H> 9S QD 3C JH 8H
    """,
]


def table_of(name: str, *columns: str, rest: str = "") -> Table:
    """Lays out a few columns, the others empty; the table need not hold all 52 cards."""
    lines = list(columns) + ["-"] * (7 - len(columns))
    return read_table(name, "\n".join(lines) + "\n" + rest)


def action_of(card: str, destination: int) -> int:
    """Returns an action number."""
    return card_number(card) * 8 + destination


def destinations(table: Table, card: str) -> set[int]:
    """Returns where a card may go."""
    number = card_number(card)
    return {action % 8 for action in legal_actions(table) - {DEAL} if action // 8 == number}


def texts(cards: tuple[int, ...]) -> str:
    """Writes cards with spaces between them."""
    return " ".join(card_text(card) for card in cards)


def lying_cards(table: Table) -> list[int]:
    """Returns every card on the table, foundations included, in order of number."""
    up = [card for card in CARDS if rank_of(card) < table.foundations[suit_of(card)]]
    in_columns = [card for column in table.columns for card in column]
    return sorted(up + in_columns + list(table.stock) + list(table.waste))


def shuffled(seed: int) -> list[int]:
    """Returns a deck."""
    deck = list(CARDS)
    random.Random(seed).shuffle(deck)
    return deck


# --- Worked examples -------------------------------------------------------------------------

# Each: name, variant, columns, grabbed card, where it may go (7 is the foundation).
# The columns not given are empty.
WORKED_EXAMPLES = [
    ("7H with QC 3D", "yukon", ["7H QC 3D", "8C", "8S", "8D", "8H", "KH", "KD"], "7H", {1, 2}),
    ("QC with 3D", "yukon", ["7H QC 3D", "8C", "8S", "8D", "8H", "KH", "KD"], "QC", {5, 6}),
    ("QC not on KC, KS", "yukon", ["7H QC 3D", "KC", "KS"], "QC", set()),
    ("9H with three", "yukon", ["9H 6C 8D 4C", "TC", "TS", "TD", "TH"], "9H", {1, 2}),
    ("same suit only", "russian", ["7H", "8H", "8D", "8C", "8S"], "7H", {1}),
    ("not upwards", "russian", ["7H", "6H"], "7H", set()),
    ("8S on 9S", "australian", ["8S", "9S", "9C", "9D", "9H"], "8S", {1}),
    ("then 7S on 8S", "australian", ["7S", "9S 8S", "8C"], "7S", {1}),
    ("7S under others", "australian", ["2C 7S KD 3H 7C", "9S 8S", "8C"], "7S", {1}),
    ("up or down", "alaska", ["7H", "8H", "6H", "8D", "6D", "8S", "6S"], "7H", {1, 2}),
    ("KH not on AH", "alaska", ["2C KH", "AH", "2D", "2S", "3S", "4S", "5S"], "KH", set()),
    ("AH not on KH", "alaska", ["2C AH", "KH", "2D", "2S", "3S", "4S", "5S"], "AH", {7}),
    ("king to a space", "yukon", ["2C KH", "2D", "2S", "3S", "4S"], "KH", {5, 6}),
    ("king and group", "yukon", ["2C KH 5D 9S", "2D", "2S", "3S", "4S", "6S"], "KH", {6}),
    ("queen no space", "yukon", ["2C QH", "2D", "2S", "3S", "4S"], "QH", set()),
    ("relaxed: queen", "yukon-relaxed", ["2C QH", "2D", "2S", "3S", "4S"], "QH", {5, 6}),
    ("relaxed: group", "yukon-relaxed", ["2C 5D 9S", "2D", "2S", "3S", "4S"], "5D", {5, 6}),
    ("relaxed: king", "yukon-relaxed", ["2C KH", "2D", "2S", "3S", "4S"], "KH", {5, 6}),
    ("relaxed: base", "yukon-relaxed", ["5D 9S", "2D", "2S", "3S", "4S"], "5D", set()),
]


@pytest.mark.parametrize(
    ("variant", "columns", "card", "expected"),
    [pytest.param(*example[1:], id=f"{example[1]}-{example[0]}") for example in WORKED_EXAMPLES],
)
def test_worked_examples(variant: str, columns: list[str], card: str, expected: set[int]) -> None:
    assert destinations(table_of(variant, *columns), card) == expected


@pytest.mark.parametrize(
    ("columns", "card", "destination", "left", "arrived"),
    [
        (["7H QC 3D", "8C"], "7H", 1, "", "8C 7H QC 3D"),
        (["7H QC 3D", "KD"], "QC", 1, "7H", "KD QC 3D"),
        (["2S 9H 6C 8D 4C", "TS"], "9H", 1, "2S", "TS 9H 6C 8D 4C"),
        (["2S KH 5D 9S"], "KH", 6, "2S", "KH 5D 9S"),
    ],
)
def test_the_whole_group_moves(
    columns: list[str], card: str, destination: int, left: str, arrived: str
) -> None:
    after = play(table_of("yukon", *columns), action_of(card, destination))
    assert texts(after.columns[0]) == left
    assert texts(after.columns[destination]) == arrived


def test_a_covered_card_does_not_go_up() -> None:
    table = table_of("yukon", "7H QC 3D", "4S", rest="Foundations: C-11 D-2 H-0 S-0")
    assert destinations(table, "QC") == set()
    assert destinations(table, "3D") == {1, FOUNDATION}
    uncovered = play(table, action_of("3D", 1))
    assert destinations(uncovered, "QC") == {FOUNDATION}
    assert play(uncovered, action_of("QC", FOUNDATION)).foundations == (12, 2, 0, 0)


@pytest.mark.parametrize("name", KING_VARIANTS)
def test_a_king_at_the_base_has_no_move_to_an_empty_column(name: str) -> None:
    assert destinations(table_of(name, "KH 5D", "2C"), "KH") == set()
    assert destinations(table_of(name, "2D KH 5D", "2C"), "KH") == {2, 3, 4, 5, 6}


@pytest.mark.parametrize("name", ANY_VARIANTS)
def test_no_base_card_moves_to_an_empty_column(name: str) -> None:
    assert destinations(table_of(name, "9H 5D", "2C"), "9H") == set()
    assert destinations(table_of(name, "2D 9H 5D", "2C"), "9H") == {2, 3, 4, 5, 6}


def test_a_base_card_may_move_to_a_column_with_cards() -> None:
    after = play(table_of("yukon", "7H QC 3D", "8C"), action_of("7H", 1))
    assert after.columns[0] == ()
    assert after.hidden == (0, 0, 0, 0, 0, 0, 0)


# --- Building --------------------------------------------------------------------------------

# For each variant: the cards that may lie on 7H, and those that may lie on KS and AD.
BUILD_EXAMPLES = [
    ("yukon", "6C 6S", "QD QH", ""),
    ("yukon-relaxed", "6C 6S", "QD QH", ""),
    ("russian", "6H", "QS", ""),
    ("russian-relaxed", "6H", "QS", ""),
    ("alaska", "6H 8H", "QS", "2D"),
    ("moosehide", "6C 6D 6S", "QC QD QH", ""),
    ("roslin", "6C 6S 8C 8S", "QD QH", "2C 2S"),
    ("odessa", "6H", "QS", ""),
    ("queensland", "6H", "QS", ""),
    ("brisbane", "6C 6D 6H 6S", "QC QD QH QS", ""),
    ("australian", "6H", "QS", ""),
    ("raw-prawn", "6H", "QS", ""),
    ("canberra", "6H", "QS", ""),
    ("tasmanian", "6H", "QS", ""),
]


def test_every_variant_has_build_examples() -> None:
    assert [example[0] for example in BUILD_EXAMPLES] == list(RULES)


@pytest.mark.parametrize(("name", "on_7h", "on_ks", "on_ad"), BUILD_EXAMPLES)
def test_building(name: str, on_7h: str, on_ks: str, on_ad: str) -> None:
    for target, expected in (("7H", on_7h), ("KS", on_ks), ("AD", on_ad)):
        fitting = {c for c in CARDS if may_lie_on(RULES[name], c, card_number(target))}
        assert fitting == {card_number(word) for word in expected.split()}


# --- Hidden cards ----------------------------------------------------------------------------


def test_a_hidden_card_does_not_move_and_turns_up_when_uncovered() -> None:
    table = table_of("yukon", "<2D> <7H> QC 3D", "8C", "KH")
    assert destinations(table, "7H") == set()
    after = play(table, action_of("QC", 2))
    assert after.hidden[0] == 1
    assert destinations(after, "7H") == {1}
    last = play(after, action_of("7H", 1))
    assert last.hidden[0] == 0
    assert play(table_of("yukon", "<2D> AC"), action_of("AC", FOUNDATION)).hidden[0] == 0


def test_a_hidden_card_stays_hidden_under_face_up_cards() -> None:
    after = play(table_of("yukon", "<2D> <7H> 5S QC 3D", "KH"), action_of("QC", 1))
    assert after.hidden[0] == 2


# --- Foundations -----------------------------------------------------------------------------


def test_a_foundation_goes_up_by_suit_from_the_ace() -> None:
    table = table_of("yukon", "AC", "2C", "2D", "3H", rest="Foundations: C-0 D-1 H-1 S-0")
    assert FOUNDATION in destinations(table, "AC")
    assert FOUNDATION not in destinations(table, "2C")
    assert FOUNDATION in destinations(table, "2D")
    assert FOUNDATION not in destinations(table, "3H")


@pytest.mark.parametrize("name", list(RULES))
def test_foundation_return(name: str) -> None:
    # In every game 5H fits one of the ends; KC may go to the empty column 6, 5H may not.
    table = table_of(name, "6H", "6S", "6D", "6C", "2D", "2S", rest="Foundations: C-13 D-0 H-5 S-0")
    returns = name in STOCK_VARIANTS
    assert destinations(table, "5H") == ({0} if returns else set())
    assert destinations(table, "4H") == set()
    assert destinations(table, "KC") == ({6} if returns else set())
    assert destinations(table, "QC") == set()


def test_a_returned_card_lies_on_the_column() -> None:
    table = table_of("canberra", "6H", rest="Foundations: C-0 D-0 H-5 S-0")
    after = play(table, action_of("5H", 0))
    assert texts(after.columns[0]) == "6H 5H"
    assert after.foundations == (0, 0, 4, 0)


# --- Stock and waste -------------------------------------------------------------------------


def test_only_the_top_card_of_the_waste_is_played() -> None:
    rest = "Waste: 7S AD 5H"
    table = table_of("australian", "8S", "6H", "2C", rest=rest)
    assert destinations(table, "5H") == {1}
    assert destinations(table, "7S") == set()
    assert destinations(table, "AD") == set()
    after = play(table, action_of("5H", 1))
    assert texts(after.waste) == "7S AD"
    assert texts(after.columns[1]) == "6H 5H"
    assert destinations(after, "AD") == {FOUNDATION}
    assert texts(play(after, action_of("AD", FOUNDATION)).waste) == "7S"


@pytest.mark.parametrize(
    ("name", "waste", "expected"),
    [
        ("australian", "5D", set()),
        ("australian", "KD", {1, 2, 3, 4, 5, 6}),
        ("raw-prawn", "5D", {1, 2, 3, 4, 5, 6}),
        ("raw-prawn", "KD", {1, 2, 3, 4, 5, 6}),
    ],
)
def test_the_waste_and_empty_columns(name: str, waste: str, expected: set[int]) -> None:
    assert destinations(table_of(name, "2C", rest=f"Waste: {waste}"), waste) == expected


def test_nothing_goes_to_the_waste_or_moves_from_the_stock() -> None:
    table = table_of("australian", "8S", rest="Stock: 7S 9D\nWaste: 3H")
    assert legal_actions(table) == {DEAL}


def test_dealing_one_without_redeal() -> None:
    table = table_of("australian", "2C", rest="Stock: 7S 9D\nWaste: 3H")
    once = play(table, DEAL)
    assert (texts(once.stock), texts(once.waste)) == ("9D", "3H 7S")
    twice = play(once, DEAL)
    assert (texts(twice.stock), texts(twice.waste)) == ("", "3H 7S 9D")
    assert DEAL not in legal_actions(twice)
    assert is_dead_end(twice)
    with pytest.raises(ValueError, match="deal"):
        play(twice, DEAL)


def test_one_redeal() -> None:
    table = table_of("canberra", "2C", rest="Waste: 7S 9D")
    redealt = play(table, DEAL)
    assert (texts(redealt.stock), texts(redealt.waste)) == ("7S 9D", "")
    assert redealt.redeals_left == 0
    assert redealt.stock_seen
    again = play(play(redealt, DEAL), DEAL)
    assert texts(again.waste) == "7S 9D"
    assert is_dead_end(again)


def test_dealing_three_with_unlimited_redeals() -> None:
    table = table_of("tasmanian", "2C", rest="Stock: 7S 9D 3H 5D 9C")
    once = play(table, DEAL)
    assert (texts(once.stock), texts(once.waste)) == ("5D 9C", "7S 9D 3H")
    twice = play(once, DEAL)
    assert (texts(twice.stock), texts(twice.waste)) == ("", "7S 9D 3H 5D 9C")
    assert not twice.stock_seen
    third = play(twice, DEAL)
    assert (texts(third.stock), texts(third.waste)) == ("7S 9D 3H 5D 9C", "")
    assert third.stock_seen
    assert third.redeals_left is None
    assert not is_dead_end(third)


def test_no_redeal_of_an_empty_waste() -> None:
    assert is_dead_end(table_of("tasmanian", "2C", "4D"))


# --- Dealing ---------------------------------------------------------------------------------

# For each variant: cards face up in columns, face down in columns, in the stock.
FIRST_DEALS = {
    "yukon": (31, 21, 0),
    "yukon-relaxed": (31, 21, 0),
    "russian": (31, 21, 0),
    "russian-relaxed": (31, 21, 0),
    "alaska": (31, 21, 0),
    "moosehide": (31, 21, 0),
    "roslin": (31, 21, 0),
    "odessa": (31, 21, 0),
    "queensland": (31, 21, 0),
    "brisbane": (31, 21, 0),
    "australian": (28, 0, 24),
    "raw-prawn": (28, 0, 24),
    "canberra": (28, 0, 24),
    "tasmanian": (28, 0, 24),
}


@pytest.mark.parametrize("name", list(RULES))
def test_first_deal(name: str) -> None:
    table = deal(name, shuffled(1))
    face_down = sum(table.hidden)
    face_up = sum(len(column) for column in table.columns) - face_down
    assert (face_up, face_down, len(table.stock)) == FIRST_DEALS[name]
    assert lying_cards(table) == list(CARDS)
    assert table.foundations == (0, 0, 0, 0)
    assert table.waste == ()
    assert not table.stock_seen

    rows = observation(table)
    assert sum(1 for row in rows if row[2] == 1) == face_up
    assert rows.count((-1, -1, 0)) == face_down + len(table.stock)


def test_the_order_of_dealing() -> None:
    table = deal("yukon", list(CARDS))
    assert table.columns[0] == (0,)
    assert table.columns[1] == (1, 7, 13, 19, 25, 31)
    assert table.columns[2] == (2, 8, 14, 20, 26, 32, 37)
    assert table.columns[6] == (6, 12, 18, 24, 30, 36, 41, 45, 48, 50, 51)
    assert table.hidden == (0, 1, 2, 3, 4, 5, 6)

    odessa = deal("odessa", list(CARDS))
    assert odessa.columns[0] == (0, 7, 14, 21, 28, 35)
    assert odessa.columns[1] == (1, 8, 15, 22, 29, 36, 42, 47)
    assert odessa.columns[6] == (6, 13, 20, 27, 34, 41)
    assert odessa.hidden == (3, 3, 3, 3, 3, 3, 3)

    queensland = deal("queensland", list(CARDS))
    assert [len(column) for column in queensland.columns] == [5, 6, 7, 7, 8, 9, 10]

    australian = deal("australian", list(CARDS))
    assert australian.columns[0] == (0, 7, 14, 21)
    assert australian.stock == tuple(range(28, 52))


@pytest.mark.parametrize("deck", [list(range(51)), [0] * 52, list(range(1, 53))])
def test_a_bad_deck_is_refused(deck: list[int]) -> None:
    with pytest.raises(ValueError, match="deck"):
        deal("yukon", deck)


def test_a_variant_of_ones_own() -> None:
    rules = Rules((0,) * 7, (1,) * 7, "up or down, any suit", "any", draw=2, redeals=3)
    table = deal_from_rules(rules, list(CARDS))
    assert len(table.stock) == 45
    assert table.redeals_left == 3
    assert destinations(table, "3C") == {1, 3}
    assert play(table, DEAL).waste == (7, 8)


# --- Reading tables --------------------------------------------------------------------------


@pytest.mark.parametrize("text", KNOWN_TABLES)
def test_the_known_tables_are_first_deals_of_yukon(text: str) -> None:
    table = read_table("yukon", text)
    deck = [column[row] for row in range(11) for column in table.columns if row < len(column)]
    assert deal("yukon", deck) == table


def test_legal_moves_of_the_first_known_table() -> None:
    # Found by hand. The ends are 8C TH TD KH 4D 9H QS. JD fits QS, but lies in its column.
    expected = {
        action_of("7H", 0), action_of("7D", 0),                        # on 8C
        action_of("9C", 2),                                            # on TD
        action_of("3S", 4), action_of("3C", 4),                        # on 4D
        action_of("8C", 5), action_of("8S", 5),                        # on 9H
        action_of("QS", 3),                                            # on KH
    }  # fmt: skip
    assert legal_actions(read_table("yukon", KNOWN_TABLES[0])) == expected


def test_reading_a_table() -> None:
    text = (
        "Foundations: C-2 D-0 H-13 S-10\n"
        "\n"
        "<4C> 10d\n"
        "-\n"
        "kS\n"
        "\n"
        "<3C> <5C> 6C\n"
        "\n"
        "Stock: <2D> 3D\n"
        "Waste: 4D 5D\n"
    )
    table = read_table("canberra", text)
    assert [texts(column) for column in table.columns] == [
        "",
        "4C TD",
        "",
        "KS",
        "",
        "3C 5C 6C",
        "",
    ]
    assert table.hidden == (0, 1, 0, 0, 0, 2, 0)
    assert table.foundations == (2, 0, 13, 10)
    assert (texts(table.stock), texts(table.waste)) == ("2D 3D", "4D 5D")
    assert (table.stock_seen, table.redeals_left) == (False, 1)


def test_too_few_columns_are_refused() -> None:
    with pytest.raises(ValueError, match="seven columns"):
        read_table("yukon", "AC\n2C")


# --- What a player is shown ------------------------------------------------------------------


def test_observation() -> None:
    table = table_of(
        "canberra", "<4C> 9D", "3H", rest="Foundations: C-2 D-0 H-0 S-0\nStock: 5S 6S\nWaste: 7S 8S"
    )
    shown = {
        "AC": (7, 0, 1), "2C": (7, 1, 1), "9D": (0, 1, 1), "3H": (1, 0, 1),
        "7S": (8, 0, 1), "8S": (8, 1, 1),
    }  # fmt: skip
    known_after_a_redeal = {"5S": (9, 0, 0), "6S": (9, 1, 0)}
    never_known = {"4C": (0, 0, 0)}

    def rows(cards: dict[str, tuple[int, int, int]]) -> list[tuple[int, int, int]]:
        return [cards.get(card_text(card), (-1, -1, 0)) for card in CARDS]

    seen = replace(table, stock_seen=True)
    assert observation(table) == rows(shown)
    assert observation(seen) == rows(shown | known_after_a_redeal)
    assert observation(table, perfect_information=True) == rows(
        shown | known_after_a_redeal | never_known
    )


def test_action_mask() -> None:
    table = table_of("australian", "7H", "8H", rest="Stock: 2D")
    mask = action_mask(table)
    assert len(mask) == ACTION_COUNT
    assert {action for action in range(ACTION_COUNT) if mask[action] == 1} == {
        action_of("7H", 1),
        DEAL,
    }
    assert mask.count(0) == ACTION_COUNT - 2


# --- Endings ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(RULES))
def test_the_last_card_wins(name: str) -> None:
    before = table_of(name, "", "KS", rest="Foundations: C-13 D-13 H-13 S-12")
    assert not is_won(before)
    assert not is_dead_end(before)
    after = play(before, action_of("KS", FOUNDATION))
    assert is_won(after)
    assert not is_dead_end(after)
    assert legal_actions(after) == set()
    assert action_mask(after) == [1] * ACTION_COUNT
    with pytest.raises(ValueError, match="KS"):
        play(after, action_of("KS", 0))


def test_all_cards_face_up_is_not_a_win() -> None:
    table = table_of("yukon", "KS QS", rest="Foundations: C-13 D-13 H-13 S-11")
    assert not is_won(table)


@pytest.mark.parametrize("name", list(RULES))
def test_a_buried_ace(name: str) -> None:
    # All 52 cards: lost in the games where an empty column wants a king and nothing comes back.
    table = table_of(
        name, "KH AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH", rest="Foundations: C-13 D-13 H-0 S-13"
    )
    assert lying_cards(table) == list(CARDS)
    rules = RULES[name]
    lost = rules.empty == "king" and not rules.foundation_return
    assert is_dead_end(table) == lost
    assert (legal_actions(table) == set()) == lost
    assert (action_mask(table) == [1] * ACTION_COUNT) == lost
    assert not is_won(table)


@pytest.mark.parametrize("name", ["australian", "raw-prawn", "canberra"])
def test_a_win_out_of_the_stock(name: str) -> None:
    stock = "AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH"
    table = table_of(name, rest=f"Foundations: C-13 D-13 H-0 S-13\nStock: {stock}")
    for card in stock.split():
        table = play(table, DEAL)
        table = play(table, action_of(card, FOUNDATION))
    assert is_won(table)


@pytest.mark.parametrize("action", [-1, ACTION_COUNT, action_of("7H", 1), action_of("8H", 0)])
def test_an_illegal_move_is_refused(action: int) -> None:
    with pytest.raises(ValueError, match="illegal"):
        play(table_of("yukon", "7H", "8H"), action)


# --- Random play -----------------------------------------------------------------------------


def check(before: Table, action: int, after: Table) -> None:
    """Checks what must hold of every move, by looking at the tables alone."""
    assert lying_cards(after) == list(CARDS)
    for column in COLUMNS:
        # Rule 5: an end card is face up, and no card is ever turned face down again.
        assert 0 <= after.hidden[column] <= before.hidden[column]
        assert after.columns[column] == () or after.hidden[column] < len(after.columns[column])
    if action == DEAL:
        assert after.columns == before.columns
        assert after.foundations == before.foundations
        if before.stock:
            turned = min(before.rules.draw, len(before.stock))
            assert len(after.waste) == len(before.waste) + turned
            assert after.waste + after.stock == before.waste + before.stock
        else:
            assert (after.stock, after.waste) == (before.waste, ())
        return
    card, destination = divmod(action, 8)
    zone, position, face_up = observation(after)[card]
    assert face_up == 1
    assert zone == destination
    if zone in COLUMNS and position > 0:
        assert may_lie_on(after.rules, card, after.columns[zone][position - 1])
    elif zone in COLUMNS and after.rules.empty == "king":
        assert rank_of(card) == KING
    assert after.stock == before.stock


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", list(RULES))
def test_random_play_keeps_the_52_cards(name: str, seed: int) -> None:
    chance = random.Random(seed)
    table = deal(name, shuffled(seed))
    for _ in range(150):
        actions = sorted(legal_actions(table))
        if not actions:
            assert is_won(table) or is_dead_end(table)
            break
        # Cards go up half of the time that they can, so that games get somewhere.
        ups = [action for action in actions if action != DEAL and action % 8 == FOUNDATION]
        action = chance.choice(ups if ups and chance.random() < 0.5 else actions)
        after = play(table, action)
        check(table, action, after)
        table = after
