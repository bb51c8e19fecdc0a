"""Engine model against the device of its calibration: error of the makespan, and the share of overlapping pairs that both have."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scanlab_report.layout import style
from scanlab_report.read import streams
from scanlab_report.select.evidence import TableEvidence
from scanlab_report.select.streams_evidence import Experiments

CAPTION = (
    "Engine model against device. Left: predicted over measured makespan, by schedule and then by makespan; dashed: 3% and 10% off. "
    "Right: share of overlapping pairs of operations that overlap in prediction and measurement alike. The diagonal is the prediction that "
    "agrees best with all repetitions; dashed: 95%. Durations are calibrated, hardware work queues as traced. There are no error bars."
)
NEEDS = {"experiments": Experiments(streams.COMPARISON)}
WIDE = True

_LOOKS = (("o", style.ORANGE), ("s", style.BLUE), ("^", style.BLACK))


def agreement(rows: pd.DataFrame, which: str = "") -> pd.Series:
    """The share of pairs that overlap in both of those that do in either, a configuration; NaN where nothing overlaps."""
    return rows[which + "overlap_in_both"] / rows[which + "overlap_in_either"].where(rows[which + "overlap_in_either"] > 0)


def _by_queues(rows: pd.DataFrame) -> Iterator[tuple[int, pd.DataFrame, str, str]]:
    """The configurations by the number of queues, each with a look; from the third on they share one."""
    for place, (connections, of) in enumerate(rows.groupby("connections")):
        yield connections, of, *_LOOKS[min(place, len(_LOOKS) - 1)]


def draw(experiments: TableEvidence) -> Figure:
    rows = experiments.rows.assign(ratio=experiments.rows["predicted_us"] / experiments.rows["measured_us"])
    drawn, (makespans, pairs) = style.figure(style.DOUBLE, 2.3, 2, 1, width_ratios=(3, 1))
    _makespans(makespans, rows)
    _pairs(pairs, rows)
    return drawn


def _makespans(axes: Axes, rows: pd.DataFrame) -> None:
    names = sorted(set(rows["schedule"]))
    places: dict[int, float] = {}
    for place, name in enumerate(names):
        of = rows[rows["schedule"] == name].sort_values("measured_us")
        places |= dict(zip(of.index, place + np.linspace(-0.38, 0.38, len(of)) if len(of) > 1 else [float(place)], strict=True))
    for connections, of, marker, colour in _by_queues(rows):
        axes.plot([places[i] for i in of.index], of["ratio"], marker, markersize=3.2, color=colour, linestyle="none", zorder=3,
                  label=f"{connections} hardware work queue{'' if connections == 1 else 's'}")  # fmt: skip
    axes.axhline(1, color=style.GREY, linewidth=1.0, zorder=1)
    for off in (0.03, 0.10):
        for side in (1 - off, 1 + off):
            axes.axhline(side, color=style.GREY, linewidth=0.7, linestyle="--", zorder=1)
    axes.set_xticks(range(len(names)), [name.replace("_", "\n") for name in names], fontsize=6)
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.grid(visible=False, axis="x")
    axes.set_ylabel("predicted / measured")
    axes.legend(loc="upper right", ncols=2)


def _pairs(axes: Axes, rows: pd.DataFrame) -> None:
    for _, of, marker, colour in _by_queues(rows):
        axes.plot(100 * agreement(of, "best_"), 100 * agreement(of), marker, markersize=3.2, color=colour, linestyle="none", zorder=3, clip_on=False)
    axes.plot((0, 100), (0, 100), color=style.GREY, linewidth=1.0, zorder=1)
    axes.axhline(95, color=style.GREY, linewidth=0.7, linestyle="--", zorder=1)
    axes.set_xlim(0, 100)
    axes.set_ylim(0, 100)
    axes.set_xlabel("best possible, %")
    axes.set_ylabel("pairs in both, %")
