"""What an environment of one game and one of many do alike with the games they keep."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from yukon_env.engine.batch import EPISODE
from yukon_env.engine.state import compile_rules, new_games
from yukon_env.episodes import Settings
from yukon_env.errors import YukonError
from yukon_env.game import Game
from yukon_env.variants import Variant


class KeptGames:
    """The games of an environment, with their episodes and rules, as the kernels take them."""

    variant: Variant

    def _make_games(self, n: int, variant: Variant, settings: Settings) -> None:
        self.variant = variant
        self._settings = settings
        self._rules = compile_rules(variant)
        self._games = new_games(n)
        self._episodes = np.zeros(n, EPISODE)
        # What the kernels of `engine.batch` begin their arguments with.
        self._arrays = self._games, self._episodes, self._rules, settings.record, settings.pool

    @property
    def records(self) -> np.ndarray:
        """The games as the engine keeps them (dtype GAME), hidden cards included; not a copy."""
        return self._games

    @property
    def perfect_information(self) -> bool:
        """Whether hidden cards are shown."""
        return bool(self._settings.record["perfect_information"][0])

    def save_state(self) -> dict[str, Any]:
        """The whole state, hidden cards and random streams included, for `restore_state`."""
        arrays = {name: array.copy() for name, array in self._state().items()}
        return {"variant": self.variant, **arrays}

    def restore_state(self, state: Mapping[str, Any]) -> None:
        """Goes back to a saved state, also one of another environment of the same variant.

        Raises:
            YukonError: The state is no saved one, of another variant, or of another number of
                games.
        """
        self._check_state(state)
        for name, array in self._state().items():
            array[:] = state[name]

    def _state(self) -> dict[str, np.ndarray]:
        """The arrays that hold the state, by their names in a saved one."""
        return {"games": self._games, "episodes": self._episodes}

    def _check_state(self, state: Mapping[str, Any]) -> None:
        saved_of = state.get("variant") if isinstance(state, Mapping) else None
        if not isinstance(saved_of, Variant):
            raise YukonError("this is no state that save_state gave")
        if saved_of != self.variant:
            # Two variants of one key differ in something else, so the whole of them is told.
            raise YukonError(f"the state is of {saved_of!r}, this environment of {self.variant!r}")
        for name, array in self._state().items():
            saved = state.get(name)
            if not isinstance(saved, np.ndarray) or saved.dtype != array.dtype:
                raise YukonError(f"this is no state that save_state gave: its {name} are not there")
            if saved.shape != array.shape:
                raise YukonError(
                    f"the state holds {len(saved)} games, this environment {len(array)}"
                )

    def _game(self, index: int) -> Game:
        """A copy of a game as a player may know it."""
        game = Game.of_record(self.variant, self._games[index : index + 1])
        return game if self.perfect_information else game.as_seen()
