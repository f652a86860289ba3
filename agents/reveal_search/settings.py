"""How much the search thinks."""

from dataclasses import astuple, dataclass, fields
from typing import get_type_hints

import numpy as np

from agents.errors import AgentError
from agents.reveal_search.room import MAX_STATES
from yukon_env.variants import Variant, get_variant


@dataclass(frozen=True)
class Settings:
    """How much is thought about a reveal.

    Attributes:
        solved: Worlds to solve for a plan.
        states: Positions that the solver may store in one world.
        orders: Orders in which the solver tries moves, in turn: few make few plans, and cost
            less to judge. 0: another order in every world.
        options: Of all reveals that can be reached, so many of the highest value are plans, too.
        worlds: Worlds in which every plan is played out.
        finalists: Plans that are played out in more.
        more: Worlds in which these are.
        weight: Worlds that the learned value counts for.
    """

    solved: int = 8
    states: int = 300
    orders: int = 0
    options: int = 0
    worlds: int = 8
    finalists: int = 4
    more: int = 16
    weight: float = 16.0

    def __post_init__(self) -> None:
        for field in fields(self):
            if not 0 <= getattr(self, field.name) < 1e6:
                raise AgentError(f"{field.name} is at least 0 and less than a million")
        if not 0 < self.states <= MAX_STATES:
            raise AgentError(f"states is from 1 to {MAX_STATES}")

    def record(self) -> np.ndarray:
        """The same as the kernels read it: EFFORT, shape (1,)."""
        return np.array([astuple(self)], EFFORT)


EFFORT = np.dtype((np.record, np.dtype(list(get_type_hints(Settings).items()))))

# Where other settings than those of `yukon` are known to be better.
_DEFAULTS = {
    "yukon-relaxed": Settings(worlds=6, more=0, orders=1),
    "australian": Settings(worlds=16, more=32, orders=1, weight=4),
}


def default_settings(variant: str | Variant) -> Settings:
    """Returns the settings with which a variant is played unless others are named."""
    return _DEFAULTS.get(get_variant(variant).key, Settings())
