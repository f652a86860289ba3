"""The learned value is labelled, fitted, killed, and goes on."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from helpers import COMPILED

from agents.reveal_search.agent import RevealSearchAgent
from agents.reveal_search.labels import Samples
from agents.reveal_search.settings import Settings
from agents.reveal_search.training import (
    HELD_OUT,
    ValueModule,
    constant_loss,
    fit,
    join_samples,
)
from agents.reveal_search.value import (
    N_FEATURES,
    N_TOKENS,
    Network,
    add_up,
    new_description,
    read_network,
    values_of_rows,
)
from experiments.train import main
from experiments.training.value import CHUNKS, read_samples
from yukon_env.deals import SPLITS
from yukon_env.evaluation import evaluate

ROOT = Path(__file__).parents[2]
SHORT = ["--recipe", "value", "--short", "--variant", "australian"]
plays = pytest.mark.skipif(not COMPILED, reason="thousands of games to play out")


def draw_samples(n: int, seed: int, signal: float = 4.0) -> Samples:
    """Samples of 20 tokens each, won or lost by the sign of a feature and the count of token 7."""
    rng = np.random.default_rng(seed)
    tokens = rng.integers(0, 40, (n, 20)).astype(np.int16)
    features = rng.standard_normal((n, N_FEATURES)).astype(np.float32)
    logits = signal * ((tokens == 7).sum(1) - 0.5 + features[:, 3])
    won = rng.random(n) < 1 / (1 + np.exp(-logits))
    return Samples(tokens.ravel(), 20 * np.arange(n + 1), features, won.astype(np.float32))


def values_of(network: Network, samples: Samples) -> np.ndarray:
    """The values that the planner's kernels give, float32 (n,)."""
    description = new_description()
    values = np.zeros(len(samples.labels), np.float32)
    for index in range(len(values)):
        tokens = samples.tokens[samples.starts[index] : samples.starts[index + 1]]
        add_up(network, tokens, len(tokens), description.total)
        description.first[0] = description.total
        description.features[0] = samples.features[index]
        values_of_rows(network, description, 1)
        values[index] = description.values[0]
    return values


def loss_of(network: Network, samples: Samples) -> float:
    values = torch.from_numpy(values_of(network, samples))
    return torch.nn.functional.binary_cross_entropy(values, torch.from_numpy(samples.labels)).item()


def test_the_planner_computes_what_pytorch_trains():
    torch.manual_seed(1)
    module = ValueModule()
    for weight in module.parameters():
        torch.nn.init.normal_(weight, std=0.2)
    samples = draw_samples(20, seed=1)
    rows = np.zeros((20, N_TOKENS + N_FEATURES), np.float32)
    np.add.at(rows, (np.repeat(np.arange(20), 20), samples.tokens), 1)
    rows[:, N_TOKENS:] = samples.features
    expected = torch.sigmoid(module(torch.from_numpy(rows))).detach().numpy()
    assert expected.std() > 0.01
    np.testing.assert_allclose(values_of(module.export(), samples), expected, atol=1e-5)


def test_fitting_finds_a_planted_signal():
    samples, held_out = draw_samples(3000, seed=2), draw_samples(500, seed=3)
    settings = {"epochs": 6, "batch_size": 100, "learning_rate": 5e-3}
    network = fit(samples, held_out, **settings)
    assert loss_of(network, held_out) < 0.7 * constant_loss(samples, held_out)
    again = fit(samples, held_out, **settings)
    assert all(np.array_equal(a, b) for a, b in zip(network, again, strict=True))


def test_the_best_epoch_is_kept():
    samples, held_out = (draw_samples(300, seed=seed, signal=0.0) for seed in (4, 5))
    losses = []

    def note(name, n_seen, loss):
        if name == HELD_OUT:
            losses.append(loss)

    network = fit(samples, held_out, epochs=20, batch_size=50, learning_rate=1e-2, note=note)
    # Noise is learned by heart, so that later epochs are worse.
    assert min(losses) < losses[-1] - 0.05
    assert loss_of(network, held_out) == pytest.approx(min(losses), abs=1e-4)


def test_fitting_goes_on_from_a_value():
    samples, held_out = draw_samples(3000, seed=2), draw_samples(500, seed=3)
    network = fit(samples, held_out, epochs=6, batch_size=100, learning_rate=5e-3)
    module = ValueModule()
    module.load(network)
    assert all(np.array_equal(a, b) for a, b in zip(module.export(), network, strict=True))
    little = {"epochs": 1, "batch_size": 1000, "learning_rate": 1e-4}
    on, anew = (fit(samples, held_out, **little, first=first) for first in (network, None))
    assert loss_of(on, held_out) < loss_of(anew, held_out) - 0.1


def test_samples_are_joined():
    whole, parts = draw_samples(7, seed=6), [draw_samples(7, seed=6), draw_samples(3, seed=7)]
    joined = join_samples(parts)
    assert joined.starts.tolist() == list(range(0, 201, 20))
    np.testing.assert_array_equal(joined.tokens[:140], whole.tokens)
    np.testing.assert_array_equal(joined.tokens[140:], parts[1].tokens)
    np.testing.assert_array_equal(joined.labels[7:], parts[1].labels)
    np.testing.assert_array_equal(joined.features[7:], parts[1].features)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return main([*SHORT, "--out", str(tmp_path_factory.mktemp("value") / "run")])


@plays
def test_a_short_run_leaves_a_value_that_plays(run: Path) -> None:
    about = json.loads((run / "run.json").read_text())
    assert about["deals"] == {"train": [SPLITS["train"].start, SPLITS["train"].stop - 1]}
    agent = RevealSearchAgent(
        "australian", Settings(solved=1, states=100, worlds=1, more=0),
        network=read_network(run / "value.npz"),
    )  # fmt: skip
    assert len(evaluate(agent, "australian", range(10_000, 10_002)).won) == 2
    assert (run / "value.npz").read_bytes() == (run / "value-2.npz").read_bytes()
    assert list((run / "tensorboard" / "round-2").glob("events.*"))
    assert not list(run.glob("*.part"))


@plays
def test_the_samples_are_of_many_games_and_whole_chunks_are_held_out(run):
    for number in (1, 2):
        samples, held_out = read_samples(number, run)
        losses = json.loads((run / f"losses-{number}.json").read_text())
        assert (len(samples.labels), len(held_out.labels)) == (
            losses["samples"],
            losses["held_out"],
        )
        assert 0.6 * number * 1000 < len(samples.labels) + len(held_out.labels) <= number * 1000
        assert losses["constant_loss"] > 0
        assert len(losses["losses"]) == 1
        assert set(np.unique(samples.labels)) <= {0, 0.25, 0.5, 0.75, 1}
        assert 0 < samples.labels.mean() < 1
        assert samples.starts[-1] == len(samples.tokens)
        assert samples.tokens.min() >= 0
        assert samples.tokens.max() < N_TOKENS
    # No chunk is the same as another.
    firsts = {
        np.load(run / f"samples-{number}-{chunk}.npz")["tokens"][:300].tobytes()
        for number in (1, 2)
        for chunk in range(CHUNKS)
    }
    assert len(firsts) == 2 * CHUNKS


@plays
def test_the_planner_labels_its_own_games_after_the_greedy_players(tmp_path: Path) -> None:
    arguments = ["--recipe", "value-outcomes", "--short", "--variant", "australian"]
    folder = main([*arguments, "--out", str(tmp_path / "run")])
    stages = [folder / "1-value", folder / "2-value"]
    first, second = (read_samples(1, stage)[0] for stage in stages)
    assert len(np.unique(first.labels)) == 5
    assert np.unique(second.labels).tolist() == [0, 1]
    values = [(stage / "value.npz").read_bytes() for stage in stages]
    assert values[0] != values[1] == (folder / "value.npz").read_bytes()


@pytest.mark.slow
@plays
def test_a_killed_run_goes_on_as_if_nothing_had_happened(run, tmp_path):
    killed = tmp_path / "killed"
    command = [sys.executable, "-m", "experiments.train", *SHORT, "--out", str(killed)]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 300
    try:
        while not (killed / "samples-2-2.npz").exists():
            assert process.poll() is None, "training ended before it could be killed"
            assert time.monotonic() < deadline, "training made no samples"
            time.sleep(0.005)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert not (killed / "value-2.npz").exists()
    # What is there is not made again: neither the first round's value, nor the samples.
    kept = [killed / name for name in ("value-1.npz", "samples-1-0.npz", "samples-2-2.npz")]
    times = [path.stat().st_mtime_ns for path in kept]
    main(["--resume", str(killed)])
    assert [path.stat().st_mtime_ns for path in kept] == times
    for name in ("value-1.npz", "value-2.npz", "value.npz"):
        weights, expected = (read_network(folder / name) for folder in (killed, run))
        for a, b in zip(weights, expected, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--variant", "yukon,russian"], "a value is of one variant"),
        (["--samples", "10"], "samples must be at least 1000"),
        (["--rounds", "0"], "rounds must be at least 1"),
        (["--labels", "hopes"], "labels are rollouts or outcomes, not 'hopes'"),
        (["--width", "16"], "value has no option width"),
    ],
)
def test_bad_command_lines_are_refused(arguments, message):
    with pytest.raises(SystemExit, match=message):
        main(["--recipe", "value", *arguments])
