"""Targets of the engine model."""

from __future__ import annotations

from scanlab_report.claims.checked import ClaimEvidence, targets
from scanlab_report.claims.stated import OF_ENGINES
from scanlab_report.layout.table_formats import Table
from scanlab_report.tables.claims import table

NEEDS = {"claims": targets(OF_ENGINES)}


def build(claims: ClaimEvidence) -> Table:
    return table(claims.checked, "Targets of the engine model's predictions", figures=False)
