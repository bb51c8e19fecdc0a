"""What the two models, the executor that counts and the engine model, were to reach, and whether they did."""

from __future__ import annotations

from analysis.claims import OF_MODELS
from analysis.claims_checked import ClaimEvidence, table, targets_of
from analysis.table_formats import Table

NEEDS = {"claims": targets_of(OF_MODELS)}


def build(claims: ClaimEvidence) -> Table:
    return table(claims.checked, "What the executor's counts and the engine model's predictions were to reach, and whether they did", figures=False)
