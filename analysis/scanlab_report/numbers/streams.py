"""The numbers on streams in the text of the papers, each by the name of its LaTeX macro."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scanlab_report.chapters import bounds, concurrency, larger, model, timelines
from scanlab_report.claims.measures import array_bytes, errors, overlap, tracing_changes
from scanlab_report.data import Data
from scanlab_report.drift import summary, timed_in_rounds
from scanlab_report.formats import latex
from scanlab_report.intervals import ratio_interval
from scanlab_report.numbers import Numbers, typewriter
from scanlab_report.pick import Lacking, newest, pick
from scanlab_report.sources import sources

SMALLEST_FORETOLD = 2**22
"""Least bytes that a problem copies for its time to be predicted. Smaller problems spend their time
on calls and launches, which differ from run to run more than the error of the model. A test of the
model states the same limit."""
REPEATABLE = 0.05
"""Most by which the repetitions of a timeline differ, as a part of their median, if it measures the
job alone; as in `scanlab simulate --compare`."""


def _tied(size: int) -> str:
    """Bytes, on one line."""
    return larger.size_name(int(size)).replace(" ", "~")


def schedules(data: Data) -> Numbers:
    """The fastest schedules, over their estimates and over the serial one."""
    cases = bounds.schedules_of(data)
    add, best = (bounds.best_schedule(cases, name) for name in ("vector_add", "scale"))
    if add is None or best is None or not best.bound > 0:
        raise Lacking("schedules of vector_add and scale, with their parts alone")
    array = best.bytes / (best.inputs + 1)
    rows = pick(cases, workload=best.workload, items=best.items, work=best.work, memory="pinned")
    # With a stream for each chunk, breadth-first issue holds nothing up.
    rows = rows[(rows["id"] != "breadth_first") | (rows["chunks"] > rows["streams"])]
    fastest = rows.loc[rows.groupby("id")["median_ns"].idxmin()]
    at_best = {row.id: row for row in fastest.itertuples()}
    breadth, trap = at_best["breadth_first"], at_best["null_stream_trap"]
    slower = max(best.duplex_in / best.copy_in, best.duplex_out / best.copy_out)
    return {
        "streamAddOfBound": bounds.over_bound(add),
        "streamAddSize": _tied(array_bytes(add)),
        "streamBest": typewriter(best.id),
        "streamBestChunks": best.chunks,
        "streamBestSize": _tied(array_bytes(best)),
        "streamVersions": latex(", ".join(sources(data, cases)[0].versions[:2])),
        "streamBestOfBound": bounds.over_bound(best),
        "streamRateIn": best.inputs * array / best.duplex_in / 1e9,
        "streamRateOut": array / best.duplex_out / 1e9,
        "streamDuplexCost": (100 * (slower - 1), 2),
        "streamSpeedupIdeal": best.serial_sum / best.werkhoven,
        "streamBreadthOfBound": bounds.over_bound(breadth),
        "streamBreadthChunks": breadth.chunks,
        "streamBreadthStreams": breadth.streams,
        "streamSpeedup": ratio_interval(at_best[bounds.SERIAL].samples, best.samples),
        "streamTrapOfSerial": trap.median_ns / (1e9 * trap.serial_sum),
    }


def worth(data: Data) -> Numbers:
    """The fewest streams within 2 percent of the fastest, where compute takes as long as a copy."""
    panel = min(bounds.panels(bounds.schedules_of(data), "streams"), key=bounds.from_even)

    def fewest(schedule: str) -> int:
        times = pick(panel, id=schedule).set_index("streams")["median_ns"]
        return times.index[times <= 1.02 * times.min()].min()

    return {
        "streamsWorthChunks": panel["chunks"].iloc[0],
        "streamsWorthRatio": (panel["compute_to_copy"].median(), 2),
        "streamsWorth": fewest("depth_first"),
        "streamsWorthBreadth": fewest("breadth_first"),
    }


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
    every = larger.larger_cases(data)
    rows = pick(larger.fastest_ways(every), way=larger.STREAMED)
    memory, file = (pick(rows, **{"from": place, "to": place}) for place in ("memory", "file"))
    rate = lambda own: (own["bytes"] / own["median_ns"]).max()
    largest = memory.loc[memory["bytes"].idxmax()]
    size, gain, _ = larger.over_files(every, larger.NAIVE)[-1]
    sessions = [larger.over_files(own, larger.NAIVE) for own in larger.larger_sessions(data)]
    gains = [by_size[-1] for by_size in sessions if by_size]
    least_size, least, _ = min(gains, key=lambda gain: gain[1].value)
    return {
        "streamScanRate": rate(memory),
        "streamFileRate": rate(file),
        "streamScanSize": _tied(largest["bytes"]),
        "streamScanBudget": _tied(largest["budget"]),
        "streamFileOfFiles": larger.over_files(every, larger.FILES)[-1][1],
        "streamFileOfNaiveLargest": gain,
        "streamFileSize": _tied(size),
        "streamFileSessions": len(gains),
        "streamFileOfNaiveSession": least,
        "streamFileOfNaiveSessionSize": _tied(least_size),
    }


def grids(data: Data) -> Numbers:
    """Small grids side by side against the formula."""
    cases = concurrency.block_times(data)
    stairs = pick(cases, kernels=1)
    queue = cases[cases["kernels"] > 1].sort_values("connections")["measured"]
    farthest = (stairs["measured"] / stairs["predicted"] - 1).abs().max()
    return {
        "streamStairsCases": len(stairs),
        "streamStairsFarthest": (100 * farthest, 2),
        "streamQueueOne": queue.iloc[0],
        "streamQueueMany": queue.iloc[-1],
    }


def predictions(data: Data) -> Numbers:
    """The engine model against traces of a device."""
    rows, _ = model.predictions(data)
    predicted, unaided, estimates = (
        errors(rows, column) for column in ("predicted_us", "unaided_us", "estimate_us")
    )
    repeatable = predicted[pd.to_numeric(rows["measured_spread"]) <= REPEATABLE]
    turned = rows[rows["copy_queues"] > 2]
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
        "modelEstimateMedian": (estimates.median(skipna=False), 2),
        "modelEstimateWorst": estimates.max(skipna=False),
        "modelRepeatable": len(repeatable),
        "modelRepeatableSpread": (100 * REPEATABLE, 2),
        "modelRepeatableWorst": repeatable.max(),
    }


def advice(data: Data) -> Numbers:
    """Advice against the fastest choice, of problems that copy much and of others."""
    rows = newest(data, "advice", "advice of the engine model held against a sweep")
    is_large = rows["copied_bytes"] >= SMALLEST_FORETOLD
    large, small = rows[is_large], rows[~is_large]
    times = {name: small[name].str["measured_us"].astype(float) for name in ("advised", "fastest")}
    return {
        "adviceProblems": len(rows),
        "adviceTies": int(rows["ties"].max()),
        "adviceMedian": (100 * rows["slower"].median(), 2),
        "adviceLargeProblems": len(large),
        "adviceLargeBytes": large["copied_bytes"].min() / 2**20,
        "adviceSmallBytes": small["copied_bytes"].max() / 2**20,
        "adviceSmallLost": ((times["advised"] - times["fastest"]).max(), 2),
        "adviceTiesApart": 100 * large["ties_most_slower"].max(),
        "adviceSmallTiesApart": 100 * small["ties_most_slower"].max(),
    } | {
        f"advice{size}{name}": 100 * own[column].max()
        for size, own in (("Large", large), ("Small", small))
        for name, column in (
            ("Worst", "slower"),
            ("MedianError", "median_error"),
            ("WorstError", "worst_error"),
        )
    }


def implicit_sync(data: Data) -> Numbers:
    """In how many experiments the device answers as the teaching material, and in which not."""
    rows = newest(data, "implicit_sync", "experiments on implicit synchronisation")
    both = rows[rows["stated"].notna() & rows["answer"].notna()]
    others = both[both["differs"].astype(bool)]
    limits = others["question"].str.extract(r"by ([0-9.]+) us or more$", expand=False).dropna()
    seconds = np.concatenate(others.loc[limits.index, "seconds"].to_list())
    calls = concurrency.sync_calls(pick(others, asks="streams", stated="yes"))
    return {
        "implicitSyncStated": len(both),
        "implicitSyncClaims": both["claim"].nunique(),
        "implicitSyncDiffer": len(others),
        "implicitSyncDifferHost": (others["asks"] == "host").sum(),
        "implicitSyncDifferStreams": (others["asks"] == "streams").sum(),
        "implicitSyncDifferOthers": others["asks"].fillna("").eq("").sum(),
        "implicitSyncDifferClaims": others["claim"].nunique(),
        "implicitSyncOneSource": others.explode("works").groupby("works")["claim"].nunique().max(),
        "implicitSyncLimited": len(limits),
        "implicitSyncLimit": limits.iloc[0],
        "implicitSyncLimitedLeast": (1e6 * seconds.min(), 2),
        "implicitSyncLimitedMost": (1e6 * seconds.max(), 2),
        "implicitSyncPartNoMore": "; ".join(map(latex, calls)),
    }


def sessions(data: Data) -> Numbers:
    """The cost of tracing, and the newest file of schedules."""
    changes = tracing_changes(timelines.traces_of(data))
    row = summary(timed_in_rounds(data, "schedule")[-1], "schedule")
    return {
        "tracingCost": (max(change.median for change in changes), 2),
        "convergedSchedules": (row["converged_percent"], 2),
        "convergedSchedulesCases": row["cases"],
        "driftSchedules": (abs(row["drift_percent"].value), 2),
    }


FUNCTIONS = (
    *(schedules, worth, beaten, larger_scans, grids),
    *(predictions, advice, implicit_sync, sessions),
)
