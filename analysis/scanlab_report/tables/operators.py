"""Speedup of best over the fastest CUB scan for every type and operator, at two sizes."""

from __future__ import annotations

import pandas as pd

from scanlab_report.derive.head_to_head import pairs
from scanlab_report.layout.table_formats import Column, Table, significant, size, with_interval
from scanlab_report.select.evidence import AllTimingEvidence
from scanlab_report.select.timings import AllTimings
from scanlab_report.select.variants import CUBS
from scanlab_report.tables.rivals import SMALL, against, sizes

NEEDS = {"timings": AllTimings(against=(CUBS,))}
_SHORT = {"cub_device_scan": "toolkit"}


def build(timings: AllTimingEvidence) -> Table:
    rows = []
    for kind, op in pairs(timings.comparisons):
        found = {key.items == SMALL: against(timings, key) for key in sizes(timings, kind, op)}
        if any(found.values()):
            small, large = found.get(True) or {}, found.get(False) or {}
            rows.append({"type": kind, "op": op, "items": large.get("items")} | {
                f"{name}_{where}": of.get(name) for where, of in (("small", small), ("large", large))
                for name in ("time_us", "of_memcpy", "of_cub", "fastest_cub")})  # fmt: skip
    columns = [Column("type", "type", right=False), Column("op", "op", right=False)]
    for where, group in (("small", size(SMALL)), ("large", "largest")):
        if where == "large":
            columns.append(Column("items", "n", lambda v: "—" if pd.isna(v) else size(v), group=group))
        columns += [
            Column(f"time_us_{where}", "µs", lambda v: significant(v, 4), group=group),
            Column(f"of_memcpy_{where}", "memcpy", lambda v: significant(v, 2), group=group),
            Column(f"of_cub_{where}", "× CUB", lambda v: "—" if v is None else with_interval(v, 3), group=group),
            Column(f"fastest_cub_{where}", "fastest CUB", lambda v: "—" if v is None else _SHORT.get(v, v.removeprefix("cub_")), right=False, group=group),
        ]
    table = pd.DataFrame(rows, columns=[column.key for column in columns])
    for name in [column.key for column in columns if column.key.startswith(("of_cub", "fastest"))]:
        table[name] = table[name].astype(object).where(table[name].notna(), None)
    return Table(
        caption=f"Speed of `best` for every type and operator, at {size(SMALL)} items and at the largest size of 1 GiB or more. Columns: time, share of "
        "memcpy, and speedup over the fastest CUB scan with its 95% interval; toolkit is `cub_device_scan`. Inclusive scans, cold cache, stream launches. Items of affine, arg_max, complex_multiply and segmented_plus have two parts, those of matrix_2x2 four.",
        columns=columns,
        rows=table,
    )
