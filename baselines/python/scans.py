"""The input of the sums, the right result, and the check of a library's.

Integers are drawn over their whole range; sums wrap in the element type. Floats telescope: item i
is h(i) - h(i - 1) with every h a small multiple of one quantum, so that the sum of any run of items
is exact in any of the types, whatever the grouping. All results are therefore compared exactly,
which is stricter than an error bound. Items of a tensor telescope along the axis that is scanned.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

TYPES = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}
TYPES |= {"f16": np.float16, "f32": np.float32, "f64": np.float64}

_QUANTUM, _MOST_QUANTA = 2.0**-4, 31


def make_items(
    type_name: str, shape: int | tuple[int, ...], seed: int, axis: int = 0
) -> np.ndarray:
    """An array of items of the type, to scan along an axis; the same for the same seed."""
    dtype = np.dtype(TYPES[type_name])
    rng = np.random.default_rng([seed, *type_name.encode()])
    if dtype.kind == "i":
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
    levels = rng.integers(-_MOST_QUANTA, _MOST_QUANTA, shape, dtype=np.int8, endpoint=True)
    quanta = np.diff(levels, axis=axis, prepend=np.int8(0))
    return (quanta * np.float32(_QUANTUM)).astype(dtype, copy=False)


def reference(items: np.ndarray, before: Sequence[Any] = (), axis: int = 0) -> np.ndarray:
    """The inclusive sums after the sums ``before``: integers wrap, floats are summed as doubles."""
    sums = np.cumsum(items, axis, dtype=items.dtype if items.dtype.kind == "i" else np.float64)
    sums += np.array(before, dtype=sums.dtype).sum(dtype=sums.dtype)
    return sums.astype(items.dtype, copy=False)


def fault(result: np.ndarray, expected: np.ndarray) -> str:
    """One sentence that says what is wrong with a result; empty if it is right. NaN never is."""
    if result.dtype != expected.dtype or result.shape != expected.shape:
        return f"it is {result.dtype}{result.shape}, not {expected.dtype}{expected.shape}"
    wrong = result != expected
    if not wrong.any():
        return ""
    first = int(np.argmax(wrong))
    values = f"{result.flat[first]} instead of {expected.flat[first]}"
    return f"{np.count_nonzero(wrong)} items are wrong, the first is {first}: {values}"
