"""Speed of the shapes that CUB's scan was tuned among."""

from __future__ import annotations

import pandas as pd

from scanlab_report.read.documents.base import ELEMENT_BYTES
from scanlab_report.read.records import settings_of
from scanlab_report.select.evidence import TableEvidence
from scanlab_report.select.variants import CEILING, CUBS
from scanlab_report.stats import intervals

LOOK_AHEAD, LOOK_BACK = "cub_look_ahead_shape", "cub_look_back_shape"
TYPES = ("i8", "i16", "i32", "i64")
SHIPPED = "as shipped"


def by_tile(shapes: TableEvidence) -> pd.DataFrame:
    """``type``, ``items``, ``variant``, ``kib``, ``ratio``, ``low``, ``high``, ``tuned``: a copy's time over that of each shape, at the sizes where all were timed.

    Of CUB as shipped the fastest: ``variant`` is :data:`SHIPPED`, ``kib`` not known. ``tuned``: whether the shape is one of those that were left, and of them the fastest there.
    """
    cases = shapes.rows[shapes.rows["type"].isin(TYPES)]
    is_shape = cases["variant"].isin((LOOK_AHEAD, LOOK_BACK))
    sizes = cases[is_shape].groupby(["type", "variant", "settings"])["items"].transform("nunique")
    finalist = is_shape & (sizes.reindex(cases.index) > sizes.min())
    rows = []
    for (type_name, n), of in cases.groupby(["type", "items"], sort=True):
        here, copies = of[is_shape[of.index]], of[of["variant"] == CEILING]
        if copies.empty or here["settings"].nunique() <= finalist[of.index].sum():
            continue
        copy, shipped = copies["samples"].iloc[0], of[of["variant"].isin(shapes.about.ids(CUBS)) & ~is_shape[of.index]]
        left = here[finalist[here.index]]
        tuned = left["median_ns"].idxmin() if len(left) else None
        for row in here.itertuples():
            ratio = intervals.ratio_interval(copy, row.samples)
            rows.append((type_name, n, row.variant, _kib(shapes, type_name, row.variant, row.settings), ratio.value, ratio.low, ratio.high, row.Index == tuned))
        if len(shipped):
            ratio = intervals.ratio_interval(copy, shipped.loc[shipped["median_ns"].idxmin(), "samples"])
            rows.append((type_name, n, SHIPPED, float("nan"), ratio.value, ratio.low, ratio.high, False))
    return pd.DataFrame(rows, columns=["type", "items", "variant", "kib", "ratio", "low", "high", "tuned"])


def _kib(shapes: TableEvidence, type_name: str, variant: str, settings: str) -> float:
    """What a block takes at once."""
    of = {name: int(value) for name, value in (shapes.about[variant].defaults | settings_of(settings)).items() if value.isdigit()}
    threads = 32 * of["warps"] if variant == LOOK_AHEAD else of["threads"]
    return threads * of["items"] * ELEMENT_BYTES[type_name] / 1024
