"""Times of one scan over those of another, size by size."""

from __future__ import annotations

import pandas as pd

from scanlab_report.select.evidence import TimingEvidence
from scanlab_report.stats import intervals


def shares(timings: TimingEvidence, variant: str, against: str, cache: str, settings: str = "") -> pd.DataFrame:
    """``items``, ``ratio``, ``low``, ``high``: time of ``against`` over time of ``variant`` at each common power of two.

    ``settings`` are those of ``variant``; ``against`` always has its defaults.
    """
    ours = timings.series(variant, settings, cache=cache).set_index("items")
    theirs = timings.series(against, cache=cache).set_index("items")
    rows = []
    for n in sorted(set(ours.index) & set(theirs.index)):
        ratio = intervals.ratio_interval(theirs.at[n, "samples"], ours.at[n, "samples"])
        rows.append((n, ratio.value, ratio.low, ratio.high))
    return pd.DataFrame(rows, columns=["items", "ratio", "low", "high"])
