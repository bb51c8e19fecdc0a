"""Shared-memory wavefronts and bank conflicts: SIMT emulator against hardware counters, by variant and padding."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from scanlab_report.derive.counts import PADDINGS
from scanlab_report.derive.hardware import QUANTITIES, compared
from scanlab_report.layout import style
from scanlab_report.select.counted import Counters
from scanlab_report.select.evidence import CounterEvidence

CAPTION = (
    "Wavefronts of one scan in shared memory, and the bank conflicts among them: hardware counters (ncu) against the SIMT "
    "emulator. Each point is one case: a variant, size, type, padding and kind of load. Points on the line agree exactly. One "
    "run each, so no bars."
)
NEEDS = {"counters": Counters()}
_LOOKS = {
    "none": (style.BLACK, "o"), "one_in_16": (style.VERMILLION, "^"), "two_level_16": (style.PURPLE, "v"),
    "row": (style.SKY, "s"), "two_level": (style.GREEN, "D"),
}  # fmt: skip
_LINEAR_BELOW = 10
"""Conflicts may be none: below this the axes are linear."""


def draw(counters: CounterEvidence) -> Figure:
    rows = compared(counters)
    drawn, panels = style.figure(style.COLUMN, 2.65, columns=len(QUANTITIES))
    for panel, (quantity, name) in zip(panels, QUANTITIES.items(), strict=True):
        _panel(panel, rows, quantity, name)
    panels[0].set_ylabel("hardware (ncu)")
    types = list(dict.fromkeys(rows["type"]))
    paddings = [p for p in _LOOKS if p in set(rows["padding"])]
    handles = [_mark(padding, True, PADDINGS[padding]) for padding in paddings]
    handles += [_mark("none", kind == types[0], f"{kind}: {'filled' if kind == types[0] else 'hollow'}") for kind in types]
    drawn.legend(handles=handles, loc="outside upper left", ncols=3, columnspacing=0.8, handletextpad=0.1, borderpad=0)
    return drawn


def _panel(axes: Axes, rows: pd.DataFrame, quantity: str, name: str) -> None:
    emulator, hardware = rows[f"{quantity}_emulator"], rows[f"{quantity}_hardware"]
    linear = bool((emulator == 0).any() or (hardware == 0).any())
    for axis in (axes.set_xscale, axes.set_yscale):
        axis("symlog", linthresh=_LINEAR_BELOW, linscale=0.5) if linear else axis("log")
    top = 2.0 * max(emulator.max(), hardware.max())
    bottom = -5 if linear else 0.5 * min(emulator.min(), hardware.min())
    axes.plot([bottom, top], [bottom, top], color=style.GREY, linewidth=0.8, zorder=1)
    first = rows["type"].iloc[0]
    for row in rows.itertuples():
        mark = _mark(row.padding, row.type == first)
        axes.add_line(mark)
        mark.set_data([getattr(row, f"{quantity}_emulator")], [getattr(row, f"{quantity}_hardware")])
    axes.set_xlim(bottom, top)
    axes.set_ylim(bottom, top)
    style.power_axis(axes.xaxis)
    style.power_axis(axes.yaxis)
    axes.set_title(name)
    same = int((emulator == hardware).sum())
    axes.text(0.04, 0.95, f"{same} of {len(rows)}\nequal", transform=axes.transAxes, ha="left", va="top", fontsize=7.5)
    axes.set_xlabel("SIMT emulator")


def _mark(padding: str, filled: bool, label: str = "") -> Line2D:
    colour, marker = _LOOKS.get(padding, (style.GREY, "x"))
    return Line2D([], [], linestyle="none", marker=marker, markersize=4.5, color=colour, label=label, zorder=2,
                  markerfacecolor=colour if filled else "none", markeredgewidth=0.9)  # fmt: skip
