"""Time, and throughput where the files count bytes, by the axis of numbers that varies most; a row of panels a benchmark."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from scanlab_report.commands.build.foreign.shown import COLOURS, LINES, MARKERS, Shown, unit
from scanlab_report.layout import style
from scanlab_report.stats.intervals import Interval

CAPTION = "Median time or throughput against an axis of the benchmark, with 95% intervals. Cases without samples: the mean with Student’s interval, and the file’s throughput"
MOST = 8
"""Rows that a page has room for; the table has every case."""
_LINES = len(COLOURS)
"""Lines of a panel that can be told apart."""

Row = tuple[str, str, list[Shown]]
"""The heading of a row, its axis, and its cases."""


def draw(shown: list[Shown]) -> Figure | str:
    rows = _rows(shown)
    if not rows:
        return "no benchmark has an axis of numbers with two values or more"
    left_out, rows = len(rows) - MOST, rows[:MOST]
    with_rates = any(len(of.case.rates) for _, _, cases in rows for of in cases)
    drawn, axes = style.figure(style.DOUBLE if with_rates else 0.7 * style.DOUBLE, 0.2 + 1.9 * len(rows), 2 if with_rates else 1, len(rows))
    for number, (heading, axis, cases) in enumerate(rows):
        panels = axes[number * (2 if with_rates else 1) :][: 2 if with_rates else 1]
        name, factor = unit(float(np.median([of.time().value for of in cases])))
        varying = _varying(axis, cases)
        _panel(panels[0], axis, varying, cases, partial(_time, factor), f"time, {name}")
        panels[0].set_title(style.plain(heading), fontsize=7.5)
        has_rates = any(len(of.case.rates) for of in cases)
        if has_rates:
            _panel(panels[1], axis, varying, cases, _rate, "throughput, GB/s")
        elif with_rates:
            panels[1].set_axis_off()
        handles, labels = panels[0].get_legend_handles_labels()
        if len(labels) > 1:
            panels[-1].legend(handles, labels, loc="upper left", bbox_to_anchor=(0 if with_rates and not has_rates else 1, 1), fontsize=6.5)
    if left_out > 0:
        drawn.suptitle(f"The first {MOST} of {MOST + left_out} groups of cases; the table has all.", fontsize=7.5, x=0.01, ha="left")
    return drawn


def _rows(shown: list[Shown]) -> list[Row]:
    """A row a benchmark and device; and, where more axes vary than lines can tell apart, a row for each value of the others."""
    by_benchmark: dict[tuple[str, str], list[Shown]] = {}
    for of in shown:
        by_benchmark.setdefault((of.case.benchmark, of.case.device), []).append(of)
    several = len({device for _, device in by_benchmark if device}) > 1
    rows: list[Row] = []
    for (benchmark, device), cases in by_benchmark.items():
        numbers = {name: len(values) for name, values in _values(cases).items() if all(isinstance(value, int | float) for value in values)}
        axis = max(numbers, key=numbers.__getitem__, default="")
        if not axis or numbers[axis] < 2:
            continue
        apart = _varying(axis, cases)[1:]
        parts: dict[str, list[Shown]] = {}
        for of in cases:
            if axis in of.case.axes:
                parts.setdefault(" ".join(f"{name}={of.case.axes.get(name, '—')}" for name in apart), []).append(of)
        rows += [(" ".join(filter(None, (benchmark, f"on device {device}" if several and device else "", part))), axis, of) for part, of in parts.items()]
    return rows


def _varying(axis: str, cases: list[Shown]) -> list[str]:
    """The other axes that vary, that of most values that lines can still tell apart first."""
    counts = {name: len(values) for name, values in _values(cases).items() if name != axis and len(values) > 1}
    return sorted(counts, key=lambda name: (counts[name] <= _LINES, counts[name]), reverse=True)


def _values(cases: list[Shown]) -> dict[str, set[str | float]]:
    found: dict[str, set[str | float]] = {}
    for of in cases:
        for name, value in of.case.axes.items():
            found.setdefault(name, set()).add(value)
    return found


def _time(factor: float, of: Shown) -> Interval:
    return _scaled(of.time(), factor)


def _rate(of: Shown) -> Interval:
    return _scaled(of.rate(), 1e-9)


def _scaled(of: Interval, factor: float) -> Interval:
    return Interval(of.value * factor, of.low * factor, of.high * factor, of.count)


def _panel(axes: Axes, axis: str, varying: list[str], cases: list[Shown], value: Callable[[Shown], Interval], label: str) -> None:
    lines: dict[tuple[int, str], list[tuple[float, Interval]]] = {}
    for of in cases:
        if np.isfinite((measured := value(of)).value):
            lines.setdefault((of.number, str(of.case.axes.get(varying[0], "")) if varying else ""), []).append((float(of.case.axes[axis]), measured))
    kinds = list(dict.fromkeys(kind for _, kind in lines))
    files = {of.number: of.file for of in cases}
    for (number, kind), points in lines.items():
        points.sort(key=lambda point: point[0])
        place = kinds.index(kind) % _LINES if len(kinds) > 1 else number % _LINES
        x, y = [point[0] for point in points], [point[1].value for point in points]
        said = ", ".join(filter(None, (f"{varying[0]}={kind}" if len(kinds) > 1 else "", files[number] if len(files) > 1 else "")))
        # A ring around the dot of the file before: where the two agree, both are to be seen.
        axes.plot(x, y, color=COLOURS[place], marker=MARKERS[place], linestyle=LINES[number % len(LINES)], label=style.plain(said),
                  markersize=3.4 + 2.4 * number, markerfacecolor="none" if number else COLOURS[place])  # fmt: skip
        style.error_bars(axes, x, y, [point[1].low for point in points], [point[1].high for point in points], COLOURS[place])
    _scales(axes, axis, [point[0] for points in lines.values() for point in points], [point[1].value for points in lines.values() for point in points])
    axes.set_ylabel(label)


def _scales(axes: Axes, axis: str, x: list[float], y: list[float]) -> None:
    """Logarithmic where values span more than a few, and then with ticks that are numbers to read."""
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
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}" if value < 1e4 else f"{value:,.0f}".replace(",", "\u2009")))
