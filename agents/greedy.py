"""The greedy agent: it plays the move of the highest score.

The score of a move is the sum of its features (`agents.features`), each times a weight. The
weights are tuned for one variant by `experiments.tune_greedy` and lie in `agents/weights/`.
"""

import json
from pathlib import Path

import numpy as np
from numba import njit

from agents.errors import AgentError
from agents.features import MOVE_FEATURES, N_MOVE_FEATURES, describe_move, move_features
from agents.files import write_text
from agents.random_agent import check_chosen
from agents.ranking import RankedMove, ranked
from agents.view import VIEW, check_input, list_actions, look, relations_of
from yukon_env.cards import N_CARDS
from yukon_env.deals import fill_deck
from yukon_env.engine.compiling import kernel
from yukon_env.engine.moves import deal, is_won, play
from yukon_env.engine.repeats import contains
from yukon_env.engine.state import GAME, N_ACTIONS, compile_rules
from yukon_env.evaluation import MAX_MOVES
from yukon_env.variants import Variant, get_variant

WEIGHTS = Path(__file__).parent / "weights"
NO_MOVE = -1


class GreedyAgent:
    """Plays the legal move whose features, weighted, sum up highest.

    Of moves that score the same it plays the one of the lowest action number, so it plays a
    position the same way every time.

    Attributes:
        variant: The game it plays.
        weights: float32, shape (N_MOVE_FEATURES,), in the order of `MOVE_FEATURES`.
    """

    def __init__(self, variant: str | Variant, weights: np.ndarray | None = None) -> None:
        """Makes the agent of a variant.

        Args:
            variant: The game, or its key.
            weights: Weights of its own, shape (N_MOVE_FEATURES,); None reads those in
                `agents/weights/`.

        Raises:
            AgentError: There are no weights for this variant, or they do not fit the features.
        """
        self.variant = get_variant(variant)
        if weights is None:
            weights = read_weights(weights_file(self.variant), self.variant)
        self.weights = np.ascontiguousarray(weights, np.float32)
        if self.weights.shape != (N_MOVE_FEATURES,):
            raise AgentError(
                f"weights need the shape ({N_MOVE_FEATURES},), not {self.weights.shape}"
            )
        self._relations = relations_of(compile_rules(self.variant))
        self._scratch = Scratch()

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        """Chooses an action for each position.

        Args:
            observations: int8, shape (n, 52, 3).
            action_masks: int8 or bool, shape (n, 417).

        Returns:
            int64, shape (n,).

        Raises:
            AgentError: The arrays have other shapes, or a mask allows nothing.
        """
        seen, masks = check_input(observations, action_masks)
        actions = np.empty(len(seen), np.int64)
        scratch = self._scratch
        _choose(
            seen, masks, self._relations, self.weights,
            scratch.view, scratch.row, scratch.legal, scratch.scores, actions,
        )  # fmt: skip
        check_chosen(actions)
        return actions

    def rank(self, observation: np.ndarray, action_mask: np.ndarray) -> list[RankedMove]:
        """Ranks the moves of a position (see `agents.ranking`).

        Numbers: the score, and what each feature contributes to it, the largest first.
        """
        games = observation[np.newaxis], action_mask[np.newaxis]
        features, _, actions = move_features(*games, compile_rules(self.variant))
        rows = zip(actions.tolist(), features, strict=True)
        return ranked(RankedMove(action, self._explain(row)) for action, row in rows)

    def _explain(self, row: np.ndarray) -> dict[str, float]:
        """The score of the features of a move, float32 (N_MOVE_FEATURES,), and its parts."""
        parts = row * self.weights
        shares = {MOVE_FEATURES[index]: float(parts[index]) for index in np.argsort(-abs(parts))}
        told = {name: share for name, share in shares.items() if share != 0}
        return {"score": float(score_move(row, self.weights)), **told}


class Scratch:
    """The buffers that scoring one position needs."""

    def __init__(self) -> None:
        self.view = np.zeros(1, VIEW)
        self.row = np.empty(N_MOVE_FEATURES, np.float32)
        self.legal = np.empty(N_ACTIONS, np.int64)
        self.scores = np.empty(N_ACTIONS, np.float32)


# --------------------------------------------------------------------------------------------
# Weight files
# --------------------------------------------------------------------------------------------


def weights_file(variant: Variant) -> Path:
    """Returns where the weights of a variant lie."""
    return WEIGHTS / f"{variant.key}.json"


def read_weights(path: Path, variant: Variant) -> np.ndarray:
    """Reads a weight file.

    Returns:
        float32, shape (N_MOVE_FEATURES,), in the order of `MOVE_FEATURES`.

    Raises:
        AgentError: There is no such file, or it is for another variant or other features.
    """
    if not path.exists():
        raise AgentError(
            f"there are no greedy weights for {variant.key} at {path}; "
            f"`python -m experiments.tune_greedy {variant.key}` makes them"
        )
    try:
        record = json.loads(path.read_text())
        made_for, weights = record["variant"], dict(record["weights"])
        values = {name: float(value) for name, value in weights.items()}
    except (ValueError, KeyError, TypeError) as error:
        raise AgentError(f"{path} is no weight file: {error!r}") from error
    if made_for != variant.key:
        raise AgentError(f"{path} holds weights for {made_for}, not for {variant.key}")
    missing, unknown = set(MOVE_FEATURES) - set(values), set(values) - set(MOVE_FEATURES)
    if missing or unknown:
        raise AgentError(
            f"{path} does not fit the move features: "
            f"missing {sorted(missing) or 'none'}, unknown {sorted(unknown) or 'none'}"
        )
    return np.array([values[name] for name in MOVE_FEATURES], np.float32)


def write_weights(path: Path, variant: Variant, weights: np.ndarray, **about: object) -> None:
    """Writes a weight file, with what else is to be said `about` it beside the weights."""
    values = {
        name: round(float(value), 4) for name, value in zip(MOVE_FEATURES, weights, strict=True)
    }
    record = {"variant": variant.key, **about, "weights": values}
    write_text(path, json.dumps(record, indent=2) + "\n")


# --------------------------------------------------------------------------------------------
# Kernels
# --------------------------------------------------------------------------------------------


@njit
def score_move(row, weights):
    """The sum of the features of a move, each times its weight."""
    total = np.float32(0)
    for feature in range(N_MOVE_FEATURES):
        total += row[feature] * weights[feature]
    return total


@njit
def score_moves(seen, relations, weights, view, row, legal, n, scores):
    """Writes the scores of the first `n` actions in `legal`."""
    look(seen, relations, view)
    for index in range(n):
        describe_move(seen, relations, view, legal[index], row)
        scores[index] = score_move(row, weights)


@njit
def best_move(legal, n, scores):
    """Where the highest score is; of equal scores that of the lowest action. -1 if n is 0."""
    best = -1
    for index in range(n):
        if (
            best < 0
            or scores[index] > scores[best]
            or (scores[index] == scores[best] and legal[index] < legal[best])
        ):
            best = index
    return best


@kernel
def _choose(seen, masks, relations, weights, view, row, legal, scores, actions):
    """Chooses one action per position; -1 where a mask allows nothing."""
    for game in range(seen.shape[0]):
        n = list_actions(masks[game], legal)
        score_moves(seen[game], relations[0], weights, view[0], row, legal, n, scores)
        best = best_move(legal, n, scores)
        actions[game] = legal[best] if best >= 0 else -1


# --------------------------------------------------------------------------------------------
# Whole games, for tuning and for planners
# --------------------------------------------------------------------------------------------


def play_deals(
    variant: Variant, weights: np.ndarray, deals: np.ndarray, max_moves: int = MAX_MOVES
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Plays whole games greedily, never entering a position a second time.

    The order of columns does not count. A game is lost when every legal move leads to a position
    seen before in it, or after `max_moves` moves.

    Args:
        variant: The game.
        weights: float32, shape (N_MOVE_FEATURES,).
        deals: int64, shape (n,): the deal numbers.
        max_moves: The cap.

    Returns:
        won: bool, shape (n,).
        cards_up: int64, shape (n,): cards on the foundations at the end.
        moves: int64, shape (n,): moves played.
    """
    n = len(deals)
    won, cards_up, moves = np.zeros(n, np.bool_), np.zeros(n, np.int64), np.zeros(n, np.int64)
    rules, scratch = compile_rules(variant), Scratch()
    _play_deals(
        rules, relations_of(rules), np.ascontiguousarray(weights, np.float32), deals,
        scratch.view, scratch.row, scratch.legal, scratch.scores, np.zeros(2, GAME),
        np.empty(N_CARDS, np.uint8), np.zeros(1, np.uint64), np.zeros(max_moves + 1, np.uint64),
        won, cards_up, moves,
    )  # fmt: skip
    return won, cards_up, moves


@kernel
def _play_deals(
    rules, relations, weights, deals, view, row, legal, scores, games, deck, stream, keys,
    won, cards_up, moves,
):  # fmt: skip
    """Deals and plays each game; `games` holds the game and the one to try moves on."""
    for index in range(deals.shape[0]):
        fill_deck(deals[index], deck, stream)
        deal(games[0], rules[0], deck)
        moves[index] = play_to_the_end(
            games, rules, relations, weights, view, row, legal, scores, keys
        )
        game = games[0]
        won[index] = is_won(game)
        cards_up[index] = int(game.up[0]) + game.up[1] + game.up[2] + game.up[3]


@njit
def play_to_the_end(games, rules, relations, weights, view, row, legal, scores, keys):
    """Plays `games[0]` until it is over; returns the number of moves played."""
    for move in range(keys.shape[0] - 1):
        keys[move] = games[0].key
        n = int(games[0].n_legal)
        for index in range(n):
            legal[index] = games[0].legal[index]
        score_moves(games[0].seen, relations[0], weights, view[0], row, legal, n, scores)
        if play_best_new(games, rules, legal, n, scores, keys[: move + 1]) == NO_MOVE:
            return move
    return keys.shape[0] - 1


@njit
def play_best_new(games, rules, legal, n, scores, keys):
    """Plays the best move that enters a position not in `keys`; returns it, or NO_MOVE."""
    while n > 0:
        best = best_move(legal, n, scores)
        action = legal[best]
        games[1] = games[0]
        play(games[1], rules[0], action)
        if not contains(keys, games[1].key):
            games[0] = games[1]
            return action
        n -= 1
        legal[best] = legal[n]
        scores[best] = scores[n]
    return NO_MOVE
