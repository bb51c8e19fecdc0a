"""Claims, published statements and targets, each with its bound, its value and its verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scanlab_report.chapters.head_to_head import FILES
from scanlab_report.claims.checked import (
    BEST_PREDICTION,
    FAILS,
    FILE_ACCESS,
    HOLDS,
    NOT_MEASURED,
    Standing,
    all_sources,
    literature,
    targets,
    unit,
)
from scanlab_report.claims.stated import (
    CLAIM,
    OF_ENGINES,
    OF_LITERATURE_ON_SCANS,
    OF_SCANS,
    OF_STREAMS,
    PUBLISHED,
    TARGET,
)
from scanlab_report.console import count
from scanlab_report.data import ODD_SIZES, Data
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

VERDICTS = "Verdicts follow the median."
BY_MEDIAN = ("By the median only: at some size, which need not be that of the row, the interval "
             "reaches beyond the target. Or repetitions are too few for one.")  # fmt: skip
SET_BY = "Set by: the commit that wrote the target down."
BY_SESSION = ("For speedups over one core all sessions count, since CPU times differ by "
              "session.")  # fmt: skip
REFERENCE = "Reference of a missed target of ours: the value without the scan."
NO_REFERENCE = '"None": that value meets the target.'
OF_COPIES = ("Against CUB, the reference is `copy_one_wave` where it was timed, otherwise the "
             "fastest copy. Against memcpy, it is the copy kernel with the same access "
             "path.")  # fmt: skip
OF_OTHERS = {
    FILE_ACCESS: "For files, the reference reads and writes the file without a scan.",
    BEST_PREDICTION: "Reference of overlaps: the best possible prediction.",
}
WORDS = {
    CLAIM: ("claim", ("holds", "fails"), ("hold", "fail")),
    PUBLISHED: ("published statement", ("agrees", "differs"), ("agree", "differ")),
    TARGET: ("open target", ("reached", "missed"), ("reached", "missed")),
}
"""The name of an entry of each kind, and its verdicts, for one and for several."""
HEADINGS = {CLAIM: ("claim", "bound", "measured"), PUBLISHED: ("statement", "stated", "measured"),
            TARGET: ("target", "wanted", "reached")}  # fmt: skip
TITLES = {CLAIM: "Claims of Scanlab", PUBLISHED: "Published statements, tested again",
          TARGET: "Open targets"}  # fmt: skip


@table("scans", *FILES, "traffic", "implicit_sync")
def claims(data: Data) -> Shown:
    """Claims of the literature against the data."""
    return _shown(data, literature(data), "Claims of the literature against these data")


@table("scans", *FILES, "traffic")
def scan_claims(data: Data) -> Shown:
    """Claims of the literature on scans against the data."""
    standings = literature(data, *OF_LITERATURE_ON_SCANS)
    return _shown(data, standings, "Claims of the literature on scans against these data")


@table("scans", *FILES, ODD_SIZES, "nvbench", name="targets")
def scan_targets(data: Data) -> Shown:
    """Targets of the fastest scans."""
    caption = "Targets of the scans, for `best` unless another variant is named"
    return _shown(data, targets(data, *OF_SCANS), caption,
                  "CUB is its fastest scan in each case; as shipped, its fastest one without our "
                  "tuning.", "`copy_one_wave` is a comparison, not a bound.")  # fmt: skip


@table("schedules", "traces", "from_memory", "from_files", "from_large_files")
def streams_targets(data: Data) -> Shown:
    """Targets of the schedules and of stream-scan."""
    return _shown(
        data, targets(data, *OF_STREAMS), "Targets of the schedules and of stream-scan",
        "The pipeline estimate comes from copies and kernels of the same run.",
        "For files, streamed and naive scans each use their faster way of writing, in the session "
        "that gains least.",
        "The overhead is that of the trace with the largest change.",
    )  # fmt: skip


@table("model")
def model_targets(data: Data) -> Shown:
    """Targets of the engine model."""
    return _shown(data, targets(data, *OF_ENGINES), "Targets of the engine model's predictions")


def _shown(data: Data, standings: Sequence[Standing], caption: str, *further: str) -> Shown:
    made = claims_table(standings, caption, further)
    return shown(data, made, made.caption, *all_sources(standings)[:2])


def sections(standings: Sequence[Standing]) -> str:
    """A heading, a sentence and a table for each kind, in Markdown."""
    made = []
    for kind, title in TITLES.items():
        own = [standing for standing in standings if standing.claim.kind == kind]
        if own:
            content = claims_table(own, "", kind=kind).markdown().strip()
            made.append(f"### {title}\n\n{_counted(own, kind)}\n\n{content}")
    return "\n\n".join(made)


def _counted(standings: Sequence[Standing], kind: str) -> str:
    """`3 claims: 2 hold, 1 fails; 1 by the median only.`"""
    verdicts = [standing.verdict for standing in standings]
    name, *words = WORDS[kind]
    parts = []
    for found, *forms in zip((HOLDS, FAILS, NOT_MEASURED), *(w + (NOT_MEASURED,) for w in words),
                             strict=True):  # fmt: skip
        if number := verdicts.count(found):
            parts.append(f"{number} {forms[number > 1]}")
    unsure = sum(standing.unsure for standing in standings)
    median = f"; {unsure} by the median only" if unsure else ""
    return f"{count(len(standings), name)}: {', '.join(parts)}{median}."


def claims_table(
    standings: Sequence[Standing], caption: str, further: Sequence[str] = (), kind: str = ""
) -> Table:
    """Standings in order; notes say how values were chosen. Of one kind: with the headings and
    verdicts of the kind, and the figures that show them."""
    rows = [{"statement": s.statement, "wanted": f"{s.claim.wanted} {unit(s.claim)}",
             "measured": _printed(s), "where": s.where,
             "verdict": verdict(s) if kind else s.qualified, "bound": reference(s),
             "set_by": code(s.claim.set_by), "source": s.claim.source or "ours",
             "figure": s.claim.figure} for s in standings]  # fmt: skip
    brackets = any(s.measured and s.measured.known for s in standings)
    of_scans = any(s.claim.measure not in (*OF_STREAMS, *OF_ENGINES) for s in standings)
    ours = any(s.claim.ours for s in standings)
    text = (
        caption
        + ", with 95% intervals in brackets" * brackets
        + (
            ". Each row shows the case and the results file of the newest code farthest from the target"
        )
        + ": cold cache and stream launches unless stated" * of_scans
        + "."
    )
    if any(s.claim.variation for s in standings):
        text += " A percentage behind a target is its tolerance."
    headings = HEADINGS[kind] if kind else ("claim", "target", "measured")
    columns = [
        Column("statement", headings[0], right=False, wrap=15),
        Column("wanted", headings[1], right=False, wrap=9),
        Column("measured", headings[2], _measured), Column("where", "at", right=False, wrap=9),
        Column("verdict", "verdict", right=False, wrap=4.5),
    ]  # fmt: skip
    if any(row["bound"] for row in rows):
        columns.append(Column("bound", "reference", right=False, wrap=8.5))
    if ours:
        columns.append(Column("set_by", "set by", right=False))
    if not all(s.claim.ours for s in standings):
        columns.append(Column("source", "source", right=False, refers=citation))
    if kind:
        columns.append(Column("figure", "shown in", code, right=False))
    notes = [VERDICTS, *[BY_MEDIAN] * any(s.unsure for s in standings), *[SET_BY] * ours, *further]
    notes += [BY_SESSION] * any(s.claim.measure == "speedup" for s in standings)
    return Table(text, columns, records(rows), (*notes, *_references(standings)))


def verdict(standing: Standing) -> str:
    """The qualified verdict in the words of its kind."""
    _, (good, bad), _ = WORDS[standing.claim.kind]
    return standing.qualified.replace(HOLDS, good).replace(FAILS, bad)


def _references(standings: Sequence[Standing]) -> Iterator[str]:
    """Sentences on the references that some rows have."""
    bounds = [standing.bound for standing in standings if standing.bound]
    names = {bound.what for bound in bounds}
    if names - {BEST_PREDICTION}:
        yield REFERENCE
    if any(bound.enough for bound in bounds):
        yield NO_REFERENCE
    if names - OF_OTHERS.keys():
        yield OF_COPIES
    yield from (text for name, text in OF_OTHERS.items() if name in names)


@dataclass(frozen=True)
class _Printed(Interval):
    """A value, and with how many digits it is printed."""

    digits: int


def _printed(standing: Standing) -> _Printed | None:
    if (value := standing.measured) is None:
        return None
    digits = standing.claim.digits(value.value, 3)
    return _Printed(value.value, value.low, value.high, value.count, digits)


def _measured(printed: _Printed | None) -> str:
    if printed is None:
        return with_interval(None)
    if not printed.known and printed.value == int(printed.value):
        return whole(printed.value)
    return with_interval(printed, printed.digits)


def reference(standing: Standing) -> str:
    """The value without the scan, beside a target that is missed."""
    if (bound := standing.bound) is None:
        return ""
    digits = standing.claim.digits(bound.allows, 3 if bound.allows >= 1 else 2)
    allows = f"{significant(bound.allows, digits)}{bound.unit}"
    return f"none: {bound.what} has {allows}" if bound.enough else f"{bound.what}: {allows}"
