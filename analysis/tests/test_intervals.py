"""Medians and intervals: right on known data, unknown where there is too little."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from scanlab_report import intervals
from scanlab_report.intervals import median_interval, ratio_interval, summarise

SKEWED = [100.0, 1.0, 3.0, 2.0, 4.0]
"""Their median is 3 and their mean 22; the interval of a ratio of five samples has all of them."""


@pytest.mark.parametrize("count", [6, 11, 20])
def test_an_interval_covers_the_true_median_95_times_in_100_or_more(count: int) -> None:
    samples = np.random.default_rng(3).lognormal(0, 0.3, size=(1500, count)).ravel()
    case, place = np.divmod(np.arange(1500 * count), count)
    cases = summarise(pd.DataFrame({"case": case, "round": place, "ns": samples}), ["case"])
    covered = ((cases["low_ns"] <= 1.0) & (cases["high_ns"] >= 1.0)).mean()
    assert 0.94 <= covered <= 0.995


@pytest.mark.parametrize("count", [*range(1, 40), 100, 1001])
def test_an_interval_of_a_median_is_the_one_of_scipy(count: int) -> None:
    data = np.random.default_rng(5).lognormal(0, 0.3, count)
    theirs = stats.quantile_test(data, q=1, p=0.5).confidence_interval(0.95)
    ours = median_interval(data)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), rel=0, nan_ok=True)
    assert ours.known == (count >= intervals.FEWEST_OF_MEDIAN)


@pytest.mark.parametrize("count", [9, 12])
def test_an_interval_of_a_ratio_agrees_with_scipy(count: int) -> None:
    data = np.random.default_rng(5).lognormal(0, 0.3, (2, count))
    ratio = lambda above, below, axis: np.median(above, axis) / np.median(below, axis)
    options = {"n_resamples": 20000, "method": "percentile", "random_state": 1, "batch": 1000}
    theirs = stats.bootstrap(data, ratio, **options).confidence_interval
    ours = ratio_interval(*data)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), rel=0.05)


@pytest.mark.parametrize("count", [5, 8, 11])
def test_the_interval_of_a_ratio_is_that_of_all_resamples(count: int) -> None:
    """Though only different ones are evaluated."""
    data = np.random.default_rng(7).lognormal(0, 0.1, (2, count))
    sides = [
        np.mean([np.sort(samples)[ranks] for ranks in intervals._middle_ranks(count, side)], axis=0)
        for side, samples in enumerate(data, start=1)
    ]
    ratio, ends = ratio_interval(*data), np.quantile(sides[0] / sides[1], (0.025, 0.975))
    assert (ratio.low, ratio.high) == pytest.approx(ends, rel=1e-13)


def test_medians_count_and_no_means() -> None:
    assert median_interval(SKEWED).value == 3
    assert ratio_interval(np.array(SKEWED), np.array([2.0, 100, 1, 2, 100])).value == 1.5


def test_six_samples_are_enough_for_an_interval_and_five_are_not() -> None:
    six = median_interval([*SKEWED, 3.0])
    assert (six.value, six.low, six.high, six.count) == (3, 1, 100, 6)
    assert not median_interval(SKEWED).known


def test_five_samples_a_side_are_enough_for_a_ratio_and_four_are_not() -> None:
    five, two = np.array(SKEWED), np.full(7, 2.0)
    ratio = ratio_interval(five, two)
    assert (ratio.low, ratio.high, ratio.count) == (0.5, 50, 5)
    assert not ratio_interval(five[:4], two).known and not ratio_interval(five, two[:4]).known


def test_the_samples_of_a_case_stand_together_however_they_come() -> None:
    rows = pd.DataFrame({"case": list("babab"), "round": [0, 0, 1, 1, 2], "ns": [9.0, 1, 5, 3, 7]})
    cases = summarise(rows, ["case"]).set_index("case")
    assert {case: list(samples) for case, samples in cases["samples"].items()} == {
        "a": [1, 3],
        "b": [9, 5, 7],
    }
    assert cases["median_ns"].tolist() == [2, 7] and cases["count"].tolist() == [2, 3]
    six = [*SKEWED, 3.0]
    long = pd.DataFrame({"case": [0] * 6 + [1] * 5, "round": 0, "ns": [*six, *SKEWED]})
    ends = summarise(long, ["case"])[["low_ns", "high_ns"]].fillna(-1).values.tolist()
    assert ends == [[1, 100], [-1, -1]]
