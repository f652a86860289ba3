"""Solves one board from the command line.

A board is read from a file or from standard input, or a deal is dealt:

    python -m yukon_env.solver --variant yukon --deal 17
    python -m yukon_env.solver --variant russian board.txt
    python -m yukon_env.solver --variant yukon --json < board.txt

The exit status is 0 for a winnable game, 1 for an unwinnable one, 3 if a limit left it open, and
2 for a board or an argument that is wrong.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from yukon_env.cards import N_CARDS, card_text
from yukon_env.engine.state import DEAL, FOUNDATION, N_DESTINATIONS
from yukon_env.errors import YukonError
from yukon_env.game import Game
from yukon_env.solver.api import MAX_STATES, MEMORY, Result, solve
from yukon_env.solver.stages import Verdict
from yukon_env.variants import VARIANTS

EXIT_STATUS = {Verdict.WINNABLE: 0, Verdict.UNWINNABLE: 1, Verdict.UNKNOWN: 3}
_MIB = 1 << 20


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status."""
    args = _parser().parse_args(arguments)
    try:
        game = _game(args)
        result = solve(
            game,
            max_states=args.max_states,
            time_limit=args.time_limit,
            seed=args.seed,
            memory=args.memory * _MIB,
        )
    except (YukonError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(_as_json(game, result) if args.json else _as_text(game, result))
    return EXIT_STATUS[result.verdict]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m yukon_env.solver",
        description="Decides whether a game can be won, face-down cards known, and shows how.",
    )
    parser.add_argument("board", nargs="?", default="-", help="file with a board; - for stdin")
    parser.add_argument("--variant", default="yukon", choices=list(VARIANTS), metavar="KEY")
    parser.add_argument("--deal", type=int, help="deal this number instead of reading a board")
    parser.add_argument("--max-states", type=int, default=MAX_STATES, help="positions to visit")
    parser.add_argument("--time-limit", type=float, help="seconds to spend")
    parser.add_argument("--seed", type=int, default=0, help="for the order of moves")
    parser.add_argument("--memory", type=int, default=MEMORY // _MIB, help="MiB for the tables")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def _game(args: argparse.Namespace) -> Game:
    if args.deal is not None:
        return Game(args.variant, deal=args.deal)
    text = sys.stdin.read() if args.board == "-" else Path(args.board).read_text()
    return Game(args.variant, text=text)


def _as_json(game: Game, result: Result) -> str:
    return json.dumps(
        {
            "variant": game.variant.key,
            "verdict": result.verdict,
            "stage": result.stage,
            "states": result.states,
            "seconds": round(result.seconds, 6),
            "actions": list(result.moves),
            "moves": [str(move) for move, _ in _steps(game, result)],
        }
    )


def _as_text(game: Game, result: Result) -> str:
    lines = [
        game.to_text(),
        "",
        f"{game.variant.title}: {result.verdict} "
        f"({result.stage}, {result.states:,} states, {result.seconds:.3f} s)",
    ]
    for number, (move, remark) in enumerate(_steps(game, result), start=1):
        lines.append(f"{number:4}. {move}{remark}")
    return "\n".join(lines)


def _steps(game: Game, result: Result) -> Iterator[tuple[str, str]]:
    """Each move of a solution, as text that can be read alone, and what happens with it."""
    game = game.copy()
    for action in result.moves:
        move = game.move(action)
        before = game.observation()
        remarks = []
        if action != DEAL and action % N_DESTINATIONS != FOUNDATION:
            size = _group_size(before, action // N_DESTINATIONS)
            if size > 1:
                remarks.append(f"with the {size - 1} on it")
        game.play(move)
        turned = np.flatnonzero((before[:, 2] == 0) & (game.observation()[:, 2] == 1))
        if len(turned) > 0:
            remarks.append("turns up " + " ".join(card_text(int(card)) for card in turned))
        yield str(move), f"  ({', '.join(remarks)})" if remarks else ""


def _group_size(observation: np.ndarray, head: int) -> int:
    """How many cards move with the head; 1 if it comes from elsewhere than a column."""
    zone, position, _ = observation[head]
    if zone >= FOUNDATION:
        return 1
    return int(
        sum(observation[c, 0] == zone and observation[c, 1] >= position for c in range(N_CARDS))
    )


if __name__ == "__main__":
    sys.exit(main())
