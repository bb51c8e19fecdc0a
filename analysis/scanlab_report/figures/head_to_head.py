"""Speedup of best over the fastest CUB by type, operator and size: darker is faster, a dot is a tie, a cross a loss."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter

from scanlab_report.derive.head_to_head import COLUMNS, pairs, worst_of_octaves
from scanlab_report.layout import style
from scanlab_report.select.evidence import LOSS, TIE, AllTimingEvidence
from scanlab_report.select.timings import AllTimings
from scanlab_report.select.variants import CUBS

CAPTION = (
    "Speedup of `best` over the fastest CUB for inclusive scans, by type, operator and array size; one panel per cache state and kind of "
    "launch. Each cell shows the worst case of its octave of sizes; darker is faster. Dot: the 95% interval contains 1. "
    "Cross: CUB is faster."
)
NEEDS = {"timings": AllTimings(against=(CUBS,), mode="inclusive", decided=True)}
WIDE = True
_TOP = 3.0
_COLOURS = LinearSegmentedColormap.from_list("blues", colormaps["Blues"](np.linspace(0.08, 0.95, 64)))


def lacks(timings: AllTimingEvidence) -> str:
    return "such timings of arrays, cold or warm, by stream or graph" if worst_of_octaves(timings).empty else ""


def draw(timings: AllTimingEvidence) -> Figure:
    cells = worst_of_octaves(timings)
    rows = pairs(cells)
    columns = [c for c in COLUMNS if not cells[(cells["cache"] == c[0]) & (cells["launch"] == c[1])].empty]
    drawn, axes = style.figure(style.DOUBLE, 0.95 + 0.092 * max(len(rows), 8), len(columns), sharey=True)
    octaves = range(int(cells["octave"].min()), int(cells["octave"].max()) + 1)
    for panel, (cache, launch) in zip(axes, columns, strict=True):
        of = cells[(cells["cache"] == cache) & (cells["launch"] == launch)]
        image = _panel(panel, of, rows, octaves)
        panel.set_title(f"{cache}, {launch}")
    axes[0].set_yticks(range(len(rows)), [f"{kind} {op}" for kind, op in rows], fontsize=5.6)
    bar = drawn.colorbar(image, ax=axes, shrink=0.8, aspect=30, pad=0.01, extend="max")
    bar.ax.yaxis.set_major_locator(FixedLocator([1, 1.25, 1.5, 2, 3]))
    bar.ax.yaxis.set_minor_locator(FixedLocator([]))
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    bar.set_label("× CUB")
    return drawn


def _panel(panel: Axes, of: pd.DataFrame, rows: list[tuple[str, str]], octaves: range):
    grid = np.full((len(rows), len(octaves)), np.nan)
    for cell in of.itertuples():
        grid[rows.index((cell.type, cell.op)), cell.octave - octaves.start] = max(cell.ratio, 1.0)
    image = panel.pcolormesh(np.arange(octaves.start, octaves.stop + 1) - 0.5, np.arange(len(rows) + 1) - 0.5, grid,
                             cmap=_COLOURS, norm=LogNorm(1, _TOP), linewidth=0, rasterized=True)  # fmt: skip
    for outcome, marker, colour, width in ((TIE, ".", style.BLACK, 1.6), (LOSS, "x", style.VERMILLION, 3.2)):
        marked = of[of["outcome"] == outcome]
        panel.plot(marked["octave"], [rows.index(key) for key in zip(marked["type"], marked["op"], strict=True)], linestyle="none",
                   marker=marker, markersize=width, color=colour, markeredgewidth=1.0)  # fmt: skip
    for boundary in [i for i in range(1, len(rows)) if rows[i][0] != rows[i - 1][0]]:
        panel.axhline(boundary - 0.5, color="white", linewidth=1.2)
    panel.set_ylim(len(rows) - 0.5, -0.5)
    panel.grid(visible=False)
    panel.xaxis.set_major_locator(FixedLocator([k for k in octaves if k % 4 == 0]))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"$2^{{{value:.0f}}}$"))
    panel.set_xlabel("items $n$")
    return image
