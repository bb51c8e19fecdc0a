"""Every scan at its largest size."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scanlab_report.read.records import ideal_bytes
from scanlab_report.select.evidence import TimingEvidence
from scanlab_report.select.variants import CEILING, FLOOR, LARGEST
from scanlab_report.stats import intervals
from scanlab_report.stats.intervals import Interval


def standings(timings: TimingEvidence) -> pd.DataFrame:
    """One row a scan at its largest size up to LARGEST, fastest first: microseconds, GB/s, and ratios as intervals."""
    cache = timings.caches()[0]
    largest = {v: _largest(timings, v, cache) for v in timings.variants() if v != FLOOR}
    rows = []
    for variant, case in largest.items():
        if case is None:
            continue
        n, samples = int(case["items"]), case["samples"]
        moved = ideal_bytes(case["type"], case["op"], n)
        time = intervals.median_interval(samples)
        rows.append({
            "variant": variant, "items": n, "count": time.count, "median_us": time.value / 1e3,
            "rate": Interval(moved / time.value, moved / time.high, moved / time.low, time.count),
            "of_memcpy": _against(timings, CEILING, n, cache, samples) if variant != CEILING else None,
            "of_cub": _against_cub(timings, variant, n, cache, samples),
        })  # fmt: skip
    table = pd.DataFrame(rows, columns=["variant", "items", "count", "median_us", "rate", "of_memcpy", "of_cub"])
    order = sorted(table.index, key=lambda i: (-table.at[i, "items"], -table.at[i, "rate"].value))
    table = table.loc[order].reset_index(drop=True)
    for column in ("rate", "of_memcpy", "of_cub"):
        table[column] = table[column].astype(object).where(table[column].notna(), None)
    return table


def _largest(timings: TimingEvidence, variant: str, cache: str) -> pd.Series | None:
    rows = timings.of(variant, cache=cache)
    if rows.empty and timings.about[variant].on_host:
        rows = timings.of(variant)
    rows = rows[rows["items"] <= LARGEST]
    return None if rows.empty else rows.iloc[-1]


def _against(timings: TimingEvidence, other: str, n: int, cache: str, samples: np.ndarray) -> Interval | None:
    rows = timings.of(other, cache=cache, items=n)
    return None if rows.empty else intervals.ratio_interval(rows.iloc[0]["samples"], samples)


def _against_cub(timings: TimingEvidence, variant: str, n: int, cache: str, samples: np.ndarray) -> Interval | None:
    """Against the fastest of CUB's scans, unless it is that one."""
    fastest = timings.vendor(n, cache)
    return None if fastest in (None, variant) else _against(timings, fastest, n, cache, samples)
