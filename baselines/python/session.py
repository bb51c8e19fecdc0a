"""Verify every case, time it in rounds over the whole session, and report the outcome.

A case is a library, a type, a number of items and a state of the cache. Its entries have the fields of those of ``scanlab bench``
(data/README.md), and both programs share the stopping rule (harness/measure/loop.hpp) and the number of runs per sample (scan_session.cpp there):
tests/measure/stopping_rule.json and runs_per_sample.json check both.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from scipy.stats import binom

from baselines.python import scans
from baselines.python.libraries import Library, Refused

_SECONDS_PER_SAMPLE = 5e-3
_MIN_RUNS = 3
_MAX_RUNS = {"cold": 50, "warm": 500}
_SHORT_SECONDS, _RUNS_OF_SHORT = 20e-6, 100
MIN_RUN_SECONDS = 1e-7
"""Lower bound of the duration of a run, so that no division is by zero."""
MIN_SAMPLES = 5
"""Samples of a case regardless of the cap, unless there are fewer rounds."""


def median_uncertainty(times: Sequence[float]) -> float:
    """Half the 95 % interval of a median, between order statistics, relative to the median; infinite for fewer than six."""
    outside = int(binom.ppf(0.025, len(times), 0.5)) if len(times) else 0
    if outside == 0:
        return math.inf
    ordered = sorted(times)
    return (ordered[len(times) - outside] - ordered[outside - 1]) / 2 / median(ordered)


def is_last(times: Sequence[float], rounds: int, width: float, cap_seconds: float, spent: float, latest: float) -> bool:
    """Whether a case gets no further sample. ``spent`` and ``latest``: seconds of wall time before the latest sample, and of it."""
    if len(times) >= rounds or (width > 0 and median_uncertainty(times) <= width):
        return True
    return len(times) >= MIN_SAMPLES and spent + 2 * latest > cap_seconds


def runs_per_sample(seconds_per_run: float, cache: str, rounds: int, cap_seconds: float) -> int:
    """Number of runs per sample: enough for the clock and the mean, limited by the cap over all rounds, at least one."""
    run = max(seconds_per_run, MIN_RUN_SECONDS)
    fewest = _RUNS_OF_SHORT if cache == "warm" and run < _SHORT_SECONDS else _MIN_RUNS
    wanted = min(max(math.ceil(_SECONDS_PER_SAMPLE / run), fewest), _MAX_RUNS[cache])
    return max(min(wanted, math.floor(cap_seconds / rounds / run)), 1)


@dataclass(frozen=True)
class Plan:
    """The plan of a measurement. ``width``: a case stops once its median is known to within this fraction. ``cap_seconds``: a case
    that has taken so much wall time gets no more than ``MIN_SAMPLES``."""

    types: list[str]
    items: list[int]
    rounds: int
    seed: int
    width: float = 0.01
    cap_seconds: float = 10.0


@dataclass
class Case:
    """One name in the results."""

    library: Library
    type: str
    items: int
    cache: str
    scan: Scan
    runs: int = 1
    spent: float = 0.0
    times: list[float] = field(default_factory=list)
    finished: bool = False

    @property
    def name(self) -> str:
        return (f"scan/variant:{self.library.id}/type:{self.type}/op:plus/mode:inclusive/items:{self.items}"
                f"/cache:{self.cache}/launch:stream")  # fmt: skip


@dataclass
class Scan:
    """The scan that the cases of one library, type and n share, with its fault or the reason of its refusal."""

    run: Callable[[], Any] | None = None
    fault: str = ""
    out_of_memory: bool = False
    refused: bool = False
    went_wrong_later: bool = False
    """Whether the fault appeared in the second verification, after the last timed run."""


@dataclass
class Bench:
    """A session. ``say`` receives progress messages and faults; ``sm_mhz`` returns the SM clock, read right after each sample."""

    plan: Plan
    libraries: list[Library]
    say: Callable[[str], None]
    sm_mhz: Callable[[], float | None] = lambda: None
    entries: list[dict[str, Any]] = field(default_factory=list)
    failed: int = 0
    out_of_memory: int = 0

    def run(self) -> Iterator[None]:
        """Run the whole session; yield whenever there are new entries to save."""
        cases: list[Case] = []
        for type_name in self.plan.types:
            self.say(f"verifying {type_name}")
            cases += self._verified(type_name)
        yield
        for round_number in range(self.plan.rounds):
            self.say(f"round {round_number + 1} of {self.plan.rounds}")
            for case in cases:
                if not case.scan.fault and not case.finished:
                    self._time(case, round_number)
            yield
        self._verify_again(cases)
        yield

    def _verified(self, type_name: str) -> Iterable[Case]:
        most = max(self.plan.items)
        items = scans.make_items(type_name, most, self.plan.seed)
        expected = scans.reference(items)
        for library in self.libraries:
            for count in self.plan.items:
                scan = Scan()
                self._contain(library, scan, lambda: self._bind(library, scan, items[:count], expected[:count]))
                for cache in library.caches:
                    case = Case(library, type_name, count, cache, scan)
                    if not scan.fault:
                        self._contain(library, scan, lambda: self._calibrate(case))
                    if scan.fault:
                        self._refuse(case, 0)
                    else:
                        yield case

    def _bind(self, library: Library, scan: Scan, items: Any, expected: Any) -> None:
        scan.run = library.prepare(library.put(items))
        scan.fault = scans.fault(library.fetch(scan.run()), expected)

    def _calibrate(self, case: Case) -> None:
        seconds = case.library.seconds(case.scan.run, _MIN_RUNS, case.cache)
        case.runs = runs_per_sample(seconds, case.cache, self.plan.rounds, self.plan.cap_seconds)

    def _time(self, case: Case, round_number: int) -> None:
        began = time.monotonic()
        measured: list[float] = []
        self._contain(case.library, case.scan,
                      lambda: measured.append(case.library.seconds(case.scan.run, case.runs, case.cache)))  # fmt: skip
        latest = time.monotonic() - began
        sm_mhz = self.sm_mhz()
        if case.scan.fault:
            self._refuse(case, round_number)
            return
        case.times.append(measured[0])
        case.finished = is_last(case.times, self.plan.rounds, self.plan.width, self.plan.cap_seconds, case.spent, latest)
        case.spent += latest
        self.entries.append(self._entry(case, round_number) | {
            "iterations": case.runs, "real_time": measured[0] * 1e9, "cpu_time": 0.0, "time_unit": "ns", "outcome": "timed",
            "converged": median_uncertainty(case.times) <= self.plan.width, "verified": True} | ({"sm_clock_mhz": sm_mhz} if sm_mhz else {}))  # fmt: skip

    def _verify_again(self, cases: list[Case]) -> None:
        """Run each scan once more: its result must still be right after the timed runs."""
        for type_name in self.plan.types:
            expected = scans.reference(scans.make_items(type_name, max(self.plan.items), self.plan.seed))
            done: set[int] = set()
            for case in cases:
                if case.type == type_name and not case.scan.fault and id(case.scan) not in done:
                    done.add(id(case.scan))
                    self._contain(case.library, case.scan, lambda: self._compare(case, expected))
        for case in cases:
            if case.scan.went_wrong_later:
                self.entries = [entry for entry in self.entries if entry["name"] != case.name]
                self._refuse(case, 0)

    def _compare(self, case: Case, expected: Any) -> None:
        if fault := scans.fault(case.library.fetch(case.scan.run()), expected[: case.items]):
            case.scan.went_wrong_later, case.scan.fault = True, f"after its last timed run: {fault}"

    def _contain(self, library: Library, scan: Scan, work: Callable[[], None]) -> None:
        """Do the work; an exception becomes the scan's fault, and the session continues."""
        try:
            work()
        except Refused as refused:
            scan.refused, scan.fault = True, str(refused).splitlines()[0]
        except Exception as error:  # a library may raise anything
            scan.out_of_memory = library.is_out_of_memory(error)
            lines = str(error).splitlines() or [type(error).__name__]
            scan.fault = "out of device memory" if scan.out_of_memory else lines[0]

    def _refuse(self, case: Case, round_number: int) -> None:
        """Append an entry without a time, with the reason."""
        self.say(f"{case.name}: {case.scan.fault}")
        if case.scan.refused:
            message = case.scan.fault
        elif case.scan.out_of_memory:
            self.out_of_memory += 1
            message = case.scan.fault
        else:
            self.failed += 1
            message = f"verification failed: {case.scan.fault}"
        self.entries.append(self._entry(case, round_number) | {
            "iterations": 0, "real_time": 0.0, "cpu_time": 0.0, "time_unit": "ns", "verified": False, "converged": False,
            "outcome": "skipped" if case.scan.refused or case.scan.out_of_memory else "failed", "error_occurred": True, "error_message": message})  # fmt: skip

    def _entry(self, case: Case, round_number: int) -> dict[str, Any]:
        size = scans.TYPES[case.type](0).itemsize
        return {"name": case.name, "run_name": case.name, "run_type": "iteration", "threads": 1,
                "repetitions": self.plan.rounds, "repetition_index": round_number, "round": round_number,
                "kind": "scan", "variant": case.library.id, "type": case.type, "op": "plus", "mode": "inclusive",
                "items": case.items, "settings": {}, "cache": case.cache, "launch": "stream",
                "bytes": 2 * case.items * size}  # fmt: skip
