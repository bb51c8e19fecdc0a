"""Claims against results: one function per measure, `(claim, data) -> Standing`.

A measure raises Lacking where the data have none of its cases; the claim is then "not measured".
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from msgspec import structs

from scanlab_report.chapters import rank_cases
from scanlab_report.claims import of_ranks, of_scans, of_streams
from scanlab_report.claims.standing import Standing
from scanlab_report.claims.stated import CLAIM, PUBLISHED, Claim, read
from scanlab_report.data import Data
from scanlab_report.groups import CEILING
from scanlab_report.pick import Lacking
from scanlab_report.sources import Source

MEASURES: dict[str, tuple[Callable[[Claim, Data], Standing], str]] = {
    "speed": (of_scans.speed, ""),
    "floor": (of_scans.floor, "× empty launch"),
    "stopwatch": (of_scans.stopwatch, "nvbench / scanlab"),
    "losses": (of_scans.losses, "cases lost to CUB"),
    "odd_sizes": (of_scans.lost_at_odd_sizes, "cases lost to CUB as shipped"),
    "spills": (of_scans.spills, "cases with local memory"),
    "speedup": (of_scans.speedup, "× the speed of one core"),
    "traffic": (of_scans.traffic, "× n items moved"),
    "order": (of_streams.order, "of the slower order"),
    "implicit_sync": (of_streams.implicit_sync, "of trials"),
    "schedule": (of_streams.schedule, "of pipeline estimate"),
    "duplex": (of_streams.duplex, "of copies in both directions"),
    "naive": (of_streams.naive, "× naive"),
    "tracing": (of_streams.tracing, "% change of makespan"),
    "counts": (of_streams.counted, "cases that differ"),
    "conflicts": (of_streams.counted, "% of wavefronts off"),
    "makespan_median": (of_streams.engines, "% error, median"),
    "makespan_worst": (of_streams.engines, "% error, worst"),
    "overlap": (of_streams.engines, "% of pairs"),
    "ranks_copies": (of_ranks.several, f"of {rank_cases.COPY}"),
    "ranks_weak": (of_ranks.several, "of one GPU's speed"),
    "ranks_strong": (of_ranks.several, "× best on one GPU"),
    "ranks_vendor": (of_ranks.several, f"× {rank_cases.VENDOR}"),
    "ranks_bound": (of_ranks.several, "of the 3n bound"),
    "ranks_time": (of_ranks.several, "µs"),
}
"""The function of each measure, and the unit of its values."""


def unit(claim: Claim) -> str:
    """The unit of a value; copies are a ceiling, scans are rivals."""
    if claim.of_published:
        return "of the speedup of 2007"
    if claim.measure != "speed":
        return MEASURES[claim.measure][1]
    if isinstance(claim.over, str):
        return "× CUB" if claim.over == "cub" else "× CUB as shipped"
    return f"{'of' if CEILING in claim.over else '×'} {' or '.join(claim.over)}"


def check(claims: Iterable[Claim], data: Data, about: str = "") -> list[Standing]:
    """Return the standing of each claim on each of its devices, or else on the first device with
    data. `about`: the device that a reader expects, by default the first; others are named."""
    expected = about or next(iter(data.devices), "")
    return [standing for claim in claims for standing in _on_devices(claim, data, expected)]


def _on_devices(claim: Claim, data: Data, expected: str) -> list[Standing]:
    standings = []
    for device in claim.on or data.devices or [""]:
        on = data.on(device) if device else data
        try:
            standing = on.once(repr(claim), partial(MEASURES[claim.measure][0], claim, on))
        except Lacking:
            continue
        if device != expected and any(device in s.device.split(", ") for s in standing.sources):
            standing = replace(standing, where=", ".join(filter(None, (standing.where, device))))
        standings.append(standing)
        if not claim.on:
            break
    return standings or [Standing(claim)]


def literature(data: Data, *measures: str) -> list[Standing]:
    """Published statements, of some measures if any are given; Lacking if none was measured."""
    measures = measures or tuple(MEASURES)
    return _measured(data, [c for c in read() if c.kind == PUBLISHED and c.measure in measures])


def targets(data: Data, *measures: str) -> list[Standing]:
    """Return the claims and targets of some measures, in the rows of the papers, on the first
    device with data on each. Lacking if none was measured."""
    claims: list[Claim] = []
    entries = [claim for claim in read() if claim.ours and claim.measure in measures]
    for claim in sorted(entries, key=lambda claim: claim.row):
        anywhere = structs.replace(claim, kind=CLAIM, on=[], row=0)
        if anywhere not in claims:
            claims.insert(claim.row - 1 if claim.row else len(claims), anywhere)
    return _measured(data, claims)


def _measured(data: Data, claims: Sequence[Claim]) -> list[Standing]:
    standings = check(claims, data)
    if all(standing.reached is None for standing in standings):
        raise Lacking("results that any claim speaks of")
    return standings


def all_sources(standings: Iterable[Standing]) -> list[Source]:
    """The sources of several standings, one per origin."""
    by: dict[str, list[Source]] = {}
    for source in itertools.chain.from_iterable(standing.sources for standing in standings):
        by.setdefault(source.origin, []).append(source)
    every = lambda name, same: tuple(sorted({v for source in same for v in getattr(source, name)}))
    return [
        Source(
            device=", ".join(sorted({source.device for source in same})),
            origin=origin,
            dates=every("dates", same),
            commits=every("commits", same),
            dirty=any(source.dirty for source in same),
        )
        for origin, same in by.items()
    ]
