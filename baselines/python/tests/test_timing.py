"""How the Python baselines time, told by a device whose clock the test holds."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from baselines.python import clock, libraries, provenance, session
from baselines.python.session import Bench, Case, Plan, Scan


class Device(libraries._WithEvents):
    """A run takes 10 µs with what it reads in the cache and 50 µs right after an eviction, which takes 1 ms."""

    id = "device"

    def __init__(self) -> None:
        self.clock, self.runs, self.evictions, self.evicted = 0.0, 0, 0, False

    def versions(self) -> dict[str, str]:
        return {}

    def put(self, items: np.ndarray) -> Any:
        return items

    def prepare(self, items: Any) -> Callable[[], Any]:
        return self.run

    def run(self) -> None:
        self.clock += 50e-6 if self.evicted else 10e-6
        self.runs, self.evicted = self.runs + 1, False

    def fetch(self, result: Any) -> np.ndarray:
        return result

    def _stream(self) -> Any:
        return contextlib.nullcontext()

    def _event(self) -> float:
        return self.clock

    def _between(self, start: float, end: float) -> float:
        return end - start

    def _evict(self) -> None:
        self.clock += 1e-3
        self.evictions, self.evicted = self.evictions + 1, True


def test_warm_runs_are_timed_back_to_back_behind_untimed_ones() -> None:
    device = Device()
    assert device.seconds(device.run, 20, "warm") == pytest.approx(10e-6)
    assert (device.runs, device.evictions) == (3 + 20, 0)


def test_cold_runs_are_timed_each_behind_an_eviction_that_is_not() -> None:
    device = Device()
    assert device.seconds(device.run, 20, "cold") == pytest.approx(50e-6)
    assert (device.runs, device.evictions) == (3 + 20, 20)


def test_an_eviction_reads_three_times_the_cache_and_a_gibibyte_at_least() -> None:
    assert libraries._eviction_words(60 << 20) * 4 == 1 << 30
    assert libraries._eviction_words(1 << 30) * 4 == 3 << 30


def test_a_case_has_the_runs_of_its_own_time_and_cache() -> None:
    class Timed(Device):
        def seconds(self, run: Callable[[], Any], runs: int, cache: str) -> float:
            return 1e-6

    for cache, runs in (("warm", 500), ("cold", 50)):
        case = Case(Timed(), "i32", 64, cache, Scan())
        Bench(Plan(["i32"], [64], 1, seed=1), [], lambda _: None)._calibrate(case)
        assert case.runs == runs


def test_a_case_that_has_had_its_time_gets_no_more_than_five_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(100))
    monkeypatch.setattr(session.time, "monotonic", lambda: float(next(now)))  # each repetition takes a second

    class Sums(Device):
        def prepare(self, items: np.ndarray) -> Callable[[], Any]:
            return lambda: np.cumsum(items, dtype=items.dtype)

        def seconds(self, run: Callable[[], Any], runs: int, cache: str) -> float:
            return 1e-3

    bench = Bench(Plan(["i32"], [64], 10, seed=1, width=0, cap_seconds=2.0), [Sums()], lambda _: None)
    assert len(list(bench.run())) == 12
    assert [entry["round"] for entry in bench.entries if "cache:warm" in entry["name"]] == [0, 1, 2, 3, 4]
    assert {(entry["real_time"], entry["bytes"], entry["items"]) for entry in bench.entries} == {(1e6, 512, 64)}


@pytest.mark.parametrize(("head", "changes", "commit", "dirty"), [("abc", "", "abc", "false"), ("abc", " M x", "abc", "true"), ("", "", "unknown", "true")])
def test_results_say_which_code_they_are_of(monkeypatch: pytest.MonkeyPatch, head: str, changes: str, commit: str, dirty: str) -> None:
    monkeypatch.delenv("SCANLAB_COMMIT", raising=False)
    monkeypatch.setattr(provenance, "_output", lambda *command: head if "rev-parse" in command else changes if "status" in command else "")
    about = provenance.context(1, 5, 0.01, 2.0)
    assert (about["git_commit"], about["git_dirty"], about["rounds"], about["cap_seconds"]) == (commit, dirty, "5", "2")
    monkeypatch.setenv("SCANLAB_COMMIT", "f" * 40)
    assert (provenance.context(1, 5, 0.01, 2.0)["git_commit"], provenance.context(1, 5, 0.01, 2.0)["git_dirty"]) == ("f" * 40, "false")


def test_the_clock_is_read_once_after_each_sample_and_outside_of_its_time() -> None:
    read: list[float] = []

    class Sums(Device):
        def prepare(self, items: Any) -> Callable[[], Any]:
            return lambda: (self.run(), np.cumsum(items, dtype=items.dtype))[1]

    device = Sums()

    def sm_mhz() -> float | None:
        read.append(device.clock)
        device.clock += 1.0  # a second that no sample may have
        return 1980.0 if len(read) % 2 else None

    bench = Bench(Plan(["i32"], [64], 3, seed=1, width=0), [device], lambda _: None, sm_mhz)
    for _ in bench.run():
        pass
    timed = [entry for entry in bench.entries if entry["outcome"] == "timed"]
    assert len(timed) == len(read) == 2 * 3 and {round(entry["real_time"]) for entry in timed} == {10_000, 50_000}
    assert [entry.get("sm_clock_mhz") for entry in timed] == [1980.0, None] * 3  # absent where it is not known, as in C++


class Nvml:
    """NVML as far as it is called, with a device of its own."""

    def __init__(self, lacks: str = "") -> None:
        self.lacks, self.chosen, self.mhz = lacks, [], 1980

    def __getattr__(self, function: str) -> Callable[..., int]:
        if function == self.lacks:
            raise AttributeError(function)

        def call(*arguments: Any) -> int:
            if function.startswith("nvmlDeviceGetHandle"):
                self.chosen.append(arguments[0])
            if function == "nvmlDeviceGetClockInfo":
                ctypes.cast(arguments[2], ctypes.POINTER(ctypes.c_uint)).contents.value = self.mhz
            return 0

        return call


def test_a_clock_is_asked_for_every_20_ms_at_most_of_the_gpu_that_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    nvml, now = Nvml(), [100.0]
    monkeypatch.setattr(clock, "_library", lambda: nvml)
    monkeypatch.setattr(clock.time, "monotonic", lambda: now[0])
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,1")
    reader = clock.ClockReader()
    readings = []
    for now[0] in (100.0, 100.019, 100.021, 100.05):
        readings.append(reader.sm_mhz())
    assert readings == [1980.0, None, 1980.0, 1980.0] and nvml.chosen == [3]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-abc")
    clock.ClockReader()
    assert nvml.chosen == [3, b"GPU-abc"]


@pytest.mark.parametrize("nvml", [None, Nvml("nvmlInit_v2"), Nvml("nvmlDeviceGetHandleByIndex_v2"), Nvml("nvmlDeviceGetClockInfo")])
def test_a_clock_that_cannot_be_had_is_not_known(nvml: Nvml | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "_library", lambda: nvml)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert clock.ClockReader().sm_mhz() is None
