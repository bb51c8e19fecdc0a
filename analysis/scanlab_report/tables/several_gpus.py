"""Scans of one array over several GPUs."""

from __future__ import annotations

from scanlab_report.derive.ranks import COPY, beside
from scanlab_report.layout.table_formats import Column, Table, code, significant, size
from scanlab_report.select.ranks_evidence import VENDOR, RanksEvidence, SeveralGpus

NEEDS = {"timed": SeveralGpus()}


def build(timed: RanksEvidence) -> Table:
    rows = beside(timed.usual())
    rows = rows.assign(time_us=rows["median_ns"] / 1e3)
    for column in ("of_copy", "of_vendor"):
        rows[column] = [of.value for of in rows[column]]
    ratio = lambda v: significant(v, 3)
    return Table(
        caption=f"Scans of one array over several ranks. Time is the median of the slowest rank, warm, in a stream. GB/s counts one read and one write per "
        f"item, over all ranks. Share of copies: `{COPY}`, a copy on every GPU at once. Speedup: over `{VENDOR}`, CUB and NCCL. A dash: not timed.",
        columns=(
            Column("algorithm", "algorithm", code, right=False),
            Column("type", "type", right=False),
            Column("op", "operator", right=False),
            Column("ranks", "ranks"),
            Column("items", "n", size),
            Column("time_us", "µs", lambda v: significant(v, 4)),
            Column("gb_per_s", "GB/s", lambda v: significant(v, 4)),
            Column("of_copy", "share of copies", ratio),
            Column("of_vendor", "speedup", ratio),
        ),
        rows=rows[["algorithm", "type", "op", "ranks", "items", "time_us", "gb_per_s", "of_copy", "of_vendor"]],
    )
