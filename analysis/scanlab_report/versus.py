"""Scans head to head: comparisons stay within a file."""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import pandas as pd

from scanlab_report.data import Data
from scanlab_report.groups import BEST, CEILING, CUBS, KEY, LOSS, OPEN, PYTHON, TIE, WIN
from scanlab_report.intervals import (
    SIGNIFICANT,
    Interval,
    corrected,
    mann_whitney_ps,
    ratio_intervals,
)
from scanlab_report.pick import Lacking, by_device, parts, pick


def or_lacking(rows: Any, lacking: str, *variants: str) -> Any:
    """Return rows if there are any, else raise Lacking."""
    if not len(rows):
        raise Lacking(lacking, variants)
    return rows


def on_first(
    data: Data,
    table: str,
    wanted: Callable[[pd.DataFrame], Any],
    lacking: str,
    *variants: str,
    kinds: Collection[str] = ("cuda",),
) -> Any:
    """Return what is wanted of a table on the first device that has any of it, else Lacking."""
    of_devices = (wanted(rows) for _, _, rows in by_device(data, table, kinds))
    return or_lacking(next((own for own in of_devices if len(own)), ()), lacking, *variants)


def contests(data: Data, variant: str = BEST, python: bool = False) -> pd.DataFrame:
    """The cases, with `place` and `case` by KEY, in one device's files with `variant` or Python."""
    libraries = data.variants.ids(PYTHON) if python else []

    def wanted(rows: pd.DataFrame) -> pd.DataFrame:
        timed = pick(rows, settings="", variant=[variant, *libraries])
        timed = timed if (timed["variant"] == variant).any() else timed[:0]
        cases = pick(rows, settings="", file=set(timed["file"]))
        place = cases["file"].map(data.places["scan"])
        cases = cases.assign(place=place, case=cases.groupby(KEY, dropna=False).ngroup())
        return cases.sort_values("place", kind="stable", ignore_index=True)

    lacking = (f"timings of {variant} on a CUDA device", variant, CEILING)
    return data.once(
        ("contests", variant, python), lambda: on_first(data, "cases", wanted, *lacking)
    )


def pairs(cases: pd.DataFrame, variant: str, rivals: Sequence[str]) -> pd.DataFrame:
    """The cases of `variant` with the fastest of `rivals`, from the first file that has both."""
    theirs = pick(cases, variant=rivals)
    theirs = theirs.assign(rank=theirs["variant"].map(list(rivals).index))
    theirs = theirs.sort_values(["median_ns", "rank"]).drop_duplicates(["file", "case"])
    theirs = theirs[["file", "case", "variant", "samples", "median_ns"]]
    both = pick(cases, variant=variant).merge(theirs, on=["file", "case"], suffixes=("", "_rival"))
    both = both.rename(columns={"variant_rival": "rival"})
    both = both.sort_values("place", kind="stable").drop_duplicates("case")
    return both.sort_values(["items", "case"], kind="stable", ignore_index=True)


def against(cases: pd.DataFrame, variant: str, rivals: Sequence[str]) -> pd.DataFrame:
    """`pairs` with the time of the rival over ours: `interval`, its parts, and the `outcome`."""
    both = pairs(cases, variant, rivals)
    intervals = ratios(both["samples_rival"], both["samples"])
    return both.assign(**parts(intervals), outcome=intervals.map(outcome), interval=intervals)


def ratios(above: Iterable[Any], below: pd.Series) -> pd.Series:
    """The intervals of the medians of `above` over those of `below`, row by row."""
    made = ratio_intervals(list(above), list(below))
    return pd.Series(made, index=below.index, dtype=object)


def spans(ends: Iterable[pd.Series], count: pd.Series) -> pd.Series:
    """Intervals, row by row; ends: values, low and high ones."""
    return pd.Series([*map(Interval, *ends, count)], count.index, dtype=object)


def versus_cub(data: Data) -> pd.DataFrame:
    """Every case of `best` against the fastest CUB; Lacking if none has CUB beside it."""
    cases, cubs = contests(data), data.variants.ids(CUBS)
    both = data.once("versus", lambda: against(cases, BEST, cubs))
    return or_lacking(both, f"timings of {BEST} beside CUB on a CUDA device", BEST, "cub*", CEILING)


def outcome(ratio: Interval) -> str:
    """The outcome of the ratio of their time to ours: a tie if its interval holds 1."""
    if not ratio.known:
        return OPEN
    return WIN if ratio.low > 1 else LOSS if ratio.high < 1 else TIE


def sure(comparisons: pd.DataFrame) -> pd.Series:
    """Whether the times of each case and its rival differ by the test of Mann and Whitney,
    corrected by Benjamini and Hochberg for so many comparisons."""
    p = mann_whitney_ps(comparisons["samples"], comparisons["samples_rival"])
    return pd.Series(corrected(p) < SIGNIFICANT, comparisons.index)


def decided(comparisons: pd.DataFrame) -> pd.DataFrame:
    """The comparisons with enough samples for an interval."""
    return comparisons[comparisons["outcome"] != OPEN]
