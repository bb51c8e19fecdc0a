"""How good the engine model is: predictions against a device, and advice."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from scanlab_report import marks, style
from scanlab_report.chapters.schedules import WORK
from scanlab_report.console import count
from scanlab_report.data import Data
from scanlab_report.formats import Table, alike, significant, size, whole
from scanlab_report.pick import newest
from scanlab_report.shown import Shown, figure, shown, table
from scanlab_report.sources import Source, source_of
from scanlab_report.tables import MEASURED


def computed_source(data: Data, rows: pd.DataFrame, counts: Sequence[Any]) -> Source:
    """The runs that the model is compared with, and the model's commit."""
    file = data.files[rows["file"].iloc[0]]
    about = {f"git_{k}": file.context.get(f"measured_{k}", "") for k in ("commit", "dirty")}
    measured = replace(file, context=about)
    return source_of(
        [file],
        None if pd.isna(counts).any() else (int(min(counts)), int(max(counts))),
        commits=(measured.revision,) if measured.commit else (),
        origin="computed now" if file.origin == MEASURED else file.origin,
        computed_by=f"simulated by commit {source_of([file]).revision}",
    )


def predictions(data: Data) -> tuple[pd.DataFrame, Source]:
    rows = newest(data, "comparison", "comparison of the engine model with a device")
    return rows, computed_source(data, rows, list(rows["repetitions"]))


def errors(rows: pd.DataFrame, column: str) -> pd.Series:
    """The errors of predicted makespans, in percent of the measured ones."""
    return 100 * (pd.to_numeric(rows[column]) / rows["measured_us"] - 1).abs()


def overlap(rows: pd.DataFrame, which: str = "") -> float:
    """Percent of the overlapping pairs of operations that overlap in prediction and measurement."""
    columns = [f"{which}overlap_in_{where}" for where in ("both", "either")]
    both, either = rows[columns].apply(pd.to_numeric).sum(skipna=False)
    return 100 * float(both) / float(either) if either else float("nan")


@figure("model")
def model_residuals(data: Data) -> Shown:
    """Engine model against the device of its calibration: error of the makespan, and the share of
    overlapping pairs that both have."""
    rows, source = predictions(data)
    share = lambda which: 100 * rows[f"{which}_both"] / rows[f"{which}_either"].replace(0, np.nan)
    rows = rows.sort_values("measured_us", kind="stable").assign(
        ratio=rows["predicted_us"] / rows["measured_us"],
        possible=share("best_overlap_in"),
        both=share("overlap_in"),
    )
    drawn, (left, right) = style.figure(style.DOUBLE, 2.3, 2, 1, width_ratios=(3, 1))
    thin, dashed = (style.Look(style.GREY, "None", line) for line in ("-", "--"))
    names = sorted(set(rows["schedule"]))
    for place, name in enumerate(names):
        own = rows.index[rows["schedule"] == name]
        spread = np.linspace(-0.38, 0.38, len(own)) if len(own) > 1 else 0
        rows.loc[own, "place"] = place + spread
    looks = (style.ORANGE, "o"), (style.BLUE, "s"), (style.BLACK, "^")
    for place, (connections, own) in enumerate(rows.sort_index().groupby("connections")):
        points, form = style.Look(*looks[min(place, 2)], "None"), {"markersize": 3.2, "zorder": 3}
        label = count(connections, "hardware work queue")
        marks.curve(left, own, "place", points, label, "ratio", **form)
        marks.curve(right, own, "possible", points, "", "both", clip_on=False, **form)
    marks.level(left, 1, thin)
    for off in (-0.10, -0.03, 0.03, 0.10):
        marks.level(left, 1 + off, dashed, width=0.7)
    left.set_xticks(range(len(names)), [name.replace("_", "\n") for name in names], fontsize=6)
    left.set(xlim=(-0.6, len(names) - 0.4), ylabel="predicted / measured")
    left.grid(visible=False, axis="x")
    left.legend(loc="upper right", ncols=2)
    right.plot((0, 100), (0, 100), zorder=1, **thin.plot())
    marks.level(right, 95, dashed, width=0.7)
    right.set(xlim=(0, 100), ylim=(0, 100), xlabel="best possible, %", ylabel="pairs in both, %")
    caption = (
        "Left: predicted over measured makespan, by schedule and then by makespan; dashed: 3% and "
        "10% off. Right: share of overlapping pairs of operations that overlap in both, against "
        "that of the prediction that agrees best with all repetitions; dashed: 95%. There are no "
        "error bars."
    )
    return shown(data, drawn, caption, source)


@table("model")
def model_advice(data: Data) -> Shown:
    """Advice of the engine model, beside the fastest choice measured."""
    every = newest(data, "advice", "advice of the engine model held against a sweep")
    rows = every.sort_values(["workload", "items", "work"], ignore_index=True)
    counts = [row.get("repetitions") for name in ("advised", "fastest") for row in every[name]]
    chosen = lambda own: f"{own['schedule']}, {own['chunks']} × {own['streams']}"
    for which in ("advised", "fastest"):
        rows[f"{which}_choice"] = rows[which].map(chosen)
        rows[f"{which}_ms"] = rows[which].map(lambda choice: choice["measured_us"] / 1e3)
    percent = lambda name: (100 * rows[name]).map("{:.1f}".format)
    rows["ties_apart"] = percent("ties_least_slower") + "–" + percent("ties_most_slower")
    for name, column in (("", "slower"), ("median_", "median_error"), ("worst_", "worst_error")):
        rows[f"{name}percent"] = 100 * rows[column]
    tenth = "{:.1f}".format
    columns = [*alike(str, "workload"), *alike(size, "items"), *alike(whole, "work", "choices")]
    for which in ("advised", "fastest"):
        columns += alike(str, **{f"{which}_choice": "chunks × streams"}, group=which)
        columns += alike(significant, **{f"{which}_ms": "ms"}, group=which)
    columns += alike(tenth, percent="slower, %") + alike(whole, ties="n", group="ties")
    columns += alike("{}".format, ties_apart="slower, %", group="ties")
    columns += alike(tenth, median_percent="median", worst_percent="worst", group="error, %")
    caption = (
        "Advice of the engine model beside the fastest measured choice of one sweep. Ties: the "
        "number n of measured choices that the model predicts as fast as the advised one, and "
        f"their slowdown. Error: predicted against measured makespan over all choices. {WORK}"
    )
    missed = rows[~rows["stated_was_measured"].astype(bool)]
    named = ", ".join(f"{row.workload} of {size(row.items)} items" for row in missed.itertuples())
    note = f"The advised choice was not measured for {named}; the best measured one stands instead."
    table_ = Table(caption, columns, rows, (note,) if named else ())
    return shown(data, table_, caption, computed_source(data, every, counts))
