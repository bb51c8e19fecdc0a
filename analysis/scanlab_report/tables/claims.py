"""What the literature claims, and whether the data bear it out; and the table that all claims are printed in."""

from __future__ import annotations

from collections.abc import Sequence

from scanlab_report.claims.checked import ClaimEvidence, literature
from scanlab_report.claims.standing import Standing
from scanlab_report.claims.stated import OURS
from scanlab_report.layout.table_formats import Column, Table, code, records, whole, with_interval
from scanlab_report.stats.intervals import Interval

NEEDS = {"claims": literature()}

BY_MEDIAN = (
    " What is wanted is met, or not, by the median; the interval says how sure that is, and where one reaches beyond the bound, this one or that "
    "of another size or run, that is said."
)
BY_SESSION = (
    " Over one core, all sessions count, of any code: the time of cpu_sequential differs by the session, and so do the ratios, whose range is given."
)
REFERENCE = (
    " Reference: for a claim of ours that fails, what is measured there without the scan, in what the claim is measured in: of a copy of "
    "the same items, copy_one_wave, whose blocks meet between reading and writing as those of one_wave do, where that was timed, else the "
    "fastest copy; of pairs that overlap, what any prediction could have, since repetitions differ; of files, the same threads that read and write, "
    "and no scan between them. A scan can be faster than its reference. None: the reference allows what is wanted, so it is no reason."
)


def build(claims: ClaimEvidence) -> Table:
    return table(claims.checked, "What the literature claims, and whether these data bear it out", figures=False)


def table(checked: Sequence[Standing], caption: str, further: str = "", figures: bool = True) -> Table:
    """Claims in order, with the figures that show them; how values were chosen is said behind the caption.

    Who claims it is a column unless all of them are ours, and so is the reference where one has it.
    """
    rows = [{"statement": one.what, "wanted": f"{one.claim.wanted} {one.measure}", "measured": one.measured,
             "where": one.where, "verdict": one.said, "source": "ours" if one.claim.source == OURS else one.claim.source,
             "bound": str(one.bound or ""), "figure": one.claim.figure} for one in checked]  # fmt: skip
    bound = any(row["bound"] for row in rows)
    others = any(row["source"] != "ours" for row in rows)
    return Table(
        caption=f"{caption}, with 95% intervals in brackets: at the size, and in the run of the newest code, that is farthest "
        "from what is wanted; cold and launched in a stream unless said. A percentage behind what is wanted is how far a value may miss it."
        + BY_MEDIAN
        + further
        + (BY_SESSION if any(one.claim.measure == "speedup" for one in checked) else "")
        + (REFERENCE if bound else ""),
        columns=(
            Column("statement", "claim", right=False, wrap=16),
            Column("wanted", "wanted", right=False, wrap=9),
            Column("measured", "measured", _measured),
            Column("where", "at", right=False, wrap=9),
            Column("verdict", "verdict", right=False, wrap=4.5),
            *([Column("bound", "reference", right=False, wrap=10)] if bound else []),
            *([Column("source", "source", right=False)] if others else []),
            *([Column("figure", "shown in", code, right=False)] if figures else []),
        ),
        rows=records(rows),
    )  # fmt: skip


def _measured(interval: Interval | None) -> str:
    if interval is not None and not interval.known and interval.value == int(interval.value):
        return whole(interval.value)
    return with_interval(interval, 3)
