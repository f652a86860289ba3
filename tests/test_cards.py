"""Card numbers and their text."""

import pytest
import rulebook

from yukon_env import YukonError
from yukon_env.cards import N_CARDS, card_text, parse_card


def test_numbers_and_text() -> None:
    assert [card_text(card) for card in (0, 12, 13, 22, 38, 51)] == [
        "AC",
        "KC",
        "AD",
        "TD",
        "KH",
        "KS",
    ]
    assert [card_text(card) for card in range(N_CARDS)] == [
        rulebook.card_text(card) for card in rulebook.CARDS
    ]


def test_text_is_read_back() -> None:
    for card in range(N_CARDS):
        text = card_text(card)
        assert parse_card(text) == parse_card(text.lower()) == card
        assert parse_card(text.replace("T", "10")) == card


@pytest.mark.parametrize(
    ("text", "wrong"),
    [("1C", "rank"), ("XC", "rank"), ("110C", "rank"), ("C", "rank"), ("10", "rank|suit"),
     ("7X", "suit"), ("7", "rank|suit"), ("", "rank|suit"), ("7HH", "rank"), ("A2C", "rank"),
     ("<4C>", "rank|suit"), ("TTD", "rank")],
)  # fmt: skip
def test_what_is_no_card(text: str, wrong: str) -> None:
    with pytest.raises(YukonError, match=wrong) as error:
        parse_card(text)
    assert repr(text) in str(error.value)
