"""Time of each schedule against the number of chunks, with the bounds that copies and kernels measured alone set."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from analysis import style
from analysis.streams_evidence import ScheduleEvidence, Schedules, look

WIDTH = "double"
CAPTION = (
    "Time of each schedule against the number of chunks, in pinned memory; a panel an amount of work, headed by the ratio of compute to "
    "copy. Bounds, from the same run: the sum of copies and kernels one after another; the busiest engine without a pause behind "
    "the first chunk's way to it and before the last one's from it, with the copy rates while both directions run; and the "
    "formula of Van Werkhoven et al., which is the same with the rates of one direction alone. A chunk that fills the pipeline has "
    "the bus to itself, so that with few chunks a schedule can be a little faster than the second. The schedules that are wrong on "
    "purpose are left out. Below: times near the second bound, as multiples of it. Bars are 95% bootstrap intervals of the median "
    "where there are five repetitions or more."
)
NEEDS = {"schedules": Schedules()}

NEAR = (0.95, 1.3)
"""The lower row shows times between these multiples of the bound."""
BOUNDS = {
    "serial sum": style.Look(style.GREY, "", ":"),
    "fill + max, duplex": style.Look(style.BLACK, "", "-"),
    "Van Werkhoven": style.Look(style.GREY, "", "--"),
}


def draw(schedules: ScheduleEvidence) -> Figure:
    panels = [at_one(panel, "streams", "chunks") for panel in schedules.panels()]
    return against(panels, "chunks")


def at_one(panel: pd.DataFrame, fixed: str, over: str) -> pd.DataFrame:
    """Cases in pinned memory with the one value of ``fixed`` that has most values of ``over``, of equals the one with most cases,
    of those the larger one.
    """
    rows = panel[panel["memory"] == "pinned"]
    values = rows.groupby(fixed)[over].agg(["nunique", "size"])
    return rows[rows[fixed] == max(values.index, key=lambda value: (*values.loc[value], value))]


def against(panels: list[pd.DataFrame], over: str) -> Figure:
    """A column a panel: time in milliseconds against ``over``, and below it, times near the bound as multiples of it."""
    drawn, axes = style.figure(style.DOUBLE, 4.6, len(panels), 2, sharey="row")
    above, below = axes[: len(panels)], axes[len(panels) :]
    for axis, near, panel in zip(above, below, panels, strict=True):
        axis.set_yscale("log")
        number_axis(axis, panel, over)
        axis.set_title(ratio_title(panel))
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 2.5, 3, 4, 5, 7)))
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.yaxis.set_minor_formatter(NullFormatter())
        ends = _bounds(axis, panel, over)
        for schedule, rows in panel.groupby("id"):
            rows = rows.sort_values(over)
            x, time = rows[over].to_numpy(), rows["median_ns"].to_numpy() / 1e6
            axis.plot(x, time, zorder=2, **look(schedule).plot())
            style.error_bars(axis, x, time, rows["low_ns"] / 1e6, rows["high_ns"] / 1e6, look(schedule).colour)
            ends.append(style.End(schedule, look(schedule), float(x[-1]), float(time[-1])))
        axis.set_xlabel("")
        _near(near, panel, over)
    above[0].set_ylabel("time, ms")
    below[0].set_ylabel("time, of fill + max")
    style.margin_legend(above[-1], ends)
    return drawn


def _near(axis: Axes, panel: pd.DataFrame, over: str) -> None:
    """The schedules within NEAR times the duplex bound."""
    number_axis(axis, panel, over)
    axis.set_ylim(*NEAR)
    axis.axhline(1, linewidth=2.0, zorder=1, **BOUNDS["fill + max, duplex"].plot())
    for schedule, rows in panel[panel["duplex"].notna()].groupby("id"):
        rows = rows.sort_values(over)
        bound = np.array([1e9 * parts.overlapped(n) for parts, n in zip(rows["duplex"], rows["chunks"], strict=True)])
        times = rows["median_ns"] / bound
        if times.min() <= NEAR[1]:
            axis.plot(rows[over], times, zorder=2, **look(schedule).plot())
            style.error_bars(axis, rows[over], times, rows["low_ns"] / bound, rows["high_ns"] / bound, look(schedule).colour)


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


def ratio_title(panel: pd.DataFrame) -> str:
    """The ratio of compute to copy, or the work where that was not measured."""
    ratios = [parts.ratio() for parts in panel["alone"] if parts is not None]
    return f"compute : copy {np.median(ratios):.2g}" if ratios else f"work {panel['work'].iloc[0]}"


def bounds(rows: pd.DataFrame) -> dict[str, list[float | None]]:
    """The bounds of each case in seconds, by name; None where the parts were not measured."""
    return {
        "serial sum": [parts and parts.serial() for parts in rows["alone"]],
        "fill + max, duplex": [parts and parts.overlapped(n) for parts, n in zip(rows["duplex"], rows["chunks"], strict=True)],
        "Van Werkhoven": [parts and parts.overlapped(n) for parts, n in zip(rows["alone"], rows["chunks"], strict=True)],
    }


def _bounds(axis: Axes, panel: pd.DataFrame, over: str) -> list[style.End]:
    """Draws the bounds, one value a number of chunks, and returns their ends."""
    rows = panel.drop_duplicates(over).sort_values(over)
    ends = []
    for name, seconds in bounds(rows).items():
        time = 1e3 * np.array([np.nan if s is None else s for s in seconds], dtype=float)
        if np.isfinite(time[-1]):
            width = 2.0 if name == "fill + max, duplex" else 1.4
            axis.plot(rows[over], time, linewidth=width, zorder=1, **BOUNDS[name].plot())
            ends.append(style.End(name, BOUNDS[name], float(rows[over].iloc[-1]), float(time[-1]), width))
    return ends
