"""What the stream laboratory was to reach, and whether it did."""

from __future__ import annotations

import pandas as pd

from scanlab_report.claims.checked import BY_MEDIAN, bounded
from scanlab_report.claims.streams_targets import targets
from scanlab_report.layout.table_formats import Column, Table, with_interval
from scanlab_report.select.streams_evidence import ScanEvidence, ScheduleEvidence, Schedules, StreamScans, TraceEvidence, Traces

NEEDS = {"schedules": Schedules(), "scans": StreamScans(), "traces": Traces()}


def build(schedules: ScheduleEvidence, scans: ScanEvidence, traces: TraceEvidence) -> Table:
    rows = targets(schedules, scans, traces)
    return Table(
        caption="What was to be reached by schedules and by stream-scan, with 95% intervals in brackets where there were "
        "repetitions enough. " + BY_MEDIAN + " A schedule is held against the pipeline estimate of the figure of schedules, "
        "from copies and kernels of the same run: a bound where copies take longest, as here. From files, streamed and naive are by the "
        "way to write that is the faster for it, which can be of two processes of one session, and the session counts that gains "
        "least. Reference, of a row that is missed: the same threads that read and write, and no scan between them, which is no bound. Of the traces that one "
        "counts whose makespan changed most.",
        columns=(
            Column("what", "of what", right=False, wrap=15),
            Column("measure", "measured as", right=False, wrap=9),
            Column("wanted", "wanted", right=False),
            Column("measured", "measured", lambda interval: with_interval(interval, 3)),
            Column("where", "at", right=False, wrap=10),
            Column("standing", "reached", right=False, wrap=5),
            Column("bound", "reference", right=False, wrap=9),
        ),
        rows=pd.DataFrame({name: pd.Series([getattr(row, name) for row in rows], dtype=object)
                           for name in ("what", "measure", "wanted", "measured", "where", "standing")}).assign(bound=[bounded(row) for row in rows]),
        wide=True,
    )  # fmt: skip
