"""The solver's verdicts against brute force, and its solutions against the rule-book."""

from __future__ import annotations

import math
import random
from collections import Counter

import brute
import pytest
import rulebook
from helpers import KEYS, text_of
from replay import replay
from rulebook import RULES, Table

from yukon_env import VARIANTS, Game
from yukon_env.solver import Verdict
from yukon_env.solver.stages import Kind, Outcome, Run, Stage
from yukon_env.solver.techniques import Techniques, compile_lore, lore_with
from yukon_env.solver.workspace import workspace_for

# The default plan decides small games by its first stages. So that each technique has its say,
# the others are run alone as well; they may leave a game open.
PLANS: dict[str, list[Stage] | None] = {
    "default": None,
    "search": [Stage(Kind.SEARCH, 5_000)],
    "proof": [Stage(Kind.ABSTRACTION, 20_000)],
    "guided search": [
        Stage(Kind.ABSTRACTION, 1),
        Stage(Kind.GUIDED_SEARCH, 5_000, oracle=50, if_open=True),
    ],
}
NO_RELAXATION = "search without relaxation"


def run(table: Table, key: str, plan: str) -> Outcome:
    """Runs one plan on a table of the rule-book."""
    game = Game(key, text=text_of(table))
    lore, stages = compile_lore(game.variant), PLANS.get(plan, PLANS["search"])
    if plan == NO_RELAXATION:
        techniques = Techniques.of(game.variant)
        fields = {**techniques.__dict__, "relaxation": False}
        lore = lore_with(game.variant, Techniques(**fields))
    room = workspace_for(1 << 30)
    return Run(game.record, lore, room, 5_000_000, math.inf, 0, stages).decide()


def check_against_brute_force(key: str, n: int, seed: int, max_states: int) -> Counter[str]:
    """Compares verdicts on `n` small games that brute force decides; returns how many were what."""
    rng = random.Random(f"{key} {seed}")
    plans = [*PLANS, NO_RELAXATION]
    if not Techniques.of(VARIANTS[key]).abstraction:
        plans = ["default", "search", NO_RELAXATION]
    counts: Counter[str] = Counter()
    while counts["winnable"] + counts["unwinnable"] < n:
        table = brute.reduced_table(key, rng)
        if rng.random() < 0.3:
            table = brute.played_table(table, rng, rng.randrange(12))
        winnable = brute.can_be_won(RULES[key], brute.state_of(table), max_states)
        if winnable is None:
            counts["given up by brute force"] += 1
            continue
        truth = Verdict.WINNABLE if winnable else Verdict.UNWINNABLE
        counts[truth] += 1
        for plan in plans:
            outcome = run(table, key, plan)
            if outcome.verdict == Verdict.UNKNOWN and plan != "default":
                counts[f"left open by {plan}"] += 1
                continue
            counts[f"{outcome.verdict} by {outcome.stage} of {plan}"] += 1
            assert outcome.verdict == truth, f"{plan}, {outcome.stage}:\n{text_of(table)}"
            if winnable:
                assert rulebook.is_won(replay(table, outcome.moves))
    return counts


@pytest.mark.parametrize("key", KEYS)
def test_moves_of_brute_force_are_the_rule_books(key):
    rng = random.Random(3)
    for _ in range(15):
        table = brute.played_table(brute.reduced_table(key, rng), rng, rng.randrange(6))
        if not rulebook.is_won(table):
            wanted = {
                brute.state_of(rulebook.play(table, move)) for move in rulebook.legal_actions(table)
            }
            found = {state for _, state in brute.options(RULES[key], brute.state_of(table))}
            assert found == wanted


@pytest.mark.parametrize("key", KEYS)
def test_verdicts_are_those_of_brute_force(key):
    check_against_brute_force(key, 200, seed=1, max_states=250)


@pytest.mark.slow
@pytest.mark.parametrize("key", KEYS)
def test_verdicts_are_those_of_brute_force_on_many_games(key):
    print(key, dict(check_against_brute_force(key, 3_200, seed=2, max_states=2_000)))


@pytest.mark.parametrize("key", ["russian", "russian-relaxed", "odessa", "queensland"])
def test_whole_deals_agree_with_a_search_without_any_technique(key):
    """In these games a search that knows nothing but the moves and the key goes everywhere."""
    counts: Counter[str] = Counter()
    for deal in range(300):
        game = Game(key, deal=deal)
        outcomes = [
            Run(game.record, lore, workspace_for(1 << 30), 5_000_000, math.inf, 0, stages).decide()
            for lore, stages in (
                (compile_lore(game.variant), None),
                (lore_with(game.variant, Techniques(*[False] * 6)), [Stage(Kind.SEARCH, 500_000)]),
            )
        ]
        if outcomes[1].verdict != Verdict.UNKNOWN:
            assert outcomes[0].verdict == outcomes[1].verdict, deal
            counts[outcomes[1].verdict] += 1
    assert min(counts["winnable"], counts["unwinnable"]) >= 10
    assert counts.total() >= 290
