"""Two runs case by case: the ratio of medians with its interval, and a verdict where chance, noise and the machine are ruled out.

A case of run B is *slower* than in run A if all hold, and *faster* likewise:

* chance: the p of the Mann–Whitney test (ranks only, no assumption of a distribution; exact up to 100 repetitions), corrected for the number of
  cases by Benjamini and Hochberg, is under 0.05: of all that is called faster or slower, 5% at most are so by chance, on
  average. Holm's correction, which guards against a single error in thousands of cases, would find next to nothing with
  the handful of repetitions that a sweep affords. If nothing differs, both promise the same.
* noise: the 95% interval of the ratio lies wholly beyond the threshold, which says how far runs of the same code lie apart
  (:mod:`scanlab_report.read.noise`).
* the machine: where code that is the same in both runs, timed likewise and about as long a launch, took longer or shorter in B
  (:mod:`scanlab_report.commands.compare.machine`), the threshold counts from 1 or from the median of its ratios, whichever is farther, and nothing within
  their range is slower or faster. So a machine that got faster may hide code that got slower: time both on one machine.

A case of which no outcome of the repetitions could have been significant is *too few*; one whose like was never timed twice with
one code, so that nobody knows how far such runs lie apart, has *no threshold*, and is neither called slower nor said not to be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path

import numpy as np
import pandas as pd

from scanlab_report.commands.compare import machine
from scanlab_report.console import count
from scanlab_report.layout.table_formats import plain
from scanlab_report.read import records, results, streams
from scanlab_report.read.records import CASE, REPEATED, SCANS, Complaint, Run
from scanlab_report.read.variants import Variants
from scanlab_report.select import drift
from scanlab_report.select.variants import HOST
from scanlab_report.stats.intervals import FEWEST, SIGNIFICANT, medians, ratio_intervals, repetitions
from scanlab_report.stats.many_tests import corrected
from scanlab_report.stats.ranks import mann_whitney_p

SLOWER, FASTER, NEITHER, TOO_FEW, NO_THRESHOLD = "slower", "faster", "neither", "too few", "no threshold"
ONLY_A, ONLY_B = "only in A", "only in B"
VERDICTS = (SLOWER, FASTER, NEITHER, TOO_FEW, NO_THRESHOLD, ONLY_A, ONLY_B)

_TIMED = {SCANS: ["cache", "launch"], streams.SCHEDULES: ["entry"], streams.STREAM_SCAN: ["way"]}
"""Of each kind of file the columns that say how a case is timed, which together are its ``column``; of scans on the host it is ``host``."""

MEANS = "means"
_NAMED = 3
"""Reasons that are named."""
_MANY = 500
"""Repetitions of which the smallest p is as good as none: of more of them the binomial coefficient takes long, and says no more."""


class Refused(ValueError):
    """Files that cannot be compared; ``args`` are the sentences that say why."""


@dataclass(frozen=True)
class Measured:
    """One results file: where it is from, and one row a case with its ``samples`` in nanoseconds and its ``launches``."""

    run: Run
    kind: str
    cases: pd.DataFrame
    throttling: str = ""
    """What the clocks say of it, in a sentence; empty if they were not lowered, or not read."""
    untimed: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=[*CASE, "reason", "failed"]))
    """Of scans, one row a case without a time."""


def read(file: Path) -> Measured:
    """Reads a results file that holds repeated timings; anything wrong with it is a reason to refuse it."""
    if not file.is_file():
        raise Refused(f"{file}: {'is a folder; name one results file in it' if file.is_dir() else 'no such file'}")
    found = results.read([file], [])
    if found.problems:
        raise Refused(*map(str, found.problems))
    timed = records.repeated(found) or [records.Repeated(run, SCANS, found.timings) for run in found.runs if len(found.skipped)]  # nothing but failures
    if len(found.runs) + len(found.streams) != 1 or not timed:
        raise Refused(str(Complaint(file, "", "holds no repeated timings (of scanlab bench, streams run or stream-scan)")))
    (of,) = timed
    if lacking := [key for key in ("date", "git_commit") if not of.run.context.get(key)]:
        raise Refused(*(str(Complaint(file, f"context.{key}", "is missing: what is compared says where it is from")) for key in lacking))
    cases = repetitions(of.timings, REPEATED[of.kind])
    known = found.kernels[[*CASE, "launches"]] if of.kind == SCANS else cases[REPEATED[of.kind]].assign(launches=1)
    cases = cases.merge(known.fillna({"launches": 1}), how="left", on=REPEATED[of.kind])  # no kernels: a copy, or code of the host
    return Measured(of.run, of.kind, cases, drift.throttling(of), found.skipped)


@dataclass(frozen=True)
class Comparison:
    """Two runs, and one row a case of either.

    Columns: those that name the case, ``column`` (how it is timed), ``on`` (device or host), ``time_us`` (the shorter of the two
    medians; of the only one where there is one), ``launch_us`` (the same, of one launch), ``unchanged`` (code that is the same in
    both), ``count_a``, ``count_b``, ``median_a_ns``, ``median_b_ns``, ``ratio`` (time of B over time of A) with ``low`` and ``high``,
    ``p``, ``p_corrected``, ``threshold``, ``least``, ``median`` and ``most`` (the ratios of unchanged code beside it),
    ``faster_below`` and ``slower_above`` (what follows for the ratio), and ``verdict``.
    """

    a: Run
    b: Run
    kind: str
    case: list[str]
    cases: pd.DataFrame
    about: Variants
    throttling: tuple[str, ...] = ()
    """What is to be said of clocks that were lowered, in sentences."""
    origin: str = ""
    """Where the thresholds are from, in words."""
    remarks: tuple[str, ...] = ()
    """What else is to be said of the files, in sentences."""
    broken: int = 0
    """Cases that A has a time of, and that failed in B: wrong results, or an error."""

    def of(self, verdict: str) -> pd.DataFrame:
        """The cases with a verdict, the largest change first."""
        rows = self.cases[self.cases["verdict"] == verdict]
        return rows.loc[np.abs(np.log(rows["ratio"])).sort_values(ascending=False, kind="stable").index]

    @property
    def both(self) -> pd.DataFrame:
        """The cases of both runs."""
        return self.cases[~self.cases["verdict"].isin((ONLY_A, ONLY_B))]

    @property
    def moved(self) -> pd.DataFrame:
        """The cases of unchanged code that chance and noise alone do not explain: what they did is the machine's doing."""
        of = self.both[self.both["unchanged"] & (self.both["p_corrected"] < SIGNIFICANT)]
        return of[(of["low"] > 1 + of["threshold"]) | (of["high"] < 1 / (1 + of["threshold"]))]

    def lone(self) -> tuple[float, int]:
        """What is the corrected p of a single case that differs as clearly as can be, and how many must differ at once."""
        both = self.both
        if both.empty or not _by_ranks(both).all():  # means tell a single case from chance
            return 0.0, 0
        least = min(smallest_p(a, b) for a, b in set(zip(both["count_a"], both["count_b"], strict=True)))
        return min(1.0, least * len(both)), math.floor(least * len(both) / SIGNIFICANT) + 1


def paired(a: Measured, b: Measured) -> Comparison:
    """Ratios, intervals and p of every case, without thresholds and verdicts yet."""
    if a.kind != b.kind:
        raise Refused(f"{a.run.file} holds {a.kind} and {b.run.file} {b.kind}: they have no case in common")
    case, timed, about = REPEATED[a.kind], _TIMED[a.kind], Variants({**a.run.variants, **b.run.variants})
    cases = a.cases.merge(b.cases, how="outer", on=case, suffixes=("_a", "_b"), indicator=True)
    both = cases["_merge"] == "both"
    broken, remarks = _without_a_time(a, b)
    if not both.any() and not broken:
        raise Refused(f"{a.run.file} and {b.run.file} have no case in common")
    for side in ("a", "b"):
        known = cases.loc[cases[f"samples_{side}"].notna(), f"samples_{side}"]
        cases[f"count_{side}"] = known.map(len).reindex(cases.index, fill_value=0)
        cases[f"median_{side}_ns"] = pd.Series(medians(known), index=known.index)
    cases[["ratio", "low", "high", "p", "p_corrected"]] = np.nan
    ratios = ratio_intervals(cases.loc[both, "samples_b"], cases.loc[both, "samples_a"])
    cases.loc[both, ["ratio", "low", "high"]] = np.array([(of.value, of.low, of.high) for of in ratios]).reshape(-1, 3)
    for _, of in cases[both].groupby(["count_a", "count_b"]):
        cases.loc[of.index, "p"] = mann_whitney_p(np.stack(of["samples_a"].to_list()), np.stack(of["samples_b"].to_list()))
    cases.loc[both, "p_corrected"] = corrected(cases.loc[both, "p"])
    cases["on"] = "host" if a.run.kind == "host" else "device"
    if "variant" in cases:
        cases.loc[cases["variant"].isin(about.ids(HOST)), "on"] = "host"
    if a.kind == streams.STREAM_SCAN:  # what reads, writes and copies is the processor, unless copies of pinned memory are all there is
        pinned = cases["way"].isin(("streamed", "duplex_copy")) & (cases["from"] == "memory") & (cases["to"] == "memory")
        cases.loc[~pinned, "on"] = "host"
    cases["time_us"] = cases[["median_a_ns", "median_b_ns"]].min(axis=1) / 1e3
    each = [cases[f"median_{side}_ns"] / cases[f"launches_{side}"] for side in ("a", "b")]
    cases["launch_us"] = pd.concat(each, axis=1).min(axis=1) / 1e3
    cases["unchanged"] = machine.unchanged(a.run, b.run, about, cases["variant"]) if "variant" in cases else False
    cases["column"] = reduce(lambda said, more: said + " " + more, (cases[name].astype(str) for name in timed))
    if a.kind == SCANS:  # the host launches nothing
        cases.loc[cases["on"] == "host", "column"] = "host"
    cases["verdict"] = np.select([cases["_merge"] == "left_only", cases["_merge"] == "right_only"], [ONLY_A, ONLY_B], NEITHER)
    throttling = tuple(f"{side}: {of.throttling}" for side, of in (("A", a), ("B", b)) if of.throttling)
    return Comparison(a.run, b.run, a.kind, case, cases.drop(columns=["_merge", *(f"{what}_{side}" for what in ("samples", "launches") for side in "ab")]), about, throttling,
                      remarks=remarks, broken=broken)  # fmt: skip


def _without_a_time(a: Measured, b: Measured) -> tuple[int, tuple[str, ...]]:
    """How many scans that A has a time of failed in B, and what is to be said of scans without a time, in sentences."""
    if a.kind != SCANS:
        return 0, ()
    said = []
    both = b.untimed.merge(a.cases[CASE], on=CASE)
    broken = both[both["failed"].astype(bool)]
    if len(broken):
        worst = broken.iloc[0]
        said.append(wrong_in_b(len(broken), f"{worst['variant']} of {worst['items']} items", worst["reason"]))
    for side, of in (("A", a.untimed), ("B", b.untimed.merge(broken[CASE], how="left", on=CASE, indicator=True).query("_merge == 'left_only'"))):
        if len(of):
            cases = count(len(of), "other case" if side == "B" and len(broken) else "case")
            said.append(cases_without_a_time(f"{side} has {cases}", list(dict.fromkeys(of["reason"]))))
    return len(broken), tuple(said)


def wrong_in_b(cases: int, such_as: str, why: str) -> str:
    """One sentence on what A has a time of, and B an error."""
    return f"**Wrong in B**: {count(cases, 'case')} that A has a time of failed in B, such as {plain(such_as + ': ' + why.rstrip('.'))}."


def cases_without_a_time(sides_have: str, why: list[str]) -> str:
    """One sentence: ``A has 5 cases``, and the first reasons why they have no time."""
    return f"{sides_have} without a time ({plain('; '.join(why[:_NAMED]))}{'; …' if len(why) > _NAMED else ''})."


def judged(comparison: Comparison, thresholds: np.ndarray | float, origin: str = "") -> Comparison:
    """The verdicts, with a threshold for each case of both runs, or one for all: 0.05 is 5% either way; NaN: none.

    ``origin``: where the thresholds are from, in words.
    """
    beside = machine.beside(comparison.both)
    of = comparison.both.assign(
        threshold=thresholds, **beside,
        faster_below=lambda of: np.minimum(np.fmin(1, of["median"]) / (1 + of["threshold"]), of["least"].fillna(np.inf)),
        slower_above=lambda of: np.maximum(np.fmax(1, of["median"]) * (1 + of["threshold"]), of["most"].fillna(0)),
    )  # fmt: skip
    least = np.where(_by_ranks(of), [smallest_p(a, b) for a, b in zip(of["count_a"], of["count_b"], strict=True)], 0.0)
    silent = (corrected(least) >= SIGNIFICANT) | (of[["count_a", "count_b"]].min(axis=1) < FEWEST)
    sure = of["p_corrected"] < SIGNIFICANT
    slower, faster = sure & (of["low"] > of["slower_above"]), sure & (of["high"] < of["faster_below"])
    of["verdict"] = np.select([silent, of["threshold"].isna(), slower, faster], [TOO_FEW, NO_THRESHOLD, SLOWER, FASTER], NEITHER)
    cases = comparison.cases.reindex(columns=of.columns)
    cases.loc[of.index] = of
    return replace(comparison, cases=cases, origin=origin)


def _by_ranks(cases: pd.DataFrame) -> np.ndarray:
    """Which cases are judged by the ranks of their samples: all but those of which a file has means alone."""
    return (cases["by"] != MEANS).to_numpy() if "by" in cases else np.ones(len(cases), dtype=bool)


def smallest_p(count_a: int, count_b: int) -> float:
    """The p of the two-sided exact test where every repetition of one run is above every one of the other."""
    a, b = min(int(count_a), _MANY), min(int(count_b), _MANY)
    return min(1.0, 2 / math.comb(a + b, a))
