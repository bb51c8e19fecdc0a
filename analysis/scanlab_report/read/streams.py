"""Reading what the stream laboratory wrote: one document in, tidy rows and what was wrong with it out.

=============  ==========================================================  ==================================
kind           written by                                                  one row is
=============  ==========================================================  ==================================
schedules      ``scanlab streams run`` (Google Benchmark's JSON)           a repetition of a schedule, copy or kernel
stream_scan    ``scanlab stream-scan --json`` (likewise)                   a repetition of a whole scan
trace          ``scanlab streams trace`` (trace events)                    an operation on an engine
simulation     ``scanlab simulate``, ``scanlab scenes`` (likewise)         likewise, or a block on a multiprocessor
caveats        ``scanlab streams caveats --json``                          an experiment
concurrency    ``scanlab streams concurrency --json``                      a case, its makespans a list
comparison     ``scanlab simulate --compare … --out``                      a trace, measured and predicted
advice         ``scanlab advise --against … --json``                       a problem: what was advised, what was fastest
=============  ==========================================================  ==================================
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from scanlab_report.read import entries, google_benchmark, names
from scanlab_report.read.fields import (
    AMOUNT,
    CONTEXT,
    COUNT,
    DIGITS,
    FLAG,
    INDEX,
    LINE,
    NAME,
    NULL,
    NUMBER,
    OBJECT,
    POSITIVE,
    Fields,
    ListOf,
    Shape,
    check,
    count_to,
    one_of,
    shown,
)

SCHEDULES, STREAM_SCAN, TRACE, CAVEATS, CONCURRENCY = "schedules", "stream_scan", "trace", "caveats", "concurrency"
SIMULATION, COMPARISON, ADVICE = "simulation", "comparison", "advice"

SCHEDULES_SCHEMA = "scanlab-streams/1"
CAVEATS_SCHEMA, OLD_CAVEATS_SCHEMA = "scanlab-caveats/2", "scanlab-caveats/1"
CONCURRENCY_SCHEMA = "scanlab-concurrency/1"
COMPARISON_SCHEMA = "scanlab-comparison/1"
ADVICE_SCHEMA = "scanlab-advice-against/1"

ENGINES = ("copies in", "kernels", "copies out")
"""Kinds of engine in the order of a chunk's way; the categories of a trace's operations."""

SCHEDULE_COLUMNS = ["entry", "id", "workload", "items", "chunks", "streams", "memory", "work", "blocks", "buffers", "bytes", "inputs",
                    "control", "round", "time_ns", "device_ns", "sm_clock_mhz", "settled"]  # fmt: skip
"""``entry``: schedule, copy or kernel; ``id``: which. What an entry does not have is 0 or empty. Of a schedule ``time_ns`` is by
the host's clock, ``device_ns`` between events: NaN where it was not measured."""
STREAM_SCAN_COLUMNS = ["way", "scan", "type", "op", "mode", "items", "from", "to", "budget", "chunks", "mapped", "bytes", "round", "time_ns"]
"""``bytes``: each way."""
SCHEDULE = ["workload", "items", "chunks", "streams", "memory", "work", "blocks", "buffers", "id"]
SCAN = ["way", "scan", "type", "op", "mode", "items", "from", "to", "budget", "chunks", "mapped"]
"""The columns that name a case of a schedule, and of a scan larger than the device."""
TRACE_COLUMNS = ["lane", "lane_name", "kind", "start_us", "end_us", "chunk", "operation", "stream", "channel", "bytes"]
"""``lane``: the engine's, a number, and what the trace calls it; ``channel``: the hardware queue; ``bytes``: of a copy. -1 where the trace does not say."""
_CAVEAT_COLUMNS = ["name", "said", "claim", "source", "differs", "yes", "trials", "why_not", "environment"]
CAVEAT_COLUMNS = [*_CAVEAT_COLUMNS, "question", "answer", "subject", "asks"]
"""``subject``: of the statement that ``question`` is; ``asks``: of a call, ``host`` or ``streams``: what it blocks or serialises; else empty."""
CONCURRENCY_COLUMNS = ["streams", "kernels", "blocks", "slots", "connections", "block_seconds", "waves", "fluid_seconds",
                       "predicted_seconds", "serial_seconds", "makespan_seconds"]  # fmt: skip
COMPARISON_COLUMNS = ["schedule", "workload", "items", "chunks", "streams", "work", "connections", "measured_us", "predicted_us", "overlap_in_either",
                      "overlap_in_both", "unaided_us", "unaided_overlap_in_either", "unaided_overlap_in_both", "repeated_overlap_in_either",
                      "repeated_overlap_in_both", "best_overlap_in_either", "best_overlap_in_both", "copy_queues", "queues_ordered_as_modelled"]  # fmt: skip
OPTIONAL_COMPARISON_COLUMNS = ["repetitions", "measured_spread"]
"""How many there are, and by what part of their median they differ; None where a file lacks it."""
ADVICE_COLUMNS = ["workload", "items", "work", "copied_bytes", "choices", "median_error", "worst_error", "said_was_measured", "advised", "fastest",
                  "slower", "ties", "ties_least_slower", "ties_most_slower"]  # fmt: skip
"""``advised``: what is scored, which is what was said if ``said_was_measured``; ``ties``: choices that took as long by the prediction."""

_SOME = count_to(2**53, "2^53", 1)
_FEW = count_to(10**6, "10^6", 1)
"""Of what a figure draws one by one."""
_ANSWER = one_of("yes", "no") | NULL
_CAVEAT = Fields(dict.fromkeys(_CAVEAT_COLUMNS, LINE) | {
    "name": NAME, "said": _ANSWER, "differs": FLAG, "yes": COUNT, "trials": COUNT, "environment": Fields({"*": LINE})})  # fmt: skip
_CAVEAT_PARTS = {"subject": LINE, "verb": LINE, "object": LINE, "statement": LINE, "found": _ANSWER}
_OLD_CAVEAT_PARTS = {"question": LINE, "answer": _ANSWER}
_CONCURRENCY = Fields(dict.fromkeys(CONCURRENCY_COLUMNS, POSITIVE) | dict.fromkeys(("streams", "kernels", "blocks", "connections", "slots"), _FEW) | {
    "waves": _SOME, "makespan_seconds": ListOf(POSITIVE, least=1), "threads?": COUNT, "shared_bytes?": COUNT})  # fmt: skip
_COMPARISON = Fields(dict.fromkeys(COMPARISON_COLUMNS, COUNT) | {
    "schedule": NAME, "workload": NAME, "measured_us": POSITIVE, "predicted_us": POSITIVE, "unaided_us": POSITIVE, "queues_ordered_as_modelled": FLAG,
    "repetitions?": COUNT | NULL, "measured_spread?": AMOUNT | NULL, "file?": LINE, "memory?": LINE, "buffers?": COUNT, "blocks?": COUNT})  # fmt: skip
_CHOICE = Fields({"schedule": NAME, "chunks": COUNT, "streams": COUNT, "measured_us": POSITIVE, "repetitions?": COUNT})
_ADVICE = Fields(dict.fromkeys(ADVICE_COLUMNS, AMOUNT) | dict.fromkeys(("items", "work", "choices"), COUNT) | {
    "workload": NAME, "said_was_measured": FLAG, "advised": _CHOICE, "fastest": _CHOICE, "slower": NUMBER, "copied_bytes": _SOME, "ties": _SOME})  # fmt: skip
_ENTRY_FIELDS = {
    "schedule": Fields({"inputs": COUNT, "verified": FLAG, "control?": FLAG, "bytes?": COUNT}), "copy": Fields({"control?": FLAG, "bytes?": COUNT}),
    "kernel": Fields({"control?": FLAG, "bytes?": COUNT}), STREAM_SCAN: Fields({"mapped?": FLAG, "bytes_each_way": COUNT}),
}  # fmt: skip
_TIMELINE = CONTEXT | Fields({
    "items?": COUNT, "chunks?": COUNT, "streams?": COUNT, "work?": COUNT, "connections?": COUNT, "workload?": LINE, "memory?": LINE, "schedule?": LINE,
    "simulated_on?": NAME, "scene?": NAME, "title?": LINE, "fact?": LINE, "unit?": LINE, "machine?": LINE, "source?": LINE, "overlap?": NUMBER,
    "collection_percent?": NUMBER, "collected_us?": ListOf(POSITIVE), "makespan_us?": POSITIVE, "measured_us?": POSITIVE, "predicted_us?": POSITIVE,
    "multiprocessors?": DIGITS})  # fmt: skip
_SCENE = _TIMELINE | Fields({"title": LINE, "fact": LINE, "unit": LINE, "makespan_us": POSITIVE, "multiprocessors?": _FEW})
_EVENT = Fields({"ph?": LINE, "name?": LINE, "cat?": LINE, "pid?": COUNT, "tid?": COUNT})
_NAMING = Fields({"args?": Fields({"name?": LINE})})
_OPERATION = Fields({"ts": AMOUNT, "dur": AMOUNT, "args?": Fields({"chunk?": INDEX, "operation?": INDEX, "stream?": LINE, "channel?": INDEX, "bytes?": INDEX})})
"""What the entries of each kind of document must be."""

_WHOLE = {"items", "chunks", "streams", "work", "blocks", "buffers", "bytes", "budget"}
_ENTRIES = {"schedule": ("workload", "items", "chunks", "streams", "memory", "work", "blocks"), "copy": ("bytes", "memory"),
            "kernel": ("items", "work", "blocks")}  # fmt: skip
_SCAN_PARTS = ("way", "scan", "type", "op", "mode", "items", "from", "to", "budget", "chunks")


@dataclass
class Found:
    """What a document held. ``wrong``: place within it, and what; ``kind`` is empty if nothing of it can be used."""

    kind: str = ""
    context: Mapping[str, Any] = field(default_factory=dict)
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)
    wrong: list[tuple[str, str]] = field(default_factory=list)


def read(document: Mapping[str, Any]) -> Found | None:
    """Reads one JSON document; None if it is none of the stream laboratory's."""
    context = document.get("context")
    places = {"schema": document.get("schema"), "context.schema": context.get("schema") if isinstance(context, dict) else None}
    if wrong := [(place, str(NAME.misfit(schema))) for place, schema in places.items() if not isinstance(schema, str | None)]:
        return Found(wrong=wrong[:1])
    schema = next(filter(None, places.values()), "")
    family, _, _ = schema.partition("/")
    if schema == entries.SCHEMA:
        kinds = _kinds(document.get("benchmarks"))
        if kinds & set(entries.OF_SCHEDULES) or (not kinds and "schedules" in (context or {})):
            return _entries(document, SCHEDULES, schema, schema, SCHEDULE_COLUMNS, entries.schedule)
        return _entries(document, STREAM_SCAN, schema, schema, STREAM_SCAN_COLUMNS, entries.stream_scan) if entries.STREAM_SCAN in kinds else None
    if family == "scanlab-streams" and "benchmarks" in document:
        return _entries(document, SCHEDULES, SCHEDULES_SCHEMA, schema, SCHEDULE_COLUMNS, _schedule_row)
    if "benchmarks" in document and _names_stream_scans(document["benchmarks"]):
        return _entries(document, STREAM_SCAN, entries.OLD_SCHEMA, schema, STREAM_SCAN_COLUMNS, _stream_scan_row)
    if family == "scanlab-caveats":
        return _caveats(document, schema)
    if family == "scanlab-concurrency":
        return _objects(document, CONCURRENCY, schema, CONCURRENCY_SCHEMA, "cases", CONCURRENCY_COLUMNS, _CONCURRENCY)
    if family == "scanlab-comparison":
        return _objects(document, COMPARISON, schema, COMPARISON_SCHEMA, "traces", COMPARISON_COLUMNS, _COMPARISON)
    if family == "scanlab-advice-against":
        return _objects(document, ADVICE, schema, ADVICE_SCHEMA, "problems", ADVICE_COLUMNS, _ADVICE)
    if "traceEvents" in document:
        return trace(document)
    return None


# -------------------------------------------------------------------------- Google Benchmark's documents


def _kinds(of_file: Any) -> set[str]:
    """The kinds of entry that a file says it has."""
    return {str(of.get("kind")) for of in of_file if isinstance(of, dict)} if isinstance(of_file, list) else set()


def _names_stream_scans(of_file: Any) -> bool:
    return isinstance(of_file, list) and any(isinstance(of, dict) and names.is_stream_scan(str(of.get("name", ""))) for of in of_file)


def _entries(document: Mapping[str, Any], kind: str, wanted: str, schema: str, columns: Sequence[str],
             row_of: Callable[[Mapping[str, Any]], dict[str, Any]]) -> Found:  # fmt: skip
    if schema != wanted:
        return Found(wrong=[("context.schema", f"expected {wanted!r}, but its schema is {shown(schema)}")])
    if misfit := Fields({"context": CONTEXT, "benchmarks": ListOf(OBJECT)}).misfit(document):
        return Found(wrong=[misfit])
    found, rows = Found(kind, document["context"]), []
    rounds: dict[tuple[Any, ...], set[int]] = {}
    for index, entry in enumerate(document["benchmarks"]):
        place = google_benchmark.place(index, entry)
        try:
            check(entry, google_benchmark.ENTRY)
            if entry.get("run_type") == "aggregate" or google_benchmark.skip_reason(entry):
                continue
            google_benchmark.same_device(entry, found.context)
            check(entry, google_benchmark.REPETITION)
            row = row_of(entry)
            case, repetition = tuple(row.values()), max(google_benchmark.rounds(entry))
            row |= {"round": repetition, "time_ns": google_benchmark.time_ns(entry), "device_ns": google_benchmark.device_ns(entry),
                    "sm_clock_mhz": google_benchmark.clock_mhz(entry), "settled": google_benchmark.settled(entry)}  # fmt: skip
            if repetition in rounds.get(case, ()):
                raise ValueError(f"repetition {repetition} of this case was already read")
        except ValueError as error:
            found.wrong.append((place, f"refused: {error}"))
            continue
        rounds.setdefault(case, set()).add(repetition)
        rows.append(row)
    found.rows = pd.DataFrame(rows, columns=columns)
    if not found.wrong and (lacking := google_benchmark.lacking(rounds)):
        found.wrong.append(("benchmarks", lacking))
    return found


def _schedule_row(entry: Mapping[str, Any]) -> dict[str, Any]:
    name = str(entry.get("run_name") or entry.get("name", ""))
    kind = names.entry_kind(name, tuple(_ENTRIES))
    if kind is None:
        raise ValueError(f"its name does not begin with streams/ and {', '.join(_ENTRIES)}")
    values = names.parts(name, (kind, *_ENTRIES[kind]), _WHOLE)
    check(entry, _ENTRY_FIELDS[kind])
    row = {"entry": kind, "id": values[kind], "workload": values.get("workload", values[kind] if kind == "kernel" else ""),
           **{key: values.get(key, 0) for key in ("items", "chunks", "streams")}, "memory": values.get("memory", ""),
           **{key: values.get(key, 0) for key in ("work", "blocks", "buffers")}}  # fmt: skip
    row["bytes"] = values.get("bytes", 0) or int(entry.get("bytes", 0))
    row["inputs"] = int(entry["inputs"]) if kind == "schedule" else 0
    row["control"] = int(entry.get("control", 0))
    if kind == "schedule" and not row["control"] and not entry["verified"]:
        raise ValueError("its output was wrong, though it is no control")
    return row


def _stream_scan_row(entry: Mapping[str, Any]) -> dict[str, Any]:
    values = names.parts(str(entry.get("run_name") or entry.get("name", "")), _SCAN_PARTS, _WHOLE)
    check(entry, _ENTRY_FIELDS[STREAM_SCAN])
    return {
        **{key: values[key] for key in _SCAN_PARTS},
        "mapped": int(entry.get("mapped", 0)),
        "bytes": int(entry["bytes_each_way"]),
    }


# ------------------------------------------------------------------------------ caveats and concurrency


_CASES = {
    CAVEATS: ("name", "environment"), CONCURRENCY: ("streams", "kernels", "blocks", "threads", "shared_bytes", "slots", "connections"),
    COMPARISON: ("file", "schedule", "workload", "items", "chunks", "streams", "memory", "buffers", "work", "blocks", "connections"),
    ADVICE: ("workload", "items", "work"),
}  # fmt: skip
"""What tells the objects of a document apart, as far as they have it."""


def _objects(document: Mapping[str, Any], kind: str, schema: str, wanted: str, key: str, columns: list[str], shape: Shape) -> Found:
    """A document that is a list of objects with certain fields."""
    if schema != wanted:
        return Found(wrong=[("schema", f"expected {wanted!r}, but it is {shown(schema)}")])
    if misfit := Fields({key: ListOf(OBJECT), "context": CONTEXT}).misfit(document):
        return Found(wrong=[misfit])
    columns = columns + (OPTIONAL_COMPARISON_COLUMNS if kind == COMPARISON else [])
    found, rows = Found(kind, document["context"]), []
    seen: dict[str, int] = {}
    for index, entry in enumerate(document[key]):
        reason: object = shape.misfit(entry)
        case = "" if reason else json.dumps([entry.get(column) for column in _CASES[kind]])
        if case and (first := seen.setdefault(case, index)) != index:
            reason = f"{key}[{first}] is the same case"
        if reason:
            found.wrong.append((f"{key}[{index}]", f"refused: {reason}"))
            continue
        rows.append({column: entry.get(column) for column in columns})
    found.rows = pd.DataFrame(rows, columns=columns)
    return found


_OLD_CALL = re.compile(r"^does (?P<call>.*?),? (?:hold up the host until the kernel before it ends|keep kernels of two streams apart)$")
_ASKS = {("blocks", "the host"): "host", ("serialises", "kernels of two streams"): "streams"}


def _caveats(document: Mapping[str, Any], schema: str) -> Found:
    """Experiments. In a file of the old schema a call is a part of the question, and what is asked a part of the name."""
    parts = _OLD_CAVEAT_PARTS if schema == OLD_CAVEATS_SCHEMA else _CAVEAT_PARTS
    wanted = OLD_CAVEATS_SCHEMA if schema == OLD_CAVEATS_SCHEMA else CAVEATS_SCHEMA
    found = _objects(document, CAVEATS, schema, wanted, "experiments", [*_CAVEAT_COLUMNS, *parts], _CAVEAT | Fields(parts))
    if not found.kind:
        return found
    if parts is _CAVEAT_PARTS:
        found.rows["asks"] = [_ASKS.get(pair, "") for pair in zip(found.rows["verb"], found.rows["object"], strict=True)]
        found.rows = found.rows.rename(columns={"statement": "question", "found": "answer"})
    else:
        calls = [_OLD_CALL.match(question) for question in found.rows["question"]]
        found.rows["subject"] = [call["call"] if call else question for call, question in zip(calls, found.rows["question"], strict=True)]
        found.rows["asks"] = [name.rpartition(".")[2] if call else "" for call, name in zip(calls, found.rows["name"], strict=True)]
    found.rows = found.rows[CAVEAT_COLUMNS]
    return found


# ---------------------------------------------------------------------------------------------- traces


_LANES_A_PROCESS = 1_000_000_000


def trace(document: Mapping[str, Any]) -> Found:
    """A timeline in the trace-event format: the complete events of the process that is named ``engines``, or, where there
    is one, of that named ``multiprocessors``. ``scanlab simulate --compare`` has two, ``engines, measured`` and ``engines,
    predicted``: lanes of their own, named likewise.

    ``otherData`` is the context; it says ``simulated_on`` if nothing was measured.
    """
    about = document.get("otherData", {})
    of_all = Fields({"traceEvents": ListOf(_EVENT), "otherData?": _SCENE if isinstance(about, dict) and "scene" in about else _TIMELINE})
    if misfit := of_all.misfit(document):
        return Found(wrong=[misfit])
    events = document["traceEvents"]
    for index, event in enumerate(events):
        if event.get("ph") == "M" and (misfit := _NAMING.misfit(event)):
            return Found(wrong=[misfit.within(f"traceEvents[{index}]")])
    processes, lane_names = _names(events, "process_name"), _names(events, "thread_name")
    said = {process: name.partition(", ") for process, name in processes.items()}
    shown = next((kind for kind in ("multiprocessors", "engines") if any(kind == name for name, _, _ in said.values())), None)
    if shown is None:
        return Found(wrong=[("traceEvents", "no process is named engines")])
    found, rows = Found(SIMULATION if "simulated_on" in about else TRACE, about), []
    for index, event in enumerate(events):
        name, comma, whose = said.get((event.get("pid"), 0), ("", "", ""))
        if event.get("ph") != "X" or name != shown:
            continue
        if misfit := _OPERATION.misfit(event):
            found.wrong.append((f"traceEvents[{index}]", f"refused: {misfit}"))
            continue
        start, lasts, arguments = event["ts"], event["dur"], event.get("args", {})
        lane, kind = event.get("tid", 0), event.get("cat", "")
        engine, *further = lane_names.get((event.get("pid"), lane), kind).partition(", ")
        lane_name = "".join([engine, comma, whose, *further])
        if comma:
            lane += _LANES_A_PROCESS * event.get("pid", 0)
        rows.append((lane, lane_name, kind, start, start + lasts, arguments.get("chunk", -1),
                     arguments.get("operation", -1), arguments.get("stream", ""), arguments.get("channel", -1),
                     arguments.get("bytes", -1)))  # fmt: skip
    found.rows = pd.DataFrame(rows, columns=TRACE_COLUMNS)
    if found.rows.empty:
        found.wrong.append(("traceEvents", "holds no operation of an engine"))
        found.kind = ""
    return found


def _names(events: Sequence[Mapping[str, Any]], what: str) -> dict[tuple[Any, Any], str]:
    """What metadata call processes (lane 0) or lanes, by process and lane."""
    return {(e.get("pid"), 0 if what == "process_name" else e.get("tid")): e.get("args", {}).get("name", "")
            for e in events if (e.get("ph"), e.get("name")) == ("M", what)}  # fmt: skip
