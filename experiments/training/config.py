"""Typed configurations: what all kinds of training share, and how values are checked."""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from agents.networks import NETWORKS
from experiments.runs import RunError
from yukon_env.deals import SPLITS
from yukon_env.variants import VARIANTS, Variant

MAX_SEED = 2**32 - 1


def option(default: Any, text: str) -> Any:
    """A field of a configuration, with what `--help` says of it."""
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True)
class Config:
    """What every kind of training is told."""

    variant: str = option("yukon", f"the game, or games with commas: {', '.join(VARIANTS)}")
    seed: int = option(0, "fixes deals, draws and initial weights")
    batch_size: int = option(2048, "positions in a gradient step")
    learning_rate: float = option(2e-3, "at its highest; it falls to 0")
    threads: int = option(2, "threads of the network")

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Makes a configuration of named values; the others keep their defaults.

        Raises:
            RunError: A name is unknown, a value is of another type, or it is impossible.
        """
        types = {known.name: known.type for known in dataclasses.fields(cls)}
        unknown = set(values) - set(types)
        if unknown:
            names = ", ".join(sorted(unknown))
            raise RunError(f"unknown option {names}; known are {', '.join(types)}")
        config = cls(**{name: _read(name, value, types[name]) for name, value in values.items()})
        config.check()
        return config

    @property
    def variants(self) -> list[Variant]:
        """The games."""
        return [VARIANTS[key] for key in self.variant.split(",")]

    def check(self) -> None:
        """Checks what no later step checks with a clear message.

        Raises:
            RunError: A value is impossible.
        """
        keys = self.variant.split(",")
        for key in keys:
            if key not in VARIANTS:
                raise RunError(f"unknown variant {key!r}; known are {', '.join(VARIANTS)}")
        if len(set(keys)) < len(keys):
            raise RunError(f"{self.variant}: each variant once, please")
        self.check_range(0, math.inf, "learning_rate")
        self.check_range(0, MAX_SEED, "seed")
        self.check_range(1, math.inf, "batch_size", "threads")

    def check_range(self, low: float, high: float, *names: str) -> None:
        """Checks that values lie in a range, and are finite.

        Raises:
            RunError: One does not.
        """
        for name in names:
            value = getattr(self, name)
            if not (low <= value <= high and math.isfinite(value)):
                wanted = f"at least {low}" if math.isinf(high) else f"{low} to {high}"
                raise RunError(f"{name} must be {wanted}, not {value}")


@dataclass(frozen=True)
class PolicyConfig(Config):
    """What every kind of training is told that makes a policy."""

    seconds: float = option(3600.0, "time to train, validation included; 0 for no limit")
    network: str = option("moves", f"the network: {', '.join(NETWORKS)}")
    width: int = option(64, "size of the network's embeddings")
    validation_deals: int = option(1000, "validation deals played at each checkpoint")
    checkpoint_seconds: float = option(60.0, "time between two checkpoints")

    def check(self) -> None:
        """Checks the values; see `Config.check`."""
        super().check()
        if self.network not in NETWORKS:
            raise RunError(f"unknown network {self.network!r}; known are {', '.join(NETWORKS)}")
        self.check_range(0, math.inf, "seconds", "checkpoint_seconds")
        self.check_range(1, math.inf, "width")
        self.check_range(1, len(SPLITS["validation"]), "validation_deals")


def _read(name: str, value: Any, wanted: Any) -> Any:
    """A value as the field has it; whole numbers may stand for numbers."""
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not wanted:
        raise RunError(f"{name} must be {wanted.__name__}, not {value!r}")
    return value
