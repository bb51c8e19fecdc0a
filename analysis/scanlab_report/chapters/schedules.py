"""When copies and kernels overlap: schedules against their bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scanlab_report import marks, style
from scanlab_report.chapters import bounds
from scanlab_report.chapters.bounds import BOUNDS, PIPELINE, SERIAL, SERIAL_SUM, SIDE, WERKHOVEN
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table, code, significant, size, whole, with_interval
from scanlab_report.intervals import ratio_intervals
from scanlab_report.looks import form
from scanlab_report.pick import Lacking, pick
from scanlab_report.shown import Shown, figure, shown, table
from scanlab_report.style import End, Look
from scanlab_report.tables import SCHEDULE

_COLOURS = [style.BLUE, style.ORANGE, style.GREEN, style.PURPLE, style.VERMILLION, style.SKY]
_COLOURS += [style.WINE, style.BLACK, style.GREY]
THIRDS = "equal thirds"
BOUND_LOOKS = {
    SERIAL_SUM: Look(style.GREY, "", ":"),
    PIPELINE: Look(style.BLACK, "", "-"),
    WERKHOVEN: Look(style.GREY, "", "--"),
    THIRDS: Look(style.GREY, "", ":"),
}
NEAR = (0.9, 1.3)
"""The lower row shows times between these multiples of the estimate."""


def schedule_look(place: int) -> Look:
    """The look of the schedule at a place in the order of the context."""
    return form(place, _COLOURS[place % len(_COLOURS)])


@figure("schedules")
def schedules(data: Data) -> Shown:
    """Time of each schedule against the number of chunks, by the ratio of kernel to copy time,
    beside estimates from parts timed alone."""
    return _schedules(data, "chunks", "streams")


@figure("schedules")
def schedules_streams(data: Data) -> Shown:
    """Time of each schedule against the number of streams."""
    return _schedules(data, "streams", "chunks")


def _schedules(data: Data, over: str, fixed: str) -> Shown:
    cases = bounds.schedules_of(data)
    parts = bounds.panels(cases, over)
    details = f"The number of {fixed} is {parts[0][fixed].iloc[0]}."
    caption = (
        f"Makespan of each schedule against the number of {over}, in pinned memory, with estimates "
        "from parts timed alone; below, over the pipeline estimate, which concurrent kernels can "
        f"beat. {SIDE}; only the lower estimates include it. Bars: 95% intervals."
    )
    return shown(data, _makespans(parts, over), caption, cases, details=details)


def _makespans(parts: list[pd.DataFrame], over: str) -> Figure:
    """Draw one column per panel: time in ms, and below it the times near the estimate as multiples
    of it. Each schedule is named once, at its height in the last panel that has it."""
    drawn, axes = style.figure(style.DOUBLE, 4.6, len(parts), 2, sharey="row")
    ends: list[list[End | None]] = []
    for axis, below, panel in zip(axes, axes[len(parts) :], parts, strict=False):
        axis.set_yscale("log")
        _number_axis(axis, panel, over)
        axis.set(xlabel="")
        marks.factor_axis(axis.yaxis, 1, 1.5, 2, 2.5, 3, 4, 5, 7)
        one_each = bounds.one_each(panel, over)
        lines = {name: one_each.assign(y=1e3 * one_each[own]) for name, own in BOUNDS.items()}
        ends.append([*_bounds(axis, lines, over), *_lines(axis, marks.times(panel, 1e6), over)])
        _number_axis(below, panel, over)
        below.set(title="", ylim=NEAR)
        marks.level(below, 1, BOUND_LOOKS[PIPELINE], width=2.0)
        near = marks.times(panel, 1e9 * panel["bound"])
        _lines(below, near[near.groupby("id")["y"].transform("min") <= NEAR[1]], over)
    axes[0].set_ylabel("time, ms")
    axes[len(parts)].set_ylabel("time / pipeline estimate")
    _name_once(axes[len(parts) - 1], ends)
    return drawn


def _bounds(axis: Axes, lines: dict[str, pd.DataFrame], over: str) -> list[End | None]:
    """A line per bound that is known, and their ends."""
    return [
        marks.curve(axis, line, over, BOUND_LOOKS[name], name, linewidth=1.4, zorder=1)
        for name, line in lines.items()
        if np.isfinite(line["y"]).all()
    ]


def _lines(axis: Axes, rows: pd.DataFrame, over: str) -> list[End | None]:
    """A line per schedule, and their ends."""
    return [
        marks.curve(
            axis, own.sort_values(over), over, schedule_look(own["place"].iloc[0]), str(id_)
        )
        for id_, own in rows.groupby("id")
    ]


def _name_once(axis: Axes, ends: Sequence[Sequence[End | None]]) -> None:
    """Name the lines of all panels at the right of the last one; its own lines have leaders."""
    left = axis.get_xlim()[0]
    named = {end.label: replace(end, x=left) for panel in ends for end in panel if end}
    style.margin_legend(axis, (named | {end.label: end for end in ends[-1] if end}).values())


def _number_axis(axis: Axes, panel: pd.DataFrame, over: str) -> None:
    """A logarithmic axis of chunks or streams, with plain numbers at those that were timed."""
    numbers = sorted(set(panel[over]))
    marks.ticks_at(axis, numbers[:: -(-len(numbers) // 8) * -1], base=2)
    axis.set_xlim(numbers[0] / 1.3, numbers[-1] * 1.3)
    first = panel.iloc[0]
    axis.set_xlabel(f"{over}; {first['workload']}, {marks.power_of_two(first['items'])} items")
    axis.set_title(bounds.ratio_title(panel))


@figure("schedules")
def schedules_speedup(data: Data) -> Shown:
    """Speedup of each schedule over serial execution against the number of chunks, by the ratio of
    kernel to copy time."""
    cases = bounds.schedules_of(data)
    parts = [panel for panel in bounds.panels(cases, "chunks") if len(bounds.speedups(panel))]
    if not parts:
        raise Lacking(f"timings of schedules beside {SERIAL}")
    even = min(parts, key=bounds.from_even)
    drawn, axes = style.figure(style.DOUBLE, 3.1, len(parts), sharey=True)
    ends: list[list[End | None]] = []
    for axis, panel in zip(axes, parts, strict=True):
        _number_axis(axis, panel, "chunks")
        rows, lines = bounds.one_each(panel, "chunks"), {}
        if panel is even:
            n = np.geomspace(max(1.0, axis.get_xlim()[0]), axis.get_xlim()[1], 60)
            lines[THIRDS] = pd.DataFrame({"chunks": n, "y": 3 * n / (n + 2)})
        for name in (WERKHOVEN, PIPELINE):
            lines[name] = rows.assign(y=rows["serial_sum"] / rows[BOUNDS[name]])
        gains = marks.heights(bounds.speedups(panel), "speedup")
        ends.append([*_bounds(axis, lines, "chunks"), *_lines(axis, gains, "chunks")])
    axes[0].set_ylim(bottom=0.8)
    axes[0].set_ylabel(f"speedup over {SERIAL}")
    _name_once(axes[-1], ends)
    caption = (
        f"Speedup over `{SERIAL}` at its fastest against the number of chunks n, in pinned memory. "
        "Dashed and solid: estimates of parts timed alone, without and with both copy directions "
        "at once; dotted: 3n/(n + 2), the limit of equal thirds. Bars: 95% intervals."
    )
    return shown(data, drawn, caption, cases)


@table("schedules", name="schedules")
def schedules_table(data: Data) -> Shown:
    """Every schedule at its fastest: makespan, over its estimate, and against the serial one."""
    problem, cases = ["workload", "items", "work"], bounds.schedules_of(data)
    rows = cases.loc[cases.groupby([*problem, "id"])["median_ns"].idxmin()]
    rows = rows.assign(other=rows["workload"] != bounds.MAIN_WORKLOAD)
    order = {"other": True, "workload": True, "items": False, "work": True, "median_ns": True}
    rows = rows.sort_values([*order], ascending=[*order.values()], ignore_index=True)
    keys = list(rows[problem].itertuples(index=False, name=None))
    serial = pick(rows, id=SERIAL).set_index(problem)["samples"].to_dict()
    ratios = pick(cases, memory="pinned").groupby(problem)["compute_to_copy"].median().to_dict()
    base = [serial.get(key, np.array([np.nan])) for key in keys]
    gains = pd.Series(ratio_intervals(base, list(rows["samples"])), dtype=object)
    gains = gains.where(gains.map(lambda gain: gain.count > 0) & (rows["side_kernels"] == 0), None)
    over = pd.Series([bounds.over_bound(case) for case in rows.itertuples()], dtype=object)
    rows = rows[SCHEDULE].assign(
        compute_to_copy=[ratios.get(key, np.nan) for key in keys],
        streams=rows["streams"].astype("Int64").mask(rows["own_streams"] == 1),
        median_ms=rows["median_ns"] / 1e6,
        events_ms=rows["device_ns"] / 1e6,
        low_ms=rows["low_ns"] / 1e6,
        high_ms=rows["high_ns"] / 1e6,
        of_bound=over.where(rows["bound"] > 0, None),
        speedup=gains,
    )
    digits = lambda number: partial(significant, digits=number)
    columns = (
        Column("workload", "workload", right=False),
        Column("items", "items", size),
        Column("work", "work", whole),
        Column("compute_to_copy", "ratio", digits(2)),
        Column("id", "schedule", code, right=False),
        Column("chunks", "chunks", whole),
        Column("streams", "streams", whole),
        Column("memory", "memory", right=False),
        Column("median_ms", "ms", digits(4)),
        Column("events_ms", "by events", digits(4)),
        Column("of_bound", "/ estimate", with_interval),
        Column("speedup", "speedup", with_interval),
    )
    caption = (
        "Schedules at their fastest number of chunks and streams: makespan by the host's clock and "
        f"by events, over the pipeline estimate, and speedup over `{SERIAL}`, with 95% intervals "
        f"in brackets. {bounds.WORK} Ratio: compute to copy. {SIDE}; they have no speedup."
    )
    same = rows[["workload", "items"]] == rows[["workload", "items"]].iloc[0]
    printed = min(int(same.all(axis=1).sum()), 48)
    return shown(data, Table(caption, columns, rows, printed=printed), caption, cases)
