"""Results of nvbench and Google Benchmark: distributions, times along an axis, and all medians."""

from __future__ import annotations

import textwrap

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator, ScalarFormatter

from scanlab_report import marks, style
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table, code, significant, whole, with_interval
from scanlab_report.intervals import UNKNOWN, Interval, mean_interval, median_interval
from scanlab_report.others.cases import without_numbers
from scanlab_report.pick import Lacking
from scanlab_report.shown import Shown, figure, shown, table

COLOURS: tuple[str, ...] = (style.BLUE, style.VERMILLION, style.GREEN, style.PURPLE)
COLOURS += (style.ORANGE, style.SKY, style.BLACK, style.GREY)
MARKERS, LINES = ("o", "s", "D", "^", "v", "p", "*", "X"), ("-", "--", "-.", ":")
_UNITS = ((1e3, "ns", 1.0), (1e6, "µs", 1e-3), (1e9, "ms", 1e-6), (np.inf, "s", 1e-9))
PANELS, ROWS = 24, 8
"""Cases of distributions, and groups of times by an axis, that a page has room for."""
_COLUMNS, _LETTERS = 4, 30
_STEPS = 1000
"""Points of a line: more samples than this are drawn by as many quantiles."""


def cases(data: Data, timed: bool = True) -> pd.DataFrame:
    """Return every case of every file, with the `name` of the file and its place as `number`.
    Folders tell files of one name apart."""
    files = [rows for _, rows in data["other"].groupby("file", sort=False)]
    paths = [data.files[rows["file"].iloc[0]].path for rows in files]
    names = [path.name for path in paths]
    if len(set(names)) < len(names):
        names = [str(path) for path in paths]
    parts = [
        rows.assign(name=name, number=number)
        for number, (name, rows) in enumerate(zip(names, without_numbers(files), strict=True))
    ]
    every = pd.concat(parts, ignore_index=True) if parts else data["other"]
    every = every[every["skipped"] == ""] if timed else every
    if every.empty:
        raise Lacking("results of nvbench or Google Benchmark")
    return every


def _rates(rows: pd.DataFrame) -> list[Interval]:
    """Return each throughput in GB/s; without samples, the rate that the file states."""
    return [median_interval(rates / 1e9) if len(rates) else UNKNOWN for rates in rows["rates"]]


def _unit(ns: float) -> tuple[str, float]:
    """Return the unit for times of about so many ns, and the factor from ns to it."""
    return next((name, factor) for most, name, factor in _UNITS if ns < most)


# --------------------------------------------------------------------------------- distributions


@figure(of_others=True, wide=True)
def distributions(data: Data) -> Shown:
    """Cumulative distribution of the samples of each case of nvbench or Google Benchmark."""
    rows = cases(data)
    rows = rows[rows["samples"].map(len) > 1]
    if rows.empty:
        raise Lacking("case has two samples or more")
    case = ["benchmark", "key", "device"]
    number = rows.groupby(case, sort=False).ngroup()
    widest = rows["samples"].map(_spread).groupby(number).max()
    widest = widest.sort_values(ascending=False, kind="stable").head(PANELS)
    groups = [rows[number == place] for place in sorted(widest.index)]
    columns, lines = min(_COLUMNS, len(groups)), -(-len(groups) // _COLUMNS)
    width = style.DOUBLE * columns / _COLUMNS if columns > 1 else style.COLUMN
    drawn, axes = style.figure(width, 0.3 + 1.45 * lines, columns, lines, sharey=True)
    varies = {name for name in ("benchmark", "case", "device") if len({*rows[name]} - {""}) > 1}
    for panel, group in zip(axes, groups, strict=False):
        _steps(panel, group)
        title = _heading(group.iloc[0], varies)
        wrapped = textwrap.wrap(title, _LETTERS, max_lines=3, placeholder=" …")
        panel.set_title(style.plain("\n".join(wrapped)), fontsize=6.5)
    for unused in axes[len(groups) :]:
        unused.remove()
    for panel in axes[: len(groups) : columns]:
        panel.set_ylabel("share of samples")
    files = dict(zip(rows["number"], rows["name"], strict=True))
    shares = f"The {len(groups)} of {number.nunique()} cases whose middle half is the widest"
    few = shares if len(groups) < number.nunique() else None
    if len(files) > 1 or few:
        handles = [
            Line2D([], [], label=style.plain(name), **_look(n))
            for n, name in files.items()
            if len(files) > 1
        ]
        options = {"title": few, "title_fontsize": 7.5, "alignment": "left", "ncols": 4}
        drawn.legend(handles=handles, loc="outside upper left", **options)
    caption = (
        "Cumulative distribution of the samples of each case. A flat step separates two "
        "modes. Marks at one half: medians with 95% intervals. Axes leave out 0.5% at each end"
    )
    return shown(data, drawn, caption, rows)


def _spread(samples: np.ndarray) -> float:
    low, middle, high = np.quantile(samples, (0.25, 0.5, 0.75))
    return float((high - low) / middle)


def _steps(axes: Axes, files: pd.DataFrame) -> None:
    name, factor = _unit(float(np.median(np.concatenate(files["samples"].tolist()))))
    ends: list[float] = []
    for place, row in enumerate(files.itertuples()):
        look, samples = _look(row.number), np.sort(row.samples) * factor
        ends += list(np.quantile(samples, (0.005, 0.995)))
        if len(samples) > _STEPS:
            samples = np.quantile(samples, np.linspace(0, 1, _STEPS), method="inverted_cdf")
        shares = np.arange(len(samples) + 1) / len(samples)
        axes.step(np.concatenate([samples[:1], samples]), shares, where="post", **look)
        median, height = median_interval(row.samples * factor), 0.5 - 0.07 * place  # hides no other
        axes.plot([median.value], [height], "o", color=look["color"], markersize=2.5)
        interval = [median.value], [height], [median.low], [median.high]
        marks.error_bars(axes, *interval, look["color"], across=True)
    margin = 0.05 * (max(ends) - min(ends)) or 0.01 * max(ends)
    axes.set_xlim(min(ends) - margin, max(ends) + margin)
    axes.set_ylim(0, 1.02)
    axes.xaxis.set_major_locator(MaxNLocator(3))
    axes.xaxis.set_major_formatter(ScalarFormatter(useOffset=False))
    axes.set_xlabel(f"time, {name}", fontsize=7)


def _heading(row: pd.Series, varies: set[str]) -> str:
    """Name the benchmark, point and device of a case where other cases differ in them."""
    parts = [row["benchmark"]] if "benchmark" in varies or not row["case"] else []
    parts += [row["case"]] if "case" in varies or "benchmark" not in varies else []
    parts += [f"on device {row['device']}"] if row["device"] and "device" in varies else []
    return " ".join(filter(None, parts))


def _look(number: int) -> dict[str, str]:
    """The look of the file of this number."""
    line = number // 2 % len(LINES) if number > 1 else number
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": LINES[line]}


# ------------------------------------------------------------------------------- along an axis


@figure(of_others=True, wide=True)
def time_by_axis(data: Data) -> Shown:
    """Time and throughput of nvbench's or Google Benchmark's cases by the axis of numbers that
    varies most."""
    every = cases(data)
    groups = _groups(every)
    if not groups:
        raise Lacking("benchmark has an axis of numbers with two values or more")
    left_out, groups = len(groups) - ROWS, groups[:ROWS]
    columns = 2 if any(rows["rates"].map(len).any() for _, _, rows in groups) else 1
    width = style.DOUBLE if columns == 2 else 0.7 * style.DOUBLE
    drawn, axes = style.figure(width, 0.2 + 1.9 * len(groups), columns, len(groups))
    for place, (heading, axis, rows) in enumerate(groups):
        panels = axes[place * columns :][:columns]
        times = [
            median_interval(row.samples)
            if len(row.samples)
            else mean_interval(row.mean_ns, row.stdev_ns, row.count)
            for row in rows.itertuples()
        ]
        name, factor = _unit(float(np.median([time.value for time in times])))
        _panel(panels[0], axis, rows, times, factor, f"time, {name}")
        panels[0].set_title(style.plain(heading), fontsize=7.5)
        has_rates = rows["rates"].map(len).any()
        if has_rates:
            _panel(panels[1], axis, rows, _rates(rows), 1.0, "throughput, GB/s")
        elif columns == 2:
            panels[1].set_axis_off()
        handles, labels = panels[0].get_legend_handles_labels()
        if len(labels) > 1:
            right = 0 if columns == 2 and not has_rates else 1
            options = {"loc": "upper left", "fontsize": 6.5, "bbox_to_anchor": (right, 1)}
            panels[-1].legend(handles, labels, **options)
    if left_out > 0:
        first = f"The first {ROWS} of {ROWS + left_out} groups of cases; the table has all."
        drawn.suptitle(first, fontsize=7.5, x=0.01, ha="left")
    caption = (
        "Median time or throughput against an axis of the benchmark, with 95% intervals. Cases "
        "without samples: the mean with Student’s interval, and the file’s throughput"
    )
    return shown(data, drawn, caption, every)


def _groups(every: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame]]:
    """Return one row of panels per benchmark and device: its heading, its axis and its cases, with
    their place on the axis as `x`, and the `line` that they belong to. If more axes vary than lines
    can tell apart, each value of the other axes has a row."""
    groups, several = [], len(set(every["device"]) - {""}) > 1
    for (benchmark, device), rows in every.groupby(["benchmark", "device"], sort=False):
        axes = pd.DataFrame(rows["axes"].tolist(), rows.index, dtype=object)
        numeric = axes.map(lambda value: isinstance(value, int | float)).all()
        numbers = axes.loc[:, numeric].nunique()
        if numbers.empty or numbers.max() < 2:
            continue
        axis = numbers.idxmax()
        rows, axes = (part[axes[axis].notna()] for part in (rows, axes))
        counts = axes.drop(columns=axis).nunique()
        counts = counts[counts > 1]
        order = lambda name, counts=counts: (counts[name] <= len(COLOURS), counts[name])
        line, *apart = [*sorted(counts.index, key=order, reverse=True)] or [""]
        kinds = f"{line}=" + axes[line].fillna("").astype(str) if line else ""
        rows = rows.assign(x=axes[axis].astype(float), line=kinds)
        rest = [f"{name}=" + axes[name].fillna("—").astype(str) for name in apart]
        part = [" ".join(values) for values in zip(*rest, strict=True)] or [""] * len(rows)
        on = f"on device {device}" if several and device else ""
        groups += [
            (" ".join(filter(None, (benchmark, on, name))), axis, group)
            for name, group in rows.groupby(np.array(part, dtype=object), sort=False)
        ]
    return groups


def _panel(
    axes: Axes, axis: str, rows: pd.DataFrame, values: list[Interval], factor: float, label: str
) -> None:
    """Draw intervals against an axis, a line for each file and `line`."""
    ends = {
        end: [getattr(value, end) * factor for value in values] for end in ("value", "low", "high")
    }
    rows = rows.assign(**ends)
    rows = rows[np.isfinite(rows["value"])]
    kinds, files = list(dict.fromkeys(rows["line"])), rows["name"].nunique()
    for (number, kind), points in rows.groupby(["number", "line"], sort=False):
        points = points.sort_values("x", kind="stable")
        place = (kinds.index(kind) if len(kinds) > 1 else number) % len(COLOURS)
        named = kind if len(kinds) > 1 else "", points["name"].iloc[0] if files > 1 else ""
        # A ring around the dot of the file before: where the two agree, both are to be seen.
        axes.plot(
            points["x"],
            points["value"],
            color=COLOURS[place],
            marker=MARKERS[place],
            linestyle=LINES[number % len(LINES)],
            label=style.plain(", ".join(filter(None, named))),
            markersize=3.4 + 2.4 * number,
            markerfacecolor="none" if number else COLOURS[place],
        )
        x, y, low, high = (points[end] for end in ("x", "value", "low", "high"))
        marks.error_bars(axes, x, y, low, high, COLOURS[place])
    x, y = rows["x"], rows["value"]
    if len(x) and x.min() > 0 and x.max() >= 8 * x.min():
        marks.items_axis(axes, [round(value) for value in x] if x.min() >= 1 else [])
    axes.set_xlabel(style.plain(axis))
    if len(y) and y.max() >= 3 * y.min():
        axes.set_yscale("log")
        subs = (1,) if y.max() > 100 * y.min() else (1, 2, 5)
        axes.yaxis.set_major_locator(LogLocator(subs=subs))
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.set_ylim(0, None)
        axes.yaxis.set_major_locator(MaxNLocator(5))
    readable = lambda v, _: f"{v:g}" if v < 1e4 else f"{v:,.0f}".replace(",", "\u2009")
    axes.yaxis.set_major_formatter(FuncFormatter(readable))
    axes.set_ylabel(label)


# ----------------------------------------------------------------------------------- every case


@table(of_others=True)
def medians(data: Data) -> Shown:
    """Every case of nvbench or Google Benchmark: its median with the interval, mean, spread and
    throughput, or why it has no time."""
    every = cases(data, timed=False)
    times = [
        median_interval(row.samples / 1e3)
        if len(row.samples)
        else Interval(row.median_ns / 1e3, np.nan, np.nan, row.count)
        for row in every.itertuples()
    ]
    on = every["device"].where(every["device"] == "", "on device " + every["device"])
    rows = every.assign(
        median_us=pd.Series(times, dtype=object),
        gb_per_s=pd.Series(_rates(every), dtype=object),
        device=(every["gpu"] + " " + on).str.strip(),
        file=every["name"],
        mean_us=every["mean_ns"] / 1e3,
        samples=every["count"],
        stdev_percent=100 * every["stdev_ns"] / every["mean_ns"],
    )
    optional = {
        "file": rows["file"].nunique() > 1,
        "device": rows["device"].nunique() > 1,
        "skipped": (rows["skipped"] != "").any(),
        "gb_per_s": every["rates"].map(len).any(),
    }
    interval = lambda estimate: with_interval(estimate) if np.isfinite(estimate.value) else "—"
    columns = (
        Column("file", "file", code, right=False),
        Column("benchmark", "benchmark", code, right=False),
        Column("case", "case", code, right=False),
        Column("device", "device", right=False),
        Column("clock", "clock", right=False),
        Column("samples", "samples", whole),
        Column("median_us", "median, µs", interval),
        Column("mean_us", "mean, µs", significant),
        Column("stdev_percent", "deviation, %", significant),
        Column("gb_per_s", "GB/s", interval),
        Column("skipped", "no time, because", right=False),
    )
    caption = (
        "Every case: median with its 95% interval, mean, relative standard deviation and "
        "throughput. An interval takes "
        "six samples. A median without samples is the file's own."
    )
    made = Table(caption, [column for column in columns if optional.get(column.key, True)], rows)
    return shown(data, made, caption, every)
