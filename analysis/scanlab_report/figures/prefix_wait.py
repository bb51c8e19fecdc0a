"""Stall cycles of each warp role of look_ahead by cause: data from memory, sums of the same tile, earlier aggregates, or stores."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from scanlab_report.derive.waits import kinds, shares
from scanlab_report.layout import style
from scanlab_report.layout.waits import stack
from scanlab_report.select.counted import Waits
from scanlab_report.select.evidence import TableEvidence

CAPTION = (
    "Stall cycles of each warp role as a share of its cycles, by clocks in the kernel. Data: items from memory, or the "
    "load warp's limit on loads. Reduced: sums of the same tile. Prefix: aggregates of earlier tiles. Store: a free stage, or results "
    "leaving shared memory. The rest is work and other stalls. One run, so no bars."
)
NEEDS = {"waits": Waits()}


def draw(waits: TableEvidence) -> Figure:
    rows = shares(waits)
    height = rows.index + 0.5 * (rows.groupby(["variant", "items"], sort=False).ngroup())  # a gap between groups
    drawn, (axes,) = style.figure(style.COLUMN, 0.75 + 0.17 * height.iloc[-1])
    stack(axes, height, rows, kinds(rows))
    axes.set_yticks(height, _names(rows))
    variants = rows["variant"].unique()
    axes.set_xlabel(f"share of cycles, {variants[0]}" if len(variants) == 1 else "share of cycles")
    drawn.legend(loc="outside upper right", ncols=3, columnspacing=0.8, handlelength=1.4, borderpad=0)
    return drawn


def _names(rows: pd.DataFrame) -> list[str]:
    """Each row by its size and role, and by what else tells rows apart."""
    named, several = (rows[column].nunique() > 1 for column in ("variant", "type"))
    tiled = rows.groupby("variant")["tile"].nunique().max() > 1
    return [
        f"{f'{row.variant}, ' if named else ''}{f'{row.tile:g} KiB, ' if tiled and pd.notna(row.tile) else ''}"
        f"{f'{row.type}, ' if several else ''}{style.power_of_two(row.items)}: {row.role}"
        for row in rows.itertuples()
    ]
