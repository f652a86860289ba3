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

from agents import load
from agents.policy import PolicyAgent
from experiments.runs import RunError
from experiments.train import main
from experiments.training.config import PolicyConfig
from experiments.training.ppo import PPOConfig
from experiments.training.recipes import KINDS, options_of, read_recipe, recipe_names
from yukon_env.evaluation import evaluate

ROOT = Path(__file__).parents[2]
SMALL = [
    "--envs", "16", "--horizon", "16", "--batch-size", "128", "--width", "16",
    "--validation-deals", "10", "--threads", "1", "--pool", "20",
]  # fmt: skip

# Recipes that make a player.
POLICIES = [
    name for name in recipe_names() if isinstance(read_recipe(name, {})[-1].config, PolicyConfig)
]


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
    assert about["recipe"] == "ppo-moves"
    assert about["stages"][0]["config"]["seconds"] == 3
    assert "torch" in about["packages"]
    curve = curve_of(folder)
    assert 3 <= curve["seconds"] < 10
    assert len(curve["validation"]["yukon"]) >= 3
    assert (folder / "learning_curve.png").read_bytes().startswith(b"\x89PNG")
    assert list((folder / "tensorboard").glob("events.*"))
    assert not list(folder.glob("*.part"))
    assert str(folder) in capsys.readouterr().out
    result = evaluate(PolicyAgent.load(folder / "model.pt"), "yukon", range(10_000, 10_010))
    assert result.won.sum() == curve["validation"]["yukon"][-1][2]


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
        PolicyAgent.load(folder / "model.pt").network.state_dict() for folder in (killed, whole)
    )
    torch.testing.assert_close(weights, expected)
    assert len(json.loads((killed / "run.json").read_text())["resumed"]) == 1


def start_and_kill(folder: Path, arguments: list[str], stage: str = ".") -> Path:
    """Starts a run in a process of its own, and kills it when it has trained and kept some.

    Args:
        folder: The run folder.
        arguments: The command line.
        stage: The folder, in it, of the stage to kill.
    """
    command = [sys.executable, "-m", "experiments.train", "--out", str(folder), *arguments]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    try:
        while not has_trained(folder / stage):
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
        (["--recipe", "clone-nobody"], "unknown recipe 'clone-nobody'; known are clone-planner"),
        (["--recipe", "clone-solver", "--gamma", "1"], "clone-solver has no option gamma"),
        (["--recipe", "clone-planner", "--teacher", "deep-blue"], "unknown agent 'deep-blue'"),
        (["--recipe", "clone-planner", "--player", "deep-blue"], "unknown agent 'deep-blue'"),
        (["--recipe", "clone-planner", "--teacher", "itself"], "a teacher is solver, verdicts or"),
        (["--recipe", "clone-planner", "--teacher", "teacher"], "a teacher is solver, verdicts or"),
        (["--recipe", "clone-solver", "--player", "solver"], "a player is teacher, itself or"),
        (["--recipe", "verdicts", "--player", "verdicts"], "a player is teacher, itself or"),
        (["--recipe", "clone-solver", "--player", "itself"], "the solver decides in its own"),
        (["--recipe", "verdicts", "--player", "teacher"], "verdicts do not play: give a player"),
        (["--variant", "yukon,yukon"], "each variant once"),
        (["--network", "flat"], "unknown network 'flat'; known are moves, cards"),
        (["--seconds", "0"], "give a limit"),
        (["--seconds", "nan"], "seconds must be at least 0, not nan"),
        (["--learning-rate", "inf"], "learning_rate must be at least 0, not inf"),
        (["--seed", str(2**32)], "seed must be 0 to 4294967295"),
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
    for kind in KINDS:
        for option in options_of(kind):
            assert "--" + option.replace("_", "-") in text
    for recipe in recipe_names():
        assert recipe in "".join(text.split())


@pytest.mark.parametrize("recipe", POLICIES)
def test_every_recipe_of_a_policy_has_a_short_version_that_runs(recipe, tmp_path):
    folder = train("--recipe", recipe, "--short", "--out", tmp_path / "run")
    about = json.loads((folder / "run.json").read_text())
    assert about["recipe"] == recipe
    for key in about["variant"].split(","):
        result = evaluate(load(f"ppo:{folder},variant={key}"), key, range(10_000, 10_003))
        assert len(result.won) == 3


def test_no_recipe_of_a_policy_takes_longer_than_two_hours():
    for recipe in POLICIES:
        stages = read_recipe(recipe, {})
        assert sum(stage.config.seconds for stage in stages) <= 7200
        assert all(stage.config.seconds > 0 and stage.config.threads <= 2 for stage in stages)


@pytest.mark.slow
def test_a_killed_recipe_of_two_stages_goes_on_as_if_nothing_had_happened(tmp_path):
    arguments = ["--recipe", "clone-then-ppo", "--short", "--checkpoint-seconds", "0"]
    killed = start_and_kill(tmp_path / "killed", [*arguments, "--epochs", "4"], "1-clone")
    train("--resume", killed)
    whole = train(*arguments, "--epochs", "4", "--out", tmp_path / "whole")
    for stage in ("1-clone", "2-ppo", "."):
        weights, expected = (
            PolicyAgent.load(folder / stage / "model.pt").network.state_dict()
            for folder in (killed, whole)
        )
        torch.testing.assert_close(weights, expected)
    cloned = PolicyAgent.load(whole / "1-clone" / "model.pt").network.state_dict()
    trained = PolicyAgent.load(whole / "model.pt").network.state_dict()
    distance = max(float((cloned[name] - trained[name]).abs().max()) for name in cloned)
    assert 0 < distance < 0.2


def test_recipes_are_checked(tmp_path):
    path = tmp_path / "mine.toml"
    for text, message in [
        ("about = 3 =", "is no TOML file"),
        ("about = 'nothing'", "must have `about` and `stages`"),
        ("stages = [{ variant = 'yukon' }]", "must be a table with a `kind`"),
        ("stages = [{ kind = 'dreaming' }]", "unknown kind 'dreaming'; known are ppo"),
        ("stages = [{ kind = 'ppo', gama = 1 }]", "unknown option gama; known are variant"),
        ("stages = [{ kind = 'ppo', gamma = 'one' }]", "gamma must be float, not 'one'"),
        ("stages = [{ kind = 'ppo', envs = 2.5 }]", "envs must be int, not 2.5"),
        ("stages = [{ kind = 'ppo', short = { gama = 1 } }]", "unknown option gama"),
    ]:
        path.write_text(text)
        with pytest.raises(RunError, match=message):
            read_recipe(str(path), {})
    path.write_text("stages = [{ kind = 'ppo', gamma = 1, short = { envs = 2 } }]")
    long, short = (read_recipe(str(path), {"width": 8}, short)[0].config for short in (False, True))
    assert isinstance(long, PPOConfig)
    assert isinstance(short, PPOConfig)
    assert (long.gamma, long.envs, long.width) == (1.0, 512, 8)
    assert (short.gamma, short.envs, short.width) == (1.0, 2, 8)
