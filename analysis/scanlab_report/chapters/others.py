"""The results of nvbench and Google Benchmark: distributions, times by an axis, a table of medians."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import (
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullLocator,
    ScalarFormatter,
)

from scanlab_report import style
from scanlab_report.data import Data
from scanlab_report.formats import (
    Column,
    Table,
    code,
    significant,
    whole,
    with_interval,
)
from scanlab_report.intervals import Interval, mean_interval, median_interval
from scanlab_report.others.cases import without_numbers
from scanlab_report.pick import Lacking
from scanlab_report.shown import Shown, figure, shown, table

COLOURS = (style.BLUE, style.VERMILLION, style.GREEN, style.PURPLE, style.ORANGE, style.SKY,
           style.BLACK, style.GREY)  # fmt: skip
MARKERS, LINES = ("o", "s", "D", "^", "v", "p", "*", "X"), ("-", "--", "-.", ":")
_UNITS = ((1e3, "ns", 1.0), (1e6, "µs", 1e-3), (1e9, "ms", 1e-6), (np.inf, "s", 1e-9))
PANELS, ROWS = 24, 8
"""Cases of distributions, and groups of times by an axis, that a page has room for."""
_COLUMNS, _LETTERS = 4, 30
_STEPS = 1000
"""Points of a line: more samples than this are drawn by as many quantiles."""


def cases(data: Data, timed: bool = True) -> pd.DataFrame:
    """Every case of every file with `name`, that of its file, and `number`, the file's place. Files
    of one name are told apart by their folders."""
    rows = data["other"]
    numbers = list(dict.fromkeys(rows["file"]))
    paths = [data.files[number].path for number in numbers]
    names = [path.name for path in paths]
    if len(set(names)) < len(names):
        names = [str(path) for path in paths]
    parts = without_numbers([rows[rows["file"] == number] for number in numbers])
    parts = [of.assign(name=name, number=place) for place, (name, of) in enumerate(zip(names, parts, strict=True))]
    every = pd.concat(parts, ignore_index=True) if parts else rows
    every = every[every["skipped"] == ""] if timed else every
    if every.empty:
        raise Lacking("results of nvbench or Google Benchmark")
    return every


def _time(row) -> Interval:
    """The median in ns, with its interval; of a case without samples the mean."""
    if len(row.samples):
        return median_interval(row.samples)
    return mean_interval(row.mean_ns, row.stdev_ns, row.count)


def _rate(row) -> Interval:
    """GB/s, likewise; the file's own rate where there are no samples."""
    return median_interval(row.rates / 1e9) if len(row.rates) else Interval(np.nan, np.nan, np.nan, 0)


def _unit(ns: float) -> tuple[str, float]:
    """The unit for times of about so many ns, and how many of it are one."""
    return next((name, factor) for most, name, factor in _UNITS if ns < most)


# --------------------------------------------------------------------------------- distributions


@figure(of_others=True, wide=True)
def distributions(data: Data) -> Shown:
    """Cumulative distribution of the samples of each case of nvbench or Google Benchmark."""
    rows = cases(data)
    rows = rows[rows["samples"].map(len) > 1]
    if rows.empty:
        raise Lacking("case has two samples or more")
    rows = rows.assign(spread=rows["samples"].map(_spread))
    groups = [of for _, of in rows.groupby(["benchmark", "key", "device"], sort=False)]
    widest = sorted(groups, key=lambda of: of["spread"].max(), reverse=True)[:PANELS]
    panels = [of for of in groups if any(of is other for other in widest)]
    columns, lines = min(_COLUMNS, len(panels)), -(-len(panels) // _COLUMNS)
    width = style.DOUBLE * columns / _COLUMNS if columns > 1 else style.COLUMN
    drawn, axes = style.figure(width, 0.3 + 1.45 * lines, columns, lines, sharey=True)
    varies = [len(set(rows[name]) - {""}) > 1 for name in ("benchmark", "case", "device")]
    for panel, of in zip(axes, panels, strict=False):
        _steps(panel, of)
        _heading(panel, of.iloc[0], *varies)
    for unused in axes[len(panels) :]:
        unused.remove()
    for panel in axes[: len(panels) : columns]:
        panel.set_ylabel("share of samples")
    files = dict(zip(rows["number"], rows["name"], strict=True))
    few = f"The {len(panels)} of {len(groups)} cases whose middle half is the widest" if len(panels) < len(groups) else ""
    if len(files) > 1 or few:
        handles = [Line2D([], [], color=_colour(n), linestyle=_line(n), label=style.plain(name))
                   for n, name in files.items() if len(files) > 1]  # fmt: skip
        drawn.legend(handles=handles, loc="outside upper left", ncols=4, title=few or None,
                     title_fontsize=7.5, alignment="left")  # fmt: skip
    return shown(data, drawn, "Cumulative distribution of the samples of each case. A flat step separates two "
                 "modes. Marks at one half: medians with 95% intervals. Axes leave out 0.5% at each end", rows)  # fmt: skip


def _spread(samples: np.ndarray) -> float:
    low, middle, high = np.quantile(samples, (0.25, 0.5, 0.75))
    return float((high - low) / middle)


def _steps(axes: Axes, files: pd.DataFrame) -> None:
    name, factor = _unit(float(np.median(np.concatenate(files["samples"].tolist()))))
    ends = []
    for place, row in enumerate(files.itertuples()):
        colour, samples = _colour(row.number), np.sort(row.samples) * factor
        ends += list(np.quantile(samples, (0.005, 0.995)))
        if len(samples) > _STEPS:
            samples = np.quantile(samples, np.linspace(0, 1, _STEPS), method="inverted_cdf")
        axes.step(np.concatenate([samples[:1], samples]), np.arange(len(samples) + 1) / len(samples),
                  where="post", color=colour, linestyle=_line(row.number))  # fmt: skip
        median, height = median_interval(row.samples * factor), 0.5 - 0.07 * place  # hides no other
        axes.plot([median.value], [height], "o", color=colour, markersize=2.5)
        style.error_bars_across(axes, [median.value], [height], [median.low], [median.high], colour)
    margin = 0.05 * (max(ends) - min(ends)) or 0.01 * max(ends)
    axes.set_xlim(min(ends) - margin, max(ends) + margin)
    axes.set_ylim(0, 1.02)
    axes.xaxis.set_major_locator(MaxNLocator(3))
    axes.xaxis.set_major_formatter(ScalarFormatter(useOffset=False))
    axes.set_xlabel(f"time, {name}", fontsize=7)


def _heading(axes: Axes, row: pd.Series, benchmark: bool, point: bool, device: bool) -> None:
    """Tells a case from the others: by its benchmark, its point, its device."""
    parts = ((row["benchmark"], benchmark or not row["case"]), (row["case"], point or not benchmark),
             (row["device"] and f"on device {row['device']}", device))  # fmt: skip
    title = " ".join(part for part, varies in parts if part and varies)
    lines = textwrap.wrap(title, _LETTERS, max_lines=3, placeholder=" …")
    axes.set_title(style.plain("\n".join(lines)), fontsize=6.5)


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _line(number: int) -> str:
    return LINES[number // 2 % len(LINES)] if number > 1 else LINES[number]


# ----------------------------------------------------------------------------------- by an axis


@figure(of_others=True, wide=True)
def time_by_axis(data: Data) -> Shown:
    """Time and throughput of nvbench's or Google Benchmark's cases by the axis of numbers that varies most."""
    every = cases(data)
    groups = _groups(every)
    if not groups:
        raise Lacking("benchmark has an axis of numbers with two values or more")
    left_out, groups = len(groups) - ROWS, groups[:ROWS]
    with_rates = any(of["rates"].map(len).any() for _, _, of in groups)
    columns = 2 if with_rates else 1
    width = style.DOUBLE if with_rates else 0.7 * style.DOUBLE
    drawn, axes = style.figure(width, 0.2 + 1.9 * len(groups), columns, len(groups))
    for place, (heading, axis, rows) in enumerate(groups):
        panels = axes[place * columns :][:columns]
        times = [_time(row) for row in rows.itertuples()]
        name, factor = _unit(float(np.median([time.value for time in times])))
        varying, has_rates = _varying(axis, rows), rows["rates"].map(len).any()
        scaled = [Interval(t.value * factor, t.low * factor, t.high * factor, t.count) for t in times]
        _panel(panels[0], axis, varying, rows, scaled, f"time, {name}")
        panels[0].set_title(style.plain(heading), fontsize=7.5)
        if has_rates:
            rates = [_rate(row) for row in rows.itertuples()]
            _panel(panels[1], axis, varying, rows, rates, "throughput, GB/s")
        elif with_rates:
            panels[1].set_axis_off()
        handles, labels = panels[0].get_legend_handles_labels()
        if len(labels) > 1:
            panels[-1].legend(handles, labels, loc="upper left", fontsize=6.5,
                              bbox_to_anchor=(0 if with_rates and not has_rates else 1, 1))  # fmt: skip
    if left_out > 0:
        drawn.suptitle(f"The first {ROWS} of {ROWS + left_out} groups of cases; the table has all.", fontsize=7.5, x=0.01, ha="left")
    return shown(data, drawn, "Median time or throughput against an axis of the benchmark, with 95% intervals. Cases "
                 "without samples: the mean with Student’s interval, and the file’s throughput", every)  # fmt: skip


def _groups(every: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame]]:
    """A row of panels a benchmark and device: its heading, its axis, its cases; where more axes vary
    than lines can tell apart, a row for each value of the others."""
    groups, several = [], len(set(every["device"]) - {""}) > 1
    for (benchmark, device), rows in every.groupby(["benchmark", "device"], sort=False):
        numbers = {name: len(values) for name, values in _values(rows).items()
                   if all(isinstance(value, int | float) for value in values)}  # fmt: skip
        axis = max(numbers, key=numbers.__getitem__, default="")
        if not axis or numbers[axis] < 2:
            continue
        rows = rows[[axis in axes for axes in rows["axes"]]]
        apart = _varying(axis, rows)[1:]
        part = [" ".join(f"{name}={axes.get(name, '—')}" for name in apart) for axes in rows["axes"]]
        on = f"on device {device}" if several and device else ""
        groups += [(" ".join(filter(None, (benchmark, on, name))), axis, of)
                   for name, of in rows.groupby(np.array(part, dtype=object), sort=False)]  # fmt: skip
    return groups


def _values(rows: pd.DataFrame) -> dict[str, set[str | float]]:
    values: dict[str, set[str | float]] = {}
    for axes in rows["axes"]:
        for name, value in axes.items():
            values.setdefault(name, set()).add(value)
    return values


def _varying(axis: str, rows: pd.DataFrame) -> list[str]:
    """The other axes that vary, that of most values that lines can still tell apart first."""
    counts = {name: len(values) for name, values in _values(rows).items() if name != axis and len(values) > 1}
    return sorted(counts, key=lambda name: (counts[name] <= len(COLOURS), counts[name]), reverse=True)


def _panel(axes: Axes, axis: str, varying: list[str], rows: pd.DataFrame,
           values: Sequence[Interval], label: str) -> None:  # fmt: skip
    lines: dict[tuple[int, str], list[tuple[float, Interval]]] = {}
    for row, value in zip(rows.itertuples(), values, strict=True):
        if np.isfinite(value.value):
            kind = str(row.axes.get(varying[0], "")) if varying else ""
            lines.setdefault((row.number, kind), []).append((float(row.axes[axis]), value))
    kinds, files = list(dict.fromkeys(kind for _, kind in lines)), dict(zip(rows["number"], rows["name"], strict=True))
    for (number, kind), points in lines.items():
        points.sort(key=lambda point: point[0])
        place = kinds.index(kind) % len(COLOURS) if len(kinds) > 1 else number % len(COLOURS)
        x, y = [n for n, _ in points], [value for _, value in points]
        named = (f"{varying[0]}={kind}" if len(kinds) > 1 else "", files[number] if len(files) > 1 else "")
        # A ring around the dot of the file before: where the two agree, both are to be seen.
        axes.plot(x, [v.value for v in y], color=COLOURS[place], marker=MARKERS[place], linestyle=LINES[number % len(LINES)],
                  label=style.plain(", ".join(filter(None, named))), markersize=3.4 + 2.4 * number,
                  markerfacecolor="none" if number else COLOURS[place])  # fmt: skip
        style.error_bars(axes, x, [v.value for v in y], [v.low for v in y], [v.high for v in y],
                         COLOURS[place])
    drawn = [point for points in lines.values() for point in points]
    _scales(axes, axis, [n for n, _ in drawn], [value.value for _, value in drawn])
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


# ----------------------------------------------------------------------------------- every case


@table(of_others=True)
def medians(data: Data) -> Shown:
    """Every case of nvbench or Google Benchmark: its median with the interval, mean, spread and throughput, or why it has no time."""
    every = cases(data, timed=False)
    us = {"median_us": [median_interval(row.samples / 1e3) if len(row.samples) else Interval(row.median_ns / 1e3, np.nan, np.nan, row.count)
                        for row in every.itertuples()],
          "gb_per_s": [_rate(row) for row in every.itertuples()]}  # fmt: skip
    devices = [" ".join(filter(None, (gpu, number and f"on device {number}"))) for gpu, number in zip(every["gpu"], every["device"], strict=True)]
    rows = every.assign(**{name: pd.Series(of, dtype=object) for name, of in us.items()}, device=devices,
                        file=every["name"], mean_us=every["mean_ns"] / 1e3, samples=every["count"],
                        stdev_percent=100 * every["stdev_ns"] / every["mean_ns"])  # fmt: skip
    optional = {"file": rows["file"].nunique() > 1, "device": rows["device"].nunique() > 1,
                "skipped": (rows["skipped"] != "").any(), "gb_per_s": every["rates"].map(len).any()}  # fmt: skip
    interval = lambda of: with_interval(of) if np.isfinite(of.value) else "—"
    columns = (
        Column("file", "file", code, right=False), Column("benchmark", "benchmark", code, right=False),
        Column("case", "case", code, right=False), Column("device", "device", right=False),
        Column("clock", "clock", right=False), Column("samples", "samples", whole),
        Column("median_us", "median, µs", interval), Column("mean_us", "mean, µs", significant),
        Column("stdev_percent", "deviation, %", significant), Column("gb_per_s", "GB/s", interval),
        Column("skipped", "no time, because", right=False),
    )  # fmt: skip
    caption = ("Every case: median with its 95% interval, mean, relative standard deviation and throughput. An interval takes "
               "six samples. A median without samples is the file's own.")  # fmt: skip
    made = Table(caption, [column for column in columns if optional.get(column.key, True)], rows)
    return shown(data, made, caption, every)
