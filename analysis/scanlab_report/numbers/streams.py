"""The numbers on streams in the text of the papers, each by the name of its LaTeX macro."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from scanlab_report.chapters import bounds, concurrency, larger, model, timelines
from scanlab_report.claims.of_streams import array_bytes, errors, overlap, tracing_changes
from scanlab_report.data import Data
from scanlab_report.drift import summary, timed_in_rounds
from scanlab_report.formats import latex
from scanlab_report.intervals import ratio_interval
from scanlab_report.numbers import Numbers, typewriter
from scanlab_report.pick import newest, pick
from scanlab_report.sources import sources

SMALLEST_FORETOLD = 2**22
"""Least bytes that a problem copies for its time to be predicted. Smaller problems spend their time
on calls and launches, which differ from run to run more than the error of the model. A test of the
model states the same limit."""
REPEATABLE = 0.05
"""Most by which the repetitions of a timeline differ, as a part of their median, if it measures the
job alone; as in `scanlab simulate --compare`."""
_LIMIT = re.compile(r"by ([0-9.]+) us or more$")


def _tied(size: int) -> str:
    """Bytes, on one line."""
    return larger.size_name(size).replace(" ", "~")


def schedules(data: Data) -> Numbers:
    """The fastest schedules, over their estimates and over the serial one."""
    made: Numbers = {}
    cases = bounds.schedules_of(data)
    if add := bounds.best_schedule(cases, "vector_add"):
        size = _tied(array_bytes(add))
        made |= {"streamAddOfBound": bounds.over_bound(add), "streamAddSize": size}
    best = bounds.best_schedule(cases, "scale")
    if not best:
        return made
    (source,) = sources(data, cases)
    array = best.bytes / (best.inputs + 1)
    slower = max(best.duplex_in / best.copy_in, best.duplex_out / best.copy_out)
    made |= {
        "streamBest": typewriter(best.id),
        "streamBestChunks": best.chunks,
        "streamBestSize": _tied(array_bytes(best)),
        "streamVersions": latex(", ".join(source.versions[:2])),
        "streamBestOfBound": bounds.over_bound(best),
        "streamRateIn": best.inputs * array / best.duplex_in / 1e9,
        "streamRateOut": array / best.duplex_out / 1e9,
        "streamDuplexCost": (100 * (slower - 1), 2),
        "streamSpeedupIdeal": best.serial_sum / best.werkhoven,
    }
    rows = pick(cases, workload=best.workload, items=best.items, work=best.work, memory="pinned")
    # With a stream for each chunk, breadth-first issue holds nothing up.
    rows = rows[(rows["id"] != "breadth_first") | (rows["chunks"] > rows["streams"])]
    at_best = {
        row.id: row for row in rows.loc[rows.groupby("id")["median_ns"].idxmin()].itertuples()
    }
    if (breadth := at_best.get("breadth_first")) and breadth.bound > 0:
        made |= {
            "streamBreadthOfBound": bounds.over_bound(breadth),
            "streamBreadthChunks": breadth.chunks,
            "streamBreadthStreams": breadth.streams,
        }
    if serial := at_best.get(bounds.SERIAL):
        made["streamSpeedup"] = ratio_interval(serial.samples, best.samples)
    if (trap := at_best.get("null_stream_trap")) and trap.serial_sum > 0:
        made["streamTrapOfSerial"] = trap.median_ns / (1e9 * trap.serial_sum)
    return made


def worth(data: Data) -> Numbers:
    """The fewest streams within 2 percent of the fastest, where compute takes as long as a copy."""
    panel = min(bounds.panels(bounds.schedules_of(data), "streams"), key=bounds.from_even)
    made: Numbers = {
        "streamsWorthChunks": panel["chunks"].iloc[0],
        "streamsWorthRatio": (panel["compute_to_copy"].median(), 2),
    }
    for name, id_ in (("streamsWorth", "depth_first"), ("streamsWorthBreadth", "breadth_first")):
        times = pick(panel, id=id_).set_index("streams")["median_ns"]
        if len(times) > 1:
            made[name] = times.index[times <= 1.02 * times.min()].min()
    return made


def beaten(data: Data) -> Numbers:
    """A schedule that beats the pipeline estimate, if any."""
    least = bounds.beaten(bounds.panels(bounds.schedules_of(data), "chunks"))
    if least is None:
        return {}
    return {
        "streamBoundBeaten": (bounds.over_bound(least), 2),
        "streamBoundBeatenBy": typewriter(least.id),
        "streamBoundBeatenRatio": (least.compute_to_copy, 2),
    }


def larger_scans(data: Data) -> Numbers:
    """Scans larger than the device: rates, and times of other ways over them."""
    made: Numbers = {}
    every = larger.larger_cases(data)
    rows = pick(larger.fastest_ways(every), way=larger.STREAMED)
    for name, place in (("streamScanRate", "memory"), ("streamFileRate", "file")):
        own = pick(rows, **{"from": place, "to": place})
        made[name] = (own["bytes"] / own["median_ns"]).max()
        if place == "memory" and len(own):
            largest = own.loc[own["bytes"].idxmax()]
            made["streamScanSize"] = _tied(int(largest["bytes"]))
            made["streamScanBudget"] = _tied(int(largest["budget"]))
    if alone := larger.over_files(every, larger.FILES):
        made["streamFileOfFiles"] = alone[-1][1]
    if naive := larger.over_files(every, larger.NAIVE):
        size, gain, _ = naive[-1]
        made |= {"streamFileOfNaiveLargest": gain, "streamFileSize": _tied(size)}
    gains = [
        by_size[-1]
        for cases in larger.larger_sessions(data)
        if (by_size := larger.over_files(cases, larger.NAIVE))
    ]
    if len(gains) > 1:
        size, least, _ = min(gains, key=lambda gain: gain[1].value)
        made |= {
            "streamFileSessions": len(gains),
            "streamFileOfNaiveSession": least,
            "streamFileOfNaiveSessionSize": _tied(size),
        }
    return made


def grids(data: Data) -> Numbers:
    """Small grids side by side against the formula."""
    cases = concurrency.block_times(data)
    stairs = pick(cases, kernels=1)
    queue = cases[cases["kernels"] > 1].sort_values("connections")
    made: Numbers = {}
    if len(stairs):
        farthest = (stairs["measured"] / stairs["predicted"] - 1).abs().max()
        made = {"streamStairsCases": len(stairs), "streamStairsFarthest": (100 * farthest, 2)}
    if queue["connections"].nunique() > 1:
        slow, fast = queue["measured"].iloc[[0, -1]]
        made |= {"streamQueueOne": slow, "streamQueueMany": fast}
    return made


def predictions(data: Data) -> Numbers:
    """The engine model against traces of a device."""
    rows, _ = model.predictions(data)
    predicted, unaided, estimates = (
        errors(rows, column) for column in ("predicted_us", "unaided_us", "estimate_us")
    )
    repeatable = predicted[pd.to_numeric(rows["measured_spread"]) <= REPEATABLE]
    turned = rows[rows["copy_queues"] > 2]
    estimated = estimates.notna().all()
    return {
        "modelCases": len(rows),
        "modelMedian": (predicted.median(), 2),
        "modelWorst": predicted.max(),
        "modelOverlap": overlap(rows),
        "modelRepeatedOverlap": overlap(rows, "repeated_"),
        "modelBestOverlap": overlap(rows, "best_"),
        "modelUnaidedMedian": (unaided.median(), 2),
        "modelUnaidedWorst": unaided.max(),
        "modelUnaidedOverlap": overlap(rows, "unaided_"),
        "modelQueuesTurned": len(turned),
        "modelQueuesInOrder": int(turned["queues_ordered_as_modelled"].sum()),
        "modelEstimateMedian": (estimates.median(), 2) if estimated else None,
        "modelEstimateWorst": estimates.max() if estimated else None,
        "modelRepeatable": len(repeatable),
        "modelRepeatableSpread": (100 * REPEATABLE, 2),
        "modelRepeatableWorst": repeatable.max(),
    }


def advice(data: Data) -> Numbers:
    """Advice against the fastest choice, of problems that copy much and of others."""
    rows = newest(data, "advice", "advice of the engine model held against a sweep")
    measured = lambda choices: pd.Series([choice["measured_us"] for choice in choices], dtype=float)
    is_large = rows["copied_bytes"] >= SMALLEST_FORETOLD
    large, small = rows[is_large], rows[~is_large]
    made: Numbers = {
        "adviceProblems": len(rows),
        "adviceTies": int(rows["ties"].max()),
        "adviceMedian": (100 * rows["slower"].median(), 2),
        "adviceLargeProblems": len(large),
        "adviceLargeBytes": large["copied_bytes"].min() / 2**20,
        "adviceSmallBytes": small["copied_bytes"].max() / 2**20,
        "adviceSmallLost": ((measured(small["advised"]) - measured(small["fastest"])).max(), 2),
        "adviceTiesApart": 100 * large["ties_most_slower"].max(),
        "adviceSmallTiesApart": 100 * small["ties_most_slower"].max(),
    }
    for size, own in (("Large", large), ("Small", small)):
        made |= {
            f"advice{size}Worst": 100 * own["slower"].max(),
            f"advice{size}MedianError": 100 * own["median_error"].max(),
            f"advice{size}WorstError": 100 * own["worst_error"].max(),
        }
    return made


def implicit_sync(data: Data) -> Numbers:
    """In how many experiments the device answers as the teaching material, and in which not."""
    rows = newest(data, "implicit_sync", "experiments on implicit synchronisation")
    both = rows[rows["stated"].notna() & rows["answer"].notna()]
    others = both[both["differs"].astype(bool)]
    kinds, works = others["asks"].fillna("").value_counts(), others.explode("works")
    by_work = works.groupby("works")["claim"].nunique()
    made: Numbers = {
        "implicitSyncStated": len(both),
        "implicitSyncClaims": both["claim"].nunique(),
        "implicitSyncDiffer": len(others),
        "implicitSyncDifferHost": kinds.get("host", 0),
        "implicitSyncDifferStreams": kinds.get("streams", 0),
        "implicitSyncDifferOthers": kinds.get("", 0),
        "implicitSyncDifferClaims": others["claim"].nunique(),
        "implicitSyncOneSource": by_work.max(),
    }
    limit = others["question"].str.extract(_LIMIT, expand=False)
    limited = others.assign(limit=limit).dropna(subset="limit")
    if len(limited):
        seconds = np.concatenate(limited["seconds"].to_list())
        made |= {
            "implicitSyncLimited": len(limited),
            "implicitSyncLimit": limited["limit"].iloc[0],
            "implicitSyncLimitedLeast": (1e6 * seconds.min(), 2),
            "implicitSyncLimitedMost": (1e6 * seconds.max(), 2),
        }
    differing = rows[rows["differs"].astype(bool)]
    calls = concurrency.sync_calls(pick(differing, asks="streams", stated="yes"))
    return made | {"implicitSyncPartNoMore": "; ".join(map(latex, calls))}


def tracing(data: Data) -> Numbers:
    changes = [abs(change) for change, _ in tracing_changes(timelines.traces_of(data))]
    return {"tracingCost": (max(changes, default=None), 2)}


def sessions(data: Data) -> Numbers:
    """Return the numbers on the newest file of schedules."""
    row = summary(timed_in_rounds(data, "schedule")[-1], "schedule")
    return {
        "convergedSchedules": (row["converged_percent"], 2),
        "convergedSchedulesCases": row["cases"],
        "driftSchedules": (abs(row["drift_percent"].value), 2),
    }


FUNCTIONS = (
    *(schedules, worth, beaten, larger_scans, grids, predictions),
    *(advice, implicit_sync, tracing, sessions),
)
