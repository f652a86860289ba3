"""Files that are written whole or not at all."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO


def write_whole(path: Path, write: Callable[[BinaryIO], Any]) -> None:
    """Lets `write` fill a file that takes the place of `path` only when it is on the disk."""
    unfinished = path.with_name(path.name + ".part")
    with unfinished.open("wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(unfinished, path)


def write_text(path: Path, text: str) -> None:
    """Writes a text file, as UTF-8."""
    write_whole(path, lambda file: file.write(text.encode()))
