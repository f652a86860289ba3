"""One game, for people and for planners."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from yukon_env.board import UNKNOWN, Board, check_board, format_board, parse_board
from yukon_env.cards import N_CARDS, N_RANKS, N_SUITS, card_text, parse_card
from yukon_env.deals import check_deck, deck_of_deal
from yukon_env.engine import batch, tables
from yukon_env.engine.moves import deal_games, play_games
from yukon_env.engine.state import (
    DEAL,
    FACE_UP,
    FOUNDATION,
    HIDDEN,
    N_ACTIONS,
    N_DESTINATIONS,
    NO_CARD,
    POSITION,
    ROW,
    STOCK,
    UNLIMITED,
    WASTE,
    ZONE,
    compile_rules,
    new_games,
)
from yukon_env.errors import BoardError, CardError, MoveError, YukonError
from yukon_env.variants import N_COLUMNS, Variant, get_variant

if TYPE_CHECKING:
    from yukon_env.solver import Result

ONE_GAME = np.ones(1, np.bool_)

MOVE_FORMS = "a move is written 7H>8C, KS>column 3, AC>foundation or deal"


class Move(int):
    """A move: the action number, with a text that can be read alone.

    `str` gives `7H>8C`, `KS>column 3` (columns are numbered 1 to 7 for people),
    `AC>foundation` or `deal`.
    """

    text: str

    def __new__(cls, action: int, text: str) -> Self:
        """Makes the move of an action number, with its text."""
        move = super().__new__(cls, action)
        move.text = text
        return move

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Move({int(self)}, {self.text!r})"

    def __getnewargs__(self) -> tuple[int, str]:  # type: ignore[override]
        return int(self), self.text


class Game:
    """A game of one variant: ask it for the legal moves, play them, take them back.

    Exactly one of `deal`, `deck`, `text` says what lies on the table.

    Args:
        variant: A key such as `yukon`, or a `Variant`.
        deal: A deal number in [0, 2**63).
        deck: 52 card numbers, the card dealt first at index 0.
        text: A board (see `yukon_env.board`).

    Attributes:
        variant: The `Variant`.
        record: GAME, shape (1,): the game as the compiled kernels read it.
        hidden_known: Whether the face-down cards are the true ones, or one guess at them. False
            for a board with `<>` and for `from_observation`, until `determinize` decides them.

    Raises:
        YukonError: The variant, deal, deck or board is bad; the message says what and where.

    Example:
        >>> game = Game("yukon", deal=17)
        >>> game.play(game.legal_moves()[0])
        >>> game.undo()
    """

    def __init__(
        self,
        variant: str | Variant,
        *,
        deal: int | None = None,
        deck: Sequence[int] | np.ndarray | None = None,
        text: str | None = None,
    ) -> None:
        if sum(given is not None for given in (deal, deck, text)) != 1:
            raise TypeError("give exactly one of deal, deck and text")
        self.variant = get_variant(variant)
        self.record = new_games(1)
        self.hidden_known = True
        self._history: list[np.ndarray] = []
        if text is not None:
            self._lay_out(parse_board(text, self.variant))
            return
        cards = deck_of_deal(deal) if deal is not None else check_deck(deck)
        deal_games(self.record, self.rules, cards[np.newaxis], ONE_GAME)

    @classmethod
    def from_text(cls, text: str, variant: str | Variant) -> Self:
        """Reads a board; the same as `Game(variant, text=text)`."""
        return cls(variant, text=text)

    @classmethod
    def from_board(cls, board: Board, variant: str | Variant) -> Self:
        """Makes a game of a `Board`.

        Raises:
            BoardError: No game of the variant could show this board.
        """
        variant = get_variant(variant)
        check_board(board, variant)
        game = cls.of_record(variant, new_games(1))
        game._lay_out(board)
        return game

    @classmethod
    def from_observation(
        cls,
        variant: str | Variant,
        observation: np.ndarray,
        action_mask: np.ndarray | None = None,
    ) -> Self:
        """Makes the player's view of a game, from what an environment shows.

        The hidden cards are not known: call `determinize` before a move that turns one up.

        Args:
            variant: The game that is played.
            observation: int8, shape (52, 3).
            action_mask: int8, shape (417,). Only needed where the stock is empty and redeals are
                limited: it alone tells whether one is left.

        Raises:
            BoardError: No game of the variant shows this observation.
        """
        variant = get_variant(variant)
        if action_mask is not None and np.shape(action_mask) != (N_ACTIONS,):
            raise BoardError(
                f"an action mask has shape ({N_ACTIONS},), not {np.shape(action_mask)}"
            )
        # A mask of all ones says that the game is over.
        redeal_legal = action_mask is None or bool(action_mask[DEAL] and not np.all(action_mask))
        return cls.from_board(_read_observation(variant, observation, redeal_legal), variant)

    @classmethod
    def of_record(cls, variant: Variant, record: np.ndarray) -> Self:
        """Makes a game of a copy of an engine record (GAME, shape (1,))."""
        game = cls.__new__(cls)
        game.variant = variant
        game.record = record.copy()
        game.hidden_known = True
        game._history = []
        return game

    def as_seen(self) -> Self:
        """The player's view of this game: a copy whose hidden cards are not known."""
        view = self.from_observation(self.variant, *self._observe(False))
        return self.from_board(
            replace(view.board, redeals_left=self.board.redeals_left), self.variant
        )

    def _lay_out(self, board: Board) -> None:
        self.hidden_known = board.unknown == 0
        board = _name_unknown(board)
        columns = np.full((N_COLUMNS, N_CARDS), NO_CARD, np.uint8)
        for column, cards in enumerate(board.columns):
            columns[column, : len(cards)] = cards
        tables.lay_out(
            self.record,
            self.rules,
            columns,
            np.array([len(cards) for cards in board.columns]),
            np.array(board.hidden),
            np.array(board.foundations),
            np.array(board.waste + board.stock, np.uint8),
            len(board.waste),
            board.stock_seen,
            UNLIMITED if board.redeals_left is None else board.redeals_left,
        )

    @property
    def rules(self) -> np.ndarray:
        """RULES, shape (1,): the variant as the compiled kernels read it."""
        return compile_rules(self.variant)

    @property
    def won(self) -> bool:
        """Whether all 52 cards are on the foundations."""
        return int(self.record["up"].sum()) == N_CARDS

    @property
    def dead_end(self) -> bool:
        """Whether the game is lost: not won, and no move is legal."""
        return not self.won and int(self.record["n_legal"][0]) == 0

    @property
    def key(self) -> int:
        """A 64-bit key of what a player sees, the same whatever the order of the columns."""
        return int(self.record["key"][0])

    @property
    def board(self) -> Board:
        """Where every card lies; hidden cards are UNKNOWN while they are not known."""
        game = self.record[0]
        columns, hidden = [], []
        for column in range(N_COLUMNS):
            cards, down = self._column(column)
            columns.append(cards)
            hidden.append(down)
        pile = [int(card) for card in game["pile"][: game["n_pile"]]]
        waste, stock = pile[: game["n_waste"]], pile[game["n_waste"] :]
        stock_seen = bool(stock) and int(game["seen"][ROW * stock[0]]) == STOCK
        if not self.hidden_known and not stock_seen:
            stock = [UNKNOWN] * len(stock)
        redeals = int(game["redeals_left"])
        return Board(
            columns=tuple(columns),
            hidden=tuple(hidden),
            foundations=tuple(int(up) for up in game["up"]),
            stock=tuple(stock),
            waste=tuple(waste),
            stock_seen=stock_seen,
            redeals_left=None if redeals == UNLIMITED else redeals,
        )

    def _column(self, column: int) -> tuple[tuple[int, ...], int]:
        """The cards of a column, base first, and how many of them are face down."""
        game = self.record[0]
        cards: list[int] = []
        card = int(game["end"][column])
        while card != NO_CARD:
            cards.append(card)
            card = int(game["beneath"][card])
        cards.reverse()
        hidden = sum(int(game["seen"][ROW * card + FACE_UP]) == 0 for card in cards)
        if not self.hidden_known:
            cards[:hidden] = [UNKNOWN] * hidden
        return tuple(cards), hidden

    def observation(self, perfect_information: bool = False) -> np.ndarray:
        """What a player sees: int8, shape (52, 3), a row (zone, position, face_up) per card."""
        return self._observe(perfect_information)[0]

    def action_mask(self) -> np.ndarray:
        """The legal moves: int8, shape (417,); all ones when the game is over."""
        return self._observe(False)[1]

    def _observe(self, perfect_information: bool) -> tuple[np.ndarray, np.ndarray]:
        settings = np.zeros(1, batch.SETTINGS)
        settings["perfect_information"] = perfect_information
        observation = np.empty((1, ROW * N_CARDS), np.int8)
        mask = np.empty((1, N_ACTIONS), np.int8)
        batch.observe_games(self.record, settings, observation, mask, ONE_GAME)
        return observation.reshape(N_CARDS, ROW), mask[0]

    def legal_moves(self) -> list[Move]:
        """The legal moves; none when the game is won or at a dead end."""
        game = self.record[0]
        return [self.move(int(action)) for action in game["legal"][: game["n_legal"]]]

    def move(self, move: int | str) -> Move:
        """Reads a move, legal or not: an action number, or the text that `Move` prints.

        Raises:
            MoveError: It is no move, or its target is no column's end card.
        """
        if isinstance(move, str):
            action = self._parse_move(move)
        elif isinstance(move, int | np.integer):
            action = int(move)
        else:
            raise MoveError(f"a move is an action number or text, not {move!r}")
        if not 0 <= action < N_ACTIONS:
            raise MoveError(f"an action is a number from 0 to {N_ACTIONS - 1}, not {action}")
        return Move(action, self._move_text(action))

    def _move_text(self, action: int) -> str:
        if action == DEAL:
            return "deal"
        card, destination = divmod(action, N_DESTINATIONS)
        if destination == FOUNDATION:
            return f"{card_text(card)}>foundation"
        end = int(self.record["end"][0, destination])
        target = f"column {destination + 1}" if end == NO_CARD else card_text(end)
        return f"{card_text(card)}>{target}"

    def _parse_move(self, text: str) -> int:
        if text.strip().lower() == "deal":
            return DEAL
        source, _, target = (part.strip() for part in text.partition(">"))
        try:
            return parse_card(source) * N_DESTINATIONS + self._parse_target(target)
        except (CardError, MoveError) as error:
            raise MoveError(f"{text!r} is no move here: {error}; {MOVE_FORMS}") from None

    def _parse_target(self, target: str) -> int:
        if target.lower() == "foundation":
            return FOUNDATION
        if target.lower().startswith("column"):
            number = target[len("column") :].strip()
            if not number.isdecimal() or not 1 <= int(number) <= N_COLUMNS:
                raise MoveError(f"columns are numbered 1 to {N_COLUMNS}; {target!r} is none")
            return int(number) - 1
        ends = self.record["end"][0].tolist()
        card = parse_card(target)
        if card not in ends:
            raise MoveError(f"{card_text(card)} is not the end card of a column")
        return ends.index(card)

    def play(self, move: int | str) -> None:
        """Plays a legal move, given as a `Move`, an action number or text.

        Raises:
            MoveError: The move is illegal here (the message says why), or turns up a card that
                is not known; the game is unchanged.
        """
        move = self.move(move)
        if move not in self.legal_moves():
            raise MoveError(f"{move} is illegal: {self.explain_illegal(move)}")
        # Records in the history are shared with copies, so this one is not changed in place.
        after = self.record.copy()
        play_games(after, self.rules, np.array([int(move)]), ONE_GAME)
        if not self.hidden_known and self._turns_up(after):
            raise MoveError(f"{move} turns up a card that is not known; determinize the game first")
        self._history.append(self.record)
        self.record = after

    def _turns_up(self, after: np.ndarray) -> bool:
        """Whether a card is seen after a move that is not seen now."""
        zones = after["seen"][0, ::ROW]
        return bool(((zones >= 0) & (self.record["seen"][0, ::ROW] < 0)).any())

    def undo(self) -> None:
        """Takes back the last move.

        Raises:
            MoveError: No move has been played.
        """
        if not self._history:
            raise MoveError("there is no move to take back")
        self.record = self._history.pop()

    def explain_illegal(self, move: int | str) -> str:
        """Says in words why a move is illegal here; tells nothing that a player cannot see."""
        move = self.move(move)
        if self.won:
            return "the game is won"
        if move in self.legal_moves():
            return "nothing: the move is legal"
        if move == DEAL and not self.variant.stock:
            return f"{self.variant.key} has no stock"
        if move == DEAL:
            return "nothing can be dealt: the stock is empty and no redeal is left"
        card, destination = divmod(int(move), N_DESTINATIONS)
        name = card_text(card)
        zone, position, face_up = self.observation()[card].tolist()
        if not face_up:
            return f"{name} is not face up in the tableau"
        if zone == FOUNDATION and not self.variant.foundation_return:
            return f"{name} is on its foundation, where cards stay"
        if zone == WASTE and card != self.board.waste[-1]:
            return f"{name} is in the waste, but not on top"
        if destination == FOUNDATION:
            return self._explain_foundation(card, zone)
        if zone == destination:
            return f"{name} is in column {destination + 1} already"
        end = int(self.record["end"][0, destination])
        if end != NO_CARD:
            return f"{name} may not lie on {card_text(end)} in {self.variant.key}"
        if zone == FOUNDATION:
            return f"{name} is no king: only a king may come back to an empty column"
        if zone < N_COLUMNS and position == 0:
            return f"{name} is the base of a column: moving it would only rename columns"
        return f"{name} may not start an empty column in {self.variant.key}"

    def _explain_foundation(self, card: int, zone: int) -> str:
        name, up = card_text(card), int(self.record["up"][0, card // N_RANKS])
        if zone < N_COLUMNS and card not in self.record["end"][0]:
            return f"{name} is not the end card of its column"
        if up == N_RANKS or card % N_RANKS < up:
            return f"{name} is on its foundation already"
        wanted = card_text(card // N_RANKS * N_RANKS + up)
        return f"the foundation needs {wanted} next, not {name}"

    def copy(self) -> Self:
        """An independent copy, history included."""
        game = self.of_record(self.variant, self.record)
        game.hidden_known = self.hidden_known
        game._history = list(self._history)
        return game

    def determinize(self, rng: np.random.Generator) -> Self:
        """A copy in which the hidden cards are dealt anew among the hidden places, uniformly.

        All that a player sees is the same. The copy has no history: moves taken back would show
        other hidden cards.

        Raises:
            YukonError: `rng` is no NumPy generator.
        """
        if not isinstance(rng, np.random.Generator):
            raise YukonError(f"determinize needs a numpy.random.Generator, not {rng!r}")
        game = self.copy()
        game._history = []
        stream = rng.integers(0, 2**64, size=1, dtype=np.uint64)
        tables.shuffle_hidden(game.record, stream)
        game.hidden_known = True
        return game

    def solve(self, **limits: Any) -> "Result":
        """Decides whether the game can be won from here, seeing every card, and shows how.

        Args:
            limits: `max_states`, `time_limit`, `seed` and `memory` of `yukon_env.solver.solve`.

        Raises:
            BoardError: The hidden cards are not known.
        """
        from yukon_env.solver import solve  # Late, for those who never ask.

        return solve(self, **limits)

    def to_text(self, hide: bool = False) -> str:
        """The board as text; with `hide`, hidden cards are written `<>`."""
        return format_board(self.board, self.variant, hide)

    def __str__(self) -> str:
        return self.to_text(hide=True)

    def __repr__(self) -> str:
        state = "won" if self.won else "dead end" if self.dead_end else "in play"
        return f"<Game {self.variant.key}: {int(self.record['up'].sum())} cards up, {state}>"


def _name_unknown(board: Board) -> Board:
    """Puts the cards that are nowhere on the board, in order, in place of the UNKNOWN ones."""
    if board.unknown == 0:
        return board
    known = {card for cards in (*board.columns, board.stock, board.waste) for card in cards}
    known |= {s * N_RANKS + r for s in range(N_SUITS) for r in range(board.foundations[s])}
    missing = iter(card for card in range(N_CARDS) if card not in known)

    def named(cards: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(next(missing) if card == UNKNOWN else card for card in cards)

    columns = tuple(named(cards) for cards in board.columns)
    return replace(board, columns=columns, stock=named(board.stock))


def _read_observation(variant: Variant, observation: np.ndarray, redeal_legal: bool) -> Board:
    """Reads the player's view of a board from an observation."""
    view = np.asarray(observation)
    if view.shape != (N_CARDS, ROW) or view.dtype.kind not in "iu":
        raise BoardError(
            f"an observation holds integers, shape ({N_CARDS}, {ROW}); "
            f"not {view.dtype}, shape {view.shape}"
        )
    zone_range, position_range = (HIDDEN, STOCK), (-1, N_CARDS - 1)
    for number, (low, high) in ((ZONE, zone_range), (POSITION, position_range)):
        if view[:, number].min() < low or view[:, number].max() > high:
            raise BoardError(f"column {number} of an observation lies between {low} and {high}")
    zones: dict[int, list[tuple[int, int]]] = {zone: [] for zone in range(STOCK + 1)}
    for card in range(N_CARDS):
        zone, position, face_up = view[card].tolist()
        if 0 <= zone < N_COLUMNS and not face_up:
            raise BoardError(
                f"{card_text(card)} is shown face down: this is an observation of perfect "
                "information, not a player's view"
            )
        if zone >= 0:
            zones[zone].append((position, card))
    columns, hidden = [], []
    for column in range(N_COLUMNS):
        hidden.append(min(zones[column])[0] if zones[column] else 0)
        columns.append((UNKNOWN,) * hidden[-1] + _in_order(zones[column], hidden[-1]))
    stock = _in_order(zones[STOCK])
    n_unseen = int((view[:, 0] < 0).sum()) - sum(hidden)
    return Board(
        columns=tuple(columns),
        hidden=tuple(hidden),
        foundations=tuple(_count_up(zones[FOUNDATION], suit) for suit in range(N_SUITS)),
        stock=stock or (UNKNOWN,) * n_unseen,
        waste=_in_order(zones[WASTE]),
        stock_seen=bool(stock),
        redeals_left=_redeals_left(variant, bool(stock), n_unseen, redeal_legal),
    )


def _in_order(places: list[tuple[int, int]], first: int = 0) -> tuple[int, ...]:
    """The cards of a pile, whose (position, card) pairs must follow one another from `first`."""
    places = sorted(places)
    for expected, (position, card) in enumerate(places, start=first):
        if position != expected:
            raise BoardError(f"{card_text(card)} is at position {position}, not {expected}")
    return tuple(card for _, card in places)


def _count_up(cards: list[tuple[int, int]], suit: int) -> int:
    return sum(card // N_RANKS == suit for _, card in cards)


def _redeals_left(
    variant: Variant, stock_seen: bool, n_unseen: int, redeal_legal: bool
) -> int | None:
    """How many redeals a player may count on, by what the observation tells.

    Before the stock has been dealt once, all of them. After that the observation tells of one
    redeal at most; a variant with several leaves the player to count.
    """
    if variant.redeals is None or n_unseen > 0:
        return variant.redeals
    if stock_seen:
        return max(variant.redeals - 1, 0)
    return variant.redeals if redeal_legal else 0
