"""Yukon and thirteen related patiences as reinforcement-learning environments.

Importing this package registers the environments with Gymnasium.
"""

import gymnasium

from yukon_env.deals import SPLITS, deck_of_deal
from yukon_env.env import YukonEnv
from yukon_env.episodes import MAX_EPISODE_STEPS
from yukon_env.errors import YukonError
from yukon_env.game import Game, Move
from yukon_env.variants import VARIANTS, Variant
from yukon_env.vector_env import YukonVectorEnv

__all__ = [
    "SPLITS",
    "VARIANTS",
    "Game",
    "Move",
    "Variant",
    "YukonEnv",
    "YukonError",
    "YukonVectorEnv",
    "deck_of_deal",
]

for _variant in VARIANTS.values():
    gymnasium.register(
        _variant.env_id,
        entry_point="yukon_env.env:YukonEnv",
        vector_entry_point="yukon_env.vector_env:YukonVectorEnv",
        max_episode_steps=MAX_EPISODE_STEPS,
        kwargs={"variant": _variant.key},
    )
