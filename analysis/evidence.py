"""What a figure or table needs, and the choice of the runs that answer it.

A figure declares needs; a need looks first among what was measured now, then among what is recorded, and takes one
device. What it finds carries its provenance, which the driver prints below the figure and into the caption.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import pandas as pd

from analysis import statistics
from analysis.published import Publication
from analysis.results import CASE, MEASURED, OPTIONAL_COUNTER_COLUMNS, RECORDED, Explanation, Results, Run

CEILING = "memcpy"
FLOOR = "empty_launch"
CPU_BASELINES = ("cpu_sequential", "cpu_parallel")
VENDOR = "cub_device_scan"
BASELINES = (VENDOR, "thrust_scan", CEILING, FLOOR, *CPU_BASELINES)


@dataclass(frozen=True)
class Provenance:
    """Where numbers come from."""

    what: str
    origin: str
    device: str = ""
    dates: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    dirty: bool = False
    repetitions: tuple[int, int] | None = None

    @property
    def date(self) -> str:
        """One day, or the first and the last."""
        if not self.dates:
            return "date unknown"
        return self.dates[0] if len(self.dates) == 1 else f"{self.dates[0]} to {self.dates[-1]}"

    @property
    def commit(self) -> str:
        """Abbreviated commits; ``+`` marks a tree with uncommitted changes."""
        if not self.commits:
            return "commit unknown"
        mark = "+" if self.dirty else ""
        return "commit " + ", ".join(c[:9] + mark for c in self.commits)

    @property
    def repeated(self) -> str:
        """The number of repetitions behind each median, in words."""
        if self.repetitions is None:
            return ""
        low, high = self.repetitions
        count = f"{low}" if low == high else f"{low} to {high}"
        return f"median of {count} repetition{'' if high == 1 else 's'}"

    def line(self) -> str:
        """One line for a footer."""
        return ", ".join(part for part in (self.device or self.what, self.date, self.commit, self.origin) if part)


@dataclass(frozen=True)
class TimingEvidence:
    """Timings of one device, summarised by case."""

    cases: pd.DataFrame
    device: str
    host: str
    provenance: Provenance

    def of(self, variant: str, settings: str = "", **wanted: object) -> pd.DataFrame:
        """The cases of one variant with some settings, default ones if none are given, ordered by size."""
        rows = self.cases[(self.cases["variant"] == variant) & (self.cases["settings"] == settings)]
        for column, value in wanted.items():
            rows = rows[rows[column] == value]
        return rows.sort_values("items")

    def series(self, variant: str, settings: str = "", **wanted: object) -> pd.DataFrame:
        """The cases of a line over sizes: those of :meth:`of` at powers of two, where a line is meant to be smooth."""
        rows = self.of(variant, settings, **wanted)
        return rows[(rows["items"] > 0) & (rows["items"] & (rows["items"] - 1) == 0)]

    def caches(self) -> list[str]:
        """``cold`` before ``warm``, those that were timed."""
        present = set(self.cases.loc[self.cases["variant"] != FLOOR, "cache"])
        return [cache for cache in ("cold", "warm") if cache in present] + sorted(present - {"cold", "warm"})

    def variants(self) -> list[str]:
        """Every variant and baseline that was timed with default settings, by id."""
        return sorted(set(self.cases.loc[self.cases["settings"] == "", "variant"]))


@dataclass(frozen=True)
class CountEvidence:
    """Executor counts."""

    explanations: list[Explanation]
    provenance: Provenance


@dataclass(frozen=True)
class CounterEvidence:
    """Hardware counters beside executor counts of the same kernels."""

    counters: pd.DataFrame
    explanations: list[Explanation]
    provenance: Provenance
    counted: Provenance


@dataclass(frozen=True)
class SkippedEvidence:
    """Cases that the harness could not time."""

    rows: pd.DataFrame
    provenance: Provenance


class Need(Protocol):
    """What a figure needs: finds it, or says in a clause what is missing."""

    def find(self, results: Results, published: dict[str, Publication]) -> object | None: ...

    def absent(self) -> str: ...


@dataclass(frozen=True)
class Timings:
    """Timings on one device; ``types`` is by preference, and one type is taken.

    ``kinds`` are the kinds of file that may have them: CPU baselines are timed beside a GPU (``cuda``) or alone (``host``).
    ``only`` leaves out all other variants.
    """

    types: Sequence[str] = ("i32",)
    op: str = "plus"
    mode: str = "inclusive"
    all_of: Sequence[str] = ()
    any_of: Sequence[str] = ()
    only: Sequence[str] = ()
    kinds: Sequence[str] = ("cuda",)

    def find(self, results: Results, published: dict[str, Publication]) -> TimingEvidence | None:
        for origin in (MEASURED, RECORDED):
            for kind, device in _devices(results, origin, self.kinds):
                for type_name in self.types:
                    evidence = self._of(results, origin, kind, device, type_name)
                    if evidence and self._answered_by(evidence):
                        return evidence
        return None

    def absent(self) -> str:
        wanted = ", ".join(self.all_of)
        if self.any_of:
            wanted += (" and " if wanted else "") + " or ".join(self.any_of)
        of = f" of {wanted}" if wanted else ""
        on = "a CUDA device" if self.kinds == ("cuda",) else "any device"
        return f"no {' or '.join(self.types)} {self.op} {self.mode} timings{of} on {on}"

    def _of(self, results: Results, origin: str, kind: str, device: str, type_name: str) -> TimingEvidence | None:
        runs = [i for i, run in enumerate(results.runs) if (run.origin, run.kind, run.device) == (origin, kind, device)]
        rows = results.timings[results.timings["run"].isin(runs)]
        if self.only:
            rows = rows[rows["variant"].isin(self.only)]
        named = (rows["type"] == type_name) & (rows["op"] == self.op) & (rows["mode"] == self.mode)
        rows = _newest_only(rows[named | (rows["variant"] == FLOOR)], results.runs)
        if rows.empty:
            return None
        cases = statistics.summarise(rows, CASE)
        host = "; ".join(sorted({results.runs[i].host for i in set(rows["run"])}))
        return TimingEvidence(cases, device, host, _timing_provenance(rows, cases, results.runs, origin))

    def _answered_by(self, evidence: TimingEvidence) -> bool:
        present = set(evidence.variants())
        scans = present - {FLOOR}
        return bool(scans) and set(self.all_of) <= present and (not self.any_of or bool(present & set(self.any_of)))


@dataclass(frozen=True)
class Counts:
    """Executor counts of some variants (all when ``variants`` is empty)."""

    variants: Sequence[str] = ()
    op: str = "plus"
    optional: bool = False

    def find(self, results: Results, published: dict[str, Publication]) -> CountEvidence | None:
        for origin in (MEASURED, RECORDED):
            found = [e for e in results.explanations if e.origin == origin and self._wanted(e)]
            if found:
                return CountEvidence(found, _count_provenance(found, origin))
        if self.optional:
            return CountEvidence([], Provenance("executor counts", ""))
        return None

    def absent(self) -> str:
        of = f" of {' or '.join(self.variants)}" if self.variants else ""
        return f"no executor counts{of} (scanlab explain --json)"

    def _wanted(self, explanation: Explanation) -> bool:
        return explanation.op == self.op and (not self.variants or explanation.variant in self.variants)


@dataclass(frozen=True)
class Counters:
    """Hardware counters that have executor counts to stand beside."""

    def find(self, results: Results, published: dict[str, Publication]) -> CounterEvidence | None:
        for origin in (MEASURED, RECORDED):
            table = results.counters[results.counters["origin"] == origin]
            both = [e for e in results.explanations if not table.empty and bool(np.any(same_case(e, table)))]
            now = [e for e in both if e.origin == MEASURED]
            if both:
                counted = _count_provenance(now or both, MEASURED if now else RECORDED)
                return CounterEvidence(table, now or both, _counter_provenance(results, table, origin), counted)
        return None

    def absent(self) -> str:
        return "no hardware bank-conflict counters with executor counts of the same cases"


@dataclass(frozen=True)
class Published:
    """A table of the literature, by file stem."""

    name: str

    def find(self, results: Results, published: dict[str, Publication]) -> Publication | None:
        return published.get(self.name)

    def absent(self) -> str:
        return f"no published table {self.name}"


@dataclass(frozen=True)
class Skipped:
    """Cases that were not timed."""

    def find(self, results: Results, published: dict[str, Publication]) -> SkippedEvidence | None:
        if results.skipped.empty:
            return None
        origin = MEASURED if MEASURED in set(results.skipped["origin"]) else RECORDED
        rows = results.skipped[results.skipped["origin"] == origin].copy()
        runs = [results.runs[i] for i in sorted(set(rows["run"]))]
        return SkippedEvidence(rows, _run_provenance("timings", runs, origin))

    def absent(self) -> str:
        return "no case was skipped by the harness"


@dataclass(frozen=True)
class Gathered:
    """The evidence of one figure by the names of its needs, or the reasons why there is none."""

    found: dict[str, object] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()

    @property
    def provenances(self) -> list[Provenance]:
        """Each distinct provenance, in the order of the needs."""
        lines: dict[str, Provenance] = {}
        for item in self.found.values():
            for provenance in (getattr(item, "provenance", None), getattr(item, "counted", None)):
                if provenance is not None and provenance.origin:
                    lines.setdefault(provenance.line(), provenance)
        return list(lines.values())


def gather(needs: dict[str, Need], results: Results, published: dict[str, Publication]) -> Gathered:
    """Finds what a figure or table declares."""
    found = {name: need.find(results, published) for name, need in needs.items()}
    missing = tuple(needs[name].absent() for name, item in found.items() if item is None)
    return Gathered({} if missing else found, missing)


# ------------------------------------------------------------------------------------------------ choosing


def _devices(results: Results, origin: str, kinds: Sequence[str]) -> list[tuple[str, str]]:
    """Kinds and devices of an origin, the one measured last first."""
    latest: dict[tuple[str, str], str] = {}
    for run in results.runs:
        if run.origin == origin and run.kind in kinds:
            latest[run.kind, run.device] = max(latest.get((run.kind, run.device), ""), run.date)
    return sorted(latest, key=lambda device: latest[device], reverse=True)


def _newest_only(rows: pd.DataFrame, runs: Sequence[Run]) -> pd.DataFrame:
    """Keeps, of each case, the repetitions of the newest run that has it, so that commits are never pooled."""
    if rows.empty:
        return rows
    dated = rows.assign(_date=[(runs[i].date, i) for i in rows["run"]])
    newest = dated.groupby(CASE)["_date"].transform("max")
    return dated[[a == b for a, b in zip(dated["_date"], newest, strict=True)]].drop(columns="_date")


def _day(date: str) -> str:
    return date[:10]


def _timing_provenance(rows: pd.DataFrame, cases: pd.DataFrame, runs: Sequence[Run], origin: str) -> Provenance:
    used = [runs[i] for i in sorted(set(rows["run"]))]
    repetitions = (int(cases["count"].min()), int(cases["count"].max()))
    return _run_provenance("timings", used, origin, repetitions)


def _run_provenance(
    what: str, runs: Iterable[Run], origin: str, repetitions: tuple[int, int] | None = None
) -> Provenance:
    used = list(runs)
    return Provenance(
        what=what,
        origin=origin,
        device=", ".join(sorted({run.device for run in used})),
        dates=tuple(sorted({_day(run.date) for run in used if run.date})),
        commits=tuple(sorted({run.commit for run in used if run.commit})),
        dirty=any(run.dirty for run in used),
        repetitions=repetitions,
    )


def _count_provenance(explanations: Sequence[Explanation], origin: str) -> Provenance:
    return Provenance(
        what="executor counts",
        origin="counted now" if origin == MEASURED else origin,
        device="CPU executor",
        dates=tuple(sorted({_day(e.date) for e in explanations if e.date})),
        commits=tuple(sorted({e.commit for e in explanations if e.commit})),
        dirty=any(e.dirty for e in explanations),
    )


def _counter_provenance(results: Results, table: pd.DataFrame, origin: str) -> Provenance:
    """Counters lie beside the timings of the same session; that run's provenance is theirs."""
    folders = {str(file).rsplit("/", 1)[0] for file in table["file"]}
    beside = [run for run in results.runs if str(run.file.parent) in folders and run.kind == "cuda"]
    if not beside:
        beside = [run for run in results.runs if run.origin == origin and run.kind == "cuda"]
    return _run_provenance("hardware counters", beside[:1], origin)


def same_case(explanation: Explanation, table: pd.DataFrame) -> pd.Series:
    """Which counter rows are launches of the case that an explanation counted."""
    same = pd.Series(True, index=table.index)
    for column in ("variant", "padding", "type", "op", "items", *OPTIONAL_COUNTER_COLUMNS):
        if column in table.columns:
            same &= (table[column] == getattr(explanation, column)) | table[column].isna()
    return same
