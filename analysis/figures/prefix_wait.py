"""What the warps of a single-pass scan wait for, role by role."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from analysis import style
from analysis.evidence import WaitEvidence, Waits
from analysis.results import WAIT_PREFIX

WIDTH = "column"
CAPTION = (
    "Share of a role's cycles spent waiting, by what for, read from the device's clock in an instrumented build of "
    "the kernel; what is left is work. Mean over all blocks and warps of the role in one run, so there are no bars."
)
NEEDS = {"waits": Waits()}
_FILLS = {  # of what is waited for: colour and hatch, so that no two differ by colour alone
    "data": ("#BBBBBB", ""), "prefix": (style.VERMILLION, "////"), "store": (style.BLUE, "...."),
    "free": (style.SKY, "\\\\\\\\"), "reduced": (style.GREEN, "xxxx"),
}  # fmt: skip
_SPARE = ((style.PURPLE, "----"), (style.ORANGE, "||||"), (style.GREY, "++++"))


def draw(waits: WaitEvidence) -> Figure:
    rows = shares(waits)
    kinds = [column for column in rows.columns if column not in ("name", "work", "variant", "items", "role")]
    drawn, (axes,) = style.figure(style.COLUMN, 0.75 + 0.17 * len(rows))
    before = pd.Series(0.0, index=rows.index)
    spare = iter(_SPARE * len(kinds))
    for kind in (*kinds, "work"):
        colour, hatch = ("white", "") if kind == "work" else _FILLS.get(kind) or next(spare)
        axes.barh(rows.index, rows[kind], left=before, height=0.7, color=colour, hatch=hatch, edgecolor=style.BLACK,
                  linewidth=0.5, label=kind if kind == "work" else f"waits: {kind}")  # fmt: skip
        before += rows[kind]
    axes.set_yticks(rows.index, rows["name"])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0, 1)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("share of cycles")
    drawn.legend(loc="outside upper right", ncols=3, columnspacing=0.8, handlelength=1.4, borderpad=0)
    return drawn


def shares(waits: WaitEvidence) -> pd.DataFrame:
    """One row a variant, size and role: ``name``, a column for each thing waited for, and ``work``."""
    rows = waits.rows.sort_values(["variant", "items", "role"], kind="stable", ignore_index=True)
    columns = [column for column in rows.columns if column.startswith(WAIT_PREFIX)]
    found = pd.DataFrame({column.removeprefix(WAIT_PREFIX): rows[column].fillna(0) / rows["cycles_total"] for column in columns})
    found["work"] = (1 - found.sum(axis=1)).clip(lower=0)
    several = rows["type"].nunique() > 1
    tiled = "tile" in rows and rows.groupby("variant")["tile"].nunique().max() > 1
    names = [
        f"{row.variant}{f', {row.tile:g} KiB' if tiled and pd.notna(row.tile) else ''}{f', {row.type}' if several else ''}, "
        f"{style.power_of_two(row.items)}: {row.role}"
        for row in rows.itertuples()
    ]  # fmt: skip
    return found.assign(name=names, items=rows["items"], role=rows["role"], variant=rows["variant"])
