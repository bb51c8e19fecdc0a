"""Schedules against their pipeline estimate and against the serial one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from scanlab_report.select.streams_evidence import PIPELINE, SERIAL, ScheduleEvidence, ratio
from scanlab_report.stats.intervals import Interval, median_interval, ratio_interval


def over_bound(case) -> Interval:
    """A schedule's time over the estimate of its pipeline."""
    interval = median_interval(case.samples)
    bound = 1e9 * case.bound
    return Interval(interval.value / bound, interval.low / bound, interval.high / bound, interval.count)


def beaten(panels: Sequence[pd.DataFrame]) -> Any:
    """The case that is farthest below its estimate, with its whole interval by more than 2 %; None if there is none."""
    rows = pd.concat(panels)
    rows = rows[rows["bound"].notna()]
    of_bound = rows["high_ns"].fillna(rows["median_ns"]) / (1e9 * rows["bound"].astype(float))
    if of_bound.empty or of_bound.min() > 0.98:
        return None
    return next(rows.loc[[of_bound.idxmin()]].itertuples())


def array_bytes(case) -> int:
    """Of each of a case's arrays: its inputs, and its output."""
    return int(case.bytes) // (int(case.inputs) + 1)


def best_schedule(schedules: ScheduleEvidence, workload: str) -> Any:
    """The fastest case in pinned memory of a workload at its largest size, with the least work a chunk; None if there is none.

    Of schedules that do this work alone.
    """
    rows = schedules.cases
    rows = rows[(rows["workload"] == workload) & (rows["memory"] == "pinned") & rows["bound"].notna() & (rows["side_kernels"] == 0)]
    for column, take in (("items", max), ("work", min)):
        rows = rows[rows[column] == take(rows[column], default=0)]
    return None if rows.empty else next(rows.loc[[rows["median_ns"].idxmin()]].itertuples())


def bounds(rows: pd.DataFrame) -> dict[str, list[float | None]]:
    """The bounds of each case in seconds, by name; None where the parts were not measured."""
    return {
        "serial sum": [parts and parts.serial() for parts in rows["alone"]],
        PIPELINE: list(rows["bound"]),
        "Van Werkhoven": [parts and parts.overlapped(n) for parts, n in zip(rows["alone"], rows["chunks"], strict=True)],
    }


def one_each(panel: pd.DataFrame, over: str) -> pd.DataFrame:
    """A case a number of chunks or streams, to draw its bounds: of a schedule without side kernels, where there is one."""
    return panel.sort_values([over, "side_kernels"]).drop_duplicates(over)


def speedups(panel: pd.DataFrame) -> pd.DataFrame:
    """The cases of every schedule of the same work but the serial one, by chunks, with their ``speedup`` (an :class:`Interval`)."""
    serial, others = panel[panel["id"] == SERIAL], panel[(panel["id"] != SERIAL) & (panel["side_kernels"] == 0)].sort_values("chunks")
    if serial.empty:
        return others[:0].assign(speedup=None)
    base = serial.loc[serial["median_ns"].idxmin(), "samples"]
    return others.assign(speedup=[ratio_interval(base, samples) for samples in others["samples"]])


def ratio_title(panel: pd.DataFrame) -> str:
    """The ratio of compute to copy, or the work where that was not measured."""
    compute_to_copy = ratio(panel)
    return f"work {panel['work'].iloc[0]}" if np.isnan(compute_to_copy) else f"compute : copy {compute_to_copy:.2g}"
