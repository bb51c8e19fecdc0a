"""Two files of nvbench, or two of Google Benchmark, case by case: the statistics, verdicts and page that Scanlab's own results have.

Where both files have samples of a case, medians are compared. Where one has not, nothing is known of the median, and the means are
compared instead, by Welch's test; the page says of how many cases, and how to keep samples. A case whose file has no spread either is *too few*.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from scanlab_report.commands.compare.comparison import MEANS, NEITHER, ONLY_A, ONLY_B, Comparison, Refused, cases_without_a_time, wrong_in_b
from scanlab_report.console import count
from scanlab_report.layout.table_formats import code
from scanlab_report.read import noise
from scanlab_report.read.foreign import kinds
from scanlab_report.read.foreign.cases import MORE_SAMPLES, Case, Foreign, pooled, without_numbers
from scanlab_report.read.records import Complaint
from scanlab_report.read.variants import Variants
from scanlab_report.stats.intervals import FEWEST, ratio_intervals
from scanlab_report.stats.many_tests import corrected
from scanlab_report.stats.means import welch
from scanlab_report.stats.ranks import mann_whitney_p

CASE = ["benchmark", "case", "device"]
MEDIANS = "medians"
THRESHOLD = noise.DEFAULT
ORIGIN = ("a default: two runs of one program differ, too, and nobody has said by how much; time one program twice, "
          "compare the two, and give what they differ by as --threshold")  # fmt: skip


def read(a: Sequence[Path], b: Sequence[Path]) -> tuple[Foreign, Foreign] | None:
    """Both sides; None if they are Scanlab's own, and Refused if one is and another is not, or something is wrong with any."""
    files = [*a, *b]
    if not all(file.is_file() for file in files):
        return None  # which Scanlab's own reading says, too
    problems: list[Complaint] = []
    found = [kinds.read(file, problems) for file in files]
    if problems:
        raise Refused(*dict.fromkeys(map(str, problems)))
    first, *others = (of.kind if of else "Scanlab" for of in found)
    for file, kind in zip(files[1:], others, strict=True):
        if kind != first:
            raise Refused(f"{files[0]} is of {first} and {file} of {kind}: they time in different ways, so only files of one program are compared")
    foreign = without_numbers([of for of in found if of])
    return (pooled(foreign[: len(a)]), pooled(foreign[len(a) :])) if foreign else None


def paired(a: Foreign, b: Foreign) -> Comparison:
    """Ratios, intervals and p of every case that both sides have a time of, without thresholds and verdicts yet."""
    before, after = ({case.key: case for case in of.cases if not case.skipped} for of in (a, b))
    broken, untimed = _without_a_time(a, b)
    if not before.keys() & after.keys() and not broken:
        examples = [f"{side} has {next(iter(of.values())).name}" for side, of in (("A", before), ("B", after)) if of]
        reasons = " ".join(untimed).rstrip(".")
        raise Refused(f"{a.run.file} and {b.run.file} have no timed case in common{': ' * bool(examples)}{', '.join(examples)}" + (f". {reasons}" if reasons else ""))
    every = list({**before, **after})
    cases = pd.DataFrame([_row(before.get(key), after.get(key)) for key in every])
    by_medians = cases.index[cases["by"] == MEDIANS]
    keys = [every[place] for place in by_medians]
    ratios = ratio_intervals([after[key].samples for key in keys], [before[key].samples for key in keys])
    if keys:
        cases.loc[by_medians, ["ratio", "low", "high"]] = [(of.value, of.low, of.high) for of in ratios]
        cases.loc[by_medians, "p"] = [float(mann_whitney_p(before[key].samples, after[key].samples)) for key in keys]
    both = cases["verdict"] == NEITHER
    cases.loc[both, "p_corrected"] = corrected(cases.loc[both, "p"])
    cases["time_us"] = cases["launch_us"] = cases[["median_a_ns", "median_b_ns"]].min(axis=1) / 1e3
    return Comparison(a.run, b.run, a.kind, CASE, cases, Variants({}), remarks=(*_remarks(a, b, cases), *untimed), broken=broken)


def _row(a: Case | None, b: Case | None) -> dict[str, object]:
    """A case of either file; what follows from samples is NaN yet."""
    known = a or b
    assert known
    row: dict[str, object] = {
        "benchmark": known.benchmark, "case": known.label, "device": known.device,
        "column": known.clock, "on": "device" if known.clock == "GPU" else "host", "unchanged": False, "by": "",
        "verdict": ONLY_A if not b else ONLY_B if not a else NEITHER}  # fmt: skip
    medians = all(len(of.samples) for of in (a, b) if of)
    for side, of in (("a", a), ("b", b)):
        row[f"count_{side}"] = 0 if of is None else _judged(of)
        row[f"median_{side}_ns"] = 1e9 * (of.median if medians else of.mean) if of else np.nan
    row |= dict.fromkeys(("ratio", "low", "high", "p", "p_corrected"), np.nan)
    if a and b:
        row["by"] = MEDIANS if medians else MEANS
        if not medians:
            p, ratio = welch(a.mean, a.stdev, a.count, b.mean, b.stdev, b.count)
            row |= {"ratio": ratio.value, "low": ratio.low, "high": ratio.high, "p": p}
    return row


def _judged(of: Case) -> int:
    """The samples that a verdict can rest on: none where the file has a mean without its spread."""
    return of.count if len(of.samples) or np.isfinite(of.stdev) else 0


def _remarks(a: Foreign, b: Foreign, cases: pd.DataFrame) -> list[str]:
    """How runs were pooled, and what the files' samples do not allow to say, in sentences."""
    remarks = []
    more = MORE_SAMPLES[a.kind]
    if a.runs > 1 or b.runs > 1:
        remarks.append(f"A pools the samples of {count(a.runs, 'file')}, and B those of {count(b.runs, 'file')}.")
    if by_means := int((cases["by"] == MEANS).sum()):
        remarks.append(f"A file has no samples of {count(by_means, 'case')}, so nothing is known of their distribution or median: the verdict is of their means, "
                       f"by Welch's test, which one outlier can move; {more}.")  # fmt: skip
    elif ((cases["by"] == MEDIANS) & (cases[["count_a", "count_b"]].min(axis=1) < FEWEST)).any():
        remarks.append(f"For more samples: {more}.")
    return remarks


def _without_a_time(a: Foreign, b: Foreign) -> tuple[int, list[str]]:
    """How many cases that A has a time of failed in B, and what is to be said of cases without a time, in sentences."""
    timed = {case.key for case in a.cases if not case.skipped}
    broken = {case.key: case for case in b.cases if case.failed and case.key in timed}
    said = [wrong_in_b(len(broken), code(worst.name), worst.skipped) for worst in list(broken.values())[:1]]
    others = [{case.name: case.skipped for case in of.cases if case.skipped and (of is a or case.key not in broken)} for of in (a, b)]
    for sides, of in (("Both have", others[0]),) if others[0] == others[1] else (("A has", others[0]), ("B has", others[1])):
        if of:
            cases = count(len(of), "other case" if sides == "B has" and broken else "case")
            said.append(cases_without_a_time(f"{sides} {cases}", [f"{code(name)}: {reason.rstrip('.')}" for name, reason in of.items()]))
    return len(broken), said
