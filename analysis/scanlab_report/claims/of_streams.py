"""How claims about schedules, scans larger than the device and the collection of activity stand."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from scanlab_report.claims.standing import FILE_ACCESS, Bound, Find, Standing, of_value, unknown
from scanlab_report.claims.stated import Claim
from scanlab_report.derive.schedules import array_bytes, best_schedule, over_bound
from scanlab_report.derive.sizes import size_name
from scanlab_report.derive.stream_scans import of_file
from scanlab_report.select.streams_evidence import DUPLEX, FILES, NAIVE, STREAMED, Schedules, StreamScans, Traces
from scanlab_report.stats.intervals import ratio_interval

GIB = 1 << 30
LARGE_SCAN = 16 * GIB
LARGE_BUDGET = 2 * GIB


def schedule(claim: Claim, find: Find) -> Standing:
    """Time of the fastest schedule of a workload over its pipeline estimate."""
    measure = "of pipeline estimate"
    schedules = find(Schedules())
    case = best_schedule(schedules, claim.workload) if schedules else None
    if case is None or array_bytes(case) < claim.least_gib * GIB:
        return unknown(claim, measure)
    return of_value(claim, measure, over_bound(case), f"{case.id}, {case.chunks} chunks; arrays of {size_name(array_bytes(case))}")


def duplex(claim: Claim, find: Find) -> Standing:
    """Time of copies both ways over that of the scan of the same bytes, from memory to memory."""
    measure = "of copies in both directions"
    scans = find(StreamScans())
    rows = scans.cases if scans else pd.DataFrame(columns=["bytes", "budget", "to", "from", "way"])
    rows = rows[(rows["bytes"] == LARGE_SCAN) & (rows["budget"] == LARGE_BUDGET) & (rows["to"] == "memory") & (rows["from"] == "memory")]
    pair = [rows[rows["way"] == way] for way in (DUPLEX, STREAMED)]
    if any(of.empty for of in pair):
        return unknown(claim, measure)
    copy, scan = (of.loc[of["median_ns"].idxmin()] for of in pair)
    return of_value(claim, measure, ratio_interval(copy["samples"], scan["samples"]), f"{scan['chunks']} chunks")


def naive(claim: Claim, find: Find) -> Standing:
    """Time of a naive loop over that of the scan, from file to file, at 16 GiB, in the session that gains least, since hosts differ.

    Beside it, reading and writing alone in that session.
    """
    measure = "× naive"
    scans = find(StreamScans())
    found = []
    for cases in scans.sessions if scans else ():
        large = cases[cases["bytes"] == LARGE_SCAN]
        alone = next((value for _, value, _ in of_file(large, NAIVE, FILES)), None)
        found += [(value, place, alone) for _, value, place in of_file(large, NAIVE)]
    if not found:
        return unknown(claim, measure)
    value, place, alone = claim.worst(found, key=lambda of: of[0].value)
    elsewhere = "" if of_file(scans.cases[scans.cases["bytes"] == LARGE_SCAN], NAIVE) else ", in an earlier session"
    others = ", ".join(f"{other.value:.2f}" for other, _, _ in found if other is not value)
    besides = f"; {others} in other sessions" if others else ""
    met = sum(claim.meets(other.value) for other, _, _ in found)
    row = Standing(claim, measure, value, f"{size_name(LARGE_SCAN)}, by {place}{elsewhere}{besides}", met, len(found),
                   sure=claim.sure(other for other, _, _ in found))  # fmt: skip
    if row.reached or alone is None:
        return row
    return replace(row, bound=Bound(FILE_ACCESS, alone.value, claim.meets(alone.value)))


def tracing(claim: Claim, find: Find) -> Standing:
    """By how much the collection of activity changes the makespan, where it changes it most."""
    measure = "% change of makespan"
    traces = find(Traces())
    known = [(float(t.about["tracing_overhead_percent"]), t.title) for t in traces.traces if "tracing_overhead_percent" in t.about] if traces else []
    if not known:
        return unknown(claim, measure)
    value, where = max(known, key=lambda pair: abs(pair[0]))
    return replace(of_value(claim, measure, value, where), met=int(claim.meets(abs(value))))


MEASURED = {"schedule": schedule, "duplex": duplex, "naive": naive, "tracing": tracing}
