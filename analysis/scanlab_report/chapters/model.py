"""How good the engine model is: predictions against a device, and advice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from scanlab_report import style
from scanlab_report.chapters.bounds import WORK
from scanlab_report.console import count
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table, significant, size
from scanlab_report.pick import newest
from scanlab_report.shown import Shown, figure, shown, table
from scanlab_report.sources import Source, source_of
from scanlab_report.tables import MEASURED


def computed_source(data: Data, rows: pd.DataFrame, counts: Sequence[Any]) -> Source:
    """The runs that the model is compared with, and the model's commit."""
    file = data.files[rows["file"].iloc[0]]
    commit = str(file.context.get("measured_commit", ""))
    samples = None
    if len(counts) and all(isinstance(c, int | float) and c == c for c in counts):
        samples = (int(min(counts)), int(max(counts)))
    return source_of(
        [file],
        samples,
        commits=(commit,) if commit else (),
        origin="computed now" if file.origin == MEASURED else file.origin,
        dirty=str(file.context.get("measured_dirty")) == "true",
        computed_by=f"simulated by commit {source_of([file]).revision}",
    )


def predictions(data: Data) -> tuple[pd.DataFrame, Source]:
    rows = newest(data, "comparison", "comparison of the engine model with a device")
    return rows, computed_source(data, rows, list(rows["repetitions"]))


def agreement(rows: pd.DataFrame, which: str = "") -> pd.Series:
    """Return the share of pairs of operations that overlap in both timelines, among those that
    overlap in either; NaN if nothing overlaps."""
    either = rows[which + "overlap_in_either"]
    return rows[which + "overlap_in_both"] / either.where(either > 0)


@figure("model", wide=True)
def model_residuals(data: Data) -> Shown:
    """Engine model against the device of its calibration: error of the makespan, and the share of
    overlapping pairs that both have."""
    rows, source = predictions(data)
    drawn, (left, right) = style.figure(style.DOUBLE, 2.3, 2, 1, width_ratios=(3, 1))
    _makespans(left, rows.assign(ratio=rows["predicted_us"] / rows["measured_us"]))
    for _, own, points in _by_queues(rows):
        right.plot(100 * agreement(own, "best_"), 100 * agreement(own), clip_on=False, **points)
    right.plot((0, 100), (0, 100), color=style.GREY, linewidth=1.0, zorder=1)
    right.axhline(95, color=style.GREY, linewidth=0.7, linestyle="--", zorder=1)
    right.set_xlim(0, 100)
    right.set_ylim(0, 100)
    right.set_xlabel("best possible, %")
    right.set_ylabel("pairs in both, %")
    return shown(
        data,
        drawn,
        "Engine model against device. Left: predicted over measured makespan, by schedule and then "
        "by makespan; dashed: 3% and 10% off. Right: share of overlapping pairs of operations that "
        "overlap in prediction and measurement alike. The diagonal is the prediction that agrees "
        "best with all repetitions; dashed: 95%. Durations are calibrated, hardware work queues as "
        "traced. There are no error bars.",
        source,
    )


def _by_queues(rows: pd.DataFrame) -> Iterator[tuple[int, pd.DataFrame, dict[str, Any]]]:
    """Return the configurations by the number of queues, each with its points. From the third on
    they share a look."""
    looks = (("o", style.ORANGE), ("s", style.BLUE), ("^", style.BLACK))
    for place, (connections, own) in enumerate(rows.groupby("connections")):
        marker, colour = looks[min(place, 2)]
        yield (
            connections,
            own,
            {
                "marker": marker,
                "color": colour,
                "markersize": 3.2,
                "linestyle": "none",
                "zorder": 3,
            },
        )


def _makespans(axes: Axes, rows: pd.DataFrame) -> None:
    names = sorted(set(rows["schedule"]))
    places: dict[int, float] = {}
    for place, name in enumerate(names):
        own = rows[rows["schedule"] == name].sort_values("measured_us")
        spread = np.linspace(-0.38, 0.38, len(own)) if len(own) > 1 else np.zeros(1)
        places |= dict(zip(own.index, place + spread, strict=True))
    for connections, own, points in _by_queues(rows):
        label = count(connections, "hardware work queue")
        axes.plot([places[i] for i in own.index], own["ratio"], label=label, **points)
    axes.axhline(1, color=style.GREY, linewidth=1.0, zorder=1)
    for off in (0.03, 0.10):
        for side in (1 - off, 1 + off):
            axes.axhline(side, color=style.GREY, linewidth=0.7, linestyle="--", zorder=1)
    axes.set_xticks(range(len(names)), [name.replace("_", "\n") for name in names], fontsize=6)
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.grid(visible=False, axis="x")
    axes.set_ylabel("predicted / measured")
    axes.legend(loc="upper right", ncols=2)


@table("model")
def model_advice(data: Data) -> Shown:
    """Advice of the engine model, beside the fastest choice measured."""
    every = newest(data, "advice", "advice of the engine model held against a sweep")
    counts = [
        choice.get("repetitions") for which in ("advised", "fastest") for choice in every[which]
    ]
    source = computed_source(data, every, counts)
    rows = every.sort_values(["workload", "items", "work"], ignore_index=True)
    for which in ("advised", "fastest"):
        rows[f"{which}_choice"] = [
            f"{choice['schedule']}, {choice['chunks']} × {choice['streams']}"
            for choice in rows[which]
        ]
        rows[f"{which}_ms"] = [choice["measured_us"] / 1e3 for choice in rows[which]]
    rows["percent"] = 100 * rows["slower"]
    rows["ties_apart"] = [
        f"{100 * r.ties_least_slower:.1f}–{100 * r.ties_most_slower:.1f}" for r in rows.itertuples()
    ]
    for which in ("median", "worst"):
        rows[f"{which}_percent"] = 100 * rows[f"{which}_error"]
    tenth = "{:.1f}".format
    columns = [
        Column("workload", "workload", right=False),
        Column("items", "items", size),
        Column("work", "work"),
        Column("choices", "choices"),
        *(
            Column(f"{which}_{key}", heading, print_, right=key == "ms", group=which)
            for which in ("advised", "fastest")
            for key, heading, print_ in (
                ("choice", "chunks × streams", str),
                ("ms", "ms", partial(significant, digits=3)),
            )
        ),
        Column("percent", "slower, %", tenth),
        Column("ties", "n", group="ties"),
        Column("ties_apart", "slower, %", group="ties"),
        Column("median_percent", "median", tenth, group="error, %"),
        Column("worst_percent", "worst", tenth, group="error, %"),
    ]
    caption = (
        "Advice of the engine model, calibrated by microbenchmarks alone, beside the fastest "
        f"measured choice; times are medians of one sweep. {WORK} Ties: the number n of measured "
        "choices that the model predicts as fast as the advised one, and their slowdown over the "
        "fastest. Error: predicted against measured makespan over all choices."
    )
    unmeasured = [
        f"{r.workload} of {size(r.items)} items"
        for r in rows.itertuples()
        if not r.stated_was_measured
    ]
    notes: tuple[str, ...] = ()
    if unmeasured:
        notes = (
            f"The advised choice was not measured for {', '.join(unmeasured)}; the best "
            "measured one stands instead.",
        )
    return shown(data, Table(caption, columns, rows, notes), caption, source)
