"""Implicit synchronisation by launches, events, issue order and hardware work queues."""

from __future__ import annotations

from scanlab_report.derive import implicit_sync
from scanlab_report.layout.table_formats import Column, Table
from scanlab_report.read import streams
from scanlab_report.select.evidence import TableEvidence
from scanlab_report.select.streams_evidence import Experiments

NEEDS = {"experiments": Experiments(streams.IMPLICIT_SYNC)}


def build(experiments: TableEvidence) -> Table:
    rows = implicit_sync.others(experiments.rows)
    rows["shown"] = [implicit_sync.cell(*pair) for pair in zip(rows["answer"], rows["differs"], strict=True)]
    return Table(
        caption=f"Implicit synchronisation by launches, events, issue order and hardware work queues. {implicit_sync.HOW_TO_READ}",
        columns=(
            Column("question", "statement", right=False, wrap=40),
            Column("stated", "source", implicit_sync.text, right=False),
            Column("shown", "device", right=False),
            Column("counted", "yes", implicit_sync.text, right=False),
        ),
        rows=rows,
    )
