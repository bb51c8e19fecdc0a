"""GPU over CPU, now beside 2007, size by size."""

from __future__ import annotations

import pandas as pd

from analysis.evidence import VENDOR, Published, TimingEvidence, Timings
from analysis.figures.speedup import ONE_CORE, OURS, speedups
from analysis.published import Publication
from analysis.table_formats import Column, Table, significant, size

NEEDS = {
    "timings": Timings(types=("f32", "i32"), all_of=(ONE_CORE,), any_of=OURS),
    "published": Published("hso2007_table2"),
}


def build(timings: TimingEvidence, published: Publication) -> Table:
    ours = next(v for v in OURS if v in timings.variants())
    table = published.table[["items", "cpu_ms", "gpu_ms"]].copy()
    table["speedup_2007"] = table["cpu_ms"] / table["gpu_ms"]
    columns = [
        Column("items", "n", size),
        Column("cpu_ms", "CPU, ms", lambda v: significant(v, 3), group="2007"),
        Column("gpu_ms", "GPU, ms", lambda v: significant(v, 3), group="2007"),
        Column("speedup_2007", "speedup", lambda v: significant(v, 3), group="2007"),
    ]
    for variant, heading in ((ours, "same"), (VENDOR, "CUB")):
        if variant in timings.variants():
            now = speedups(timings, variant, ONE_CORE).set_index("items")["ratio"]
            table[f"speedup_{variant}"] = table["items"].map(now)
            columns.append(Column(f"speedup_{variant}", heading, lambda v: significant(v, 3), group="speedup now"))
    return Table(
        caption="Sequential CPU time over GPU time, as published in 2007 and now. The ninth size is printed as 8388688 "
        f"in the source; 8388608 is meant. The same algorithm now is {ours}.",
        columns=columns,
        rows=pd.DataFrame(table),
    )
