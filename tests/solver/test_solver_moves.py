"""The solver's positions and moves are the engine's."""

import random
from dataclasses import replace

import brute
import numpy as np
import pytest
import rulebook
from helpers import KEYS, text_of

from yukon_env import VARIANTS, Game
from yukon_env.engine.compiling import kernel
from yukon_env.engine.state import DEAL, NO_CARD
from yukon_env.solver import position as positions
from yukon_env.solver.position import POSITION
from yukon_env.solver.techniques import Techniques, compile_lore, lore_with


@kernel
def load(position, game, lore):
    return positions.load(position[0], game[0], lore[0])


@kernel
def list_moves(position, lore, moves):
    return positions.list_moves(position[0], lore[0], moves)


@kernel
def do(position, lore, move):
    return positions.do(position[0], lore[0], move)


@kernel
def undo(position, move, info):
    positions.undo(position[0], move, info)


@kernel
def key_after(position, lore, move):
    return positions.key_after(position[0], lore[0], move)


NO_TECHNIQUES = Techniques(False, False, False, False, False, False)


class Walker:
    """A solver's position beside a game; both are moved together."""

    def __init__(self, game: Game) -> None:
        self.game = game
        # Without techniques, so that returns from the foundations are moves as well.
        self.lore = lore_with(game.variant, NO_TECHNIQUES)
        self.position = np.zeros(1, POSITION)
        assert load(self.position, game.record, self.lore) == 52
        self.infos: list[tuple[int, int]] = []

    def moves(self) -> list[int]:
        """The solver's moves."""
        found = np.zeros(positions.MAX_MOVES, np.uint16)
        return found[: list_moves(self.position, self.lore, found)].tolist()

    def play(self, move: int) -> None:
        """Plays a move on both sides."""
        self.infos.append((move, do(self.position, self.lore, move)))
        self.game.play(move)

    def take_back(self) -> None:
        """Takes the last move back on both sides."""
        undo(self.position, *self.infos.pop())
        self.game.undo()

    def check(self) -> None:
        """The position shows what the game shows; its moves are the game's."""
        record, position = self.game.record[0], self.position[0]
        assert position.end.tolist() == record.end.tolist()
        assert position.up.tolist() == record.up.tolist()
        assert (position.n_pile, position.n_waste) == (record.n_pile, record.n_waste)
        assert position.pile[: record.n_pile].tolist() == record.pile[: record.n_pile].tolist()
        assert record.n_pile == 0 or position.redeals_left == record.redeals_left
        for column in range(7):
            card = int(record.end[column])
            while card != NO_CARD:
                assert position.column[card] == column
                assert position.beneath[card] == record.beneath[card]
                card = int(record.beneath[card])
        if not self.game.won:
            wanted = {self.first_space(int(move)) for move in self.game.legal_moves()}
            assert sorted(self.moves()) == sorted(wanted)

    def first_space(self, move: int) -> int:
        """The solver's move: to the first empty column, if the move is to any."""
        ends = self.game.record["end"][0].tolist()
        if move == DEAL or move % 8 == 7 or ends[move % 8] != NO_CARD:
            return move
        return move - move % 8 + ends.index(NO_CARD)

    def key(self) -> tuple[int, ...]:
        """The position's key."""
        return tuple(self.position[0].key.tolist())


def games(key: str, seed: int) -> list[Game]:
    """A deal, and a small game with empty columns or almost won."""
    rng = random.Random(seed)
    small = Game(key, text=text_of(brute.reduced_table(key, rng)))
    return [Game(key, deal=seed), small]


@pytest.mark.parametrize("key", KEYS)
def test_moves_are_the_engines_and_can_be_taken_back(key):
    rng = random.Random(1)
    for seed in range(6):
        for game in games(key, seed):
            walker = Walker(game)
            for _ in range(80):
                walker.check()
                legal = walker.moves()
                if not legal or game.won:
                    break
                before = walker.position.copy()
                for move in legal:
                    foreseen = key_after(walker.position, walker.lore, move)
                    info = do(walker.position, walker.lore, move)
                    assert walker.key() == tuple(int(word) for word in foreseen)
                    undo(walker.position, move, info)
                    assert walker.key() == tuple(before[0].key.tolist())
                    for field in ("face_up", "hidden", "up_set", "moved", "code", "column", "end"):
                        assert np.array_equal(walker.position[field], before[field]), field
                walker.play(rng.choice(legal))
                if rng.random() < 0.1:
                    walker.take_back()


@pytest.mark.parametrize("key", KEYS)
def test_key_tells_positions_apart_exactly(key):
    """Two positions of one game have equal keys if and only if the rule-book calls them equal."""
    rng = random.Random(2)
    for seed in range(3):
        for game in games(key, seed + 100):
            walker = Walker(game)
            table = brute.table_of_board(game.board, key)
            by_state: dict[object, tuple[int, ...]] = {}
            by_key: dict[tuple[int, ...], object] = {}
            for _ in range(100):
                state = brute.state_of(table)
                assert by_state.setdefault(state, walker.key()) == walker.key()
                assert by_key.setdefault(walker.key(), state) == state
                legal = walker.moves()
                if game.won or not legal:
                    break
                move = rng.choice(legal)
                walker.play(move)
                table = rulebook.play(table, move)


def test_a_card_back_on_a_parent_that_was_face_down_is_another_position():
    """4S lies on the face-down 5H: once it has left and come back, 5H is face up."""
    text = "Foundations: C-K D-K H-4 S-3\n" + "\n".join(
        ["<5H> 4S", "<6H> 5S", "KH QH JH TH 9H 8H 7H", "KS QS JS TS 9S 8S 7S 6S", "-", "-", "-"]
    )
    walker = Walker(Game("yukon-relaxed", text=text))
    start = walker.key()
    four_of_spades = 3 * 13 + 3
    walker.play(four_of_spades * 8 + 4)
    walker.play(four_of_spades * 8 + 0)
    assert walker.key() != start
    walker.check()


def test_lore_derives_techniques_from_fields_alone():
    assert Techniques.of(VARIANTS["yukon"]) == Techniques(False, True, True, True, True, True)
    assert not Techniques.of(VARIANTS["yukon-relaxed"]).kings_to_spaces
    assert not Techniques.of(VARIANTS["tasmanian"]).unwanted_up_from_waste
    assert Techniques.of(VARIANTS["australian"]).ignore_returns
    with_returns = replace(VARIANTS["yukon"], key="x", foundation_return=True)
    assert Techniques.of(with_returns) == NO_TECHNIQUES
    assert compile_lore(with_returns)[0].returns
