"""Scanlab's fastest scans beside the vendor's, case by case."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, LogNorm

from scanlab_report import style
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table, code, size, with_interval
from scanlab_report.groups import LOSS, TIE, TYPES, WIN
from scanlab_report.pick import Lacking, pick
from scanlab_report.shown import Shown, figure, shown, table
from scanlab_report.versus import contests, decided, versus_cub

FILES = tuple(f"head_to_head_{name}" for name in (*TYPES, "operators"))
"""The experiments that time cases head to head."""
WAYS = ("cold, stream", "cold, graph", "warm, stream", "warm, graph")
"""Cache state and kind of launch of the cases that have a panel."""


def type_op_rows(rows: pd.DataFrame) -> list[tuple[str, str]]:
    """Types and operators of some cases, types in their order, `plus` before other operators."""
    present = set(zip(rows["type"], rows["op"], strict=True))
    return sorted(present, key=lambda pair: (TYPES.index(pair[0]), pair[1] != "plus", pair[1]))


def worst_of_octaves(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return one row per type, operator, `way` and octave of sizes: the case of worst outcome, and
    among equals the least ratio."""
    rows = pick(decided(comparisons), mode="inclusive")
    rows = rows.assign(way=rows["cache"] + ", " + rows["launch"])
    rows = rows[rows["way"].isin(WAYS) & (rows["items"] > 0)]
    octave = np.floor(np.log2(rows["items"].astype(float))).astype(int)
    rows = rows.assign(octave=octave, severity=rows["outcome"].map({LOSS: 0, TIE: 1, WIN: 2}))
    rows = rows.sort_values(["severity", "ratio"], kind="stable")
    return rows.drop_duplicates(["type", "op", "way", "octave"])


@figure(*FILES)
def head_to_head(data: Data) -> Shown:
    """Speedup of best over the fastest CUB by type, operator and size: darker is faster, a dot is a
    tie, a cross a loss."""
    cells = worst_of_octaves(versus_cub(data))
    if cells.empty:
        raise Lacking("such timings of arrays, cold or warm, by stream or graph")
    rows = type_op_rows(cells)
    ways = [way for way in WAYS if way in set(cells["way"])]
    height = 0.95 + 0.092 * max(len(rows), 8)
    drawn, axes = style.figure(style.DOUBLE, height, len(ways), sharey=True)
    octaves = range(int(cells["octave"].min()), int(cells["octave"].max()) + 1)
    for panel, way in zip(axes, ways, strict=True):
        image = _octaves(panel, pick(cells, way=way), rows, octaves)
        panel.set_title(way)
    axes[0].set_yticks(range(len(rows)), [f"{kind} {op}" for kind, op in rows], fontsize=5.6)
    bar = drawn.colorbar(image, ax=axes, shrink=0.8, aspect=30, pad=0.01, extend="max")
    bar.set_ticks([1, 1.25, 1.5, 2, 3], labels=["1", "1.25", "1.5", "2", "3"])
    bar.ax.minorticks_off()
    bar.set_label("× CUB")
    caption = (
        "Speedup of `best` over the fastest CUB for inclusive scans, by type, operator and array "
        "size; one panel per cache state and kind of launch. Each cell shows the worst case of its "
        "octave of sizes; darker is faster. Dot: the 95% interval contains 1; cross: CUB is "
        "faster."
    )
    return shown(data, drawn, caption, contests(data))


_BLUES = LinearSegmentedColormap.from_list("blues", colormaps["Blues"](np.linspace(0.08, 0.95, 64)))


def _octaves(panel: Axes, cells: pd.DataFrame, rows: list[tuple[str, str]], octaves: range) -> Any:
    grid = np.full((len(rows), len(octaves)), np.nan)
    height = [rows.index(key) for key in zip(cells["type"], cells["op"], strict=True)]
    cells = cells.assign(height=height)
    grid[height, cells["octave"] - octaves.start] = cells["ratio"].clip(lower=1.0)
    x, y = np.arange(octaves.start, octaves.stop + 1) - 0.5, np.arange(len(rows) + 1) - 0.5
    shades = {"cmap": _BLUES, "norm": LogNorm(1, 3.0)}
    image = panel.pcolormesh(x, y, grid, linewidth=0, rasterized=True, **shades)
    for which, marker, colour, width in (
        (TIE, ".", style.BLACK, 1.6),
        (LOSS, "x", style.VERMILLION, 3.2),
    ):
        own, form = pick(cells, outcome=which), {"markersize": width, "markeredgewidth": 1.0}
        look = style.Look(colour, marker, "none").plot()
        panel.plot(own["octave"], own["height"], **look | form)
    for boundary in [i for i in range(1, len(rows)) if rows[i][0] != rows[i - 1][0]]:
        panel.axhline(boundary - 0.5, color="white", linewidth=1.2)
    panel.set_ylim(len(rows) - 0.5, -0.5)
    panel.grid(visible=False)
    powers = [k for k in octaves if k % 4 == 0]
    panel.set_xticks(powers, [f"$2^{{{k}}}$" for k in powers])
    panel.set_xlabel("items $n$")
    return image


@table(*FILES)
def losses(data: Data) -> Shown:
    """Cases that best lost to CUB, the worst first."""
    rows, printed = decided(versus_cub(data)), 8
    lost = pick(rows, outcome=LOSS).sort_values("ratio", kind="stable", ignore_index=True)
    chosen = [str(choice or "") for choice in lost["choice"]]
    lost = lost.assign(chosen=chosen).rename(columns={"interval": "times_cub"})
    columns = (
        *(Column(name, name, right=False) for name in ("type", "op", "mode")),
        Column("items", "n", size),
        Column("cache", "cache", right=False),
        Column("launch", "launch", right=False),
        Column("times_cub", "× CUB", with_interval),
        Column("rival", "fastest CUB", code, right=False),
        Column("chosen", "best chose", lambda v: v or "—", right=False),
    )
    beyond = f" The worst {printed} are printed; losses.csv has all cases." * (len(lost) > printed)
    caption = (
        "Cases that `best` lost to the fastest CUB scan, by the 95% interval of the ratio: "
        f"{len(lost)} of {len(rows)}. × CUB is the speedup of `best`.{beyond}"
    )
    return shown(data, Table(caption, columns, lost, printed=printed), caption, contests(data))
