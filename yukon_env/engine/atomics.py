"""What threads tell each other by: atomic access to an int64 array, and arrays by their address.

Numba has none of these for the CPU. They exist in compiled code only.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

# Sequentially consistent: what a thread wrote before is seen by whoever sees this.
_ORDER = "seq_cst"
_BYTES = 8


@intrinsic
def fetch_add(typing_context, array, index, value):  # type: ignore[no-untyped-def]
    """Adds to an entry of an array (int64, (n,)) and returns what was there."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        entry = _entry(context, builder, signature, args)
        return builder.atomic_rmw("add", entry, args[2], _ORDER)

    return types.int64(array, types.intp, types.int64), generate


@intrinsic
def load(typing_context, array, index):  # type: ignore[no-untyped-def]
    """Reads an entry of an array (int64, (n,)) that another thread may write."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        entry = _entry(context, builder, signature, args)
        return builder.load_atomic(entry, _ORDER, _BYTES, typ=ir.IntType(64))

    return types.int64(array, types.intp), generate


@intrinsic
def store(typing_context, array, index, value):  # type: ignore[no-untyped-def]
    """Writes an entry of an array (int64, (n,)) that another thread may read."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        entry = _entry(context, builder, signature, args)
        builder.store_atomic(args[2], entry, _ORDER, _BYTES)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.int64), generate


@intrinsic
def pointer(typing_context, address, dtype):  # type: ignore[no-untyped-def]
    """Makes an address (int64) what `numba.carray` takes, for entries of a dtype."""
    kind = types.CPointer(dtype.dtype)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(kind))

    return kind(types.int64, dtype), generate


def _entry(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The pointer to entry `args[1]` of the array `args[0]`."""
    kind = signature.args[0]
    array = make_array(kind)(context, builder, args[0])
    return cgutils.get_item_pointer(context, builder, kind, array, [args[1]])
