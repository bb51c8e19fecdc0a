"""Claims against results: one function per measure, `(claim, data) -> Standing`.

A measure raises Lacking where the data have none of its cases; the claim is then "not measured".
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from msgspec import structs

from scanlab_report.chapters import rank_cases
from scanlab_report.claims.of_ranks import several
from scanlab_report.claims.of_scans import (
    floor,
    losses,
    lost_at_odd_sizes,
    speed,
    speedup,
    spills,
    stopwatch,
    traffic,
)
from scanlab_report.claims.of_streams import (
    counted,
    duplex,
    engines,
    implicit_sync,
    naive,
    order,
    schedule,
    tracing,
)
from scanlab_report.claims.standing import Standing
from scanlab_report.claims.stated import CLAIM, PUBLISHED, TARGET, Claim, read
from scanlab_report.data import Data
from scanlab_report.groups import CEILING
from scanlab_report.pick import Lacking
from scanlab_report.sources import Source

MEASURES: dict[str, tuple[Callable[[Claim, Data], Standing], str]] = {
    "speed": (speed, ""),
    "floor": (floor, "× empty launch"),
    "stopwatch": (stopwatch, "nvbench / scanlab"),
    "losses": (losses, "cases lost to CUB"),
    "odd_sizes": (lost_at_odd_sizes, "cases lost to CUB as shipped"),
    "spills": (spills, "cases with local memory"),
    "speedup": (speedup, "× the speed of one core"),
    "traffic": (traffic, "× n items moved"),
    "order": (order, "of the slower order"),
    "implicit_sync": (implicit_sync, "of trials"),
    "schedule": (schedule, "of pipeline estimate"),
    "duplex": (duplex, "of copies in both directions"),
    "naive": (naive, "× naive"),
    "tracing": (tracing, "% change of makespan"),
    "counts": (counted, "cases that differ"),
    "conflicts": (counted, "% of wavefronts off"),
    "makespan_median": (engines, "% error, median"),
    "makespan_worst": (engines, "% error, worst"),
    "overlap": (engines, "% of pairs"),
    "ranks_copies": (several, f"of {rank_cases.COPY}"),
    "ranks_weak": (several, "of one GPU's speed"),
    "ranks_strong": (several, "× best on one GPU"),
    "ranks_vendor": (several, f"× {rank_cases.VENDOR}"),
    "ranks_bound": (several, "of the 3n bound"),
    "ranks_time": (several, "µs"),
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
    standings: list[Standing] = []
    for device in claim.on or data.devices or [""]:
        if standings and not claim.on:
            break
        try:
            standing = MEASURES[claim.measure][0](claim, data.on(device) if device else data)
        except Lacking:
            continue
        if device != expected and any(device in s.device.split(", ") for s in standing.sources):
            where = ", ".join(filter(None, (standing.where, device)))
            standing = replace(standing, where=where)
        standings.append(standing)
    return standings or [Standing(claim)]


def literature(data: Data, *measures: str) -> list[Standing]:
    """Published statements, of some measures if any are given; Lacking if none was measured."""
    claims = [claim for claim in read() if claim.kind == PUBLISHED]
    claims = [claim for claim in claims if claim.measure in (measures or MEASURES)]
    return _measured(data, (PUBLISHED, *measures), claims)


def targets(data: Data, *measures: str) -> list[Standing]:
    """Return the claims and targets of some measures, in the rows of the papers, on the first
    device with data on each. Lacking if none was measured."""
    claims: list[Claim] = []
    entries = [claim for claim in read() if claim.ours and claim.measure in measures]
    for claim in sorted(entries, key=lambda claim: claim.row):
        anywhere = structs.replace(claim, kind=CLAIM, on=[], row=0)
        if anywhere not in claims:
            claims.insert(claim.row - 1 if claim.row else len(claims), anywhere)
    return _measured(data, (TARGET, *measures), claims)


def _measured(data: Data, key: Sequence[str], claims: Sequence[Claim]) -> list[Standing]:
    standings = data.once(("claims", *key), lambda: check(claims, data))
    if all(standing.reached is None for standing in standings):
        raise Lacking("results that any claim speaks of")
    return standings


def all_sources(standings: Iterable[Standing]) -> list[Source]:
    """The sources of several standings, one per origin."""
    by: dict[str, list[Source]] = {}
    for source in itertools.chain.from_iterable(standing.sources for standing in standings):
        by.setdefault(source.origin, []).append(source)

    def every(same: list[Source], name: str) -> tuple[str, ...]:
        return tuple(sorted({value for source in same for value in getattr(source, name)}))

    return [
        Source(
            ", ".join(sorted({s.device for s in same})),
            origin,
            every(same, "dates"),
            every(same, "commits"),
            any(s.dirty for s in same),
        )
        for origin, same in by.items()
    ]
