"""What the two models, the executor that counts and the engine model, were to reach, and whether they did."""

from __future__ import annotations

from scanlab_report.claims.checked import ClaimEvidence, table, targets_of
from scanlab_report.claims.claims import OF_MODELS
from scanlab_report.layout.table_formats import Table

NEEDS = {"claims": targets_of(OF_MODELS)}


def build(claims: ClaimEvidence) -> Table:
    return table(claims.checked, "What the executor's counts and the engine model's predictions were to reach, and whether they did", figures=False)
