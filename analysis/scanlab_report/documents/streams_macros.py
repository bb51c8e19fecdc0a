"""The numbers about streams in the paper's text."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from scanlab_report.claims.checked import ClaimEvidence, targets
from scanlab_report.claims.stated import OF_ENGINES, OF_STREAMS
from scanlab_report.derive import implicit_sync
from scanlab_report.derive.concurrency import in_block_times
from scanlab_report.derive.schedules import array_bytes, beaten, best_schedule, over_bound
from scanlab_report.derive.sizes import size_name
from scanlab_report.derive.stream_scans import fastest, of_file
from scanlab_report.documents.numbers import number
from scanlab_report.layout.table_formats import latex
from scanlab_report.read import streams
from scanlab_report.select.evidence import TableEvidence
from scanlab_report.select.needs import Need
from scanlab_report.select.streams_evidence import (
    FILES,
    NAIVE,
    SERIAL,
    STREAMED,
    Experiments,
    ScanEvidence,
    ScheduleEvidence,
    Schedules,
    StreamScans,
    TraceEvidence,
    Traces,
    from_even,
    ratio,
)
from scanlab_report.stats.intervals import ratio_interval

SMALLEST_FORETOLD = 2**22
"""Bytes that a problem copies, both ways: of a smaller one calls and launches take the time, which differ from run to run more than
the model's error. A test of the model against the record states the same limit."""

REPEATABLE = 0.05
"""By how much the repetitions of a timeline may differ, a part of their median, for that to be a measure of the job alone; as of
``scanlab simulate --compare``."""

NAMES = {
    "streamBest": "fastest schedule of scale at its largest size",
    "streamBestChunks": "its number of chunks",
    "streamBestSize": "each of its arrays",
    "streamVersions": "driver and toolkit of the schedules",
    "streamBestOfBound": "its time over the pipeline estimate",
    "streamAddOfBound": "the same of vector_add",
    "streamAddSize": "each of its arrays",
    "streamSpeedup": "speedup of the fastest schedule of scale over serial_pinned",
    "streamSpeedupIdeal": "what its chunks allow by the parts measured one at a time",
    "streamBreadthOfBound": "breadth_first over the bound, at its best with more chunks than streams",
    "streamBreadthChunks": "its chunks there",
    "streamBreadthStreams": "its streams there",
    "streamTrapOfSerial": "time of null_stream_trap at its best over that of its copies and kernels, those on the side among them, one after another",
    "streamsWorth": "fewest streams with which depth_first is within 2 percent of its fastest, where compute to copy is nearest to 1",
    "streamsWorthBreadth": "defined if it was timed with several numbers of streams: the same of breadth_first",
    "streamsWorthRatio": "compute to copy there",
    "streamsWorthChunks": "chunks there",
    "streamBoundBeaten": "defined if a schedule beats the bound by more than 2 percent: its time over the bound",
    "streamBoundBeatenBy": "defined if one does: that schedule",
    "streamBoundBeatenRatio": "defined if one does: compute to copy there",
    "streamRateIn": "copy to the device while copies run the other way, GB/s",
    "streamRateOut": "copy to the host while copies run the other way, GB/s",
    "streamDuplexCost": "how much longer the slower direction takes while the other runs, percent",
    "streamScanOfDuplex": "stream-scan of 16 GiB from and to memory over copies both ways",
    "streamScanOfDuplexLow": "low end of its 95% interval",
    "streamScanOfDuplexHigh": "high end of it",
    "streamScanSize": "largest input from and to memory",
    "streamScanBudget": "device memory that it may take",
    "streamScanRate": "fastest stream-scan from and to memory, GB/s each way",
    "streamFileRate": "fastest stream-scan from and to a file, GB/s each way",
    "streamFileOfNaiveLargest": "the same for the largest file",
    "streamFileSize": "its bytes",
    "streamFileSessions": "defined if there is more than one: sessions that have it",
    "streamFileOfNaiveSession": "defined if there is more than one: the least of theirs",
    "streamFileOfNaiveSessionSize": "defined if that is: the size of that file",
    "streamFileOfFiles": "reading and writing alone over stream-scan, for the largest file",
    "streamQueueOne": "several kernels a stream with one connection, block times",
    "streamQueueMany": "the same with most connections",
    "streamStairsCases": "cases of one kernel a stream, over all numbers of connections",
    "streamStairsFarthest": "largest distance of their makespan from the formula, percent",
    "modelCases": "configurations that the engine model is held against",
    "modelMedian": "median error of their makespan, percent",
    "modelWorst": "largest error of their makespan, percent",
    "modelOverlap": "pairs of operations that overlap in both, of those in either, over all repetitions, percent",
    "modelRepeatedOverlap": "the same between any two repetitions on the device, percent",
    "modelBestOverlap": "the same of any prediction at most, percent",
    "modelRepeatable": "defined if there are any: configurations whose repetitions lie within modelRepeatableSpread",
    "modelRepeatableSpread": "of their median, percent",
    "modelRepeatableWorst": "modelWorst of these",
    "modelEstimateMedian": "defined if the file has it: modelMedian of the pipeline estimate instead",
    "modelEstimateWorst": "modelWorst likewise",
    "modelUnaidedMedian": "modelMedian where the model says which hardware queues serve a stream",
    "modelUnaidedWorst": "modelWorst likewise",
    "modelUnaidedOverlap": "modelOverlap likewise",
    "modelQueuesTurned": "configurations with more than two hardware queues for the copies of one way",
    "modelQueuesInOrder": "those of them whose queues the driver put in the order of the model's",
    "adviceMedian": "how much longer than the fastest what is advised takes, in the median over problems, percent",
    "adviceProblems": "problems of which the choices were measured",
    "adviceLargeBytes": "what the smallest problem of at least SMALLEST_FORETOLD copies, MiB",
    "adviceLargeProblems": "those that copy as much or more",
    "adviceLargeWorst": "how much longer than the fastest what is advised takes in these, at worst, percent",
    "adviceLargeMedianError": "median error of the predictions for one of these, where it is largest, percent",
    "adviceLargeWorstError": "largest error of a prediction for these, percent",
    "adviceSmallBytes": "defined if there is a smaller problem: what the largest such copies, MiB",
    "adviceSmallMedianError": "defined if there is one: median error of the predictions, where it is largest, percent",
    "adviceSmallWorstError": "defined if there is one: largest error of a prediction, percent",
    "adviceSmallLost": "defined if there is one: how much longer what is advised takes, microseconds",
    "adviceSmallWorst": "defined if there is one: the same in percent",
    "adviceSmallTiesApart": "defined if there is one: adviceTiesApart of these",
    "adviceTies": "most measured choices of a problem that take as long by the prediction",
    "adviceTiesApart": "how much slower than the fastest one of those is, at worst, where a mebibyte or more is copied, percent",
    "implicitSyncStated": "experiments of which the source says something, and the device too",
    "implicitSyncClaims": "different statements among them",
    "implicitSyncDiffer": "those in which the device does otherwise",
    "implicitSyncDifferHost": "of these, those about whether a call blocks the host",
    "implicitSyncDifferStreams": "those about whether a call serialises kernels of two streams",
    "implicitSyncDifferOthers": "those about launches, events and queues",
    "implicitSyncDifferClaims": "different statements among those",
    "implicitSyncOneSource": "the most of these that are of one source",
    "implicitSyncLimited": "defined if there are any: of implicitSyncDiffer, those about whether a time exceeds another by implicitSyncLimit",
    "implicitSyncLimit": "defined if there are any: that limit, microseconds",
    "implicitSyncLimitedLeast": "defined if there are any: the least of these times, microseconds",
    "implicitSyncLimitedMost": "defined if there are any: the largest of them",
    "implicitSyncPartNoMore": "defined if there are any: calls that are said to keep kernels of two streams apart, and do not",
    "tracingCost": "largest change of the makespan by collecting activity records, percent",
    "streamTargetsKnown": "targets of streams and of the engine model that the data tell of",
    "streamTargetsReached": "those that are reached",
}

_LIMIT = r"by ([0-9.]+) us or more$"
"""How a statement ends that a time exceeds another by a limit."""


def describers() -> tuple[tuple[Mapping[str, Need], Callable[..., dict[str, str]]], ...]:
    """Needs, and what defines macros from them."""
    return (
        ({"schedules": Schedules()}, _schedule_values),
        ({"schedules": Schedules(over="streams")}, _worth_values),
        ({"schedules": Schedules(over="chunks")}, _beaten_values),
        ({"scans": StreamScans()}, _scan_values),
        ({"experiments": Experiments(streams.CONCURRENCY)}, _concurrency_values),
        ({"experiments": Experiments(streams.COMPARISON)}, _model_values),
        ({"experiments": Experiments(streams.ADVICE)}, _advice_values),
        ({"experiments": Experiments(streams.IMPLICIT_SYNC)}, _implicit_sync_values),
        ({"traces": Traces()}, _trace_values),
        ({"claims": targets(OF_STREAMS + OF_ENGINES)}, _target_values),
    )


def _schedule_values(schedules: ScheduleEvidence) -> dict[str, str]:
    named: dict[str, str] = {}
    if add := best_schedule(schedules, "vector_add"):
        named |= {"streamAddOfBound": number(over_bound(add).value), "streamAddSize": _tied(array_bytes(add))}
    best = best_schedule(schedules, "scale")
    if not best:
        return named
    named |= {
        "streamBest": f"\\texttt{{{latex(best.id)}}}",
        "streamBestChunks": str(best.chunks),
        "streamBestSize": _tied(array_bytes(best)),
        "streamVersions": latex(", ".join(schedules.provenance.versions[:2])),
        "streamBestOfBound": number(over_bound(best).value),
    }
    array = best.bytes / (best.inputs + 1)
    into, out = best.inputs * array / best.duplex.copy_in, array / best.duplex.copy_out
    named |= {"streamRateIn": number(into / 1e9), "streamRateOut": number(out / 1e9)}
    if best.alone:
        slower = max(best.duplex.copy_in / best.alone.copy_in, best.duplex.copy_out / best.alone.copy_out)
        named["streamDuplexCost"] = number(100 * (slower - 1), 2)
        named["streamSpeedupIdeal"] = number(best.alone.serial() / best.alone.overlapped(best.chunks))
    rows = schedules.cases
    rows = rows[(rows["workload"] == best.workload) & (rows["items"] == best.items) & (rows["work"] == best.work) & (rows["memory"] == "pinned")]
    # With a stream for each chunk, breadth-first issue holds nothing up.
    rows = rows[(rows["id"] != "breadth_first") | (rows["chunks"] > rows["streams"])]
    at_best = {row.id: row for row in rows.loc[rows.groupby("id")["median_ns"].idxmin()].itertuples()}
    if (breadth := at_best.get("breadth_first")) and breadth.bound:
        named |= {
            "streamBreadthOfBound": number(over_bound(breadth).value),
            "streamBreadthChunks": str(breadth.chunks),
            "streamBreadthStreams": str(breadth.streams),
        }
    if SERIAL in at_best:
        named["streamSpeedup"] = number(ratio_interval(at_best[SERIAL].samples, best.samples).value)
    if (trap := at_best.get("null_stream_trap")) and trap.alone:
        named["streamTrapOfSerial"] = number(trap.median_ns / (1e9 * trap.alone.serial()))
    return named


def _worth_values(schedules: ScheduleEvidence) -> dict[str, str]:
    panel = min(schedules.panels("streams"), key=from_even)
    named = {"streamsWorthChunks": str(panel["chunks"].iloc[0])}
    if not np.isnan(compute_to_copy := ratio(panel)):
        named["streamsWorthRatio"] = number(compute_to_copy, 2)
    for macro, schedule in (("streamsWorth", "depth_first"), ("streamsWorthBreadth", "breadth_first")):
        times = panel[panel["id"] == schedule].set_index("streams")["median_ns"]
        if len(times) > 1:
            named[macro] = str(times.index[times <= 1.02 * times.min()].min())
    return named


def _beaten_values(schedules: ScheduleEvidence) -> dict[str, str]:
    if (least := beaten(schedules.panels("chunks"))) is None:
        return {}
    return {
        "streamBoundBeaten": number(over_bound(least).value, 2),
        "streamBoundBeatenBy": f"\\texttt{{{latex(least.id)}}}",
        "streamBoundBeatenRatio": number(least.alone.ratio(), 2),
    }


def _tied(size: int) -> str:
    """Bytes, on one line."""
    return size_name(size).replace(" ", "~")


def _scan_values(scans: ScanEvidence) -> dict[str, str]:
    cases = fastest(scans.cases)
    named: dict[str, str] = {}
    streamed = cases[cases["way"] == STREAMED]
    for macro, place in (("streamScanRate", "memory"), ("streamFileRate", "file")):
        rows = streamed[(streamed["from"] == place) & (streamed["to"] == place)]
        if not rows.empty:
            named[macro] = number(float((rows["bytes"] / rows["median_ns"]).max()))
        if not rows.empty and place == "memory":
            largest = rows.loc[rows["bytes"].idxmax()]
            named |= {macro: _tied(int(largest[of])) for macro, of in (("streamScanSize", "bytes"), ("streamScanBudget", "budget"))}
    if bound := of_file(scans.cases, FILES):
        named["streamFileOfFiles"] = number(bound[-1][1].value)
    if naive := of_file(scans.cases, NAIVE):
        if len(largest := [gains[-1] for session in scans.sessions if (gains := of_file(session, NAIVE))]) > 1:
            size, least, *_ = min(largest, key=lambda gain: gain[1].value)
            named |= {"streamFileSessions": str(len(largest)), "streamFileOfNaiveSession": number(least.value), "streamFileOfNaiveSessionSize": _tied(size)}
        named |= {"streamFileOfNaiveLargest": number(naive[-1][1].value), "streamFileSize": _tied(naive[-1][0])}
    return named


def _concurrency_values(experiments: TableEvidence) -> dict[str, str]:
    cases = in_block_times(experiments.rows)
    stairs, queue = cases[cases["kernels"] == 1], cases[cases["kernels"] > 1].sort_values("connections")
    named: dict[str, str] = {}
    if not stairs.empty:
        farthest = float((stairs["measured"] / stairs["predicted"] - 1).abs().max())
        named |= {"streamStairsCases": str(len(stairs)), "streamStairsFarthest": number(100 * farthest, 2)}
    if queue["connections"].nunique() > 1:
        named |= {"streamQueueOne": number(queue["measured"].iloc[0]), "streamQueueMany": number(queue["measured"].iloc[-1])}
    return named


def _model_values(experiments: TableEvidence) -> dict[str, str]:
    rows = experiments.rows
    errors = (rows["predicted_us"] / rows["measured_us"] - 1).abs()
    unaided = (rows["unaided_us"] / rows["measured_us"] - 1).abs()
    repeatable = errors[pd.to_numeric(rows["measured_spread"]) <= REPEATABLE]
    turned = rows[rows["copy_queues"] > 2]
    named = {
        "modelCases": str(len(rows)),
        "modelMedian": number(100 * float(errors.median()), 2),
        "modelWorst": number(100 * float(errors.max())),
        "modelOverlap": _overlap_percent(rows),
        "modelRepeatedOverlap": _overlap_percent(rows, "repeated_"),
        "modelBestOverlap": _overlap_percent(rows, "best_"),
        "modelUnaidedMedian": number(100 * float(unaided.median()), 2),
        "modelUnaidedWorst": number(100 * float(unaided.max())),
        "modelUnaidedOverlap": _overlap_percent(rows, "unaided_"),
        "modelQueuesTurned": str(len(turned)),
        "modelQueuesInOrder": str(int(turned["queues_ordered_as_modelled"].sum())),
    }
    estimates = (pd.to_numeric(rows["estimate_us"]) / rows["measured_us"] - 1).abs()
    if estimates.notna().all():
        named |= {"modelEstimateMedian": number(100 * float(estimates.median()), 2), "modelEstimateWorst": number(100 * float(estimates.max()))}
    if len(repeatable):
        named |= {
            "modelRepeatable": str(len(repeatable)),
            "modelRepeatableSpread": number(100 * REPEATABLE, 2),
            "modelRepeatableWorst": number(100 * float(repeatable.max())),
        }
    return named


def _overlap_percent(rows: pd.DataFrame, which: str = "") -> str:
    return number(100 * float(rows[which + "overlap_in_both"].sum() / max(1, rows[which + "overlap_in_either"].sum())))


def _most_percent(rows: pd.DataFrame, key: str) -> str:
    return number(100 * float(rows[key].max()))


def _advice_values(experiments: TableEvidence) -> dict[str, str]:
    rows = experiments.rows
    named = {
        "adviceProblems": str(len(rows)),
        "adviceMedian": number(100 * float(rows["slower"].median()), 2),
        "adviceTies": str(int(rows["ties"].max())),
    }
    is_large = rows["copied_bytes"] >= SMALLEST_FORETOLD
    large, small = rows[is_large], rows[~is_large]
    if len(large):
        named |= {
            "adviceLargeBytes": number(float(large["copied_bytes"].min()) / 2**20),
            "adviceLargeProblems": str(len(large)),
            "adviceLargeWorst": _most_percent(large, "slower"),
            "adviceLargeMedianError": _most_percent(large, "median_error"),
            "adviceLargeWorstError": _most_percent(large, "worst_error"),
            "adviceTiesApart": _most_percent(large, "ties_most_slower"),
        }
    if len(small):
        lost = max(row.advised["measured_us"] - row.fastest["measured_us"] for row in small.itertuples())
        named |= {
            "adviceSmallBytes": number(float(small["copied_bytes"].max()) / 2**20),
            "adviceSmallMedianError": _most_percent(small, "median_error"),
            "adviceSmallWorstError": _most_percent(small, "worst_error"),
            "adviceSmallLost": number(lost, 2),
            "adviceSmallWorst": _most_percent(small, "slower"),
            "adviceSmallTiesApart": _most_percent(small, "ties_most_slower"),
        }
    return named


def _implicit_sync_values(experiments: TableEvidence) -> dict[str, str]:
    both = experiments.rows[experiments.rows["stated"].notna() & experiments.rows["answer"].notna()]
    named = {"implicitSyncStated": str(len(both)), "implicitSyncClaims": str(both["claim"].nunique()), "implicitSyncDiffer": str(int(both["differs"].astype(bool).sum()))}
    others = both[both["differs"].astype(bool)]
    kinds = others["asks"].fillna("").value_counts()
    named |= {f"implicitSyncDiffer{macro}": str(kinds.get(asks, 0)) for macro, asks in (("Host", "host"), ("Streams", "streams"), ("Others", ""))}
    by_work = others.explode("works")
    of_sources = by_work["claim"].groupby(by_work["works"]).nunique()
    named |= {"implicitSyncDifferClaims": str(others["claim"].nunique()), "implicitSyncOneSource": str(int(of_sources.max()) if len(of_sources) else 0)}
    if len(limited := others.assign(limit=others["question"].str.extract(_LIMIT, expand=False)).dropna(subset="limit")):
        seconds = np.concatenate(limited["seconds"].to_list())
        named |= {"implicitSyncLimited": str(len(limited)), "implicitSyncLimit": limited["limit"].iloc[0], "implicitSyncLimitedLeast": number(1e6 * seconds.min(), 2),
                  "implicitSyncLimitedMost": number(1e6 * seconds.max(), 2)}  # fmt: skip
    calls = implicit_sync.calls(experiments.rows)
    differ = calls[calls["streams_differs"].eq(True) & (calls["streams_stated"] == "yes")]
    return named | ({"implicitSyncPartNoMore": "; ".join(latex(call) for call in differ["call"])} if len(differ) else {})


def _trace_values(traces: TraceEvidence) -> dict[str, str]:
    changes = [abs(float(t.about["tracing_overhead_percent"])) for t in traces.traces if "tracing_overhead_percent" in t.about]
    return {"tracingCost": number(float(np.max(changes)), 2)} if changes else {}


def _target_values(claims: ClaimEvidence) -> dict[str, str]:
    rows = claims.checked
    named = {
        "streamTargetsKnown": str(sum(row.reached is not None for row in rows)),
        "streamTargetsReached": str(sum(row.reached is True for row in rows)),
    }
    duplex = next((row.measured for row in rows if row.measure == "of copies in both directions"), None)
    if duplex:
        named |= {f"streamScanOfDuplex{end}": number(value) for end, value in (("", duplex.value), ("Low", duplex.low), ("High", duplex.high))}
    return named
