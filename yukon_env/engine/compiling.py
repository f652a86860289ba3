"""How kernels are compiled.

Helpers are plain `@njit` functions: they are inlined into the kernels that call them, which they
could not be if they came out of a cache of their own. Only the kernels that Python calls are
kept on disk, with `@kernel`.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from numba import config, njit

# For the few functions on the path of every step: LLVM alone leaves some of them as calls, and a
# call that is given an array counts its references, one atomic instruction before and one after.
inlined = njit(inline="always")

PACKAGE = Path(__file__).parent.parent


def kernel(function: Callable) -> Callable[..., Any]:
    """Compiles a function that Python calls, releases the GIL in it, keeps it on disk.

    Numba alone watches only the file of the function itself, so after a change to the rules it
    would go on with old code. Here any change to a source of the package, or to a module that
    the function's own file lies beside, compiles it anew. Where nothing can be written (set
    NUMBA_CACHE_DIR to a folder that can) every process compiles for itself.
    """
    try:
        compiled: Any = njit(cache=True, nogil=True)(function)
    except RuntimeError:  # Numba has found no folder that it may write to.
        return njit(nogil=True)(function)
    if not config.DISABLE_JIT:  # type: ignore[attr-defined]
        # Numba has no public way to say what a cached function depends on.
        files = compiled._cache._cache_file
        files._source_stamp = (
            files._source_stamp,
            source_stamp(Path(function.__code__.co_filename).parent),
        )
    return compiled


@cache
def source_stamp(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Names, sizes and times (ns) of the sources of this package and of `folder`."""
    files = sorted({*PACKAGE.rglob("*.py"), *folder.glob("*.py")})
    stats = [(str(file), file.stat()) for file in files]
    return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)
