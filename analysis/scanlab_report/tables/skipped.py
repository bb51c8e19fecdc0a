"""Cases that were not timed, with the harness's reasons."""

from __future__ import annotations

from scanlab_report.layout.table_formats import Column, Table, code, size, whole
from scanlab_report.select.evidence import TableEvidence
from scanlab_report.select.timings import Skipped

NEEDS = {"skipped": Skipped()}


def build(skipped: TableEvidence) -> Table:
    rows = skipped.rows.assign(settings=skipped.rows["settings"].replace("", "default"))
    grouped = (
        rows.groupby(["variant", "settings", "reason"], sort=True)
        .agg(cases=("items", "size"), smallest=("items", "min"), largest=("items", "max"))
        .reset_index()
    )
    return Table(
        caption="Cases that were not timed, grouped by the reason that the harness gave.",
        columns=(
            Column("variant", "variant", code, right=False),
            Column("settings", "settings", right=False),
            Column("cases", "cases", whole),
            Column("smallest", "smallest n", size),
            Column("largest", "largest n", size),
            Column("reason", "reason", right=False),
        ),
        rows=grouped,
    )
