"""Calls: does each hold up the host, does it keep kernels of two streams apart."""

from __future__ import annotations

from scanlab_report.derive import caveats
from scanlab_report.layout.table_formats import Column, Table
from scanlab_report.read import streams
from scanlab_report.select.evidence import TableEvidence
from scanlab_report.select.streams_evidence import Experiments

NEEDS = {"experiments": Experiments(streams.CAVEATS)}


def build(experiments: TableEvidence) -> Table:
    rows = caveats.calls(experiments.rows)
    columns = [Column("call", "call", right=False)]
    for who, group in (("host", "holds up the host"), ("streams", "parts two streams")):
        rows[f"{who}_shown"] = [caveats.cell(*pair) for pair in zip(rows[f"{who}_answer"], rows[f"{who}_differs"], strict=True)]
        columns += [
            Column(f"{who}_said", "said", caveats.text, right=False, group=group),
            Column(f"{who}_shown", "here", right=False, group=group),
            Column(f"{who}_counted", "yes", caveats.text, right=False, group=group),
        ]
    return Table(
        caption="What calls do, between kernels: whether the call returns only when the kernel before it has ended, and whether it keeps "
        "kernels of two other streams from running at once. Said: by the source, where it says anything; here: on this device, with an "
        "exclamation mark where that differs; yes: in so many trials. The calls' names are without cuda.",
        columns=columns,
        rows=rows,
    )
