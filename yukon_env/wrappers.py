"""Wrappers for what some libraries and some players need."""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs

from yukon_env.engine.repeats import Repeats
from yukon_env.engine.state import N_ACTIONS, compile_rules
from yukon_env.env import YukonEnv
from yukon_env.errors import YukonError

Dict = dict[str, Any]


class MaskInObservation(gym.Wrapper, RecordConstructorArgs):
    """Puts the action mask into a Dict observation, where some libraries look for it.

    The key `action_mask` is the one that RLlib's action-masking module and TorchRL's
    `ActionMask` transform read. RLlib calls the rest `observations`, TorchRL takes any name.

    Args:
        env: A `YukonEnv`, wrapped or not.
        observation_key: Name of the observation proper: `observation`, or `observations` for
            RLlib.
    """

    def __init__(self, env: gym.Env, observation_key: str = "observation") -> None:
        RecordConstructorArgs.__init__(self, observation_key=observation_key)
        gym.Wrapper.__init__(self, env)
        self._key = observation_key
        self.observation_space = spaces.Dict(
            {
                observation_key: env.observation_space,
                "action_mask": spaces.Box(0, 1, (N_ACTIONS,), np.int8),
            }
        )

    def reset(self, *, seed: int | None = None, options: Dict | None = None) -> tuple[Dict, Dict]:
        """Resets; returns the Dict observation and the info."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._with_mask(observation, info), info

    def step(self, action: int) -> tuple[Dict, float, bool, bool, Dict]:
        """Steps; returns the Dict observation and the rest as it is."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._with_mask(observation, info), float(reward), terminated, truncated, info

    def _with_mask(self, observation: np.ndarray, info: Dict) -> Dict:
        return {self._key: observation, "action_mask": info["action_mask"].copy()}


class VerdictInInfo(gym.Wrapper, RecordConstructorArgs):
    """Adds to the info whether the position can still be won: `info["verdict"]`.

    It is `winnable`, `unwinnable`, or `unknown` where the limit came first, by the complete
    solver, which sees every card. So the environment must be one of perfect information.

    Args:
        env: A `YukonEnv` with `perfect_information=True`, wrapped or not.
        max_states: Positions that the solver may visit for one verdict.
    """

    def __init__(self, env: gym.Env, max_states: int = 100_000) -> None:
        RecordConstructorArgs.__init__(self, max_states=max_states)
        gym.Wrapper.__init__(self, env)
        if not isinstance(env.unwrapped, YukonEnv) or not env.unwrapped.perfect_information:
            raise YukonError("VerdictInInfo needs a YukonEnv with perfect_information=True")
        self._max_states = max_states

    def reset(self, *, seed: int | None = None, options: Dict | None = None) -> tuple[Any, Dict]:
        """Resets; the info has the verdict."""
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, self._with_verdict(info)

    def step(self, action: int) -> tuple[Any, float, bool, bool, Dict]:
        """Steps; the info has the verdict."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, float(reward), terminated, truncated, self._with_verdict(info)

    def _with_verdict(self, info: Dict) -> Dict:
        env = self.env.unwrapped
        assert isinstance(env, YukonEnv)
        verdict = env.game().solve(max_states=self._max_states).verdict
        return {**info, "verdict": verdict.value}


class NoRepeats(gym.Wrapper, RecordConstructorArgs):
    """Takes moves out of the mask that lead back to a position of the same episode.

    This is a rule for a player, not one of the game: two positions that differ only in the order
    of the columns are the same. When every legal move is taken out, the episode is terminated.

    Args:
        env: A `YukonEnv`, wrapped or not.
    """

    def __init__(self, env: gym.Env) -> None:
        RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)
        if not isinstance(env.unwrapped, YukonEnv):
            raise YukonError(f"NoRepeats needs a YukonEnv, not {env.unwrapped}")
        self._repeats = Repeats(1)
        self._mask = np.ones(N_ACTIONS, np.int8)

    def reset(
        self, *, seed: int | None = None, options: Dict | None = None
    ) -> tuple[np.ndarray, Dict]:
        """Resets, and forgets the positions of the last episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._repeats.forget(np.ones(1, np.bool_))
        self._restrict(info)
        return observation, info

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, Dict]:
        """Steps; terminates, without reward, when no move leads to a new position."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        if self._restrict(info):
            env = self.env.unwrapped
            assert isinstance(env, YukonEnv)
            return observation, float(reward) - env.paid_shaping(), True, truncated, info
        return observation, float(reward), terminated, truncated, info

    def action_masks(self) -> np.ndarray:
        """The moves that are left: bool, shape (417,)."""
        return self._mask.astype(np.bool_)

    def _restrict(self, info: Dict) -> bool:
        """Restricts the mask in `info`; returns whether no move is left."""
        env = self.env.unwrapped
        assert isinstance(env, YukonEnv)
        rules = compile_rules(env.variant)
        stuck = bool(self._repeats.forbid(env.records, rules, info["action_mask"][np.newaxis])[0])
        if stuck:
            info["action_mask"][:] = 1
        self._mask = info["action_mask"].copy()
        return stuck
