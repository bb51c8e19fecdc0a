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
VENDORS = (VENDOR, NEWEST_VENDOR)
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
    "rest": ("white", ""),
}
"""Colour and hatch of each cause of waiting, so that no two differ by colour alone."""


def stack_shares(axes: Axes, heights: pd.Series, rows: pd.DataFrame, kinds: Sequence[str]) -> None:
    """Draw a bar per row, with a part for each of `kinds` and one for the rest."""
    before = pd.Series(0.0, index=rows.index)
    for kind in (*kinds, "rest"):
        colour, hatch = _FILLS.get(kind, (style.PURPLE, "----"))
        form = {"height": 0.7, "color": colour, "hatch": hatch, "edgecolor": style.BLACK}
        label = kind if kind == "rest" else f"stall: {kind}"
        axes.barh(heights, rows[kind], left=before, linewidth=0.5, label=label, **form)
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
    several = rows["variant"].nunique() > 1
    names = [
        f"{f'{row.variant}, ' * several}{marks.power_of_two(row.items)}: {row.role}"
        for row in rows.itertuples()
    ]
    axes.set_yticks(height, names)
    axes.set_xlabel("share of cycles")
    style.legend(drawn, axes, "right", 3, columnspacing=0.8, handlelength=1.4)
    caption = (
        "Stall cycles of each warp role as a share of its cycles, by clocks in the kernel. Data: "
        "items from memory, or the load warp's limit on loads; reduced: sums of the same tile; "
        "prefix: aggregates of earlier tiles; store: a free stage, or results leaving shared "
        "memory; the rest is work and other stalls. One run, so no bars."
    )
    return shown(data, drawn, caption, waits)


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
    rows = rows.sort_values("items")
    about, device = data.variants, data.files[launches["file"].iloc[0]].device
    files = [file for file in data.files if file.device == device]
    l2 = max(int(file.context.get("l2_bytes") or 0) for file in files)
    drawn, axes = style.figure(style.DOUBLE, 2.2, 2)
    shown_ = [v for v in rows["variant"].unique() if OWN.has(about[v]) or v in VENDORS]
    for panel, column, title, top in zip(
        axes, ("read", "moved"), ("reads", "reads and writes"), (2.3, 4.3), strict=True
    ):
        marks.items_axis(panel, rows["items"])
        panel.set_title(title)
        ends = [
            marks.curve(
                panel, pick(rows, variant=v), "items", look(v, about), about[v].label, column
            )
            for v in shown_
        ]
        panel.set_ylim(0, max(top, 1.05 * float(rows[column].max())))
        if l2:
            panel.axvline(l2 / 4, color=style.GREY, linewidth=0.8, linestyle=":")
        for level in range(2 if column == "moved" else 1, int(top) + 1):
            panel.axhline(level, color=style.GREY, linewidth=0.8)
    style.margin_legend(axes[1], ends)
    axes[0].set_ylabel("DRAM bytes / bytes of $n$ items")
    caption = (
        "DRAM bytes of one scan over the bytes of its n items, counted by the hardware (ncu), "
        "against array size: reads, then reads and writes beside lines at 2n, 3n and 4n. Accesses "
        "that hit L2 do not count; the vertical line marks n items as large as L2. One run each, "
        "so no bars."
    )
    return shown(data, drawn, caption, launches)
