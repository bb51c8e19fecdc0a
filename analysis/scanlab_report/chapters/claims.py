"""Claims, published statements and targets, each with its bound, its value and its verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

from scanlab_report.chapters.head_to_head import FILES
from scanlab_report.claims import stated
from scanlab_report.claims.checked import all_sources, literature, targets, unit
from scanlab_report.claims.standing import (
    BEST_PREDICTION,
    FAILS,
    FILE_ACCESS,
    HOLDS,
    NOT_MEASURED,
    Standing,
)
from scanlab_report.console import count
from scanlab_report.data import Data
from scanlab_report.formats import (
    Column,
    Table,
    citation,
    code,
    records,
    significant,
    whole,
    with_interval,
)
from scanlab_report.intervals import Interval
from scanlab_report.shown import Shown, shown, table
from scanlab_report.tables import ODD_SIZES

BY_MEDIAN = (
    "By the median only: at some size, which need not be that of the row, the interval reaches "
    "beyond the target. Or repetitions are too few for one."
)
OF_SESSIONS = "For speedups over one core all sessions count, since CPU times differ by session."
WITHOUT_SCAN = "Reference of a missed target of ours: the value without the scan."
OF_COPIES = (
    "Against CUB, the reference is `copy_one_wave` where it was timed, otherwise the fastest copy. "
    "Against memcpy, it is the copy kernel with the same access path."
)
OF_OTHERS = {
    FILE_ACCESS: "For files, the reference reads and writes the file without a scan.",
    BEST_PREDICTION: "Reference of overlaps: the best possible prediction.",
}


@table("scans", *FILES, "traffic", "implicit_sync")
def claims(data: Data) -> Shown:
    """Claims of the literature against the data."""
    return _shown(data, literature(data), "Claims of the literature against these data")


@table("scans", *FILES, "traffic")
def scan_claims(data: Data) -> Shown:
    """Claims of the literature on scans against the data."""
    standings = literature(data, *stated.OF_LITERATURE_ON_SCANS)
    return _shown(data, standings, "Claims of the literature on scans against these data")


@table("scans", *FILES, ODD_SIZES, "nvbench", name="targets")
def scan_targets(data: Data) -> Shown:
    """Targets of the fastest scans."""
    return _shown(
        data,
        targets(data, *stated.OF_SCANS),
        "Targets of the scans, for `best` unless another variant is named",
        "CUB is its fastest scan in each case; as shipped, its fastest one without our tuning.",
        "`copy_one_wave` is a comparison, not a bound.",
    )


@table("schedules", "traces", "from_memory", "from_files", "from_large_files")
def streams_targets(data: Data) -> Shown:
    """Targets of the schedules and of stream-scan."""
    return _shown(
        data,
        targets(data, *stated.OF_STREAMS),
        "Targets of the schedules and of stream-scan",
        "The pipeline estimate comes from copies and kernels of the same run.",
        "For files, streamed and naive scans each use their faster way of writing, in the session "
        "that gains least.",
        "The overhead is that of the trace with the largest change.",
    )


@table("model")
def model_targets(data: Data) -> Shown:
    """Targets of the engine model."""
    standings = targets(data, *stated.OF_ENGINES)
    return _shown(data, standings, "Targets of the engine model's predictions")


def _shown(data: Data, standings: Sequence[Standing], caption: str, *further: str) -> Shown:
    brackets = any(s.measured and s.measured.known for s in standings)
    quiet = (*stated.OF_STREAMS, *stated.OF_ENGINES)
    usual = any(s.claim.measure not in quiet for s in standings)
    varied = any(s.claim.variation for s in standings)
    caption += ", with 95% intervals in brackets" * brackets
    caption += (
        ". Each row shows the case and the results file of the newest code farthest from the "
    )
    caption += "target" + ": cold cache and stream launches unless stated" * usual + "."
    caption += " A percentage behind a target is its tolerance." * varied
    made = claims_table(standings, caption, further)
    return shown(data, made, caption, *all_sources(standings)[:2])


class Words(NamedTuple):
    """Words for the entries of a kind. A pair has the words for one entry and for several."""

    title: str = ""
    entry: str = "claim"
    bound: str = "target"
    value: str = "measured"
    good: tuple[str, str] = (HOLDS, "hold")
    bad: tuple[str, str] = (FAILS, "fail")


IN_PAPER = Words()
KINDS = {
    stated.CLAIM: Words("Claims of Scanlab", "claim", "bound"),
    stated.PUBLISHED: Words(
        *("Published statements, tested again", "statement", "stated", "measured"),
        good=("agrees", "agree"),
        bad=("differs", "differ"),
    ),
    stated.TARGET: Words(
        *("Open targets", "target", "wanted", "reached"),
        good=("reached", "reached"),
        bad=("missed", "missed"),
    ),
}


def sections(standings: Sequence[Standing]) -> str:
    """A heading, a sentence and a table for each kind, in Markdown."""
    made = []
    for kind, words in KINDS.items():
        own = [standing for standing in standings if standing.claim.kind == kind]
        if own:
            content = claims_table(own, "", words=words).markdown().strip()
            made.append(f"### {words.title}\n\n{_counted(own, words)}\n\n{content}")
    return "\n\n".join(made)


def _counted(standings: Sequence[Standing], words: Words) -> str:
    """`3 claims: 2 hold, 1 fails; 1 by the median only.`"""
    verdicts = [standing.verdict for standing in standings]
    forms = {HOLDS: words.good, FAILS: words.bad, NOT_MEASURED: (NOT_MEASURED,) * 2}
    parts = [
        f"{number} {form[number > 1]}"
        for verdict, form in forms.items()
        if (number := verdicts.count(verdict))
    ]
    unsure = sum(standing.unsure for standing in standings)
    median = f"; {unsure} by the median only" if unsure else ""
    return f"{count(len(standings), words.entry)}: {', '.join(parts)}{median}."


def claims_table(
    standings: Sequence[Standing],
    caption: str,
    further: Sequence[str] = (),
    words: Words = IN_PAPER,
) -> Table:
    """Return a table of standings in order. Notes say how values were chosen. Tables of the papers
    lack the column of figures."""
    rows = [
        {
            "statement": s.statement,
            "wanted": f"{s.claim.wanted} {unit(s.claim)}",
            "measured": s.measured and _Printed(**asdict(s.measured), claim=s.claim),
            "where": s.where,
            "bound": reference(s),
            "set_by": code(s.claim.set_by),
            "verdict": s.qualified.replace(HOLDS, words.good[0]).replace(FAILS, words.bad[0]),
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
        Column("bound", "reference", right=False, wrap=8.5): any(s.bound for s in standings),
        Column("set_by", "set by", right=False): True in ours,
        Column("source", "source", right=False, refers=citation): False in ours,
        Column("figure", "shown in", code, right=False): words is not IN_PAPER,
    }
    bounds = [s.bound for s in standings if s.bound]
    names = {bound.what for bound in bounds}
    notes = {
        "Verdicts follow the median.": True,
        BY_MEDIAN: any(s.unsure for s in standings),
        "Set by: the commit that wrote the target down.": True in ours,
        **dict.fromkeys(further, True),
        OF_SESSIONS: any(s.claim.measure == "speedup" for s in standings),
        WITHOUT_SCAN: names - {BEST_PREDICTION},
        '"None": that value meets the target.': any(bound.enough for bound in bounds),
        OF_COPIES: names - OF_OTHERS.keys(),
        **{text: name in names for name, text in OF_OTHERS.items()},
    }
    chosen = [column for column, there in columns.items() if there]
    below = tuple(note for note, there in notes.items() if there)
    return Table(caption, chosen, records(rows), below)


@dataclass(frozen=True)
class _Printed(Interval):
    """A value with its claim, which says how many digits it needs."""

    claim: stated.Claim


def _measured(value: _Printed | None) -> str:
    if value is None:
        return with_interval(None)
    if not value.known and value.value == int(value.value):
        return whole(value.value)
    return with_interval(value, value.claim.digits(value.value, 3))


def reference(standing: Standing) -> str:
    """Return the value of the reference, a copy or a bound, beside a missed target; empty if there
    is none."""
    if (bound := standing.bound) is None:
        return ""
    digits = standing.claim.digits(bound.allows, 3 if bound.allows >= 1 else 2)
    allows = f"{significant(bound.allows, digits)}{bound.unit}"
    return f"none: {bound.what} has {allows}" if bound.enough else f"{bound.what}: {allows}"
