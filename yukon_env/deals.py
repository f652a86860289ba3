"""From a deal number to a deck, and the published split of the deal numbers.

The generator is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
generators", OOPSLA 2014), written here so that a deal number means the same deck for ever,
whatever NumPy does. Its state is a plain `uint64`, advanced by the functions that draw from it.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numba import njit

from yukon_env.cards import N_CARDS, card_text
from yukon_env.errors import DealError, YukonError

MAX_DEAL = 2**63
MAX_LISTED = 10_000_000
SPLITS: dict[str, range] = {
    "test": range(10_000),
    "validation": range(10_000, 20_000),
    "train": range(20_000, MAX_DEAL),
}

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_LOW_32 = np.uint64(0xFFFFFFFF)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@njit
def mix(value):
    """The output function of SplitMix64: a bijection on 64 bits."""
    value = (value ^ (value >> _S30)) * _MIX_1
    value = (value ^ (value >> _S27)) * _MIX_2
    return value ^ (value >> _S31)


@njit
def next_word(stream):
    """Advances `stream` (uint64 array of shape (1,)) and returns 64 random bits."""
    stream[0] += _GOLDEN
    return mix(stream[0])


@njit
def next_below(stream, count):
    """Draws uniformly from 0 .. count - 1, for 0 < count < 2**32, without bias.

    Source: Lemire, "Fast random integer generation in an interval", ACM TOMACS 29 (2019).
    """
    count = np.uint64(count)
    product = (next_word(stream) >> _S32) * count
    if (product & _LOW_32) < count:
        threshold = (_LOW_32 + np.uint64(1) - count) % count
        while (product & _LOW_32) < threshold:
            product = (next_word(stream) >> _S32) * count
    return np.int64(product >> _S32)


@njit
def shuffle(cards, n, stream):
    """Shuffles the first `n` entries of `cards` uniformly, in place (Fisher-Yates)."""
    for last in range(n - 1, 0, -1):
        other = next_below(stream, last + 1)
        cards[last], cards[other] = cards[other], cards[last]


# With a cache of its own, unlike other helpers: Python calls it too, and all it needs is here.
@njit(cache=True)
def fill_deck(deal, deck, stream):
    """Writes the deck of a deal number into `deck` (uint8, shape (52,)); `stream` is scratch."""
    stream[0] = mix(np.uint64(deal))
    for card in range(N_CARDS):
        deck[card] = card
    shuffle(deck, N_CARDS, stream)


def deck_of_deal(deal: int) -> np.ndarray:
    """Returns the deck of a deal number: uint8, shape (52,), the card dealt first at index 0.

    Raises:
        DealError: The number is outside [0, 2**63).
    """
    deck = np.empty(N_CARDS, np.uint8)
    with np.errstate(over="ignore"):
        fill_deck(check_deal(deal), deck, np.zeros(1, np.uint64))
    return deck


def check_deal(deal: int) -> int:
    """Returns the deal number as an `int`.

    Raises:
        DealError: It is no whole number in [0, 2**63).
    """
    if isinstance(deal, bool) or not isinstance(deal, int | np.integer):
        raise DealError(f"a deal number is a whole number in [0, 2**63), not {deal!r}")
    if not 0 <= deal < MAX_DEAL:
        raise DealError(f"a deal number lies in [0, 2**63); {deal} does not")
    return int(deal)


def check_deck(deck: Sequence[int] | np.ndarray | None) -> np.ndarray:
    """Returns the deck as uint8 of shape (52,).

    Raises:
        DealError: It does not hold each of the 52 card numbers once; says which is wrong.
    """
    cards = np.asarray(deck)
    if not np.issubdtype(cards.dtype, np.integer):
        raise DealError(f"a deck holds {N_CARDS} card numbers, not {cards.dtype}: {deck!r}")
    if cards.shape != (N_CARDS,):
        raise DealError(f"a deck holds {N_CARDS} card numbers; this has the shape {cards.shape}")
    outside = cards[(cards < 0) | (cards >= N_CARDS)]
    if outside.size:
        raise DealError(f"a deck holds the card numbers 0 to 51; {outside[0]} is none")
    counts = np.bincount(cards, minlength=N_CARDS)
    if counts.max() > 1:
        twice, missing = int(counts.argmax()), int(counts.argmin())
        raise DealError(
            f"the deck holds {card_text(twice)} {counts[twice]} times "
            f"and lacks {card_text(missing)}"
        )
    return cards.astype(np.uint8)


@dataclass(frozen=True)
class DealSource:
    """Where deals are drawn from, in the form that the compiled code reads.

    Attributes:
        first: The first deal number of a range.
        count: How many deals there are; at least 1.
        pool: int64, shape (count,): the deal numbers, or empty when they are a range.
    """

    first: int
    count: int
    pool: np.ndarray

    @classmethod
    def of(cls, deals: "str | Path | range | Sequence[int] | np.ndarray") -> "DealSource":
        """Reads the `deals` argument of an environment.

        Args:
            deals: The name of a split, a file that `read_deals` reads, a range, or a sequence of
                deal numbers.

        Raises:
            DealError: The split is unknown, there is no deal, or a number is no deal number.
        """
        if isinstance(deals, Path) or (isinstance(deals, str) and deals.endswith(DEAL_FILES)):
            deals = read_deals(deals)
        if isinstance(deals, str):
            if deals not in SPLITS:
                raise DealError(
                    f"unknown split {deals!r}; known are {', '.join(SPLITS)}, "
                    f"and files that end in {', '.join(DEAL_FILES)}"
                )
            deals = SPLITS[deals]
        if isinstance(deals, range) and deals.step == 1 and deals:
            first, last = check_deal(deals.start), check_deal(deals.stop - 1)
            return cls(first, last - first + 1, np.empty(0, np.int64))
        return cls(0, len(pool := list_deals(deals)), pool)


def list_deals(deals: Sequence[int] | np.ndarray) -> np.ndarray:
    """Returns deal numbers as int64, shape (n,).

    Raises:
        DealError: There are none, or one is no deal number.
    """
    try:
        n = len(deals)
    except (TypeError, OverflowError):
        raise DealError(f"deals must be a sequence of deal numbers, not {deals!r}") from None
    if n == 0:
        raise DealError("there is no deal: deals is empty")
    if n > MAX_LISTED or isinstance(deals, str | bytes):
        raise DealError(f"deals must be a split, a range, or at most {MAX_LISTED:,} deal numbers")
    return np.array([check_deal(deal) for deal in deals], np.int64)


def read_deals(path: str | Path) -> np.ndarray:
    """Reads deal numbers from a file.

    Args:
        path: Ends in `.txt` (numbers between white space), `.json` (a list), `.npy`, or `.parquet`
            (its column `deal`; needs pyarrow).

    Returns:
        int64, shape (n,).

    Raises:
        DealError: The file cannot be read, or does not hold deal numbers.
    """
    path = Path(path)
    if path.suffix not in DEAL_FILES:
        raise DealError(f"files of deals end in {', '.join(DEAL_FILES)}; {path} does not")
    try:
        return list_deals(_READERS[path.suffix](path))
    except (OSError, ValueError) as error:
        raise DealError(f"{path} holds no deals that can be read: {error}") from error


def _read_text(path: Path) -> list[int]:
    return [int(word) for word in path.read_text().split()]


def _read_json(path: Path) -> list[int]:
    return json.loads(path.read_text())


def _read_npy(path: Path) -> np.ndarray:
    return np.load(path, allow_pickle=False)


def _read_parquet(path: Path) -> np.ndarray:
    try:
        import pyarrow.parquet  # Only those who keep Parquet need it.
    except ImportError:
        raise DealError("Parquet files need pyarrow: pip install pyarrow") from None
    table = pyarrow.parquet.read_table(path)
    if "deal" not in table.column_names:
        raise DealError("it has no column `deal`")
    return table["deal"].to_numpy()


_READERS: dict[str, Callable[[Path], Sequence[int] | np.ndarray]] = {
    ".txt": _read_text,
    ".json": _read_json,
    ".npy": _read_npy,
    ".parquet": _read_parquet,
}
# Files that deal numbers are read from, by the end of their names.
DEAL_FILES = tuple(_READERS)


@njit
def draw_deal(stream, first, count, pool):
    """Draws a deal number uniformly from a `DealSource`, given as its three fields."""
    size = np.uint64(count)
    tail = (~np.uint64(0) % size + np.uint64(1)) % size
    word = next_word(stream)
    while word > ~np.uint64(0) - tail:
        word = next_word(stream)
    index = np.int64(word % size)
    if len(pool) > 0:
        return pool[index]
    return first + index


def stream_of_seed(seed: int | None, purpose: int = 0) -> np.uint64:
    """Returns the start of the random stream of a seed; fresh entropy for None.

    Args:
        seed: A whole number, at least 0, of any size.
        purpose: Streams of one seed for other purposes have nothing in common.

    Raises:
        YukonError: The seed is negative or no whole number.
    """
    try:
        return np.random.SeedSequence(seed).generate_state(purpose + 1, np.uint64)[purpose]
    except (TypeError, ValueError):
        raise YukonError(f"a seed is a whole number, at least 0, or None; not {seed!r}") from None
