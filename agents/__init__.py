"""Agents: anything with `act(observations, action_masks) -> actions`.

Observations are int8 of shape (n, 52, 3), masks int8 of shape (n, 417), actions int64 of shape
(n,). An agent sees nothing else.

An agent's name is its kind, after a colon what that kind needs to know, and after commas its
options: `random`, `greedy:yukon`, `sampled-worlds:yukon,worlds=16,seconds=0.05`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.errors import AgentError
from agents.greedy import WEIGHTS, GreedyAgent
from agents.options import read_options, split_options
from agents.random_agent import RandomAgent
from yukon_env.evaluation import Agent
from yukon_env.variants import VARIANTS

__all__ = ["HELP", "KINDS", "Agent", "AgentError", "GreedyAgent", "RandomAgent", "load"]


# The model in a training run's folder.
MODEL_FILE = "model.pt"


def _load_random(argument: str, seed: int) -> Agent:
    if argument:
        raise AgentError(f"`random` plays every variant; write it without {argument!r}")
    return RandomAgent(seed)


def _load_greedy(argument: str, seed: int) -> Agent:
    return GreedyAgent(_check_variant("greedy", argument))


def _check_variant(kind: str, argument: str) -> str:
    if argument not in VARIANTS:
        raise AgentError(
            f"`{kind}:` needs a variant, not {argument!r}; known are {', '.join(VARIANTS)}"
        )
    return argument


def _load_sampled_worlds(argument: str, seed: int, options: dict[str, Any]) -> Agent:
    from agents.sampled_worlds import SampledWorldsAgent, Settings  # Others need no solver.

    variant = _check_variant("sampled-worlds", argument)
    return SampledWorldsAgent(variant, read_options(Settings(), options), seed)


def _load_reveal_search(argument: str, seed: int, options: dict[str, Any]) -> Agent:
    from agents.reveal_search.agent import RevealSearchAgent  # Others need no solver.
    from agents.reveal_search.settings import default_settings

    variant = _check_variant("reveal-search", argument)
    settings = read_options(default_settings(variant), options)
    return RevealSearchAgent(variant, settings, seed)


def _load_policy(argument: str, seed: int) -> Agent:
    from agents.policy import PolicyAgent  # The other agents do without PyTorch.

    variant = _check_variant("policy", argument)
    path = WEIGHTS / f"policy-{variant}.pt"
    if not path.exists():
        found = ", ".join(sorted(file.stem[len("policy-") :] for file in path.parent.glob("*.pt")))
        raise AgentError(f"there is no trained policy for {variant}; there are for {found}")
    return PolicyAgent.load(path)


def _load_ppo(argument: str, seed: int, options: dict[str, Any]) -> Agent:
    from agents.policy import PolicyAgent  # The other agents do without PyTorch.

    unknown = set(options) - {"variant"}
    if unknown:
        raise AgentError(f"unknown option {unknown.pop()!r}; known is variant")
    path = Path(argument)
    return PolicyAgent.load(path / MODEL_FILE if path.is_dir() else path, options.get("variant"))


@dataclass(frozen=True)
class Kind:
    """What may stand before the colon of an agent's name.

    Attributes:
        form: How the name is written.
        load: Makes the agent, of what stands after the colon, a seed and, if there are any, a
            dictionary of the options.
        has_options: Whether there are any.
    """

    form: str
    load: Callable[..., Agent]
    has_options: bool = False


KINDS = {
    "random": Kind("random", _load_random),
    "greedy": Kind("greedy:VARIANT", _load_greedy),
    "sampled-worlds": Kind("sampled-worlds:VARIANT[,OPTION=VALUE...]", _load_sampled_worlds, True),
    "reveal-search": Kind("reveal-search:VARIANT[,OPTION=VALUE...]", _load_reveal_search, True),
    "policy": Kind("policy:VARIANT", _load_policy),
    "ppo": Kind("ppo:RUN[,variant=VARIANT]", _load_ppo, True),
}
HELP = ", ".join(kind.form for kind in KINDS.values())


def load(name: str, seed: int = 0, **options: Any) -> Agent:
    """Returns the agent of this name, such as `random` or `greedy:yukon`.

    Args:
        name: The kind of agent, and after a colon what that kind needs to know.
        seed: Fixes the draws of an agent that draws.
        options: Options that may stand in the name, too, of the kinds that have any.

    Raises:
        AgentError: There is no such agent, or no such option; the message lists the known ones.
    """
    key, _, argument = name.partition(":")
    if key not in KINDS:
        raise AgentError(f"unknown agent {name!r}; known are {HELP}")
    kind = KINDS[key]
    if kind.has_options:
        argument, written = split_options(argument)
        return kind.load(argument, seed, {**written, **options})
    if options:
        raise AgentError(f"{key!r} agents have no options, so not {', '.join(options)}")
    return kind.load(argument, seed)
