"""Reads the files that the programs write, checks them at the door, and makes tables of them.

The structs of `schema` say what a document may hold. Whatever does not fit becomes a `Complaint`
with its file and place, and reading goes on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd

from scanlab_report import load_others, load_samples, others
from scanlab_report.data import Data, Session
from scanlab_report.others.nvbench import nvbench
from scanlab_report.reading import HISTORY, JSON, LINES, decoded, load_bytes
from scanlab_report.schema import counts, documents, kept, results
from scanlab_report.schema.fields import REMEDY, Misfit, convert, shown
from scanlab_report.schema.versions import schema_of
from scanlab_report.tables import COLUMNS, MEASURED, RECORDED, rank_settings_name

MODEL = "model"
"""Folder of a session with traces that the engine model is compared with; no figure shows them."""
_TABLES = {
    "bank_conflicts": "counters",
    "block_conflicts": "block_counters",
    "dram_bytes": "traffic",
    "prefix_wait": "waits",
}
"""The table that a CSV holds, by a part of its name."""
_EXPERIMENTS: dict[str, tuple[str, str, Any]] = {
    documents.SYNC: ("implicit_sync", "experiments", documents.ImplicitSync),
    documents.CONCURRENCY: ("concurrency", "cases", documents.Concurrency),
    documents.COMPARISON: ("comparison", "traces", documents.Comparison),
    documents.AGAINST: ("advice", "problems", documents.Against),
}
"""For each schema: the table, the field that is its list, and the struct of the document."""
_ENGINES = {"copy_in": "copies in", "copy_out": "copies out"}
_ENGINES |= {"kernel": "kernels", "side_kernel": "kernels"}
_ASKS = {("blocks", "the host"): "host", ("serialises", "kernels of two streams"): "streams"}


def load(measured: Iterable[Path], recorded: Iterable[Path] = (), first: str = "") -> Data:
    """Read every results file below some folders (a path may be a file), each once."""
    data, seen = Data(first=first), set()
    for origin, paths in ((MEASURED, measured), (RECORDED, recorded)):
        for path in paths:
            for file in _files_below(path):
                if file.resolve() in seen:
                    continue
                seen.add(file.resolve())
                try:
                    _read(data, file, origin, named=file == path)
                except Misfit as misfit:
                    data.complain(file, misfit.place, misfit.message)
    return data.finish()


def _files_below(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    below = (p for p in path.rglob("*") if MODEL not in p.relative_to(path).parts)
    known = lambda file: file.name.endswith((*JSON, *LINES, HISTORY)) or _table_in(file)
    return sorted(p for p in below if known(p) and p.is_file())


def _table_in(file: Path) -> str:
    """The table that a CSV holds; empty if it holds none."""
    named = (table for part, table in _TABLES.items() if part in file.name)
    return next(named, "") if file.suffix == ".csv" else ""


def _read(data: Data, file: Path, origin: str, named: bool) -> None:
    """Read a file. A file that a user named must be of a known program."""
    if file.name == HISTORY:
        load_others.history(data, file, origin)
    elif table := _table_in(file):
        load_others.csv_table(data, table, file, origin)
    elif file.name.endswith(LINES):
        load_others.verification(data, file, origin)
    else:
        _json(data, file, origin, named)


def _json(data: Data, file: Path, origin: str, named: bool) -> None:
    raw = load_bytes(file)
    stranger = others.no_json(file, raw) if named else None
    content = None if stranger else decoded(raw)
    if stranger := stranger or (others.unknown(file, content) if named else None):
        data.problems.append(stranger)
        return
    listed = content if isinstance(content, list) else [content]  # `explain` writes a list
    for document in listed:
        if isinstance(document, dict):
            _document(data, file, origin, document)


def _document(data: Data, file: Path, origin: str, document: dict[str, Any]) -> None:
    if others.program(document):
        context, rows = others.read(file, document)
        data.add_rows("other", data.add_file(file, origin, context), rows)
    elif (schema := schema_of(document)) in _EXPERIMENTS:
        _experiments(data, file, origin, document, schema)
    elif schema == results.RANGES:
        convert(document, results.Ranges)
    elif schema in _READERS:
        _READERS[schema](data, file, origin, document)


def _trace(data: Data, path: Path, origin: str, document: Mapping[str, Any]) -> None:
    """Read the complete events of the process `multiprocessors`, or `engines` if there is none, and
    those of `host`. A comparison has two processes of each kind, and their lanes stay apart."""
    trace = convert(document, documents.Trace)
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


def _ranks_trace(data: Data, path: Path, origin: str, document: Mapping[str, Any]) -> None:
    """Read what each GPU did in a few scans over several."""
    trace = convert(document, documents.RanksTrace)
    named = ("type", "op", "mode", "ranks", "items")
    rows = [
        (case.variant, rank_settings_name(case.settings), *(getattr(case, name) for name in named))
        + (did.run, did.rank, did.kind, did.name, did.start_ns / 1e3, did.end_ns / 1e3)
        for case in trace.traces
        for did in case.activities
    ]
    number = data.add_file(path, origin, trace.context)
    data.add_rows("rank_spans", number, pd.DataFrame(rows, columns=COLUMNS["rank_spans"]))


def _experiments(
    data: Data, path: Path, origin: str, document: Mapping[str, Any], schema: str
) -> None:
    """Read a document whose list becomes one table."""
    table, key, struct = _EXPERIMENTS[schema]
    read = convert(document, struct)
    rows: list[dict[str, Any]] = msgspec.to_builtins(getattr(read, key))
    for row in rows if table == "implicit_sync" else ():
        sources = row["sources"]
        row |= {"question": row["statement"], "answer": row["measured"]}
        row["works"] = tuple(dict.fromkeys(source["work"] for source in sources))
        row["source"] = "; ".join(f"{s['work']}, {s['place']}" for s in sources) or "none"
        row["asks"] = _ASKS.get((row["verb"], row["object"]), "")
    number = data.add_file(path, origin, read.context)
    data.add_rows(table, number, pd.DataFrame(rows, columns=COLUMNS[table]))


def _stopwatch(data: Data, path: Path, origin: str, document: Mapping[str, Any]) -> None:
    """Read scans that nvbench timed."""
    number = data.add_file(path, origin, convert(document, results.Stopwatch).context)
    rows = []
    for case in nvbench(path, document)[1]:
        axes, median = case["axes"], case["median"]
        if misfit := case.get("misfit"):
            raise misfit
        if case["skipped"]:
            continue
        if not isinstance(axes.get("items"), int) or not {"variant", "type"} <= set(axes):
            raise Misfit("benchmarks", "a state lacks the axes variant, type and items")
        isolated = median if math.isfinite(median) else case["mean"]
        for way, seconds in ((("cold", "stream"), isolated), (("warm", "batch"), case["batch"])):
            if math.isfinite(seconds):
                rows.append((axes["variant"], axes["type"], axes["items"], *way, 1e9 * seconds))
    data.add_rows("nvbench", number, pd.DataFrame(rows, columns=COLUMNS["nvbench"]))


def _session(data: Data, path: Path, origin: str, document: Mapping[str, Any]) -> None:
    """Read which files are one session."""
    own = convert(document, kept.Session)
    files = [(path.parent / entry.file).resolve() for entry in own.files]
    for index, file in enumerate(files):
        if not file.is_file():
            message = f"is {shown(own.files[index].file)}, and there is no such file: {REMEDY}"
            data.complain(path, f"files[{index}].file", message)
    about = (own.device, own.date, own.complete, frozenset(files), own.gpus)
    data.sessions.append(Session(path.parent.resolve(), *about))


def _count(data: Data, path: Path, origin: str, document: Mapping[str, Any]) -> None:
    """Read a case on the SIMT emulator."""
    case = convert(document, counts.Explanation)
    context = {"date": case.date, "git_commit": case.git_commit, "git_dirty": case.git_dirty}
    number = data.add_file(path, origin, context, of_no_device=True)
    values = {"unpadded": case.unpadded or case.variant, "content": case}
    row = {name: values.get(name, getattr(case, name, None)) for name in COLUMNS["counts"]}
    data.add_rows("counts", number, pd.DataFrame([row]))


_READERS: dict[str, Callable[..., None]] = {
    results.SCHEMA: load_samples.read_samples,
    documents.TRACE: _trace,
    documents.RANKS_TRACE: _ranks_trace,
    results.STOPWATCH: _stopwatch,
    kept.SESSION: _session,
    counts.EXPLAIN: _count,
}
"""The function that reads documents of each schema."""
