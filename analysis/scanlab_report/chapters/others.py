"""Results of nvbench and Google Benchmark: distributions, times along an axis, and all medians."""

import textwrap
from collections.abc import Iterable

import numpy as np
import pandas as pd
from matplotlib.ticker import EngFormatter, MaxNLocator

from scanlab_report import marks, style
from scanlab_report.data import Data
from scanlab_report.formats import Table, alike, code, significant, whole, with_interval
from scanlab_report.intervals import Interval, median_interval
from scanlab_report.others import in_words
from scanlab_report.shown import Shown, figure, shown, table
from scanlab_report.versus import or_lacking

COLOURS = (style.BLUE, style.VERMILLION, style.GREEN, style.PURPLE, style.ORANGE, style.SKY)
PANELS = 16


def cases(data: Data, timed: bool = True) -> pd.DataFrame:
    """Every case with the `name` of its file, and its `time` in µs, with an interval if sampled."""
    every = data["other"]
    stated = every["median_ns"].fillna(every["mean_ns"]) / 1e3
    times = [
        median_interval(samples / 1e3) if len(samples) else Interval(time, np.nan, np.nan, 0)
        for samples, time in zip(every["samples"], stated, strict=True)
    ]
    names = [str(data.files[file].path) for file in every["file"]]
    every = every.assign(name=names, time=pd.Series(times, every.index, dtype=object))
    every = every[every["skipped"] == ""] if timed else every
    return or_lacking(every, "results of nvbench or Google Benchmark")


def _heading(parts: Iterable[str]) -> str:
    """The heading of a panel, in lines of its width."""
    return style.plain(textwrap.fill(" ".join(parts), 30, max_lines=3, placeholder=" …"))


@figure(of_others=True)
def distributions(data: Data) -> Shown:
    """Cumulative distribution of the samples of each case of nvbench or Google Benchmark."""
    rows = cases(data)
    rows = or_lacking(rows[rows["samples"].map(len) > 1], "case has two samples or more")
    every = rows.groupby(["benchmark", "case", "device"], sort=False)
    files = sorted(set(rows["name"]))
    lines = -(-min(len(every), PANELS) // 4)
    drawn, axes = style.figure(style.DOUBLE, 0.3 + 1.45 * lines, 4, lines, sharey=True)
    for panel, (case, own) in zip(axes, every, strict=False):
        for row in own.itertuples():
            colour = COLOURS[files.index(row.name) % len(COLOURS)]
            panel.ecdf(row.samples / 1e9, label=style.plain(row.name), color=colour)
        panel.set_title(_heading(case), fontsize=6.5)
        panel.xaxis.set_major_locator(MaxNLocator(3))
        panel.xaxis.set_major_formatter(EngFormatter("s"))
    for unused in axes[len(every) :]:
        unused.remove()
    axes[0].set_ylabel("share of samples")
    axes[0].legend(fontsize=6)
    caption = (
        "Cumulative distribution of the samples of the first 16 cases. A flat step separates "
        "two modes"
    )
    return shown(data, drawn, caption, rows)


@figure(of_others=True)
def time_by_axis(data: Data) -> Shown:
    """Time of nvbench's or Google Benchmark's cases by the axis of numbers that varies most."""
    every = cases(data)
    groups = {
        case: along
        for case, rows in every.groupby(["benchmark", "device"], sort=False)
        if (along := _along(rows))
    }
    or_lacking(groups, "benchmark has an axis of numbers with two values or more")
    across, down = min(2, len(groups)), -(-min(len(groups), PANELS) // 2)
    drawn, axes = style.figure(style.DOUBLE, 0.2 + 1.9 * down, across, down)
    for panel, (case, (axis, rows)) in zip(axes, groups.items(), strict=False):
        lines = rows.groupby(["line", "name"], sort=False)
        for place, ((line, name), points) in enumerate(lines):
            drawn_as = style.Look(COLOURS[place % len(COLOURS)], "o", "-")
            label = style.plain(f"{line} {name}".strip())
            marks.curve(panel, points.sort_values("x"), "x", drawn_as, label, "value")
        if rows["x"].min() >= 1 and rows["x"].max() >= 8 * rows["x"].min():
            marks.items_axis(panel, rows["x"].astype(int))
        panel.set_title(_heading(case), fontsize=7.5)
        panel.set_xlabel(style.plain(axis))
        panel.set_yscale("log")
        marks.decade_axis(panel.yaxis)
        panel.yaxis.set_major_formatter(EngFormatter("s"))
        panel.legend(fontsize=6)
    for unused in axes[len(groups) :]:
        unused.remove()
    caption = (
        "Median time against an axis of the benchmark, with 95% intervals; of cases without "
        "samples the time that the file states"
    )
    return shown(data, drawn, caption, every)


def _along(rows: pd.DataFrame) -> tuple[str, pd.DataFrame] | None:
    """The axis with most numbers, and the cases with `x`, `line` and seconds; None without one."""
    axes = pd.DataFrame(rows["axes"].tolist(), rows.index, dtype=object)
    numbers = axes.map(lambda value: isinstance(value, int | float)).all()
    counts = axes.loc[:, numbers].nunique()
    if counts.empty or counts.max() < 2:
        return None
    others = axes.drop(columns=counts.idxmax())
    others = others.loc[:, others.nunique() > 1].to_dict("records")
    line = [" ".join(f"{name}={in_words(v)}" for name, v in point.items()) for point in others]
    seconds = pd.DataFrame(rows["time"].tolist(), rows.index) / 1e6
    return counts.idxmax(), rows.assign(x=axes[counts.idxmax()].astype(float), line=line, **seconds)


@table(of_others=True)
def medians(data: Data) -> Shown:
    """Every case of nvbench or Google Benchmark: its median with the interval, mean, spread and
    throughput, or why it has no time."""
    rows = cases(data, timed=False)
    rows = rows.assign(
        device=(rows["gpu"] + " " + rows["device"]).str.strip(),
        mean_us=rows["mean_ns"] / 1e3,
        stdev_percent=100 * rows["stdev_ns"] / rows["mean_ns"],
        gb_per_s=rows["rate"] / 1e9,
    )
    columns = [
        *alike(code, name="file", benchmark="benchmark", case="case"),
        *alike(str, "device"),
        *alike(whole, count="samples"),
        *alike(with_interval, time="time, µs"),
        *alike(significant, mean_us="mean, µs", stdev_percent="deviation, %", gb_per_s="GB/s"),
        *alike(str, skipped="no time, because"),
    ]
    caption = (
        "Every case: median time with its 95% interval, which takes six samples, or the time that "
        "the file states; mean, relative standard deviation and throughput."
    )
    return shown(data, Table(caption, columns, rows), caption, rows)
