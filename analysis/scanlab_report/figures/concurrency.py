"""Makespan of small concurrent kernels against the number of blocks, and by the number of hardware work queues."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scanlab_report.derive.concurrency import in_block_times
from scanlab_report.layout import style
from scanlab_report.read import streams
from scanlab_report.select.evidence import TableEvidence
from scanlab_report.select.streams_evidence import Experiments

CAPTION = (
    "Left: makespan of one kernel per stream against the total number of blocks, in durations of one block. The staircase is "
    "blocks over slots, one per multiprocessor, rounded up. Right: makespan of several kernels per stream, issued stream by stream; dashed "
    "lines are predictions."
)
NEEDS = {"experiments": Experiments(streams.CONCURRENCY)}

WAVES = 9
"""The staircase is drawn so far."""
_MARKERS = {0: ("o", 6.5, style.ORANGE), 1: ("s", 4.2, style.BLUE), 2: (".", 3.4, style.BLACK)}


def lacks(experiments: TableEvidence) -> str:
    return f"concurrent kernels of up to {WAVES} waves" if all(panel.empty for panel in _panels(experiments)) else ""


def _panels(experiments: TableEvidence) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Of one kernel per stream, as far as the staircase is drawn, and of several."""
    cases = in_block_times(experiments.rows)
    return cases[(cases["kernels"] == 1) & (cases["predicted"] <= WAVES)], cases[cases["kernels"] > 1]


def draw(experiments: TableEvidence) -> Figure:
    stairs, queue = _panels(experiments)
    both = len(stairs) and len(queue)
    drawn, axes = style.figure(style.DOUBLE, 2.1, 2 if both else 1, width_ratios=[1.6, 1] if both else None)
    if len(stairs):
        _stairs(axes[0], stairs)
    if len(queue):
        _queue(axes[-1], queue)
    return drawn


def _stairs(axes: Axes, cases: pd.DataFrame) -> None:
    slots = int(cases["slots"].iloc[0])
    total = np.arange(1, slots * WAVES + 1)
    axes.plot(total, np.ceil(total / slots), color=style.GREY, linewidth=1.0, zorder=1, label="⌈blocks / slots⌉")
    for place, (connections, of) in enumerate(cases.groupby("connections")):
        marker, size, colour = _MARKERS[min(place, 2)]
        axes.plot(of["total"], of["measured"], marker, markersize=size, color=colour, markerfacecolor="none" if place < 2 else colour,
                  zorder=2 + place, label=f"{connections} hardware work queue{'' if connections == 1 else 's'}")  # fmt: skip
        style.error_bars(axes, of["total"], of["measured"], of["low"], of["high"], colour)
    axes.set_xticks(np.arange(0, slots * WAVES + 1, slots * (1 if WAVES <= 10 else 2)))
    axes.set_ylim(0, WAVES + 0.6)
    axes.set_xlabel(f"blocks of all streams; {slots} resident slots")
    axes.set_ylabel("makespan / one block")
    axes.set_title("one kernel per stream")
    axes.legend(loc="upper left")


def _queue(axes: Axes, cases: pd.DataFrame) -> None:
    first = cases.sort_values("total").iloc[-1]
    same = ["streams", "kernels", "blocks", "slots"]
    cases = cases[(cases[same] == first[same]).all(axis=1)].sort_values("connections")
    names = [f"{n}" for n in cases["connections"]]
    axes.bar(names, cases["measured"], width=0.55, color=[_MARKERS[min(i, 2)][2] for i in range(len(names))], zorder=2)
    style.error_bars(axes, range(len(cases)), cases["measured"], cases["low"], cases["high"], style.GREY)
    lines = {"full overlap": cases["predicted"].min(), "no overlap": cases["serial"].max()}
    if cases["predicted"].max() > cases["predicted"].min():
        lines["one queue"] = cases["predicted"].max()
    for name, value in lines.items():
        axes.axhline(value, color=style.GREY, linewidth=1.0, linestyle="--", zorder=1)
        axes.text(len(cases) - 0.45, value + 0.12, name, ha="right", va="bottom", fontsize=7.5, color=style.GREY)
    for place, value in enumerate(cases["measured"]):
        axes.text(place, value - 0.15, f"{value:.2f}", ha="center", va="top", color=style.BLACK if place == 0 else "white", fontsize=7.5, zorder=3)
    axes.set_ylim(0, 1.15 * max(cases["serial"]))
    axes.grid(visible=False, axis="x")
    axes.set_xlabel("hardware work queues")
    axes.set_title(f"{first['streams']} streams × {first['kernels']} kernels × {first['blocks']} blocks")


def details(experiments: TableEvidence) -> str:
    """Whether there are bars."""
    return style.bars_said(len(times) for times in experiments.rows["makespan_seconds"])
