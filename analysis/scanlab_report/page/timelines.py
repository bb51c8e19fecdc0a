"""Timelines to zoom into: of devices, and of the engine model."""

from __future__ import annotations

from typing import Any

import pandas as pd

from scanlab_report import style
from scanlab_report.chapters.timelines import ENGINE_COLOURS, Trace, trace_of
from scanlab_report.data import Data, File, ranked
from scanlab_report.page.columns import numbers, source_line
from scanlab_report.sources import source_of
from scanlab_report.tables import MEASURED

_FACTS = "source machine simulated_on workload items chunks streams memory work connections overlap"
_FACTS += " tracing_overhead_percent"
"""The fields of a trace that the page shows."""
_CALLS = "issue"


def views(data: Data) -> list[dict[str, Any]]:
    """Return one view per timeline, devices first, and the newest of those with one title on one
    device."""
    spans = set(data["spans"]["file"])
    files = sorted((n for n in data.numbers() if n in spans), key=lambda n: data.files[n].date)
    measured = [data.files[n] for n in files if not data.files[n].of_no_device]
    place = {device: number for number, device in enumerate(ranked(measured, data.first))}
    newest = {}
    for number in files:
        file, trace = data.files[number], trace_of(data, number)
        order = (file.of_no_device, place.get(_device(file), 0), _device(file), _title(trace))
        newest[*order, file.context.get("items", 0)] = trace
    return [_view(data.files[trace.file], trace) for _, trace in sorted(newest.items())]


def _view(file: File, trace: Trace) -> dict[str, Any]:
    about, begin, hosts = file.context, trace.begin_us, trace.hosts
    engines = pd.Series([*trace.lanes.values()]).replace("", None).ffill()
    lanes = {lane: place + len(hosts) for place, lane in enumerate(trace.lanes)}
    lanes |= {name: height + len(hosts) for name, height in hosts.items()}
    no_engine = dict(kind=_CALLS, stream="", channel=-1, bytes=-1, label="")
    calls = trace.calls.assign(lane=trace.calls["lane_name"], **no_engine)
    rows = trace.rows.sort_values(["start_us", "lane"])
    if len(calls):
        rows = pd.concat([rows, calls.sort_values("start_us")], ignore_index=True)
    names = ("kind", "stream", "chunk", "operation", "channel", "bytes")
    operations = {name: rows[name].tolist() for name in names}
    for name in ("start", "end"):  # to whole nanoseconds
        operations[name] = (rows[f"{name}_us"] - begin).div(1e3).round(6).tolist()
    origin = file.origin
    if file.of_no_device:
        origin = "simulated" if origin == MEASURED else f"simulated, {origin}"
    return {
        "device": _device(file),
        "title": _title(trace),
        "simulated": file.of_no_device,
        "source": source_line(source_of([file], origin=origin, device=_device(file))),
        "unit": about.get("unit", "ms"),
        "makespan": numbers([trace.makespan_ms])[0],
        "whole": numbers([(rows["end_us"].max() - begin) / 1e3])[0],
        "fact": about.get("fact", ""),
        "about": {name: about[name] for name in _FACTS.split() if name in about},
        "lanes": [*hosts, *engines],
        "calls": _CALLS,
        "colours": {k: ENGINE_COLOURS.get(k, style.GREY) for k in dict.fromkeys(rows["kind"])},
        "operations": {"lane": [lanes[lane] for lane in rows["lane"]], **operations},
    }


def _device(file: File) -> str:
    simulated_on = file.context.get("simulated_on")
    return f"engine model of {simulated_on}" if simulated_on else file.device


def _title(trace: Trace) -> str:
    about = trace.about
    counts = [f"{about[name]} {name}" for name in ("chunks", "streams") if name in about]
    ran = ", ".join(filter(None, [trace.title, *counts, about.get("workload", "")]))
    return str(about.get("title", ran))
