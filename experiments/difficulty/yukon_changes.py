"""Yukon with one thing changed that no game of the package changes alone.

python -m experiments.difficulty --variants experiments/difficulty/yukon_changes.py:OPEN ...
"""

from dataclasses import replace

from yukon_env.variants import VARIANTS

_YUKON = VARIANTS["yukon"]


def _dealt_as(key: str, name: str) -> dict:
    """The fields of the layout of another game."""
    other = VARIANTS[key]
    return {
        "key": f"yukon-{name}",
        "title": f"Yukon {name.title()}",
        "hidden": other.hidden,
        "up": other.up,
        "draw": other.draw,
    }


# All cards face up. They can be seen, and grabbed, from the start.
OPEN = replace(
    _YUKON,
    key="yukon-open",
    title="Yukon Open",
    hidden=(0,) * 7,
    up=tuple(down + up for down, up in zip(_YUKON.hidden, _YUKON.up, strict=True)),
)
# Odessa's layout: three face-down cards in each column.
ODESSA = replace(_YUKON, **_dealt_as("odessa", "odessa"))
# Queensland's: a first column of five.
QUEENSLAND = replace(_YUKON, **_dealt_as("queensland", "queensland"))
# Australian Patience's: seven columns of four face-up cards, and a stock dealt one by one, once.
AUSTRALIAN = replace(_YUKON, **_dealt_as("australian", "australian"))
