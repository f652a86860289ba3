"""Decisions of teachers: recorded as a player sees them, kept, and learned."""

import numpy as np
import pytest
import torch

from agents.cloning import (
    Decisions,
    judged_decisions,
    log_chances,
    solver_decisions,
    teacher_decisions,
)
from agents.greedy import GreedyAgent
from agents.networks import NETWORKS, Rulebook
from agents.random_agent import RandomAgent
from yukon_env.game import Game
from yukon_env.variants import VARIANTS

YUKON = VARIANTS["yukon"]
DEALS = np.arange(20_000, 20_010)


def test_an_agents_decisions_are_its_own():
    teacher = GreedyAgent("yukon")
    decisions = teacher_decisions(teacher, YUKON, DEALS)
    assert len(decisions) > 300
    np.testing.assert_array_equal(
        teacher.act(decisions.observations, decisions.masks), decisions.choices.argmax(axis=1)
    )
    assert (decisions.choices.sum(axis=1) == 1).all()
    assert (decisions.masks.sum(axis=1) > 1).all()
    hidden = decisions.observations[:, :, 2] == 0
    assert (decisions.observations[hidden] == (-1, -1, 0)).all()


def test_a_teacher_decides_in_the_positions_of_a_player():
    teacher, player = GreedyAgent("yukon"), RandomAgent(1)
    decisions = teacher_decisions(teacher, YUKON, DEALS, player)
    own = teacher_decisions(RandomAgent(1), YUKON, DEALS)
    np.testing.assert_array_equal(decisions.observations, own.observations)
    np.testing.assert_array_equal(
        teacher.act(decisions.observations, decisions.masks), decisions.choices.argmax(axis=1)
    )
    assert (decisions.choices != own.choices).any()


def test_the_solvers_decisions_win_its_deals():
    decisions = solver_decisions(YUKON, DEALS, max_states=20_000)
    chosen = {
        (observation.tobytes(), action)
        for observation, action in zip(
            decisions.observations, decisions.choices.argmax(axis=1).tolist(), strict=True
        )
    }
    won = 0
    for deal in DEALS.tolist():
        game = Game(YUKON, deal=deal)
        playing = True
        while playing and not game.won:
            legal = np.flatnonzero(game.action_mask()).tolist()
            seen = game.observation().tobytes()
            moves = legal if len(legal) == 1 else [a for a in legal if (seen, a) in chosen]
            playing = bool(moves)
            if playing:
                game.play(moves[0])
        won += game.won
    assert won >= 7


def test_right_is_what_leaves_a_game_that_can_be_won():
    deals = np.array(
        [deal for deal in range(20_000, 20_200) if Game("russian", deal=deal).solve().moves]
    )
    player = GreedyAgent("russian")
    decisions = judged_decisions(player, VARIANTS["russian"], deals, 2000)
    recorded = zip(decisions.observations, decisions.choices, decisions.played, strict=True)
    rows = [tuple(part.tobytes() for part in row) for row in recorded]
    expected = []
    for deal in deals.tolist():
        game, playing = Game("russian", deal=deal), True
        while playing and not game.won:
            seen, mask = game.observation(), game.action_mask()
            legal = np.flatnonzero(mask).tolist()
            winning = [action for action in legal if can_be_won(game, action)]
            action = int(player.act(seen[np.newaxis], mask[np.newaxis])[0])
            if len(legal) > 1:
                right = np.isin(np.arange(417), winning)
                played = right & (np.arange(417) == action)
                expected.append((seen.tobytes(), right.tobytes(), played.tobytes()))
            playing = action in winning
            game.play(action)
    assert sorted(rows) == sorted(expected)
    assert len(expected) > 10


def can_be_won(game: Game, action: int) -> bool:
    """Whether a game can be won after an action."""
    after = game.copy()
    after.play(action)
    return after.solve().verdict == "winnable"


def test_no_decisions_are_no_error():
    assert len(solver_decisions(YUKON, DEALS[:0], max_states=10)) == 0


def test_kept_decisions_come_back(tmp_path):
    decisions = teacher_decisions(GreedyAgent("yukon"), YUKON, DEALS[:3])
    decisions.save(tmp_path / "decisions.npz")
    again = Decisions.load(tmp_path / "decisions.npz")
    np.testing.assert_array_equal(again.observations, decisions.observations)
    np.testing.assert_array_equal(again.masks, decisions.masks)
    np.testing.assert_array_equal(again.choices, decisions.choices)
    np.testing.assert_array_equal(again.played, decisions.played)
    assert len(Decisions.join([decisions, again])) == 2 * len(decisions)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_learns_decisions(name):
    torch.manual_seed(0)
    book, network = Rulebook(["yukon"]), NETWORKS[name](32)
    decisions = teacher_decisions(GreedyAgent("yukon"), YUKON, DEALS[:2])
    which = np.zeros(len(decisions), np.int8)
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    for _ in range(60):
        optimizer.zero_grad()
        loss = -log_chances(network, decisions, book, which)[0].mean()
        loss.backward()
        optimizer.step()
    log_probs, _, met = log_chances(network, decisions, book, which)
    np.testing.assert_array_less(log_probs.detach().numpy(), 1e-6)
    assert met.float().mean() > 0.9
