"""What schedules, stream-scan and the collection of activity should reach, and whether they do: bounds are in ``paper/claims.toml``."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from scanlab_report.claims import claims
from scanlab_report.claims.claims import Claim
from scanlab_report.claims.targets import Bound, Target, unknown
from scanlab_report.derive.schedules import array_bytes, best_schedule, over_bound
from scanlab_report.derive.sizes import size_name
from scanlab_report.derive.stream_scans import of_file
from scanlab_report.select.streams_evidence import DUPLEX, FILES, NAIVE, STREAMED, ScanEvidence, ScheduleEvidence, TraceEvidence
from scanlab_report.stats.intervals import Interval, ratio_interval

GIB = 1 << 30
LARGE_SCAN = 16 * GIB
LARGE_BUDGET = 2 * GIB


def targets(schedules: ScheduleEvidence | None, scans: ScanEvidence | None, traces: TraceEvidence | None) -> list[Target]:
    """Every target of the stream laboratory, as ``paper/claims.toml`` has them; what there is no evidence of is neither reached nor missed."""
    return [target(claim, schedules, scans, traces) for claim in claims.own(claims.OF_STREAMS)]


def target(claim: Claim, schedules: ScheduleEvidence | None, scans: ScanEvidence | None, traces: TraceEvidence | None) -> Target:
    """How one of them stands."""
    if claim.measure == "schedule":
        return _schedule(claim, schedules)
    if claim.measure == "collection":
        return _collection(claim, traces)
    return {"duplex": _of_duplex, "naive": _of_naive}[claim.measure](claim, scans)


def _schedule(claim: Claim, schedules: ScheduleEvidence | None) -> Target:
    measure = "of pipeline estimate"
    case = best_schedule(schedules, claim.workload) if schedules else None
    if case is None or array_bytes(case) < claim.least_gib * GIB:
        return unknown(claim, measure)
    return _found(claim, measure, over_bound(case), f"{case.id}, {case.chunks} chunks; arrays of {size_name(array_bytes(case))}")


def _found(claim: Claim, measure: str, value: Interval, where: str) -> Target:
    return Target(claim.statement, measure, claim.wanted, value, where, int(claim.meets(abs(value.value))), 1, sure=claim.sure([value]))


def _of_duplex(claim: Claim, scans: ScanEvidence | None) -> Target:
    measure = "of copies both ways"
    rows = scans.cases if scans else pd.DataFrame(columns=["bytes", "budget", "to", "from", "way"])
    rows = rows[(rows["bytes"] == LARGE_SCAN) & (rows["budget"] == LARGE_BUDGET) & (rows["to"] == "memory") & (rows["from"] == "memory")]
    pair = [rows[rows["way"] == way] for way in (DUPLEX, STREAMED)]
    if any(of.empty for of in pair):
        return unknown(claim, measure)
    copy, scan = (of.loc[of["median_ns"].idxmin()] for of in pair)
    return _found(claim, measure, ratio_interval(copy["samples"], scan["samples"]), f"{scan['chunks']} chunks")


def _of_naive(claim: Claim, scans: ScanEvidence | None) -> Target:
    """At 16 GiB, in the session that gains least: hosts differ. Beside it, reading and writing alone in that session."""
    measure = "× naive"
    found = []
    for cases in scans.sessions if scans else ():
        large = cases[cases["bytes"] == LARGE_SCAN]
        alone = next((value for _, value, _ in of_file(large, NAIVE, FILES)), None)
        found += [(value, place, alone) for _, value, place in of_file(large, NAIVE)]
    if not found:
        return unknown(claim, measure)
    value, place, alone = claim.worst(found, key=lambda of: of[0].value)
    others = ", ".join(f"{other.value:.2f}" for other, _, _ in found if other is not value)
    besides = f"; {others} in other sessions" if others else ""
    met = sum(claim.meets(other.value) for other, _, _ in found)
    row = Target(claim.statement, measure, claim.wanted, value, f"{size_name(LARGE_SCAN)}, by {place}{besides}", met, len(found),
                 sure=claim.sure(other for other, _, _ in found))  # fmt: skip
    if row.reached or alone is None:
        return row
    return replace(row, bound=Bound("reading and writing alone", alone.value, claim.meets(alone.value)))


def _collection(claim: Claim, traces: TraceEvidence | None) -> Target:
    measure = "change of makespan, %"
    known = [(float(t.about["collection_percent"]), t.title) for t in traces.traces if "collection_percent" in t.about] if traces else []
    if not known:
        return unknown(claim, measure)
    value, where = max(known, key=lambda pair: abs(pair[0]))
    return _found(claim, measure, Interval(value, np.nan, np.nan, 1), where)
