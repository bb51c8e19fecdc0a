"""Rows of timelines, experiments, sessions and emulator counts."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pandas as pd

from scanlab_report.data import Session
from scanlab_report.others.nvbench import nvbench
from scanlab_report.schema import counts, implicit_sync, kept, results, simulator, timelines
from scanlab_report.schema.fields import REMEDY, Misfit, convert, shown
from scanlab_report.tables import COLUMNS, rank_settings_name

if TYPE_CHECKING:
    from scanlab_report.reader import Reader


EXPERIMENTS: dict[str, tuple[str, str, Any, str]] = {
    implicit_sync.SCHEMA: (
        "implicit_sync",
        "experiments",
        implicit_sync.ImplicitSync,
        "name environment",
    ),
    implicit_sync.CONCURRENCY: (
        "concurrency",
        "cases",
        implicit_sync.Concurrency,
        "streams kernels blocks threads shared_bytes slots connections",
    ),
    simulator.COMPARISON: (
        "comparison",
        "traces",
        simulator.Comparison,
        "file schedule workload items chunks streams memory buffers work blocks connections",
    ),
    simulator.AGAINST: ("advice", "problems", simulator.Against, "workload items work"),
}
"""For each schema: the table, the field that is its list, the struct of the document, and the
fields that tell entries apart."""
_ENGINES = {"copy_in": "copies in", "copy_out": "copies out"}
_ENGINES |= {"kernel": "kernels", "side_kernel": "kernels"}
_ASKS = {("blocks", "the host"): "host", ("serialises", "kernels of two streams"): "streams"}


def trace(reader: Reader, path: Path, origin: str, document: Mapping[str, Any]) -> None:
    """Read the complete events of the process `multiprocessors`, or `engines` if there is none, and
    those of `host`. A comparison has two processes of each kind, and their lanes stay apart."""
    trace = convert(document, timelines.Trace)
    processes, engines = {}, {}
    for event in trace.traceEvents:
        if (event.ph, event.name) == ("M", "process_name"):
            processes[event.pid] = event.args
        elif (event.ph, event.name) == ("M", "thread_name"):
            engines[event.pid, event.tid] = event.args.engine or event.args.name
    kinds = {process.kind for process in processes.values()}
    drawn = next((kind for kind in ("multiprocessors", "engines") if kind in kinds), None)
    if drawn is None:
        raise Misfit("traceEvents", "no process is of kind engines")
    spans, calls = [], []
    for event in trace.traceEvents:
        process = processes.get(event.pid)
        if event.ph != "X" or process is None or process.kind not in (drawn, "host"):
            continue
        args, whose = event.args, f", {process.of}" if process.of else ""
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
        raise Misfit("traceEvents", "holds no operation of an engine")
    simulated = bool(trace.otherData.simulated_on)
    number = reader.add_file(path, origin, trace.otherData, of_no_device=simulated)
    reader.add_rows("spans", number, pd.DataFrame(spans, columns=COLUMNS["spans"]))
    reader.add_rows("calls", number, pd.DataFrame(calls, columns=COLUMNS["calls"]))


def ranks_trace(reader: Reader, path: Path, origin: str, document: Mapping[str, Any]) -> None:
    trace = convert(document, timelines.RanksTrace)
    named = ("type", "op", "mode", "ranks", "items")
    rows = [
        (case.variant, rank_settings_name(case.settings), *(getattr(case, name) for name in named))
        + (did.run, did.rank, did.kind, did.name, did.start_ns / 1e3, did.end_ns / 1e3)
        for case in trace.traces
        for did in case.activities
    ]
    number = reader.add_file(path, origin, trace.context)
    reader.add_rows("rank_spans", number, pd.DataFrame(rows, columns=COLUMNS["rank_spans"]))


def experiments(
    reader: Reader, path: Path, origin: str, document: Mapping[str, Any], schema: str
) -> None:
    table, key, struct, case = EXPERIMENTS[schema]
    read = convert(document, struct)
    number = reader.add_file(path, origin, read.context)
    rows: list[dict[str, Any]] = msgspec.to_builtins(getattr(read, key))
    seen: dict[str, int] = {}
    for index, row in enumerate(rows):
        name = json.dumps([row.get(column) for column in case.split()])
        if (first := seen.setdefault(name, index)) != index:
            raise Misfit(f"{key}[{index}]", f"refused: {key}[{first}] is the same case")
        if table == "implicit_sync":
            sources = row["sources"]
            row |= {"question": row["statement"], "answer": row["measured"]}
            row["works"] = tuple(dict.fromkeys(source["work"] for source in sources))
            row["source"] = "; ".join(f"{s['work']}, {s['place']}" for s in sources) or "none"
            row["asks"] = _ASKS.get((row["verb"], row["object"]), "")
    reader.add_rows(table, number, pd.DataFrame(rows, columns=COLUMNS[table]))


def stopwatch_times(reader: Reader, path: Path, origin: str, document: Mapping[str, Any]) -> None:
    number = reader.add_file(path, origin, convert(document, results.Stopwatch).context)
    rows = []
    for case in nvbench(path, document)[1]:
        axes, median = case["axes"], case["median"]
        if case["misfit"]:
            raise case["misfit"]
        if case["skipped"]:
            continue
        if not {"variant", "type", "items"} <= set(axes):
            reader.complain(path, case["place"], "lacks one of the axes variant, type and items")
            continue
        if not isinstance(items := axes["items"], int):
            place = f"{case['place']}.axis_values"
            raise Misfit(place, f"items is {items!r}, not a whole number")
        named = (str(axes["variant"]), str(axes["type"]), items)
        isolated = median if math.isfinite(median) else case["mean"]
        ways = ((("cold", "stream"), isolated), (("warm", "batch"), case["batch"]))
        rows += [(*named, *way, 1e9 * seconds) for way, seconds in ways if math.isfinite(seconds)]
    reader.add_rows("nvbench", number, pd.DataFrame(rows, columns=COLUMNS["nvbench"]))


def session(reader: Reader, path: Path, origin: str, document: Mapping[str, Any]) -> None:
    session = convert(document, kept.Session)
    files = [(path.parent / entry.file).resolve() for entry in session.files]
    for index, file in enumerate(files):
        if not file.is_file():
            named = shown(session.files[index].file)
            message = f"is {named}, and there is no such file: {REMEDY}"
            reader.complain(path, f"files[{index}].file", message)
    folder = path.parent.resolve()
    reader.data.sessions.append(
        Session(
            folder, session.device, session.date, session.complete, frozenset(files), session.gpus
        )
    )


def count(reader: Reader, path: Path, origin: str, document: Mapping[str, Any]) -> None:
    case = convert(document, counts.Explanation)
    context = {"date": case.date, "git_commit": case.git_commit, "git_dirty": case.git_dirty}
    number = reader.add_file(path, origin, context, of_no_device=True)
    values = {"unpadded": case.unpadded or case.variant, "content": case}
    row = {name: values.get(name, getattr(case, name, None)) for name in COLUMNS["counts"]}
    reader.add_rows("counts", number, pd.DataFrame([row]))
