"""Where a planner loses: `python -m experiments.losses`."""

import numpy as np
import pytest

from agents.errors import AgentError
from agents.planning import World, count_unknown
from experiments.losses import Cause, Loss, describe, find_losses, load_planner, main, play_deal
from yukon_env.evaluation import evaluate
from yukon_env.solver import Verdict, solve
from yukon_env.solver.api import solve_deal
from yukon_env.variants import get_variant

NAME = "reveal-search:russian,solved=2,states=100,worlds=2,more=0,tries=2"
DEALS = range(200)
MAX_STATES = 100_000


@pytest.fixture(scope="module")
def winnable() -> list[int]:
    russian = get_variant("russian")
    return [
        deal
        for deal in DEALS
        if solve_deal(russian, deal, max_states=MAX_STATES).verdict == Verdict.WINNABLE
    ]


def test_games_are_played_as_in_the_evaluation(winnable: list[int]) -> None:
    expected = evaluate(load_planner(NAME, 0), "russian", winnable)
    played = [play_deal(load_planner(NAME, 0), deal) for deal in winnable]
    assert [won for _, won in played] == expected.won.tolist()
    assert [len(steps) for steps, _ in played] == expected.moves.tolist()


def test_a_loss_lies_between_a_position_that_can_be_won_and_one_that_cannot(
    winnable: list[int],
) -> None:
    player, judge = load_planner(NAME, 0), load_planner(NAME, 0, worlds=20)
    causes = set()
    for deal in winnable:
        steps, won = play_deal(player, deal)
        n_winnable, losses = find_losses(player, judge, range(deal, deal + 1), MAX_STATES)
        assert (n_winnable, len(losses)) == (1, not won)
        for loss in losses:
            causes.add(loss.cause)
            if loss.cause == Cause.ALIVE:
                continue
            unknown = [count_unknown(step.record) for step in steps]
            after = [step for step in steps if count_unknown(step.record) < unknown[loss.moves]]
            assert len(set(unknown[: loss.moves])) == loss.reveals
            assert verdict_of(steps[loss.moves].record) == Verdict.WINNABLE
            if after:
                assert verdict_of(after[0].record) == Verdict.UNWINNABLE
    assert len(causes) > 1


def verdict_of(record: np.ndarray) -> Verdict:
    return solve(World(get_variant("russian"), record), max_states=MAX_STATES).verdict


def test_the_table() -> None:
    losses = [Loss(Cause.LUCK, 2, 5), Loss(Cause.LUCK, 4, 9), Loss(Cause.ALIVE)]
    text = describe(7, losses, 500)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]
    assert ["lost", "3", ""] in rows
    assert [f"... {Cause.LUCK}", "2", "67 %"] in rows
    assert "after 2, 3, 4 reveals and 6, 7, 8 moves" in text
    assert "reveals" not in describe(7, losses[2:], 500)


def test_only_planners_can_be_asked() -> None:
    with pytest.raises(AgentError, match="greedy:yukon is no reveal-search"):
        load_planner("greedy:yukon", 0)
    with pytest.raises(SystemExit, match="moon"):
        main(["--agent", "reveal-search:moon"])
