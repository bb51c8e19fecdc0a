"""The numbers about scans in the paper's text."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping

import pandas as pd

from scanlab_report.claims.checked import ClaimEvidence, literature, targets
from scanlab_report.claims.standing import HOLDS, NOT_MEASURED
from scanlab_report.claims.stated import OF_LITERATURE_ON_SCANS, OF_SCANS
from scanlab_report.derive import ablation, rungs, tiles, waves
from scanlab_report.derive.counts import choose, default_only, degrees
from scanlab_report.derive.hardware import QUANTITIES, compared
from scanlab_report.derive.shares import shares
from scanlab_report.derive.standings import standings
from scanlab_report.derive.traffic import over_items
from scanlab_report.derive.waits import shares as shares_of_waits
from scanlab_report.documents.numbers import number, power
from scanlab_report.layout.table_formats import latex
from scanlab_report.read.records import STREAM, ideal_bytes
from scanlab_report.select.counted import Counters, Counts, Traffic, Waits
from scanlab_report.select.evidence import (
    LOSS,
    TIE,
    WIN,
    AllTimingEvidence,
    CounterEvidence,
    CountEvidence,
    TableEvidence,
    TimingEvidence,
    TrafficEvidence,
)
from scanlab_report.select.needs import Need
from scanlab_report.select.timings import AllTimings, Forms, Timings
from scanlab_report.select.variants import BEST, BULK_CEILING, CEILING, FLOOR, HEADER, LARGEST, MEETING_CEILING, NEWEST_VENDOR, OWN, VECTOR_CEILING, VENDOR
from scanlab_report.stats.intervals import ratio_interval

DOUBLING, TREE = "hs_blocked", "hso_blocked"

def describers() -> tuple[tuple[Mapping[str, Need], Callable[..., dict[str, str]]], ...]:
    """Needs, and what defines macros from them."""
    return (
        ({"timings": Timings(all_of=(CEILING,))}, _timing_values),
        ({"counts": Counts()}, _count_values),
        ({"counters": Counters()}, _counter_values),
        ({"timings": Timings(all_of=(CEILING, DOUBLING)), "counts": Counts(variants=(DOUBLING, TREE))}, _finding_values),
        (rungs.NEEDS, _rung_values),
        (tiles.NEEDS, _tile_values),
        (ablation.NEEDS, _ablation_values),
        ({"forms": Forms("look_ahead", "f32", "log_sum_exp")}, _second_form_values),
        ({"timings": AllTimings(), "claims": targets(OF_SCANS)}, _head_to_head_values),
        ({"timings": AllTimings(python=True)}, _library_values),
        ({"claims": literature(OF_LITERATURE_ON_SCANS)}, _claim_values),
        ({"traffic": Traffic()}, _traffic_values),
        ({"waits": Waits()}, _wait_values),
        (waves.NEEDS, _wave_values),
    )  # fmt: skip


def _timing_values(timings: TimingEvidence) -> dict[str, str]:
    stands = standings(timings).set_index("variant")
    provenance, cache = timings.provenance, timings.caches()[0]
    low, high = provenance.repetitions or (0, 0)
    top = int(stands.at[CEILING, "items"])
    named = {
        "scanDevice": latex(provenance.device),
        "scanDate": latex(provenance.date),
        "scanCommit": latex(provenance.revision),
        "scanVersions": latex(", ".join(provenance.versions)),
        "scanRepetitions": f"{low}" if low == high else f"{low} to {high}",
        "copyRate": number(stands.at[CEILING, "rate"].value, 4),
        "copyItems": power(top),
    }
    if FLOOR in timings.variants():
        named["floorTime"] = number(timings.floor_ns(cache) / 1e3, 2)
    ours = stands[[of.items == top and OWN.has(timings.about[of.Index]) for of in stands.itertuples()]]
    if not ours.empty:
        best = ours.index[0]
        named |= {"bestRate": number(ours.at[best, "rate"].value), "bestOfCopy": number(ours.at[best, "of_memcpy"].value, 3)}
        if ours.at[best, "of_cub"] is not None:
            named["bestOfVendor"] = number(ours.at[best, "of_cub"].value)
    if VENDOR in stands.index and stands.at[VENDOR, "of_memcpy"] is not None:
        named["vendorOfCopy"] = number(stands.at[VENDOR, "of_memcpy"].value, 2)
    for macro, pair in (("paddingGainLargest", TREE), ("paddingGainReentry", "hso_reentry")):
        gain = shares(timings, f"{pair}_padded", pair, cache)
        if not gain.empty:
            named[macro] = number(gain["ratio"].iloc[-1])
    return named


def _count_values(counts: CountEvidence) -> dict[str, str]:
    named: dict[str, str] = {}
    trees = [e for e in counts.explanations if e.unpadded == "hso_block"]
    if trees:
        chosen = choose(trees)
        named["degreeItems"] = power(chosen[0].items)
        macro = {"none": "Bare", "two_level": "TwoLevel"}
        for explanation in chosen:
            if explanation.padding in macro:
                worst = max(degrees(explanation, "banks32"), default=0)
                named[f"worstDegree{macro[explanation.padding]}"] = f"{worst:.0f}"
    unique = {(e.variant, e.items): e for e in default_only(counts.explanations)}
    common = {n for v, n in unique if v == "hs_block"} & {n for v, n in unique if v == "hso_block"}
    if common:
        n = max(common)
        named["additionsItems"] = power(n)
        named["additionsHillisSteele"] = str(unique["hs_block", n].totals.operations)
        named["additionsWorkEfficient"] = str(unique["hso_block", n].totals.operations)
    return named


def _counter_values(counters: CounterEvidence) -> dict[str, str]:
    return hardware_differences(compared(counters))


def hardware_differences(cases: pd.DataFrame) -> dict[str, str]:
    """How many of the cases that emulator and hardware counted are equal in both quantities, and by how much the transactions of others differ."""
    above = {of: cases[f"{of}_hardware"] - cases[f"{of}_emulator"] for of in QUANTITIES}
    percent = 100 * above["transactions"].abs() / cases["transactions_hardware"].where(cases["transactions_hardware"] > 0)
    unequal = pd.DataFrame(above).ne(0).any(axis=1)
    return {
        "hardwareCases": str(len(cases)),
        "hardwareEqual": str(int((~unequal).sum())),
        "hardwareLargestDifference": number(float(percent.max())),
    }



def _finding_values(timings: TimingEvidence, counts: CountEvidence) -> dict[str, str]:
    """What compares the two blocked scans with each other, and with the copy."""
    cache = timings.caches()[0]
    named: dict[str, str] = {}
    if not (ahead := shares(timings, DOUBLING, f"{TREE}_padded", cache)).empty:
        named["doublingOverTree"] = number(float(ahead["ratio"].iloc[-1]))
    counted = {(e.variant, e.items): e for e in counts.explanations
               if (e.type, e.mode, e.padding) == ("i32", "inclusive", "none") and e.load in ("", "halves")}  # fmt: skip
    sizes = {n for v, n in counted if v == DOUBLING} & {n for v, n in counted if v == TREE}
    if not sizes:
        return named
    n = max(sizes)
    doubling, tree = counted[DOUBLING, n], counted[TREE, n]
    for name, explanation in (("Doubling", doubling), ("Tree", tree)):
        tiles = explanation.content.launches[0]
        named[f"barriers{name}"] = str(tiles.barriers)
        named[f"tile{name}"] = str(-(-n // tiles.blocks))
    moved = doubling.totals.global_bytes_read + doubling.totals.global_bytes_written
    return named | {"trafficAllows": number(ideal_bytes("i32", "plus", n) / moved, 2)}


def _rung_values(timings: TimingEvidence) -> dict[str, str]:
    climbed = rungs.rungs_at_largest(timings).set_index("variant")["ratio"]
    names = {v: "rung" + "".join(word.capitalize() for word in v.split("_")) for v in rungs.SINGLE_PASS}
    named = {name: number(climbed[v], 3) for v, name in names.items() if v in climbed.index}
    cache, size = timings.caches()[0], rungs.size_of(timings)
    for macro, variant, against in (("rungVendorNewest", NEWEST_VENDOR, CEILING), ("rungBulkCopy", BULK_CEILING, CEILING),
                                    ("lookAheadOfBulk", "look_ahead", BULK_CEILING)):  # fmt: skip
        of = shares(timings, variant, against, cache).set_index("items")["ratio"]
        if size in of.index:
            named[macro] = number(of[size], 3)
    of = shares(timings, "look_ahead", HEADER, cache, HEADER_TILE).set_index("items")["ratio"]
    return named | {macro: number(of[n]) for macro, n in (("resetSome", 1 << 24), ("resetMany", size)) if n in of.index}


HEADER_TILE = "tile=28"
"""The setting of look_ahead with the tile that the header has at 2^24 and 2^28 items of 4 bytes on an H200 (look_ahead_ring.cuh)."""
ABLATIONS: dict[str, tuple[str, Callable[[set[int]], int]]] = {"StagesTwo": ("2 stages", max), "StagesThree": ("3 stages", max), "StagesFour": ("4 stages", max), "StagesFive": ("5 stages", max), "StaticMiddle": ("static tiles", statistics.median_low), "LoadingOne": ("1 tile loading", max), "LoadingFour": ("4 tiles loading", max), "LoadingAll": ("all tiles loading", max),
             "Static": ("static tiles", max), "StaticSmall": ("static tiles", min), "PdlSmall": ("no PDL", min), "LookBack": ("decoupled_lookback", max), "LookBackSmall": ("decoupled_lookback", min), "AskingSmall": ("states at once", min),
             "ReduceThenScan": ("reduce_then_scan", max)}  # fmt: skip
"""Of each macro the idea, and at which of the sizes."""


def _ablation_values(timings: TimingEvidence) -> dict[str, str]:
    rows = ablation.ablation(timings).set_index(["items", "idea"])["ratio"]
    sizes = {n for n, _ in rows.index}
    return {f"ablation{macro}": f"{rows[n, idea]:.2f}" for macro, (idea, which) in ABLATIONS.items() if sizes and (n := which(sizes), idea) in rows.index}


def _second_form_values(forms: TableEvidence) -> dict[str, str]:
    """What the form for heavy operators gains over the other one with the same tile."""
    usual, again = (forms.rows[forms.rows["settings"] == settings].set_index("items")["samples"] for settings in ("tile=49", "folding=repeated tile=49"))
    sizes = sorted(set(usual.index) & set(again.index))
    ends = {"secondFormSmall": sizes[0], "secondFormLarge": sizes[-1]} if sizes else {}
    return {macro: number(ratio_interval(again[n], usual[n]).value) for macro, n in ends.items()}


def _tile_values(timings: TimingEvidence) -> dict[str, str]:
    rows = tiles.by_tile(timings)
    rows = rows[rows["variant"] == "look_ahead"]
    if rows.empty or rows["kib"].nunique() < 2:
        return {}
    fastest = {n: of.loc[of["ratio"].idxmax(), "kib"] for n, of in rows.groupby("items")}
    many = rows[rows["items"] == rows["items"].max()]  # in the order of tiles
    return {"tileDefault": timings.about["look_ahead"].defaults["tile"], "tileSmall": f"{fastest[min(fastest)]:g}", "tileLarge": f"{fastest[max(fastest)]:g}", "tileLargest": f"{many['kib'].iloc[-1]:g}",
            "tileLargestLoses": number(100 * (1 - float(many["ratio"].iloc[-1] / many["ratio"].max())), 2)}  # fmt: skip


def _head_to_head_values(timings: AllTimingEvidence, claims: ClaimEvidence) -> dict[str, str]:
    rows = claims.checked
    named = {
        "targetsKnown": str(sum(row.reached is not None for row in rows)),
        "targetsReached": str(sum(row.reached is True for row in rows)),
    }
    comparisons = timings.comparisons
    if not comparisons.empty:
        outcomes = comparisons["outcome"].value_counts()
        named |= {"headToHeadCases": str(len(comparisons)), "headToHeadLeast": number(float(comparisons["ratio"].min()))}
        named |= {macro: str(outcomes.get(which, 0)) for macro, which in (("headToHeadWins", WIN), ("headToHeadTies", TIE), ("headToHeadLosses", LOSS))}
    over_floor = next((row.measured for row in rows if row.measure == "× empty launch" and row.measured), None)
    if over_floor:
        named["smallOverFloor"] = number(over_floor.value)
    return named


def _library_values(timings: AllTimingEvidence) -> dict[str, str]:
    """What users would pick instead of CUB, where all scans are set side by side at their largest size."""
    named: dict[str, str] = {}
    for key in timings.keys(type="i32", op="plus", mode="inclusive", cache="cold", launch=STREAM, items=LARGEST):
        ours = timings.of(key, BEST)
        for macro, variant in (("thrustOfBest", "thrust_scan"), ("torchOfBest", "torch_cumsum"), ("cupyOfBest", "cupy_cumsum")):
            if ours is not None and (theirs := timings.of(key, variant)) is not None:
                named[macro] = number(ratio_interval(theirs, ours).value)
    return named


def _claim_values(claims: ClaimEvidence) -> dict[str, str]:
    verdicts = [one.verdict for one in claims.checked]
    known = [verdict for verdict in verdicts if verdict != NOT_MEASURED]
    return {"claimsKnown": str(len(known)), "claimsFail": str(sum(verdict != HOLDS for verdict in known))}


def _traffic_values(traffic: TrafficEvidence) -> dict[str, str]:
    rows = over_items(traffic).sort_values("items")
    once = rows[rows["variant"] == "look_ahead"]
    return {"movedLookAhead": number(once["moved"].iloc[-1], 3)} if len(once) else {}


def _wait_values(waits: TableEvidence) -> dict[str, str]:
    rows = shares_of_waits(waits)
    of = rows[rows["variant"] == "look_ahead"].sort_values("items").drop_duplicates("role", keep="last").set_index("role")
    return {
        macro: number(100 * float(of.at[role, kind]), 2)
        for macro, role, kind in (
            ("waitLoad", "load", "data"), ("waitFree", "load", "store"), ("waitReduce", "reduce", "data"),
            ("waitLookAhead", "look ahead", "prefix"), ("waitScan", "scan", "prefix"))
        if role in of.index and kind in of
    }  # fmt: skip


def _wave_values(timings: TimingEvidence) -> dict[str, str]:
    times = waves.steps(timings).pivot(index="step", columns="items", values="us")
    named = {"waveFloor": number(float(times.loc[FLOOR].iloc[0]), 2)}
    names = {"Copy": VECTOR_CEILING, "Meeting": MEETING_CEILING, "Best": BEST, "Vendor": "cub"}
    for size, n in (("Small", 1 << 14), ("Large", waves.LARGEST)):
        if n in times:
            named |= {f"wave{size}{name}": number(float(times.at[step, n])) for name, step in names.items()}
    return named
