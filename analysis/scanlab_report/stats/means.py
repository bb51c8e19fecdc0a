"""Two means from their summaries alone, for where the samples behind them are gone: Welch's test, and an interval of the ratio.

Both hold for samples that are about normal, or many. Times are neither symmetric nor independent, and one outlier moves a mean:
medians of samples are to be preferred wherever there are any.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from scanlab_report.stats.intervals import CONFIDENCE, Interval


def welch(mean_a: float, stdev_a: float, count_a: int, mean_b: float, stdev_b: float, count_b: int) -> tuple[float, Interval]:
    """The p of Welch's test (1947), and the ratio of mean b to mean a with its 95% interval, by the delta method on its logarithm.

    The ratio alone is known where a deviation is not; then p is 1.
    """
    ratio, count = mean_b / mean_a, min(count_a, count_b)
    parts = [(stdev / mean) ** 2 / count for mean, stdev, count in ((mean_a, stdev_a, count_a), (mean_b, stdev_b, count_b)) if count > 1]
    if len(parts) < 2 or not np.isfinite(parts).all():
        return 1.0, Interval(ratio, np.nan, np.nan, count)
    if not sum(parts):  # neither has any spread
        return float(ratio == 1), Interval(ratio, ratio, ratio, count)
    p = stats.ttest_ind_from_stats(mean_a, stdev_a, count_a, mean_b, stdev_b, count_b, equal_var=False).pvalue
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / (count_a - 1) + parts[1] ** 2 / (count_b - 1))
    factor = float(np.exp(stats.t.ppf((1 + CONFIDENCE) / 2, freedom) * np.sqrt(sum(parts))))
    return float(p), Interval(ratio, ratio / factor, ratio * factor, count)


def mean_interval(mean: float, stdev: float, count: int) -> Interval:
    """A mean and its 95% interval by Student's t; the mean alone where the deviation is not known."""
    if count < 2 or not np.isfinite(stdev):
        return Interval(mean, np.nan, np.nan, count)
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, count - 1) * stdev / np.sqrt(count))
    return Interval(mean, mean - half, mean + half, count)
