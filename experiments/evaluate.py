"""Plays agents on the same held-out deals: `python -m experiments.evaluate`.

    python -m experiments.evaluate --variant yukon --agents random greedy:yukon --deals test

prints a table with 95 % Wilson intervals, and for each pair of agents the exact McNemar test on
the same deals. `--out results.parquet` (or `.json`) keeps a row per agent and deal, with the
command, the versions and the protocol beside them; `--record` keeps the totals where
`python -m experiments.results` finds them. `--verdicts data/study` adds the share won of the deals
that can be won at all, by the table of `python -m experiments.difficulty`. The same command goes on
after it was killed.
"""

import argparse
import json
import os
import re
import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm import tqdm

import agents
from agents.errors import AgentError
from agents.files import write_text, write_whole
from experiments.playing import ROWS, Part, forget, play_parts
from experiments.results import markdown, record
from experiments.runs import provenance
from yukon_env.deals import SPLITS
from yukon_env.errors import YukonError
from yukon_env.evaluation import MAX_MOVES, Evaluation
from yukon_env.variants import VARIANTS

if TYPE_CHECKING:
    from experiments.difficulty.tables import Verdicts

# Large enough for a network to answer for many games at once.
PART_SIZE = 1000
RUNS = Path("runs/evaluate")
COLUMN_NAMES = {"deals": "deal"}


def main(arguments: Sequence[str] | None = None) -> None:
    """Evaluates the agents of the command line, prints the tables and keeps the rows."""
    parser = make_parser()
    args = parser.parse_args(arguments)
    parts = {name: list_parts(name, args) for name in args.agents}
    try:
        if len(parts) < len(args.agents):
            raise AgentError("an agent is named twice")
        verdicts = None if args.verdicts is None else find_verdicts(args)
        results = {name: evaluate_agent(name, parts[name], args) for name in parts}
    except YukonError as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        sys.exit("\ninterrupted; the same command goes on from here")
    print(describe_protocol(next(iter(results.values()))))
    print(format_table(results))
    if verdicts is not None:
        print(f"\n{format_winnable(results, verdicts)}")
    if len(results) > 1:
        print(f"\n{format_comparisons(results)}")
    about = describe_run(args, results)
    print(f"\n{describe_versions(about)}")
    if args.out is not None:
        write_results(args.out, results, about)
        print(f"Rows written to {args.out}")
    if args.record:
        for name, result in results.items():
            print(f"Recorded in {record(name, result, about)}")
    for played in parts.values():
        forget(played, args.runs)


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.evaluate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--variant", choices=VARIANTS, default="yukon")
    parser.add_argument(
        "--agents",
        nargs="+",
        required=True,
        metavar="AGENT",
        help=agents.HELP,
    )
    parser.add_argument(
        "--deals", type=parse_deals, default=SPLITS["test"], help="test, validation, 17 or 0-1999"
    )
    parser.add_argument(
        "--max-moves", type=positive, default=MAX_MOVES, help="cut games after these"
    )
    parser.add_argument(
        "--allow-repeats", action="store_true", help="offer moves back to earlier positions, too"
    )
    parser.add_argument(
        "--part", type=positive, default=PART_SIZE, help="deals that are played, and kept, at once"
    )
    parser.add_argument(
        "--jobs", type=positive, default=1, help="processes that play; the result is the same"
    )
    parser.add_argument(
        "--runs", type=Path, default=RUNS, help="folder for parts of a run that is not finished"
    )
    parser.add_argument(
        "--verdicts",
        type=Path,
        metavar="PATH",
        help="a folder or file of experiments.difficulty that says which deals can be won",
    )
    parser.add_argument("--seed", type=parse_seed, default=0, help="for agents that draw")
    parser.add_argument(
        "--out", type=parse_out, metavar="FILE", help="keep the rows: a .parquet or .json file"
    )
    parser.add_argument(
        "--record", action="store_true", help="keep the totals in experiments/results"
    )
    return parser


def parse_deals(text: str) -> range:
    """Reads `test`, `validation`, `17` or `0-1999` (both ends are played)."""
    if text in ("test", "validation"):
        return SPLITS[text]
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not test, validation, 17 or 0-1999")
    first, last = int(match[1]), int(match[2] or match[1])
    deals = range(first, last + 1)
    if not deals:
        raise argparse.ArgumentTypeError(f"{text!r} ends before it starts")
    return deals


def parse_seed(text: str) -> int:
    """Reads a whole number that is not negative."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number, at least 0")
    return int(text)


def positive(text: str) -> int:
    """Reads a whole number above 0."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return int(text)


def parse_out(text: str) -> Path:
    """Reads the name of a file that results can be written to."""
    path = Path(text)
    if path.suffix not in (".parquet", ".json"):
        raise argparse.ArgumentTypeError(f"{text!r} must end in .parquet or .json")
    if not os.access(path.resolve().parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"there is no folder to write {text!r} to")
    return path


def list_parts(agent: str, args: argparse.Namespace) -> list[Part]:
    """Splits the deals of the command line into parts for one agent."""
    deals = args.deals
    return [
        Part(
            agent, args.variant, deals[start], deals[start : start + args.part].stop,
            args.seed, args.max_moves, args.allow_repeats,
        )
        for start in range(0, len(deals), args.part)
    ]  # fmt: skip


def evaluate_agent(agent: str, parts: list[Part], args: argparse.Namespace) -> Evaluation:
    """Evaluates an agent, with a progress bar."""
    agents.load(agent, args.seed)  # A bad name is an error before any game.
    with tqdm(total=len(args.deals), desc=agent, unit="game", leave=False) as bar:
        return play_parts(parts, args.runs, args.jobs, bar.update)


def describe_run(args: argparse.Namespace, results: dict[str, Evaluation]) -> dict[str, Any]:
    """What stands beside the rows: the protocol, and all it takes to have them again."""
    return provenance(
        variant=args.variant,
        deals=[args.deals.start, args.deals.stop],
        max_moves=args.max_moves,
        allow_repeats=args.allow_repeats,
        part=args.part,
        jobs=args.jobs,
        seed=args.seed,
        seconds={name: result.seconds for name, result in results.items()},
    )


def describe_versions(about: dict[str, Any]) -> str:
    """Says in a line what the figures were made with."""
    packages = ", ".join(f"{name} {number}" for name, number in about["packages"].items())
    commit = about["git_commit"] or "unknown"
    return f"Seed {about['seed']}; Python {about['python']}, {packages}; commit {commit}"


def describe_protocol(result: Evaluation) -> str:
    """Says in a line what was played, and how."""
    repeats = "may be entered again" if result.allow_repeats else "are not entered again"
    return (
        f"{result.variant.title}, deals {result.deals[0]}-{result.deals[-1]} "
        f"({len(result.deals)}), at most {result.max_moves} moves, positions {repeats}\n"
    )


def format_table(results: dict[str, Evaluation]) -> str:
    """A Markdown table with a row per agent."""
    rows = [
        (
            name,
            f"{100 * result.win_rate:.1f} %",
            "{:.1f} to {:.1f}".format(*(100 * end for end in result.interval)),
            f"{result.cards_up.mean():.1f}",
            f"{result.moves.mean():.1f}",
            f"{1000 * result.seconds / len(result.deals):.2f} ms",
        )
        for name, result in results.items()
    ]
    return markdown(("agent", "won", "95 % interval", "cards up", "moves", "time a game"), rows)


def find_verdicts(args: argparse.Namespace) -> "Verdicts":
    """Reads which of the deals can be won.

    Raises:
        YukonError: The table is not there, or lacks some of the deals.
    """
    from experiments.difficulty.tables import read_verdicts  # Only this needs pyarrow.

    verdicts = read_verdicts(args.verdicts, VARIANTS[args.variant])
    return verdicts.of_deals(np.array(args.deals))


def format_winnable(results: dict[str, Evaluation], verdicts: "Verdicts") -> str:
    """A line on what can be won, and a Markdown table with a row per agent."""
    rows = []
    for name, result in results.items():
        share = verdicts.share_won(result.won)
        least, most, *ends = (100 * value for value in share or (0, 0, 0, 1))
        rows.append(
            (
                name,
                f"{least:.1f} %" if least == most else f"{least:.1f} to {most:.1f} %",
                "{:.1f} to {:.1f}".format(*ends),
            )
        )
    line = (
        f"All cards seen, {verdicts.winnable.sum()} of {len(verdicts.deals)} deals can be won, "
        f"{verdicts.undecided.sum()} are undecided and counted both ways"
    )
    return f"{line}\n\n" + markdown(("agent", "won of these", "95 % interval"), rows)


def format_comparisons(results: dict[str, Evaluation]) -> str:
    """A Markdown table with a row per pair of agents."""
    rows = []
    for (name, first), (other, second) in combinations(results.items(), 2):
        difference, p_value = first.compare(second)
        only_first = int((first.won & ~second.won).sum())
        only_second = int((second.won & ~first.won).sum())
        rows.append(
            (
                f"{name} - {other}",
                f"{100 * difference:+.1f}",
                str(only_first),
                str(only_second),
                f"{p_value:.2g}",
            )
        )
    header = ("same deals", "points", "only the first won", "only the second", "McNemar p")
    return markdown(header, rows)


def write_results(path: Path, results: dict[str, Evaluation], about: dict[str, Any]) -> None:
    """Writes a row per agent and deal, and where they come from, in one file."""
    columns = {
        field: np.concatenate([getattr(result, field) for result in results.values()])
        for field in ROWS
    }
    names = [name for name, result in results.items() for _ in result.deals]
    rows = {"agent": names, **{COLUMN_NAMES.get(key, key): columns[key] for key in columns}}
    if path.suffix == ".json":
        lists = {name: np.asarray(column).tolist() for name, column in rows.items()}
        write_text(path, json.dumps({"about": about, "columns": lists}) + "\n")
    else:
        write_parquet(path, rows, about)


def write_parquet(path: Path, rows: dict[str, Any], about: dict[str, Any]) -> None:
    """Writes columns as a Parquet file, with `about` as JSON in its metadata."""
    import pyarrow as pa  # Only those who keep Parquet need it.
    import pyarrow.parquet as pq

    metadata = {b"about": json.dumps(about).encode()}
    table = pa.table(rows).replace_schema_metadata(metadata)
    write_whole(path, lambda file: pq.write_table(table, file))


if __name__ == "__main__":
    main()
