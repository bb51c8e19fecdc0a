"""cuda.compute and Triton on arrays of PyTorch, told by stand-ins with the signatures of cuda-cccl 1.2 and of PyTorch.

What they enqueue is not run here: that needs a GPU, or for Triton's kernels its interpreter (TRITON_INTERPRET=1).
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
from baselines.python.session import Bench, Plan


class Tensor(np.ndarray):
    """As far as it is asked."""

    device = "cuda"

    def numel(self) -> int:
        return self.size

    def cuda(self) -> Tensor:
        return self

    def cpu(self) -> SimpleNamespace:
        return SimpleNamespace(numpy=lambda: np.array(self))


def tensor(array: np.ndarray) -> Tensor:
    return array.view(Tensor)


HANDLE = 4711
WORKSPACE_BYTES = 767


class Scan:
    """The result of make_inclusive_scan. ``calls``: the workspace and the stream of each call."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, Any]] = []

    def __call__(self, *, temp_storage: Any, d_in: Any, d_out: Any, op: Any, init_value: Any, num_items: int, stream: Any = None) -> int:
        self.calls.append((temp_storage, stream))
        assert (op, init_value, num_items) == ("+", None, d_in.size)
        if temp_storage is not None:
            d_out[:] = np.cumsum(d_in, dtype=d_in.dtype)
        return WORKSPACE_BYTES


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Stand-ins for torch, cuda.compute and triton; the last scan that was made."""
    torch = ModuleType("torch")
    torch.__dict__.update(
        __version__="2", version=SimpleNamespace(cuda="13.0"), int32=np.int32, uint8=np.uint8,
        zeros=lambda count, dtype, device: tensor(np.zeros(1, dtype)), empty=lambda count, dtype, device: tensor(np.empty(count, dtype)),
        full_like=lambda like, value: tensor(np.full(like.shape, value, like.dtype)), from_numpy=tensor,
        cuda=SimpleNamespace(init=lambda: None, Stream=lambda: SimpleNamespace(cuda_stream=HANDLE), stream=lambda _: contextlib.nullcontext(),
                             synchronize=lambda: None, get_device_properties=lambda _: SimpleNamespace(L2_cache_size=0)),
    )  # fmt: skip
    made = SimpleNamespace(scan=Scan(), raises=None)

    def make_inclusive_scan(*, d_in: Any, d_out: Any, op: Any, init_value: Any = None, compute_capability: Any = None) -> Scan:
        if made.raises:
            raise made.raises
        return made.scan

    compute = ModuleType("cuda.compute")
    compute.__dict__.update(make_inclusive_scan=make_inclusive_scan, OpKind=SimpleNamespace(PLUS="+"))
    cuda = ModuleType("cuda")
    cuda.__dict__.update(compute=compute, __path__=[])
    for module in (torch, cuda, compute):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(libraries.importlib.metadata, "version", lambda name: {"cuda-cccl": "1.2.1"}[name])
    return made


def test_cuda_compute_asks_for_its_workspace_once_and_runs_in_our_stream(modules: SimpleNamespace) -> None:
    library = libraries.CudaCompute()
    items = scans.make_items("i32", 1000, seed=1)
    run = library.prepare(library.put(items))
    for _ in range(2):
        assert scans.fault(library.fetch(run()), scans.reference(items)) == ""
    workspaces, streams = zip(*modules.scan.calls, strict=True)
    assert workspaces[0] is None and workspaces[1] is workspaces[2] and workspaces[1].nbytes == WORKSPACE_BYTES
    assert {stream.__cuda_stream__() for stream in streams} == {(0, HANDLE)}
    assert library.versions() == {"torch": "2", "torch_cuda": "13.0", "cuda_cccl": "1.2.1"}
    assert (library.about()["title"], library.about()["family"]) == ("cuda.compute", "Python")


def test_a_type_that_a_library_does_not_take_is_left_out_in_one_sentence(modules: SimpleNamespace) -> None:
    modules.raises = TypeError("no enum of float16\nand more")
    messages: list[str] = []
    session = Bench(Plan(["f16"], [64], 1, seed=1), [libraries.CudaCompute()], messages.append)
    list(session.run())
    assert (session.failed, session.out_of_memory) == (0, 0)
    assert [entry["outcome"] for entry in session.entries] == ["skipped", "skipped"]
    assert {entry["error_message"] for entry in session.entries} == {"cuda.compute makes no scan of float16: no enum of float16"}


def test_what_else_cuda_compute_raises_is_a_failure(modules: SimpleNamespace) -> None:
    modules.raises = RuntimeError("NVRTC is not there")
    session = Bench(Plan(["i32"], [64], 1, seed=1), [libraries.CudaCompute()], lambda _: None)
    list(session.run())
    assert session.failed == 2 and {entry["outcome"] for entry in session.entries} == {"failed"}


def test_triton_gets_a_total_for_each_block(modules: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    totals_of: list[int] = []
    triton, kernels = ModuleType("triton"), ModuleType("baselines.python.triton_kernels")
    triton.__dict__.update(__version__="3", cdiv=lambda a, b: -(-a // b))

    def scan(items: Any, totals: Any, sums: Any) -> None:
        totals_of.append(totals.size)
        sums[:] = np.cumsum(items, dtype=items.dtype)

    kernels.__dict__.update(ITEMS_PER_BLOCK=256, scan=scan)
    monkeypatch.setitem(sys.modules, "triton", triton)
    monkeypatch.setitem(sys.modules, kernels.__name__, kernels)
    monkeypatch.setattr("baselines.python.triton_kernels", kernels, raising=False)
    library = libraries.TritonScan()
    for count, blocks in ((1, 1), (256, 1), (257, 2)):
        items = scans.make_items("f64", count, seed=1)
        assert scans.fault(library.fetch(library.prepare(library.put(items))()), scans.reference(items)) == ""
        assert totals_of[-1] == blocks
    assert library.versions()["triton"] == "3" and library.about()["label"] == "Triton"


def test_the_command_line_knows_every_library() -> None:
    assert {known.id for known in libraries.KNOWN} == set(command._IDS)
    assert len(command._IDS) == len(libraries.KNOWN)


@pytest.mark.parametrize(("id", "lacks", "says"), [
    ("cuda_compute", ("torch",), "No module named 'torch'; pip install 'torch'"),
    ("cuda_compute", ("cuda",), "No module named 'cuda'; pip install 'cuda-cccl[cu13]'"),
    ("cuda_compute", ("cuda.compute",), "No module named 'cuda.compute'; pip install 'cuda-cccl[cu13]'"),
    ("triton_scan", ("triton",), "No module named 'triton'; pip install 'triton'"),
])  # fmt: skip
def test_a_missing_package_is_named(
    id: str, lacks: tuple[str, ...], says: str, modules: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Absent:
        """Finds that what is lacking is nowhere."""

        @staticmethod
        def find_spec(name: str, path: Any = None, target: Any = None) -> None:
            if name in lacks:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    for name in lacks:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys, "meta_path", [Absent, *sys.meta_path])
    out = tmp_path / "python.json"
    assert command.main(["--out", str(out), "--library", id]) == command.NO_DEVICE
    assert f"left out {id}: {says}\n" in capsys.readouterr().out and not out.exists()


def test_another_library_is_refused_by_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(["--out", "x", "--library", "triton"])
    assert ended.value.code == command.BAD_INPUT
    assert "there is no 'triton'; known: torch_cumsum, cupy_cumsum, jax_cumsum, cuda_compute, triton_scan" in capsys.readouterr().err
