"""Medians and intervals: right on known data, unknown where there is too little."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from scanlab_report import intervals
from scanlab_report.intervals import (
    mann_whitney_p,
    median_interval,
    ratio_interval,
    summarise,
    welch,
)

SKEWED = [100.0, 1.0, 3.0, 2.0, 4.0]
"""Their median is 3 and their mean 22; the interval of a ratio of five samples has all of them."""


@pytest.mark.parametrize("count", [*range(1, 40), 100, 1001])
def test_an_interval_of_a_median_is_the_one_of_scipy(count) -> None:
    data = np.random.default_rng(5).lognormal(0, 0.3, count)
    theirs = stats.quantile_test(data, q=1, p=0.5).confidence_interval(0.95)
    ours = median_interval(data)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), rel=0, nan_ok=True)
    assert ours.value == np.median(data) and ours.known == (count >= 6)


@pytest.mark.parametrize("count", [5, 8, 11])
def test_the_interval_of_a_ratio_is_that_of_all_resamples(count) -> None:
    """Though only different ones are evaluated."""
    data = np.random.default_rng(7).lognormal(0, 0.1, (2, count))
    ratio = ratio_interval(*data)
    sides = [
        np.mean([np.sort(samples)[ranks] for ranks in intervals._middle_ranks(count, side)], axis=0)
        for side, samples in enumerate(data, start=1)
    ]
    ends = np.quantile(sides[0] / sides[1], (0.025, 0.975))
    assert (ratio.low, ratio.high) == pytest.approx(ends, rel=1e-13)


def test_five_samples_a_side_are_enough_for_a_ratio_and_four_are_not() -> None:
    five, two = np.array(SKEWED), np.full(7, 2.0)
    ratio = ratio_interval(five, two)
    assert (ratio.value, ratio.low, ratio.high, ratio.count) == (1.5, 0.5, 50, 5)
    assert not ratio_interval(five[:4], two).known and not ratio_interval(five, two[:4]).known


def test_the_samples_of_a_case_stand_together_however_they_come() -> None:
    ns = [9.0, *SKEWED, 3.0, 7.0]
    rows = pd.DataFrame({"case": [*"baaaaaab"], "round": range(8), "ns": ns})
    cases = summarise(rows, ["case"])
    assert [list(samples) for samples in cases["samples"]] == [[*SKEWED, 3.0], [9, 7]]
    assert cases["count"].tolist() == [6, 2]
    ends = cases[["median_ns", "low_ns", "high_ns"]].fillna(-1).values.tolist()
    assert ends == [[3, 1, 100], [8, -1, -1]]


def test_with_ties_the_p_is_never_smaller_than_that_of_all_permutations() -> None:
    draw = np.random.default_rng(0)
    chosen = [list(places) for places in itertools.combinations(range(10), 5)]
    for _ in range(30):
        a, b = draw.integers(1, 6, 5).astype(float), draw.integers(1, 6, 5) + draw.integers(0, 4)
        ranks = stats.rankdata(np.concatenate([a, b]))
        off = np.array([abs(ranks[places].sum() - 27.5) for places in chosen])
        exact = np.mean(off >= off[0])  # where nobody would call it a difference, it need not be
        assert mann_whitney_p(a, b.astype(float)) >= exact - 1e-9 or exact > 0.2


def test_the_interval_of_a_ratio_of_means_covers_it_and_needs_both_deviations() -> None:
    draw = np.random.default_rng(3)
    a, b = draw.normal(1, 0.1, (400, 12)), draw.normal(1.5, 0.3, (400, 20))
    stated = [
        f(side)
        for side in (a, b)
        for f in (lambda v: v.mean(axis=1), lambda v: v.std(axis=1, ddof=1), lambda v: v.shape[1])
    ]
    p, _, low, high = welch(*stated)
    assert 0.92 < np.mean((low <= 1.5) & (high >= 1.5)) < 0.98
    assert p == pytest.approx(stats.ttest_ind(a, b, axis=1, equal_var=False).pvalue)
    assert np.isnan(welch(1.0, np.nan, 9, 2.0, 0.1, 9)).tolist() == [True, False, True, True]
