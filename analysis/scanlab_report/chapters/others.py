"""Results of nvbench and Google Benchmark: distributions, and a table of medians."""

from __future__ import annotations

import textwrap

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, ScalarFormatter

from scanlab_report import style
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table, code, significant, whole, with_interval
from scanlab_report.intervals import Interval, mean_interval, median_interval
from scanlab_report.others.cases import without_numbers
from scanlab_report.pick import Lacking
from scanlab_report.shown import Shown, figure, shown, table

COLOURS = (
    style.BLUE,
    style.VERMILLION,
    style.GREEN,
    style.PURPLE,
    style.ORANGE,
    style.SKY,
    style.BLACK,
    style.GREY,
)
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
    rows = data["other"]
    numbers = list(dict.fromkeys(rows["file"]))
    paths = [data.files[number].path for number in numbers]
    names = [path.name for path in paths]
    if len(set(names)) < len(names):
        names = [str(path) for path in paths]
    parts = without_numbers([rows[rows["file"] == number] for number in numbers])
    parts = [
        part.assign(name=name, number=place)
        for place, (name, part) in enumerate(zip(names, parts, strict=True))
    ]
    every = pd.concat(parts, ignore_index=True) if parts else rows
    every = every[every["skipped"] == ""] if timed else every
    if every.empty:
        raise Lacking("results of nvbench or Google Benchmark")
    return every


def case_time(row) -> Interval:
    """Return the median in ns with its interval; without samples, the mean."""
    if len(row.samples):
        return median_interval(row.samples)
    return mean_interval(row.mean_ns, row.stdev_ns, row.count)


def case_rate(row) -> Interval:
    """Return the throughput in GB/s with its interval; without samples, the rate that the file
    states."""
    return (
        median_interval(row.rates / 1e9) if len(row.rates) else Interval(np.nan, np.nan, np.nan, 0)
    )


def unit_of_time(ns: float) -> tuple[str, float]:
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
    rows = rows.assign(spread=rows["samples"].map(_spread))
    groups = [group for _, group in rows.groupby(["benchmark", "key", "device"], sort=False)]
    widest = sorted(groups, key=lambda group: group["spread"].max(), reverse=True)[:PANELS]
    panels = [group for group in groups if any(group is other for other in widest)]
    columns, lines = min(_COLUMNS, len(panels)), -(-len(panels) // _COLUMNS)
    width = style.DOUBLE * columns / _COLUMNS if columns > 1 else style.COLUMN
    drawn, axes = style.figure(width, 0.3 + 1.45 * lines, columns, lines, sharey=True)
    varies = [len(set(rows[name]) - {""}) > 1 for name in ("benchmark", "case", "device")]
    for panel, group in zip(axes, panels, strict=False):
        _steps(panel, group)
        _heading(panel, group.iloc[0], *varies)
    for unused in axes[len(panels) :]:
        unused.remove()
    for panel in axes[: len(panels) : columns]:
        panel.set_ylabel("share of samples")
    files = dict(zip(rows["number"], rows["name"], strict=True))
    few = (
        f"The {len(panels)} of {len(groups)} cases whose middle half is the widest"
        if len(panels) < len(groups)
        else ""
    )
    if len(files) > 1 or few:
        handles = [
            Line2D([], [], color=_colour(n), linestyle=_line(n), label=style.plain(name))
            for n, name in files.items()
            if len(files) > 1
        ]
        drawn.legend(
            handles=handles,
            loc="outside upper left",
            ncols=4,
            title=few or None,
            title_fontsize=7.5,
            alignment="left",
        )
    return shown(
        data,
        drawn,
        "Cumulative distribution of the samples of each case. A flat step separates two "
        "modes. Marks at one half: medians with 95% intervals. Axes leave out 0.5% at each end",
        rows,
    )


def _spread(samples: np.ndarray) -> float:
    low, middle, high = np.quantile(samples, (0.25, 0.5, 0.75))
    return float((high - low) / middle)


def _steps(axes: Axes, files: pd.DataFrame) -> None:
    name, factor = unit_of_time(float(np.median(np.concatenate(files["samples"].tolist()))))
    ends = []
    for place, row in enumerate(files.itertuples()):
        colour, samples = _colour(row.number), np.sort(row.samples) * factor
        ends += list(np.quantile(samples, (0.005, 0.995)))
        if len(samples) > _STEPS:
            samples = np.quantile(samples, np.linspace(0, 1, _STEPS), method="inverted_cdf")
        axes.step(
            np.concatenate([samples[:1], samples]),
            np.arange(len(samples) + 1) / len(samples),
            where="post",
            color=colour,
            linestyle=_line(row.number),
        )
        median, height = median_interval(row.samples * factor), 0.5 - 0.07 * place  # hides no other
        axes.plot([median.value], [height], "o", color=colour, markersize=2.5)
        style.error_bars(
            axes, [median.value], [height], [median.low], [median.high], colour, across=True
        )
    margin = 0.05 * (max(ends) - min(ends)) or 0.01 * max(ends)
    axes.set_xlim(min(ends) - margin, max(ends) + margin)
    axes.set_ylim(0, 1.02)
    axes.xaxis.set_major_locator(MaxNLocator(3))
    axes.xaxis.set_major_formatter(ScalarFormatter(useOffset=False))
    axes.set_xlabel(f"time, {name}", fontsize=7)


def _heading(axes: Axes, row: pd.Series, benchmark: bool, point: bool, device: bool) -> None:
    """Name the benchmark, point and device of a case where other cases differ in them."""
    parts = (
        (row["benchmark"], benchmark or not row["case"]),
        (row["case"], point or not benchmark),
        (row["device"] and f"on device {row['device']}", device),
    )
    title = " ".join(part for part, varies in parts if part and varies)
    lines = textwrap.wrap(title, _LETTERS, max_lines=3, placeholder=" …")
    axes.set_title(style.plain("\n".join(lines)), fontsize=6.5)


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _line(number: int) -> str:
    return LINES[number // 2 % len(LINES)] if number > 1 else LINES[number]


# ----------------------------------------------------------------------------------- every case


@table(of_others=True)
def medians(data: Data) -> Shown:
    """Every case of nvbench or Google Benchmark: its median with the interval, mean, spread and
    throughput, or why it has no time."""
    every = cases(data, timed=False)
    us = {
        "median_us": [
            median_interval(row.samples / 1e3)
            if len(row.samples)
            else Interval(row.median_ns / 1e3, np.nan, np.nan, row.count)
            for row in every.itertuples()
        ],
        "gb_per_s": [case_rate(row) for row in every.itertuples()],
    }
    devices = [
        " ".join(filter(None, (gpu, number and f"on device {number}")))
        for gpu, number in zip(every["gpu"], every["device"], strict=True)
    ]
    rows = every.assign(
        **{name: pd.Series(values, dtype=object) for name, values in us.items()},
        device=devices,
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
