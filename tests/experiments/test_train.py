"""Training runs from the command line, is killed, and goes on."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from agents.ppo import PPOAgent
from experiments.train import TrainConfig, main
from yukon_env.evaluation import evaluate

ROOT = Path(__file__).parents[2]
SMALL = [
    "--envs", "16", "--horizon", "16", "--batch-size", "128", "--width", "16",
    "--validation-deals", "10", "--threads", "1",
]  # fmt: skip


def train(*arguments: object) -> Path:
    return main([str(argument) for argument in arguments])


def curve_of(folder: Path) -> dict:
    return json.loads((folder / "learning_curve.json").read_text())


def test_a_run_of_some_seconds_leaves_all_its_results(tmp_path, capsys):
    folder = train("--seconds", 3, "--checkpoint-seconds", 1, *SMALL, "--out", tmp_path / "run")
    assert folder == tmp_path / "run"
    about = json.loads((folder / "run.json").read_text())
    assert about["variant"] == "yukon"
    assert about["seed"] == 0
    assert about["deals"] == {"train": [20_000, 2**63 - 1], "validation": [10_000, 10_009]}
    assert about["config"]["seconds"] == 3
    assert "torch" in about["packages"]
    curve = curve_of(folder)
    assert 3 <= curve["seconds"] < 10
    assert len(curve["validation"]) >= 3
    assert (folder / "learning_curve.png").read_bytes().startswith(b"\x89PNG")
    assert list((folder / "tensorboard").glob("events.*"))
    assert not list(folder.glob("*.part"))
    assert str(folder) in capsys.readouterr().out
    result = evaluate(PPOAgent.load(folder / "model.pt"), "yukon", range(10_000, 10_010))
    assert result.won.sum() == curve["validation"][-1][2]


def test_a_killed_run_goes_on_as_if_nothing_had_happened(tmp_path):
    limits = ["--steps", "5000", "--seconds", "0", "--variant", "russian", *SMALL]
    killed = start_and_kill(tmp_path / "killed", ["--checkpoint-seconds", "0", *limits])
    steps = curve_of(killed)["steps"]
    assert 0 < steps < 5000
    train("--resume", killed)
    whole = train("--out", tmp_path / "whole", *limits)
    resumed_curve, whole_curve = curve_of(killed), curve_of(whole)
    assert resumed_curve["steps"] == whole_curve["steps"] >= 5000
    without_time = [
        [point[1:] for point in curve["training"]] for curve in (resumed_curve, whole_curve)
    ]
    assert without_time[0] == without_time[1]
    weights, expected = (
        PPOAgent.load(folder / "model.pt").network.state_dict() for folder in (killed, whole)
    )
    torch.testing.assert_close(weights, expected)
    assert len(json.loads((killed / "run.json").read_text())["resumed"]) == 1


def start_and_kill(folder: Path, arguments: list[str]) -> Path:
    """Starts a run in a process of its own, and kills it when it has trained and kept some."""
    command = [sys.executable, "-m", "experiments.train", "--out", str(folder), *arguments]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    try:
        while not has_trained(folder):
            assert process.poll() is None, "training ended before it could be killed"
            assert time.monotonic() < deadline, "training wrote no checkpoint"
            time.sleep(0.01)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    return folder


def has_trained(folder: Path) -> bool:
    return (folder / "checkpoint.pkl").exists() and curve_of(folder)["steps"] > 0


def test_a_finished_run_can_be_made_longer(tmp_path):
    folder = train("--steps", 300, "--seconds", 0, *SMALL, "--out", tmp_path / "run")
    before = curve_of(folder)["steps"]
    train("--resume", folder, "--steps", 1000)
    assert before < 1000 <= curve_of(folder)["steps"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--resume", "nowhere"], "no run folder"),
        (["--variant", "klondike"], "known are yukon"),
        (["--seconds", "0"], "give a limit"),
        (["--envs", "0"], "envs must be at least 1"),
        (["--validation-deals", "20000"], "validation_deals must be 1 to 10000"),
        (["--gamma", "1.5"], "gamma must be 0 to 1"),
        (["--envs", "3", "--horizon", "3", "--batch-size", "4"], "leave a batch of 1"),
        (["--out", "taken"], "holds a run already"),
        (["--resume", "taken", "--gamma", "0.5"], "keeps its gamma"),
    ],
)
def test_bad_command_lines_are_refused(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "run.json").write_text("{}")
    with pytest.raises(SystemExit, match=message):
        main(arguments)


def test_a_damaged_checkpoint_is_refused(tmp_path):
    folder = train("--steps", 300, "--seconds", 0, *SMALL, "--out", tmp_path / "run")
    (folder / "checkpoint.pkl").write_bytes(b"half a check")
    with pytest.raises(SystemExit, match="is damaged"):
        train("--resume", folder, "--steps", 1000)


def test_help_names_every_option(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    for option in TrainConfig.__dataclass_fields__:
        assert "--" + option.replace("_", "-") in text
