"""Every case of every file: its median with the interval, mean and spread, throughput, or why it has no time."""

from __future__ import annotations

import numpy as np

from scanlab_report.commands.build.foreign.shown import Shown
from scanlab_report.layout.table_formats import Column, Table, code, records, significant, whole, with_interval
from scanlab_report.stats.intervals import Interval, median_interval

CAPTION = ("Every case: median with its 95% interval, mean, relative standard deviation and throughput. An interval takes six samples. "
           "A median without samples is the file's own.")  # fmt: skip


def build(shown: list[Shown]) -> Table:
    rows = records([_row(of) for of in shown])
    optional = {"file": rows["file"].nunique() > 1, "device": rows["device"].nunique() > 1, "skipped": (rows["skipped"] != "").any(),
                "gb_per_s": any(of.value == of.value for of in rows["gb_per_s"])}  # fmt: skip
    columns = (
        Column("file", "file", code, right=False), Column("benchmark", "benchmark", code, right=False), Column("case", "case", code, right=False),
        Column("device", "device", right=False), Column("clock", "clock", right=False), Column("samples", "samples", whole),
        Column("median_us", "median, µs", _interval), Column("mean_us", "mean, µs", significant), Column("stdev_percent", "deviation, %", significant),
        Column("gb_per_s", "GB/s", _interval), Column("skipped", "no time, because", right=False),
    )  # fmt: skip
    return Table(CAPTION, [column for column in columns if optional.get(column.key, True)], rows)


def _row(shown: Shown) -> dict[str, object]:
    of, rate = shown.case, shown.rate()
    return {
        "file": shown.file, "benchmark": of.benchmark, "case": of.label, "device": " ".join(filter(None, (of.gpu, of.device and f"on device {of.device}"))), "clock": of.clock, "samples": of.count,
        "median_us": median_interval(1e6 * of.samples) if len(of.samples) else Interval(1e6 * of.median, np.nan, np.nan, of.count),
        "mean_us": 1e6 * of.mean, "stdev_percent": 100 * of.stdev / of.mean,
        "gb_per_s": Interval(rate.value / 1e9, rate.low / 1e9, rate.high / 1e9, rate.count), "skipped": of.skipped,
    }  # fmt: skip


def _interval(of: Interval) -> str:
    return with_interval(of) if np.isfinite(of.value) else "—"
