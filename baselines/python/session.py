"""Verify every case, time it by the protocol, and report the outcome.

A case is a library, a type, a shape and a state of the cache. Its entries have the fields of
``scanlab bench`` (data/README.md).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from baselines.python import scans
from baselines.python.libraries import UNTIMED_RUNS, Library, Refused, first_line
from baselines.python.protocol import (
    CALIBRATION_RUNS,
    MOST_SECONDS,
    SLOW_SECONDS,
    Plan,
    Shape,
    runs_per_sample,
)


@dataclass
class Scan:
    """The scan that the cases of one library, type and shape share, and why it is not timed."""

    library: Library
    type: str
    shape: Shape
    run: Callable[[], Any] | None = None
    fault: str = ""
    outcome: str = ""
    """The kind of fault: refused, out of memory or failed."""


@dataclass
class Case:
    """One name in the results."""

    scan: Scan
    cache: str
    untimed: int = 0
    runs: int = 1
    repetitions: int = 1
    taken: int = 0


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
        for type_name in self.plan.types:
            for shape in self.plan.shapes or [Shape(1, count) for count in self.plan.items]:
                self.say(f"{'x'.join(map(str, shape.extents))} items of {type_name}")
                items = self._items(type_name, shape)
                expected = self._expected(items, shape.dim)
                cases = list(self._verified(type_name, shape, items, expected))
                for case in self.plan.interleave(cases):
                    if not case.scan.fault:
                        self._time(case)
                self._verify_again(cases, expected)
                yield

    def _verified(
        self, type_name: str, shape: Shape, items: np.ndarray, expected: np.ndarray
    ) -> Iterator[Case]:
        for library in self._libraries(shape):
            scan = Scan(library, type_name, shape)
            scan.run = self._contain(scan, lambda on: on.prepare(on.put(items), shape.dim), library)
            self._contain(scan, _verify, scan, expected)
            for cache in library.caches:
                case = Case(scan, cache)
                seconds = max(self._seconds(case, 1))
                self._contain(scan, _refuse_long, seconds)
                if seconds <= SLOW_SECONDS:
                    case.untimed = UNTIMED_RUNS
                    seconds = max(self._seconds(case, CALIBRATION_RUNS))
                case.runs = self._runs(seconds, cache)
                case.repetitions = self.plan.repetitions_of(seconds)
                if scan.fault:
                    self._refuse(case)
                else:
                    yield case

    def _verify_again(self, cases: list[Case], expected: np.ndarray) -> None:
        """Run each scan once more: a result that is wrong now takes its times with it."""
        timed = [case for case in cases if not case.scan.fault]
        for scan in {id(case.scan): case.scan for case in timed}.values():
            self._contain(scan, _verify, scan, expected, "after its last timed run: ")
        for case in timed:
            if case.scan.fault:
                name = self._fields(case)["name"]
                self.entries = [entry for entry in self.entries if entry["name"] != name]
                case.taken = 0
                self._refuse(case)

    def _libraries(self, shape: Shape) -> list[Library]:
        return self.libraries

    def _items(self, type_name: str, shape: Shape) -> np.ndarray:
        return scans.make_items(type_name, shape.extents, self.plan.seed, shape.dim)

    def _expected(self, items: np.ndarray, axis: int) -> np.ndarray:
        return scans.reference(items, axis=axis)

    def _runs(self, seconds: float, cache: str) -> int:
        return runs_per_sample(seconds, cache)

    def _time(self, case: Case) -> None:
        by_rank = self._seconds(case, case.runs)
        more = self._facts_of_sample(by_rank)
        if case.scan.fault:
            self._refuse(case)
            return
        self._add(case, "timed", more, max(by_rank))
        case.taken += 1

    def _seconds(self, case: Case, runs: int) -> list[float]:
        """The mean time of a run on each rank; 0 if the scan has a fault."""
        scan = case.scan
        arguments = (scan.run, runs, case.cache, case.untimed)
        own = self._contain(scan, scan.library.seconds, *arguments)
        return self._gather(own or 0.0)

    def _facts_of_sample(self, by_rank: list[float]) -> dict[str, Any]:
        return {"sm_clock_mhz": mhz} if (mhz := self.sm_mhz()) else {}

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
        except Exception as error:  # a library may raise anything
            outcome, fault = "failed", first_line(error)
            if isinstance(error, Refused):
                outcome = "refused"
            elif re.search("out of memory|resource_exhausted", str(error), re.IGNORECASE):
                outcome, fault = "out of memory", "out of device memory"
        for rank, (scan.outcome, scan.fault) in enumerate(self._gather((outcome, fault))):
            if scan.outcome == "failed":
                on_rank = f"rank {rank}: " if hasattr(scan.library, "rank") else ""
                scan.fault = f"verification failed: {on_rank}{scan.fault}"
            if scan.outcome:
                break
        return result

    def _refuse(self, case: Case) -> None:
        """Append an entry without a time, with the reason."""
        scan, failed = case.scan, case.scan.outcome == "failed"
        self.say(f"{self._fields(case)['name']}: {scan.fault}")
        self.failed += failed
        self.out_of_memory += scan.outcome == "out of memory"
        error = {"error_occurred": True, "error_message": scan.fault}
        self._add(case, "failed" if failed else "skipped", error)

    def _add(self, case: Case, outcome: str, more: dict[str, Any], seconds: float = 0.0) -> None:
        """Append an entry of the next sample, in the fields of Google Benchmark and in ours."""
        fields, scan, timed = self._fields(case), case.scan, outcome == "timed"
        run = {"run_name": fields["name"], "run_type": "iteration", "threads": 1}
        run |= {"repetitions": case.repetitions, "repetition_index": case.taken}
        run |= {"round": case.taken}
        run |= {"iterations": case.runs if timed else 0, "real_time": seconds * 1e9}
        run |= {"cpu_time": 0.0, "time_unit": "ns", "outcome": outcome, "verified": timed}
        about = {"variant": scan.library.id, "type": scan.type, "op": "plus", "mode": "inclusive"}
        size = scans.TYPES[scan.type](0).itemsize
        items = math.prod(fields.get(name, 1) for name in ("rows", "items", "inner"))
        about |= {"settings": {}, "bytes": 2 * items * size}
        self.entries.append(run | about | fields | more)

    def _fields(self, case: Case) -> dict[str, Any]:
        """The name of a case, and the fields that depend on the kind of session."""
        scan, (rows, axis, inner) = case.scan, case.scan.shape
        fields = {"kind": "scan_axis" if self.plan.shapes else "scan", "items": axis}
        fields |= {"rows": rows, "inner": inner} if self.plan.shapes else {}
        name = (
            f"{fields['kind']}/variant:{scan.library.id}/type:{scan.type}/op:plus/mode:inclusive"
            f"/items:{axis}{f'/rows:{rows}' * (rows != 1)}{f'/inner:{inner}' * (inner != 1)}"
            f"/cache:{case.cache}/launch:stream"
        )
        return fields | {"name": name, "cache": case.cache, "launch": "stream"}


def _refuse_long(seconds: float) -> None:
    if seconds > MOST_SECONDS:
        raise Refused(f"a run takes {seconds:.1f} s, above {MOST_SECONDS:g} s")


def _verify(scan: Scan, expected: np.ndarray, when: str = "") -> None:
    if fault := scans.fault(scan.library.fetch(scan.run()), expected):
        raise ValueError(when + fault)
