"""A comparison as a figure: every case by its time, and the ratio of the two runs."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from analysis import style
from analysis.comparison import FASTER, NEITHER, SLOWER, TOO_FEW, Comparison
from analysis.comparison_page import line
from analysis.noise import BANDS_US

_LOOKS = {NEITHER: (style.GREY, ".", 2.0), TOO_FEW: (style.GREY, "x", 2.5), FASTER: (style.BLUE, "v", 4.0), SLOWER: (style.VERMILLION, "^", 4.0)}


def figure(comparison: Comparison) -> Figure:
    """Every case of both runs by its time in A: the ratio, and the threshold as a band; a panel a column."""
    both = comparison.both
    columns = sorted(set(both["column"]))
    drawn, axes = style.figure(style.DOUBLE, 0.5 + 1.5 * -(-len(columns) // 2), 1 if len(columns) == 1 else 2, -(-len(columns) // 2),
                               sharex=True, sharey=True)  # fmt: skip
    for panel, column in zip(axes, columns, strict=False):
        of = both[both["column"] == column]
        for low, high in zip((0, *BANDS_US), (*BANDS_US, np.inf), strict=True):
            band = of[(of["time_us"] >= low) & (of["time_us"] < high)]
            if len(band):
                top = 1 + band["threshold"].max()
                panel.fill_between([max(low, both["time_us"].min()), min(high, both["time_us"].max())], 1 / top, top, color="#EEEEEE", linewidth=0)
        for verdict, (colour, marker, width) in _LOOKS.items():
            rows = of[of["verdict"] == verdict]
            if verdict in (FASTER, SLOWER):
                style.error_bars(panel, rows["time_us"], rows["ratio"], rows["low"], rows["high"], colour)
            panel.plot(rows["time_us"], rows["ratio"], linestyle="none", marker=marker, markersize=width, color=colour,
                       markeredgewidth=0.5, label=f"{verdict}: {len(rows)}")  # fmt: skip
        panel.axhline(1, color=style.BLACK, linewidth=0.6)
        panel.set_title(column.replace(" ", ", "))
        panel.set_xscale("log")
        style.decade_axis(panel.xaxis)
        panel.legend(loc="upper right", handletextpad=0.2, ncols=2)
    for panel in axes[len(columns) :]:
        panel.set_visible(False)
    for panel in axes[-2:]:
        panel.set_xlabel("time in the faster run, µs")
    for panel in axes[::2]:
        panel.set_ylabel("time of B over A")
    style.footer(drawn, [f"A: {line(comparison.a)}", f"B: {line(comparison.b)}"])
    return drawn
