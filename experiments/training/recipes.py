"""Recipes: which kinds of training, one after the other, with which configurations.

A recipe is a TOML file in `experiments/recipes/`:

    about = "what it is for"

    [[stages]]
    kind = "ppo"                # a kind in KINDS; all else are options of its configuration
    variant = "yukon"
    seconds = 3600
    short = { seconds = 5 }     # what the short version changes

Each stage starts from the model that the one before it made.
"""

import dataclasses
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents import MODEL_FILE
from experiments.runs import RunError
from experiments.training import clone, ppo, progress, value
from experiments.training.config import Config

RECIPES = Path(__file__).parent.parent / "recipes"


@dataclass(frozen=True)
class Kind:
    """A kind of training.

    Attributes:
        config: Its configuration: a frozen dataclass.
        train: Trains in a run folder, or goes on there, from the model that an earlier stage
            made, if any; leaves its own.
        report: Says, of a run folder, what came of it.
        model: The file that it leaves.
    """

    config: type[Config]
    train: Callable[[Any, Path, Path | None], object]
    report: Callable[[Any, Path], str] = progress.report
    model: str = MODEL_FILE


KINDS = {
    "ppo": Kind(ppo.PPOConfig, ppo.train),
    "clone": Kind(clone.CloneConfig, clone.train),
    "value": Kind(value.ValueConfig, value.train, value.report, value.VALUE_FILE),
}


@dataclass(frozen=True)
class Stage:
    """A training of a recipe.

    Attributes:
        kind: Its name in `KINDS`.
        config: What it is told.
    """

    kind: str
    config: Config

    @classmethod
    def of(cls, kind: str, options: Mapping[str, Any]) -> "Stage":
        """Makes a stage of options, which may be those of a file.

        Raises:
            RunError: The kind or an option is unknown, or a value is impossible.
        """
        if kind not in KINDS:
            raise RunError(f"unknown kind {kind!r}; known are {', '.join(KINDS)}")
        return cls(kind, KINDS[kind].config.of(options))

    def as_dict(self) -> dict[str, Any]:
        """What a `run.json` keeps of it."""
        return {"kind": self.kind, "config": dataclasses.asdict(self.config)}


def recipe_names() -> list[str]:
    """The recipes of the repository."""
    return sorted(path.stem for path in RECIPES.glob("*.toml"))


def read_recipe(name: str, given: Mapping[str, Any], short: bool = False) -> list[Stage]:
    """Reads a recipe.

    Args:
        name: A recipe of the repository, or a TOML file.
        given: Options that take the place of the file's, in every stage that has them.
        short: Whether to make the short version.

    Raises:
        RunError: There is no such recipe, or an option is unknown or impossible.
    """
    tables = _read_tables(name)
    unused = set(given) - {option for table in tables for option in options_of(table["kind"])}
    if unused:
        raise RunError(f"the recipe {name} has no option {', '.join(sorted(unused))}")
    return [_read_stage(table, given, short) for table in tables]


def options_of(kind: str) -> dict[str, dataclasses.Field]:
    """The options of a kind of training, by their names."""
    if kind not in KINDS:
        raise RunError(f"unknown kind {kind!r}; known are {', '.join(KINDS)}")
    return {field.name: field for field in dataclasses.fields(KINDS[kind].config)}


def _read_tables(name: str) -> list[dict[str, Any]]:
    path = Path(name) if name.endswith(".toml") else RECIPES / f"{name}.toml"
    if not path.is_file():
        raise RunError(f"unknown recipe {name!r}; known are {', '.join(recipe_names())}")
    try:
        content = tomllib.loads(path.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RunError(f"{path} is no TOML file: {error}") from error
    unknown = set(content) - {"about", "stages"}
    stages = content.get("stages")
    if unknown or not isinstance(stages, list) or not stages:
        raise RunError(f"{path} must have `about` and `stages`, and nothing else")
    for table in stages:
        if not isinstance(table, dict) or "kind" not in table:
            raise RunError(f"{path}: each of the stages must be a table with a `kind`")
    return stages


def _read_stage(table: dict[str, Any], given: Mapping[str, Any], short: bool) -> Stage:
    options = dict(table)
    kind, changes = options.pop("kind"), options.pop("short", {})
    if not isinstance(changes, dict):
        raise RunError(f"`short` must be a table of options, not {changes!r}")
    known = options_of(kind)
    # The short version is read in any case, so that a mistake in it does not wait.
    Stage.of(kind, {**options, **changes})
    wanted = {name: value for name, value in given.items() if name in known}
    return Stage.of(kind, {**options, **(changes if short else {}), **wanted})
