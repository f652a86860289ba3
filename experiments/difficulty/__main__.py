"""Measures deals by solver and agents: `python -m experiments.difficulty`.

    python -m experiments.difficulty --variants yukon russian --deals 0-999 \\
        --agents random greedy:{variant} --out data/study

writes data/study/deals/yukon.parquet and .../russian.parquet, a row per deal. Killed at any moment,
the same command goes on where it was. The same folder may be given more deals, more agents or more
variants later; what has been measured is not measured again. A variant may be one's own,
`file.py:NAME`, where NAME is a `Variant`. An agent's columns are called after its kind, or as one
says: `--agents best=ppo:runs/mine`; {variant} stands for the variant's key.
"""

import argparse
import re
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tqdm import tqdm

import agents
from experiments.difficulty.declared import find_variant
from experiments.difficulty.engines import run_here, run_on_ray
from experiments.difficulty.errors import StudyError
from experiments.difficulty.jobs import list_jobs, measure_chunk
from experiments.difficulty.measures import Figures, Measure, Player, Solver
from experiments.difficulty.store import Store
from experiments.evaluate import parse_deals, positive
from yukon_env.deals import SPLITS
from yukon_env.errors import YukonError
from yukon_env.evaluation import MAX_MOVES
from yukon_env.solver.api import MAX_STATES
from yukon_env.variants import Variant


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures what the command line asks for."""
    parser = make_parser()
    args = parser.parse_args(arguments)
    try:
        wanted = [(variant, measures_of(args, variant)) for variant in find_variants(args.variants)]
        store = Store(args.out)
        with store.locked():
            measure_all(store, wanted, args)
    except YukonError as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        sys.exit("stopped; the same command goes on from here")


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.difficulty",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--variants", nargs="+", required=True, metavar="VARIANT", help="keys, or file.py:NAME"
    )
    parser.add_argument(
        "--deals", type=parse_deals, default=SPLITS["test"], help="test, validation, 17 or 0-1999"
    )
    parser.add_argument("--agents", nargs="*", default=[], metavar="AGENT", help=agents.HELP)
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    parser.add_argument(
        "--max-states", type=positive, default=MAX_STATES, help="positions the solver may visit"
    )
    parser.add_argument(
        "--max-moves", type=positive, default=MAX_MOVES, help="cut agents' games there"
    )
    parser.add_argument(
        "--lost-at",
        action="store_true",
        help="let the solver find when an agent's game became unwinnable; several times the work",
    )
    parser.add_argument("--workers", type=positive, default=-1, help="processes; one per core")
    parser.add_argument(
        "--cluster", metavar="ADDRESS", help="a Ray cluster: ray://HOST:PORT, or local to start one"
    )
    return parser


def find_variants(names: Sequence[str]) -> list[Variant]:
    """Reads the names of variants.

    Raises:
        YukonError: One is unknown, or named twice.
    """
    variants = [find_variant(name) for name in names]
    keys = [variant.key for variant in variants]
    twice = {key for key in keys if keys.count(key) > 1}
    if twice:
        raise StudyError(f"{sorted(twice)[0]} is asked for twice")
    return variants


def measures_of(args: argparse.Namespace, variant: Variant) -> list[Measure]:
    """What is to be measured on the deals of a variant.

    Raises:
        YukonError: An agent is unknown, or two have the same label.
    """
    lost_at = args.max_states if args.lost_at else 0
    players = [
        Player(label, name.replace("{variant}", variant.key), args.max_moves, lost_at)
        for label, name in map(read_agent, args.agents)
    ]
    labels = [player.label for player in players]
    if len(set(labels)) < len(labels):
        raise StudyError(f"agents need labels of their own, not {', '.join(labels)}")
    for player in players:
        agents.load(player.agent)
    return [Figures(), Solver(args.max_states), *players]


def read_agent(text: str) -> tuple[str, str]:
    """Reads `greedy:yukon`, or `label=greedy:yukon`: the label of the columns, and the agent."""
    labelled = re.fullmatch(r"([a-z][a-z0-9_]*)=(.+)", text)
    if labelled:
        return labelled[1], labelled[2]
    return text.partition(":")[0].replace("-", "_"), text


def measure_all(
    store: Store, wanted: list[tuple[Variant, list[Measure]]], args: argparse.Namespace
) -> None:
    """Measures what is not measured yet, then puts the dataset together."""
    for variant, measures in wanted:
        for measure in measures:
            store.prepare(variant, measure)
    store.note_command(deals=[args.deals.start, args.deals.stop])
    jobs = list(list_jobs(wanted, args.deals))
    open_jobs = [job for job in jobs if not store.has_part(job.variant, job.measure, job.chunk)]
    total, left = (sum(len(job.chunk) for job in some) for some in (jobs, open_jobs))
    run = partial(run_on_ray, address=args.cluster) if args.cluster else run_here
    with tqdm(total=total, initial=total - left, unit="deal", smoothing=0.05) as bar:
        for job, columns in run(measure_chunk, open_jobs, args.workers) if open_jobs else ():
            store.write_part(job.variant, job.measure, job.chunk, columns)
            bar.update(len(job.chunk))
    for variant, measures in wanted:
        store.assemble(variant, measures, args.deals)
    print(f"{len(args.deals)} deals of {len(wanted)} variants: {store.folder / 'deals'}")


if __name__ == "__main__":
    main()
