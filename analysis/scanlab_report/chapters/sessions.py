"""Did anything drift while results were measured? Outliers and clocks by results file.

No sample is left out. Each time is divided by the median of the other samples of its case. Drift is
the round whose median over cases is farthest from 1. Outliers lie beyond Tukey's fences, 1.5
interquartile ranges outside the quartiles of a case.
"""

import math
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from scanlab_report.data import Data, File, ranked
from scanlab_report.formats import Table, alike, digits, records, significant, whole, with_interval
from scanlab_report.groups import HOST
from scanlab_report.intervals import FEWEST, SEED, Interval, median_interval
from scanlab_report.pick import pick
from scanlab_report.shown import Shown, shown, table
from scanlab_report.sources import source_of
from scanlab_report.tables import CASES, ODD_SIZES
from scanlab_report.versus import or_lacking

TOGETHER = 20
"""Fewer cases with equally many rounds are left out: three cases give no interval."""


def timed_in_rounds(data: Data, kind: str) -> list[tuple[File, pd.DataFrame]]:
    """The first device's files with two rounds or more, by date; no host's times beside a GPU."""
    hosts, made = data.variants.ids(HOST), []
    for number, rows in data[kind].groupby("file"):
        file = data.files[number]
        rows = pick(rows, control=0) if kind == "schedule" else rows
        if kind == "scan" and file.kind != "host":
            rows = rows[~rows["variant"].isin(hosts)]
        if file.kind not in ("tuning", ODD_SIZES) and rows["round"].max() > 0:
            made.append((file, rows))
    files = [file for file, _ in or_lacking(made, "timings of two rounds or more")]
    first = ranked(files, data.first)[0]
    origin = min(file.origin for file in files if file.device == first)  # now before recorded
    made = [own for own in made if (own[0].device, own[0].origin) == (first, origin)]
    return sorted(made, key=lambda own: own[0].date)


def judged(rows: pd.DataFrame, kind: str) -> pd.DataFrame:
    """The samples of cases with two or more, with `case`, `rounds`, `relative`, `outlier`."""
    number = rows.groupby(CASES[kind], sort=False, dropna=False).ngroup()
    samples = rows[["round", "ns", "sm_clock_mhz", "converged"]].assign(case=number)
    samples = samples.astype({"converged": float})  # the largest of objects takes seconds
    samples["rounds"] = samples.groupby("case")["case"].transform("size")
    parts = []
    samples = samples[samples["rounds"] > 1].sort_values(["case", "round"])
    for rounds, own in samples.groupby("rounds"):
        times = own["ns"].to_numpy(dtype=float).reshape(-1, rounds)
        others = [np.median(np.delete(times, n, axis=1), axis=1) for n in range(rounds)]
        own = own.assign(relative=(times / np.stack(others, axis=1)).ravel())
        parts.append(own.assign(outlier=_beyond_fences(times).ravel() & (rounds >= FEWEST)))
    return pd.concat(parts)


def summary(timed: tuple[File, pd.DataFrame], kind: str) -> dict[str, Any]:
    """The drift, outliers and clocks of a file, as a row of the table."""
    file, samples = timed[0], judged(timed[1], kind)
    cases = samples.groupby("case")
    rounds, converged = cases.size(), cases["converged"].max().dropna() == 1
    far, clocks = samples.loc[samples["outlier"], "relative"], samples["sm_clock_mhz"].dropna()
    highest = float(file.context.get("sm_clock_mhz_max") or np.nan)
    # The drift: the round, among cases with equally many, whose median is farthest from 1.
    sizes = samples.groupby("rounds")["case"].nunique()
    rows = samples[samples["rounds"].map(sizes) >= min(TOGETHER, sizes.max())]
    medians = rows.groupby(["rounds", "round"])["relative"].agg(median_interval)
    drift = max(medians, key=lambda median: abs(median.value - 1))
    ends = (100 * (end - 1) for end in (drift.value, drift.low, drift.high))
    return {
        "session": file.path.name.partition(".")[0],
        "cases": len(rounds),
        "rounds": " to ".join(map(str, dict.fromkeys((rounds.min(), rounds.max())))),
        "samples": (int(rounds.min()), int(rounds.max())),
        "converged_percent": 100 * converged.mean() if len(converged) else None,
        "drift_percent": Interval(*[*ends, drift.count]),
        "drift_cases": drift.count,
        "outliers_percent": 100 * samples["outlier"].mean(),
        "outliers_of_normal_percent": 100 * samples["rounds"].map(_normal_share).mean(),
        "worst": far[np.log(far).abs().idxmax()] if len(far) else np.nan,
        "clocks": len(clocks),
        "lowered": int((clocks < highest).sum()) if len(clocks) else None,
    }


def _beyond_fences(rows: np.ndarray) -> np.ndarray:
    """Return which values of each row lie 1.5 distances of the fourths outside them."""
    ordered, count = np.sort(rows, axis=1), rows.shape[1]
    depth = ((count + 1) // 2 + 1) / 2 - 1  # of the fourth: that of the median of a half
    ends = [math.floor(depth), math.ceil(depth)]
    low, high = (half[:, ends].mean(axis=1, keepdims=True) for half in (ordered, ordered[:, ::-1]))
    return (rows < low - 1.5 * (high - low)) | (rows > high + 1.5 * (high - low))


@cache
def _normal_share(count: int) -> float:
    """The share of so many normal values beyond the fences (Hoaglin et al. 1986)."""
    if count < FEWEST:
        return 0.0
    values = np.random.default_rng(SEED).normal(size=(20_000, count))
    return float(_beyond_fences(values).mean())


_OUTLIERS = {"outliers_percent": "%", "outliers_of_normal_percent": "of normal"}
COLUMNS = [
    *alike(str, session="results file", wrap=6),
    *alike(whole, "cases"),
    *alike(str, "rounds", wrap=4),
    *alike(digits(2), converged_percent="converged, %"),
    *alike(lambda drift: with_interval(drift, 2), drift_percent="median, %", group="drift"),
    *alike(whole, drift_cases="n", group="drift"),
    *alike(digits(2), **_OUTLIERS, group="outliers"),
    *alike(significant, worst="worst, ×", group="outliers"),
    *alike(whole, clocks="read", lowered="below max", group="clock"),
]
CAPTION = (
    "Drift, outliers and clocks by results file. Converged: cases that the stopping rule ended. "
    "Drift: the round that differs most, of n cases. Outliers: beyond Tukey's fences, of normal "
    "times, the farthest. Clocks: readings, every 20 ms at most, and those below maximum. The "
    "host's cores are left out."
)


@table("scans")
def scan_sessions(data: Data) -> Shown:
    """Drift, outliers and clocks of each results file of scans."""
    timed = timed_in_rounds(data, "scan")
    rows = [summary(own, "scan") for own in timed]
    samples = min(row["samples"][0] for row in rows), max(row["samples"][1] for row in rows)
    source = source_of([file for file, _ in timed], samples)
    return shown(data, Table(CAPTION, COLUMNS, records(rows)), CAPTION, source)
