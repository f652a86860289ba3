"""Where a planner loses: `python -m experiments.losses`."""

import re
from typing import Any

import numpy as np
import pytest

from agents.errors import AgentError
from agents.planning import PlanningAgent, World, count_unknown
from agents.reveal_search.agent import RevealSearchAgent
from experiments import losses as losses_module
from experiments.losses import (
    Cause,
    Loss,
    cause_of,
    describe,
    find_losses,
    load_planner,
    main,
    play_deal,
)
from yukon_env.solver import Verdict, solve
from yukon_env.solver.api import solve_deal
from yukon_env.variants import get_variant

NAME = "reveal-search:russian,solved=2,states=100,worlds=2,more=0"
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
            if loss.cause in (Cause.ALIVE, Cause.UNDECIDED):
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


WON, LOST, OPEN = Verdict.WINNABLE, Verdict.UNWINNABLE, Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("kept", "cause"),
    [
        ([WON, LOST], Cause.MISSED),
        ([WON, OPEN], Cause.MISSED),
        ([LOST, WON], Cause.LUCK),
        ([LOST, OPEN, WON], Cause.LUCK),
        ([LOST, LOST], Cause.NO_PLAN),
        ([LOST], Cause.NO_PLAN),
        ([OPEN, WON], Cause.UNDECIDED),
        ([OPEN, LOST], Cause.UNDECIDED),
        ([LOST, OPEN], Cause.UNDECIDED),
    ],
)
def test_the_cause_is_told_by_what_plans_kept_the_win(kept: list[Verdict], cause: Cause) -> None:
    assert cause_of(kept) == cause


def test_the_command_judges_in_as_many_worlds_as_it_says(
    winnable: list[int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = []

    def find(player: PlanningAgent, judge: PlanningAgent, *rest: Any) -> tuple[int, list[Loss]]:
        assert isinstance(judge, RevealSearchAgent)
        asked.append(judge.settings)
        return find_losses(player, judge, *rest)

    monkeypatch.setattr(losses_module, "find_losses", find)
    main(["--agent", NAME, "--deals", f"0-{winnable[3]}", "--worlds", "21"])
    assert [settings.worlds for settings in asked] == [21]
    text = capsys.readouterr().out
    assert f"{NAME}, deals 0-{winnable[3]}" in text
    assert re.search(r"can be won *\| 4 ", text)
    assert "in 21 sampled worlds" in text


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
