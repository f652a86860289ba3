"""A complete solver for the whole family: can this game be won, and how?

The player it speaks for has perfect information: it knows the face-down cards, but moves only
what the rules allow. See the README beside this file for the techniques and their proofs.

Example:
    >>> from yukon_env import Game
    >>> from yukon_env.solver import solve
    >>> result = solve(Game("yukon", deal=17))
    >>> result.verdict
    <Verdict.WINNABLE: 'winnable'>
"""

from yukon_env.solver.api import Result, solve, solve_deals
from yukon_env.solver.stages import Verdict

__all__ = ["Result", "Verdict", "solve", "solve_deals"]
