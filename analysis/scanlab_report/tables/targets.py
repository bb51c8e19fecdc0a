"""Targets of the fastest scans."""

from __future__ import annotations

from scanlab_report.claims.checked import ClaimEvidence, targets
from scanlab_report.claims.stated import OF_SCANS
from scanlab_report.layout.table_formats import Table
from scanlab_report.tables.claims import table

NEEDS = {"claims": targets(OF_SCANS)}
FURTHER = (
    "CUB is its fastest scan in each case; as shipped, its fastest one without our tuning.",
    "`copy_one_wave` is a comparison, not a bound.",
)


def build(claims: ClaimEvidence) -> Table:
    return table(claims.checked, "Targets of the scans, for `best` unless another variant is named", FURTHER, figures=False)
