"""Medians, ratios of medians, tests of two sets of samples. Knows arrays, and nothing of Scanlab.

The interval of a median lies between two order statistics (Le Boudec 2010). It assumes no
distribution and covers 95% or more for any number of samples from six on; a bootstrap of so few
covers less. The interval of a ratio of medians is its percentile bootstrap (Efron 1979), both sides
resampled. The median of a resample of sorted data is the mean of the data at two ranks, which
depend on the number of samples alone: they are drawn once per number, and each distinct outcome is
evaluated once, weighted by its frequency.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

RESAMPLES = 5000
CONFIDENCE = 0.95
SEED = 1986_2007
FEWEST = 5
"""Least samples per side for the interval of a ratio, and for a test."""
FEWEST_OF_MEDIAN = 6
"""Least samples for the interval of a median: the extremes of five cover only 94%."""
SIGNIFICANT = 0.05
"""A corrected p below this is significant."""
_CHUNK = 1000
_DRAWN = 1000
"""Above this number of samples the middle ranks are drawn from their distribution, since drawing
each resample would take gigabytes."""


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


def order_statistics(count: int) -> int | None:
    """Return the rank that bounds the 95% interval of the median of `count` sorted values, 0-based
    from either end; None for too few values. A value lies below the median with probability one
    half, so the rank follows from the binomial distribution."""
    place = int(stats.binom.ppf((1 - CONFIDENCE) / 2, count, 0.5)) - 1
    return place if place >= 0 else None


def _of_median(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the interval of each row's median; NaN where there are too few columns."""
    place = order_statistics(rows.shape[1])
    if place is None:
        return np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    ordered = np.sort(rows, axis=1)
    return ordered[:, place], ordered[:, -1 - place]


@lru_cache(maxsize=256)
def _middle_ranks(count: int, side: int) -> tuple[np.ndarray, np.ndarray]:
    """The two middle ranks of each of RESAMPLES resamples; each side of a ratio has its own."""
    generator = np.random.default_rng((SEED, count, side))
    middle = ((count - 1) // 2, count // 2)
    if count > _DRAWN:
        # The middle order statistics of uniform draws are beta variates (David, Nagaraja 2003).
        first = generator.beta(middle[0] + 1, count - middle[0], RESAMPLES)
        second = first
        if count % 2 == 0:
            second = first + (1 - first) * generator.beta(1, count - middle[1], RESAMPLES)
        return (first * count).astype(int), (second * count).astype(int)
    ranks = np.partition(generator.integers(0, count, size=(RESAMPLES, count)), middle, axis=1)
    return ranks[:, middle[0]], ranks[:, middle[1]]


@lru_cache(maxsize=256)
def _resampled_ranks(above: int, below: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct middle ranks of joint resamples of both sides, and the frequency of each."""
    ranks = np.stack([*_middle_ranks(above, 1), *_middle_ranks(below, 2)])
    return np.unique(ranks, axis=1, return_counts=True)


def _of_ratio(above: np.ndarray, below: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the interval of the ratio of each row's two medians."""
    ranks, times = _resampled_ranks(above.shape[1], below.shape[1])
    above, below = np.sort(above, axis=1), np.sort(below, axis=1)
    values = (above[:, ranks[0]] + above[:, ranks[1]]) / (below[:, ranks[2]] + below[:, ranks[3]])
    order = np.argsort(values, axis=1)
    so_far = np.cumsum(times[order], axis=1)

    def smallest(place: float) -> np.ndarray:
        """The value at a 0-based place among all RESAMPLES sorted ratios."""
        rank = (so_far <= place).sum(axis=1, keepdims=True)
        return np.take_along_axis(values, np.take_along_axis(order, rank, axis=1), axis=1)[:, 0]

    def quantile(share: float) -> np.ndarray:
        place = share * (RESAMPLES - 1)
        return smallest(place) + place % 1 * (smallest(place + 1) - smallest(place))

    tail = (1 - CONFIDENCE) / 2
    return quantile(tail), quantile(1 - tail)


def _alike(*sides: Sequence[np.ndarray]) -> Iterator[tuple[list[int], list[np.ndarray]]]:
    """Cases with equal numbers of samples: their places, and each side's samples as rows."""
    samples = list(zip(*sides, strict=True))
    places: dict[tuple[int, ...], list[int]] = {}
    for place, case in enumerate(samples):
        places.setdefault(tuple(map(len, case)), []).append(place)
    for members in places.values():
        for start in range(0, len(members), _CHUNK):
            part = members[start : start + _CHUNK]
            columns = zip(*(samples[place] for place in part), strict=True)
            yield part, [np.array(side, dtype=float) for side in columns]


def median_interval(values: Sequence[float] | np.ndarray) -> Interval:
    """The median of samples and its 95% interval, in their unit."""
    data = np.asarray(values, dtype=float)
    low, high = _of_median(data[None, :])
    return Interval(float(np.median(data)), float(low[0]), float(high[0]), len(data))


def ratio_interval(numerator: np.ndarray, denominator: np.ndarray) -> Interval:
    """The ratio of two medians and its 95% interval; `count` is that of the side with fewer."""
    return ratio_intervals([numerator], [denominator])[0]


def ratio_intervals(
    numerators: Sequence[np.ndarray], denominators: Sequence[np.ndarray]
) -> list[Interval]:
    """`ratio_interval` of each pair; many at once take a fraction of the time."""
    intervals = [UNKNOWN] * len(numerators)
    for part, (above, below) in _alike(numerators, denominators):
        values = np.median(above, axis=1) / np.median(below, axis=1)
        low = high = np.full(len(part), np.nan)
        count = min(above.shape[1], below.shape[1])
        if count >= FEWEST:
            low, high = _of_ratio(above, below)
        rows = zip(part, values.tolist(), low.tolist(), high.tolist(), strict=True)
        for place, value, least, most in rows:
            intervals[place] = Interval(value, least, most, count)
    return intervals


def summarise(rows: pd.DataFrame, case: list[str]) -> pd.DataFrame:
    """One row per case, ordered: the columns of its first sample, `samples` (ns), `count`,
    `median_ns`, `low_ns` and `high_ns`."""
    grouped = rows.groupby(case, sort=True, dropna=False)
    number = grouped.ngroup().to_numpy()
    order = np.argsort(number, kind="stable")
    first = np.flatnonzero(np.diff(number[order], prepend=-1))
    cases = rows.iloc[order[first]].drop(columns=["round", "ns"]).reset_index(drop=True)
    times = rows["ns"].to_numpy(dtype=float)[order]
    samples = np.split(times, first[1:]) if len(first) else []
    values = np.full((len(samples), 3), np.nan)
    for part, (same,) in _alike(samples):
        values[part, 0] = np.median(same, axis=1)
        values[part, 1], values[part, 2] = _of_median(same)
    cases["count"] = np.array([len(of_case) for of_case in samples], dtype=int)
    cases["median_ns"], cases["low_ns"], cases["high_ns"] = values.T
    cases["samples"] = pd.Series(samples, dtype=object)
    return cases


# ------------------------------------------------------------------------------------------ tests


def corrected(p: ArrayLike) -> np.ndarray:
    """Return the p of each of many tests, corrected by Benjamini and Hochberg (1995): of the tests
    below a level, at most that share is due to chance."""
    return np.asarray(stats.false_discovery_control(p))


_EXACT = 100
"""With more samples than this on both sides the normal approximation errs by a few percent of a p
near 0.01, and the exact test takes minutes."""
_TIES = 20
"""The same of samples with ties, which the approximation corrects for."""


def mann_whitney_p(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return the two-sided p of the Mann-Whitney test along the last axis. The exact test knows no
    ties; in few samples, ties are broken against a difference, by less than any clock resolves."""
    pooled = np.sort(np.concatenate([before, after], axis=-1), axis=-1)
    many = max(before.shape[-1], after.shape[-1]) > _TIES
    tied = (np.diff(pooled, axis=-1) == 0).any(axis=-1) & many

    def approximate() -> np.ndarray:
        return stats.mannwhitneyu(before, after, axis=-1, method="asymptotic").pvalue

    if before.shape[-1] * after.shape[-1] > _EXACT**2 or tied.all():
        return approximate()
    towards = np.sign(np.median(after, axis=-1) - np.median(before, axis=-1))[..., None]
    apart = after * (1 - 1e-12 * towards)
    exact = stats.mannwhitneyu(before, apart, axis=-1, method="exact").pvalue
    return np.where(tied, approximate(), exact) if tied.any() else exact


def welch(
    mean_a: float, stdev_a: float, count_a: int, mean_b: float, stdev_b: float, count_b: int
) -> tuple[float, Interval]:
    """Return the p of Welch's test (1947), and the ratio of mean b to mean a with its 95% interval,
    by the delta method on its logarithm. Without deviations only the ratio is known, and p is 1.
    This test serves results without samples; medians are preferable if there are samples."""
    ratio, count = mean_b / mean_a, min(count_a, count_b)
    sides = ((mean_a, stdev_a, count_a), (mean_b, stdev_b, count_b))
    parts = [(stdev / mean) ** 2 / number for mean, stdev, number in sides if number > 1]
    if len(parts) < 2 or not np.isfinite(parts).all():
        return 1.0, Interval(ratio, np.nan, np.nan, count)
    if not sum(parts):  # neither has any spread
        return float(ratio == 1), Interval(ratio, ratio, ratio, count)
    p = stats.ttest_ind_from_stats(*sides[0], *sides[1], equal_var=False).pvalue
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / (count_a - 1) + parts[1] ** 2 / (count_b - 1))
    spread = stats.t.ppf((1 + CONFIDENCE) / 2, freedom) * np.sqrt(sum(parts))
    factor = float(np.exp(spread))
    return float(p), Interval(ratio, ratio / factor, ratio * factor, count)


def mean_interval(mean: float, stdev: float, count: int) -> Interval:
    """A mean and its 95% interval by Student's t; the mean alone if the deviation is unknown."""
    if count < 2 or not np.isfinite(stdev):
        return Interval(mean, np.nan, np.nan, count)
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, count - 1) * stdev / np.sqrt(count))
    return Interval(mean, mean - half, mean + half, count)
