"""What several test modules share: tables of the rule-book as boards, random play, comparisons."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import rulebook
from numba import config
from rulebook import CARDS, COLUMNS, DEAL, FOUNDATION, RULES, SUITS, Table, card_text
from scipy import stats

from yukon_env import VARIANTS, Game

# Whether kernels are compiled: not so with NUMBA_DISABLE_JIT=1.
COMPILED = not config.DISABLE_JIT  # type: ignore[attr-defined]

KEYS = list(VARIANTS)
ENV_IDS = [variant.env_id for variant in VARIANTS.values()]
STOCK_KEYS = [key for key in KEYS if VARIANTS[key].stock]

# Won by one move (KS up), and by thirteen (spades up one by one).
ONE_MOVE_LEFT = "Foundations: C-K D-K H-K S-Q\nKS" + "\n-" * 6
SPADES_LEFT = "Foundations: C-K D-K H-K S-0\nKS QS JS TS 9S 8S 7S 6S 5S 4S 3S 2S AS" + "\n-" * 6
# No move where an empty column wants a king and no card comes back from its foundation.
BURIED_ACE = "Foundations: C-K D-K H-K S-0\nKS AS 2S 3S 4S 5S 6S 7S 8S 9S TS JS QS" + "\n-" * 6


def text_of(table: Table) -> str:
    """Writes a table of the rule-book as a board."""
    ups = zip(SUITS, table.foundations, strict=True)
    lines = ["Foundations: " + " ".join(f"{suit}-{'0A23456789TJQK'[up]}" for suit, up in ups)]
    if table.stock:
        form = "{}" if table.stock_seen else "<{}>"
        lines.append("Stock: " + " ".join(form.format(card_text(card)) for card in table.stock))
    if table.waste:
        lines.append("Waste: " + " ".join(card_text(card) for card in table.waste))
    left = "unlimited" if table.redeals_left is None else table.redeals_left
    lines.append(f"Redeals left: {left}")
    for cards, hidden in zip(table.columns, table.hidden, strict=True):
        names = [card_text(card) for card in cards]
        down = [f"<{name}>" for name in names[:hidden]]
        lines.append(" ".join(down + names[hidden:]) or "-")
    return "\n".join(lines)


def lay_out(*columns: str, of: str, foundations: tuple[int, ...] = (0, 0, 0, 0)) -> str:
    """Writes a board with these columns, the others empty, for a question about the card `of`.

    The cards not named lie face down beneath the last column that does not hold `of`, where they
    have no say.
    """
    lines = [column or "-" for column in columns] + ["-"] * (7 - len(columns))
    used = {rulebook.card_number(word.strip("<>")) for line in columns for word in line.split()}
    rest = [
        card_text(card)
        for card in CARDS
        if card not in used and rulebook.rank_of(card) >= foundations[rulebook.suit_of(card)]
    ]
    under = max(i for i, line in enumerate(lines) if line != "-" and of not in line.split())
    lines[under] = " ".join([f"<{name}>" for name in rest] + [lines[under]])
    ups = zip(SUITS, foundations, strict=True)
    labels = "Foundations: " + " ".join(f"{suit}-{'0A23456789TJQK'[up]}" for suit, up in ups)
    return "\n".join([labels, *lines])


def random_table(key: str, seed: int) -> Table:
    """Lays out a table such as a game comes to: few cards left, empty columns, redeals gone."""
    chance = random.Random(seed)
    rules = RULES[key]
    has_stock = sum(rules.hidden + rules.up) < 52
    least_up = chance.choice((0, 0, 5, 9, 11))
    foundations = tuple(chance.randint(least_up, 13) for _ in SUITS)
    rest = [c for c in CARDS if rulebook.rank_of(c) >= foundations[rulebook.suit_of(c)]]
    chance.shuffle(rest)
    n_pile = chance.randint(0, min(24, len(rest))) if has_stock else 0
    n_stock = chance.choice((0, n_pile, chance.randint(0, n_pile)))
    stock, waste, in_columns = rest[:n_stock], rest[n_stock:n_pile], rest[n_pile:]
    columns: list[list[int]] = [[] for _ in COLUMNS]
    in_use = chance.sample(COLUMNS, chance.randint(1, 7))
    for card in in_columns:
        columns[chance.choice(in_use)].append(card)
    hide = not has_stock and chance.random() < 0.7
    redeal_gone = has_stock and rules.redeals != 0 and chance.random() < 0.5
    return Table(
        rules=rules,
        columns=tuple(tuple(cards) for cards in columns),
        hidden=tuple(chance.randrange(len(c)) if hide and c else 0 for c in columns),
        foundations=foundations,
        stock=tuple(stock),
        waste=tuple(waste),
        stock_seen=redeal_gone,
        redeals_left=None if rules.redeals is None else rules.redeals - redeal_gone,
    )


def choose(actions: list[int], chance: random.Random) -> int:
    """Draws an action; half of the time one that puts a card up, so that games get somewhere."""
    ups = [action for action in actions if action != DEAL and action % 8 == FOUNDATION]
    return chance.choice(ups if ups and chance.random() < 0.5 else actions)


def play_randomly(game: Game, seed: int, steps: int) -> Iterator[int]:
    """Plays random legal moves, at most `steps`; yields each action when it has been played."""
    chance = random.Random(seed)
    for _ in range(steps):
        actions = sorted(int(move) for move in game.legal_moves())
        if not actions:
            return
        action = choose(actions, chance)
        game.play(action)
        yield action


def played(key: str, deal: int, steps: int) -> Game:
    """Deals a game and plays some random moves."""
    game = Game(key, deal=deal)
    for _ in play_randomly(game, deal, steps):
        pass
    return game


def assert_same(left: Any, right: Any, path: str = "") -> None:
    """Compares nested results of environments: values, types, dtypes, shapes, keys."""
    assert type(left) is type(right), path
    if isinstance(left, dict):
        assert left.keys() == right.keys(), path
        for name in left:
            assert_same(left[name], right[name], f"{path}/{name}")
    elif isinstance(left, tuple | list) or (isinstance(left, np.ndarray) and left.dtype == object):
        assert len(left) == len(right), path
        for index, (one, other) in enumerate(zip(left, right, strict=True)):
            assert_same(one, other, f"{path}/{index}")
    elif isinstance(left, np.ndarray):
        assert left.dtype == right.dtype, path
        np.testing.assert_array_equal(left, right, path)
    else:
        assert left == right, path


def assert_uniform(counts: np.ndarray | list[int], degrees: int | None = None) -> None:
    """Checks counts that should be equal: Pearson's chi-square, at odds of a million to one."""
    counts = np.asarray(counts, float)
    expected = counts.mean()
    assert expected >= 5, "too few draws for the test"
    statistic = ((counts - expected) ** 2 / expected).sum()
    assert stats.chi2.sf(statistic, degrees or counts.size - 1) > 1e-6
