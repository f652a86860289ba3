"""Trains a player, or the value that one plans with, by a recipe, on train deals alone.

    python -m experiments.train --variant yukon --seconds 180
    python -m experiments.train --recipe clone-then-ppo --variant russian
    python -m experiments.train --recipe value --variant yukon
    python -m experiments.train --resume runs/train-...

A recipe is a file in `experiments/recipes/`; options given here take the place of its own. The run
folder gets the model (`model.pt`), the learning curve (`learning_curve.png` and `.json`),
TensorBoard logs, what the run was started with (`run.json`), and a checkpoint to resume from. A
recipe of several stages leaves all this in a folder for each, and the last model in the run
folder. The curve shows the win rate on validation deals, by the protocol of
`yukon_env.evaluation`. Test deals are never played. A value (`value.npz`) has no curve, but its
losses, on train deals that were held out.
"""

import argparse
import dataclasses
import shutil
import sys
from pathlib import Path
from typing import Any

from experiments.runs import RUN_FILE, RunError, create_run, fail, provenance, read_run, write_json
from experiments.training.config import PolicyConfig
from experiments.training.recipes import KINDS, Stage, options_of, read_recipe, recipe_names
from yukon_env.deals import SPLITS
from yukon_env.errors import YukonError

DEFAULT_RECIPE = "ppo-moves"
# What a resumed run may be told anew.
CHANGEABLE = ("seconds", "steps", "threads", "checkpoint_seconds")


def train(stages: list[Stage], folder: Path) -> None:
    """Trains in a run folder, stage by stage, going on where it was left.

    Args:
        stages: The stages.
        folder: The run folder.
    """
    folders = stage_folders(stages, folder)
    first: Path | None = None
    for index, (stage, place) in enumerate(zip(stages, folders, strict=True)):
        place.mkdir(exist_ok=True)
        if not any(later.exists() for later in folders[index + 1 :]):
            KINDS[stage.kind].train(stage.config, place, first)
        first = place / KINDS[stage.kind].model
    if len(stages) > 1:
        shutil.copy(folders[-1] / KINDS[stages[-1].kind].model, folder)


def stage_folders(stages: list[Stage], folder: Path) -> list[Path]:
    """Where each stage leaves its results: a single one in the run folder itself."""
    if len(stages) == 1:
        return [folder]
    return [folder / f"{number}-{stage.kind}" for number, stage in enumerate(stages, start=1)]


def start(recipe: str, stages: list[Stage], folder: Path | None) -> Path:
    """Makes the run folder of a new run, with its `run.json`.

    Raises:
        RunError: The folder is taken.
    """
    last = stages[-1].config
    folder = create_run(folder, f"train-{recipe_title(recipe)}-{last.variant.replace(',', '-')}")
    deals = {"train": SPLITS["train"]}
    if isinstance(last, PolicyConfig):
        deals["validation"] = SPLITS["validation"][: last.validation_deals]
    about = provenance(
        recipe=recipe,
        variant=last.variant,
        seed=last.seed,
        deals={split: [numbers.start, numbers.stop - 1] for split, numbers in deals.items()},
        stages=[stage.as_dict() for stage in stages],
    )
    write_json(folder / RUN_FILE, about)
    return folder


def recipe_title(recipe: str) -> str:
    """A recipe's name, also if it was given as a file."""
    return Path(recipe).stem


def reopen(folder: Path, given: dict[str, Any]) -> list[Stage]:
    """Reads the stages of a run that is to go on.

    Args:
        folder: Its folder.
        given: What the command line sets anew: limits, threads and checkpoint times only.

    Raises:
        RunError: The folder holds no training run, or something else was to change.
    """
    about = read_run(folder)
    fixed = set(given) - set(CHANGEABLE)
    if fixed:
        raise RunError(f"a resumed run keeps its {', '.join(sorted(fixed))}")
    try:
        kept = [(stage["kind"], stage["config"]) for stage in about["stages"]]
        stages = [Stage.of(kind, _changed(kind, config, given)) for kind, config in kept]
    except (KeyError, TypeError) as error:
        raise RunError(f"{folder} is no training run of this version: {error}") from error
    about["stages"] = [stage.as_dict() for stage in stages]
    about.setdefault("resumed", []).append(provenance())
    write_json(folder / RUN_FILE, about)
    return stages


def _changed(kind: str, config: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    known = options_of(kind)
    return {**config, **{name: value for name, value in given.items() if name in known}}


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """Reads the command line; options that are not given are left out."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.train",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,
    )
    parser.add_argument("--recipe", metavar="NAME", help=f"{', '.join(recipe_names())}, or a TOML "
                        f"file (default: {DEFAULT_RECIPE})")  # fmt: skip
    parser.add_argument("--short", action="store_true", help="the recipe's short version, which "
                        "shows in seconds that it runs")  # fmt: skip
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="run folder, by default a new "
                        "one in runs/")  # fmt: skip
    parser.add_argument("--resume", type=Path, metavar="RUN", help="go on with the run in this "
                        "folder; --seconds and --steps may extend it")  # fmt: skip
    group = parser.add_argument_group("options of the recipe", "and the kinds that have them")
    for name, field in _all_options().items():
        _add_option(group, name, field)
    return parser.parse_args(arguments)


def _all_options() -> dict[str, dataclasses.Field]:
    """The options of all kinds; what two kinds call by one name is of one type."""
    options: dict[str, dataclasses.Field] = {}
    for kind in KINDS:
        options = {**options_of(kind), **options}
    return options


def _add_option(group: Any, name: str, field: dataclasses.Field) -> None:
    kinds = [kind for kind in KINDS if name in options_of(kind)]
    about = "" if len(kinds) == len(KINDS) else f" ({', '.join(kinds)})"
    text = f"{field.metadata['help']}{about}".replace("%", "%%")
    flag = "--" + name.replace("_", "-")
    if field.type is bool:
        group.add_argument(flag, action=argparse.BooleanOptionalAction, help=text)
    else:
        metavar = "NAME" if field.type is str else "N"
        group.add_argument(flag, type=field.type, metavar=metavar, help=text)


def main(arguments: list[str] | None = None) -> Path:
    """Runs the command line; returns the run folder."""
    given = vars(parse_arguments(arguments))
    out, resumed = given.pop("out", None), given.pop("resume", None)
    recipe, short = given.pop("recipe", None), given.pop("short", False)
    try:
        if resumed is not None:
            if out is not None or recipe is not None or short:
                raise RunError(
                    "a resumed run stays in its folder, with its recipe: leave out --out, "
                    "--recipe and --short"
                )
            folder, stages = resumed, reopen(resumed, given)
        else:
            recipe = recipe or DEFAULT_RECIPE
            stages = read_recipe(recipe, given, short)
            folder = start(recipe, stages, out)
        train(stages, folder)
    except YukonError as error:
        fail(error)
    except KeyboardInterrupt:
        sys.exit(f"\ninterrupted; go on with: python -m experiments.train --resume {folder}")
    last = stages[-1]
    print(KINDS[last.kind].report(last.config, stage_folders(stages, folder)[-1]))
    print(f"all results and logs: {folder}")
    return folder


if __name__ == "__main__":
    main()
