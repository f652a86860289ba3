"""The answers of the difficulty study: counted right on data of known content, and repeatable."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers import COMPILED
from scipy.stats import binomtest

from experiments.difficulty import examples, luck, one_rule, predict, winnability
from experiments.difficulty.declared import find_variant
from experiments.difficulty.reasons import _blocked, _Table, find_reason, reason_text
from experiments.difficulty.report import RESULTS
from experiments.difficulty.schema import AGENT, FIGURES, KEYS, SOLVER, VERSION
from experiments.difficulty.store import ABOUT
from experiments.difficulty.tables import read_folders
from experiments.runs import ROOT
from yukon_env import VARIANTS, Game, deck_of_deal
from yukon_env.solver.api import solve_deal
from yukon_env.stats import wilson_interval

CHANGES = Path(one_rule.__file__).with_name("yukon_changes.py")
WON, LOST, OPEN = "winnable", "unwinnable", "unknown"


def write_study(
    folder: Path,
    key: str,
    verdicts: Sequence[str],
    agents: dict[str, np.ndarray] | None = None,
    figures: np.ndarray | None = None,
    first: int = 0,
) -> None:
    """Writes a dataset as the study would, with the given outcomes."""
    n, agents = len(verdicts), agents or {}
    fields = [column.field() for column in (*KEYS, *FIGURES, *SOLVER[:-1])]
    columns: dict[str, Any] = {"variant": [key] * n, "deal": np.arange(first, first + n)}
    counts = np.zeros((len(FIGURES), n), int) if figures is None else figures
    columns |= {column.name: row for column, row in zip(FIGURES, counts, strict=True)}
    columns |= {
        "solver_verdict": list(verdicts),
        "solver_states": np.arange(1, n + 1),
        "solver_stage": ["search"] * n,
        "solver_length": [90 if verdict == WON else None for verdict in verdicts],
    }
    for label, won in agents.items():
        fields += [column.field(label) for column in AGENT[:-1]]
        values: list[Any] = [won, [9] * n, [8] * n, [7] * n, ["dead end"] * n]
        columns |= {
            label + column.name: value for column, value in zip(AGENT[:-1], values, strict=True)
        }
    measures = {f"agent-{label}": {"label": label, "agent": f"{label}:x"} for label in agents}
    about = {
        "version": VERSION,
        "variant": asdict(VARIANTS[key] if key in VARIANTS else find_variant(key)),
        "measures": {"solver": {"max_states": 1000}, **measures},
    }
    table = pa.table(columns, pa.schema(fields)).replace_schema_metadata({ABOUT: json.dumps(about)})
    path = folder / "deals" / f"{key.rpartition(':')[2]}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path)


def table_of(module: ModuleType, folders: Sequence[Path], out: Path) -> list[dict[str, str]]:
    """Runs an analysis; returns the rows of its table."""
    module.main([*map(str, folders), "--out", str(out)])
    name = module.__name__.rpartition(".")[2]
    lines = (out / f"{name}.md").read_text().splitlines()
    assert lines[2].strip() == " ".join(
        ["python", "-m", f"experiments.difficulty.{name}", *map(str, folders)]
    )
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if "|" in line]
    return [
        dict(zip(cells[0], row, strict=True)) for row in cells[2:] if not row[0].startswith("-")
    ]


def assert_repeatable(module: ModuleType, folders: Sequence[Path], out: Path) -> None:
    """Runs an analysis twice; its files must be the same."""
    written = []
    for _ in range(2):
        table_of(module, folders, out)
        written.append({path.name: path.read_bytes() for path in out.iterdir()})
    assert written[0] == written[1]
    assert written[0][f"{module.__name__.rpartition('.')[2]}.png"].startswith(b"\x89PNG")


@pytest.mark.parametrize("module", [winnability, luck])
def test_pictures_say_how_many_deals_there_were(module: ModuleType, tmp_path: Path) -> None:
    write_study(tmp_path, "yukon", [WON] * 1200, {"greedy": np.arange(1200) < 600})
    write_study(tmp_path, "russian", [LOST] * 40, {"greedy": np.zeros(40, bool)})
    axes = module.analyse(read_folders([tmp_path])).figure.axes[0]
    names = {label.get_text() for label in axes.get_yticklabels()}
    assert names == {"yukon (1,200)", "russian (40)"}


# PNG files are the same only with the pinned packages.
@pytest.mark.slow
@pytest.mark.parametrize("module", [winnability, one_rule, luck, predict, examples])
def test_the_kept_data_give_the_kept_answers(
    module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = module.__name__.rpartition(".")[2]
    command = shlex.split((RESULTS / f"{name}.md").read_text().splitlines()[2])
    monkeypatch.chdir(ROOT)
    module.main([*command[3:], "--out", str(tmp_path)])
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert f"{name}.md" in written
    assert written == {kept: (RESULTS / kept).read_bytes() for kept in written}


# --- How many can be won ---------------------------------------------------------------------


def test_undecided_deals_are_counted_both_ways(tmp_path: Path) -> None:
    write_study(tmp_path, "yukon", [WON] * 90 + [LOST] * 6 + [OPEN] * 4)
    write_study(tmp_path, "brisbane", [WON] * 100)
    rows = table_of(winnability, [tmp_path], tmp_path / "out")
    yukon, brisbane = rows
    assert yukon["variant"] == "`yukon`"
    assert (yukon["winnable"], yukon["unwinnable"], yukon["undecided"]) == ("90", "6", "4")
    assert yukon["winnable, %"] == "90.0 to 94.0"
    low, high = wilson_interval(90, 100)[0], wilson_interval(94, 100)[1]
    assert yukon["95 %"] == f"[{100 * low:.1f}, {100 * high:.1f}]"
    assert brisbane["winnable, %"] == "100.0"
    assert_repeatable(winnability, [tmp_path], tmp_path / "out")


def test_of_a_variant_in_two_folders_the_first_counts(tmp_path: Path) -> None:
    write_study(tmp_path / "large", "yukon", [WON] * 100)
    write_study(tmp_path / "small", "yukon", [LOST] * 10)
    write_study(tmp_path / "small", "russian", [LOST] * 10)
    found = read_folders([tmp_path / "large", tmp_path / "small"])
    assert {key: len(deals.deals) for key, deals in found.items()} == {"yukon": 100, "russian": 10}


# --- One rule at a time ----------------------------------------------------------------------


def test_games_are_paired_by_their_deals(tmp_path: Path) -> None:
    # Deals 0-99 of yukon, 50-149 of yukon-relaxed: 50 in common, of which 30 and 40 are won.
    write_study(tmp_path, "yukon", [WON] * 80 + [LOST] * 20, {"greedy": np.arange(100) < 60})
    write_study(
        tmp_path, "yukon-relaxed", [WON] * 5 + [LOST] * 10 + [WON] * 35 + [LOST] * 50,
        {"greedy": np.zeros(100, bool), "random": np.zeros(100, bool)}, first=50,
    )  # fmt: skip
    solver, greedy = table_of(one_rule, [tmp_path], tmp_path / "out")
    assert solver["variant"] == "`yukon-relaxed`"
    assert (solver["deals"], solver["yukon, %"], solver["changed, %"]) == ("50", "60.0", "80.0")
    assert (solver["only changed"], solver["only yukon"]) == ("20", "10")
    assert solver["difference"] == "20.0"
    assert solver["p"] == f"{binomtest(10, 30).pvalue:.2g}"
    assert (greedy["measured"], greedy["difference"], greedy["only yukon"]) == (
        "greedy", "-20.0", "10"
    )  # fmt: skip
    assert_repeatable(one_rule, [tmp_path], tmp_path / "out")


def test_undecided_deals_weaken_a_comparison(tmp_path: Path) -> None:
    write_study(tmp_path, "yukon", [LOST] * 40 + [OPEN] * 10 + [WON] * 50)
    write_study(tmp_path, "moosehide", [WON] * 20 + [LOST] * 30 + [WON] * 45 + [OPEN] * 5)
    row = table_of(one_rule, [tmp_path], tmp_path / "out")[0]
    assert row["yukon, %"] == "50.0 to 60.0"
    assert row["difference"] == "5.0 to 20.0"
    # At worst 20 deals speak for the change, and 15 against it.
    assert row["p"] == f"{binomtest(15, 35).pvalue:.2g}"


@pytest.mark.parametrize(
    ("keys", "message"), [(["russian"], "compares yukon"), (["yukon"], "some must be there")]
)
def test_there_must_be_something_to_compare(
    keys: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for key in keys:
        write_study(tmp_path, key, [WON])
    with pytest.raises(SystemExit):
        one_rule.main([str(tmp_path)])
    assert message in capsys.readouterr().err


def test_the_changed_games_are_yukon_but_for_their_layout() -> None:
    changed = [
        find_variant(f"{CHANGES}:{n}") for n in ("OPEN", "ODESSA", "QUEENSLAND", "AUSTRALIAN")
    ]
    assert {variant.key for variant in changed} | set(VARIANTS) >= set(one_rule.CHANGES)
    for variant in changed:
        fields = asdict(variant)
        same = {name for name, value in asdict(VARIANTS["yukon"]).items() if fields[name] == value}
        assert same >= {"suits", "up_or_down", "spaces", "redeals", "foundation_return"}
    assert changed[0].up == (1, 6, 7, 8, 9, 10, 11)


# --- Luck and skill --------------------------------------------------------------------------


def test_luck_and_skill(tmp_path: Path) -> None:
    won = np.arange(100)
    write_study(
        tmp_path, "yukon", [WON] * 80 + [OPEN] * 5 + [LOST] * 15,
        {"random": won < 10, "greedy": won < 40, "wizard": (won >= 20) & (won < 82)},
    )  # fmt: skip
    write_study(tmp_path, "russian", [WON] * 50 + [LOST] * 50, {"random": won < 1})
    yukon, russian = table_of(luck, [tmp_path], tmp_path / "out")
    assert yukon["winnable, %"] == "80.0 to 85.0"
    assert yukon["greedy, %"].startswith("40.0 [")
    assert yukon["won most"] == "wizard:x"
    assert yukon["of the winnable, %"].startswith("72.9 to 75.6 [")
    assert yukon["skill"].startswith("52.0 [")
    assert yukon["room"].startswith("18.0 to 23.0 [")
    assert (russian["won most"], russian["greedy, %"]) == ("random:x", "")
    assert_repeatable(luck, [tmp_path], tmp_path / "out")


def test_where_games_are_lost(tmp_path: Path) -> None:
    won = np.arange(10) < 2
    write_study(tmp_path, "yukon", [WON] * 7 + [LOST] * 3, {"greedy": won})
    path = tmp_path / "deals" / "yukon.parquet"
    lost_at = pa.array([None, None, None, 5, 7, 30, -1, 0, 0, 0], pa.int16())
    pq.write_table(pq.read_table(path).append_column("greedy_lost_at", lost_at), path)
    luck.main([str(tmp_path), "--out", str(tmp_path)])
    row = (tmp_path / "luck.md").read_text().rpartition("undecided")[2].split("\n")[2]
    cells = [cell.strip() for cell in row.split("|")[1:-1]]
    assert cells == [
        "`yukon`", "greedy:x", "10", "20.0", "30.0", "30.0", "7", "10.0", "10.0"
    ]  # fmt: skip


def test_agents_are_judged_on_test_deals_only(tmp_path: Path) -> None:
    won = np.arange(100) < 50
    write_study(tmp_path, "yukon", [WON] * 100, {"greedy": won}, first=9_950)
    row = table_of(luck, [tmp_path], tmp_path / "out")[0]
    assert (row["deals"], row["greedy, %"][:5]) == ("9,950-9,999", "100.0")


# --- What predicts a hard deal ---------------------------------------------------------------


def test_a_model_finds_what_decides_and_is_measured_on_held_out_deals(tmp_path: Path) -> None:
    chance = np.random.default_rng(0)
    n, deciding = 2000, [column.name for column in FIGURES].index("suit_crossings")
    figures = chance.integers(0, 20, (len(FIGURES), n))
    # Won when there are few crossings, but for one deal in ten; the agent wins half of these.
    easy = (figures[deciding] < 10) ^ (chance.random(n) < 0.1)
    wins = easy & (chance.random(n) < 0.5)
    write_study(tmp_path, "yukon", np.where(easy, WON, LOST).tolist(), {"random": wins}, figures)
    rows = {row["what"]: row for row in table_of(predict, [tmp_path], tmp_path / "out")}
    assert list(rows) == ["winnable", "random", "states"]
    assert rows["winnable"]["figures"].startswith("-suit_crossings")
    assert (rows["winnable"]["deals"], rows["winnable"]["held out"]) == ("1,500", "500")
    assert 85 < float(rows["winnable"]["accuracy, %"]) < 95
    assert 48 < float(rows["winnable"]["always the commoner, %"]) < 60
    # States rise with the deal number alone, of which no figure tells.
    assert float(rows["states"]["R2"]) < 0.1
    assert_repeatable(predict, [tmp_path], tmp_path / "out")


def test_no_model_of_what_never_varies(tmp_path: Path) -> None:
    write_study(tmp_path, "brisbane", [WON] * 100 + [LOST] * 3)
    rows = table_of(predict, [tmp_path], tmp_path / "out")
    assert [row["what"] for row in rows] == ["states"]


# --- Examples and reasons --------------------------------------------------------------------


def test_examples_are_the_easiest_and_the_hardest(tmp_path: Path) -> None:

    write_study(
        tmp_path, "yukon", [WON, LOST, WON] * 5 + [WON] * 15, {"greedy": np.arange(30) == 2}
    )
    rows = table_of(examples, [tmp_path], tmp_path / "out")
    assert [(row["deal"], row["kind"]) for row in rows] == [
        ("0", "easy"), ("2", "easy"), ("29", "hard"), ("28", "hard"), ("13", "cannot be won")
    ]  # fmt: skip
    assert (rows[1]["won by"], rows[0]["won by"], rows[0]["moves"]) == ("greedy", "", "90")
    assert rows[-1]["reason"] == "the longest proof"


@pytest.mark.parametrize("key", ["yukon", "russian", "russian-relaxed", "alaska", "australian"])
def test_reasons_are_found_where_the_solvers_test_settles_a_deal(key: str) -> None:
    for deal in range(40 if COMPILED else 2):
        settled = solve_deal(VARIANTS[key], deal, max_states=100).stage == "relaxation"
        assert _blocked(_Table.of(Game(key, deal=deal)), frozenset(range(52))) == settled


@pytest.mark.parametrize(
    ("key", "deal"), [("russian", 2), ("odessa", 2), ("queensland", 2), ("alaska", 22)]
)
def test_a_reason_holds_wherever_the_other_cards_lie(key: str, deal: int) -> None:
    game = Game(key, deal=deal)
    cards = find_reason(game)
    assert cards
    assert all(not _blocked(_Table.of(game), cards - {card}) for card in cards)
    chance = np.random.default_rng(0)
    deck = deck_of_deal(deal)
    others = ~np.isin(deck, list(cards))
    for _ in range(20):
        deck[others] = chance.permutation(deck[others])
        assert Game(key, deck=deck).solve().verdict == "unwinnable"


def test_a_reason_is_written_as_the_cards_lie() -> None:
    game = Game("russian", deal=2)
    assert reason_text(game, find_reason(game) or frozenset()) == "column 7: <AS> <6S> <5D> 5S"
    assert find_reason(Game("brisbane", deal=2)) is None
