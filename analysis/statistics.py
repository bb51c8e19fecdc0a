"""Medians, their 95% bootstrap intervals, and ratios of medians.

The interval is the percentile bootstrap of the median (Efron 1979). A resample of sorted data has as its median the
mean of the data at two ranks, and those ranks depend only on the number of repetitions; so they are drawn once for
each number of repetitions and serve every case, which makes thousands of intervals a matter of indexing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

RESAMPLES = 5000
CONFIDENCE = 0.95
SEED = 1986_2007
FEWEST = 5
"""With fewer repetitions than this no interval is given."""

_CHUNK = 1000


@dataclass(frozen=True)
class Interval:
    """A value with the bounds of its interval; ``low`` and ``high`` are NaN where repetitions were too few."""

    value: float
    low: float
    high: float
    count: int

    @property
    def known(self) -> bool:
        """Whether there were repetitions enough for an interval."""
        return bool(np.isfinite(self.low))


UNKNOWN = Interval(np.nan, np.nan, np.nan, 0)


@lru_cache(maxsize=256)
def _middle_ranks(count: int, stream: int) -> tuple[np.ndarray, np.ndarray]:
    """The two middle ranks of each of RESAMPLES resamples of ``count`` sorted values."""
    generator = np.random.default_rng((SEED, count, stream))
    middle = ((count - 1) // 2, count // 2)
    ranks = np.partition(generator.integers(0, count, size=(RESAMPLES, count)), middle, axis=1)
    return ranks[:, middle[0]], ranks[:, middle[1]]


def _resampled_medians(rows: np.ndarray, stream: int) -> np.ndarray:
    """Bootstrap medians, one row of RESAMPLES for each row of data (rows: cases, columns: repetitions)."""
    ordered = np.sort(rows, axis=1)
    lower, upper = _middle_ranks(rows.shape[1], stream)
    return (ordered[:, lower] + ordered[:, upper]) / 2


def _bounds(resampled: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(resampled, (tail, 1 - tail), axis=1)
    return low, high


def median_interval(values: Sequence[float] | np.ndarray) -> Interval:
    """The median of repetitions and its 95% interval, in the unit of the values."""
    data = np.asarray(values, dtype=float)
    if len(data) < FEWEST:
        return Interval(float(np.median(data)), np.nan, np.nan, len(data))
    low, high = _bounds(_resampled_medians(data[None, :], 0))
    return Interval(float(np.median(data)), float(low[0]), float(high[0]), len(data))


def ratio_interval(numerator: np.ndarray, denominator: np.ndarray) -> Interval:
    """The ratio of two medians and its 95% interval; the two are resampled independently.

    ``count`` is that of the side with fewer repetitions.
    """
    return ratio_intervals([numerator], [denominator])[0]


def ratio_intervals(numerators: Sequence[np.ndarray], denominators: Sequence[np.ndarray]) -> list[Interval]:
    """:func:`ratio_interval` of each pair; thousands at once take a fraction of the time of one after another."""
    pairs = [(np.asarray(a, dtype=float), np.asarray(b, dtype=float)) for a, b in zip(numerators, denominators, strict=True)]
    alike: dict[tuple[int, int], list[int]] = {}
    for place, (above, below) in enumerate(pairs):
        alike.setdefault((len(above), len(below)), []).append(place)
    found = [UNKNOWN] * len(pairs)
    for counts, members in alike.items():
        for start in range(0, len(members), _CHUNK):
            part = members[start : start + _CHUNK]
            above, below = (np.stack([pairs[place][side] for place in part]) for side in (0, 1))
            values = np.median(above, axis=1) / np.median(below, axis=1)
            low = high = np.full(len(part), np.nan)
            if min(counts) >= FEWEST:
                low, high = _bounds(_resampled_medians(above, 1) / _resampled_medians(below, 2))
            for place, *ends in zip(part, values.tolist(), low.tolist(), high.tolist(), strict=True):
                found[place] = Interval(*ends, min(counts))
    return found


def summarise(timings: pd.DataFrame, case: list[str]) -> pd.DataFrame:
    """One row a case: ``count``, ``median_ns``, ``low_ns``, ``high_ns`` (nanoseconds) and its ``samples``."""
    cases = repetitions(timings, case)
    samples = cases.pop("samples")
    cases["count"] = np.array([len(values) for values in samples], dtype=int)
    found = np.full((len(samples), 3), np.nan)
    for count in sorted(set(cases["count"])):
        members = np.flatnonzero(cases["count"] == count)
        for start in range(0, len(members), _CHUNK):
            part = members[start : start + _CHUNK]
            rows = np.stack([samples[i] for i in part])
            found[part, 0] = np.median(rows, axis=1)
            if count >= FEWEST:
                found[part, 1], found[part, 2] = _bounds(_resampled_medians(rows, 0))
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
