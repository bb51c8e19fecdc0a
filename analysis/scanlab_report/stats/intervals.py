"""Medians and ratios of medians, with their 95% intervals.

The interval of a median lies between two order statistics (Le Boudec 2010). It assumes no distribution, and its coverage is 95%
or more for any number of repetitions from six on. A bootstrap of so few repetitions covers less.

The interval of a ratio of medians is its percentile bootstrap (Efron 1979), both sides resampled. A resample of sorted data
has as its median the mean of the data at two ranks, and those ranks depend only on the number of repetitions; so they are
drawn once per number of repetitions and serve every case. With few repetitions the same ranks recur often: each distinct
outcome is evaluated once and weighted by its frequency, so that thousands of intervals need only indexing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from scipy import stats

RESAMPLES = 5000
CONFIDENCE = 0.95
SEED = 1986_2007
FEWEST = 5
"""Least repetitions per side for the interval of a ratio, and for a test."""
FEWEST_OF_MEDIAN = 6
"""Least repetitions for the interval of a median: the extremes of five values cover only 94%."""
SIGNIFICANT = 0.05
"""A corrected p below this is significant."""

_CHUNK = 1000
_DRAWN = 1000
"""Above this number of repetitions the middle ranks are drawn from their distribution: drawing each resample would take gigabytes."""


@dataclass(frozen=True)
class Interval:
    """A value with the bounds of its interval; ``low`` and ``high`` are NaN if there are too few repetitions."""

    value: float
    low: float
    high: float
    count: int

    @property
    def known(self) -> bool:
        """Whether there were enough repetitions for an interval."""
        return bool(np.isfinite(self.low))


UNKNOWN = Interval(np.nan, np.nan, np.nan, 0)


def order_statistics(count: int) -> int | None:
    """Return the 0-based rank, from either end of ``count`` sorted values, that bounds the 95% interval of their median; None for too few.

    A value lies below the median with probability one half, so the ranks follow from the binomial distribution.
    """
    place = int(stats.binom.ppf((1 - CONFIDENCE) / 2, count, 0.5)) - 1
    return place if place >= 0 else None


def _of_median(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the interval of each case's median (rows: cases, columns: repetitions); NaN where there are too few."""
    place = order_statistics(rows.shape[1])
    if place is None:
        return np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    ordered = np.sort(rows, axis=1)
    return ordered[:, place], ordered[:, -1 - place]


@lru_cache(maxsize=256)
def _middle_ranks(count: int, side: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the two middle ranks of each of RESAMPLES resamples of ``count`` sorted values; each ``side`` of a ratio has its own draws."""
    generator = np.random.default_rng((SEED, count, side))
    middle = ((count - 1) // 2, count // 2)
    if count > _DRAWN:
        # The middle order statistics of many uniform draws are beta variates (David and Nagaraja 2003).
        first = generator.beta(middle[0] + 1, count - middle[0], RESAMPLES)
        second = first if count % 2 else first + (1 - first) * generator.beta(1, count - middle[1], RESAMPLES)
        return (first * count).astype(int), (second * count).astype(int)
    ranks = np.partition(generator.integers(0, count, size=(RESAMPLES, count)), middle, axis=1)
    return ranks[:, middle[0]], ranks[:, middle[1]]


@lru_cache(maxsize=256)
def _resampled_ranks(above: int, below: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct middle ranks of joint resamples of both sides, and the frequency of each."""
    ranks = np.stack([*_middle_ranks(above, 1), *_middle_ranks(below, 2)])
    return np.unique(ranks, axis=1, return_counts=True)


def _of_ratio(above: np.ndarray, below: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the interval of the ratio of each case's two medians (rows: cases, columns: repetitions)."""
    ranks, times = _resampled_ranks(above.shape[1], below.shape[1])
    above, below = np.sort(above, axis=1), np.sort(below, axis=1)
    values = (above[:, ranks[0]] + above[:, ranks[1]]) / (below[:, ranks[2]] + below[:, ranks[3]])
    order = np.argsort(values, axis=1)
    so_far = np.cumsum(times[order], axis=1)

    def smallest(place: float) -> np.ndarray:
        """Return the value at a 0-based place among all RESAMPLES sorted ratios."""
        rank = (so_far <= place).sum(axis=1, keepdims=True)
        return np.take_along_axis(values, np.take_along_axis(order, rank, axis=1), axis=1)[:, 0]

    tail = (1 - CONFIDENCE) / 2
    places = [share * (RESAMPLES - 1) for share in (tail, 1 - tail)]
    low, high = (smallest(place) + place % 1 * (smallest(place + 1) - smallest(place)) for place in places)
    return low, high


def _alike(*sides: Sequence[np.ndarray]) -> Iterator[tuple[list[int], list[np.ndarray]]]:
    """Group cases with equal numbers of repetitions; yield the places of up to _CHUNK cases, and each side's repetitions as rows."""
    samples = list(zip(*sides, strict=True))
    places: dict[tuple[int, ...], list[int]] = {}
    for place, case in enumerate(samples):
        places.setdefault(tuple(map(len, case)), []).append(place)
    for members in places.values():
        for start in range(0, len(members), _CHUNK):
            part = members[start : start + _CHUNK]
            yield part, [np.array(side, dtype=float) for side in zip(*(samples[place] for place in part), strict=True)]


def medians(samples: Sequence[np.ndarray]) -> np.ndarray:
    """The median of each case's repetitions, in their unit."""
    found = np.full(len(samples), np.nan)
    for part, (rows,) in _alike(samples):
        found[part] = np.median(rows, axis=1)
    return found


def median_interval(values: Sequence[float] | np.ndarray) -> Interval:
    """The median of repetitions and its 95% interval, in the unit of the values."""
    data = np.asarray(values, dtype=float)
    low, high = _of_median(data[None, :])
    return Interval(float(np.median(data)), float(low[0]), float(high[0]), len(data))


def ratio_interval(numerator: np.ndarray, denominator: np.ndarray) -> Interval:
    """The ratio of two medians and its 95% interval; the two are resampled independently.

    ``count`` is that of the side with fewer repetitions.
    """
    return ratio_intervals([numerator], [denominator])[0]


def ratio_intervals(numerators: Sequence[np.ndarray], denominators: Sequence[np.ndarray]) -> list[Interval]:
    """:func:`ratio_interval` of each pair; thousands at once take a fraction of the time of one after another."""
    found = [UNKNOWN] * len(numerators)
    for part, (above, below) in _alike(numerators, denominators):
        values = np.median(above, axis=1) / np.median(below, axis=1)
        low = high = np.full(len(part), np.nan)
        count = min(above.shape[1], below.shape[1])
        if count >= FEWEST:
            low, high = _of_ratio(above, below)
        for place, value, least, most in zip(part, values.tolist(), low.tolist(), high.tolist(), strict=True):
            found[place] = Interval(value, least, most, count)
    return found


def summarise(timings: pd.DataFrame, case: list[str]) -> pd.DataFrame:
    """One row a case: ``count``, ``median_ns``, ``low_ns``, ``high_ns`` (nanoseconds) and its ``samples``."""
    cases = repetitions(timings, case)
    samples = cases.pop("samples")
    cases["count"] = np.array([len(values) for values in samples], dtype=int)
    found = np.full((len(samples), 3), np.nan)
    for part, (rows,) in _alike(samples):
        found[part, 0] = np.median(rows, axis=1)
        found[part, 1], found[part, 2] = _of_median(rows)
    cases["median_ns"], cases["low_ns"], cases["high_ns"] = found.T
    cases["samples"] = samples
    return cases


def repetitions(timings: pd.DataFrame, case: list[str]) -> pd.DataFrame:
    """One row a case, in order, with ``samples``, its times in nanoseconds."""
    grouped = timings.groupby(case, sort=True, dropna=False)
    number = grouped.ngroup().to_numpy()
    order = np.argsort(number, kind="stable")
    first = np.flatnonzero(np.diff(number[order], prepend=-1))
    cases = timings[case].iloc[order[first]].reset_index(drop=True)
    times = timings["time_ns"].to_numpy(dtype=float)[order]
    cases["samples"] = pd.Series(np.split(times, first[1:]) if len(first) else [], dtype=object)
    return cases
