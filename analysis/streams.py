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
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from analysis import google_benchmark

SCHEDULES, STREAM_SCAN, TRACE, CAVEATS, CONCURRENCY = "schedules", "stream_scan", "trace", "caveats", "concurrency"
SIMULATION, COMPARISON, ADVICE = "simulation", "comparison", "advice"

SCHEDULES_SCHEMA = "scanlab-streams/1"
CAVEATS_SCHEMA = "scanlab-caveats/1"
CONCURRENCY_SCHEMA = "scanlab-concurrency/1"
COMPARISON_SCHEMA = "scanlab-comparison/1"
ADVICE_SCHEMA = "scanlab-advice-against/1"
_RESULTS_SCHEMA = "scanlab-results/1"

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
CAVEAT_COLUMNS = ["name", "question", "said", "claim", "source", "answer", "differs", "yes", "trials", "why_not", "environment"]
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
    schema = str(document.get("schema") or (context.get("schema") if isinstance(context, dict) else ""))
    family, _, _ = schema.partition("/")
    if family == "scanlab-streams" and "benchmarks" in document:
        return _entries(document, SCHEDULES, SCHEDULES_SCHEMA, schema, SCHEDULE_COLUMNS, _schedule_row)
    if "benchmarks" in document and _names_stream_scans(document["benchmarks"]):
        return _entries(document, STREAM_SCAN, _RESULTS_SCHEMA, schema, STREAM_SCAN_COLUMNS, _stream_scan_row)
    if family == "scanlab-caveats":
        return _objects(document, CAVEATS, CAVEATS_SCHEMA, "experiments", CAVEAT_COLUMNS, _wrong_caveat)
    if family == "scanlab-concurrency":
        return _objects(document, CONCURRENCY, CONCURRENCY_SCHEMA, "cases", CONCURRENCY_COLUMNS, _wrong_concurrency)
    if family == "scanlab-comparison":
        return _objects(document, COMPARISON, COMPARISON_SCHEMA, "traces", COMPARISON_COLUMNS, _wrong_comparison)
    if family == "scanlab-advice-against":
        return _objects(document, ADVICE, ADVICE_SCHEMA, "problems", ADVICE_COLUMNS, _wrong_advice)
    if "traceEvents" in document:
        return trace(document)
    return None


# -------------------------------------------------------------------------- Google Benchmark's documents


def _names_stream_scans(entries: Any) -> bool:
    first = entries[0] if isinstance(entries, list) and entries else None
    return isinstance(first, dict) and str(first.get("name", "")).startswith("stream_scan/")


def _entries(document: Mapping[str, Any], kind: str, wanted: str, schema: str, columns: Sequence[str],
             row_of: Callable[[Mapping[str, Any]], dict[str, Any]]) -> Found:  # fmt: skip
    if schema != wanted:
        return Found(wrong=[("context.schema", f"expected {wanted!r}, but its schema is {schema!r}")])
    if not isinstance(document["benchmarks"], list):
        return Found(wrong=[("benchmarks", "expected a list of repetitions")])
    found, rows = Found(kind, document["context"]), []
    rounds: dict[tuple[Any, ...], set[int]] = {}
    for index, entry in enumerate(document["benchmarks"]):
        place = f"benchmarks[{index}] {entry.get('name', '') if isinstance(entry, dict) else ''}".rstrip()
        if not isinstance(entry, dict):
            found.wrong.append((place, "expected an object"))
            continue
        if entry.get("run_type") == "aggregate" or google_benchmark.skip_reason(entry):
            continue
        try:
            google_benchmark.same_device(entry, found.context)
            row = row_of(entry)
            case, repetition = tuple(row.values()), max(google_benchmark.whole(entry, key, 0) for key in ("round", "repetition_index"))
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


def _parts(name: str, required: Sequence[str]) -> dict[str, Any]:
    """``HEAD/key:value/key:value`` as a dictionary, with the numbers that must be whole as such."""
    values: dict[str, Any] = dict(part.split(":", 1) for part in name.split("/")[1:] if ":" in part)
    missing = [key for key in required if key not in values]
    if missing:
        raise ValueError(f"its name lacks {', '.join(missing)}")
    for key in _WHOLE & set(values):
        if not values[key].isdigit():
            raise ValueError(f"{key} must be a whole number, not {values[key]!r}")
        values[key] = int(values[key])
    return values


def _schedule_row(entry: Mapping[str, Any]) -> dict[str, Any]:
    name = str(entry.get("run_name") or entry.get("name", ""))
    kind = next((kind for kind in _ENTRIES if name.startswith(f"streams/{kind}:")), None)
    if kind is None:
        raise ValueError(f"its name does not begin with streams/ and {', '.join(_ENTRIES)}")
    values = _parts(name, _ENTRIES[kind])
    row = {"entry": kind, "id": values[kind], "workload": values.get("workload", values[kind] if kind == "kernel" else ""),
           **{key: values.get(key, 0) for key in ("items", "chunks", "streams")}, "memory": values.get("memory", ""),
           **{key: values.get(key, 0) for key in ("work", "blocks", "buffers")}}  # fmt: skip
    row["bytes"] = values.get("bytes", 0) or google_benchmark.whole(entry, "bytes", 0)
    row["inputs"] = google_benchmark.whole(entry, "inputs") if kind == "schedule" else 0
    row["control"] = google_benchmark.whole(entry, "control", 0)
    if kind == "schedule" and not row["control"] and not google_benchmark.whole(entry, "verified"):
        raise ValueError("its output was wrong, though it is no control")
    return row


def _stream_scan_row(entry: Mapping[str, Any]) -> dict[str, Any]:
    values = _parts(str(entry.get("run_name") or entry.get("name", "")), _SCAN_PARTS)
    return {
        **{key: values[key] for key in _SCAN_PARTS},
        "mapped": google_benchmark.whole(entry, "mapped", 0),
        "bytes": google_benchmark.whole(entry, "bytes_each_way"),
    }


# ------------------------------------------------------------------------------ caveats and concurrency


_CASES = {
    CAVEATS: ("name", "environment"), CONCURRENCY: ("streams", "kernels", "blocks", "threads", "shared_bytes", "slots", "connections"),
    COMPARISON: ("file", "schedule", "workload", "items", "chunks", "streams", "memory", "buffers", "work", "blocks", "connections"),
    ADVICE: ("workload", "items", "work"),
}  # fmt: skip
"""What tells the objects of a document apart, as far as they have it."""


def _objects(document: Mapping[str, Any], kind: str, wanted: str, key: str, columns: list[str],
             wrong: Callable[[Mapping[str, Any]], str]) -> Found:  # fmt: skip
    """A document that is a list of objects with certain fields."""
    if document["schema"] != wanted:
        return Found(wrong=[("schema", f"expected {wanted!r}, but it is {document['schema']!r}")])
    for place, form, what in ((key, list, "a list"), ("context", dict, "an object")):
        if not isinstance(document.get(place), form):
            return Found(wrong=[(place, f"expected {what}")])
    optional = OPTIONAL_COMPARISON_COLUMNS if kind == COMPARISON else []
    found, rows, seen = Found(kind, document["context"]), [], {}
    for index, entry in enumerate(document[key]):
        missing = [c for c in columns if c not in entry] if isinstance(entry, dict) else list(columns)
        reason = f"lacks {', '.join(missing)}" if missing else wrong(entry)
        case = "" if reason else json.dumps([entry.get(column) for column in _CASES[kind]])
        if case and (first := seen.setdefault(case, index)) != index:
            reason = f"{key}[{first}] is the same case"
        if reason:
            found.wrong.append((f"{key}[{index}]", f"refused: {reason}"))
            continue
        rows.append({column: entry.get(column) for column in columns + optional})
    found.rows = pd.DataFrame(rows, columns=columns + optional)
    return found


def _wrong_caveat(entry: Mapping[str, Any]) -> str:
    for key in ("said", "answer"):
        if entry[key] not in ("yes", "no", None):
            return f"{key} is {entry[key]!r}, not yes, no or null"
    return ""


def _wrong_concurrency(entry: Mapping[str, Any]) -> str:
    makespans = entry["makespan_seconds"]
    if not isinstance(makespans, list) or not makespans or not all(_positive(value) for value in makespans):
        return "makespan_seconds is no list of positive times"
    numbers = [c for c in CONCURRENCY_COLUMNS if c != "makespan_seconds"]
    return next((f"{key} is {entry[key]!r}, not a positive number" for key in numbers if not _positive(entry[key])), "")


def _wrong_comparison(entry: Mapping[str, Any]) -> str:
    return next((f"{key} is {entry[key]!r}, not a positive number" for key in ("measured_us", "predicted_us") if not _positive(entry[key])), "")


def _wrong_advice(entry: Mapping[str, Any]) -> str:
    wanted = {"schedule", "chunks", "streams", "measured_us"}
    lacks = [key for key in ("advised", "fastest") if not isinstance(entry[key], dict) or wanted - entry[key].keys()]
    if lacks:
        return f"{lacks[0]} is no choice with {', '.join(sorted(wanted))}"
    return next((f"{key} is {entry[key]!r}, not a positive number" for key in ("copied_bytes", "ties") if not _positive(entry[key])), "")


def _positive(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value > 0


# ---------------------------------------------------------------------------------------------- traces


_LANES_A_PROCESS = 1_000_000_000


def trace(document: Mapping[str, Any]) -> Found:
    """A timeline in the trace-event format: the complete events of the process that is named ``engines``, or, where there
    is one, of that named ``multiprocessors``. ``scanlab simulate --compare`` has two, ``engines, measured`` and ``engines,
    predicted``: lanes of their own, named likewise.

    ``otherData`` is the context; it says ``simulated_on`` if nothing was measured.
    """
    events, about = document["traceEvents"], document.get("otherData", {})
    if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
        return Found(wrong=[("traceEvents", "expected a list of events")])
    if not isinstance(about, dict):
        return Found(wrong=[("otherData", "expected an object")])
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
        start, lasts = event.get("ts"), event.get("dur")
        arguments = event.get("args") if isinstance(event.get("args"), dict) else {}
        if not all(isinstance(value, (int, float)) and math.isfinite(value) and value >= 0 for value in (start, lasts)):
            found.wrong.append((f"traceEvents[{index}]", f"refused: ts is {start!r} and dur {lasts!r}, not microseconds"))
            continue
        lane, kind = event.get("tid", 0), str(event.get("cat", ""))
        engine, *further = lane_names.get((event.get("pid"), lane), kind).partition(", ")
        lane_name = "".join([engine, comma, whose, *further])
        if comma:
            lane += _LANES_A_PROCESS * event["pid"]
        rows.append((lane, lane_name, kind, start, start + lasts, arguments.get("chunk", -1),
                     arguments.get("operation", -1), str(arguments.get("stream", "")), arguments.get("channel", -1),
                     arguments.get("bytes", -1)))  # fmt: skip
    found.rows = pd.DataFrame(rows, columns=TRACE_COLUMNS)
    if found.rows.empty:
        found.wrong.append(("traceEvents", "holds no operation of an engine"))
        found.kind = ""
    return found


def _names(events: Sequence[Mapping[str, Any]], what: str) -> dict[tuple[Any, Any], str]:
    """What metadata call processes (lane 0) or lanes, by process and lane."""
    return {(e.get("pid"), 0 if what == "process_name" else e.get("tid")): str(e["args"].get("name", ""))
            for e in events if (e.get("ph"), e.get("name")) == ("M", what) and isinstance(e.get("args"), dict)}  # fmt: skip
