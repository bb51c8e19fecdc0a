"""PyTorch over several processes: numpy and threads stand in for it, a stand-in of torch says what is called, and gloo runs it where torch is."""

from __future__ import annotations

import importlib.util
import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from baselines.python import ranks, scans
from baselines.python.session import Plan
from scanlab_report.commands.__main__ import main as report
from scanlab_report.read import results, streams

Spoil = Callable[[np.ndarray, int], Any]


class Meeting:
    """Where the threads of a test exchange values."""

    def __init__(self, count: int) -> None:
        self.barrier = threading.Barrier(count, timeout=30)
        self.values: list[Any] = [None] * count


class StandIn(ranks.Group):
    """numpy and a thread as a rank; ``spoil`` may change its sums, the k-th time that it has summed."""

    def __init__(self, rank: int, meeting: Meeting, spoil: Spoil = lambda sums, k: sums) -> None:
        self.rank, self.ranks, self._meeting, self._spoil, self._runs = rank, len(meeting.values), meeting, spoil, 0

    def versions(self) -> dict[str, str]:
        return {"torch": "none"}

    def gather(self, value: Any) -> list[Any]:
        self._meeting.values[self.rank] = value
        self._meeting.barrier.wait()
        values = list(self._meeting.values)
        self._meeting.barrier.wait()
        return values

    def prepare(self, items: np.ndarray) -> Callable[[], Any]:
        def run() -> Any:
            self._runs += 1
            sums = np.cumsum(items, dtype=items.dtype)
            before = np.array(self.gather(sums[-1])[: self.rank], dtype=items.dtype).sum(dtype=items.dtype)
            return self._spoil(sums + before, self._runs)

        return run

    def fetch(self, result: Any) -> np.ndarray:
        return result

    def seconds(self, run: Callable[[], Any], runs: int) -> float:
        run()
        return runs * 1e-3 * (self.rank + 1)


def measured(out: Path, count: int = 3, plan: Plan | None = None, spoil: dict[int, Spoil] | None = None) -> list[int]:
    """The statuses of all ranks."""
    meeting, statuses = Meeting(count), [-1] * count
    chosen = plan or Plan(list(scans.TYPES), [100, 4096], 5, seed=1)

    def work(rank: int) -> None:
        group = StandIn(rank, meeting, (spoil or {}).get(rank, lambda sums, k: sums))
        statuses[rank] = ranks.measure(chosen, group, out)

    threads = [threading.Thread(target=work, args=(rank,), daemon=True) for rank in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads), "a rank waits for others"
    return statuses


@pytest.fixture(autouse=True)
def on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = ranks.provenance.context
    monkeypatch.setattr(ranks.provenance, "context", lambda *args: facts(*args) | {"device": "Test Device"})


def test_the_analysis_reads_what_is_written_beside_scanlab_distributed_bench(tmp_path: Path) -> None:
    assert measured(tmp_path / "ranks.json") == [0, 0, 0]
    read = results.read([tmp_path], [])
    (file,) = read.streams
    assert not read.problems and file.kind == streams.DISTRIBUTED and file.run.context["ranks"] == 3
    assert len(file.rows) == 7 * 2 * 5 and set(file.rows["items"]) == {300, 3 * 4096}, "types, sizes and rounds; items are those of the whole array"
    assert set(file.rows["time_ns"]) == {3e6}, "of the slowest rank"
    entry = json.loads((tmp_path / "ranks.json").read_text())["benchmarks"][0]
    assert entry["rank_ns"] == [1e6, 2e6, 3e6] and entry["chunk_items"] == 100 and entry["bytes"] == 2 * 300 and entry["iterations"] == 7, "of 3 ms, 20 ms"
    assert report(["table", "several_gpus", str(tmp_path)]) == 0


@pytest.mark.parametrize("type_name", scans.TYPES)
def test_the_blocks_of_all_ranks_are_one_array(type_name: str) -> None:
    blocks = [scans.make_items(type_name, 1000, seed) for seed in range(8)]
    sums = [ranks.block_sum(block) for block in blocks]
    whole = np.concatenate([ranks.reference(block, sums[:rank]) for rank, block in enumerate(blocks)])
    assert np.array_equal(whole, scans.reference(np.concatenate(blocks)))


def one_off(sums: np.ndarray, place: int) -> np.ndarray:
    return sums + (np.arange(len(sums)) == place).astype(sums.dtype)


@pytest.mark.parametrize("rank", [0, 2])
def test_a_wrong_sum_on_one_rank_is_timed_on_none(tmp_path: Path, rank: int) -> None:
    assert measured(tmp_path / "ranks.json", spoil={rank: lambda sums, k: one_off(sums, 7)}) == [1, 1, 1]
    entries = json.loads((tmp_path / "ranks.json").read_text())["benchmarks"]
    assert len(entries) == 7 * 2 and all(entry["outcome"] == "failed" and f"verification failed: rank {rank}: 1 items are wrong, the first is 7" in entry["error_message"] for entry in entries)


def test_a_sum_that_goes_wrong_later_loses_its_times(tmp_path: Path) -> None:
    # Once to verify, once to calibrate and five times to time: the eighth is the second look.
    plan = Plan(["i32"], [64], 5, seed=1, width=0.0)
    assert measured(tmp_path / "ranks.json", plan=plan, spoil={1: lambda sums, k: one_off(sums, 5) if k >= 8 else sums}) == [1, 1, 1]
    (entry,) = json.loads((tmp_path / "ranks.json").read_text())["benchmarks"]
    assert "rank 1: after its last timed run: 1 items are wrong" in entry["error_message"]


def test_memory_that_does_not_suffice_on_one_rank_ends_the_case_alone(tmp_path: Path) -> None:
    def raises(sums: np.ndarray, k: int) -> np.ndarray:
        if sums.size == 4096:
            raise RuntimeError("CUDA out of memory. Tried to allocate 1 GiB.")
        return sums

    assert measured(tmp_path / "ranks.json", spoil={1: raises}) == [4, 4, 4]
    entries = json.loads((tmp_path / "ranks.json").read_text())["benchmarks"]
    assert [(entry["items"], entry["error_message"]) for entry in entries if entry["outcome"] == "skipped"] == 7 * [(3 * 4096, "out of device memory")]
    assert not results.read([tmp_path], []).problems


# ---------------------------------------------------------------------------------------------- what torch is asked


class Tensor(np.ndarray):
    """As far as it is asked."""

    def to(self, device: str) -> Tensor:
        return self

    def add_(self, other: Any) -> None:
        self += other

    def cpu(self) -> SimpleNamespace:
        return SimpleNamespace(numpy=lambda: np.array(self))


def stand_in(monkeypatch: pytest.MonkeyPatch, calls: list[Any]) -> None:
    """Modules that say what was called; every rank's last item is 1000."""
    torch, distributed = ModuleType("torch"), ModuleType("torch.distributed")

    def all_gather(sums: list[Any], last: Any) -> None:
        calls.append(("all_gather", int(last[0])))
        for total in sums:
            total[:] = 1000

    distributed.__dict__.update(
        init_process_group=lambda backend, rank, world_size: calls.append((backend, rank, world_size)), new_group=lambda backend: backend,
        all_gather=all_gather, destroy_process_group=lambda: calls.append("end"),
    )  # fmt: skip
    torch.__dict__.update(
        __version__="2", version=SimpleNamespace(cuda="13.0"), distributed=distributed, cuda=SimpleNamespace(set_device=lambda which: calls.append(which)),
        from_numpy=lambda array: array.view(Tensor), full_like=lambda like, value: np.full(like.shape, value, like.dtype).view(Tensor),
        zeros_like=lambda like: np.zeros_like(like), cat=np.concatenate, cumsum=lambda items, axis, dtype, out: np.cumsum(items, axis, dtype, out),
    )  # fmt: skip
    for name, module in (("torch", torch), ("torch.distributed", distributed)):
        monkeypatch.setitem(sys.modules, name, module)


@pytest.mark.parametrize(("rank", "before"), [(0, 0), (2, 2000)])
def test_a_block_is_summed_its_last_item_gathered_and_what_comes_before_added(monkeypatch: pytest.MonkeyPatch, rank: int, before: int) -> None:
    calls: list[Any] = []
    stand_in(monkeypatch, calls)
    monkeypatch.setenv("LOCAL_RANK", "1")
    group = ranks.Torch(rank, 4, on_cpu=False)
    run = group.prepare(np.arange(1, 5, dtype=np.int32))
    assert group.fetch(run()).tolist() == group.fetch(run()).tolist() == [before + item for item in (1, 3, 6, 10)]
    group.close()
    assert calls == [1, ("nccl", rank, 4), ("all_gather", 10), ("all_gather", 10), "end"], "the item before the addition, on every run"


def test_without_torch_one_sentence_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert ranks.main(["--ranks", "2", "--out", str(tmp_path / "o.json")]) == 3
    assert "PyTorch is not installed" in capsys.readouterr().err and not list(tmp_path.iterdir())
    (tmp_path / "o.json").touch()
    assert ranks.main(["--out", str(tmp_path / "o.json")]) == 2 and "--force" in capsys.readouterr().err


def test_more_ranks_than_gpus_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    torch = ModuleType("torch")
    torch.__dict__.update(cuda=SimpleNamespace(device_count=lambda: 1), __path__=[])
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch.multiprocessing", ModuleType("torch.multiprocessing"))
    monkeypatch.delenv("RANK", raising=False)
    assert ranks.main(["--ranks", "2", "--out", str(tmp_path / "o.json")]) == 3
    assert "2 ranks need as many GPUs, and PyTorch sees 1" in capsys.readouterr().err


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not importable, so that gloo is not run: pip install torch")
@pytest.mark.parametrize("count", [1, 2])
def test_processes_scan_one_array_by_gloo(tmp_path: Path, count: int) -> None:
    out = tmp_path / "ranks.json"
    assert ranks.main(["--cpu", "--ranks", str(count), "--items", "1000,65536", "--type", "i32,f64", "--rounds", "5", "--out", str(out)]) == 0
    (file,) = results.read([tmp_path], []).streams
    assert set(file.rows["ranks"]) == {count} and file.run.kind == "host" and len(file.rows) == 2 * 2 * 5
