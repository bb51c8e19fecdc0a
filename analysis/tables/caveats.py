"""Every experiment about what blocks what, whole: what the source said, and what this device does."""

from __future__ import annotations

from analysis import streams
from analysis.caveats import text
from analysis.evidence import TableEvidence
from analysis.streams_evidence import Experiments
from analysis.table_formats import Column, Table, code

NEEDS = {"experiments": Experiments(streams.CAVEATS)}


def build(experiments: TableEvidence) -> Table:
    return Table(
        caption="What blocks what: each experiment with what the source said and what this device does, in how many trials of how many.",
        columns=(
            Column("name", "experiment", code, right=False),
            Column("question", "question", right=False),
            Column("said", "the source said", text, right=False),
            Column("answer", "this device", text, right=False),
            Column("differs", "differs", lambda value: "yes" if value else "", right=False),
            Column("yes", "yes"),
            Column("trials", "of"),
            Column("claim", "claim", right=False),
            Column("source", "source", right=False),
            Column("why_not", "not tried because", text, right=False),
        ),
        rows=experiments.rows,
        wide=True,
    )
