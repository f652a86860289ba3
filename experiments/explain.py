"""What an agent thinks of each legal move: `python -m experiments.explain`.

    python -m experiments.explain --agent greedy:yukon --variant yukon --deal 17 --move 12

shows the position after twelve moves of that agent (which, as in the evaluation, enters no
position twice), and its ranking of the moves, the best first, with its numbers. `--board FILE`
takes a position from a file instead (`-` for standard input), of which no move is ruled out.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap

import numpy as np

import agents
from agents.errors import AgentError
from agents.ranking import RankedMove, Ranker
from experiments.evaluate import parse_seed
from experiments.runs import fail
from yukon_env.engine.repeats import Repeats
from yukon_env.errors import YukonError
from yukon_env.evaluation import Agent
from yukon_env.game import Game
from yukon_env.variants import VARIANTS

WIDTH = 100
MOST_NUMBERS = 8
INDENT = " " * 24


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line."""
    args = make_parser().parse_args(arguments)
    try:
        agent = agents.load(args.agent, args.seed)
        game, mask = find_position(args, agent)
        print(explain(agent, args.agent, game, mask))
    except (YukonError, OSError) as error:
        fail(error)


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.explain",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--agent", required=True, help=agents.HELP)
    parser.add_argument("--variant", choices=VARIANTS, default="yukon")
    position = parser.add_mutually_exclusive_group(required=True)
    position.add_argument("--deal", type=int, help="deal this number")
    position.add_argument("--board", metavar="FILE", help="a board from a file; - for stdin")
    parser.add_argument("--move", type=parse_seed, default=0, help="moves that the agent has made")
    parser.add_argument("--seed", type=parse_seed, default=0, help="for agents that draw")
    return parser


def find_position(args: argparse.Namespace, agent: Agent) -> tuple[Game, np.ndarray]:
    """Deals or reads the game, and lets the agent play; returns game and mask, int8 (417,).

    Raises:
        YukonError: The board or deal is bad, or the game is over before the move asked for.
    """
    if args.board is not None:
        text = sys.stdin.read() if args.board == "-" else Path(args.board).read_text()
        game = Game(args.variant, text=text)
    else:
        game = Game(args.variant, deal=args.deal)
    repeats = Repeats(1)
    for move in range(args.move + 1):
        mask = game.action_mask()
        stuck = repeats.forbid(game.record, game.rules, mask[np.newaxis])[0]
        if game.won or game.dead_end or stuck:
            raise AgentError(f"the game is over after {move} moves: there is none to explain")
        if move < args.move:
            game.play(choose(agent, game, mask))
    return game, mask


def choose(agent: Agent, game: Game, mask: np.ndarray) -> int:
    """Asks the agent for a move."""
    return int(agent.act(game.observation()[np.newaxis], mask[np.newaxis])[0])


def explain(agent: Agent, name: str, game: Game, mask: np.ndarray) -> str:
    """Writes the board, as the player sees it, and the ranking.

    Raises:
        AgentError: The agent cannot rank moves.
    """
    if not isinstance(agent, Ranker):
        raise AgentError(f"{name} cannot explain its moves: it has no method `rank`")
    moves = agent.rank(game.observation(), mask)
    lines = [game.variant.title, str(game), "", f"{name} on {len(moves)} legal moves:", ""]
    lines += [describe_move(game, place, move) for place, move in enumerate(moves, start=1)]
    played = game.move(choose(agent, game, mask))
    return "\n".join([*lines, "", f"It plays {played}."])


def describe_move(game: Game, place: int, move: RankedMove) -> str:
    """Writes a move of the ranking with its numbers."""
    start = f"{place:3}. {game.move(move.action)!s}".ljust(len(INDENT))
    shown = list(move.numbers.items())[:MOST_NUMBERS]
    numbers = ", ".join(f"{name} {value:.3g}" for name, value in shown)
    return "\n".join(wrap(numbers or "-", WIDTH, initial_indent=start, subsequent_indent=INDENT))


if __name__ == "__main__":
    main()
