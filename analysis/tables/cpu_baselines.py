"""What the CPU baselines do, timed beside a GPU or alone."""

from __future__ import annotations

import pandas as pd

from analysis.evidence import CPU_BASELINES, TimingEvidence, Timings
from analysis.results import ideal_bytes
from analysis.statistics import Interval
from analysis.style import title
from analysis.table_formats import Column, Table, significant, size, with_interval

NEEDS = {"timings": Timings(kinds=("cuda", "host"), any_of=CPU_BASELINES, only=CPU_BASELINES)}


def build(timings: TimingEvidence) -> Table:
    """One row a size, the baselines side by side."""
    cases = timings.cases.drop_duplicates(["variant", "items"])  # a CPU has no caches to flush: one of cold and warm
    sizes = sorted(set(cases["items"]))
    rows = pd.DataFrame({"items": sizes})
    columns = [Column("items", "n", size)]
    for variant in (v for v in CPU_BASELINES if v in timings.variants()):
        of = {row.items: row for row in cases[cases["variant"] == variant].itertuples()}
        rows[f"{variant}_us"] = [of[n].median_ns / 1e3 if n in of else None for n in sizes]
        rates = [_rate(of[n]) if n in of else None for n in sizes]
        rows[f"{variant}_gb_per_s"] = pd.Series(rates, dtype=object)
        columns += [
            Column(f"{variant}_us", "µs", lambda v: significant(v, 3), group=title(variant)),
            Column(f"{variant}_gb_per_s", "GB/s", lambda v: with_interval(v, 3), group=title(variant)),
        ]
    return Table(
        caption=f"The CPU baselines by wall clock on {timings.host} (32-bit integers, inclusive sum): median time and "
        "GB/s counting 2n items, with 95% bootstrap intervals in brackets.",
        columns=columns,
        rows=rows,
    )


def _rate(case) -> Interval:
    moved = ideal_bytes(case.type, case.op, case.items)
    return Interval(moved / case.median_ns, moved / case.high_ns, moved / case.low_ns, case.count)
