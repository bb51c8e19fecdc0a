"""Why scans are as fast as they are: tiles, single ideas, waiting, DRAM bytes, bank conflicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from msgspec import UNSET

from scanlab_report import style
from scanlab_report.chapters.head_to_head import origin_first
from scanlab_report.data import MEASURED, RECORDED, WAITING, Data
from scanlab_report.formats import Column, Table, code, significant, size, whole
from scanlab_report.intervals import summarise
from scanlab_report.looks import look
from scanlab_report.pick import (
    ANY_TYPE,
    BEST,
    CASE,
    CEILING,
    ELEMENT_BYTES,
    NEWEST_VENDOR,
    OWN,
    SHAPES,
    VENDOR,
    Group,
    Lacking,
    answering,
    by_device,
    caches,
    cub_as_shipped,
    ideal_bytes,
    items_words,
    pick,
    scan_of,
    scan_words,
    scans,
    shares,
)
from scanlab_report.shown import Shown, figure, shown, table

SIZES = (2**20, 2**24, 2**28)
"""The sizes at which tiles and ideas are compared."""
FOUR_BYTES = ("i32", "f32")

# ------------------------------------------------------------------------------------- tiles

SWEPT = {"look_ahead": "tile", "decoupled_lookback": "threads"}
"""The parameter that sets the tile of each variant."""


def tile_cases(data: Data, types: Sequence[str] = ("i32",)) -> pd.DataFrame:
    return scans(data, types=types, all_of=(CEILING,), any_of=tuple(SWEPT),
                 only=(CEILING, *SWEPT))  # fmt: skip


def by_tile(data: Data, cases: pd.DataFrame) -> pd.DataFrame:
    """`variant`, `items`, `kib`, `ratio`, `low`, `high`, ordered by tile; every other parameter at
    its default. Lacking if no tile was timed at SIZES."""
    parts = []
    narrow = ELEMENT_BYTES[scan_of(cases)[0]] == 4
    kib = {"tile": 1.0, "threads": (112 if narrow else 64) / 1024}
    for variant, parameter in SWEPT.items():
        defaults = data.variants[variant].defaults
        default = {name: value for name, value in defaults.items() if name == parameter}
        for settings in set(pick(cases, variant=variant)["settings"]):
            chosen = default | data.settings[settings]
            if chosen.keys() == {parameter}:
                rows = shares(cases, variant, CEILING, caches(cases)[0], settings)
                tile = kib[parameter] * int(chosen[parameter])
                parts.append(pick(rows, items=SIZES).assign(variant=variant, kib=tile))
    rows = pd.concat(parts) if parts else pd.DataFrame()
    if rows.empty:
        raise Lacking("timings of tiles at 2^20, 2^24 or 2^28")
    return rows.sort_values(["variant", "items", "kib"], ignore_index=True)


@figure("scans", follows=("type", "op"))
def tile_size(data: Data) -> Shown:
    """Speed of single-pass scans against tile size."""
    cases = tile_cases(data, FOUR_BYTES)
    rows = by_tile(data, cases)
    sizes = [n for n in SIZES if n in set(rows["items"])]
    drawn, axes = style.figure(style.COLUMN, 2.1, max(1, len(sizes)), sharey=True)
    bottom = 0.5 if rows["low"].min() > 0.5 else 0
    for panel, n in zip(axes, sizes, strict=True):
        for variant in SWEPT:
            own, drawn_as = pick(rows, items=n, variant=variant), look(variant, data.variants)
            panel.plot(own["kib"], own["ratio"], label=variant, **drawn_as.plot())
            style.error_bars(panel, own["kib"], own["ratio"], own["low"], own["high"],
                             drawn_as.colour)  # fmt: skip
        panel.set_xscale("log", base=2)
        panel.set_xlim(7, 76)
        panel.xaxis.set_major_locator(FixedLocator([8, 16, 32, 64]))
        panel.xaxis.set_minor_locator(NullLocator())
        panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        panel.set_ylim(bottom, max(1.0, 1.02 * rows["high"].fillna(rows["ratio"]).max()))
        panel.set_title(f"$n$ = {style.power_of_two(n)}")
    axes[len(sizes) // 2].set_xlabel("tile, KiB")
    axes[0].set_ylabel("share of a device copy")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right",
                 ncols=len(SWEPT), borderpad=0)  # fmt: skip
    type_name, op = scan_of(cases)
    return shown(
        data, drawn,
        "Speed of single-pass scans as a share of a device copy, against tile size, one panel per "
        f"array size. Inclusive {scan_words(op)} of {items_words(type_name)}, cold cache, stream "
        "launches. Each tile has its own number of warps, stages and loads in flight. Bars: 95% "
        "intervals.",
        cases, scanned=(type_name, op),
    )  # fmt: skip


# -------------------------------------------------------------------------------- single ideas

WHOLE = "look_ahead"
WITHOUT = {
    "2 stages": "stages=2", "3 stages": "stages=3", "4 stages": "stages=4", "5 stages": "stages=5",
    "1 tile loading": "loading=1", "4 tiles loading": "loading=4",
    "all tiles loading": "loading=all", "static tiles": "assignment=static", "no PDL": "pdl=no",
    "states at once": "asking=at_once", "arrival per lane": "arrivals=lane",
    "decoupled_lookback": "", "reduce_then_scan": "",
}  # fmt: skip
"""Each experiment: the settings of WHOLE, or another scan, by its name and with its defaults."""


def ablation_cases(data: Data, types: Sequence[str] = ("i32",)) -> pd.DataFrame:
    members = (WHOLE, "decoupled_lookback", "reduce_then_scan")
    return scans(data, types=types, all_of=members, only=members)


def ablations(cases: pd.DataFrame) -> pd.DataFrame:
    """`idea`, `items`, `ratio`, `low`, `high`: time without an idea over time with it."""
    parts = []
    for idea, settings in WITHOUT.items():
        rows = shares(cases, WHOLE if settings else idea, WHOLE, caches(cases)[0], settings)
        rows = pick(rows, items=SIZES)
        ratio = 1 / rows["ratio"]
        parts.append(pd.DataFrame({"idea": idea, "items": rows["items"].astype(int),
                                   "ratio": ratio, "low": 1 / rows["high"],
                                   "high": 1 / rows["low"]}))  # fmt: skip
    rows = pd.concat(parts, ignore_index=True)
    if rows.empty:
        raise Lacking("timings of look_ahead and of another at 2^20, 2^24 or 2^28")
    return rows


@figure("scans", follows=("type", "op"))
def ablation(data: Data) -> Shown:
    """Time of look_ahead with one idea removed or one parameter changed, over the time of the unchanged kernel: above 1 is slower."""
    cases = ablation_cases(data, FOUR_BYTES)
    rows = ablations(cases)
    ideas = [idea for idea in WITHOUT if idea in set(rows["idea"])]
    sizes = [n for n in SIZES if n in set(rows["items"])]
    height = 0.8 + 0.17 * len(ideas)
    drawn, axes = style.figure(style.COLUMN, height, max(1, len(sizes)), sharey=True)
    for panel, n in zip(axes, sizes, strict=True):
        own, heights = pick(rows, items=n).set_index("idea").reindex(ideas), list(range(len(ideas)))
        panel.barh(heights, own["ratio"] - 1, left=1, height=0.6, color=style.BLUE)
        style.error_bars_across(panel, own["ratio"], heights, own["low"], own["high"], style.BLACK)
        panel.axvline(1, color=style.BLACK, linewidth=0.8)
        panel.grid(axis="y", visible=False)
        panel.set_title(f"$n$ = {style.power_of_two(n)}")
        for height, ratio, high in zip(heights, own["ratio"], own["high"], strict=True):
            if ratio == ratio:  # timed at this size
                at = (np.nanmax([ratio, high, 1]), height)
                panel.annotate(f"{ratio:.2f}", at, xytext=(3, 0), textcoords="offset points",
                               va="center", fontsize=6)  # fmt: skip
        left, right = panel.get_xlim()
        panel.set_xlim(left, right + 0.35 * (right - left))  # room for the numbers
        panel.locator_params(axis="x", nbins=3)
    axes[0].set_yticks(range(len(ideas)), ideas)
    axes[0].set_ylim(len(ideas) - 0.4, -0.6)
    axes[len(sizes) // 2].set_xlabel("relative time")
    type_name, op = scan_of(cases)
    return shown(
        data, drawn,
        "Time of `look_ahead` with one change, over that of the unchanged kernel; above 1 is "
        f"slower. Inclusive {scan_words(op)} of {items_words(type_name)}, cold cache, stream "
        "launches. States at once: it asks for all groups at once, at every size. Arrival per "
        "lane: every lane arrives at barriers. The last two rows are other scans. Bars: 95% "
        "intervals.",
        cases, scanned=(type_name, op),
    )  # fmt: skip


# ------------------------------------------------------------------------------ shapes of CUB

LOOK_AHEAD, LOOK_BACK, SHIPPED = "look-ahead", "look-back", "as shipped"


def shape_cases(data: Data) -> pd.DataFrame:
    """The shapes that CUB was tuned among for sums, beside CUB as shipped and a copy."""
    for _, _, rows in by_device(data, "scan", ("tuning",)):
        rows = pick(rows, op="plus")
        if rows["variant"].isin(data.variants.ids(SHAPES)).any():
            return summarise(answering(data, rows), CASE)
    raise Lacking("times of the shapes that a rival was tuned among for sums on a CUDA device")


def by_shape(data: Data, cases: pd.DataFrame) -> pd.DataFrame:
    """`type`, `items`, `algorithm`, `kib`, `ratio`, `tuned`: a copy's time over that of each shape,
    cold and from a stream, at the sizes where all were timed. `algorithm`: LOOK_AHEAD or
    LOOK_BACK, or SHIPPED, the fastest as shipped. `tuned`: the fastest of the few that were left."""
    cases = pick(cases, cache="cold", launch="stream")
    is_shape = cases["variant"].isin(data.variants.ids(SHAPES))
    by = ["type", "variant", "settings"]
    sizes = cases[is_shape].groupby(by)["items"].transform("nunique").reindex(cases.index)
    left = is_shape & (sizes > sizes.groupby(cases["type"]).transform("min"))
    rows = []
    for (type_name, n), here in cases.groupby(["type", "items"], sort=False):
        time = here.set_index("variant")["median_ns"]
        shapes, finalists = here[is_shape[here.index]], here[left[here.index]]
        if CEILING not in time.index or len(shapes) == len(finalists):
            continue
        tuned = finalists["median_ns"].idxmin() if len(finalists) else None
        for row in shapes.itertuples():
            algorithm, items = _shape(data, row.variant, row.settings)
            kib = ideal_bytes(type_name, items) / 2 / 1024
            share = time[CEILING] / row.median_ns
            rows.append((type_name, n, algorithm, kib, share, row.Index == tuned))
        shipped = here[here["variant"].isin(cub_as_shipped(data)) & ~is_shape[here.index]]
        for ns in shipped["median_ns"].nsmallest(1):
            rows.append((type_name, n, SHIPPED, np.nan, time[CEILING] / ns, False))
    columns = ["type", "items", "algorithm", "kib", "ratio", "tuned"]
    by_width = lambda c: c.map(lambda t: (ELEMENT_BYTES[t], t)) if c.name == "type" else c
    frame = pd.DataFrame(rows, columns=columns)
    return frame.sort_values(["type", "items"], key=by_width, kind="stable")


def _shape(data: Data, variant: str, settings: str) -> tuple[str, int]:
    """The algorithm, and the items that a block takes at once."""
    values = data.variants[variant].defaults | data.settings[settings]
    number = {name: int(value) for name, value in values.items() if value.isdigit()}
    if "warps" in number:
        return LOOK_AHEAD, 32 * number["warps"] * number["items"]
    return LOOK_BACK, number["threads"] * number["items"]


@figure("cub_shapes", wide=True)
def cub_shapes(data: Data) -> Shown:
    """Speed of CUB in each configuration that tuning tried for sums of integers: share of a copy, by tile size; the star is cub_tuned."""
    cases = shape_cases(data)
    rows = by_shape(data, cases)
    columns = list(rows.groupby("type", sort=False))
    most = max(own["items"].nunique() for _, own in columns)
    drawn, axes = style.figure(style.DOUBLE, 0.3 + 1.05 * most, len(columns), most, sharex=True,
                               sharey=True)  # fmt: skip
    for column, (type_name, own) in enumerate(columns):
        panels, sizes = axes[column :: len(columns)], list(own.groupby("items"))
        for panel in panels[: most - len(sizes)]:
            panel.set_axis_off()
        for panel, (n, here) in zip(panels[most - len(sizes) :], sizes, strict=True):
            _shapes(panel, here)
            panel.set_title(f"{type_name}, $n$ = {style.power_of_two(n)}")
    for panel in axes[-len(columns) :]:
        panel.set_xlabel("tile, KiB")
    for panel in axes[:: len(columns)]:
        panel.set_ylabel("share of a copy")
    handles, labels = axes[-1].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside upper right", ncols=len(labels), borderpad=0)
    return shown(
        data, drawn,
        "Speed of CUB's sums as a share of a device copy, against tile size. Columns are types, "
        "rows sizes, the largest at the bottom: inclusive scans, cold cache, stream launches. Each "
        "mark is one configuration of look-back or look-ahead. The line, as shipped, is the "
        "fastest untuned CUB, the star `cub_tuned`. There are no error bars.",
        cases,
    )  # fmt: skip


def _shapes(panel: Axes, rows: pd.DataFrame) -> None:
    for algorithm, colour, marker in ((LOOK_BACK, style.GREY, "o"), (LOOK_AHEAD, style.BLUE, "^")):
        own = pick(rows, algorithm=algorithm)
        panel.plot(own["kib"], own["ratio"], label=algorithm, alpha=0.6,
                   **style.Look(colour, marker, "").plot() | {"markersize": 3.5})  # fmt: skip
    for ratio in pick(rows, algorithm=SHIPPED)["ratio"][:1]:
        panel.axhline(ratio, color=style.BLACK, linewidth=1, label=SHIPPED)
    tuned = rows[rows["tuned"]]
    panel.plot(tuned["kib"], tuned["ratio"], "*", color=style.VERMILLION, markersize=8,
               label="tuned", zorder=4)  # fmt: skip
    panel.set_xlim(0, 50)
    panel.set_ylim(0, 1)


# ------------------------------------------------------------------------------------- waiting

ROLES = ("load", "reduce", "look ahead", "tell", "scan", "block")
"""In the order in which a tile meets them."""
NAMED = ("variant", "items", "type", "tile", "rank", "role")


def wait_rows(data: Data, several: bool = False) -> pd.DataFrame:
    """Cycles of a kernel on one GPU, or on each of several."""
    rows = data["waits"]
    of_ranks = rows.get("rank", pd.Series(np.nan, rows.index)).notna()
    where = " on each of several GPUs" if several else ""
    return origin_first(data, rows[of_ranks == several], f"cycles spent waiting{where}")


def wait_shares(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per variant, size, role and rank: the columns of NAMED, one for each thing waited
    for, and `rest`; all are shares of the role's cycles. `tile` is in KiB."""
    order = {role: place for place, role in enumerate(ROLES)}
    place = rows["role"].map(order).fillna(len(ROLES))
    rows = rows.assign(place=place).sort_values(["variant", "items", "place"], kind="stable",
                                                ignore_index=True)  # fmt: skip
    columns = [column for column in rows.columns if column.startswith(WAITING)]
    found = pd.DataFrame({column.removeprefix(WAITING): rows[column].fillna(0)
                          / rows["cycles_total"] for column in columns})  # fmt: skip
    found["rest"] = (1 - found.sum(axis=1)).clip(lower=0)
    return found.assign(**{name: rows.get(name, np.nan) for name in NAMED})


def wait_kinds(found: pd.DataFrame) -> list[str]:
    """What is waited for, in what `wait_shares` found."""
    return [column for column in found.columns if column not in (*NAMED, "rest")]


_FILLS = {"data": ("#BBBBBB", ""), "prefix": (style.VERMILLION, "////"),
          "store": (style.BLUE, "...."), "free": (style.SKY, "\\\\\\\\"),
          "reduced": (style.GREEN, "xxxx")}  # fmt: skip
"""Colour and hatch of what is waited for, so that no two differ by colour alone."""


def stack_shares(axes: Axes, heights: pd.Series, rows: pd.DataFrame, kinds: Sequence[str]) -> None:
    """The bar of each row: a part for each of `kinds`, and the rest."""
    before = pd.Series(0.0, index=rows.index)
    spare = iter([(style.PURPLE, "----"), (style.ORANGE, "||||"), (style.GREY, "++++")] * 4)
    for kind in (*kinds, "rest"):
        colour, hatch = ("white", "") if kind == "rest" else _FILLS.get(kind) or next(spare)
        axes.barh(heights, rows[kind], left=before, height=0.7, color=colour, hatch=hatch,
                  edgecolor=style.BLACK, linewidth=0.5,
                  label=kind if kind == "rest" else f"stall: {kind}")  # fmt: skip
        before += rows[kind]
    axes.set_ylim(heights.iloc[-1] + 0.6, heights.iloc[0] - 0.6)
    axes.set_xlim(0, 1)
    axes.grid(axis="y", visible=False)


@figure("cycles")
def prefix_wait(data: Data) -> Shown:
    """Stall cycles of each warp role of look_ahead by cause: data from memory, sums of the same tile, earlier aggregates, or stores."""
    waits = wait_rows(data)
    rows = wait_shares(waits)
    groups = rows.groupby(["variant", "items"], sort=False).ngroup()
    height = rows.index + 0.5 * groups  # a gap between groups
    drawn, (axes,) = style.figure(style.COLUMN, 0.75 + 0.17 * height.iloc[-1])
    stack_shares(axes, height, rows, wait_kinds(rows))
    several = {name: rows[name].nunique() > 1 for name in ("variant", "type")}
    tiled = rows.groupby("variant")["tile"].nunique().max() > 1
    names = [f"{f'{row.variant}, ' if several['variant'] else ''}"
             f"{f'{row.tile:g} KiB, ' if tiled and pd.notna(row.tile) else ''}"
             f"{f'{row.type}, ' if several['type'] else ''}"
             f"{style.power_of_two(row.items)}: {row.role}" for row in rows.itertuples()]  # fmt: skip
    axes.set_yticks(height, names)
    variants = rows["variant"].unique()
    of = f", {variants[0]}" if len(variants) == 1 else ""
    axes.set_xlabel(f"share of cycles{of}")
    drawn.legend(loc="outside upper right", ncols=3, columnspacing=0.8, handlelength=1.4,
                 borderpad=0)  # fmt: skip
    return shown(
        data, drawn,
        "Stall cycles of each warp role as a share of its cycles, by clocks in the kernel. Data: "
        "items from memory, or the load warp's limit on loads. Reduced: sums of the same tile. "
        "Prefix: aggregates of earlier tiles. Store: a free stage, or results leaving shared "
        "memory. The rest is work and other stalls. One run, so no bars.",
        waits,
    )  # fmt: skip


# ---------------------------------------------------------------------------------- DRAM bytes


def dram_over_items(data: Data) -> tuple[pd.DataFrame, pd.DataFrame]:
    """`variant`, `items`, `read`, `moved`: DRAM bytes over the bytes of n items, 32-bit sums,
    default settings; and the launches."""
    launches = origin_first(data, data["traffic"], "DRAM bytes from hardware counters")
    by = ["variant", "settings", "type", "op", "mode", "items"]
    summed = launches.groupby(by, sort=True)[["dram_bytes_read", "dram_bytes_written"]].sum()
    rows = pick(summed.reset_index(), settings="", type="i32", op="plus")
    rows = rows.drop_duplicates(["variant", "items"], keep="last")
    once, both = 4 * rows["items"], rows["dram_bytes_read"] + rows["dram_bytes_written"]
    frame = pd.DataFrame({"variant": rows["variant"], "items": rows["items"].astype(int),
                          "read": rows["dram_bytes_read"] / once, "moved": both / once})  # fmt: skip
    return frame, launches


@figure("traffic")
def dram_traffic(data: Data) -> Shown:
    """DRAM bytes of one scan over the bytes of its items, from hardware counters."""
    rows, launches = dram_over_items(data)
    about = data.variants
    device = data.files[launches["file"].iloc[0]].device
    l2 = max((int(file.context.get("l2_bytes") or 0) for file in data.files
              if file.device == device), default=0)  # fmt: skip
    drawn, (reads, both) = style.figure(style.DOUBLE, 2.2, 2)
    variants = [v for v in dict.fromkeys(rows["variant"])
                if OWN.has(about[v]) or v in (VENDOR, NEWEST_VENDOR)]  # fmt: skip
    for panel, column, title in ((reads, "read", "reads"), (both, "moved", "reads and writes")):
        style.items_axis(panel, rows["items"])
        panel.set_title(title)
        ends = []
        for variant in variants:
            own, drawn_as = pick(rows, variant=variant).sort_values("items"), look(variant, about)
            panel.plot(own["items"], own[column], **drawn_as.plot())
            last = own.iloc[-1]
            ends.append(style.End(about[variant].label, drawn_as, last["items"], last[column]))
        top = 4.3 if column == "moved" else 2.3
        panel.set_ylim(0, max(top, 1.05 * float(rows[column].max())))
        if l2:
            panel.axvline(l2 / 4, color=style.GREY, linewidth=0.8, linestyle=":")
        if column == "moved":
            style.margin_legend(panel, ends)
    for level in (2, 3, 4):
        both.axhline(level, color=style.GREY, linewidth=0.8)
        both.annotate(f"{level}$n$", (0, level), xycoords=("axes fraction", "data"),
                      xytext=(2, 1), textcoords="offset points", fontsize=7)  # fmt: skip
    for level in (1, 2):
        reads.axhline(level, color=style.GREY, linewidth=0.8)
    reads.set_ylabel("DRAM bytes / bytes of $n$ items")
    return shown(
        data, drawn,
        "DRAM bytes of one scan over the bytes of its n items, counted by the hardware (ncu), "
        "against array size. Left: reads. Right: reads and writes, beside 2n, 3n and 4n. Accesses "
        "that hit L2 do not count; the vertical line marks n items as large as L2. One run each, "
        "so no bars.",
        launches,
    )  # fmt: skip


# ------------------------------------------------------------------------- counts, bank conflicts

PADDINGS = {"none": "none", "one_in_16": "one in 16", "two_level_16": "two levels, 16 banks",
            "row": "row of 32 banks", "two_level": "two levels, 32 banks"}  # fmt: skip
"""Each padding in words."""
PADDED = Group("a scan that pads shared memory", lambda about: "padding" in about.defaults)


def counts(data: Data, variants: Sequence[str] = (), op: str = "plus") -> pd.DataFrame:
    """Emulator counts of some variants, all if none is named: counted now, else recorded."""
    for origin in (MEASURED, RECORDED):
        rows = pick(data.rows("counts", lambda file: file.origin == origin), op=op)  # noqa: B023
        rows = pick(rows, variant=list(variants)) if variants else rows
        if len(rows):
            return rows
    named = f" of {' or '.join(variants)}" if variants else ""
    raise Lacking(f"counts of the SIMT emulator{named}")


def padded_of(rows: pd.DataFrame) -> dict[str, str]:
    """Variants that pad, by what they are without padding; both were counted."""
    named = rows.drop_duplicates("variant").sort_values("variant")
    counted, pairs = set(named["variant"]), zip(named["unpadded"], named["variant"], strict=True)
    return {bare: padded for bare, padded in pairs if bare != padded and bare in counted}


def _usual_load(rows: pd.DataFrame) -> pd.Series:
    return rows["load"].isin(("", "halves"))


def one_per_padding(rows: pd.DataFrame) -> pd.DataFrame:
    """One case per padding, in the order of PADDINGS: one type, mode and size, the largest."""
    order = {padding: place for place, padding in enumerate(PADDINGS)}
    ranked = rows.assign(i32=rows["type"] == "i32", usual=_usual_load(rows),
                         inclusive=rows["mode"] == "inclusive",
                         place=rows["padding"].map(order).fillna(len(order)))  # fmt: skip
    keys = ["i32", "items", "inclusive", "usual"]
    best = ranked.sort_values(keys, ascending=False, kind="stable").iloc[0]
    same = pick(ranked, type=best["type"], mode=best["mode"], items=best["items"])
    same = same.sort_values("usual", kind="stable").drop_duplicates("padding", keep="last")
    return same.sort_values(["place", "padding"], kind="stable", ignore_index=True)


def usual_counts(rows: pd.DataFrame) -> pd.DataFrame:
    """One case per variant and size: 32-bit integers, default settings, the mode that costs least.
    None of `best`: on the emulator it is its fallback, which has a row of its own."""
    rows = rows[rows["variant"] != BEST]
    pads = rows["unpadded"] != rows["variant"]
    ranked = rows.assign(i32=rows["type"] == "i32", usual_load=_usual_load(rows),
                         usual=rows["padding"] == np.where(pads, "two_level", "none"),
                         cost=[-content.totals.operations for content in rows["content"]],
                         inclusive=rows["mode"] == "inclusive")  # fmt: skip
    keys = ["i32", "usual", "usual_load", "cost", "inclusive"]
    ranked = ranked.sort_values(keys, kind="stable")
    return ranked.drop_duplicates(["variant", "items"], keep="last").drop(columns=keys)


def worst_degrees(content: Any, model: str) -> list[float]:
    """The worst degree of each tree step under a bank model (`banks16` or `banks32`)."""
    return [float(getattr(step.shared, model).max_degree) for step in content.tree_steps()]


@figure("explain", wide=True)
def bank_conflicts(data: Data) -> Shown:
    """Degree of the bank conflicts in each step of the tree, by padding, for the 16 banks of 2007 and the 32 of today."""
    rows = counts(data, ("hso_block", "hso_block_padded"))
    chosen = one_per_padding(rows)
    models = (("banks16", "16 banks per half-warp (2007)"),
              ("banks32", "32 banks per warp (today)"))  # fmt: skip
    height = 0.75 + 0.46 * len(chosen)
    drawn, panels = style.figure(style.DOUBLE, height, rows=len(models), sharex=True)
    for panel, (model, name) in zip(panels, models, strict=True):
        _degrees(panel, chosen, model, name)
    steps = chosen["content"][0].tree_steps()
    panels[-1].set_xticks(range(len(steps)), [str(step.number) for step in steps])
    up = sum(step.name == "up-sweep" for step in steps)
    for number, start, name in ((up, 0, "up-sweep"), (len(steps) - up, up, "down-sweep")):
        if number:
            centre = (start + number / 2) / len(steps)
            panels[-1].annotate(f"{name}, by stride →", (centre, 0), xycoords="axes fraction",
                                xytext=(0, -19), textcoords="offset points", ha="center",
                                va="top", fontsize=8.5)  # fmt: skip
    return shown(
        data, drawn,
        "Bank-conflict degree of each tree step of the one-block work-efficient scan, counted by "
        "the SIMT emulator: the most wavefronts that one shared-memory request takes. Columns: "
        "strides of the up-sweep, then of the down-sweep. Rows: the padding added to index i. "
        "Degree 1 is free of conflicts; darker is worse. Exact counts, so no bars.",
        rows,
    )  # fmt: skip


def _formula(padding: str, type_name: str) -> str:
    """What a padding adds to index i; banks are 4 bytes wide."""
    row16, row32 = (4 * banks // ELEMENT_BYTES[type_name] for banks in (16, 32))
    return {"none": "none", "one_in_16": "$i/16$", "row": f"$i/{row32}$",
            "two_level_16": f"$i/{row16} + i/{row16}^2$",
            "two_level": f"$i/{row32} + i/{row32}^2$"}.get(padding, padding)  # fmt: skip


def _degrees(axes: Axes, chosen: pd.DataFrame, model: str, name: str) -> None:
    values = np.array([worst_degrees(content, model) for content in chosen["content"]])
    axes.imshow(np.maximum(values, 1), aspect="auto", cmap="Blues", norm=LogNorm(0.8, 48),
                interpolation="nearest")  # fmt: skip
    for (row, column), value in np.ndenumerate(values):
        axes.text(column, row, f"{value:g}" if value else "·", ha="center", va="center_baseline",
                  fontsize=7.5, color="white" if value >= 12 else "black")  # fmt: skip
    first = chosen.iloc[0]
    names = [_formula(row.padding, row.type) for row in chosen.itertuples()]
    axes.set_yticks(range(len(chosen)), names)
    axes.set_title(f"{name}; {first['type']}, $n$ = {style.power_of_two(first['items'])}")
    axes.grid(visible=False)
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.axvline(values.shape[1] / 2 - 0.5, color="white", linewidth=2.5)


@figure("scans", "explain", follows=("type", "op"))
def padding(data: Data) -> Shown:
    """Speedup of the tree by padding, measured, beside the bank conflicts that padding removes, counted: below 1 padding costs time."""
    cases = scans(data, types=ANY_TYPE, any_of=(PADDED,))
    rows = counts(data)
    pairs = padded_of(rows)
    if not pairs:
        raise Lacking("counts of the SIMT emulator of scans with and without padding")
    drawn, (left, right) = style.figure(style.DOUBLE, 2.4, 2, width_ratios=[1.25, 1])
    cache, items = caches(cases)[0], [1, 2]
    for bare, variant in pairs.items():
        own, drawn_as = shares(cases, variant, bare, cache), look(variant, data.variants)
        if len(own):
            left.plot(own["items"], own["ratio"], label=bare, **drawn_as.plot())
            style.ratio_bars(left, own, drawn_as.colour)
            items = [n for n in items if n > 2] + own["items"].tolist()
    style.items_axis(left, items)
    left.axhline(1, color=style.BLACK, linewidth=0.6)
    left.set_ylabel("time, unpadded / padded")
    left.set_title(f"measured ({cache} cache)")
    low, high = left.get_ylim()
    left.set_ylim(low, high + 0.15 * (high - low))
    left.legend(loc="upper right", ncols=len(pairs), borderaxespad=0.2)
    _padded_counts(right, data, usual_counts(rows), pairs)
    type_name, op = scan_of(cases)
    members = [variant for pair in pairs.items() for variant in pair]
    return shown(
        data, drawn,
        "Left: time without padding over time with padding of each work-efficient scan, against "
        f"array size: inclusive {scan_words(op)} of {items_words(type_name)}, stream launches. "
        "Above 1, padding pays. Right: mean wavefronts per shared-memory request, counted by the "
        "SIMT emulator; the worst step in brackets. Bars: 95% intervals.",
        cases, pick(rows, variant=members), scanned=(type_name, op),
    )  # fmt: skip


def _padded_counts(axes: Axes, data: Data, usual: pd.DataFrame, pairs: dict[str, str]) -> None:
    largest = usual.sort_values("items", kind="stable").drop_duplicates("variant", keep="last")
    largest = largest.set_index("variant")
    names, top = [], 1.0
    for height, (bare, padded) in enumerate(reversed(pairs.items())):
        drawn_as = look(padded, data.variants)
        banks = [largest.at[v, "content"].totals.banks32 for v in (padded, bare)]
        axes.plot([b.mean_degree for b in banks], [height, height], color=drawn_as.colour,
                  linewidth=1.0, zorder=1)  # fmt: skip
        for bank, filled in zip(banks, (True, False), strict=True):
            axes.plot(bank.mean_degree, height, linestyle="none", marker=drawn_as.marker,
                      markersize=5, color=drawn_as.colour, zorder=2,
                      markerfacecolor=drawn_as.colour if filled else "white")  # fmt: skip
            axes.annotate(f"{bank.mean_degree:.2f} ({bank.max_degree:g})",
                          (bank.mean_degree, height), xytext=(0, 6),
                          textcoords="offset points", ha="center", fontsize=7)  # fmt: skip
        top = max(top, *(bank.mean_degree for bank in banks))
        names.append(f"{bare}\n$n$ = {style.power_of_two(largest.at[bare, 'items'])}")
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(-0.5, len(names) - 0.35)
    span = max(top - 1, 0.5)
    axes.set_xlim(1 - 0.16 * span, top + 0.16 * span)
    axes.set_xlabel("wavefronts per request (filled: padded)")
    axes.set_title("counted, 32 banks")
    axes.grid(axis="y", visible=False)


@table("explain")
def costs(data: Data) -> Shown:
    """Cost of one scan: additions, swaps, barriers and bytes, beside the closed forms."""
    rows = counts(data)
    usual = usual_counts(rows)
    if usual.empty:
        raise Lacking("counts of other variants than best")
    variants_at = Counter(usual["items"])
    common = max(variants_at, key=lambda n: (variants_at[n], n))
    chosen = pick(usual, items={common, max(variants_at)}).sort_values(["items", "variant"])
    columns = (
        Column("variant", "variant", code, right=False), Column("mode", "mode", right=False),
        Column("items", "n", size), Column("launches", "launches", whole),
        Column("operations", "counted", whole, group="additions"),
        Column("operations_closed_form", "closed form", whole, group="additions"),
        Column("swaps", "counted", whole, group="swaps"),
        Column("swaps_closed_form", "closed form", whole, group="swaps"),
        Column("barriers", "barriers", whole),
        Column("global_bytes_per_item", "bytes/item", significant),
        Column("worst_degree", "worst degree", whole),
    )  # fmt: skip
    caption = (
        "Cost of one scan, counted by the SIMT emulator beside the closed forms of the sources, in "
        "the cheaper mode of each variant. Barriers are those of one block, summed over launches. "
        "The degree is the worst bank conflict for 32 banks. A dash: no closed form, or no shared "
        "memory."
    )
    made = pd.DataFrame([cost(content) for content in chosen["content"]])
    return shown(data, Table(caption, columns, made), caption, rows)


def cost(content: Any) -> dict[str, Any]:
    """The costs of one case by the column's name."""
    totals, forms = content.totals, content.closed_forms
    moved = float(totals.global_bytes_read + totals.global_bytes_written)
    launches = len(content.launches) if totals.launches is UNSET else totals.launches
    return {
        "variant": content.variant, "mode": content.mode, "items": content.items,
        "launches": launches, "operations": totals.operations,
        "operations_closed_form": forms.operations, "swaps": totals.swaps,
        "swaps_closed_form": forms.swaps, "barriers": totals.barriers,
        "global_bytes_per_item": moved / max(content.items, 1),
        "worst_degree": totals.banks32.max_degree or None,
    }  # fmt: skip


def disagreements(data: Data) -> list[str]:
    """One sentence for each count that is not what the variant's closed form states."""
    sentences = []
    for row in data["counts"].itertuples():
        for key in ("operations", "swaps"):
            stated = getattr(row.content.closed_forms, key)
            counted = getattr(row.content.totals, key)
            if stated is not None and stated != counted:
                case = f"{row.variant}, {row.mode}, {row.items} items"
                sentences.append(f"{data.files[row.file].path}: {case}: {counted} {key} were "
                                 f"counted, the closed form says {stated}")  # fmt: skip
    return sentences


# -------------------------------------------------------------------- emulator beside the hardware

QUANTITIES = {"transactions": "wavefronts", "conflicts": "bank conflicts"}


def both_counted(data: Data) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """One row per case counted by emulator and hardware: `transactions` and `conflicts` of both,
    summed over launches; the launches, and the counts."""
    return data.once("both counted", lambda: _both_counted(data))


def _both_counted(data: Data) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    for origin in (MEASURED, RECORDED):
        launches = data.rows("counters", lambda file: file.origin == origin)  # noqa: B023
        named = set(zip(launches["variant"], launches["items"], strict=True))
        rows = data["counts"]
        pairs = zip(rows["variant"], rows["items"], strict=True)
        rows = rows[[pair in named for pair in pairs]]
        rows = rows[[bool(_same_case(row, launches).any()) for row in rows.itertuples()]]
        if len(rows):
            origins = rows["file"].map(lambda number: data.files[number].origin)
            rows = rows[origins == min(origins)]
            return _compared(launches, rows), launches, rows
    raise Lacking("hardware bank-conflict counters with counts of the SIMT emulator for the same "
                  "cases")  # fmt: skip


def _same_case(row: Any, launches: pd.DataFrame) -> pd.Series:
    """The launches of the case that was counted."""
    same = pd.Series(True, index=launches.index)
    for column in ("variant", "padding", "type", "op", "items", "mode", "load"):
        if column in launches:
            values = launches[column]
            same &= (values == getattr(row, column)) | values.isna()
    return same


def _compared(launches: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    found: dict[tuple[int, ...], dict[str, Any]] = {}
    ranked = rows.assign(usual=_usual_load(rows), inclusive=rows["mode"] == "inclusive")
    ranked = ranked.sort_values(["usual", "inclusive"], ascending=False, kind="stable")
    for row in ranked.itertuples():
        totals, own = row.content.totals, launches[_same_case(row, launches)]
        transactions = totals.banks32.transactions
        if own.empty or transactions == 0:
            continue
        groups = totals.banks32.groups
        groups = totals.shared_requests if groups is UNSET else groups
        hardware = {what: int(own[f"shared_load_{what}"].sum() + own[f"shared_store_{what}"].sum())
                    for what in ("wavefronts", "conflicts")}  # fmt: skip
        # Counters that do not tell two cases apart go with the more usual one.
        found.setdefault(tuple(own.index), {
            "variant": row.variant, "base": row.unpadded, "padding": row.padding,
            "load": row.load or "halves", "mode": row.mode, "type": row.type, "items": row.items,
            "transactions_emulator": transactions,
            "transactions_hardware": hardware["wavefronts"],
            "conflicts_emulator": transactions - groups,
            "conflicts_hardware": hardware["conflicts"],
        })  # fmt: skip
    order = {name: place for place, name in enumerate(PADDINGS)}
    keys = {"type": lambda c: c.map(lambda kind: (ELEMENT_BYTES[kind], kind)),
            "padding": lambda c: c.map(order).fillna(len(order))}  # fmt: skip
    return pd.DataFrame(found.values()).sort_values(
        ["type", "items", "base", "load", "padding"], ignore_index=True,
        key=lambda c: keys[c.name](c) if c.name in keys else c)  # fmt: skip


@figure("counters", "explain")
def hardware_conflicts(data: Data) -> Shown:
    """Shared-memory wavefronts and bank conflicts: SIMT emulator against hardware counters, by variant and padding."""
    rows, launches, counted = both_counted(data)
    drawn, panels = style.figure(style.COLUMN, 2.65, columns=len(QUANTITIES))
    for panel, (quantity, name) in zip(panels, QUANTITIES.items(), strict=True):
        _emulator_panel(panel, rows, quantity, name)
    panels[0].set_ylabel("hardware (ncu)")
    types = list(dict.fromkeys(rows["type"]))
    handles = [_mark(p, True, PADDINGS[p]) for p in _MARKS if p in set(rows["padding"])]
    handles += [_mark("none", kind == types[0],
                      f"{kind}: {'filled' if kind == types[0] else 'hollow'}")
                for kind in types]  # fmt: skip
    drawn.legend(handles=handles, loc="outside upper left", ncols=3, columnspacing=0.8,
                 handletextpad=0.1, borderpad=0)  # fmt: skip
    return shown(
        data, drawn,
        "Wavefronts of one scan in shared memory, and the bank conflicts among them: hardware "
        "counters (ncu) against the SIMT emulator. Each point is one case: a variant, size, type, "
        "padding and kind of load. Points on the line agree exactly. One run each, so no bars.",
        launches, counted,
    )  # fmt: skip


_MARKS = {"none": (style.BLACK, "o"), "one_in_16": (style.VERMILLION, "^"),
          "two_level_16": (style.PURPLE, "v"), "row": (style.SKY, "s"),
          "two_level": (style.GREEN, "D")}  # fmt: skip


def _mark(padding_: str, filled: bool, label: str = "") -> Line2D:
    colour, marker = _MARKS.get(padding_, (style.GREY, "x"))
    return Line2D([], [], linestyle="none", marker=marker, markersize=4.5, color=colour,
                  label=label, zorder=2, markerfacecolor=colour if filled else "none",
                  markeredgewidth=0.9)  # fmt: skip


def _emulator_panel(axes: Axes, rows: pd.DataFrame, quantity: str, name: str) -> None:
    emulator, hardware = rows[f"{quantity}_emulator"], rows[f"{quantity}_hardware"]
    linear = bool((emulator == 0).any() or (hardware == 0).any())  # conflicts may be none
    for set_scale in (axes.set_xscale, axes.set_yscale):
        set_scale("symlog", linthresh=10, linscale=0.5) if linear else set_scale("log")
    top = 2.0 * max(emulator.max(), hardware.max())
    bottom = -5 if linear else 0.5 * min(emulator.min(), hardware.min())
    axes.plot([bottom, top], [bottom, top], color=style.GREY, linewidth=0.8, zorder=1)
    first = rows["type"].iloc[0]
    for row, x, y in zip(rows.itertuples(), emulator, hardware, strict=True):
        mark = _mark(row.padding, row.type == first)
        axes.add_line(mark)
        mark.set_data([x], [y])
    axes.set_xlim(bottom, top)
    axes.set_ylim(bottom, top)
    style.power_axis(axes.xaxis)
    style.power_axis(axes.yaxis)
    axes.set_title(name)
    same = int((emulator == hardware).sum())
    axes.text(0.04, 0.95, f"{same} of {len(rows)}\nequal", transform=axes.transAxes, ha="left",
              va="top", fontsize=7.5)  # fmt: skip
    axes.set_xlabel("SIMT emulator")


@table("counters", "explain", name="hardware_conflicts")
def hardware_conflicts_table(data: Data) -> Shown:
    """Shared-memory wavefronts and bank conflicts: SIMT emulator beside hardware counters."""
    cases, launches, counted = both_counted(data)
    case = ["variant", "padding", "load", "mode", "items"]
    rows = cases[case].drop_duplicates(ignore_index=True)
    columns = [
        Column("variant", "variant", code, right=False),
        Column("padding", "padding", lambda v: PADDINGS.get(v, v), right=False),
        Column("load", "loads", right=False), Column("items", "n", size),
    ]  # fmt: skip
    for kind in dict.fromkeys(cases["type"]):
        for quantity, name in QUANTITIES.items():
            for who, heading in (("emulator", "emulator"), ("hardware", "ncu")):
                key = f"{quantity}_{who}"
                own = pick(cases, type=kind).set_index(case)[key].rename(f"{key}_{kind}")
                rows = rows.join(own, on=case)
                columns.append(Column(f"{key}_{kind}", heading, whole, group=f"{kind} {name}"))
    caption = (
        "Shared-memory wavefronts and bank conflicts of one scan: SIMT emulator with 32 banks "
        "beside hardware counters (ncu). A conflict is a wavefront beyond the first of each group "
        "of threads served together."
    )
    return shown(data, Table(caption, columns, rows), caption, launches, counted)


