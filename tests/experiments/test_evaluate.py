"""The commands that measure and explain: evaluate, results, explain, demo, throughput."""

import json
import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from helpers import ONE_MOVE_LEFT

import agents
from agents.files import write_whole
from agents.ranking import Ranker
from experiments import demo, evaluate, explain, results, throughput
from experiments.playing import ROWS, Part, play_parts
from yukon_env import Game
from yukon_env.evaluation import Evaluation
from yukon_env.evaluation import evaluate as play

ROOT = Path(__file__).parents[2]


def parts_of(agent: str, deals: range, size: int, seed: int = 0) -> list[Part]:
    return [
        Part(agent, "russian", first, min(first + size, deals.stop), seed, 200, False)
        for first in range(deals.start, deals.stop, size)
    ]


def assert_same_games(left: Evaluation, right: Evaluation) -> None:
    for name in ROWS:
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name), name)


# --------------------------------------------------------------------------------------------
# Parts
# --------------------------------------------------------------------------------------------


def test_processes_change_nothing(tmp_path):
    parts = parts_of("random", range(70), 20)
    one = play_parts(parts, tmp_path / "one", 1, lambda games: None)
    told: list[int] = []
    two = play_parts(parts, tmp_path / "two", 2, told.append)
    assert_same_games(one, two)
    assert sum(told) == len(one.won) == 70
    assert one.deals.tolist() == list(range(70))


def test_parts_of_a_player_that_draws_nothing_are_the_whole(tmp_path):
    parted = play_parts(
        parts_of("greedy:russian", range(5, 50), 7), tmp_path, 1, lambda games: None
    )
    assert_same_games(parted, play(agents.load("greedy:russian"), "russian", range(5, 50)))


def test_parts_draw_apart():
    """No part repeats the draws of another: its seed is the run's plus its first deal."""
    _, second = (part.play() for part in parts_of("random", range(10), 5, seed=3))
    expected = play(agents.load("random", 8), "russian", range(5, 10))
    assert_same_games(second, expected)


def test_a_killed_run_plays_only_what_is_missing(tmp_path, monkeypatch):
    parts = parts_of("random", range(60), 20)
    whole = play_parts(parts, tmp_path / "whole", 1, lambda games: None)
    played: list[int] = []
    original = Part.play

    def play_two(part, progress=lambda games: None):
        if len(played) == 2:
            raise KeyboardInterrupt
        played.append(part.first)
        return original(part, progress)

    monkeypatch.setattr(Part, "play", play_two)
    with pytest.raises(KeyboardInterrupt):
        play_parts(parts, tmp_path / "killed", 1, lambda games: None)
    played.clear()
    resumed = play_parts(parts, tmp_path / "killed", 1, lambda games: None)
    assert played == [40]
    assert_same_games(resumed, whole)


@pytest.mark.parametrize(
    "change", [{"seed": 1}, {"agent": "greedy:russian"}, {"max_moves": 9}, {"allow_repeats": True}]
)
def test_parts_of_other_runs_are_not_taken(change, tmp_path):
    part = Part("random", "russian", 0, 10, 0, 200, False)
    other = Part(**{**part.__dict__, **change})
    assert part.file(tmp_path) != other.file(tmp_path)


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def fail(file):
        file.write(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(path, fail)
    assert path.read_text() == "old"


# --------------------------------------------------------------------------------------------
# evaluate
# --------------------------------------------------------------------------------------------


def run_evaluate(tmp_path: Path, *arguments: str) -> None:
    evaluate.main(["--variant", "russian", "--runs", str(tmp_path / "runs"), *arguments])


@pytest.mark.parametrize("suffix", ["json", "parquet"])
def test_evaluate_prints_and_keeps(suffix, tmp_path, capsys):
    out = tmp_path / f"rows.{suffix}"
    run_evaluate(
        tmp_path, "--agents", "random", "greedy:russian", "--deals", "0-29", "--out", str(out),
        "--part", "10",
    )  # fmt: skip
    text = capsys.readouterr().out
    assert "Russian Solitaire, deals 0-29 (30), at most 200 moves" in text
    assert "random - greedy:russian" in text
    assert re.search(r"Seed 0; Python 3.*numpy.*commit", text)
    if suffix == "json":
        kept = json.loads(out.read_text())
        about, columns = kept["about"], kept["columns"]
    else:
        table = pq.read_table(out)
        about, columns = json.loads(table.schema.metadata[b"about"]), table.to_pydict()
    assert about["deals"] == [0, 30]
    assert about["variant"] == "russian"
    assert "numpy" in about["packages"]
    assert columns["agent"] == ["random"] * 30 + ["greedy:russian"] * 30
    assert columns["deal"] == [*range(30), *range(30)]
    expected = play(agents.load("greedy:russian"), "russian", range(30))
    assert columns["won"][30:] == expected.won.tolist()
    assert not list((tmp_path / "runs").iterdir()), "parts of a finished run are left"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--agents", "random", "random"], "named twice"),
        (["--agents", "genius"], "unknown agent"),
        (["--agents", "random", "--deals", "9-3"], "ends before it starts"),
        (["--agents", "random", "--deals", "train"], "is not test, validation"),
        (["--agents", "random", "--jobs", "0"], "no whole number above 0"),
        (["--agents", "random", "--part", "x"], "no whole number above 0"),
        (["--agents", "random", "--seed", "-1"], "at least 0"),
        (["--agents", "random", "--out", "rows.csv"], "must end in"),
        (["--agents", "random", "--out", "no/such/rows.json"], "no folder"),
    ],
)
def test_bad_command_lines_are_refused(arguments, message, tmp_path, capsys):
    with pytest.raises(SystemExit):
        run_evaluate(tmp_path, *arguments)
    assert message in capsys.readouterr().err


# --------------------------------------------------------------------------------------------
# results
# --------------------------------------------------------------------------------------------


def test_results_are_recorded_and_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(results, "FOLDER", tmp_path / "results")
    names = ["random", "greedy:russian"]
    run_evaluate(tmp_path, "--record", "--agents", *names, "--deals", "0-29")
    run_evaluate(tmp_path, "--record", "--agents", "greedy:australian", "--deals", "10-29")
    assert (tmp_path / "results/russian/greedy-russian.json").stat().st_size < 5000
    records = results.read_records(tmp_path / "results")
    assert [item.agent for item in records] == ["greedy:australian", "greedy:russian", "random"]
    expected = play(agents.load("greedy:russian"), "russian", range(30))
    np.testing.assert_array_equal(records[1].won, expected.won)
    other = play(agents.load("greedy:australian"), "russian", range(10, 30))
    points = 100 * (other.won.mean() - expected.won[10:].mean())
    assert records[0].compare(records[1]).startswith(f"{points:+.1f} (p = ")
    assert records[1].compare(records[0]) == ""
    text = results.tables(records)
    assert "| `russian` |" in text
    assert "| `greedy:australian` | 10-29" in text


def test_the_tables_go_between_the_marks(tmp_path, capsys):
    file = tmp_path / "page.md"
    file.write_text(f"before\n{results.START}\nold\n{results.END}\nafter\n")
    results.main(["--write", str(file)])
    results.main([])
    printed = capsys.readouterr().out.strip()
    assert file.read_text() == (f"before\n{results.START}\n\n{printed}\n\n{results.END}\nafter\n")
    file.write_text("no marks")
    with pytest.raises(SystemExit, match="no marks"):
        results.main(["--write", str(file)])


def test_the_readme_holds_what_is_printed():
    text = (ROOT / "README.md").read_text()
    assert results.put_between_marks(text, results.tables(results.read_records())) == text


# --------------------------------------------------------------------------------------------
# explain
# --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["random", "greedy:yukon", "sampled-worlds:yukon,worlds=4,solved=2"]
)
def test_a_move_is_explained(name, capsys):
    explain.main(["--agent", name, "--deal", "17", "--move", "2", "--seed", "5"])
    text = capsys.readouterr().out
    agent, game = agents.load(name, 5), Game("yukon", deal=17)
    for _ in range(2):
        game.play(int(agent.act(game.observation()[None], game.action_mask()[None])[0]))
    assert str(game) in text
    for move in game.legal_moves():
        assert str(move) in text
    if name != "random":
        best = re.search(r"^  1\. (.*?)  ", text, re.MULTILINE)
        assert best is not None
        assert f"It plays {best[1].strip()}." in text


def test_a_board_is_explained(tmp_path, capsys):
    file = tmp_path / "board.txt"
    file.write_text(ONE_MOVE_LEFT)
    explain.main(["--agent", "greedy:yukon", "--board", str(file)])
    assert "It plays KS>foundation." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--agent", "genius", "--deal", "1"], "unknown agent"),
        (["--agent", "random", "--deal", "-1"], "deal number"),
        (["--agent", "random", "--board", "nowhere.txt"], "nowhere.txt"),
        (["--agent", "random", "--variant", "russian", "--deal", "1", "--move", "900"], "is over"),
    ],
)
def test_what_cannot_be_explained_is_an_error(arguments, message):
    with pytest.raises(SystemExit, match=message):
        explain.main(arguments)


def test_the_parts_of_a_greedy_score_add_up():
    agent, game = agents.load("greedy:yukon"), Game("yukon", deal=3)
    assert isinstance(agent, Ranker)
    ranking = agent.rank(game.observation(), game.action_mask())
    scores = [move.numbers["score"] for move in ranking]
    assert scores == sorted(scores, reverse=True)
    for move in ranking:
        score, *parts = move.numbers.values()
        assert score == pytest.approx(sum(parts), abs=1e-4)


# --------------------------------------------------------------------------------------------
# demo and throughput
# --------------------------------------------------------------------------------------------


def test_the_demo_runs_its_two_commands(tmp_path, monkeypatch, capsys):
    commands: list[tuple[str, ...]] = []

    def run(experiment: str, *arguments: str, capture: bool = False) -> str:
        commands.append((experiment, *arguments))
        return "| a table |" if capture else ""

    monkeypatch.setattr(demo, "run", run)
    demo.main(["--variant", "russian", "--deals", "0-9", "--out", str(tmp_path)])
    assert [command[0] for command in commands] == ["train", "evaluate"]
    assert commands[1][-2:] == ("--out", str(tmp_path / "evaluation.parquet"))
    assert evaluate.make_parser().parse_args(commands[1][1:]).deals == range(10)
    assert (tmp_path / "evaluation.md").read_text() == "| a table |"
    assert str(tmp_path) in capsys.readouterr().out


def test_throughput_prints_and_keeps(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(throughput, "REPETITIONS", 1)
    monkeypatch.setattr(throughput, "measure_start", lambda: {"import yukon_env": 0.25})
    out = tmp_path / "speed.json"
    throughput.main(["--seconds", "0.01", "--num-envs", "8", "--out", str(out)])
    text = capsys.readouterr().out
    kept = json.loads(out.read_text())
    assert kept["variant"] == "yukon"
    assert kept["seconds"]["import yukon_env"] == 0.25
    assert kept["steps_per_second"]["YukonEnv, unwrapped"] > 0
    for name in (*kept["steps_per_second"], *kept["seconds"]):
        assert name in text
