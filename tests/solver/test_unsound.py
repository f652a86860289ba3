"""For each rule of thumb in `unsound`: a game that it would call lost, and that can be won."""

import brute
import pytest
import unsound
from replay import replay
from rulebook import RULES, is_won

from yukon_env import Game
from yukon_env.solver import Verdict, solve

# The rule, the variant, the board.
REFUTATIONS = [
    (
        "change parent only for the foundation",
        "yukon",
        """
        Foundations: C-8 D-8 H-7 S-7
        TH QD 9H
        <QC> <TC> <8H> <TD> JH
        JD
        -
        9S
        <8S> <JS> <QS> <KS> <QH> <JC> KD
        <KC> <KH> <9C> <TS> 9D
        """,
    ),
    (
        "join a settled run",
        "yukon",
        """
        Foundations: C-9 D-9 H-9 S-9
        -
        -
        -
        -
        -
        <TD> <TC> <TS> <JH> <JS> <JD> <QS> QD KD KH
        <TH> <QC> <KS> <QH> <JC> KC
        """,
    ),
    (
        "klondike rule",
        "yukon",
        """
        Foundations: C-6 D-7 H-7 S-6
        <8S> JS 7S QS
        <JD> <TS> <QH> <7C> <8D> 9D
        <8H> <KD> <9H> <8C> <9C> <TD> KC
        -
        <QC> <JH> <QD> <TH> <KS> 9S
        <KH> <JC> TC
        -
        """,
    ),
    (
        "never back",
        "yukon",
        """
        Foundations: C-6 D-5 H-4 S-3
        <4S> <5H> <6H> 5S
        7C 6D
        <KC> <QC> <JC> <TC> <9C> 8C
        <KD> <QD> <JD> <9D> <8D> <7D> TD
        <KH> <QH> <JH> <9H> <8H> <7H> TH
        <KS> <QS> <JS> <TS> <9S> <8S> <7S> 6S
        -
        """,
    ),
    (
        "never change parent",
        "yukon",
        """
        Foundations: C-0 D-0 H-0 S-0
        <KC> <QC> <JC> <TC> <9C> <8C> <7C> <6C> <2D> <4D> <5H> <2H> <6H> <4S> <5D> 5S
        <KD> <QD> <JD> <TD> <9D> <8D> <7D> <6D> AH AD 2C
        <KH> <QH> <JH> <TH> 9H 8H 7H
        <KS> <QS> <JS> <TS> <9S> <8S> <7S> <6S> <3D> 2S 5C
        <3H> <3C> 3S 4C
        -
        <AC> <AS> 4H
        """,
    ),
    (
        "turn at once",
        "yukon",
        """
        Foundations: C-9 D-9 H-9 S-9
        -
        -
        -
        -
        -
        <TD> <TC> <TS> <JH> <JS> <JD> <QS> QD KD KH
        <TH> <QC> <KS> <QH> <JC> KC
        """,
    ),
    (
        "twos up",
        "yukon",
        """
        Foundations: C-0 D-0 H-0 S-0
        <KC> <QC> <JC> <TC> <9C> <8C> <7C> <6C> <5C> AH 4D
        <KD> <QD> <JD> <TD> <9D> <8D> <7D> <6D> <AS> <2C> <2H> <3C> 3S
        <KH> <QH> <JH> <TH> <9H> <8H> <7H> <6H> <5H> <3D> 4C 4H
        <KS> <QS> <JS> <TS> <9S> <8S> <7S> <6S> <5S> <4S> <AD> <2S> 3H 5D
        -
        2D AC
        -
        """,
    ),
    (
        "up at once",
        "alaska",
        """
        Foundations: C-9 D-T H-J S-T
        -
        -
        -
        -
        -
        <KH> <TC> <QD> KC JD QH
        <KD> <KS> <QC> <JS> JC QS
        """,
    ),
    (
        "up at once",
        "yukon",
        """
        Foundations: C-T D-T H-J S-T
        JC QS
        -
        <QD> KC KH
        <JS> <KD> QC
        <JD> KS
        -
        QH
        """,
    ),
]


@pytest.mark.parametrize(("rule", "key", "board"), REFUTATIONS)
def test_rule_of_thumb_calls_a_winnable_game_lost(rule, key, board):
    game = Game(key, text=board)
    table = brute.table_of_board(game.board, key)
    state = brute.state_of(table)
    rule_of_thumb = unsound.RULES_OF_THUMB[rule]
    assert unsound.can_be_won_with(rule_of_thumb, RULES[key], state, 20_000) is False
    assert brute.can_be_won(RULES[key], state, 20_000)
    result = solve(game)
    assert result.verdict == Verdict.WINNABLE
    assert is_won(replay(table, result.moves))


def test_each_rule_of_thumb_is_refuted():
    assert {rule for rule, _, _ in REFUTATIONS} == set(unsound.RULES_OF_THUMB)
