"""Reading and checking what the harness wrote.

Each kind of file is read by its own function and nowhere else, through the structs of :mod:`scanlab_report.schema`:

* timings: Google Benchmark JSON, whose entries say of what kind they are;
* the stream laboratory: traces, implicit_sync, concurrency, comparisons, advice (:mod:`scanlab_report.read.streams`);
* emulator counts: JSON of schema ``scanlab-explain/2``;
* hardware counters: tidy CSV, one row a kernel launch, or ncu's own with a ``.ranges.json`` beside it;
* waits within a kernel: CSV, one row a variant, size and role;
* verification, and bits of repeated runs: JSON lines (:mod:`scanlab_report.read.verifications`).

Whatever is wrong with a file or an entry becomes a :class:`Complaint` that names the place; reading goes on.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd
from msgspec import Struct

from scanlab_report.read import corrections, history, ncu, samples, stopwatch, streams, twice, verifications, versions
from scanlab_report.schema import counts, kept, timelines
from scanlab_report.schema import results as documents
from scanlab_report.schema import stopwatch as stopwatch_documents
from scanlab_report.schema.base import Count, Name
from scanlab_report.schema.fields import REMEDY, Misfit, convert, convert_each, listed, shown
from scanlab_report.read.json_files import load_json
from scanlab_report.read.records import (
    MEASURED,
    OPTIONAL_COUNTER_COLUMNS,
    RECORDED,
    STREAM,
    WAIT_PREFIX,
    WAIT_RUN,
    Complaint,
    Explanation,
    Results,
    Run,
    SessionFile,
    StreamFile,
    know_operator,
    not_default,
    settings_name,
)
from scanlab_report.read.tables import _COUNTERS, _TRAFFIC, _WAITS, read_table

MODEL = "model"
"""The folder of a session with what the engine model is held against: traces and a sweep that the program reads, and no figure shows."""
_JSON, _LINES = (".json", ".json.gz"), (".jsonl", ".jsonl.gz")


def read(measured: Iterable[Path], recorded: Iterable[Path], first: str = "") -> Results:
    """Reads every results file below the given folders (a path may also be one file); once, though it is below several of them."""
    results = Results(first=first)
    gc.disable()  # millions of values are made here, and none of them is garbage that the collector would find
    try:
        for origin, paths in ((MEASURED, measured), (RECORDED, recorded)):
            files: dict[Path, Path] = {}
            for file in (file for path in paths for file in _files_below(path)):
                files.setdefault(file.resolve(), file)
            for file in files.values():
                _read_file(file, origin, results)
    finally:
        gc.enable()
    results.problems += twice.counted(results, MEASURED)
    return results


def _files_below(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return sorted(p for p in path.rglob("*") if (reader_by_name(p) or p.name.endswith(_JSON)) and p.is_file() and MODEL not in p.relative_to(path).parts)


def _read_file(file: Path, origin: str, results: Results) -> None:
    if reader := reader_by_name(file):
        return reader(file, origin, results)
    if file.suffix in (".csv", ".txt"):
        return None
    loaded = load_json(file, results.problems)
    of_list = loaded if isinstance(loaded, list) else [loaded]  # explain prints several cases as a list
    first = _device(of_list[0]) if of_list else None
    for number, document in enumerate(of_list):
        if (device := _device(document)) != first:
            message = f"it is {shown(device)}, and that of the first document {shown(first)}: one device a file"
            results.problems.append(Complaint(file, f"[{number}].context.device", message))
        elif isinstance(document, dict):
            try:
                _read_document(file, origin, document, results)
            except Misfit as misfit:
                results.problems.append(Complaint(file, misfit.place, misfit.message))
    return None


def _device(document: Any) -> Any:
    context = document.get("context") if isinstance(document, dict) else None
    return context.get("device") if isinstance(context, dict) else None


def reader_by_name(file: Path) -> Callable[[Path, str, Results], None] | None:
    """What reads a file that is not JSON, by its name."""
    if file.name == history.FILE:
        return history.read
    readers = {"bank_conflicts": _read_counters, "dram_bytes": _read_traffic, "prefix_wait": _read_waits}
    if file.suffix == ".csv":
        return next((reader for part, reader in readers.items() if part in file.name), None)
    return _read_verification if file.name.endswith(_LINES) else None


def _read_document(file: Path, origin: str, document: Mapping[str, Any], results: Results) -> None:
    schema = versions.of(document)
    if schema == timelines.TRACE:
        return _keep(file, origin, streams.trace(document), results)
    if streams.is_of_experiments(schema):
        return _keep(file, origin, streams.experiments(document, schema), results)
    if schema == timelines.RANKS_TRACE:
        return _keep(file, origin, streams.ranks_trace(document), results)
    if schema == documents.SCHEMA:
        return _read_timings(file, origin, document, results)
    if schema == stopwatch_documents.SCHEMA:
        return _keep(file, origin, stopwatch.found(file, document), results)
    if schema == documents.RANGES:
        convert(document, documents.Ranges)
    elif schema == kept.SESSION:
        _read_session(file, document, results)
    elif schema == counts.SCHEMA:
        results.explanations.append(Explanation(file, origin, convert(document, counts.Explanation)))
    return None


def _keep(file: Path, origin: str, found: streams.Found, results: Results) -> None:
    results.problems += [Complaint(file, *wrong) for wrong in found.wrong]
    results.streams.append(StreamFile(Run(file, origin, found.context), found.kind, found.rows, found.calls))


# --------------------------------------------------------------------------------------------- timings


class _Context(Struct):
    context: documents.Context


class _Timings:
    """The samples of one file on their way into tables."""

    def __init__(self, file: Path, origin: str, context: documents.Context, results: Results) -> None:
        self.file, self.origin, self.context, self.results = file, origin, context, results
        self.run = Run(file, origin, msgspec.to_builtins(context), context.variants)
        self.place = -1
        """Of the run among those of the results, from when there is a scan."""
        self.defaults = {id_: about.defaults for id_, about in context.variants.items()}
        self.is_described = True
        self.rounds: dict[tuple[Any, ...], set[int]] = {}
        self.rows: dict[str, list[dict[str, Any]]] = {}

    def add(self, of: documents.Entry, place: str) -> None:
        """Takes in one entry; Misfit if it is not of this file, or was read before."""
        if of.device and of.device != self.context.device:
            raise Misfit(f"{place}.device", f"is {shown(of.device)}, and the file is of {shown(self.context.device)}: one device a file")
        if isinstance(of, documents.ScanSample):
            return self._scan(of, place)
        if isinstance(of, documents.DistributedSample):
            return self._distributed(of, place)
        is_larger = isinstance(of, documents.StreamScanSample)
        rows = self.rows.setdefault(streams.STREAM_SCAN if is_larger else streams.SCHEDULES, [])
        if of.outcome == "timed":
            case = streams.stream_scan_case(of) if isinstance(of, documents.StreamScanSample) else streams.schedule_case(of)
            self._first(tuple(case.values()), of.sample, place)
            rows.append(case | ({"round": of.sample, "time_ns": of.real_time} if isinstance(of, documents.StreamScanSample) else streams.schedule_row(of)))
        return None

    def _scan(self, of: documents.ScanSample, place: str) -> None:
        if self.place < 0:
            self.begin()
        results = self.results
        if of.variant not in self.defaults:
            if self.is_described:
                self.is_described = False  # one sentence is enough
                raise Misfit(f"{place}.variant", f"is {shown(of.variant)}, of which context.variants says nothing: {REMEDY}")
            return
        if unlike := know_operator(of.op, of.type, of.items, of.bytes):
            raise Misfit(f"{place}.bytes", unlike)
        launch = STREAM if of.launch == "host" else of.launch
        settings = not_default(of.settings, self.defaults[of.variant])
        results.settings.setdefault(settings_name(settings), settings)
        named = (of.variant, settings_name(settings), of.type, of.op, of.mode, of.items, of.cache, launch)
        if of.outcome != "timed":
            case = dict(zip(("variant", "settings", "type", "op", "mode", "items", "cache", "launch"), named, strict=True))
            results.skipped_rows.append({"origin": self.origin, "run": self.place, **case, "reason": of.error_message, "failed": of.outcome == "failed"})
            return
        self._first(named, of.sample, place)
        results.timing_rows.append((self.place, *named, of.sample, of.real_time, streams.known(of.sm_clock_mhz), streams.known(of.converged)))
        if (self.place, *named) not in results.kernel_rows:
            numbers = (of.launches, of.threads_per_block, of.registers, of.shared_bytes, of.local_bytes, of.workspace_bytes, of.prepare_ns)
            results.kernel_rows[self.place, *named] = (*map(streams.known, numbers), of.choice or None)

    def _distributed(self, of: documents.DistributedSample, place: str) -> None:
        about = self.context.algorithms.get(of.variant)
        if about is None:
            raise Misfit(f"{place}.variant", f"is {shown(of.variant)}, of which context.algorithms says nothing: {REMEDY}")
        rows = self.rows.setdefault(streams.DISTRIBUTED, [])
        if of.outcome == "timed":
            case = streams.distributed_case(of, about.kind)
            self._first(tuple(case.values()), of.sample, place)
            rows.append(case | {"round": of.sample, "time_ns": of.real_time})

    def begin(self) -> None:
        """From here on there are scans of this run."""
        self.place = len(self.results.runs)
        self.results.runs.append(self.run)

    def _first(self, case: tuple[Any, ...], sample: int, place: str) -> None:
        known = self.rounds.setdefault(case, set())
        if sample in known:
            raise Misfit(place, f"repetition {sample} of this case was already read")
        known.add(sample)

    def end(self) -> None:
        """What is not of scans becomes a file of its kind."""
        of_kind = {streams.SCHEDULES: streams.SCHEDULE_COLUMNS, streams.STREAM_SCAN: streams.STREAM_SCAN_COLUMNS,
                   streams.DISTRIBUTED: streams.DISTRIBUTED_COLUMNS}  # fmt: skip
        if not self.rows and self.place < 0:
            if self.context.schedules:
                self.rows[streams.SCHEDULES] = []
            else:
                self.begin()
        for kind, rows in self.rows.items():
            table = corrections.corrected(self.file, pd.DataFrame(rows, columns=of_kind[kind]))
            self.results.streams.append(StreamFile(self.run, kind, table))


def _place(index: int) -> str:
    return f"benchmarks[{index}]"


def _read_timings(file: Path, origin: str, document: Mapping[str, Any], results: Results) -> None:
    timings = _Timings(file, origin, convert(document, _Context).context, results)
    before = len(results.problems)
    for index, entry in enumerate(convert_each(listed(document, "benchmarks"), documents.ENTRY, _place)):
        try:
            if isinstance(entry, Misfit):
                raise entry
            timings.add(entry, _place(index))
        except Misfit as misfit:
            results.problems.append(Complaint(file, misfit.place, misfit.message))
    timings.end()
    if len(results.problems) == before and (lacking := samples.lacking(timings.rounds)):
        results.problems.append(Complaint(file, "benchmarks", lacking))


# -------------------------------------------------------------------------------------------- sessions


def _read_session(file: Path, document: Mapping[str, Any], results: Results) -> None:
    session = convert(document, kept.Session)
    files = tuple((file.parent / of.file).resolve() for of in session.files)
    for index, of in enumerate(files):
        if not of.is_file():
            results.problems.append(Complaint(file, f"files[{index}].file", f"is {shown(session.files[index].file)}, and there is no such file: {REMEDY}"))
    results.sessions.append(SessionFile(file, session.device, session.date, session.complete, files, session.gpus))


# ------------------------------------------------------------------------------------ hardware counters


def _read_counters(file: Path, origin: str, results: Results) -> None:
    from_ncu = _from_ncu(file, origin, results, ncu.bank_conflicts)
    table = read_table(file, origin, results, _COUNTERS, from_ncu, dict.fromkeys(OPTIONAL_COUNTER_COLUMNS, Name))
    if table is not None:
        results.counter_tables.append(table)


def _read_traffic(file: Path, origin: str, results: Results) -> None:
    table = read_table(file, origin, results, _TRAFFIC, _from_ncu(file, origin, results, ncu.dram_bytes))
    if table is not None:
        results.traffic_tables.append(table.astype({"settings": object}))


def _read_waits(file: Path, origin: str, results: Results) -> None:
    of_case, of_run = dict.fromkeys(("tile", "ranks", "rank"), Count), dict.fromkeys(WAIT_RUN, Name)
    table = read_table(file, origin, results, _WAITS, None, of_case | of_run, WAIT_PREFIX)
    if table is None:
        return
    if len(table) and set(WAIT_RUN) <= set(table):  # tables of older programs do not say it
        results.owners[str(file)] = Run(file, origin, table[[*WAIT_RUN]].iloc[0].to_dict())
    elif source := corrections.source(file):
        results.owners[str(file)] = Run(file, origin, source)
    results.wait_tables.append(table.drop(columns=[*WAIT_RUN], errors="ignore"))


def ranges_beside(file: Path) -> Path | None:
    """The file that says which case each range of a profiler's report is of."""
    return next((beside for suffix in _JSON if (beside := file.with_suffix(f".ranges{suffix}")).is_file()), None)


def _from_ncu(file: Path, origin: str, results: Results, tidy: Callable[[str, ncu.CaseOf], pd.DataFrame]) -> Callable[[str], pd.DataFrame]:
    def read_with_ranges(text: str) -> pd.DataFrame:
        beside = ranges_beside(file)
        if beside is None:
            raise ValueError(f"{file.with_suffix('.ranges.json').name} is not beside it: scanlab bench --once --out writes it")
        ranges = _ranges(beside)
        results.owners[str(file)] = Run(file, origin, msgspec.to_builtins(ranges.context), ranges.context.variants)
        return tidy(text, ncu.by_name(_cases(beside.name, ranges)))

    return read_with_ranges


def _ranges(file: Path) -> documents.Ranges:
    wrong: list[Complaint] = []
    document = load_json(file, wrong)
    if wrong:
        raise ValueError(str(wrong[0]))
    versions.check(document, documents.RANGES)
    return convert(document, documents.Ranges)


def _cases(name: str, ranges: documents.Ranges) -> dict[str, Mapping[str, object]]:
    """The case of each range, by its name. name: of the file, for what is wrong."""
    variants = ranges.context.variants
    if lacking := [of.variant for of in ranges.ranges if of.variant not in variants]:
        raise ValueError(f"{name}: context.variants says nothing of {lacking[0]}")
    return {of.name: {
        "variant": of.variant, "padding": of.settings.get("padding", "none"), "settings": settings_name(not_default(of.settings, variants[of.variant].defaults)), "type": of.type,
        "op": of.op, "items": of.items, "mode": of.mode, "load": of.settings.get("load", "halves")} for of in ranges.ranges}  # fmt: skip


# ------------------------------------------------------------------------- verification and repeated runs


def _read_verification(file: Path, origin: str, results: Results) -> None:
    if (found := verifications.read(file, results.problems)) is not None:
        verification, repeats = found
        results.verifications.append(verification)
        if len(repeats):
            results.repeat_tables.append(repeats.assign(origin=origin, file=str(file)))
            results.owners[str(file)] = Run(file, origin, verification.context)
