"""Tunes the weights of the greedy agent for one variant, by the cross-entropy method.

Every iteration draws candidate weights from a normal distribution, plays the same fresh train
deals with each, and moves the distribution towards the best of them. Where few deals can be won,
`--winnable` leaves out those that the solver does not win: they teach nothing. The start, and the
mean of each iteration, play validation deals, and the best there becomes the weight file. Games
follow the protocol of the evaluation: at most 200 moves, and no position twice. Test deals are
never played.

What is done is kept after each iteration, so the same command goes on after it was killed.
"""

import argparse
import json
import shlex
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, fields
from itertools import islice
from pathlib import Path

import numpy as np
from tqdm import tqdm

from agents.features import MOVE_FEATURES, N_MOVE_FEATURES
from agents.files import write_whole
from agents.greedy import MAX_MOVES, play_deals, read_weights, weights_file, write_weights
from agents.verdicts import winnable_deals
from experiments.evaluate import positive
from yukon_env.deals import SPLITS
from yukon_env.variants import VARIANTS, Variant

# A place to start from, for every variant; what is not named starts at 0.
START = {
    "goes_up": 1.0, "up_safe": 3.0, "up_early": -2.0, "up_continues": 0.5, "returns": -4.0,
    "turns": 4.0, "turns_beneath": -0.5, "turns_last": 0.5, "turn_outs": 1.0,
    "leaves_parent": -1.5, "leaves_misfit": 0.6, "empties": 1.5, "exposes_ready": 1.0,
    "frees_ready": 1.0, "frees_soon": 0.5, "frees_key_parents": 1.0, "frees_parents": 0.5,
    "undoes_inversions": 1.0, "undoes_blocks": 0.5, "unblocks_key": 0.5, "group_size": -0.3,
    "head_rank": 0.3, "fills": -0.5, "target_hidden": -0.5, "buries_ready": -1.0,
    "buries_soon": -0.5, "buries_key_parents": -1.0, "buries_parents": -0.5,
    "makes_inversions": -1.0, "makes_blocks": -0.5, "blocks_key": -0.5, "opens_keys": 2.0,
    "opens_misfits": 0.6, "opens_bases": 0.3, "opens_waste": 1.0, "closes_keys": -1.5,
    "closes_misfits": -0.5, "closes_bases": -0.3, "closes_waste": -0.5, "waste_used": 1.0,
    "waste_next_fits": 0.5, "deals": -0.2, "deal_buries": -0.5, "redeals": -1.0,
}  # fmt: skip

ELITE_SHARE = 0.25
MEAN_STEP = 0.8
SPREAD_STEP = 0.5
# So that the spread does not collapse before the mean has settled.
LEAST_SPREAD = 0.05
PROBE_DEALS = 100
# So large that it decides wherever moves differ in the feature.
PROBE_WEIGHT = 100.0


@dataclass(frozen=True)
class Settings:
    """What fixes the result of a run; a saved run goes on only under the same settings."""

    variant: str
    population: int
    games: int
    validation_games: int
    spread: float
    progress_weight: float
    seed: int
    start: str
    winnable: int


class TrainDeals:
    """The train deals of each iteration: all in their order, or only those that can be won.

    Args:
        variant: The game.
        max_states: Positions in which the solver must win a deal; 0 takes all deals.
    """

    def __init__(self, variant: Variant, max_states: int = 0) -> None:
        self._source = winnable_deals(variant, max_states) if max_states else iter(SPLITS["train"])
        self._drawn: list[int] = []

    def of(self, iteration: int, games: int) -> np.ndarray:
        """Returns the deals of an iteration: int64, shape (games,)."""
        missing = (iteration + 1) * games - len(self._drawn)
        self._drawn.extend(islice(self._source, max(missing, 0)))
        return np.array(self._drawn[iteration * games : (iteration + 1) * games], np.int64)


@dataclass
class Progress:
    """What a run has come to: the distribution, and the best mean on the validation deals."""

    iteration: int
    mean: np.ndarray
    spread: np.ndarray
    best: np.ndarray
    best_wins: int = -1
    history: list[int] = field(default_factory=list)


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line."""
    options = parse_arguments(arguments)
    variant = VARIANTS[options.variant]
    settings = Settings(**{item.name: getattr(options, item.name) for item in fields(Settings)})
    state_file = options.runs / f"{variant.key}.npz"
    progress = None if options.fresh else load_progress(state_file, settings)
    if progress is None:
        progress = start_progress(settings, variant)
    with ThreadPoolExecutor(options.threads) as pool:
        tune(progress, settings, variant, options.iterations, state_file, pool)
    command = shlex.join(["python", "-m", "experiments.tune_greedy", *(arguments or sys.argv[1:])])
    write_result(options.output or weights_file(variant), variant, progress, settings, command)


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.tune_greedy",
        description=(__doc__ or "").split("\n\n")[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("variant", choices=VARIANTS, metavar="VARIANT", help=f"one of {', '.join(VARIANTS)}")
    add(
        "--iterations",
        type=positive,
        default=40,
        help="iterations in all, those done before included",
    )
    add("--population", type=positive, default=64, help="candidates in each iteration")
    add("--games", type=positive, default=1000, help="train deals that each candidate plays")
    add("--validation-games", type=positive, default=len(SPLITS["validation"]),
        help="validation deals that each iteration's mean plays")  # fmt: skip
    add("--spread", type=float, default=0.7, help="standard deviation of each weight at the start")
    add(
        "--progress-weight",
        type=float,
        default=0.1,
        help="worth of all 52 cards up, beside a win's 1",
    )
    add("--start", choices=("hand", *VARIANTS), default="hand", metavar="NAME",
        help="where to start: hand, or the variant whose weight file to take")  # fmt: skip
    add("--winnable", type=int, default=0, metavar="STATES",
        help="play only train deals that the solver wins in so many positions; 0: all")  # fmt: skip
    add("--seed", type=int, default=0, help="fixes every draw")
    add("--threads", type=positive, default=1, help="threads that play; the result is the same")
    add(
        "--runs",
        type=Path,
        default=Path("runs/tune_greedy"),
        help="folder for what is kept between runs",
    )
    add(
        "--output",
        type=Path,
        help="the weight file; by default that of the variant in agents/weights",
    )
    add("--fresh", action="store_true", help="begin anew, whatever was kept")
    return parser.parse_args(arguments)


def start_progress(settings: Settings, variant: Variant) -> Progress:
    """Returns the state before the first iteration."""
    if settings.start == "hand":
        mean = np.array([START.get(name, 0.0) for name in MOVE_FEATURES])
    else:
        source = VARIANTS[settings.start]
        mean = read_weights(weights_file(source), source).astype(float)
    matters = find_features_that_matter(variant, mean)
    mean = np.where(matters, mean, 0.0)
    return Progress(0, mean, np.where(matters, settings.spread, 0.0), mean.copy())


def find_features_that_matter(variant: Variant, mean: np.ndarray) -> np.ndarray:
    """Finds the features that change how the variant is played: bool, shape (N_MOVE_FEATURES,).

    Some are always 0 in a variant (dealing, where there is no stock); their weights stay 0.
    """
    deals = TrainDeals(variant).of(0, PROBE_DEALS)
    usual = play_deals(variant, mean, deals)
    matters = np.zeros(N_MOVE_FEATURES, bool)
    for index in range(N_MOVE_FEATURES):
        for probe in (PROBE_WEIGHT, -PROBE_WEIGHT):
            weights = mean.copy()
            weights[index] = probe
            outcome = play_deals(variant, weights, deals)
            matters[index] |= any((a != b).any() for a, b in zip(usual, outcome, strict=True))
    return matters


def tune(
    progress: Progress,
    settings: Settings,
    variant: Variant,
    iterations: int,
    state_file: Path,
    pool: ThreadPoolExecutor,
) -> None:
    """Goes on until `iterations` are done, keeping the state after each."""
    if progress.best_wins < 0:
        deals = validation_deals(settings)
        progress.best_wins = count_wins(variant, progress.best, deals, pool)
    train_deals = TrainDeals(variant, settings.winnable)
    bar = tqdm(total=iterations, initial=progress.iteration, desc=variant.key, unit="iteration")
    with bar:
        while progress.iteration < iterations:
            improve(progress, settings, variant, train_deals, pool)
            save_progress(state_file, settings, progress)
            bar.update()
            last, best = (
                100 * wins / len(validation_deals(settings))
                for wins in (progress.history[-1], progress.best_wins)
            )
            bar.set_postfix_str(f"validation {last:.2f} %, best {best:.2f} %")


def improve(
    progress: Progress,
    settings: Settings,
    variant: Variant,
    train_deals: TrainDeals,
    pool: ThreadPoolExecutor,
) -> None:
    """Runs one iteration."""
    rng = np.random.default_rng([settings.seed, progress.iteration])
    noise = rng.standard_normal((settings.population, N_MOVE_FEATURES))
    candidates = progress.mean + progress.spread * noise
    deals = train_deals.of(progress.iteration, settings.games)

    def worth(weights: np.ndarray) -> float:
        won, cards_up, _ = play_deals(variant, weights, deals)
        return won.mean() + settings.progress_weight * cards_up.mean() / 52

    worths = np.array(list(pool.map(worth, candidates)))
    n_elite = max(2, round(ELITE_SHARE * settings.population))
    elite = candidates[np.argsort(-worths, kind="stable")[:n_elite]]
    progress.mean = blend(progress.mean, elite.mean(axis=0), MEAN_STEP)
    spread = blend(progress.spread, elite.std(axis=0), SPREAD_STEP)
    progress.spread = np.where(progress.spread > 0, np.maximum(spread, LEAST_SPREAD), 0.0)
    progress.iteration += 1
    wins = count_wins(variant, progress.mean, validation_deals(settings), pool)
    progress.history.append(wins)
    if wins > progress.best_wins:
        progress.best, progress.best_wins = progress.mean.copy(), wins


def blend(old: np.ndarray, new: np.ndarray, step: float) -> np.ndarray:
    """Goes from `old` towards `new` by this share of the way."""
    return (1 - step) * old + step * new


def validation_deals(settings: Settings) -> range:
    """Returns the deals that choose the best mean."""
    return SPLITS["validation"][: settings.validation_games]


def count_wins(
    variant: Variant, weights: np.ndarray, deals: range, pool: ThreadPoolExecutor
) -> int:
    """Counts the deals that these weights win."""
    parts = np.array_split(np.array(deals, np.int64), min(len(deals), 10))
    played = pool.map(lambda part: play_deals(variant, weights, part), parts)
    return sum(int(won.sum()) for won, _, _ in played)


def save_progress(file: Path, settings: Settings, progress: Progress) -> None:
    """Keeps the state of a run; a kill in the middle leaves the one before."""
    file.parent.mkdir(parents=True, exist_ok=True)
    about = json.dumps({"settings": asdict(settings), "features": MOVE_FEATURES})
    write_whole(file, lambda part: np.savez(part, about=about, **asdict(progress)))


def load_progress(file: Path, settings: Settings) -> Progress | None:
    """Reads a kept run; None if there is none under these settings and features."""
    if not file.exists():
        return None
    with np.load(file) as kept:
        about = json.loads(str(kept["about"]))
        if about != json.loads(
            json.dumps({"settings": asdict(settings), "features": MOVE_FEATURES})
        ):
            print(
                f"{file} is of a run with other settings or features; beginning anew",
                file=sys.stderr,
            )
            return None
        return Progress(
            int(kept["iteration"]), kept["mean"], kept["spread"],
            kept["best"], int(kept["best_wins"]), kept["history"].tolist(),
        )  # fmt: skip


def write_result(
    file: Path, variant: Variant, progress: Progress, settings: Settings, command: str
) -> None:
    """Writes the best weights, scaled so that the largest is 10, and how they were made."""
    scale = 10 / np.abs(progress.best).max()
    validation = validation_deals(settings)
    deals = TrainDeals(variant, settings.winnable).of(0, progress.iteration * settings.games)
    write_weights(
        file, variant, progress.best * scale,
        command=command, settings=asdict(settings), iterations=progress.iteration,
        train_deals=[int(deals[0]), int(deals[-1]) + 1] if len(deals) else [],
        validation={
            "deals": [validation.start, validation.stop], "max_moves": MAX_MOVES,
            "repeats": False, "wins": progress.best_wins,
        },
    )  # fmt: skip
    print(f"{file}: {100 * progress.best_wins / len(validation):.2f} % of the validation deals won")


if __name__ == "__main__":
    main()
