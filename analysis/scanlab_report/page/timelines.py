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
        file, device = data.files[number], _device(data.files[number])
        order = (file.of_no_device, place.get(device, 0), device, _title(data, number))
        newest[*order, file.context.get("items", 0)] = number
    return [_view(data, newest[key]) for key in sorted(newest)]


def _view(data: Data, number: int) -> dict[str, Any]:
    file, trace = data.files[number], trace_of(data, number)
    rows, about = trace.rows.sort_values(["start_us", "lane"]), file.context
    begin, hosts = trace.begin_us, trace.hosts
    heights: dict[Any, int] = {lane: h for h, lane in enumerate(trace.lanes, len(hosts))}
    lanes = [*hosts, *_named([*trace.lanes.values()])]
    if hosts:
        heights |= {name: height + len(hosts) for name, height in hosts.items()}
        calls = trace.calls.assign(
            lane=trace.calls["lane_name"], kind=_CALLS, stream="", channel=-1, bytes=-1, label=""
        )
        rows = pd.concat(
            [rows, calls[list(rows.columns)].sort_values("start_us")], ignore_index=True
        )
    origin = file.origin
    if file.of_no_device:
        origin = "simulated" if origin == MEASURED else f"simulated, {origin}"
    source = source_of([file], origin=origin, device=_device(file))
    ends = {
        name: (rows[f"{name}_us"] - begin).div(1e3).round(6).tolist()  # whole nanoseconds
        for name in ("start", "end")
    }
    return {
        "device": _device(file),
        "title": _title(data, number),
        "simulated": file.of_no_device,
        "source": source_line(source),
        "unit": about.get("unit", "ms"),
        "makespan": numbers([trace.makespan_ms])[0],
        "whole": numbers([(rows["end_us"].max() - begin) / 1e3])[0],
        "fact": about.get("fact", ""),
        "about": {name: about[name] for name in _FACTS.split() if name in about},
        "lanes": lanes,
        "calls": _CALLS,
        "colours": {
            kind: ENGINE_COLOURS.get(kind, style.GREY) for kind in dict.fromkeys(rows["kind"])
        },
        "operations": {
            "lane": [heights[lane] for lane in rows["lane"]],
            **{
                name: rows[name].tolist()
                for name in ("kind", "stream", "chunk", "operation", "channel", "bytes")
            },
            **ends,
        },
    }


def _device(file: File) -> str:
    simulated_on = file.context.get("simulated_on")
    return f"engine model of {simulated_on}" if simulated_on else file.device


def _title(data: Data, number: int) -> str:
    about = data.files[number].context
    if "title" in about:
        return str(about["title"])
    trace: Trace = trace_of(data, number)
    queue = ", one hardware work queue" if trace.one_queue else ""
    ran = [
        f"{about['chunks']} chunks" if "chunks" in about else "",
        f"{about['streams']} streams" if "streams" in about else "",
        str(about.get("workload", "")),
    ]
    return ", ".join(filter(None, [trace.schedule + queue, *ran]))


def _named(names: list[str]) -> list[str]:
    """Return the name of every lane. Further lanes of an engine have its name and a number."""
    named: list[str] = []
    engine, count = "", 1
    for name in names:
        engine, count = (name, 1) if name else (engine, count + 1)
        named.append(engine if count == 1 else f"{engine} ({count})")
    return named
