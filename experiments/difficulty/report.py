"""What the analyses share: they read datasets and write a page, with a picture and its command."""

import argparse
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from experiments.difficulty.tables import Deals, read_folders
from experiments.runs import ROOT
from yukon_env.errors import YukonError
from yukon_env.variants import VARIANTS

RESULTS = ROOT / "experiments" / "difficulty" / "results"


@dataclass(frozen=True)
class Report:
    """What an analysis found.

    Attributes:
        title: Its heading.
        text: Markdown: what was measured, and tables.
        figure: A picture of it, or none.
    """

    title: str
    text: str
    figure: Figure | None = None


def run_analysis(
    name: str,
    about: str,
    analyse: Callable[[dict[str, Deals]], Report],
    arguments: Sequence[str] | None,
) -> None:
    """The command line of an analysis: datasets in, NAME.md and NAME.png out.

    Args:
        name: Its module, and what its files are called.
        about: For `--help`.
        analyse: Makes the report from the deals of each variant, by key; the same from the same.
        arguments: The command line, or None for that of the process.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m experiments.difficulty.{name}",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", nargs="+", type=Path, help="folders that the study wrote")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="FOLDER")
    args = parser.parse_args(arguments)
    try:
        report = analyse(in_order(read_folders(args.data)))
    except YukonError as error:
        parser.error(str(error))
    command = shlex.join(["python", "-m", f"experiments.difficulty.{name}", *map(str, args.data)])
    args.out.mkdir(parents=True, exist_ok=True)
    page = f"# {report.title}\n\n    {command}\n\n{report.text}\n"
    if report.figure is not None:
        picture = args.out / f"{name}.png"
        # No version and no time in the file: the same data give the same bytes.
        report.figure.savefig(picture, dpi=120, metadata={"Software": None, "Comment": command})
        page += f"\n![{report.title}]({picture.name})\n"
    (args.out / f"{name}.md").write_text(page)
    print(page)


def in_order(deals: dict[str, Deals]) -> dict[str, Deals]:
    """The variants of the package first, in their order; then the others by their keys."""
    places = {key: place for place, key in enumerate(VARIANTS)}
    keys = sorted(deals, key=lambda key: (places.get(key, len(places)), key))
    return {key: deals[key] for key in keys}


def percent(share: float) -> str:
    """A share as per cent, such as `89.7`."""
    return f"{100 * share:.1f}"


def between(low: float, high: float) -> str:
    """Two shares as per cent: `89.7`, or `90.8 to 93.6` where they differ."""
    return percent(low) if percent(low) == percent(high) else f"{percent(low)} to {percent(high)}"


def interval(ends: tuple[float, float]) -> str:
    """An interval of shares as per cent, such as `[89.1, 90.3]`."""
    return f"[{percent(ends[0])}, {percent(ends[1])}]"


def counted(key: str, n: int) -> str:
    """A variant with the number of its deals, for a picture, such as `yukon (10,000)`."""
    return f"{key} ({n:,})"


def span(deals: Deals) -> str:
    """The deal numbers of a dataset in words, such as `0-9,999`."""
    return f"{deals.deals[0]:,}-{deals.deals[-1]:,}"
