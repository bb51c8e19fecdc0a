"""What a results file of another program holds: cases with samples in seconds, or with what the file says of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from scanlab_report.schema.fields import REMEDY, Misfit
from scanlab_report.data import File

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
    """The values of the axes, in words; with ``benchmark``, ``device`` and ``occurrence`` it names the case."""
    device: str = ""
    """The number of the GPU; empty for the host, and where it tells nothing apart (:func:`without_numbers`)."""
    gpu: str = ""
    """Its name, where the file has it."""
    occurrence: int = 1
    """Which case of this name in its file: a benchmark may be registered twice."""
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
    misfit: Misfit | None = None
    """The fault in the file, if that is why there is no time."""

    @property
    def key(self) -> tuple[str, ...]:
        """Equal for equal cases of two files: they may list their axes in different orders."""
        return self.benchmark, " ".join(sorted(self.point.split())), self.device, str(self.occurrence)

    @property
    def label(self) -> str:
        """The axes in words, and the occurrence if it is not the first."""
        return self.point if self.occurrence == 1 else f"{self.point} (occurrence {self.occurrence})".lstrip()

    @property
    def name(self) -> str:
        return " ".join(filter(None, (self.benchmark, self.label, self.device and f"on device {self.device}")))


@dataclass(frozen=True)
class Foreign:
    """One results file of another program."""

    run: File
    kind: str
    cases: list[Case]
    runs: int = 1
    """Files whose samples are pooled in it."""


def without_numbers(files: Sequence[Foreign]) -> list[Foreign]:
    """The same files. Where none has more than one GPU, its number is only the slot that it was in: cases of two slots are the same case."""
    plain = [replace(of, cases=[replace(case, device="") for case in of.cases]) for of in files]
    keeps_apart = all(len({case.key for case in of.cases}) == len(of.cases) for of in plain)
    return plain if keeps_apart and all(len({case.device for case in of.cases} - {""}) < 2 for of in files) else list(files)


def one_line(text: str) -> str:
    """Text of a user on one line, without control characters."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def reason(text: str) -> str:
    """Why there is no time, on one line."""
    return one_line(text) or "skipped, and the file does not say why"


def unusable(case: Case, misfit: Misfit) -> Case:
    """The case without a time, since something in it does not fit."""
    return replace(case, skipped=unusable_because(misfit), misfit=misfit)


def unusable_because(misfit: Misfit) -> str:
    """The place and the fault; making the whole file again is not needed for one case."""
    return one_line(f"{misfit.place} {misfit.message.removesuffix(f': {REMEDY}')}")


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


def numbered(cases: list[Case]) -> list[Case]:
    """The same cases; those of one name are numbered by their occurrence."""
    seen: Counter[tuple[str, ...]] = Counter()
    for index, case in enumerate(cases):
        seen[case.key] += 1
        cases[index] = replace(case, occurrence=seen[case.key])
    return cases


def pooled(files: Sequence[Foreign]) -> Foreign:
    """Repeated runs as one file: the samples of all runs of a case are its samples, and of a run without samples the mean is one."""
    if len(files) == 1:
        return files[0]
    by_key: dict[tuple[str, ...], list[Case]] = {}
    for file in files:
        for case in file.cases:
            by_key.setdefault(case.key, []).append(case)
    return replace(files[0], cases=[_pooled(runs) for runs in by_key.values()], runs=len(files))


def _pooled(runs: list[Case]) -> Case:
    """One case of all runs; one that failed, or has no time, in any run has none."""
    first = min(runs, key=lambda case: (not case.failed, not case.skipped))
    if first.skipped:
        return first
    samples = [case.samples if all(len(run.samples) for run in runs) else np.array([case.mean]) for case in runs]
    return replace(first, **of_samples(np.concatenate(samples), str), rates=np.concatenate([case.rates for case in runs]))
