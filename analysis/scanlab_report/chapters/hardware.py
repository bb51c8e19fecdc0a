"""Waiting cycles and DRAM bytes, counted by the hardware."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from scanlab_report import marks, style
from scanlab_report.data import Data
from scanlab_report.groups import NEWEST_VENDOR, OWN, VENDOR
from scanlab_report.looks import look
from scanlab_report.pick import origin_first, pick
from scanlab_report.shown import Shown, figure, shown
from scanlab_report.tables import WAITING

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
    """Return one row per variant, size, role and rank: the columns of NAMED, one column per cause
    of waiting, and `rest`. All are shares of the cycles of the role. `tile` is in KiB."""
    place = rows["role"].map({role: place for place, role in enumerate(ROLES)})
    rows = rows.assign(place=place.fillna(len(ROLES)))
    rows = rows.sort_values(["variant", "items", "place"], kind="stable", ignore_index=True)
    cycles = rows.filter(regex=f"^{WAITING}").fillna(0).div(rows["cycles_total"], axis=0)
    shares = cycles.rename(columns=lambda column: column.removeprefix(WAITING))
    shares["rest"] = (1 - shares.sum(axis=1)).clip(lower=0)
    return shares.assign(**{name: rows.get(name, np.nan) for name in NAMED})


def wait_kinds(shares: pd.DataFrame) -> list[str]:
    """Return the causes of waiting among the columns of `wait_shares`."""
    return [column for column in shares.columns if column not in (*NAMED, "rest")]


_FILLS = {
    "data": ("#BBBBBB", ""),
    "prefix": (style.VERMILLION, "////"),
    "store": (style.BLUE, "...."),
    "free": (style.SKY, "\\\\\\\\"),
    "reduced": (style.GREEN, "xxxx"),
}
"""Colour and hatch of each cause of waiting, so that no two differ by colour alone."""


def stack_shares(axes: Axes, heights: pd.Series, rows: pd.DataFrame, kinds: Sequence[str]) -> None:
    """Draw a bar per row, with a part for each of `kinds` and one for the rest."""
    before = pd.Series(0.0, index=rows.index)
    spare = iter([(style.PURPLE, "----"), (style.ORANGE, "||||"), (style.GREY, "++++")] * 4)
    for kind in (*kinds, "rest"):
        colour, hatch = ("white", "") if kind == "rest" else _FILLS.get(kind) or next(spare)
        axes.barh(
            heights,
            rows[kind],
            left=before,
            height=0.7,
            color=colour,
            hatch=hatch,
            edgecolor=style.BLACK,
            linewidth=0.5,
            label=kind if kind == "rest" else f"stall: {kind}",
        )
        before += rows[kind]
    axes.set_ylim(heights.iloc[-1] + 0.6, heights.iloc[0] - 0.6)
    axes.set_xlim(0, 1)
    axes.grid(axis="y", visible=False)


@figure("cycles")
def prefix_wait(data: Data) -> Shown:
    """Stall cycles of each warp role of look_ahead by cause: data from memory, sums of the same
    tile, earlier aggregates, or stores."""
    waits = wait_rows(data)
    rows = wait_shares(waits)
    groups = rows.groupby(["variant", "items"], sort=False).ngroup()
    height = rows.index + 0.5 * groups  # a gap between groups
    drawn, (axes,) = style.figure(style.COLUMN, 0.75 + 0.17 * height.iloc[-1])
    stack_shares(axes, height, rows, wait_kinds(rows))
    several = {name: rows[name].nunique() > 1 for name in ("variant", "type")}
    tiled = rows.groupby("variant")["tile"].nunique().max() > 1
    names = [
        f"{f'{row.variant}, ' if several['variant'] else ''}"
        f"{f'{row.tile:g} KiB, ' if tiled and pd.notna(row.tile) else ''}"
        f"{f'{row.type}, ' if several['type'] else ''}"
        f"{marks.power_of_two(row.items)}: {row.role}"
        for row in rows.itertuples()
    ]
    axes.set_yticks(height, names)
    variants = rows["variant"].unique()
    suffix = f", {variants[0]}" if len(variants) == 1 else ""
    axes.set_xlabel(f"share of cycles{suffix}")
    drawn.legend(
        loc="outside upper right", ncols=3, columnspacing=0.8, handlelength=1.4, borderpad=0
    )
    return shown(
        data,
        drawn,
        "Stall cycles of each warp role as a share of its cycles, by clocks in the kernel. Data: "
        "items from memory, or the load warp's limit on loads. Reduced: sums of the same tile. "
        "Prefix: aggregates of earlier tiles. Store: a free stage, or results leaving shared "
        "memory. The rest is work and other stalls. One run, so no bars.",
        waits,
    )


# ---------------------------------------------------------------------------------- DRAM bytes


def dram_over_items(data: Data) -> tuple[pd.DataFrame, pd.DataFrame]:
    """`variant`, `items`, `read`, `moved`: DRAM bytes over the bytes of n items, 32-bit sums,
    default settings; and the launches."""
    launches = origin_first(data, data["traffic"], "DRAM bytes from hardware counters")
    by = ["variant", "settings", "type", "op", "mode", "items"]
    rows = launches.groupby(by)[["dram_bytes_read", "dram_bytes_written"]].sum().reset_index()
    rows = pick(rows, settings="", type="i32", op="plus")
    rows = rows.drop_duplicates(["variant", "items"], keep="last").astype({"items": int})
    read, written = rows["dram_bytes_read"], rows["dram_bytes_written"]
    once = 4 * rows["items"]
    return rows.assign(read=read / once, moved=(read + written) / once), launches


@figure("traffic")
def dram_traffic(data: Data) -> Shown:
    """DRAM bytes of one scan over the bytes of its items, from hardware counters."""
    rows, launches = dram_over_items(data)
    about = data.variants
    device = data.files[launches["file"].iloc[0]].device
    l2 = max(
        (int(file.context.get("l2_bytes") or 0) for file in data.files if file.device == device),
        default=0,
    )
    drawn, (reads, both) = style.figure(style.DOUBLE, 2.2, 2)
    vendors = (VENDOR, NEWEST_VENDOR)
    variants = [v for v in rows["variant"].unique() if OWN.has(about[v]) or v in vendors]
    for panel, column, title in ((reads, "read", "reads"), (both, "moved", "reads and writes")):
        marks.items_axis(panel, rows["items"])
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
        both.annotate(
            f"{level}$n$",
            (0, level),
            xycoords=("axes fraction", "data"),
            xytext=(2, 1),
            textcoords="offset points",
            fontsize=7,
        )
    for level in (1, 2):
        reads.axhline(level, color=style.GREY, linewidth=0.8)
    reads.set_ylabel("DRAM bytes / bytes of $n$ items")
    return shown(
        data,
        drawn,
        "DRAM bytes of one scan over the bytes of its n items, counted by the hardware (ncu), "
        "against array size. Left: reads. Right: reads and writes, beside 2n, 3n and 4n. Accesses "
        "that hit L2 do not count; the vertical line marks n items as large as L2. One run each, "
        "so no bars.",
        launches,
    )
