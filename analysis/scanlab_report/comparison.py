"""Two runs case by case: ratios of medians with intervals, and verdicts.

A case is *slower* or *faster* in B if the Mann-Whitney test, corrected by Benjamini and Hochberg,
tells the runs apart, and the 95% interval of the ratio lies beyond the threshold (`noise`). This
counts from 1, or from the median ratio of unchanged code that is timed alike, and lies beyond all
such ratios. A case that no samples could have decided is *too few*.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import comb

from scanlab_report import intervals
from scanlab_report.console import Refused
from scanlab_report.data import Data, File, Variants
from scanlab_report.groups import HOST, VENDOR_CODE
from scanlab_report.intervals import SIGNIFICANT, corrected, summarise
from scanlab_report.load import load
from scanlab_report.pick import parts
from scanlab_report.tables import CASES

SLOWER, FASTER, NEITHER, TOO_FEW = "slower", "faster", "neither", "too few"
NO_THRESHOLD, ONLY_A, ONLY_B = "no threshold", "only in A", "only in B"
VERDICTS = (SLOWER, FASTER, NEITHER, TOO_FEW, NO_THRESHOLD, ONLY_A, ONLY_B)
MEDIANS, MEANS = "medians", "means"
VENDOR_KEYS = ("device", "driver", "toolkit", "cccl", "cccl_newest")
"""If these fields agree in two runs, the vendor's code is the same."""
KINDS = {"scan": "scans", "schedule": "schedules", "stream_scan": "stream_scan"}
"""Name of each table in files of noise and in sentences."""
_OTHER = ["benchmark", "case", "device"]
_NEAR = 1.25
"""Times per launch within this factor of each other count as about as long."""


class Side(NamedTuple):
    """One run. `cases` has one row per case: its `samples`, or its mean and deviation alone;
    `untimed` has one row per case without a time. The columns `case` name a case."""

    file: File
    kind: str
    case: list[str]
    cases: pd.DataFrame
    untimed: pd.DataFrame


class Comparison(NamedTuple):
    """Two runs. `cases` has one row per case of both: how it is timed (`column`), on device or host
    (`on`), the shorter of the two medians (`time_us`), by medians or means (`by`), the time of B
    over that of A (`ratio`, `low`, `high`), such ratios of unchanged code beside it (`least`,
    `median`, `most`), the bounds that follow (`faster_below`, `slower_above`), `verdict`, ..."""

    a: Side
    b: Side
    cases: pd.DataFrame
    only: pd.DataFrame
    """The cases of one run, with the verdict of it."""
    broken: pd.DataFrame
    """The cases with a time in A that failed in B: wrong results, or an error."""
    origin: str = ""
    """Where the thresholds are from, in words."""

    @property
    def every(self) -> pd.DataFrame:
        return pd.concat([self.cases, self.only], ignore_index=True)

    def with_verdict(self, *verdicts: str) -> pd.DataFrame:
        """The cases with one of the verdicts, the largest change first."""
        rows = self.cases[self.cases["verdict"].isin(verdicts)]
        return rows.sort_values("ratio", key=lambda ratio: -np.abs(np.log(ratio)), kind="stable")


def sides(a: Sequence[Path], b: Sequence[Path]) -> tuple[Side, Side]:
    """Both sides, each of one file, or of several of another program; Refused with the reasons."""
    files = [*a, *b]
    if unreadable := [f"{file}: is no file" for file in files if not file.is_file()]:
        raise Refused(*unreadable)
    read = [load([file]) for file in files]
    if problems := [str(problem) for data in read for problem in data.problems]:
        raise Refused(*dict.fromkeys(problems))
    every = [file for data in read for file in data.files]
    programs = {file.context.get("program", "Scanlab"): file.path for file in every}
    if len(programs) > 1:
        named = " and ".join(f"{file} is of {program}" for program, file in programs.items())
        raise Refused(f"{named}: they time in different ways, so only one program is compared")
    if "Scanlab" not in programs and programs:
        return _others(read[: len(a)]), _others(read[len(a) :])
    if len(files) > 2:
        raise Refused("several files a side are for nvbench and Google Benchmark")
    return _own(a[0], read[0]), _own(b[0], read[1])


def _own(path: Path, data: Data) -> Side:
    """Return the repeated timings of a results file of Scanlab. Schedules that are wrong on purpose
    are left out, since they are not timed for their speed."""
    timed = {name: data[name] for name in KINDS if len(data[name])}
    timed = timed or {"scan": data["scan"]}  # nothing but failures
    ((table, rows),) = timed.items() if len(timed) == 1 else [("", pd.DataFrame())]
    if len(data.files) != 1 or rows.empty and data["skipped"].empty:
        raise Refused(f"{path}: holds no repeated timings (of bench, streams run or stream-scan)")
    (file,), case = data.files, CASES[table]
    rows = rows.query("control == 0") if table == "schedule" else rows
    cases = summarise(rows, case).assign(mean_ns=np.nan, stdev_ns=np.nan)
    on_host = pd.Series(file.kind == "host", cases.index)
    if table == "scan":
        on_host |= cases["variant"].isin(Variants(file.variants).ids(HOST))
        column = (cases["cache"] + " " + cases["launch"]).mask(on_host, "host")  # launches nothing
    else:
        column = cases["entry" if table == "schedule" else "way"]
        cases["launches"] = 1.0
    if table == "stream_scan":  # the processor reads, writes and copies all but pinned memory
        pinned = cases["way"].isin(("streamed", "duplex_copy"))
        on_host |= ~pinned | (cases["from"] != "memory") | (cases["to"] != "memory")
    cases = cases.assign(on=np.where(on_host, "host", "device"), column=column)
    untimed = data["skipped"]
    untimed = untimed.assign(name=untimed["variant"] + " of " + untimed["items"].astype(str))
    untimed = untimed.reindex(columns=[*case, "name", "reason", "failed"])
    return Side(file, KINDS[table], case, cases, untimed)


def _others(read: Sequence[Data]) -> Side:
    """The cases of another program's files. Several files are repeated runs: the samples of all are
    a case's samples, or its mean in a file without samples."""
    rows = pd.concat([data["other"] for data in read], ignore_index=True)
    if len(read) > 1:
        both = zip(rows["samples"], rows["mean_ns"], strict=True)
        samples = [own if len(own) else np.array([mean]) for own, mean in both]
        rows["samples"] = pd.Series(samples, dtype=object)
        runs = rows.groupby(_OTHER, sort=False)
        rows = runs.agg({"samples": list, "skipped": "max", "failed": "max"}).reset_index()
        rows["samples"] = rows["samples"].map(np.concatenate)
        rows["count"], rows["median_ns"] = rows["samples"].map(len), rows["samples"].map(np.median)
        rows[["mean_ns", "stdev_ns"]] = np.nan
    file, timed = read[0].files[0], rows["skipped"] == ""
    program, name = str(file.context["program"]), rows["benchmark"] + " " + rows["case"]
    rows = rows.assign(launches=1.0, on=file.kind, column=program, name=name)
    untimed = rows[~timed].rename(columns={"skipped": "reason"})
    return Side(file, program, _OTHER, rows[timed], untimed)


def paired(a: Side, b: Side) -> Comparison:
    """Ratios, intervals and p of every case, without thresholds and verdicts yet."""
    named, case = f"{a.file.path} and {b.file.path}", a.case
    if a.kind != b.kind:
        raise Refused(f"{named} have no case in common: they hold {a.kind} and {b.kind}")
    cases = a.cases.merge(b.cases, on=case, suffixes=("_a", "_b"))
    only = a.cases[case].merge(b.cases[case], "outer", indicator="verdict").query("verdict!='both'")
    verdicts = only["verdict"].map({"left_only": ONLY_A, "right_only": ONLY_B}).astype(str)
    broken = b.untimed[b.untimed["failed"].astype(bool)].merge(a.cases[case], on=case)
    if cases.empty and broken.empty:
        raise Refused(f"{named} have no timed case in common")
    made = cases[case].assign(on=cases["on_a"], column=cases["column_a"])
    sampled = cases[["samples_a", "samples_b"]].map(len).all(axis=1)
    made["by"] = np.where(sampled, MEDIANS, MEANS)
    for side in "ab":
        made[f"count_{side}"] = cases[f"count_{side}"].astype(int)
        median, mean = (cases[f"{name}_ns_{side}"] for name in ("median", "mean"))
        made[f"median_{side}_ns"] = median.where(sampled, mean)
    stated = [f"{name}_{side}" for side in "ab" for name in ("mean_ns", "stdev_ns", "count")]
    p, *ends = intervals.welch(*(cases[name].to_numpy(dtype=float) for name in stated))
    made = made.assign(p=p, **dict(zip(("ratio", "low", "high"), ends, strict=True)))
    timed = cases[sampled]
    ratios = parts(intervals.ratio_intervals(list(timed["samples_b"]), list(timed["samples_a"])))
    made.loc[sampled, list(ratios)] = pd.DataFrame(ratios, timed.index)
    made.loc[timed.index, "p"] = intervals.mann_whitney_ps(timed["samples_a"], timed["samples_b"])
    made["p_corrected"] = corrected(made["p"].fillna(1.0))
    medians = made[["median_a_ns", "median_b_ns"]]
    made["time_us"] = medians.min(axis=1) / 1e3
    launches = cases[["launches_a", "launches_b"]].fillna(1).to_numpy()  # of the host: none
    made["launch_us"] = (medians / launches).min(axis=1) / 1e3
    same = _unchanged(a.file, b.file)
    made["unchanged"] = made["variant"].isin(same) if "variant" in case else False
    return Comparison(a, b, made, only.assign(verdict=verdicts), broken)


def vendors(a: File, b: File) -> list[str]:
    """The variants of two runs that are the vendor's code."""
    return Variants({**a.variants, **b.variants}).ids(*VENDOR_CODE)


def _unchanged(a: File, b: File) -> list[str]:
    """The variants whose code, on the host the processor as well, is surely the same in both runs.
    A field that neither file states does not count as the same."""
    same = lambda key: bool(a.context.get(key)) and a.context[key] == b.context.get(key)
    on_host = Variants({**a.variants, **b.variants}).ids(HOST)
    of_vendor = vendors(a, b) * all(map(same, VENDOR_KEYS))
    return of_vendor + on_host * all(map(same, ("cpu", "compiler", "tbb")))


def _unchanged_ratios(cases: pd.DataFrame) -> pd.DataFrame:
    """Return the `least`, `median` and `most` ratio of unchanged code that is timed in the same way
    and takes about as long a launch, for each case; NaN if there is none."""
    bounds = pd.DataFrame(np.nan, cases.index, ["least", "median", "most"])
    for _, alike in cases.groupby(["on", "column"]):
        known = alike[alike["unchanged"]]
        times = (rows["launch_us"].to_numpy() for rows in (alike, known))
        apart = np.abs(np.log(np.divide.outer(*times)))
        near = np.where(apart <= np.log(_NEAR), known["ratio"].to_numpy(), np.nan)
        ends = pd.DataFrame(near, alike.index).quantile([0, 0.5, 1], axis=1)
        bounds.loc[alike.index] = ends.T.to_numpy()
    return bounds


def judged(comparison: Comparison, thresholds: np.ndarray | float, origin: str = "") -> Comparison:
    """Return the comparison with verdicts. `thresholds`: one per case of both runs, or one for all;
    0.05 is 5% either way, NaN is none. `origin`: where they are from, in words."""
    cases = comparison.cases.assign(threshold=thresholds)
    cases = cases.assign(**_unchanged_ratios(cases))
    farther = 1 + cases["threshold"]
    below, above = np.fmin(1, cases["median"]) / farther, np.fmax(1, cases["median"]) * farther
    cases["faster_below"] = np.fmin(below, cases["least"])
    cases["slower_above"] = np.fmax(above, cases["most"])
    sure = cases["p_corrected"] < SIGNIFICANT
    cases["verdict"] = np.select(
        [
            cases["low"].isna() | (corrected(smallest_p(cases)) >= SIGNIFICANT),
            cases["threshold"].isna(),
            sure & (cases["low"] > cases["slower_above"]),
            sure & (cases["high"] < cases["faster_below"]),
        ],
        [TOO_FEW, NO_THRESHOLD, SLOWER, FASTER],
        NEITHER,
    )
    return comparison._replace(cases=cases, origin=origin)


def smallest_p(cases: pd.DataFrame) -> np.ndarray:
    """Return the least p that each case can have: that of the two-sided exact test where every
    sample of one run is above all of the other; 0 where means are compared."""
    least = 2 / comb(cases["count_a"] + cases["count_b"], cases["count_a"])
    return np.where(cases["by"] == MEANS, 0, np.minimum(1, least))
