"""The ladder: each variant's cost and measured standing, for the page of the variants."""

from __future__ import annotations

import pandas as pd

from scanlab_report.derive.counts import default_only
from scanlab_report.derive.standings import standings
from scanlab_report.layout.table_formats import Column, Table, code, significant, size, whole, with_interval
from scanlab_report.read.records import Explanation
from scanlab_report.select.counted import Counts
from scanlab_report.select.evidence import CountEvidence, TimingEvidence
from scanlab_report.select.timings import Timings
from scanlab_report.select.variants import CEILING, OWN

NEEDS = {"timings": Timings(all_of=(CEILING,)), "counts": Counts()}
COST_ITEMS = 1 << 16
"""More than one tile, so that what the tiles cost together shows; variants of one block have their largest n."""


def build(timings: TimingEvidence, counts: CountEvidence) -> Table:
    """One rung per variant, slowest first, so that the page reads upward to the ceiling."""
    timed_mode = [e for e in counts.explanations if e.mode == "inclusive"]
    costs = {e.variant: e for e in sorted(default_only(timed_mode), key=_nearness, reverse=True)}
    stands = standings(timings)
    rungs = stands[[OWN.has(timings.about[variant]) for variant in stands["variant"]]].iloc[::-1]
    rows = [_rung(row, costs.get(row.variant)) for row in rungs.itertuples(index=False)]
    return Table(
        caption="Inclusive sums of 32-bit integers. The left part has the cost that the SIMT emulator counts at n, with the degree of the worst bank "
        "conflict. The right part has measured times; ratios are speeds over a device copy and over the fastest CUB, so 1 is as fast.",
        columns=(
            Column("variant", "variant", code, right=False),
            Column("cost_items", "counted at n", lambda v: "—" if pd.isna(v) else size(v)),
            Column("additions", "additions", whole),
            Column("barriers", "barriers", whole),
            Column("bytes_per_item", "bytes/item", significant),
            Column("worst_degree", "worst conflict", whole),
            Column("items", "timed at n", size),
            Column("time_us", "time, µs", lambda v: significant(v, 4)),
            Column("of_memcpy", "× memcpy", lambda v: with_interval(v, 3)),
            Column("of_cub", "× CUB", lambda v: with_interval(v, 3)),
        ),
        rows=pd.DataFrame(rows),
    )


def _nearness(explanation: Explanation) -> int:
    return abs(explanation.items - COST_ITEMS)


def _rung(row, explanation: Explanation | None) -> dict[str, object]:
    totals = explanation.totals if explanation else None
    return {
        "variant": row.variant,
        "cost_items": explanation.items if explanation else None,
        "additions": totals.operations if totals else None,
        "barriers": totals.barriers if totals else None,
        "bytes_per_item": (totals.global_bytes_read + totals.global_bytes_written) / explanation.items if explanation and totals else None,
        "worst_degree": totals.banks32.max_degree or None if totals else None,
        "items": row.items,
        "time_us": row.median_us,
        "of_memcpy": row.of_memcpy,
        "of_cub": row.of_cub,
    }
