"""What the fastest scans were to reach, and whether they did."""

from __future__ import annotations

from scanlab_report.claims.checked import ClaimEvidence, targets
from scanlab_report.claims.stated import OF_SCANS
from scanlab_report.layout.table_formats import Table
from scanlab_report.tables.claims import table

NEEDS = {"claims": targets(OF_SCANS)}
FURTHER = (
    " CUB is the fastest of its scans in that case. Where memcpy is missed, the copy kernel with the access path of the chosen scan may stand in. "
    "copy_one_wave is a comparison and no strict bound: the blocks of redundant_reduce do not meet, and when a block is best asked depends on the size."
)


def build(claims: ClaimEvidence) -> Table:
    return table(claims.checked, "What was to be reached, by best unless another is named", FURTHER, figures=False)
