"""What a figure or table can ask for, and how it is found.

A figure declares needs; a need looks first among what was measured now, then in the recorded session that was chosen
(:mod:`scanlab_report.select.sessions`), and takes one device. What it finds carries its provenance, which the driver prints
below the figure and into the caption. Where several devices were measured, :func:`by_device` finds the needs of a figure on each.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import pandas as pd

from scanlab_report.read.published import Publication
from scanlab_report.read.records import CASE, MEASURED, OPTIONAL_COUNTER_COLUMNS, RECORDED, STREAM, Explanation, Results, Run, ranked
from scanlab_report.read.variants import Wanted
from scanlab_report.select.evidence import (
    I32_SUM,
    AllTimingEvidence,
    CounterEvidence,
    CountEvidence,
    HostEvidence,
    Key,
    Scanned,
    SessionTimingEvidence,
    TableEvidence,
    TimingEvidence,
    TrafficEvidence,
)
from scanlab_report.select.provenance import Provenance, count_provenance, counter_provenance, run_provenance, timing_provenance
from scanlab_report.select.variants import BEST, CUBS, FLOOR, HOST, OWN, PYTHON, SCANS
from scanlab_report.stats import intervals


class Need(Protocol):
    """What a figure needs: finds it, or says in a clause, which begins with `no`, what is missing.

    ``measured_by`` names the experiments that answer it (:mod:`scanlab_report.select.experiments`); none where a figure goes without.
    """

    @property
    def measured_by(self) -> tuple[str, ...]: ...

    def find(self, results: Results, published: dict[str, Publication]) -> object | None: ...

    def absent(self) -> str: ...


class Selection(NamedTuple):
    """What a user asks a figure for: variants, a type and an operator; what is empty is left to the figure."""

    variants: tuple[str, ...] = ()
    type: str = ""
    op: str = ""


ANY_TYPE = ("i32", "f32", "i64", "f64", "i16", "f16", "i8")
"""For what can be shown of each type, and is of 32-bit integers where they were timed."""
ANY_4_BYTES = ("i32", "f32")


@dataclass(frozen=True)
class Timings:
    """Timings on one device; ``types`` is by preference, and one type is taken: the first of which a scan was timed on the GPU, if any was.

    ``kinds`` are the kinds of file that may have them: CPU baselines are timed beside a GPU (``cuda``) or alone (``host``); for
    those of every machine see :class:`Hosts`.
    ``only`` leaves out all other variants; ``python`` admits the libraries of Python, which are timed in a run of their
    own. ``launches`` are the ways of launching that are wanted. Of a case that several files have, one is taken
    (:func:`_of_one_file`).
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
    """What a figure refers to, whichever variants are asked for."""
    named: Sequence[str] = ()
    cache: str = ""
    """The one that a figure shows, if it shows one alone: what is asked for by name must have been timed so."""

    def chosen(self, selection: Selection) -> Timings:
        """The same of what a user asked for."""
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
        """What each device answers, in the order of devices; one may come twice, as measured now and as recorded."""
        for origin, device, rows in _by_device(results, results.timings, self.kinds):
            of_types = (self.of_type(results, rows, origin, device, type_name) for type_name in self.types)
            answers = (evidence for evidence in of_types if evidence and self.answered_by(evidence))
            if first := next(answers, None):
                with_scans = (of for of in itertools.chain([first], answers) if any(SCANS.has(of.about[variant]) for variant in of.variants()))
                yield next(with_scans, first)

    def absent(self) -> str:
        wanted = ", ".join(self.all_of)
        if self.any_of:
            wanted += (" and " if wanted else "") + " or ".join(map(str, self.any_of))
        of = f" of {wanted}" if wanted else ""
        on = "a CUDA device" if self.kinds == ("cuda",) else "any device"
        return f"no {'' if set(self.types) == set(ANY_TYPE) else ' or '.join(self.types) + ' '}{self.op} {self.mode} timings{of} on {on}"

    def of_type(self, results: Results, rows: pd.DataFrame, origin: str, device: str, type_name: str) -> TimingEvidence | None:
        """What is wanted, of one type among the rows of one device; None if there is nothing of it."""
        if self.only:
            rows = rows[rows["variant"].isin(results.variants.ids(*self.only))]
        if not self.python:
            rows = rows[~rows["variant"].isin(results.variants.ids(PYTHON))]
        named = (rows["type"] == type_name) & (rows["op"] == self.op) & (rows["mode"] == self.mode)
        rows = rows[(named | (rows["variant"] == FLOOR)) & rows["launch"].isin(self.launches)]
        if self.named and self.cache:
            rows = rows[rows["cache"] == self.cache]
        rows = rows.assign(items=rows["items"].where(rows["variant"] != FLOOR, 0))  # an empty launch has no size
        rows = _of_one_file(rows, results.runs, self.all_of)
        if rows.empty:
            return None
        cases = intervals.summarise(rows, CASE)
        host = "; ".join(sorted({results.runs[i].host for i in set(rows["run"])}))
        return TimingEvidence(cases, device, host, timing_provenance(rows, cases, results.runs, origin), results.variants,
                              Scanned(type_name, self.op), self.named)  # fmt: skip

    def answered_by(self, evidence: TimingEvidence) -> bool:
        """Whether all is there that must be."""
        present = set(evidence.variants())
        scans = present - {FLOOR}
        return bool(scans) and set(self.all_of) <= present and (not self.any_of or bool(present & set(evidence.about.ids(*self.any_of))))


@dataclass(frozen=True)
class Hosts:
    """The CPU baselines of every machine that was measured alone, without a GPU; with ``beside``, those timed beside a GPU too.

    Where there are none, a figure goes without them; one that asks for those beside a GPU is about them.
    """

    beside: bool = False
    timings: Timings = Timings(any_of=(HOST,), only=(HOST,))

    def like(self, shown: TimingEvidence) -> Hosts:
        """Those of what a figure shows of a GPU."""
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

    def absent(self) -> str:
        return f"no timings of {HOST}"


@dataclass(frozen=True)
class EachSession:
    """What :class:`Timings` asks for, of every session that has all of it, whatever its code: for what differs by the session, as the host does."""

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

    def absent(self) -> str:
        return self.timings.absent()


@dataclass(frozen=True)
class AllTimings:
    """Every case of one device in the runs that timed ``best``, or another variant.

    ``against``: there must be a case in which one of these was timed beside ``best``. ``python`` admits the libraries of
    Python, which are timed in a run of their own.
    """

    against: Sequence[Wanted] = ()
    python: bool = False
    of: str = BEST
    types: Sequence[str] = ()
    """Empty: all."""

    def chosen(self, selection: Selection) -> AllTimings:
        """The same of one variant that a user asked for."""
        return replace(self, of=selection.variants[0] if selection.variants else self.of, types=(selection.type,) if selection.type else self.types)

    @property
    def measured_by(self) -> tuple[str, ...]:
        return ("duel_i8", "duel_i16", "duel_i32", "duel_wide", "duel_operators", *(["python"] if self.python else []))

    def find(self, results: Results, published: dict[str, Publication]) -> AllTimingEvidence | None:
        wanted = AllTimings(python=self.python, of=self.of, types=self.types)
        if wanted not in results.found:
            results.found[wanted] = self._find(results)
        found = results.found[wanted]
        if found and self.against and not any(found.match(key, self.of, self.against) for key in found.samples):
            return None
        return found

    def _find(self, results: Results) -> AllTimingEvidence | None:
        for origin, device, rows in _by_device(results, results.timings):
            rows = rows[(rows["settings"] == "") & (rows["type"].isin(self.types) | (not self.types))]
            wanted = set(rows.loc[rows["variant"] == self.of, "run"])
            if wanted:
                if self.python:
                    wanted |= set(rows.loc[rows["variant"].isin(results.variants.ids(PYTHON)), "run"])
                return self._of(results, rows[rows["run"].isin(wanted)], device, origin)
        return None

    def absent(self) -> str:
        beside = f" beside {' or '.join(map(str, self.against))}" if self.against else ""
        return f"no timings of {self.of}{beside} on a CUDA device"

    def _of(self, results: Results, rows: pd.DataFrame, device: str, origin: str) -> AllTimingEvidence:
        newest_first = {run: -place for place, run in enumerate(_by_date(set(rows["run"]), results.runs))}
        samples: dict[Key, dict[int, dict[str, np.ndarray]]] = {}
        for (run, variant, *key), times in rows.groupby(["run", "variant", *Key._fields], sort=False)["time_ns"]:
            samples.setdefault(Key(*key), {}).setdefault(run, {})[variant] = times.to_numpy(dtype=float)
        samples = {key: _not_superseded(dict(sorted(of.items(), key=lambda item: newest_first[item[0]]))) for key, of in samples.items()}
        chosen = results.kernels[(results.kernels["variant"] == BEST) & (results.kernels["settings"] == "")]
        choices = {(row.run, Key(*(getattr(row, f) for f in Key._fields))): row.choice for row in chosen.itertuples()}
        counts = [len(times) for of in samples.values() for by in of.values() for times in by.values()]
        used = {run: results.runs[run] for run in sorted({run for of in samples.values() for run in of})}
        provenance = run_provenance("timings", used.values(), origin, (min(counts), max(counts)))
        return AllTimingEvidence(samples, choices, {run: of.commit for run, of in used.items()}, device, provenance, results.variants, self.of)


@dataclass(frozen=True)
class Kernels:
    """What the kernels of our scans take, and with ``vendor`` those of CUB's too, on one device."""

    vendor: bool = False
    measured_by: ClassVar = ("scans",)

    def find(self, results: Results, published: dict[str, Publication]) -> TableEvidence | None:
        for origin, _, rows in _by_device(results, results.kernels):
            wanted = results.variants.ids(OWN, *([CUBS] if self.vendor else []))
            rows = _of_one_file(rows[rows["registers"].notna() & rows["variant"].isin(wanted)], results.runs)
            if not rows.empty:
                used = [results.runs[i] for i in sorted(set(rows["run"]))]
                return TableEvidence(rows, run_provenance("timings", used, origin), results.variants)
        return None

    def absent(self) -> str:
        return "no registers of kernels beside timings on a CUDA device"


@dataclass(frozen=True)
class Shapes:
    """Every shape of a rival's scan that was timed to choose among them, beside the rival as shipped and a copy: cases of sums on one device."""

    measured_by: ClassVar = ("cub_shapes",)

    def find(self, results: Results, published: dict[str, Publication]) -> TableEvidence | None:
        for origin, _, rows in _by_device(results, results.timings, ("tuning",)):
            rows = _of_one_file(rows[rows["op"] == "plus"], results.runs)
            if not rows.empty:
                cases = intervals.summarise(rows, CASE)
                return TableEvidence(cases, timing_provenance(rows, cases, results.runs, origin), results.variants)
        return None

    def absent(self) -> str:
        return "no times of the shapes that a rival was tuned among on a CUDA device"


@dataclass(frozen=True)
class Traffic:
    """DRAM bytes of scans, by the hardware's counters."""

    measured_by: ClassVar = ("traffic",)

    def find(self, results: Results, published: dict[str, Publication]) -> TrafficEvidence | None:
        by = ["variant", "settings", "type", "op", "mode", "items"]
        table, provenance = _newest_table(results, results.traffic, by)
        if table.empty:
            return None
        summed = table.groupby(by, sort=True)[["dram_bytes_read", "dram_bytes_written"]].sum().reset_index()
        caches = [int(run.context.get("l2_bytes", 0)) for run in results.runs if run.device == provenance.device]
        return TrafficEvidence(summed, max(caches, default=0), provenance, results.variants)

    def absent(self) -> str:
        return "no DRAM bytes from hardware counters"


@dataclass(frozen=True)
class Waits:
    """Cycles spent waiting within a kernel."""

    measured_by: ClassVar = ("cycles",)

    def find(self, results: Results, published: dict[str, Publication]) -> TableEvidence | None:
        by = [column for column in ("variant", "tile", "items", "type", "role") if column in results.waits]
        table, provenance = _newest_table(results, results.waits, by)
        return None if table.empty else TableEvidence(table, provenance)

    def absent(self) -> str:
        return "no cycles spent waiting"


@dataclass(frozen=True)
class Repeats:
    """Whether bits vary from run to run."""

    measured_by: ClassVar = ("repeat",)

    def find(self, results: Results, published: dict[str, Publication]) -> TableEvidence | None:
        table, provenance = _newest_table(results, results.repeats, ["variant", "type", "op", "mode"])
        return None if table.empty else TableEvidence(table, provenance, results.variants)

    def absent(self) -> str:
        return "no repeated runs of verify"


@dataclass(frozen=True)
class Counts:
    """Executor counts of some variants (all when ``variants`` is empty)."""

    variants: Sequence[str] = ()
    op: str = "plus"
    optional: bool = False

    @property
    def measured_by(self) -> tuple[str, ...]:
        return () if self.optional else ("explain",)

    def find(self, results: Results, published: dict[str, Publication]) -> CountEvidence | None:
        for origin in (MEASURED, RECORDED):
            found = [e for e in results.explanations if e.origin == origin and self._wanted(e)]
            if found:
                return CountEvidence(found, count_provenance(found, origin))
        if self.optional:
            return CountEvidence([], Provenance("emulator counts", ""))
        return None

    def absent(self) -> str:
        of = f" of {' or '.join(self.variants)}" if self.variants else ""
        return f"no counts of the SIMT emulator{of}"

    def _wanted(self, explanation: Explanation) -> bool:
        return explanation.op == self.op and (not self.variants or explanation.variant in self.variants)


@dataclass(frozen=True)
class Counters:
    """Hardware counters that have executor counts to stand beside."""

    measured_by: ClassVar = ("counters", "explain")

    def find(self, results: Results, published: dict[str, Publication]) -> CounterEvidence | None:
        if self not in results.found:
            results.found[self] = self._find(results)
        return results.found[self]

    def _find(self, results: Results) -> CounterEvidence | None:
        for origin in (MEASURED, RECORDED):
            table = results.counters[results.counters["origin"] == origin]
            table = _newest_file(table, ["variant", "padding", "type", "op", "items", *OPTIONAL_COUNTER_COLUMNS])
            counted_of = set(zip(table["variant"], table["items"], strict=True))
            both = [e for e in results.explanations if (e.variant, e.items) in counted_of and bool(np.any(same_case(e, table)))]
            now = [e for e in both if e.origin == MEASURED]
            if both:
                counted = count_provenance(now or both, MEASURED if now else RECORDED)
                return CounterEvidence(table, now or both, counter_provenance(results, table, origin), counted)
        return None

    def absent(self) -> str:
        return "no hardware bank-conflict counters with counts of the SIMT emulator for the same cases"


@dataclass(frozen=True)
class Published:
    """A table of the literature, by file stem."""

    name: str
    measured_by: ClassVar[tuple[str, ...]] = ()

    def find(self, results: Results, published: dict[str, Publication]) -> Publication | None:
        return published.get(self.name)

    def absent(self) -> str:
        return f"no published table {self.name}"


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

    def absent(self) -> str:
        return "no cases skipped by the harness"


@dataclass(frozen=True)
class Gathered:
    """The evidence of one figure by the names of its needs, or the reasons why there is none."""

    found: dict[str, object] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()

    @property
    def scanned(self) -> Scanned:
        """What is scanned in the timings."""
        return next((of.scanned for of in self.found.values() if isinstance(of, TimingEvidence)), I32_SUM)

    @property
    def named(self) -> bool:
        """Whether variants were asked for by name."""
        return any(of.named for of in self.found.values() if isinstance(of, TimingEvidence | SessionTimingEvidence))

    def has(self, variant: str) -> bool:
        """Whether there are timings of a variant."""
        return any(variant in of.variants() for of in self.found.values() if isinstance(of, TimingEvidence | SessionTimingEvidence | AllTimingEvidence))

    @property
    def variant(self) -> str:
        """The one that is held against others."""
        return next((of.variant for of in self.found.values() if isinstance(of, AllTimingEvidence)), BEST)

    @property
    def unusual(self) -> list[str]:
        """What a reader would not expect: another variant than best, another type than i32, another operator than plus."""
        return [said for said, usual in zip((self.variant, *self.scanned), (BEST, *I32_SUM), strict=True) if said != usual]

    @property
    def provenances(self) -> list[Provenance]:
        """Each distinct provenance, in the order of the needs."""
        lines: dict[str, Provenance] = {}
        for item in itertools.chain.from_iterable(getattr(found, "machines", [found]) for found in self.found.values()):
            for provenance in (getattr(item, "provenance", None), getattr(item, "counted", None)):
                if provenance is not None and provenance.origin:
                    lines.setdefault(provenance.line(), provenance)
        return list(lines.values())


def told(text: str, shown: Iterable[Gathered]) -> str:
    """A caption with what stands in it for the items, the scan and the variant; of ``{this|that}``, that where variants were asked for by name."""
    of = list(shown)
    text = re.sub(r"\{([^{}|]*)\|([^{}|]*)\}", r"\2" if any(one.named for one in of) else r"\1", text)
    for field_, said in (("{items}", [one.scanned.items for one in of]), ("{scan}", [one.scanned.scan for one in of]), ("{variant}", [one.variant for one in of])):
        text = text.replace(field_, " or ".join(dict.fromkeys(said)))
    return text


def gather(needs: Mapping[str, Need], results: Results, published: dict[str, Publication]) -> Gathered:
    """Finds what a table declares, all of it on the first device that answers it; if none does, what the first one lacks."""
    answers = (_gather(needs, results.on(device), published) for device in results.devices or [""])
    first = next(answers)
    return next((answer for answer in itertools.chain([first], answers) if not answer.reasons), first)


def by_device(needs: Mapping[str, Need], results: Results, published: dict[str, Publication]) -> dict[str, Gathered]:
    """What a figure declares, on each device that answers it; once, under no name, if all have the same or none has it."""
    answers = {device: _gather(needs, results.on(device), published) for device in results.devices}
    answers = {device: answer for device, answer in answers.items() if not answer.reasons}
    if len({tuple(p.line() for p in answer.provenances) for answer in answers.values()}) > 1:
        return answers
    return {"": gather(needs, results, published)}


def _gather(needs: Mapping[str, Need], results: Results, published: dict[str, Publication]) -> Gathered:
    found: dict[str, Any] = {}
    for name, need in needs.items():
        shown = next((of for of in found.values() if isinstance(of, TimingEvidence)), None)
        found[name] = (need.like(shown) if shown and isinstance(need, Hosts) else need).find(results, published)
    missing = tuple(needs[name].absent() for name, item in found.items() if item is None)
    return Gathered({} if missing else found, missing)


def chosen(needs: Mapping[str, Need], selection: Selection) -> dict[str, Need]:
    """The same of what a user asked for; what is of no scans in particular stays."""
    return {name: need.chosen(selection) if isinstance(need, Timings | EachSession | AllTimings) else need for name, need in needs.items()}


def of_any_type(needs: Mapping[str, Need], types: Sequence[str] = ANY_TYPE) -> dict[str, Need]:
    """The same, where timings of their types are missing of another: for what can be shown of each."""

    def wider(need: Timings) -> Timings:
        return replace(need, types=tuple(dict.fromkeys((*need.types, *types))))

    return {name: wider(need) if isinstance(need, Timings) else replace(need, timings=wider(need.timings)) if isinstance(need, EachSession) else need
            for name, need in needs.items()}  # fmt: skip


def _by_device(results: Results, table: pd.DataFrame, kinds: Sequence[str] = ("cuda",)) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Origin, device and its rows: measured before recorded, then as :func:`scanlab_report.read.records.ranked` has the devices."""
    for origin in (MEASURED, RECORDED):
        of = {i: run for i, run in enumerate(results.runs) if run.origin == origin and run.kind in kinds}
        for device in ranked(of.values(), results.first):
            yield origin, device, table[table["run"].isin([i for i, run in of.items() if run.device == device])]


def _by_date(runs: Iterable[int], known: Sequence[Run]) -> list[int]:
    """Runs by index, the oldest first."""
    return sorted(runs, key=lambda i: (known[i].date, i))


def _not_superseded(runs: dict[int, dict[str, np.ndarray]]) -> dict[int, dict[str, np.ndarray]]:
    """Of the runs of a case, the newest first, those that have a variant which no newer one has beside all their others."""
    kept: dict[int, dict[str, np.ndarray]] = {}
    for run, of in runs.items():
        if not any(of.keys() <= newer.keys() for newer in kept.values()):
            kept[run] = of
    return kept


def _of_one_file(rows: pd.DataFrame, runs: Sequence[Run], beside: Sequence[str] = ()) -> pd.DataFrame:
    """Keeps, of each case, the repetitions of one file, so that none are pooled.

    What is compared is from one file if it can be: one that also timed all of ``beside`` comes before any that did not, then the
    one that timed the most variants, then the newest.
    """
    if rows.empty:
        return rows
    present = {run: set(variants) for run, variants in rows.groupby("run")["variant"].unique().items()}
    ranked = sorted(_by_date(present, runs), key=lambda i: (set(beside) <= present[i], len(present[i])))
    rank = rows["run"].map({run: place for place, run in enumerate(ranked)})
    return rows[rank == rank.groupby([rows[column] for column in CASE]).transform("max")]


def _newest_file(table: pd.DataFrame, case: Sequence[str]) -> pd.DataFrame:
    """Keeps, of each case, the rows of the last file that has it: folders of runs are named by their day."""
    present = [column for column in case if column in table]
    if table.empty:
        return table
    newest = table.groupby(present, dropna=False)["file"].transform("max")
    return table[table["file"] == newest]


def _newest_table(results: Results, table: pd.DataFrame, case: Sequence[str]) -> tuple[pd.DataFrame, Provenance]:
    """What was measured now, else what is recorded, of each case from the newest file."""
    for origin in (MEASURED, RECORDED):
        rows = _newest_file(table[table["origin"] == origin], case)
        if not rows.empty:
            return rows, counter_provenance(results, rows, origin)
    return table, Provenance("", "")


def same_case(explanation: Explanation, table: pd.DataFrame) -> pd.Series:
    """Which counter rows are launches of the case that an explanation counted."""
    same = pd.Series(True, index=table.index)
    for column in ("variant", "padding", "type", "op", "items", *OPTIONAL_COUNTER_COLUMNS):
        if column in table.columns:
            same &= (table[column] == getattr(explanation, column)) | table[column].isna()
    return same
