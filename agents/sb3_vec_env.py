"""`YukonVectorEnv` for stable-baselines3: many games behind its own `VecEnv` interface.

Nothing is done game by game except for the few that end in a step, so stepping a thousand games
costs little more than the compiled call.
"""

import copy
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn

from agents.verdicts import LossFinder
from yukon_env import YukonVectorEnv
from yukon_env.engine.batch import potentials
from yukon_env.engine.repeats import Repeats
from yukon_env.engine.state import N_ACTIONS, compile_rules
from yukon_env.episodes import Deals
from yukon_env.evaluation import MAX_MOVES
from yukon_env.variants import Variant

DictObs = dict[str, np.ndarray]


class YukonSB3VecEnv(VecEnv):
    """Games of one variant for stable-baselines3 and sb3-contrib.

    Observations are a Dict of `observation` (int8, (n, 52, 3)) and `action_mask` (int8,
    (n, 417)), so that a policy knows which moves it is offered. The infos of a game that ends
    hold what a `Monitor` would add, `episode` with its return `r` and length `l`, and `deal`.

    With `allow_repeats=False` a move back to a position of the same game is not offered, and a
    game with no other move left is lost, as in `yukon_env.evaluation`. With `solver_states` a game
    ends where the solver finds no win any more (see `agents.verdicts`).

    Args:
        num_envs: How many games.
        variant: A key such as `yukon`, or a `Variant`.
        deals: Where deals are drawn from: a split, a range, or a sequence of deal numbers.
        allow_repeats: Whether positions may be entered again.
        shaping: Weight of the potential-based reward for progress.
        discount: The learner's discount factor, for `shaping`.
        max_episode_steps: Steps after which a game is truncated; None for no limit.
        solver_states: Positions that the solver may visit to find a win; 0 plays lost games to
            their end.
        num_threads: Cores to step games on; the results are the same.
    """

    def __init__(
        self,
        num_envs: int,
        variant: str | Variant = "yukon",
        *,
        deals: Deals = "train",
        allow_repeats: bool = True,
        shaping: float = 0.0,
        discount: float = 1.0,
        max_episode_steps: int | None = MAX_MOVES,
        solver_states: int = 0,
        num_threads: int = 1,
    ) -> None:
        self.games = YukonVectorEnv(
            num_envs,
            variant,
            deals=deals,
            shaping=shaping,
            discount=discount,
            max_episode_steps=max_episode_steps,
            autoreset_mode=AutoresetMode.SAME_STEP,
            num_threads=num_threads,
        )
        self.variant = self.games.variant
        self._rules = compile_rules(self.variant)
        self._terminal_weight = shaping * discount
        self._repeats = None if allow_repeats else Repeats(num_envs)
        self._losses = LossFinder(self.variant, num_envs, solver_states) if solver_states else None
        self._masks = np.ones((num_envs, N_ACTIONS), np.int8)
        self._observations: DictObs = {}
        self._actions = np.zeros(num_envs, np.int64)
        self._returns = np.zeros(num_envs)
        self._lengths = np.zeros(num_envs, np.int64)
        space = spaces.Dict(
            {
                "observation": self.games.single_observation_space,
                "action_mask": spaces.Box(0, 1, (N_ACTIONS,), np.int8),
            }
        )
        super().__init__(num_envs, space, self.games.single_action_space)

    def reset(self) -> DictObs:
        """Starts new games, with the seeds of `seed` and the options of `set_options`."""
        seeds = self._seeds if any(seed is not None for seed in self._seeds) else None
        observations, infos = self.games.reset(seed=seeds, options=self._options[0] or None)
        self._reset_seeds()
        self._reset_options()
        self._returns[:] = 0.0
        self._lengths[:] = 0
        self._masks = infos["action_mask"]
        if self._repeats is not None:
            self._repeats.forget(np.ones(self.num_envs, np.bool_))
            self._forbid_repeats()
        return self._show(observations)

    def step_async(self, actions: np.ndarray) -> None:
        """Takes the actions, int64 of shape (n,)."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Plays the actions; games that end are dealt anew at once.

        Returns:
            Observations, rewards float64 (n,), dones bool (n,), and an info for each game.
        """
        observations, rewards, terminated, truncated, infos = self.games.step(self._actions)
        self._masks = infos["action_mask"]
        dones = terminated | truncated
        endings = _read_endings(infos, dones, truncated)
        lost = self._find_lost(dones)
        if lost.any():
            rewards[lost] -= self._terminal_weight * self._progress(lost)
            endings |= self._end_lost(observations, infos["deal"], lost)
            observations = self._deal_anew(lost)
            dones |= lost
        self._note_episodes(rewards, dones, endings)
        return self._show(observations), rewards, dones, self._list_infos(endings)

    def action_masks(self) -> np.ndarray:
        """The moves that are offered: bool, shape (n, 417)."""
        return self._masks.view(np.bool_)

    def save_state(self) -> dict[str, Any]:
        """Returns the whole state, for `restore_state`; it can be pickled."""
        state = {name: getattr(self, name) for name in _STATE}
        return copy.deepcopy({"games": self.games.save_state(), **state})

    def restore_state(self, state: dict[str, Any]) -> DictObs:
        """Goes back to a saved state and returns the observations of then."""
        self.games.restore_state(state["games"])
        for name in _STATE:
            setattr(self, name, copy.deepcopy(state[name]))
        return self._observations

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
        if method_name != "action_masks":
            raise AttributeError(f"{method_name!r}: only `action_masks` is known to every game")
        masks = self.action_masks()
        return masks if indices is None else masks[list(self._get_indices(indices))]

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Returns an attribute of the vector environment, once for each game asked about."""
        value = getattr(self.games, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Sets an attribute of the vector environment, for all games."""
        setattr(self.games, attr_name, value)

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper], indices: VecEnvIndices = None
    ) -> list[bool]:
        """Says that no game is wrapped."""
        return [False for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Ends the threads of the vector environment."""
        self.games.close()

    def _show(self, observations: np.ndarray) -> DictObs:
        self._observations = {"observation": observations, "action_mask": self._masks}
        return self._observations

    def _find_lost(self, new: np.ndarray) -> np.ndarray:
        """Takes back moves that are not offered; says which games are lost, though not over.

        Args:
            new: bool, shape (n,): games that have just been dealt.
        """
        lost = np.zeros(self.num_envs, np.bool_)
        if self._repeats is not None:
            self._repeats.forget(new)
            lost = self._forbid_repeats()
        if self._losses is not None:
            lost |= self._losses.find(self.games.records, self._actions, ~(new | lost))
        return lost

    def _forbid_repeats(self) -> np.ndarray:
        """Takes back moves to positions of the same game; says which games are left with none."""
        assert self._repeats is not None
        return self._repeats.forbid(self.games.records, self._rules, self._masks)

    def _progress(self, which: np.ndarray) -> np.ndarray:
        """The potential of games in play, 0 to 1, as `shaping` counts it.

        Stepping has paid for it, not knowing that these games are lost and so worth nothing.
        """
        values = np.empty(self.num_envs)
        potentials(self.games.records, self._rules, values)
        return values[which]

    def _end_lost(
        self, observations: np.ndarray, deals: np.ndarray, lost: np.ndarray
    ) -> dict[int, dict[str, Any]]:
        """The infos of games that are lost, though not over by the rules."""
        return {
            int(index): _ending(observations[index], self._masks[index], int(deals[index]))
            for index in np.flatnonzero(lost)
        }

    def _deal_anew(self, which: np.ndarray) -> np.ndarray:
        """Starts new games where `which` says so; returns the observations of all."""
        observations, _ = self.games.reset(options={"reset_mask": which})
        self._masks = self.games.action_masks().view(np.int8)
        if self._repeats is not None:
            self._repeats.forget(which)
            self._forbid_repeats()
        return observations

    def _note_episodes(
        self, rewards: np.ndarray, dones: np.ndarray, endings: dict[int, dict[str, Any]]
    ) -> None:
        """Counts returns and lengths, and adds them to the infos of the games that ended."""
        self._returns += rewards
        self._lengths += 1
        for index, ending in endings.items():
            length = int(self._lengths[index])
            ending["episode"] = {"r": float(self._returns[index]), "l": length}
        self._returns[dones] = 0.0
        self._lengths[dones] = 0

    def _list_infos(self, endings: dict[int, dict[str, Any]]) -> list[dict[str, Any]]:
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for index, ending in endings.items():
            infos[index] = ending
        return infos


# What a state holds besides the games themselves.
_STATE = ("_observations", "_masks", "_repeats", "_losses", "_returns", "_lengths")


def _read_endings(
    infos: dict[str, Any], dones: np.ndarray, truncated: np.ndarray
) -> dict[int, dict[str, Any]]:
    """The infos of the games that the step ended, by their index."""
    endings = {}
    for index in np.flatnonzero(dones):
        final = infos["final_info"]
        endings[int(index)] = _ending(
            infos["final_obs"][index],
            final["action_mask"][index],
            int(final["deal"][index]),
            truncated=bool(truncated[index]),
            won=bool(final["is_success"][index]),
        )
    return endings


def _ending(
    observation: np.ndarray,
    mask: np.ndarray,
    deal: int,
    truncated: bool = False,
    won: bool = False,
) -> dict[str, Any]:
    return {
        "terminal_observation": {"observation": observation, "action_mask": mask.copy()},
        "TimeLimit.truncated": truncated,
        "is_success": won,
        "deal": deal,
    }
