"""How claims stand: the value that is farthest from each bound, and the verdict."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from msgspec import structs

from scanlab_report.claims.measures import MEASURES, MISSING, Values
from scanlab_report.claims.stated import CLAIM, PUBLISHED, Claim, read
from scanlab_report.data import Data
from scanlab_report.groups import CEILING
from scanlab_report.intervals import Interval
from scanlab_report.pick import Lacking
from scanlab_report.sources import Source

HOLDS, FAILS, NOT_MEASURED = "holds", "fails", "not measured"


@dataclass(frozen=True)
class Standing:
    """A claim, and the value that is farthest from its bound. `met` of the `files` with the claim
    meet it; 0 files: it was not measured. `sure`: so do all intervals. `reference`: a value in the
    place of a target that is missed, such as that of a copy, in words."""

    claim: Claim
    measured: Interval | None = None
    where: str = MISSING
    met: int = 0
    files: int = 0
    sure: bool = True
    reference: str = ""
    cases: int = 0
    sources: tuple[Source, ...] = ()

    @property
    def statement(self) -> str:
        counted = f"all {self.cases} cases" if self.cases else "all cases"
        return self.claim.statement.replace("all cases", counted)

    @property
    def verdict(self) -> str:
        """The verdict by the median: the bound must be met in every file."""
        if not self.files:
            return NOT_MEASURED
        return HOLDS if self.met == self.files else FAILS

    @property
    def qualified(self) -> str:
        """The verdict, and whether it is that of some files or of the median only."""
        if self.verdict == HOLDS and not self.sure:
            return f"{HOLDS} by the median only"
        some = f" in {self.files - self.met} of {self.files} files"
        return self.verdict + some * (0 < self.met < self.files)


def stands(claim: Claim, values: Values) -> Standing:
    """The standing by several values; Lacking if there is none. A count has no interval."""
    if not values.known:
        raise Lacking(MISSING)
    worst = max(values.known, key=lambda known: claim.excess(known.median))
    files = {known.file for known in values.known}
    missed = {known.file for known in values.known if not claim.meets(known.median)}
    intervals = [k.value for k in values.known if isinstance(k.value, Interval)]
    sure = all(v.known and claim.meets(v.low) and claim.meets(v.high) for v in intervals)
    reference = values.reference(worst) if claim.ours and missed else ""
    measured = worst.value
    if not isinstance(measured, Interval):
        measured = Interval(worst.median, np.nan, np.nan, 1)
    met = len(files - missed)
    outcome = (measured, worst.where, met, len(files), sure, reference, values.cases)
    return Standing(claim, *outcome, tuple(values.sources))


def check(claims: Iterable[Claim], data: Data) -> list[Standing]:
    """Return the standing of each claim on each of its devices, or else on the first device with
    data. A device is named unless it is the one that a reader expects."""
    expected = data.first if data.first in data.devices else next(iter(data.devices), "")
    made = []
    for claim in claims:
        standings: list[Standing] = []
        for device in claim.on or data.devices or [""]:
            on = data.on(device) if device else data
            try:
                make = lambda: stands(claim, MEASURES[claim.measure][0](claim, on))
                standing = on.once(repr(claim), make)
            except Lacking:
                continue
            if device != expected and any(device in s.device.split(", ") for s in standing.sources):
                where = ", ".join(filter(None, (standing.where, device)))
                standing = replace(standing, where=where)
            standings.append(standing)
            if not claim.on:
                break
        made += standings or [Standing(claim)]
    return made


def unit(claim: Claim) -> str:
    """The unit of a value; copies are a ceiling, scans are rivals."""
    if claim.of_published:
        return "of the speedup of 2007"
    if claim.measure != "speed":
        return MEASURES[claim.measure][1]
    if isinstance(claim.over, str):
        return "× CUB" if claim.over == "cub" else "× CUB as shipped"
    return f"{'of' if CEILING in claim.over else '×'} {' or '.join(claim.over)}"


def literature(data: Data, *measures: str) -> list[Standing]:
    """Published statements by some measures; Lacking if none was measured."""
    return _measured(data, [c for c in read() if c.kind == PUBLISHED and c.measure in measures])


def targets(data: Data, *measures: str) -> list[Standing]:
    """Return the claims and targets by some measures, in the rows of the papers, on the first
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
    if not any(standing.files for standing in standings):
        raise Lacking("results that any claim speaks of")
    return standings


def all_sources(standings: Iterable[Standing]) -> list[Source]:
    """The sources of several standings, one per origin."""
    by: dict[str, list[Source]] = {}
    for source in (source for standing in standings for source in standing.sources):
        by.setdefault(source.origin, []).append(source)
    every = lambda lists: tuple(sorted(set(itertools.chain.from_iterable(lists))))
    made = []
    for origin, same in by.items():
        devices = ", ".join(sorted({source.device for source in same}))
        dates, commits = every(s.dates for s in same), every(s.commits for s in same)
        made.append(Source(devices, origin, dates, commits, any(s.dirty for s in same)))
    return made
