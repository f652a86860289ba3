"""How far the training of a policy has come, and what it leaves in its folder."""

import dataclasses
import json
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stable_baselines3.common.logger import Logger
from tqdm import tqdm

from agents import MODEL_FILE
from agents.networks import Network
from agents.policy import PolicyAgent
from experiments.learning_curve import TrainingPoint, ValidationPoint, draw_curve
from experiments.runs import RunError, write_json, write_whole
from experiments.training.config import PolicyConfig
from yukon_env.deals import SPLITS
from yukon_env.evaluation import MAX_MOVES, evaluate
from yukon_env.stats import wilson_interval

CHECKPOINT_FILE = "checkpoint.pkl"
CURVE_FILE = "learning_curve.json"
PLOT_FILE = "learning_curve.png"


@dataclass
class Progress:
    """How far a run has come.

    Attributes:
        seconds: Time trained, over all sittings.
        steps: Steps trained: moves of games, or decisions that were imitated.
        training: Points (seconds, steps, rate): recent training games won, or decisions met.
        validation: For each variant, points (seconds, steps, wins, games).
    """

    seconds: float = 0.0
    steps: int = 0
    training: list[TrainingPoint] = field(default_factory=list)
    validation: dict[str, list[ValidationPoint]] = field(default_factory=dict)

    def share(self, seconds: float, steps: int) -> float:
        """The share of the run that is done, 0 to 1, if it may take so much; 0 is no limit."""
        by_time = self.seconds / seconds if seconds > 0 else 0.0
        by_steps = self.steps / steps if steps > 0 else 0.0
        return min(1.0, max(by_time, by_steps))


def validate(
    network: Network,
    config: PolicyConfig,
    progress: Progress,
    logger: Logger,
    max_moves: int = MAX_MOVES,
    allow_repeats: bool = False,
) -> None:
    """Plays validation deals of each variant; adds the points to progress and TensorBoard."""
    for variant in config.variants:
        result = evaluate(
            PolicyAgent(variant, network),
            variant,
            SPLITS["validation"][: config.validation_deals],
            max_moves=max_moves,
            allow_repeats=allow_repeats,
        )
        point = (progress.seconds, progress.steps, int(result.won.sum()), len(result.won))
        progress.validation.setdefault(variant.key, []).append(point)
        logger.record(f"validation/{variant.key}/win_rate", result.win_rate)
        logger.record(f"validation/{variant.key}/cards_up", float(result.cards_up.mean()))
    logger.dump(progress.steps)


def write_results(
    folder: Path, config: PolicyConfig, network: Network, progress: Progress, state: dict[str, Any]
) -> None:
    """Writes model, curve and checkpoint, the last of which makes the run go on from here.

    Args:
        folder: The run folder.
        config: The run.
        network: What it has trained.
        progress: How far it has come.
        state: What else going on takes.
    """
    PolicyAgent(config.variants[0], network, config.variants).save(folder / MODEL_FILE)
    curve = dataclasses.asdict(progress)
    write_json(folder / CURVE_FILE, curve)
    write_whole(
        folder / CHECKPOINT_FILE, lambda file: pickle.dump({**state, "progress": curve}, file)
    )


def read_checkpoint(folder: Path, restore: Callable[[dict[str, Any]], None]) -> None:
    """Hands the state of a checkpoint, if there is one, to `restore`.

    Raises:
        RunError: It cannot be read, is of another version, or is gone though there is a model.
    """
    path = folder / CHECKPOINT_FILE
    if not path.exists():
        if (folder / MODEL_FILE).exists():
            raise RunError(
                f"{folder} holds a model, but its {CHECKPOINT_FILE} to go on from is gone"
            )
        return
    try:
        restore(pickle.loads(path.read_bytes()))
    except Exception as error:  # whatever a file of another version may lead to
        raise RunError(f"{path} is damaged, or of another version: {error}") from error


def load_network(path: Path, network: Network) -> None:
    """Reads the weights that training starts from.

    Args:
        path: The model file of an earlier stage.
        network: Gets the weights.

    Raises:
        RunError: They are those of another network.
    """
    first = PolicyAgent.load(path).network
    if (first.name, first.width) != (network.name, network.width):
        raise RunError(f"{path} holds a network {first.name!r} of width {first.width}")
    network.load_state_dict(first.state_dict())


def new_bar(text: str, done: float) -> tqdm:
    """A bar that shows the share of the training that is done, in per cent."""
    return tqdm(
        total=100.0,
        initial=100.0 * done,
        desc=text,
        bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}{postfix}",
    )


def draw(config: PolicyConfig, progress: Progress, folder: Path, rate: str) -> None:
    """Draws the learning curve; `rate` says what the training points are."""
    titles = ", ".join(variant.title for variant in config.variants)
    draw_curve(
        progress.training, progress.validation, f"{titles}, seed {config.seed}",
        rate, folder / PLOT_FILE,
    )  # fmt: skip


def report(config: PolicyConfig, folder: Path) -> str:
    """Says what came of a run.

    Args:
        config: The run.
        folder: Where it left its curve.
    """
    progress = json.loads((folder / CURVE_FILE).read_text())
    lines = [f"trained {progress['seconds']:.0f} s, {progress['steps']:,} steps"]
    for variant in config.variants:
        _, _, wins, games = progress["validation"][variant.key][-1]
        low, high = wilson_interval(wins, games)
        rate = f"{100 * wins / games:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
        lines.append(f"{variant.key}: wins {rate} of {games:,} validation deals")
    return "\n".join(lines)
