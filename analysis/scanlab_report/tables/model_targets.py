"""What the two models, the executor that counts and the engine model, were to reach, and whether they did."""

from __future__ import annotations

from scanlab_report.claims.checked import ClaimEvidence, targets
from scanlab_report.claims.stated import OF_MODELS
from scanlab_report.layout.table_formats import Table
from scanlab_report.tables.claims import table

NEEDS = {"claims": targets(OF_MODELS)}


def build(claims: ClaimEvidence) -> Table:
    return table(claims.checked, "What the executor's counts and the engine model's predictions were to reach, and whether they did", figures=False)
