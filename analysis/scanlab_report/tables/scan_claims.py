"""Claims of the literature on scans against the data."""

from __future__ import annotations

from scanlab_report.claims.checked import ClaimEvidence, literature
from scanlab_report.claims.stated import OF_LITERATURE_ON_SCANS
from scanlab_report.layout.table_formats import Table
from scanlab_report.tables.claims import table

NEEDS = {"claims": literature(OF_LITERATURE_ON_SCANS)}


def build(claims: ClaimEvidence) -> Table:
    return table(claims.checked, "Claims of the literature on scans against these data", figures=False)
