"""The games of the family, one declaration each.

A `Variant` is data. Everything else (the compiled rules, the environments, the solver, the text
of a board) reads it, so a new game needs a new declaration and no other code.
"""

from dataclasses import dataclass
from difflib import get_close_matches
from operator import index
from typing import Literal

from yukon_env.cards import N_CARDS, N_RANKS
from yukon_env.errors import VariantError

N_COLUMNS = 7
KING = N_RANKS - 1

SuitRule = Literal["alternating", "same", "any other", "any"]


@dataclass(frozen=True)
class Variant:
    """One game of the family.

    Attributes:
        key: Short name, as in `yukon-relaxed`.
        title: Name for people; without spaces, and with `-v0`, the environment's id.
        hidden: Face-down cards dealt to each of the seven columns, left to right.
        up: Face-up cards dealt on top of them.
        suits: Which suit a card may lie on: of the other colour ("alternating"), its own
            ("same"), any but its own ("any other"), or any.
        up_or_down: Whether a card may also lie on one that is a rank lower; else only on one
            that is a rank higher. Ranks never wrap.
        spaces: What may start an empty column: a group headed by a king, or any group.
        draw: Cards that one deal from the stock turns over; 0 for a game without a stock.
        redeals: How often the waste may be turned over to be the stock again; None for ever.
        foundation_return: Whether a foundation's top card may come back to the tableau.

    Raises:
        VariantError: The fields contradict each other.
    """

    key: str
    title: str
    hidden: tuple[int, ...]
    up: tuple[int, ...]
    suits: SuitRule
    up_or_down: bool = False
    spaces: Literal["king", "any"] = "king"
    draw: int = 0
    redeals: int | None = 0
    foundation_return: bool = False

    def __post_init__(self) -> None:
        try:
            for name in ("hidden", "up"):
                object.__setattr__(self, name, tuple(index(count) for count in getattr(self, name)))
            object.__setattr__(self, "draw", index(self.draw))
            if self.redeals is not None:
                object.__setattr__(self, "redeals", index(self.redeals))
        except TypeError as error:
            raise VariantError(f"{self.key}: counts are whole numbers: {error}") from None
        if len(self.hidden) != N_COLUMNS or len(self.up) != N_COLUMNS:
            raise VariantError(f"{self.key}: hidden and up need {N_COLUMNS} counts each")
        if min(self.hidden) < 0 or min(self.up) < 0:
            raise VariantError(f"{self.key}: a column cannot hold fewer than 0 cards")
        if any(down and not up for down, up in zip(self.hidden, self.up, strict=True)):
            raise VariantError(f"{self.key}: a column with face-down cards needs a face-up end")
        if self.suits not in ("alternating", "same", "any other", "any"):
            raise VariantError(
                f"{self.key}: suits must be 'alternating', 'same', 'any other' or 'any', "
                f"not {self.suits!r}"
            )
        if self.spaces not in ("king", "any"):
            raise VariantError(f"{self.key}: spaces must be 'king' or 'any', not {self.spaces!r}")
        if self.stock < 0:
            raise VariantError(f"{self.key}: the columns take {N_CARDS - self.stock} of 52 cards")
        if not 0 <= self.draw <= N_CARDS or (self.stock > 0) != (self.draw > 0):
            raise VariantError(
                f"{self.key}: hidden and up deal {N_CARDS - self.stock} of {N_CARDS} cards and "
                f"leave {self.stock} for a stock, but draw is {self.draw}"
            )
        if self.redeals is not None and not 0 <= self.redeals <= 100:
            raise VariantError(f"{self.key}: redeals must be None or 0 to 100, not {self.redeals}")
        if self.redeals != 0 and not self.stock:
            raise VariantError(f"{self.key}: there is no stock to redeal")

    @property
    def stock(self) -> int:
        """Cards left over for the stock when the columns are dealt."""
        return N_CARDS - sum(self.hidden) - sum(self.up)

    @property
    def env_id(self) -> str:
        """The environment's id, as in `YukonRelaxed-v0`."""
        return f"{self.title.replace(' ', '')}-v0"

    def may_lie_on(self, card: int, target: int) -> bool:
        """Says whether a group headed by `card` may be moved onto `target`."""
        suit, rank = divmod(card, N_RANKS)
        target_suit, target_rank = divmod(target, N_RANKS)
        steps = (-1, 1) if self.up_or_down else (-1,)
        if rank - target_rank not in steps:
            return False
        if self.suits == "alternating":
            return _is_red(suit) != _is_red(target_suit)
        if self.suits == "same":
            return suit == target_suit
        return self.suits == "any" or suit != target_suit

    def may_start_column(self, card: int) -> bool:
        """Says whether a group headed by `card` may be moved to an empty column."""
        return self.spaces == "any" or card % N_RANKS == KING

    def __str__(self) -> str:
        return self.key


def _is_red(suit: int) -> bool:
    return suit in (1, 2)


_STAIRS = (0, 1, 2, 3, 4, 5, 6)
_YUKON_UP = (1, 5, 5, 5, 5, 5, 5)
_QUEENSLAND_UP = (5, 5, 5, 4, 4, 4, 4)
_OPEN = (0,) * N_COLUMNS
_FOURS = (4,) * N_COLUMNS

VARIANTS: dict[str, Variant] = {
    variant.key: variant
    for variant in (
        Variant("yukon", "Yukon", _STAIRS, _YUKON_UP, "alternating"),
        Variant("yukon-relaxed", "Yukon Relaxed", _STAIRS, _YUKON_UP, "alternating", spaces="any"),
        Variant("russian", "Russian Solitaire", _STAIRS, _YUKON_UP, "same"),
        Variant("russian-relaxed", "Russian Relaxed", _STAIRS, _YUKON_UP, "same", spaces="any"),
        Variant("alaska", "Alaska", _STAIRS, _YUKON_UP, "same", up_or_down=True),
        Variant("moosehide", "Moosehide", _STAIRS, _YUKON_UP, "any other"),
        Variant("roslin", "Roslin", _STAIRS, _YUKON_UP, "alternating", up_or_down=True),
        Variant("odessa", "Odessa", (3,) * N_COLUMNS, (3, 5, 5, 5, 5, 5, 3), "same"),
        Variant("queensland", "Queensland", _STAIRS, _QUEENSLAND_UP, "same", spaces="any"),
        Variant("brisbane", "Brisbane", _STAIRS, _QUEENSLAND_UP, "any", spaces="any"),
        Variant(
            "australian", "Australian Patience", _OPEN, _FOURS, "same",
            draw=1, foundation_return=True,
        ),
        Variant(
            "raw-prawn", "Raw Prawn", _OPEN, _FOURS, "same",
            spaces="any", draw=1, foundation_return=True,
        ),
        Variant(
            "canberra", "Canberra", _OPEN, _FOURS, "same",
            draw=1, redeals=1, foundation_return=True,
        ),
        Variant(
            "tasmanian", "Tasmanian Patience", _OPEN, _FOURS, "same",
            draw=3, redeals=None, foundation_return=True,
        ),
    )
}  # fmt: skip


def get_variant(variant: str | Variant) -> Variant:
    """Returns the variant of this key, or the `Variant` itself.

    Raises:
        VariantError: No variant has this key; the message lists those that exist.
    """
    if isinstance(variant, Variant):
        return variant
    if variant not in VARIANTS:
        meant = get_close_matches(str(variant).lower(), VARIANTS, n=1)
        hint = f"did you mean {meant[0]!r}? " if meant else ""
        raise VariantError(f"unknown variant {variant!r}; {hint}known are {', '.join(VARIANTS)}")
    return VARIANTS[variant]
