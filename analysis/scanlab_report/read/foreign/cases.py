"""What a results file of another program holds: cases with samples in seconds, or with what the file says of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from scanlab_report.read.fields import REMEDY, Misfit
from scanlab_report.read.records import Run

NVBENCH, GOOGLE = "nvbench", "Google Benchmark"
SHORTEST, LONGEST = 1e-15, 1e9
"""In seconds: what lies beyond is no time of a run, and would overflow in the arithmetic."""
MORE_SAMPLES = {NVBENCH: "--jsonbin FILE, in the place of --json FILE, makes nvbench keep every sample",
                GOOGLE: "--benchmark_repetitions=10 makes ten samples, and --benchmark_report_aggregates_only drops them"}  # fmt: skip
"""The option of each program that writes what a verdict by medians needs."""


@dataclass(frozen=True)
class Case:
    """One benchmark at one point of its axes, on one device. Times are in seconds; what the file does not say is NaN."""

    place: str
    """Where the file has it."""
    benchmark: str
    point: str
    """The values of the axes, in words; with ``benchmark`` and ``device`` it names the case."""
    device: str = ""
    """The number of the GPU; empty for the host, and where it tells nothing apart (:func:`without_numbers`)."""
    gpu: str = ""
    """Its name, where the file has it."""
    axes: Mapping[str, str | float] = field(default_factory=dict)
    clock: str = ""
    """What was timed: ``GPU``, ``CPU`` or ``real``."""
    samples: np.ndarray = field(default_factory=lambda: np.empty(0))
    count: int = 0
    mean: float = np.nan
    stdev: float = np.nan
    median: float = np.nan
    batch: float = np.nan
    """The mean of runs that were enqueued together, where the program times those, too."""
    rates: np.ndarray = field(default_factory=lambda: np.empty(0))
    """Bytes per second, a value a sample; a single one where there are no samples, and none where the program counts no bytes."""
    skipped: str = ""
    """Why there is no time; empty if there is one."""
    failed: bool = False
    """Whether that is for an error."""

    @property
    def key(self) -> tuple[str, str, str]:
        return self.benchmark, self.point, self.device

    @property
    def name(self) -> str:
        return " ".join(filter(None, (self.benchmark, self.point, self.device and f"on device {self.device}")))


@dataclass(frozen=True)
class Foreign:
    """One results file of another program."""

    run: Run
    kind: str
    cases: list[Case]


def without_numbers(files: Sequence[Foreign]) -> list[Foreign]:
    """The same files. Where none has more than one GPU, its number is only the slot that it was in: cases of two slots are the same case."""
    plain = [replace(of, cases=[replace(case, device="") for case in of.cases]) for of in files]
    keeps_apart = all(len({case.key for case in of.cases}) == len(of.cases) for of in plain)
    return plain if keeps_apart and all(len({case.device for case in of.cases} - {""}) < 2 for of in files) else list(files)


def reason(said: str) -> str:
    """Why there is no time, on one line."""
    return " ".join(said.split()) or "skipped, and the file does not say why"


def time(seconds: float, place: str) -> float:
    """A time that can be meant; else Misfit."""
    if not SHORTEST <= seconds <= LONGEST:  # so is NaN
        raise Misfit(place, f"is {seconds:g} s, no time that a run takes: {REMEDY}")
    return seconds


def of_samples(samples: np.ndarray, place: Callable[[int], str]) -> dict[str, Any]:
    """The part of a case that follows from its samples; Misfit at ``place`` of the first that is no time."""
    for wrong in np.flatnonzero(~((samples >= SHORTEST) & (samples <= LONGEST)))[:1]:
        time(float(samples[wrong]), place(int(wrong)))
    stdev = float(np.std(samples, ddof=1)) if len(samples) > 1 else np.nan
    return {"samples": samples, "count": len(samples), "mean": float(np.mean(samples)), "stdev": stdev, "median": float(np.median(samples))}


def distinct(cases: list[Case]) -> list[Case]:
    """The same cases; Misfit if one is there twice, since nobody knows which of the two is meant."""
    first: dict[tuple[str, str, str], Case] = {}
    for case in cases:
        if case.key in first:
            raise Misfit(case.place, f"is the case {case.name} again, which {first[case.key].place} has: keep each case once a file")
        first[case.key] = case
    return cases
