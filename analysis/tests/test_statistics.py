"""Medians and intervals: right on known data, silent where there is too little."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from scanlab_report.stats import intervals


@pytest.mark.parametrize("count", [6, 7, 11, 20, 31])
def test_interval_covers_the_true_median_95_times_in_100_or_more(count: int) -> None:
    generator = np.random.default_rng(3)
    samples = generator.lognormal(0, 0.3, size=(1500, count))
    rows = pd.DataFrame({"case": np.repeat(np.arange(1500), count), "time_ns": samples.ravel()})
    cases = intervals.summarise(rows, ["case"])
    covered = ((cases["low_ns"] <= 1.0) & (cases["high_ns"] >= 1.0)).mean()
    assert 0.94 <= covered <= 0.995


@pytest.mark.parametrize("count", [*range(1, 40), 100, 1001])
def test_interval_is_the_one_of_scipy(count: int) -> None:
    data = np.random.default_rng(5).lognormal(0, 0.3, count)
    theirs = stats.quantile_test(data, q=1, p=0.5).confidence_interval(0.95)
    ours = intervals.median_interval(data)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), rel=0, nan_ok=True)
    assert ours.known == (count >= intervals.FEWEST_OF_MEDIAN)


@pytest.mark.parametrize("count", [9, 12])
def test_interval_of_a_ratio_agrees_with_scipy(count: int) -> None:
    data = np.random.default_rng(5).lognormal(0, 0.3, (2, count))
    ratio = lambda above, below, axis: np.median(above, axis) / np.median(below, axis)
    theirs = stats.bootstrap(data, ratio, n_resamples=20000, method="percentile", random_state=1, batch=1000)
    ours = intervals.ratio_interval(*data)
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs.confidence_interval), rel=0.05)


@pytest.mark.parametrize("count", [5, 8, 11])
def test_what_came_often_counts_as_often(count: int) -> None:
    """The interval is that of all resamples, though only different ones are looked at."""
    data = np.random.default_rng(7).lognormal(0, 0.1, (2, count))
    ordered = np.sort(data, axis=1)
    above, below = (np.mean([rows[ranks] for ranks in intervals._middle_ranks(count, stream)], axis=0) for rows, stream in zip(ordered, (1, 2), strict=True))
    ratio = intervals.ratio_interval(*data)
    assert (ratio.low, ratio.high) == pytest.approx(np.quantile(above / below, (0.025, 0.975)), rel=1e-13)


def test_one_case_and_many_give_the_same_interval() -> None:
    data = np.random.default_rng(6).lognormal(0, 0.1, (2, 11))
    cases = intervals.summarise(pd.DataFrame({"case": [0] * 11 + [1] * 11, "time_ns": data.ravel()}), ["case"])
    alone = intervals.median_interval(data[1])
    assert (cases.loc[1, "median_ns"], cases.loc[1, "low_ns"], cases.loc[1, "high_ns"]) == (alone.value, alone.low, alone.high)


def test_too_few_repetitions_give_no_interval() -> None:
    assert not intervals.median_interval([1.0, 2.0, 3.0, 4.0]).known
    assert intervals.median_interval([1.0, 2.0, 3.0, 4.0]).value == 2.5
    assert not intervals.ratio_interval(np.arange(1.0, 10), np.array([1.0])).known


def test_ratio_is_of_medians_and_not_a_mean_of_ratios() -> None:
    above, below = np.array([1.0, 2, 3, 4, 100]), np.array([1.0, 1, 2, 100, 100])
    ratio = intervals.ratio_interval(above, below)
    assert ratio.value == 1.5
    assert ratio.low <= ratio.value <= ratio.high


def test_constant_data_have_an_interval_of_no_width() -> None:
    interval = intervals.median_interval([7.0] * 9)
    assert (interval.low, interval.value, interval.high) == (7.0, 7.0, 7.0)


SKEWED = [100.0, 1.0, 3.0, 2.0, 4.0]
"""Their median is 3, their mean 22; the interval of a ratio of five repetitions reaches from the least to the most."""


def test_of_repetitions_the_median_counts_and_not_the_mean() -> None:
    assert intervals.median_interval(SKEWED).value == 3
    assert intervals.medians([np.array(SKEWED), np.array([7.0, 1.0]), np.array([5.0])]).tolist() == [3, 4, 5]
    ratio, turned = intervals.ratio_intervals([np.array(SKEWED), np.array([6.0] * 5)], [np.array([2.0] * 5), np.array(SKEWED)])
    assert (ratio.value, turned.value) == (1.5, 2)
    rows = pd.DataFrame({"case": ["b"] * 5 + ["a"] * 2, "time_ns": [*SKEWED, 9.0, 1.0]})
    assert intervals.summarise(rows, ["case"])[["case", "median_ns"]].values.tolist() == [["a", 5], ["b", 3]]


def test_six_repetitions_are_enough_for_an_interval_and_five_are_not() -> None:
    six = intervals.median_interval([*SKEWED, 3.0])
    assert (six.value, six.low, six.high, six.count, six.known) == (3, 1, 100, 6, True)
    assert not intervals.median_interval(SKEWED).known
    rows = pd.DataFrame({"case": [0] * 6 + [1] * 5, "time_ns": [*SKEWED, 3.0, *SKEWED]})
    assert intervals.summarise(rows, ["case"])[["count", "low_ns", "high_ns"]].fillna(-1).values.tolist() == [[6, 1, 100], [5, -1, -1]]


def test_five_repetitions_are_enough_for_the_interval_of_a_ratio_and_four_are_not() -> None:
    ratio = intervals.ratio_interval(np.array(SKEWED), np.array([2.0] * 5))
    assert (ratio.low, ratio.high, ratio.count, ratio.known) == (0.5, 50, 5, True)
    assert not intervals.ratio_interval(np.array(SKEWED[:4]), np.array([2.0] * 5)).known
    assert not intervals.ratio_interval(np.array(SKEWED), np.array([2.0] * 4)).known


def test_a_ratio_has_as_many_repetitions_as_the_side_with_fewer() -> None:
    assert intervals.ratio_interval(np.ones(7), np.ones(9)).count == intervals.ratio_interval(np.ones(9), np.ones(7)).count == 7


def test_repetitions_of_a_case_stand_together_however_they_come() -> None:
    rows = pd.DataFrame({"case": ["b", "a", "b", "a", "b"], "time_ns": [1.0, 2.0, 3.0, 4.0, 5.0]})
    cases = intervals.repetitions(rows, ["case"])
    assert {case: samples.tolist() for case, samples in zip(cases["case"], cases["samples"], strict=True)} == {"a": [2, 4], "b": [1, 3, 5]}
