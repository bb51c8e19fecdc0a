"""Schedules of copies and kernels against chunks and streams, with the bounds that their parts set."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from scanlab_report.derive.schedules import bounds, ratio_title, speedups
from scanlab_report.layout.schedules import BOUNDS
from scanlab_report.layout.schedules import look as look_of
from scanlab_report.page.columns import intervals, look, numbers, source, times
from scanlab_report.read import streams
from scanlab_report.read.published import Publication
from scanlab_report.read.records import Results, ranked
from scanlab_report.select.streams_evidence import PROBLEM, SERIAL, SIDE_SAID, ScheduleEvidence, Schedules
from scanlab_report.stats.intervals import UNKNOWN

_CASE = ("id", "chunks", "streams", "memory", "buffers", "count")


def views(results: Results, published: dict[str, Publication]) -> list[dict[str, Any]]:
    """One view a device and problem, with its cases as columns: ``time_ms``, ``speedup`` over the serial schedule at its
    fastest, and for each bound its milliseconds.
    """
    found = []
    for device in ranked([file.run for file in results.streams if file.kind == streams.SCHEDULES], results.first):
        part = replace(results, found={}, streams=[file for file in results.streams if file.run.device == device])
        if schedules := Schedules().find(part, published):
            found += [_view(device, schedules, problem) for problem in schedules.problems()[PROBLEM].to_dict("records")]
    return found


def _view(device: str, schedules: ScheduleEvidence, problem: dict[str, Any]) -> dict[str, Any]:
    cases = schedules.cases
    for column, value in problem.items():
        cases = cases[cases[column] == value]
    # The page draws the bounds of the first case with so many chunks: of a schedule without side kernels, where there is one.
    cases = cases.sort_values(["side_kernels", "id", "memory", "streams", "chunks", "buffers"]).reset_index(drop=True)
    columns: dict[str, list[Any]] = {name: cases[name].tolist() for name in _CASE}
    columns |= times("time_ms", cases, 1e6)
    gains = speedups(cases)["speedup"].reindex(cases.index)
    columns |= intervals("speedup", [UNKNOWN if pd.isna(gain) else gain for gain in gains])
    known = {name: [None if s is None else 1e3 * s for s in seconds] for name, seconds in bounds(cases).items()}
    return problem | {
        "device": device, "source": source(schedules.provenance), "title": ratio_title(cases), "serial": SERIAL, "side": f"{SIDE_SAID}; their own bounds include it, the lines do not.".replace("`", "") if cases["side_kernels"].any() else "",
        "looks": {id_: look(id_, look_of(place)) for id_, place in sorted(set(zip(cases["id"], cases["place"], strict=True)))},
        "bounds": {name: look(name, BOUNDS[name]) | {"ms": numbers(pd.Series(ms, dtype=float))} for name, ms in known.items()},
        "cases": columns,
    }  # fmt: skip
