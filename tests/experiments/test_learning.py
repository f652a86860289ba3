"""The page of the learning curves: `python -m experiments.learning`."""

from pathlib import Path

import numpy as np
import pytest
from helpers import COMPILED

from agents.greedy import GreedyAgent
from experiments.learning import PAGE, RUNS, draw, read_curves, write_page
from yukon_env.evaluation import evaluate


@pytest.mark.skipif(not COMPILED, reason="thousands of greedy games")
def test_the_kept_page_is_that_of_the_kept_runs(tmp_path: Path) -> None:
    curves = read_curves(RUNS)
    assert (RUNS / PAGE).read_text() == write_page(curves)
    draw(curves, tmp_path / "curves.png")
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_the_greedy_player_plays_the_deals_of_the_curve(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "run.json").write_text('{"command": "train", "variant": "moosehide"}')
    curve = '{"validation": {"moosehide": [[0.0, 0, 1, 6], [60.0, 2000000, 3, 6]]}}'
    (folder / "learning_curve.json").write_text(curve)
    (read,) = read_curves(tmp_path)
    expected = evaluate(GreedyAgent("moosehide"), "moosehide", np.arange(10_000, 10_006))
    assert read.greedy == expected.won.sum() > 0
    row = f"| `run` | `moosehide` | 1 | 2.0 | 6 | 50.0 [18.8, 81.2] | {100 * read.greedy / 6:.1f}"
    assert row in " ".join(write_page([read]).split())
