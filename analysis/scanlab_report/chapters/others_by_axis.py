"""Results of nvbench and Google Benchmark along an axis of theirs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from scanlab_report import style
from scanlab_report.chapters.others import (
    COLOURS,
    LINES,
    MARKERS,
    ROWS,
    case_rate,
    case_time,
    cases,
    unit_of_time,
)
from scanlab_report.data import Data
from scanlab_report.intervals import Interval
from scanlab_report.pick import Lacking
from scanlab_report.shown import Shown, figure, shown


@figure(of_others=True, wide=True)
def time_by_axis(data: Data) -> Shown:
    """Time and throughput of nvbench's or Google Benchmark's cases by the axis of numbers that
    varies most."""
    every = cases(data)
    groups = _groups(every)
    if not groups:
        raise Lacking("benchmark has an axis of numbers with two values or more")
    left_out, groups = len(groups) - ROWS, groups[:ROWS]
    with_rates = any(group["rates"].map(len).any() for _, _, group in groups)
    columns = 2 if with_rates else 1
    width = style.DOUBLE if with_rates else 0.7 * style.DOUBLE
    drawn, axes = style.figure(width, 0.2 + 1.9 * len(groups), columns, len(groups))
    for place, (heading, axis, rows) in enumerate(groups):
        panels = axes[place * columns :][:columns]
        times = [case_time(row) for row in rows.itertuples()]
        name, factor = unit_of_time(float(np.median([time.value for time in times])))
        varying, has_rates = _varying(axis, rows), rows["rates"].map(len).any()
        scaled = [
            Interval(t.value * factor, t.low * factor, t.high * factor, t.count) for t in times
        ]
        _panel(panels[0], axis, varying, rows, scaled, f"time, {name}")
        panels[0].set_title(style.plain(heading), fontsize=7.5)
        if has_rates:
            rates = [case_rate(row) for row in rows.itertuples()]
            _panel(panels[1], axis, varying, rows, rates, "throughput, GB/s")
        elif with_rates:
            panels[1].set_axis_off()
        handles, labels = panels[0].get_legend_handles_labels()
        if len(labels) > 1:
            panels[-1].legend(
                handles,
                labels,
                loc="upper left",
                fontsize=6.5,
                bbox_to_anchor=(0 if with_rates and not has_rates else 1, 1),
            )
    if left_out > 0:
        drawn.suptitle(
            f"The first {ROWS} of {ROWS + left_out} groups of cases; the table has all.",
            fontsize=7.5,
            x=0.01,
            ha="left",
        )
    return shown(
        data,
        drawn,
        "Median time or throughput against an axis of the benchmark, with 95% intervals. Cases "
        "without samples: the mean with Student’s interval, and the file’s throughput",
        every,
    )


def _groups(every: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame]]:
    """Return one row of panels per benchmark and device: its heading, its axis and its cases. If
    more axes vary than lines can tell apart, each value of the other axes has a row."""
    groups, several = [], len(set(every["device"]) - {""}) > 1
    for (benchmark, device), rows in every.groupby(["benchmark", "device"], sort=False):
        numbers = {
            name: len(values)
            for name, values in _values(rows).items()
            if all(isinstance(value, int | float) for value in values)
        }
        axis = max(numbers, key=numbers.__getitem__, default="")
        if not axis or numbers[axis] < 2:
            continue
        rows = rows[[axis in axes for axes in rows["axes"]]]
        apart = _varying(axis, rows)[1:]
        part = [
            " ".join(f"{name}={axes.get(name, '—')}" for name in apart) for axes in rows["axes"]
        ]
        on = f"on device {device}" if several and device else ""
        groups += [
            (" ".join(filter(None, (benchmark, on, name))), axis, group)
            for name, group in rows.groupby(np.array(part, dtype=object), sort=False)
        ]
    return groups


def _values(rows: pd.DataFrame) -> dict[str, set[str | float]]:
    values: dict[str, set[str | float]] = {}
    for axes in rows["axes"]:
        for name, value in axes.items():
            values.setdefault(name, set()).add(value)
    return values


def _varying(axis: str, rows: pd.DataFrame) -> list[str]:
    """Return the other axes that vary. The one with the most values that lines can still tell apart
    is first."""
    counts = {
        name: len(values)
        for name, values in _values(rows).items()
        if name != axis and len(values) > 1
    }
    return sorted(
        counts, key=lambda name: (counts[name] <= len(COLOURS), counts[name]), reverse=True
    )


def _panel(
    axes: Axes,
    axis: str,
    varying: list[str],
    rows: pd.DataFrame,
    values: Sequence[Interval],
    label: str,
) -> None:
    lines: dict[tuple[int, str], list[tuple[float, Interval]]] = {}
    for row, value in zip(rows.itertuples(), values, strict=True):
        if np.isfinite(value.value):
            kind = str(row.axes.get(varying[0], "")) if varying else ""
            lines.setdefault((row.number, kind), []).append((float(row.axes[axis]), value))
    kinds, files = (
        list(dict.fromkeys(kind for _, kind in lines)),
        dict(zip(rows["number"], rows["name"], strict=True)),
    )
    for (number, kind), points in lines.items():
        points.sort(key=lambda point: point[0])
        place = kinds.index(kind) % len(COLOURS) if len(kinds) > 1 else number % len(COLOURS)
        x, y = [n for n, _ in points], [value for _, value in points]
        named = (
            f"{varying[0]}={kind}" if len(kinds) > 1 else "",
            files[number] if len(files) > 1 else "",
        )
        # A ring around the dot of the file before: where the two agree, both are to be seen.
        axes.plot(
            x,
            [v.value for v in y],
            color=COLOURS[place],
            marker=MARKERS[place],
            linestyle=LINES[number % len(LINES)],
            label=style.plain(", ".join(filter(None, named))),
            markersize=3.4 + 2.4 * number,
            markerfacecolor="none" if number else COLOURS[place],
        )
        style.error_bars(
            axes, x, [v.value for v in y], [v.low for v in y], [v.high for v in y], COLOURS[place]
        )
    drawn = [point for points in lines.values() for point in points]
    _scales(axes, axis, [n for n, _ in drawn], [value.value for _, value in drawn])
    axes.set_ylabel(label)


def _scales(axes: Axes, axis: str, x: list[float], y: list[float]) -> None:
    """Logarithmic where values span more than a few, with ticks that are numbers to read."""
    if x and min(x) > 0 and max(x) >= 8 * min(x):
        style.items_axis(axes, [round(value) for value in x] if min(x) >= 1 else [])
    axes.set_xlabel(style.plain(axis))
    if y and max(y) >= 3 * min(y):
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1,) if max(y) > 100 * min(y) else (1, 2, 5)))
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.set_ylim(0, None)
        axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_formatter(
        FuncFormatter(
            lambda value, _: f"{value:g}" if value < 1e4 else f"{value:,.0f}".replace(",", "\u2009")
        )
    )
