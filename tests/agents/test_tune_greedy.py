"""The tuner: it learns nothing from test deals, and a killed run goes on where it was."""

import json

import numpy as np
import pytest

from agents.greedy import read_weights
from experiments import tune_greedy
from yukon_env import VARIANTS, Game
from yukon_env.deals import SPLITS

SMALL = ["russian", "--population", "6", "--games", "20", "--seed", "4"]


def run(folder, iterations, *more):
    """Tunes on a few deals; returns the weights and what the file says."""
    output = folder / "russian.json"
    paths = ["--runs", str(folder), "--output", str(output)]
    tune_greedy.main([*SMALL, "--iterations", str(iterations), *paths, *more])
    return read_weights(output, VARIANTS["russian"]), json.loads(output.read_text())


def test_an_interrupted_run_ends_the_same(tmp_path, monkeypatch):
    folders = [tmp_path / name for name in ("whole", "parts")]
    for folder in folders:
        folder.mkdir()
    whole, about = run(folders[0], 3)
    run(folders[1], 1)
    parts, _ = run(folders[1], 3, "--threads", "2")
    np.testing.assert_array_equal(whole, parts)
    assert about["command"].startswith("python -m experiments.tune_greedy russian")
    assert about["iterations"] == 3
    assert about["train_deals"] == [20_000, 20_060]
    monkeypatch.setattr(tune_greedy, "improve", pytest.fail)
    np.testing.assert_array_equal(run(folders[0], 3)[0], whole)


def test_other_settings_begin_anew(tmp_path, capsys):
    run(tmp_path, 1)
    run(tmp_path, 1, "--spread", "0.3")
    assert "other settings" in capsys.readouterr().err


def test_train_deals_are_train_deals():
    train_deals = tune_greedy.TrainDeals(VARIANTS["russian"])
    for iteration in range(3):
        deals = train_deals.of(iteration, 1000)
        assert len(set(deals)) == 1000
        assert deals.min() >= SPLITS["train"].start


def test_only_deals_that_can_be_won_are_played_if_wanted():
    train_deals = tune_greedy.TrainDeals(VARIANTS["russian"], 2000)
    deals = np.concatenate([train_deals.of(iteration, 5) for iteration in (0, 1)])
    assert len(set(deals)) == 10
    assert deals.min() >= SPLITS["train"].start
    for deal in deals.tolist():
        assert Game("russian", deal=deal).solve().verdict == "winnable"
    np.testing.assert_array_equal(train_deals.of(0, 5), deals[:5])


def test_numbers_below_one_are_refused(capsys):
    with pytest.raises(SystemExit):
        tune_greedy.main(["yukon", "--games", "0"])
    assert "above 0" in capsys.readouterr().err
