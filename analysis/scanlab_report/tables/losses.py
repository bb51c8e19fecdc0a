"""Cases that best lost to CUB, the worst first."""

from __future__ import annotations

from scanlab_report.derive.head_to_head import too_few_repetitions
from scanlab_report.layout.table_formats import Column, Table, code, size, with_interval
from scanlab_report.select.evidence import LOSS, AllTimingEvidence
from scanlab_report.select.timings import AllTimings
from scanlab_report.select.variants import CUBS
from scanlab_report.stats.intervals import Interval

NEEDS = {"timings": AllTimings(against=(CUBS,))}
PRINTED = 8


def build(timings: AllTimingEvidence) -> Table:
    lost = timings.decided[timings.decided["outcome"] == LOSS].sort_values("ratio", kind="stable", ignore_index=True)
    ratios = [Interval(row.ratio, row.low, row.high, 0) for row in lost.itertuples()]
    lost = lost.assign(times_cub=ratios)
    few = too_few_repetitions(timings, "not judged")
    beyond = f" The worst {PRINTED} are printed; losses.csv has all cases." if len(lost) > PRINTED else ""
    return Table(
        caption=f"Cases that `best` lost to the fastest CUB scan, by the 95% interval of the ratio: {len(lost)} of "
        f"{len(timings.decided)}. × CUB is the speedup of `best`.{few}{beyond}",
        columns=(
            Column("type", "type", right=False),
            Column("op", "op", right=False),
            Column("mode", "mode", right=False),
            Column("items", "n", size),
            Column("cache", "cache", right=False),
            Column("launch", "launch", right=False),
            Column("times_cub", "× CUB", lambda v: with_interval(v, 3)),
            Column("rival", "fastest CUB", code, right=False),
            Column("chosen", "best chose", lambda v: v or "—", right=False),
        ),
        rows=lost,
        printed=PRINTED,
    )
