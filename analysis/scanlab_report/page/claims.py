"""Claims, published statements and targets, each with its bound, its value and its verdict."""

from __future__ import annotations

from typing import Any

from scanlab_report.claims.checked import all_sources, check, unit
from scanlab_report.claims.stated import read
from scanlab_report.data import Data
from scanlab_report.formats import with_interval
from scanlab_report.shown import footer_line


def views(data: Data) -> list[dict[str, Any]]:
    """One view with every claim in order; none where no claim was measured."""
    standings = check(read(), data)
    if all(standing.reached is None for standing in standings):
        return []
    columns: dict[str, list[str]] = {}
    for standing in standings:
        claim = standing.claim
        row = {
            "claim": standing.statement,
            "target": f"{claim.wanted} {unit(claim)}",
            "measured": with_interval(standing.measured),
            "where": standing.where,
            "verdict": standing.verdict,
            "said": standing.qualified,
            "source": claim.source or "Scanlab",
            "figure": claim.figure,
        }
        for name, text in row.items():
            columns.setdefault(name, []).append(text)
    return [{"claims": columns, "source": footer_line(all_sources(standings))}]
