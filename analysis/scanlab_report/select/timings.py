"""Timings that figures and tables ask for, on one device. Where several files timed a case (``scan.json`` and ``head_to_head_i32.json`` of one
session), :mod:`scanlab_report.select.files` says which answers."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
import pandas as pd

from scanlab_report.read.published import Publication
from scanlab_report.read.records import CASE, MEASURED, ODD_SIZES, RECORDED, STREAM, Results, Run, ranked
from scanlab_report.read.variants import Wanted
from scanlab_report.select import files
from scanlab_report.select.evidence import (
    AllTimingEvidence,
    HostEvidence,
    Key,
    Scanned,
    SessionTimingEvidence,
    TableEvidence,
    TimingEvidence,
)
from scanlab_report.select.provenance import run_provenance, timing_provenance
from scanlab_report.select.variants import BEST, CUBS, FLOOR, HOST, OWN, PYTHON, SCANS, SHAPES
from scanlab_report.stats import intervals


class Selection(NamedTuple):
    """The variants, type and operator that a user asks a figure for; the figure chooses those that are empty."""

    variants: tuple[str, ...] = ()
    type: str = ""
    op: str = ""


ANY_TYPE = ("i32", "f32", "i64", "f64", "i16", "f16", "i8")
"""Types of figures that can show any type, 32-bit integers first."""
ANY_4_BYTES = ("i32", "f32")


@dataclass(frozen=True)
class Timings:
    """Timings on one device and of one type: the first of ``types`` with a scan timed on the GPU, else the first with any timing.

    ``kinds`` are the kinds of file that may have them: CPU baselines are timed beside a GPU (``cuda``) or alone (``host``); for
    those of every machine see :class:`Hosts`.
    ``only`` leaves out all other variants; ``python`` admits the libraries of Python, which are timed in a run of their
    own. ``launches`` are the ways of launching that are wanted.
    """

    types: Sequence[str] = ("i32",)
    op: str = "plus"
    mode: str = "inclusive"
    all_of: Sequence[str] = ()
    any_of: Sequence[Wanted] = ()
    only: Sequence[Wanted] = ()
    python: bool = False
    kinds: Sequence[str] = ("cuda",)
    launches: Sequence[str] = (STREAM,)
    beside: Sequence[Wanted] = ()
    """References of a figure, shown whichever variants are asked for."""
    named: Sequence[str] = ()
    cache: str = ""
    """The only cache state of a figure, if it has one: variants asked for by name must have been timed in it."""

    def chosen(self, selection: Selection) -> Timings:
        """Return these timings narrowed to the user's selection."""
        need = replace(self, types=(selection.type,) if selection.type else self.types, op=selection.op or self.op)
        if named := selection.variants:
            need = replace(need, named=named, any_of=named, only=(*named, *self.all_of, *self.beside), python=True)
        return need

    @property
    def measured_by(self) -> tuple[str, ...]:
        return ("scans", "python") if self.python else ("scans",)

    def find(self, results: Results, published: dict[str, Publication]) -> TimingEvidence | None:
        if self not in results.found:
            results.found[self] = next(self.each(results), None)
        return results.found[self]

    def each(self, results: Results) -> Iterator[TimingEvidence]:
        """Yield the timings of each device in order; a device may come twice, measured now and recorded."""
        for origin, device, rows in _by_device(results, results.timings, self.kinds):
            of_types = (self.of_type(results, rows, origin, device, type_name) for type_name in self.types)
            answers = (evidence for evidence in of_types if evidence and self.answered_by(evidence))
            if first := next(answers, None):
                with_scans = (timings for timings in itertools.chain([first], answers) if any(SCANS.has(timings.about[variant]) for variant in timings.variants()))
                yield next(with_scans, first)

    def asked(self) -> str:
        wanted = ", ".join(self.all_of)
        if self.any_of:
            wanted += (" and " if wanted else "") + " or ".join(map(str, self.any_of))
        of = f" of {wanted}" if wanted else ""
        on = "a CUDA device" if self.kinds == ("cuda",) else "any device"
        return f"{'' if set(self.types) == set(ANY_TYPE) else ' or '.join(self.types) + ' '}{self.op} {self.mode} timings{of} on {on}"

    def of_type(self, results: Results, rows: pd.DataFrame, origin: str, device: str, type_name: str) -> TimingEvidence | None:
        """Return the timings of one type from the rows of one device; None if there are none."""
        if self.only:
            rows = rows[rows["variant"].isin(results.variants.ids(*self.only))]
        if not self.python:
            rows = rows[~rows["variant"].isin(results.variants.ids(PYTHON))]
        named = (rows["type"] == type_name) & (rows["op"] == self.op) & (rows["mode"] == self.mode)
        rows = rows[(named | (rows["variant"] == FLOOR)) & rows["launch"].isin(self.launches)]
        if self.named and self.cache:
            rows = rows[rows["cache"] == self.cache]
        rows = rows.assign(items=rows["items"].where(rows["variant"] != FLOOR, 0))  # an empty launch has no size
        rows = _of_one_file(rows, results)
        if rows.empty:
            return None
        cases = intervals.summarise(rows, CASE)
        host = "; ".join(sorted({results.runs[i].host for i in set(rows["run"])}))
        return TimingEvidence(cases, device, host, timing_provenance(rows, cases, results.runs, origin), results.variants,
                              Scanned(type_name, self.op), self.named)  # fmt: skip

    def answered_by(self, evidence: TimingEvidence) -> bool:
        """Whether all required variants are present."""
        present = set(evidence.variants())
        scans = present - {FLOOR}
        return bool(scans) and set(self.all_of) <= present and (not self.any_of or bool(present & set(evidence.about.ids(*self.any_of))))


@dataclass(frozen=True)
class Hosts:
    """The CPU baselines of every machine without a GPU; with ``beside``, also those timed on a machine with a GPU.

    Where there are none, a figure goes without them; one that asks for those beside a GPU is about them.
    """

    beside: bool = False
    timings: Timings = Timings(any_of=(HOST,), only=(HOST,))

    def like(self, shown: TimingEvidence) -> Hosts:
        """Return the CPU baselines that match the timings shown for a GPU."""
        named = shown.named or (HOST,)
        return replace(self, timings=replace(self.timings, types=(shown.scanned.type,), op=shown.scanned.op, any_of=named, only=named))

    @property
    def measured_by(self) -> tuple[str, ...]:
        return ("scans",) if self.beside else ()

    @property
    def optional(self) -> bool:
        return not self.beside

    def find(self, results: Results, published: dict[str, Publication]) -> HostEvidence | None:
        need = replace(self.timings, kinds=("cuda", "host") if self.beside else ("host",))
        machines: dict[str, TimingEvidence] = {}
        for evidence in need.each(results):
            machines.setdefault(evidence.host, evidence)
        return HostEvidence(list(machines.values())) if machines or not self.beside else None

    def asked(self) -> str:
        return f"timings of {HOST}"


@dataclass(frozen=True)
class EachSession:
    """The timings of :class:`Timings` from every complete session, of any commit: for quantities that vary by session, such as the host."""

    timings: Timings

    def chosen(self, selection: Selection) -> EachSession:
        return EachSession(self.timings.chosen(selection))

    @property
    def measured_by(self) -> tuple[str, ...]:
        return self.timings.measured_by

    def find(self, results: Results, published: dict[str, Publication]) -> SessionTimingEvidence | None:
        if self not in results.found:
            results.found[self] = next(self._each(results), None)
        return results.found[self]

    def _each(self, results: Results) -> Iterator[SessionTimingEvidence]:
        results = results.every or results
        for origin, device, rows in _by_device(results, results.timings, self.timings.kinds):
            newest_first = _by_date(set(rows["run"]), results.runs)[::-1]
            for type_name in self.timings.types:
                of = {run: self.timings.of_type(results, rows[rows["run"] == run], origin, device, type_name) for run in newest_first}
                if answers := {run: evidence for run, evidence in of.items() if evidence and self.timings.answered_by(evidence)}:
                    counts = [count for evidence in answers.values() for count in evidence.provenance.repetitions or ()]
                    provenance = run_provenance("timings", (results.runs[run] for run in answers), origin, (min(counts), max(counts)))
                    yield SessionTimingEvidence(list(answers.values()), provenance)

    def asked(self) -> str:
        return self.timings.asked()


@dataclass(frozen=True)
class AllTimings:
    """Every case of one device in the runs that timed ``best``, or another variant.

    ``against``: there must be a case in which one of these was timed beside ``best``, by ``op`` and in ``mode`` if such are
    named, and often enough for an interval if it is to be ``decided``. ``python`` admits the libraries of Python, which are timed in a run of their own.
    """

    against: Sequence[Wanted] = ()
    python: bool = False
    op: str = ""
    mode: str = ""
    decided: bool = False
    of: str = BEST
    types: Sequence[str] = ()
    """Empty: all."""

    def chosen(self, selection: Selection) -> AllTimings:
        """The same of one variant that a user asked for."""
        return replace(self, of=selection.variants[0] if selection.variants else self.of, types=(selection.type,) if selection.type else self.types)

    @property
    def measured_by(self) -> tuple[str, ...]:
        return (*(f"head_to_head_{of}" for of in ANY_TYPE), "head_to_head_operators", *(["python"] if self.python else []))

    def find(self, results: Results, published: dict[str, Publication]) -> AllTimingEvidence | None:
        wanted = AllTimings(python=self.python, of=self.of, types=self.types)
        if wanted not in results.found:
            results.found[wanted] = self._find(results)
        found = results.found[wanted]
        if found and self.against and not any(self._has(found, key) for key in found.samples):
            return None
        return found

    def _has(self, found: AllTimingEvidence, key: Key) -> bool:
        if key.op != (self.op or key.op) or key.mode != (self.mode or key.mode):
            return False
        match = found.match(key, self.of, self.against)
        return match is not None and (match.ratio.known or not self.decided)

    def _find(self, results: Results) -> AllTimingEvidence | None:
        for origin, device, rows in _by_device(results, results.timings):
            rows = rows[(rows["settings"] == "") & (rows["type"].isin(self.types) | (not self.types))]
            wanted = set(rows.loc[rows["variant"] == self.of, "run"])
            if wanted:
                if self.python:
                    wanted |= set(rows.loc[rows["variant"].isin(results.variants.ids(PYTHON)), "run"])
                return self._of(results, rows[rows["run"].isin(wanted)], device, origin)
        return None

    def asked(self) -> str:
        beside = f" beside {' or '.join(map(str, self.against))}" if self.against else ""
        return f"timings of {self.of}{f' with {self.op}' if self.op else ''}{beside} on a CUDA device"

    def _of(self, results: Results, rows: pd.DataFrame, device: str, origin: str) -> AllTimingEvidence:
        samples: dict[Key, dict[int, dict[str, np.ndarray]]] = {}
        cases = intervals.repetitions(rows, ["run", "variant", *Key._fields]).itertuples(index=False, name=None)
        place = _places(results)
        for run, variant, *key, times in sorted(cases, key=lambda case: place[case[0]]):
            samples.setdefault(Key(*key), {}).setdefault(run, {})[variant] = times
        chosen = results.kernels[(results.kernels["variant"] == BEST) & (results.kernels["settings"] == "")]
        choices = {(row.run, Key(*(getattr(row, f) for f in Key._fields))): row.choice for row in chosen.itertuples()}
        counts = [len(times) for of in samples.values() for by in of.values() for times in by.values()]
        used = [results.runs[run] for run in sorted({run for of in samples.values() for run in of})]
        provenance = run_provenance("timings", used, origin, (min(counts), max(counts)))
        return AllTimingEvidence(samples, choices, device, provenance, results.variants, self.of)


@dataclass(frozen=True)
class Kernels:
    """What the kernels of our scans take, and with ``vendor`` those of CUB's too, on one device."""

    vendor: bool = False
    measured_by: ClassVar = ("scans",)

    def find(self, results: Results, published: dict[str, Publication]) -> TableEvidence | None:
        for origin, _, rows in _by_device(results, results.kernels):
            wanted = results.variants.ids(OWN, *([CUBS] if self.vendor else []))
            rows = _of_one_file(rows[rows["registers"].notna() & rows["variant"].isin(wanted)], results)
            if not rows.empty:
                used = [results.runs[i] for i in sorted(set(rows["run"]))]
                return TableEvidence(rows, run_provenance("timings", used, origin), results.variants)
        return None

    def asked(self) -> str:
        return "registers of kernels beside timings on a CUDA device"


@dataclass(frozen=True)
class Shapes:
    """Every shape of a rival's scan that was timed to choose among them, beside the rival as shipped and a copy: cases on one device, of sums or of the other operators."""

    sums: bool
    measured_by: ClassVar = ("cub_shapes",)

    def find(self, results: Results, published: dict[str, Publication]) -> TableEvidence | None:
        for origin, _, rows in _by_device(results, results.timings, ("tuning",)):
            rows = rows[(rows["op"] == "plus") == self.sums]
            if rows["variant"].isin(results.variants.ids(SHAPES)).any():
                rows = _of_one_file(rows, results)
                cases = intervals.summarise(rows, CASE)
                return TableEvidence(cases, timing_provenance(rows, cases, results.runs, origin), results.variants)
        return None

    def asked(self) -> str:
        return f"times of the shapes that a rival was tuned among for {'sums' if self.sums else 'operators other than sums'} on a CUDA device"


@dataclass(frozen=True)
class OddSizes:
    """The cases of each process (``run``) of the sweep ``odd_sizes`` on one device; arrays are at other addresses in each."""

    measured_by: ClassVar = (ODD_SIZES,)

    def find(self, results: Results, published: dict[str, Publication]) -> TableEvidence | None:
        for origin, _, rows in _by_device(results, results.timings, (ODD_SIZES,)):
            rows = rows[rows["settings"] == ""]
            if not rows.empty:
                cases = intervals.summarise(rows, ["run", *CASE])
                return TableEvidence(cases, timing_provenance(rows, cases, results.runs, origin), results.variants)
        return None

    def asked(self) -> str:
        return "times of the sweep odd_sizes on a CUDA device"


@dataclass(frozen=True)
class Forms:
    """Cold inclusive scans by one variant, with each of its settings that was timed, of one type and operator on one device; from a stream."""

    variant: str
    type: str
    op: str
    measured_by: ClassVar = ("scans",)

    def find(self, results: Results, published: dict[str, Publication]) -> TableEvidence | None:
        for origin, _, rows in _by_device(results, results.timings):
            wanted = {"variant": self.variant, "type": self.type, "op": self.op, "mode": "inclusive", "cache": "cold", "launch": STREAM}
            rows = _of_one_file(rows[(rows[list(wanted)] == pd.Series(wanted)).all(axis=1)], results)
            if not rows.empty:
                cases = intervals.summarise(rows, CASE)
                return TableEvidence(cases, timing_provenance(rows, cases, results.runs, origin), results.variants)
        return None

    def asked(self) -> str:
        return f"times of {self.variant} in its forms, {self.type} {self.op}, on a CUDA device"


@dataclass(frozen=True)
class Skipped:
    """Cases that were to be timed and were not."""

    measured_by: ClassVar[tuple[str, ...]] = ()

    def find(self, results: Results, published: dict[str, Publication]) -> TableEvidence | None:
        if results.skipped.empty:
            return None
        origin = MEASURED if MEASURED in set(results.skipped["origin"]) else RECORDED
        rows = results.skipped[results.skipped["origin"] == origin]
        return TableEvidence(rows, run_provenance("timings", [results.runs[i] for i in sorted(set(rows["run"]))], origin))

    def asked(self) -> str:
        return "cases skipped by the harness"


def _by_device(results: Results, table: pd.DataFrame, kinds: Sequence[str] = ("cuda",)) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Origin, device and its rows: measured before recorded, then as :func:`scanlab_report.read.records.ranked` has the devices."""
    for origin in (MEASURED, RECORDED):
        of = {i: run for i, run in enumerate(results.runs) if run.origin == origin and run.kind in kinds}
        for device in ranked(of.values(), results.first):
            yield origin, device, table[table["run"].isin([i for i, run in of.items() if run.device == device])]


def _by_date(runs: Iterable[int], known: Sequence[Run]) -> list[int]:
    """Runs by index, the oldest first."""
    return sorted(runs, key=lambda i: (known[i].date, i))


def _places(results: Results) -> dict[int, int]:
    """The place of each run in the order in which they answer."""
    if "places" not in results.found:
        dates = {i: run.date for i, run in enumerate(results.runs)}
        results.found["places"] = files.places(results.timings.groupby("run")["variant"].nunique().to_dict(), dates)
    return results.found["places"]


def _of_one_file(rows: pd.DataFrame, results: Results) -> pd.DataFrame:
    """The repetitions of each case in the run that answers first."""
    return files.of_first(rows, CASE, "run", _places(results))
