"""What the stream laboratory was to reach, and whether it did."""

from __future__ import annotations

from scanlab_report.claims.checked import ClaimEvidence, targets
from scanlab_report.claims.stated import OF_STREAMS
from scanlab_report.layout.table_formats import Table
from scanlab_report.tables.claims import table

NEEDS = {"claims": targets(OF_STREAMS)}
FURTHER = (
    " A schedule is held against the pipeline estimate of the figure of schedules, from copies and kernels of the same run: a bound where copies "
    "take longest, as here. From files, streamed and naive are by the way to write that is the faster for it, which can be of two processes of one "
    "session, and the session counts that gains least. Of the traces that one counts whose makespan changed most."
)


def build(claims: ClaimEvidence) -> Table:
    return table(claims.checked, "What was to be reached by schedules and by stream-scan", FURTHER, figures=False)
