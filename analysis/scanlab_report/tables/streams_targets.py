"""Targets of the schedules and of stream-scan."""

from __future__ import annotations

from scanlab_report.claims.checked import ClaimEvidence, targets
from scanlab_report.claims.stated import OF_STREAMS
from scanlab_report.layout.table_formats import Table
from scanlab_report.tables.claims import table

NEEDS = {"claims": targets(OF_STREAMS)}
FURTHER = (
    "The pipeline estimate comes from copies and kernels of the same run.",
    "For files, streamed and naive scans each use their faster way of writing, in the session that gains least.",
    "The overhead is that of the trace with the largest change.",
)


def build(claims: ClaimEvidence) -> Table:
    return table(claims.checked, "Targets of the schedules and of stream-scan", FURTHER, figures=False)
