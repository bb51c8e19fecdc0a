"""Speed of CUB in each configuration that tuning tried for operators other than sums: share of a copy, by tile size; the star is cub_tuned."""

from __future__ import annotations

from matplotlib.figure import Figure

from scanlab_report.figures.cub_shapes import HOW_TO_READ, by_size
from scanlab_report.select.evidence import TableEvidence
from scanlab_report.select.timings import Shapes

CAPTION = f"Speed of CUB's scans with costlier operators as a share of a device copy, against tile size. Columns: types and operators; rows: sizes, the largest at the bottom: {HOW_TO_READ}"
NEEDS = {"shapes": Shapes(sums=False)}
WIDE = True


def draw(shapes: TableEvidence) -> Figure:
    return by_size(shapes, "{op}\n{type}, {n}")
