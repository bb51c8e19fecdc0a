"""Every schedule at its fastest: makespan, over its estimate, and against the serial one."""

from __future__ import annotations

import math

import pandas as pd

from scanlab_report.derive.schedules import over_bound
from scanlab_report.layout.table_formats import Column, Table, code, significant, size, whole, with_interval
from scanlab_report.read.streams import SCHEDULE
from scanlab_report.select.streams_evidence import MAIN_WORKLOAD, SERIAL, SIDE_SAID, WORK_SAID, ScheduleEvidence, Schedules, ratio
from scanlab_report.stats.intervals import ratio_interval

PRINTED = 48
"""No more rows are printed, and only those of one workload at one size; all are in the CSV."""
BY_EVENTS = (
    "The makespan is by the host's clock; the time by events is the device's, in separate replays."
)
NEEDS = {"schedules": Schedules()}


def build(schedules: ScheduleEvidence) -> Table:
    """One row a schedule, workload and amount of work, at the chunks and streams where it is fastest; the fastest first."""
    problem = ["workload", "items", "work"]
    cases = schedules.cases.assign(main=schedules.cases["workload"] == MAIN_WORKLOAD)
    best = cases.loc[cases.groupby([*problem, "id"])["median_ns"].idxmin()]
    best = best.sort_values(["main", *problem, "median_ns"], ascending=[False, True, False, True, True], ignore_index=True)
    printed = int((best[["workload", "items"]] == best[["workload", "items"]].iloc[0]).all(axis=1).sum())
    keys = list(best[problem].itertuples(index=False, name=None))
    serial = {key: samples for key, id_, samples in zip(keys, best["id"], best["samples"], strict=True) if id_ == SERIAL}
    against = [None if side else serial.get(key) for key, side in zip(keys, best["side_kernels"], strict=True)]
    ratios = {key: ratio(of) for key, of in cases[cases["memory"] == "pinned"].groupby(problem)}
    rows = best[[*SCHEDULE]].assign(
        compute_to_copy=[ratios.get(key, math.nan) for key in keys],
        streams=best["streams"].astype("Int64").mask(best["own_streams"] == 1),
        median_ms=best["median_ns"] / 1e6,
        events_ms=best["device_ns"] / 1e6,
        low_ms=best["low_ns"] / 1e6,
        high_ms=best["high_ns"] / 1e6,
        of_bound=pd.Series([over_bound(case) if case.bound else None for case in best.itertuples()], dtype=object),
        speedup=pd.Series([None if base is None else ratio_interval(base, samples)
                           for base, samples in zip(against, best["samples"], strict=True)], dtype=object),
    )  # fmt: skip
    has_events = bool(rows["events_ms"].notna().any())
    return Table(
        caption="Schedules at their fastest number of chunks and streams: makespan, makespan over the pipeline estimate, and speedup over "
        f"`{SERIAL}`, with 95% intervals in brackets."
        f" {WORK_SAID} Ratio: compute to copy."
        + has_events * f" {BY_EVENTS}",
        columns=(
            Column("workload", "workload", right=False),
            Column("items", "items", size),
            Column("work", "work", whole),
            Column("compute_to_copy", "ratio", lambda v: "—" if pd.isna(v) else significant(v, 2)),
            Column("id", "schedule", code, right=False),
            Column("chunks", "chunks", whole),
            Column("streams", "streams", whole),
            Column("memory", "memory", right=False),
            Column("median_ms", "ms", lambda v: significant(v, 4)),
            *[Column("events_ms", "by events", lambda v: "—" if pd.isna(v) else significant(v, 4))] * has_events,
            Column("of_bound", "/ estimate", lambda v: with_interval(v, 3)),
            Column("speedup", "speedup", lambda v: with_interval(v, 3)),
        ),
        rows=rows,
        notes=(
            f"{SIDE_SAID}; their estimate includes it, and they have no speedup.",
            "Concurrent kernels can beat the estimate.",
            "An interval over the estimate needs six repetitions, and one of a speedup five.",
            "Copies of pageable memory run in one direction at a time and have no estimate.",
            "Schedules without a number of streams create as many as they need.",
        ),
        printed=min(printed, PRINTED),
    )
