"""The numbers on scans in the text of the papers, each by the name of its LaTeX macro."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import pandas as pd

from scanlab_report import groups
from scanlab_report.chapters import conflicts, counts, hardware, ladder, tuning
from scanlab_report.chapters.standings import standings
from scanlab_report.data import Data
from scanlab_report.formats import latex
from scanlab_report.groups import BEST, BULK_CEILING, CEILING, FLOOR, HEADER, OWN, VENDOR
from scanlab_report.intervals import ratio_intervals, summarise
from scanlab_report.numbers import Numbers, last, power
from scanlab_report.pick import Lacking, answering, by_device, caches, floor_ns, pick, shares
from scanlab_report.pick import scans as pick_scans
from scanlab_report.sources import sources
from scanlab_report.tables import CASE

DOUBLING, TREE = "hs_blocked", "hso_blocked"


def setup(data: Data) -> Numbers:
    """Device, day, commit, versions, and the copy and best at the largest size."""
    cases = pick_scans(data, all_of=(CEILING,))
    stands, cache = standings(data, cases).set_index("variant"), caches(cases)[0]
    (source,) = sources(data, cases)
    low, high = source.samples or (0, 0)
    copy, vendor = (stands.loc[stands.index == name] for name in (CEILING, VENDOR))
    top = copy["items"].iloc[0]
    ours = [OWN.has(data.variants[name]) for name in stands.index]
    best = pick(stands[ours], items=top)[:1]
    pads = {
        "paddingGainLargest": (f"{TREE}_padded", TREE),
        "paddingGainReentry": ("hso_reentry_padded", "hso_reentry"),
        "doublingOverTree": (DOUBLING, f"{TREE}_padded"),
    }
    return {
        "scanDevice": latex(source.device),
        "scanDate": latex(source.date),
        "scanCommit": latex(source.revision),
        "scanVersions": latex(", ".join(source.versions)),
        "scanRepetitions": f"{low}" if low == high else f"{low} to {high}",
        "copyRate": (last(copy["rate"]).value, 4),
        "copyItems": power(int(top)),
        "floorTime": (floor_ns(cases, cache) / 1e3, 2),
        "bestRate": last(best["rate"]),
        "bestOfCopy": last(best["of_memcpy"]),
        "bestOfVendor": last(best["of_cub"]),
        "vendorOfCopy": (last(vendor["of_memcpy"]), 2),
        **{name: last(shares(cases, *pair, cache)["ratio"]) for name, pair in pads.items()},
    }


def trees(data: Data) -> Numbers:
    """The worst degrees of bank conflicts in trees."""
    rows = counts.counts(data)
    rows = counts.one_per_padding(_some(rows[rows["unpadded"] == "hso_block"]))
    contents = rows.set_index("padding")["content"]
    return {"degreeItems": power(int(rows["items"].iloc[0]))} | {
        f"worstDegree{name}": int(
            max(counts.worst_degrees(contents[padding], "banks32"), default=0)
        )
        for padding, name in (("none", "Bare"), ("two_level", "TwoLevel"))
        if padding in contents
    }


def additions(data: Data) -> Numbers:
    """The additions of Hillis and Steele's scan and of the work-efficient one in a block."""
    usual = counts.usual_counts(counts.counts(data))
    n, doubling, tree = _at_largest(usual, "hs_block", "hso_block")
    return {
        "additionsItems": power(n),
        "additionsHillisSteele": doubling.totals.operations,
        "additionsWorkEfficient": tree.totals.operations,
    }


def blocked(data: Data) -> Numbers:
    """Barriers, tiles and bytes of both scans over many blocks."""
    plain = pick(
        counts.counts(data), type="i32", mode="inclusive", padding="none", load=("", "halves")
    )
    n, doubling, tree = _at_largest(plain, DOUBLING, TREE)
    moved = doubling.totals.global_bytes_read + doubling.totals.global_bytes_written
    made: Numbers = {"trafficAllows": (groups.ideal_bytes("i32", n) / moved, 2)}
    for name, content in (("Doubling", doubling), ("Tree", tree)):
        launch = content.launches[0]
        made |= {f"barriers{name}": launch.barriers, f"tile{name}": -(-n // launch.blocks)}
    return made


def _some(rows: pd.DataFrame) -> pd.DataFrame:
    if rows.empty:
        raise Lacking("counts of these variants")
    return rows


def _at_largest(rows: pd.DataFrame, *variants: str) -> tuple[Any, ...]:
    """Return the largest size at which the emulator counted all variants, and its counts."""
    own = pick(rows, variant=variants).pivot(index="items", columns="variant", values="content")
    both = _some(own.reindex(columns=list(variants)).dropna())
    return int(both.index[-1]), *both.iloc[-1]


def agreement(data: Data) -> Numbers:
    """In how many cases emulator and hardware agree, and how far others are apart."""
    cases, _ = conflicts.both_counted(data)
    return {
        "hardwareCases": len(cases),
        "hardwareEqual": int((~cases["differs"]).sum()),
        "hardwareLargestDifference": cases["transactions_off"].max(),
    }


def rungs(data: Data) -> Numbers:
    """Shares of the copy at the largest size, rung by rung."""
    cases = ladder.ladder_cases(data)
    cache, size = caches(cases)[0], ladder.ladder_size(cases)
    made: Numbers = {
        f"rung{row.variant.title().replace('_', '')}": row.ratio
        for row in ladder.rungs(cases).itertuples()
        if row.variant in ladder.SINGLE_PASS
    }
    header = "tile=28"  # the header's tile at 2^24 and 2^28 items of 4 bytes on an H200
    for name, variant, other, settings, n in (
        ("rungVendorNewest", groups.NEWEST_VENDOR, CEILING, "", size),
        ("rungBulkCopy", BULK_CEILING, CEILING, "", size),
        ("lookAheadOfBulk", "look_ahead", BULK_CEILING, "", size),
        ("resetSome", "look_ahead", HEADER, header, 1 << 24),
        ("resetMany", "look_ahead", HEADER, header, size),
    ):
        made[name] = last(pick(shares(cases, variant, other, cache, settings), items=n)["ratio"])
    return made


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
    heavy = {"variant": "look_ahead", "type": "f32", "op": "log_sum_exp"}
    usual = {"mode": "inclusive", "cache": "cold", "launch": groups.STREAM}
    for _, _, rows in by_device(data, "scan"):
        rows = answering(data, pick(rows, **heavy, **usual))
        if len(rows):
            samples = summarise(rows, CASE).pivot(
                index="items", columns="settings", values="samples"
            )
            forms = ["folding=repeated tile=49", "tile=49"]
            both = samples.reindex(columns=forms).dropna()
            gains = ratio_intervals(*(list(both[form]) for form in forms))
            ends = {"secondFormSmall": gains[:1], "secondFormLarge": gains[-1:]}
            return {name: gain for name, end in ends.items() for gain in end}
    raise Lacking("times of look_ahead in its forms, f32 log_sum_exp, on a CUDA device")


def tiles(data: Data) -> Numbers:
    """The fastest tiles of look_ahead."""
    rows = pick(tuning.by_tile(data, tuning.tile_cases(data)), variant="look_ahead")
    if rows["kib"].nunique() < 2:
        raise Lacking("timings of look_ahead with several tiles")
    fastest = rows.loc[rows.groupby("items")["ratio"].idxmax()].set_index("items")["kib"]
    many = pick(rows, items=rows["items"].max())
    return {
        "tileDefault": data.variants["look_ahead"].defaults["tile"],
        "tileSmall": f"{fastest.iloc[0]:g}",
        "tileLarge": f"{fastest.iloc[-1]:g}",
        "tileLargest": f"{many['kib'].iloc[-1]:g}",
        "tileLargestLoses": (100 * (1 - many["ratio"].iloc[-1] / many["ratio"].max()), 2),
    }


def traffic(data: Data) -> Numbers:
    rows = pick(hardware.dram_over_items(data)[0], variant="look_ahead").sort_values("items")
    return {"movedLookAhead": last(rows["moved"])}


def waits(data: Data) -> Numbers:
    """Shares of cycles, in percent, that look_ahead's warps wait at the largest size."""
    rows = pick(hardware.wait_shares(hardware.wait_rows(data)), variant="look_ahead")
    rows = rows.sort_values("items").drop_duplicates("role", keep="last").set_index("role")
    ways = {
        "waitLoad": ("load", "data"),
        "waitFree": ("load", "store"),
        "waitReduce": ("reduce", "data"),
        "waitLookAhead": ("look ahead", "prefix"),
        "waitScan": ("scan", "prefix"),
    }
    return {
        name: (100 * rows.at[role, kind], 2)
        for name, (role, kind) in ways.items()
        if role in rows.index and kind in rows
    }


def waves(data: Data) -> Numbers:
    """Microseconds per graph node, at 2^14 and 2^22 items."""
    steps = ladder.wave_steps(data, ladder.wave_cases(data))
    times = steps.set_index(["step", "items"])["us"]
    names = {"Copy": groups.VECTOR_CEILING, "Meeting": groups.BARRIER_CEILING}
    names |= {"Best": BEST, "Vendor": "cub"}
    return {"waveFloor": (times[FLOOR].iloc[0], 2)} | {
        f"wave{size}{name}": times.get((step, n))
        for size, n in (("Small", 1 << 14), ("Large", ladder.WAVE_LARGEST))
        for name, step in names.items()
    }


FUNCTIONS = (
    *(setup, trees, additions, blocked, agreement, rungs),
    *(ablations, second_form, tiles, traffic, waits, waves),
)
