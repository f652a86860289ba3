"""The player of sampled worlds: what it may know, what it plays, how it is set."""

import time

import numpy as np
import pytest
from helpers import KEYS, ONE_MOVE_LEFT, SPADES_LEFT, played

import agents
from agents.errors import AgentError
from agents.greedy import GreedyAgent
from agents.sampled_worlds import SampledWorldsAgent, Settings
from yukon_env import Game
from yukon_env.evaluation import evaluate

SMALL = Settings(worlds=4, solved=2, states=200)


def decide(agent: agents.Agent, game: Game) -> int:
    return int(agent.act(game.observation()[np.newaxis], game.action_mask()[np.newaxis])[0])


def play_to_reveal(agent: SampledWorldsAgent, game: Game) -> list[int]:
    """Lets the agent play until a card is revealed or the game ends; returns its moves."""
    actions = []
    unknown = (game.observation()[:, 0] < 0).sum()
    while game.legal_moves() and (game.observation()[:, 0] < 0).sum() == unknown:
        actions.append(decide(agent, game))
        game.play(actions[-1])
        assert len(actions) < 100
    return actions


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("judge", ["greedy", "solver", "votes"])
def test_games_that_differ_in_hidden_cards_get_the_same_moves(key: str, judge: str) -> None:
    settings = Settings(worlds=4, solved=2, states=200, judge=judge)
    for deal, steps in ((21_000, 0), (21_001, 15)):
        game = played(key, deal, steps)
        if game.legal_moves():
            others = [game.determinize(np.random.default_rng(number)) for number in range(2)]
            plans = [
                play_to_reveal(SampledWorldsAgent(key, settings), other)
                for other in (game, *others)
            ]
            assert plans[0] == plans[1] == plans[2]


def test_the_seed_fixes_the_moves_and_other_seeds_make_others() -> None:
    def moves(seed: int) -> list[int]:
        agent = SampledWorldsAgent("yukon", SMALL, seed)
        return [decide(agent, Game("yukon", deal=deal)) for deal in range(20_000, 20_020)]

    assert moves(1) == moves(1)
    assert moves(1) != moves(2)


def test_a_batch_is_decided_game_by_game() -> None:
    games = [played("yukon", deal, 5) for deal in range(21_010, 21_016)]
    together = SampledWorldsAgent("yukon", SMALL).act(
        np.array([game.observation() for game in games]),
        np.array([game.action_mask() for game in games]),
    )
    assert together.dtype == np.int64
    assert together.tolist() == [decide(SampledWorldsAgent("yukon", SMALL), g) for g in games]


@pytest.mark.parametrize("key", KEYS)
def test_only_allowed_moves_are_played(key: str) -> None:
    """Also where the mask leaves a single move, whatever was planned."""
    agent = SampledWorldsAgent(key, SMALL)
    game = Game(key, deal=21_020)
    for move in game.legal_moves():
        mask = np.zeros(417, np.int8)
        mask[move] = 1
        assert agent.act(game.observation()[np.newaxis], mask[np.newaxis])[0] == move


def test_a_plan_that_the_mask_forbids_is_given_up() -> None:
    agent = SampledWorldsAgent("yukon", SMALL)
    for deal in range(21_030, 21_060):
        game = Game("yukon", deal=deal)
        plan = play_to_reveal(agent, game.copy())
        if len(plan) > 1:
            game.play(plan[0])
            mask = game.action_mask()
            mask[plan[1]] = 0
            if mask.any():
                assert decide(agent, game) == plan[1]
                assert agent.act(game.observation()[np.newaxis], mask[np.newaxis])[0] != plan[1]
                return
    pytest.fail("no plan of two moves")


@pytest.mark.parametrize("text", [ONE_MOVE_LEFT, SPADES_LEFT])
def test_it_wins_what_is_seen_to_be_won(text: str) -> None:
    game = Game("yukon", text=text)
    agent = SampledWorldsAgent("yukon", SMALL)
    while not game.won:
        game.play(decide(agent, game))


def test_a_proof_counts_more_than_the_greedy_player() -> None:
    """With one unknown card there is one world, so a solution is certain."""
    greedy, n_games = GreedyAgent("yukon"), 0
    for deal in range(21_100, 21_140):
        game = Game("yukon", deal=deal)
        for _ in range(60):
            if game.legal_moves() and (game.observation()[:, 0] < 0).sum() > 1:
                game.play(decide(greedy, game))
        if (game.observation()[:, 0] < 0).sum() <= 1 and game.solve().moves:
            agent = SampledWorldsAgent("yukon", Settings(states=10_000))
            while not game.won:
                game.play(decide(agent, game))
            n_games += 1
    assert n_games > 5


def test_where_no_world_can_be_won_it_plays_greedily() -> None:
    for deal in range(20_000, 20_100):
        game = Game("russian", deal=deal)
        if game.solve().verdict == "unwinnable":
            agent = SampledWorldsAgent("russian", Settings(worlds=1, solved=1, states=1))
            view = game.observation()[np.newaxis], game.action_mask()[np.newaxis]
            assert agent.act(*view) == GreedyAgent("russian").act(*view)
            return
    pytest.fail("no lost deal")


def test_a_limited_redeal_is_read_from_the_mask() -> None:
    game = Game("canberra", deal=20_000)
    while game.board.stock or game.board.redeals_left:
        game.play("deal")
    assert not game.board.stock
    agent = SampledWorldsAgent("canberra", SMALL)
    while game.legal_moves() and not game.won:
        move = decide(agent, game)
        assert move in game.legal_moves()
        game.play(move)
        if len(game._history) > 100:
            break


def test_a_time_limit_is_kept() -> None:
    agent = SampledWorldsAgent("yukon", Settings(worlds=100_000, solved=8, seconds=0.05))
    decide(agent, Game("yukon", deal=20_000))  # Compiles.
    start = time.process_time()
    decide(agent, Game("yukon", deal=20_001))
    assert time.process_time() - start < 1


def test_the_best_ranked_move_is_the_one_played() -> None:
    for deal in range(21_040, 21_046):
        game = played("yukon", deal, 8)
        agent = SampledWorldsAgent("yukon", SMALL)
        ranking = agent.rank(game.observation(), game.action_mask())
        assert ranking[0].action == decide(agent, game)
        assert sorted(move.action for move in ranking) == sorted(map(int, game.legal_moves()))
        assert 0 <= ranking[0].numbers["won"] <= 1


def test_the_name_sets_the_options() -> None:
    agent = agents.load("sampled-worlds:russian, worlds=64,seconds=0.5", seed=3, judge="votes")
    assert isinstance(agent, SampledWorldsAgent)
    assert agent.settings == Settings(worlds=64, seconds=0.5, judge="votes")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("sampled-worlds", "`sampled-worlds:` needs a variant, not ''"),
        ("sampled-worlds:klondike", "needs a variant, not 'klondike'"),
        ("sampled-worlds:yukon,world=3", "unknown option 'world'; known are worlds, solved"),
        ("sampled-worlds:yukon,worlds", "written name=value, not 'worlds'"),
        ("sampled-worlds:yukon,worlds=", "written name=value"),
        ("sampled-worlds:yukon,worlds=9,worlds=8", "worlds is given twice"),
        ("sampled-worlds:yukon,worlds=many", "worlds is a whole number, not 'many'"),
        ("sampled-worlds:yukon,worlds=1.5", "worlds is a whole number"),
        ("sampled-worlds:yukon,seconds=soon", "seconds is a number or none, not 'soon'"),
        ("sampled-worlds:yukon,seconds=0", "seconds is more than 0"),
        ("sampled-worlds:yukon,seconds=nan", "seconds is more than 0"),
        ("sampled-worlds:yukon,worlds=2,solved=3", "worlds at least as many as solved"),
        ("sampled-worlds:yukon,judge=me", "judge is one of greedy, solver, votes"),
    ],
)
def test_wrong_names_are_refused(name: str, message: str) -> None:
    with pytest.raises(AgentError, match=message):
        agents.load(name)


def test_agents_without_options_take_none() -> None:
    with pytest.raises(AgentError, match="'random' agents have no options, so not worlds"):
        agents.load("random", worlds=3)
    with pytest.raises(AgentError, match="unknown option 'world'"):
        agents.load("sampled-worlds:yukon", world=3)


@pytest.mark.slow
def test_it_plays_better_than_the_greedy_player() -> None:
    deals = range(10_000, 10_300)
    planner = evaluate(SampledWorldsAgent("yukon"), "yukon", deals)
    greedy = evaluate(GreedyAgent("yukon"), "yukon", deals)
    assert planner.win_rate > greedy.win_rate + 0.03
