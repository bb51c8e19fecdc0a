"""When copies and kernels overlap: schedules against their bounds."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from scanlab_report import style
from scanlab_report.chapters.bounds import (
    MAIN_WORKLOAD,
    PIPELINE,
    SERIAL,
    SERIAL_SUM,
    SIDE,
    WERKHOVEN,
    WORK,
    beaten,
    bounds,
    compute_to_copy,
    equal_thirds,
    from_even,
    one_each,
    over_bound,
    panels,
    ratio_title,
    schedules_of,
    speedups,
)
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table, code, significant, size, whole, with_interval
from scanlab_report.intervals import ratio_interval
from scanlab_report.looks import form
from scanlab_report.pick import Lacking, pick
from scanlab_report.shown import Shown, figure, shown, table
from scanlab_report.tables import SCHEDULE

_COLOURS = (
    style.BLUE,
    style.ORANGE,
    style.GREEN,
    style.PURPLE,
    style.VERMILLION,
    style.SKY,
    style.WINE,
    style.BLACK,
    style.GREY,
)
BOUND_LOOKS = {
    SERIAL_SUM: style.Look(style.GREY, "", ":"),
    PIPELINE: style.Look(style.BLACK, "", "-"),
    WERKHOVEN: style.Look(style.GREY, "", "--"),
}
NEAR = (0.9, 1.3)
"""The lower row shows times between these multiples of the estimate."""


def schedule_look(place: int) -> style.Look:
    """The look of the schedule at a place in the order of the context."""
    return form(place, _COLOURS[place % len(_COLOURS)])


@figure("schedules", wide=True)
def schedules(data: Data) -> Shown:
    """Time of each schedule against the number of chunks, by the ratio of kernel to copy time,
    beside estimates from parts timed alone."""
    cases = schedules_of(data)
    parts = panels(cases, "chunks")
    details = f"Schedules that take a number of streams have {parts[0]['streams'].iloc[0]}."
    if (least := beaten(parts)) is not None:
        details += (
            f" Concurrent kernels can beat the estimate: {least.id} with {least.chunks} "
            f"chunks at compute : copy {least.alone.ratio():.2g} takes "
            f"{over_bound(least).value:.2f} of it."
        )
    return shown(
        data,
        _makespans(parts, "chunks"),
        "Makespan of each schedule against chunks, in pinned memory. Titles: ratio of compute to "
        "copy. Without markers: estimates; serial sum: all parts one after another. Below: "
        f"makespan over the pipeline estimate, 0.9 to 1.3. {SIDE}; only the estimates of the lower "
        "panels include it. Bars: 95% intervals.",
        cases,
        details=details,
    )


@figure("schedules", wide=True)
def schedules_streams(data: Data) -> Shown:
    """Time of each schedule against the number of streams."""
    cases = schedules_of(data)
    parts = panels(cases, "streams")
    return shown(
        data,
        _makespans(parts, "streams"),
        "Makespan of each schedule against the number of streams, in pinned memory, with the same "
        "estimates and panels as for chunks. Schedules with a fixed number of streams are single "
        f"points. {SIDE}; only the lower estimates include it. Bars: 95% intervals.",
        cases,
        details=f"Each array has {parts[0]['chunks'].iloc[0]} chunks.",
    )


def _makespans(parts: list[pd.DataFrame], over: str) -> Figure:
    """Draw one column per panel: time in ms, and below it the times near the estimate as multiples
    of it. Each schedule is named once, at its height in the last panel that has it."""
    drawn, axes = style.figure(style.DOUBLE, 4.6, len(parts), 2, sharey="row")
    ends: list[list[style.End]] = []
    for axis, near, panel in zip(axes, axes[len(parts) :], parts, strict=False):
        axis.set_yscale("log")
        _number_axis(axis, panel, over)
        axis.set_title(ratio_title(panel))
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 2.5, 3, 4, 5, 7)))
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.yaxis.set_minor_formatter(NullFormatter())
        ends.append(_bound_lines(axis, panel, over))
        for schedule, rows in panel.groupby("id"):
            rows, drawn_as = rows.sort_values(over), schedule_look(rows["place"].iloc[0])
            x, ms = rows[over].to_numpy(), rows["median_ns"].to_numpy() / 1e6
            axis.plot(x, ms, zorder=2, **drawn_as.plot())
            style.error_bars(
                axis, x, ms, rows["low_ns"] / 1e6, rows["high_ns"] / 1e6, drawn_as.colour
            )
            ends[-1].append(style.End(str(schedule), drawn_as, float(x[-1]), float(ms[-1])))
        axis.set_xlabel("")
        _near(near, panel, over)
    axes[0].set_ylabel("time, ms")
    axes[len(parts)].set_ylabel("time / pipeline estimate")
    _name_once(axes[len(parts) - 1], ends)
    return drawn


def _name_once(axis: Axes, ends: list[list[style.End]]) -> None:
    """Name the lines of all panels at the right of the last one; its own lines have leaders."""
    left = axis.get_xlim()[0]
    named = {end.label: replace(end, x=left) for panel in ends for end in panel}
    named |= {end.label: end for end in ends[-1]}
    style.margin_legend(axis, list(named.values()))


def _near(axis: Axes, panel: pd.DataFrame, over: str) -> None:
    _number_axis(axis, panel, over)
    axis.set_ylim(*NEAR)
    axis.axhline(1, linewidth=2.0, zorder=1, **BOUND_LOOKS[PIPELINE].plot())
    for _, rows in panel[panel["bound"].notna()].groupby("id"):
        rows, drawn_as = rows.sort_values(over), schedule_look(rows["place"].iloc[0])
        bound = 1e9 * rows["bound"].to_numpy(dtype=float)
        times = rows["median_ns"] / bound
        if times.min() <= NEAR[1]:
            axis.plot(rows[over], times, zorder=2, **drawn_as.plot())
            style.error_bars(
                axis,
                rows[over],
                times,
                rows["low_ns"] / bound,
                rows["high_ns"] / bound,
                drawn_as.colour,
            )


def _number_axis(axis: Axes, panel: pd.DataFrame, over: str) -> None:
    """A logarithmic axis of chunks or streams, with plain numbers at those that were timed."""
    numbers = sorted(set(panel[over]))
    axis.set_xscale("log", base=2)
    axis.set_xlim(numbers[0] / 1.3, numbers[-1] * 1.3)
    while len(numbers) > 8:
        numbers = numbers[-1::-2][::-1]
    axis.set_xticks(numbers, [f"{number}" for number in numbers])
    axis.xaxis.set_minor_formatter(NullFormatter())
    first = panel.iloc[0]
    axis.set_xlabel(f"{over}; {first['workload']}, {style.power_of_two(first['items'])} items")


def _bound_lines(axis: Axes, panel: pd.DataFrame, over: str) -> list[style.End]:
    rows, ends = one_each(panel, over), []
    for name, seconds in bounds(rows).items():
        ms = 1e3 * np.array([np.nan if s is None else s for s in seconds], dtype=float)
        if np.isfinite(ms[-1]):
            width, drawn_as = 2.0 if name == PIPELINE else 1.4, BOUND_LOOKS[name]
            axis.plot(rows[over], ms, linewidth=width, zorder=1, **drawn_as.plot())
            ends.append(style.End(name, drawn_as, rows[over].iloc[-1], float(ms[-1]), width))
    return ends


@figure("schedules")
def schedules_speedup(data: Data) -> Shown:
    """Speedup of each schedule over serial execution against the number of chunks, by the ratio of
    kernel to copy time."""
    cases = schedules_of(data)
    parts = [panel for panel in panels(cases, "chunks") if len(speedups(panel))]
    if not parts:
        raise Lacking(f"timings of schedules beside {SERIAL}")
    even = min(range(len(parts)), key=lambda i: from_even(parts[i]))
    drawn, axes = style.figure(style.DOUBLE, 3.1, len(parts), sharey=True)
    ends: list[list[style.End]] = []
    for number, (axis, panel) in enumerate(zip(axes, parts, strict=True)):
        _number_axis(axis, panel, "chunks")
        axis.set_title(ratio_title(panel))
        ends.append(_ideals(axis, panel, thirds=number == even))
        for schedule, rows in speedups(panel).groupby("id"):
            gain, drawn_as = rows["speedup"].tolist(), schedule_look(rows["place"].iloc[0])
            middle = [interval.value for interval in gain]
            axis.plot(rows["chunks"], middle, zorder=2, **drawn_as.plot())
            style.error_bars(
                axis,
                rows["chunks"],
                middle,
                [g.low for g in gain],
                [g.high for g in gain],
                drawn_as.colour,
            )
            last = rows["chunks"].iloc[-1]
            ends[-1].append(style.End(str(schedule), drawn_as, float(last), middle[-1]))
    axes[0].set_ylim(bottom=0.8)
    axes[0].set_ylabel(f"speedup over {SERIAL}")
    _name_once(axes[-1], ends)
    return shown(
        data,
        drawn,
        "Speedup over `serial_pinned` at its fastest against the number of chunks n, in pinned "
        "memory. Dashed: van Werkhoven's estimate, of parts that were timed alone. Solid: pipeline "
        "estimate, with both copy directions at once. Dotted: 3n/(n + 2), the limit of equal "
        "thirds, in the panel nearest to them. Schedules with a side kernel are left out. Bars: "
        "95% intervals.",
        cases,
    )


def _ideals(axis: Axes, panel: pd.DataFrame, thirds: bool) -> list[style.End]:
    rows, lines = one_each(panel, "chunks"), {}
    if thirds:
        low, high = axis.get_xlim()
        dense = np.geomspace(max(1.0, low), high, 60)
        lines["equal thirds"] = (dense, equal_thirds(dense), BOUND_LOOKS[SERIAL_SUM])
    known = bounds(rows)
    if all(known[SERIAL_SUM]):
        for name in (WERKHOVEN, PIPELINE):
            if all(known[name]):
                gain = np.array(known[SERIAL_SUM]) / np.array(known[name])
                lines[name] = (rows["chunks"].to_numpy(dtype=float), gain, BOUND_LOOKS[name])
    ends = []
    for name, (x, y, drawn_as) in lines.items():
        axis.plot(x, y, linewidth=1.4, zorder=1, **drawn_as.plot())
        ends.append(style.End(name, drawn_as, float(x[-1]), float(y[-1]), 1.4))
    return ends


@table("schedules", name="schedules")
def schedules_table(data: Data) -> Shown:
    """Every schedule at its fastest: makespan, over its estimate, and against the serial one."""
    problem, cases = ["workload", "items", "work"], schedules_of(data)
    marked = cases.assign(main=cases["workload"] == MAIN_WORKLOAD)
    best = marked.loc[marked.groupby([*problem, "id"])["median_ns"].idxmin()]
    best = best.sort_values(
        ["main", *problem, "median_ns"],
        ignore_index=True,
        ascending=[False, True, False, True, True],
    )
    same = best[["workload", "items"]] == best[["workload", "items"]].iloc[0]
    keys = list(best[problem].itertuples(index=False, name=None))
    serial = {
        key: samples
        for key, id_, samples in zip(keys, best["id"], best["samples"], strict=True)
        if id_ == SERIAL
    }
    base = [
        None if side else serial.get(key)
        for key, side in zip(keys, best["side_kernels"], strict=True)
    ]
    gains = [
        None if b is None else ratio_interval(b, own)
        for b, own in zip(base, best["samples"], strict=True)
    ]
    ratios = {
        key: compute_to_copy(own) for key, own in pick(cases, memory="pinned").groupby(problem)
    }
    over = [over_bound(case) if case.bound else None for case in best.itertuples()]
    rows = best[SCHEDULE].assign(
        compute_to_copy=[ratios.get(key, math.nan) for key in keys],
        streams=best["streams"].astype("Int64").mask(best["own_streams"] == 1),
        median_ms=best["median_ns"] / 1e6,
        events_ms=best["device_ns"] / 1e6,
        low_ms=best["low_ns"] / 1e6,
        high_ms=best["high_ns"] / 1e6,
        of_bound=pd.Series(over, dtype=object),
        speedup=pd.Series(gains, dtype=object),
    )
    has_events = bool(rows["events_ms"].notna().any())
    dashed = lambda digits: lambda v: "—" if pd.isna(v) else significant(v, digits)
    columns = (
        Column("workload", "workload", right=False),
        Column("items", "items", size),
        Column("work", "work", whole),
        Column("compute_to_copy", "ratio", dashed(2)),
        Column("id", "schedule", code, right=False),
        Column("chunks", "chunks", whole),
        Column("streams", "streams", whole),
        Column("memory", "memory", right=False),
        Column("median_ms", "ms", partial(significant, digits=4)),
        *[Column("events_ms", "by events", dashed(4))] * has_events,
        Column("of_bound", "/ estimate", with_interval),
        Column("speedup", "speedup", with_interval),
    )
    events = (
        (
            " The makespan is by the host's clock; the time by events is the device's, in "
            "separate replays."
        )
        if has_events
        else ""
    )
    caption = (
        "Schedules at their fastest number of chunks and streams: makespan, makespan over the "
        f"pipeline estimate, and speedup over `{SERIAL}`, with 95% intervals in brackets. {WORK} "
        f"Ratio: compute to copy.{events}"
    )
    notes = (
        f"{SIDE}; their estimate includes it, and they have no speedup.",
        "Concurrent kernels can beat the estimate.",
        "An interval over the estimate needs six repetitions, and one of a speedup five.",
        "Copies of pageable memory run in one direction at a time and have no estimate.",
        "Schedules without a number of streams create as many as they need.",
    )
    printed = min(int(same.all(axis=1).sum()), 48)
    return shown(data, Table(caption, columns, rows, notes, printed=printed), caption, cases)
