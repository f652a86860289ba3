"""MaskablePPO on train deals.

A player learns from what it can still win: with `solver_states` it is dealt winnable deals alone,
and a game ends where it is lost (see `agents.verdicts`). It sees no more for that than any player.
"""

import math
import time
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import configure
from tqdm import tqdm

from agents.mixed_vec_env import MixedSB3VecEnv
from agents.networks import Network
from agents.policy import PolicyAgent
from agents.ppo import NetworkPolicy
from agents.sb3_vec_env import YukonSB3VecEnv
from agents.verdicts import winnable_deals
from experiments.runs import RunError, write_whole
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
from yukon_env.evaluation import MAX_MOVES, evaluate
from yukon_env.variants import Variant

RECENT_GAMES = 1000


@dataclass(frozen=True)
class PPOConfig(PolicyConfig):
    """All that fixes a run of MaskablePPO."""

    steps: int = option(0, "moves to train on, over all games; 0 for no limit")
    envs: int = option(512, "games played at once")
    horizon: int = option(32, "moves in each game between two updates")
    epochs: int = option(3, "passes over the positions in an update")
    gamma: float = option(0.999, "discount factor")
    gae_lambda: float = option(0.95, "lambda of generalized advantage estimation")
    clip_range: float = option(0.2, "PPO's clip range")
    entropy: float = option(0.003, "weight of the entropy bonus")
    value_weight: float = option(0.5, "weight of the value loss")
    shaping: float = option(1.0, "weight of the potential-based reward for progress")
    max_moves: int = option(MAX_MOVES, "moves after which a game is cut")
    allow_repeats: bool = option(False, "let games go back to positions they have been in")
    solver_states: int = option(
        2000,
        "positions that the solver may visit to find a win; a game without is over; 0: play on",
    )
    pool: int = option(20_000, "with solver_states: winnable train deals to draw from")

    def check(self) -> None:
        """Checks the values; see `Config.check`."""
        super().check()
        self.check_range(1, math.inf, "envs", "horizon", "epochs", "max_moves", "pool")
        self.check_range(0, 1, "gamma", "gae_lambda")
        self.check_range(
            0, math.inf, "steps", "clip_range", "entropy", "value_weight", "shaping",
            "solver_states",
        )  # fmt: skip
        if self.seconds == 0 and self.steps == 0:
            raise RunError("give a limit: --seconds or --steps")
        if self.envs < len(self.variants):
            raise RunError(f"{self.envs} envs do not suffice for {len(self.variants)} variants")
        positions = self.envs * self.horizon
        if 1 in (positions, self.batch_size, positions % self.batch_size):
            raise RunError(
                f"{self.envs} envs times a horizon of {self.horizon} in batches of "
                f"{self.batch_size} leave a batch of 1, which cannot be normalized"
            )


class Trainer:
    """Trains a network, keeping the time, the curve and the checkpoints.

    Args:
        config: The run.
        folder: Its folder.
    """

    def __init__(self, config: PPOConfig, folder: Path) -> None:
        self.config = config
        self.folder = folder
        self.progress = Progress()
        self.env = self._new_env()
        self.ppo = MaskablePPO(
            NetworkPolicy,
            self.env,
            learning_rate=lambda _: config.learning_rate * (1 - self._share),
            n_steps=config.horizon,
            batch_size=config.batch_size,
            n_epochs=config.epochs,
            gamma=config.gamma,
            gae_lambda=config.gae_lambda,
            clip_range=config.clip_range,
            ent_coef=config.entropy,
            vf_coef=config.value_weight,
            policy_kwargs={
                "variants": config.variants,
                "network": config.network,
                "width": config.width,
            },
            stats_window_size=RECENT_GAMES,
            seed=config.seed,
            device="cpu",
        )

    def _new_env(self) -> YukonSB3VecEnv | MixedSB3VecEnv:
        """The games to train on: as many of each variant, the first ones the odd ones more."""
        config, n = self.config, len(self.config.variants)
        counts = [(config.envs + n - 1 - index) // n for index in range(n)]
        parts = [
            self._new_part(variant, count)
            for variant, count in zip(config.variants, counts, strict=True)
        ]
        return parts[0] if n == 1 else MixedSB3VecEnv(parts)

    def _new_part(self, variant: Variant, count: int) -> YukonSB3VecEnv:
        config = self.config
        return YukonSB3VecEnv(
            count,
            variant,
            deals=self._deals(variant) if config.solver_states else "train",
            allow_repeats=config.allow_repeats,
            shaping=config.shaping,
            discount=config.gamma,
            max_episode_steps=config.max_moves,
            solver_states=config.solver_states,
        )

    def _deals(self, variant: Variant) -> np.ndarray:
        """The deals to train on; they are found once and kept in the run folder."""
        path = self.folder / f"deals-{variant.key}.npy"
        if not path.exists():
            found = islice(winnable_deals(variant, self.config.solver_states), self.config.pool)
            bar = tqdm(found, f"{variant.key} deals", self.config.pool, unit="deal")
            deals = np.fromiter(bar, np.int64, self.config.pool)
            write_whole(path, partial(np.save, arr=deals))
        return np.load(path)

    @property
    def _share(self) -> float:
        return self.progress.share(self.config.seconds, self.config.steps)

    @property
    def network(self) -> Network:
        """What is trained."""
        return cast(NetworkPolicy, self.ppo.policy).network

    def run(self) -> None:
        """Trains up to the limits of the configuration, and writes all results."""
        self._warm_up()
        self.ppo.set_logger(configure(str(self.folder / "tensorboard"), ["tensorboard"]))
        clock = time.monotonic() - self.progress.seconds
        kept = self.progress.seconds if self.progress.validation else -math.inf
        with new_bar(f"training {self.config.variant}", self._share) as bar:
            while self._share < 1.0:
                if self.progress.seconds - kept >= self.config.checkpoint_seconds:
                    kept = self.progress.seconds
                    self._keep()
                self.ppo.learn(self.config.envs * self.config.horizon, reset_num_timesteps=False)
                self.progress.seconds = time.monotonic() - clock
                self.progress.steps = self.ppo.num_timesteps
                self._note_training(bar)
        self._keep()

    def _warm_up(self) -> None:
        """Compiles what is not compiled yet, so that it takes no training time."""
        first = SPLITS["validation"][:1]
        for variant in self.config.variants:
            evaluate(PolicyAgent(variant, self.network), variant, first, max_moves=2)
            games = YukonSB3VecEnv(1, variant, solver_states=self.config.solver_states)
            games.reset()
            games.step(games.action_masks().argmax(axis=1))

    def _note_training(self, bar: tqdm) -> None:
        """Adds a point to the curve of the training games, and shows it."""
        progress, wins = self.progress, self.ppo.ep_success_buffer
        text = f"{progress.steps:,} moves"
        if wins:
            rate = sum(wins) / len(wins)
            progress.training.append((progress.seconds, progress.steps, rate))
            text += f", {100 * rate:.1f} % of the last {len(wins):,} games won"
        bar.set_postfix_str(text)
        bar.update(100.0 * self._share - bar.n)

    def _keep(self) -> None:
        """Plays the validation deals, and writes model, curve and checkpoint."""
        config = self.config
        validate(
            self.network, config, self.progress, self.ppo.logger,
            config.max_moves, config.allow_repeats,
        )  # fmt: skip
        write_results(self.folder, config, self.network, self.progress, self._state())

    def _state(self) -> dict[str, Any]:
        return {
            "policy": self.ppo.policy.state_dict(),
            "optimizer": self.ppo.policy.optimizer.state_dict(),
            "updates": self.ppo._n_updates,
            "started": self.ppo._last_obs is not None,
            "env": self.env.save_state(),
            "episode_starts": self.ppo._last_episode_starts,
            "successes": self.ppo.ep_success_buffer,
            "episodes": self.ppo.ep_info_buffer,
            "torch_random": torch.get_rng_state(),
            "numpy_random": np.random.get_state(),  # noqa: NPY002 (stable-baselines3 draws from it)
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Goes back to the state of a checkpoint."""
        self.progress = Progress(**state["progress"])
        self.ppo.num_timesteps = self.progress.steps
        self.ppo.policy.load_state_dict(state["policy"])
        self.ppo.policy.optimizer.load_state_dict(state["optimizer"])
        self.ppo._n_updates = state["updates"]
        if state["started"]:
            self.ppo._last_obs = self.env.restore_state(state["env"])  # type: ignore[assignment]
        self.ppo._last_episode_starts = state["episode_starts"]
        self.ppo.ep_success_buffer = state["successes"]
        self.ppo.ep_info_buffer = state["episodes"]
        torch.set_rng_state(state["torch_random"])
        np.random.set_state(state["numpy_random"])  # noqa: NPY002


def train(config: PPOConfig, folder: Path, first: Path | None) -> Progress:
    """Trains in a run folder, from its checkpoint if it has one.

    Args:
        config: The run.
        folder: The run folder; gets the model, the curve and the checkpoint.
        first: The model to start from; None for random weights.
    """
    torch.set_num_threads(config.threads)
    trainer = Trainer(config, folder)
    if first is not None:
        load_network(first, trainer.network)
    read_checkpoint(folder, trainer.restore)
    trainer.run()
    # With a solver, other deals than those of the validation.
    kind = " on deals that can be won" if config.solver_states else ""
    draw(config, trainer.progress, folder, f"training games won{kind}, moves drawn")
    return trainer.progress
