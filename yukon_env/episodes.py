"""What both environments are told: how episodes go, and how the next one starts.

The environments differ in how many games they hold; the meaning of their arguments and of the
options of `reset` is the same and is read here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from gymnasium import spaces

from yukon_env.board import parse_board
from yukon_env.cards import N_CARDS
from yukon_env.deals import DealSource, check_deal, check_deck
from yukon_env.engine.batch import BY_HAND, EPISODE, SETTINGS
from yukon_env.engine.state import FACE_UP, HIDDEN, N_ACTIONS, POSITION, ROW, STOCK, ZONE
from yukon_env.errors import BoardError, DealError, MoveError, YukonError
from yukon_env.game import Game
from yukon_env.variants import Variant

Deals = str | Path | range | Sequence[int] | np.ndarray
IllegalAction = Literal["ignore", "terminate", "raise"]

# Steps after which the registered environments, and the vector environment, cut a game.
MAX_EPISODE_STEPS = 500
NO_STEP_LIMIT = np.iinfo(np.int64).max
OPTIONS = ("deal", "deck", "board")


def observation_space() -> spaces.Box:
    """int8, shape (52, 3): zone (-1 to 9), position (-1 to 51) and face_up (0, 1) of each card."""
    low, high = np.zeros((2, N_CARDS, ROW), np.int8)
    low[:, ZONE], high[:, ZONE] = HIDDEN, STOCK
    low[:, POSITION], high[:, POSITION] = HIDDEN, N_CARDS - 1
    high[:, FACE_UP] = 1
    return spaces.Box(low, high, dtype=np.int8)


def action_space() -> spaces.Discrete:
    """417 actions: `card * 8 + destination`, and 416 to deal from the stock."""
    return spaces.Discrete(N_ACTIONS)


@dataclass(frozen=True)
class Settings:
    """The arguments that both environments share, checked, in the form the kernels read.

    Attributes:
        record: SETTINGS, shape (1,).
        pool: int64: the deal numbers to draw from; empty when the record gives a range.
        raise_illegal: Whether an illegal action is an error.
    """

    record: np.ndarray
    pool: np.ndarray
    raise_illegal: bool

    @classmethod
    def of(
        cls,
        *,
        deals: Deals,
        perfect_information: bool,
        illegal_action: IllegalAction,
        shaping: float,
        discount: float,
        max_episode_steps: int | None = None,
        reset_on_step: bool = False,
    ) -> "Settings":
        """Checks and compiles the arguments.

        Raises:
            DealError: `deals` names no deals.
            YukonError: Another argument is out of its range.
        """
        if illegal_action not in ("ignore", "terminate", "raise"):
            raise YukonError(
                f"illegal_action is 'ignore', 'terminate' or 'raise', not {illegal_action!r}"
            )
        numbers = isinstance(shaping, int | float) and isinstance(discount, int | float)
        if not numbers or not (np.isfinite(shaping) and 0.0 <= discount <= 1.0):
            raise YukonError(
                f"shaping must be finite and discount in [0, 1], not {shaping!r} and {discount!r}"
            )
        if max_episode_steps is not None:
            check_count("max_episode_steps", max_episode_steps)
        source = DealSource.of(deals)
        record = np.zeros(1, SETTINGS)
        record["perfect_information"] = perfect_information
        record["terminate_illegal"] = illegal_action == "terminate"
        record["reset_on_step"] = reset_on_step
        record["max_steps"] = NO_STEP_LIMIT if max_episode_steps is None else max_episode_steps
        record["shaping"] = shaping
        record["discount"] = discount
        record["first_deal"] = source.first
        record["n_deals"] = source.count
        return cls(record, source.pool, illegal_action == "raise")


def check_count(name: str, count: int) -> None:
    """Checks an argument that counts something.

    Raises:
        YukonError: It is no whole number, less than 1, or more than an int64 holds.
    """
    if not isinstance(count, int | np.integer) or not 1 <= count <= NO_STEP_LIMIT:
        raise YukonError(f"{name} must be a whole number, at least 1, not {count!r}")


def check_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Returns the options of `reset` as a dict of its own.

    Raises:
        YukonError: They are no mapping.
    """
    if not isinstance(options, Mapping | None):
        raise YukonError(f"the options of reset are a dict or None, not {options!r}")
    return dict(options or {})


def read_options(options: Mapping[str, Any] | None, variant: Variant) -> tuple[Game, int] | None:
    """Reads the options of `reset`: what to deal, instead of a deal drawn at random.

    Args:
        options: `{"deal": n}`, `{"deck": 52 card numbers}`, `{"board": text}`, or nothing.
        variant: The game that is played.

    Returns:
        The game to start from and its deal number (-1 for a deck or board); None to draw one.

    Raises:
        DealError: An option is unknown, or more than one is given.
        YukonError: The deal, deck or board is bad.
    """
    options = check_options(options)
    if not options:
        return None
    unknown = [name for name in options if name not in OPTIONS]
    if unknown:
        raise DealError(f"unknown reset option {unknown[0]!r}; known are {', '.join(OPTIONS)}")
    if len(options) > 1:
        raise DealError(f"give one of the reset options {', '.join(options)}, not all of them")
    if "deal" in options:
        deal = check_deal(options["deal"])
        return Game(variant, deal=deal), deal
    if "deck" in options:
        return Game(variant, deck=check_deck(options["deck"])), BY_HAND
    game = Game.from_board(parse_board(options["board"], variant), variant)
    if not game.hidden_known:
        raise BoardError("an environment must know the hidden cards: the board has some as <>")
    return game, BY_HAND


def start_from(
    start: tuple[Game, int], games: np.ndarray, episodes: np.ndarray, which: np.ndarray
) -> None:
    """Starts an episode on a given game where `which` (bool, shape (n,)) says so."""
    game, deal = start
    games[which] = game.record[0]
    streams = episodes["stream"].copy()
    episodes[which] = np.zeros(1, EPISODE)[0]
    episodes["deal"][which] = deal
    episodes["won"][which] = game.won
    episodes["stream"] = streams


def raise_illegal(variant: Variant, game: np.ndarray, action: int) -> None:
    """Raises the error for an illegal action in one game (GAME, shape (1,)).

    Raises:
        MoveError: Always; it names the move and says why it is illegal.
    """
    view = Game.of_record(variant, game)
    raise MoveError(f"{view.move(action)} is illegal: {view.explain_illegal(action)}")
