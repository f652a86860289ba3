"""The learned value of the reveal-search planner.

In each round positions of train deals are labelled, and the value is fitted to the samples of all
rounds so far. With *rollouts* the label of a planner's plan is how often the greedy player wins on
from where it leads. With *outcomes* the planner plays, and labels what it comes to with how the
game ended (policy iteration). The value of the round before helps the planner; in the first round
that is the value of the stage before, or none.

The samples of a round are kept in chunks, each from deals of its own. Samples of one game are
alike, so a whole chunk of each round is held out.
"""

import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from stable_baselines3.common.logger import configure
from tqdm import tqdm

from agents.reveal_search.agent import RevealSearchAgent, network_file
from agents.reveal_search.candidates import new_candidates
from agents.reveal_search.labels import Samples, label_plans, new_samples
from agents.reveal_search.outcomes import label_outcomes
from agents.reveal_search.room import lore_of, new_room
from agents.reveal_search.settings import Settings
from agents.reveal_search.training import HELD_OUT, constant_loss, fit, join_samples
from agents.reveal_search.value import Network, no_network, read_network, write_network
from experiments.runs import ROOT, RunError, write_json, write_whole
from experiments.training.config import Config, option
from experiments.training.progress import new_bar
from yukon_env.cards import N_CARDS
from yukon_env.deals import SPLITS

VALUE_FILE = "value.npz"
# Chunks of a round; the last is held out.
CHUNKS = 20
ROLLOUTS, OUTCOMES = "rollouts", "outcomes"
# How the planner plays for outcomes: fast, since they say little each.
PLAYED = Settings(solved=4, worlds=4, more=0)


@dataclass(frozen=True)
class ValueConfig(Config):
    """All that fixes a run that learns a value."""

    labels: str = option(
        ROLLOUTS,
        f"{ROLLOUTS}: whether the greedy player wins on from the planner's plans; {OUTCOMES}: "
        "whether the planner wins its games",
    )
    samples: int = option(250_000, "labelled positions in each round, a few of them held out")
    rounds: int = option(2, "times that positions are labelled, and the value fitted")
    epochs: int = option(3, "passes over the samples")

    def check(self) -> None:
        """Checks the values; see `Config.check`."""
        super().check()
        if len(self.variants) > 1:
            raise RunError(f"{self.variant}: a value is of one variant")
        if self.labels not in (ROLLOUTS, OUTCOMES):
            raise RunError(f"labels are {ROLLOUTS} or {OUTCOMES}, not {self.labels!r}")
        self.check_range(50 * CHUNKS, math.inf, "samples")
        self.check_range(1, math.inf, "rounds", "epochs")


def train(config: ValueConfig, folder: Path, first: Path | None) -> None:
    """Learns a value in a run folder, going on where it was left.

    Args:
        config: The run.
        folder: The run folder; gets the samples, the value and the losses of each round, and the
            last value.
        first: The value that helps in the first round; None for none.
    """
    torch.set_num_threads(config.threads)
    network = None if first is None else read_network(first)
    for number in range(1, config.rounds + 1):
        path = folder / f"value-{number}.npz"
        if not path.exists():
            label(config, network, number, folder)
            write_network(path, fit_round(config, network, number, folder))
        # In half precision, and so the same as after a restart.
        network = read_network(path)
    write_network(folder / VALUE_FILE, read_network(path))


def label(config: ValueConfig, network: Network | None, number: int, folder: Path) -> None:
    """Makes the samples of a round; those that are in the run folder already are kept.

    Args:
        config: The run.
        network: The value that helps the planner.
        number: The round, from 1.
        folder: The run folder.
    """
    variant, size = config.variants[0], config.samples // CHUNKS
    with tqdm(total=CHUNKS * size, desc=f"{variant.key}, round {number}", unit="sample") as bar:
        for chunk in range(CHUNKS):
            path = _chunk_file(folder, number, chunk)
            if not path.exists():
                _write_samples(path, _label_chunk(config, network, size, (number, chunk)))
            bar.update(size)


def _chunk_file(folder: Path, number: int, chunk: int) -> Path:
    return folder / f"samples-{number}-{chunk}.npz"


def _write_samples(path: Path, samples: Samples) -> None:
    write_whole(path, lambda file: np.savez_compressed(file, **samples._asdict()))


def _label_chunk(
    config: ValueConfig, network: Network | None, n: int, place: tuple[int, int]
) -> Samples:
    """Makes about `n` samples, on deals and with draws that the seed and the place fix."""
    rng = np.random.default_rng((config.seed, *place))
    train_deals = SPLITS["train"]
    # A game gives many samples, so that these deals are enough.
    deals = rng.integers(train_deals.start, train_deals.stop, n)
    samples = new_samples(n)
    if config.labels == OUTCOMES:
        seed = int(rng.integers(2**32))
        player = RevealSearchAgent(config.variants[0], PLAYED, seed, network or no_network())
        n_samples = label_outcomes(player, deals.tolist(), samples, rng)
    else:
        streams = rng.integers(2**64, size=2, dtype=np.uint64)
        n_samples, _ = label_plans(
            new_room(), lore_of(config.variants[0], network or no_network()), new_candidates(),
            deals, samples, np.zeros(N_CARDS, np.uint8), streams,
        )  # fmt: skip
    return Samples(
        tokens=samples.tokens[: samples.starts[n_samples]],
        starts=samples.starts[: n_samples + 1],
        features=samples.features[:n_samples],
        labels=samples.labels[:n_samples],
    )


def read_samples(number: int, folder: Path) -> tuple[Samples, Samples]:
    """Reads the samples up to a round, and those held out."""
    parts: list[list[Samples]] = [[], []]
    for before in range(1, number + 1):
        for chunk in range(CHUNKS):
            with np.load(_chunk_file(folder, before, chunk)) as file:
                parts[chunk == CHUNKS - 1].append(Samples(**file))
    return join_samples(parts[0]), join_samples(parts[1])


def fit_round(config: ValueConfig, network: Network | None, number: int, folder: Path) -> Network:
    """Fits the value of a round, and leaves the losses in the run folder.

    Args:
        config: The run.
        network: What it starts from, with outcomes, of which there are few; None for random
            weights.
        number: The round, from 1.
        folder: The run folder.
    """
    samples, held_out = read_samples(number, folder)
    constant = constant_loss(samples, held_out)
    losses: list[float] = []
    logger = configure(str(folder / "tensorboard" / f"round-{number}"), ["tensorboard"])
    n = len(samples.labels)
    with new_bar(f"fitting {config.variant}, round {number}", 0.0) as bar:

        def note(name: str, n_seen: int, loss: float) -> None:
            logger.record(f"{name}/loss", loss)
            if name == HELD_OUT:
                losses.append(loss)
                logger.record("held_out/constant_loss", constant)
                bar.set_postfix_str(f"held out: {loss:.4f}, a constant {constant:.4f}")
            logger.dump(n_seen)
            bar.update(100 * n_seen / (config.epochs * n) - bar.n)

        fitted = fit(
            samples, held_out, config.epochs, config.batch_size, config.learning_rate,
            config.seed, network if config.labels == OUTCOMES else None, note,
        )  # fmt: skip
    logger.close()
    about = {
        "samples": n,
        "held_out": len(held_out.labels),
        "constant_loss": constant,
        "losses": losses,
    }
    write_json(_losses_file(folder, number), about)
    return fitted


def _losses_file(folder: Path, number: int) -> Path:
    return folder / f"losses-{number}.json"


def report(config: ValueConfig, folder: Path) -> str:
    """Says what came of a run, and how it is used.

    Args:
        config: The run.
        folder: Its folder.
    """
    about = json.loads(_losses_file(folder, config.rounds).read_text())
    target = network_file(config.variants[0]).relative_to(ROOT)
    return (
        f"fitted to {about['samples']:,} samples; on {about['held_out']:,} of other games the loss "
        f"is {min(about['losses']):.4f}, of a constant {about['constant_loss']:.4f}\n"
        f"reveal-search:{config.variant} plays with it after: cp {folder / VALUE_FILE} {target}\n"
        f"or in Python: RevealSearchAgent({config.variant!r}, "
        f"network=read_network(Path({str(folder / VALUE_FILE)!r})))"
    )
