"""Cases whose bits vary between runs on the same input."""

from __future__ import annotations

import pandas as pd

from scanlab_report.layout.table_formats import Column, Table, code, whole
from scanlab_report.select.counted import Repeats
from scanlab_report.select.evidence import TableEvidence

NEEDS = {"repeats": Repeats()}


def build(repeats: TableEvidence) -> Table:
    rows = []
    scans = repeats.rows[[repeats.about[variant].kind == "scan" for variant in repeats.rows["variant"]]]
    for variant, of in scans.groupby("variant", sort=True):
        varied = of[of["varying"] > 0]
        where = ", ".join(sorted({f"{row.type} {row.op}" for row in varied.itertuples()}))
        rows.append({"variant": variant, "types": ", ".join(sorted(set(of["type"]))), "cases": of["cases"].sum(),
                     "varying": of["varying"].sum(), "runs": of["runs"].min(), "where": where or "nowhere"})  # fmt: skip
    return Table(
        caption="Repeated runs on the same input, of cases whose results round: the number of cases whose bits varied between "
        "runs (`scanlab verify --repeat`).",
        columns=(
            Column("variant", "variant", code, right=False),
            Column("types", "types", right=False),
            Column("cases", "cases", whole),
            Column("runs", "runs per case", whole),
            Column("varying", "cases that varied", whole),
            Column("where", "where", right=False, wrap=26),
        ),
        rows=pd.DataFrame(rows),
    )
