"""Which techniques are proven for a variant, and the variant as the solver's kernels read it.

Everything here follows from the fields of the `Variant`, nothing from its name, so that a new
declaration is solved with all that is proven for it and with no more. The proofs are in the
README of this package.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from yukon_env.cards import N_CARDS
from yukon_env.engine.state import MAX_CHILDREN, NO_CARD, compile_rules
from yukon_env.errors import VariantError
from yukon_env.solver.cardsets import BIT
from yukon_env.variants import Variant

ALTERNATING, SAME, ANY_OTHER, ANY = range(4)
_SUIT_RULES = {"alternating": ALTERNATING, "same": SAME, "any other": ANY_OTHER, "any": ANY}

# What a card lies on, in three bits: where it lay at the root and no code below says it; its
# first to fourth possible parent; nothing, as a column's base.
AT_ROOT, FIRST_PARENT, AT_BASE = 0, 1, 5
MAX_PARENTS = AT_BASE - FIRST_PARENT


@dataclass(frozen=True)
class Techniques:
    """What may be used for a variant without risking a wrong verdict.

    Attributes:
        ignore_returns: Moves back from a foundation need not be searched.
        relaxation: The dead-end test by relaxed reachability.
        unwanted_up: A card goes up at once when no card is left that could lie on it.
        unwanted_up_from_waste: So does the waste's top card.
        kings_to_spaces: A king goes to an empty column at once when there are spaces for all.
        abstraction: The abstract game, as a proof and as an oracle.
    """

    ignore_returns: bool
    relaxation: bool
    unwanted_up: bool
    unwanted_up_from_waste: bool
    kings_to_spaces: bool
    abstraction: bool

    @classmethod
    def of(cls, variant: Variant) -> "Techniques":
        """Derives the techniques that are proven for a variant."""
        same_suit_down = variant.suits == "same" and not variant.up_or_down
        ignore_returns = variant.foundation_return and same_suit_down
        no_returns = ignore_returns or not variant.foundation_return
        order_matters_in_waste = variant.draw > 1 and variant.redeals != 0
        return cls(
            ignore_returns=ignore_returns,
            relaxation=no_returns,
            unwanted_up=no_returns,
            unwanted_up_from_waste=no_returns and not order_matters_in_waste,
            kings_to_spaces=no_returns and variant.spaces == "king",
            abstraction=no_returns
            and variant.suits == "alternating"
            and not variant.up_or_down
            and variant.spaces == "king"
            and variant.stock == 0,
        )


LORE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                # The cards that may lie on a card, rows filled up with the card itself.
                ("children", np.uint8, (N_CARDS + 1, MAX_CHILDREN)),
                ("max_children", np.uint8),
                # The code of a card that lies on a face-up card (or, NO_CARD, on the bare table).
                ("code", np.uint8, (N_CARDS + 1, N_CARDS + 1)),
                # The cards that may start an empty column.
                ("starters", np.uint8, (N_CARDS,)),
                ("n_starters", np.uint8),
                ("starter_set", np.uint64),
                ("child_set", np.uint64, (N_CARDS + 1,)),
                ("parent_set", np.uint64, (N_CARDS + 1,)),
                ("suits", np.uint8),
                ("up_or_down", np.bool_),
                ("spaces_for_kings", np.bool_),
                ("stock", np.bool_),
                ("draw", np.uint8),
                ("returns", np.bool_),
                ("relaxation", np.bool_),
                ("unwanted_up", np.bool_),
                ("unwanted_up_from_waste", np.bool_),
                ("kings_to_spaces", np.bool_),
                ("abstraction", np.bool_),
            ],
            align=True,
        ),
    )
)


@cache
def compile_lore(variant: Variant) -> np.ndarray:
    """Returns what the solver knows of a variant: an array of one record of dtype `LORE`."""
    return lore_with(variant, Techniques.of(variant))


def lore_with(variant: Variant, techniques: Techniques) -> np.ndarray:
    """Compiles a variant with techniques of the caller's choice, for experiments and tests."""
    engine_rules = compile_rules(variant)[0]
    lore = np.zeros(1, LORE)
    record = lore[0]
    record.children[:] = engine_rules.children
    record.max_children = engine_rules.max_children
    for card in range(N_CARDS):
        parents = [target for target in range(N_CARDS) if variant.may_lie_on(card, target)]
        if len(parents) > MAX_PARENTS:
            raise VariantError(
                f"the solver's exact key has room for {MAX_PARENTS} cards that a card may lie on; "
                f"in {variant.key} there are {len(parents)}"
            )
        record.code[card, parents] = FIRST_PARENT + np.arange(len(parents))
        record.code[card, NO_CARD] = AT_BASE
        for target in parents:
            record.parent_set[card] |= BIT[target]
            record.child_set[target] |= BIT[card]
        if variant.may_start_column(card):
            record.starter_set |= BIT[card]
    record.starters[:] = engine_rules.starters
    record.n_starters = engine_rules.n_starters
    record.suits = _SUIT_RULES[variant.suits]
    record.up_or_down = variant.up_or_down
    record.spaces_for_kings = variant.spaces == "king"
    record.stock = variant.stock > 0
    record.draw = variant.draw
    record.returns = variant.foundation_return and not techniques.ignore_returns
    record.relaxation = techniques.relaxation
    record.unwanted_up = techniques.unwanted_up
    record.unwanted_up_from_waste = techniques.unwanted_up_from_waste
    record.kings_to_spaces = techniques.kings_to_spaces
    record.abstraction = techniques.abstraction
    lore.flags.writeable = False
    return lore
