"""The numbers on streams in the text of the papers, each by the name of its LaTeX macro."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from scanlab_report.chapters import bounds, concurrency, larger, model, timelines
from scanlab_report.data import Data
from scanlab_report.formats import latex
from scanlab_report.intervals import ratio_interval
from scanlab_report.numbers.scans import Numbers, number
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


def _array(case) -> int:
    """Bytes of each of a case's arrays."""
    return int(case.bytes) // (int(case.inputs) + 1)


def schedules(data: Data) -> Numbers:
    """The fastest schedules, over their estimates and over the serial one."""
    made: Numbers = {}
    cases = bounds.schedules_of(data)
    if add := bounds.best_schedule(cases, "vector_add"):
        made |= {
            "streamAddOfBound": number(bounds.over_bound(add).value),
            "streamAddSize": _tied(_array(add)),
        }
    best = bounds.best_schedule(cases, "scale")
    if not best:
        return made
    (source,) = sources(data, cases)
    array = best.bytes / (best.inputs + 1)
    made |= {
        "streamBest": f"\\texttt{{{latex(best.id)}}}",
        "streamBestChunks": str(best.chunks),
        "streamBestSize": _tied(_array(best)),
        "streamVersions": latex(", ".join(source.versions[:2])),
        "streamBestOfBound": number(bounds.over_bound(best).value),
        "streamRateIn": number(best.inputs * array / best.duplex.copy_in / 1e9),
        "streamRateOut": number(array / best.duplex.copy_out / 1e9),
    }
    if best.alone:
        slower = max(
            best.duplex.copy_in / best.alone.copy_in, best.duplex.copy_out / best.alone.copy_out
        )
        ideal = best.alone.serial() / best.alone.overlapped(best.chunks)
        made |= {
            "streamDuplexCost": number(100 * (slower - 1), 2),
            "streamSpeedupIdeal": number(ideal),
        }
    rows = pick(cases, workload=best.workload, items=best.items, work=best.work, memory="pinned")
    # With a stream for each chunk, breadth-first issue holds nothing up.
    rows = rows[(rows["id"] != "breadth_first") | (rows["chunks"] > rows["streams"])]
    at_best = {
        row.id: row for row in rows.loc[rows.groupby("id")["median_ns"].idxmin()].itertuples()
    }
    if (breadth := at_best.get("breadth_first")) and breadth.bound > 0:
        made |= {
            "streamBreadthOfBound": number(bounds.over_bound(breadth).value),
            "streamBreadthChunks": str(breadth.chunks),
            "streamBreadthStreams": str(breadth.streams),
        }
    if serial := at_best.get(bounds.SERIAL):
        made["streamSpeedup"] = number(ratio_interval(serial.samples, best.samples).value)
    if (trap := at_best.get("null_stream_trap")) and trap.alone:
        made["streamTrapOfSerial"] = number(trap.median_ns / (1e9 * trap.alone.serial()))
    return made


def worth(data: Data) -> Numbers:
    """The fewest streams within 2 percent of the fastest, where compute takes as long as a copy."""
    panel = min(bounds.panels(bounds.schedules_of(data), "streams"), key=bounds.from_even)
    made = {"streamsWorthChunks": str(panel["chunks"].iloc[0])}
    if not np.isnan(ratio := bounds.compute_to_copy(panel)):
        made["streamsWorthRatio"] = number(ratio, 2)
    for name, id_ in (("streamsWorth", "depth_first"), ("streamsWorthBreadth", "breadth_first")):
        times = pick(panel, id=id_).set_index("streams")["median_ns"]
        if len(times) > 1:
            made[name] = str(times.index[times <= 1.02 * times.min()].min())
    return made


def beaten(data: Data) -> Numbers:
    """A schedule that beats the pipeline estimate, if any."""
    least = bounds.beaten(bounds.panels(bounds.schedules_of(data), "chunks"))
    if least is None:
        return {}
    return {
        "streamBoundBeaten": number(bounds.over_bound(least).value, 2),
        "streamBoundBeatenBy": f"\\texttt{{{latex(least.id)}}}",
        "streamBoundBeatenRatio": number(least.alone.ratio(), 2),
    }


def larger_scans(data: Data) -> Numbers:
    """Scans larger than the device: rates, and times of other ways over them."""
    made: Numbers = {}
    every = larger.larger_cases(data)
    rows = pick(larger.fastest_ways(every), way=larger.STREAMED)
    for name, place in (("streamScanRate", "memory"), ("streamFileRate", "file")):
        own = pick(rows, **{"from": place, "to": place})
        if len(own):
            made[name] = number(float((own["bytes"] / own["median_ns"]).max()))
            if place == "memory":
                largest = own.loc[own["bytes"].idxmax()]
                made |= {
                    "streamScanSize": _tied(int(largest["bytes"])),
                    "streamScanBudget": _tied(int(largest["budget"])),
                }
    if alone := larger.over_files(every, larger.FILES):
        made["streamFileOfFiles"] = number(alone[-1][1].value)
    if naive := larger.over_files(every, larger.NAIVE):
        gains = [
            gain[-1]
            for cases in larger.larger_sessions(data)
            if (gain := larger.over_files(cases, larger.NAIVE))
        ]
        if len(gains) > 1:
            size, least, _ = min(gains, key=lambda gain: gain[1].value)
            made |= {
                "streamFileSessions": str(len(gains)),
                "streamFileOfNaiveSession": number(least.value),
                "streamFileOfNaiveSessionSize": _tied(size),
            }
        made |= {
            "streamFileOfNaiveLargest": number(naive[-1][1].value),
            "streamFileSize": _tied(naive[-1][0]),
        }
    return made


def grids(data: Data) -> Numbers:
    """Small grids side by side against the formula."""
    made: Numbers = {}
    cases = concurrency.block_times(data)
    stairs = pick(cases, kernels=1)
    queue = cases[cases["kernels"] > 1].sort_values("connections")
    if len(stairs):
        farthest = float((stairs["measured"] / stairs["predicted"] - 1).abs().max())
        made |= {
            "streamStairsCases": str(len(stairs)),
            "streamStairsFarthest": number(100 * farthest, 2),
        }
    if queue["connections"].nunique() > 1:
        made |= {
            "streamQueueOne": number(queue["measured"].iloc[0]),
            "streamQueueMany": number(queue["measured"].iloc[-1]),
        }
    return made


def predictions(data: Data) -> Numbers:
    """The engine model against traces of a device."""
    rows, _ = model.predictions(data)

    def off(column: str) -> pd.Series:
        return 100 * (pd.to_numeric(rows[column]) / rows["measured_us"] - 1).abs()

    def overlap(which: str = "") -> str:
        both, either = (rows[f"{which}overlap_in_{where}"].sum() for where in ("both", "either"))
        return number(100 * float(both / max(1, either)))

    errors, unaided, estimates = off("predicted_us"), off("unaided_us"), off("estimate_us")
    repeatable = errors[pd.to_numeric(rows["measured_spread"]) <= REPEATABLE]
    turned = rows[rows["copy_queues"] > 2]
    made = {
        "modelCases": str(len(rows)),
        "modelMedian": number(float(errors.median()), 2),
        "modelWorst": number(float(errors.max())),
        "modelOverlap": overlap(),
        "modelRepeatedOverlap": overlap("repeated_"),
        "modelBestOverlap": overlap("best_"),
        "modelUnaidedMedian": number(float(unaided.median()), 2),
        "modelUnaidedWorst": number(float(unaided.max())),
        "modelUnaidedOverlap": overlap("unaided_"),
        "modelQueuesTurned": str(len(turned)),
        "modelQueuesInOrder": str(int(turned["queues_ordered_as_modelled"].sum())),
    }
    if estimates.notna().all():
        made |= {
            "modelEstimateMedian": number(float(estimates.median()), 2),
            "modelEstimateWorst": number(float(estimates.max())),
        }
    if len(repeatable):
        made |= {
            "modelRepeatable": str(len(repeatable)),
            "modelRepeatableSpread": number(100 * REPEATABLE, 2),
            "modelRepeatableWorst": number(float(repeatable.max())),
        }
    return made


def advice(data: Data) -> Numbers:
    """Advice against the fastest choice, of problems that copy much and of others."""
    rows = newest(data, "advice", "advice of the engine model held against a sweep")
    made = {
        "adviceProblems": str(len(rows)),
        "adviceTies": str(int(rows["ties"].max())),
        "adviceMedian": number(100 * float(rows["slower"].median()), 2),
    }
    is_large = rows["copied_bytes"] >= SMALLEST_FORETOLD
    large, small = rows[is_large], rows[~is_large]

    def most(own: pd.DataFrame, column: str) -> str:
        return number(100 * float(own[column].max()))

    if len(large):
        made |= {
            "adviceLargeBytes": number(float(large["copied_bytes"].min()) / 2**20),
            "adviceLargeProblems": str(len(large)),
            "adviceLargeWorst": most(large, "slower"),
            "adviceLargeMedianError": most(large, "median_error"),
            "adviceLargeWorstError": most(large, "worst_error"),
            "adviceTiesApart": most(large, "ties_most_slower"),
        }
    if len(small):
        lost = max(
            row.advised["measured_us"] - row.fastest["measured_us"] for row in small.itertuples()
        )
        made |= {
            "adviceSmallBytes": number(float(small["copied_bytes"].max()) / 2**20),
            "adviceSmallMedianError": most(small, "median_error"),
            "adviceSmallWorstError": most(small, "worst_error"),
            "adviceSmallLost": number(lost, 2),
            "adviceSmallWorst": most(small, "slower"),
            "adviceSmallTiesApart": most(small, "ties_most_slower"),
        }
    return made


def implicit_sync(data: Data) -> Numbers:
    """In how many experiments the device answers as the teaching material, and in which not."""
    rows = newest(data, "implicit_sync", "experiments on implicit synchronisation")
    both = rows[rows["stated"].notna() & rows["answer"].notna()]
    others = both[both["differs"].astype(bool)]
    kinds, works = others["asks"].fillna("").value_counts(), others.explode("works")
    by_work = works["claim"].groupby(works["works"]).nunique()
    made = {
        "implicitSyncStated": str(len(both)),
        "implicitSyncClaims": str(both["claim"].nunique()),
        "implicitSyncDiffer": str(len(others)),
        "implicitSyncDifferHost": str(kinds.get("host", 0)),
        "implicitSyncDifferStreams": str(kinds.get("streams", 0)),
        "implicitSyncDifferOthers": str(kinds.get("", 0)),
        "implicitSyncDifferClaims": str(others["claim"].nunique()),
        "implicitSyncOneSource": str(int(by_work.max()) if len(by_work) else 0),
    }
    limit = others["question"].str.extract(_LIMIT, expand=False)
    limited = others.assign(limit=limit).dropna(subset="limit")
    if len(limited):
        seconds = np.concatenate(limited["seconds"].to_list())
        made |= {
            "implicitSyncLimited": str(len(limited)),
            "implicitSyncLimit": limited["limit"].iloc[0],
            "implicitSyncLimitedLeast": number(1e6 * seconds.min(), 2),
            "implicitSyncLimitedMost": number(1e6 * seconds.max(), 2),
        }
    calls = concurrency.sync_calls(
        pick(rows[rows["differs"].astype(bool)], asks="streams", stated="yes")
    )
    if calls:
        made["implicitSyncPartNoMore"] = "; ".join(latex(call) for call in calls)
    return made


def tracing(data: Data) -> Numbers:
    changes = [
        abs(float(trace.about["tracing_overhead_percent"]))
        for trace in timelines.traces_of(data)
        if "tracing_overhead_percent" in trace.about
    ]
    return {"tracingCost": number(max(changes), 2)} if changes else {}


FUNCTIONS = (
    schedules,
    worth,
    beaten,
    larger_scans,
    grids,
    predictions,
    advice,
    implicit_sync,
    tracing,
)
