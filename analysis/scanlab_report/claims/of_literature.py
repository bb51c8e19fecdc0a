"""How claims of the literature stand: speedups over one core, bytes moved, orders of schedules, and what serialises streams."""

from __future__ import annotations

import itertools

from scanlab_report.claims.standing import Find, Standing, of_worst, unknown
from scanlab_report.claims.stated import Claim
from scanlab_report.derive.one_core import ONE_CORE, over_one_core, speedups
from scanlab_report.derive.traffic import over_items
from scanlab_report.layout.table_formats import significant, size
from scanlab_report.read import streams
from scanlab_report.select.counted import Published, Traffic
from scanlab_report.select.scenarios import Scenarios
from scanlab_report.select.streams_evidence import Experiments
from scanlab_report.stats.intervals import Interval


def speedup(claim: Claim, find: Find) -> Standing:
    """Over one core of the host, in every session, since hosts differ; with ``of_published``, over the speedup published for the size, too."""
    measure = "of the speedup of 2007" if claim.of_published else "× the speed of one core"
    timings = find(over_one_core(all_of=(claim.variant,)))
    publication = find(Published(claim.of_published)) if claim.of_published else None
    if timings is None or (claim.of_published and publication is None):
        return unknown(claim, measure)
    then = publication.table.set_index("items") if publication else None
    known = []
    for session, evidence in enumerate(timings.sessions):
        for row in speedups(evidence, claim.variant, ONE_CORE).itertuples():
            if row.items < claim.cases.get("least_items", 0) or row.items != claim.cases.get("items", row.items):
                continue
            if then is not None and row.items not in then.index:
                continue
            by = float(then.at[row.items, "cpu_ms"] / then.at[row.items, "gpu_ms"]) if then is not None else 1.0
            known.append((Interval(row.ratio / by, row.low / by, row.high / by, 0), f"{row.type}, {size(row.items)}", session))
    if not known:
        return unknown(claim, measure)
    value, where, _ = claim.worst(known, key=lambda found: found[0].value)
    there = [of.value for of, place, _ in known if place == where]
    if len(there) > 1:
        where += f"; {significant(min(there))} to {significant(max(there))} by the session"
    sessions, missed = ({session for of, _, session in known if not missed or not claim.meets(of.value)} for missed in (False, True))
    return Standing(claim, measure, value, where, len(sessions - missed), len(sessions), sure=claim.sure(of for of, _, _ in known))


def traffic(claim: Claim, find: Find) -> Standing:
    """Items that a scan moves through DRAM, as the hardware counts them, in n."""
    measure = "× n items moved"
    evidence = find(Traffic())
    if evidence is None:
        return unknown(claim, measure)
    rows = over_items(evidence)
    rows = rows[(rows["variant"] == claim.variant) & (rows["items"] == claim.cases["items"])]
    return of_worst(claim, measure, [(row.moved, size(row.items)) for row in rows.itertuples()])


def order(claim: Claim, find: Find) -> Standing:
    """Of each two schedules: the simulated time of the one that was the faster when it was timed, over that of the other."""
    measure = "of the slower order"
    publication = find(Published("harris2012_overlap"))
    if publication is None or claim.device not in set(publication.table["device"]):
        return unknown(claim, measure)
    timed = publication.table[publication.table["device"] == claim.device].set_index("schedule")["milliseconds"]
    scenarios = find(Scenarios([[f"{claim.device}_{schedule}" for schedule in timed.index]]))
    if scenarios is None:
        return unknown(claim, measure)
    simulated = dict(zip(timed.index, (scenario.about["makespan_us"] for scenario in scenarios.rows[0]), strict=True))
    ordered = sorted(timed.index, key=timed.get)
    pairs = [(simulated[a] / simulated[b], f"{a}, {b}") for a, b in itertools.combinations(ordered, 2)]
    return of_worst(claim, measure, pairs)


def implicit_sync(claim: Claim, find: Find) -> Standing:
    """The share of an experiment's trials that answer as the claim says; each experiment that it names must have been tried."""
    measure = "of trials"
    evidence = find(Experiments(streams.IMPLICIT_SYNC))
    if evidence is None:
        return unknown(claim, measure)
    rows = evidence.rows[evidence.rows["name"].isin(claim.experiments) & (evidence.rows["trials"] > 0)]
    if rows["name"].nunique() < len(claim.experiments):
        return unknown(claim, measure)
    known = []
    for row in rows.itertuples():
        borne_out = row.yes if claim.answer == "yes" else row.trials - row.yes
        known.append((borne_out / row.trials, row.subject))
    return of_worst(claim, measure, known)


MEASURED = {"speedup": speedup, "traffic": traffic, "order": order, "implicit_sync": implicit_sync}
