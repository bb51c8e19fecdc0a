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
from scanlab_report.chapters.bounds import PIPELINE, SERIAL, SERIAL_SUM, SIDE, WERKHOVEN
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table, code, significant, size, whole, with_interval
from scanlab_report.intervals import ratio_interval
from scanlab_report.looks import form
from scanlab_report.pick import Lacking, pick
from scanlab_report.shown import Shown, figure, shown, table
from scanlab_report.style import End, Look
from scanlab_report.tables import SCHEDULE

_COLOURS = [style.BLUE, style.ORANGE, style.GREEN, style.PURPLE, style.VERMILLION, style.SKY]
_COLOURS += [style.WINE, style.BLACK, style.GREY]
BOUND_LOOKS = {
    SERIAL_SUM: Look(style.GREY, "", ":"),
    PIPELINE: Look(style.BLACK, "", "-"),
    WERKHOVEN: Look(style.GREY, "", "--"),
}
NEAR = (0.9, 1.3)
"""The lower row shows times between these multiples of the estimate."""


def schedule_look(place: int) -> Look:
    """The look of the schedule at a place in the order of the context."""
    return form(place, _COLOURS[place % len(_COLOURS)])


@figure("schedules", wide=True)
def schedules(data: Data) -> Shown:
    """Time of each schedule against the number of chunks, by the ratio of kernel to copy time,
    beside estimates from parts timed alone."""
    cases = bounds.schedules_of(data)
    parts = bounds.panels(cases, "chunks")
    details = f"Schedules that take a number of streams have {parts[0]['streams'].iloc[0]}."
    if (least := bounds.beaten(parts)) is not None:
        details += (
            f" Concurrent kernels can beat the estimate: {least.id} with {least.chunks} "
            f"chunks at compute : copy {least.alone.ratio():.2g} takes "
            f"{bounds.over_bound(least).value:.2f} of it."
        )
    caption = (
        "Makespan of each schedule against chunks, in pinned memory. Titles: ratio of compute to "
        "copy. Without markers: estimates; serial sum: all parts one after another. Below: "
        f"makespan over the pipeline estimate, 0.9 to 1.3. {SIDE}; only the estimates of the lower "
        "panels include it. Bars: 95% intervals."
    )
    return shown(data, _makespans(parts, "chunks"), caption, cases, details=details)


@figure("schedules", wide=True)
def schedules_streams(data: Data) -> Shown:
    """Time of each schedule against the number of streams."""
    cases = bounds.schedules_of(data)
    parts = bounds.panels(cases, "streams")
    caption = (
        "Makespan of each schedule against the number of streams, in pinned memory, with the same "
        "estimates and panels as for chunks. Schedules with a fixed number of streams are single "
        f"points. {SIDE}; only the lower estimates include it. Bars: 95% intervals."
    )
    return shown(
        data,
        _makespans(parts, "streams"),
        caption,
        cases,
        details=f"Each array has {parts[0]['chunks'].iloc[0]} chunks.",
    )


def _makespans(parts: list[pd.DataFrame], over: str) -> Figure:
    """Draw one column per panel: time in ms, and below it the times near the estimate as multiples
    of it. Each schedule is named once, at its height in the last panel that has it."""
    drawn, axes = style.figure(style.DOUBLE, 4.6, len(parts), 2, sharey="row")
    ends: list[list[End | None]] = []
    for axis, below, panel in zip(axes, axes[len(parts) :], parts, strict=False):
        axis.set_yscale("log")
        _number_axis(axis, panel, over)
        axis.set_xlabel("")
        axis.set_title(bounds.ratio_title(panel))
        marks.factor_axis(axis.yaxis, 1, 1.5, 2, 2.5, 3, 4, 5, 7)
        rows, limits = bounds.one_each(panel, over), []
        for name, seconds in bounds.bounds(rows).items():
            line = rows.assign(y=1e3 * np.array(seconds)) if np.isfinite(seconds[-1]) else rows[:0]
            drawn_as, width = BOUND_LOOKS[name], 2.0 if name == PIPELINE else 1.4
            limits.append(marks.curve(axis, line, over, drawn_as, name, linewidth=width, zorder=1))
        ends.append([*limits, *_lines(axis, marks.times(panel, 1e6), over)])
        _number_axis(below, panel, over)
        below.set_ylim(*NEAR)
        marks.level(below, 1, BOUND_LOOKS[PIPELINE], width=2.0)
        near = marks.times(panel, 1e9 * panel["bound"])
        _lines(below, near[near.groupby("id")["y"].transform("min") <= NEAR[1]], over)
    axes[0].set_ylabel("time, ms")
    axes[len(parts)].set_ylabel("time / pipeline estimate")
    _name_once(axes[len(parts) - 1], ends)
    return drawn


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
    low, high = numbers[0] / 1.3, numbers[-1] * 1.3
    while len(numbers) > 8:
        numbers = numbers[-1::-2][::-1]
    marks.ticks_at(axis, numbers, base=2)
    axis.set_xlim(low, high)
    first = panel.iloc[0]
    axis.set_xlabel(f"{over}; {first['workload']}, {marks.power_of_two(first['items'])} items")


@figure("schedules")
def schedules_speedup(data: Data) -> Shown:
    """Speedup of each schedule over serial execution against the number of chunks, by the ratio of
    kernel to copy time."""
    cases = bounds.schedules_of(data)
    parts = [panel for panel in bounds.panels(cases, "chunks") if len(bounds.speedups(panel))]
    if not parts:
        raise Lacking(f"timings of schedules beside {SERIAL}")
    thirds = min(range(len(parts)), key=lambda i: bounds.from_even(parts[i]))
    drawn, axes = style.figure(style.DOUBLE, 3.1, len(parts), sharey=True)
    ends: list[list[End | None]] = []
    for number, (axis, panel) in enumerate(zip(axes, parts, strict=True)):
        _number_axis(axis, panel, "chunks")
        axis.set_title(bounds.ratio_title(panel))
        ends.append(_ideals(axis, panel, number == thirds))
        ends[-1] += _lines(axis, marks.heights(bounds.speedups(panel), "speedup"), "chunks")
    axes[0].set_ylim(bottom=0.8)
    axes[0].set_ylabel(f"speedup over {SERIAL}")
    _name_once(axes[-1], ends)
    caption = (
        "Speedup over `serial_pinned` at its fastest against the number of chunks n, in pinned "
        "memory. Dashed: van Werkhoven's estimate, of parts that were timed alone. Solid: pipeline "
        "estimate, with both copy directions at once. Dotted: 3n/(n + 2), the limit of equal "
        "thirds, in the panel nearest to them. Schedules with a side kernel are left out. Bars: "
        "95% intervals."
    )
    return shown(data, drawn, caption, cases)


def _ideals(axis: Axes, panel: pd.DataFrame, thirds: bool) -> list[End | None]:
    """Draw the most that chunks can gain: by equal thirds, if wanted, and by the two bounds."""
    lines, rows = {}, bounds.one_each(panel, "chunks")
    if thirds:
        low, high = axis.get_xlim()
        dense = np.geomspace(max(1.0, low), high, 60)
        lines["equal thirds"] = pd.DataFrame({"chunks": dense, "y": bounds.equal_thirds(dense)})
    known = bounds.bounds(rows)
    for name in (WERKHOVEN, PIPELINE):
        gain = np.array(known[SERIAL_SUM]) / np.array(known[name])
        if np.isfinite(gain).all():
            lines[name] = rows.assign(y=gain)
    looks = BOUND_LOOKS | {"equal thirds": BOUND_LOOKS[SERIAL_SUM]}
    return [
        marks.curve(axis, line, "chunks", looks[name], name, linewidth=1.4, zorder=1)
        for name, line in lines.items()
    ]


@table("schedules", name="schedules")
def schedules_table(data: Data) -> Shown:
    """Every schedule at its fastest: makespan, over its estimate, and against the serial one."""
    problem, cases = ["workload", "items", "work"], bounds.schedules_of(data)
    marked = cases.assign(other=cases["workload"] != bounds.MAIN_WORKLOAD, items=-cases["items"])
    best = marked.loc[marked.groupby([*problem, "id"])["median_ns"].idxmin()]
    best = best.sort_values(["other", *problem, "median_ns"], ignore_index=True)
    best["items"] *= -1
    same = best[["workload", "items"]] == best[["workload", "items"]].iloc[0]
    serial = pick(best, id=SERIAL).set_index(problem)["samples"].to_dict()
    pinned = pick(cases, memory="pinned").groupby(problem)
    ratios = {key: bounds.compute_to_copy(own) for key, own in pinned}
    keys = list(best[problem].itertuples(index=False, name=None))
    gains = [
        ratio_interval(serial[key], case.samples)
        if key in serial and not case.side_kernels
        else None
        for key, case in zip(keys, best.itertuples(), strict=True)
    ]
    over = [bounds.over_bound(case) if case.bound > 0 else None for case in best.itertuples()]
    rows = best[SCHEDULE].assign(
        compute_to_copy=[ratios.get(key, np.nan) for key in keys],
        streams=best["streams"].astype("Int64").mask(best["own_streams"] == 1),
        median_ms=best["median_ns"] / 1e6,
        events_ms=best["device_ns"] / 1e6,
        low_ms=best["low_ns"] / 1e6,
        high_ms=best["high_ns"] / 1e6,
        of_bound=pd.Series(over, dtype=object),
        speedup=pd.Series(gains, dtype=object),
    )
    has_events = bool(rows["events_ms"].notna().any())
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
        *[Column("events_ms", "by events", digits(4))] * has_events,
        Column("of_bound", "/ estimate", with_interval),
        Column("speedup", "speedup", with_interval),
    )
    events = (
        " The makespan is by the host's clock; the time by events is the device's, in separate "
        "replays." * has_events
    )
    caption = (
        "Schedules at their fastest number of chunks and streams: makespan, makespan over the "
        f"pipeline estimate, and speedup over `{SERIAL}`, with 95% intervals in brackets. "
        f"{bounds.WORK} Ratio: compute to copy.{events}"
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
