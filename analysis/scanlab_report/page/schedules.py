"""Schedules against chunks and streams, with the bounds that their parts set."""

from typing import Any

import pandas as pd

from scanlab_report.chapters import schedules
from scanlab_report.data import Data
from scanlab_report.intervals import UNKNOWN
from scanlab_report.page.columns import intervals, look, numbers, source_line, times
from scanlab_report.pick import Lacking, pick
from scanlab_report.sources import sources


def views(data: Data) -> list[dict[str, Any]]:
    """One view per device and problem: its cases as columns, `speedup` over the serial schedule at
    its fastest, and the milliseconds of each bound."""
    made = []
    for device in data.devices:
        own = data.on(device)
        try:
            cases = schedules.schedules_of(own)
        except Lacking:
            continue
        source = source_line(sources(own, cases)[0])
        for problem in schedules.problems(cases)[schedules.PROBLEM].to_dict("records"):
            view = _view(pick(cases, **problem))
            made.append(problem | {"device": device, "source": source} | view)
    return made


def _view(cases: pd.DataFrame) -> dict[str, Any]:
    # The page draws the bounds of the first case with so many chunks: without side kernels.
    order = ["side_kernels", "id", "memory", "streams", "chunks", "buffers"]
    cases = cases.sort_values(order).reset_index(drop=True)
    names = ("id", "chunks", "streams", "memory", "buffers", "count")
    gains = schedules.speedups(cases)["speedup"].reindex(cases.index)
    gains = [UNKNOWN if pd.isna(gain) else gain for gain in gains]
    side = f"{schedules.SIDE}; their own bounds include it, the lines do not.".replace("`", "")
    places = sorted(set(zip(cases["id"], cases["place"], strict=True)))
    return {
        "title": schedules.ratio_title(cases),
        "serial": schedules.SERIAL,
        "side": side if cases["side_kernels"].any() else "",
        "looks": {id_: look(id_, schedules.schedule_look(place)) for id_, place in places},
        "bounds": {
            name: look(name, schedules.BOUND_LOOKS[name]) | {"ms": numbers(1e3 * cases[column])}
            for name, column in schedules.BOUNDS.items()
        },
        "cases": {name: cases[name].tolist() for name in names}
        | times("time_ms", cases, 1e6)
        | intervals("speedup", gains),
    }
