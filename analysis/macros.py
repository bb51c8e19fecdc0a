"""The numbers in the paper's text, as LaTeX macros, so that none is typed by hand."""

from __future__ import annotations

import pandas as pd

from analysis.evidence import BASELINES, CEILING, FLOOR, VENDOR, CountEvidence, Counts, Published, TimingEvidence, Timings
from analysis.evidence import Counters, CounterEvidence, gather
from analysis.figures import bank_conflicts
from analysis.figures.ceiling_share import shares
from analysis.figures.hardware_conflicts import compared
from analysis.figures.speedup import ONE_CORE, OURS, speedups
from analysis.published import Publication
from analysis.results import Results
from analysis.table_formats import latex, significant
from analysis.tables.costs import default_only
from analysis.tables.summary import standings

NAMES = {
    "scanDevice": "name of the device",
    "scanDate": "day of the run",
    "scanCommit": "commit of the code that ran",
    "scanOrigin": "measured now, or recorded",
    "scanRepetitions": "repetitions behind each median",
    "copyRate": "device copy at the largest size, GB/s",
    "copyItems": "largest size timed, as a power of two",
    "floorTime": "empty launch, microseconds",
    "bestVariant": "fastest variant of ours at the largest size",
    "bestRate": "its throughput, GB/s",
    "bestOfCopy": "its share of the copy",
    "bestOfVendor": "its speed relative to CUB",
    "vendorOfCopy": "CUB's share of the copy at the largest size",
    "simplestVariant": "slowest variant that reaches the largest size",
    "simplestSlower": "how many times slower than the best it is",
    "paddingGainLargest": "hso_blocked over hso_blocked_padded at the largest size",
    "paddingGainBlock": "hso_block over hso_block_padded at its largest size",
    "speedupThenLargest": "published speedup of 2007 at the largest published size",
    "speedupNowLargest": "the same algorithm's speedup now at that size",
    "speedupVendorLargest": "CUB's speedup now at that size",
    "crossoverThen": "smallest published size at which the GPU won in 2007",
    "crossoverNow": "smallest size at which the same algorithm wins now",
    "worstDegreeBare": "worst degree in the unpadded tree, 32 banks",
    "worstDegreeRow": "worst degree with i/B, 32 banks",
    "worstDegreeTwoLevel": "worst degree with two-level padding, 32 banks",
    "worstDegreeSource": "worst degree with the source's one in 16, 32 banks",
    "degreeItems": "size at which the degrees were counted, as a power of two",
    "additionsHillisSteele": "additions of hs_block as counted",
    "additionsWorkEfficient": "additions of hso_block at the same size as counted",
    "additionsItems": "that size, as a power of two",
    "hardwareRatioLow": "smallest ratio of hardware to executor transactions",
    "hardwareRatioHigh": "largest ratio of hardware to executor transactions",
}
"""Every macro that can be defined, and what it says; which are depends on the evidence."""


def values(results: Results, published: dict[str, Publication]) -> dict[str, str]:
    """The macros that the evidence defines, with their LaTeX replacement."""
    defined: dict[str, str] = {}
    for needs, describe in (
        ({"timings": Timings(all_of=(CEILING,))}, _timing_values),
        ({"timings": Timings(types=("f32", "i32"), all_of=(ONE_CORE,), any_of=OURS),
          "published": Published("hso2007_table2")}, _speedup_values),
        ({"counts": Counts()}, _count_values),
        ({"counters": Counters()}, _counter_values),
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
        named["floorTime"] = _number(float(timings.of(FLOOR)["median_ns"].min()) / 1e3, 2)
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
    for macro, pair in (("paddingGainLargest", "hso_blocked"), ("paddingGainBlock", "hso_block")):
        gain = shares(timings, f"{pair}_padded", pair, cache)
        if not gain.empty:
            named[macro] = _number(gain["ratio"].iloc[-1])
    return named


def _speedup_values(timings: TimingEvidence, published: Publication) -> dict[str, str]:
    then = published.table.assign(speedup=published.table["cpu_ms"] / published.table["gpu_ms"])
    now = speedups(timings, next(v for v in OURS if v in timings.variants()), ONE_CORE)
    named = {
        "speedupThenLargest": _number(then["speedup"].iloc[-1]),
        "crossoverThen": _power(_first_win(then, "speedup")),
    }
    last = int(then["items"].iloc[-1])
    if last in set(now["items"]):
        named["speedupNowLargest"] = _number(now.set_index("items").at[last, "ratio"])
    if (now["ratio"] > 1).any():
        named["crossoverNow"] = _power(_first_win(now, "ratio"))
    vendor = speedups(timings, VENDOR, ONE_CORE) if VENDOR in timings.variants() else pd.DataFrame({"items": []})
    if last in set(vendor["items"]):
        named["speedupVendorLargest"] = _number(vendor.set_index("items").at[last, "ratio"])
    return named


def _first_win(table: pd.DataFrame, column: str) -> int:
    return int(table.loc[table[column] > 1, "items"].min())


def _count_values(counts: CountEvidence) -> dict[str, str]:
    named: dict[str, str] = {}
    trees = [e for e in counts.explanations if e.base == "hso_block"]
    if trees:
        chosen = bank_conflicts.choose(trees)
        named["degreeItems"] = _power(chosen[0].items)
        macro = {"none": "Bare", "row": "Row", "two_level": "TwoLevel", "one_in_16": "Source"}
        for explanation in chosen:
            if explanation.padding in macro:
                worst = max(bank_conflicts.degrees(explanation, "banks32"), default=0)
                named[f"worstDegree{macro[explanation.padding]}"] = f"{worst:.0f}"
    unique = {(e.variant, e.items): e for e in default_only(counts.explanations)}
    common = {n for v, n in unique if v == "hs_block"} & {n for v, n in unique if v == "hso_block"}
    if common:
        n = max(common)
        named["additionsItems"] = _power(n)
        named["additionsHillisSteele"] = str(unique["hs_block", n].totals["operations"])
        named["additionsWorkEfficient"] = str(unique["hso_block", n].totals["operations"])
    return named


def _counter_values(counters: CounterEvidence) -> dict[str, str]:
    ratios = compared(counters)["ratio"]
    return {"hardwareRatioLow": _number(ratios.min()), "hardwareRatioHigh": _number(ratios.max())}


