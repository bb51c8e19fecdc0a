"""Two files of nvbench, or two of Google Benchmark, case by case: the statistics, verdicts and page that Scanlab's own results have.

Where both files have samples of a case, medians are compared. Where one has not, nothing is known of the median, and the means are
compared instead, by Welch's test; the page says of how many cases, and how to keep samples. A case whose file has no spread either is *too few*.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from scanlab_report.commands.compare.comparison import MEANS, NEITHER, ONLY_A, ONLY_B, Comparison, Refused, cases_without_a_time, wrong_in_b
from scanlab_report.console import count
from scanlab_report.read import noise
from scanlab_report.read.foreign import kinds
from scanlab_report.read.foreign.cases import MORE_SAMPLES, Case, Foreign, without_numbers
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


def read(a: Path, b: Path) -> tuple[Foreign, Foreign] | None:
    """Both files; None if they are Scanlab's own, and Refused if one is and the other is not, or something is wrong with either."""
    for file in (a, b):
        if not file.is_file():
            return None  # which Scanlab's own reading says, too
    problems: list[Complaint] = []
    found = [kinds.read(file, problems) for file in (a, b)]
    if problems:
        raise Refused(*dict.fromkeys(map(str, problems)))
    kind_a, kind_b = (of.kind if of else "Scanlab" for of in found)
    if kind_a != kind_b:
        raise Refused(f"{a} is of {kind_a} and {b} of {kind_b}: they time in different ways, so only two files of one program are compared")
    return (found[0], found[1]) if found[0] and found[1] else None


def paired(a: Foreign, b: Foreign) -> Comparison:
    """Ratios, intervals and p of every case that both files have a time of, without thresholds and verdicts yet."""
    a, b = without_numbers((a, b))
    before, after = ({case.key: case for case in of.cases if not case.skipped} for of in (a, b))
    rows = [_row(key, before.get(key), after.get(key)) for key in {**before, **after}]
    broken, untimed = _without_a_time(a, b)
    if not before.keys() & after.keys():
        reasons = " ".join(untimed).replace("**", "").rstrip(".")
        raise Refused(f"{a.run.file} and {b.run.file} have no timed case in common" + (f". {reasons}" if reasons else ""))
    cases = pd.DataFrame(rows)
    by_medians = cases.index[cases["by"] == MEDIANS]
    keys = [tuple(key) for key in cases.loc[by_medians, CASE].to_numpy()]
    ratios = ratio_intervals([after[key].samples for key in keys], [before[key].samples for key in keys])
    if keys:
        cases.loc[by_medians, ["ratio", "low", "high"]] = [(of.value, of.low, of.high) for of in ratios]
        cases.loc[by_medians, "p"] = [float(mann_whitney_p(before[key].samples, after[key].samples)) for key in keys]
    both = cases["verdict"] == NEITHER
    cases.loc[both, "p_corrected"] = corrected(cases.loc[both, "p"])
    cases["time_us"] = cases["launch_us"] = cases[["median_a_ns", "median_b_ns"]].min(axis=1) / 1e3
    return Comparison(a.run, b.run, a.kind, CASE, cases, Variants({}), remarks=(*_remarks(a, cases), *untimed), broken=broken)


def _row(key: tuple[str, str, str], a: Case | None, b: Case | None) -> dict[str, object]:
    """A case of either file; what follows from samples is NaN yet."""
    known = a or b
    assert known
    row: dict[str, object] = dict(zip(CASE, key, strict=True)) | {
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


def _remarks(a: Foreign, cases: pd.DataFrame) -> list[str]:
    """What the files' samples do not allow to say, in sentences."""
    said = []
    more = MORE_SAMPLES[a.kind]
    if by_means := int((cases["by"] == MEANS).sum()):
        said.append(f"Of {count(by_means, 'case')} a file has no samples: nothing is known of their distribution or median, and the verdict is of their means, "
                    f"by Welch's test, which one outlier can move; {more}.")  # fmt: skip
    elif ((cases["by"] == MEDIANS) & (cases[["count_a", "count_b"]].min(axis=1) < FEWEST)).any():
        said.append(f"For more samples: {more}.")
    return said


def _without_a_time(a: Foreign, b: Foreign) -> tuple[int, list[str]]:
    """How many cases that A has a time of failed in B, and what is to be said of cases without a time, in sentences."""
    timed = {case.key for case in a.cases if not case.skipped}
    broken = {case.key: case for case in b.cases if case.failed and case.key in timed}
    said = [wrong_in_b(len(broken), worst.name, worst.skipped) for worst in list(broken.values())[:1]]
    others = [{case.name: case.skipped for case in of.cases if case.skipped and (of is a or case.key not in broken)} for of in (a, b)]
    for sides, of in (("Both have", others[0]),) if others[0] == others[1] else (("A has", others[0]), ("B has", others[1])):
        if of:
            cases = count(len(of), "other case" if sides == "B has" and broken else "case")
            said.append(cases_without_a_time(f"{sides} {cases}", [f"{name}: {reason.rstrip('.')}" for name, reason in of.items()]))
    return len(broken), said
