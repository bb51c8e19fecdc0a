"""Schedules with the bounds that their parts, timed alone, set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from scanlab_report.data import Data
from scanlab_report.intervals import Interval, median_interval, ratio_interval, summarise
from scanlab_report.pick import Lacking, answering, newest_first, pick
from scanlab_report.tables import SCHEDULE

SERIAL, MAIN_WORKLOAD = "serial_pinned", "scale"
PROBLEM = ["workload", "items", "work", "blocks"]
"""Schedules that agree in these columns solve the same problem and are compared."""
SIDE = (
    "The schedules `null_stream_nonblocking`, `null_stream_trap` and `per_thread_default` add an "
    "equal side kernel per chunk"
)
WORK = "Work: multiplications per item, or rounds of `feistel`."
PIPELINE, SERIAL_SUM, WERKHOVEN = "pipeline estimate", "serial sum", "Van Werkhoven"

# ------------------------------------------------------------------------------------ the bounds


@dataclass(frozen=True)
class Parts:
    """Seconds of the copies in, the kernels and the copies out, over all chunks, each with its
    engine to itself. `side`: seconds of kernels beside them, which work on data of their own and
    wait for no copy."""

    copy_in: float
    kernels: float
    copy_out: float
    side: float = 0.0

    def serial(self) -> float:
        """Return the time of the three parts one after another."""
        return self.copy_in + self.kernels + self.copy_out + self.side

    def overlapped(self, chunks: int) -> float:
        """The bound of Van Werkhoven et al. (2014) for two copy engines and n chunks,
        max(H + (K + D)/n, K + (H + D)/n, D + (H + K)/n). All kernels are one engine's."""
        longest = max(self.copy_in, self.kernels, self.copy_out)
        rest = self.copy_in + self.kernels + self.copy_out - longest
        return max(longest + rest / chunks, self.kernels + self.side)

    def pipeline(self, duplex: Parts, chunks: int) -> float:
        """Return the least time of n chunks if copies slow each other down while both directions
        run, by the factors of `duplex`.

        The longer both directions run, the sooner the bus is done and the later each copy is. The
        best is where the bus is done with the first of them. Kernels count as timed over the whole
        array.
        """
        share_in = min(1.0, self.copy_in / duplex.copy_in)
        share_out = min(1.0, self.copy_out / duplex.copy_out)
        fill_in, fill_out = ((self.kernels + c) / chunks for c in (self.copy_out, self.copy_in))
        gain = share_in + share_out - 1  # of the bus, per second in which both run
        both = 0.0
        if gain > 0:
            ends = ((self.copy_out - fill_in) / share_out, (self.copy_in - fill_out) / share_in)
            both = max(0.0, min(ends))
        return max(
            self.copy_in + (1 - share_in) * both + fill_in,
            self.copy_out + (1 - share_out) * both + fill_out,
            self.copy_in + self.copy_out - gain * both,
            self.kernels + (self.copy_in + self.copy_out) / chunks,
            self.kernels + self.side,
        )

    def ratio(self) -> float:
        """Return the ratio of compute to copy: the kernels over the longer of the two copies."""
        return self.kernels / max(self.copy_in, self.copy_out)


def equal_thirds(chunks: Any) -> Any:
    """The most that n chunks gain over serial if the three parts take a third each: 3n/(n + 2)."""
    return 3 * chunks / (chunks + 2)


def schedules_of(data: Data) -> pd.DataFrame:
    """Return one row per case of a schedule.

    Columns: `device_ns`, the median between events; `place`, the place of the schedule in the
    context; `alone` and `duplex`, the parts timed in the same file with and without the bus to
    themselves; `bound`, the seconds that both allow. Lacking if none was timed.
    """

    cases = data.once("schedules", lambda: _schedules(data))
    if cases is None or problems(cases).empty:
        raise Lacking("timings of several schedules")
    return cases


def _schedules(data: Data) -> pd.DataFrame | None:
    every = pick(data["schedule"], file=newest_first(data, "schedule"))
    rows = answering(data, every, "schedule", [*SCHEDULE, "entry"])
    rows = pick(rows, entry="schedule", control=0)
    if rows.empty:
        return None
    case = ["file", *SCHEDULE, "inputs", "bytes", "side_kernels", "own_streams"]
    device = rows.groupby(case)["device_ns"].median().reset_index()
    cases = summarise(rows, case).drop(columns="device_ns").merge(device, how="left")
    known = [
        id_
        for n in newest_first(data, "schedule")
        for id_, about in data.files[n].context.get("schedules", {}).items()
        if not about["control"]
    ]
    order = list(dict.fromkeys([*known, *sorted(set(cases["id"]))]))
    alone = {n: _Alone(pick(every, file=n)) for n in set(cases["file"])}
    for column, ways in (("alone", ("h2d", "d2h")), ("duplex", ("duplex_h2d", "duplex_d2h"))):
        values = [alone[row.file].parts(row, ways) for row in cases.itertuples()]
        cases[column] = pd.Series(values, dtype=object)
    bounds = [
        c.alone.pipeline(c.duplex, c.chunks) if c.alone and c.duplex else math.nan
        for c in cases.itertuples()
    ]
    return cases.assign(place=cases["id"].map(order.index), bound=bounds)


class _Alone:
    """Median times of the copies and kernels of a file, each timed alone."""

    def __init__(self, rows: pd.DataFrame) -> None:
        copies = pick(rows, entry="copy").groupby(["id", "memory", "bytes"])["ns"].median()
        self.copies = copies.reset_index()
        kernels = pick(rows, entry="kernel").groupby(["id", "work", "blocks", "items"])["ns"]
        self.kernels = kernels.median().to_dict()

    def parts(self, case: Any, directions: tuple[str, str]) -> Parts | None:
        """Return the parts of a case: the copy nearest in size to one array, and the kernel over
        the whole array. Without it, a kernel over one chunk counts as often as there are chunks."""
        array, rates = case.bytes / (case.inputs + 1), []
        for direction in directions:
            copies = pick(self.copies, id=direction, memory=case.memory)
            if copies.empty:
                return None
            nearest = copies.loc[np.log(copies["bytes"] / array).abs().idxmin()]
            rates.append(float(nearest["bytes"]) / nearest["ns"] * 1e9)
        for items in (case.items, -(-case.items // case.chunks)):
            time = self.kernels.get((case.workload, case.work, case.blocks, items))
            if time is not None:
                kernel = float(time) * 1e-9 * case.items / items
                side = kernel if case.side_kernels else 0.0
                return Parts(case.inputs * array / rates[0], kernel, array / rates[1], side)
        return None


def problems(cases: pd.DataFrame) -> pd.DataFrame:
    """One row per problem in which several schedules were timed: `scale` first, then most items."""
    rows = cases.groupby(PROBLEM).agg(cases=("id", "size"), ids=("id", "nunique")).reset_index()
    rows["main"] = rows["workload"] == MAIN_WORKLOAD
    order = ["main", "items", "cases"]
    return rows[rows["ids"] > 1].sort_values(order, ascending=False, ignore_index=True)


def panels(cases: pd.DataFrame, over: str, most: int = 3) -> list[pd.DataFrame]:
    """Return the cases of the first problem in pinned memory, one frame per amount of work, the
    least first. The number of chunks varies and that of streams is fixed, or the reverse. `most`
    frames are kept: the least work, the most, and those whose kernels take about as long as a copy.
    """
    first = problems(cases).iloc[0]
    same = {column: first[column] for column in ("workload", "items", "blocks")}
    rows = pick(cases, memory="pinned", **same)
    fixed = {"chunks": "streams", "streams": "chunks"}[over]
    values = rows.groupby([fixed, "work"])[over].nunique().unstack(fill_value=0)
    if values.empty or values.max(axis=None) < 2:
        raise Lacking(f"timings of several schedules over several {over}")
    number = rows.groupby(fixed).size()
    varied = {v: ((own > 1).sum(), own.sum(), number[v], v) for v, own in values.iterrows()}
    value = max(varied, key=varied.__getitem__)
    works = pick(rows, **{fixed: value}).groupby("work")
    parts = [own for _, own in works if own[over].nunique() > 1]
    if len(parts) > most:
        between = sorted(range(1, len(parts) - 1), key=lambda n: from_even(parts[n]))
        parts = [parts[n] for n in sorted([0, *between[: most - 2], len(parts) - 1])]
    return parts


def compute_to_copy(panel: pd.DataFrame) -> float:
    """Return the ratio of compute to copy of a case; NaN if the parts were not timed."""
    ratios = [parts.ratio() for parts in panel["alone"] if parts is not None]
    return float(np.median(ratios)) if ratios else math.nan


def from_even(panel: pd.DataFrame) -> float:
    """Return how far the kernels are from taking as long as a copy; infinite if unknown."""
    return abs(math.log(even)) if (even := compute_to_copy(panel)) > 0 else math.inf


def over_bound(case: Any) -> Interval:
    """Return the time of a schedule over the estimate of its pipeline."""
    time, bound = median_interval(case.samples), 1e9 * case.bound
    return Interval(time.value / bound, time.low / bound, time.high / bound, time.count)


def beaten(parts: Sequence[pd.DataFrame]) -> Any:
    """Return the case farthest below its estimate, with the whole interval more than 2% below; None
    if there is none."""
    rows = pd.concat(parts, ignore_index=True)
    share = rows["high_ns"].fillna(rows["median_ns"]) / (1e9 * rows["bound"])
    return _at(rows, share.idxmin()) if share.min() <= 0.98 else None


def _at(rows: pd.DataFrame, index: Any) -> Any:
    """A row as a named tuple."""
    return next(rows.loc[[index]].itertuples())


def best_schedule(cases: pd.DataFrame, workload: str) -> Any:
    """Return the fastest case in pinned memory of a workload at its largest size, with the least
    work per item; None if there is none. Schedules with side kernels do other work and are left
    out."""
    rows = pick(cases, workload=workload, memory="pinned", side_kernels=0)
    rows = rows[rows["bound"].notna()]
    for column, take in (("items", max), ("work", min)):
        rows = rows[rows[column] == take(rows[column], default=0)]
    return None if rows.empty else _at(rows, rows["median_ns"].idxmin())


def bounds(rows: pd.DataFrame) -> dict[str, list[float]]:
    """The bounds of each case in seconds, by name; NaN where the parts were not timed."""
    pairs = list(zip(rows["alone"], rows["chunks"], strict=True))
    return {
        SERIAL_SUM: [parts.serial() if parts else math.nan for parts, _ in pairs],
        PIPELINE: list(rows["bound"]),
        WERKHOVEN: [parts.overlapped(n) if parts else math.nan for parts, n in pairs],
    }


def one_each(panel: pd.DataFrame, over: str) -> pd.DataFrame:
    """Return one case per number of chunks or streams, preferably without side kernels."""
    return panel.sort_values([over, "side_kernels"]).drop_duplicates(over)


def speedups(panel: pd.DataFrame) -> pd.DataFrame:
    """Return every schedule of the same work except the serial one, with its `speedup`, an
    interval."""
    serial = pick(panel, id=SERIAL)
    others = panel[(panel["id"] != SERIAL) & (panel["side_kernels"] == 0)].sort_values("chunks")
    if serial.empty:
        return others[:0].assign(speedup=None)
    base = serial.loc[serial["median_ns"].idxmin(), "samples"]
    return others.assign(speedup=[ratio_interval(base, own) for own in others["samples"]])


def ratio_title(panel: pd.DataFrame) -> str:
    ratio = compute_to_copy(panel)
    work = panel["work"].iloc[0]
    return f"work {work}" if np.isnan(ratio) else f"compute : copy {ratio:.2g}"
