"""Speed of the shapes that CUB's scan was tuned among."""

from __future__ import annotations

import pandas as pd

from scanlab_report.schema.base import ELEMENT_BYTES
from scanlab_report.read.records import ideal_bytes
from scanlab_report.select.evidence import TableEvidence
from scanlab_report.select.variants import CEILING, SHAPES, cub_as_shipped

LOOK_AHEAD, LOOK_BACK, SHIPPED = "look-ahead", "look-back", "as shipped"


def by_tile(shapes: TableEvidence) -> pd.DataFrame:
    """``type``, ``op``, ``items``, ``algorithm``, ``kib``, ``ratio``, ``tuned``: a copy's median time over that of each shape, cold and from a stream, at the sizes where all were timed.

    ``algorithm``: :data:`LOOK_AHEAD` or :data:`LOOK_BACK`; of CUB as shipped, the fastest, :data:`SHIPPED`, and ``kib`` is not known. ``tuned``: whether the shape is, of the few that were left, the fastest there.
    """
    cases = shapes.rows[(shapes.rows["cache"] == "cold") & (shapes.rows["launch"] == "stream")]
    is_shape = cases["variant"].isin(shapes.about.ids(SHAPES))
    sizes = cases[is_shape].groupby(["type", "op", "variant", "settings"])["items"].transform("nunique").reindex(cases.index)
    left = is_shape & (sizes > sizes.groupby([cases["type"], cases["op"]]).transform("min"))
    rows = []
    for (type_name, op, n), of in cases.groupby(["type", "op", "items"], sort=False):
        time, here, finalists = of.set_index("variant")["median_ns"], of[is_shape[of.index]], of[left[of.index]]
        if CEILING not in time.index or len(here) == len(finalists):
            continue
        tuned = finalists["median_ns"].idxmin() if len(finalists) else None
        kib = ideal_bytes(type_name, op, 1) / 2 / 1024
        for row in here.itertuples():
            algorithm, items = _shape(shapes, row.variant, row.settings)
            rows.append((type_name, op, n, algorithm, kib * items, time[CEILING] / row.median_ns, row.Index == tuned))
        shipped = of[of["variant"].isin(cub_as_shipped(shapes.about)) & ~is_shape[of.index]]
        rows += [(type_name, op, n, SHIPPED, float("nan"), time[CEILING] / ns, False) for ns in shipped["median_ns"].nsmallest(1)]
    return pd.DataFrame(rows, columns=["type", "op", "items", "algorithm", "kib", "ratio", "tuned"]).sort_values(["op", "type", "items"], key=_by_width, kind="stable")


def _by_width(column: pd.Series) -> pd.Series:
    """Types by their bytes; what else there is as it is."""
    return column.map(lambda of: (ELEMENT_BYTES[of], of)) if column.name == "type" else column


def _shape(shapes: TableEvidence, variant: str, settings: str) -> tuple[str, int]:
    """The algorithm, and the items that a block takes at once."""
    of = {name: int(value) for name, value in (shapes.about[variant].defaults | shapes.about.settings[settings]).items() if value.isdigit()}
    return (LOOK_AHEAD, 32 * of["warps"] * of["items"]) if "warps" in of else (LOOK_BACK, of["threads"] * of["items"])
