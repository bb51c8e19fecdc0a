"""Scans of one array over several ranks: medians, beside a copy on every GPU and beside the vendor's libraries."""

from __future__ import annotations

import math

import pandas as pd

from scanlab_report.stats.intervals import median_interval

CASE = ["type", "op", "mode", "ranks", "items"]
"""What algorithms that are compared have in common."""
COPY, VENDOR = "copy_all", "nccl_cub"


def medians(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per scan and case, fewest ranks and items first: ``time_ns`` and its :class:`Interval`, the rate, the share of :data:`COPY`
    and the speed over :data:`VENDOR`, NaN where these were not timed. A copy moves as much as any scan must.
    """
    named = [*CASE, "algorithm", "kind", "settings", "bytes"]
    cases = [(*case, median_interval(of["time_ns"].to_numpy())) for case, of in rows.groupby(named, sort=False)]
    found = pd.DataFrame(cases, columns=[*named, "interval"])
    found["time_ns"] = [of.value for of in found["interval"]]
    for column, rival in (("of_copy", COPY), ("of_vendor", VENDOR)):
        times = found[found["algorithm"] == rival].set_index(CASE)["time_ns"]
        found[column] = [times.get(tuple(row[of] for of in CASE), math.nan) / row["time_ns"] for _, row in found.iterrows()]
    found["gb_per_s"] = found["bytes"] / found["time_ns"]
    scans = found[found["kind"] == "scan"]
    return scans.sort_values([*CASE, "time_ns"]).reset_index(drop=True)
