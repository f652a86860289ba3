"""Trains a network over move features with MaskablePPO, on train deals alone.

    python -m experiments.train --variant yukon --seconds 180
    python -m experiments.train --resume runs/train-yukon-...

The run folder gets the model (`model.pt`), the learning curve (`learning_curve.png` and `.json`),
TensorBoard logs, what the run was started with (`run.json`), and a checkpoint to resume from.
The curve shows the win rate in training and that of the deterministic player on validation
deals, by the protocol of `yukon_env.evaluation`. Test deals are never played.
"""

import argparse
import dataclasses
import math
import pickle
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import configure
from tqdm import tqdm

from agents import MODEL_FILE
from agents.ppo import MovePolicy, PPOAgent
from agents.sb3_vec_env import YukonSB3VecEnv
from experiments.learning_curve import draw_curve
from experiments.runs import (
    RUN_FILE,
    RunError,
    create_run,
    fail,
    provenance,
    read_run,
    write_json,
    write_whole,
)
from yukon_env.deals import SPLITS
from yukon_env.errors import YukonError
from yukon_env.evaluation import MAX_MOVES, evaluate
from yukon_env.stats import wilson_interval
from yukon_env.variants import VARIANTS

CHECKPOINT_FILE = "checkpoint.pkl"
CURVE_FILE = "learning_curve.json"
PLOT_FILE = "learning_curve.png"
RECENT_GAMES = 1000


def _option(default: Any, text: str) -> Any:
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True)
class TrainConfig:
    """All that fixes a run."""

    variant: str = _option("yukon", f"the game: {', '.join(VARIANTS)}")
    seconds: float = _option(180.0, "time to train, validation included; 0 for no limit")
    steps: int = _option(0, "moves to train on, over all games; 0 for no limit")
    seed: int = _option(0, "fixes deals, draws and initial weights")
    envs: int = _option(512, "games played at once")
    horizon: int = _option(32, "moves in each game between two updates")
    batch_size: int = _option(2048, "positions in a gradient step")
    epochs: int = _option(3, "passes over the positions in an update")
    learning_rate: float = _option(2e-3, "at the start; it falls linearly to 0")
    gamma: float = _option(0.999, "discount factor")
    gae_lambda: float = _option(0.95, "lambda of generalized advantage estimation")
    clip_range: float = _option(0.2, "PPO's clip range")
    entropy: float = _option(0.003, "weight of the entropy bonus")
    value_weight: float = _option(0.5, "weight of the value loss")
    shaping: float = _option(1.0, "weight of the potential-based reward for progress")
    width: int = _option(64, "size of the network's embeddings")
    max_moves: int = _option(MAX_MOVES, "moves after which a game is cut")
    allow_repeats: bool = _option(False, "let games go back to positions they have been in")
    validation_deals: int = _option(1000, "validation deals played at each checkpoint")
    checkpoint_seconds: float = _option(30.0, "time between two checkpoints")
    threads: int = _option(2, "threads of the network")

    def check(self) -> None:
        """Checks what no later step checks with a clear message.

        Raises:
            RunError: A value is impossible.
        """
        if self.variant not in VARIANTS:
            raise RunError(f"unknown variant {self.variant!r}; known are {', '.join(VARIANTS)}")
        for name in ("seconds", "steps", "checkpoint_seconds"):
            if getattr(self, name) < 0:
                raise RunError(f"{name} must be at least 0, not {getattr(self, name)}")
        if self.seconds == 0 and self.steps == 0:
            raise RunError("give a limit: --seconds or --steps")
        for name in ("envs", "horizon", "batch_size", "epochs", "width", "max_moves", "threads"):
            self._check_range(name, 1, math.inf)
        for name in ("gamma", "gae_lambda"):
            self._check_range(name, 0, 1)
        for name in ("seed", "learning_rate", "clip_range", "entropy", "value_weight", "shaping"):
            self._check_range(name, 0, math.inf)
        self._check_range("validation_deals", 1, len(SPLITS["validation"]))
        positions = self.envs * self.horizon
        if 1 in (positions, self.batch_size, positions % self.batch_size):
            raise RunError(
                f"{self.envs} envs times a horizon of {self.horizon} in batches of "
                f"{self.batch_size} leave a batch of 1, which cannot be normalized"
            )

    def _check_range(self, name: str, low: float, high: float) -> None:
        value = getattr(self, name)
        if not low <= value <= high:
            wanted = f"at least {low}" if math.isinf(high) else f"{low} to {high}"
            raise RunError(f"{name} must be {wanted}, not {value}")


@dataclass
class Progress:
    """How far a run has come.

    Attributes:
        seconds: Time trained, over all sittings.
        steps: Moves trained on.
        training: Points (seconds, steps, win rate of the recent training games).
        validation: Points (seconds, steps, wins, games).
    """

    seconds: float = 0.0
    steps: int = 0
    training: list[tuple[float, int, float]] = field(default_factory=list)
    validation: list[tuple[float, int, int, int]] = field(default_factory=list)

    def share(self, config: TrainConfig) -> float:
        """The share of the run that is done, 0 to 1."""
        by_time = self.seconds / config.seconds if config.seconds > 0 else 0.0
        by_steps = self.steps / config.steps if config.steps > 0 else 0.0
        return min(1.0, max(by_time, by_steps))


class Trainer:
    """Trains a network, keeping the time, the curve and the checkpoints.

    Args:
        config: The run.
        folder: Its folder.
    """

    def __init__(self, config: TrainConfig, folder: Path) -> None:
        self.config = config
        self.folder = folder
        self.progress = Progress()
        self.env = self._new_env(config.envs)
        self.ppo = MaskablePPO(
            MovePolicy,
            self.env,
            learning_rate=lambda _: config.learning_rate * (1 - self.progress.share(config)),
            n_steps=config.horizon,
            batch_size=config.batch_size,
            n_epochs=config.epochs,
            gamma=config.gamma,
            gae_lambda=config.gae_lambda,
            clip_range=config.clip_range,
            ent_coef=config.entropy,
            vf_coef=config.value_weight,
            policy_kwargs={"variant": config.variant, "width": config.width},
            stats_window_size=RECENT_GAMES,
            seed=config.seed,
            device="cpu",
        )

    def _new_env(self, n: int) -> YukonSB3VecEnv:
        return YukonSB3VecEnv(
            n,
            self.config.variant,
            deals="train",
            allow_repeats=self.config.allow_repeats,
            shaping=self.config.shaping,
            discount=self.config.gamma,
            max_episode_steps=self.config.max_moves,
        )

    @property
    def agent(self) -> PPOAgent:
        """The player as it stands."""
        return PPOAgent(self.config.variant, cast(MovePolicy, self.ppo.policy).network)

    def run(self) -> None:
        """Trains up to the limits of the configuration, and writes all results."""
        self._warm_up()
        self.ppo.set_logger(configure(str(self.folder / "tensorboard"), ["tensorboard"]))
        clock = time.monotonic() - self.progress.seconds
        kept = self.progress.seconds if self.progress.validation else -math.inf
        with self._new_bar() as bar:
            while self.progress.share(self.config) < 1.0:
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
        evaluate(self.agent, self.config.variant, first, max_moves=2)
        games = self._new_env(1)
        games.reset()
        games.step(games.action_masks().argmax(axis=1))

    def _new_bar(self) -> tqdm:
        return tqdm(
            total=100.0,
            initial=100.0 * self.progress.share(self.config),
            desc=f"training {self.config.variant}",
            bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}{postfix}",
        )

    def _note_training(self, bar: tqdm) -> None:
        """Adds a point to the curve of the training games, and shows it."""
        progress, wins = self.progress, self.ppo.ep_success_buffer
        text = f"{progress.steps:,} moves"
        if wins:
            rate = sum(wins) / len(wins)
            progress.training.append((progress.seconds, progress.steps, rate))
            text += f", {100 * rate:.1f} % of the last {len(wins):,} games won"
        bar.set_postfix_str(text)
        bar.update(100.0 * progress.share(self.config) - bar.n)

    def _keep(self) -> None:
        """Plays the validation deals, and writes model, curve and checkpoint."""
        config, progress = self.config, self.progress
        result = evaluate(
            self.agent,
            config.variant,
            SPLITS["validation"][: config.validation_deals],
            max_moves=config.max_moves,
            allow_repeats=config.allow_repeats,
        )
        point = (progress.seconds, progress.steps, int(result.won.sum()), len(result.won))
        progress.validation.append(point)
        self.ppo.logger.record("validation/win_rate", result.win_rate)
        self.ppo.logger.record("validation/cards_up", float(result.cards_up.mean()))
        self.ppo.logger.dump(progress.steps)
        self.agent.save(self.folder / MODEL_FILE)
        write_json(self.folder / CURVE_FILE, dataclasses.asdict(progress))
        self._write_checkpoint()

    def _write_checkpoint(self) -> None:
        state = {
            "progress": dataclasses.asdict(self.progress),
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
        write_whole(self.folder / CHECKPOINT_FILE, lambda file: pickle.dump(state, file))

    def resume(self) -> None:
        """Goes back to the checkpoint.

        Raises:
            RunError: It cannot be read, or is of another version.
        """
        path = self.folder / CHECKPOINT_FILE
        try:
            self._restore(pickle.loads(path.read_bytes()))
        except Exception as error:  # whatever a file of another version may lead to
            raise RunError(f"{path} is damaged, or of another version: {error}") from error

    def _restore(self, state: dict[str, Any]) -> None:
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


def train(config: TrainConfig, folder: Path) -> Progress:
    """Trains in a run folder, from its checkpoint if it has one.

    Args:
        config: The run.
        folder: The run folder; gets the model, the curve and the checkpoint.
    """
    torch.set_num_threads(config.threads)
    trainer = Trainer(config, folder)
    if (folder / CHECKPOINT_FILE).exists():
        trainer.resume()
    elif (folder / MODEL_FILE).exists():
        raise RunError(f"{folder} holds a model, but its {CHECKPOINT_FILE} to go on from is gone")
    trainer.run()
    progress = trainer.progress
    title = f"{VARIANTS[config.variant].title}, seed {config.seed}"
    draw_curve(progress.training, progress.validation, title, folder / PLOT_FILE)
    return progress


def start(config: TrainConfig, folder: Path | None) -> Path:
    """Makes the run folder of a new run, with its `run.json`.

    Raises:
        RunError: The configuration is impossible, or the folder is taken.
    """
    config.check()
    folder = create_run(folder, f"train-{config.variant}")
    train_deals, validation = SPLITS["train"], SPLITS["validation"][: config.validation_deals]
    about = provenance(
        variant=config.variant,
        seed=config.seed,
        deals={
            "train": [train_deals.start, train_deals.stop - 1],
            "validation": [validation.start, validation.stop - 1],
        },
        config=dataclasses.asdict(config),
    )
    write_json(folder / RUN_FILE, about)
    return folder


def reopen(folder: Path, given: dict[str, Any]) -> TrainConfig:
    """Reads the configuration of a run that is to go on.

    Args:
        folder: Its folder.
        given: What the command line sets anew: limits, threads and checkpoint times only.

    Raises:
        RunError: The folder holds no training run, or something else was to change.
    """
    about = read_run(folder)
    fixed = set(given) - {"seconds", "steps", "threads", "checkpoint_seconds"}
    if fixed:
        raise RunError(f"a resumed run keeps its {', '.join(sorted(fixed))}")
    try:
        config = TrainConfig(**{**about["config"], **given})
    except (KeyError, TypeError) as error:
        raise RunError(f"{folder} is no training run of this version: {error}") from error
    config.check()
    about["config"] = dataclasses.asdict(config)
    about.setdefault("resumed", []).append(provenance())
    write_json(folder / RUN_FILE, about)
    return config


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """Reads the command line; options that are not given are left out."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.train",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,
    )
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="run folder, by default a new "
                        "one in runs/")  # fmt: skip
    parser.add_argument("--resume", type=Path, metavar="RUN", help="go on with the run in this "
                        "folder; --seconds and --steps may extend it")  # fmt: skip
    for option in dataclasses.fields(TrainConfig):
        name = "--" + option.name.replace("_", "-")
        text = f"{option.metadata['help']} (default: {option.default})"
        if option.type is bool:
            parser.add_argument(name, action="store_true", help=text)
        else:
            metavar = "NAME" if option.type is str else "N"
            parser.add_argument(name, type=option.type, metavar=metavar, help=text)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> Path:
    """Runs the command line; returns the run folder."""
    given = vars(parse_arguments(arguments))
    out, resumed = given.pop("out", None), given.pop("resume", None)
    try:
        if resumed is not None and out is not None:
            raise RunError("a resumed run stays in its folder: leave out --out")
        if resumed is not None:
            folder, config = resumed, reopen(resumed, given)
        else:
            config = TrainConfig(**given)
            folder = start(config, out)
        progress = train(config, folder)
    except YukonError as error:
        fail(error)
    except KeyboardInterrupt:
        sys.exit(f"\ninterrupted; go on with: python -m experiments.train --resume {folder}")
    report(progress, folder)
    return folder


def report(progress: Progress, folder: Path) -> None:
    """Prints what came of a run."""
    _, _, wins, games = progress.validation[-1]
    low, high = wilson_interval(wins, games)
    rate = f"{100 * wins / games:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
    print(f"trained {progress.seconds:.0f} s, on {progress.steps:,} moves")
    print(f"wins {rate} of {games:,} validation deals")
    print(f"model, learning curve and logs: {folder}")


if __name__ == "__main__":
    main()
