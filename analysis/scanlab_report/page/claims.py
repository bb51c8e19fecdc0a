"""Claims of Scanlab and of the literature, each with its target, its value and its verdict."""

from __future__ import annotations

from typing import Any

from scanlab_report.claims.checked import check, provenances
from scanlab_report.claims.standing import Standing
from scanlab_report.claims.stated import OURS, read
from scanlab_report.layout.table_formats import with_interval
from scanlab_report.read.published import Publication
from scanlab_report.read.records import Results


def views(results: Results, published: dict[str, Publication]) -> list[dict[str, Any]]:
    """One view with every claim in order; none where no claim was measured."""
    checked = check(read(), results, published)
    if all(one.reached is None for one in checked):
        return []
    rows = [_row(one) for one in checked]
    return [{"claims": {name: [row[name] for row in rows] for name in rows[0]}, "source": "; ".join(of.line() for of in provenances(checked))}]


def _row(one: Standing) -> dict[str, str]:
    return {
        "claim": one.what, "target": f"{one.claim.wanted} {one.measure}", "measured": with_interval(one.measured), "where": one.where,
        "verdict": one.verdict, "said": one.said, "source": "Scanlab" if one.claim.source == OURS else one.claim.source, "figure": one.claim.figure,
    }  # fmt: skip
