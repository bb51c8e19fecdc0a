"""The protocol of ``scanlab bench``: runs per sample, repetitions, and their random order.

The cases of a problem are verified, calibrated, timed in interleaved repetitions, and verified
again, as harness/measure/scan_session.cpp and Google Benchmark do with those of the harness.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from typing import Any, NamedTuple

REPETITIONS, FEW_REPETITIONS = 11, 7
"""Samples of a case, and of one whose run takes above a second, unless a number is given."""
SLOW_SECONDS, MOST_SECONDS = 0.1, 5.0
"""No untimed runs precede the samples of a case with longer runs than the first. A case with longer
runs than the second is skipped."""
MIN_RUN_SECONDS = 1e-7
"""Lower bound of the duration of a run, so that no division is by zero."""
CALIBRATION_RUNS = 3

_SECONDS_PER_SAMPLE = 5e-3
_MAX_RUNS = {"cold": 50, "warm": 500}
_SHORT_SECONDS, _RUNS_OF_SHORT = 20e-6, 100


def runs_per_sample(seconds: float, cache: str) -> int:
    """Number of runs of so many seconds that serve the clock and the mean, within a second."""
    run = max(seconds, MIN_RUN_SECONDS)
    fewest = _RUNS_OF_SHORT if cache == "warm" and run < _SHORT_SECONDS else CALIBRATION_RUNS
    wanted = min(max(math.ceil(_SECONDS_PER_SAMPLE / run), fewest), _MAX_RUNS[cache])
    return max(min(wanted, math.floor(1 / run)), 1)


class Shape(NamedTuple):
    """A tensor of rows x axis x inner items, the middle axis of which is scanned."""

    rows: int
    axis: int
    inner: int = 1

    @property
    def extents(self) -> tuple[int, ...]:
        """The shape of the array as users of a library have it: without rows or inner of 1."""
        return tuple(n for k, n in enumerate(self) if n != 1 or k == 1)

    @property
    def dim(self) -> int:
        """The place of the axis in ``extents``."""
        return int(self.rows != 1)


@dataclass(frozen=True)
class Plan:
    """The plan of a measurement: of scans along the axis of ``shapes``, if there are any, else of
    plain arrays of ``items`` items."""

    types: list[str]
    items: list[int]
    repetitions: int | None = None
    seed: int = 1
    shapes: list[Shape] = field(default_factory=list)

    def repetitions_of(self, seconds: float) -> int:
        """Number of samples of a case whose run takes so many seconds."""
        return self.repetitions or (FEW_REPETITIONS if seconds > 1 else REPETITIONS)

    def interleave(self, cases: list[Any]) -> list[Any]:
        """Each case ``case.repetitions`` times, in a random order: the same in every process."""
        order = [case for case in cases for _ in range(case.repetitions)]
        random.Random(self.seed).shuffle(order)
        return order
