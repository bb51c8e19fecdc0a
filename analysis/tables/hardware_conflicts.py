"""Shared-memory transactions and conflicts: executor beside hardware."""

from __future__ import annotations

from analysis.evidence import CounterEvidence, Counters
from analysis.figures.hardware_conflicts import compared
from analysis.table_formats import Column, Table, code, significant, size, whole

NEEDS = {"counters": Counters()}


def build(counters: CounterEvidence) -> Table:
    return Table(
        caption="Shared-memory transactions (hardware: load and store wavefronts) and bank conflicts (transactions "
        "beyond one a request) of one scan, counted by the CPU executor for 32 banks and by the hardware.",
        columns=(
            Column("variant", "variant", code, right=False),
            Column("padding", "padding", lambda v: str(v).replace("_", " "), right=False),
            Column("items", "n", size),
            Column("executor", "executor", whole, group="transactions"),
            Column("hardware", "hardware", whole, group="transactions"),
            Column("ratio", "ratio", lambda v: significant(v, 3), group="transactions"),
            Column("conflicts_executor", "executor", whole, group="conflicts"),
            Column("conflicts_hardware", "hardware", whole, group="conflicts"),
        ),
        rows=compared(counters),
        wide=True,
    )
