"""Head-to-head comparison of best and the fastest CUB scan, counted."""

from __future__ import annotations

import pandas as pd

from scanlab_report.console import count
from scanlab_report.derive.head_to_head import COLUMNS, in_columns, pairs, too_few_repetitions
from scanlab_report.layout.table_formats import Column, Table, significant, whole
from scanlab_report.select.evidence import LOSS, OPEN, TIE, WIN, AllTimingEvidence
from scanlab_report.select.timings import AllTimings
from scanlab_report.select.variants import CUBS

NEEDS = {"timings": AllTimings(against=(CUBS,))}


def build(timings: AllTimingEvidence) -> Table:
    comparisons = timings.comparisons
    beside = int((~in_columns(comparisons, COLUMNS)).sum())
    others = f" {count(beside, 'case')} of other launches {'is' if beside == 1 else 'are'} among those of the right part." if beside else ""
    rows = [_row(comparisons[(comparisons["type"] == kind) & (comparisons["op"] == op)], kind, op) for kind, op in pairs(comparisons)]
    rows.append(_row(comparisons, "all", ""))
    columns = [c for c in COLUMNS if not comparisons[(comparisons["cache"] == c[0]) & (comparisons["launch"] == c[1])].empty]
    return Table(
        caption="Head-to-head comparison of `best` with the fastest CUB scan: cases won, tied and lost, and the least and median speedup over CUB. "
        f"A case is tied where the 95% interval of the speedup contains 1.{others}{too_few_repetitions(timings, 'left out')}",
        columns=(
            Column("type", "type", right=False),
            Column("op", "op", right=False),
            *(Column(f"{cache}_{launch}", launch, group=f"{cache}: won / tied / lost") for cache, launch in columns),
            Column("cases", "cases", whole),
            Column("lost", "lost", whole),
            Column("least", "least", _speedup, group="× CUB"),
            Column("median", "median", _speedup, group="× CUB"),
        ),
        rows=pd.DataFrame(rows),
    )


def _speedup(value: float) -> str:
    return "—" if value != value else significant(value, 3)


def _row(comparisons: pd.DataFrame, kind: str, op: str) -> dict[str, object]:
    def counts(of: pd.DataFrame) -> str:
        found = of["outcome"].value_counts()
        return " / ".join(str(found.get(outcome, 0)) for outcome in (WIN, TIE, LOSS))

    decided = comparisons[comparisons["outcome"] != OPEN]
    return {"type": kind, "op": op} | {
        f"{cache}_{launch}": counts(comparisons[(comparisons["cache"] == cache) & (comparisons["launch"] == launch)]) for cache, launch in COLUMNS
    } | {
        "cases": len(decided), "lost": int((decided["outcome"] == LOSS).sum()), "least": decided["ratio"].min(), "median": decided["ratio"].median(),
    }  # fmt: skip
