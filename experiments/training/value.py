"""The learned value of the reveal-search planner.

In each round the planner's plans on train deals are labelled: how often the greedy player wins on
from where they lead. The games of the first round are led by play alone, those of a later one by
the value of the round before, too; and the value is fitted to the samples of all rounds so far.

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

from agents.reveal_search.agent import network_file
from agents.reveal_search.candidates import new_candidates
from agents.reveal_search.labels import Samples, label_plans, new_samples
from agents.reveal_search.room import lore_of, new_room
from agents.reveal_search.training import HELD_OUT, constant_loss, fit, join_samples
from agents.reveal_search.value import Network, no_network, read_network, write_network
from experiments.runs import ROOT, RunError, write_json, write_whole
from experiments.training.config import Config, option
from experiments.training.progress import new_bar
from yukon_env.cards import N_CARDS
from yukon_env.deals import SPLITS
from yukon_env.variants import Variant

VALUE_FILE = "value.npz"
# Chunks of a round; the last is held out.
CHUNKS = 20


@dataclass(frozen=True)
class ValueConfig(Config):
    """All that fixes a run that learns a value."""

    samples: int = option(250_000, "labelled positions in each round, a few of them held out")
    rounds: int = option(2, "times that positions are labelled, and the value fitted")
    epochs: int = option(3, "passes over the samples")

    def check(self) -> None:
        """Checks the values; see `Config.check`."""
        super().check()
        if len(self.variants) > 1:
            raise RunError(f"{self.variant}: a value is of one variant")
        self.check_range(50 * CHUNKS, math.inf, "samples")
        self.check_range(1, math.inf, "rounds", "epochs")


def train(config: ValueConfig, folder: Path, first: Path | None) -> None:
    """Learns a value in a run folder, going on where it was left.

    Args:
        config: The run.
        folder: The run folder; gets the samples, the value and the losses of each round, and the
            last value.
        first: The value that leads the games of the first round; None for none.
    """
    torch.set_num_threads(config.threads)
    network = no_network() if first is None else read_network(first)
    for number in range(1, config.rounds + 1):
        path = folder / f"value-{number}.npz"
        if not path.exists():
            label(config, network, number, folder)
            write_network(path, fit_round(config, number, folder))
        # In half precision, and so the same as after a restart.
        network = read_network(path)
    write_network(folder / VALUE_FILE, network)


def label(config: ValueConfig, network: Network, number: int, folder: Path) -> None:
    """Makes the samples of a round; those that are in the run folder already are kept.

    Args:
        config: The run.
        network: Leads the games.
        number: The round, from 1.
        folder: The run folder.
    """
    variant, size = config.variants[0], config.samples // CHUNKS
    with tqdm(total=CHUNKS * size, desc=f"{variant.key}, round {number}", unit="sample") as bar:
        for chunk in range(CHUNKS):
            path = _chunk_file(folder, number, chunk)
            if not path.exists():
                samples = _label_chunk(variant, network, size, (config.seed, number, chunk))
                _write_samples(path, samples)
            bar.update(size)


def _chunk_file(folder: Path, number: int, chunk: int) -> Path:
    return folder / f"samples-{number}-{chunk}.npz"


def _write_samples(path: Path, samples: Samples) -> None:
    write_whole(path, lambda file: np.savez_compressed(file, **samples._asdict()))


def _label_chunk(variant: Variant, network: Network, n: int, seed: tuple[int, ...]) -> Samples:
    """Makes about `n` samples, on deals and with draws that the seed fixes."""
    rng = np.random.default_rng(seed)
    train_deals = SPLITS["train"]
    # A game gives many samples, so that these deals are enough.
    deals = rng.integers(train_deals.start, train_deals.stop, n)
    streams = rng.integers(2**64, size=2, dtype=np.uint64)
    room = new_samples(n)
    n_samples, _ = label_plans(
        new_room(), lore_of(variant, network), new_candidates(), deals, room,
        np.zeros(N_CARDS, np.uint8), streams,
    )  # fmt: skip
    return Samples(
        tokens=room.tokens[: room.starts[n_samples]],
        starts=room.starts[: n_samples + 1],
        features=room.features[:n_samples],
        labels=room.labels[:n_samples],
    )


def read_samples(number: int, folder: Path) -> tuple[Samples, Samples]:
    """Reads the samples up to a round, and those held out."""
    parts: list[list[Samples]] = [[], []]
    for before in range(1, number + 1):
        for chunk in range(CHUNKS):
            with np.load(_chunk_file(folder, before, chunk)) as file:
                parts[chunk == CHUNKS - 1].append(Samples(**file))
    return join_samples(parts[0]), join_samples(parts[1])


def fit_round(config: ValueConfig, number: int, folder: Path) -> Network:
    """Fits the value of a round, and leaves the losses in the run folder.

    Args:
        config: The run.
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

        network = fit(
            samples, held_out, config.epochs, config.batch_size, config.learning_rate,
            config.seed, note,
        )  # fmt: skip
    logger.close()
    about = {
        "samples": n,
        "held_out": len(held_out.labels),
        "constant_loss": constant,
        "losses": losses,
    }
    write_json(_losses_file(folder, number), about)
    return network


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
