"""Claims against results: each holds, fails, or was not measured."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scanlab_report.claims import model_targets, streams_targets, targets
from scanlab_report.claims.claims import OF_COUNTS, OF_ENGINES, OF_SCANS, OF_STREAMS, OURS, Claim, own, read
from scanlab_report.claims.targets import Target, unknown
from scanlab_report.derive.one_core import ONE_CORE, over_one_core, speedups
from scanlab_report.derive.traffic import over_items
from scanlab_report.layout.table_formats import Column, Table, code, records, significant, size, with_interval
from scanlab_report.read import streams
from scanlab_report.read.published import Publication
from scanlab_report.read.results import Results
from scanlab_report.select.evidence import BEST, AllTimings, Counters, Kernels, Need, Provenance, Published, Traffic
from scanlab_report.select.scenes import Scenes
from scanlab_report.select.streams_evidence import Experiments, Schedules, StreamScans, Traces
from scanlab_report.stats.intervals import Interval

HOLDS, FAILS, NOT_MEASURED = "holds", "fails", "not measured"
VERDICTS = {True: HOLDS, False: FAILS, None: NOT_MEASURED}


Find = Callable[[Need], Any]
"""Looks for evidence; None if there is none."""


@dataclass(frozen=True)
class Checked:
    """A claim and how it stands, with the runs that tell."""

    claim: Claim
    target: Target
    provenances: tuple[Provenance, ...]

    @property
    def verdict(self) -> str:
        return VERDICTS[self.target.reached]


def check(claims: Sequence[Claim], results: Results, published: Mapping[str, Publication]) -> list[Checked]:
    """Every claim in order, on the device that it is about, or else on the first one that tells of it."""
    checked = []
    for claim in claims:
        answers = (_check(claim, results.on(device), published) for device in ([claim.on] if claim.on else results.devices))
        answer = next((one for one in answers if one.target.reached is not None), None)
        checked.append(answer or _check(claim, results.on(claim.on), published))
    return checked


def _check(claim: Claim, results: Results, published: Mapping[str, Publication]) -> Checked:
    found: list[Any] = []

    def find(need: Need) -> Any:
        found.append(need.find(results, dict(published)))
        return found[-1]

    target = _target(claim, find)
    known = tuple(evidence.provenance for evidence in found if hasattr(evidence, "provenance"))
    return Checked(claim, target, known if target.measured else ())


def _target(claim: Claim, find: Find) -> Target:
    if claim.measure == "spills":
        return targets.target(claim, None, find(Kernels()))
    if claim.measure in OF_SCANS:
        return targets.target(claim, find(AllTimings(of=claim.variant or BEST)), None)
    if claim.measure in OF_STREAMS:
        schedules, scans, traces = ({"schedule": Schedules()}, {"duplex": StreamScans(), "naive": StreamScans()}, {"collection": Traces()})
        needs = (of.get(claim.measure) for of in (schedules, scans, traces))
        return streams_targets.target(claim, *(need and find(need) for need in needs))
    if claim.measure in OF_COUNTS:
        return model_targets.counted(claim, find(Counters()))
    if claim.measure in OF_ENGINES:
        return model_targets.predicted(claim, find(Experiments(streams.COMPARISON)))
    return {"speedup": _speedup, "traffic": _traffic, "order": _order, "caveat": _caveat}[claim.measure](claim, find)


def _speedup(claim: Claim, find: Find) -> Target:
    """Over one core of the host, in every session, since hosts differ; with ``of_published``, over the speedup published for the size, too."""
    measure = "of that of 2007" if claim.of_published else "× one core"
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
    return Target(claim.statement, measure, claim.wanted, value, where, len(sessions - missed), len(sessions), sure=claim.sure(of for of, _, _ in known))


def _traffic(claim: Claim, find: Find) -> Target:
    measure = "× n items moved"
    evidence = find(Traffic())
    if evidence is None:
        return unknown(claim, measure)
    rows = over_items(evidence)
    rows = rows[(rows["variant"] == claim.variant) & (rows["items"] == claim.cases["items"])]
    return _worst(claim, measure, [(Interval(row.moved, np.nan, np.nan, 1), size(row.items)) for row in rows.itertuples()])


def _order(claim: Claim, find: Find) -> Target:
    """Of each two schedules: the simulated time of the one that was the faster when it was timed, over that of the other."""
    measure = "of the slower"
    publication = find(Published("harris2012_overlap"))
    if publication is None or claim.device not in set(publication.table["device"]):
        return unknown(claim, measure)
    timed = publication.table[publication.table["device"] == claim.device].set_index("schedule")["milliseconds"]
    scenes = find(Scenes([[f"{claim.device}_{schedule}" for schedule in timed.index]]))
    if scenes is None:
        return unknown(claim, measure)
    simulated = dict(zip(timed.index, (scene.about["makespan_us"] for scene in scenes.rows[0]), strict=True))
    ordered = sorted(timed.index, key=timed.get)
    pairs = [(Interval(simulated[a] / simulated[b], np.nan, np.nan, 1), f"{a}, {b}") for a, b in itertools.combinations(ordered, 2)]
    return _worst(claim, measure, pairs)


def _caveat(claim: Claim, find: Find) -> Target:
    """The share of an experiment's trials that answer as the claim says; each experiment that it names must have been tried."""
    measure = "of trials"
    evidence = find(Experiments(streams.CAVEATS))
    if evidence is None:
        return unknown(claim, measure)
    rows = evidence.rows[evidence.rows["name"].isin(claim.experiments) & (evidence.rows["trials"] > 0)]
    if rows["name"].nunique() < len(claim.experiments):
        return unknown(claim, measure)
    known = []
    for row in rows.itertuples():
        borne_out = row.yes if claim.answer == "yes" else row.trials - row.yes
        known.append((Interval(borne_out / row.trials, np.nan, np.nan, row.trials), row.name.partition(".")[0].replace("_", " ")))
    return _worst(claim, measure, known)


def _worst(claim: Claim, measure: str, known: Sequence[tuple[Interval, str]]) -> Target:
    if not known:
        return unknown(claim, measure)
    value, where = claim.worst(known, key=lambda pair: pair[0].value)
    return Target(claim.statement, measure, claim.wanted, value, where, int(claim.meets(value.value)), 1, sure=claim.sure(interval for interval, _ in known))


# --------------------------------------------------------------------------------------------------- table


@dataclass(frozen=True)
class ClaimEvidence:
    """Every claim with its verdict, and the runs that tell of them: those of the first origin, and of any others."""

    checked: list[Checked]
    provenance: Provenance
    counted: Provenance | None


@dataclass(frozen=True)
class Claims:
    """The claims, where the results tell of one at least."""

    claims: tuple[Claim, ...]

    def find(self, results: Results, published: dict[str, Publication]) -> ClaimEvidence | None:
        checked = check(self.claims, results, published)
        if all(one.target.reached is None for one in checked):
            return None
        first, *others = provenances(checked)
        return ClaimEvidence(checked, first, others[0] if others else None)

    def absent(self) -> str:
        return "no results that any claim speaks of"


def literature() -> Claims:
    """What others claim; our own claims are the targets."""
    return Claims(tuple(claim for claim in read() if claim.source != OURS))


def targets_of(measures: Sequence[str]) -> Claims:
    """Our own targets of certain measures, on whichever device tells of them: a report of another device has them too."""
    return Claims(tuple(replace(claim, on="") for claim in own(measures)))


def provenances(checked: Sequence[Checked]) -> list[Provenance]:
    """All that claims rest on, one an origin: measured, recorded, simulated."""
    by: dict[str, list[Provenance]] = {}
    for one in checked:
        for provenance in one.provenances:
            by.setdefault(provenance.origin, []).append(provenance)
    return [
        Provenance("results", origin, ", ".join(sorted({p.device for p in of})), tuple(sorted({date for p in of for date in p.dates})),
                   tuple(sorted({commit for p in of for commit in p.commits})), any(p.dirty for p in of))
        for origin, of in by.items()
    ]  # fmt: skip


def table(checked: Sequence[Checked], caption: str, figures: bool = True) -> Table:
    """The claims in order, with the figures that show them; how values were chosen is said behind the caption."""
    rows = [{"statement": one.target.what, "wanted": f"{one.target.wanted} {one.target.measure}", "measured": one.target.measured,
             "where": one.target.where, "verdict": _said(one), "source": "ours" if one.claim.source == OURS else one.claim.source,
             "bound": bounded(one.target), "figure": one.claim.figure} for one in checked]  # fmt: skip
    bound = any(row["bound"] for row in rows)
    return Table(
        caption=f"{caption}, with 95% intervals in brackets: at the size, and in the run of the newest code, that is farthest "
        "from what is wanted; cold and launched in a stream unless said. A percentage behind what is wanted is how far a value may miss it. "
        + BY_MEDIAN
        + (BY_SESSION if any(one.claim.measure == "speedup" for one in checked) else "")
        + (BOUND if bound else ""),
        columns=(
            Column("statement", "claim", right=False, wrap=16),
            Column("wanted", "wanted", right=False, wrap=9),
            Column("measured", "measured", _measured),
            Column("where", "at", right=False, wrap=9),
            Column("verdict", "verdict", right=False, wrap=4.5),
            *([Column("bound", "reference", right=False, wrap=10)] if bound else []),
            Column("source", "source", right=False),
            *([Column("figure", "shown in", code, right=False)] if figures else []),
        ),
        rows=records(rows),
        wide=True,
    )  # fmt: skip


BY_MEDIAN = (
    "What is wanted is met, or not, by the median; the interval says how sure that is, and where one reaches beyond the bound, this one or that "
    "of another size or run, that is said."
)
BY_SESSION = (
    " Over one core, all sessions count, of any code: the time of cpu_sequential differs by the session, and so do the ratios, whose range is given."
)
BOUND = (
    " Reference: for a claim of ours that fails, what is measured there without the scan, in what the claim is measured in: of a copy of "
    "the same items, copy_one_wave, whose blocks meet between reading and writing as those of one_wave do, where that was timed, else the "
    "fastest copy; of pairs that overlap, what any prediction could have, since repetitions differ. A scan can be faster than its reference. None: the reference allows what is wanted, so it is no reason."
)


def bounded(target: Target) -> str:
    """What was measured in the place of a target that is not reached; empty if it is reached, or nothing like it was measured."""
    if (bound := target.bound) is None:
        return ""
    return f"none: {bound.what} has {bound.allows:.2f}" if bound.enough else f"{bound.what}: {bound.allows:.2f}"


def _said(one: Checked) -> str:
    """The verdict; of a claim that holds in some runs, in how many it does not, and of one that holds by the median alone, that."""
    met, runs = one.target.met, one.target.runs
    if one.target.unsure:
        return f"{one.verdict}, an interval does not"
    return f"{one.verdict} in {runs - met} of {runs} runs" if 0 < met < runs else one.verdict


def _measured(interval: Interval | None) -> str:
    if interval is not None and not interval.known and interval.value == int(interval.value):
        return f"{int(interval.value)}"
    return with_interval(interval, 3)
