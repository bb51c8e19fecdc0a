"""Shared-memory wavefronts and bank conflicts: SIMT emulator beside hardware counters."""

from __future__ import annotations

import pandas as pd

from scanlab_report.derive.counts import PADDINGS
from scanlab_report.derive.hardware import QUANTITIES, compared
from scanlab_report.layout.table_formats import Column, Table, code, size, whole
from scanlab_report.select.counted import Counters
from scanlab_report.select.evidence import CounterEvidence

NEEDS = {"counters": Counters()}
CASE = ["variant", "padding", "load", "mode", "items"]


def build(counters: CounterEvidence) -> Table:
    """One row a case, with the types side by side."""
    cases = compared(counters)
    types = list(dict.fromkeys(cases["type"]))
    rows = cases[CASE].drop_duplicates(ignore_index=True)
    columns = [
        Column("variant", "variant", code, right=False),
        Column("padding", "padding", lambda v: PADDINGS.get(v, v), right=False),
        Column("load", "loads", right=False),
        Column("items", "n", size),
    ]
    for kind in types:
        for quantity in QUANTITIES:
            for who, heading in (("emulator", "emulator"), ("hardware", "ncu")):
                key = f"{quantity}_{who}"
                of_type = cases[cases["type"] == kind].set_index(CASE)[key].rename(f"{key}_{kind}")
                rows = rows.join(of_type, on=CASE)
                columns.append(Column(f"{key}_{kind}", heading, whole, group=f"{kind} {QUANTITIES[quantity]}"))
    return Table(
        caption="Shared-memory wavefronts and bank conflicts of one scan: SIMT emulator with 32 banks beside hardware counters (ncu). A conflict is a "
        "wavefront beyond the first of each group of threads served together.",
        columns=columns,
        rows=pd.DataFrame(rows),
    )
