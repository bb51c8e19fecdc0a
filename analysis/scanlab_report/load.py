"""Reads the files that the programs write, checks them at the door, and makes tables of them.

The structs of `schema` say what a document may hold. Whatever does not fit becomes a `Complaint`
with its file and place, and reading goes on.
"""

from __future__ import annotations

import contextlib
import csv
import gc
import gzip
import io
import json
import math
import tomllib
import warnings
import zlib
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd
from msgspec import UNSET, Struct

from scanlab_report import DATA, foreign, ncu
from scanlab_report.data import (
    CASE,
    CASES,
    COLUMNS,
    ELEMENT_BYTES,
    KERNEL,
    MEASURED,
    RECORDED,
    STREAM_SCAN,
    WAITING,
    Checks,
    Complaint,
    Data,
    File,
    Publication,
    Session,
    Verification,
    changed,
    rank_settings_name,
    settings_name,
)
from scanlab_report.schema import counts, implicit_sync, kept, simulator, stopwatch, timelines
from scanlab_report.schema import results as samples
from scanlab_report.schema import verification as checks
from scanlab_report.schema.base import Count, Measured, Name, Positive, Type
from scanlab_report.schema.fields import REMEDY, Misfit, convert, convert_each, fits, listed, shown
from scanlab_report.schema.versions import check_schema, schema_of

MODEL = "model"
"""The folder of a session with traces that the engine model is compared with; no figure shows it."""
HISTORY = "history.csv.gz"
JSON, LINES = (".json", ".json.gz"), (".jsonl", ".jsonl.gz")


def load(measured: Iterable[Path], recorded: Iterable[Path] = (), first: str = "") -> Data:
    """Reads every results file below some folders (a path may be a file), each once."""
    reader = _Reader(first)
    gc.disable()  # none of the millions of values that are made here is garbage
    try:
        for origin, paths in ((MEASURED, [*measured]), (RECORDED, [*recorded])):
            files: dict[Path, Path] = {}
            for file in (file for path in paths for file in _files_below(path)):
                files.setdefault(file.resolve(), file)
            named = {path.resolve() for path in paths}
            for whole, file in files.items():
                reader.read(file, origin, whole in named)
    finally:
        gc.enable()
    return reader.finish()


def _files_below(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return sorted(p for p in path.rglob("*") if _is_results(p) and p.is_file()
                  and MODEL not in p.relative_to(path).parts)  # fmt: skip


def _is_results(file: Path) -> bool:
    return file.name.endswith((*JSON, *LINES)) or file.name == HISTORY or bool(_csv_table(file))


def _csv_table(file: Path) -> str:
    """The table that a CSV holds, by its name; empty if it holds none."""
    tables = {"bank_conflicts": "counters", "dram_bytes": "traffic", "prefix_wait": "waits"}
    named = (table for part, table in tables.items() if part in file.name)
    return next(named, "") if file.suffix == ".csv" else ""


# ---------------------------------------------------------------------------------- plain files


def load_json(file: Path, problems: list[Complaint]) -> Any:
    """The content of a JSON file, plain or .gz; None, and a complaint, if it cannot be read."""
    raw = load_bytes(file, problems)
    return None if raw is None else decoded(file, raw, problems)


def load_bytes(file: Path, problems: list[Complaint]) -> bytes | None:
    """The bytes of a file, plain or .gz; None, and a complaint, if it cannot be read."""
    try:
        raw = file.read_bytes()
        return (gzip.decompress(raw) if file.suffix == ".gz" else raw).removeprefix(BOM_UTF8)
    except (EOFError, zlib.error) as error:
        problems.append(Complaint(file, "", f"is truncated or damaged ({error})"))
    except OSError as error:
        problems.append(Complaint(file, "", f"cannot be read: {error.strerror or error}"))
    return None


def decoded(file: Path, raw: bytes, problems: list[Complaint], line: int = 0) -> Any:
    """The value of JSON text, of a file or of line `line` of one; None, and a complaint, if it is
    not JSON."""
    with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
        return msgspec.json.decode(raw)
    try:  # Python takes NaN, which msgspec refuses, and says the place of what is wrong
        return json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        number = raw.count(b"\n", 0, error.start) + max(line, 1)
        column = error.start - raw.rfind(b"\n", 0, error.start)
        place = f"line {number}, column {column}, byte {error.start}"
        problems.append(Complaint(file, place, "is not UTF-8 text"))
    except json.JSONDecodeError as error:
        whole = error.doc.rstrip()
        cut = "is truncated or" if error.pos >= len(whole) or "Untermin" in error.msg else "is"
        number, byte = error.lineno - 1 + max(line, 1), len(error.doc[: error.pos].encode())
        place = f"line {number}, column {error.colno}, byte {byte}"
        problems.append(Complaint(file, place, f"{cut} not JSON ({error.msg})"))
    except ValueError as error:  # an integer of thousands of digits
        problems.append(Complaint(file, "", f"is not JSON ({error})"))
    return None


def known(value: Any) -> float:
    """A number; NaN where the file does not say it."""
    return math.nan if value is UNSET else float(value)


def _knowns(values: Iterable[Any]) -> list[float]:
    return [math.nan if value is UNSET else value for value in values]


# -------------------------------------------------------------------------------------- reading


class _Context(Struct):
    context: samples.Context


class _Measured(Struct):
    context: Measured


class _Simulated(Struct):
    context: simulator.Simulated


class _Reader:
    """Collects files, tables and complaints."""

    def __init__(self, first: str) -> None:
        self.data = Data(first=first)
        self.parts: dict[str, list[pd.DataFrame]] = {}
        self.unowned: set[int] = set()
        """Files of tables that do not name their run."""

    def add_file(self, path: Path, origin: str, context: Any = None, **more: Any) -> int:
        """Adds a file; its number."""
        about = msgspec.to_builtins(context) if isinstance(context, Struct) else dict(context or {})
        self.data.files.append(File(path, origin, about, **more))
        return len(self.data.files) - 1

    def add_rows(self, table: str, file: int, rows: pd.DataFrame) -> None:
        rows.insert(0, "file", file)
        self.parts.setdefault(table, []).append(rows)

    def complain(self, file: Path, place: str, message: str) -> None:
        self.data.problems.append(Complaint(file, place, message))

    def finish(self) -> Data:
        """Joins the parts of each table, and finds the runs of tables that do not name theirs."""
        data = self.data
        data.tables = {name: pd.concat(parts, ignore_index=True)
                       for name, parts in self.parts.items()}  # fmt: skip
        for number in self.unowned:
            data.files[number] = replace(data.files[number], **self._beside(data.files[number]))
        data.problems += [*_twice(data)]
        return data

    def _beside(self, file: File) -> dict[str, Any]:
        """The context of the run that a table belongs to: the sweep in its folder, another run
        there, or the first of its origin. Of runs of several commits only the device is known."""
        runs = [other for number, other in enumerate(self.data.files)
                if number not in self.unowned and other.on_gpu and other.origin == file.origin]  # fmt: skip
        here = [run for run in runs if run.path.parent == file.path.parent]
        sweep = [run for run in here if run.path.name.startswith("scan.json")]
        if not (run := next(iter([*sweep, *here, *runs]), None)):
            return {"of_no_device": True}
        if len({run.commit for run in here}) > 1:
            return {"context": {"kind": run.kind, "device": run.device}}
        return {"context": run.context}

    def read(self, file: Path, origin: str, named: bool) -> None:
        """Reads a file; one that a user named must be of a known program."""
        try:
            if file.name == HISTORY:
                self._history(file, origin)
            elif table := _csv_table(file):
                self._csv(table, file, origin)
            elif file.name.endswith(LINES):
                self._verification(file, origin)
            elif named or file.suffix not in (".csv", ".txt"):
                self._json(file, origin, named)
        except Misfit as misfit:
            self.complain(file, misfit.place, misfit.message)

    def _json(self, file: Path, origin: str, named: bool) -> None:
        raw = load_bytes(file, self.data.problems)
        wrong = named and raw is not None and foreign.no_json(file, raw)
        if wrong or raw is None:
            self.data.problems += [wrong] if wrong else []
            return
        before = len(self.data.problems)
        content = decoded(file, raw, self.data.problems)
        if len(self.data.problems) > before:
            return
        if named and (stranger := foreign.unknown(file, content)):
            self.data.problems.append(stranger)
            return
        documents = content if isinstance(content, list) else [content]  # `explain` writes a list
        first = _device(documents[0]) if documents else None
        for number, document in enumerate(documents):
            if (device := _device(document)) != first:
                message = f"it is {shown(device)}, and that of the first document {shown(first)}"
                self.complain(file, f"[{number}].context.device", f"{message}: one device a file")
            elif isinstance(document, dict):
                try:
                    self._document(file, origin, document)
                except Misfit as misfit:
                    self.complain(file, misfit.place, misfit.message)

    def _document(self, file: Path, origin: str, document: Mapping[str, Any]) -> None:
        if foreign.program(document):
            context, rows = foreign.read(file, document)
            self.add_rows("other", self.add_file(file, origin, context), rows)
            return
        schema = schema_of(document)
        readers: dict[str, Callable[[Path, str, Mapping[str, Any]], None]] = {
            samples.SCHEMA: self._samples, timelines.TRACE: self._trace,
            timelines.RANKS_TRACE: self._ranks_trace, stopwatch.SCHEMA: self._nvbench,
            kept.SESSION: self._session, counts.SCHEMA: self._counts,
            samples.RANGES: lambda file, origin, document: convert(document, samples.Ranges),
        }  # fmt: skip
        if schema in _EXPERIMENTS:
            self._experiments(file, origin, document, schema)
        elif schema in readers:
            readers[schema](file, origin, document)

    # ---------------------------------------------------------------------------------- samples

    def _samples(self, path: Path, origin: str, document: Mapping[str, Any]) -> None:
        context = convert(document, _Context).context
        number = self.add_file(path, origin, context, variants=context.variants)
        before = len(self.data.problems)
        entries: dict[type, list[tuple[int, Any]]] = {}
        for index, entry in enumerate(_entries(document)):
            if isinstance(entry, Misfit):
                self.complain(path, entry.place, entry.message)
            elif entry.device and entry.device != context.device:
                message = f"is {shown(entry.device)}, and the file is of {shown(context.device)}"
                place = f"benchmarks[{index}].device"
                self.complain(path, place, f"{message}: one device a file")
            else:
                entries.setdefault(_table_of(entry), []).append((index, entry))
        for table, of_table in entries.items():
            rows = _TABLES[table](self, path, context, *zip(*of_table, strict=True))
            timed = rows[rows.pop("outcome") == "timed"]
            twice = timed.duplicated([*CASES[table], "round"])
            for index, sample in timed.loc[twice, ["index", "round"]].itertuples(index=False):
                message = f"repetition {sample} of this case was already read"
                self.complain(path, f"benchmarks[{index}]", message)
            timed = timed[~twice].drop(columns="index")
            if len(self.data.problems) == before and (gap := _missing(timed, CASES[table])):
                self.complain(path, "benchmarks", gap)
            if table == "distributed":
                timed = timed[~timed["algorithm"].isin(list(withdrawn(path)))]
            self.add_rows(table, number, timed)
            if table == "scan":
                left = rows.loc[~rows.index.isin(timed.index) & ~rows.index.isin(twice.index)]
                skipped = left[[*CASE, "reason", "failed"]].drop_duplicates()
                self.add_rows("skipped", number, skipped)

    def scan_rows(self, path: Path, context: samples.Context, places: Sequence[int],
                  entries: Sequence[samples.ScanSample]) -> pd.DataFrame:  # fmt: skip
        """One row per sample of a scan, wrong ones left out."""
        about = context.variants
        defaults = {id_: variant.defaults for id_, variant in about.items()}
        unknown = [i for i, entry in enumerate(entries) if entry.variant not in about]
        if unknown:
            place = f"benchmarks[{places[unknown[0]]}].variant"
            named = shown(entries[unknown[0]].variant)
            message = f"is {named}, of which context.variants says nothing: {REMEDY}"
            self.complain(path, place, message)
        names: dict[Any, str] = {}

        def name(entry: samples.ScanSample) -> str:
            key = (entry.variant, *entry.settings.items())
            if key not in names:
                settings = changed(entry.settings, defaults[entry.variant])
                names[key] = settings_name(settings)
                self.data.settings.setdefault(names[key], settings)
            return names[key]

        rows = [(i, e) for i, e in zip(places, entries, strict=True) if e.variant in about]
        columns = {"index": [i for i, _ in rows]}
        entries = [entry for _, entry in rows]
        columns |= {"variant": [e.variant for e in entries], "settings": [*map(name, entries)]}
        columns |= {c: [getattr(e, c) for e in entries] for c in ("type", "op", "mode", "items")}
        columns["cache"] = [e.cache for e in entries]
        columns["launch"] = ["stream" if e.launch == "host" else e.launch for e in entries]
        columns |= _common(entries)
        columns["bytes"] = [self._bytes(path, i, e) for i, e in rows]
        columns |= {c: _knowns(getattr(e, "threads_per_block" if c == "threads" else c)
                               for e in entries) for c in KERNEL}  # fmt: skip
        columns["choice"] = [e.choice or None for e in entries]
        columns["reason"] = [e.error_message for e in entries]
        columns["failed"] = [e.outcome == "failed" for e in entries]
        table = pd.DataFrame(columns)
        return table[table["bytes"] >= 0]

    def _bytes(self, path: Path, index: int, entry: samples.ScanSample) -> int:
        """The bytes that a scan must move; -1, and a complaint, if the entry states others."""
        least = 2 * entry.items * ELEMENT_BYTES[entry.type]
        if entry.bytes and least and entry.bytes % least:
            message = f"is {entry.bytes}, no multiple of {least}"
            self.complain(path, f"benchmarks[{index}].bytes", message)
            return -1
        return entry.bytes or least

    def schedule_rows(self, path: Path, context: samples.Context, places: Sequence[int],
                      entries: Sequence[Any]) -> pd.DataFrame:  # fmt: skip
        """One row per sample of a schedule, copy or kernel."""
        rows = pd.DataFrame([_schedule_case(entry) for entry in entries])
        rows = rows.assign(index=places, **_common(entries))
        times = [getattr(entry, "device_time_ms", UNSET) for entry in entries]
        return rows.assign(device_ns=[known(time) * 1e6 for time in times])

    def stream_scan_rows(self, path: Path, context: samples.Context, places: Sequence[int],
                         entries: Sequence[samples.StreamScanSample]) -> pd.DataFrame:  # fmt: skip
        """One row per sample of a scan larger than the device."""
        fields = {"scan": "variant", "from": "from_", "budget": "budget_bytes",
                  "bytes": "bytes_each_way"}  # fmt: skip
        rows = pd.DataFrame({column: [getattr(e, fields.get(column, column)) for e in entries]
                             for column in STREAM_SCAN})  # fmt: skip
        rows["mapped"] = rows["mapped"].astype(int)
        return rows.assign(index=places, **_common(entries))

    def distributed_rows(self, path: Path, context: samples.Context, places: Sequence[int],
                         entries: Sequence[samples.DistributedSample]) -> pd.DataFrame:  # fmt: skip
        """One row per sample of a scan over several ranks."""
        for index, entry in zip(places, entries, strict=True):
            if entry.variant not in context.algorithms:
                message = f"is {shown(entry.variant)}, of which context.algorithms says nothing"
                raise Misfit(f"benchmarks[{index}].variant", f"{message}: {REMEDY}")
        names = ("type", "op", "mode", "ranks", "items", "on", "bytes")
        rows = pd.DataFrame({name: [getattr(e, name) for e in entries] for name in names})
        return rows.assign(
            algorithm=[e.variant for e in entries], index=places,
            settings=[rank_settings_name(e.settings) for e in entries],
            kind=[context.algorithms[e.variant].kind for e in entries], **_common(entries),
        )  # fmt: skip

    # ------------------------------------------------------------------ timelines, experiments

    def _trace(self, path: Path, origin: str, document: Mapping[str, Any]) -> None:
        """The complete events of the process `engines`, or `multiprocessors` where there is one,
        and those of `host`. A comparison has two of each: lanes of their own, named likewise."""
        trace = convert(document, timelines.Trace)
        events = trace.traceEvents
        processes = {e.pid: e.args for e in events if (e.ph, e.name) == ("M", "process_name")}
        engines = {(e.pid, e.tid): e.args.engine or e.args.name for e in events
                   if (e.ph, e.name) == ("M", "thread_name")}  # fmt: skip
        kinds = {process.kind for process in processes.values()}
        drawn = next((kind for kind in ("multiprocessors", "engines") if kind in kinds), None)
        if drawn is None:
            raise Misfit("traceEvents", "no process is of kind engines")
        engine_of = {"copy_in": "copies in", "kernel": "kernels", "side_kernel": "kernels",
                     "copy_out": "copies out"}  # fmt: skip
        spans, calls = [], []
        for event in events:
            process = processes.get(event.pid)
            if event.ph != "X" or process is None or process.kind not in (drawn, "host"):
                continue
            args, whose = event.args, f", {process.of}" if process.of else ""
            times = (event.ts, event.ts + event.dur, args.chunk, args.operation)
            if process.kind == "host":
                calls.append(("host" + whose, engine_of.get(args.kind, ""), *times))
                continue
            name = engines.get((event.pid, event.tid), event.cat) + whose
            lane = event.tid + (10**9 * event.pid if process.of else 0)
            more = (args.stream, args.channel, args.bytes, args.label)
            spans.append((lane, name, event.cat, *times, *more))
        if not spans:
            raise Misfit("traceEvents", "holds no operation of an engine")
        simulated = bool(trace.otherData.simulated_on)
        number = self.add_file(path, origin, trace.otherData, of_no_device=simulated)
        self.add_rows("spans", number, pd.DataFrame(spans, columns=COLUMNS["spans"]))
        self.add_rows("calls", number, pd.DataFrame(calls, columns=COLUMNS["calls"]))

    def _ranks_trace(self, path: Path, origin: str, document: Mapping[str, Any]) -> None:
        trace = convert(document, timelines.RanksTrace)
        rows = [(case.variant, rank_settings_name(case.settings), case.type, case.op, case.mode,
                 case.ranks, case.items, did.run, did.rank, did.kind, did.name,
                 did.start_ns / 1e3, did.end_ns / 1e3)
                for case in trace.traces for did in case.activities]  # fmt: skip
        number = self.add_file(path, origin, trace.context)
        self.add_rows("rank_spans", number, pd.DataFrame(rows, columns=COLUMNS["rank_spans"]))

    def _experiments(self, path: Path, origin: str, document: Mapping[str, Any],
                     schema: str) -> None:  # fmt: skip
        table, key, struct, about, case = _EXPERIMENTS[schema]
        number = self.add_file(path, origin, convert(document, about).context)
        rows, seen = [], {}
        for index, entry in enumerate(listed(document, key)):
            place = f"{key}[{index}]"
            try:
                row = msgspec.to_builtins(convert(entry, struct, place))
                name = json.dumps([row.get(column) for column in case])
                if (first := seen.setdefault(name, index)) != index:
                    raise Misfit(place, f"refused: {key}[{first}] is the same case")
            except Misfit as misfit:
                self.complain(path, misfit.place, misfit.message)
                continue
            if table == "implicit_sync":
                row |= _statement(row)
            rows.append({column: row.get(column) for column in COLUMNS[table]})
        self.add_rows(table, number, pd.DataFrame(rows, columns=COLUMNS[table]))

    def _nvbench(self, path: Path, origin: str, document: Mapping[str, Any]) -> None:
        number = self.add_file(path, origin, convert(document, stopwatch.Stopwatch).context)
        rows = []
        for case in foreign.nvbench(path, document)[1]:
            axes, median = case["axes"], case["median"]
            if case["misfit"]:
                raise case["misfit"]
            if case["skipped"]:
                continue
            if not {"variant", "type", "items"} <= set(axes):
                self.complain(path, case["place"], "lacks one of the axes variant, type and items")
                continue
            if not isinstance(items := axes["items"], int):
                place = f"{case['place']}.axis_values"
                raise Misfit(place, f"items is {items!r}, not a whole number")
            named = (str(axes["variant"]), str(axes["type"]), items)
            isolated = median if math.isfinite(median) else case["mean"]
            ways = ((("cold", "stream"), isolated), (("warm", "batch"), case["batch"]))
            rows += [(*named, *way, 1e9 * seconds) for way, seconds in ways if math.isfinite(seconds)]
        self.add_rows("nvbench", number, pd.DataFrame(rows, columns=COLUMNS["nvbench"]))

    def _session(self, path: Path, origin: str, document: Mapping[str, Any]) -> None:
        session = convert(document, kept.Session)
        files = [(path.parent / entry.file).resolve() for entry in session.files]
        for index, file in enumerate(files):
            if not file.is_file():
                named = shown(session.files[index].file)
                message = f"is {named}, and there is no such file: {REMEDY}"
                self.complain(path, f"files[{index}].file", message)
        folder = path.parent.resolve()
        self.data.sessions.append(
            Session(folder, session.device, session.date, session.complete, frozenset(files),
                    session.gpus)
        )  # fmt: skip

    def _counts(self, path: Path, origin: str, document: Mapping[str, Any]) -> None:
        case = convert(document, counts.Explanation)
        context = {"date": case.date, "git_commit": case.git_commit, "git_dirty": case.git_dirty}
        number = self.add_file(path, origin, context, of_no_device=True)
        values = {"unpadded": case.unpadded or case.variant, "content": case}
        row = {name: values.get(name, getattr(case, name, None)) for name in COLUMNS["counts"]}
        self.add_rows("counts", number, pd.DataFrame([row]))

    # ----------------------------------------------------------------------------- other files

    def _history(self, path: Path, origin: str) -> None:
        """Each session of a history as a file of its own, below the folder that it had."""
        if (table := load_history(path, self.data.problems)) is None:
            return
        try:
            for values, rows in table.groupby(HISTORY_PROVENANCE, sort=False):
                context = dict(zip(HISTORY_PROVENANCE, values, strict=True))
                number = self.add_file(path.parent / context["session"] / HISTORY, origin, context)
                for name, part in (("scan", rows[rows["way"] == ""]),
                                   ("stream_scan", rows[rows["way"] != ""])):  # fmt: skip
                    if len(part):
                        self.add_rows(name, number, _history_samples(part, name))
        except ValueError as error:
            self.complain(path, "", f"is no history of sessions: {error}")

    def _csv(self, table: str, path: Path, origin: str) -> None:
        context: Any = None
        try:
            text = path.read_text(encoding="utf-8-sig")
            if table != "waits" and ncu.is_ncu(text):
                ranges = _ranges_beside(path)
                context = ranges.context
                rows = ncu.tidy(text, ncu.METRICS[table], ncu.by_name(_cases_of(path, ranges)))
            else:
                rows = read_csv(text)
        except (ValueError, csv.Error, OSError) as error:
            self.complain(path, "", f"cannot be read as counters ({error})")
            return
        if missing := [column for column in COLUMNS[table] if column not in rows]:
            self.complain(path, "line 1", f"lacks the columns {', '.join(missing)}")
            return
        names = ("variant", "padding", "op", "mode", "load", "kernel", "role", *_RUN)
        optional = {"counters": ("mode", "load"), "waits": ("tile", "ranks", "rank", *_RUN)}
        columns = [*COLUMNS[table], *(c for c in optional.get(table, ()) if c in rows)]
        columns += [c for c in rows if table == "waits" and c.startswith(WAITING)]
        forms = {c: Type if c == "type" else str if c == "settings" else Name if c in names
                 else Count for c in columns}  # fmt: skip
        rows, wrong = checked(rows[columns], forms)
        self.data.problems += [Complaint(path, *sentence) for sentence in wrong]
        if table == "waits" and len(rows) and set(_RUN) <= set(rows):
            context = rows.iloc[0][list(_RUN)].to_dict()
        elif source := next((e for e in corrections()["source"] if e["file"] == _place(path)), None):
            context = source
        number = self.add_file(path, origin, context,
                               variants=getattr(context, "variants", {}))  # fmt: skip
        if context is None:
            self.unowned.add(number)
        self.add_rows(table, number, rows.drop(columns=[*_RUN], errors="ignore"))

    def _verification(self, path: Path, origin: str) -> None:
        if (raw := load_bytes(path, self.data.problems)) is None:
            return
        before = len(self.data.problems)
        lines = [decoded(path, line, self.data.problems, number)
                 for number, line in enumerate(raw.splitlines(), start=1)]  # fmt: skip
        if len(self.data.problems) > before:
            del self.data.problems[before + 1 :]
            return
        verification, repeats = _verified(path, lines)
        self.data.verifications.append(verification)
        if repeats:
            number = self.add_file(path, origin, verification.context)
            columns = COLUMNS["repeats"]
            self.add_rows("repeats", number, pd.DataFrame(repeats, columns=columns))


# --------------------------------------------------------------------------------- samples, rows


def _device(document: Any) -> Any:
    context = document.get("context") if isinstance(document, dict) else None
    return context.get("device") if isinstance(context, dict) else None


def _entries(document: Mapping[str, Any]) -> list[Any]:
    entries = listed(document, "benchmarks")
    return convert_each(entries, samples.ENTRY, lambda index: f"benchmarks[{index}]")


_TABLES: dict[str, Callable[..., pd.DataFrame]] = {
    "scan": _Reader.scan_rows, "schedule": _Reader.schedule_rows,
    "stream_scan": _Reader.stream_scan_rows, "distributed": _Reader.distributed_rows,
}  # fmt: skip


def _table_of(entry: samples.Entry) -> str:
    tables = {samples.ScanSample: "scan", samples.StreamScanSample: "stream_scan",
              samples.DistributedSample: "distributed"}  # fmt: skip
    return tables.get(type(entry), "schedule")


def _common(entries: Sequence[samples.Sample]) -> dict[str, list[Any]]:
    """The columns of every sample."""
    return {
        "round": [e.sample for e in entries], "ns": [e.real_time for e in entries],
        "sm_clock_mhz": _knowns(e.sm_clock_mhz for e in entries),
        "converged": _knowns(e.converged for e in entries),
        "outcome": [e.outcome for e in entries],
    }  # fmt: skip


def _schedule_case(entry: Any) -> dict[str, Any]:
    """The case of a schedule, copy or kernel; what an entry does not have is 0 or empty."""
    case: dict[str, Any] = dict.fromkeys([*CASES["schedule"], "inputs", "control"], 0)
    case |= {"entry": "", "id": "", "workload": "", "memory": "", "side_kernels": 0}
    case["own_streams"] = 0
    if isinstance(entry, samples.CopySample):
        name = ("duplex_" if entry.both_ways else "") + entry.direction
        return case | {"entry": "copy", "id": name, "memory": entry.memory, "bytes": entry.bytes}
    case |= {name: getattr(entry, name) for name in ("workload", "items", "work", "blocks")}
    if isinstance(entry, samples.KernelSample):
        return case | {"entry": "kernel", "id": entry.workload}
    same = ("chunks", "streams", "memory", "bytes", "inputs")
    reuses = entry.buffers < min(entry.chunks, entry.items)  # a buffer per chunk is one case
    return case | {name: getattr(entry, name) for name in same} | {
        "entry": "schedule", "id": entry.schedule, "buffers": entry.buffers if reuses else 0,
        "control": int(entry.control), "side_kernels": int(entry.side_kernels > 0),
        "own_streams": int(entry.streams_created != entry.streams),
    }  # fmt: skip


def _missing(rows: pd.DataFrame, case: list[str]) -> str:
    """The samples that are missing: each case has all from 0 to its last; empty if none is."""
    if rows.empty:
        return ""
    rounds = rows.groupby(case, sort=False, dropna=False)["round"].agg(["size", "max"])
    gaps = rounds[rounds["size"] <= rounds["max"]]
    if gaps.empty:
        return ""
    first = gaps.index[0]
    same = (rows[case].astype(object) == pd.Series(dict(zip(case, first, strict=True)))).all(axis=1)
    there, last = set(rows.loc[same, "round"]), int(gaps["max"].iloc[0])
    absent = [str(n) for n in range(last + 1) if n not in there]
    named = " ".join(str(part) for part in first if part != "")
    which = f"repetitions are missing of {named}"
    if len(gaps) > 1:
        which = f"{len(gaps)} cases lack repetitions, the first of them {named}"
    return f"{which}: round {', '.join(absent[:5])}{' …' if len(absent) > 5 else ''} of 0 to {last}"


_EXPERIMENTS: dict[str, tuple[str, str, type[Struct], type[Struct], tuple[str, ...]]] = {
    implicit_sync.SCHEMA: ("implicit_sync", "experiments", implicit_sync.Experiment, _Measured,
                           ("name", "environment")),
    implicit_sync.CONCURRENCY: ("concurrency", "cases", implicit_sync.Grids, _Measured,
                                ("streams", "kernels", "blocks", "threads", "shared_bytes", "slots",
                                 "connections")),
    simulator.COMPARISON: ("comparison", "traces", simulator.ComparedTrace, _Simulated,
                           ("file", "schedule", "workload", "items", "chunks", "streams", "memory",
                            "buffers", "work", "blocks", "connections")),
    simulator.AGAINST: ("advice", "problems", simulator.Problem, _Simulated,
                        ("workload", "items", "work")),
}  # fmt: skip
"""By schema: the table, the field that is its list, the structs of an entry and of the document's
context, and the fields that tell entries apart."""


def _statement(row: Mapping[str, Any]) -> dict[str, Any]:
    """What is asked and answered in an experiment on implicit synchronisation."""
    asks = {("blocks", "the host"): "host", ("serialises", "kernels of two streams"): "streams"}
    sources = row["sources"]
    return {
        "question": row["statement"], "answer": row["measured"],
        "works": tuple(dict.fromkeys(source["work"] for source in sources)),
        "source": "; ".join(f"{s['work']}, {s['place']}" for s in sources) or "none",
        "asks": asks.get((row["verb"], row["object"]), ""),
    }  # fmt: skip


def _verified(file: Path, lines: list[Any]) -> tuple[Verification, list[tuple[Any, ...]]]:
    """What `verify --json` wrote, a line per check, and a row for `repeats` of each variant, type,
    operator and mode that ran many times on one input."""
    check_schema(lines[0] if lines else None, checks.SCHEMA)
    beginning = convert(lines[0], checks.Beginning, "line 1")
    if len(lines) < 2 or not isinstance(lines[-1], dict) or "ended" not in lines[-1]:
        message = "has no last line that says what came of it: verification did not come to its end"
        raise Misfit("", message)
    ended = convert(lines[-1], checks.Ending, f"line {len(lines)}").ended
    entries = convert_each(lines[1:-1], checks.CHECK, lambda index: f"line {index + 2}")
    for entry in entries:
        if isinstance(entry, Misfit):
            raise entry
    for outcome, number in ((o, getattr(ended, o)) for o in ("passed", "failed", "skipped")):
        if (counted := sum(entry.outcome == outcome for entry in entries)) != number:
            message = f"is {number}, and {counted} lines say so: lines are missing"
            raise Misfit(f"line {len(lines)}.ended.{outcome}", message)
    by_variant: dict[str, list[Any]] = {}
    repeats: dict[tuple[str, ...], list[Any]] = {}
    for entry in entries:
        if isinstance(entry, checks.Verify):
            by_variant.setdefault(entry.variant, []).append(entry)
        elif entry.outcome == "passed":
            key = (entry.variant, entry.type, entry.op, entry.mode)
            repeats.setdefault(key, []).append(entry)
    rows = [(*key, len(runs), sum(run.different_outputs != 1 for run in runs),
             min(run.runs for run in runs)) for key, runs in repeats.items()]  # fmt: skip
    variants = {variant: _checks(of_variant) for variant, of_variant in by_variant.items()}
    context = msgspec.to_builtins(beginning.context)
    counted = (ended.passed, ended.failed, ended.interrupted)
    return Verification(file, context, *counted, variants), rows


def _checks(entries: list[checks.Verify]) -> Checks:
    number = Counter(entry.outcome for entry in entries)
    types = tuple(sorted({entry.type for entry in entries if entry.outcome == "passed"}))
    failed = (f"{e.type} {e.op} {e.mode}, {e.items} items: {e.reason}" for e in entries
              if e.outcome == "failed")  # fmt: skip
    return Checks(number["passed"], number["failed"], number["skipped"], types, next(failed, ""))


# ------------------------------------------------------------------------------------------- CSV

_RUN = ("device", "date", "git_commit", "git_dirty")
"""The columns of waits that name the run, equal in each row."""


def read_csv(text: str) -> pd.DataFrame:
    """A table of text; ValueError if a row is longer than the header, or it is no table."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # a longer row
            return pd.read_csv(io.StringIO(text), comment="#", index_col=False, dtype=str,
                               keep_default_na=False).fillna("")  # fmt: skip
    except (pd.errors.ParserWarning, pd.errors.EmptyDataError) as error:
        raise ValueError(str(error)) from None


def checked(
    table: pd.DataFrame, forms: Mapping[str, Any]
) -> tuple[pd.DataFrame, list[tuple[str, str]]]:
    """The rows whose values fit, and place and sentence of each value that does not."""
    wrong = []
    for column, form in forms.items():
        values = table[column]
        if form in (Count, Positive):
            values = pd.to_numeric(values, errors="coerce").astype(float)
        if form is Count:
            whole = [int(v) if v.is_integer() else v for v in values]
            values = pd.Series(whole, index=values.index, dtype=object)
        sound = values.map(lambda value, form=form: fits(value, form)).astype(bool)
        for row in table.index[~sound]:
            text = shown(table.at[row, column])[1:-1] or "empty"
            try:
                convert(values[row], form)
            except Misfit as misfit:
                reason = misfit.message.partition(", got ")[0].partition(": ")[0]
                message = f"refused: {column} is {text}: {reason}"
                wrong.append((f"row {row + 1} after the header", message))
        values = values[sound].astype("int64") if form is Count else values[sound]
        table = table[sound].assign(**{column: values})
    return table, wrong


def _ranges_beside(file: Path) -> samples.Ranges:
    """What each range of a profiler's report is; ValueError if the file beside it is missing."""
    beside = [file.with_suffix(f".ranges{suffix}") for suffix in JSON]
    ranges = next((path for path in beside if path.is_file()), None)
    if ranges is None:
        message = f"{beside[0].name} is not beside it: scanlab bench --once --out writes it"
        raise ValueError(message)
    problems: list[Complaint] = []
    document = load_json(ranges, problems)
    if problems:
        raise ValueError(str(problems[0]))
    check_schema(document, samples.RANGES)
    return convert(document, samples.Ranges)


def _cases_of(file: Path, ranges: samples.Ranges) -> dict[str, Mapping[str, object]]:
    """The case of each range, by its name."""
    about = ranges.context.variants
    if unknown := [entry.variant for entry in ranges.ranges if entry.variant not in about]:
        name = file.with_suffix(".ranges.json").name
        raise ValueError(f"{name}: context.variants says nothing of {unknown[0]}")
    return {e.name: {
        "variant": e.variant, "padding": e.settings.get("padding", "none"),
        "settings": settings_name(changed(e.settings, about[e.variant].defaults)),
        "type": e.type, "op": e.op, "items": e.items, "mode": e.mode,
        "load": e.settings.get("load", "halves"),
    } for e in ranges.ranges}  # fmt: skip


# --------------------------------------------------------------------- history and corrections

HISTORY_PROVENANCE = ["session", "date", "git_commit", "kind", "device", "cpu", "cores"]
HISTORY_COLUMNS = [*HISTORY_PROVENANCE, *CASE, *(c for c in STREAM_SCAN if c not in CASE)]
HISTORY_COLUMNS += ["times_ns"]
"""`times_ns`: of each sample, separated by spaces. A row is a case of a scan, whose columns from
`way` on are empty, or of a scan larger than the device, whose `variant` is empty."""


def load_history(path: Path, problems: list[Complaint]) -> pd.DataFrame | None:
    """The table of a history in text; None, and a complaint, if it is none."""
    if (raw := load_bytes(path, problems)) is None:
        return None
    try:
        table = pd.read_csv(io.BytesIO(raw), dtype=str, keep_default_na=False)
        if list(table.columns) != HISTORY_COLUMNS:
            raise ValueError(f"its columns are not {', '.join(HISTORY_COLUMNS)}")
    except ValueError as error:
        problems.append(Complaint(path, "", f"is no history of sessions: {error}"))
        return None
    return table


def _history_samples(rows: pd.DataFrame, table: str) -> pd.DataFrame:
    """One row per sample; ValueError if a time is not positive."""
    rows = rows.assign(ns=rows["times_ns"].str.split()).explode("ns")
    rows["round"] = rows.groupby(level=0).cumcount()
    rows["ns"] = rows["ns"].astype(float)
    if not (rows["ns"] > 0).all():
        raise ValueError("a time is not positive")
    for column in ("items", "budget", "chunks", "mapped", "bytes"):
        if (rows[column] != "").all():
            rows[column] = rows[column].astype("int64")
    rows = rows.reset_index(drop=True)
    if table == "scan":
        rows["bytes"] = 2 * rows["items"] * rows["type"].map(ELEMENT_BYTES)
    return rows.reindex(columns=COLUMNS[table])


def kept_of(session: Path, data: Data) -> pd.DataFrame:
    """The rows that a history keeps of a session: sums of 32-bit items in files that timed one
    core of the host too, and scans larger than the device. They differ more by the session than
    by the code."""
    scans = data["scan"]
    scans = scans[scans["type"].isin(("i32", "f32")) & (scans["op"] == "plus")
                  & (scans["mode"] == "inclusive") & (scans["settings"] == "")
                  & (scans["launch"] == "stream")]  # fmt: skip
    parts = [(rows, CASE) for _, rows in scans.groupby("file")
             if "cpu_sequential" in set(rows["variant"])]  # fmt: skip
    parts += [(rows, STREAM_SCAN) for _, rows in data["stream_scan"].groupby("file")]
    tables = []
    for rows, case in parts:
        file = data.files[rows["file"].iloc[0]]
        grouped = rows.sort_values("round", kind="stable").groupby(case, sort=False)["ns"]
        times = grouped.agg(lambda ns: " ".join(f"{time:.6g}" for time in ns))
        context = {key: str(file.context.get(key, "")) for key in HISTORY_PROVENANCE[1:]}
        context |= {"session": session.name, "kind": file.kind}
        tables.append(times.rename("times_ns").reset_index().astype(str).assign(**context))
    if not tables:
        return pd.DataFrame(columns=HISTORY_COLUMNS)
    return pd.concat(tables, ignore_index=True).reindex(columns=HISTORY_COLUMNS)


@cache
def corrections() -> Mapping[str, list[dict[str, Any]]]:
    """`data/corrections.toml`: measurements that are withdrawn, and runs of tables."""
    return tomllib.loads((DATA / "corrections.toml").read_text(encoding="utf-8"))


def withdrawn(file: Path) -> dict[str, str]:
    """The algorithms of a file that are withdrawn, with the reason."""
    entries = [e for e in corrections()["withdrawn"] if fnmatch(_place(file), e["files"])]
    return {name: entry["reason"] for entry in entries for name in entry["names"]}


def _place(file: Path) -> str:
    whole, recorded = file.resolve(), DATA / "recorded"
    return whole.relative_to(recorded).as_posix() if whole.is_relative_to(recorded) else ""


# ------------------------------------------------------------------------------ cases in two files

_TOLD_APART = {
    "counters": ["variant", "padding", "type", "op", "items", "mode", "load"],
    "traffic": ["variant", "settings", "type", "op", "mode", "items"],
    "waits": ["variant", "tile", "items", "type", "ranks", "rank", "role"],
    "repeats": ["variant", "type", "op", "mode"],
}
"""The columns that name a case of the tables whose cases are not chosen by date."""


def _twice(data: Data) -> Iterator[Complaint]:
    """A case in two files measured now on one device: no figure could say which is meant."""
    for name, case in _TOLD_APART.items():
        rows = data.rows(name, lambda file: file.origin == MEASURED)
        devices = rows["file"].map(lambda number: data.files[number].device)
        for _, part in rows.groupby(devices, sort=False):
            yield from doubled(data, part, case)


def doubled(data: Data, rows: pd.DataFrame, case: Iterable[str]) -> Iterator[Complaint]:
    """One complaint per file that has a case of an earlier one."""
    case = [column for column in case if column in rows]
    cases = rows[["file", *case]].drop_duplicates()
    first = cases.groupby(case, dropna=False)["file"].transform("first")
    again = cases[cases["file"] != first]
    for (number, before), part in again.groupby(["file", first.rename("before")], sort=False):
        named = " ".join(str(v) for v in part.iloc[0, 1:] if v != "" and not pd.isna(v))
        message = f"has {len(part)} of the cases of {data.files[before].path}, such as {named}"
        yield Complaint(data.files[number].path, "", f"{message}: leave one of the files out")


# -------------------------------------------------------------------------------- published tables


class _Source(Struct):
    short: Name


_PUBLISHED: Mapping[str, Mapping[str, Any]] = {
    "harris2012_overlap": {"device": Name, "schedule": Name, "milliseconds": Positive},
    "hso2007_table2": {"items": Count, "items_printed": Count, "cpu_ms": Positive,
                       "gpu_ms": Positive, "speedup_printed": Positive},
}  # fmt: skip
"""The columns that figures and claims read."""


def load_published(folder: Path, problems: list[Complaint]) -> dict[str, Publication]:
    """The tables of the literature in a folder, by name: a CSV each, and a TOML with its source."""
    return {file.stem: publication for file in sorted(folder.glob("*.csv"))
            if (publication := _publication(file, problems))}  # fmt: skip


def _publication(file: Path, problems: list[Complaint]) -> Publication | None:
    sidecar, at = file.with_suffix(".toml"), file
    try:
        if not sidecar.exists():
            raise Misfit("", f"its source is missing: expected {sidecar.name} beside it")
        at = sidecar
        try:
            source = tomllib.loads(sidecar.read_text(encoding="utf-8-sig"))
        except (ValueError, OSError) as error:
            raise Misfit("", f"is not TOML ({error})") from None
        convert(source, _Source)
        at, forms = file, _PUBLISHED.get(file.stem, {})
        try:
            table = read_csv(file.read_text(encoding="utf-8-sig"))
        except (ValueError, OSError) as error:
            raise Misfit("", f"cannot be read as CSV ({error})") from None
        if missing := [column for column in forms if column not in table]:
            raise Misfit("line 1", f"lacks the columns {', '.join(missing)}")
    except Misfit as misfit:
        problems.append(Complaint(at, misfit.place, misfit.message))
        return None
    table, wrong = checked(table, forms)
    problems += [Complaint(file, *sentence) for sentence in wrong]
    return Publication(table, source)
