"""Claims, published statements and targets, each with its bound, its value and its verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

from scanlab_report.chapters.head_to_head import FILES
from scanlab_report.claims import stated
from scanlab_report.claims.standing import (
    FAILS,
    HOLDS,
    Standing,
    all_sources,
    literature,
    targets,
    unit,
)
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table, citation, code, records, whole, with_interval
from scanlab_report.intervals import Interval
from scanlab_report.shown import Shown, shown, table
from scanlab_report.tables import ODD_SIZES


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
        "stream unless stated. The reference of a missed target is a copy in place of the scan; "
        '"none" marks a copy that meets the target.'
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


class Words(NamedTuple):
    """Words for the entries of a kind."""

    entry: str = "claim"
    bound: str = "target"
    value: str = "measured"
    good: str = HOLDS
    bad: str = FAILS

    def of(self, verdict: str) -> str:
        """A verdict in the words of the kind."""
        return verdict.replace(HOLDS, self.good).replace(FAILS, self.bad)


IN_PAPER = Words()
KINDS = {
    (stated.CLAIM, "Claims of Scanlab"): Words("claim", "bound"),
    (stated.PUBLISHED, "Published statements, tested again"): Words(
        *("statement", "stated", "measured", "agrees", "differs")
    ),
    (stated.TARGET, "Open targets"): Words("target", "wanted", "reached", "reached", "missed"),
}


def sections(standings: Sequence[Standing]) -> str:
    """A heading, the number of each verdict, and a table for each kind, in Markdown."""
    made = []
    for (kind, title), words in KINDS.items():
        own = [standing for standing in standings if standing.claim.kind == kind]
        verdicts = Counter(words.of(standing.verdict) for standing in own)
        parts = [f"{number} {verdict}" for verdict, number in verdicts.items()]
        if unsure := sum("median" in standing.qualified for standing in own):
            parts.append(f"{unsure} of these by the median only")
        if own:
            counted = f"{len(own)} {words.entry}s. Verdicts: {', '.join(parts)}."
            content = claims_table(own, "", words).markdown().strip()
            made.append(f"### {title}\n\n{counted}\n\n{content}")
    return "\n\n".join(made)


def claims_table(standings: Sequence[Standing], caption: str, words: Words = IN_PAPER) -> Table:
    """A table of standings in order. Tables of the papers lack the column of figures."""
    rows = [
        {
            "statement": s.statement,
            "wanted": f"{s.claim.wanted} {unit(s.claim)}",
            "measured": s.measured and _Printed(**asdict(s.measured), claim=s.claim),
            "where": s.where,
            "verdict": words.of(s.qualified),
            "bound": s.reference,
            "set_by": code(s.claim.set_by),
            "source": s.claim.source or "ours",
            "figure": s.claim.figure,
        }
        for s in standings
    ]
    ours = {s.claim.ours for s in standings}
    columns = {
        Column("statement", words.entry, right=False, wrap=15): True,
        Column("wanted", words.bound, right=False, wrap=9): True,
        Column("measured", words.value, _measured): True,
        Column("where", "at", right=False, wrap=9): True,
        Column("verdict", "verdict", right=False, wrap=4.5): True,
        Column("bound", "reference", right=False, wrap=8.5): any(s.reference for s in standings),
        Column("set_by", "set by", right=False): True in ours,
        Column("source", "source", right=False, refers=citation): False in ours,
        Column("figure", "shown in", code, right=False): words is not IN_PAPER,
    }
    return Table(caption, [column for column, there in columns.items() if there], records(rows))


@dataclass(frozen=True)
class _Printed(Interval):
    """A value with its claim, which says how many digits it needs."""

    claim: stated.Claim


def _measured(value: _Printed | None) -> str:
    if value is not None and not value.known and value.value == int(value.value):
        return whole(value.value)
    return with_interval(value, value.claim.digits(value.value, 3) if value else 3)
