"""Chooses deals by what the solver said: `python -m experiments.difficulty.select`.

    python -m experiments.difficulty.select data/train --variant yukon --out winnable.txt
    python -m experiments.difficulty.select data/train --variant yukon --levels 4 --out level.txt

The first writes the deals that can be won, the second level-1.txt to level-4.txt, from easy to
hard. Environments draw from such a file: `YukonVectorEnv(64, "yukon", deals="winnable.txt")`.
What is trained on must not be held out: measure deals of the train split, 20,000 and up.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments.difficulty.declared import find_variant
from experiments.difficulty.errors import StudyError
from experiments.difficulty.tables import Verdicts, read_verdicts
from yukon_env.errors import YukonError


def winnable(verdicts: Verdicts, min_states: int = 0, max_states: int | None = None) -> Verdicts:
    """The deals that can be won, as far as the solver decided.

    Args:
        verdicts: What it said.
        min_states: Only those for which it visited at least so many positions.
        max_states: Only those for which it visited at most so many.
    """
    states = verdicts.states
    fits = (states >= min_states) & (max_states is None or states <= max_states)
    return verdicts.where(verdicts.winnable & fits)


def curriculum(verdicts: Verdicts, levels: int) -> list[np.ndarray]:
    """The deals that can be won, from easy to hard, in equal shares.

    Easy is what the solver wins after few positions. Deals of equally many stay in the order of
    their numbers.

    Returns:
        `levels` arrays of deal numbers, each rising.

    Raises:
        StudyError: There are fewer deals than levels.
    """
    chosen = winnable(verdicts)
    deals = chosen.deals[np.argsort(chosen.states, kind="stable")]
    if not 1 <= levels <= len(deals):
        raise StudyError(f"{len(deals)} deals that can be won do not make {levels} levels")
    return [np.sort(part) for part in np.array_split(deals, levels)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes files of deal numbers."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.difficulty.select",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", type=Path, help="a folder of the study, or a file of its deals")
    parser.add_argument("--variant", required=True, help="a key, or file.py:NAME")
    parser.add_argument("--min-states", type=int, default=0, help="of the solver, at least")
    parser.add_argument("--max-states", type=int, help="of the solver, at most")
    parser.add_argument("--levels", type=int, help="a file for each of so many levels")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    args = parser.parse_args(arguments)
    try:
        verdicts = read_verdicts(args.data, find_variant(args.variant))
        chosen = winnable(verdicts, args.min_states, args.max_states)
        pools, files = [chosen.deals], [args.out]
        if args.levels is not None:
            pools = curriculum(chosen, args.levels)
            files = [
                args.out.with_stem(f"{args.out.stem}-{level + 1}") for level in range(args.levels)
            ]
        for file, deals in zip(files, pools, strict=True):
            file.write_text("".join(f"{deal}\n" for deal in deals))
            print(f"{file}: {len(deals)} deals")
    except YukonError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
