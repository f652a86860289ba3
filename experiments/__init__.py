"""Experiments: train, evaluate, tune, measure; each runs as `python -m experiments.NAME`."""

import os

# Before torch is loaded: its threads then sleep while they wait, instead of spinning. Where other
# programs share the cores, that makes small networks ten times faster.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
