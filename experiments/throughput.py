"""How fast the environments are: `python -m experiments.throughput`.

Counting rule: legal random play; every step counts one game stepped, with its observation and
mask written; drawing the random action and dealing new games are inside the measured time (for the
single environment from random numbers drawn beforehand). All are measured in turn, several times,
and each figure is the best, since other processes only ever make a run slower.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from tqdm import trange

from experiments.runs import provenance, write_json
from yukon_env.engine.batch import EPISODE
from yukon_env.engine.state import GAME, N_ACTIONS
from yukon_env.env import YukonEnv
from yukon_env.episodes import MAX_EPISODE_STEPS
from yukon_env.variants import VARIANTS
from yukon_env.vector_env import YukonVectorEnv

REPETITIONS = 10
OBSERVATION_BYTES = 52 * 3

# Takes some steps, and returns how many.
Loop = Callable[[], int]

IMPORT = "import time; t = time.perf_counter(); import yukon_env; print(time.perf_counter() - t)"
FIRST_STEP = (
    "import gymnasium, time, yukon_env; env = gymnasium.make('Yukon-v0'); t = time.perf_counter();"
    "env.reset(seed=0); env.step(0); print(time.perf_counter() - t)"
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures everything, prints one table, and keeps it if wanted."""
    args = _parse_args(arguments)
    if args.num_envs < 1 or args.seconds <= 0:
        sys.exit("error: --num-envs must be at least 1, and --seconds more than 0")
    variant = VARIANTS[args.variant]
    print(__doc__.split("\n\n")[1].replace("\n", " "))
    print(f"{variant.title}; {_machine()}\n")

    many = f"YukonVectorEnv, {args.num_envs:,} games"
    loops = {
        f"{many}, 1 thread, copy=False": vector_loop(variant.key, args.num_envs, copy=False),
        f"{many}, 2 threads, copy=False": vector_loop(
            variant.key, args.num_envs, copy=False, num_threads=2
        ),
        f"{many}, 1 thread": vector_loop(variant.key, args.num_envs),
        f"{many}, 2 threads": vector_loop(variant.key, args.num_envs, num_threads=2),
        "YukonEnv, unwrapped": single_loop(variant.key),
        "SyncVectorEnv over YukonEnv, 64 games": sync_loop(variant.env_id, 64),
    }
    measured = measure_rates(loops, args.seconds)
    for name, rate in measured.items():
        print(f"{name:<58} {rate:>14,.0f} steps/s")
    starts = measure_start()
    for name, seconds in starts.items():
        print(f"{name:<58} {seconds:>14.2f} s")
    size = GAME.itemsize + EPISODE.itemsize + N_ACTIONS + OBSERVATION_BYTES
    print(f"{'Memory per game: record, episode, mask, observation':<58} {size:>14,} bytes")
    if args.out is not None:
        about = provenance(variant=variant.key, num_envs=args.num_envs, repetitions=REPETITIONS)
        figures = {"steps_per_second": measured, "seconds": starts, "bytes_per_game": size}
        write_json(args.out, {**about, **figures})


def _parse_args(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.throughput", description=__doc__)
    parser.add_argument("--variant", choices=VARIANTS, default="yukon")
    parser.add_argument("--num-envs", type=int, default=1024, help="games stepped at once")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of one repetition")
    parser.add_argument("--out", type=Path, metavar="FILE", help="keep the figures as JSON")
    return parser.parse_args(arguments)


def measure_rates(loops: dict[str, Loop], seconds: float) -> dict[str, float]:
    """Runs loops in turn, and returns the best steps a second of each."""
    rounds = [
        {name: _rate(loop, seconds) for name, loop in loops.items()}
        for _ in trange(1 + REPETITIONS, unit="round", leave=False)
    ]
    # The first one warms up.
    return {name: max(rates[name] for rates in rounds[1:]) for name in loops}


def _rate(loop: Loop, seconds: float) -> float:
    steps = 0
    start = time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds:
        steps += loop()
    return steps / elapsed


def vector_loop(variant: str, num_envs: int, **kwargs: Any) -> Loop:
    """Steps the native vector environment."""
    env = YukonVectorEnv(num_envs, variant, **kwargs)
    env.reset(seed=0)

    def loop() -> int:
        for _ in range(10):
            env.step(env.sample_legal_actions())
        return 10 * num_envs

    return loop


def single_loop(variant: str) -> Loop:
    """Steps one environment; its random numbers are drawn in blocks beforehand."""
    env = YukonEnv(variant)
    env.reset(seed=0)
    legal, n_legal = env.records["legal"][0], env.records["n_legal"]
    draws = np.random.default_rng(0).random(4096).tolist()
    state = {"steps": 0}

    def loop() -> int:
        for draw in draws:
            action = legal.item(int(draw * n_legal.item()))
            _, _, terminated, _, _ = env.step(action)
            state["steps"] += 1
            if terminated or state["steps"] == MAX_EPISODE_STEPS:
                env.reset()
                state["steps"] = 0
        return len(draws)

    return loop


def sync_loop(env_id: str, num_envs: int) -> Loop:
    """Steps Gymnasium's own vector environment over the single one."""
    env = gym.make_vec(env_id, num_envs=num_envs, vectorization_mode="sync")
    _, infos = env.reset(seed=0)
    rng = np.random.default_rng(0)
    state = {"masks": infos["action_mask"]}

    def loop() -> int:
        actions = (rng.random(state["masks"].shape) * state["masks"]).argmax(axis=1)
        state["masks"] = env.step(actions)[-1]["action_mask"]
        return num_envs

    return loop


def measure_start() -> dict[str, float]:
    """Seconds that a new process takes to import the package and to take its first step."""
    with tempfile.TemporaryDirectory() as cache:
        cold = {**os.environ, "NUMBA_CACHE_DIR": cache}
        return {
            "import yukon_env": min(_seconds(IMPORT, cold) for _ in range(REPETITIONS)),
            "First reset and step of a process, nothing compiled": _seconds(FIRST_STEP, cold),
            "First reset and step of a process, compiled before": min(
                _seconds(FIRST_STEP, cold) for _ in range(REPETITIONS)
            ),
        }


def _seconds(code: str, environment: dict[str, str]) -> float:
    run = [sys.executable, "-c", code]
    return float(subprocess.check_output(run, env=environment, text=True))


def _machine() -> str:
    return f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores"


if __name__ == "__main__":
    main()
