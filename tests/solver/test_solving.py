"""The public face of the solver: known boards, limits, determinism, the command line."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import brute
import numpy as np
import pytest
import rulebook
from helpers import BURIED_ACE, KEYS, ONE_MOVE_LEFT, SPADES_LEFT, text_of
from replay import replay

from yukon_env import VARIANTS, Game, Variant
from yukon_env.deals import deck_of_deal
from yukon_env.errors import BoardError, VariantError
from yukon_env.solver import Verdict, solve, solve_deals, workspace
from yukon_env.solver.__main__ import main

# RULES.md: winnable deals that a widely used solver calls lost, and a published layout.
KNOWN_BOARDS = [
    """8C
    <5D> 5S 2C AC 9C TH
    <9D> <4C> 3D 7S TC 4H TD
    <4S> <2D> <QH> 3H 8H 3S QD KH
    <AH> <9S> <QC> <6S> AS JS 8S KS 4D
    <KC> <TS> <6H> <6C> <KD> 7H 3C 8D JC 9H
    <2S> <6D> <5H> <JH> <2H> <5C> AD 7D 7C JD QS""",
    """AH
    <7D> 6H 6S QC 8H 4H
    <6D> <KD> 9H 4C AS 8C TS
    <3C> <3H> <5H> KH 3S 5C QS 2H
    <8S> <7S> <5D> <9D> 4S 3D 7H JS TH
    <JD> <KS> <2C> <QH> <2D> AD 9S 7C 8D 4D
    <TD> <JH> <6C> <5S> <2S> <JC> AC QD 9C KC TC""",
]


def wins(key: str, table: rulebook.Table, moves: tuple[int, ...]) -> bool:
    return rulebook.is_won(replay(table, moves))


@pytest.mark.parametrize("board", KNOWN_BOARDS)
@pytest.mark.parametrize("key", ["yukon", "yukon-relaxed"])
def test_boards_that_another_solver_calls_lost_are_won(board, key):
    result = solve(Game(key, text=board))
    assert result.verdict == Verdict.WINNABLE
    assert wins(key, rulebook.read_table(key, board), result.moves)


@pytest.mark.parametrize("key", KEYS)
def test_deals_are_decided_and_wins_replayed(key):
    for deal in range(12):
        result = solve(Game(key, deal=deal), max_states=400_000)
        if result.verdict == Verdict.WINNABLE:
            assert wins(key, rulebook.deal(key, deck_of_deal(deal).tolist()), result.moves)
        else:
            assert result.moves == ()


@pytest.mark.parametrize(
    ("strict", "loose"),
    [
        ("yukon", "yukon-relaxed"),
        ("yukon", "roslin"),
        ("russian", "russian-relaxed"),
        ("russian", "alaska"),
        ("australian", "raw-prawn"),
        ("australian", "canberra"),
    ],
)
def test_what_strict_rules_win_loose_rules_win(strict, loose):
    for deal in range(100, 140):
        if solve(Game(strict, deal=deal), max_states=50_000).verdict == Verdict.WINNABLE:
            verdict = solve(Game(loose, deal=deal), max_states=500_000).verdict
            assert verdict == Verdict.WINNABLE, deal


@pytest.mark.parametrize("key", KEYS)
def test_verdict_is_constant_along_a_win(key):
    wins_seen = 0
    for deal in range(200, 230):
        game = Game(key, deal=deal)
        result = solve(game, max_states=100_000)
        if result.verdict != Verdict.WINNABLE:
            continue
        wins_seen += 1
        for number, move in enumerate(result.moves):
            if number % 9 == 0:
                assert solve(game, seed=number).verdict == Verdict.WINNABLE, (deal, number)
            game.play(move)
        assert game.won
        if wins_seen == 2:
            break
    assert wins_seen


@pytest.mark.parametrize("key", ["russian", "queensland"])
def test_returns_from_the_foundations_change_no_verdict_in_same_suit_games(key):
    rng = random.Random(5)
    lost = 0
    for _ in range(60):
        table = brute.reduced_table(key, rng)
        state = brute.state_of(table)
        without = brute.can_be_won(table.rules, state, 600)
        with_returns = brute.can_be_won(replace(table.rules, foundation_return=True), state, 3_000)
        if without is not None and with_returns is not None:
            assert without == with_returns
            lost += not without
    assert lost or key == "queensland"


def test_variants_of_ones_own_are_solved():
    variant = replace(VARIANTS["yukon"], key="mine", title="Mine", foundation_return=True)
    for deal in range(5):
        game = Game(variant, deal=deal)
        result = solve(game, max_states=20_000)
        assert result.verdict != Verdict.UNWINNABLE
        for move in result.moves:
            game.play(move)
        assert game.won == (result.verdict == Verdict.WINNABLE)


def test_ends_of_games():
    won = Game("yukon", text="Foundations: C-K D-K H-K S-K" + "\n-" * 7)
    assert (solve(won).verdict, solve(won).moves) == (Verdict.WINNABLE, ())
    assert len(solve(Game("yukon", text=ONE_MOVE_LEFT)).moves) == 1
    assert len(solve(Game("yukon", text=SPADES_LEFT)).moves) == 13
    assert solve(Game("yukon", text=BURIED_ACE)).verdict == Verdict.UNWINNABLE


HARD = 10  # A deal that the first stages leave open.


def test_a_limit_gives_unknown():
    game = Game("yukon", deal=HARD)
    for limits in ({"max_states": 1}, {"max_states": 3_000}, {"time_limit": 0.0}):
        result = solve(game, **limits)
        assert (result.verdict, result.stage, result.moves) == (Verdict.UNKNOWN, "limit", ())
        assert result.states <= 3_000 + 300


def test_interrupt_gives_unknown(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(workspace, "search_on", interrupt)
    assert solve(Game("yukon", deal=0)).verdict == Verdict.UNKNOWN


def test_same_seed_same_result():
    for key in ("yukon", "alaska"):
        for deal in (HARD, 31):
            first, second = (solve(Game(key, deal=deal), max_states=60_000, seed=4) for _ in "ab")
            assert replace(first, seconds=0) == replace(second, seconds=0)


def test_memory_is_kept_to():
    memory = 1 << 21
    result = solve(Game("australian", deal=0), memory=memory, max_states=300_000)
    room = workspace.workspace_for(memory)
    arrays = [value for value in vars(room).values() if isinstance(value, np.ndarray)]
    assert sum(array.nbytes for array in arrays) <= memory
    assert result.verdict != Verdict.WINNABLE


def test_unknown_cards_are_refused():
    game = Game("yukon", deal=3).as_seen()
    with pytest.raises(BoardError, match="determinize"):
        solve(game)
    assert solve(game.determinize(np.random.default_rng(0)), max_states=5_000)


def test_solve_deals_does_not_depend_on_workers():
    deals = [5, 3, *range(20, 30)]
    one, two = (
        solve_deals("russian", deals, workers=workers, progress=False) for workers in (1, 2)
    )
    assert [replace(r, seconds=0) for r in one] == [replace(r, seconds=0) for r in two]
    assert replace(one[1], seconds=0) == replace(solve(Game("russian", deal=3)), seconds=0)


def test_solve_deals_shows_progress(capsys):
    assert len(solve_deals("russian", range(3), workers=1)) == 3
    assert "3/3" in capsys.readouterr().err


def test_command_line_prints_moves_to_follow(capsys, tmp_path):
    path = tmp_path / "board.txt"
    path.write_text(SPADES_LEFT)
    assert main(["--variant", "yukon", str(path)]) == 0
    out = capsys.readouterr().out
    assert "winnable" in out
    assert "  13. KS>foundation" in out


def test_command_line_json_and_exit_status(capsys, tmp_path):
    assert main(["--variant", "russian", "--deal", "9", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["verdict"] == "winnable"
    game = Game("russian", deal=9)
    for action, text in zip(report["actions"], report["moves"], strict=True):
        assert str(game.move(action)) == text
        game.play(text)
    assert game.won
    assert main(["--variant", "russian", "--deal", "0", "--json"]) == 1
    assert main(["--variant", "yukon", "--deal", str(HARD), "--max-states", "1"]) == 3
    path = tmp_path / "bad.txt"
    path.write_text("KS")
    assert main([str(path)]) == 2
    assert "7 columns" in capsys.readouterr().err


def test_text_of_reduced_tables_is_read_back():
    rng = random.Random(6)
    for key in KEYS:
        table = brute.reduced_table(key, rng)
        board = Game(key, text=text_of(table)).board
        assert brute.state_of(brute.table_of_board(board, key)) == brute.state_of(table)


def test_a_variant_that_the_key_has_no_room_for_is_refused() -> None:
    crowded = Variant("crowded", "Crowded", (0,) * 7, (8, 8, 8, 7, 7, 7, 7), "any", up_or_down=True)
    with pytest.raises(VariantError, match="room for 4"):
        solve(Game(crowded, deal=1))
