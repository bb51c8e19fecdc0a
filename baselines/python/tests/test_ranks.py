"""PyTorch over several processes, for which threads stand in."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from baselines.python import ranks, recurrence, scans
from baselines.python.protocol import Plan
from baselines.python.tests.test_measure import StandIn, add_to
from scanlab_report.load import load

Spoil = Callable[[np.ndarray, int], Any]


class Rank(StandIn):
    """numpy and a thread as a rank, which exchanges ``values`` at a barrier."""

    id, caches = "torch_distributed", ("warm",)

    def __init__(self, rank: int, values: list[Any], barrier: threading.Barrier, *spoil: Spoil):
        StandIn.__init__(self, *spoil)
        self.rank, self.ranks, self._values, self._barrier = rank, len(values), values, barrier

    def gather(self, value: Any) -> list[Any]:
        self._values[self.rank] = value
        self._barrier.wait()
        values = list(self._values)
        self._barrier.wait()
        return values

    def prepare(self, items: np.ndarray, axis: int) -> Callable[[], Any]:
        def run() -> Any:
            self._runs += 1
            sums = np.cumsum(items, dtype=items.dtype)
            sums += np.array(self.gather(sums[-1])[: self.rank], items.dtype).sum(dtype=items.dtype)
            return self._spoil(sums, self._runs)

        return run

    def seconds(self, run: Callable[[], Any], runs: int, cache: str, untimed: int = 3) -> float:
        run()
        return 1e-3 * (self.rank + 1)


def measure(out: Path, *spoil: Spoil) -> int:
    """The status of three ranks, which must be equal, and the last of which may spoil its sums."""
    plan = Plan(list(scans.TYPES), [100, 4096], repetitions=5)
    values, barrier, statuses = [None] * 3, threading.Barrier(3, timeout=30), [-1] * 3

    def work(rank: int) -> None:
        library = Rank(rank, values, barrier, *(spoil if rank == 2 else ()))
        statuses[rank] = ranks.measure(plan, library, out)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, range(3)))
    assert len(set(statuses)) == 1, "a rank waits for others, or has another status"
    return statuses[0]


@pytest.fixture(autouse=True)
def on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranks.provenance.device, "facts", lambda: {"device": "Test Device"})


def test_the_analysis_reads_the_times_of_a_recurrence(tmp_path: Path) -> None:
    variants = ("scanlab_recurrence", "torch_recurrence")
    entries = [
        recurrence.case_of(name, 4, 8, 2) | {"variant": name, "real_time": 1.0, "round": 0}
        for name in variants
    ]
    document = {"context": recurrence.context_of(2), "benchmarks": entries}
    (tmp_path / "ranks.json").write_text(json.dumps(document))
    data = load([tmp_path])
    assert not data.problems and tuple(data["distributed"]["algorithm"]) == variants
    assert set(data["distributed"]["items"]) == {64}


def test_the_analysis_reads_the_results(tmp_path: Path) -> None:
    assert measure(tmp_path / "ranks.json") == 0
    data = load([tmp_path])
    rows = data["distributed"]
    assert not data.problems and set(rows["ranks"]) == {3}
    assert len(rows) == 7 * 2 * 5, "types, sizes and repetitions"
    assert set(rows["items"]) == {300, 3 * 4096}, "items are those of the whole array"
    assert set(rows["ns"]) == {3e6}, "the time of the slowest rank"
    entry = json.loads((tmp_path / "ranks.json").read_text())["benchmarks"][0]
    assert entry["rank_ns"] == [1e6, 2e6, 3e6] and entry["iterations"] == 7, "of 3 ms, 20 ms"
    assert entry["chunk_items"] == 100 and entry["bytes"] == 2 * 300


@pytest.mark.parametrize("type_name", scans.TYPES)
def test_the_blocks_of_all_ranks_are_one_array(type_name: str) -> None:
    blocks = [scans.make_items(type_name, 1000, seed) for seed in range(8)]
    sums = [scans.reference(block)[-1] for block in blocks]
    parts = [scans.reference(block, sums[:rank]) for rank, block in enumerate(blocks)]
    assert np.array_equal(np.concatenate(parts), scans.reference(np.concatenate(blocks)))


def test_a_wrong_sum_on_one_rank_is_timed_on_none(tmp_path: Path) -> None:
    assert measure(tmp_path / "ranks.json", lambda sums, k: add_to(sums, 7)) == 1
    entries = json.loads((tmp_path / "ranks.json").read_text())["benchmarks"]
    assert len(entries) == 7 * 2 and {entry["outcome"] for entry in entries} == {"failed"}
    assert entries[0]["error_message"].startswith("verification failed: rank 2: 1 items are wrong")


class Tensor(np.ndarray):
    """A tensor as far as it is used."""

    cuda = cpu = numpy = lambda self: self
    add_ = np.ndarray.__iadd__


def replace_torch(monkeypatch: pytest.MonkeyPatch, calls: list[Any]) -> None:
    """Replace torch by a module that lists its calls; every rank's last item is 1000."""
    torch, distributed = ModuleType("torch"), ModuleType("torch.distributed")

    def all_gather(sums: list[Any], last: Any) -> None:
        calls.append(("all_gather", int(last[0])))
        for total in sums:
            total[:] = 1000

    def init_process_group(backend: str, rank: int, world_size: int) -> None:
        calls.append((backend, rank, world_size))

    distributed.init_process_group, distributed.all_gather = init_process_group, all_gather
    distributed.new_group = lambda backend: backend
    distributed.destroy_process_group = lambda: calls.append("end")
    torch.distributed, torch.cat, torch.zeros_like = distributed, np.concatenate, np.zeros_like
    torch.cuda = SimpleNamespace(set_device=calls.append, synchronize=lambda: None)
    torch.from_numpy = lambda array: array.view(Tensor)
    torch.full_like = lambda like, value: np.full_like(like, value).view(Tensor)
    torch.cumsum = np.cumsum
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch.distributed", distributed)


@pytest.mark.parametrize(("rank", "before"), [(0, 0), (2, 2000)])
def test_a_run_sums_a_block_gathers_last_items_and_adds(
    monkeypatch: pytest.MonkeyPatch, rank: int, before: int
) -> None:
    calls: list[Any] = []
    replace_torch(monkeypatch, calls)
    group = ranks.Torch(rank, 4)
    run = group.prepare(group.put(np.arange(1, 5, dtype=np.int32)))
    for _ in range(2):
        assert group.fetch(run()).tolist() == [before + item for item in (1, 3, 6, 10)]
    group.close()
    gathered = [("all_gather", 10)] * 2
    assert calls == [rank, ("nccl", rank, 4), *gathered, "end"], "the item before the addition"
