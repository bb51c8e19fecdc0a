"""cuda.compute and Triton on arrays of PyTorch, with stand-ins of cuda-cccl 1.2 and of PyTorch.

Their kernels are not run here: these need a GPU, or Triton's interpreter (TRITON_INTERPRET=1).
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from baselines.python import __main__ as command
from baselines.python import libraries, scans
from baselines.python.protocol import Plan
from baselines.python.session import Bench

HANDLE = 4711
WORKSPACE_BYTES = 767


class Tensor(np.ndarray):
    """A tensor as far as it is used."""

    device = "cuda"

    def numel(self) -> int:
        return self.size

    def cuda(self) -> Tensor:
        return self

    def to(self, device: str) -> Tensor:
        return self

    def add_(self, other: Any) -> None:
        self += other

    def cpu(self) -> SimpleNamespace:
        return SimpleNamespace(numpy=lambda: np.array(self))


class Scan:
    """The result of make_inclusive_scan. ``calls``: the workspace and the stream of each call."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, Any]] = []

    def __call__(self, temp_storage: Any, d_in: Any, d_out: Any, stream: Any, **words: Any) -> int:
        self.calls.append((temp_storage, stream))
        assert words == {"op": "+", "init_value": None, "num_items": d_in.size}
        if temp_storage is not None:
            d_out[:] = np.cumsum(d_in, dtype=d_in.dtype)
        return WORKSPACE_BYTES


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The scan that cuda.compute makes, or raises. Replaces the modules torch and cuda."""
    torch, cuda, compute = (ModuleType(name) for name in ("torch", "cuda", "cuda.compute"))
    torch.__version__, torch.version = "2", SimpleNamespace(cuda="13.0")
    torch.int32, torch.uint8 = np.int32, np.uint8
    torch.zeros = lambda count, dtype, device: np.zeros(1, dtype).view(Tensor)
    torch.empty = lambda count, dtype, device: np.empty(count, dtype).view(Tensor)
    torch.full_like = lambda like, value: np.full_like(like, value).view(Tensor)
    torch.from_numpy = lambda array: array.view(Tensor)
    torch.cuda = SimpleNamespace(
        init=lambda: None,
        synchronize=lambda: None,
        Stream=lambda: SimpleNamespace(cuda_stream=HANDLE),
        stream=lambda _: contextlib.nullcontext(),
        get_device_properties=lambda _: SimpleNamespace(L2_cache_size=0),
    )
    made = SimpleNamespace(scan=Scan(), error=None)

    def make_inclusive_scan(*, d_in: Any, d_out: Any, op: Any, init_value: Any = None) -> Scan:
        if made.error:
            raise made.error
        return made.scan

    compute.make_inclusive_scan, compute.OpKind = make_inclusive_scan, SimpleNamespace(PLUS="+")
    cuda.compute, cuda.__path__ = compute, []
    for module in (torch, cuda, compute):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    version = {"cuda-cccl": "1.2.1"}.__getitem__
    monkeypatch.setattr(libraries.importlib.metadata, "version", version)
    return made


def test_cuda_compute_makes_its_workspace_once_and_runs_in_our_stream(made: Any) -> None:
    library = libraries.CudaCompute()
    items = scans.make_items("i32", 1000, seed=1)
    run = library.prepare(library.put(items))
    for _ in range(2):
        assert scans.fault(library.fetch(run()), scans.reference(items)) == ""
    workspaces, streams = zip(*made.scan.calls, strict=True)
    assert workspaces[0] is None and workspaces[1] is workspaces[2]
    assert workspaces[1].nbytes == WORKSPACE_BYTES
    assert {stream.__cuda_stream__() for stream in streams} == {(0, HANDLE)}
    assert library.versions() == {"torch": "2", "torch_cuda": "13.0", "cuda_cccl": "1.2.1"}
    about = library.about()
    assert (about["title"], about["family"]) == ("cuda.compute", "Python")


@pytest.mark.parametrize(
    ("error", "outcome", "message"),
    [
        (
            TypeError("no enum\nand more"),
            "skipped",
            "cuda.compute makes no scan of float16: no enum",
        ),
        (RuntimeError("no NVRTC"), "failed", "verification failed: no NVRTC"),
    ],
)
def test_a_type_without_a_scan_is_skipped_and_an_error_fails(
    made: Any, error: Exception, outcome: str, message: str
) -> None:
    made.error = error
    bench = Bench(
        Plan(["f16"], [64], seed=1, repetitions=1), [libraries.CudaCompute()], lambda _: None
    )
    list(bench.run())
    assert bench.failed == (2 if outcome == "failed" else 0) and bench.out_of_memory == 0
    entries = [(entry["outcome"], entry["error_message"]) for entry in bench.entries]
    assert entries == 2 * [(outcome, message)]


def test_a_missing_package_is_named(
    made: Any, monkeypatch: Any, tmp_path: Path, capsys: Any
) -> None:
    library, module, package = "cuda_compute", "cuda.compute", "cuda-cccl[cu13]"

    class Absent:
        """A finder for which the module does not exist."""

        @staticmethod
        def find_spec(name: str, path: Any = None, target: Any = None) -> None:
            if name == module:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setattr(sys, "meta_path", [Absent, *sys.meta_path])
    out = tmp_path / "python.json"
    assert command.main(["--out", str(out), "--library", library]) == command.NO_DEVICE
    refusal = f"left out {library}: No module named '{module}'; pip install '{package}'\n"
    assert refusal in capsys.readouterr().out and not out.exists()
