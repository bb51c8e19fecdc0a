"""``python -m baselines.python.compaction``: times selections and runs of PyTorch and CuPy.

The results of these have as many items as the data say, so that the libraries wait for a count
before they allocate them: the times have this in them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from baselines.python import __main__ as program
from baselines.python import libraries, scans, session
from baselines.python.protocol import Plan

GROUP = 128
"""Items of which so many are kept."""
KEPT, RUNS = (1, 64, 127), (8, 128, 65536)


@dataclass(frozen=True)
class Array:
    """Items in one dimension, in the place of the shape of a tensor."""

    items: int
    dim = 0

    @property
    def extents(self) -> tuple[int, ...]:
        return (self.items,)


@dataclass(frozen=True)
class Selection(Array):
    """Items of which flags keep so many of each GROUP, at random places."""

    kept: int
    primitive = "select"

    def make(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """The items, and the flags."""
        places = np.tile(np.arange(GROUP, dtype=np.uint8), (self.items // GROUP, 1))
        np.random.default_rng([seed, self.kept]).permuted(places, axis=1, out=places)
        return scans.make_items("i32", self.items, seed), places.reshape(-1) < self.kept

    def expected(self, data: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        items, flags = data
        return items[flags]

    def fields(self) -> dict[str, Any]:
        results = self.items * self.kept // GROUP
        return {"kept": self.kept, "bytes": 5 * self.items + 4 * results}


@dataclass(frozen=True)
class Runs(Array):
    """Runs of equal keys, whose lengths are random, from 1 to twice the mean."""

    segment: int
    primitive = "run_length_encode"

    def make(self, seed: int) -> np.ndarray:
        """The keys."""
        rng = np.random.default_rng([seed, self.segment])
        lengths = rng.integers(1, 2 * self.segment, 2 * self.items // self.segment + 2)
        return np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)[: self.items]

    def expected(self, keys: np.ndarray) -> np.ndarray:
        """The keys of runs, then their lengths."""
        begins = np.flatnonzero(np.diff(keys, prepend=-1))
        lengths = np.diff(begins, append=len(keys))
        return np.concatenate([keys[begins], lengths]).astype(np.int64)

    def fields(self) -> dict[str, Any]:
        written = 8 * (self.items // self.segment)
        cut = {"segment": self.segment, "lengths": "random", "width": 4}
        return cut | {"bytes": 4 * self.items + written}


class Unique(Runs):
    """The same, of which the keys are wanted alone."""

    primitive = "unique"

    def expected(self, keys: np.ndarray) -> np.ndarray:
        return keys[np.flatnonzero(np.diff(keys, prepend=-1))]

    def fields(self) -> dict[str, Any]:
        return super().fields() | {"bytes": 4 * (self.items + self.items // self.segment)}


class Pair(libraries.Library):
    """The base of libraries that take items and flags."""

    primitive = "select"

    def put(self, data: Any) -> Any:
        on_device = [super(Pair, self).put(array) for array in data]
        self._synchronize()  # the stream that uses them may be another
        return on_device


class TorchSelect(Pair, libraries.Torch):
    """torch.masked_select, which allocates its result."""

    id, label, title = "torch_select", "PyTorch", "torch.masked_select"
    caches = ("cold",)

    def prepare(self, data: Any, axis: int) -> Callable[[], Any]:
        items, flags = data
        return lambda: self._module.masked_select(items, flags)


class TorchNonzero(Pair, libraries.Torch):
    """torch.nonzero, which allocates the places, and an index."""

    id, label, title = "torch_nonzero", "PyTorch, nonzero", "x[torch.nonzero(flags, as_tuple=True)]"
    caches = ("cold",)

    def prepare(self, data: Any, axis: int) -> Callable[[], Any]:
        items, flags = data
        return lambda: items[self._module.nonzero(flags, as_tuple=True)]


class CupySelect(Pair, libraries.Cupy):
    """An array of CuPy indexed by flags, which allocates its result."""

    id, label, title = "cupy_select", "CuPy", "CuPy's x[flags]"
    caches = ("cold",)

    def prepare(self, data: Any, axis: int) -> Callable[[], Any]:
        items, flags = data
        return lambda: items[flags]


class TorchRuns(libraries.Torch):
    """torch.unique_consecutive with counts, which allocates its results. Counts are int64."""

    id, label, title = "torch_run_lengths", "PyTorch", "torch.unique_consecutive"
    caches = ("cold",)
    primitive = "run_length_encode"

    def prepare(self, keys: Any, axis: int) -> Callable[[], Any]:
        return lambda: self._module.unique_consecutive(keys, return_counts=True)

    def fetch(self, result: Any) -> np.ndarray:
        keys, lengths = (super(TorchRuns, self).fetch(array) for array in result)
        return np.concatenate([keys, lengths])


class TorchUnique(libraries.Torch):
    """torch.unique_consecutive, which allocates its result."""

    id, label, title = "torch_unique", "PyTorch", "torch.unique_consecutive"
    caches = ("cold",)
    primitive = "unique"

    def prepare(self, keys: Any, axis: int) -> Callable[[], Any]:
        return lambda: self._module.unique_consecutive(keys)


KNOWN = (TorchSelect, TorchNonzero, CupySelect, TorchRuns, TorchUnique)


class Compaction(session.Bench):
    """A session of selections and runs in the place of tensors."""

    def _libraries(self, shape: Any) -> list[libraries.Library]:
        return [each for each in self.libraries if each.primitive == shape.primitive]

    def _items(self, type_name: str, shape: Any) -> Any:
        self._shape = shape
        return shape.make(self.plan.seed)

    def _expected(self, items: Any, axis: int) -> np.ndarray:
        return self._shape.expected(items)

    def _fields(self, case: session.Case) -> dict[str, Any]:
        shape = case.scan.shape
        fields = {"kind": shape.primitive, "items": shape.items, **shape.fields()}
        cut = "".join(f"/{name}:{fields[name]}" for name in ("kept", "segment") if name in fields)
        name = (
            f"{shape.primitive}/variant:{case.scan.library.id}/type:{case.scan.type}/op:plus"
            f"/mode:inclusive/items:{shape.items}{cut}/cache:{case.cache}/launch:stream"
        )
        return fields | {"name": name, "cache": case.cache, "launch": "stream"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status."""
    module = "baselines.python.compaction"
    options = program.make_parser(module, __doc__, "2^20:2^28:x16").parse_args(arguments)
    if min(options.items) < GROUP:
        return program.complain(program.BAD_INPUT, f"--items: give {GROUP} or more, as 2^7")
    shapes = [Selection(n, kept) for n in options.items for kept in KEPT]
    shapes += [runs(n, mean) for runs in (Runs, Unique) for n in options.items for mean in RUNS]
    plan = Plan(["i32"], options.items, shapes=shapes)
    return program.time_libraries(module, KNOWN, Compaction, plan, options)


if __name__ == "__main__":
    sys.exit(main())
