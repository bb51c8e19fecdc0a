"""Typed results: runs with their provenance, explanations, tables with one observation per row, and complaints."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from scanlab_report.read import ncu, streams
from scanlab_report.schema import counts
from scanlab_report.schema.base import ELEMENT_BYTES
from scanlab_report.schema.results import Variant
from scanlab_report.read.variants import Variants

MEASURED = "measured now"
RECORDED = "recorded"
CASE = ["variant", "settings", "type", "op", "mode", "items", "cache", "launch"]
"""The columns that name a case; rows that agree in them are repetitions of one measurement."""
SCANS = "scans"
STREAM = "stream"
"""The default launch mode, also of runs on the host."""
ODD_SIZES = "odd_sizes"
"""The sweep that several processes repeat, one file each, and the kind of these files. Only its own figures, tables and claims read them."""
REPEATED = {SCANS: CASE, streams.SCHEDULES: ["entry", *streams.SCHEDULE, "bytes"], streams.STREAM_SCAN: streams.SCAN}
"""The kinds of file that hold repeated timings, and the columns that name a case in each."""
_TIMING_COLUMNS = ["run", *CASE, "round", "time_ns", "sm_clock_mhz", "converged"]
KERNEL_FIELDS = ("launches", "threads", "registers", "shared_bytes", "local_bytes", "workspace_bytes", "prepare_ns")
"""Fields of an entry that describe its kernels; equal in every repetition, except ``prepare_ns``."""
_KERNEL_COLUMNS = ["origin", "run", *CASE, *KERNEL_FIELDS, "choice"]
_SKIPPED_COLUMNS = ["origin", "run", *CASE, "reason", "failed"]
COUNTER_COLUMNS = [
    "variant", "padding", "type", "op", "items", "kernel", "launch_index",
    "shared_load_wavefronts", "shared_store_wavefronts", "shared_load_conflicts", "shared_store_conflicts",
]  # fmt: skip
OPTIONAL_COUNTER_COLUMNS = ["mode", "load"]
"""Optional columns of counter files, which must also agree with the emulator's case."""
TRAFFIC_COLUMNS = ["variant", "settings", "type", "op", "mode", "items", "kernel", "launch_index", *ncu.DRAM_METRICS.values()]
REPEAT_COLUMNS = ["variant", "type", "op", "mode", "cases", "varying", "runs"]
WAIT_COLUMNS = ["variant", "items", "type", "role", "cycles_total"]
WAIT_PREFIX = "cycles_waiting_"
"""Prefix of the columns that are parts of ``cycles_total``; the rest of the total is work."""
WAIT_RUN = ("device", "date", "git_commit", "git_dirty")
"""Columns of waits that identify the run, equal in each row."""


@dataclass(frozen=True)
class Complaint:
    """An error in the input: its file, its place in the file, and a message."""

    file: Path
    place: str
    message: str

    def __str__(self) -> str:
        where = f"{self.file}: {self.place}" if self.place else str(self.file)
        return f"{where}: {self.message}"


@dataclass(frozen=True)
class Run:
    """The provenance of one file of timings."""

    file: Path
    origin: str
    context: Mapping[str, Any]
    variants: Mapping[str, Variant] = field(default_factory=dict)
    """Descriptions of the variants from the context, by id."""

    @property
    def kind(self) -> str:
        """``cuda``, ``host``, ``tuning``, or :data:`ODD_SIZES`, which the command line names."""
        if re.search(rf"--sweep[ =]{ODD_SIZES}\b", str(self.context.get("argv", ""))):
            return ODD_SIZES
        return str(self.context.get("kind", "cuda"))

    @property
    def device(self) -> str:
        return str(self.context.get("device") or self.context.get("cpu") or "unnamed device")

    @property
    def host(self) -> str:
        """The processor that the CPU baselines ran on."""
        cores = self.context.get("cores") or self.context.get("num_cpus")
        return str(self.context.get("cpu", "unnamed CPU")) + (f", {cores} cores" if cores else "")

    @property
    def date(self) -> str:
        return str(self.context.get("date", ""))

    @property
    def commit(self) -> str:
        commit = str(self.context.get("git_commit", ""))
        return "" if commit == "unknown" else commit

    @property
    def dirty(self) -> bool:
        return self.context.get("git_dirty") == "true"


@dataclass(frozen=True)
class Explanation:
    """Counts of the SIMT emulator for one variant at one size."""

    file: Path
    origin: str
    content: counts.Explanation

    @property
    def variant(self) -> str:
        return self.content.variant

    @property
    def items(self) -> int:
        return self.content.items

    @property
    def type(self) -> str:
        return self.content.type

    @property
    def op(self) -> str:
        return self.content.op

    @property
    def mode(self) -> str:
        return self.content.mode

    @property
    def unpadded(self) -> str:
        """The variant without padding; the variant itself if it has none."""
        return self.content.unpadded or self.variant

    @property
    def padding(self) -> str:
        return self.content.parameters.get("padding", "none")

    @property
    def load(self) -> str:
        return self.content.parameters.get("load", "")

    @property
    def date(self) -> str:
        return self.content.date

    @property
    def commit(self) -> str:
        return "" if self.content.git_commit == "unknown" else self.content.git_commit

    @property
    def dirty(self) -> bool:
        return self.content.git_dirty

    @property
    def totals(self) -> counts.Totals:
        return self.content.totals

    @property
    def closed_forms(self) -> counts.ClosedForms:
        return self.content.closed_forms

    @property
    def launches(self) -> int:
        return len(self.content.launches)

    def tree_steps(self) -> Iterator[tuple[str, int, counts.Step]]:
        """The steps of the first launch that climb or descend the tree: sweep, stride and step."""
        for step in self.content.launches[0].steps:
            if step.name in ("up-sweep", "down-sweep"):
                yield step.name, step.number, step


@dataclass(frozen=True)
class StreamFile:
    """One file of the stream laboratory: its provenance, its kind (see :mod:`scanlab_report.read.streams`), its rows, and of a trace the host's calls."""

    run: Run
    kind: str
    rows: pd.DataFrame
    calls: pd.DataFrame = field(default_factory=pd.DataFrame)


@dataclass(frozen=True)
class SessionFile:
    """A ``session.json``: of which device and day a session is, whether it has all that a report needs, and its files."""

    file: Path
    device: str
    date: str
    complete: bool
    files: tuple[Path, ...]
    gpus: int = 1


@dataclass(frozen=True)
class Checks:
    """What came of the checks of one variant; ``wrong`` is what the first that failed was, and why, empty if none did."""

    passed: int
    failed: int
    skipped: int
    types: tuple[str, ...]
    wrong: str


@dataclass(frozen=True)
class Verification:
    """A verification that came to its end."""

    file: Path
    context: Mapping[str, Any]
    passed: int
    failed: int
    interrupted: bool
    of: Mapping[str, Checks] = field(default_factory=dict)
    """By variant."""


@dataclass
class Results:
    """Everything that was read, and everything that was wrong with it."""

    runs: list[Run] = field(default_factory=list)
    explanations: list[Explanation] = field(default_factory=list)
    problems: list[Complaint] = field(default_factory=list)
    timing_rows: list[tuple[Any, ...]] = field(default_factory=list)
    kernel_rows: dict[tuple[Any, ...], tuple[Any, ...]] = field(default_factory=dict)
    skipped_rows: list[dict[str, Any]] = field(default_factory=list)
    counter_tables: list[pd.DataFrame] = field(default_factory=list)
    traffic_tables: list[pd.DataFrame] = field(default_factory=list)
    wait_tables: list[pd.DataFrame] = field(default_factory=list)
    repeat_tables: list[pd.DataFrame] = field(default_factory=list)
    owners: dict[str, Run] = field(default_factory=dict)
    """The provenance of files with such tables, by file, where it is known."""
    streams: list[StreamFile] = field(default_factory=list)
    settings: dict[str, dict[str, str]] = field(default_factory=dict)
    """Settings that are not the defaults, by their name in the tables."""
    sessions: list[SessionFile] = field(default_factory=list)
    verifications: list[Verification] = field(default_factory=list)
    every: Results | None = None
    """The results of all sessions, where these are of a chosen one."""
    named: str = ""
    """The session that was asked for, if one was: it comes before others."""
    first: str = ""
    """The device that comes before others of the same origin: the one that the report is about."""
    found: dict[Any, Any] = field(default_factory=dict)
    """Evidence that was gathered before, by its need: many figures need the same."""

    @property
    def empty(self) -> bool:
        """Whether there was nothing to read."""
        tables = (self.counter_tables, self.traffic_tables, self.wait_tables, self.repeat_tables)
        return not (self.runs or self.explanations or self.streams or self.verifications or any(tables))

    @cached_property
    def variants(self) -> Variants:
        """What the runs of all sessions say of each variant; of several the newest."""
        runs = (self.every or self).runs
        found = Variants({id_: about for run in sorted(runs, key=lambda run: run.date) for id_, about in run.variants.items()})
        found.settings = (self.every or self).settings
        return found

    @cached_property
    def timings(self) -> pd.DataFrame:
        """One row a repetition: the case, ``round``, ``time_ns`` (nanoseconds a run), ``run`` (index into ``runs``), and
        ``sm_clock_mhz`` while it ran, NaN where it was not read, and ``converged``, NaN where the file does not say.
        """
        return pd.DataFrame(self.timing_rows, columns=_TIMING_COLUMNS)

    @cached_property
    def kernels(self) -> pd.DataFrame:
        """One row a case and run: what its kernels take, and ``choice``, what the scan says that it ran: a variant and its settings, or None."""
        rows = [(self.runs[key[0]].origin, *key, *values) for key, values in self.kernel_rows.items()]
        return pd.DataFrame(rows, columns=_KERNEL_COLUMNS)

    @cached_property
    def skipped(self) -> pd.DataFrame:
        """One row a case that was not timed, with the harness's reason, and whether it failed."""
        return pd.DataFrame(self.skipped_rows, columns=_SKIPPED_COLUMNS).drop_duplicates(ignore_index=True)

    @cached_property
    def counters(self) -> pd.DataFrame:
        """One row a kernel launch: shared-memory wavefronts and bank conflicts as the hardware counted them."""
        return _joined(self.counter_tables, COUNTER_COLUMNS)

    @cached_property
    def traffic(self) -> pd.DataFrame:
        """One row a kernel launch: bytes that passed between L2 and DRAM, as the hardware counted them."""
        return _joined(self.traffic_tables, TRAFFIC_COLUMNS)

    @cached_property
    def waits(self) -> pd.DataFrame:
        """One row a variant, size and role of a warp, and of several GPUs each: cycles in all, and cycles spent waiting for what."""
        return _joined(self.wait_tables, WAIT_COLUMNS)

    @cached_property
    def repeats(self) -> pd.DataFrame:
        """One row a variant, type, operator and mode that ran many times on the same input: whether its bits varied."""
        return _joined(self.repeat_tables, REPEAT_COLUMNS)

    @cached_property
    def devices(self) -> list[str]:
        """The GPUs that something was measured on, be it tables alone, in the order of :func:`ranked`."""
        return ranked([*self._on_gpus, *(run for run in self.owners.values() if run.context.get("device"))], self.first)

    @cached_property
    def _on_gpus(self) -> list[Run]:
        runs = [*self.runs, *(file.run for file in self.streams if file.kind != streams.SIMULATION)]
        return [run for run in runs if run.kind != "host"]

    def on(self, device: str, alike: bool = False) -> Results:
        """These results as if there were no other GPU. The emulator's counts and simulations stay, and what CPUs timed but in sessions of other GPUs.

        ``alike``: variants are in the order of all devices, so that each has one look on all of them.
        """
        if self.devices in ([], [device]):
            return self
        if ("on", device, alike) not in self.found:
            part = self.of_runs(lambda run: device in (self._gpus_beside(run) or [device]) if run.kind == "host" else run.device == device)
            part.named, part.every, part.settings = self.named, self.every and self.every.on(device, alike), self.settings
            part.streams = [file for file in self.streams if file.kind == streams.SIMULATION or file.run.device == device]
            for name in ("counters", "traffic", "waits", "repeats"):
                table = getattr(self, name)
                origins = dict(zip(table["file"], table["origin"], strict=True))
                files = [file for file, origin in origins.items() if (run := self.beside(file, origin)) and run.device == device]
                setattr(part, name, table[table["file"].isin(files)])
            part.devices = [device]
            if alike:
                own = part.variants
                part.variants = Variants({id_: own.get(id_, about) for id_, about in self.variants.items()})
                part.variants.settings = own.settings
            self.found["on", device, alike] = part
        return self.found["on", device, alike]

    def _gpus_beside(self, run: Run) -> set[str]:
        """The GPUs whose sessions have a file of a host, as a session.json lists it, else those of its folder; none: the host was measured alone."""
        listed = {of.device for of in (self.every or self).sessions if run.file.resolve() in of.files}
        return {of.device for of in self._on_gpus if (of.device in listed if listed else of.file.parent == run.file.parent)}

    def of_runs(self, stays: Callable[[Run], bool]) -> Results:
        """Timings of the runs that stay, which are numbered anew; counts, problems and owners of tables as they are, and nothing else."""
        numbers = {old: new for new, old in enumerate(place for place, run in enumerate(self.runs) if stays(run))}
        part = Results([self.runs[old] for old in numbers], self.explanations, self.problems, first=self.first)
        part.owners = self.owners
        for name in ("timings", "kernels", "skipped"):
            rows = getattr(self, name)
            rows = rows[rows["run"].isin(list(numbers))]
            setattr(part, name, rows.assign(run=rows["run"].map(numbers).astype(int)).reset_index(drop=True))
        return part

    def beside(self, file: str, origin: str) -> Run | None:
        """The run that a table belongs to: its own, if known; else the sweep in its folder, another run there, or the first of its origin.

        Of a folder with runs of several commits, it could be of any: then no more is known than the device.
        """
        if file in self.owners:
            return self.owners[file]
        runs = [run for run in self._on_gpus if run.origin == origin]
        in_folder = [run for run in runs if run.file.parent == Path(file).parent]
        sweep = [run for run in in_folder if run.file.name.startswith("scan.json")]
        found = next(iter([*sweep, *in_folder, *runs]), None)
        several = len({run.commit for run in in_folder}) > 1
        return Run(found.file, found.origin, {"kind": found.kind, "device": found.device}) if found and several else found


def of_ranks(waits: pd.DataFrame) -> pd.Series:
    """Which rows of :attr:`Results.waits` are of one of several GPUs."""
    return waits["rank"].notna() if "rank" in waits else pd.Series(False, index=waits.index)


def not_default(settings: Mapping[str, str], defaults: Mapping[str, str]) -> dict[str, str]:
    """The settings that are not the defaults."""
    return {key: value for key, value in sorted(settings.items()) if defaults.get(key) != value}


def settings_name(settings: Mapping[str, str]) -> str:
    """Settings as the tables name them, which is for people and to tell cases apart: ``Variants.settings`` has them by it."""
    return " ".join(f"{key}={value}" for key, value in settings.items())


def ranked(runs: Iterable[Run], first: str = "") -> list[str]:
    """The devices of some runs: GPUs before CPUs, measured now before recorded, the one that is to be ``first``, the last measured."""
    rank: dict[str, tuple[bool, bool, bool, str]] = {}
    for run in runs:
        of = (run.kind != "host", run.origin == MEASURED, run.device == first, run.date)
        rank[run.device] = max(rank.get(run.device, of), of)
    return sorted(rank, key=rank.__getitem__, reverse=True)


class Repeated(NamedTuple):
    """The repeated timings of one file, one row a repetition; a row's case is named by the columns that ``REPEATED`` has for the kind."""

    run: Run
    kind: str
    timings: pd.DataFrame


def repeated(results: Results) -> list[Repeated]:
    """Every file with repeated timings, without schedules that are wrong on purpose: they are not timed for their speed."""
    files = [Repeated(run, SCANS, results.timings[results.timings["run"] == place]) for place, run in enumerate(results.runs)]
    for of in results.streams:
        if of.kind in REPEATED:
            files.append(Repeated(of.run, of.kind, of.rows[of.rows["control"] == 0] if "control" in of.rows else of.rows))
    return [file for file in files if len(file.timings)]


def _joined(tables: list[pd.DataFrame], columns: Iterable[str]) -> pd.DataFrame:
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=[*columns, "origin", "file"])


def know_operator(op: str, type_name: str, items: int, moved: int) -> str:
    """Learns from the ``bytes`` of the first entry of an operator how many elements its items have; of later ones, says what is wrong if they differ. 0: not stated."""
    ideal = 2 * items * ELEMENT_BYTES[type_name]
    if not ideal or not moved:
        return ""
    elements, rest = divmod(moved, ideal)
    if rest:
        return f"is {moved}, no multiple of {ideal}"
    known = _elements_per_item.setdefault(op, elements)
    return "" if elements == known else f"is {moved}, and other entries of {op} have {known * ideal} for such items"


_elements_per_item: dict[str, int] = {}


def ideal_bytes(type_name: str, op: str, items: int) -> int:
    """Bytes that a scan must move at least: every item read once and written once.

    An item of some operators has several parts of the size of an element: the results say it, see :func:`know_operator`.
    """
    return 2 * items * ELEMENT_BYTES[type_name] * _elements_per_item.get(op, 1)
