"""The duel counted: cases that best won, tied and lost against the fastest CUB."""

from __future__ import annotations

import pandas as pd

from scanlab_report.derive.duels import COLUMNS, OPERATORS, TYPES
from scanlab_report.layout.table_formats import Column, Table, significant, whole
from scanlab_report.select.evidence import LOSS, TIE, WIN, AllTimingEvidence
from scanlab_report.select.needs import AllTimings
from scanlab_report.select.variants import CUBS

NEEDS = {"timings": AllTimings(against=(CUBS,))}


def build(timings: AllTimingEvidence) -> Table:
    duels = timings.duels
    rows = [_row(of, kind, op) for kind in TYPES for op in OPERATORS
            if not (of := duels[(duels["type"] == kind) & (duels["op"] == op)]).empty]  # fmt: skip
    rows.append(_row(duels, "all", ""))
    columns = [c for c in COLUMNS if not duels[(duels["cache"] == c[0]) & (duels["launch"] == c[1])].empty]
    return Table(
        caption="best against the fastest of CUB's scans in each case: cases won, tied and lost, by whether the 95% bootstrap interval of "
        "the ratio of medians lies above 1, has 1 in it, or lies below; and the least and the median ratio (CUB's time over best's).",
        columns=(
            Column("type", "type", right=False),
            Column("op", "op", right=False),
            *(Column(f"{cache}_{launch}", launch, group=f"{cache}: won / tied / lost") for cache, launch in columns),
            Column("cases", "cases", whole),
            Column("lost", "lost", whole),
            Column("least", "least", lambda v: significant(v, 3), group="× CUB"),
            Column("median", "median", lambda v: significant(v, 3), group="× CUB"),
        ),
        rows=pd.DataFrame(rows),
    )


def _row(duels: pd.DataFrame, kind: str, op: str) -> dict[str, object]:
    def counts(of: pd.DataFrame) -> str:
        found = of["outcome"].value_counts()
        return " / ".join(str(found.get(outcome, 0)) for outcome in (WIN, TIE, LOSS))

    return {"type": kind, "op": op} | {
        f"{cache}_{launch}": counts(duels[(duels["cache"] == cache) & (duels["launch"] == launch)]) for cache, launch in COLUMNS
    } | {
        "cases": len(duels), "lost": int((duels["outcome"] == LOSS).sum()), "least": duels["ratio"].min(),
        "median": duels["ratio"].median(),
    }  # fmt: skip
