"""Many games as one Gymnasium vector environment, compiled."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numba import config

from yukon_env.cards import N_CARDS
from yukon_env.deals import stream_of_seed
from yukon_env.engine.batch import (
    EPISODE,
    draw_games,
    first_illegal,
    observe_games,
    read_results,
    sample_actions,
    step_games,
)
from yukon_env.engine.crew import Crew
from yukon_env.engine.state import N_ACTIONS, ROW
from yukon_env.env import YukonEnv
from yukon_env.episodes import (
    MAX_EPISODE_STEPS,
    Deals,
    IllegalAction,
    Settings,
    action_space,
    check_count,
    check_options,
    observation_space,
    raise_illegal,
    read_options,
    start_from,
)
from yukon_env.errors import MoveError, YukonError
from yukon_env.game import Game
from yukon_env.kept_games import KeptGames
from yukon_env.rendering.ansi import draw_game
from yukon_env.variants import Variant, get_variant

# What a step gives, as fields of EPISODE: three results, then infos.
RESULTS = ("reward", "terminated", "truncated", "deal", "won", "illegal")
INFOS = ("action_mask", "deal", "is_success", "illegal_action")


class YukonVectorEnv(KeptGames, VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """`num_envs` games of one variant, stepped by one compiled call.

    Its outputs equal those of `SyncVectorEnv` over `YukonEnv`s (each in a `TimeLimit`) with the
    same seeds, bit for bit. See `YukonEnv` for observations, actions, rewards and infos.

    Args:
        num_envs: How many games.
        variant: A key such as `yukon`, or a `Variant` of your own.
        deals: Where deals are drawn from: a split, a range, a sequence of deal numbers, or a file
            of them.
        perfect_information: Show hidden cards at their true place, with face_up 0.
        illegal_action: `ignore`, `terminate` or `raise`.
        shaping: Weight of the potential-based reward for progress.
        discount: The learner's discount factor, for `shaping`.
        max_episode_steps: Steps after which a game is truncated; None for no limit.
        autoreset_mode: `NextStep`, `SameStep` or `Disabled`, or Gymnasium's `AutoresetMode`.
        copy: Return arrays that the caller may keep. Without it, the next call overwrites them,
            and all but masks (and observations of perfect information) are read-only views of
            the records.
        num_threads: Cores to step games on; the results are the same. The other threads keep
            their core busy for about a millisecond after a step, to be there for the next one.
        render_mode: `ansi`, or None.

    Raises:
        YukonError: An argument is bad; the message says which and why.
    """

    _crew: Crew | None = None

    def __init__(
        self,
        num_envs: int = 1,
        variant: str | Variant = "yukon",
        *,
        deals: Deals = "train",
        perfect_information: bool = False,
        illegal_action: IllegalAction = "ignore",
        shaping: float = 0.0,
        discount: float = 1.0,
        max_episode_steps: int | None = MAX_EPISODE_STEPS,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        num_threads: int = 1,
        render_mode: str | None = None,
    ) -> None:
        check_count("num_envs", num_envs)
        check_count("num_threads", num_threads)
        if render_mode not in (None, *YukonEnv.metadata["render_modes"]):
            raise YukonError(f"render_mode is 'ansi' or None, not {render_mode!r}")
        self.num_envs = num_envs
        self.autoreset_mode = _read_autoreset_mode(autoreset_mode)
        self.metadata = {**YukonEnv.metadata, "autoreset_mode": self.autoreset_mode}
        self.copy = copy
        # The threads work in compiled code only.
        self.num_threads = 1 if config.DISABLE_JIT else num_threads  # type: ignore[attr-defined]
        self.render_mode = render_mode
        self.single_observation_space = observation_space()
        self.single_action_space = action_space()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        settings = Settings.of(
            deals=deals,
            perfect_information=perfect_information,
            illegal_action=illegal_action,
            shaping=shaping,
            discount=discount,
            max_episode_steps=max_episode_steps,
            reset_on_step=self.autoreset_mode is AutoresetMode.NEXT_STEP,
        )
        self._make_games(num_envs, get_variant(variant), settings)
        # Without copies, what a player sees is shown where the engine keeps it.
        self._shows_records = not copy and not perfect_information
        self._all = np.ones(num_envs, np.bool_)
        self._new_buffers()
        self._sampler = np.zeros(1, np.uint64)
        self._seeded = np.zeros(num_envs, np.bool_)
        self._all_seeded = False

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Starts new games.

        Args:
            seed: An int seeds game i with `seed + i`; a sequence gives each game its seed, None
                going on with the present one.
            options: One of `deal`, `deck`, `board`, for every game; and `reset_mask` (bool,
                shape (num_envs,)), which games to reset.

        Returns:
            Observations, int8 (num_envs, 52, 3), and infos; zeros in the infos of games that
            were not reset.

        Raises:
            YukonError: A seed or option is bad; the games in play are not touched.
        """
        seeds = self._read_seeds(seed)
        options = check_options(options)
        which = self._read_reset_mask(options.pop("reset_mask", None))
        start = read_options(options, self.variant)
        streams = self._read_streams(seeds)
        if isinstance(seed, int | np.integer):
            super().reset(seed=int(seed))
        self._seed(seeds[0], streams, which)
        if start is None:
            self._draw(which)
        else:
            start_from(start, self._games, self._episodes, which)
        if self.copy:
            self._new_buffers()
        self._observe(self._all)
        self._read_results()
        return self._shown, self._infos(which)

    def step(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Plays one action in each game.

        Args:
            actions: Integers, shape (num_envs,). In `NextStep` mode the action of a game that
                ended in the step before is ignored: the game is dealt anew.

        Returns:
            Observations int8 (num_envs, 52, 3), rewards float64, terminated and truncated bool
            (all (num_envs,)), and infos.

        Raises:
            ResetNeeded: `reset` has not been called.
            MoveError: An action is no number from 0 to 416; or one is illegal, with
                `illegal_action="raise"`. No game is touched.
            YukonError: The mode is `Disabled` and a game that is over was not reset.
        """
        if not self._all_seeded:
            raise ResetNeeded("call reset() before the first step()")
        actions = self._check_actions(actions)
        if self.copy:
            self._new_buffers()
        if not self._run_step(actions):
            self._check_numbers(actions)
            # Games that are dealt anew ignore theirs.
            self._run_step(np.where(_which_are_actions(actions), actions, 0))
        self._read_results()
        rewards, terminated, truncated = self._results[:3]
        infos = {}
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            over = terminated | truncated
            if over.any():
                rewards, terminated, truncated = (part.copy() for part in self._results[:3])
                infos = self._final_infos(over)
                self._draw(over)
                self._observe(over)
                self._read_results()
        infos |= self._infos_of_all()
        return self._shown, rewards, terminated, truncated, infos

    def sample_legal_actions(self) -> np.ndarray:
        """Draws an action for each game, uniformly over its mask: int64, shape (num_envs,).

        The draws are fixed by the seed of `reset`.
        """
        actions = np.empty(self.num_envs, np.int64)
        if self.num_threads == 1:
            sample_actions(self._games, self._sampler, actions)
        else:
            self._threads().sample(self._sampler, actions)
        return actions

    def action_masks(self) -> np.ndarray:
        """The legal actions: bool, shape (num_envs, 417); all True where the game is over."""
        masks = np.empty((self.num_envs, N_ACTIONS), np.int8)
        observations = np.empty((self.num_envs, N_CARDS * ROW), np.int8)
        observe_games(self._games, self._settings.record, observations, masks, self._all)
        return masks.view(np.bool_)

    def game(self, index: int) -> Game:
        """A copy of one game as a player may know it (see `YukonEnv.game`)."""
        return self._game(index)

    def render(self) -> tuple[str, ...] | None:
        """The boards as text, for `render_mode="ansi"`; they show what the player may see."""
        if self.render_mode is None:
            return None
        return tuple(draw_game(self.game(index)) for index in range(self.num_envs))

    def restore_state(self, state: Mapping[str, Any]) -> None:
        """Goes back to a saved state; see `KeptGames.restore_state`."""
        super().restore_state(state)
        self._seeded[:] = True
        self._all_seeded = True

    def _state(self) -> dict[str, np.ndarray]:
        return {**super()._state(), "sampler": self._sampler}

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the threads."""
        if self._crew is not None:
            self._crew.close()
            self._crew = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_crew": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        # Views that were saved are views no more.
        self._new_buffers()

    def _read_seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, int | np.integer):
            return [int(seed) + index for index in range(self.num_envs)]
        if not isinstance(seed, Sequence | np.ndarray) or len(seed) != self.num_envs:
            raise YukonError(
                f"seed must be a whole number, or a sequence of {self.num_envs}, not {seed!r}"
            )
        return list(seed)

    def _read_reset_mask(self, reset_mask: Any) -> np.ndarray:
        if reset_mask is None:
            return self._all
        mask = np.asarray(reset_mask)
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
            raise YukonError(
                f"reset_mask must be bool of shape ({self.num_envs},) with a True in it, "
                f"not {mask.dtype} of shape {mask.shape}"
            )
        return mask

    def _read_streams(self, seeds: list[int | None]) -> dict[int, np.uint64]:
        """The new random streams: of games with a seed, and of those that never had one."""
        return {
            index: stream_of_seed(seed)
            for index, seed in enumerate(seeds)
            if seed is not None or not self._seeded[index]
        }

    def _seed(
        self, first_seed: int | None, streams: dict[int, np.uint64], which: np.ndarray
    ) -> None:
        """Gives the games in `which` their new streams."""
        if first_seed is not None or not self._seeded.any():
            self._sampler[0] = stream_of_seed(first_seed, purpose=1)
        for index, stream in streams.items():
            if which[index]:
                self._episodes["stream"][index] = stream
        self._seeded |= which
        self._all_seeded = bool(self._seeded.all())

    def _check_actions(self, actions: np.ndarray) -> np.ndarray:
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise MoveError(
                f"actions must be integers of shape ({self.num_envs},), "
                f"not {actions.dtype} of shape {actions.shape}"
            )
        actions = np.ascontiguousarray(actions, np.int64)
        if self.autoreset_mode is AutoresetMode.DISABLED:
            self._check_none_over()
        if self._settings.raise_illegal:
            self._check_numbers(actions)
            self._check_legal(actions)
        return actions

    def _check_numbers(self, actions: np.ndarray) -> None:
        """Checks that all are numbers of actions, but for games that will be dealt anew."""
        if self.autoreset_mode is AutoresetMode.NEXT_STEP:
            actions = actions[~self._over()]
        for action in actions[~_which_are_actions(actions)]:
            raise MoveError(f"an action is a number from 0 to {N_ACTIONS - 1}, not {action}")

    def _over(self) -> np.ndarray:
        """Which games ended in the last step: bool, shape (num_envs,)."""
        return self._episodes["terminated"] | self._episodes["truncated"]

    def _check_none_over(self) -> None:
        over = self._over()
        if over.any():
            raise YukonError(
                f"game {int(over.argmax())} is over: reset it with "
                "reset(options={'reset_mask': ...}) before the next step"
            )

    def _check_legal(self, actions: np.ndarray) -> None:
        index = first_illegal(self._games, self._episodes, self._settings.record, actions)
        if index >= 0:
            raise_illegal(self.variant, self._games[index : index + 1], int(actions[index]))

    def _run_step(self, actions: np.ndarray) -> bool:
        """Steps all games; or none, if an action is no number of one, and says so."""
        if self.num_threads > 1:
            return self._threads().step(actions, self._observations, self._masks)
        return step_games(*self._arrays, actions, self._observations, self._masks)

    def _threads(self) -> Crew:
        if self._crew is None or not self._crew.is_here:
            self._crew = Crew(self.num_threads, *self._arrays)
        return self._crew

    def _draw(self, which: np.ndarray) -> None:
        draw_games(*self._arrays, which)

    def _observe(self, which: np.ndarray) -> None:
        observe_games(self._games, self._settings.record, self._observations, self._masks, which)

    def _new_buffers(self) -> None:
        """Gives away what the last call returned, and makes what the next one will fill."""
        n_written = 0 if self._shows_records else self.num_envs
        self._observations = np.empty((n_written, N_CARDS * ROW), np.int8)
        self._masks = np.empty((self.num_envs, N_ACTIONS), np.int8)
        if self._shows_records:
            self._shown = self._games["seen"][:, : N_CARDS * ROW].reshape(-1, N_CARDS, ROW)
            self._shown.flags.writeable = False
        else:
            self._shown = self._observations.reshape(-1, N_CARDS, ROW)
        if self.copy:
            self._results = [np.empty(self.num_envs, EPISODE[name]) for name in RESULTS]
        else:
            self._results = [self._episodes[name] for name in RESULTS]
            for result in self._results:
                result.flags.writeable = False
            self._kept_infos = self._infos(self._all)

    def _read_results(self) -> None:
        if self.copy:
            read_results(self._episodes, *self._results)

    def _infos_of_all(self) -> dict[str, Any]:
        return self._infos(self._all) if self.copy else self._kept_infos.copy()

    def _infos(self, which: np.ndarray) -> dict[str, Any]:
        """The infos of the games in `which`, in the form of Gymnasium's vector environments."""
        every = which is self._all
        infos = {}
        present = which.copy()
        present.flags.writeable = self.copy
        for name, array in zip(INFOS, (self._masks, *self._results[3:]), strict=True):
            if not every:
                array = array.copy()
                array[~which] = 0
            infos[name] = array
            infos[f"_{name}"] = present.copy() if self.copy else present
        return infos

    def _final_infos(self, over: np.ndarray) -> dict[str, Any]:
        """`final_obs` and `final_info` of the games that this step ended."""
        final_obs = np.full(self.num_envs, None, dtype=object)
        for index in np.flatnonzero(over):
            final_obs[index] = self._shown[index].copy()
        return {
            "final_obs": final_obs,
            "_final_obs": over.copy(),
            "final_info": self._infos(over),
            "_final_info": over.copy(),
        }


def _which_are_actions(actions: np.ndarray) -> np.ndarray:
    return (actions >= 0) & (actions < N_ACTIONS)


def _read_autoreset_mode(mode: str | AutoresetMode) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        known = ", ".join(repr(known.value) for known in AutoresetMode)
        raise YukonError(f"unknown autoreset_mode {mode!r}; known are {known}") from None
