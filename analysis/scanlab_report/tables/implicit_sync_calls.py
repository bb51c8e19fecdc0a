"""Implicit synchronisation by API calls: blocking of the host, and serialised streams."""

from __future__ import annotations

from scanlab_report.derive import implicit_sync
from scanlab_report.layout.table_formats import Column, Table
from scanlab_report.read import streams
from scanlab_report.select.evidence import TableEvidence
from scanlab_report.select.streams_evidence import Experiments

NEEDS = {"experiments": Experiments(streams.IMPLICIT_SYNC)}


def build(experiments: TableEvidence) -> Table:
    rows = implicit_sync.calls(experiments.rows)
    columns = [Column("call", "call", right=False)]
    for who, group in (("host", "blocks the host"), ("streams", "serialises streams")):
        rows[f"{who}_shown"] = [implicit_sync.cell(*pair) for pair in zip(rows[f"{who}_answer"], rows[f"{who}_differs"], strict=True)]
        columns += [
            Column(f"{who}_stated", "source", implicit_sync.text, right=False, group=group),
            Column(f"{who}_shown", "device", right=False, group=group),
            Column(f"{who}_counted", "yes", implicit_sync.text, right=False, group=group),
        ]
    return Table(
        caption="API calls behind a running kernel: whether they block the host until the kernel ends, and whether they serialise kernels of two "
        f"streams. {implicit_sync.HOW_TO_READ} "
        "Names omit the prefix cuda. Copies beside non-blocking streams are of pageable memory, 4 MiB unless stated.",
        columns=columns,
        rows=rows,
    )
