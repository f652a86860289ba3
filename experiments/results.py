"""The figures of the README, from the files behind them: `python -m experiments.results`.

`python -m experiments.evaluate --record` leaves a small file per variant and agent in
`experiments/results/`: the totals, which deals were won, and the command, versions and protocol
that made them. This command prints them as the tables of the README; `--write README.md` puts
them between the marks in that file.
"""

import argparse
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agents.files import write_text
from experiments.runs import fail, write_json
from yukon_env.errors import YukonError
from yukon_env.evaluation import Evaluation
from yukon_env.stats import mcnemar_exact, wilson_interval
from yukon_env.variants import VARIANTS

FOLDER = Path(__file__).parent / "results"
START, END = "<!-- printed by python -m experiments.results -->", "<!-- end -->"
BASELINES = ("random", "greedy:{}")


@dataclass(frozen=True)
class Record:
    """What is kept of an agent's games.

    Attributes:
        agent: Its name.
        variant: The variant's key.
        deals: The deals that were played.
        protocol: The limit of moves, and whether positions could be entered again.
        won: bool, shape (n,).
        cards_up: Mean of the cards on the foundations at the end.
        moves: Mean of the moves.
        milliseconds: Time a game.
    """

    agent: str
    variant: str
    deals: range
    protocol: tuple[int, bool]
    won: np.ndarray
    cards_up: float
    moves: float
    milliseconds: float

    @property
    def rate(self) -> str:
        """Per cent won, with its interval."""
        wins, games = int(self.won.sum()), len(self.won)
        low, high = wilson_interval(wins, games)
        return f"{100 * wins / games:.1f} [{100 * low:.1f}, {100 * high:.1f}]"

    def compare(self, other: "Record") -> str:
        """Points more than another agent on the same deals, and the exact McNemar p.

        Empty if the other has not played all of these deals, or by another protocol.
        """
        first = self.deals.start - other.deals.start
        theirs = other.won[max(first, 0) :][: len(self.won)]
        if first < 0 or len(theirs) < len(self.won) or self.protocol != other.protocol:
            return ""
        mine, only_theirs = int((self.won & ~theirs).sum()), int((theirs & ~self.won).sum())
        points = 100 * (mine - only_theirs) / len(self.won)
        return f"{points:+.1f} (p = {mcnemar_exact(mine, only_theirs):.2g})"


def record(agent: str, result: Evaluation, about: dict[str, Any]) -> Path:
    """Keeps the totals of an evaluation; returns the file."""
    slug = re.sub(r"[^\w.,=-]+", "-", agent)
    path = FOLDER / result.variant.key / f"{slug}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    endings, counts = np.unique(result.ending, return_counts=True)
    content = {
        **about,
        "agent": agent,
        "seconds": round(result.seconds, 3),
        "games": len(result.won),
        "wins": int(result.won.sum()),
        "cards_up": round(float(result.cards_up.mean()), 3),
        "moves": round(float(result.moves.mean()), 3),
        "endings": dict(zip(endings.tolist(), counts.tolist(), strict=True)),
        # A bit per deal, the first of each byte the highest, as hexadecimal digits.
        "won": np.packbits(result.won).tobytes().hex(),
    }
    write_json(path, content)
    return path


def read_records(folder: Path = FOLDER) -> list[Record]:
    """Reads all files, in the order of the variants and of the agents' names."""
    records = [_read(path) for path in sorted(folder.glob("*/*.json"))]
    return sorted(records, key=lambda item: list(VARIANTS).index(item.variant))


def _read(path: Path) -> Record:
    kept = json.loads(path.read_text())
    bits = np.frombuffer(bytes.fromhex(kept["won"]), np.uint8)
    return Record(
        agent=kept["agent"],
        variant=kept["variant"],
        deals=range(*kept["deals"]),
        protocol=(kept["max_moves"], kept["allow_repeats"]),
        won=np.unpackbits(bits, count=kept["games"]).astype(bool),
        cards_up=kept["cards_up"],
        moves=kept["moves"],
        milliseconds=1000 * kept["seconds"] / kept["games"],
    )


def tables(records: Iterable[Record]) -> str:
    """The tables of the README: the two baselines in all variants, then the other agents."""
    found = {(item.variant, item.agent): item for item in records}
    baselines, others = [], []
    for variant in VARIANTS:
        random, greedy = (found.get((variant, name.format(variant))) for name in BASELINES)
        if random is not None and greedy is not None:
            up, moves = f"{greedy.cards_up:.1f}", f"{greedy.moves:.1f}"
            baselines.append((f"`{variant}`", random.rate, greedy.rate, up, moves))
        names = [name for key, name in found if key == variant]
        for name in names:
            if name not in {base.format(variant) for base in BASELINES}:
                others.append(_other_row(found[variant, name], greedy))
    header = ("V", "`random`", "`greedy:V`", "its cards up", "its moves")
    text = markdown(header, baselines)
    if others:
        header = ("agent", "test deals", "won, %", "more than `greedy`", "ms a game")
        text += "\n\n" + markdown(header, others)
    return text


def _other_row(item: Record, greedy: Record | None) -> tuple[str, ...]:
    deals = f"{item.deals[0]:,}-{item.deals[-1]:,}"
    more = item.compare(greedy) if greedy is not None else ""
    return f"`{item.agent}`", deals, item.rate, more, f"{item.milliseconds:.3g}"


def markdown(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table, its columns aligned for reading as text, too."""
    rows = [header, *rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def put_between_marks(text: str, printed: str) -> str:
    """Replaces what stands between the marks.

    Raises:
        YukonError: The marks are not there.
    """
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not (start and end):
        raise YukonError(f"there are no marks {START} and {END} to write between")
    return f"{before}{START}\n\n{printed}\n\n{END}{after}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.results",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the tables into this file")
    args = parser.parse_args(arguments)
    printed = tables(read_records())
    if args.write is None:
        print(printed)
        return
    try:
        write_text(args.write, put_between_marks(args.write.read_text(), printed))
    except (YukonError, OSError) as error:
        fail(error)


if __name__ == "__main__":
    main()
