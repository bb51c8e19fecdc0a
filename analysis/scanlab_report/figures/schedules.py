"""Time of each schedule against the number of chunks, by the ratio of kernel to copy time, beside estimates from parts timed alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from scanlab_report.derive.schedules import beaten, bounds, one_each, over_bound, ratio_title
from scanlab_report.layout import style
from scanlab_report.layout.schedules import BOUNDS, look
from scanlab_report.select.streams_evidence import PIPELINE, SIDE_SAID, ScheduleEvidence, Schedules

CAPTION = (
    "Makespan of each schedule against chunks, in pinned memory. Titles: ratio of compute to copy. Without markers: "
    "estimates; serial sum: all parts one after another. Below: makespan over the pipeline estimate, 0.9 to 1.3. "
    f"{SIDE_SAID}; only the estimates of the lower panels include it. Bars: 95% intervals."
)
NEEDS = {"schedules": Schedules(over="chunks")}
WIDE = True

NEAR = (0.9, 1.3)
"""The lower row shows times between these multiples of the estimate."""


def draw(schedules: ScheduleEvidence) -> Figure:
    return against(schedules.panels("chunks"), "chunks")


def details(schedules: ScheduleEvidence) -> str:
    """At how many streams; and whether the pipeline estimate is passed, by what, and why it can be."""
    panels = schedules.panels("chunks")
    said = f"Schedules that take a number of streams have {panels[0]['streams'].iloc[0]}."
    if (least := beaten(panels)) is None:
        return said
    return (f"{said} Concurrent kernels can beat the estimate: {least.id} with {least.chunks} chunks at compute : copy "
            f"{least.alone.ratio():.2g} takes {over_bound(least).value:.2f} of it.")  # fmt: skip


def against(panels: list[pd.DataFrame], over: str) -> Figure:
    """A column a panel: time in milliseconds against ``over``, and below it, times near the pipeline estimate as multiples of it.

    Each schedule is named once, at the right: at its height in the last panel that has it.
    """
    drawn, axes = style.figure(style.DOUBLE, 4.6, len(panels), 2, sharey="row")
    above, below = axes[: len(panels)], axes[len(panels) :]
    ends: list[list[style.End]] = []
    for axis, near, panel in zip(above, below, panels, strict=True):
        axis.set_yscale("log")
        number_axis(axis, panel, over)
        axis.set_title(ratio_title(panel))
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 2.5, 3, 4, 5, 7)))
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.yaxis.set_minor_formatter(NullFormatter())
        ends.append(_bounds(axis, panel, over))
        for schedule, rows in panel.groupby("id"):
            rows, of = rows.sort_values(over), look(rows["place"].iloc[0])
            x, time = rows[over].to_numpy(), rows["median_ns"].to_numpy() / 1e6
            axis.plot(x, time, zorder=2, **of.plot())
            style.error_bars(axis, x, time, rows["low_ns"] / 1e6, rows["high_ns"] / 1e6, of.colour)
            ends[-1].append(style.End(schedule, of, float(x[-1]), float(time[-1])))
        axis.set_xlabel("")
        _near(near, panel, over)
    above[0].set_ylabel("time, ms")
    below[0].set_ylabel("time / pipeline estimate")
    name_once(above[-1], ends)
    return drawn


def name_once(axis: Axes, ends: list[list[style.End]]) -> None:
    """Names the lines of all panels at the right of the last one, where its own end and without a leader those of the others."""
    left = axis.get_xlim()[0]
    named = {end.label: replace(end, x=left) for panel in ends for end in panel} | {end.label: end for end in ends[-1]}
    style.margin_legend(axis, list(named.values()))


def _near(axis: Axes, panel: pd.DataFrame, over: str) -> None:
    """The schedules within NEAR times the estimate."""
    number_axis(axis, panel, over)
    axis.set_ylim(*NEAR)
    axis.axhline(1, linewidth=2.0, zorder=1, **BOUNDS[PIPELINE].plot())
    for _, rows in panel[panel["bound"].notna()].groupby("id"):
        rows, of = rows.sort_values(over), look(rows["place"].iloc[0])
        bound = 1e9 * rows["bound"].to_numpy(dtype=float)
        times = rows["median_ns"] / bound
        if times.min() <= NEAR[1]:
            axis.plot(rows[over], times, zorder=2, **of.plot())
            style.error_bars(axis, rows[over], times, rows["low_ns"] / bound, rows["high_ns"] / bound, of.colour)


def number_axis(axis: Axes, panel: pd.DataFrame, over: str) -> None:
    """A logarithmic axis of chunks or streams, with plain numbers at those that were timed."""
    timed = sorted(set(panel[over]))
    axis.set_xscale("log", base=2)
    axis.set_xlim(timed[0] / 1.3, timed[-1] * 1.3)
    while len(timed) > 8:
        timed = timed[-1::-2][::-1]
    axis.set_xticks(timed, [f"{number}" for number in timed])
    axis.xaxis.set_minor_formatter(NullFormatter())
    first = panel.iloc[0]
    axis.set_xlabel(f"{over}; {first['workload']}, {style.power_of_two(first['items'])} items")


def _bounds(axis: Axes, panel: pd.DataFrame, over: str) -> list[style.End]:
    """Draws the bounds, one value a number of chunks, and returns their ends."""
    rows = one_each(panel, over)
    ends = []
    for name, seconds in bounds(rows).items():
        time = 1e3 * np.array([np.nan if s is None else s for s in seconds], dtype=float)
        if np.isfinite(time[-1]):
            width = 2.0 if name == PIPELINE else 1.4
            axis.plot(rows[over], time, linewidth=width, zorder=1, **BOUNDS[name].plot())
            ends.append(style.End(name, BOUNDS[name], float(rows[over].iloc[-1]), float(time[-1]), width))
    return ends
