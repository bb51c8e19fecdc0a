"""Reading what the stream laboratory wrote: one document in, tidy rows out.

=============  ==========================================================  ==================================
kind           written by                                                  one row is
=============  ==========================================================  ==================================
schedules      ``scanlab streams run`` (Google Benchmark's JSON)           a repetition of a schedule, copy or kernel
stream_scan    ``scanlab stream-scan --json`` (likewise)                   a repetition of a whole scan
trace          ``scanlab streams trace`` (trace events)                    an operation on an engine
simulation     ``scanlab simulate``, ``scanlab scenarios`` (likewise)         likewise, or a block on a multiprocessor
implicit_sync        ``scanlab streams implicit-sync --json``                          an experiment
concurrency    ``scanlab streams concurrency --json``                      a case, its makespans a list
comparison     ``scanlab simulate --compare … --out``                      a trace, measured and predicted
advice         ``scanlab advise --against … --json``                       a problem: what was advised, what was fastest
distributed    ``scanlab distributed bench`` (likewise)                    a repetition of a scan over several ranks
ranks_trace    ``scanlab distributed trace``                               a kernel, copy or memset on a GPU
stopwatch      ``scanlab_nvbench --json``                                  a scan's time by nvbench, isolated or in batches
=============  ==========================================================  ==================================
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec
import pandas as pd
from msgspec import UNSET, Struct

from scanlab_report.read.documents import implicit_sync, simulator
from scanlab_report.read.documents.base import Measured
from scanlab_report.read.documents.results import CopySample, DistributedSample, KernelSample, ScheduleSample, StreamScanSample
from scanlab_report.read.documents.timelines import RanksTrace, Trace
from scanlab_report.read.fields import Misfit, convert, listed

SCHEDULES, STREAM_SCAN, TRACE, IMPLICIT_SYNC, CONCURRENCY = "schedules", "stream_scan", "trace", "implicit_sync", "concurrency"
SIMULATION, COMPARISON, ADVICE = "simulation", "comparison", "advice"
STOPWATCH, DISTRIBUTED, RANKS_TRACE = "stopwatch", "distributed", "ranks_trace"

ENGINES = ("copies in", "kernels", "copies out")
"""Kinds of engine in the order of a chunk's way; the categories of a trace's operations."""

SCHEDULE_COLUMNS = ["entry", "id", "workload", "items", "chunks", "streams", "memory", "work", "blocks", "buffers", "bytes", "inputs",
                    "control", "side_kernels", "own_streams", "round", "time_ns", "device_ns", "sm_clock_mhz", "converged"]  # fmt: skip
"""``entry``: schedule, copy or kernel; ``id``: which. What an entry does not have is 0 or empty. Of a schedule ``time_ns`` is by
the host's clock, ``device_ns`` between events: NaN where it was not measured. ``side_kernels``: whether it runs kernels beside those
of the chunks; ``own_streams``: whether it makes another number of streams than it was asked for."""
STREAM_SCAN_COLUMNS = ["way", "scan", "type", "op", "mode", "items", "from", "to", "budget", "chunks", "mapped", "bytes", "round", "time_ns"]
"""``bytes``: each way."""
SCHEDULE = ["workload", "items", "chunks", "streams", "memory", "work", "blocks", "buffers", "id"]
SCAN = ["way", "scan", "type", "op", "mode", "items", "from", "to", "budget", "chunks", "mapped"]
"""The columns that name a case of a schedule, and of a scan larger than the device."""
TRACE_COLUMNS = ["lane", "lane_name", "kind", "start_us", "end_us", "chunk", "operation", "stream", "channel", "bytes", "label"]
"""``lane``: the engine's, a number, and the engine; ``channel``: the hardware queue; ``bytes``: of a copy. -1 where the trace does not say. ``label``: what a scenario file calls it, or empty."""
CALL_COLUMNS = ["lane_name", "kind", "start_us", "end_us", "chunk", "operation"]
"""``kind``: of the engine that the call gives work to; empty for other calls."""
IMPLICIT_SYNC_COLUMNS = ["name", "stated", "claim", "works", "source", "differs", "yes", "trials", "seconds", "refusal", "environment", "question", "answer", "subject", "asks"]
"""``works``: the sources without their pages; ``subject``: of the statement that ``question`` is; ``asks``: of a call, ``host`` or ``streams``: what it blocks or serialises; else empty."""
CONCURRENCY_COLUMNS = ["streams", "kernels", "blocks", "slots", "connections", "block_seconds", "waves", "fluid_seconds",
                       "predicted_seconds", "serial_seconds", "makespan_seconds"]  # fmt: skip
STOPWATCH_COLUMNS = ["variant", "type", "items", "cache", "launch", "time_ns"]
"""``time_ns``: nvbench's median of isolated runs, its mean of batches."""
DISTRIBUTED_COLUMNS = ["algorithm", "kind", "type", "op", "mode", "items", "ranks", "on", "settings", "bytes", "round", "time_ns"]
"""``items``, ``bytes``: of the whole array; ``time_ns``: of the slowest rank; ``settings``: every parameter, as text."""
RANKS_TRACE_COLUMNS = ["algorithm", "settings", "type", "op", "mode", "ranks", "items", "run", "rank", "kind", "name", "start_us", "end_us"]
"""Times are from the first start of the run on any GPU; ``name``: of a kernel, else empty."""
COMPARISON_COLUMNS = ["schedule", "workload", "items", "chunks", "streams", "work", "connections", "measured_us", "predicted_us", "overlap_in_either",
                      "overlap_in_both", "unaided_us", "unaided_overlap_in_either", "unaided_overlap_in_both", "repeated_overlap_in_either",
                      "repeated_overlap_in_both", "best_overlap_in_either", "best_overlap_in_both", "copy_queues", "queues_ordered_as_modelled",
                      "repetitions", "measured_spread", "estimate_us"]  # fmt: skip
"""The last three, how many there are, by what part of their median they differ and the pipeline estimate, are None where a file lacks them."""
ADVICE_COLUMNS = ["workload", "items", "work", "copied_bytes", "choices", "median_error", "worst_error", "stated_was_measured", "advised", "fastest",
                  "slower", "ties", "ties_least_slower", "ties_most_slower"]  # fmt: skip
"""``advised``: what is scored, which is the stated choice if ``stated_was_measured``; ``ties``: choices that took as long by the prediction."""


@dataclass
class Found:
    """What a document held. ``wrong``: place within it, and what; ``kind`` is empty if nothing of it can be used; ``calls``: of a trace,
    when the host was in each call (:data:`CALL_COLUMNS`), empty where the trace does not say it.
    """

    kind: str = ""
    context: Mapping[str, Any] = field(default_factory=dict)
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)
    wrong: list[tuple[str, str]] = field(default_factory=list)
    calls: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=CALL_COLUMNS))


# -------------------------------------------------------------------------------- entries of results files


def schedule_case(of: ScheduleSample | CopySample | KernelSample) -> dict[str, Any]:
    """The case of a schedule, or of a part of one. What an entry does not have is 0 or empty."""
    case: dict[str, Any] = {"entry": "", "id": "", "workload": "", "items": 0, "chunks": 0, "streams": 0, "memory": "", "work": 0, "blocks": 0, "buffers": 0,
                            "bytes": 0, "inputs": 0, "control": 0}  # fmt: skip
    if isinstance(of, CopySample):
        return case | {"entry": "copy", "id": ("duplex_" if of.both_ways else "") + of.direction, "memory": of.memory, "bytes": of.bytes}
    case |= {"workload": of.workload, "items": of.items, "work": of.work, "blocks": of.blocks}
    if isinstance(of, KernelSample):
        return case | {"entry": "kernel", "id": of.workload}
    # A schedule that has a buffer per chunk is the same case whatever the buffers.
    reuses = of.buffers < min(of.chunks, of.items)
    return case | {"entry": "schedule", "id": of.schedule, "chunks": of.chunks, "streams": of.streams, "memory": of.memory,
                   "buffers": of.buffers if reuses else 0, "bytes": of.bytes, "inputs": of.inputs, "control": int(of.control)}  # fmt: skip


def schedule_row(of: ScheduleSample | CopySample | KernelSample) -> dict[str, Any]:
    """What was measured of it."""
    device_ms = of.device_time_ms if isinstance(of, ScheduleSample) else UNSET
    side, own = (int(of.side_kernels > 0), int(of.streams_created != of.streams)) if isinstance(of, ScheduleSample) else (0, 0)
    return {"side_kernels": side, "own_streams": own, "round": of.sample, "time_ns": of.real_time, "device_ns": known(device_ms) * 1e6, "sm_clock_mhz": known(of.sm_clock_mhz), "converged": known(of.converged)}


def stream_scan_case(of: StreamScanSample) -> dict[str, Any]:
    """The case of a scan larger than the device."""
    return {"way": of.way, "scan": of.variant, "type": of.type, "op": of.op, "mode": of.mode, "items": of.items, "from": of.from_, "to": of.to,
            "budget": of.budget_bytes, "chunks": of.chunks, "mapped": int(of.mapped), "bytes": of.bytes_each_way}  # fmt: skip


def distributed_case(of: DistributedSample, kind: str) -> dict[str, Any]:
    """The case of a scan over several ranks. `kind`: of its algorithm."""
    settings = settings_text(of.settings)
    return {"algorithm": of.variant, "kind": kind, "type": of.type, "op": of.op, "mode": of.mode, "items": of.items, "ranks": of.ranks, "on": of.on,
            "settings": settings, "bytes": of.bytes}  # fmt: skip


def settings_text(settings: Mapping[str, str]) -> str:
    """Every parameter of an algorithm over several ranks, as the key of a case."""
    return ",".join(f"{name}={value}" for name, value in sorted(settings.items()))


def settings_in(key: str) -> dict[str, str]:
    """The parameters that :func:`settings_text` made a key of."""
    return dict(of.partition("=")[::2] for of in key.split(",") if of)


def known(value: Any) -> float:
    """A number; NaN where the file does not say it."""
    return math.nan if value is UNSET else float(value)


# ------------------------------------------------------------------------------- experiments and comparisons



class _Measured(Struct):
    context: Measured


class _Simulated(Struct):
    context: simulator.Simulated


class _Of(NamedTuple):
    """A document that is a list of objects: the kind, the field that is the list, what each is, the columns, and what tells the objects apart."""

    kind: str
    key: str
    struct: type[Struct]
    about: type[_Measured | _Simulated]
    columns: list[str]
    case: tuple[str, ...]


_CASES = {
    implicit_sync.SCHEMA: _Of(IMPLICIT_SYNC, "experiments", implicit_sync.Experiment, _Measured, IMPLICIT_SYNC_COLUMNS, ("name", "environment")),
    implicit_sync.CONCURRENCY: _Of(CONCURRENCY, "cases", implicit_sync.Grids, _Measured, CONCURRENCY_COLUMNS,
                             ("streams", "kernels", "blocks", "threads", "shared_bytes", "slots", "connections")),
    simulator.COMPARISON: _Of(COMPARISON, "traces", simulator.ComparedTrace, _Simulated, COMPARISON_COLUMNS,
                              ("file", "schedule", "workload", "items", "chunks", "streams", "memory", "buffers", "work", "blocks", "connections")),
    simulator.AGAINST: _Of(ADVICE, "problems", simulator.Problem, _Simulated, ADVICE_COLUMNS, ("workload", "items", "work")),
}  # fmt: skip
_ASKS = {("blocks", "the host"): "host", ("serialises", "kernels of two streams"): "streams"}


def experiments(document: Mapping[str, Any], schema: str) -> Found:
    """A document that is a list of objects."""
    of = _CASES[schema]
    found, rows = Found(of.kind, msgspec.to_builtins(convert(document, of.about).context)), []
    seen: dict[str, int] = {}
    for index, entry in enumerate(listed(document, of.key)):
        place = f"{of.key}[{index}]"
        try:
            row = msgspec.to_builtins(convert(entry, of.struct, place))
        except Misfit as misfit:
            found.wrong.append((misfit.place, misfit.message))
            continue
        if (first := seen.setdefault(json.dumps([row.get(column) for column in of.case]), index)) != index:
            found.wrong.append((place, f"refused: {of.key}[{first}] is the same case"))
            continue
        if of.kind == IMPLICIT_SYNC:
            row |= {"question": row["statement"], "answer": row["measured"], **_sources(row["sources"]), "asks": _ASKS.get((row["verb"], row["object"]), "")}
        rows.append({column: row.get(column) for column in of.columns})
    found.rows = pd.DataFrame(rows, columns=of.columns)
    return found


def _sources(sources: list[dict[str, str]]) -> dict[str, Any]:
    """The works once each, and all pages as text."""
    return {"works": tuple(dict.fromkeys(of["work"] for of in sources)), "source": "; ".join(f"{of['work']}, {of['place']}" for of in sources) or "none"}


def is_of_experiments(schema: str) -> bool:
    return schema in _CASES


# ---------------------------------------------------------------------------------------------- traces

_LANES_A_PROCESS = 1_000_000_000
_HOST = "host"
_ENGINE_OF = {"copy_in": "copies in", "kernel": "kernels", "side_kernel": "kernels", "copy_out": "copies out"}


def trace(document: Mapping[str, Any]) -> Found:
    """A timeline in the trace-event format: the complete events of the process of kind ``engines``, or, where there is one, of
    kind ``multiprocessors``. ``scanlab simulate --compare`` has two, ``of`` what was measured and of what was predicted: lanes
    of their own, named likewise. Those of the process of kind ``host`` are the host's calls.

    ``otherData`` is the context; it says ``simulated_on`` if nothing was measured.
    """
    read = convert(document, Trace)
    processes = {of.pid: of.args for of in read.traceEvents if (of.ph, of.name) == ("M", "process_name")}
    engines = {(of.pid, of.tid): of.args.engine or of.args.name for of in read.traceEvents if (of.ph, of.name) == ("M", "thread_name")}
    kinds = {of.kind for of in processes.values()}
    shown = next((kind for kind in ("multiprocessors", "engines") if kind in kinds), None)
    if shown is None:
        raise Misfit("traceEvents", "no process is of kind engines")
    rows, calls = [], []
    for event in read.traceEvents:
        process = processes.get(event.pid)
        if event.ph != "X" or process is None or process.kind not in (shown, _HOST) or event.ts is UNSET or event.dur is UNSET:
            continue
        of, whose = event.args, f", {process.of}" if process.of else ""
        if process.kind == _HOST:
            calls.append((_HOST + whose, _ENGINE_OF.get(of.kind, ""), event.ts, event.ts + event.dur, of.chunk, of.operation))
            continue
        name = engines.get((event.pid, event.tid), event.cat) + whose
        lane = event.tid + (_LANES_A_PROCESS * event.pid if process.of else 0)
        rows.append((lane, name, event.cat, event.ts, event.ts + event.dur, of.chunk, of.operation, of.stream, of.channel, of.bytes, of.label))
    if not rows:
        raise Misfit("traceEvents", "holds no operation of an engine")
    return Found(SIMULATION if read.otherData.simulated_on else TRACE, msgspec.to_builtins(read.otherData), pd.DataFrame(rows, columns=TRACE_COLUMNS),
                 calls=pd.DataFrame(calls, columns=CALL_COLUMNS))  # fmt: skip


def ranks_trace(document: Mapping[str, Any]) -> Found:
    """What each GPU did in a few runs of scans over several."""
    read = convert(document, RanksTrace)
    rows = [(case.variant, settings_text(case.settings), case.type, case.op, case.mode, case.ranks, case.items, of.run, of.rank, of.kind, of.name,
             of.start_ns / 1e3, of.end_ns / 1e3) for case in read.traces for of in case.activities]  # fmt: skip
    return Found(RANKS_TRACE, msgspec.to_builtins(read.context), pd.DataFrame(rows, columns=RANKS_TRACE_COLUMNS))
