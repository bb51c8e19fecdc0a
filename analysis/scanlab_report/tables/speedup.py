"""Speedup of GPU scans over one CPU core, in 2007 and now, by size."""

from __future__ import annotations

import pandas as pd

from scanlab_report.derive.one_core import ONE_CORE, OURS, by_session, over_one_core, shown
from scanlab_report.layout.table_formats import Column, Table, significant, size, with_interval
from scanlab_report.read.published import Publication
from scanlab_report.select.counted import Published
from scanlab_report.select.evidence import SessionTimingEvidence
from scanlab_report.select.variants import VENDOR
from scanlab_report.stats.intervals import Interval

NEEDS = {"timings": over_one_core(any_of=(*OURS, VENDOR)), "published": Published("hso2007_table2")}


def build(timings: SessionTimingEvidence, published: Publication) -> Table:
    table = published.table[["items", "cpu_ms", "gpu_ms"]].copy()
    table["speedup_2007"] = table["cpu_ms"] / table["gpu_ms"]
    columns = [
        Column("items", "n", size),
        Column("cpu_ms", "CPU, ms", lambda v: significant(v, 3), group="2007"),
        Column("gpu_ms", "GPU, ms", lambda v: significant(v, 3), group="2007"),
        Column("speedup_2007", "speedup", lambda v: significant(v, 3), group="2007"),
    ]
    compared = shown(timings)
    for variant in compared:
        now = {row.items: Interval(row.ratio, row.low, row.high, row.sessions) for row in by_session(timings, variant, ONE_CORE).itertuples()}
        table[f"speedup_{variant}"] = pd.Series([now.get(n) for n in table["items"]], dtype=object, index=table.index)
        columns.append(Column(f"speedup_{variant}", "CUB" if variant == VENDOR else "same", lambda v: with_interval(v, 3), group="speedup now"))
    same = "".join(f" The same algorithm now is `{variant}`." for variant in compared if variant != VENDOR)
    return Table(
        caption="Sequential CPU time over GPU time, published in 2007 and measured now. The source prints the ninth size, 8388608, as 8388688."
        f"{same} {_brackets(len(timings.sessions))}",
        columns=columns,
        rows=pd.DataFrame(table),
    )


def _brackets(sessions: int) -> str:
    """What the numbers behind a speedup of now are."""
    if sessions == 1:
        return "Now: one session, with 95% intervals in brackets."
    return f"Now: with the fastest core of {sessions} sessions; in brackets between the fastest and the slowest, since CPU times differ between sessions."
