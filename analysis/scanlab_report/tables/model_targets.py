"""Targets of the SIMT emulator and of the engine model."""

from __future__ import annotations

from scanlab_report.claims.checked import ClaimEvidence, targets
from scanlab_report.claims.stated import OF_MODELS
from scanlab_report.layout.table_formats import Table
from scanlab_report.tables.claims import table

NEEDS = {"claims": targets(OF_MODELS)}


def build(claims: ClaimEvidence) -> Table:
    return table(claims.checked, "Targets of the SIMT emulator's counts and of the engine model's predictions", figures=False)
