"""What the hardware says: waiting, DRAM bytes, and bank conflicts beside the emulator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from msgspec import UNSET

from scanlab_report import style
from scanlab_report.chapters.counts import PADDINGS, usual_load
from scanlab_report.chapters.odd_sizes import origin_first
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table, code, size, whole
from scanlab_report.groups import (
    NEWEST_VENDOR,
    OWN,
    VENDOR,
)
from scanlab_report.looks import look
from scanlab_report.pick import Lacking, pick
from scanlab_report.shown import Shown, figure, shown, table
from scanlab_report.tables import ELEMENT_BYTES, MEASURED, RECORDED, WAITING

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
    ranked = rows.assign(usual=usual_load(rows), inclusive=rows["mode"] == "inclusive")
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
