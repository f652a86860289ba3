"""Agents: anything with `act(observations, action_masks) -> actions`.

Observations are int8 of shape (n, 52, 3), masks int8 of shape (n, 417), actions int64 of shape
(n,). An agent sees nothing else.
"""

from collections.abc import Callable
from pathlib import Path

from agents.errors import AgentError
from agents.greedy import GreedyAgent
from agents.random_agent import RandomAgent
from yukon_env.evaluation import Agent
from yukon_env.variants import VARIANTS

__all__ = ["LOADERS", "Agent", "AgentError", "GreedyAgent", "RandomAgent", "load"]


# The model in a training run's folder.
MODEL_FILE = "model.pt"


def _load_random(argument: str, seed: int) -> Agent:
    if argument:
        raise AgentError(f"`random` plays every variant; write it without {argument!r}")
    return RandomAgent(seed)


def _load_greedy(argument: str, seed: int) -> Agent:
    if argument not in VARIANTS:
        raise AgentError(
            f"`greedy:` needs a variant, not {argument!r}; known are {', '.join(VARIANTS)}"
        )
    return GreedyAgent(argument)


def _load_ppo(argument: str, seed: int) -> Agent:
    from agents.ppo import PPOAgent  # The other agents do without PyTorch.

    path = Path(argument)
    return PPOAgent.load(path / MODEL_FILE if path.is_dir() else path)


# What may stand before the colon of an agent's name: how it is written, and how it is loaded.
LOADERS: dict[str, tuple[str, Callable[[str, int], Agent]]] = {
    "random": ("random", _load_random),
    "greedy": ("greedy:VARIANT", _load_greedy),
    "ppo": ("ppo:RUN", _load_ppo),
}


HELP = ", ".join(form for form, _ in LOADERS.values())


def load(name: str, seed: int = 0) -> Agent:
    """Returns the agent of this name, such as `random` or `greedy:yukon`.

    Args:
        name: The kind of agent, and after a colon what that kind needs to know.
        seed: Fixes the draws of an agent that draws.

    Raises:
        AgentError: There is no such agent; the message lists the known ones.
    """
    kind, _, argument = name.partition(":")
    if kind not in LOADERS:
        raise AgentError(f"unknown agent {name!r}; known are {HELP}")
    return LOADERS[kind][1](argument, seed)
