"""Throughput against array size, cold and warm, below the ceiling of a device copy."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from analysis import style
from analysis.evidence import BASELINES, CEILING, CPU_BASELINES, FLOOR, TimingEvidence, Timings
from analysis.results import ideal_bytes

WIDTH = "double"
CAPTION = (
    "Throughput of an inclusive sum of 32-bit integers, launched in a stream, against array size, counting 2n items moved whatever a variant "
    "really moves. The thick line is a device-to-device copy, the ceiling of a scan that reads and writes once. Cold: "
    "caches flushed before each run; warm: not. One variant of each kind is shown; all are in cases.csv. The CPU is "
    "timed warm only, and shown in both. Bars are 95% bootstrap intervals of the median."
)
NEEDS = {"timings": Timings(all_of=(CEILING,))}


def draw(timings: TimingEvidence) -> Figure:
    caches = timings.caches()[:2]
    drawn, axes = style.figure(style.DOUBLE, 3.0, len(caches), sharey=True)
    names = [v for v in timings.variants() if v != FLOOR and v not in style.SIDE]
    items = timings.cases.loc[timings.cases["variant"].isin(names), "items"]
    for panel, cache in zip(axes, caches, strict=True):
        panel.set_yscale("log")
        style.items_axis(panel, items)
        style.decade_axis(panel.yaxis)
        panel.set_title(f"{cache} cache")
        ends = [end for name in names if (end := _line(panel, timings, name, cache))]
    axes[0].set_ylabel("throughput, GB/s of 2$n$ items")
    style.margin_legend(axes[-1], ends)
    return drawn


def _line(panel, timings: TimingEvidence, name: str, cache: str) -> style.End | None:
    rows = timings.series(name, cache=cache)
    if rows.empty and name in CPU_BASELINES:
        rows = timings.series(name)
    if rows.empty:
        return None
    n = rows["items"].to_numpy()
    moved = np.array([ideal_bytes(t, o, i) for t, o, i in zip(rows["type"], rows["op"], n, strict=True)], dtype=float)
    rate = moved / rows["median_ns"].to_numpy()  # bytes a nanosecond are GB/s
    look, width = style.look(name), 2.6 if name == CEILING else 1.0
    panel.plot(n, rate, linewidth=width, zorder=1 if name == CEILING else 1.8 if name in BASELINES else 2, **look.plot())
    style.error_bars(panel, n, rate, moved / rows["high_ns"], moved / rows["low_ns"], look.colour)
    label = "memcpy (ceiling)" if name == CEILING else style.title(name)
    return style.End(label, look, float(n[-1]), float(rate[-1]), width)
