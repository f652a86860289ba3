"""Deal numbers: golden decks, the published split, drawing, and what is refused."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from helpers import assert_uniform
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from yukon_env import SPLITS, YukonEnv, YukonError, YukonVectorEnv, deck_of_deal
from yukon_env.cards import card_text
from yukon_env.deals import (
    DEAL_FILES,
    MAX_DEAL,
    DealSource,
    check_deck,
    draw_deal,
    next_below,
    next_word,
    read_deals,
    shuffle,
    stream_of_seed,
)
from yukon_env.errors import DealError

# These never change: deal numbers are published with results.
GOLDEN = {
    0: (
        "KC TH 9C TS 3C JS KS QC 3H KD 6D AD JD 3S 4C QS 4H 2D JH AC 5C 5H KH 6S 8H 5S "
        "8S QD TC 4S AS 7H 2H 7C QH 5D 7D AH 9D 8D 6H 4D 2S JC 9H 8C 3D 6C 9S 2C TD 7S"
    ),
    1: (
        "4D 4C 7H 2D AC 2S 6S 5H QC TS 2H TD AH KC 6H JD 4H QS KS 7C 9S 5S TH 8H 5C AS "
        "QD 2C 7D KD JC 4S 3D 9H 5D 3C 7S 6C 8C JH 3S JS QH AD 9C 8D 3H TC 8S 9D 6D KH"
    ),
    9_999: (
        "JC 9H 6S KH 3D 5H 5D 7H 6H JH KD 8H TD 2C AH 6C 2H TS 3S QC QS 2D 8S TC 4S 2S "
        "4C QD 9C KS 6D AC QH 4H 5C 8C 9D 9S 7D 3H 7C 7S AD JD 4D KC JS 8D 5S AS 3C TH"
    ),
    20_000: (
        "8H 8S KC 3C AC 5H 8D KH 2H 2D 6S 6H JC QH KS AS AH 5D 7H TS TD 4D 3S AD 7D QC "
        "TH QS JD 9C 9D QD 7C 5C 6D TC 4C 9H KD 3D 8C 2S 6C 5S 4H JH 7S 2C 9S JS 3H 4S"
    ),
    2**63 - 1: (
        "AS AC 9C 8C 5H QH 9S JD TD KH 3C 6C TH 4D 7C JH JC 7D 6D 4H TC 2H 7S 4S QD QS "
        "KS 8D 5C 3D KD 5D 2S JS 8S 3S 2D 6S AD 5S KC AH 6H 8H TS 4C 7H 9D QC 2C 9H 3H"
    ),
}


@pytest.mark.parametrize("deal", GOLDEN)
def test_golden_decks(deal: int) -> None:
    assert " ".join(card_text(card) for card in deck_of_deal(deal)) == GOLDEN[deal]


# --- The generator, written again with Python's own integers ---------------------------------


def mix(value: int) -> int:
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    value = (value ^ value >> 27) * 0x94D049BB133111EB % 2**64
    return value ^ value >> 31


def split_mix(state: int) -> Iterator[int]:
    while True:
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        yield mix(state)


def below(count: int, words: Iterator[int]) -> int:
    """Lemire's method with 32 bits."""
    while True:
        product = (next(words) >> 32) * count
        if product % 2**32 >= 2**32 % count:
            return product >> 32


def test_split_mix_is_the_published_one() -> None:
    # The reference values that go round for seed 1234567.
    words = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    stream = np.array([1234567], np.uint64)
    assert [int(next_word(stream)) for _ in words] == words
    assert [word for word, _ in zip(split_mix(1234567), words, strict=False)] == words


@given(deal=st.integers(0, MAX_DEAL - 1))
def test_a_deck_is_the_documented_shuffle(deal: int) -> None:
    deck, words = list(range(52)), split_mix(mix(deal))
    for last in range(51, 0, -1):
        other = below(last + 1, words)
        deck[last], deck[other] = deck[other], deck[last]
    assert deck_of_deal(deal).tolist() == deck


def test_shuffling_is_uniform() -> None:
    stream = np.array([1], np.uint64)
    counts: dict[bytes, int] = {}
    for _ in range(24 * 200):
        cards = np.arange(4)
        shuffle(cards, 4, stream)
        counts[cards.tobytes()] = counts.get(cards.tobytes(), 0) + 1
    assert len(counts) == 24
    assert_uniform(list(counts.values()))


def test_every_card_is_at_every_place_equally_often() -> None:
    decks = np.stack([deck_of_deal(deal) for deal in SPLITS["test"]])
    counts = np.stack([np.bincount(decks[:, place], minlength=52) for place in range(52)])
    assert_uniform(counts, degrees=51 * 51)


@pytest.mark.parametrize("count", [1, 2, 7, 52, 2**31 + 1, 2**32 - 1])
def test_next_below(count: int) -> None:
    stream = np.array([5], np.uint64)
    words = split_mix(5)
    draws = [int(next_below(stream, count)) for _ in range(500)]
    assert draws == [below(count, words) for _ in draws]
    assert 0 <= min(draws) <= max(draws) < count


# --- The split -------------------------------------------------------------------------------


def test_the_split_is_the_published_one() -> None:
    assert {
        "test": range(10_000),
        "validation": range(10_000, 20_000),
        "train": range(20_000, 2**63),
    } == SPLITS


def deals_drawn(deals: Any, n: int = 4000) -> np.ndarray:
    return YukonVectorEnv(n, deals=deals).reset(seed=0)[1]["deal"]


def test_training_is_never_dealt_a_held_out_deal() -> None:
    drawn = deals_drawn("train")
    assert drawn.min() >= 20_000
    assert len(set(drawn.tolist())) == len(drawn)
    assert drawn.max() > 2**62
    assert YukonVectorEnv(1)._settings.record["first_deal"] == 20_000
    # Also where the stream gives the largest and the smallest words.
    source = DealSource.of("train")
    for word in (0, 1, 2**63, 2**64 - 1):
        stream = np.array([unmix_state(word)], np.uint64)
        assert draw_deal(stream, source.first, source.count, source.pool) >= 20_000


def unmix_state(word: int) -> int:
    """The state before the one whose output is `word`."""
    value = word
    value ^= value >> 31 ^ value >> 62
    value = value * pow(0x94D049BB133111EB, -1, 2**64) % 2**64
    value ^= value >> 27 ^ value >> 54
    value = value * pow(0xBF58476D1CE4E5B9, -1, 2**64) % 2**64
    value ^= value >> 30 ^ value >> 60
    return (value - 0x9E3779B97F4A7C15) % 2**64


@pytest.mark.parametrize("split", ["test", "validation"])
def test_draws_of_a_held_out_split(split: str) -> None:
    drawn = deals_drawn(split)
    assert SPLITS[split].start <= drawn.min() < drawn.max() < SPLITS[split].stop


@pytest.mark.parametrize(
    ("deals", "pool"),
    [
        (range(5, 12), range(5, 12)),
        (range(30, 2, -4), range(30, 2, -4)),
        ([7, 3, 2**63 - 1], [7, 3, 2**63 - 1]),
        ((4,), [4]),
        (np.array([9, 8]), [9, 8]),
    ],
)
def test_draws_are_uniform(deals: Any, pool: Any) -> None:
    drawn = deals_drawn(deals, 7000).tolist()
    assert set(drawn) == set(pool)
    if len(pool) > 1:
        assert_uniform([drawn.count(deal) for deal in pool])


# --- Pools in files --------------------------------------------------------------------------

POOL = [7, 3, 2**63 - 1]


def write_pool(folder: Path, suffix: str) -> Path:
    path = folder / f"pool{suffix}"
    if suffix == ".txt":
        path.write_text("7\n3\n\n  9223372036854775807")
    elif suffix == ".json":
        path.write_text(str(POOL))
    elif suffix == ".npy":
        np.save(path, np.array(POOL))
    else:
        columns = {"variant": ["yukon"] * 3, "deal": POOL}
        parquet.write_table(pyarrow.table(columns), path)
    return path


@pytest.mark.parametrize("suffix", DEAL_FILES)
def test_pools_from_files(suffix: str, tmp_path: Path) -> None:
    path = write_pool(tmp_path, suffix)
    assert read_deals(path).tolist() == POOL
    assert set(deals_drawn(path, 100).tolist()) == set(POOL)
    env = YukonEnv(deals=str(path))
    assert {env.reset(seed=seed)[1]["deal"] for seed in range(30)} == set(POOL)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("absent.txt", None, "absent.txt"),
        ("a.txt", "", "empty"),
        ("a.txt", "1 2 three", "three"),
        ("a.txt", "1\n-2", "-2"),
        ("a.json", "{", "a.json"),
        ("a.json", "7", "sequence"),
        ("a.json", '["x"]', "'x'"),
        ("a.json", "[1.0]", "1.0"),
        ("a.npy", "no array", "a.npy"),
        ("a.parquet", "no table", "a.parquet"),
        ("a.csv", "1", r"\.parquet; .*a\.csv does not"),
    ],
)
def test_bad_pools(name: str, content: str | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_text(content)
    with pytest.raises(DealError, match=message):
        DealSource.of(path)


def test_a_parquet_pool_needs_its_column_and_pyarrow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "pool.parquet"
    parquet.write_table(pyarrow.table({"number": [1]}), path)
    with pytest.raises(DealError, match="no column `deal`"):
        read_deals(path)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(DealError, match="pip install pyarrow"):
        read_deals(path)


# --- What is refused -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("deals", "message"),
    [
        ("training", "'training'.*test, validation, train"),
        ([], "empty"),
        (range(0), "empty"),
        (range(-5, 5), "-5"),
        (range(2**63 - 2, 2**63 + 2), str(2**63 + 1)),
        ([1, -1], "-1"),
        ([1, 2**63], str(2**63)),
        ([1.5], "1.5"),
        (["1"], "'1'"),
        ([True], "True"),
        (np.array([0.0]), "0.0"),
    ],
)
def test_bad_sources(deals: Any, message: str) -> None:
    with pytest.raises(YukonError, match=message):
        DealSource.of(deals)


@pytest.mark.parametrize("deals", [5, None, range(2**63 + 1)], ids=["int", "None", "huge range"])
def test_a_source_that_is_no_sequence_is_our_error(deals: Any) -> None:
    with pytest.raises(YukonError):
        DealSource.of(deals)


@pytest.mark.parametrize("deal", [-1, 2**63, 1.0, "1", None, True])
def test_bad_deal_numbers(deal: Any) -> None:
    with pytest.raises(YukonError, match=r"\[0, 2\*\*63\)"):
        deck_of_deal(deal)


@pytest.mark.parametrize("deal", [np.int64(17), np.uint8(17), np.uint64(17)])
def test_numbers_of_numpy_are_deal_numbers(deal: Any) -> None:
    assert (deck_of_deal(deal) == deck_of_deal(17)).all()


CARDS = list(range(52))


@pytest.mark.parametrize(
    ("deck", "message"),
    [
        (CARDS[:51], "51"),
        ([*CARDS, 0], "53"),
        ([0, *CARDS[:51]], "AC 2 times.*KS"),
        ([*CARDS[:51], 52], "52 is none"),
        ([*CARDS[:51], -1], "-1 is none"),
        ([float(card) for card in CARDS], "float64"),
        (["AC"] * 52, "U2"),
        ([CARDS], "1, 52"),
        (7, "shape"),
    ],
)
def test_bad_decks(deck: Any, message: str) -> None:
    with pytest.raises(YukonError, match=message):
        check_deck(deck)


@pytest.mark.parametrize("seed", [-1, 1.5, "1"])
def test_bad_seeds(seed: Any) -> None:
    with pytest.raises(YukonError, match="seed"):
        stream_of_seed(seed)


def test_streams_of_seeds() -> None:
    assert stream_of_seed(2**200) == stream_of_seed(2**200)
    assert len({int(stream_of_seed(seed)) for seed in range(100)}) == 100
    assert stream_of_seed(1) != stream_of_seed(1, purpose=1)
    assert stream_of_seed(None) != stream_of_seed(None)
