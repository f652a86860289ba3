"""Settings of the whole test suite."""

import numpy as np
from helpers import COMPILED
from hypothesis import settings

# The same examples in every run, so that a red run is red for everybody; no database in the tree.
settings.register_profile("yukon", deadline=None, derandomize=True, database=None)
settings.load_profile("yukon")

# Random streams and position keys are sums and products modulo 2**64. Compiled code wraps around
# silently; NumPy's scalars, which take its place with NUMBA_DISABLE_JIT=1, would warn each time.
if not COMPILED:
    np.seterr(over="ignore")
