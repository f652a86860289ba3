"""The columns of the dataset: what each one holds, in one place.

Column names and meanings are also written into the Parquet files, as the metadata of each field,
and the version as metadata of the file. Raise VERSION when a column changes its meaning.
"""

from dataclasses import dataclass

import pyarrow as pa

VERSION = 1
# How long things took is not reproducible; columns of this ending are kept in files of their own.
SECONDS = "_seconds"


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes:
        name: Its name; where an agent is measured, what follows the agent's label.
        type: Its Arrow type.
        text: What it holds.
    """

    name: str
    type: pa.DataType
    text: str

    def field(self, prefix: str = "") -> pa.Field:
        """The Arrow field, with the text as its metadata."""
        return pa.field(prefix + self.name, self.type, metadata={"description": self.text})


KEYS = (
    Column("variant", pa.string(), "key of the variant"),
    Column("deal", pa.int64(), "deal number"),
)

FIGURES = (
    Column("start_moves", pa.int16(), "legal moves of the deal, dealing from the stock included"),
    Column("start_ups", pa.int16(), "of these, moves to a foundation"),
    Column("start_turns", pa.int16(), "of these, moves that turn up a face-down card"),
    Column("hidden_low", pa.int16(), "aces, twos and threes that are face down in a column"),
    Column("hidden_kings", pa.int16(), "kings that are face down in a column"),
    Column("hidden_ranks", pa.int16(), "sum of the ranks, ace 0 to king 12, of face-down cards"),
    Column("stock_low", pa.int16(), "aces, twos and threes in the stock"),
    Column("aces_depth", pa.int16(), "cards on the four aces; in the stock, cards dealt before"),
    Column("deepest_ace", pa.int16(), "the most cards on one ace"),
    Column("twos_depth", pa.int16(), "cards on the four twos, counted likewise"),
    Column("kings_depth", pa.int16(), "cards beneath the four kings in their columns"),
    Column("suit_crossings", pa.int16(), "pairs of a suit in a column, the higher card on top"),
    Column("parents_above", pa.int16(), "pairs in a column, the upper card a place for the lower"),
    Column("children_above", pa.int16(), "pairs in a column, the lower card a place for the upper"),
    Column("places_hidden", pa.int16(), "pairs of a face-up card and a face-down place for it"),
    Column("places_open", pa.int16(), "pairs of face-up cards in two columns, one a place for one"),
    Column("joined", pa.int16(), "face-up cards dealt onto a card on which they may lie"),
    Column("own_suit_high", pa.int16(), "cards of higher rank on aces and twos of their own suit"),
)

SOLVER = (
    Column("solver_verdict", pa.string(), "winnable, unwinnable, or unknown after max_states"),
    Column("solver_states", pa.int64(), "positions that the solver visited, abstract ones too"),
    Column("solver_stage", pa.string(), "the kind of stage that decided; limit if none did"),
    Column("solver_length", pa.int16(), "moves of the win that was found; null without one"),
    Column("solver_seconds", pa.float64(), "seconds that the solver took"),
)

# Of an agent; names are preceded by its label, as in `greedy_won`.
AGENT = (
    Column("_won", pa.bool_(), "whether the agent won"),
    Column("_moves", pa.int16(), "moves that it played"),
    Column("_cards_up", pa.int8(), "cards on the foundations at the end"),
    Column("_hidden", pa.int8(), "cards still face down in the columns at the end"),
    Column("_ending", pa.string(), "won, dead end, no new position or move limit"),
    Column("_seconds", pa.float64(), "seconds a game, the mean of the games played together"),
)
LOST_AT = Column(
    "_lost_at",
    pa.int16(),
    "moves after which the game could not be won any more, by the solver; 0 if the deal cannot; "
    "null if it could to the end; -1 if the solver did not decide",
)
