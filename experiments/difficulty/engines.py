"""Where the work is done: the cores of this machine, or a Ray cluster.

Both take a function and its jobs and give the results as they come, in any order.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from types import ModuleType
from typing import TypeVar

from experiments.difficulty.errors import StudyError
from experiments.runs import ROOT

Job = TypeVar("Job")
Answer = TypeVar("Answer")

# Tasks under way per core of a cluster, so that no worker waits for the next.
_AHEAD = 4
# What of the checkout does not travel to a cluster.
_LEFT_BEHIND = [".git", ".venv", "runs", "data", "**/*.parquet", "**/__pycache__"]


def run_here(
    function: Callable[[Job], Answer], jobs: Iterable[Job], workers: int
) -> Iterator[Answer]:
    """Runs on processes of this machine, through joblib; -1 for one per core."""
    from joblib import Parallel, delayed

    # One job at a time: jobs take from milliseconds to minutes, and joblib guesses from the first.
    parallel = Parallel(workers, return_as="generator_unordered", batch_size=1)
    yield from parallel(delayed(function)(job) for job in jobs)


def run_on_ray(
    function: Callable[[Job], Answer], jobs: Iterable[Job], workers: int, address: str
) -> Iterator[Answer]:
    """Runs as Ray tasks.

    Args:
        function: What to do with a job; it and its answer must be picklable.
        jobs: The jobs.
        workers: Processes of a Ray that is started here; -1 for one per core.
        address: `local` to start a Ray on this machine, or a running cluster's `ray://HOST:PORT`.

    Raises:
        StudyError: Ray is not installed, or no cluster answers at the address.
    """
    ray = _connect(workers, address)
    try:
        task = ray.remote(function)
        waiting = iter(jobs)
        ahead = _AHEAD * int(ray.cluster_resources().get("CPU", 1))
        pending = [task.remote(job) for job in islice(waiting, ahead)]
        while pending:
            done, pending = ray.wait(pending)
            pending += [task.remote(job) for job in islice(waiting, len(done))]
            yield from ray.get(done)
    finally:
        ray.shutdown()


def _connect(workers: int, address: str) -> ModuleType:
    """Starts Ray, or joins one that runs; returns the package, which not everybody has."""
    try:
        import ray
    except ImportError:
        raise StudyError("--cluster needs Ray: pip install '.[cluster]'") from None
    if address == "local":
        ray.init("local", num_cpus=None if workers < 0 else workers, include_dashboard=False)
        return ray
    code = {"working_dir": str(ROOT), "excludes": _LEFT_BEHIND}
    try:
        ray.init(address, runtime_env=code)
    except (ConnectionError, ValueError) as error:
        raise StudyError(f"no Ray cluster answers at {address}: {error}") from error
    return ray
