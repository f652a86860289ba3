"""One game as a Gymnasium environment."""

from collections.abc import Mapping
from typing import Any, SupportsIndex

import gymnasium as gym
import numpy as np

from yukon_env.cards import N_CARDS
from yukon_env.deals import stream_of_seed
from yukon_env.engine.batch import (
    draw_games,
    first_illegal,
    observe_games,
    potentials,
    step_games,
)
from yukon_env.engine.state import N_ACTIONS, ROW
from yukon_env.episodes import (
    Deals,
    IllegalAction,
    Settings,
    action_space,
    observation_space,
    raise_illegal,
    read_options,
    start_from,
)
from yukon_env.errors import MoveError, YukonError
from yukon_env.game import ONE_GAME, Game
from yukon_env.kept_games import KeptGames
from yukon_env.rendering.ansi import draw_game
from yukon_env.variants import Variant, get_variant

# As a dtype, which NumPy would otherwise look up in each call.
INT8 = np.dtype(np.int8)


class YukonEnv(KeptGames, gym.Env[np.ndarray, np.int64]):
    """A patience of the Yukon family.

    ## Description
    Seven columns, four foundations, in some variants a stock. A move takes any face-up card with
    all the cards lying on it, however unordered, to a column whose end card the grabbed card
    fits. The game is won when all 52 cards are on the foundations. Face-down cards, and the
    stock, are hidden from the player.

    ## Action Space
    `Discrete(417)`: `card * 8 + destination`, destination 0-6 for a column and 7 for the card's
    foundation; 416 deals from the stock, or turns the waste over. Card numbers are
    `suit * 13 + rank`, suits C D H S, ranks A to K. `info["action_mask"]` (int8, (417,)) marks
    the legal actions, all ones when the game is over; `action_masks()` gives it as bool.

    ## Observation Space
    `Box(int8, (52, 3))`, a row per card number: zone (0-6 a column, 7 foundation, 8 waste,
    9 stock, -1 unknown), position in it (0 at a column's base; -1 unknown), face up (1 or 0).
    A hidden card's row is (-1, -1, 0).

    ## Starting State
    A deal drawn from `deals`, by a random stream that `reset(seed=)` fixes. Options of `reset`:
    `{"deal": n}` deals number n, `{"deck": cards}` these 52 cards, `{"board": text}` a board.

    ## Rewards
    1 for the move that wins, else 0; plus `shaping` (see the arguments).

    ## Episode End
    Terminated when the game is won or no move is legal. Truncated after 500 steps by the
    registered environments (Gymnasium's `TimeLimit`).

    ## Information
    `action_mask`; `deal`, the deal number (-1 for a deck or board given by hand), which is for the
    record: it tells the whole deck, so no policy may read it; `is_success`, whether the game is
    won; `illegal_action`, whether the last action was illegal.

    ## Version History
    * v0: the first version.

    Args:
        variant: A key such as `yukon`, or a `Variant` of your own.
        deals: Where deals are drawn from: a split (`train`, `validation`, `test`), a range, a
            sequence of deal numbers, or a file of them (`deals.read_deals` says which).
        perfect_information: Show hidden cards at their true place, with face_up 0.
        illegal_action: `ignore` changes nothing and counts as a step, `terminate` ends the
            episode, `raise` raises an error.
        shaping: Weight of a potential-based reward for progress, `shaping * (discount * after -
            before)`; progress is the share of cards that are up or revealed, 0 in a terminal
            state, so the best policy stays the same (Ng, Harada and Russell, ICML 1999).
        discount: The learner's discount factor, for `shaping`.
        render_mode: `ansi`, or None.

    Raises:
        YukonError: An argument is bad; the message says which and why.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 4}  # noqa: RUF012

    def __init__(
        self,
        variant: str | Variant = "yukon",
        *,
        deals: Deals = "train",
        perfect_information: bool = False,
        illegal_action: IllegalAction = "ignore",
        shaping: float = 0.0,
        discount: float = 1.0,
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise YukonError(f"render_mode is 'ansi' or None, not {render_mode!r}")
        self.render_mode = render_mode
        self.observation_space = observation_space()
        self.action_space = action_space()
        settings = Settings.of(
            deals=deals,
            perfect_information=perfect_information,
            illegal_action=illegal_action,
            shaping=shaping,
            discount=discount,
        )
        self._make_games(1, get_variant(variant), settings)
        self._actions = np.zeros(1, np.int64)
        self._seeded = False

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Starts a new game.

        Args:
            seed: Fixes the sequence of deals drawn from now on; None goes on with the present
                one (the first time, with a random one).
            options: One of `deal`, `deck`, `board`.

        Returns:
            The observation, int8 (52, 3), and the info.

        Raises:
            YukonError: An option is unknown or bad; the game in play is not touched.
        """
        start = read_options(options, self.variant)
        stream = stream_of_seed(seed)
        super().reset(seed=seed)
        if seed is not None or not self._seeded:
            self._episodes["stream"] = stream
            self._seeded = True
        if start is None:
            draw_games(*self._arrays, ONE_GAME)
        else:
            start_from(start, self._games, self._episodes, ONE_GAME)
        observation, mask = self._observe()
        return observation, self._judge(mask)[0]

    def step(self, action: SupportsIndex) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Plays one action.

        Returns:
            Observation, reward, terminated, truncated (always False here) and info.

        Raises:
            ResetNeeded: `reset` has not been called.
            MoveError: The action is no number from 0 to 416; or it is illegal, and the
                environment was made with `illegal_action="raise"`.
        """
        if not self._seeded:
            raise gym.error.ResetNeeded("call reset() before the first step()")
        self._actions[0] = self._check_action(action)
        observations = np.empty((1, N_CARDS * ROW), INT8)
        masks = np.empty((1, N_ACTIONS), INT8)
        step_games(*self._arrays, self._actions, observations, masks)
        info, reward, terminated = self._judge(masks[0])
        return observations.reshape(N_CARDS, ROW), reward, terminated, False, info

    def _check_action(self, action: SupportsIndex) -> int:
        try:
            number = action.__index__()
        except (AttributeError, TypeError):
            raise MoveError(f"an action is a whole number, not {action!r}") from None
        if not 0 <= number < N_ACTIONS:
            raise MoveError(f"an action is a number from 0 to {N_ACTIONS - 1}, not {number}")
        if self._settings.raise_illegal:
            self._actions[0] = number
            settings = self._settings.record
            if first_illegal(self._games, self._episodes, settings, self._actions) == 0:
                raise_illegal(self.variant, self._games, number)
        return number

    def _observe(self) -> tuple[np.ndarray, np.ndarray]:
        observations = np.empty((1, N_CARDS * ROW), INT8)
        masks = np.empty((1, N_ACTIONS), INT8)
        observe_games(self._games, self._settings.record, observations, masks, ONE_GAME)
        return observations.reshape(N_CARDS, ROW), masks[0]

    def _judge(self, mask: np.ndarray) -> tuple[dict[str, Any], float, bool]:
        """The info, the reward and whether the episode is terminated, after the last step."""
        # All fields at once: one by one they would cost a quarter of a step.
        _, deal, _, reward, terminated, _, illegal, won = self._episodes.item(0)
        info = {
            "action_mask": mask,
            "deal": deal,
            "is_success": won,
            "illegal_action": illegal,
        }
        return info, reward, terminated  # type: ignore[return-value]

    def action_masks(self) -> np.ndarray:
        """The legal actions: bool, shape (417,); all True when the game is over."""
        return self._observe()[1].view(np.bool_)

    def game(self) -> Game:
        """A copy of the game as a player may know it.

        With perfect information it is the true one; otherwise its hidden cards are unknown until
        it is determinized.
        """
        return self._game(0)

    def render(self) -> str | None:
        """The board as text, for `render_mode="ansi"`; it shows what the player may see."""
        if self.render_mode is None:
            gym.logger.warn("render() needs a render_mode; make the environment with 'ansi'")
            return None
        return draw_game(self.game())

    def paid_shaping(self) -> float:
        """What `shaping` has paid for the present position.

        A wrapper that ends the game here takes it back: a terminal state is worth nothing.
        """
        values = np.empty(1)
        potentials(self._games, self._rules, values)
        record = self._settings.record
        return float(record["shaping"][0] * record["discount"][0] * values[0])

    def restore_state(self, state: Mapping[str, Any]) -> None:
        """Goes back to a saved state; see `KeptGames.restore_state`."""
        super().restore_state(state)
        self._seeded = True
