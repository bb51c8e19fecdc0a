"""Whether the bits of a result are the same on every run, as claimed and as seen."""

from __future__ import annotations

import pandas as pd

from scanlab_report.layout.table_formats import Column, Table, code, whole
from scanlab_report.select.evidence import TableEvidence
from scanlab_report.select.needs import Repeats

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
        caption="Bits of repeated runs on the same input, as scanlab verify --repeat compares them, in cases whose results round: in how many of them the "
        "bits varied from run to run.",
        columns=(
            Column("variant", "variant", code, right=False),
            Column("types", "types", right=False),
            Column("cases", "cases", whole),
            Column("runs", "runs of each", whole),
            Column("varying", "bits varied in", whole),
            Column("where", "where", right=False),
        ),
        rows=pd.DataFrame(rows),
    )
