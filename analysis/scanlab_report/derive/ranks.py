"""Scans of one array over several ranks: beside copies, the vendor's libraries, floors and bounds, and how they scale."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from scanlab_report.select.ranks_evidence import CHUNK, PROBLEM, SCAN, STATES, VENDOR, RanksEvidence, told_of, varied
from scanlab_report.stats.intervals import UNKNOWN, Interval, median_interval, ratio_intervals

COPY, READ = "copy_all", "read_all"
FLOORS = ("launch_all", "nccl_all_gather")
_SIZE = ["type", "op", "mode", "items"]
_KIND = ["type", "op", "mode"]


def beside(cases: pd.DataFrame) -> pd.DataFrame:
    """One row per scan and case, fewest ranks and items first: ``items_per_rank``, ``gb_per_s`` over all ranks, and as intervals the share
    of copies (``of_copy``), the speed over the vendor (``of_vendor``) and the share of the 3n bound (``of_bound``), unknown where not timed.
    """
    scans = cases[cases["kind"] == SCAN].sort_values([*PROBLEM, "median_ns"]).reset_index(drop=True)
    scans["items_per_rank"] = scans["items"] / scans["ranks"]
    scans["gb_per_s"] = scans["bytes"] / scans["median_ns"]
    problems = [*scans[PROBLEM].itertuples(index=False, name=None)]
    for column, rival in (("of_copy", COPY), ("of_vendor", VENDOR)):
        theirs = _samples(cases[cases["algorithm"] == rival], PROBLEM)
        scans[column] = _ratios([theirs.get(of) for of in problems], scans["samples"].tolist())
    bounds = three_n(cases)
    scans["of_bound"] = pd.Series([over_time(bounds.get(of, math.nan), samples) for of, samples in zip(problems, scans["samples"], strict=True)], dtype=object)
    return scans


def three_n(cases: pd.DataFrame) -> dict[tuple, float]:
    """By problem, the least nanoseconds of a scan that reads the array twice and writes it once: :data:`READ`, and then :data:`COPY`."""
    read, copy = ({of[:-1]: of[-1] for of in cases.loc[cases["algorithm"] == name, [*PROBLEM, "median_ns"]].itertuples(index=False, name=None)}
                  for name in (READ, COPY))  # fmt: skip
    return {of: read[of] + copy[of] for of in read if of in copy}


def over_time(bound: float, samples: np.ndarray) -> Interval:
    """A bound over the median of samples, with the interval of the median alone."""
    if math.isnan(bound):
        return UNKNOWN
    ours = median_interval(samples)
    return Interval(bound / ours.value, bound / ours.high, bound / ours.low, ours.count)


def weak(cases: pd.DataFrame, kind: str = SCAN) -> pd.DataFrame:
    """Scans, or algorithms of another kind, on several ranks that were timed on one with as many items per rank: ``items_per_rank``, and
    ``efficiency``, the time on one rank over that on all, an interval.
    """
    scans = cases[(cases["kind"] == kind) & (cases["items"] % cases["ranks"] == 0)].sort_values([*PROBLEM, "algorithm"])
    scans = scans.assign(items_per_rank=scans["items"] // scans["ranks"])
    one = _samples(scans[scans["ranks"] == 1], ["algorithm", "settings", *_SIZE])
    several = scans[scans["ranks"] > 1]
    keys = several[["algorithm", "settings", *_KIND, "items_per_rank"]].itertuples(index=False, name=None)
    return _with(several, "efficiency", [one.get(of) for of in keys])


def strong(evidence: RanksEvidence) -> pd.DataFrame:
    """Scans beside ``best`` on one GPU at as many items in all: ``speedup``, the time of ``best`` over theirs, an interval."""
    scans = evidence.cases[evidence.cases["kind"] == SCAN].sort_values([*PROBLEM, "algorithm"])
    best = _samples(evidence.best, _SIZE)
    return _with(scans, "speedup", [best.get(of) for of in scans[_SIZE].itertuples(index=False, name=None)])


def strong_bounds(evidence: RanksEvidence) -> pd.DataFrame:
    """By problem, what ``best`` on one GPU takes over copies on all ranks (``two_n``), and over the 3n bound (``three_n``, NaN where unknown)."""
    best = {of[:-1]: of[-1] for of in evidence.best[[*_SIZE, "median_ns"]].itertuples(index=False, name=None)}
    copies = evidence.cases[evidence.cases["algorithm"] == COPY]
    bounds = three_n(evidence.cases)
    rows = [(*of[:-1], best[size] / of[-1], best[size] / bounds.get(of[:-1], math.nan))
            for of in copies[[*PROBLEM, "median_ns"]].itertuples(index=False, name=None) if (size := (*of[:3], of[4])) in best]  # fmt: skip
    return pd.DataFrame(rows, columns=[*PROBLEM, "two_n", "three_n"]).sort_values(PROBLEM, ignore_index=True)


def chunks(cases: pd.DataFrame) -> pd.DataFrame:
    """The scans of which several tiles per chunk were timed: those in ``chunk``, and in ``told`` what GPUs tell each other of."""
    return _lines(cases, CHUNK)


def folds(cases: pd.DataFrame) -> pd.DataFrame:
    """The scans of which several states per aggregate were timed, with ``told`` and ``as_ranks``: the ranks that have as many states."""
    rows = _lines(cases, STATES)
    return rows.assign(as_ranks=rows["ranks"] * rows[STATES])


def _lines(cases: pd.DataFrame, setting: str) -> pd.DataFrame:
    rows = varied(beside(cases), setting)
    return rows.assign(told=rows["others"].map(told_of)).sort_values([*PROBLEM, "algorithm", "told", setting], ignore_index=True)


def main_kind(cases: pd.DataFrame) -> pd.DataFrame:
    """The cases of sums of 32-bit integers, inclusive; where none was timed, of the type, operator and mode of most cases."""
    usual = (cases["type"] == "i32") & (cases["op"] == "plus") & (cases["mode"] == "inclusive")
    if usual.any():
        return cases[usual]
    most = cases.groupby(_KIND).size().idxmax()
    return cases[(cases[_KIND] == list(most)).all(axis=1)]


def floors(cases: pd.DataFrame) -> Iterator[tuple[str, int, float]]:
    """Each floor with its ranks and nanoseconds; it was timed at several sizes, and they do not matter."""
    for (name, ranks), of in cases[cases["algorithm"].isin(FLOORS)].groupby(["algorithm", "ranks"]):
        yield str(name), int(ranks), float(of["median_ns"].median())


def _samples(rows: pd.DataFrame, key: Sequence[str]) -> dict[tuple, np.ndarray]:
    return {of[:-1]: of[-1] for of in rows[[*key, "samples"]].itertuples(index=False, name=None)}


def _ratios(above: Sequence[np.ndarray | None], below: Sequence[np.ndarray]) -> pd.Series:
    """The ratio of each two medians, :data:`UNKNOWN` where there is nothing above."""
    found = [UNKNOWN] * len(below)
    known = [place for place, of in enumerate(above) if of is not None]
    for place, ratio in zip(known, ratio_intervals([of for of in above if of is not None], [below[place] for place in known]), strict=True):
        found[place] = ratio
    return pd.Series(found, dtype=object)


def _with(rows: pd.DataFrame, column: str, above: Sequence[np.ndarray | None]) -> pd.DataFrame:
    """The rows that something stands above, with its time over theirs."""
    rows = rows.reset_index(drop=True).assign(**{column: _ratios(above, rows["samples"].tolist())})
    return rows[np.array([of is not None for of in above], dtype=bool)].reset_index(drop=True)
