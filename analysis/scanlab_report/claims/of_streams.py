"""How claims about schedules, timelines and the models stand."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from scanlab_report.chapters import bounds, conflicts, larger, model, one_core, scenarios, timelines
from scanlab_report.claims.standing import (
    BEST_PREDICTION,
    FILE_ACCESS,
    GIB,
    MISSING,
    Bound,
    Known,
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
        (fast / slow, f"{first}, {second}")
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
    known = zip(answers / tried["trials"], tried["subject"], strict=True)
    return farthest(claim, known, sources(data, rows))


def array_bytes(case: Any) -> int:
    """Bytes of each of a case's arrays."""
    return int(case.bytes) // (int(case.inputs) + 1)


def schedule(claim: Claim, data: Data) -> Standing:
    """Time of the fastest schedule of a workload over its pipeline estimate."""
    cases = bounds.schedules_of(data)
    case = bounds.best_schedule(cases, claim.workload)
    if case is None or array_bytes(case) < claim.least_gib * GIB:
        raise Lacking(MISSING)
    arrays = larger.size_name(array_bytes(case))
    where = f"{case.id}, {case.chunks} chunks; arrays of {arrays}"
    return farthest(claim, [(bounds.over_bound(case), where)], sources(data, cases))


LARGE = {"bytes": 16 * GIB}
IN_MEMORY = LARGE | {"budget": 2 * GIB, "to": "memory", "from": "memory"}


def duplex(claim: Claim, data: Data) -> Standing:
    """Time of copies both ways over that of the scan of the same bytes, from memory to memory."""
    cases = larger.larger_cases(data)
    ways = [pick(cases, way=way, **IN_MEMORY) for way in (larger.DUPLEX, larger.STREAMED)]
    if any(rows.empty for rows in ways):
        raise Lacking(MISSING)
    copy, scan = (rows.loc[rows["median_ns"].idxmin()] for rows in ways)
    known = [(ratio_interval(copy["samples"], scan["samples"]), f"{scan['chunks']} chunks")]
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

    def alone(worst: Known) -> Bound | None:
        values = (value.value for _, value, _ in over(sessions[worst.file], larger.FILES))
        return next((Bound(FILE_ACCESS, v, claim.meets(v)) for v in values), None)

    standing = farthest(claim, known, sources(data, cases), alone)
    where = f"16 GiB, by {standing.where}"
    where += ", in an earlier session" * (not over(cases, larger.STREAMED))
    others = [f"{value.value:.2f}" for value, _, _ in known if value is not standing.measured]
    where += f"; {', '.join(others)} in other sessions" * bool(others)
    return replace(standing, where=where)


def tracing_changes(traces: Sequence[timelines.Trace]) -> list[tuple[float, str]]:
    """The change of each makespan by the collection of activity, in percent, and its timeline."""
    name = "tracing_overhead_percent"
    return [(float(trace.about[name]), trace.title) for trace in traces if name in trace.about]


def tracing(claim: Claim, data: Data) -> Standing:
    """The change of the makespan by the collection of activity, where it is largest."""
    traces = timelines.traces_of(data)
    worst = sorted(tracing_changes(traces), key=lambda change: -abs(change[0]))[:1]
    standing = farthest(claim, worst, sources(data, timelines.trace_rows(traces)))
    return replace(standing, met=int(claim.meets(abs(worst[0][0]))))


# ------------------------------------------------------------------------------- of the models


def counted(claim: Claim, data: Data) -> Standing:
    """Return the number of cases in which the counts of emulator and hardware differ. For
    conflicts, return their difference in percent of wavefronts, since there are cases without
    conflicts."""
    cases, launches = conflicts.both_counted(data)
    value, where = cases["differs"].sum(), f"of {len(cases)}"
    if claim.measure == "conflicts":
        worst = cases.loc[cases["conflicts_off"].idxmax()]
        value = worst["conflicts_off"]
        where = f"{worst['variant']}, {worst['type']}, {size(worst['items'])}"
    return farthest(claim, [(value, where)], sources(data, launches))


def engines(claim: Claim, data: Data) -> Standing:
    """Return the errors of the engine model's makespans, or the share of pairs of operations that
    overlap in both prediction and measurement, among those that overlap in either. The reference is
    the best prediction."""
    rows, source = model.predictions(data)
    if claim.measure == "overlap":
        pairs = rows["overlap_in_either"].sum()
        share, most = overlap(rows), overlap(rows, "best_")
        known = [(share, f"of {int(pairs)} pairs")] if share == share else []
        bound = Bound(BEST_PREDICTION, most, claim.meets(most)) if most == most else None
        return farthest(claim, known, [source], lambda worst: bound)
    off = errors(rows, "predicted_us")
    known = [(off.median(), f"of {len(rows)} configurations")]
    if claim.measure == "makespan_worst":
        worst = rows.loc[off.idxmax()]
        known = [(off.max(), f"{worst['schedule']}, {worst['chunks']} chunks")]
    return farthest(claim, known, [source])


def errors(rows: pd.DataFrame, column: str) -> pd.Series:
    """The errors of predicted makespans, in percent of the measured ones."""
    return 100 * (pd.to_numeric(rows[column]) / rows["measured_us"] - 1).abs()


def overlap(rows: pd.DataFrame, which: str = "") -> float:
    """Percent of the pairs of operations that overlap in prediction and measurement, among those
    that overlap in either; NaN if it is not known of every configuration."""
    both, either = (
        pd.to_numeric(rows[f"{which}overlap_in_{where}"]).sum(skipna=False)
        for where in ("both", "either")
    )
    return 100 * float(both) / float(either) if either else float("nan")
