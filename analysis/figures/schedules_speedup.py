"""Speedup of each schedule over the serial one, against what n chunks allow."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis import style
from analysis.figures.schedules import at_one, number_axis, ratio_title
from analysis.statistics import ratio_interval
from analysis.streams_evidence import SERIAL, ScheduleEvidence, Schedules, equal_thirds, look

WIDTH = "double"
CAPTION = (
    "Speedup over serial copies in pinned memory (serial_pinned at its fastest number of chunks), against the number of chunks n. "
    "The dotted line is 3n/(n + 2), what is possible if copy in, kernel and copy out take a third each; the dashed one is the same "
    "for the parts as measured one at a time, and the solid one for the copy rates while both directions run. Bars are 95% "
    "bootstrap intervals of the ratio of medians where there are five repetitions or more."
)
NEEDS = {"schedules": Schedules()}

THIRDS, MEASURED, DUPLEX = "equal thirds", "measured parts", "measured, duplex"
LOOKS = {THIRDS: style.Look(style.GREY, "", ":"), MEASURED: style.Look(style.GREY, "", "--"), DUPLEX: style.Look(style.BLACK, "", "-")}


def draw(schedules: ScheduleEvidence) -> Figure:
    panels = [at_one(panel, "streams", "chunks") for panel in schedules.panels()]
    drawn, axes = style.figure(style.DOUBLE, 3.1, len(panels), sharey=True)
    for axis, panel in zip(axes, panels, strict=True):
        number_axis(axis, panel, "chunks")
        axis.set_title(ratio_title(panel))
        ends = _ideals(axis, panel)
        for schedule, rows in speedups(panel).groupby("id"):
            gain = rows["speedup"].tolist()
            middle = [interval.value for interval in gain]
            axis.plot(rows["chunks"], middle, zorder=2, **look(schedule).plot())
            style.error_bars(axis, rows["chunks"], middle, [g.low for g in gain], [g.high for g in gain], look(schedule).colour)
            ends.append(style.End(schedule, look(schedule), float(rows["chunks"].iloc[-1]), middle[-1]))
    axes[0].set_ylim(bottom=0.8)
    axes[0].set_ylabel(f"speedup over {SERIAL}")
    style.margin_legend(axes[-1], ends)
    return drawn


def speedups(panel: pd.DataFrame) -> pd.DataFrame:
    """The cases of every schedule but the serial one, by chunks, with their ``speedup`` (an :class:`Interval`)."""
    serial, others = panel[panel["id"] == SERIAL], panel[panel["id"] != SERIAL].sort_values("chunks")
    if serial.empty:
        return others[:0].assign(speedup=None)
    base = serial.loc[serial["median_ns"].idxmin(), "samples"]
    return others.assign(speedup=[ratio_interval(base, samples) for samples in others["samples"]])


def _ideals(axis: Axes, panel: pd.DataFrame) -> list[style.End]:
    rows = panel.drop_duplicates("chunks").sort_values("chunks")
    low, high = axis.get_xlim()
    dense = np.geomspace(max(1.0, low), high, 60)
    lines = {THIRDS: (dense, equal_thirds(dense))}
    if all(parts is not None for parts in rows["alone"]):
        serial = np.array([parts.serial() for parts in rows["alone"]])
        for name, column in ((MEASURED, "alone"), (DUPLEX, "duplex")):
            if all(parts is not None for parts in rows[column]):
                least = [parts.overlapped(n) for parts, n in zip(rows[column], rows["chunks"], strict=True)]
                lines[name] = (rows["chunks"].to_numpy(dtype=float), serial / np.array(least))
    ends = []
    for name, (x, y) in lines.items():
        axis.plot(x, y, linewidth=1.4, zorder=1, **LOOKS[name].plot())
        ends.append(style.End(name, LOOKS[name], float(x[-1]), float(y[-1]), 1.4))
    return ends
