"""The page of the learning curves: `python -m experiments.learning`."""

from pathlib import Path

import numpy as np
import pytest
from helpers import COMPILED

from agents.greedy import GreedyAgent
from experiments.learning import PAGE, RUNS, draw, read_commands, read_curves, write_page
from yukon_env.evaluation import evaluate


@pytest.mark.skipif(not COMPILED, reason="thousands of greedy games")
def test_the_kept_page_is_that_of_the_kept_runs(tmp_path: Path) -> None:
    curves = read_curves(RUNS)
    assert (RUNS / PAGE).read_text() == write_page(curves, read_commands(RUNS))
    draw(curves, tmp_path / "curves.png")
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_a_run_gives_a_curve_for_each_stage_and_game(tmp_path: Path) -> None:
    run = tmp_path / "run"
    (run / "1-clone").mkdir(parents=True)
    (run / "2-ppo").mkdir()
    (run / "run.json").write_text('{"command": "train", "resumed": [{"command": "go on"}]}')
    curve = '{"validation": {"moosehide": [[0.0, 0, 1, 6], [60.0, 2000000, 3, 6]]}}'
    (run / "1-clone" / "learning_curve.json").write_text(curve)
    curve = '{"validation": {"brisbane": [[0.0, 0, 4, 4]], "russian": [[0.0, 0, 0, 9]]}}'
    (run / "2-ppo" / "learning_curve.json").write_text(curve)
    curves = read_curves(tmp_path)
    assert [(each.name, each.variant.key) for each in curves] == [
        ("run/1-clone", "moosehide"),
        ("run/2-ppo", "brisbane"),
        ("run/2-ppo", "russian"),
    ]
    expected = evaluate(GreedyAgent("moosehide"), "moosehide", np.arange(10_000, 10_006))
    assert curves[0].greedy == expected.won.sum() > 0
    page = write_page(curves, read_commands(tmp_path))
    row = "| `run/1-clone` | `moosehide` | 1 | 2.0 | 6 | 50.0 [18.8, 81.2] | "
    assert f"{row}{100 * curves[0].greedy / 6:.1f}" in " ".join(page.split())
    assert "train\ngo on\n" in page
