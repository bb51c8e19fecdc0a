"""Speed of CUB in each configuration that tuning tried for sums of integers: share of a copy, by tile size; the star is cub_tuned."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scanlab_report.derive.shapes import LOOK_AHEAD, LOOK_BACK, SHIPPED, by_tile
from scanlab_report.layout import style
from scanlab_report.select.evidence import TableEvidence
from scanlab_report.select.timings import Shapes

HOW_TO_READ = (
    "inclusive scans, cold cache, stream launches. Each mark is one configuration of look-back or look-ahead. The line, as shipped, is the fastest untuned CUB, "
    "the star `cub_tuned`. There are no error bars."
)
CAPTION = f"Speed of CUB's sums as a share of a device copy, against tile size. Columns are types, rows sizes, the largest at the bottom: {HOW_TO_READ}"
NEEDS = {"shapes": Shapes(sums=True)}
WIDE = True
_LOOKS = {LOOK_BACK: style.Look(style.GREY, "o", ""), LOOK_AHEAD: style.Look(style.BLUE, "^", "")}


def draw(shapes: TableEvidence) -> Figure:
    return by_size(shapes, "{type}, {n}")


def by_size(shapes: TableEvidence, title: str) -> Figure:
    """A column for each type and operator, a row for each size, the largest ones at the bottom. title: a panel's, of {type}, {op} and {n}."""
    rows = by_tile(shapes)
    columns = list(rows.groupby(["type", "op"], sort=False))
    most = max(of["items"].nunique() for _, of in columns)
    drawn, axes = style.figure(style.DOUBLE, 0.3 + 1.05 * most, len(columns), most, sharex=True, sharey=True)
    for column, ((type_name, op), of) in enumerate(columns):
        panels, sizes = axes[column :: len(columns)], list(of.groupby("items"))
        for panel in panels[: most - len(sizes)]:
            panel.set_axis_off()
        for panel, (n, at_size) in zip(panels[most - len(sizes) :], sizes, strict=True):
            _draw(panel, at_size)
            panel.set_title(title.format(type=type_name, op=op, n=f"$n$ = {style.power_of_two(n)}"))
    for panel in axes[-len(columns) :]:
        panel.set_xlabel("tile, KiB")
    for panel in axes[:: len(columns)]:
        panel.set_ylabel("share of a copy")
    handles, labels = axes[-1].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside upper right", ncols=len(labels), borderpad=0)
    return drawn


def _draw(panel: Axes, rows: pd.DataFrame) -> None:
    for algorithm, look in _LOOKS.items():
        of = rows[rows["algorithm"] == algorithm]
        panel.plot(of["kib"], of["ratio"], markersize=3.5, alpha=0.6, label=algorithm, **look.plot())
    shipped = rows[rows["algorithm"] == SHIPPED]
    if len(shipped):
        panel.axhline(shipped["ratio"].iloc[0], color=style.BLACK, linewidth=1, label=SHIPPED)
    tuned = rows[rows["tuned"]]
    panel.plot(tuned["kib"], tuned["ratio"], "*", color=style.VERMILLION, markersize=8, label="tuned", zorder=4)
    panel.set_xlim(0, 50)
    panel.set_ylim(0, 1)
