"""Claims against results: each holds, fails, or was not measured."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis import streams_targets, targets
from analysis.claims import OF_SCANS, OF_STREAMS, OURS, Claim
from analysis.evidence import BEST, AllTimings, Kernels, Provenance, Published, Timings, Traffic, gather, run_provenance
from analysis.figures import dram_traffic
from analysis.figures.speedup import ONE_CORE, speedups
from analysis.published import Publication
from analysis.results import Results
from analysis.scenes import Scenes
from analysis.statistics import Interval
from analysis.streams_evidence import Schedules, StreamScans, Traces
from analysis.table_formats import Column, Table, code, size, with_interval
from analysis.targets import Target, unknown

HOLDS, FAILS, NOT_MEASURED = "holds", "fails", "not measured"
VERDICTS = {True: HOLDS, False: FAILS, None: NOT_MEASURED}


@dataclass(frozen=True)
class Checked:
    """A claim and how it stands."""

    claim: Claim
    target: Target

    @property
    def verdict(self) -> str:
        return VERDICTS[self.target.reached]


def check(claims: Sequence[Claim], results: Results, published: Mapping[str, Publication]) -> list[Checked]:
    """Every claim in order."""
    return [Checked(claim, _target(claim, results, dict(published))) for claim in claims]


def _target(claim: Claim, results: Results, published: dict[str, Publication]) -> Target:
    def find(need):
        return need.find(results, published)

    if claim.measure in OF_SCANS:
        return targets.target(claim, find(AllTimings(of=claim.variant or BEST)), find(Kernels()))
    if claim.measure in OF_STREAMS:
        return streams_targets.target(claim, find(Schedules()), find(StreamScans()), find(Traces()))
    return {"speedup": _speedup, "traffic": _traffic, "order": _order}[claim.measure](claim, results, published)


def _speedup(claim: Claim, results: Results, published: dict[str, Publication]) -> Target:
    """Over one core of the host; with ``of_published``, over the speedup that was published for the same size, too."""
    measure = "of the speedup then" if claim.of_published else "× one core"
    needs = {"timings": Timings(types=("f32", "i32"), all_of=(ONE_CORE, claim.variant))}
    if claim.of_published:
        needs["published"] = Published(claim.of_published)
    found = gather(needs, results, published).found
    if not found:
        return unknown(claim, measure)
    rows = speedups(found["timings"], claim.variant, ONE_CORE)
    then = found["published"].table.set_index("items") if claim.of_published else None
    known = []
    for row in rows.itertuples():
        if row.items < claim.cases.get("least_items", 0) or row.items != claim.cases.get("items", row.items):
            continue
        if then is not None and row.items not in then.index:
            continue
        by = then.at[row.items, "cpu_ms"] / then.at[row.items, "gpu_ms"] if then is not None else 1
        known.append((Interval(row.ratio / by, row.low / by, row.high / by, 0), f"{row.type}, {size(row.items)}"))
    return _worst(claim, measure, known)


def _traffic(claim: Claim, results: Results, published: dict[str, Publication]) -> Target:
    measure = "× n items moved"
    evidence = Traffic().find(results, published)
    if evidence is None:
        return unknown(claim, measure)
    rows = dram_traffic.over_items(evidence)
    rows = rows[(rows["variant"] == claim.variant) & (rows["items"] == claim.cases["items"])]
    return _worst(claim, measure, [(Interval(row.moved, np.nan, np.nan, 1), size(row.items)) for row in rows.itertuples()])


def _order(claim: Claim, results: Results, published: dict[str, Publication]) -> Target:
    """Of each two schedules: the simulated time of the one that was the faster when it was timed, over that of the other."""
    measure = "of the slower one's time, simulated"
    timed = published["harris2012_overlap"].table if "harris2012_overlap" in published else None
    timed = timed[timed["device"] == claim.device].set_index("schedule")["milliseconds"] if timed is not None else {}
    scenes = Scenes([[f"{claim.device}_{schedule}" for schedule in timed.index]]).find(results, published) if len(timed) else None
    if scenes is None:
        return unknown(claim, measure)
    simulated = dict(zip(timed.index, (scene.about["makespan_us"] for scene in scenes.rows[0]), strict=True))
    ordered = sorted(timed.index, key=timed.get)
    pairs = [(Interval(simulated[a] / simulated[b], np.nan, np.nan, 1), f"{a} before {b}") for a, b in itertools.combinations(ordered, 2)]
    return _worst(claim, measure, pairs)


def _worst(claim: Claim, measure: str, known: Sequence[tuple[Interval, str]]) -> Target:
    if not known:
        return unknown(claim, measure)
    value, where = claim.worst(known, key=lambda pair: pair[0].value)
    return Target(claim.statement, measure, claim.wanted, value, where, int(claim.meets(value.value)), 1)


# --------------------------------------------------------------------------------------------------- table


@dataclass(frozen=True)
class ClaimEvidence:
    """Every claim with its verdict, and the runs that tell of them."""

    checked: list[Checked]
    provenance: Provenance


@dataclass(frozen=True)
class Claims:
    """The claims, where the results tell of one at least."""

    claims: tuple[Claim, ...]

    def find(self, results: Results, published: dict[str, Publication]) -> ClaimEvidence | None:
        checked = check(self.claims, results, published)
        if all(one.target.reached is None for one in checked):
            return None
        timings = AllTimings().find(results, published)
        runs = [*results.runs, *(file.run for file in results.streams)]
        provenance = timings.provenance if timings else run_provenance("results", runs, runs[0].origin if runs else "counted")
        return ClaimEvidence(checked, provenance)

    def absent(self) -> str:
        return "no results that any claim speaks of"


def table(checked: Sequence[Checked], caption: str) -> Table:
    """The claims in order; how their values were chosen is said behind the caption."""
    rows = [{"statement": one.target.what, "wanted": f"{one.target.wanted} {one.target.measure}", "measured": one.target.measured,
             "where": one.target.where, "verdict": one.verdict, "source": "ours" if one.claim.source == OURS else one.claim.source,
             "figure": one.claim.figure} for one in checked]  # fmt: skip
    return Table(
        caption=f"{caption}, with 95% bootstrap intervals in brackets: at the size, and in the run of the newest code, that is farthest "
        "from the bound; cold and launched in a stream unless said. A percentage behind a bound is how far a value may miss it.",
        columns=(
            Column("statement", "claim", right=False),
            Column("wanted", "wanted", right=False),
            Column("measured", "measured", _measured),
            Column("where", "at", right=False),
            Column("verdict", "verdict", right=False),
            Column("source", "source", right=False),
            Column("figure", "shown in", code, right=False),
        ),
        rows=pd.DataFrame({name: pd.Series([row[name] for row in rows], dtype=object) for name in rows[0]}),
        wide=True,
    )  # fmt: skip


def _measured(interval: Interval | None) -> str:
    if interval is not None and not interval.known and interval.value == int(interval.value):
        return f"{int(interval.value)}"
    return with_interval(interval, 3)
