"""The numbers about scans in the paper's text."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from scanlab_report.claims.checked import ClaimEvidence, literature, targets
from scanlab_report.claims.standing import HOLDS, NOT_MEASURED
from scanlab_report.claims.stated import OF_LITERATURE_ON_SCANS, OF_MODELS, OF_SCANS, OF_STREAMS
from scanlab_report.derive import ablation, rungs, tiles, waves
from scanlab_report.derive.counts import choose, default_only, degrees
from scanlab_report.derive.hardware import QUANTITIES, compared, groups
from scanlab_report.derive.one_core import ONE_CORE, OURS, by_session, over_one_core, shown
from scanlab_report.derive.shares import shares
from scanlab_report.derive.standings import standings
from scanlab_report.derive.traffic import over_items
from scanlab_report.derive.waits import shares as shares_of_waits
from scanlab_report.documents.numbers import as_code, number, power
from scanlab_report.documents.session_macros import can_settle
from scanlab_report.layout.table_formats import latex
from scanlab_report.read.published import Publication
from scanlab_report.read.records import STREAM, Results, Run, ideal_bytes
from scanlab_report.read.variants import Variants
from scanlab_report.select.counted import Counters, Counts, Published, Traffic, Waits
from scanlab_report.select.evidence import (
    LOSS,
    TIE,
    WIN,
    AllTimingEvidence,
    CounterEvidence,
    CountEvidence,
    SessionTimingEvidence,
    TableEvidence,
    TimingEvidence,
    TrafficEvidence,
)
from scanlab_report.select.needs import Need
from scanlab_report.select.timings import AllTimings, Timings
from scanlab_report.select.variants import BEST, BULK_CEILING, CEILING, FLOOR, JAX, LARGEST, MEETING_CEILING, NEWEST_VENDOR, OWN, VECTOR_CEILING, VENDOR
from scanlab_report.stats.intervals import ratio_interval

DOUBLING, TREE = "hs_blocked", "hso_blocked"
MINOR = 0.1
"""Gains nearer to 1 than this are called small in the text."""


def describers() -> tuple[tuple[Mapping[str, Need], Callable[..., dict[str, str]]], ...]:
    """Needs, and what defines macros from them."""
    return (
        ({"timings": Timings(all_of=(CEILING,))}, _timing_values),
        ({"timings": over_one_core(any_of=(*OURS, VENDOR)), "published": Published("hso2007_table2")}, _speedup_values),
        ({"counts": Counts()}, _count_values),
        ({"counters": Counters()}, _counter_values),
        ({"timings": Timings(all_of=(CEILING, DOUBLING)), "wide": Timings(types=("i64", "f64"), all_of=(CEILING, DOUBLING)),
          "counts": Counts(variants=(DOUBLING, TREE))}, _finding_values),
        (rungs.NEEDS, _rung_values),
        (tiles.NEEDS, _tile_values),
        (ablation.NEEDS, _ablation_values),
        ({"timings": AllTimings(), "claims": targets(OF_SCANS)}, _duel_values),
        ({"timings": AllTimings(python=True)}, _library_values),
        ({"timings": AllTimings(python=True)}, _jax_values),
        ({"claims": literature(OF_LITERATURE_ON_SCANS)}, _claim_values),
        ({"claims": targets(OF_SCANS + OF_STREAMS + OF_MODELS)}, _own_values),
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
        "scanOrigin": latex(provenance.origin),
        "scanRepetitions": f"{low}" if low == high else f"{low} to {high}",
        "copyRate": number(stands.at[CEILING, "rate"].value, 4),
        "copyItems": power(top),
    }
    if FLOOR in timings.variants():
        named["floorTime"] = number(timings.floor_ns(cache) / 1e3, 2)
    ours = stands[[of.items == top and OWN.has(timings.about[of.Index]) for of in stands.itertuples()]]
    if not ours.empty:
        best, last = ours.index[0], ours.index[-1]
        named |= {
            "bestVariant": as_code(best),
            "bestRate": number(ours.at[best, "rate"].value),
            "bestOfCopy": number(ours.at[best, "of_memcpy"].value, 2),
            "simplestVariant": as_code(last),
            "simplestSlower": number(ours.at[last, "median_us"] / ours.at[best, "median_us"], 2),
        }
        if ours.at[best, "of_cub"] is not None:
            named["bestOfVendor"] = number(ours.at[best, "of_cub"].value)
    if VENDOR in stands.index and stands.at[VENDOR, "of_memcpy"] is not None:
        named["vendorOfCopy"] = number(stands.at[VENDOR, "of_memcpy"].value, 2)
    for macro, pair in (("paddingGainLargest", TREE), ("paddingGainBlock", "hso_block"), ("paddingGainReentry", "hso_reentry")):
        gain = shares(timings, f"{pair}_padded", pair, cache)
        if not gain.empty:
            named[macro] = number(gain["ratio"].iloc[-1])
    gains = [float(named[macro]) for macro in ("paddingGainLargest", "paddingGainReentry") if macro in named]
    farthest = max((abs(gain - 1) for gain in gains), default=1)
    if farthest < MINOR:
        named["paddingMinor"] = number(100 * farthest, 1)
    return named


def _speedup_values(timings: SessionTimingEvidence, published: Publication) -> dict[str, str]:
    then = published.table.assign(speedup=published.table["cpu_ms"] / published.table["gpu_ms"])
    named = {
        "speedupThenLargest": number(then["speedup"].iloc[-1]),
        "crossoverThen": power(_first_win(then, "speedup")),
    }
    last = int(then["items"].iloc[-1])
    for variant in shown(timings):
        now, macro = by_session(timings, variant, ONE_CORE), "speedupVendor" if variant == VENDOR else "speedupNow"
        at = now.set_index("items")
        if last in at.index:
            named[f"{macro}Largest"] = number(at.at[last, "ratio"])
            if (sessions := at.at[last, "sessions"]) > 1:
                named |= {f"{macro}Least": number(at.at[last, "low"], 2), f"{macro}Most": number(at.at[last, "high"], 2)}
                named |= {} if variant == VENDOR else {f"{macro}Sessions": str(sessions)}
        worst = "low" if len(timings.sessions) > 1 else "ratio"
        if variant != VENDOR and (now[worst] > 1).any():
            named["crossoverNow"] = power(_first_win(now, worst))
    return named


def _count_values(counts: CountEvidence) -> dict[str, str]:
    named: dict[str, str] = {}
    trees = [e for e in counts.explanations if e.base == "hso_block"]
    if trees:
        chosen = choose(trees)
        named["degreeItems"] = power(chosen[0].items)
        macro = {"none": "Bare", "row": "Row", "two_level": "TwoLevel", "one_in_16": "Source"}
        for explanation in chosen:
            if explanation.padding in macro:
                worst = max(degrees(explanation, "banks32"), default=0)
                named[f"worstDegree{macro[explanation.padding]}"] = f"{worst:.0f}"
                if explanation.padding in ("none", "two_level"):
                    transactions = explanation.totals.banks32.transactions
                    named[f"conflicts{macro[explanation.padding]}"] = str(transactions - groups(explanation))
                    if explanation.padding == "none":
                        named["transactionsBare"] = str(transactions)
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
    """How many of the cases that executor and hardware counted are equal, and by how much the others differ, in both quantities."""
    above = {of: cases[f"{of}_hardware"] - cases[f"{of}_executor"] for of in QUANTITIES}
    percent = {of: 100 * above[of].abs() / cases[f"{of}_executor"].where(cases[f"{of}_executor"] > 0) for of in QUANTITIES}
    unequal = pd.DataFrame(above).ne(0).any(axis=1)
    named = {
        "hardwareCases": str(len(cases)),
        "hardwareEqual": str(int((~unequal).sum())),
        "hardwareLargestDifference": number(float(percent["transactions"].max())),
    }
    if percent["conflicts"].notna().any():
        named["hardwareLargestConflicts"] = number(float(percent["conflicts"].max()), 2)
    if (most := cases.loc[cases["conflicts_executor"] == 0, "conflicts_hardware"].max()) > 0:
        named["hardwareConflictsForNone"] = str(int(most))
    if unequal.any():
        kinds = cases.loc[unequal, ["type", "items"]].drop_duplicates()
        named["hardwareUnequalOf"] = ", ".join(f"{as_code(kind)} at {power(n)} items" for kind, n in kinds.itertuples(index=False))
        if (pd.DataFrame(above)[unequal] >= 0).all(axis=None):
            named["hardwareAbove"] = str(int(unequal.sum()))
    else:
        named["hardwareAllEqual"] = " and ".join(as_code(kind) for kind in dict.fromkeys(cases["type"]))
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
            named[macro] = number(value, digits)

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
        tiles = explanation.content.launches[0]
        named[f"barriers{name}"] = str(tiles.barriers)
        named[f"tile{name}"] = str(-(-n // tiles.blocks))
    additions = doubling.totals.operations / tree.totals.operations
    if ahead is not None and ahead > 1 and additions > 1:
        named["doublingAhead"] = number(additions, 2)
    moved = doubling.totals.global_bytes_read + doubling.totals.global_bytes_written
    allowed, reached = ideal_bytes("i32", "plus", n) / moved, last(timings, DOUBLING, CEILING)
    put("trafficAllows", allowed, 2)
    if reached is not None and reached < allowed:
        named["belowTraffic"] = number(reached, 2)
    return named


def _rung_values(timings: TimingEvidence) -> dict[str, str]:
    climbed = rungs.rungs_at_largest(timings).set_index("variant")["ratio"]
    names = {v: "rung" + "".join(word.capitalize() for word in v.split("_")) for v in rungs.SINGLE_PASS}
    named = {name: number(climbed[v], 2) for v, name in names.items() if v in climbed.index}
    cache, size = timings.caches()[0], rungs.size_of(timings)
    for macro, variant, against in (("rungVendorNewest", NEWEST_VENDOR, CEILING), ("rungBulkCopy", BULK_CEILING, CEILING),
                                    ("lookAheadOfBulk", "look_ahead", BULK_CEILING)):  # fmt: skip
        of = shares(timings, variant, against, cache).set_index("items")["ratio"]
        if size in of.index:
            named[macro] = number(of[size], 2)
    return named


ABLATIONS = {"StagesTwo": "2 stages", "LoadingOne": "1 tile loading", "LoadingFour": "4 tiles loading", "TileSmallest": "tiles of 10 KiB",
             "Static": "static tiles", "Early": "no PDL", "LookBack": "look-back", "ReduceThenScan": "two reads"}  # fmt: skip


def _ablation_values(timings: TimingEvidence) -> dict[str, str]:
    rows = ablation.ablation(timings).set_index(["items", "idea"])["ratio"]
    sizes = {"": max(timed := {n for n, _ in rows.index}), "Small": min(timed)} if len(rows) else {}
    return {f"ablation{macro}{suffix}": f"{rows[n, idea]:.2f}" for macro, idea in ABLATIONS.items() for suffix, n in sizes.items() if (n, idea) in rows.index}


def _tile_values(timings: TimingEvidence) -> dict[str, str]:
    rows = tiles.by_tile(timings)
    rows = rows[rows["variant"] == "look_ahead"]
    if rows.empty or rows["kib"].nunique() < 2:
        return {}
    fastest = {n: of.loc[of["ratio"].idxmax(), "kib"] for n, of in rows.groupby("items")}
    named = {"tileSmall": f"{fastest[min(fastest)]:g}", "tileLarge": f"{fastest[max(fastest)]:g}"}
    many = rows[rows["items"] == rows["items"].max()]  # in the order of tiles
    if (loses := 1 - many["ratio"].iloc[-1] / many["ratio"].max()) >= 0.05:
        named |= {"tileLargest": f"{many['kib'].iloc[-1]:g}", "tileLargestLoses": number(100 * float(loses), 2)}
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
        named |= {"duelCases": str(len(duels)), "duelLeast": number(float(duels["ratio"].min()))}
        if LOSS in outcomes:
            named["duelAnyLost"] = str(outcomes[LOSS])
            lost = duels[duels["outcome"] == LOSS]
            if lost["items"].nunique() == 1 and set(lost["op"]) == {"affine"} and set(lost["type"]) <= {"i16", "f16"}:
                named["lossItems"] = f"\\num{{{lost['items'].iloc[0]}}}"
        named |= {macro: str(outcomes.get(which, 0)) for macro, which in (("duelWins", WIN), ("duelTies", TIE), ("duelLosses", LOSS))}
    over_floor = next((row.measured for row in rows if row.measure == "× empty launch" and row.measured), None)
    if over_floor:
        named["smallOverFloor"] = number(over_floor.value)
    return named


def duel_rounds(results: Results) -> dict[str, str]:
    """The rounds of the newest duels, if they are too few for a case to stop by the width of its interval."""
    duels = [run.context for run in sorted(results.runs, key=lambda run: run.date) if _is_duel(run)]
    return {"duelFixedRounds": str(duels[-1]["rounds"])} if duels and not can_settle(duels[-1]) else {}


def _is_duel(run: Run) -> bool:
    """Whether of our scans it timed ``best`` alone, beside CUB's."""
    return VENDOR in run.variants and Variants(run.variants).ids(OWN) == [BEST]


def _library_values(timings: AllTimingEvidence) -> dict[str, str]:
    """What users would pick instead of CUB, where all scans are set side by side at their largest size."""
    named: dict[str, str] = {}
    for key in timings.keys(type="i32", op="plus", mode="inclusive", cache="cold", launch=STREAM, items=LARGEST):
        ours = timings.of(key, BEST)
        for macro, variant in (("thrustOfBest", "thrust_scan"), ("torchOfBest", "torch_cumsum"), ("cupyOfBest", "cupy_cumsum")):
            if ours is not None and (theirs := timings.of(key, variant)) is not None:
                named[macro] = number(ratio_interval(theirs, ours).value)
    return named


def _jax_values(timings: AllTimingEvidence) -> dict[str, str]:
    keys = timings.keys(type="i32", op="plus", mode="inclusive", cache="warm", launch=STREAM)
    both = [(key, timings.of(key, JAX), timings.of(key, BEST)) for key in keys]
    known = [(key, theirs, ours) for key, theirs, ours in both if theirs is not None and ours is not None]
    if not known:
        return {}
    key, theirs, ours = known[-1]
    return {"jaxOfBest": number(ratio_interval(theirs, ours).value, 2), "jaxItems": power(key.items)}


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
        named |= {"rereadSmall": number(reread["read"].iloc[0], 2), "rereadLarge": number(reread["read"].iloc[-1], 2)}
    once = rows[rows["variant"] == "look_ahead"]
    if len(once):
        named["movedLookAhead"] = number(once["moved"].iloc[-1], 3)
    return named


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
    if waves.LARGEST in times:
        largest = times[waves.LARGEST]
        named["waveLargeAllows"] = number(float(largest["cub"] / largest[MEETING_CEILING]))
    return named


def _first_win(table: pd.DataFrame, column: str) -> int:
    return int(table.loc[table[column] > 1, "items"].min())
