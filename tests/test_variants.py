"""The declarations of the games against the rule-book's, and declarations that are refused."""

from __future__ import annotations

from typing import Any

import pytest
from helpers import KEYS
from rulebook import CARDS, RULES, empty_column_takes, may_lie_on

from yukon_env import VARIANTS, Variant, YukonError
from yukon_env.variants import get_variant

# key: title, environment id
NAMES = {
    "yukon": ("Yukon", "Yukon-v0"),
    "yukon-relaxed": ("Yukon Relaxed", "YukonRelaxed-v0"),
    "russian": ("Russian Solitaire", "RussianSolitaire-v0"),
    "russian-relaxed": ("Russian Relaxed", "RussianRelaxed-v0"),
    "alaska": ("Alaska", "Alaska-v0"),
    "moosehide": ("Moosehide", "Moosehide-v0"),
    "roslin": ("Roslin", "Roslin-v0"),
    "odessa": ("Odessa", "Odessa-v0"),
    "queensland": ("Queensland", "Queensland-v0"),
    "brisbane": ("Brisbane", "Brisbane-v0"),
    "australian": ("Australian Patience", "AustralianPatience-v0"),
    "raw-prawn": ("Raw Prawn", "RawPrawn-v0"),
    "canberra": ("Canberra", "Canberra-v0"),
    "tasmanian": ("Tasmanian Patience", "TasmanianPatience-v0"),
}


def test_names() -> None:
    assert {v.key: (v.title, v.env_id) for v in VARIANTS.values()} == NAMES
    assert list(VARIANTS) == list(RULES) == list(NAMES)


@pytest.mark.parametrize("key", KEYS)
def test_declarations(key: str) -> None:
    variant, rules = VARIANTS[key], RULES[key]
    assert (variant.hidden, variant.up) == (rules.hidden, rules.up)
    assert variant.foundation_return == rules.foundation_return
    assert variant.stock == 52 - sum(rules.hidden) - sum(rules.up)
    assert variant.draw == (rules.draw if variant.stock else 0)
    assert variant.redeals == rules.redeals
    for card in CARDS:
        assert variant.may_start_column(card) == empty_column_takes(rules, card)
        for target in CARDS:
            assert variant.may_lie_on(card, target) == may_lie_on(rules, card, target)


def test_get_variant() -> None:
    assert get_variant("yukon") is VARIANTS["yukon"]
    assert get_variant(VARIANTS["alaska"]) is VARIANTS["alaska"]
    with pytest.raises(YukonError, match=r"'klondike'.*yukon, .*tasmanian"):
        get_variant("klondike")


STAIRS, FIVES = (0, 1, 2, 3, 4, 5, 6), (1, 5, 5, 5, 5, 5, 5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hidden": (0,) * 6}, "7 counts"),
        ({"up": (1,) * 8}, "7 counts"),
        ({"hidden": (-1, 2, 2, 3, 4, 5, 6)}, "fewer than 0"),
        ({"hidden": (0, 0, 0, 0, 0, 0, 1), "up": (9, 9, 9, 8, 8, 8, 0)}, "face-up end"),
        ({"up": (2, 5, 5, 5, 5, 5, 5)}, "53 of 52"),
        ({"up": (0, 5, 5, 5, 5, 5, 5)}, "leave 1 for a stock"),
        ({"draw": 1}, "draw is 1"),
        ({"suits": "rainbow"}, "rainbow"),
        ({"spaces": "queen"}, "queen"),
        ({"redeals": -1}, "redeals"),
        ({"redeals": 101}, "redeals"),
    ],
)
def test_contradictions_are_refused(changes: dict[str, Any], message: str) -> None:
    fields: dict[str, Any] = {"hidden": STAIRS, "up": FIVES, "suits": "same"}
    with pytest.raises(YukonError, match=message) as error:
        Variant("own", "Own", **(fields | changes))
    assert "own" in str(error.value)
