"""The study cut into jobs: what workers are given, and what they do with it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.difficulty.measures import Measure
from experiments.difficulty.store import chunks_of
from yukon_env.variants import Variant


@dataclass(frozen=True)
class Job:
    """One chunk of deals to be measured in one way."""

    variant: Variant
    measure: Measure
    chunk: range


def list_jobs(wanted: Sequence[tuple[Variant, Sequence[Measure]]], deals: range) -> Iterator[Job]:
    """All jobs; the kinds take turns, so that the time left is guessed from all of them."""
    for chunk in chunks_of(deals):
        for variant, measures in wanted:
            for measure in measures:
                yield Job(variant, measure, chunk)


def measure_chunk(job: Job) -> tuple[Job, dict[str, Any]]:
    """Does a job."""
    return job, job.measure.measure(job.variant, job.chunk)
