"""Reads the files that the programs write, checked by the structs of `schema`, as tables."""

import gc
import math
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd

from scanlab_report import load_others, others
from scanlab_report.data import Data, Session
from scanlab_report.reading import HISTORY, JSON, LINES, decoded, load_bytes
from scanlab_report.schema import documents, results, samples, struct_of
from scanlab_report.schema.fields import REMEDY, Misfit, convert, convert_each, listed
from scanlab_report.tables import (
    CASES,
    COLUMNS,
    ELEMENT_BYTES,
    MEASURED,
    RECORDED,
    changed,
    settings_name,
)

MODEL = "model"
"""Folder of a session with traces that the engine model is compared with; no figure shows them."""
_UNKNOWN = "is no results file of a known program: Scanlab, nvbench or Google Benchmark"


def load(
    measured: Iterable[Path], recorded: Iterable[Path] = (), first: str = "", unknown: bool = False
) -> Data:
    """Read every results file below some folders, or named by itself, once. A file that is named
    must be of a known program, unless `unknown` files are passed over."""
    data, seen = Data(first=first), set()
    gc.disable()  # the search for cycles, which no value is in, takes a third of the time
    try:
        for origin, paths in ((MEASURED, measured), (RECORDED, recorded)):
            for path in paths:
                for file in [path] if path.is_file() else sorted(path.rglob("*")):
                    named = file == path and not unknown
                    known = file.name.endswith((*JSON, *LINES, HISTORY)) or _table_in(file)
                    below = MODEL in file.relative_to(path).parts or not file.is_file()
                    if file.resolve() in seen or below or not (named or known):
                        continue
                    seen.add(file.resolve())
                    try:
                        _read(data, file, origin, named)
                    except Misfit as misfit:
                        data.problems.append(f"{file}: {misfit}")
        return data.finish()
    finally:
        gc.enable()


def _table_in(file: Path) -> str:
    """The table that a CSV holds; empty if it holds none."""
    named = (table for part, table in load_others.TABLES.items() if part in file.name)
    return next(named, "") if file.suffix == ".csv" else ""


def _read(data: Data, file: Path, origin: str, named: bool) -> None:
    if file.name == HISTORY:
        load_others.history(data, file, origin)
    elif table := _table_in(file):
        load_others.csv_table(data, table, file, origin)
    elif file.name.endswith(LINES):
        load_others.verification(data, file, origin)
    else:
        raw = load_bytes(file)
        if named and raw[:99].lstrip()[:1] not in (b"{", b"[", b""):
            raise Misfit("", f"{_UNKNOWN}: it is no JSON")
        content = decoded(raw)
        every = content if isinstance(content, list) else [content]  # `explain` writes a list
        known = [_document(data, file, origin, document) for document in every]
        if named and not any(known):
            raise Misfit("", _UNKNOWN)


def _document(data: Data, file: Path, origin: str, document: Any) -> bool:
    """Read a document. Return whether it is of a known program."""
    if others.program(document):
        context, rows = others.read(file, document)
        data.add_rows("other", data.add_file(file, origin, context), rows)
        return True
    struct = struct_of(document)
    if struct is results.Results:
        _samples(data, file, origin, document)
    elif struct in _READERS:
        _READERS[struct](data, file, origin, convert(document, struct))
    if struct is results.Stopwatch:
        _stopwatch(data, file, origin, document)
    return struct is not None


# ---------------------------------------------------------------------------------------- samples

_ABOUT = ("outcome", "error_message", "verified", "repetition_index")
_NUMBERS = ["items", "chunks", "streams", "work", "blocks", "buffers", "bytes", "inputs"]
_NUMBERS += ["control", "side_kernels", "own_streams"]
"""Columns of schedules that are 0 for copies and kernels, which have no such field."""
_PLACE = "benchmarks[{}]".format


def _samples(data: Data, path: Path, origin: str, document: Mapping[str, Any]) -> None:
    """Read the entries of a results file. Those that do not fit are named, and left out."""
    context = convert(document.get("context"), results.Context, "context")
    number = data.add_file(path, origin, context, variants=context.variants)
    entries = listed(document, "benchmarks")
    kinds: dict[type[samples.Sample], dict[int, Any]] = {}
    for index, entry in enumerate(convert_each(entries, samples.ENTRY, _PLACE)):
        if isinstance(entry, Misfit):
            data.problems.append(f"{path}: {entry}")
        else:
            kinds.setdefault(type(entry), {})[index] = entry
    for table in dict.fromkeys(kind.table for kind in kinds):
        parts = [_frame(kind, own) for kind, own in kinds.items() if kind.table == table]
        rows = _MADE[table](pd.concat(parts).sort_index(), context, data)
        for index, message in (wrong := _faults(rows)).items():
            data.problems.append(f"{path}: {_PLACE(index)}: {message}")
        rows = rows.drop(list(wrong))
        case = rows.groupby(CASES[table], sort=False, dropna=False).ngroup()
        timed = rows.assign(case=case)[rows["outcome"] == "timed"]
        twice = timed.duplicated(["case", "round"])
        for index, sample in timed.loc[twice, "round"].items():
            message = f"repetition {sample} of this case was already read"
            data.problems.append(f"{path}: {_PLACE(index)}: {message}")
        # The last check of a case may fail: its earlier times are of a wrong scan.
        failed = rows["outcome"] == "failed"
        left = timed[~twice & ~timed["case"].isin(set(case[failed]))]
        if table == "distributed":
            left = left[~left["algorithm"].isin(load_others.withdrawn(path))]
        data.add_rows(table, number, left[COLUMNS[table]].copy())
        if table == "scan":
            skipped = rows.assign(reason=rows["error_message"], failed=failed)
            skipped = skipped.loc[rows["outcome"] != "timed", COLUMNS["skipped"]]
            data.add_rows("skipped", number, skipped.drop_duplicates())


def _frame(kind: type[samples.Sample], entries: Mapping[int, Any]) -> pd.DataFrame:
    """One row per entry of a kind, by its place: its columns, and what says whether it counts."""
    fields = {name: column.field for name, column in samples.columns(kind).items()}
    fields |= dict(zip(_ABOUT, _ABOUT, strict=True))
    values = {
        name: list(map(attrgetter(field), entries.values())) for name, field in fields.items()
    }
    rows = pd.DataFrame(values, index=list(entries))
    rows["round"] = rows[["round", "repetition_index"]].max(axis=1)
    return rows.assign(entry=kind.__struct_config__.tag)


def _scans(rows: pd.DataFrame, context: results.Context, data: Data) -> pd.DataFrame:
    defaults = {id_: variant.defaults for id_, variant in context.variants.items()}

    @cache
    def named(variant: str, *given: tuple[str, str]) -> str:
        own = changed(dict(given), defaults.get(variant, {}))
        data.settings.setdefault(settings_name(own), own)
        return settings_name(own)

    both = zip(rows["variant"], rows["settings"], strict=True)
    settings = [named(variant, *given.items()) for variant, given in both]
    least = 2 * rows["items"] * rows["type"].map(ELEMENT_BYTES)
    return rows.assign(
        settings=settings,
        launch=rows["launch"].replace("host", "stream"),
        bytes=rows["bytes"].where(rows["bytes"] > 0, least),
    )


def _schedules(rows: pd.DataFrame, context: results.Context, data: Data) -> pd.DataFrame:
    rows = rows.reindex(columns=dict.fromkeys([*rows, *COLUMNS["schedule"]]))
    both = rows["both_ways"] == True  # noqa: E712
    rows["id"] = rows["id"].astype(object).fillna(rows["workload"])
    rows["id"] = rows["id"].mask(both, "duplex_" + rows["id"]).astype(str)
    rows = rows.fillna({"workload": "", "memory": "", **dict.fromkeys(_NUMBERS, 0)})
    rows = rows.astype(dict.fromkeys(_NUMBERS, int))
    chunks = rows[["chunks", "items"]].min(axis=1)
    planned = rows["entry"] == "schedule"
    return rows.assign(
        buffers=rows["buffers"].where(rows["buffers"] < chunks, 0),
        side_kernels=(rows["side_kernels"] > 0).astype(int),
        own_streams=(planned & (rows["own_streams"] != rows["streams"])).astype(int),
        device_ns=1e6 * rows["device_ns"],
    )


def _distributed(rows: pd.DataFrame, context: results.Context, data: Data) -> pd.DataFrame:
    kinds = {id_: algorithm.kind for id_, algorithm in context.algorithms.items()}
    named = lambda own: ",".join(f"{key}={value}" for key, value in sorted(own.items()))
    names = [named(settings) for settings in rows["settings"]]
    return rows.assign(settings=names, kind=rows["algorithm"].map(kinds))


_MADE = dict.fromkeys(samples.PRIMITIVES, _scans)
_MADE |= {"schedule": _schedules, "distributed": _distributed}
_MADE |= {"stream_scan": lambda rows, context, data: rows.astype({"mapped": int})}
"""The function that makes the columns of each table from the fields."""


def _faults(rows: pd.DataFrame) -> dict[Any, str]:
    """How an entry contradicts itself, by its place."""
    timed = rows["outcome"] == "timed"
    kinds = (*samples.SCANS, samples.DistributedSample)
    scans = rows["entry"].isin([kind.__struct_config__.tag for kind in kinds])
    planned = (rows["entry"] == "schedule") & (rows.get("control", 0) == 0)
    wrong: dict[Any, str] = {}
    for index in rows.index[timed & (scans | planned) & ~rows["verified"]]:
        why = "or not looked at" if scans[index] else "though it is no control"
        wrong[index] = f"verified is false: its output was wrong, {why}"
    zero = rows.index[timed & (rows["ns"] == 0)]
    return wrong | dict.fromkeys(zero, "real_time is 0, and the outcome is timed")


# ---------------------------------------------------------------------------------- other documents

_ENGINES = {"copy_in": "copies in", "copy_out": "copies out"}
_ENGINES |= {"kernel": "kernels", "side_kernel": "kernels"}
_ASKS = {("blocks", "the host"): "host", ("serialises", "kernels of two streams"): "streams"}


def _trace(data: Data, path: Path, origin: str, trace: documents.Trace) -> None:
    """Read the events of the process `multiprocessors`, else of `engines`, and those of `host`."""
    processes, engines = {}, {}
    for event in trace.traceEvents:
        if (event.ph, event.name) == ("M", "process_name"):
            processes[event.pid] = event.args
        elif (event.ph, event.name) == ("M", "thread_name"):
            engines[event.pid, event.tid] = event.args.engine or event.args.name
    kinds = {process.kind for process in processes.values()}
    drawn = "multiprocessors" if "multiprocessors" in kinds else "engines"
    spans, calls = [], []
    for event in trace.traceEvents:
        process, args = processes.get(event.pid), event.args
        if event.ph != "X" or process is None or process.kind not in (drawn, "host"):
            continue
        whose = f", {process.of}" if process.of else ""
        start: Any = event.ts  # set, as in each event of a duration
        times = (start, start + event.dur, args.chunk, args.operation)
        if process.kind == "host":
            calls.append(("host" + whose, _ENGINES.get(args.kind, ""), *times))
            continue
        name = engines.get((event.pid, event.tid), event.cat) + whose
        lane = event.tid + (10**9 * event.pid if process.of else 0)
        more = (args.stream, args.channel, args.bytes, args.label)
        spans.append((lane, name, event.cat, *times, *more))
    if not spans:
        raise Misfit("traceEvents", "holds no operation of a process of kind engines")
    simulated = bool(trace.otherData.simulated_on)
    number = data.add_file(path, origin, trace.otherData, of_no_device=simulated)
    data.add_rows("spans", number, pd.DataFrame(spans, columns=COLUMNS["spans"]))
    data.add_rows("calls", number, pd.DataFrame(calls, columns=COLUMNS["calls"]))


def _as_rows(table: str, field: str) -> Callable[..., None]:
    """The reader of a document whose list becomes one table."""

    def read(data: Data, path: Path, origin: str, document: Any) -> None:
        rows = pd.DataFrame(msgspec.to_builtins(getattr(document, field)))
        number = data.add_file(path, origin, document.context)
        data.add_rows(table, number, rows.reindex(columns=COLUMNS[table]))

    return read


def _experiments(data: Data, path: Path, origin: str, document: documents.ImplicitSync) -> None:
    rows = []
    for own in document.experiments:
        source = "; ".join(f"{s.work}, {s.place}" for s in own.sources) or "none"
        row: dict[str, Any] = {"question": own.statement, "answer": own.measured, "source": source}
        row["works"] = tuple(dict.fromkeys(s.work for s in own.sources))
        row["asks"] = _ASKS.get((own.verb, own.object), "")
        rows.append(msgspec.to_builtins(own) | row)
    number = data.add_file(path, origin, document.context)
    data.add_rows("implicit_sync", number, pd.DataFrame(rows, columns=COLUMNS["implicit_sync"]))


def _stopwatch(data: Data, path: Path, origin: str, document: Mapping[str, Any]) -> None:
    """Read scans that nvbench timed."""
    number = data.add_file(path, origin, convert(document, results.Stopwatch).context)
    rows = []
    for case in others.nvbench(path, document)[1]:
        axes, median = case["axes"], case["median"]
        if case["unusable"]:
            raise Misfit("benchmarks", case["skipped"])
        if case["skipped"]:
            continue
        if not isinstance(axes.get("items"), int) or not {"variant", "type"} <= set(axes):
            raise Misfit("benchmarks", "a state lacks the axes variant, type and items")
        isolated = median if math.isfinite(median) else case["mean"]
        for way, seconds in ((("cold", "stream"), isolated), (("warm", "batch"), case["batch"])):
            if math.isfinite(seconds):
                rows.append((axes["variant"], axes["type"], axes["items"], *way, 1e9 * seconds))
    data.add_rows("nvbench", number, pd.DataFrame(rows, columns=COLUMNS["nvbench"]))


def _session(data: Data, path: Path, origin: str, own: documents.Session) -> None:
    """Read which files are one session."""
    files = [(path.parent / entry.file).resolve() for entry in own.files]
    for index, file in enumerate(files):
        if not file.is_file():
            message = f"is {own.files[index].file!r}, and there is no such file: {REMEDY}"
            data.problems.append(f"{path}: files[{index}].file: {message}")
    about = (own.device, own.date, own.complete, frozenset(files), own.gpus)
    data.sessions.append(Session(path.parent.resolve(), *about))


def _count(data: Data, path: Path, origin: str, case: documents.Explanation) -> None:
    """Read a case on the SIMT emulator."""
    context = {"date": case.date, "git_commit": case.git_commit, "git_dirty": case.git_dirty}
    number = data.add_file(path, origin, context, of_no_device=True)
    values = {"unpadded": case.unpadded or case.variant, "content": case}
    row = {name: values.get(name, getattr(case, name, None)) for name in COLUMNS["counts"]}
    data.add_rows("counts", number, pd.DataFrame([row]))


_READERS: dict[Any, Callable[..., None]] = {
    documents.Trace: _trace,
    documents.ImplicitSync: _experiments,
    documents.Concurrency: _as_rows("concurrency", "cases"),
    documents.Comparison: _as_rows("comparison", "traces"),
    documents.Against: _as_rows("advice", "problems"),
    documents.Session: _session,
    documents.Explanation: _count,
    results.Ranges: lambda *_: None,
}
"""The function that reads documents of each kind."""
