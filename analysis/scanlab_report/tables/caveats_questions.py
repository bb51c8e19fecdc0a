"""Implicit synchronisation by launches, events, issue order and hardware work queues."""

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
        caption=f"Implicit synchronisation by launches, events, issue order and hardware work queues. {caveats.HOW_TO_READ}",
        columns=(
            Column("question", "statement", right=False, wrap=40),
            Column("said", "source", caveats.text, right=False),
            Column("shown", "device", right=False),
            Column("counted", "yes", caveats.text, right=False),
        ),
        rows=rows,
    )
