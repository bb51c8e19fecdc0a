"""Claims, published statements and targets, each with its bound, its value and its verdict."""

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from msgspec import structs

from scanlab_report.chapters.head_to_head import FILES
from scanlab_report.claims import stated
from scanlab_report.claims.measures import MEASURES, MISSING
from scanlab_report.claims.stated import CLAIM, PUBLISHED, TARGET, Claim
from scanlab_report.data import Data
from scanlab_report.formats import Table, alike, citation, code, records, whole, with_interval
from scanlab_report.groups import CEILING
from scanlab_report.intervals import Interval
from scanlab_report.pick import Lacking
from scanlab_report.shown import Shown, shown, table
from scanlab_report.sources import Source
from scanlab_report.tables import ODD_SIZES
from scanlab_report.versus import or_lacking

HOLDS, FAILS, NOT_MEASURED = "holds", "fails", "not measured"
IN_PAPER = ("", "claim", "target", "measured", HOLDS, FAILS)
KINDS = {
    CLAIM: ("Claims of Scanlab", "claim", "bound", "measured", HOLDS, FAILS),
    PUBLISHED: ("Published statements, tested again", "statement", "stated", "measured")
    + ("agrees", "differs"),
    TARGET: ("Open targets", "target", "wanted", "reached", "reached", "missed"),
}
"""The title of each kind, and its words for an entry, the bound, the value and both verdicts."""


@dataclass(frozen=True)
class Measured(Interval):
    """A value with its claim, which says how many digits it needs. A count has no interval."""

    claim: Claim

    def __str__(self) -> str:
        if not self.known and self.value == int(self.value):
            return whole(self.value)
        return with_interval(self, self.claim.digits(self.value, 3))


@dataclass(frozen=True)
class Standing:
    """A claim, its value farthest from the bound, and how many files meet it (`sure`: surely)."""

    claim: Claim
    measured: Measured | None = None
    where: str = MISSING
    met: int = 0
    files: int = 0
    sure: bool = True
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


def stands(claim: Claim, data: Data) -> Standing:
    """The standing on one device; Lacking if nothing was measured."""
    known, sources, cases = MEASURES[claim.measure][0](claim, data)
    if not known:
        raise Lacking(MISSING)
    worst = max(known, key=lambda one: claim.excess(one.median))
    files = {one.file for one in known}
    missed = {one.file for one in known if not claim.meets(one.median)}
    intervals = [one.value for one in known if isinstance(one.value, Interval)]
    sure = all(v.known and claim.meets(v.low) and claim.meets(v.high) for v in intervals)
    own = worst.value
    value = own if isinstance(own, Interval) else Interval(worst.median, np.nan, np.nan, 1)
    measured = Measured(value.value, value.low, value.high, value.count, claim)
    counts = len(files - missed), len(files), sure, cases
    return Standing(claim, measured, worst.where, *counts, tuple(sources))


def check(claims: Iterable[Claim], data: Data) -> list[Standing]:
    """The standings on the devices of each claim, or on the first with data; others are named."""
    expected = data.first if data.first in data.devices else next(iter(data.devices), "")
    made = []
    for claim in claims:
        standings: list[Standing] = []
        for device in claim.on or data.devices or [""]:
            on = data.on(device) if device else data
            with suppress(Lacking):
                one = on.once(repr(claim), lambda: stands(claim, on))
                if device != expected and any(device in s.device.split(", ") for s in one.sources):
                    one = replace(one, where=", ".join(filter(None, (one.where, device))))
                standings.append(one)
                if not claim.on:
                    break
        made += standings or [Standing(claim)]
    return made


def literature(data: Data, *measures: str) -> list[Standing]:
    """Published statements by some measures; Lacking if none was measured."""
    return _any(check([c for c in stated.read() if not c.ours and c.measure in measures], data))


def targets(data: Data, *measures: str) -> list[Standing]:
    """Claims and targets by some measures, in the rows of the papers; Lacking if none is known."""
    claims: list[Claim] = []
    entries = [claim for claim in stated.read() if claim.ours and claim.measure in measures]
    for claim in sorted(entries, key=lambda claim: claim.row):
        anywhere = structs.replace(claim, kind=CLAIM, on=[], row=0)
        if anywhere not in claims:
            claims.insert(claim.row - 1 if claim.row else len(claims), anywhere)
    return _any(check(claims, data))


def _any(standings: list[Standing]) -> list[Standing]:
    or_lacking([s for s in standings if s.files], "results that any claim speaks of")
    return standings


def all_sources(standings: Iterable[Standing]) -> list[Source]:
    """The sources of several standings, one per origin."""
    sources = [source for standing in standings for source in standing.sources]
    every = lambda lists: tuple(sorted(set(itertools.chain.from_iterable(lists))))
    made = []
    for origin in dict.fromkeys(source.origin for source in sources):
        same = [source for source in sources if source.origin == origin]
        devices = ", ".join(sorted({source.device for source in same}))
        dates, commits = every(s.dates for s in same), every(s.commits for s in same)
        made.append(Source(devices, origin, dates, commits))
    return made


@table("scans", *FILES, "traffic")
def scan_claims(data: Data) -> Shown:
    """Claims of the literature on scans against the data."""
    caption = (
        "Claims of the literature on scans against these data. For speedups over one core all "
        "sessions count."
    )
    return _shown(data, literature(data, *stated.OF_LITERATURE_ON_SCANS), caption)


@table("scans", *FILES, ODD_SIZES, "nvbench", name="targets")
def scan_targets(data: Data) -> Shown:
    """Targets of the fastest scans."""
    caption = (
        "Targets of the scans, for `best` unless another variant is named, cold and launched in a "
        "stream unless stated."
    )
    return _shown(data, targets(data, *stated.OF_SCANS), caption)


@table("schedules", "traces", "from_memory", "from_files", "from_large_files")
def streams_targets(data: Data) -> Shown:
    """Targets of the schedules and of stream-scan."""
    caption = (
        "Targets of the schedules and of stream-scan. The pipeline estimate comes from copies and "
        "kernels of the same run."
    )
    return _shown(data, targets(data, *stated.OF_STREAMS), caption)


@table("model")
def model_targets(data: Data) -> Shown:
    """Targets of the engine model."""
    caption = "Targets of the engine model's predictions."
    return _shown(data, targets(data, *stated.OF_ENGINES), caption)


def _shown(data: Data, standings: Sequence[Standing], caption: str) -> Shown:
    caption += " Each row shows the case and the results file of the newest code farthest from the "
    caption += "target"
    if any(s.measured and s.measured.known for s in standings):
        caption += ", with its 95% interval in brackets"
    if any("median" in s.qualified for s in standings):
        caption += "; by the median only: an interval reaches beyond the target, or is not known"
    made = claims_table(standings, f"{caption}.")
    return shown(data, made, made.caption, *all_sources(standings)[:2])


def sections(standings: Sequence[Standing]) -> str:
    """A heading, the number of each verdict, and a table for each kind, in Markdown."""
    made = []
    for kind, words in KINDS.items():
        own = [standing for standing in standings if standing.claim.kind == kind]
        verdicts = Counter(_in_words(standing.verdict, words) for standing in own)
        parts = [f"{number} {verdict}" for verdict, number in verdicts.items()]
        if unsure := sum("median" in standing.qualified for standing in own):
            parts.append(f"{unsure} of these by the median only")
        if own:
            counted = f"{len(own)} {words[1]}s. Verdicts: {', '.join(parts)}."
            content = claims_table(own, "", words).markdown().strip()
            made.append(f"### {words[0]}\n\n{counted}\n\n{content}")
    return "\n\n".join(made)


def _in_words(verdict: str, words: Sequence[str]) -> str:
    return verdict.replace(HOLDS, words[4]).replace(FAILS, words[5])


def _unit(claim: Claim) -> str:
    """The unit of a value; copies are a ceiling, scans are rivals."""
    if claim.measure != "speed":
        return "of the speedup of 2007" if claim.of_published else MEASURES[claim.measure][1]
    if isinstance(claim.over, str):
        return "× CUB" if claim.over == "cub" else "× CUB as shipped"
    return f"{'of' if CEILING in claim.over else '×'} {' or '.join(claim.over)}"


def claims_table(
    standings: Sequence[Standing], caption: str, words: Sequence[str] = IN_PAPER
) -> Table:
    """A table of standings in order. Tables of the papers lack the column of figures."""
    rows = [
        {
            "statement": s.statement,
            "wanted": f"{s.claim.wanted} {_unit(s.claim)}",
            "measured": s.measured,
            "where": s.where,
            "verdict": _in_words(s.qualified, words),
            "set_by": code(s.claim.set_by),
            "source": s.claim.source or "ours",
            "figure": s.claim.figure,
        }
        for s in standings
    ]
    ours = {s.claim.ours for s in standings}
    columns = alike(str, statement=words[1], wrap=15) + alike(str, wanted=words[2], wrap=9)
    columns += alike(lambda value: str(value or "—"), measured=words[3])
    columns += alike(str, where="at", wrap=9) + alike(str, "verdict", wrap=4.5)
    columns += alike(str, set_by="set by") if True in ours else []
    columns += alike(str, "source", refers=citation) if False in ours else []
    columns += alike(code, figure="shown in") if words is not IN_PAPER else []
    return Table(caption, columns, records(rows))
