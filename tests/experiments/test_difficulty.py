"""The difficulty study: measured deals, killed and resumed runs, engines, reading, choosing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from helpers import COMPILED, KEYS, STOCK_KEYS
from rulebook import card_text

import agents
from experiments.difficulty.__main__ import main
from experiments.difficulty.errors import StudyError
from experiments.difficulty.figures import describe_deals
from experiments.difficulty.measures import UNDECIDED, Player, Solver, moves_until_lost
from experiments.difficulty.schema import AGENT, FIGURES, LOST_AT, SOLVER
from experiments.difficulty.schema import KEYS as KEY_COLUMNS
from experiments.difficulty.select import curriculum, winnable
from experiments.difficulty.select import main as select_main
from experiments.difficulty.store import ABOUT, Store, chunks_of
from experiments.difficulty.tables import Verdicts, read_file, read_folders, read_verdicts
from experiments.evaluate import main as evaluate_main
from yukon_env import Game, YukonEnv
from yukon_env.evaluation import evaluate
from yukon_env.stats import wilson_interval
from yukon_env.variants import VARIANTS

ROOT = Path(__file__).parents[2]
OWN = """
from yukon_env import Variant

MINE = Variant("mine", "Mine", hidden=(0,) * 7, up=(1, 6, 7, 8, 9, 10, 11), suits="same")
TAKEN = Variant("yukon", "Mine", hidden=(0,) * 7, up=(1, 6, 7, 8, 9, 10, 11), suits="same")
OTHER = 7
"""
# Several chunks of deals; as few as can be where the kernels run as plain Python.
DEALS = range(250) if COMPILED else range(96, 106)
SMALL = ["--variants", "russian", "--agents", "random", "greedy:{variant}"]
FIRST = f"{DEALS[0]}-99"
SMALL += ["--deals", f"{DEALS[0]}-{DEALS[-1]}"]


def study(out: Path, *arguments: Any) -> Path:
    main([str(argument) for argument in (*arguments, "--out", out)])
    return out


def dataset(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "deals").iterdir()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that nothing has disturbed, measured by one process."""
    return study(tmp_path_factory.mktemp("study") / "whole", *SMALL, "--workers", 1)


# --- The dataset -----------------------------------------------------------------------------


def test_a_row_per_deal_with_documented_columns(whole: Path) -> None:
    table = pq.read_table(whole / "deals" / "russian.parquet")
    assert table["deal"].to_pylist() == list(DEALS)
    assert set(table["variant"].to_pylist()) == {"russian"}
    documented = [column.name for column in (*KEY_COLUMNS, *FIGURES, *SOLVER)]
    documented += [label + column.name for label in ("random", "greedy") for column in AGENT]
    expected = [name for name in documented if not name.endswith("_seconds")]
    assert table.column_names == expected
    assert all(field.metadata[b"description"] for field in table.schema)
    times = pq.read_table(whole / "seconds" / "russian.parquet")
    assert times.column_names == [
        "variant", "deal", "solver_seconds", "random_seconds", "greedy_seconds"
    ]  # fmt: skip
    assert times["deal"].equals(table["deal"])
    assert min(times["solver_seconds"].to_pylist()) > 0
    about = json.loads((whole / "run.json").read_text())
    assert about[0]["deals"] == [DEALS.start, DEALS.stop]
    assert "numba" in about[0]["packages"]


def test_rows_say_what_solver_and_agents_do(whole: Path) -> None:
    deals = read_folders([whole])["russian"]
    assert deals.variant == VARIANTS["russian"]
    assert deals.agents == {"random": "random", "greedy": "greedy:russian"}
    played = evaluate(agents.load("greedy:russian"), "russian", DEALS)
    for field in ("won", "moves", "cards_up", "hidden"):
        assert (deals.column(f"greedy_{field}") == getattr(played, field)).all()
    for index in (0, 5, -1):
        result = Game("russian", deal=DEALS[index]).solve()
        row = {name: deals.table[name][index].as_py() for name in deals.table.column_names}
        assert row["solver_verdict"] == result.verdict
        assert row["solver_states"] == result.states
        assert row["solver_stage"] == result.stage
        assert row["solver_length"] == (len(result.moves) or None)


def test_a_variant_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(OWN)
    folder = study(
        tmp_path / "study", "--variants", f"{file}:MINE", "--deals", "5-7", "--agents",
        "random", "other=greedy:russian", "--workers", 1,
    )  # fmt: skip
    deals = read_folders([folder])["mine"]
    assert deals.variant.hidden == (0,) * 7
    assert deals.agents == {"random": "random", "other": "greedy:russian"}
    assert deals.deals.tolist() == [5, 6, 7]
    said = Game(deals.variant, deal=6).solve().verdict
    assert deals.column("solver_verdict")[1] == said


def test_more_deals_and_agents_share_what_is_measured(whole: Path, tmp_path: Path) -> None:
    folder = study(tmp_path / "study", "--variants", "russian", "--deals", FIRST, "--workers", 1)
    parts = folder / "parts" / "russian" / "solver"
    first = (parts / f"{FIRST}.parquet").stat()
    study(folder, *SMALL, "--workers", 1)
    assert dataset(folder) == dataset(whole)
    assert (parts / f"{FIRST}.parquet").stat().st_mtime_ns == first.st_mtime_ns


def test_chunks_end_at_the_same_deals_whatever_the_range() -> None:
    assert chunks_of(range(50, 250)) == [range(50, 100), range(100, 200), range(200, 250)]
    assert chunks_of(range(100, 101)) == [range(100, 101)]
    assert set(chunks_of(range(300))) <= set(chunks_of(range(1000)))


# --- Figures ---------------------------------------------------------------------------------


@pytest.mark.parametrize("key", KEYS)
def test_figures_count_what_lies_on_the_table(key: str) -> None:
    figures = describe_deals(VARIANTS[key], range(20))
    assert list(figures) == [column.name for column in FIGURES]
    for deal in range(20):
        counted = count_plainly(Game(key, deal=deal))
        assert {name: int(figures[name][deal]) for name in figures} == counted


def count_plainly(game: Game) -> dict[str, int]:
    """The figures of a deal, one after the other, from the board."""
    board, variant = game.board, game.variant
    moves = [str(move) for move in game.legal_moves()]
    hidden_after = []
    for move in game.legal_moves():
        after = game.copy()
        after.play(move)
        hidden_after.append(sum(after.board.hidden))
    seen = [
        c for column, down in zip(board.columns, board.hidden, strict=True) for c in column[down:]
    ]
    where = {card: number for number, column in enumerate(board.columns) for card in column}
    depth = {card: index for index, card in enumerate(board.stock)}
    beneath = dict.fromkeys(board.stock, 0)
    pairs, joined = [], 0
    hidden: list[int] = []
    for column, down in zip(board.columns, board.hidden, strict=True):
        hidden += column[:down]
        for place, card in enumerate(column):
            depth[card], beneath[card] = len(column) - 1 - place, place
            pairs += [(card, other) for other in column[place + 1 :]]
            if place > down:
                joined += variant.may_lie_on(card, column[place - 1])
    crossings = [(low, high) for low, high in pairs if low // 13 == high // 13 and low < high]
    aces, twos, kings = ([suit * 13 + rank for suit in range(4)] for rank in (0, 1, 12))
    return {
        "start_moves": len(moves),
        "start_ups": sum(move.endswith("foundation") for move in moves),
        "start_turns": sum(left < sum(board.hidden) for left in hidden_after),
        "hidden_low": sum(card_text(card)[0] in "A23" for card in hidden),
        "hidden_kings": sum(card_text(card)[0] == "K" for card in hidden),
        "hidden_ranks": sum(card % 13 for card in hidden),
        "stock_low": sum(card_text(card)[0] in "A23" for card in board.stock),
        "aces_depth": sum(depth[card] for card in aces),
        "deepest_ace": max(depth[card] for card in aces),
        "twos_depth": sum(depth[card] for card in twos),
        "kings_depth": sum(beneath[card] for card in kings),
        "suit_crossings": len(crossings),
        "parents_above": sum(variant.may_lie_on(low, high) for low, high in pairs),
        "children_above": sum(variant.may_lie_on(high, low) for low, high in pairs),
        "places_hidden": sum(variant.may_lie_on(card, place) for card in seen for place in hidden),
        "places_open": sum(
            variant.may_lie_on(card, place) and where[card] != where[place]
            for card in seen
            for place in seen
        ),
        "joined": joined,
        "own_suit_high": sum(low % 13 <= 1 for low, _ in crossings),
    }


# --- When a game was lost --------------------------------------------------------------------


TRIED = range(100, 200) if COMPILED else range(103, 106)


def test_when_a_game_became_unwinnable() -> None:
    variant = VARIANTS["russian"]
    player = Player("greedy", "greedy:russian", max_moves=200, lost_at=100_000)
    assert player.columns[-1].name == "greedy" + LOST_AT.name
    columns = player.measure(variant, TRIED)
    verdicts = Solver(100_000).measure(variant, TRIED)["solver_verdict"]
    lost_later = 0
    for index, deal in enumerate(TRIED):
        lost_at = columns["greedy_lost_at"][index]
        if columns["greedy_won"][index]:
            assert lost_at is None
        elif verdicts[index] == "unwinnable":
            assert lost_at == 0
        else:
            assert lost_at is None or 1 <= lost_at <= columns["greedy_moves"][index]
            lost_later += lost_at is not None
            line = replay(deal, columns["greedy_moves"][index])
            if lost_at is not None:
                around = line[lost_at - 1 : lost_at + 1]
                assert [game.solve().verdict for game in around] == ["winnable", "unwinnable"]
    assert lost_later > 0 or not COMPILED


def replay(deal: int, n_moves: int) -> list[Game]:
    """The positions of a game of the greedy agent, played alone."""
    game, agent = Game("russian", deal=deal), agents.load("greedy:russian")
    positions = [game.copy()]
    keys = {game.key}
    for _ in range(n_moves):
        mask = game.action_mask()
        for move in game.legal_moves():
            after = game.copy()
            after.play(move)
            mask[move] = after.key not in keys
        game.play(int(agent.act(game.observation()[np.newaxis], mask[np.newaxis])[0]))
        keys.add(game.key)
        positions.append(game.copy())
    return positions


def test_a_question_left_open_is_told_apart() -> None:
    variant = VARIANTS["yukon"]
    line = [int(move) for move in Game(variant, deal=1).legal_moves()[:1]]
    assert moves_until_lost(variant, 1, line, max_states=1) == UNDECIDED


# --- Killed and resumed; one process, two, Ray -----------------------------------------------


def test_a_killed_run_goes_on_and_ends_the_same(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "killed"
    command = [sys.executable, "-m", "experiments.difficulty", *SMALL, "--out", str(folder)]
    process = subprocess.Popen([*command, "--workers", "1"], cwd=ROOT, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while len(parts := list(folder.glob("parts/*/*/*.parquet"))) < 3:
        assert process.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not (folder / "deals").exists()
    times = {part: part.stat().st_mtime_ns for part in parts}
    # What a kill in the middle of writing leaves behind.
    for name in ("200-249.parquet.part", f"100-{DEALS[-1]}.parquet.part"):
        (folder / "parts" / "russian" / "solver" / name).write_bytes(b"PAR1 half a chunk")
    study(folder, *SMALL, "--workers", 1)
    assert dataset(folder) == dataset(whole)
    assert all(part.stat().st_mtime_ns == times[part] for part in times)


def test_two_workers_equal_one(whole: Path, tmp_path: Path) -> None:
    assert dataset(study(tmp_path / "two", *SMALL, "--workers", 2)) == dataset(whole)


@pytest.mark.slow
def test_ray_equals_joblib(whole: Path, tmp_path: Path) -> None:
    pytest.importorskip("ray")
    folder = study(tmp_path / "ray", *SMALL, "--workers", 2, "--cluster", "local")
    assert dataset(folder) == dataset(whole)


# --- What is refused -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--variants", "klondike"], "unknown variant 'klondike'"),
        (["--variants", "yukon", "yukon"], "yukon is asked for twice"),
        (["--variants", "mine.py:NONE"], "no Variant by the name of NONE"),
        (["--variants", "mine.py:OTHER"], "no Variant by the name of OTHER"),
        (["--variants", "mine.py:TAKEN"], "the key of another game"),
        (["--variants", "absent.py:MINE"], "no file absent.py"),
        (["--variants", "yukon", "--agents", "wizard"], "unknown agent 'wizard'"),
        (["--variants", "mine.py:MINE", "--agents", "greedy:{variant}"], "'mine'"),
        (["--variants", "yukon", "--agents", "greedy:yukon", "greedy:russian"], "labels"),
        (["--variants", "yukon", "--deals", "9-3"], "ends before it starts"),
        (["--variants", "yukon", "--workers", "0"], "no whole number above 0"),
        (["--variants", "russian", "--deals", "0-9", "--max-states", "5"], "max_states = "),
    ],
)
def test_bad_command_lines(
    arguments: Sequence[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(OWN)
    if "--max-states" in arguments:
        study(tmp_path / "out", "--variants", "russian", "--deals", "0-9", "--workers", 1)
    with pytest.raises(SystemExit):
        main([*arguments, "--out", "out"])
    assert message in capsys.readouterr().err


def test_two_commands_do_not_write_to_one_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store(tmp_path).locked(), pytest.raises(SystemExit):
        study(tmp_path, "--variants", "russian", "--deals", "0-1")
    assert "another command is writing" in capsys.readouterr().err


def with_version(source: Path, target: Path, version: int) -> Path:
    table = pq.read_table(source)
    about = json.loads(table.schema.metadata[ABOUT]) | {"version": version}
    pq.write_table(table.replace_schema_metadata({ABOUT: json.dumps(about)}), target)
    return target


def test_a_dataset_of_another_version_is_refused(whole: Path, tmp_path: Path) -> None:
    source = whole / "deals" / "russian.parquet"
    for version in (0, 99):
        old = with_version(source, tmp_path / "old.parquet", version)
        with pytest.raises(StudyError, match=f"holds version {version} of the columns"):
            read_file(old)
    (tmp_path / "text.parquet").write_text("no table")
    with pytest.raises(StudyError, match="cannot be read"):
        read_file(tmp_path / "text.parquet")
    pq.write_table(pq.read_table(source).replace_schema_metadata({}), tmp_path / "other.parquet")
    with pytest.raises(StudyError, match="not written by"):
        read_file(tmp_path / "other.parquet")
    with pytest.raises(StudyError, match="holds no dataset"):
        read_folders([tmp_path])


def test_parts_of_another_version_are_not_gone_on_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--variants", "russian", "--deals", "0-9", "--workers", 1]
    folder = study(tmp_path / "old", *arguments)
    settings = folder / "parts" / "russian" / "solver" / "settings.json"
    settings.write_text(settings.read_text().replace('"version": 1', '"version": 0'))
    with pytest.raises(SystemExit):
        study(folder, *arguments)
    assert "holds version 0 of the columns" in capsys.readouterr().err


def test_a_win_of_what_cannot_be_won_is_an_error(whole: Path, tmp_path: Path) -> None:
    table = pq.read_table(whole / "deals" / "russian.parquet")
    place = table.column_names.index("greedy_won")
    won = np.ones(len(table), bool)
    table = table.set_column(place, table.schema.field(place), [won])
    pq.write_table(table, tmp_path / "wrong.parquet")
    with pytest.raises(StudyError, match=r"greedy won deal .* cannot be won"):
        read_file(tmp_path / "wrong.parquet")


# --- Choosing deals --------------------------------------------------------------------------


def test_deals_that_can_be_won_make_a_pool(whole: Path, tmp_path: Path) -> None:
    verdicts = read_verdicts(whole, VARIANTS["russian"])
    deals = winnable(verdicts).deals
    assert 0 < len(deals) < len(DEALS) / 5
    assert all(Game("russian", deal=int(deal)).solve().verdict == "winnable" for deal in deals)
    file = tmp_path / "winnable.txt"
    select_main([str(whole), "--variant", "russian", "--out", str(file)])
    env = YukonEnv("russian", deals=file)
    drawn = {env.reset(seed=seed)[1]["deal"] for seed in range(200)}
    assert drawn <= set(deals.tolist())
    # The dataset itself is a pool, too: of all its deals.
    assert YukonEnv("russian", deals=whole / "deals" / "russian.parquet").reset(seed=1)


def test_a_curriculum_goes_from_easy_to_hard(whole: Path, tmp_path: Path) -> None:
    verdicts = read_verdicts(whole / "deals" / "russian.parquet", VARIANTS["russian"])
    n_levels = min(3, len(winnable(verdicts).deals))
    levels = curriculum(verdicts, n_levels)
    assert sorted(np.concatenate(levels)) == winnable(verdicts).deals.tolist()
    states = [verdicts.of_deals(level).states for level in levels]
    assert all(easy.max() <= hard.min() for easy, hard in pairwise(states))
    file = tmp_path / "level.txt"
    arguments = ["--variant", "russian", "--levels", str(n_levels), "--out", str(file)]
    select_main([str(whole), *arguments])
    assert (tmp_path / f"level-{n_levels}.txt").read_text().split() == [
        str(deal) for deal in levels[-1]
    ]
    with pytest.raises(StudyError, match="do not make 1000 levels"):
        curriculum(verdicts, 1000)
    middle = winnable(verdicts, int(states[-1].min()), int(states[-1].max()))
    assert set(levels[-1]) <= set(middle.deals)


def test_verdicts_of_chosen_deals() -> None:
    said = Verdicts(*(np.array(values) for values in ([3, 5, 9], [1, 0, 1], [0, 1, 0], [7, 8, 9])))
    assert said.of_deals(np.array([9, 3])).states.tolist() == [9, 7]
    for missing in (4, 10):
        with pytest.raises(StudyError, match=f"no verdict for deal {missing}"):
            said.of_deals(np.array([3, missing]))


def test_the_share_won_of_what_can_be_won() -> None:
    winnable, undecided = np.arange(100) < 60, np.arange(100) >= 90
    verdicts = Verdicts(np.arange(100), winnable, undecided, np.arange(100))
    # 30 of the 60, and 4 of the 10 undecided ones, which are so shown to be winnable.
    won = (np.arange(100) < 30) | (np.arange(100) >= 96)
    assert verdicts.share_won(won) == pytest.approx(
        (34 / 70, 34 / 64, wilson_interval(34, 70)[0], wilson_interval(34, 64)[1])
    )
    assert Verdicts(*(np.zeros(3, bool) for _ in range(4))).share_won(np.zeros(3, bool)) is None


def test_evaluation_among_the_deals_that_can_be_won(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [
        "--variant", "russian", "--agents", "greedy:russian", "--runs", str(tmp_path),
        "--deals", f"{DEALS[0]}-{DEALS[-1]}", "--verdicts", str(whole),
    ]  # fmt: skip
    evaluate_main(arguments)
    deals = read_folders([whole])["russian"]
    wins, winnable = deals.column("greedy_won").sum(), deals.verdicts.winnable.sum()
    output = capsys.readouterr().out
    assert f"{winnable} of {len(DEALS)} deals can be won, 0 are undecided" in output
    assert f"{100 * wins / winnable:.1f} %" in output.partition("can be won")[2]
    with pytest.raises(SystemExit):
        evaluate_main([*arguments, "--deals", "999"])
    assert "no verdict for deal 999" in capsys.readouterr().err


def test_verdicts_of_another_game_are_refused(whole: Path) -> None:
    with pytest.raises(StudyError, match="is about russian, not yukon"):
        read_verdicts(whole / "deals" / "russian.parquet", VARIANTS["yukon"])


def test_the_waste_counts_cards_dealt_before() -> None:
    for key in STOCK_KEYS:
        figures = describe_deals(VARIANTS[key], range(50))
        assert figures["aces_depth"].max() > 30
