"""What the literature claims, and whether the data bear it out; our own claims are the targets."""

from __future__ import annotations

from scanlab_report.claims.checked import ClaimEvidence, literature, table
from scanlab_report.layout.table_formats import Table

NEEDS = {"claims": literature()}


def build(claims: ClaimEvidence) -> Table:
    return table(claims.checked, "What the literature claims, and whether these data bear it out", figures=False)
