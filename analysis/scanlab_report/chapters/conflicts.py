"""Bank conflicts and wavefronts: the emulator beside hardware counters."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from msgspec import UNSET

from scanlab_report import marks, style
from scanlab_report.chapters.counts import PADDINGS, usual_load
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table, code, size, whole
from scanlab_report.pick import Lacking, origin_first, pick
from scanlab_report.shown import Shown, figure, shown, table
from scanlab_report.tables import ELEMENT_BYTES, MEASURED, RECORDED

QUANTITIES = {"transactions": "wavefronts", "conflicts": "bank conflicts"}
WAYS = ("shared_load", "shared_store")


def both_counted(data: Data) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return one row per case that both emulator and hardware counted: `transactions` and
    `conflicts` of both, summed over launches, whether any `differs`, and by how many percent of the
    wavefronts each is off. Return the launches and the counts as well."""
    return data.once("both counted", lambda: _both_counted(data))


def _both_counted(data: Data) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    for origin in (MEASURED, RECORDED):
        launches = data.rows("counters", lambda file: file.origin == origin)
        rows = data["counts"]
        for column in ("variant", "items"):
            rows = rows[rows[column].isin(launches[column])]
        own = [tuple(launches.index[_same_case(row, launches)]) for row in rows.itertuples()]
        rows = rows.assign(launches=pd.Series(own, rows.index, dtype=object))
        rows = rows[rows["launches"].map(len) > 0]
        if len(rows):
            rows = origin_first(data, rows, "counts")
            return _compared(launches, rows), launches, rows
    raise Lacking(
        "hardware bank-conflict counters with counts of the SIMT emulator for the same cases"
    )


def _same_case(row: Any, launches: pd.DataFrame) -> pd.Series:
    """Whether each launch is of the case that was counted."""
    same = pd.Series(True, index=launches.index)
    for column in ("variant", "padding", "type", "op", "items", "mode", "load"):
        if column in launches:
            values = launches[column]
            same &= (values == getattr(row, column)) | values.isna()
    return same


def _compared(launches: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    rows = rows[[content.totals.banks32.transactions > 0 for content in rows["content"]]]
    # Counters that do not tell two cases apart go with the more usual one.
    ranked = rows.assign(usual=usual_load(rows), inclusive=rows["mode"] == "inclusive")
    ranked = ranked.sort_values(["usual", "inclusive"], ascending=False, kind="stable")
    rows = ranked.drop_duplicates("launches", ignore_index=True)
    totals = [content.totals for content in rows["content"]]
    groups = [t.shared_requests if t.banks32.groups is UNSET else t.banks32.groups for t in totals]
    transactions = pd.Series([t.banks32.transactions for t in totals], dtype=int)
    hardware = {
        what: pd.Series(
            [
                sum(int(launches.loc[list(own), f"{way}_{what}"].sum()) for way in WAYS)
                for own in rows["launches"]
            ],
            dtype=int,
        )
        for what in ("wavefronts", "conflicts")
    }
    cases = rows.assign(
        base=rows["unpadded"],
        load=rows["load"].replace("", "halves"),
        transactions_emulator=transactions,
        transactions_hardware=hardware["wavefronts"],
        conflicts_emulator=transactions - pd.Series(groups, dtype=int),
        conflicts_hardware=hardware["conflicts"],
        differs=False,
    )
    wavefronts = cases["transactions_hardware"].where(cases["transactions_hardware"] > 0)
    for quantity in QUANTITIES:
        off = (cases[f"{quantity}_hardware"] - cases[f"{quantity}_emulator"]).abs()
        cases["differs"] |= off > 0
        cases[f"{quantity}_off"] = 100 * off / wavefronts
    order = {name: place for place, name in enumerate(PADDINGS)}
    keys = {
        "type": lambda c: c.map(lambda kind: (ELEMENT_BYTES[kind], kind)),
        "padding": lambda c: c.map(order).fillna(len(order)),
    }
    return cases.sort_values(
        ["type", "items", "base", "load", "padding"],
        ignore_index=True,
        key=lambda c: keys[c.name](c) if c.name in keys else c,
    )


@figure("counters", "explain")
def hardware_conflicts(data: Data) -> Shown:
    """Shared-memory wavefronts and bank conflicts: SIMT emulator against hardware counters, by
    variant and padding."""
    rows, launches, counted = both_counted(data)
    drawn, panels = style.figure(style.COLUMN, 2.65, columns=len(QUANTITIES))
    for panel, (quantity, name) in zip(panels, QUANTITIES.items(), strict=True):
        _emulator_panel(panel, rows, quantity, name)
    panels[0].set_ylabel("hardware (ncu)")
    types = list(dict.fromkeys(rows["type"]))
    handles = [_mark(p, True, PADDINGS[p]) for p in _MARKS if p in set(rows["padding"])]
    handles += [
        _mark("none", kind == types[0], f"{kind}: {'filled' if kind == types[0] else 'hollow'}")
        for kind in types
    ]
    drawn.legend(
        handles=handles,
        loc="outside upper left",
        ncols=3,
        columnspacing=0.8,
        handletextpad=0.1,
        borderpad=0,
    )
    return shown(
        data,
        drawn,
        "Wavefronts of one scan in shared memory, and the bank conflicts among them: hardware "
        "counters (ncu) against the SIMT emulator. Each point is one case: a variant, size, type, "
        "padding and kind of load. Points on the line agree exactly. One run each, so no bars.",
        launches,
        counted,
    )


_MARKS = {
    "none": (style.BLACK, "o"),
    "one_in_16": (style.VERMILLION, "^"),
    "two_level_16": (style.PURPLE, "v"),
    "row": (style.SKY, "s"),
    "two_level": (style.GREEN, "D"),
}


def _mark(padding_: str, filled: bool, label: str = "") -> Line2D:
    colour, marker = _MARKS.get(padding_, (style.GREY, "x"))
    return Line2D(
        [],
        [],
        linestyle="none",
        marker=marker,
        markersize=4.5,
        color=colour,
        label=label,
        zorder=2,
        markerfacecolor=colour if filled else "none",
        markeredgewidth=0.9,
    )


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
    marks.power_axis(axes.xaxis)
    marks.power_axis(axes.yaxis)
    axes.set_title(name)
    same = int((emulator == hardware).sum())
    axes.text(
        0.04,
        0.95,
        f"{same} of {len(rows)}\nequal",
        transform=axes.transAxes,
        ha="left",
        va="top",
        fontsize=7.5,
    )
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
        Column("load", "loads", right=False),
        Column("items", "n", size),
    ]
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
