"""Speedup of each schedule over serial execution against the number of chunks, by the ratio of kernel to copy time."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scanlab_report.derive.schedules import bounds, one_each, ratio_title, speedups
from scanlab_report.figures.schedules import name_once, number_axis
from scanlab_report.layout import style
from scanlab_report.layout.schedules import look
from scanlab_report.select.streams_evidence import PIPELINE, SERIAL, ScheduleEvidence, Schedules, equal_thirds, from_even

CAPTION = (
    "Speedup over `serial_pinned` at its fastest against the number of chunks n, in pinned memory. Dashed: van Werkhoven's estimate, of parts that were "
    "timed alone. Solid: pipeline estimate, with both copy directions at once. Dotted: 3n/(n + 2), the limit of equal thirds, in the panel nearest to them. "
    "Schedules with a side kernel are left out. Bars: 95% intervals."
)
NEEDS = {"schedules": Schedules(over="chunks")}

THIRDS, MEASURED, DUPLEX = "equal thirds", "Van Werkhoven", "pipeline estimate"
LOOKS = {THIRDS: style.Look(style.GREY, "", ":"), MEASURED: style.Look(style.GREY, "", "--"), DUPLEX: style.Look(style.BLACK, "", "-")}


def lacks(schedules: ScheduleEvidence) -> str:
    return "" if _panels(schedules) else f"timings of schedules beside {SERIAL}"


def _panels(schedules: ScheduleEvidence) -> list[pd.DataFrame]:
    return [panel for panel in schedules.panels("chunks") if not speedups(panel).empty]


def draw(schedules: ScheduleEvidence) -> Figure:
    panels = _panels(schedules)
    even = min(range(len(panels)), key=lambda i: from_even(panels[i]), default=0)
    drawn, axes = style.figure(style.DOUBLE, 3.1, max(1, len(panels)), sharey=True)
    ends: list[list[style.End]] = []
    for number, (axis, panel) in enumerate(zip(axes, panels, strict=False)):
        number_axis(axis, panel, "chunks")
        axis.set_title(ratio_title(panel))
        ends.append(_ideals(axis, panel, thirds=number == even))
        for schedule, rows in speedups(panel).groupby("id"):
            gain, of = rows["speedup"].tolist(), look(rows["place"].iloc[0])
            middle = [interval.value for interval in gain]
            axis.plot(rows["chunks"], middle, zorder=2, **of.plot())
            style.error_bars(axis, rows["chunks"], middle, [g.low for g in gain], [g.high for g in gain], of.colour)
            ends[-1].append(style.End(schedule, of, float(rows["chunks"].iloc[-1]), middle[-1]))
    axes[0].set_ylim(bottom=0.8)
    axes[0].set_ylabel(f"speedup over {SERIAL}")
    if panels:
        name_once(axes[-1], ends)
    return drawn


def _ideals(axis: Axes, panel: pd.DataFrame, thirds: bool) -> list[style.End]:
    rows = one_each(panel, "chunks")
    lines = {}
    if thirds:
        low, high = axis.get_xlim()
        dense = np.geomspace(max(1.0, low), high, 60)
        lines[THIRDS] = (dense, equal_thirds(dense))
    known = bounds(rows)
    if all(known["serial sum"]):
        serial = np.array(known["serial sum"])
        for name, bound in ((MEASURED, "Van Werkhoven"), (DUPLEX, PIPELINE)):
            if all(known[bound]):
                lines[name] = (rows["chunks"].to_numpy(dtype=float), serial / np.array(known[bound]))
    ends = []
    for name, (x, y) in lines.items():
        axis.plot(x, y, linewidth=1.4, zorder=1, **LOOKS[name].plot())
        ends.append(style.End(name, LOOKS[name], float(x[-1]), float(y[-1]), 1.4))
    return ends
