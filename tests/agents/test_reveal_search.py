"""The player that searches for reveals: what it may know, what it plays, how it is set."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers import KEYS, ONE_MOVE_LEFT, SPADES_LEFT, played

import agents
from agents.errors import AgentError
from agents.greedy import WEIGHTS, GreedyAgent
from agents.planning import Plan, World, count_unknown
from agents.reveal_search import agent as module
from agents.reveal_search.agent import RevealSearchAgent
from agents.reveal_search.room import MAX_STATES
from agents.reveal_search.settings import Settings, default_settings
from agents.reveal_search.value import SHAPES, Network, read_network, write_network
from yukon_env import VARIANTS, Game
from yukon_env.engine.repeats import Repeats
from yukon_env.engine.state import compile_rules
from yukon_env.evaluation import evaluate
from yukon_env.solver import Result, Verdict, solve

SMALL = Settings(solved=2, states=100, options=3, worlds=2, finalists=2, more=2)


def random_network(seed: int) -> Network:
    rng = np.random.default_rng(seed)
    return Network(
        **{name: rng.normal(0, 0.1, shape).astype(np.float32) for name, shape in SHAPES.items()}
    )


def small_agent(key: str, settings: Settings = SMALL) -> RevealSearchAgent:
    """An agent with a learned value, whether or not there is one for the variant."""
    return RevealSearchAgent(key, settings, network=random_network(1))


def unknown(game: Game) -> int:
    return count_unknown(game.record)


def decide(agent: agents.Agent, game: Game) -> int:
    return int(agent.act(game.observation()[np.newaxis], game.action_mask()[np.newaxis])[0])


def plans_of(agent: RevealSearchAgent, game: Game) -> list[Plan]:
    """The plans that were judged: none where the agent found no way to a reveal."""
    plans = agent.plans(game.as_seen(), game.action_mask(), choosing=False)
    return [plan for plan in plans if "worlds" in plan.numbers]


def play_to_reveal(agent: RevealSearchAgent, game: Game) -> list[int]:
    """Lets the agent play until a card is revealed or the game ends; returns its moves.

    Where it finds no way to a reveal it may go in circles: then its first moves.
    """
    actions: list[int] = []
    before = unknown(game)
    while game.legal_moves() and unknown(game) == before and len(actions) < 40:
        actions.append(decide(agent, game))
        game.play(actions[-1])
    return actions


def played_greedily(key: str, deal: int, steps: int) -> Game:
    game, greedy = Game(key, deal=deal), GreedyAgent(key)
    for _ in range(steps):
        if game.legal_moves():
            game.play(decide(greedy, game))
    return game


def early_games(key: str) -> list[Game]:
    """Games with many hidden cards, and some of them in reach."""
    games = [played_greedily(key, 21_000 + steps, steps) for steps in (0, 3, 6)]
    games = [game for game in games if game.legal_moves() and unknown(game) > 5]
    assert len(games) > 1
    return games


def late_games(key: str, n: int) -> list[Game]:
    """Games that the greedy player has brought to one unknown card, or none, and can be won."""
    greedy, games = GreedyAgent(key), []
    for deal in range(21_100, 21_200):
        game = Game(key, deal=deal)
        while game.legal_moves() and unknown(game) > 1 and len(game._history) < 100:
            game.play(decide(greedy, game))
        if unknown(game) <= 1 and not game.won and game.solve(max_states=10_000).moves:
            games.append(game)
        if len(games) == n:
            return games
    raise AssertionError(f"fewer than {n} late games of {key}")


# --------------------------------------------------------------------------------------------
# What it knows and plays
# --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", KEYS)
def test_games_that_differ_in_hidden_cards_get_the_same_plans(key: str) -> None:
    for game in early_games(key):
        first, *others = (game, *(game.determinize(np.random.default_rng(n)) for n in range(2)))
        view = first.observation(), first.action_mask()
        ranking = small_agent(key).rank(*view)
        moves = play_to_reveal(small_agent(key), first.copy())
        for other in others:
            assert other.to_text() != game.to_text()
            assert small_agent(key).rank(other.observation(), other.action_mask()) == ranking
            assert play_to_reveal(small_agent(key), other) == moves


@pytest.mark.parametrize("key", KEYS)
def test_plans_are_legal_and_their_last_move_reveals(key: str) -> None:
    agent, n_plans = small_agent(key), 0
    for game in early_games(key):
        plans = plans_of(agent, game)
        n_plans += len(plans)
        assert len({plan.actions for plan in plans}) == len(plans)
        for plan in plans:
            world = game.determinize(np.random.default_rng(1))
            for action in plan.actions:
                assert unknown(world) == unknown(game)
                world.play(action)
            assert unknown(world) < unknown(game)
    assert n_plans > 0


@pytest.mark.parametrize("key", KEYS)
def test_only_allowed_moves_are_played(key: str) -> None:
    """Also where the mask leaves a single move, or the moves that nothing speaks for."""
    agent, game = small_agent(key), Game(key, deal=21_020)
    planned = {plan.actions[0] for plan in plans_of(agent, game)}
    moves = {int(move) for move in game.legal_moves()}
    for allowed in [{move} for move in moves] + [moves - planned] * (planned < moves):
        mask = np.isin(np.arange(417), list(allowed)).astype(np.int8)
        assert agent.act(game.observation()[np.newaxis], mask[np.newaxis])[0] in allowed
        assert {plan.actions[0] for plan in agent.plans(game.as_seen(), mask, False)} <= allowed


def test_a_plan_that_the_mask_forbids_is_given_up() -> None:
    agent = small_agent("yukon")
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


def test_the_seed_fixes_the_moves_and_other_seeds_make_others() -> None:
    def moves(seed: int) -> list[int]:
        agent = RevealSearchAgent("yukon", SMALL, seed, random_network(1))
        return [decide(agent, Game("yukon", deal=deal)) for deal in range(20_000, 20_020)]

    assert moves(1) == moves(1)
    assert moves(1) != moves(2)


def test_a_batch_is_decided_game_by_game() -> None:
    games = [played("yukon", deal, 5) for deal in range(21_010, 21_014)]
    together = small_agent("yukon").act(
        np.array([game.observation() for game in games]),
        np.array([game.action_mask() for game in games]),
    )
    assert together.dtype == np.int64
    assert together.tolist() == [decide(small_agent("yukon"), game) for game in games]


@pytest.mark.parametrize("text", [ONE_MOVE_LEFT, SPADES_LEFT])
def test_it_plays_what_is_left_when_all_cards_are_seen(text: str) -> None:
    game, agent = Game("yukon", text=text), small_agent("yukon")
    while not game.won:
        game.play(decide(agent, game))


@pytest.mark.parametrize("key", ["yukon", "brisbane"])
def test_it_wins_what_is_seen_to_be_won(key: str) -> None:
    for game in late_games(key, 3):
        agent = small_agent(key)
        while not game.won:
            game.play(decide(agent, game))


def test_it_plays_on_where_nothing_leads_to_a_reveal() -> None:
    """Only a king's way up and a queen's move to a king are left; TC wants JC, and JC wants QC."""
    text = "Foundations: C-7 D-K H-Q S-Q\n<8C> <KS> TC JC\nQC 9C\nKC\nKH\n-\n-\n-"
    game, agent = Game("russian", text=text), small_agent("russian")
    assert not plans_of(agent, game)
    for _ in range(2):
        game.play(decide(agent, game))
    assert game.dead_end
    assert unknown(game) == 2


def test_where_nothing_leads_to_a_reveal_it_moves_as_the_greedy_player_does() -> None:
    agent, greedy, n_told = small_agent("yukon"), GreedyAgent("yukon"), 0
    for deal in range(22_200, 22_225):
        game = played("yukon", deal, 10 + deal % 60)
        if unknown(game) > 1 and game.legal_moves() and not plans_of(agent, game):
            move = decide(greedy, game)
            assert decide(agent, game) == move
            n_told += move != game.action_mask().argmax()
    assert n_told > 0


def test_a_certain_game_that_nobody_wins_is_solved_once_and_played_as_the_greedy_player_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    solved = []

    def solve_and_note(world: World, **limit: int) -> Result:
        solved.append(solve(world, **limit))
        return solved[-1]

    monkeypatch.setattr(module, "solve", solve_and_note)
    agent, greedy, game = small_agent("yukon"), GreedyAgent("yukon"), Game("yukon", deal=21_102)
    while unknown(game) > 1:
        game.play(decide(greedy, game))
    repeats, rules, n_moves = Repeats(1), compile_rules(game.variant), 0
    while game.legal_moves():
        view = game.observation()[np.newaxis], game.action_mask()[np.newaxis]
        if repeats.forbid(game.record, rules, view[1])[0]:
            break
        move = int(agent.act(*view)[0])
        assert move == greedy.act(*view)[0]
        game.play(move)
        n_moves += 1
    assert n_moves > 3
    assert [result.verdict for result in solved] == [Verdict.UNWINNABLE]


# --------------------------------------------------------------------------------------------
# How plans are judged
# --------------------------------------------------------------------------------------------


def test_the_estimate_is_drawn_towards_the_value() -> None:
    settings = Settings(solved=4, states=300, options=3, worlds=4, finalists=2, more=8, weight=6)
    n_plans = 0
    for game in early_games("yukon"):
        numbers = [plan.numbers for plan in plans_of(small_agent("yukon", settings), game)]
        n_plans = max(n_plans, len(numbers))
        if len(numbers) > 2:
            assert [told["worlds"] for told in numbers] == [12, 12] + [4] * (len(numbers) - 2)
            assert numbers[0]["estimate"] >= numbers[1]["estimate"]
            others = [told["estimate"] for told in numbers[2:]]
            assert others == sorted(others, reverse=True)
            for told in numbers:
                wins = told["won"] * told["worlds"] + 6 * told["value"]
                assert told["estimate"] == pytest.approx(wins / (told["worlds"] + 6))
    assert n_plans > 2


def test_without_a_learned_value_only_the_worlds_count(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "network_file", lambda variant: tmp_path / "none.npz")
    for game in early_games("yukon"):
        for plan in plans_of(RevealSearchAgent("yukon", SMALL), game):
            assert plan.numbers.keys() == {"estimate", "won", "worlds"}
            won = plan.numbers["won"]
            assert math.isnan(won) or plan.numbers["estimate"] == pytest.approx(won)


def test_a_certain_win_is_not_played_by_the_longest_way() -> None:
    """Where cards may be built up and down the solver's wins take hundreds of moves."""
    agent, longest = RevealSearchAgent("roslin", SMALL), 0
    for game in late_games("roslin", 4):
        view = game.as_seen()
        longest = max(longest, len(solve(World(game.variant, view.record)).moves))
        (plan,) = agent.plans(view, game.action_mask(), choosing=True)
        assert len(plan.actions) < 100
        for action in plan.actions:
            game.play(action)
        assert game.won
    assert longest > 150


def test_the_best_ranked_move_is_the_one_played() -> None:
    for game in early_games("yukon"):
        agent = small_agent("yukon")
        ranking = agent.rank(game.observation(), game.action_mask())
        assert ranking[0].action == decide(agent, game)
        assert sorted(move.action for move in ranking) == sorted(map(int, game.legal_moves()))


# --------------------------------------------------------------------------------------------
# Settings, names, files
# --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bad",
    [
        {"solved": -1},
        {"worlds": 1_000_000},
        {"weight": math.nan},
        {"weight": -0.5},
        {"states": 0},
        {"states": MAX_STATES + 1},
    ],
)
def test_settings_out_of_range_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(AgentError, match=f"{next(iter(bad))} is"):
        Settings(**bad)  # type: ignore[arg-type]


def test_what_the_name_does_not_set_is_the_default_of_the_variant() -> None:
    agent = agents.load("reveal-search:australian,worlds=5")
    assert isinstance(agent, RevealSearchAgent)
    assert agent.settings == replace(default_settings("australian"), worlds=5)
    assert default_settings("australian") != default_settings("yukon") == Settings()
    assert RevealSearchAgent("australian").settings == default_settings("australian")


def test_the_name_sets_the_options() -> None:
    agent = agents.load("reveal-search:yukon, worlds=4,weight=2.5", seed=3, options=7)
    assert isinstance(agent, RevealSearchAgent)
    assert agent.settings == Settings(worlds=4, weight=2.5, options=7)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("reveal-search", "`reveal-search:` needs a variant, not ''"),
        ("reveal-search:yukon,world=3", "unknown option 'world'; known are solved, states"),
        ("reveal-search:yukon,worlds=1.5", "worlds is a whole number"),
        ("reveal-search:yukon,states=0", "states is from 1 to"),
    ],
)
def test_wrong_names_are_refused(name: str, message: str) -> None:
    with pytest.raises(AgentError, match=message):
        agents.load(name)


def test_a_network_is_written_and_read(tmp_path: Path) -> None:
    network = random_network(2)
    write_network(tmp_path / "value.npz", network)
    for written, read in zip(network, read_network(tmp_path / "value.npz"), strict=True):
        assert read.dtype == np.float32
        np.testing.assert_allclose(read, written, rtol=1e-3, atol=1e-6)


def test_files_without_a_fitting_network_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "value.npz"
    with pytest.raises(AgentError, match="holds no learned value"):
        read_network(path)
    path.write_text("nothing")
    with pytest.raises(AgentError, match="holds no learned value"):
        read_network(path)
    np.savez(path, tokens=np.zeros(3))
    with pytest.raises(AgentError, match="holds no learned value"):
        read_network(path)
    network = random_network(2)
    write_network(path, network._replace(features=network.features[1:]))
    with pytest.raises(AgentError, match="other tokens or features"):
        read_network(path)


def test_the_learned_values_fit_and_are_small() -> None:
    paths = sorted(WEIGHTS.glob("value-*.npz"))
    assert paths
    for path in paths:
        assert path.stem.removeprefix("value-") in VARIANTS
        assert all(np.isfinite(array).all() for array in read_network(path))
    assert sum(path.stat().st_size for path in WEIGHTS.iterdir()) < 5_000_000


@pytest.mark.slow
def test_it_plays_better_than_the_greedy_player() -> None:
    deals = range(10_000, 10_200)
    planner = evaluate(RevealSearchAgent("yukon"), "yukon", deals)
    greedy = evaluate(GreedyAgent("yukon"), "yukon", deals)
    assert planner.win_rate > greedy.win_rate + 0.05
