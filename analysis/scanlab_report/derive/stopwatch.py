"""The same calls by two stopwatches: scanlab bench, and nvbench."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scanlab_report.select.evidence import AllTimingEvidence, Key, TableEvidence
from scanlab_report.stats.intervals import Interval, median_interval

COLUMNS = ["variant", "type", "items", "cache", "launch", "ours_ns", "theirs_ns", "ratio"]


def beside(timings: AllTimingEvidence, theirs: TableEvidence) -> pd.DataFrame:
    """One row a case that both timed: medians in nanoseconds, and nvbench's time over ours, an :class:`Interval`."""
    rows = []
    for row in theirs.rows.itertuples():
        key = Key(row.type, "plus", "inclusive", row.items, row.cache, row.launch)
        samples = timings.of(key, row.variant)
        if samples is not None:
            rows.append((row.variant, row.type, row.items, row.cache, row.launch, float(np.median(samples)), row.time_ns, over(row.time_ns, samples)))
    return pd.DataFrame(rows, columns=COLUMNS)


def over(time: float, samples: np.ndarray) -> Interval:
    """A time over the median of samples, with the interval of the median alone: nvbench gives none of its own."""
    ours = median_interval(samples)
    return Interval(time / ours.value, time / ours.high, time / ours.low, ours.count)
