"""Speed of CUB in each configuration that tuning tried for sums of integers: share of a copy, by tile size; the star is cub_tuned."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scanlab_report.derive.shapes import LOOK_AHEAD, LOOK_BACK, SHIPPED, TYPES, by_tile
from scanlab_report.layout import style
from scanlab_report.select.evidence import TableEvidence
from scanlab_report.select.timings import Shapes

CAPTION = (
    "Speed of CUB's scan as a share of a device copy, against tile size. Columns are types, rows the smallest and the largest array: inclusive sums, "
    "cold cache, stream launches. Each mark is one configuration of look-back or look-ahead. The line is the fastest untuned form "
    "of CUB; the star is the configuration of `cub_tuned`. There are no error bars."
)
NEEDS = {"shapes": Shapes()}
WIDE = True
_LOOKS = {LOOK_BACK: ("look-back", style.Look(style.GREY, "o", "")), LOOK_AHEAD: ("look-ahead", style.Look(style.BLUE, "^", ""))}


def draw(shapes: TableEvidence) -> Figure:
    rows = by_tile(shapes)
    types = [name for name in TYPES if name in set(rows["type"])]
    of_type = {name: _ends(sorted(set(rows.loc[rows["type"] == name, "items"]))) for name in types}
    sizes = max(len(of) for of in of_type.values())
    drawn, axes = style.figure(style.DOUBLE, 1.45 * sizes, len(types), sizes, sharex=True, sharey=True)
    for column, name in enumerate(types):
        for row, n in enumerate(of_type[name]):
            panel = axes[row * len(types) + column]
            _draw(panel, rows[(rows["type"] == name) & (rows["items"] == n)])
            panel.set_title(f"{name}, $n$ = {style.power_of_two(n)}")
    for panel in axes[-len(types) :]:
        panel.set_xlabel("tile, KiB")
    for panel in axes[:: len(types)]:
        panel.set_ylabel("share of a device copy")
    handles, labels = axes[0].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside upper right", ncols=len(labels), borderpad=0)
    return drawn


def _ends(sizes: list[int]) -> list[int]:
    """The smallest and the largest of sizes."""
    return sorted({sizes[0], sizes[-1]})


def _draw(panel: Axes, rows: pd.DataFrame) -> None:
    for variant, (label, look) in _LOOKS.items():
        of = rows[rows["variant"] == variant]
        panel.plot(of["kib"], of["ratio"], markersize=3.5, alpha=0.6, label=label, **look.plot())
    shipped = rows[rows["variant"] == SHIPPED]
    if len(shipped):
        panel.axhline(shipped["ratio"].iloc[0], color=style.BLACK, linewidth=1, label=SHIPPED)
    tuned = rows[rows["tuned"]]
    panel.plot(tuned["kib"], tuned["ratio"], "*", color=style.VERMILLION, markersize=8, label="tuned", zorder=4)
    panel.set_xlim(0, 50)
    panel.set_ylim(0, 1)
