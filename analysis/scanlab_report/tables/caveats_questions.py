"""The experiments that are not about one call: launches, events, order, queues, cache configuration."""

from __future__ import annotations

from scanlab_report.derive import caveats
from scanlab_report.layout.table_formats import Column, Table
from scanlab_report.read import streams
from scanlab_report.select.evidence import TableEvidence
from scanlab_report.select.streams_evidence import Experiments

NEEDS = {"experiments": Experiments(streams.CAVEATS)}


def build(experiments: TableEvidence) -> Table:
    rows = caveats.others(experiments.rows)
    rows["shown"] = [caveats.cell(*pair) for pair in zip(rows["answer"], rows["differs"], strict=True)]
    return Table(
        caption="What else was asked of the device about launches, events, order and queues; columns as in the table of calls.",
        columns=(
            Column("question", "does …", right=False, wrap=40),
            Column("said", "said", caveats.text, right=False),
            Column("shown", "here", right=False),
            Column("counted", "yes", caveats.text, right=False),
        ),
        rows=rows,
    )
