"""Positions labelled with how the search's games end."""

import itertools

import numpy as np
import pytest
from helpers import COMPILED

from agents.planning import World, count_unknown
from agents.reveal_search.agent import RevealSearchAgent
from agents.reveal_search.labels import new_samples
from agents.reveal_search.outcomes import label_outcomes, play_game
from agents.reveal_search.settings import Settings
from agents.reveal_search.value import N_TOKENS
from yukon_env.solver import Verdict, solve

DEALS = range(20_000, 20_012)
pytestmark = pytest.mark.skipif(not COMPILED, reason="dozens of games of a search")


@pytest.fixture(scope="module")
def player() -> RevealSearchAgent:
    return RevealSearchAgent("yukon", Settings(solved=3, states=200, worlds=3, more=0))


def test_what_can_be_won_is_won_only_from_where_it_can(player: RevealSearchAgent) -> None:
    outcomes = set()
    for deal in DEALS:
        reveals, won = play_game(player, deal, -1, np.random.default_rng(0))
        outcomes.add(won)
        for before, after in reveals:
            assert count_unknown(after) < count_unknown(before)
            if won:
                verdict = solve(World(player.variant, after), max_states=100_000).verdict
                assert verdict != Verdict.UNWINNABLE
        for (_, after), (before, _) in itertools.pairwise(reveals):
            assert (after == before).all()
    assert outcomes == {False, True}


def test_a_game_leaves_the_choices_once_and_only_what_follows_counts(
    player: RevealSearchAgent,
) -> None:
    n_others = 0
    for deal in DEALS:
        whole, _ = play_game(player, deal, -1, np.random.default_rng(0))
        rest, _ = play_game(player, deal, 2, np.random.default_rng(0))
        assert (rest[0][0] == whole[2][0]).all()
        n_others += bool((rest[0][1] != whole[2][1]).any())
    assert 0 < n_others < len(DEALS)


def test_samples_are_filled_with_whole_games(player: RevealSearchAgent) -> None:
    samples = new_samples(100)
    n = label_outcomes(player, DEALS, samples, np.random.default_rng(1))
    rng, lengths, labels = np.random.default_rng(1), [], []
    for deal in DEALS:
        leaves = -1 if rng.integers(4) == 0 else int(rng.integers(16))
        reveals, won = play_game(player, deal, leaves, rng)
        lengths.append(len(reveals))
        labels += [won] * len(reveals)
    assert 60 < n <= 100
    assert n in np.cumsum(lengths)
    assert samples.labels[:n].tolist() == labels[:n]
    tokens = samples.tokens[: samples.starts[n]]
    assert (np.diff(samples.starts[: n + 1]) > 50).all()
    assert 0 <= tokens.min() <= tokens.max() < N_TOKENS
