"""What schedules, stream-scan and the collection of activity should reach, and whether they do: every figure is computed."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.figures.stream_scan import fastest, size_name
from analysis.statistics import Interval, median_interval, ratio_interval
from analysis.streams_evidence import DUPLEX, NAIVE, STREAMED, ScanEvidence, ScheduleEvidence, TraceEvidence
from analysis.targets import MISSING, Target

GIB = 1 << 30
LARGE_SCAN = 16 * GIB
LARGE_BUDGET = 2 * GIB


def targets(schedules: ScheduleEvidence | None, scans: ScanEvidence | None, traces: TraceEvidence | None) -> list[Target]:
    """Every target in order; what there is no evidence of is neither reached nor missed."""
    return [
        _schedule(schedules, "scale", "array of 1 GiB", 1.05),
        _schedule(schedules, "vector_add", "largest timed", 1.10),
        _of_duplex(scans),
        _of_naive(scans),
        _collection(traces),
    ]


def over_bound(case) -> Interval:
    """A schedule's time over fill plus the longest part, with the copy rates while both directions run."""
    interval = median_interval(case.samples)
    bound = 1e9 * case.duplex.overlapped(case.chunks)
    return Interval(interval.value / bound, interval.low / bound, interval.high / bound, interval.count)


def best_schedule(schedules: ScheduleEvidence, workload: str) -> object | None:
    """The fastest case in pinned memory of a workload at its largest size, with the least work a chunk; None if there is none."""
    rows = schedules.cases
    rows = rows[(rows["workload"] == workload) & (rows["memory"] == "pinned") & rows["duplex"].notna()]
    for column, take in (("items", max), ("work", min)):
        rows = rows[rows[column] == take(rows[column], default=0)]
    return None if rows.empty else next(rows.loc[[rows["median_ns"].idxmin()]].itertuples())


def _schedule(schedules: ScheduleEvidence | None, workload: str, size: str, bound: float) -> Target:
    what, measure, wanted = f"best schedule, {workload}, {size}", "of fill + max, duplex", f"≤ {bound:.2f}"
    case = best_schedule(schedules, workload) if schedules else None
    if case is None or (workload == "scale" and case.bytes / (case.inputs + 1) < GIB):
        return Target(what, measure, wanted, None, MISSING, 0, 0)
    value = over_bound(case)
    return Target(what, measure, wanted, value, f"{case.id}, {case.chunks} chunks", int(value.value <= bound), 1)


def _of_duplex(scans: ScanEvidence | None) -> Target:
    what, measure, wanted = "stream-scan, 16 GiB, budget 2 GiB, pinned memory", "of copies both ways", "≥ 0.95"
    rows = scans.cases if scans else pd.DataFrame(columns=["bytes", "budget", "to", "from", "way"])
    rows = rows[(rows["bytes"] == LARGE_SCAN) & (rows["budget"] == LARGE_BUDGET) & (rows["to"] == "memory") & (rows["from"] == "memory")]
    pair = [rows[rows["way"] == way] for way in (DUPLEX, STREAMED)]
    if any(of.empty for of in pair):
        return Target(what, measure, wanted, None, MISSING, 0, 0)
    copy, scan = (of.loc[of["median_ns"].idxmin()] for of in pair)
    value = ratio_interval(copy["samples"], scan["samples"])
    return Target(what, measure, wanted, value, f"{scan['chunks']} chunks", int(value.value >= 0.95), 1)


def of_file(scans: ScanEvidence | None, way: str) -> tuple[Interval, str] | None:
    """How many times as fast as ``way`` the scan from file to file is, at the largest size that has both; and where.

    Each by the way to write that is the faster for it.
    """
    rows = fastest(scans.cases) if scans else pd.DataFrame(columns=["bytes", "to", "from", "way"])
    rows = rows[(rows["from"] == "file") & (rows["to"] == "file")]
    for size, of in sorted(rows.groupby("bytes"), reverse=True, key=lambda group: group[0]):
        pair = [of[of["way"] == each] for each in (way, STREAMED)]
        if not any(side.empty for side in pair):
            other, scan = (side.loc[side["median_ns"].idxmin()] for side in pair)
            return ratio_interval(other["samples"], scan["samples"]), f"{size_name(size)}, by {scan['place']}"
    return None


def _of_naive(scans: ScanEvidence | None) -> Target:
    what, measure, wanted = "stream-scan, from and to a file, page-cached", "× naive", "≥ 3"
    found = of_file(scans, NAIVE)
    if found is None:
        return Target(what, measure, wanted, None, MISSING, 0, 0)
    value, where = found
    return Target(what, measure, wanted, value, where, int(value.value >= 3), 1)


def _collection(traces: TraceEvidence | None) -> Target:
    what, measure, wanted = "collecting activity records", "change of makespan, %", "within 5"
    known = [(float(t.about["collection_percent"]), t.title) for t in traces.traces if "collection_percent" in t.about] if traces else []
    if not known:
        return Target(what, measure, wanted, None, MISSING, 0, 0)
    value, where = max(known, key=lambda pair: abs(pair[0]))
    return Target(what, measure, wanted, Interval(value, np.nan, np.nan, 1), where, int(abs(value) < 5), 1)
