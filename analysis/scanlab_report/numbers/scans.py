"""The numbers on scans in the text of the papers, each by the name of its LaTeX macro."""

from __future__ import annotations

import statistics
from collections.abc import Callable

import pandas as pd

from scanlab_report.chapters import conflicts, counts, hardware, ladder, standings, tuning
from scanlab_report.data import Data
from scanlab_report.formats import latex, significant
from scanlab_report.groups import (
    BEST,
    BULK_CEILING,
    CEILING,
    FLOOR,
    HEADER,
    MEETING_CEILING,
    NEWEST_VENDOR,
    OWN,
    STREAM,
    VECTOR_CEILING,
    VENDOR,
    ideal_bytes,
)
from scanlab_report.intervals import ratio_interval, summarise
from scanlab_report.pick import Lacking, answering, by_device, caches, floor_ns, pick, shares, timed
from scanlab_report.pick import scans as pick_scans
from scanlab_report.sources import sources
from scanlab_report.tables import CASE

DOUBLING, TREE = "hs_blocked", "hso_blocked"
Numbers = dict[str, str]


def number(value: float, digits: int = 3) -> str:
    """A bare number for siunitx to set."""
    return significant(value, digits).replace("\u2009", "")


def power(n: int) -> str:
    """2^k where n is a power of two, else n."""
    return f"\\ensuremath{{2^{{{n.bit_length() - 1}}}}}" if n & (n - 1) == 0 else latex(f"{n}")


def setup(data: Data) -> Numbers:
    """Device, day, commit, versions, and the copy and best at the largest size."""
    cases = pick_scans(data, all_of=(CEILING,))
    stands, cache = standings.standings(data, cases).set_index("variant"), caches(cases)[0]
    (source,) = sources(data, cases)
    low, high = source.samples or (0, 0)
    top = int(stands.at[CEILING, "items"])
    made = {
        "scanDevice": latex(source.device),
        "scanDate": latex(source.date),
        "scanCommit": latex(source.revision),
        "scanVersions": latex(", ".join(source.versions)),
        "scanRepetitions": f"{low}" if low == high else f"{low} to {high}",
        "copyRate": number(stands.at[CEILING, "rate"].value, 4),
        "copyItems": power(top),
    }
    if FLOOR in timed(cases):
        made["floorTime"] = number(floor_ns(cases, cache) / 1e3, 2)
    ours = [v for v in stands.index if stands.at[v, "items"] == top and OWN.has(data.variants[v])]
    if ours:
        best = stands.loc[ours[0]]
        made |= {
            "bestRate": number(best["rate"].value),
            "bestOfCopy": number(best["of_memcpy"].value),
        }
        if best["of_cub"] is not None:
            made["bestOfVendor"] = number(best["of_cub"].value)
    if VENDOR in stands.index and stands.at[VENDOR, "of_memcpy"] is not None:
        made["vendorOfCopy"] = number(stands.at[VENDOR, "of_memcpy"].value, 2)
    pads = (
        ("paddingGainLargest", TREE),
        ("paddingGainReentry", "hso_reentry"),
        ("doublingOverTree", None),
    )
    for name, bare in pads:
        padded, other = (f"{bare}_padded", bare) if bare else (DOUBLING, f"{TREE}_padded")
        gain = shares(cases, padded, other, cache)["ratio"]
        if len(gain):
            made[name] = number(float(gain.iloc[-1]))
    return made


def counted(data: Data) -> Numbers:
    """Return the emulator's counts of trees and of the two blocked scans."""
    rows, made = counts.counts(data), {}
    trees = rows[rows["unpadded"] == "hso_block"]
    if len(trees):
        chosen = counts.one_per_padding(trees)
        made["degreeItems"] = power(int(chosen["items"].iloc[0]))
        for padding, name in (("none", "Bare"), ("two_level", "TwoLevel")):
            for content in pick(chosen, padding=padding)["content"]:
                worst = max(counts.worst_degrees(content, "banks32"), default=0)
                made[f"worstDegree{name}"] = f"{worst:.0f}"
    usual = counts.usual_counts(rows).set_index(["variant", "items"])["content"]
    n = _common(usual, "hs_block", "hso_block")
    if n is not None:
        made |= {
            "additionsItems": power(n),
            "additionsHillisSteele": str(usual["hs_block", n].totals.operations),
            "additionsWorkEfficient": str(usual["hso_block", n].totals.operations),
        }
    plain = pick(rows, type="i32", mode="inclusive", padding="none", load=("", "halves"))
    plain = plain.set_index(["variant", "items"])["content"]
    n = _common(plain, DOUBLING, TREE)
    if n is not None:
        for name, variant in (("Doubling", DOUBLING), ("Tree", TREE)):
            launch = plain[variant, n].launches[0]
            made[f"barriers{name}"] = str(launch.barriers)
            made[f"tile{name}"] = str(-(-n // launch.blocks))
        totals = plain[DOUBLING, n].totals
        moved = totals.global_bytes_read + totals.global_bytes_written
        made["trafficAllows"] = number(ideal_bytes("i32", n) / moved, 2)
    return made


def _common(contents: pd.Series, first: str, second: str) -> int | None:
    """Return the largest size at which both variants were counted."""
    sizes = [
        set(contents.index[contents.index.get_level_values(0) == v].get_level_values(1))
        for v in (first, second)
    ]
    return max(sizes[0] & sizes[1], default=None)


def agreement(data: Data) -> Numbers:
    """In how many cases emulator and hardware agree, and how far others are apart."""
    cases, _, _ = conflicts.both_counted(data)
    off = pd.DataFrame(
        {q: cases[f"{q}_hardware"] - cases[f"{q}_emulator"] for q in conflicts.QUANTITIES}
    )
    known = cases["transactions_hardware"].where(cases["transactions_hardware"] > 0)
    return {
        "hardwareCases": str(len(cases)),
        "hardwareEqual": str(int((~off.ne(0).any(axis=1)).sum())),
        "hardwareLargestDifference": number(float((100 * off["transactions"].abs() / known).max())),
    }


def rungs(data: Data) -> Numbers:
    """Shares of the copy at the largest size, rung by rung."""
    cases = ladder.ladder_cases(data)
    cache, size = caches(cases)[0], ladder.ladder_size(cases)
    made = {
        f"rung{_camel(row.variant)}": number(row.ratio)
        for row in ladder.rungs(cases).itertuples()
        if row.variant in ladder.SINGLE_PASS
    }
    header = "tile=28"  # the header's tile at 2^24 and 2^28 items of 4 bytes on an H200
    for name, variant, other, settings, n in (
        ("rungVendorNewest", NEWEST_VENDOR, CEILING, "", size),
        ("rungBulkCopy", BULK_CEILING, CEILING, "", size),
        ("lookAheadOfBulk", "look_ahead", BULK_CEILING, "", size),
        ("resetSome", "look_ahead", HEADER, header, 1 << 24),
        ("resetMany", "look_ahead", HEADER, header, size),
    ):
        for ratio in pick(shares(cases, variant, other, cache, settings), items=n)["ratio"]:
            made[name] = number(ratio)
    return made


def _camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


ABLATIONS: dict[str, tuple[str, Callable[[set[int]], int]]] = {
    "StagesTwo": ("2 stages", max),
    "StagesThree": ("3 stages", max),
    "StagesFour": ("4 stages", max),
    "StagesFive": ("5 stages", max),
    "StaticMiddle": ("static tiles", statistics.median_low),
    "Static": ("static tiles", max),
    "StaticSmall": ("static tiles", min),
    "LoadingOne": ("1 tile loading", max),
    "LoadingFour": ("4 tiles loading", max),
    "LoadingAll": ("all tiles loading", max),
    "PdlSmall": ("no PDL", min),
    "LookBack": ("decoupled_lookback", max),
    "LookBackSmall": ("decoupled_lookback", min),
    "AskingSmall": ("states at once", min),
    "ReduceThenScan": ("reduce_then_scan", max),
}
"""The idea, and at which of the sizes, by the end of the name of the macro."""


def ablations(data: Data) -> Numbers:
    """Time without an idea of look_ahead over time with it."""
    rows = tuning.ablations(tuning.ablation_cases(data))
    rows = rows.set_index(["items", "idea"])["ratio"]
    sizes = {n for n, _ in rows.index}
    return {
        f"ablation{name}": f"{rows[which(sizes), idea]:.2f}"
        for name, (idea, which) in ABLATIONS.items()
        if (which(sizes), idea) in rows.index
    }


def second_form(data: Data) -> Numbers:
    """Return the gain of look_ahead's form for heavy operators over the other form with the same
    tile."""
    wanted = {
        "variant": "look_ahead",
        "type": "f32",
        "op": "log_sum_exp",
        "mode": "inclusive",
        "cache": "cold",
        "launch": STREAM,
    }
    for _, _, rows in by_device(data, "scan"):
        rows = answering(data, pick(rows, **wanted))
        if len(rows):
            cases = summarise(rows, CASE)
            usual, again = (
                pick(cases, settings=settings).set_index("items")["samples"]
                for settings in ("tile=49", "folding=repeated tile=49")
            )
            sizes = sorted(set(usual.index) & set(again.index))
            ends = {"secondFormSmall": sizes[:1], "secondFormLarge": sizes[-1:]}
            return {
                name: number(ratio_interval(again[n], usual[n]).value)
                for name, end in ends.items()
                for n in end
            }
    raise Lacking("times of look_ahead in its forms, f32 log_sum_exp, on a CUDA device")


def tiles(data: Data) -> Numbers:
    """The fastest tiles of look_ahead."""
    rows = pick(tuning.by_tile(data, tuning.tile_cases(data)), variant="look_ahead")
    if rows["kib"].nunique() < 2:
        raise Lacking("timings of look_ahead with several tiles")
    fastest = rows.loc[rows.groupby("items")["ratio"].idxmax()].set_index("items")["kib"]
    many = pick(rows, items=rows["items"].max())
    loses = 100 * (1 - float(many["ratio"].iloc[-1] / many["ratio"].max()))
    return {
        "tileDefault": data.variants["look_ahead"].defaults["tile"],
        "tileSmall": f"{fastest.iloc[0]:g}",
        "tileLarge": f"{fastest.iloc[-1]:g}",
        "tileLargest": f"{many['kib'].iloc[-1]:g}",
        "tileLargestLoses": number(loses, 2),
    }


def traffic(data: Data) -> Numbers:
    rows = pick(hardware.dram_over_items(data)[0], variant="look_ahead").sort_values("items")
    return {"movedLookAhead": number(rows["moved"].iloc[-1])} if len(rows) else {}


def waits(data: Data) -> Numbers:
    """Shares of cycles, in percent, that look_ahead's warps wait at the largest size."""
    rows = pick(hardware.wait_shares(hardware.wait_rows(data)), variant="look_ahead")
    rows = rows.sort_values("items").drop_duplicates("role", keep="last").set_index("role")
    ways = (
        ("waitLoad", "load", "data"),
        ("waitFree", "load", "store"),
        ("waitReduce", "reduce", "data"),
        ("waitLookAhead", "look ahead", "prefix"),
        ("waitScan", "scan", "prefix"),
    )
    return {
        name: number(100 * float(rows.at[role, kind]), 2)
        for name, role, kind in ways
        if role in rows.index and kind in rows
    }


def waves(data: Data) -> Numbers:
    """Microseconds per graph node, at 2^14 and 2^22 items."""
    steps = ladder.wave_steps(data, ladder.wave_cases(data))
    times = steps.pivot(index="step", columns="items", values="us")
    names = {"Copy": VECTOR_CEILING, "Meeting": MEETING_CEILING, "Best": BEST, "Vendor": "cub"}
    made = {"waveFloor": number(float(times.loc[FLOOR].iloc[0]), 2)}
    for size, n in (("Small", 1 << 14), ("Large", ladder.WAVE_LARGEST)):
        if n in times:
            made |= {
                f"wave{size}{name}": number(float(times.at[step, n]))
                for name, step in names.items()
            }
    return made


FUNCTIONS = (setup, counted, agreement, rungs, ablations, second_form, tiles, traffic, waits, waves)
