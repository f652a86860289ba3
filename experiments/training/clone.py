"""Cloning: a network learns to choose on train deals what a teacher holds right.

The teacher is the solver, which sees every card: it shows how it wins deals, or judges each move in
the positions that a player comes to. Or it is any agent, which sees what a player sees: a planner
is distilled into a policy without search that way. Each pass shows every decision with other names
for its suits and columns.
"""

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.logger import configure
from tqdm import tqdm

import agents
from agents.cloning import (
    Decisions,
    judged_decisions,
    log_chances,
    solver_decisions,
    teacher_decisions,
)
from agents.errors import AgentError
from agents.networks import NETWORKS, Network, Rulebook
from agents.policy import PolicyAgent
from agents.symmetry import suit_symmetries
from experiments.runs import RunError
from experiments.training.config import PolicyConfig, option
from experiments.training.progress import (
    Progress,
    draw,
    load_network,
    new_bar,
    read_checkpoint,
    validate,
    write_results,
)
from yukon_env.deals import SPLITS
from yukon_env.variants import Variant

SOLVER, VERDICTS = "solver", "verdicts"
# Whose positions are decided: those of the network itself, as the stage before left it, or of the
# teacher.
ITSELF, TEACHER = "itself", "teacher"
# Deals whose decisions are recorded at once, and kept in one file.
CHUNK = 250


@dataclass(frozen=True)
class CloneConfig(PolicyConfig):
    """All that fixes a run of cloning."""

    teacher: str = option(
        SOLVER,
        f"{SOLVER}: its wins; {VERDICTS}: its verdict on each move in a player's positions; or an "
        "agent's name, in it {variant} for the game",
    )
    player: str = option(
        TEACHER,
        f"whose positions are decided: {TEACHER}, but for {VERDICTS}; {ITSELF}, as the stage "
        "before left it; or an agent's name",
    )
    loyalty: float = option(
        0.1, f"for {VERDICTS}: weight of the player's own choice where it was right"
    )
    deals: int = option(4000, "train deals of each variant that the teacher plays")
    solver_states: int = option(2000, "positions that the solver may visit to find a win")
    epochs: int = option(4, "passes over the decisions")
    augment: bool = option(True, "show decisions under other names of suits and columns")

    def check(self) -> None:
        """Checks the values; see `Config.check`."""
        super().check()
        self.check_range(0, math.inf, "loyalty")
        self.check_range(1, math.inf, "deals", "solver_states", "epochs")
        self._check_name("teacher", self.teacher, SOLVER, VERDICTS)
        self._check_name("player", self.player, TEACHER, ITSELF)
        if self.player == TEACHER and self.teacher == VERDICTS:
            raise RunError(f"{VERDICTS} do not play: give a player")
        if self.player != TEACHER and self.teacher == SOLVER:
            raise RunError(f"the {SOLVER} decides in its own positions only")

    def _check_name(self, role: str, name: str, *words: str) -> None:
        if name in words:
            return
        try:
            for variant in self.variants:
                _load_agent(name, variant, self.seed)
        except AgentError as error:
            raise RunError(f"a {role} is {', '.join(words)} or an agent: {error}") from error


def _load_agent(name: str, variant: Variant, seed: int) -> agents.Agent:
    return agents.load(_named(name, variant), seed)


def _named(name: str, variant: Variant) -> str:
    """The name for a game, where `{variant}` stands for it."""
    return name.replace("{variant}", variant.key)


def record(config: CloneConfig, variant: Variant, network: Network, folder: Path) -> Decisions:
    """Returns the teacher's decisions; what is recorded already is read from the run folder.

    Args:
        config: The run.
        variant: The game.
        network: What is to be trained, before it is.
        folder: The run folder.
    """
    numbers = np.array(SPLITS["train"][: config.deals])
    parts = []
    teacher = _named(config.teacher, variant)
    with tqdm(total=len(numbers), desc=f"{teacher} on {variant.key}", unit="deal") as bar:
        for start in range(0, len(numbers), CHUNK):
            chunk = numbers[start : start + CHUNK]
            path = folder / f"decisions-{variant.key}-{start}.npz"
            if not path.exists():
                _decide(config, variant, network, chunk).save(path)
            parts.append(Decisions.load(path))
            bar.update(len(chunk))
    return Decisions.join(parts)


def _decide(
    config: CloneConfig, variant: Variant, network: Network, deals: np.ndarray
) -> Decisions:
    if config.teacher == SOLVER:
        return solver_decisions(variant, deals, config.solver_states)
    if config.teacher == VERDICTS:
        judged = _load_player(config, variant, network)
        return judged_decisions(judged, variant, deals, config.solver_states)
    teacher = _load_agent(config.teacher, variant, config.seed)
    player = None if config.player == TEACHER else _load_player(config, variant, network)
    return teacher_decisions(teacher, variant, deals, player)


def _load_player(config: CloneConfig, variant: Variant, network: Network) -> agents.Agent:
    if config.player == ITSELF:
        return PolicyAgent(variant, network)
    return _load_agent(config.player, variant, config.seed)


class Trainer:
    """Trains a network on decisions, keeping the time, the curve and the checkpoints.

    Args:
        config: The run.
        folder: Its folder.
        first: The model to start from; None for random weights.
    """

    def __init__(self, config: CloneConfig, folder: Path, first: Path | None) -> None:
        self.config = config
        self.folder = folder
        self.progress = Progress()
        self.book = Rulebook(config.variants)
        torch.manual_seed(config.seed)
        self.network = NETWORKS[config.network](config.width)
        if first is not None:
            load_network(first, self.network)
        parts = [record(config, variant, self.network, folder) for variant in config.variants]
        self.decisions = Decisions.join(parts)
        self.which = np.repeat(np.arange(len(parts), dtype=np.int8), [len(part) for part in parts])
        self.symmetries = [suit_symmetries(rules) for rules in self.book.rules]
        self.optimizer = torch.optim.Adam(self.network.parameters())
        self.logger = configure(str(folder / "tensorboard"), ["tensorboard"])

    @property
    def _share(self) -> float:
        return self.progress.share(self.config.seconds, self.config.epochs * len(self.decisions))

    def run(self) -> None:
        """Trains up to the limits of the configuration, and writes all results."""
        clock = time.monotonic() - self.progress.seconds
        kept = self.progress.seconds if self.progress.validation else -math.inf
        names = dict.fromkeys(_named(self.config.teacher, each) for each in self.config.variants)
        with new_bar(f"cloning {', '.join(names)}", self._share) as bar:
            while self._share < 1.0:
                if self.progress.seconds - kept >= self.config.checkpoint_seconds:
                    kept = self.progress.seconds
                    self._keep()
                rate = self._train_on(self._next_batch())
                self.progress.seconds = time.monotonic() - clock
                self._note_training(rate, bar)
        self._keep()

    def _next_batch(self) -> np.ndarray:
        """The next decisions, int64 (batch,): each pass goes over all in an order of its own."""
        epoch, start = divmod(self.progress.steps, len(self.decisions))
        order = np.random.default_rng((self.config.seed, epoch)).permutation(len(self.decisions))
        return order[start : start + self.config.batch_size]

    def _train_on(self, rows: np.ndarray) -> float:
        """Makes a gradient step; returns the share of decisions that were the likeliest before."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.config.learning_rate * (1 - self._share)
        batch, which = self.decisions[rows], self.which[rows]
        if self.config.augment:
            batch = self._rename(batch, which)
        right, played, met = log_chances(self.network, batch, self.book, which)
        loss = -(right.sum() + self.config.loyalty * played.sum()) / len(batch)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.progress.steps += len(rows)
        rate = met.float().mean().item()
        self.logger.record_mean("train/loss", loss.item())
        self.logger.record_mean("train/met", rate)
        return rate

    def _rename(self, batch: Decisions, which: np.ndarray) -> Decisions:
        """Gives each decision other names, of those that its variant's rules allow."""
        rng = np.random.default_rng((self.config.seed, self.progress.steps))
        renamed = batch[np.arange(len(batch))]
        for index, symmetries in enumerate(self.symmetries):
            rows = which == index
            part = batch[rows].renamed(symmetries, rng)
            renamed.observations[rows] = part.observations
            renamed.masks[rows], renamed.choices[rows] = part.masks, part.choices
            renamed.played[rows] = part.played
        return renamed

    def _note_training(self, rate: float, bar: tqdm) -> None:
        progress = self.progress
        progress.training.append((progress.seconds, progress.steps, rate))
        bar.set_postfix_str(f"{progress.steps:,} decisions, {100 * rate:.1f} % met")
        bar.update(100.0 * self._share - bar.n)

    def _keep(self) -> None:
        """Plays the validation deals, and writes model, curve and checkpoint."""
        validate(self.network, self.config, self.progress, self.logger)
        state = {
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
        }
        write_results(self.folder, self.config, self.network, self.progress, state)

    def restore(self, state: dict[str, Any]) -> None:
        """Goes back to the state of a checkpoint."""
        self.progress = Progress(**state["progress"])
        self.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])


def train(config: CloneConfig, folder: Path, first: Path | None) -> Progress:
    """Trains in a run folder, from its checkpoint if it has one.

    Args:
        config: The run.
        folder: The run folder; gets the decisions, the model, the curve and the checkpoint.
        first: The model to start from; None for random weights.
    """
    torch.set_num_threads(config.threads)
    trainer = Trainer(config, folder, first)
    read_checkpoint(folder, trainer.restore)
    trainer.run()
    draw(config, trainer.progress, folder, "decisions met")
    return trainer.progress
