"""What the warps of a single-pass scan wait for, role by role."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from analysis import style
from analysis.evidence import TableEvidence, Waits
from analysis.results import WAIT_PREFIX

WIDTH = "column"
CAPTION = (
    "Where the cycles of each role's warps go, read from the device's clock in an instrumented form of the kernel, summed "
    "over all blocks of one run, so there are no bars. Waits: data, for items from memory; reduced, for the other warps' "
    "sums of the same tile; prefix, for the aggregates of the tiles before it, which for the look-ahead warp includes "
    "adding them up; store, until results have left shared memory. The rest is work, and what the clocks do not tell from it: "
    "the load warp's wait for its next ticket, and at the start every warp's for the kernel before. In a long run three roles "
    "wait for memory in turn: reduce for its data, look ahead for the aggregates of tiles that load elsewhere, and scan for both."
)
NEEDS = {"waits": Waits()}
_FILLS = {  # of what is waited for: colour and hatch, so that no two differ by colour alone
    "data": ("#BBBBBB", ""), "prefix": (style.VERMILLION, "////"), "store": (style.BLUE, "...."),
    "free": (style.SKY, "\\\\\\\\"), "reduced": (style.GREEN, "xxxx"),
}  # fmt: skip
ROLES = ("load", "reduce", "look ahead", "scan", "block")
"""In the order in which a tile meets them."""
_SPARE = ((style.PURPLE, "----"), (style.ORANGE, "||||"), (style.GREY, "++++"))


def draw(waits: TableEvidence) -> Figure:
    rows = shares(waits)
    kinds = [column for column in rows.columns if column not in ("name", "rest", "variant", "items", "role")]
    height = rows.index + 0.5 * (rows.groupby(["variant", "items"], sort=False).ngroup())  # a gap between groups
    drawn, (axes,) = style.figure(style.COLUMN, 0.75 + 0.17 * height.iloc[-1])
    before = pd.Series(0.0, index=rows.index)
    spare = iter(_SPARE * len(kinds))
    for kind in (*kinds, "rest"):
        colour, hatch = ("white", "") if kind == "rest" else _FILLS.get(kind) or next(spare)
        axes.barh(height, rows[kind], left=before, height=0.7, color=colour, hatch=hatch, edgecolor=style.BLACK,
                  linewidth=0.5, label=kind if kind == "rest" else f"waits: {kind}")  # fmt: skip
        before += rows[kind]
    axes.set_yticks(height, rows["name"])
    axes.set_ylim(height.iloc[-1] + 0.6, -0.6)
    axes.set_xlim(0, 1)
    axes.grid(axis="y", visible=False)
    variants = rows["variant"].unique()
    axes.set_xlabel(f"share of cycles, {variants[0]}" if len(variants) == 1 else "share of cycles")
    drawn.legend(loc="outside upper right", ncols=3, columnspacing=0.8, handlelength=1.4, borderpad=0)
    return drawn


def shares(waits: TableEvidence) -> pd.DataFrame:
    """One row a variant, size and role: ``name``, a column for each thing waited for, and ``rest``."""
    place = waits.rows["role"].map({role: place for place, role in enumerate(ROLES)}).fillna(len(ROLES))
    rows = waits.rows.assign(place=place).sort_values(["variant", "items", "place"], kind="stable", ignore_index=True)
    columns = [column for column in rows.columns if column.startswith(WAIT_PREFIX)]
    found = pd.DataFrame({column.removeprefix(WAIT_PREFIX): rows[column].fillna(0) / rows["cycles_total"] for column in columns})
    found["rest"] = (1 - found.sum(axis=1)).clip(lower=0)
    several = rows["type"].nunique() > 1
    named = rows["variant"].nunique() > 1
    tiled = "tile" in rows and rows.groupby("variant")["tile"].nunique().max() > 1
    names = [
        f"{f'{row.variant}, ' if named else ''}{f'{row.tile:g} KiB, ' if tiled and pd.notna(row.tile) else ''}"
        f"{f'{row.type}, ' if several else ''}{style.power_of_two(row.items)}: {row.role}"
        for row in rows.itertuples()
    ]  # fmt: skip
    return found.assign(name=names, items=rows["items"], role=rows["role"], variant=rows["variant"])
