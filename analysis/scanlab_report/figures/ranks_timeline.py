"""Timelines of scans over several GPUs: what each GPU did in one run."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from scanlab_report.derive.ranks import main_kind
from scanlab_report.layout import style
from scanlab_report.layout.ranks import ordered
from scanlab_report.select.ranks_evidence import RanksTimeline, RanksTimelines

CAPTION = (
    "Kernels and copies of each GPU in one run of a scan over several GPUs, by CUPTI. Time 0 is the first start on any GPU. "
    "Titles give the time to the last end; the run shown has the median of it. Short bars are widened. Clocks of two GPUs agree to within "
    "microseconds. There are no error bars."
)
NEEDS = {"timeline": RanksTimelines()}
NCCL = "NCCL kernels"
COLOURS = {"kernels": style.VERMILLION, NCCL: style.BLUE, "copies": style.SKY, "memsets": style.GREY}
LEAST = 0.004
"""Width of a bar at least, and below: of a letter in one, as parts of the axis."""
LETTER = 0.0145


def draw(timeline: RanksTimeline) -> Figure:
    rows = main_kind(timeline.rows)
    rows = rows.assign(drawn=[drawn_as(kind, name) for kind, name in zip(rows["kind"], rows["name"], strict=True)])
    algorithms, sizes = ordered(rows["algorithm"]), sorted(set(rows["items"]))
    sizes = sizes if len(sizes) < 2 else [sizes[0], sizes[-1]]
    ranks = int(rows["ranks"].max())
    drawn, axes = style.figure(style.DOUBLE, 0.5 + len(algorithms) * (0.42 + 0.13 * ranks), len(sizes), len(algorithms), sharex="col", sharey=True)
    for place, panel in enumerate(axes):
        algorithm, items = algorithms[place // len(sizes)], sizes[place % len(sizes)]
        of_size = rows[rows["items"] == items]
        shown = median_run(of_size[of_size["algorithm"] == algorithm])
        panel.set_xlim(0, 1.02 * max(median_run(of)["end_us"].max() for _, of in of_size.groupby("algorithm")))
        _bars(panel, shown)
        panel.set_yticks(range(ranks), [f"GPU {rank}" for rank in range(ranks)])
        panel.set_ylim(ranks - 0.5, -0.5)
        panel.tick_params(axis="y", length=0)
        panel.grid(visible=False, axis="y")
        took = f"{shown['end_us'].max():.1f} µs" if len(shown) else "not traced"
        panel.set_title(f"{algorithm}, {style.power_of_two(items / ranks)} items per GPU: {took}", pad=2)
        if place // len(sizes) == len(algorithms) - 1:
            panel.set_xlabel("time, µs")
    present = [kind for kind in COLOURS if (rows["drawn"] == kind).any()]
    drawn.legend(handles=[Patch(color=COLOURS[kind], label=kind) for kind in present], loc="outside upper right", ncols=len(present), borderpad=0)
    return drawn


def drawn_as(kind: str, name: str) -> str:
    """By which an activity is coloured."""
    return {"copy": "copies", "memset": "memsets"}.get(kind, NCCL if name.startswith("nccl") else "kernels")


def median_run(rows: pd.DataFrame) -> pd.DataFrame:
    """Of the runs of a case the one of median length, the shorter of two."""
    if rows.empty:
        return rows
    one = rows[rows["settings"] == rows["settings"].iloc[0]]
    lengths = one.groupby("run")["end_us"].max().sort_values(kind="stable")
    return one[one["run"] == lengths.index[(len(lengths) - 1) // 2]]


def _bars(axes: Axes, rows: pd.DataFrame) -> None:
    """A bar for each activity, with its name where there is room."""
    whole = axes.get_xlim()[1]
    for of in rows.itertuples():
        width = of.end_us - of.start_us
        axes.broken_barh([(of.start_us, max(width, LEAST * whole))], (of.rank - 0.38, 0.76), facecolor=COLOURS[of.drawn], edgecolor="white",
                         linewidth=0.3, zorder=2)  # fmt: skip
        if of.name and width > (len(of.name) + 1) * LETTER * whole:
            axes.text(of.start_us + width / 2, of.rank, of.name, parse_math=False, ha="center", va="center_baseline", fontsize=5.5, color="white", zorder=3)
