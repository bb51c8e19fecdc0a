"""The numbers in the text of the paper on streams, each by the name of its LaTeX macro."""

import numpy as np
import pandas as pd

from scanlab_report.chapters import concurrency, larger, model, schedules
from scanlab_report.chapters.claims import HOLDS, NOT_MEASURED, targets
from scanlab_report.chapters.sessions import summary, timed_in_rounds
from scanlab_report.claims.stated import OF_ENGINES, OF_STREAMS
from scanlab_report.data import Data
from scanlab_report.formats import latex
from scanlab_report.intervals import ratio_interval
from scanlab_report.numbers import Numbers, known
from scanlab_report.pick import newest, pick
from scanlab_report.sources import sources

SMALLEST_FORETOLD = 2**22
"""Least bytes that a problem copies for its time to be predicted, as in a test of the model:
smaller ones spend it on calls and launches, which differ more than the error of the model."""
REPEATABLE = 0.05
"""Most spread over the median of a timeline of the job alone; as in `simulate --compare`."""


def _tied(size: int) -> str:
    """Bytes, on one line."""
    return larger.size_name(int(size)).replace(" ", "~")


def _typewriter(name: str) -> str:
    return f"\\texttt{{{latex(name)}}}"


def blind(data: Data) -> Numbers:
    """The engine model on another device than the first, on which its rules were developed."""
    made: Numbers = {}
    whole = data.of_all or data
    for device in [name for name in whole.devices if name not in data.devices[:1]][:1]:
        with known():
            rows, _ = model.predictions(whole.on(device))
            errors = model.errors(rows, "unaided_us")
            made |= {
                "modelBlindDevice": device,
                "modelBlindCases": len(rows),
                "modelBlindMedian": (errors.median(), 2),
                "modelBlindWorst": errors.max(),
                "modelBlindOverlap": model.overlap(rows, "unaided_"),
                "modelBlindRepeatedOverlap": model.overlap(rows, "repeated_"),
                "modelBlindBestOverlap": model.overlap(rows, "best_"),
            }
    return made


def numbers(data: Data) -> Numbers:
    made: Numbers = {}

    with known():  # the fastest schedules, over their estimates and over the serial one
        cases = schedules.schedules_of(data)
        add, best = (schedules.best_schedule(cases, name) for name in ("vector_add", "scale"))
        if add is None or best is None or not best.bound > 0:
            raise LookupError("schedules of vector_add and scale, with their parts alone")
        problem = {name: getattr(best, name) for name in ("workload", "items", "work")}
        rows = pick(cases, **problem, memory="pinned")
        # With a stream for each chunk, breadth-first issue holds nothing up.
        rows = rows[(rows["id"] != "breadth_first") | (rows["chunks"] > rows["streams"])]
        fastest = rows.loc[rows.groupby("id")["median_ns"].idxmin()]
        at_best = {row.id: row for row in fastest.itertuples()}
        breadth, trap = at_best["breadth_first"], at_best["null_stream_trap"]
        array = schedules.array_bytes(best)
        slower = max(best.duplex_in / best.copy_in, best.duplex_out / best.copy_out)
        made |= {
            "streamAddOfBound": schedules.over_bound(add),
            "streamAddSize": _tied(schedules.array_bytes(add)),
            "streamBest": _typewriter(best.id),
            "streamBestChunks": best.chunks,
            "streamBestSize": _tied(array),
            "streamVersions": latex(", ".join(sources(data, cases)[0].versions[:2])),
            "streamBestOfBound": schedules.over_bound(best),
            "streamRateIn": best.inputs * array / best.duplex_in / 1e9,
            "streamRateOut": array / best.duplex_out / 1e9,
            "streamDuplexCost": (100 * (slower - 1), 2),
            "streamSpeedupIdeal": best.serial_sum / best.werkhoven,
            "streamBreadthOfBound": schedules.over_bound(breadth),
            "streamBreadthChunks": breadth.chunks,
            "streamBreadthStreams": breadth.streams,
            "streamSpeedup": ratio_interval(at_best[schedules.SERIAL].samples, best.samples),
            "streamTrapOfSerial": trap.median_ns / (1e9 * trap.serial_sum),
        }

    with known():  # the fewest streams within 2% of the fastest, where compute takes a copy's time
        panels = schedules.panels(schedules.schedules_of(data), "streams")
        panel = min(panels, key=schedules.from_even)
        times = panel.pivot_table("median_ns", "streams", "id", aggfunc="min")
        fewest = lambda times: times.index[times <= 1.02 * times.min()].min()
        made |= {
            "streamsWorthChunks": panel["chunks"].iloc[0],
            "streamsWorthRatio": (panel["compute_to_copy"].median(), 2),
            "streamsWorth": fewest(times["depth_first"]),
            "streamsWorthBreadth": fewest(times["breadth_first"]),
        }

    with known():  # a schedule that beats the pipeline estimate, if any
        rows = pd.concat(schedules.panels(schedules.schedules_of(data), "chunks"))
        share = rows["high_ns"].fillna(rows["median_ns"]) / (1e9 * rows["bound"])
        if share.min() <= 0.98:  # with its interval
            least = next(rows.iloc[[share.argmin()]].itertuples())
            made["streamBoundBeaten"] = (schedules.over_bound(least), 2)
            made["streamBoundBeatenBy"] = _typewriter(least.id)
            made["streamBoundBeatenRatio"] = (least.compute_to_copy, 2)

    with known():  # scans larger than the device: rates, and times of other ways over them
        every = larger.larger_cases(data)
        rows = pick(larger.fastest_ways(every), way=larger.STREAMED)
        memory, file = (pick(rows, **{"from": place, "to": place}) for place in ("memory", "file"))
        largest = memory.loc[memory["bytes"].idxmax()]
        size, gain, _ = larger.over_files(every, larger.NAIVE)[-1]
        sessions = [larger.over_files(own, larger.NAIVE) for own in larger.larger_sessions(data)]
        gains = [by_size[-1] for by_size in sessions if by_size]
        least_size, least_gain, _ = min(gains, key=lambda gain: gain[1].value)
        made |= {
            "streamScanRate": (memory["bytes"] / memory["median_ns"]).max(),
            "streamFileRate": (file["bytes"] / file["median_ns"]).max(),
            "streamScanSize": _tied(largest["bytes"]),
            "streamScanBudget": _tied(largest["budget"]),
            "streamFileOfFiles": larger.over_files(every, larger.FILES)[-1][1],
            "streamFileOfNaiveLargest": gain,
            "streamFileSize": _tied(size),
            "streamFileSessions": len(gains),
            "streamFileOfNaiveSession": least_gain,
            "streamFileOfNaiveSessionSize": _tied(least_size),
        }

    with known():  # small grids side by side against the formula
        cases = concurrency.block_times(data)
        stairs = pick(cases, kernels=1)
        queue = cases[cases["kernels"] > 1].sort_values("connections")["measured"]
        farthest = (stairs["measured"] / stairs["predicted"] - 1).abs().max()
        made |= {"streamStairsCases": len(stairs), "streamStairsFarthest": (100 * farthest, 2)}
        made |= {"streamQueueOne": queue.iloc[0], "streamQueueMany": queue.iloc[-1]}

    with known():  # the engine model against traces of a device
        rows, _ = model.predictions(data)
        predicted, unaided, estimates = (
            model.errors(rows, f"{name}_us") for name in ("predicted", "unaided", "estimate")
        )
        repeatable = predicted[pd.to_numeric(rows["measured_spread"]) <= REPEATABLE]
        turned = rows[rows["copy_queues"] > 2]
        made |= {
            "modelCases": len(rows),
            "modelMedian": (predicted.median(), 2),
            "modelWorst": predicted.max(),
            "modelOverlap": model.overlap(rows),
            "modelRepeatedOverlap": model.overlap(rows, "repeated_"),
            "modelBestOverlap": model.overlap(rows, "best_"),
            "modelUnaidedMedian": (unaided.median(), 2),
            "modelUnaidedWorst": unaided.max(),
            "modelUnaidedOverlap": model.overlap(rows, "unaided_"),
            "modelQueuesTurned": len(turned),
            "modelQueuesInOrder": int(turned["queues_ordered_as_modelled"].sum()),
            "modelEstimateMedian": (estimates.median(skipna=False), 2),
            "modelEstimateWorst": estimates.max(skipna=False),
            "modelRepeatable": len(repeatable),
            "modelRepeatableSpread": (100 * REPEATABLE, 2),
            "modelRepeatableWorst": repeatable.max(),
        }

    with known():  # advice against the fastest choice, of problems that copy much and of others
        rows = newest(data, "advice", "advice of the engine model held against a sweep")
        is_large = rows["copied_bytes"] >= SMALLEST_FORETOLD
        large, small = rows[is_large], rows[~is_large]
        advised, fastest = (
            small[name].str["measured_us"].astype(float) for name in ("advised", "fastest")
        )
        made |= {
            "adviceProblems": len(rows),
            "adviceTies": int(rows["ties"].max()),
            "adviceMedian": (100 * rows["slower"].median(), 2),
            "adviceLargeProblems": len(large),
            "adviceLargeBytes": large["copied_bytes"].min() / 2**20,
            "adviceSmallBytes": small["copied_bytes"].max() / 2**20,
            "adviceSmallLost": ((advised - fastest).max(), 2),
            "adviceTiesApart": 100 * large["ties_most_slower"].max(),
            "adviceSmallTiesApart": 100 * small["ties_most_slower"].max(),
        }
        columns = {"Worst": "slower", "MedianError": "median_error", "WorstError": "worst_error"}
        for name, column in columns.items():
            made[f"adviceLarge{name}"] = 100 * large[column].max()
            made[f"adviceSmall{name}"] = 100 * small[column].max()

    with known():  # in how many experiments the device answers as the teaching material does
        rows = newest(data, "implicit_sync", "experiments on implicit synchronisation")
        both = rows[rows["stated"].notna() & rows["answer"].notna()]
        others = both[both["differs"].astype(bool)]
        asks = others["asks"].fillna("").value_counts()
        limits = rows["question"].str.extract(r"by (\d+) us or more$", expand=False)
        limited = rows.assign(limit=limits.astype(float)).dropna(subset="limit")
        passed = pick(limited, answer="yes").groupby("subject")["limit"].max()
        seconds = np.concatenate(limited["seconds"].to_list())
        calls = concurrency.sync_calls(pick(others, asks="streams", stated="yes"))
        by_source = others.explode("works").groupby("works")["claim"].nunique()
        made |= {
            "implicitSyncStated": len(both),
            "implicitSyncClaims": both["claim"].nunique(),
            "implicitSyncDiffer": len(others),
            "implicitSyncDifferHost": asks.get("host", 0),
            "implicitSyncDifferStreams": asks.get("streams", 0),
            "implicitSyncDifferOthers": asks.get("", 0),
            "implicitSyncDifferClaims": others["claim"].nunique(),
            "implicitSyncOneSource": by_source.max(),
            "implicitSyncLimited": int(limited["differs"].sum()),
            "implicitSyncLimitPassed": int(passed.filter(like="busy").max()),
            "implicitSyncLimitPassedIdle": int(passed.filter(like="idle").max()),
            "implicitSyncLimitLeft": int(limited["limit"][limited["limit"] > passed.max()].min()),
            "implicitSyncLimitedLeast": (1e6 * seconds.min(), 2),
            "implicitSyncLimitedMost": (1e6 * seconds.max(), 2),
            "implicitSyncPartNoMore": "; ".join(map(latex, calls)),
        }

    with known():  # the newest file of schedules
        row = summary(timed_in_rounds(data, "schedule")[-1], "schedule")
        made["convergedSchedules"] = (row["converged_percent"], 2)
        made["convergedSchedulesCases"] = row["cases"]
        made["driftSchedules"] = (abs(row["drift_percent"].value), 2)

    with known():  # targets that are known and reached
        standings = targets(data, *OF_STREAMS, *OF_ENGINES)
        verdicts = [standing.verdict for standing in standings]
        reached = {standing.claim.measure: standing.measured for standing in standings}
        duplex = reached["duplex"]
        made |= {
            "streamTargetsKnown": len(verdicts) - verdicts.count(NOT_MEASURED),
            "streamTargetsReached": verdicts.count(HOLDS),
            "tracingCost": (reached["tracing"], 2),
            "streamScanOfDuplex": duplex,
            "streamScanOfDuplexLow": duplex and duplex.low,
            "streamScanOfDuplexHigh": duplex and duplex.high,
        }
    return made
