"""Where a planner loses games that could be won: `python -m experiments.losses`.

    python -m experiments.losses --agent reveal-search:yukon --deals 0-299

plays deals, and for each lost one that a player who sees every card can win, finds the plan that
lost it: before it the game could still be won, after it no more. Then all plans that the planner
thought of there are played in the true game, and judged in many more sampled worlds than it had.
Perhaps none of them kept the win. Or the best one did, and more thought would have found it. Or
even the best one, on what could be seen, loses this game: the hidden cards were unlucky.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from tqdm import tqdm

import agents
from agents.errors import AgentError
from agents.planning import Plan, PlanningAgent, World, count_unknown, play
from experiments.difficulty.measures import UNDECIDED, moves_until_lost
from experiments.evaluate import parse_deals, parse_seed, positive
from experiments.results import markdown
from experiments.runs import fail
from yukon_env.engine.state import compile_rules
from yukon_env.errors import YukonError
from yukon_env.evaluation import evaluate
from yukon_env.game import Game
from yukon_env.solver import Verdict, solve
from yukon_env.solver.api import solve_deal
from yukon_env.variants import Variant


class Cause(StrEnum):
    """Why a game was lost."""

    NO_PLAN = "no plan kept it"
    MISSED = "the best plan kept it"
    LUCK = "the best plan lost it, too"
    ALIVE = "never: it ended where it could be won"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Loss:
    """A lost game that could be won.

    Attributes:
        cause: Why it was lost.
        reveals: Reveals before the plan that lost it.
        moves: Moves before that plan.
    """

    cause: Cause
    reveals: int = 0
    moves: int = 0


@dataclass(frozen=True)
class Step:
    """A move of a game.

    Attributes:
        record: GAME, shape (1,): the game before it.
        mask: int8, shape (417,): the moves that the player was offered.
        action: What he played.
    """

    record: np.ndarray
    mask: np.ndarray
    action: int


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line."""
    args = make_parser().parse_args(arguments)
    try:
        player, judge = (
            load_planner(args.agent, args.seed, **options)
            for options in ({}, {"worlds": args.worlds, "more": 0})
        )
        n_winnable, losses = find_losses(player, judge, args.deals, args.max_states)
    except YukonError as error:
        fail(error)
    print(f"{args.agent}, deals {args.deals.start}-{args.deals.stop - 1}\n")
    print(describe(n_winnable, losses, args.worlds))


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.losses",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--agent", required=True, help=agents.KINDS["reveal-search"].form)
    parser.add_argument("--deals", type=parse_deals, default=range(300), help="17 or 0-1999")
    parser.add_argument(
        "--worlds", type=positive, default=500, help="sampled worlds to judge the plans afterwards"
    )
    parser.add_argument(
        "--max-states", type=positive, default=1_000_000, help="positions the solver may visit"
    )
    parser.add_argument("--seed", type=parse_seed, default=0, help="for the planner's worlds")
    return parser


def load_planner(name: str, seed: int, **options: int) -> PlanningAgent:
    """Loads a planner whose plans are judged in sampled worlds.

    Raises:
        AgentError: It is another kind of agent.
    """
    if not name.startswith("reveal-search:"):
        raise AgentError(f"{name} is no reveal-search")
    agent = agents.load(name, seed, **options)
    assert isinstance(agent, PlanningAgent)
    return agent


def find_losses(
    player: PlanningAgent, judge: PlanningAgent, deals: range, max_states: int
) -> tuple[int, list[Loss]]:
    """Plays deals and explains the losses.

    Args:
        player: Who plays.
        judge: The same with more worlds for each plan; it must think of the same plans.
        deals: Deal numbers.
        max_states: Positions that the solver may visit at each question.

    Returns:
        How many of the deals can be won, and the losses among them.
    """
    n_winnable, losses = 0, []
    for deal in tqdm(deals, unit="deal"):
        if solve_deal(player.variant, deal, max_states=max_states).verdict == Verdict.WINNABLE:
            n_winnable += 1
            steps, won = play_deal(player, deal)
            if not won:
                losses.append(explain_loss(player, judge, deal, steps, max_states))
    return n_winnable, losses


def play_deal(player: PlanningAgent, deal: int) -> tuple[list[Step], bool]:
    """Plays a deal by the protocol of the evaluation; returns the moves, and whether it won."""
    game, steps = Game(player.variant, deal=deal), []

    def act(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        actions = player.act(observations, masks)
        steps.append(Step(game.record.copy(), masks[0], int(actions[0])))
        game.play(int(actions[0]))
        return actions

    return steps, bool(evaluate(act, player.variant, [deal]).won[0])


def explain_loss(
    player: PlanningAgent, judge: PlanningAgent, deal: int, steps: list[Step], max_states: int
) -> Loss:
    """Finds the plan that lost a game, and why it was played."""
    line = [step.action for step in steps]
    lost_at = moves_until_lost(player.variant, deal, line, max_states)
    if lost_at is None or lost_at == UNDECIDED:
        return Loss(Cause.ALIVE if lost_at is None else Cause.UNDECIDED)
    unknown = [count_unknown(step.record) for step in steps]
    start = unknown.index(unknown[lost_at - 1])
    cause = _explain_plan(judge, steps[start], max_states)
    return Loss(cause, len(set(unknown[:start])), start)


def _explain_plan(judge: PlanningAgent, step: Step, max_states: int) -> Cause:
    """Says why a plan that lost the game was chosen."""
    view = Game.of_record(judge.variant, step.record).as_seen()
    plans = judge.plans(view, step.mask, choosing=False)
    kept = [keeps_the_win(judge.variant, step.record, plan, max_states) for plan in plans]
    return cause_of(kept)


def cause_of(kept: Sequence[Verdict]) -> Cause:
    """Says why the win was lost, of verdicts on the game after each plan, the best plan first."""
    if kept[0] == Verdict.WINNABLE:
        return Cause.MISSED
    if kept[0] == Verdict.UNKNOWN:
        return Cause.UNDECIDED
    if Verdict.WINNABLE in kept:
        return Cause.LUCK
    return Cause.UNDECIDED if Verdict.UNKNOWN in kept else Cause.NO_PLAN


def keeps_the_win(variant: Variant, record: np.ndarray, plan: Plan, max_states: int) -> Verdict:
    """Whether the true game can be won after a plan."""
    rules = compile_rules(variant)
    for action in plan.actions:
        record = play(record, rules, action)
    return solve(World(variant, record), max_states=max_states).verdict


def describe(n_winnable: int, losses: list[Loss], n_worlds: int) -> str:
    """Writes the losses as a table."""
    rows = [("can be won", f"{n_winnable}", ""), ("lost", f"{len(losses)}", "")]
    rows += [
        (f"... {cause}", f"{n}", f"{100 * n / max(len(losses), 1):.0f} %")
        for cause in Cause
        if (n := sum(loss.cause == cause for loss in losses))
    ]
    table = markdown(("deals", "", "of the lost"), rows)
    in_play = [loss for loss in losses if loss.cause in (Cause.NO_PLAN, Cause.MISSED, Cause.LUCK)]
    if not in_play:
        return table
    reveals, moves = (
        ", ".join(f"{q:.0f}" for q in np.percentile(numbers, (25, 50, 75)))
        for numbers in ([loss.reveals for loss in in_play], [loss.moves for loss in in_play])
    )
    return (
        f"{table}\n\nThe plan that lost came after {reveals} reveals and {moves} moves "
        f"(quartiles). *Best*: in {n_worlds} sampled worlds."
    )


if __name__ == "__main__":
    main()
