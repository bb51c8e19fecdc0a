"""A comparison as a figure: every case by its time, and the ratio of the two runs."""

from __future__ import annotations

import textwrap

import numpy as np
from matplotlib.figure import Figure

from scanlab_report.commands.compare.comparison import FASTER, NEITHER, NO_THRESHOLD, SLOWER, TOO_FEW, Comparison
from scanlab_report.commands.compare.page import line, machines
from scanlab_report.layout import style

_LOOKS = {NEITHER: (style.GREY, ".", 2.0), TOO_FEW: (style.GREY, "x", 2.5), NO_THRESHOLD: (style.ORANGE, "+", 3.0),
          FASTER: (style.BLUE, "v", 4.0), SLOWER: (style.VERMILLION, "^", 4.0)}
_STEP = 10**0.25
"""The band is drawn in steps of time, four a decade."""


def figure(comparison: Comparison) -> Figure:
    """Every case of both runs by its time: the ratio, and as a band what is neither slower nor faster; a panel a column."""
    both = comparison.both
    columns = sorted(set(both["column"]))
    rows_of_panels = max(1, -(-len(columns) // 2))  # one, empty, where no case is in both
    drawn, axes = style.figure(style.DOUBLE, 0.5 + 1.7 * rows_of_panels, 1 if len(columns) == 1 else 2, rows_of_panels)
    for panel, column in zip(axes, columns, strict=False):
        of = both[both["column"] == column]
        for step, band in of.groupby(np.floor(np.log(of["time_us"]) / np.log(_STEP))):
            panel.fill_between([_STEP**step, _STEP ** (step + 1)], band["faster_below"].min(), band["slower_above"].max(), color="#EEEEEE", linewidth=0)
        for verdict, (colour, marker, width) in _LOOKS.items():
            rows = of[of["verdict"] == verdict]
            if verdict in (FASTER, SLOWER):
                style.error_bars(panel, rows["time_us"], rows["ratio"], rows["low"], rows["high"], colour)
            if len(rows):
                panel.plot(rows["time_us"], rows["ratio"], linestyle="none", marker=marker, markersize=width, color=colour,
                           markeredgewidth=0.5, label=f"{verdict}: {len(rows)}")  # fmt: skip
        if len(same := of[of["unchanged"]]):
            panel.plot(same["time_us"], same["ratio"], linestyle="none", marker="o", markersize=3.5, color=style.GREEN, markerfacecolor="none",
                       markeredgewidth=0.4, label=f"the same code: {len(same)}")  # fmt: skip
        panel.axhline(1, color=style.BLACK, linewidth=0.6)
        panel.set_title(column.replace(" ", ", "), pad=10)  # above the legend
        panel.set_xscale("log")
        style.decade_axis(panel.xaxis)
        panel.legend(loc="lower left", bbox_to_anchor=(0, 1), fontsize=5.5, borderaxespad=0.1, borderpad=0.1, handlelength=0.8, handletextpad=0.3,
                     columnspacing=0.8, ncols=6)
    for panel in axes[len(columns) :]:
        panel.set_visible(False)
    for panel in axes[max(0, len(columns) - 2) : len(columns)]:
        panel.set_xlabel("time in the faster run, µs")
    for panel in axes[::2]:
        panel.set_ylabel("time of B over A")
    if said := textwrap.wrap(" ".join(machines(comparison)), 150):
        drawn.set_size_inches(style.DOUBLE, drawn.get_size_inches()[1] + 0.13 * len(said))
        drawn.suptitle("\n".join(said), fontsize=7.5, x=0.01, ha="left")
    style.footer(drawn, [f"A: {line(comparison.a)}", f"B: {line(comparison.b)}"])
    return drawn
