"""Resources of the kernels of each scan: threads, registers, shared and local memory."""

from __future__ import annotations

import math

import pandas as pd

from scanlab_report.layout.table_formats import Column, Table, code, significant, size, whole
from scanlab_report.select.evidence import TableEvidence
from scanlab_report.select.timings import Kernels
from scanlab_report.select.variants import CUBS, LARGEST

NEEDS = {"kernels": Kernels(vendor=True)}
OF_ANOTHER_CHIP = {
    "cub_newest_look_ahead": " Its configurations are CUB's for another chip; `cub_tuned` has those found on this one."
}


def build(kernels: TableEvidence) -> Table:
    default = kernels.rows[(kernels.rows["settings"] == "")]
    found = [_row(str(variant), of) for variant, of in default.groupby("variant", sort=True)]
    cubs = kernels.about.ids(CUBS)
    rows = pd.DataFrame(sorted(found, key=lambda row: row["variant"] in cubs))
    return Table(
        caption="Resources of the kernels of each scan, CUB's last. Columns give 32-bit inclusive sums at the largest size up to "
        f"{size(LARGEST)}, then the maximum over all types, operators and sizes. Local memory holds spilled registers and arrays indexed at run time. "
        "Preparation runs once before the first run, untimed.",
        columns=(
            Column("variant", "variant", code, right=False),
            Column("items", "n", lambda v: "—" if pd.isna(v) else size(v), group="i32"),
            Column("launches", "launches", whole, group="i32"),
            Column("threads", "threads", whole, group="i32"),
            Column("registers", "registers", whole, group="i32"),
            Column("shared_bytes", "shared, B", whole, group="i32"),
            Column("local_bytes", "local, B", whole, group="i32"),
            Column("workspace_bytes", "workspace, B", whole, group="i32"),
            Column("prepare_us", "prepare, µs", lambda v: significant(v, 2), group="i32"),
            Column("most_registers", "registers", whole, group="maximum"),
            Column("most_shared_bytes", "shared, B", whole, group="maximum"),
            Column("most_local_bytes", "local, B", whole, group="maximum"),
        ),
        rows=rows,
        notes=tuple(_spilling(default[default["variant"].isin(cubs)])),
    )


def _spilling(rows: pd.DataFrame) -> list[str]:
    """Which of some scans have local memory in every kernel that was timed."""
    said = []
    for variant, of in rows.groupby("variant")["local_bytes"]:
        if of.min() > 0:
            said.append(f"`{variant}` has local memory in every kernel: {of.min():.0f} to {of.max():.0f} B.{OF_ANOTHER_CHIP.get(str(variant), '')}")
    return said


def _row(variant: str, of: pd.DataFrame) -> dict[str, object]:
    usual = of[(of["type"] == "i32") & (of["op"] == "plus") & (of["mode"] == "inclusive") & (of["items"] <= LARGEST)]
    usual = usual.sort_values(["items", "cache", "launch"])
    last = usual.iloc[-1] if len(usual) else {}
    names = ("items", "launches", "threads", "registers", "shared_bytes", "local_bytes", "workspace_bytes")
    most = {f"most_{name}": of[name].max() for name in ("registers", "shared_bytes", "local_bytes")}
    return {"variant": variant} | {name: last.get(name, math.nan) for name in names} | {
        "prepare_us": last.get("prepare_ns", math.nan) / 1e3} | most  # fmt: skip
