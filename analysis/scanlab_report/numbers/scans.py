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
from scanlab_report.pick import answering, caches, floor_ns, pick, shares
from scanlab_report.pick import scans as pick_scans
from scanlab_report.sources import sources
from scanlab_report.tables import CASE

DOUBLING, TREE = "hs_blocked", "hso_blocked"


def setup(data: Data) -> Numbers:
    """Device, day, commit, versions, and the copy and best at the largest size."""
    cases = pick_scans(data, all_of=(CEILING,))
    stands, cache = standings(data, cases).set_index("variant"), caches(cases)[0]
    (source,) = sources(data, cases)
    copy = stands.loc[CEILING]
    ours = [OWN.has(data.variants[name]) for name in stands.index]
    best = pick(stands[ours], items=copy["items"]).iloc[0]
    gain = lambda above, below: last(shares(cases, above, below, cache)["ratio"])
    return {
        "scanDevice": latex(source.device),
        "scanDate": latex(source.date),
        "scanCommit": latex(source.revision),
        "scanVersions": latex(", ".join(source.versions)),
        "scanRepetitions": " to ".join(map(str, sorted(set(source.samples or ())))),
        "copyRate": (copy["rate"], 4),
        "copyItems": power(int(copy["items"])),
        "floorTime": (floor_ns(cases, cache) / 1e3, 2),
        "bestRate": best["rate"],
        "bestOfCopy": best["of_memcpy"],
        "bestOfVendor": best["of_cub"],
        "vendorOfCopy": (stands.at[VENDOR, "of_memcpy"], 2),
        "paddingGainLargest": gain(f"{TREE}_padded", TREE),
        "paddingGainReentry": gain("hso_reentry_padded", "hso_reentry"),
        "doublingOverTree": gain(DOUBLING, f"{TREE}_padded"),
    }


def counted(data: Data) -> Numbers:
    """The worst degrees of bank conflicts in trees, the additions of both scans in a block, and the
    barriers, tiles and bytes of both over many blocks."""
    every = counts.counts(data)
    trees = counts.one_per_padding(pick(every, unpadded="hso_block"))
    contents = trees.set_index("padding")["content"]
    worst = lambda padding: int(max(counts.worst_degrees(contents[padding], "banks32")))
    in_block, *blocks = _at_largest(counts.usual_counts(every), "hs_block", "hso_block")
    plain = {"type": "i32", "mode": "inclusive", "padding": "none", "load": ("", "halves")}
    n, doubling, tree = _at_largest(pick(every, **plain), DOUBLING, TREE)
    moved = doubling.totals.global_bytes_read + doubling.totals.global_bytes_written
    tile = lambda content: -(-n // content.launches[0].blocks)
    return {
        "degreeItems": power(int(trees["items"].iloc[0])),
        "worstDegreeBare": worst("none"),
        "worstDegreeTwoLevel": worst("two_level"),
        "additionsItems": power(in_block),
        "additionsHillisSteele": blocks[0].totals.operations,
        "additionsWorkEfficient": blocks[1].totals.operations,
        "trafficAllows": (groups.ideal_bytes("i32", n) / moved, 2),
        "barriersDoubling": doubling.launches[0].barriers,
        "barriersTree": tree.launches[0].barriers,
        "tileDoubling": tile(doubling),
        "tileTree": tile(tree),
    }


def _at_largest(rows: pd.DataFrame, *variants: str) -> tuple[Any, ...]:
    """Return the largest size at which the emulator counted all variants, and its counts."""
    own = pick(rows, variant=variants).pivot(index="items", columns="variant", values="content")
    both = own[list(variants)].dropna()
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
    header = "tile=28"  # the header's tile at 2^24 and 2^28 items of 4 bytes on an H200

    def over(variant: str, other: str, settings: str = "", n: int = size) -> Any:
        return last(pick(shares(cases, variant, other, cache, settings), items=n)["ratio"])

    return {
        "rungVendorNewest": over(groups.NEWEST_VENDOR, CEILING),
        "rungBulkCopy": over(BULK_CEILING, CEILING),
        "lookAheadOfBulk": over("look_ahead", BULK_CEILING),
        "resetSome": over("look_ahead", HEADER, header, 1 << 24),
        "resetMany": over("look_ahead", HEADER, header),
    } | {f"rung{v.title().replace('_', '')}": over(v, CEILING) for v in ladder.SINGLE_PASS}


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
    rows = tuning.ablations(tuning.ablation_cases(data)).set_index(["items", "idea"])["ratio"]
    sizes = {n for n, _ in rows.index}
    return {
        f"ablation{name}": f"{rows[which(sizes), idea]:.2f}"
        for name, (idea, which) in ABLATIONS.items()
    }


def second_form(data: Data) -> Numbers:
    """Return the gain of look_ahead's form for heavy operators over the other form with the same
    tile."""
    heavy = {"variant": "look_ahead", "type": "f32", "op": "log_sum_exp", "mode": "inclusive"}
    rows = data.rows("scan", lambda file: file.kind == "cuda")
    rows = pick(rows, **heavy, cache="cold", launch=groups.STREAM)
    cases = summarise(answering(data, rows), CASE)
    samples = cases.pivot(index="items", columns="settings", values="samples")
    both = samples[["folding=repeated tile=49", "tile=49"]].dropna()
    gains = ratio_intervals(*(list(both[form]) for form in both))
    return {"secondFormSmall": gains[0], "secondFormLarge": gains[-1]}


def tiles(data: Data) -> Numbers:
    """The fastest tiles of look_ahead."""
    rows = pick(tuning.by_tile(data, tuning.tile_cases(data)), variant="look_ahead")
    fastest = rows.loc[rows.groupby("items")["ratio"].idxmax()].set_index("items")["kib"]
    many = pick(rows, items=rows["items"].max())
    return {
        "tileDefault": data.variants["look_ahead"].defaults["tile"],
        "tileSmall": f"{fastest.iloc[0]:g}",
        "tileLarge": f"{fastest.iloc[-1]:g}",
        "tileLargest": f"{many['kib'].iloc[-1]:g}",
        "tileLargestLoses": (100 * (1 - many["ratio"].iloc[-1] / many["ratio"].max()), 2),
    }


def hardware_counters(data: Data) -> Numbers:
    """Items that look_ahead moves, and the shares of cycles, in percent, that its warps wait at the
    largest size."""
    moved = pick(hardware.dram_over_items(data)[0], variant="look_ahead").sort_values("items")
    rows = pick(hardware.wait_shares(hardware.wait_rows(data)), variant="look_ahead")
    rows = rows.sort_values("items").drop_duplicates("role", keep="last").set_index("role")
    return {
        "movedLookAhead": last(moved["moved"]),
        "waitLoad": (100 * rows.at["load", "data"], 2),
        "waitFree": (100 * rows.at["load", "store"], 2),
        "waitReduce": (100 * rows.at["reduce", "data"], 2),
        "waitLookAhead": (100 * rows.at["look ahead", "prefix"], 2),
        "waitScan": (100 * rows.at["scan", "prefix"], 2),
    }


def waves(data: Data) -> Numbers:
    """Microseconds per graph node, at 2^14 and 2^22 items."""
    steps = ladder.wave_steps(data, ladder.wave_cases(data))
    times = steps.set_index(["step", "items"])["us"]
    names = {"Copy": groups.VECTOR_CEILING, "Meeting": groups.BARRIER_CEILING}
    names |= {"Best": BEST, "Vendor": "cub"}
    return {"waveFloor": (times[FLOOR].iloc[0], 2)} | {
        f"wave{size}{name}": times[step, n]
        for size, n in (("Small", 1 << 14), ("Large", ladder.WAVE_LARGEST))
        for name, step in names.items()
    }


FUNCTIONS = (
    *(setup, counted, agreement, rungs, ablations),
    *(second_form, tiles, hardware_counters, waves),
)
