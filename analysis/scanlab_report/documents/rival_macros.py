"""The numbers of fair rivals in the scan paper's text: tuned CUB, the header, the host's share of short runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pandas as pd

from scanlab_report.derive.stopwatch import beside
from scanlab_report.documents.numbers import number, power
from scanlab_report.read import noise, streams
from scanlab_report.read.records import SCANS, STREAM
from scanlab_report.select.evidence import LOSS, WIN, AllTimingEvidence, Key, TableEvidence, TimingEvidence
from scanlab_report.select.needs import Need
from scanlab_report.select.streams_evidence import Experiments
from scanlab_report.select.timings import AllTimings, Shapes, Timings
from scanlab_report.select.variants import BEST, CEILING, CUBS, FLOOR, HEADER, LARGEST, SHAPES, TUNED, VENDOR
from scanlab_report.stats.intervals import ratio_interval

FEW = 1 << 18
"""Up to so many items a stream of warm runs is bound by the host's launches."""
SOME = 1 << 20

NAMES = {
    "tunedOfCopy": "defined if it was timed there: share of the copy that the tuned CUB has at copyItems",
    "leadItems": "largest size of 32-bit sums that best and CUB were timed at, as a power of two",
    "leadLargest": "speed of best over the fastest CUB there",
    "floorWarm": "empty launch in a stream of warm runs, microseconds",
    "smallGraphLeast": "best over an empty launch, as graph nodes, i32, up to 2^18: the least",
    "smallGraphMost": "the same: the most",
    "headToHeadHostBound": "median speed over the fastest CUB of warm runs in a stream, up to 2^18 items",
    "headToHeadOthers": "the same of all other cases",
    "headToHeadRivalTuned": "cases whose fastest CUB is the tuned one",
    "headToHeadNarrow": "cases won by less than two runs of one code differ, by the recorded noise",
    "headToHeadSearched": "cases of the pairs of type and operator that the tuned CUB was searched for",
    "headToHeadSearchedWins": "those that best won, by the interval",
    "headToHeadSearchedMedian": "median speed of best over the fastest CUB in them",
    "headToHeadUnsearchedMedian": "the same of the other pairs",
    "headToHeadApart": "cases in which every sample of best is below every sample of the fastest CUB",
    "timerItems": "array size at which the two timers differ most, as a power of two",
    "timerLead": "speed of best over the toolkit's CUB there, cold, timed by Scanlab",
    "timerLeadTheirs": "the same, timed by nvbench",
    "headerCases": "cases in which the header and CUB were both timed",
    "headerWins": "those that the header won, by the interval",
    "headerLosses": "those that it lost",
    "headerBelow": "those in which its median is longer than that of the fastest CUB",
    "headerLeast": "least speed of the header over the fastest CUB",
    "headerSome": "the header at 2^20 items, cold, microseconds",
    "headerSomeBest": "best there",
    "headerSomeVendor": "the fastest CUB there",
}


def describers() -> tuple[tuple[Mapping[str, Need], Callable[..., dict[str, str]]], ...]:
    """Needs, and what defines macros from them."""
    return (
        ({"timings": AllTimings(against=(CUBS,))}, _rivals),
        ({"timings": AllTimings(against=(CUBS,)), "sums": Shapes(sums=True), "others": Shapes(sums=False)}, _searched),
        ({"timings": AllTimings(), "theirs": Experiments(streams.STOPWATCH)}, _timers),
        ({"timings": AllTimings()}, _header),
        ({"timings": Timings(all_of=(FLOOR, BEST), only=(FLOOR, BEST), launches=(STREAM, "graph"))}, _launches),
    )


def _rivals(timings: AllTimingEvidence) -> dict[str, str]:
    named: dict[str, str] = {}
    cold = {"type": "i32", "op": "plus", "mode": "inclusive", "cache": "cold", "launch": STREAM}
    for key in timings.keys(**cold, items=LARGEST):
        copy, tuned = timings.of(key, CEILING), timings.of(key, TUNED)
        if copy is not None and tuned is not None:
            named["tunedOfCopy"] = number(ratio_interval(copy, tuned).value, 2)
    if both := [(key, match) for key in timings.keys(**cold) if (match := timings.match(key, BEST, (CUBS,)))]:
        key, match = both[-1]
        named |= {"leadItems": power(key.items), "leadLargest": number(match.ratio.value)}
    comparisons = timings.comparisons
    if not comparisons.empty:
        keys = timings.keys()
        (recorded,) = noise.read([timings.device])
        noisy = 1 + recorded.thresholds(SCANS, comparisons.assign(on="device"))
        named |= {"headToHeadNarrow": str(int(((comparisons["outcome"] == WIN) & (comparisons["ratio"] < noisy)).sum()))}
        named |= {"headToHeadApart": str(sum(_apart(timings, key) for key in keys)), "headToHeadRivalTuned": str(int((comparisons["rival"] == TUNED).sum()))}
        bound = (comparisons["cache"] == "warm") & (comparisons["launch"] == STREAM) & (comparisons["items"] <= FEW)
        named |= {macro: number(float(of["ratio"].median())) for macro, of in (("headToHeadHostBound", comparisons[bound]), ("headToHeadOthers", comparisons[~bound])) if len(of)}
    return named


def _searched(timings: AllTimingEvidence, sums: TableEvidence, others: TableEvidence) -> dict[str, str]:
    comparisons = timings.comparisons
    timed = pd.concat([of.rows[of.rows["variant"].isin(of.about.ids(SHAPES))] for of in (sums, others)])
    searched = pd.MultiIndex.from_frame(comparisons[["type", "op"]]).isin(pd.MultiIndex.from_frame(timed[["type", "op"]]))
    if comparisons.empty or not searched.any() or searched.all():
        return {}
    of = comparisons[searched]
    return {"headToHeadSearched": str(len(of)), "headToHeadSearchedWins": str(int((of["outcome"] == WIN).sum())),
            "headToHeadSearchedMedian": number(float(of["ratio"].median())), "headToHeadUnsearchedMedian": number(float(comparisons[~searched]["ratio"].median()))}  # fmt: skip


def _apart(timings: AllTimingEvidence, key: Key) -> bool:
    match = timings.match(key, BEST, (CUBS,))
    if match is None:
        return False
    ours, theirs = (timings.of(key, variant, match.run) for variant in (BEST, match.rival))
    return ours is not None and theirs is not None and max(ours) < min(theirs)


def _timers(timings: AllTimingEvidence, theirs: TableEvidence) -> dict[str, str]:
    rows = beside(timings, theirs).query("type == 'i32' and items == @SOME and cache == 'cold' and launch == @STREAM").set_index("variant")
    if not {BEST, VENDOR} <= set(rows.index):
        return {}
    leads = rows.loc[VENDOR, ["ours_ns", "theirs_ns"]] / rows.loc[BEST, ["ours_ns", "theirs_ns"]]
    return {"timerItems": power(SOME), "timerLead": number(leads["ours_ns"]), "timerLeadTheirs": number(leads["theirs_ns"])}


def _header(timings: AllTimingEvidence) -> dict[str, str]:
    comparisons = replace(timings, variant=HEADER).comparisons
    if comparisons.empty:
        return {}
    named = {"headerCases": str(len(comparisons)), "headerLosses": str(int((comparisons["outcome"] == LOSS).sum())), "headerWins": str(int((comparisons["outcome"] == WIN).sum())),
             "headerBelow": str(int((comparisons["ratio"] < 1).sum())), "headerLeast": number(float(comparisons["ratio"].min()), 2)}
    some = Key("i32", "plus", "inclusive", SOME, "cold", STREAM)
    if match := timings.match(some, HEADER, (CUBS,)):
        times = {"headerSome": HEADER, "headerSomeBest": BEST, "headerSomeVendor": match.rival}
        of = {macro: timings.of(some, variant, match.run) for macro, variant in times.items()}
        named |= {macro: number(float(pd.Series(samples).median()) / 1e3) for macro, samples in of.items() if samples is not None}
    return named


def _launches(timings: TimingEvidence) -> dict[str, str]:
    floors = {launch: timings.floor_ns("warm", launch) for launch in (STREAM, "graph")}
    named = {"floorWarm": number(floors[STREAM] / 1e3, 2)} if pd.notna(floors[STREAM]) else {}
    rows = timings.series(BEST, cache="warm", launch="graph")
    few = rows[rows["items"].between(1, FEW)]
    if len(few) and pd.notna(floors["graph"]):
        ratios = few["median_ns"] / floors["graph"]
        named |= {"smallGraphLeast": number(float(ratios.min()), 2), "smallGraphMost": number(float(ratios.max()), 2)}
    return named
