"""Verify every case, time it in rounds over the whole session, and report the outcome.

A case is a library, a type, a number of items and a state of the cache. Its entries have the fields
of ``scanlab bench`` (data/README.md). Both programs share the stopping rule (harness/measure/
loop.hpp) and the number of runs per sample (scan_session.cpp there): tests/measure/
stopping_rule.json and runs_per_sample.json check both.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np
from scipy.stats import binom

from baselines.python import scans
from baselines.python.libraries import Library, Refused, first_line

_SECONDS_PER_SAMPLE = 5e-3
_MIN_RUNS = 3
_MAX_RUNS = {"cold": 50, "warm": 500}
_SHORT_SECONDS, _RUNS_OF_SHORT = 20e-6, 100
MIN_RUN_SECONDS = 1e-7
"""Lower bound of the duration of a run, so that no division is by zero."""
MIN_SAMPLES = 5
"""Samples of a case regardless of the cap, unless there are fewer rounds."""


def median_uncertainty(times: Sequence[float]) -> float:
    """Half the 95 % interval of a median between order statistics, relative to the median.

    It is infinite for fewer than six times.
    """
    outside = int(binom.ppf(0.025, len(times), 0.5)) if len(times) else 0
    if outside == 0:
        return math.inf
    ordered = sorted(times)
    return (ordered[len(times) - outside] - ordered[outside - 1]) / 2 / median(ordered)


def runs_per_sample(seconds: float, cache: str, rounds: int, cap_seconds: float) -> int:
    """Number of runs of so many seconds that serve the clock and the mean, within the cap."""
    run = max(seconds, MIN_RUN_SECONDS)
    fewest = _RUNS_OF_SHORT if cache == "warm" and run < _SHORT_SECONDS else _MIN_RUNS
    wanted = min(max(math.ceil(_SECONDS_PER_SAMPLE / run), fewest), _MAX_RUNS[cache])
    return max(min(wanted, math.floor(cap_seconds / rounds / run)), 1)


@dataclass(frozen=True)
class Plan:
    """The plan of a measurement.

    A case stops once its median is known to within the fraction ``width``. A case that has taken
    ``cap_seconds`` of wall time gets no more than ``MIN_SAMPLES`` samples.
    """

    types: list[str]
    items: list[int]
    rounds: int
    seed: int
    width: float = 0.01
    cap_seconds: float = 10.0

    def is_last(self, times: Sequence[float], spent: float, latest: float) -> bool:
        """Whether a case gets no further sample, given the wall time before and of its latest."""
        converged = self.width > 0 and median_uncertainty(times) <= self.width
        late = len(times) >= MIN_SAMPLES and spent + 2 * latest > self.cap_seconds
        return converged or late or len(times) >= self.rounds


@dataclass
class Scan:
    """The scan that the cases of one library, type and n share, and why it is not timed."""

    library: Library
    type: str
    items: int
    run: Callable[[], Any] | None = None
    fault: str = ""
    outcome: str = ""
    """The kind of fault: refused, out of memory or failed."""


@dataclass
class Case:
    """One name in the results."""

    scan: Scan
    cache: str
    runs: int = 1
    spent: float = 0.0
    times: list[float] = field(default_factory=list)
    finished: bool = False


@dataclass
class Bench:
    """A session. ``say`` receives progress messages and faults; ``sm_mhz`` reads the SM clock."""

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
        for type_name in self.plan.types:
            self._verify_again([case for case in cases if case.scan.type == type_name], type_name)
        yield

    def _verified(self, type_name: str) -> Iterator[Case]:
        items = self._items(type_name)
        for count in self.plan.items:
            expected = self._expected(items[:count])
            for library in self.libraries:
                scan = Scan(library, type_name, count)
                self._contain(scan, self._prepare, scan, items[:count])
                self._contain(scan, self._verify, scan, expected)
                for cache in library.caches:
                    case = Case(scan, cache)
                    case.runs = self._runs(max(self._seconds(case, _MIN_RUNS)), cache)
                    if scan.fault:
                        self._refuse(case, 0)
                    else:
                        yield case

    def _verify_again(self, cases: list[Case], type_name: str) -> None:
        """Run each scan once more: a result that is wrong now takes its times with it."""
        items = self._items(type_name)
        timed = [case for case in cases if not case.scan.fault]
        for scan in {id(case.scan): case.scan for case in timed}.values():
            expected = self._expected(items[: scan.items])
            self._contain(scan, self._verify, scan, expected, "after its last timed run: ")
        for case in timed:
            if case.scan.fault:
                name = self._fields(case)["name"]
                self.entries = [entry for entry in self.entries if entry["name"] != name]
                self._refuse(case, 0)

    def _items(self, type_name: str) -> np.ndarray:
        return scans.make_items(type_name, max(self.plan.items), self.plan.seed)

    def _expected(self, items: np.ndarray) -> np.ndarray:
        return scans.reference(items)

    def _prepare(self, scan: Scan, items: np.ndarray) -> None:
        scan.run = scan.library.prepare(scan.library.put(items))

    def _verify(self, scan: Scan, expected: np.ndarray, when: str = "") -> None:
        if fault := scans.fault(scan.library.fetch(scan.run()), expected):
            raise ValueError(when + fault)

    def _runs(self, seconds: float, cache: str) -> int:
        return runs_per_sample(seconds, cache, self.plan.rounds, self.plan.cap_seconds)

    def _time(self, case: Case, round_number: int) -> None:
        began = time.monotonic()
        by_rank = self._seconds(case, case.runs)
        latest = self._gather(time.monotonic() - began)[0]  # all ranks decide by that of rank 0
        more = self._facts_of_sample(by_rank)
        if case.scan.fault:
            self._refuse(case, round_number)
            return
        case.times.append(max(by_rank))
        case.finished = self.plan.is_last(case.times, case.spent, latest)
        case.spent += latest
        self._add(case, round_number, "timed", more, max(by_rank))

    def _seconds(self, case: Case, runs: int) -> list[float]:
        """The mean time of a run on each rank; 0 if the scan has a fault."""
        scan = case.scan
        own = self._contain(scan, scan.library.seconds, scan.run, runs, case.cache)
        return self._gather(own or 0.0)

    def _facts_of_sample(self, by_rank: list[float]) -> dict[str, Any]:
        sm_mhz = self.sm_mhz()
        return {"sm_clock_mhz": sm_mhz} if sm_mhz else {}

    def _gather(self, value: Any) -> list[Any]:
        """The values of all ranks, of which a session has one unless a subclass has more."""
        return [value]

    def _contain(self, scan: Scan, work: Callable[..., Any], *arguments: Any) -> Any:
        """Do the work unless there is a fault; an exception on any rank is the scan's fault."""
        if scan.fault:
            return None
        result, outcome, fault = None, "", ""
        try:
            result = work(*arguments)
        except Refused as refused:
            outcome, fault = "refused", first_line(refused)
        except Exception as error:  # a library may raise anything
            if scan.library.is_out_of_memory(error):
                outcome, fault = "out of memory", "out of device memory"
            else:
                outcome, fault = "failed", first_line(error)
        faults = [(rank, *words) for rank, words in enumerate(self._gather((outcome, fault)))]
        for rank, outcome, fault in faults:
            if outcome and not scan.fault:
                failed_rank = f"rank {rank}: " if outcome == "failed" and len(faults) > 1 else ""
                scan.outcome, scan.fault = outcome, failed_rank + fault
        return result

    def _refuse(self, case: Case, round_number: int) -> None:
        """Append an entry without a time, with the reason."""
        scan = case.scan
        self.say(f"{self._fields(case)['name']}: {scan.fault}")
        self.failed += scan.outcome == "failed"
        self.out_of_memory += scan.outcome == "out of memory"
        prefix = "verification failed: " if scan.outcome == "failed" else ""
        error = {"error_occurred": True, "error_message": prefix + scan.fault}
        outcome = "failed" if scan.outcome == "failed" else "skipped"
        self._add(case, round_number, outcome, error)

    def _add(
        self, case: Case, number: int, outcome: str, more: dict[str, Any], seconds: float = 0.0
    ) -> None:
        """Append an entry of round ``number``, in the fields of Google Benchmark and in ours."""
        fields, scan, timed = self._fields(case), case.scan, outcome == "timed"
        run = {"run_name": fields["name"], "run_type": "iteration", "threads": 1}
        run |= {"repetitions": self.plan.rounds, "repetition_index": number, "round": number}
        run |= {"iterations": case.runs if timed else 0, "real_time": seconds * 1e9}
        run |= {"cpu_time": 0.0, "time_unit": "ns", "outcome": outcome, "verified": timed}
        run |= {"converged": timed and median_uncertainty(case.times) <= self.plan.width}
        about = {"variant": scan.library.id, "type": scan.type, "op": "plus", "mode": "inclusive"}
        size = scans.TYPES[scan.type](0).itemsize
        about |= {"settings": {}, "bytes": 2 * fields["items"] * size}
        self.entries.append(run | about | fields | more)

    def _fields(self, case: Case) -> dict[str, Any]:
        """The name of a case, and the fields that depend on the kind of session."""
        scan = case.scan
        name = (
            f"scan/variant:{scan.library.id}/type:{scan.type}/op:plus/mode:inclusive"
            f"/items:{scan.items}/cache:{case.cache}/launch:stream"
        )
        fields = {"name": name, "kind": "scan", "items": scan.items}
        return fields | {"cache": case.cache, "launch": "stream"}
