"""What the literature claims, and whether the data bear it out; our own claims are the targets."""

from __future__ import annotations

from analysis.claims import OURS, read
from analysis.claims_checked import ClaimEvidence, Claims, table
from analysis.table_formats import Table

NEEDS = {"claims": Claims(tuple(claim for claim in read() if claim.source != OURS))}


def build(claims: ClaimEvidence) -> Table:
    return table(claims.checked, "What the literature claims, and whether these data bear it out", figures=False)
