"""Run folders: what an experiment wrote, and all it takes to run it again.

A run folder holds a `run.json` with the command, the configuration, the deals and the seed, the
versions of the packages, and the git commit if there is one.
"""

import json
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NoReturn

from agents.files import write_text
from agents.files import write_whole as write_whole  # Experiments find it here, too.
from yukon_env.errors import YukonError

RUN_FILE = "run.json"
PACKAGES = (
    "yukon-env",
    "numpy",
    "numba",
    "gymnasium",
    "torch",
    "stable-baselines3",
    "sb3-contrib",
)
ROOT = Path(__file__).parent.parent


class RunError(YukonError):
    """A run folder is missing, taken or damaged, or the command line asks for the impossible."""


def create_run(folder: Path | None, name: str) -> Path:
    """Makes a new run folder.

    Args:
        folder: Where; None for a folder of its own in `runs/`, named after `name` and the time.
        name: What the run is, as in `train-yukon`.

    Raises:
        RunError: The folder holds a run already.
    """
    if folder is None:
        folder = _free_folder(f"runs/{name}-{datetime.now():%Y%m%d-%H%M%S}")
    if (folder / RUN_FILE).exists():
        raise RunError(f"{folder} holds a run already; choose another folder, or resume that run")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"{folder} cannot be made a run folder: {error}") from error
    return folder


def _free_folder(stem: str) -> Path:
    folder, number = Path(stem), 2
    while folder.exists():
        folder, number = Path(f"{stem}-{number}"), number + 1
    return folder


def read_run(folder: Path) -> dict[str, Any]:
    """Reads the `run.json` of a run.

    Raises:
        RunError: There is none, or it is damaged.
    """
    path = folder / RUN_FILE
    if not path.is_file():
        raise RunError(f"{folder} is no run folder: it has no {RUN_FILE}")
    try:
        return json.loads(path.read_text())
    except ValueError as error:
        raise RunError(f"{path} is damaged: {error}") from error


def provenance(**about: Any) -> dict[str, Any]:
    """Returns what is to stand beside a result, so that it can be had again.

    Args:
        about: What the experiment adds: its configuration, variant, deals, seed.
    """
    return {
        "command": shlex.join([Path(sys.executable).name, *sys.orig_argv[1:]]),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        **about,
        "git_commit": git_commit(),
        "python": platform.python_version(),
        "packages": package_versions(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    }


def package_versions() -> dict[str, str]:
    """The versions of the packages that decide results; those not installed are left out."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions


def git_commit() -> str | None:
    """The commit that is checked out, with `-dirty` where files differ; None outside of git."""
    try:
        commit = _git("rev-parse", "HEAD")
        return (
            f"{commit}-dirty" if _git("status", "--porcelain", "--untracked-files=no") else commit
        )
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def write_json(path: Path, content: Mapping[str, Any] | list[Any]) -> None:
    """Writes a JSON file whole or not at all."""
    write_text(path, json.dumps(content, indent=2) + "\n")


def fail(error: Exception) -> NoReturn:
    """Ends the program with the error's message, without a traceback."""
    sys.exit(f"error: {error}")
