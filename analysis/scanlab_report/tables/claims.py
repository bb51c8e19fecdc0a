"""Claims of the literature against the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scanlab_report.claims.checked import ClaimEvidence, literature
from scanlab_report.claims.standing import BEST_PREDICTION, FILE_ACCESS, Standing
from scanlab_report.claims.stated import OF_ENGINES, OF_STREAMS, OURS
from scanlab_report.layout.table_formats import Column, Table, citation, code, records, significant, whole, with_interval
from scanlab_report.stats.intervals import Interval

NEEDS = {"claims": literature()}

VERDICTS = "Verdicts follow the median."
BY_MEDIAN = "By the median only: at some size, which need not be that of the row, the interval reaches beyond the target. Or repetitions are too few for one."
SET_BY = "Set by: the commit that wrote the target down."
BY_SESSION = "For speedups over one core all sessions count, since CPU times differ by session."
REFERENCE = "Reference of a missed target of ours: the value without the scan."
NO_REFERENCE = '"None": that value meets the target.'
OF_COPIES = "Against CUB, the reference is `copy_one_wave` where it was timed, otherwise the fastest copy. Against memcpy, it is the copy kernel with the same access path."
OF_OTHERS = {FILE_ACCESS: "For files, the reference reads and writes the file without a scan.", BEST_PREDICTION: "Reference of overlaps: the best possible prediction."}


def build(claims: ClaimEvidence) -> Table:
    return table(claims.checked, "Claims of the literature against these data", figures=False)


def table(checked: Sequence[Standing], caption: str, further: Sequence[str] = (), figures: bool = True) -> Table:
    """Claims in order, with the figures that show them; notes say how values were chosen.

    Who claims it is a column unless all of them are ours, and so is the reference where one has it.
    """
    rows = [{"statement": one.what, "wanted": f"{one.claim.wanted} {one.measure}", "measured": _printed(one),
             "where": one.where, "verdict": one.said, "source": "ours" if one.claim.source == OURS else one.claim.source,
             "bound": reference(one), "set_by": f"`{one.claim.set_by}`" if one.claim.set_by else "", "figure": one.claim.figure} for one in checked]  # fmt: skip
    bound = any(row["bound"] for row in rows)
    ours = any(row["set_by"] for row in rows)
    brackets = any(one.measured and one.measured.known for one in checked)
    scans = any(one.claim.measure not in (*OF_STREAMS, *OF_ENGINES) for one in checked)
    others = any(row["source"] != "ours" for row in rows)
    return Table(
        caption=f"{caption}{', with 95% intervals in brackets' * brackets}. Each row shows the case and the results file of the newest code farthest from the target"
        f"{': cold cache and stream launches unless stated' * scans}.{' A percentage behind a target is its tolerance.' * any(one.claim.variation for one in checked)}",
        columns=(
            Column("statement", "claim", right=False, wrap=15),
            Column("wanted", "target", right=False, wrap=9),
            Column("measured", "measured", _measured),
            Column("where", "at", right=False, wrap=9),
            Column("verdict", "verdict", right=False, wrap=4.5),
            *([Column("bound", "reference", right=False, wrap=8.5)] if bound else []),
            *([Column("set_by", "set by", right=False)] if ours else []),
            *([Column("source", "source", right=False, refers=citation)] if others else []),
            *([Column("figure", "shown in", code, right=False)] if figures else []),
        ),
        rows=records(rows),
        notes=(VERDICTS, *[BY_MEDIAN] * any(one.unsure for one in checked), *[SET_BY] * ours, *further, *[BY_SESSION] * any(one.claim.measure == "speedup" for one in checked), *_references(checked)),
    )  # fmt: skip


def _references(checked: Sequence[Standing]) -> list[str]:
    """What the references are that some rows have."""
    names = {one.bound.what for one in checked if one.bound}
    said = [OF_COPIES] * bool(names - OF_OTHERS.keys()) + [text for name, text in OF_OTHERS.items() if name in names]
    return [*[REFERENCE] * bool(names - {BEST_PREDICTION}), *[NO_REFERENCE] * any(one.bound and one.bound.enough for one in checked), *said] if names else []


@dataclass(frozen=True)
class _Printed(Interval):
    """What was measured, and with how many digits it is printed."""

    digits: int


def _printed(one: Standing) -> _Printed | None:
    of = one.measured
    return None if of is None else _Printed(of.value, of.low, of.high, of.count, one.claim.digits(of.value, 3))


def _measured(printed: _Printed | None) -> str:
    if printed is None:
        return with_interval(None)
    return whole(printed.value) if not printed.known and printed.value == int(printed.value) else with_interval(printed, printed.digits)


def reference(one: Standing) -> str:
    """What stands beside a target of ours that is missed: what was measured without the scan."""
    if one.bound is None:
        return ""
    allows = significant(one.bound.allows, one.claim.digits(one.bound.allows, 3 if one.bound.allows >= 1 else 2))
    return f"none: {one.bound.what} has {allows}{one.bound.unit}" if one.bound.enough else f"{one.bound.what}: {allows}{one.bound.unit}"
