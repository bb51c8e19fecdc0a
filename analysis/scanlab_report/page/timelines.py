"""Timelines to zoom into: traces of devices, and what the engine model says, with every operation's figures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from scanlab_report.layout import style
from scanlab_report.layout.gantt import COLOURS, first_start_us, host_heights, lane_heights, lane_names, makespan_ms
from scanlab_report.page.columns import numbers, source
from scanlab_report.read import streams
from scanlab_report.read.records import MEASURED, Results, StreamFile, ranked
from scanlab_report.select.provenance import run_provenance
from scanlab_report.select.streams_evidence import Trace

_FACTS = ("source", "machine", "simulated_on", "workload", "items", "chunks", "streams", "memory", "work", "connections",
          "overlap", "tracing_overhead_percent")  # fmt: skip
"""What a trace says of itself and the page shows, where it is there."""
_CALLS = "issue"


def views(results: Results) -> list[dict[str, Any]]:
    """One view a timeline, the newest of those that are called the same on one device; those of devices first."""
    files = [file for file in results.streams if file.kind in (streams.TRACE, streams.SIMULATION)]
    files.sort(key=lambda file: file.run.date)
    of_devices = ranked((file.run for file in files if file.kind == streams.TRACE), results.first)
    place = {device: number for number, device in enumerate(of_devices)}
    newest = {(file.kind == streams.SIMULATION, place.get(_device(file), 0), _device(file), _title(file), file.run.context.get("items", 0)): file for file in files}
    return [_view(newest[key]) for key in sorted(newest)]


def _view(file: StreamFile) -> dict[str, Any]:
    rows, about = file.rows.sort_values(["start_us", "lane"]), file.run.context
    begin, hosts = first_start_us(rows, file.calls), host_heights(file.calls)
    heights: dict[Any, int] = {lane: height + len(hosts) for lane, height in lane_heights(rows).items()}
    lanes = [*hosts, *_named(lane_names(rows, heights))]
    if hosts:
        heights |= {name: height + len(hosts) for name, height in hosts.items()}
        calls = file.calls.assign(lane=file.calls["lane_name"], kind=_CALLS, stream="", channel=-1, bytes=-1, label="")
        rows = pd.concat([rows, calls[list(rows.columns)].sort_values("start_us")], ignore_index=True)
    simulated = file.kind == streams.SIMULATION
    origin = ("simulated" if file.run.origin == MEASURED else f"simulated, {file.run.origin}") if simulated else file.run.origin
    provenance = replace(run_provenance(file.kind, [file.run], origin), device=_device(file))
    return {
        "device": _device(file), "title": _title(file), "simulated": simulated,
        "source": source(provenance), "unit": about.get("unit", "ms"),
        "makespan": numbers([makespan_ms(file.rows)])[0], "whole": numbers([(rows["end_us"].max() - begin) / 1e3])[0], "fact": about.get("fact", ""),
        "about": {name: about[name] for name in _FACTS if name in about},
        "lanes": lanes, "calls": _CALLS,
        "colours": {kind: COLOURS.get(kind, style.GREY) for kind in dict.fromkeys(rows["kind"])},
        "operations": {
            "lane": [heights[lane] for lane in rows["lane"]],
            **{name: rows[name].tolist() for name in ("kind", "stream", "chunk", "operation", "channel", "bytes")},
            # Nanoseconds, not digits: what is short stands late, and is found by zooming.
            **{name: (rows[f"{name}_us"] - begin).div(1e3).round(6).tolist() for name in ("start", "end")},
        },
    }  # fmt: skip


def _device(file: StreamFile) -> str:
    simulated_on = file.run.context.get("simulated_on")
    return f"engine model of {simulated_on}" if simulated_on else file.run.device


def _title(file: StreamFile) -> str:
    about = file.run.context
    if "title" in about:
        return str(about["title"])
    ran = [f"{about['chunks']} chunks" if "chunks" in about else "", f"{about['streams']} streams" if "streams" in about else "",
           str(about.get("workload", ""))]  # fmt: skip
    return ", ".join(filter(None, [Trace(dict(about), file.rows).title, *ran]))


def _named(names: list[str]) -> list[str]:
    """Every lane by a name: the further ones of an engine, which have none, by its name and a number."""
    named: list[str] = []
    engine, count = "", 1
    for name in names:
        engine, count = (name, 1) if name else (engine, count + 1)
        named.append(engine if count == 1 else f"{engine} ({count})")
    return named
