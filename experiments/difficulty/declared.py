"""Variants by their name on the command line: a key, or a declaration in somebody's own file."""

import runpy
from pathlib import Path

from experiments.difficulty.errors import StudyError
from yukon_env.variants import VARIANTS, Variant, get_variant


def find_variant(name: str) -> Variant:
    """Returns the variant of a key such as `yukon`, or of `file.py:NAME`.

    Raises:
        StudyError: The file holds no such `Variant`, or one that takes the key of another.
        VariantError: There is no variant of this key.
    """
    path, colon, attribute = name.rpartition(":")
    if not colon:
        return get_variant(name)
    if not Path(path).is_file():
        raise StudyError(f"{name}: there is no file {path}")
    found = runpy.run_path(path).get(attribute)
    if not isinstance(found, Variant):
        raise StudyError(f"{path} holds no Variant by the name of {attribute}")
    if VARIANTS.get(found.key, found) != found:
        raise StudyError(f"{path}: {found.key!r} is the key of another game; choose a new one")
    if not found.key.replace("-", "").replace("_", "").isalnum():
        raise StudyError(f"{path}: the key {found.key!r} names files: letters, digits, - and _")
    return found
