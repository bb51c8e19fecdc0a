"""The libraries behind a common interface: copy an array in, scan an axis, time it, fetch it.

A library is imported when it is constructed. If the import or the first use of the GPU fails, the
exception is the reason for omitting the library.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

UNTIMED_RUNS = 3
_FLUSH_WORDS = 2**28
"""Words of the L2 flush: several times L2, and enough to hide the launches of Python."""


class Refused(Exception):
    """Raised with the reason when a library does not support such items: the case is skipped."""


class Library:
    """A library that scans on the device. A subclass has these methods:

    ``versions()`` returns its facts in the provenance; ``put(items)`` copies items to the device;
    ``prepare(items, axis)`` poisons an output array and returns a function that enqueues the scan
    and returns the array, or raises Refused; ``fetch(result)`` waits and copies to the host;
    ``seconds(run, runs, cache, untimed)`` returns the mean time of one of so many runs, after
    untimed ones.
    """

    id: str
    label: str
    """The name in legends."""
    title: str
    """The function's name in user code."""
    caches: tuple[str, ...] = ("cold", "warm")
    """The cache states in which it can be timed."""
    primitive = "scan"

    def about(self) -> dict[str, Any]:
        """The library's description in the results, as ``scanlab bench`` describes variants."""
        about = {"label": self.label, "title": self.title, "kind": "scan", "origin": "baseline"}
        about |= {"source": " ".join((type(self).__doc__ or "").split()), "family": "Python"}
        about |= {"overview": False, "on_host": False, "types": [], "operators": ["plus"]}
        return about | {"parameters": [], "reproducible_bits": False}


class _WithEvents(Library):
    """Timing by CUDA events on a stream of our own, as harness/cuda/timing.cu does it.

    A subclass has ``_module``, the library; ``_stream()``, a context in which everything is
    enqueued on our stream; ``_make_event()`` and ``_elapsed_ms(start, end)``; ``_synchronize()``
    for the device; and ``_flush_l2()``, which enqueues the L2 flush: a kernel that reads several
    times L2, and writes little.
    """

    def _make_output(self, items: Any) -> Any:
        with self._stream():
            out = self._module.full_like(items, 85)
        self._synchronize()  # so that the caller may use any stream
        return out

    def fetch(self, result: Any) -> np.ndarray:
        self._synchronize()
        with self._stream():
            return self._to_host(result)

    def seconds(
        self, run: Callable[[], Any], runs: int, cache: str, untimed: int = UNTIMED_RUNS
    ) -> float:
        with self._stream():
            for _ in range(untimed):
                run()
            if cache == "warm":
                return self._between(*self._interval(run, runs)) / runs
            intervals = []
            for _ in range(runs):
                self._flush_l2()
                intervals.append(self._interval(run, 1))
            return sum(self._between(*interval) for interval in reversed(intervals)) / runs

    def _interval(self, run: Callable[[], Any], runs: int) -> tuple[Any, Any]:
        start = self._event()
        for _ in range(runs):
            run()
        return start, self._event()

    def _event(self) -> Any:
        event = self._make_event()
        event.record()
        return event

    def _between(self, start: Any, end: Any) -> float:
        """Seconds between two events, once the second has happened."""
        end.synchronize()
        return self._elapsed_ms(start, end) * 1e-3


class Torch(_WithEvents):
    """torch.cumsum into a preallocated output."""

    id, label, title = "torch_cumsum", "PyTorch", "torch.cumsum"

    def __init__(self) -> None:
        import torch

        torch.cuda.init()
        self._module = torch
        self._own_stream = torch.cuda.Stream()
        self._cold = _cold_of(torch)
        self._synchronize = torch.cuda.synchronize

    def versions(self) -> dict[str, str]:
        return {"torch": self._module.__version__, "torch_cuda": str(self._module.version.cuda)}

    def put(self, items: np.ndarray) -> Any:
        with self._stream():
            return self._module.from_numpy(items).cuda()

    def prepare(self, items: Any, axis: int) -> Callable[[], Any]:
        out = self._make_output(items)
        return lambda: self._module.cumsum(items, axis, dtype=items.dtype, out=out)

    def _to_host(self, result: Any) -> np.ndarray:
        return result.cpu().numpy()

    def _stream(self) -> contextlib.AbstractContextManager[Any]:
        return self._module.cuda.stream(self._own_stream)

    def _make_event(self) -> Any:
        return self._module.cuda.Event(enable_timing=True)

    def _elapsed_ms(self, start: Any, end: Any) -> float:
        return start.elapsed_time(end)

    def _flush_l2(self) -> None:
        self._module.amax(self._cold)


@functools.cache
def _cold_of(torch: Any) -> Any:
    """Return the array that the L2 flush reads; all libraries on PyTorch arrays share it."""
    return torch.zeros(_FLUSH_WORDS, dtype=torch.int32, device="cuda")


class CudaCompute(Torch):
    """cuda.compute.make_inclusive_scan of NVIDIA's cuda-cccl, CUB's scan compiled when it is made,
    with OpKind.PLUS, on arrays of PyTorch.
    """

    id, label, title = "cuda_compute", "cuda.compute", "cuda.compute"

    def __init__(self) -> None:
        super().__init__()
        import cuda.compute

        self._compute = cuda.compute

    def versions(self) -> dict[str, str]:
        return super().versions() | {"cuda_cccl": importlib.metadata.version("cuda-cccl")}

    def prepare(self, items: Any, axis: int) -> Callable[[], Any]:
        if items.ndim > 1:
            raise Refused("cuda.compute has no segmented scan")
        out, plus = self._make_output(items), self._compute.OpKind.PLUS
        arguments = {"d_in": items, "d_out": out, "op": plus, "init_value": None}
        with self._stream():
            try:
                scan = self._compute.make_inclusive_scan(**arguments)
            except (KeyError, NotImplementedError, TypeError, ValueError) as error:
                raise Refused(f"cuda.compute makes no scan of {items.dtype}: {error}") from error
            stream = _StreamHandle(self._own_stream.cuda_stream)
            arguments |= {"num_items": items.numel(), "stream": stream}
            size = scan(temp_storage=None, **arguments)
            workspace = self._module.empty(size, dtype=self._module.uint8, device="cuda")

        def run() -> Any:
            scan(temp_storage=workspace, **arguments)
            return out

        return run


class _StreamHandle:
    """A stream as cuda.compute takes it: by the protocol ``__cuda_stream__``, of version 0."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._handle


class TritonScan(Torch):
    """Three kernels in Triton, with tl.reduce and tl.associative_scan: sums of blocks, their scan,
    and a scan of each block; of rows, one kernel, with a program for each row; on arrays of
    PyTorch.
    """

    id, label, title = "triton_scan", "Triton", "a scan by tl.associative_scan"

    def __init__(self) -> None:
        super().__init__()
        import triton

        from baselines.python import triton_kernels

        self._triton, self._kernels = triton, triton_kernels

    def versions(self) -> dict[str, str]:
        return super().versions() | {"triton": self._triton.__version__}

    def prepare(self, items: Any, axis: int) -> Callable[[], Any]:
        most = self._kernels.ITEMS_PER_ROW
        if items.ndim > 1 and (axis != items.ndim - 1 or items.shape[axis] > most):
            raise Refused(f"the kernel takes rows of at most {most} items that lie side by side")
        out = self._make_output(items)
        if items.ndim > 1:
            return lambda: self._kernels.scan_rows(items, out)
        blocks = self._triton.cdiv(items.numel(), self._kernels.ITEMS_PER_BLOCK)
        with self._stream():
            totals = self._module.empty(blocks, dtype=items.dtype, device=items.device)

        def run() -> Any:
            self._kernels.scan(items, totals, out)
            return out

        return run


class Cupy(_WithEvents):
    """cupy.cumsum into a preallocated output."""

    id, label, title = "cupy_cumsum", "CuPy", "cupy.cumsum"

    def __init__(self) -> None:
        import cupy

        self._module = cupy
        self._own_stream = cupy.cuda.Stream(non_blocking=True)
        self._synchronize = cupy.cuda.runtime.deviceSynchronize
        self._make_event, self._elapsed_ms = cupy.cuda.Event, cupy.cuda.get_elapsed_time
        with self._stream():
            self._cold = cupy.zeros(_FLUSH_WORDS, dtype=cupy.int32)

    def versions(self) -> dict[str, str]:
        return {
            "cupy": self._module.__version__,
            "cupy_cuda": str(self._module.cuda.runtime.runtimeGetVersion()),
            "cupy_accelerators": os.environ.get("CUPY_ACCELERATORS", "default"),
        }

    def put(self, items: np.ndarray) -> Any:
        with self._stream():
            return self._module.asarray(items)

    def prepare(self, items: Any, axis: int) -> Callable[[], Any]:
        out = self._make_output(items)
        arguments = {"axis": axis if items.ndim > 1 else None, "dtype": items.dtype, "out": out}
        return lambda: self._module.cumsum(items, **arguments)

    def _to_host(self, result: Any) -> np.ndarray:
        return result.get()

    def _stream(self) -> contextlib.AbstractContextManager[Any]:
        return self._own_stream

    def _flush_l2(self) -> None:
        self._cold.max()


class Jax(Library):
    """jax.numpy.cumsum, compiled. It has no events and no stream of ours, and allocates its output
    in every run: its time is the host's, of runs enqueued back to back until the last is ready.
    Runs after an eviction cannot be timed so.
    """

    id, label, title = "jax_cumsum", "JAX", "jax.cumsum"
    caches = ("warm",)

    def __init__(self) -> None:
        # The others need memory, too.
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        import jax

        jax.config.update("jax_enable_x64", True)
        self._jax = jax
        self._device = jax.devices("gpu")[0]

    def versions(self) -> dict[str, str]:
        timing = "wall time of runs back to back, until the last is ready"
        return {"jax": self._jax.__version__, "jax_timing": timing}

    def put(self, items: np.ndarray) -> Any:
        return self._jax.device_put(items, self._device)

    def prepare(self, items: Any, axis: int) -> Callable[[], Any]:
        cumsum = self._jax.numpy.cumsum
        scan = self._jax.jit(lambda items: cumsum(items, axis, dtype=items.dtype))
        return lambda: scan(items)

    def fetch(self, result: Any) -> np.ndarray:
        return np.asarray(result)

    def seconds(
        self, run: Callable[[], Any], runs: int, cache: str, untimed: int = UNTIMED_RUNS
    ) -> float:
        for count in filter(None, (untimed, runs)):
            start = time.perf_counter()
            for _ in range(count):
                result = run()
            result.block_until_ready()
        return (time.perf_counter() - start) / runs


KNOWN: tuple[type[Library], ...] = (Torch, Cupy, Jax, CudaCompute, TritonScan)


def first_line(error: Exception) -> str:
    """The first line of a message, or the exception's name."""
    return (str(error).splitlines() or [type(error).__name__])[0]
