"""The numbers in the paper's text, as LaTeX macros, so that none is typed by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from scanlab_report.claims.checked import ClaimEvidence, literature, targets
from scanlab_report.claims.standing import HOLDS, NOT_MEASURED
from scanlab_report.claims.stated import OF_MODELS, OF_SCANS, OF_STREAMS
from scanlab_report.derive import rungs, tiles, waves
from scanlab_report.derive import waits as waits_
from scanlab_report.derive.counts import choose, default_only, degrees
from scanlab_report.derive.hardware import QUANTITIES, compared, groups
from scanlab_report.derive.one_core import ONE_CORE, OURS, by_session, over_one_core, shown
from scanlab_report.derive.shares import shares
from scanlab_report.derive.standings import standings
from scanlab_report.derive.traffic import over_items
from scanlab_report.documents import streams_macros
from scanlab_report.layout.table_formats import latex, significant
from scanlab_report.read import streams
from scanlab_report.read.published import Publication
from scanlab_report.read.results import SCANS, STREAM, Results, ideal_bytes
from scanlab_report.select.drift import SessionEvidence, Sessions
from scanlab_report.select.evidence import (
    BASELINES,
    BEST,
    BULK_CEILING,
    CEILING,
    FLOOR,
    JAX,
    LARGEST,
    LOSS,
    MEETING_CEILING,
    NEWEST_VENDOR,
    TIE,
    VECTOR_CEILING,
    VENDOR,
    WIN,
    AllTimingEvidence,
    AllTimings,
    CounterEvidence,
    Counters,
    CountEvidence,
    Counts,
    Published,
    SessionTimingEvidence,
    TableEvidence,
    TimingEvidence,
    Timings,
    Traffic,
    TrafficEvidence,
    Waits,
    gather,
)
from scanlab_report.stats.intervals import FEWEST_OF_MEDIAN, ratio_interval

NAMES = {
    "scanDevice": "name of the device",
    "scanDate": "day of the run",
    "scanCommit": "commit of the code that ran",
    "scanOrigin": "measured now, or recorded",
    "scanRepetitions": "repetitions behind each median",
    "copyRate": "device copy at the largest size, GB/s",
    "copyItems": "largest size at which all scans are set side by side, as a power of two",
    "floorTime": "empty launch, microseconds",
    "bestVariant": "fastest variant of ours at the largest size",
    "bestRate": "its throughput, GB/s",
    "bestOfCopy": "its share of the copy",
    "bestOfVendor": "its speed relative to the fastest CUB",
    "vendorOfCopy": "share of the copy that the toolkit's CUB has at the largest size",
    "simplestVariant": "slowest variant that reaches the largest size",
    "simplestSlower": "how many times slower than the best it is",
    "paddingGainLargest": "hso_blocked over hso_blocked_padded at the largest size",
    "paddingGainBlock": "hso_block over hso_block_padded at its largest size",
    "speedupThenLargest": "published speedup of 2007 at the largest published size",
    "speedupNowLargest": "the same algorithm's speedup now at that size: the median over all sessions",
    "speedupNowLeast": "defined if there are several sessions: the least of them",
    "speedupNowMost": "defined if there are several: the most of them",
    "speedupNowSessions": "defined if there are several: how many",
    "speedupVendorLargest": "CUB's speedup now at that size: the median over all sessions",
    "speedupVendorLeast": "defined if there are several sessions: the least of them",
    "speedupVendorMost": "defined if there are several: the most of them",
    "crossoverThen": "smallest published size at which the GPU won in 2007",
    "crossoverNow": "smallest size at which the same algorithm wins now, in every session",
    "worstDegreeBare": "worst degree in the unpadded tree, 32 banks",
    "worstDegreeRow": "worst degree with i/B, 32 banks",
    "worstDegreeTwoLevel": "worst degree with two-level padding, 32 banks",
    "worstDegreeSource": "worst degree with the source's one in 16, 32 banks",
    "degreeItems": "size at which the degrees were counted, as a power of two",
    "additionsHillisSteele": "additions of hs_block as counted",
    "additionsWorkEfficient": "additions of hso_block at the same size as counted",
    "additionsItems": "that size, as a power of two",
    "conflictsBare": "bank conflicts of the unpadded tree at degreeItems, 32 banks",
    "transactionsBare": "shared-memory transactions among which they are",
    "conflictsTwoLevel": "bank conflicts of the same tree with two-level padding",
    "paddingGainReentry": "hso_reentry over hso_reentry_padded at the largest size",
    "paddingGainWide": "hso_blocked over hso_blocked_padded, items of 8 bytes, largest size",
    "paddingGainReentryWide": "hso_reentry over hso_reentry_padded, items of 8 bytes, largest size",
    "paddingMinor": "defined if no gain of the largest size at 4 bytes is far from 1: the farthest, in percent",
    "doublingOverTree": "hso_blocked_padded over hs_blocked at the largest size",
    "doublingOverTreeWide": "the same for items of 8 bytes",
    "doublingAhead": "defined if hs_blocked is the faster of the two though it adds more: how many times as many additions",
    "widthCost": "time of hs_blocked for items of 8 bytes over its time for 4 bytes, largest size",
    "trafficAllows": "share of the copy that the bytes moved by hs_blocked would allow",
    "belowTraffic": "defined if hs_blocked stays below that: its share of the copy",
    "barriersDoubling": "barriers of hs_blocked a tile",
    "barriersTree": "barriers of hso_blocked a tile",
    "tileDoubling": "items a tile of hs_blocked",
    "tileTree": "items a tile of hso_blocked",
    "hardwareCases": "cases counted by both the executor and the hardware",
    "hardwareEqual": "those in which transactions and conflicts are equal",
    "hardwareLargestDifference": "largest difference in transactions, in percent of the executor's",
    "hardwareLargestConflicts": "largest difference in conflicts, in percent of the executor's, where it counts any",
    "hardwareConflictsForNone": "defined if it counts any there: the most conflicts that the hardware counts where the executor counts none",
    "hardwareUnequalOf": "defined if not all are equal: the types and sizes in which they differ",
    "hardwareAbove": "defined if the hardware counts no fewer of either in any of these: how many there are",
    "hardwareAllEqual": "defined if all are equal: the item types counted",
    "rungWarpShuffle": "share of the copy at the largest size: warp_shuffle",
    "rungReduceThenScan": "the same of reduce_then_scan",
    "rungDecoupledLookback": "the same of decoupled_lookback",
    "rungLookAhead": "the same of look_ahead",
    "rungBest": "the same of best",
    "rungVendorNewest": "the same of the newest CUB",
    "rungBulkCopy": "the same of the copy kernel by bulk copies",
    "lookAheadOfBulk": "speed of look_ahead relative to that copy kernel",
    "duelCases": "cases in which best and CUB were both timed",
    "duelWins": "those that best won against the fastest CUB, by the interval",
    "duelTies": "those that neither won",
    "duelLosses": "those that best lost",
    "duelAnyLost": "defined if it lost any: the same",
    "duelLeast": "least ratio of them all: CUB's time over best's",
    "targetsKnown": "rows of the targets that the data tell of",
    "targetsReached": "those that are reached in every run of the newest code",
    "targetsDivided": "defined if there are any: those that are reached in some of these runs",
    "smallOverFloor": "best over an empty launch, i32, up to 2^18 in a stream: the farthest",
    "tileSmall": "fastest tile of look_ahead at 2^20, KiB",
    "tileLarge": "fastest tile of look_ahead at the largest size swept, KiB",
    "tileLargest": "defined if it is slower there by 5 % or more: the largest tile, KiB",
    "tileLargestLoses": "defined if that is: by how much its speed is less than the fastest tile's, percent",
    "rereadSmall": "DRAM reads of reduce_then_scan over its input, smallest size counted",
    "rereadLarge": "the same at the largest size",
    "movedLookAhead": "DRAM bytes of look_ahead over those of its input, largest size",
    "waitLoad": "share of cycles, in percent, that look_ahead's load warp waits for what it loads, largest size",
    "waitFree": "the same for stages whose results have to be stored first",
    "waitReduce": "the same of the reduce warps, for data",
    "waitLookAhead": "the same of the look-ahead warp, for aggregates",
    "waitScan": "the same of the scan warps, for the prefix",
    "waveFloor": "an empty node of a graph, microseconds",
    "waveSmallCopy": "copy_vector as a node at 2^14 items, microseconds",
    "waveSmallMeeting": "the same of copy_one_wave",
    "waveSmallBest": "the same of best",
    "waveSmallVendor": "the same of the fastest CUB",
    "waveLargeCopy": "copy_vector as a node at 2^22 items, microseconds",
    "waveLargeMeeting": "the same of copy_one_wave",
    "waveLargeBest": "the same of best",
    "waveLargeVendor": "the same of the fastest CUB",
    "waveLargeAllows": "time of CUB over that of copy_one_wave there",
    "jaxOfBest": "defined if JAX was timed beside best: its warm time, by the wall clock, over that of best, 32-bit sums at the largest size of JAX",
    "jaxItems": "defined if JAX was timed beside best: that size",
    "thrustOfBest": "defined if Thrust was timed beside best: its time over that of best, 32-bit sums, cold, in a stream, at copyItems",
    "torchOfBest": "defined if PyTorch was timed: the same of it",
    "cupyOfBest": "defined if CuPy was timed: the same of it",
    "ownKnown": "targets of our own, of scans, streams and models, that the data tell of",
    "ownReached": "those that are reached, in every run that tells",
    "claimsKnown": "claims of the literature that the data tell of",
    "claimsFail": "those that they do not bear out, in some run at least",
    "lossItems": "defined if all cases lost to CUB are affine of 16 bits and of one size: that size",
    "driftScans": "farthest that the median of a round lies from that of the others, over all sessions of scans, percent",
    "driftSchedules": "defined if schedules were timed: the same of schedules",
    "settledScans": "defined if the data say: cases of scans, in sessions of rounds enough, whose median was known well enough before any cap, percent",
    "settledScansCases": "defined if that is: of how many",
    "settledSchedules": "defined if the data say: the same of schedules",
    "settledSchedulesCases": "defined if that is: of how many",
    "duelFixedRounds": "defined if no case of the newest duels can settle: their rounds",
    "driftWentOn": "defined if some cases went on after others had stopped: how many have the most rounds, in the largest session of scans",
    "driftWentOnRounds": "defined if that is: how many rounds",
    "driftWentOnFirst": "defined if that is: after how many others had stopped",
    "driftWentOnFaster": "defined if some did and took less in the later rounds: by how much in the median, percent",
    "driftWentOnSlower": "defined if some did and took longer: the same",
    "trendRounds": "fewest rounds of a case of scans that was tested for trend",
    "trendLeastP": "least p that such a case can have",
    "trendAtOnce": "how many cases of that session must have it for any to count",
    "driftRising": "cases whose times rise with the rounds of their session, beyond chance",
    "driftFalling": "those whose times fall",
    "driftCases": "cases of all sessions",
    "outlierShare": "repetitions of scans beyond Tukey's fences, percent",
    "outlierNormal": "what it would be were times normal",
    "outlierWorst": "the one farthest from the median of its case's others, times that median",
    "clockReadings": "defined if the multiprocessors' clock was read beside timings: how often",
    "clockLowered": "defined if it was read: readings below its highest",
    "clockLowest": "defined if any is: the lowest reading, MHz",
    **streams_macros.NAMES,
}
"""Every macro that can be defined, and what it says; which are depends on the evidence."""


DOUBLING, TREE = "hs_blocked", "hso_blocked"
MINOR = 0.1
"""Gains nearer to 1 than this are called small in the text."""


def values(results: Results, published: dict[str, Publication]) -> dict[str, str]:
    """The macros that the evidence defines, with their LaTeX replacement: all of the first device, which the text names once."""
    results = results.on(results.devices[0]) if results.devices else results
    defined = _duel_rounds(results)
    for needs, describe in (
        ({"timings": Timings(all_of=(CEILING,))}, _timing_values),
        ({"timings": over_one_core(any_of=(*OURS, VENDOR)), "published": Published("hso2007_table2")}, _speedup_values),
        ({"counts": Counts()}, _count_values),
        ({"counters": Counters()}, _counter_values),
        ({"timings": Timings(all_of=(CEILING, DOUBLING)), "wide": Timings(types=("i64", "f64"), all_of=(CEILING, DOUBLING)),
          "counts": Counts(variants=(DOUBLING, TREE))}, _finding_values),
        (rungs.NEEDS, _rung_values),
        (tiles.NEEDS, _tile_values),
        ({"timings": AllTimings(), "claims": targets(OF_SCANS)}, _duel_values),
        ({"timings": AllTimings(python=True)}, _library_values),
        ({"timings": AllTimings(python=True)}, _jax_values),
        ({"claims": literature()}, _claim_values),
        ({"claims": targets(OF_SCANS + OF_STREAMS + OF_MODELS)}, _own_values),
        ({"traffic": Traffic()}, _traffic_values),
        ({"waits": Waits()}, _wait_values),
        (waves.NEEDS, _wave_values),
        ({"sessions": Sessions()}, _session_values),
        *streams_macros.describers(),
    ):  # fmt: skip
        gathered = gather(needs, results, published)
        if not gathered.reasons:
            defined |= describe(**gathered.found)
    return defined


def document(defined: dict[str, str]) -> str:
    """The file that the paper reads."""
    lines = ["% Written by analysis. Do not edit."]
    lines += [f"\\newcommand{{\\{name}}}{{{defined[name]}}} % {NAMES[name]}" for name in NAMES if name in defined]
    return "\n".join(lines) + "\n"


def _number(value: float, digits: int = 3) -> str:
    """A bare number for siunitx to set."""
    return significant(value, digits).replace("\u2009", "")


def _power(n: int) -> str:
    return f"\\ensuremath{{2^{{{n.bit_length() - 1}}}}}" if n & (n - 1) == 0 else latex(f"{n}")


def _id(variant: str) -> str:
    return f"\\texttt{{{latex(variant)}}}"


def _timing_values(timings: TimingEvidence) -> dict[str, str]:
    stands = standings(timings).set_index("variant")
    provenance, cache = timings.provenance, timings.caches()[0]
    low, high = provenance.repetitions or (0, 0)
    top = int(stands.at[CEILING, "items"])
    named = {
        "scanDevice": latex(provenance.device),
        "scanDate": latex(provenance.date),
        "scanCommit": latex(provenance.commit.removeprefix("commit ")),
        "scanOrigin": latex(provenance.origin),
        "scanRepetitions": f"{low}" if low == high else f"{low} to {high}",
        "copyRate": _number(stands.at[CEILING, "rate"].value, 4),
        "copyItems": _power(top),
    }
    if FLOOR in timings.variants():
        named["floorTime"] = _number(timings.floor_ns(cache) / 1e3, 2)
    ours = stands[~stands.index.isin(BASELINES) & (stands["items"] == top)]
    if not ours.empty:
        best, last = ours.index[0], ours.index[-1]
        named |= {
            "bestVariant": _id(best),
            "bestRate": _number(ours.at[best, "rate"].value),
            "bestOfCopy": _number(ours.at[best, "of_memcpy"].value, 2),
            "simplestVariant": _id(last),
            "simplestSlower": _number(ours.at[last, "median_us"] / ours.at[best, "median_us"], 2),
        }
        if ours.at[best, "of_cub"] is not None:
            named["bestOfVendor"] = _number(ours.at[best, "of_cub"].value, 2)
    if VENDOR in stands.index and stands.at[VENDOR, "of_memcpy"] is not None:
        named["vendorOfCopy"] = _number(stands.at[VENDOR, "of_memcpy"].value, 2)
    for macro, pair in (("paddingGainLargest", TREE), ("paddingGainBlock", "hso_block"), ("paddingGainReentry", "hso_reentry")):
        gain = shares(timings, f"{pair}_padded", pair, cache)
        if not gain.empty:
            named[macro] = _number(gain["ratio"].iloc[-1])
    gains = [float(named[macro]) for macro in ("paddingGainLargest", "paddingGainReentry") if macro in named]
    farthest = max((abs(gain - 1) for gain in gains), default=1)
    if farthest < MINOR:
        named["paddingMinor"] = _number(100 * farthest, 1)
    return named


def _speedup_values(timings: SessionTimingEvidence, published: Publication) -> dict[str, str]:
    then = published.table.assign(speedup=published.table["cpu_ms"] / published.table["gpu_ms"])
    named = {
        "speedupThenLargest": _number(then["speedup"].iloc[-1]),
        "crossoverThen": _power(_first_win(then, "speedup")),
    }
    last = int(then["items"].iloc[-1])
    for variant in shown(timings):
        now, macro = by_session(timings, variant, ONE_CORE), "speedupVendor" if variant == VENDOR else "speedupNow"
        at = now.set_index("items")
        if last in at.index:
            named[f"{macro}Largest"] = _number(at.at[last, "ratio"])
            if (sessions := at.at[last, "sessions"]) > 1:
                named |= {f"{macro}Least": _number(at.at[last, "low"], 2), f"{macro}Most": _number(at.at[last, "high"], 2)}
                named |= {} if variant == VENDOR else {f"{macro}Sessions": str(sessions)}
        worst = "low" if len(timings.sessions) > 1 else "ratio"
        if variant != VENDOR and (now[worst] > 1).any():
            named["crossoverNow"] = _power(_first_win(now, worst))
    return named


def _first_win(table: pd.DataFrame, column: str) -> int:
    return int(table.loc[table[column] > 1, "items"].min())


def _count_values(counts: CountEvidence) -> dict[str, str]:
    named: dict[str, str] = {}
    trees = [e for e in counts.explanations if e.base == "hso_block"]
    if trees:
        chosen = choose(trees)
        named["degreeItems"] = _power(chosen[0].items)
        macro = {"none": "Bare", "row": "Row", "two_level": "TwoLevel", "one_in_16": "Source"}
        for explanation in chosen:
            if explanation.padding in macro:
                worst = max(degrees(explanation, "banks32"), default=0)
                named[f"worstDegree{macro[explanation.padding]}"] = f"{worst:.0f}"
                if explanation.padding in ("none", "two_level"):
                    transactions = int(explanation.totals["banks32"]["transactions"])
                    named[f"conflicts{macro[explanation.padding]}"] = str(transactions - groups(explanation))
                    if explanation.padding == "none":
                        named["transactionsBare"] = str(transactions)
    unique = {(e.variant, e.items): e for e in default_only(counts.explanations)}
    common = {n for v, n in unique if v == "hs_block"} & {n for v, n in unique if v == "hso_block"}
    if common:
        n = max(common)
        named["additionsItems"] = _power(n)
        named["additionsHillisSteele"] = str(unique["hs_block", n].totals["operations"])
        named["additionsWorkEfficient"] = str(unique["hso_block", n].totals["operations"])
    return named


def _counter_values(counters: CounterEvidence) -> dict[str, str]:
    return hardware_differences(compared(counters))


def hardware_differences(cases: pd.DataFrame) -> dict[str, str]:
    """How many of the cases that executor and hardware counted are equal, and by how much the others differ, in both quantities."""
    above = {of: cases[f"{of}_hardware"] - cases[f"{of}_executor"] for of in QUANTITIES}
    percent = {of: 100 * above[of].abs() / cases[f"{of}_executor"].where(cases[f"{of}_executor"] > 0) for of in QUANTITIES}
    unequal = pd.DataFrame(above).ne(0).any(axis=1)
    named = {
        "hardwareCases": str(len(cases)),
        "hardwareEqual": str(int((~unequal).sum())),
        "hardwareLargestDifference": _number(float(percent["transactions"].max())),
    }
    if percent["conflicts"].notna().any():
        named["hardwareLargestConflicts"] = _number(float(percent["conflicts"].max()), 2)
    if (most := cases.loc[cases["conflicts_executor"] == 0, "conflicts_hardware"].max()) > 0:
        named["hardwareConflictsForNone"] = str(int(most))
    if unequal.any():
        kinds = cases.loc[unequal, ["type", "items"]].drop_duplicates()
        named["hardwareUnequalOf"] = ", ".join(f"{_id(kind)} at {_power(n)} items" for kind, n in kinds.itertuples(index=False))
        if (pd.DataFrame(above)[unequal] >= 0).all(axis=None):
            named["hardwareAbove"] = str(int(unequal.sum()))
    else:
        named["hardwareAllEqual"] = " and ".join(_id(kind) for kind in dict.fromkeys(cases["type"]))
    return named


def _finding_values(timings: TimingEvidence, wide: TimingEvidence, counts: CountEvidence) -> dict[str, str]:
    """What compares the two blocked scans with each other, with the copy, and with themselves on wider items."""
    cache = timings.caches()[0]
    named: dict[str, str] = {}

    def last(evidence: TimingEvidence, variant: str, against: str) -> float | None:
        rows = shares(evidence, variant, against, cache)
        return None if rows.empty else float(rows["ratio"].iloc[-1])

    def put(macro: str, value: float | None, digits: int = 3) -> None:
        if value is not None:
            named[macro] = _number(value, digits)

    ahead = last(timings, DOUBLING, f"{TREE}_padded")
    put("doublingOverTree", ahead)
    put("doublingOverTreeWide", last(wide, DOUBLING, f"{TREE}_padded"))
    put("paddingGainWide", last(wide, f"{TREE}_padded", TREE))
    put("paddingGainReentryWide", last(wide, "hso_reentry_padded", "hso_reentry"))
    narrow, broad = (e.series(DOUBLING, cache=cache).set_index("items")["median_ns"] for e in (timings, wide))
    common = sorted(set(narrow.index) & set(broad.index))
    if common:
        put("widthCost", float(broad[common[-1]] / narrow[common[-1]]))

    counted = {(e.variant, e.items): e for e in counts.explanations
               if (e.type, e.mode, e.padding) == ("i32", "inclusive", "none") and e.load in ("", "halves")}  # fmt: skip
    sizes = {n for v, n in counted if v == DOUBLING} & {n for v, n in counted if v == TREE}
    if not sizes:
        return named
    n = max(sizes)
    doubling, tree = counted[DOUBLING, n], counted[TREE, n]
    for name, explanation in (("Doubling", doubling), ("Tree", tree)):
        tiles = explanation.content["launches"][0]
        named[f"barriers{name}"] = str(tiles["barriers"])
        named[f"tile{name}"] = str(-(-n // tiles["blocks"]))
    additions = doubling.totals["operations"] / tree.totals["operations"]
    if ahead is not None and ahead > 1 and additions > 1:
        named["doublingAhead"] = _number(additions, 2)
    moved = doubling.totals["global_bytes_read"] + doubling.totals["global_bytes_written"]
    allowed, reached = ideal_bytes("i32", "plus", n) / moved, last(timings, DOUBLING, CEILING)
    put("trafficAllows", allowed, 2)
    if reached is not None and reached < allowed:
        named["belowTraffic"] = _number(reached, 2)
    return named


def _rung_values(timings: TimingEvidence) -> dict[str, str]:
    climbed = rungs.rungs_at_largest(timings).set_index("variant")["ratio"]
    names = {v: "rung" + "".join(word.capitalize() for word in v.split("_")) for v in rungs.SINGLE_PASS}
    named = {name: _number(climbed[v], 2) for v, name in names.items() if v in climbed.index}
    cache, size = timings.caches()[0], rungs.size_of(timings)
    for macro, variant, against in (("rungVendorNewest", NEWEST_VENDOR, CEILING), ("rungBulkCopy", BULK_CEILING, CEILING),
                                    ("lookAheadOfBulk", "look_ahead", BULK_CEILING)):  # fmt: skip
        of = shares(timings, variant, against, cache).set_index("items")["ratio"]
        if size in of.index:
            named[macro] = _number(of[size], 2)
    return named


def _tile_values(timings: TimingEvidence) -> dict[str, str]:
    rows = tiles.by_tile(timings)
    rows = rows[rows["variant"] == "look_ahead"]
    if rows.empty or rows["kib"].nunique() < 2:
        return {}
    fastest = {n: of.loc[of["ratio"].idxmax(), "kib"] for n, of in rows.groupby("items")}
    named = {"tileSmall": f"{fastest[min(fastest)]:g}", "tileLarge": f"{fastest[max(fastest)]:g}"}
    many = rows[rows["items"] == rows["items"].max()]  # in the order of tiles
    if (loses := 1 - many["ratio"].iloc[-1] / many["ratio"].max()) >= 0.05:
        named |= {"tileLargest": f"{many['kib'].iloc[-1]:g}", "tileLargestLoses": _number(100 * float(loses), 2)}
    return named


def _duel_values(timings: AllTimingEvidence, claims: ClaimEvidence) -> dict[str, str]:
    rows = claims.checked
    named = {
        "targetsKnown": str(sum(row.reached is not None for row in rows)),
        "targetsReached": str(sum(row.reached is True for row in rows)),
    }
    if divided := sum(0 < row.met < row.runs for row in rows):
        named["targetsDivided"] = str(divided)
    duels = timings.duels
    if not duels.empty:
        outcomes = duels["outcome"].value_counts()
        named |= {"duelCases": str(len(duels)), "duelLeast": _number(float(duels["ratio"].min()))}
        if LOSS in outcomes:
            named["duelAnyLost"] = str(outcomes[LOSS])
            lost = duels[duels["outcome"] == LOSS]
            if lost["items"].nunique() == 1 and set(lost["op"]) == {"affine"} and set(lost["type"]) <= {"i16", "f16"}:
                named["lossItems"] = f"\\num{{{lost['items'].iloc[0]}}}"
        named |= {macro: str(outcomes.get(which, 0)) for macro, which in (("duelWins", WIN), ("duelTies", TIE), ("duelLosses", LOSS))}
    over_floor = next((row.measured for row in rows if row.measure == "× empty launch" and row.measured), None)
    if over_floor:
        named["smallOverFloor"] = _number(over_floor.value)
    return named


def _duel_rounds(results: Results) -> dict[str, str]:
    """The rounds of the newest duels, if they are too few for a case to stop by the width of its interval."""
    duels = [run.context for run in sorted(results.runs, key=lambda run: run.date) if "--sweep duel" in str(run.context.get("argv", ""))]
    return {"duelFixedRounds": str(duels[-1]["rounds"])} if duels and not _can_settle(duels[-1]) else {}


def _can_settle(context: Mapping[str, object]) -> bool:
    """Whether a session has so many rounds that a case may stop by the width of its interval; True of one that does not say."""
    return int(context.get("rounds", FEWEST_OF_MEDIAN)) >= FEWEST_OF_MEDIAN


def _library_values(timings: AllTimingEvidence) -> dict[str, str]:
    """What users would pick instead of CUB, where all scans are set side by side at their largest size."""
    named: dict[str, str] = {}
    for key in timings.keys(type="i32", op="plus", mode="inclusive", cache="cold", launch=STREAM, items=LARGEST):
        ours = timings.of(key, BEST)
        for macro, variant in (("thrustOfBest", "thrust_scan"), ("torchOfBest", "torch_cumsum"), ("cupyOfBest", "cupy_cumsum")):
            if ours is not None and (theirs := timings.of(key, variant)) is not None:
                named[macro] = _number(ratio_interval(theirs, ours).value)
    return named


def _jax_values(timings: AllTimingEvidence) -> dict[str, str]:
    keys = timings.keys(type="i32", op="plus", mode="inclusive", cache="warm", launch=STREAM)
    both = [(key, timings.of(key, JAX), timings.of(key, BEST)) for key in keys]
    known = [(key, theirs, ours) for key, theirs, ours in both if theirs is not None and ours is not None]
    if not known:
        return {}
    key, theirs, ours = known[-1]
    return {"jaxOfBest": _number(ratio_interval(theirs, ours).value, 2), "jaxItems": _power(key.items)}


def _claim_values(claims: ClaimEvidence) -> dict[str, str]:
    verdicts = [one.verdict for one in claims.checked]
    known = [verdict for verdict in verdicts if verdict != NOT_MEASURED]
    return {"claimsKnown": str(len(known)), "claimsFail": str(sum(verdict != HOLDS for verdict in known))}


def _own_values(claims: ClaimEvidence) -> dict[str, str]:
    known = [one.verdict for one in claims.checked if one.verdict != NOT_MEASURED]
    return {"ownKnown": str(len(known)), "ownReached": str(known.count(HOLDS))}


def _traffic_values(traffic: TrafficEvidence) -> dict[str, str]:
    rows = over_items(traffic).sort_values("items")
    named: dict[str, str] = {}
    reread = rows[rows["variant"] == "reduce_then_scan"]
    if len(reread) > 1:
        named |= {"rereadSmall": _number(reread["read"].iloc[0], 2), "rereadLarge": _number(reread["read"].iloc[-1], 2)}
    once = rows[rows["variant"] == "look_ahead"]
    if len(once):
        named["movedLookAhead"] = _number(once["moved"].iloc[-1], 3)
    return named


def _wait_values(waits: TableEvidence) -> dict[str, str]:
    rows = waits_.shares(waits)
    of = rows[rows["variant"] == "look_ahead"].sort_values("items").drop_duplicates("role", keep="last").set_index("role")
    return {
        macro: _number(100 * float(of.at[role, kind]), 2)
        for macro, role, kind in (
            ("waitLoad", "load", "data"), ("waitFree", "load", "store"), ("waitReduce", "reduce", "data"),
            ("waitLookAhead", "look ahead", "prefix"), ("waitScan", "scan", "prefix"))
        if role in of.index and kind in of
    }  # fmt: skip


def _wave_values(timings: TimingEvidence) -> dict[str, str]:
    times = waves.steps(timings).pivot(index="step", columns="items", values="us")
    named = {"waveFloor": _number(float(times.loc[FLOOR].iloc[0]), 2)}
    names = {"Copy": VECTOR_CEILING, "Meeting": MEETING_CEILING, "Best": BEST, "Vendor": "cub"}
    for size, n in (("Small", 1 << 14), ("Large", waves.LARGEST)):
        if n in times:
            named |= {f"wave{size}{name}": _number(float(times.at[step, n])) for name, step in names.items()}
    if waves.LARGEST in times:
        largest = times[waves.LARGEST]
        named["waveLargeAllows"] = _number(float(largest["cub"] / largest[MEETING_CEILING]))
    return named


def _session_values(sessions: SessionEvidence) -> dict[str, str]:
    """What happened while everything was measured."""
    every = sessions.sessions
    named = {
        "driftRising": str(sum(of.trending(slower=True) for of in every)),
        "driftFalling": str(sum(of.trending(slower=False) for of in every)),
        "driftCases": str(sum(len(of.names) for of in every)),
    }
    if readings := sum(len(of.clocks) for of in every):
        lowered = sum(of.lowered for of in every)
        named |= {"clockReadings": str(readings), "clockLowered": str(lowered)}
        if lowered:
            named["clockLowest"] = _number(min(of.clocks.min() for of in every if len(of.clocks)), 4)
    kinds = sessions.kinds()
    longest = max((of for of in kinds.get(SCANS, ()) if of.went_on), key=lambda of: of.went_on.later.count, default=None)
    if longest:
        on = longest.went_on
        named |= {"driftWentOn": str(on.later.count), "driftWentOnRounds": str(on.rounds), "driftWentOnFirst": str(on.first),
                  "driftWentOnFaster" if on.later.value < 1 else "driftWentOnSlower": _number(100 * abs(on.later.value - 1), 1)}  # fmt: skip
    powers = [of.power for of in kinds.get(SCANS, ()) if len(of.power)]
    if powers:
        least = pd.concat(powers).sort_values(["rounds", "at_once"]).iloc[0]
        named |= {"trendRounds": str(int(least["rounds"])), "trendLeastP": _number(float(least["least_p"]), 2), "trendAtOnce": str(int(least["at_once"]))}
    for macro, kind in (("settledScans", SCANS), ("settledSchedules", streams.SCHEDULES)):
        able = [of.settled for of in kinds.get(kind, ()) if _can_settle(of.runs[0].context)]
        if len(settled := pd.concat([pd.Series(dtype=bool), *able])):
            named |= {macro: _number(100 * float(settled.mean()), 2), f"{macro}Cases": str(len(settled))}
    for macro, kind in (("driftScans", SCANS), ("driftSchedules", streams.SCHEDULES)):
        if kind in kinds:
            named[macro] = _number(100 * max(abs(of.farthest_round["median"] - 1) for of in kinds[kind]), 2)
    if scans := kinds.get(SCANS):
        repetitions = [len(of.repetitions) for of in scans]
        worst = max((of.outliers["relative"].iloc[0] for of in scans if len(of.outliers)), key=lambda ratio: abs(math.log(ratio)), default=1.0)
        named |= {
            "outlierShare": _number(100 * sum(of.repetitions["outlier"].sum() for of in scans) / sum(repetitions), 2),
            "outlierNormal": _number(100 * float(np.average([of.outliers_of_normal for of in scans], weights=repetitions)), 2),
            "outlierWorst": _number(worst),
        }
    return named
