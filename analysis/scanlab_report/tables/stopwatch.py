"""Times of the same scans by scanlab bench and by NVIDIA's nvbench."""

from __future__ import annotations

from scanlab_report.derive.stopwatch import beside
from scanlab_report.layout.table_formats import Column, Table, code, significant, size
from scanlab_report.read import streams
from scanlab_report.select.evidence import AllTimingEvidence, TableEvidence
from scanlab_report.select.streams_evidence import Experiments
from scanlab_report.select.timings import AllTimings

NEEDS = {"timings": AllTimings(), "theirs": Experiments(streams.STOPWATCH)}
_TIMED = {("cold", "stream"): "one by one, cold", ("warm", "batch"): "in batches"}


def build(timings: AllTimingEvidence, theirs: TableEvidence) -> Table:
    rows = beside(timings, theirs).sort_values(["launch", "variant", "type", "items"], ascending=[False, True, True, True])
    rows = rows.assign(timed=[_TIMED[of] for of in zip(rows["cache"], rows["launch"], strict=True)], ratio=[of.value for of in rows["ratio"]],
                       ours_us=rows["ours_ns"] / 1e3, theirs_us=rows["theirs_ns"] / 1e3)  # fmt: skip
    return Table(
        caption="Times of the same calls by `scanlab bench` and by nvbench, NVIDIA's benchmark library: inclusive sums, and copies of as many "
        "items. One by one: medians after an L2 flush, by reads in scanlab and by writes in nvbench. In batches: runs "
        "enqueued behind a waiting kernel: all in scanlab, the first two in nvbench, which gives the mean.",
        columns=(
            Column("timed", "timed", right=False),
            Column("variant", "variant", code, right=False),
            Column("type", "type", right=False),
            Column("items", "n", size),
            Column("ours_us", "scanlab, µs", lambda v: significant(v, 4)),
            Column("theirs_us", "nvbench, µs", lambda v: significant(v, 4)),
            Column("ratio", "nvbench / scanlab", lambda v: significant(v, 4)),
        ),
        rows=rows[["timed", "variant", "type", "items", "ours_us", "theirs_us", "ratio"]].reset_index(drop=True),
    )
