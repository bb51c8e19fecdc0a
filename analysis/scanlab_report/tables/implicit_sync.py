"""Implicit synchronisation: every experiment, as documented and as measured."""

from __future__ import annotations

from scanlab_report.derive.implicit_sync import text
from scanlab_report.layout.table_formats import Column, Table, citation, code
from scanlab_report.read import streams
from scanlab_report.select.evidence import TableEvidence
from scanlab_report.select.streams_evidence import Experiments

NEEDS = {"experiments": Experiments(streams.IMPLICIT_SYNC)}


def build(experiments: TableEvidence) -> Table:
    return Table(
        caption="Implicit synchronisation: each experiment, with the answer of its source and of this device. Yes: trials that answered yes, "
        "of all trials.",
        columns=(
            Column("name", "experiment", code, right=False),
            Column("question", "question", right=False),
            Column("stated", "source says", text, right=False),
            Column("answer", "this device", text, right=False),
            Column("differs", "differs", lambda value: "yes" if value else "", right=False),
            Column("yes", "yes"),
            Column("trials", "of"),
            Column("claim", "claim", right=False),
            Column("source", "source", right=False, refers=citation),
            Column("refusal", "not tried because", text, right=False),
        ),
        rows=experiments.rows,
    )
