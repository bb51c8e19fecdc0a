"""Schedules with the bounds that their parts, timed alone, set."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from scanlab_report.data import Data
from scanlab_report.intervals import Interval, median_interval, ratio_intervals, summarise
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
BOUNDS = {SERIAL_SUM: "serial_sum", PIPELINE: "bound", WERKHOVEN: "werkhoven"}
"""The column of each bound, in seconds."""
PARTS = {"copy_in": "h2d", "copy_out": "d2h", "duplex_in": "duplex_h2d", "duplex_out": "duplex_d2h"}
"""The seconds of all copies in and out, and what was timed: one direction alone, and both at once.
"""


def bounds(rows: pd.DataFrame) -> pd.DataFrame:
    """Add the bounds of rows of parts: `chunks`, the columns of PARTS, `kernels` over all chunks,
    and `side` of kernels that wait for no copy. NaN if a part was not timed.

    `werkhoven` is the bound of Van Werkhoven et al. (2014) for two copy engines and n chunks.
    `bound` is the least time if copies slow each other down while both directions run: the longer
    they do, the sooner the bus is done and the later each copy is.
    """
    n, into, out, kernels = (rows[name] for name in ("chunks", "copy_in", "copy_out", "kernels"))
    largest = functools.partial(functools.reduce, np.maximum)
    longest, beside = largest([into, kernels, out]), kernels + rows["side"]
    share_in, share_out = (
        np.minimum(1.0, rows[f"copy_{way}"] / rows[f"duplex_{way}"]) for way in ("in", "out")
    )
    fill_in, fill_out = (kernels + out) / n, (kernels + into) / n
    gain = share_in + share_out - 1  # of the bus, per second in which both run
    ends = np.minimum((out - fill_in) / share_out, (into - fill_out) / share_in)
    both = np.maximum(0.0, ends).where(gain > 0, 0.0)
    copies = [into + (1 - share_in) * both + fill_in, out + (1 - share_out) * both + fill_out]
    bus, kernel = into + out - gain * both, kernels + (into + out) / n
    return rows.assign(
        serial_sum=into + kernels + out + rows["side"],
        werkhoven=largest([longest + (into + kernels + out - longest) / n, beside]),
        bound=largest([*copies, bus, kernel, beside]),
        compute_to_copy=kernels / np.maximum(into, out),
    )


def schedules_of(data: Data) -> pd.DataFrame:
    """Return one row per case of a schedule, with the columns of `bounds`, of parts timed in the
    same file, `device_ns`, the median between events, and `place`, the place of the schedule in the
    context. Lacking if none was timed."""
    cases = data.once("schedules", lambda: _schedules(data))
    if cases is None or problems(cases).empty:
        raise Lacking("timings of several schedules")
    return cases


def _schedules(data: Data) -> pd.DataFrame | None:
    files = newest_first(data, "schedule")
    every = pick(data["schedule"], file=files)
    rows = answering(data, every, "schedule", [*SCHEDULE, "entry"])
    rows = pick(rows, entry="schedule", control=0)
    if rows.empty:
        return None
    case = ["file", *SCHEDULE, "inputs", "bytes", "side_kernels", "own_streams"]
    device = rows.groupby(case)["device_ns"].median().reset_index()
    cases = summarise(rows, case).drop(columns="device_ns").merge(device, how="left")
    named = [data.files[n].context.get("schedules", {}).items() for n in files]
    known = [id_ for own in named for id_, about in own if not about["control"]]
    order = list(dict.fromkeys([*known, *cases["id"]]))
    copies = pick(every, entry="copy").groupby(["file", "id", "memory", "bytes"])["ns"].median()
    kernels = pick(every, entry="kernel").groupby(["file", *PROBLEM])["ns"].median().to_dict()
    parts = [_parts(row, copies.reset_index(), kernels) for row in cases.itertuples()]
    cases = cases.join(pd.DataFrame(parts)).assign(place=cases["id"].map(order.index))
    return bounds(cases)


def _parts(case: Any, copies: pd.DataFrame, kernels: dict[Any, float]) -> dict[str, float]:
    """The seconds of each part of a case: of the copy nearest in size to one array, and of the
    kernel over the whole array. Without it, a kernel over one chunk counts for every chunk."""
    array, made = case.bytes / (case.inputs + 1), {}
    for name, way in PARTS.items():
        own = pick(copies, file=case.file, id=way, memory=case.memory)
        made[name] = math.nan
        if len(own):
            nearest = own.loc[np.log(own["bytes"] / array).abs().idxmin()]
            rate = float(nearest["bytes"]) / nearest["ns"] * 1e9
            made[name] = (case.inputs if name.endswith("in") else 1) * array / rate
    key = (case.file, case.workload)
    times = [
        kernels[*key, items, case.work, case.blocks] * 1e-9 * case.items / items
        for items in (case.items, -(-case.items // case.chunks))
        if (*key, items, case.work, case.blocks) in kernels
    ]
    kernel = times[0] if times else math.nan
    return made | {"kernels": kernel, "side": kernel if case.side_kernels else 0.0}


def problems(cases: pd.DataFrame) -> pd.DataFrame:
    """One row per problem in which several schedules were timed: `scale` first, then most items."""
    rows = cases.groupby(PROBLEM).agg(cases=("id", "size"), ids=("id", "nunique")).reset_index()
    rows = rows.assign(main=rows["workload"] == MAIN_WORKLOAD)[rows["ids"] > 1]
    return rows.sort_values(["main", "items", "cases"], ascending=False, ignore_index=True)


def panels(cases: pd.DataFrame, over: str) -> list[pd.DataFrame]:
    """Return the cases of the first problem in pinned memory, one frame per amount of work: the
    least, the one whose kernels take about as long as a copy, and the most. The number of chunks
    varies and that of streams is fixed where most was timed, or the reverse."""
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
    return [parts[0], *sorted(parts[1:-1], key=from_even)[:1], parts[-1]][: len(parts)]


def from_even(panel: pd.DataFrame) -> float:
    """Return how far the kernels are from taking as long as a copy; infinite if unknown."""
    even = panel["compute_to_copy"].median()
    return abs(math.log(even)) if even > 0 else math.inf


def over_bound(case: Any) -> Interval:
    """Return the time of a schedule over the estimate of its pipeline."""
    time, bound = median_interval(case.samples), 1e9 * case.bound
    return Interval(time.value / bound, time.low / bound, time.high / bound, time.count)


def beaten(parts: Sequence[pd.DataFrame]) -> Any:
    """Return the case farthest below its estimate, with the whole interval more than 2% below; None
    if there is none."""
    rows = pd.concat(parts, ignore_index=True)
    share = rows["high_ns"].fillna(rows["median_ns"]) / (1e9 * rows["bound"])
    return next(rows.loc[[share.idxmin()]].itertuples()) if share.min() <= 0.98 else None


def best_schedule(cases: pd.DataFrame, workload: str) -> Any:
    """Return the fastest case in pinned memory of a workload at its largest size, with the least
    work per item, without side kernels; None if there is none."""
    rows = pick(cases, workload=workload, memory="pinned", side_kernels=0)
    rows = rows.assign(most=-rows["items"])[rows["bound"].notna()]
    rows = rows.sort_values(["most", "work", "median_ns"], kind="stable")
    return next(rows.itertuples(), None)


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
    gains = ratio_intervals([base] * len(others), list(others["samples"]))
    return others.assign(speedup=pd.Series(gains, others.index, dtype=object))


def ratio_title(panel: pd.DataFrame) -> str:
    ratio = panel["compute_to_copy"].median()
    return f"compute : copy {ratio:.2g}" if ratio > 0 else f"work {panel['work'].iloc[0]}"
