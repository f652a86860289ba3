"""Train, evaluate, compare: `python -m experiments.demo` (or `make demo`).

Trains MaskablePPO on Yukon for a few minutes, plays held-out test deals with it, with the greedy
player and with random play, and leaves the learning curve, the table and the model in a folder.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from agents.files import write_text
from experiments.evaluate import parse_deals
from yukon_env.variants import VARIANTS


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the two commands that a user would run by hand, and says which they are."""
    parser = argparse.ArgumentParser(prog="python -m experiments.demo", description=__doc__)
    parser.add_argument("--variant", choices=VARIANTS, default="yukon")
    parser.add_argument("--seconds", type=int, default=180, help="training time")
    parser.add_argument("--deals", type=_check_deals, default="0-1999", help="test deals to play")
    parser.add_argument("--out", type=Path, default=None, help="run folder; runs/demo-TIME")
    args = parser.parse_args(arguments)
    out = args.out or Path("runs") / time.strftime("demo-%Y%m%d-%H%M%S")
    run("train", "--variant", args.variant, "--seconds", str(args.seconds), "--out", str(out))
    agents = ["random", f"greedy:{args.variant}", f"ppo:{out}"]
    table = run(
        "evaluate", "--variant", args.variant, "--deals", args.deals, "--agents", *agents,
        "--out", str(out / "evaluation.parquet"), capture=True,
    )  # fmt: skip
    write_text(out / "evaluation.md", table)
    print(f"\n{table}\nLearning curve, table and model: {out}")


def _check_deals(text: str) -> str:
    parse_deals(text)
    return text


def run(experiment: str, *arguments: str, capture: bool = False) -> str:
    """Runs `python -m experiments.EXPERIMENT`; returns what it printed, if that is captured."""
    command = [sys.executable, "-m", f"experiments.{experiment}", *arguments]
    print(f"$ python -m experiments.{experiment} {' '.join(arguments)}", flush=True)
    done = subprocess.run(
        command, check=True, text=True, stdout=subprocess.PIPE if capture else None
    )
    return done.stdout or ""


if __name__ == "__main__":
    main()
