"""The held-out protocol: what it plays, what it shows to an agent, what it refuses."""

from collections.abc import Callable

import numpy as np
import pytest

from yukon_env import VARIANTS, Game, YukonError
from yukon_env.errors import DealError, MoveError
from yukon_env.evaluation import (
    DEAD_END,
    MOVE_LIMIT,
    NO_NEW_POSITION,
    WON,
    Evaluation,
    evaluate,
)

Act = Callable[[np.ndarray, np.ndarray], np.ndarray]


def first(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
    return masks.argmax(axis=1)


def last(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
    return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


def play_by_hand(key: str, deal: int, act: Act, max_moves: int, allow_repeats: bool) -> tuple:
    """The protocol, written again with `Game`: won, moves, cards up, hidden, ending."""
    game = Game(key, deal=deal)
    seen: set[int] = set()
    moves, ending = 0, ""
    while not ending:
        seen.add(game.key)
        mask = game.action_mask()
        for move in [] if allow_repeats else game.legal_moves():
            game.play(move)
            mask[move] = game.key not in seen
            game.undo()
        if game.won:
            ending = WON
        elif game.dead_end:
            ending = DEAD_END
        elif not mask.any():
            ending = NO_NEW_POSITION
        elif moves == max_moves:
            ending = MOVE_LIMIT
        else:
            game.play(int(act(game.observation()[np.newaxis], mask[np.newaxis])[0]))
            moves += 1
    up, hidden = sum(game.board.foundations), sum(game.board.hidden)
    return game.won, moves, up, hidden, ending


@pytest.mark.parametrize("key", VARIANTS)
@pytest.mark.parametrize("allow_repeats", [False, True])
def test_the_protocol_written_again_gives_the_same(key: str, allow_repeats: bool) -> None:
    deals = [3, 20_017, 2**62, 0, 9_999, 3]
    for act in (first, last):
        result = evaluate(act, key, deals, max_moves=60, allow_repeats=allow_repeats, batch_size=4)
        for row, deal in enumerate(deals):
            expected = play_by_hand(key, deal, act, 60, allow_repeats)
            got = (result.won, result.moves, result.cards_up, result.hidden, result.ending)
            assert tuple(array[row] for array in got) == expected


def test_the_batch_size_changes_nothing() -> None:
    whole = evaluate(last, "yukon-relaxed", range(100))
    for batch_size in (1, 7, 99, 1000):
        part = evaluate(last, "yukon-relaxed", range(100), batch_size=batch_size)
        np.testing.assert_array_equal(part.moves, whole.moves)
        np.testing.assert_array_equal(part.won, whole.won)


def test_an_agent_sees_what_a_player_sees_and_only_games_in_play() -> None:
    def act(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        assert observations.dtype == masks.dtype == np.int8
        assert observations.shape[1:] == (52, 3)
        assert masks.shape == (len(observations), 417)
        assert masks.any(axis=1).all()
        assert not masks.all(axis=1).any()
        for observation, mask in zip(observations, masks, strict=True):
            view = Game.from_observation("yukon", observation)
            legal = {int(move) for move in view.legal_moves()}
            assert set(np.flatnonzero(mask).tolist()) <= legal
        observations[:] = 0  # What an agent does to its arrays is its own affair.
        actions = first(observations, masks)
        masks[:] = 0
        return actions

    result = evaluate(act, "yukon", range(20), max_moves=30)
    expected = evaluate(first, "yukon", range(20), max_moves=30)
    np.testing.assert_array_equal(result.moves, expected.moves)
    np.testing.assert_array_equal(result.cards_up, expected.cards_up)


def test_an_object_with_act_is_an_agent_and_progress_is_told() -> None:
    class Agent:
        act = staticmethod(first)

    told: list[int] = []
    result = evaluate(Agent(), "russian", range(50), progress=told.append)
    assert sum(told) == 50
    assert "50 deals" in str(result)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda n: np.zeros(n), "whole numbers"),
        (lambda n: np.zeros(n + 1, np.int64), "whole numbers"),
        (lambda n: np.full(n, 417), "0 to 416"),
        (lambda n: np.full(n, -1), "0 to 416"),
        (lambda n: np.full(n, 416), "does not allow"),
        (lambda n: None, "whole numbers"),
    ],
)
def test_bad_answers_are_errors(answer: Callable[[int], np.ndarray], message: str) -> None:
    with pytest.raises(MoveError, match=message):
        evaluate(lambda observations, masks: answer(len(masks)), "yukon", range(3))


@pytest.mark.parametrize("deals", ["train", "all", [], [-1], [2**63], 5, None])
def test_bad_deals_are_errors(deals: object) -> None:
    with pytest.raises(DealError):
        evaluate(first, "yukon", deals)  # type: ignore[arg-type]


@pytest.mark.parametrize("limit", ["max_moves", "batch_size"])
def test_bad_limits_are_errors(limit: str) -> None:
    with pytest.raises(YukonError, match="at least 1"):
        evaluate(first, "yukon", range(3), **{limit: 0})  # type: ignore[arg-type]


def result_of(won: list[bool], variant: str = "yukon") -> Evaluation:
    zeros = np.zeros(len(won), np.int64)
    return Evaluation(
        VARIANTS[variant], 200, False, 1.0, np.arange(len(won)),
        np.array(won), zeros, zeros, zeros, zeros.astype(str),
    )  # fmt: skip


def test_comparison_is_paired() -> None:
    better, worse = result_of([True] * 9 + [False]), result_of([False] * 5 + [True] * 4 + [False])
    difference, p_value = better.compare(worse)
    assert difference == pytest.approx(0.5)
    assert p_value == pytest.approx(2 / 2**5)


def test_only_like_is_compared() -> None:
    with pytest.raises(DealError, match="same deals"):
        result_of([True]).compare(result_of([True, False]))
    with pytest.raises(DealError, match="same deals"):
        result_of([True]).compare(result_of([True], "russian"))
