"""What figures and tables of the stream laboratory need, and the bounds that schedules are set against."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from scanlab_report.read import streams
from scanlab_report.read.published import Publication
from scanlab_report.read.records import MEASURED, RECORDED, Results, Run, StreamFile, ranked
from scanlab_report.read.streams import SCAN, SCHEDULE
from scanlab_report.select.evidence import TableEvidence
from scanlab_report.select.files import of_first, places
from scanlab_report.select.provenance import Provenance, run_provenance
from scanlab_report.stats import intervals

PROBLEM = ["workload", "items", "work", "blocks"]
"""What schedules that are compared have in common."""
STREAMED, NAIVE, DUPLEX, FILES = "streamed", "naive", "duplex_copy", "files"
SERIAL = "serial_pinned"
SIDE_SAID = (
    "The schedules `null_stream_nonblocking`, `null_stream_trap` and `per_thread_default` add an equal side kernel per chunk"
)
"""In captions, which are the same whatever was timed."""
WORK_SAID = "Work: multiplications per item, or rounds of `feistel`."
MAIN_WORKLOAD = "scale"


@dataclass(frozen=True)
class Parts:
    """Seconds that the copies in, the kernels and the copies out take, all chunks together, each with its engine to itself.

    ``side``: kernels that run beside them on data of their own (``side_kernels`` of their cases), and so wait for no copy.
    """

    copy_in: float
    kernels: float
    copy_out: float
    side: float = 0.0

    def serial(self) -> float:
        """One after another."""
        return self.copy_in + self.kernels + self.copy_out + self.side

    def overlapped(self, chunks: int) -> float:
        """The engine with most to do, without a pause, behind the first chunk's way to it and before the last one's from it.

        This is max(H + (K + D)/n, K + (H + D)/n, D + (H + K)/n), the bound of Van Werkhoven et al. (2014) for two copy
        engines and n chunks: the largest of the three is the one whose first term is. All kernels, those on the side among
        them, are one engine's.
        """
        longest = max(self.copy_in, self.kernels, self.copy_out)
        return max(longest + (self.copy_in + self.kernels + self.copy_out - longest) / chunks, self.kernels + self.side)

    def pipeline(self, duplex: Parts, chunks: int) -> float:
        """The least time of n chunks where copies slow each other down as in ``duplex`` while both directions run, and only then.

        The longer both run, the sooner the bus is done with them and the later each is; the best is where the bus is done with
        the first of them. Kernels count as timed over the whole array.
        """
        share_in, share_out = (min(1.0, alone / both) for alone, both in ((self.copy_in, duplex.copy_in), (self.copy_out, duplex.copy_out)))
        fill_in, fill_out = ((self.kernels + other) / chunks for other in (self.copy_out, self.copy_in))
        gain = share_in + share_out - 1  # of the bus, a second in which both run
        both = max(0.0, min((self.copy_out - fill_in) / share_out, (self.copy_in - fill_out) / share_in)) if gain > 0 else 0.0
        return max(
            self.copy_in + (1 - share_in) * both + fill_in,
            self.copy_out + (1 - share_out) * both + fill_out,
            self.copy_in + self.copy_out - gain * both,
            self.kernels + (self.copy_in + self.copy_out) / chunks,
            self.kernels + self.side,
        )

    def ratio(self) -> float:
        """Compute to copy: the kernels, but those on the side, over the longer of the two copies."""
        return self.kernels / max(self.copy_in, self.copy_out)


def equal_thirds(chunks: Any) -> Any:
    """The speedup over serial that n chunks allow at most if copy in, kernel and copy out take a third each: 3n/(n + 2)."""
    return 3 * chunks / (chunks + 2)


@dataclass(frozen=True)
class ScheduleEvidence:
    """Schedules on one device: one row a case with its ``samples``, ``device_ns``, the median between events (NaN where that
    was not measured), ``place``, that of its schedule in the order of the context, and the parts measured in the same run.

    ``alone``: copies that have the bus to themselves; ``duplex``: while copies run the other way all the time; ``bound``: the
    seconds that both allow (:meth:`Parts.pipeline`). Each is None where the run did not measure it.
    """

    cases: pd.DataFrame
    provenance: Provenance

    def problems(self) -> pd.DataFrame:
        """One row a problem in which several schedules were timed: most cases first, then ``scale``, then most items."""
        of = self.cases.groupby(PROBLEM).agg(cases=("id", "size"), ids=("id", "nunique")).reset_index()
        of["main"] = of["workload"] == MAIN_WORKLOAD
        return of[of["ids"] > 1].sort_values(["main", "items", "cases"], ascending=False, ignore_index=True)

    def panels(self, over: str, most: int = 3) -> list[pd.DataFrame]:
        """The cases of the first problem in pinned memory over several numbers of chunks, or of streams, at one number of the
        other, the same in all: one frame an amount of work, the least first. ``most`` of them: the least, the most, and
        between them those whose kernels take most nearly as long as a copy.
        """
        problems = self.problems()
        if problems.empty:
            return []
        first = problems.iloc[0]
        rows = self.cases[self.cases["memory"] == "pinned"]
        for column in ("workload", "items", "blocks"):
            rows = rows[rows[column] == first[column]]
        fixed = {"chunks": "streams", "streams": "chunks"}[over]
        values = rows.groupby([fixed, "work"])[over].nunique().unstack(fill_value=0)
        if values.empty or values.max(axis=None) < 2:
            return []
        cases = rows.groupby(fixed).size()
        value = max(values.index, key=lambda value: ((values.loc[value] > 1).sum(), values.loc[value].sum(), cases[value], value))
        rows = rows[rows[fixed] == value]
        panels = {work: of for work, of in rows.groupby("work") if of[over].nunique() > 1}
        works = sorted(panels)
        if len(works) > most:
            between = sorted(works[1:-1], key=lambda work: from_even(panels[work]))[: most - 2]
            works = [works[0], *sorted(between), works[-1]]
        return [panels[work] for work in works]


def ratio(panel: pd.DataFrame) -> float:
    """Compute to copy of the cases of a panel; not a number where the parts were not measured."""
    ratios = [parts.ratio() for parts in panel["alone"] if parts is not None]
    return float(np.median(ratios)) if ratios else math.nan


def from_even(panel: pd.DataFrame) -> float:
    """How far a panel is from kernels that take as long as a copy: 0 there, infinite where that is not known."""
    return abs(math.log(even)) if (even := ratio(panel)) > 0 else math.inf


@dataclass(frozen=True)
class Schedules:
    """Schedules of one device. ``over``: there must be panels over that."""

    over: str = ""
    measured_by: ClassVar = ("schedules",)

    def find(self, results: Results, published: dict[str, Publication]) -> ScheduleEvidence | None:
        if Schedules not in results.found:
            results.found[Schedules] = _schedules(results)
        found = results.found[Schedules]
        if found is None or found.problems().empty:
            return None
        return found if not self.over or found.panels(self.over) else None

    def asked(self) -> str:
        return "timings of several schedules" + (f" over several {self.over}" if self.over else "")


@dataclass(frozen=True)
class ScanEvidence:
    """Scans larger than the device: one row a case with its ``samples`` and ``bytes`` each way.
    ``sessions`` has them of every folder apart, the newest first.
    """

    cases: pd.DataFrame
    provenance: Provenance
    sessions: Sequence[pd.DataFrame] = ()


@dataclass(frozen=True)
class StreamScans:
    """Scans larger than the device, on one device."""

    measured_by: ClassVar = ("from_memory", "from_files", "from_large_files")

    def find(self, results: Results, published: dict[str, Publication]) -> ScanEvidence | None:
        files = _files(results, streams.STREAM_SCAN)
        if not files:
            return None
        rows = _of_first(files, SCAN, "way")
        cases = intervals.summarise(rows, [*SCAN, "bytes"])
        folders: dict[Path, list[pd.DataFrame]] = {}
        for file in _files(results.every or results, streams.STREAM_SCAN):
            folders.setdefault(file.run.file.parent, []).append(file.rows)
        sessions = [intervals.summarise(pd.concat(of), [*SCAN, "bytes"]) for of in folders.values()]
        return ScanEvidence(cases, _provenance("stream-scan", files, rows, cases), sessions)

    def asked(self) -> str:
        return "scans larger than the device"


@dataclass(frozen=True)
class Trace:
    """One timeline: its operations, what it says of itself, and when the host was in each call, as far as it says that."""

    about: dict
    rows: pd.DataFrame
    calls: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def schedule(self) -> str:
        return str(self.about.get("schedule", "schedule unknown"))

    @property
    def one_queue(self) -> bool:
        """Whether there was one hardware queue: as the trace says, or by the channels of kernels in several streams."""
        if "connections" in self.about:
            return self.about["connections"] == 1
        kernels = self.rows[self.rows["kind"] == "kernels"]
        return kernels["stream"].nunique() > 1 and set(kernels["channel"]) != {-1} and kernels["channel"].nunique() == 1

    @property
    def title(self) -> str:
        return self.schedule + (", one hardware work queue" if self.one_queue else "")


@dataclass(frozen=True)
class TraceEvidence:
    """Timelines of one device, the newest of each schedule and kind of queue."""

    traces: list[Trace]
    provenance: Provenance


@dataclass(frozen=True)
class Traces:
    """Timelines of some schedules (all when empty), in this order."""

    schedules: Sequence[str] = ()
    measured_by: ClassVar = ("traces",)

    def find(self, results: Results, published: dict[str, Publication]) -> TraceEvidence | None:
        newest: dict[tuple[str, bool], StreamFile] = {}
        for file in _files(results, streams.TRACE):
            trace = Trace(dict(file.run.context), file.rows)
            if not self.schedules or trace.schedule in self.schedules:
                newest.setdefault((trace.schedule, trace.one_queue), file)
        if not newest:
            return None
        order = {schedule: place for place, schedule in enumerate(self.schedules)}
        chosen = sorted(newest, key=lambda key: (order.get(key[0], 0), key))
        used = [newest[key] for key in chosen]
        repeated = [len(collected) for file in used if (collected := file.run.context.get("traced_us"))]
        repetitions = (min(repeated), max(repeated)) if len(repeated) == len(used) else None
        provenance = run_provenance("traces", [file.run for file in used], used[0].run.origin, repetitions)
        return TraceEvidence([Trace(dict(file.run.context), file.rows, file.calls) for file in used], provenance)

    def asked(self) -> str:
        of = f" of {' or '.join(self.schedules)}" if self.schedules else ""
        return f"timelines{of}"


_ANSWERED = {
    streams.IMPLICIT_SYNC: ("implicit_sync", "experiments on implicit synchronisation"),
    streams.CONCURRENCY: ("concurrency", "experiments on concurrent kernels"),
    streams.STOPWATCH: ("nvbench", "times of nvbench"),
    streams.COMPARISON: ("model", "comparison of the engine model with a device"),
    streams.ADVICE: ("model", "advice of the engine model held against a sweep"),
}
"""By kind, the experiment that makes such a file, and what is in it."""
_COMPUTED = (streams.COMPARISON, streams.ADVICE)
"""What the engine model makes of runs that were measured before."""


@dataclass(frozen=True)
class Experiments:
    """The newest file of a kind that is a table of experiments."""

    kind: str

    @property
    def measured_by(self) -> tuple[str, ...]:
        return (_ANSWERED[self.kind][0],)

    def find(self, results: Results, published: dict[str, Publication]) -> TableEvidence | None:
        files = _files(results, self.kind)
        if not files or files[0].rows.empty:
            return None
        rows, run = files[0].rows, files[0].run
        counts = _repetitions(rows)
        repetitions = (int(counts.min()), int(counts.max())) if counts.notna().all() and len(counts) else None
        provenance = run_provenance(self.kind, [run], run.origin, repetitions)
        return TableEvidence(rows, _of_measurements(provenance, run) if self.kind in _COMPUTED else provenance)

    def asked(self) -> str:
        return _ANSWERED[self.kind][1]


def _repetitions(rows: pd.DataFrame) -> pd.Series:
    """How many repetitions are behind each measured time, as far as the rows say."""
    if "makespan_seconds" in rows:
        return rows["makespan_seconds"].map(len)
    if "advised" in rows:
        return pd.concat([rows[which].map(lambda choice: choice.get("repetitions")) for which in ("advised", "fastest")])
    return rows["repetitions"] if "repetitions" in rows else pd.Series(dtype=float)


def _of_measurements(provenance: Provenance, run: Run) -> Provenance:
    """That of the runs that a model is held against, which the file names, with the model's commit behind."""
    commit = str(run.context.get("measured_commit", ""))
    return replace(provenance, origin="computed now" if run.origin == MEASURED else run.origin, commits=(commit,) if commit else (),
                   dirty=str(run.context.get("measured_dirty")) == "true", computed_by=f"simulated by {provenance.commit}")  # fmt: skip


# ------------------------------------------------------------------------------------------------ choosing


def _files(results: Results, kind: str) -> list[StreamFile]:
    """The files of a kind, the newest first: what was measured now, else what is recorded, of one device."""
    for origin in (MEASURED, RECORDED):
        files = [file for file in results.streams if (file.kind, file.run.origin) == (kind, origin)]
        if files:
            device = ranked([file.run for file in files], results.first)[0]
            return sorted((file for file in files if file.run.device == device), key=lambda file: file.run.date, reverse=True)
    return []


def _of_first(of_kind: Sequence[StreamFile], case: Sequence[str], variant: str) -> pd.DataFrame:
    """The repetitions of each case in the file that answers first; ``file`` is its number, and ``variant`` the column that files are counted by."""
    rows = pd.concat([of.rows.assign(file=number) for number, of in enumerate(of_kind)], ignore_index=True)
    place = places(rows.groupby("file")[variant].nunique().to_dict(), {number: of.run.date for number, of in enumerate(of_kind)})
    return of_first(rows, case, "file", place)


def _provenance(what: str, files: Sequence[StreamFile], rows: pd.DataFrame, cases: pd.DataFrame) -> Provenance:
    used = [files[place].run for place in sorted(set(rows["file"]))]
    return run_provenance(what, used, used[0].origin, (int(cases["count"].min()), int(cases["count"].max())))


def _schedules(results: Results) -> ScheduleEvidence | None:
    files = [file for file in _files(results, streams.SCHEDULES) if (file.rows["entry"] == "schedule").any()]
    if not files:
        return None
    rows = _of_first(files, [*SCHEDULE, "entry"], "id")
    rows = rows[(rows["entry"] == "schedule") & (rows["control"] == 0)]
    if rows.empty:
        return None
    case = ["file", *SCHEDULE, "inputs", "bytes", "side_kernels", "own_streams"]
    cases = intervals.summarise(rows, case)
    cases = cases.merge(rows.groupby(case)["device_ns"].median().reset_index(), how="left")
    order = list(dict.fromkeys([*(id_ for file in files for id_, about in file.run.context.get("schedules", {}).items() if not about["control"]), *sorted(set(cases["id"]))]))
    cases["place"] = cases["id"].map(order.index)
    measured = {place: _alone(files[place].rows) for place in set(cases["file"])}
    for column, directions in (("alone", ("h2d", "d2h")), ("duplex", ("duplex_h2d", "duplex_d2h"))):
        cases[column] = pd.Series([_parts(measured[case.file], case, directions) for case in cases.itertuples()], dtype=object)
    cases["bound"] = pd.Series([case.alone.pipeline(case.duplex, case.chunks) if case.alone and case.duplex else None
                                for case in cases.itertuples()], dtype=object)  # fmt: skip
    return ScheduleEvidence(cases, _provenance("schedules", files, rows, cases))


class _Alone(NamedTuple):
    """Median nanoseconds of copies, by direction and memory and then by bytes; and of kernels, by workload, work, blocks and items."""

    copies: dict[tuple[str, str], pd.Series]
    kernels: dict[tuple[str, int, int, int], float]


def _alone(rows: pd.DataFrame) -> _Alone:
    medians = rows[rows["entry"] == "copy"].groupby(["id", "memory", "bytes"])["time_ns"].median()
    kernels = rows[rows["entry"] == "kernel"].groupby(["id", "work", "blocks", "items"])["time_ns"].median()
    return _Alone({key: of.droplevel([0, 1]) for key, of in medians.groupby(level=[0, 1])}, kernels.to_dict())


def _parts(alone: _Alone, case, directions: tuple[str, str]) -> Parts | None:
    """The parts of a case from the copies and the kernel of its file: the copy nearest in size to one array, and the kernel
    over the whole array, or else over one chunk, as many times as there are chunks.
    """
    array = case.bytes / (case.inputs + 1)
    rates = []
    for direction in directions:
        if (times := alone.copies.get((direction, case.memory))) is None:
            return None
        nearest = np.argmin(np.abs(np.log(times.index.to_numpy(dtype=float) / array)))
        rates.append(float(times.index[nearest]) / times.iloc[nearest] * 1e9)
    for items in (case.items, -(-case.items // case.chunks)):
        if (time := alone.kernels.get((case.workload, case.work, case.blocks, items))) is not None:
            seconds = float(time) * 1e-9 * case.items / items
            return Parts(case.inputs * array / rates[0], seconds, array / rates[1], seconds if case.side_kernels else 0.0)
    return None


PIPELINE = "pipeline estimate"
