"""Games of several variants behind one `VecEnv`, for one policy that plays them all."""

from collections.abc import Sequence
from typing import Any, cast

import gymnasium
import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn

from agents.sb3_vec_env import DictObs, YukonSB3VecEnv


class MixedSB3VecEnv(VecEnv):
    """Vector environments of several variants, one after the other, as one.

    Observations have one key more: `variant` (int8, (n, 1)), the place of a game's variant in
    `parts`.

    Args:
        parts: One environment for each variant.
    """

    def __init__(self, parts: Sequence[YukonSB3VecEnv]) -> None:
        self.parts = tuple(parts)
        counts = [part.num_envs for part in self.parts]
        self._bounds = np.cumsum([0, *counts])
        self._variants = np.repeat(np.arange(len(counts), dtype=np.int8), counts)[:, np.newaxis]
        self._actions = np.zeros(sum(counts), np.int64)
        variant = spaces.Box(0, len(counts) - 1, (1,), np.int8)
        self._shared = cast(spaces.Dict, self.parts[0].observation_space).spaces
        space = spaces.Dict({**self._shared, "variant": variant})
        super().__init__(sum(counts), space, self.parts[0].action_space)

    def reset(self) -> DictObs:
        """Starts new games, with the seeds of `seed`."""
        for index, part in enumerate(self.parts):
            start, stop = self._bounds[index : index + 2]
            part._seeds = self._seeds[start:stop]
        self._reset_seeds()
        return self._join([part.reset() for part in self.parts])

    def step_async(self, actions: np.ndarray) -> None:
        """Takes the actions, int64 of shape (n,)."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Plays the actions; see `YukonSB3VecEnv.step_wait`."""
        results = [
            part.step(self._actions[start:stop])
            for part, start, stop in zip(
                self.parts, self._bounds[:-1], self._bounds[1:], strict=True
            )
        ]
        observations, rewards, dones, infos = zip(*results, strict=True)
        for index, part_infos in enumerate(infos):
            for info in part_infos:
                if "terminal_observation" in info:
                    info["terminal_observation"]["variant"] = np.array([index], np.int8)
        joined = [info for part_infos in infos for info in part_infos]
        return self._join(observations), np.concatenate(rewards), np.concatenate(dones), joined

    def action_masks(self) -> np.ndarray:
        """The moves that are offered: bool, shape (n, 417)."""
        return np.concatenate([part.action_masks() for part in self.parts])

    def save_state(self) -> list[dict[str, Any]]:
        """Returns the whole state, for `restore_state`; it can be pickled."""
        return [part.save_state() for part in self.parts]

    def restore_state(self, state: list[dict[str, Any]]) -> DictObs:
        """Goes back to a saved state and returns the observations of then."""
        pairs = zip(self.parts, state, strict=True)
        return self._join([part.restore_state(saved) for part, saved in pairs])

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: VecEnvIndices = None,
        **method_kwargs: Any,
    ) -> Any:
        """Answers `action_masks` with one array, bool of shape (n, 417).

        Raises:
            AttributeError: Another method is called: games are stepped together, not one by one.
        """
        masks = np.concatenate([part.env_method(method_name) for part in self.parts])
        return masks if indices is None else masks[list(self._get_indices(indices))]

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Returns an attribute of the parts' environments, once for each game asked about."""
        every = [value for part in self.parts for value in part.get_attr(attr_name)]
        return [every[index] for index in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Sets an attribute of the parts' vector environments, for all games."""
        for part in self.parts:
            part.set_attr(attr_name, value)

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper], indices: VecEnvIndices = None
    ) -> list[bool]:
        """Says that no game is wrapped."""
        return [False for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Closes the parts."""
        for part in self.parts:
            part.close()

    def _join(self, observations: Sequence[Any]) -> DictObs:
        joined = {
            name: np.concatenate([part[name] for part in observations]) for name in self._shared
        }
        return {**joined, "variant": self._variants}
