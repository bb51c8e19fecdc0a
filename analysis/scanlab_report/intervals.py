"""Medians, ratios of medians, tests of two sets of samples. Knows arrays, and nothing of Scanlab.

The interval of a median lies between two order statistics (Le Boudec 2010). It assumes no
distribution and covers 95% or more for any number of samples from six on; a bootstrap of so few
covers less. The interval of a ratio of medians is its percentile bootstrap (Efron 1979), both sides
resampled. The median of a resample of sorted data is the mean of the data at two ranks, which
depend on the number of samples alone: they are drawn once per number, and each distinct outcome is
evaluated once, weighted by its frequency.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

RESAMPLES = 5000
CONFIDENCE = 0.95
SEED = 1986_2007
FEWEST = 5
"""Least samples per side for the interval of a ratio, and for a test."""
SIGNIFICANT = 0.05
"""A corrected p below this is significant."""


@dataclass(frozen=True)
class Interval:
    """A value with the bounds of its interval, which are NaN if there are too few samples."""

    value: float
    low: float
    high: float
    count: int

    @property
    def known(self) -> bool:
        """Whether there were enough samples for an interval."""
        return bool(np.isfinite(self.low))


UNKNOWN = Interval(np.nan, np.nan, np.nan, 0)


def median_interval(values: Sequence[float] | np.ndarray) -> Interval:
    """The median of samples and its 95% interval, in their unit."""
    data = np.sort(np.asarray(values, dtype=float))
    median, low, high = (float(v[0]) for v in _medians(data, np.array([len(data)])))
    return Interval(median, low, high, len(data))


def _medians(times: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each case's median and the ends of its interval, whose ranks are binomial; NaN for
    fewer than six samples. `times`: the samples of all cases, sorted within each case."""
    starts = np.cumsum(counts) - counts
    median = (times[starts + (counts - 1) // 2] + times[starts + counts // 2]) / 2
    rank = stats.binom.ppf((1 - CONFIDENCE) / 2, counts, 0.5).astype(int) - 1
    low, high = times[starts + rank], times[starts + counts - 1 - rank.clip(0)]
    return median, np.where(rank < 0, np.nan, low), np.where(rank < 0, np.nan, high)


def summarise(rows: pd.DataFrame, case: list[str]) -> pd.DataFrame:
    """One row per case, ordered: the columns of its first sample, `samples` (ns), `count`,
    `median_ns`, `low_ns` and `high_ns`."""
    number = rows.groupby(case, sort=True, dropna=False).ngroup().to_numpy()
    order = np.argsort(number, kind="stable")
    _, first, counts = np.unique(number[order], return_index=True, return_counts=True)
    cases = rows.iloc[order[first]].drop(columns=["round", "ns"]).reset_index(drop=True)
    times = rows["ns"].to_numpy(dtype=float)
    by_time = times[np.lexsort((times, number))]
    cases["count"] = counts
    cases["median_ns"], cases["low_ns"], cases["high_ns"] = _medians(by_time, counts)
    samples = np.split(times[order], first[1:]) if len(first) else []
    cases["samples"] = pd.Series(samples, dtype=object)
    return cases


# ------------------------------------------------------------------------------ ratios of medians


@lru_cache(maxsize=256)
def _middle_ranks(count: int, side: int) -> tuple[np.ndarray, np.ndarray]:
    """The two middle ranks of each of RESAMPLES resamples; each side of a ratio has its own."""
    generator = np.random.default_rng((SEED, count, side))
    middle = [(count - 1) // 2, count // 2]
    draws = (generator.integers(0, count, count) for _ in range(RESAMPLES))
    first, second = np.array([np.partition(drawn, middle)[middle] for drawn in draws]).T
    return first, second


@lru_cache(maxsize=256)
def _resampled_ranks(above: int, below: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct middle ranks of joint resamples of both sides, and the frequency of each."""
    ranks = np.stack([*_middle_ranks(above, 1), *_middle_ranks(below, 2)])
    return np.unique(ranks, axis=1, return_counts=True)


def _ends_of_ratio(above: np.ndarray, below: np.ndarray) -> list[np.ndarray]:
    """Both ends of the interval of the ratio of each row's two medians."""
    ranks, times = _resampled_ranks(above.shape[1], below.shape[1])
    above, below = np.sort(above, axis=1), np.sort(below, axis=1)
    values = (above[:, ranks[0]] + above[:, ranks[1]]) / (below[:, ranks[2]] + below[:, ranks[3]])
    order = np.argsort(values, axis=1)
    values, so_far = np.take_along_axis(values, order, axis=1), np.cumsum(times[order], axis=1)

    def quantile(share: float) -> np.ndarray:
        place = share * (RESAMPLES - 1)
        low, high = (
            values[np.arange(len(values)), (so_far <= rank).sum(axis=1)]
            for rank in (place, place + 1)
        )
        return low + place % 1 * (high - low)

    return [quantile((1 - CONFIDENCE) / 2), quantile((1 + CONFIDENCE) / 2)]


def ratio_interval(numerator: np.ndarray, denominator: np.ndarray) -> Interval:
    """The ratio of two medians and its 95% interval; `count` is that of the side with fewer."""
    return ratio_intervals([numerator], [denominator])[0]


def ratio_intervals(
    numerators: Sequence[np.ndarray], denominators: Sequence[np.ndarray]
) -> list[Interval]:
    """`ratio_interval` of each pair; many at once take a fraction of the time."""
    intervals = [UNKNOWN] * len(numerators)
    sides = (numerators, denominators)
    counts = pd.DataFrame({number: [len(v) for v in side] for number, side in enumerate(sides)})
    for count, places in counts.groupby([0, 1]).indices.items():
        above, below = (np.array([side[n] for n in places], dtype=float) for side in sides)
        values = np.median(above, axis=1) / np.median(below, axis=1)
        ends = [np.full(len(places), np.nan)] * 2
        if min(count) >= FEWEST:
            ends = _ends_of_ratio(above, below)
        columns = (v.tolist() for v in (values, *ends))
        for place, value, low, high in zip(places, *columns, strict=True):
            intervals[place] = Interval(value, low, high, int(min(count)))
    return intervals


# ------------------------------------------------------------------------------------------ tests


def corrected(p: ArrayLike) -> np.ndarray:
    """Return the p of each of many tests, corrected by Benjamini and Hochberg (1995)."""
    return np.asarray(stats.false_discovery_control(p))


_EXACT = 20
"""Most samples of a side for the exact test; with more the normal approximation is as good."""


def mann_whitney_p(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return the two-sided p of the Mann-Whitney test along the last axis: exact, or by the normal
    approximation for many samples. The exact test knows no ties: they are broken against a
    difference, by less than any clock resolves."""
    if max(before.shape[-1], after.shape[-1]) > _EXACT:
        return stats.mannwhitneyu(before, after, axis=-1, method="asymptotic").pvalue
    towards = np.sign(np.median(after, axis=-1) - np.median(before, axis=-1))[..., None]
    apart = after * (1 - 1e-12 * towards)
    return stats.mannwhitneyu(before, apart, axis=-1, method="exact").pvalue


def mann_whitney_ps(before: pd.Series, after: pd.Series) -> pd.Series:
    """Return `mann_whitney_p` of the samples of each row; those of equal counts at once."""
    p = pd.Series(np.nan, before.index)
    counts = [side.map(len) for side in (before, after)]
    for rows in before.groupby(counts).groups.values():
        p[rows] = mann_whitney_p(*(np.stack(side[rows].to_list()) for side in (before, after)))
    return p


def welch(mean_a: Any, stdev_a: Any, count_a: Any, mean_b: Any, stdev_b: Any, count_b: Any) -> Any:
    """Return the p of Welch's test (1947) of each of many cases, and the ratio of mean b to mean a
    with the ends of its 95% interval, by the delta method on its logarithm. All but the ratio are
    NaN without both deviations."""
    ratio, sides = mean_b / mean_a, ((mean_a, stdev_a, count_a), (mean_b, stdev_b, count_b))
    with np.errstate(all="ignore"):
        p = stats.ttest_ind_from_stats(*sides[0], *sides[1], equal_var=False).pvalue
        a, b = ((stdev / mean) ** 2 / count for mean, stdev, count in sides)
        freedom = (a + b) ** 2 / (a**2 / (count_a - 1) + b**2 / (count_b - 1))
        factor = np.exp(stats.t.ppf((1 + CONFIDENCE) / 2, freedom) * np.sqrt(a + b))
    return p, ratio, ratio / factor, ratio * factor
