"""How claims about schedules, timelines and the models stand."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd

from scanlab_report.chapters import bounds, conflicts, larger, model, one_core, scenarios, timelines
from scanlab_report.claims.standing import (
    BEST_PREDICTION,
    FILE_ACCESS,
    GIB,
    MISSING,
    Bound,
    Standing,
    farthest,
)
from scanlab_report.claims.stated import Claim
from scanlab_report.data import Data
from scanlab_report.formats import size
from scanlab_report.intervals import ratio_interval
from scanlab_report.pick import Lacking, newest, pick
from scanlab_report.sources import sources


def order(claim: Claim, data: Data) -> Standing:
    """The simulated time of the faster of each two schedules over that of the slower."""
    rows = pick(one_core.published_table(data, "harris2012_overlap").table, device=claim.board)
    names = list(rows.sort_values("milliseconds", kind="stable")["schedule"])
    (traces,), source = scenarios.scenarios_of(data, [[f"{claim.board}_{name}" for name in names]])
    simulated = zip(names, (trace.about["makespan_us"] for trace in traces), strict=True)
    known = [
        (fast / slow, f"{first}, {second}", 0)
        for (first, fast), (second, slow) in itertools.combinations(simulated, 2)
    ]
    return farthest(claim, known, [source])


def implicit_sync(claim: Claim, data: Data) -> Standing:
    """Return the share of trials of an experiment that have the expected answer; each experiment
    must have been tried."""
    rows = newest(data, "implicit_sync", "experiments on implicit synchronisation")
    tried = pick(rows[rows["trials"] > 0], name=claim.experiments)
    if tried["name"].nunique() < len(claim.experiments):
        raise Lacking(MISSING)
    answers = tried["yes"] if claim.answer == "yes" else tried["trials"] - tried["yes"]
    known = [*zip(answers / tried["trials"], tried["subject"], itertools.repeat(0))]
    return farthest(claim, known, sources(data, rows))


def schedule(claim: Claim, data: Data) -> Standing:
    """Time of the fastest schedule of a workload over its pipeline estimate."""
    cases = bounds.schedules_of(data)
    case = bounds.best_schedule(cases, claim.workload)
    array = 0 if case is None else int(case.bytes) // (int(case.inputs) + 1)
    if case is None or array < claim.least_gib * GIB:
        raise Lacking(MISSING)
    where = f"{case.id}, {case.chunks} chunks; arrays of {larger.size_name(array)}"
    return farthest(claim, [(bounds.over_bound(case), where, 0)], sources(data, cases))


LARGE = {"bytes": 16 * GIB}
IN_MEMORY = LARGE | {"budget": 2 * GIB, "to": "memory", "from": "memory"}


def duplex(claim: Claim, data: Data) -> Standing:
    """Time of copies both ways over that of the scan of the same bytes, from memory to memory."""
    cases = larger.larger_cases(data)
    ways = [pick(cases, way=way, **IN_MEMORY) for way in (larger.DUPLEX, larger.STREAMED)]
    if any(rows.empty for rows in ways):
        raise Lacking(MISSING)
    copy, scan = (rows.loc[rows["median_ns"].idxmin()] for rows in ways)
    known = [(ratio_interval(copy["samples"], scan["samples"]), f"{scan['chunks']} chunks", 0)]
    return farthest(claim, known, sources(data, cases))


def naive(claim: Claim, data: Data) -> Standing:
    """Time of a naive loop over that of the scan, from file to file, at 16 GiB, in the session with
    the least gain, since hosts differ. The reference is reading and writing alone in that session.
    """
    cases, sessions = larger.larger_cases(data), larger.larger_sessions(data)
    over = lambda rows, way: larger.over_files(pick(rows, **LARGE), larger.NAIVE, way)
    known = [
        (value, place, session)
        for session, rows in enumerate(sessions)
        for _, value, place in over(rows, larger.STREAMED)
    ]
    standing = farthest(claim, known, sources(data, cases))
    value, place, session = claim.worst(known)
    where = f"16 GiB, by {place}"
    where += ", in an earlier session" * (not over(cases, larger.STREAMED))
    if others := ", ".join(f"{other.value:.2f}" for other, _, _ in known if other is not value):
        where += f"; {others} in other sessions"
    alone = [] if standing.reached else over(sessions[session], larger.FILES)
    bounds = [Bound(FILE_ACCESS, v.value, claim.meets(v.value)) for _, v, _ in alone]
    return replace(standing, where=where, bound=next(iter(bounds), None))


def tracing(claim: Claim, data: Data) -> Standing:
    """The change of the makespan by the collection of activity, where it is largest."""
    traces, name = timelines.traces_of(data), "tracing_overhead_percent"
    known = [(float(trace.about[name]), trace.title) for trace in traces if name in trace.about]
    if not known:
        raise Lacking(MISSING)
    value, where = max(known, key=lambda pair: abs(pair[0]))
    standing = farthest(claim, [(value, where, 0)], sources(data, timelines.trace_rows(traces)))
    return replace(standing, met=int(claim.meets(abs(value))))


# ------------------------------------------------------------------------------- of the models


def counted(claim: Claim, data: Data) -> Standing:
    """Return the number of cases in which the counts of emulator and hardware differ. For
    conflicts, return their difference in percent of wavefronts, since there are cases without
    conflicts."""
    cases, launches, _ = conflicts.both_counted(data)
    if cases.empty:
        raise Lacking(MISSING)
    off = {
        name: (cases[f"{name}_hardware"] - cases[f"{name}_emulator"]).abs()
        for name in conflicts.QUANTITIES
    }
    value, where = (pd.DataFrame(off) > 0).any(axis=1).sum(), f"of {len(cases)}"
    if claim.measure == "conflicts":
        percent = 100 * off["conflicts"] / cases["transactions_hardware"]
        worst = cases.loc[percent.idxmax()]
        value = percent.max()
        where = f"{worst['variant']}, {worst['type']}, {size(worst['items'])}"
    return farthest(claim, [(value, where, 0)], sources(data, launches))


def engines(claim: Claim, data: Data) -> Standing:
    """Return the errors of the engine model's makespans, or the share of pairs of operations that
    overlap in both prediction and measurement, among those that overlap in either. The reference is
    the best prediction."""
    rows, source = model.predictions(data)
    if claim.measure == "overlap":
        share, most = _overlap(rows, ""), _overlap(rows, "best_")
        if np.isnan(share):
            raise Lacking(MISSING)
        missed = not claim.meets(share) and not np.isnan(most)
        bound = Bound(BEST_PREDICTION, most, claim.meets(most)) if missed else None
        where = f"of {int(rows['overlap_in_either'].sum())} pairs"
        return farthest(claim, [(share, where, 0)], [source], bound=bound)
    off = 100 * (rows["predicted_us"] / rows["measured_us"] - 1).abs()
    known = (off.median(), f"of {len(rows)} configurations", 0)
    if claim.measure == "makespan_worst":
        worst = rows.loc[off.idxmax()]
        known = (off.max(), f"{worst['schedule']}, {worst['chunks']} chunks", 0)
    return farthest(claim, [known], [source])


def _overlap(rows: pd.DataFrame, which: str) -> float:
    """Percent; NaN if it is not known of every configuration."""
    both, either = (
        pd.to_numeric(rows[f"{which}overlap_in_{where}"]).sum(skipna=False)
        for where in ("both", "either")
    )
    return 100 * float(both) / float(either) if either else np.nan
