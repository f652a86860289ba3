"""The cache of compiled kernels, and the rules as plain Python."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import COMPILED

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "yukon_env"

# Prints how many cards of the deal may go up, and whether the kernel came out of the cache.
ASK = """
import json
from yukon_env import Game
from yukon_env.engine.moves import deal_games
ups = [str(move) for move in Game("yukon", deal=28).legal_moves() if move % 8 == 7]
print(json.dumps([ups, sum(deal_games.stats.cache_hits.values())]))
"""


def run(*arguments: str, folder: Path = ROOT, **variables: str) -> str:
    result = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_an_edited_rule_is_compiled_anew(tmp_path: Path) -> None:
    package = tmp_path / "yukon_env"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "solver"))

    def ask() -> list:
        return json.loads(run("-c", ASK, folder=tmp_path, NUMBA_CACHE_DIR=""))

    first, hits = ask()
    assert (len(first), hits) == (2, 0)
    assert ask() == [first, 1]

    # The rule is in a helper that is inlined into kernels, some of them in other files.
    moves = package / "engine" / "moves.py"
    rule, edited = "n += (rank < N_RANKS)", "n += (rank < 0)"
    source = moves.read_text()
    assert source.count(rule) == 1
    moves.write_text(source.replace(rule, edited))
    assert ask() == [[], 0]


def run_tests_without_compiling(*arguments: str) -> None:
    run("-m", "pytest", "-p", "no:cacheprovider", "-x", *arguments, NUMBA_DISABLE_JIT="1")


SAME_RULES = "worked_examples or known_boards or golden or shuffling_is or wins or by_hand"


@pytest.mark.skipif(not COMPILED, reason="this is the run without compiling")
def test_the_same_without_compiling() -> None:
    run_tests_without_compiling(
        *(f"tests/{name}" for name in ("engine", "test_deals.py", "test_vector_env.py")),
        *(f"tests/{name}" for name in ("test_game.py", "test_env.py")),
        "-k",
        SAME_RULES,
    )


@pytest.mark.slow
@pytest.mark.skipif(not COMPILED, reason="this is the run without compiling")
def test_all_the_same_without_compiling() -> None:
    run_tests_without_compiling(
        "tests", "--ignore=tests/solver", "--ignore=tests/agents", "--ignore=tests/test_rulebook.py"
    )
