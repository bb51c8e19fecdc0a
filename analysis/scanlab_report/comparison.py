"""Two runs case by case: ratios of medians with intervals, and verdicts.

A case is *slower* in B than in A if all of these hold, and *faster* if they hold the other way:

* chance: the p of the Mann-Whitney test (ranks only; exact up to 100 samples), corrected for the
  number of cases by Benjamini and Hochberg, is under 0.05: of all that is called faster or slower,
  5% at most are so by chance, on average. Holm's correction, which guards against a single error in
  thousands of cases, would find next to nothing with the few samples that a sweep affords.
* noise: the 95% interval of the ratio lies wholly beyond the threshold, which states how far runs
  of the same code lie apart (`noise`).
* the machine: where code that is the same in both runs, timed the same way and about as long a
  launch, took longer or shorter in B, the threshold counts from 1 or from the median of its ratios,
  whichever is farther, and nothing within their range is slower or faster. Two hosts of one GPU
  launch kernels at different rates, and provenance need not show it: in a cloud all have one name.
  So a machine that got faster may hide code that got slower: time both on one machine.

A case of which no outcome of the samples could have been significant is *too few*; one whose like
was never timed twice with one code has *no threshold*. Where a file of another program has no
samples of a case, means are compared by Welch's test; without their spread they are *too few*.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pandas as pd

from scanlab_report import others
from scanlab_report.comparison_sides import Refused, Side, case_name
from scanlab_report.console import count
from scanlab_report.data import File, Variants
from scanlab_report.formats import plain
from scanlab_report.groups import CEILING, CUBS, HOST, THRUST, VENDOR, Wanted
from scanlab_report.intervals import (
    FEWEST,
    SIGNIFICANT,
    corrected,
    mann_whitney_p,
    ratio_intervals,
    welch,
)
from scanlab_report.pick import parts

SLOWER, FASTER, NEITHER, TOO_FEW = "slower", "faster", "neither", "too few"
NO_THRESHOLD, ONLY_A, ONLY_B = "no threshold", "only in A", "only in B"
VERDICTS = (SLOWER, FASTER, NEITHER, TOO_FEW, NO_THRESHOLD, ONLY_A, ONLY_B)
MEDIANS, MEANS = "medians", "means"
_CUDA = ("device", "driver", "toolkit")
_SAME: dict[Wanted, tuple[str, ...]] = {
    CEILING: _CUDA,
    CUBS: (*_CUDA, "cccl_newest"),
    VENDOR: (*_CUDA, "cccl"),
    THRUST: (*_CUDA, "cccl"),
    HOST: ("cpu", "compiler", "tbb"),
}
"""Baselines that are not Scanlab's own code, and the fields that must agree in two runs for their
code to be the same. Later entries take precedence."""
_NEAR = 1.25
"""Times per launch within this factor of each other count as about as long."""
_NAMED = 3
"""At most this many reasons are named."""
_MANY = 500
"""Counts of samples above this are capped: the smallest p is negligible there, and the binomial
takes long."""


class Comparison(NamedTuple):
    """Two runs, and one row per case of either.

    Columns: those that name the case, `column` (how it is timed), `on` (device or host), `time_us`
    (the shorter of the two medians), `launch_us` (the same, of one launch), `unchanged` (code that
    is the same in both), `count_a`, `count_b`, `median_a_ns`, `median_b_ns`, `by` (medians or
    means), `ratio` (time of B over time of A) with `low` and `high`, `p`, `p_corrected`,
    `threshold`, `least`, `median` and `most` (the ratios of unchanged code beside it),
    `faster_below` and `slower_above` (the bounds that follow), and `verdict`.
    """

    a: File
    b: File
    kind: str
    case: list[str]
    cases: pd.DataFrame
    about: Variants
    remarks: tuple[str, ...] = ()
    """Sentences on pooled files, and on cases without a time."""
    broken: int = 0
    """Number of cases with a time in A that failed in B: wrong results, or an error."""
    origin: str = ""
    """Where the thresholds are from, in words."""

    @property
    def both(self) -> pd.DataFrame:
        return self.cases[~self.cases["verdict"].isin((ONLY_A, ONLY_B))]

    def with_verdict(self, *verdicts: str) -> pd.DataFrame:
        """The cases with one of the verdicts in turn, the largest change first."""
        rows = self.cases[self.cases["verdict"].isin(verdicts)]
        change = np.abs(np.log(rows["ratio"].astype(float)))
        rows = rows.loc[change.sort_values(ascending=False, kind="stable").index]
        return rows.sort_values("verdict", key=lambda v: v.map(verdicts.index), kind="stable")


def paired(a: Side, b: Side) -> Comparison:
    """Ratios, intervals and p of every case, without thresholds and verdicts yet."""
    if a.kind != b.kind:
        raise Refused(
            f"{a.file.path} holds {a.kind} and {b.file.path} {b.kind}: they have no case in common"
        )
    left, right = (side.cases.assign(place=range(len(side.cases))) for side in (a, b))
    cases = left.merge(right, how="outer", on=a.key, suffixes=("_a", "_b"))
    cases = cases.sort_values(["place_a", "place_b"], ignore_index=True)
    only_a, only_b = cases["place_b"].isna(), cases["place_a"].isna()
    both = ~only_a & ~only_b
    about = Variants({**a.file.variants, **b.file.variants})
    broken, remarks = _without_a_time(a, b)
    if not both.any() and not broken:
        raise Refused(_nothing_common(a, b, remarks))
    sampled = cases[["sampled_a", "sampled_b"]].ne(False).all(axis=1)
    either = lambda name: cases[f"{name}_a"].fillna(cases[f"{name}_b"])
    made = pd.DataFrame({name: cases[name] if name in a.key else either(name) for name in a.case})
    made["verdict"] = np.select([only_a, only_b], [ONLY_A, ONLY_B], NEITHER)
    for side in ("a", "b"):  # a verdict can rest on no mean without its spread
        known = sampled | np.isfinite(cases[f"stdev_ns_{side}"].astype(float))
        made[f"median_{side}_ns"] = cases[f"median_ns_{side}"].where(
            sampled, cases[f"mean_ns_{side}"]
        )
        made[f"count_{side}"] = cases[f"count_{side}"].where(known, 0).fillna(0).astype(int)
    made[["ratio", "low", "high", "p", "p_corrected"]] = np.nan
    timed = cases[both & sampled]
    ratios = parts(ratio_intervals(list(timed["samples_b"]), list(timed["samples_a"])))
    made.loc[timed.index, list(ratios)] = pd.DataFrame(ratios, index=timed.index)
    for _, alike in timed.groupby(["count_a", "count_b"]):
        stacked = (np.stack(alike[f"samples_{side}"].to_list()) for side in "ab")
        made.loc[alike.index, "p"] = mann_whitney_p(*stacked)
    stated = [f"{name}_{side}" for side in "ab" for name in ("mean_ns", "stdev_ns", "count")]
    for place, row in cases.loc[both & ~sampled, stated].iterrows():
        p, ratio = welch(*row)
        made.loc[place, ["ratio", "low", "high", "p"]] = ratio.value, ratio.low, ratio.high, p
    made.loc[both, "p_corrected"] = corrected(made.loc[both, "p"])
    made["by"] = np.where(both, np.where(sampled, MEDIANS, MEANS), "")
    made["on"], made["column"] = either("on"), either("column")
    medians = made[["median_a_ns", "median_b_ns"]]
    launches = cases[["launches_a", "launches_b"]].fillna(1).to_numpy()
    made["time_us"] = medians.min(axis=1) / 1e3
    made["launch_us"] = (medians / launches).min(axis=1) / 1e3
    unchanged = _unchanged(a.file, b.file, about)
    made["unchanged"] = made["variant"].isin(unchanged) if "variant" in made else False
    remarks = [*_on_samples(a, b, made), *remarks]
    return Comparison(a.file, b.file, a.kind, a.case, made, about, tuple(remarks), broken)


def _nothing_common(a: Side, b: Side, remarks: list[str]) -> str:
    both = f"{a.file.path} and {b.file.path} have no"
    if a.kind not in others.MORE_SAMPLES:
        return f"{both} case in common"
    examples = ", ".join(
        f"{name} has {case_name(*side.cases[side.case].iloc[0])}"
        for name, side in (("A", a), ("B", b))
        if len(side.cases)
    )
    reasons = " ".join(remarks).rstrip(".")
    named = f"{both} timed case in common" + f": {examples}" * bool(examples)
    return named + f". {reasons}" * bool(reasons)


def _on_samples(a: Side, b: Side, cases: pd.DataFrame) -> list[str]:
    """Return sentences on how runs were pooled, and on what the samples cannot show."""
    remarks, more = [], others.MORE_SAMPLES.get(a.kind)
    if a.runs > 1 or b.runs > 1:
        runs = [count(side.runs, "file") for side in (a, b)]
        remarks.append(f"A pools the samples of {runs[0]}, and B those of {runs[1]}.")
    few = cases[["count_a", "count_b"]].min(axis=1) < FEWEST
    if by_means := int((cases["by"] == MEANS).sum()):
        remarks.append(
            f"A file has no samples of {count(by_means, 'case')}, so nothing is known of their "
            "distribution or median: the verdict is of their means, by Welch's test, which one "
            f"outlier can move; {more}."
        )
    elif more and ((cases["by"] == MEDIANS) & few).any():
        remarks.append(f"For more samples: {more}.")
    return remarks


def _without_a_time(a: Side, b: Side) -> tuple[int, list[str]]:
    """Count the cases that have a time in A and failed in B. Return the count, and sentences on
    cases without a time."""
    untimed = b.untimed.merge(a.cases[a.key], how="left", on=a.key, indicator="timed")
    wrong = (untimed["timed"] == "both") & untimed["failed"].astype(bool)
    remarks, broken, rest = [], untimed[wrong], untimed[~wrong]
    if len(broken):
        worst = broken.iloc[0]
        such_as = plain(f"{worst['name']}: {str(worst['reason']).rstrip('.')}")
        remarks.append(
            f"**Wrong in B**: {count(len(broken), 'case')} that A has a time of failed in "
            f"B, such as {such_as}."
        )
    named = [sorted(zip(rows["name"], rows["why"], strict=True)) for rows in (a.untimed, rest)]
    missing = [("A has", a.untimed, "case")]
    missing += [("B has", rest, "other case" if len(broken) else "case")]
    if named[0] == named[1]:
        missing = [("Both have", a.untimed, "case")]
    for whose, rows, what in missing:
        if len(rows):
            why = list(dict.fromkeys(rows["why"]))
            reasons = plain("; ".join(why[:_NAMED])) + "; …" * (len(why) > _NAMED)
            remarks.append(f"{whose} {count(len(rows), what)} without a time ({reasons}).")
    return len(broken), remarks


def _unchanged(a: File, b: File, about: Variants) -> list[str]:
    """Return the variants whose code is surely the same in both runs; for those of the host, the
    processor as well. A field that neither file states does not count as the same."""
    keys_of = {variant: keys for wanted, keys in _SAME.items() for variant in about.ids(wanted)}
    return [
        variant
        for variant, keys in keys_of.items()
        if all(key in a.context and a.context[key] == b.context.get(key) for key in keys)
    ]


def unchanged_ratios(cases: pd.DataFrame) -> pd.DataFrame:
    """Return the `least`, `median` and `most` ratio of comparable unchanged code for each case; NaN
    if there is none.

    Comparable code is timed in the same way and takes about as long per launch. A scan of ten
    launches of 3 µs each waits for the host as an empty kernel does; a single launch of 30 µs does
    not.
    """
    bounds = np.full((len(cases), 3), np.nan)
    for places in cases.groupby(["on", "column"]).indices.values():
        alike = cases.iloc[places]
        known = alike[alike["unchanged"]].sort_values("launch_us")
        ratios = known["ratio"].to_numpy()
        starts = np.searchsorted(known["launch_us"], alike["launch_us"] / _NEAR)
        ends = np.searchsorted(known["launch_us"], alike["launch_us"] * _NEAR, side="right")
        for place, start, end in zip(places, starts, ends, strict=True):
            if start < end:
                near = ratios[start:end]
                bounds[place] = near.min(), np.median(near), near.max()
    return pd.DataFrame(bounds, columns=["least", "median", "most"], index=cases.index)


def judged(comparison: Comparison, thresholds: np.ndarray | float, origin: str = "") -> Comparison:
    """Return the comparison with verdicts. `thresholds`: one per case of both runs, or a single
    value for all; 0.05 is 5% either way, NaN is none. `origin`: where the thresholds are from, in
    words."""
    both = comparison.both
    both = both.assign(threshold=thresholds, **unchanged_ratios(both))
    farther = 1 + both["threshold"]
    faster_below = np.minimum(np.fmin(1, both["median"]) / farther, both["least"].fillna(np.inf))
    slower_above = np.maximum(np.fmax(1, both["median"]) * farther, both["most"].fillna(0))
    least = _smallest_p(both)
    silent = (corrected(least) >= SIGNIFICANT) | (both[["count_a", "count_b"]].min(axis=1) < FEWEST)
    sure = both["p_corrected"] < SIGNIFICANT
    slower, faster = sure & (both["low"] > slower_above), sure & (both["high"] < faster_below)
    verdict = np.select(
        [silent, both["threshold"].isna(), slower, faster],
        [TOO_FEW, NO_THRESHOLD, SLOWER, FASTER],
        NEITHER,
    )
    both = both.assign(faster_below=faster_below, slower_above=slower_above, verdict=verdict)
    cases = comparison.cases.reindex(columns=both.columns)
    cases.loc[both.index] = both
    return comparison._replace(cases=cases, origin=origin)


def moved(comparison: Comparison) -> pd.DataFrame:
    """Return the cases of unchanged code whose change chance and noise alone do not explain: the
    machine caused it."""
    both = comparison.both
    rows = both[both["unchanged"].astype(bool) & (both["p_corrected"] < SIGNIFICANT)]
    return rows[
        (rows["low"] > 1 + rows["threshold"]) | (rows["high"] < 1 / (1 + rows["threshold"]))
    ]


def lone(comparison: Comparison) -> tuple[float, int]:
    """Return the corrected p of a single case that differs as clearly as possible, and how many
    such cases must differ at once. A comparison by means tells a single case from chance."""
    both = comparison.both
    if both.empty:
        return 0.0, 0
    all_told = float(_smallest_p(both).min()) * len(both)
    return min(1.0, all_told), math.floor(all_told / SIGNIFICANT) + 1


def _smallest_p(cases: pd.DataFrame) -> np.ndarray:
    """Return the least p that each case can have; 0 where means are compared."""
    counts = zip(cases["count_a"], cases["count_b"], cases["by"] == MEANS, strict=True)
    return np.array([0.0 if by_means else smallest_p(a, b) for a, b, by_means in counts])


def smallest_p(count_a: int, count_b: int) -> float:
    """The p of the two-sided exact test where every sample of one run is above all of the other."""
    a, b = min(int(count_a), _MANY), min(int(count_b), _MANY)
    return min(1.0, 2 / math.comb(a + b, a))
