"""What the CPU baselines do, timed beside a GPU or alone."""

from __future__ import annotations

import pandas as pd

from analysis.evidence import CPU_BASELINES, TimingEvidence, Timings
from analysis.results import ideal_bytes
from analysis.statistics import Interval
from analysis.table_formats import Column, Table, code, significant, size, with_interval

NEEDS = {"timings": Timings(kinds=("cuda", "host"), any_of=CPU_BASELINES, only=CPU_BASELINES)}


def build(timings: TimingEvidence) -> Table:
    rows = timings.cases.sort_values(["variant", "items", "cache"])
    moved = [ideal_bytes(t, o, n) for t, o, n in zip(rows["type"], rows["op"], rows["items"], strict=True)]
    rates = [Interval(b / m, b / h, b / low, c) for b, m, low, h, c in
             zip(moved, rows["median_ns"], rows["low_ns"], rows["high_ns"], rows["count"], strict=True)]  # fmt: skip
    return Table(
        caption=f"The CPU baselines by wall clock on {timings.host} (32-bit integers, inclusive sum): median time and "
        "GB/s counting 2n items, with 95% bootstrap intervals in brackets.",
        columns=(
            Column("variant", "baseline", code, right=False),
            Column("items", "n", size),
            Column("cache", "cache", right=False),
            Column("time_us", "time, µs", lambda v: significant(v, 4)),
            Column("gb_per_s", "GB/s", lambda v: with_interval(v, 3)),
        ),
        rows=pd.DataFrame({
            "variant": rows["variant"].tolist(), "items": rows["items"].tolist(), "cache": rows["cache"].tolist(),
            "time_us": (rows["median_ns"] / 1e3).tolist(), "gb_per_s": pd.Series(rates, dtype=object),
        }),  # fmt: skip
    )
