"""The held-out protocol: how strong is an agent?

Each deal is played once. By default a game is cut after 200 moves, and a move that leads back to
a position of the same game is not offered; a game with no other move left is lost. Published
figures state both, since they decide the results of weak players.

    >>> from yukon_env.evaluation import evaluate
    >>> result = evaluate(lambda observations, masks: masks.argmax(axis=1), "yukon", range(100))
    >>> print(result)
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from yukon_env.cards import N_CARDS
from yukon_env.deals import SPLITS, deck_of_deal, list_deals
from yukon_env.engine.batch import SETTINGS, observe_games
from yukon_env.engine.moves import deal_games, play_games
from yukon_env.engine.repeats import Repeats
from yukon_env.engine.state import N_ACTIONS, ROW, compile_rules, new_games
from yukon_env.errors import DealError, MoveError, YukonError
from yukon_env.stats import mcnemar_exact, wilson_interval
from yukon_env.variants import Variant, get_variant

MAX_MOVES = 200
BATCH_SIZE = 1024
FAIR = np.zeros(1, SETTINGS)

WON, DEAD_END, NO_NEW_POSITION, MOVE_LIMIT = "won", "dead end", "no new position", "move limit"

ActFunction = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Agent(Protocol):
    """Anything that chooses moves."""

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        """Chooses an action for each of n games.

        Args:
            observations: int8, shape (n, 52, 3).
            action_masks: int8, shape (n, 417).

        Returns:
            int64, shape (n,): actions that the masks allow.
        """


@dataclass(frozen=True)
class Evaluation:
    """What an agent did on each deal.

    Attributes:
        variant: The game that was played.
        max_moves: Moves after which a game was cut.
        allow_repeats: Whether positions could be entered again.
        seconds: Wall-clock time, all games together.
        deals: int64, shape (n,).
        won: bool, shape (n,).
        moves: int64, shape (n,).
        cards_up: int64, shape (n,): cards on the foundations at the end.
        hidden: int64, shape (n,): cards of the columns still face down at the end.
        ending: str, shape (n,): `won`, `dead end`, `no new position` or `move limit`.
    """

    variant: Variant
    max_moves: int
    allow_repeats: bool
    seconds: float
    deals: np.ndarray
    won: np.ndarray
    moves: np.ndarray
    cards_up: np.ndarray
    hidden: np.ndarray
    ending: np.ndarray

    @property
    def win_rate(self) -> float:
        """Share of the deals won."""
        return float(self.won.mean())

    @property
    def interval(self) -> tuple[float, float]:
        """95 % Wilson interval of the win rate."""
        return wilson_interval(int(self.won.sum()), len(self.won))

    def compare(self, other: "Evaluation") -> tuple[float, float]:
        """Compares with another agent on the same deals.

        Returns:
            The difference of the win rates, this one's less the other's, and the two-sided
            p-value of the exact McNemar test.

        Raises:
            DealError: The two did not play the same deals of the same variant, by one protocol.
        """
        if self.variant != other.variant or not np.array_equal(self.deals, other.deals):
            raise DealError("agents are compared on the same deals of the same variant only")
        if (self.max_moves, self.allow_repeats) != (other.max_moves, other.allow_repeats):
            raise DealError("agents are compared by the same protocol only")
        only_self = int((self.won & ~other.won).sum())
        only_other = int((other.won & ~self.won).sum())
        return self.win_rate - other.win_rate, mcnemar_exact(only_self, only_other)

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"{self.variant.key}: {100 * self.win_rate:.1f} % of {len(self.won)} deals won "
            f"[{100 * low:.1f}, {100 * high:.1f}], {self.cards_up.mean():.1f} cards up, "
            f"{self.moves.mean():.1f} moves, {1000 * self.seconds / len(self.won):.2f} ms a game"
        )


def evaluate(
    agent: Agent | ActFunction,
    variant: str | Variant,
    deals: str | Sequence[int] | np.ndarray = "test",
    *,
    max_moves: int = MAX_MOVES,
    allow_repeats: bool = False,
    batch_size: int = BATCH_SIZE,
    progress: Callable[[int], None] = lambda games: None,
) -> Evaluation:
    """Plays an agent on deals, each once, with hidden cards hidden.

    Args:
        agent: An object with `act(observations, action_masks) -> actions`, or such a function.
        variant: A key such as `yukon`, or a `Variant`.
        deals: `test` or `validation`, or deal numbers.
        max_moves: Moves after which a game is cut, and lost.
        allow_repeats: Offer moves back to positions of the same game, too.
        batch_size: Games that are shown to the agent at once.
        progress: Called with the number of games that have just ended.

    Returns:
        A row per deal, in the order of `deals`.

    Raises:
        YukonError: The variant, a deal or a limit is bad.
        MoveError: The agent chose an action that its mask did not allow.
    """
    if max_moves < 1 or batch_size < 1:
        raise YukonError("max_moves and batch_size are at least 1")
    act = getattr(agent, "act", agent)
    if not callable(act):
        raise YukonError(f"an agent is a function, or has a method act; {agent!r} is neither")
    variant = get_variant(variant)
    numbers = _read_deals(deals)
    seats = _Seats(variant, numbers, min(batch_size, len(numbers)))
    start = time.perf_counter()
    while seats.taken.any():
        n_ended = seats.advance(act, max_moves, allow_repeats)
        progress(n_ended)
    return Evaluation(
        variant=variant,
        max_moves=max_moves,
        allow_repeats=allow_repeats,
        seconds=time.perf_counter() - start,
        deals=numbers,
        **seats.results,
    )


def _read_deals(deals: str | Sequence[int] | np.ndarray) -> np.ndarray:
    if isinstance(deals, str):
        if deals not in ("test", "validation"):
            raise DealError(f"evaluate on 'test' or 'validation' or deal numbers, not {deals!r}")
        deals = SPLITS[deals]
    return list_deals(deals)


class _Seats:
    """The games in play, `size` at once; a seat that falls free takes the next deal."""

    def __init__(self, variant: Variant, deals: np.ndarray, size: int) -> None:
        n = len(deals)
        self.results = {
            "won": np.zeros(n, np.bool_),
            "moves": np.zeros(n, np.int64),
            "cards_up": np.zeros(n, np.int64),
            "hidden": np.zeros(n, np.int64),
            "ending": np.full(n, MOVE_LIMIT, dtype=f"<U{len(NO_NEW_POSITION)}"),
        }
        self._deals = deals
        self._rules = compile_rules(variant)
        self._games = new_games(size)
        self._repeats = Repeats(size)
        self._moves = np.zeros(size, np.int64)
        self._rows = np.zeros(size, np.int64)
        self._next_row = 0
        self.taken = np.zeros(size, np.bool_)
        self._seat(np.ones(size, np.bool_))

    def advance(self, act: ActFunction, max_moves: int, allow_repeats: bool) -> int:
        """Plays one move in every game in play, and seats new games where one has ended.

        Returns:
            The number of games that ended.
        """
        observations, masks = self._observe()
        if allow_repeats:
            stuck = np.zeros(len(self._games), np.bool_)
        else:
            stuck = self._repeats.forbid(self._games, self._rules, masks)
        over = stuck | (self._games["n_legal"] == 0) | (self._moves >= max_moves)
        playing = self.taken & ~over
        if playing.any():
            actions = np.zeros(len(self._games), np.int64)
            actions[playing] = _choose(act, observations[playing], masks[playing])
            play_games(self._games, self._rules, actions, playing)
            self._moves[playing] += 1
        ended = self.taken & over
        self._record(ended, stuck)
        self._seat(ended)
        return int(ended.sum())

    def _observe(self) -> tuple[np.ndarray, np.ndarray]:
        n = len(self._games)
        observations = np.empty((n, N_CARDS * ROW), np.int8)
        masks = np.empty((n, N_ACTIONS), np.int8)
        observe_games(self._games, FAIR, observations, masks, np.ones(n, np.bool_))
        return observations.reshape(n, N_CARDS, ROW), masks

    def _record(self, ended: np.ndarray, stuck: np.ndarray) -> None:
        rows, games = self._rows[ended], self._games[ended]
        cards_up = games["up"].sum(axis=1)
        won = cards_up == N_CARDS
        self.results["won"][rows] = won
        self.results["moves"][rows] = self._moves[ended]
        self.results["cards_up"][rows] = cards_up
        self.results["hidden"][rows] = games["n_hidden"]
        dead = games["n_legal"] == 0
        endings = np.select([won, dead, stuck[ended]], [WON, DEAD_END, NO_NEW_POSITION], MOVE_LIMIT)
        self.results["ending"][rows] = endings

    def _seat(self, free: np.ndarray) -> None:
        """Deals the next games to the free seats, as long as there are any."""
        seats = np.flatnonzero(free)
        rows = np.arange(self._next_row, min(self._next_row + len(seats), len(self._deals)))
        self.taken[seats[len(rows) :]] = False
        seats = seats[: len(rows)]
        decks = np.empty((len(self._games), N_CARDS), np.uint8)
        for seat, row in zip(seats, rows, strict=True):
            decks[seat] = deck_of_deal(int(self._deals[row]))
        which = np.zeros(len(self._games), np.bool_)
        which[seats] = True
        deal_games(self._games, self._rules, decks, which)
        self._repeats.forget(which)
        self.taken[seats] = True
        self._rows[seats] = rows
        self._moves[seats] = 0
        self._next_row += len(rows)


def _choose(act: ActFunction, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """Asks the agent, and checks its answer.

    Raises:
        MoveError: The answer is no array of n whole numbers, or a mask does not allow one.
    """
    # A copy: the answer is checked by a mask that the agent has not had in its hands.
    actions = np.asarray(act(observations, masks.copy()))
    n = len(observations)
    if actions.shape != (n,) or not np.issubdtype(actions.dtype, np.integer):
        raise MoveError(
            f"an agent must return {n} whole numbers, not {actions.dtype} of shape {actions.shape}"
        )
    if actions.min() < 0 or actions.max() >= N_ACTIONS:
        raise MoveError(f"an action is a number from 0 to {N_ACTIONS - 1}; the agent chose another")
    allowed = masks[np.arange(n), actions] == 1
    if not allowed.all():
        action = int(actions[(~allowed).argmax()])
        raise MoveError(f"the agent chose action {action}, which its mask does not allow")
    return actions
