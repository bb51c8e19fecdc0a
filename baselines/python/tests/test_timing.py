"""Timing by a device whose clock the test holds."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from baselines.python import libraries
from baselines.python.protocol import Plan
from baselines.python.session import Bench


class Device(libraries._WithEvents):
    """A run takes 10 µs, or 50 µs right after an eviction, which takes 1 ms."""

    id = "device"

    def __init__(self) -> None:
        self.clock, self.runs, self.evictions, self.evicted = 0.0, 0, 0, False

    def put(self, items: np.ndarray) -> Any:
        return items

    def prepare(self, items: Any, axis: int) -> Callable[[], Any]:
        return lambda: (self.run(), np.cumsum(items, dtype=items.dtype))[1]

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

    def _flush_l2(self) -> None:
        self.clock += 1e-3
        self.evictions, self.evicted = self.evictions + 1, True


@pytest.mark.parametrize(
    ("cache", "seconds", "evictions"), [("warm", 10e-6, 0), ("cold", 50e-6, 20)]
)
def test_runs_are_timed_after_untimed_ones(cache: str, seconds: float, evictions: int) -> None:
    device = Device()
    assert device.seconds(device.run, 20, cache) == pytest.approx(seconds)
    assert (device.runs, device.evictions) == (3 + 20, evictions)


def test_the_clock_is_read_after_each_sample_and_outside_its_time() -> None:
    read: list[float] = []
    device = Device()

    def sm_mhz() -> float | None:
        read.append(device.clock)
        device.clock += 1.0  # a second that no sample may have
        return 1980.0 if len(read) % 2 else None

    bench = Bench(Plan(["i32"], [64], 3), [device], lambda _: None, sm_mhz)
    list(bench.run())
    timed = [entry for entry in bench.entries if entry["outcome"] == "timed"]
    assert len(timed) == len(read) == 2 * 3
    assert {round(entry["real_time"]) for entry in timed} == {10_000, 50_000}
    assert [entry.get("sm_clock_mhz") for entry in timed] == [1980.0, None] * 3
