"""Names of lines at the right margin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.offsetbox import AnnotationBbox, DrawingArea, HPacker, TextArea
from matplotlib.transforms import ScaledTranslation

from scanlab_report.style.base import Look
from scanlab_report.style.figures import current, named_lines


@dataclass(frozen=True)
class End:
    """The end of a line that a margin legend names."""

    label: str
    look: Look
    x: float
    y: float
    width: float = 1.0


def margin_legend(axes: Axes, ends: Sequence[End], gap: float = 7.6) -> None:
    """Name lines at the right margin, each at the height where it ends, pushed apart by at least
    ``gap`` points.

    Lines that end early are named too, with a leader to the margin only for those that reach it.
    Call last, when limits are final. What stands in the margin is placed in points from the axes'
    right edge, so that the layout can make room for it.
    """
    if not ends:
        return
    if current().width:
        named = named_lines.setdefault(axes.figure.figure, {})
        for end in sorted(ends, key=lambda end: -end.y):
            named.setdefault(
                end.label,
                Line2D([], [], label=end.label, **(end.look.plot() | {"linewidth": end.width})),
            )
        return
    gap *= mpl.rcParams["legend.fontsize"] / 7.5
    figure_ = axes.get_figure()
    figure_.canvas.draw()
    inverse = axes.transAxes.inverted()
    height = axes.get_window_extent().height * 72.0 / figure_.dpi
    wanted = np.array(
        [inverse.transform(axes.transData.transform((end.x, end.y)))[1] * height for end in ends]
    )
    placed = _spread(wanted, gap, height)
    left, right = axes.get_xlim()

    margin = axes.transAxes + ScaledTranslation(5 / 72, 0, figure_.dpi_scale_trans)
    for end, start, target in zip(ends, wanted / height, placed / height, strict=True):
        if np.log(end.x) > np.log(right) - 0.12 * (np.log(right) - np.log(left)):
            axes.annotate(
                "",
                xy=(1, start),
                xycoords="axes fraction",
                xytext=(1, target),
                textcoords=margin,
                arrowprops={
                    "arrowstyle": "-",
                    "color": end.look.colour,
                    "lw": 0.5,
                    "shrinkA": 0,
                    "shrinkB": 0,
                },
                annotation_clip=False,
            )
        sample = DrawingArea(16, 4)
        sample.add_artist(
            Line2D([0, 16], [2, 2], **(end.look.plot() | {"marker": "", "linewidth": end.width}))
        )
        sample.add_artist(Line2D([8], [2], **end.look.plot()))
        name = HPacker(
            children=[
                sample,
                TextArea(end.label, textprops={"fontsize": mpl.rcParams["legend.fontsize"]}),
            ],
            pad=0,
            sep=3,
            align="center",
        )
        axes.add_artist(
            AnnotationBbox(
                name,
                (1, target),
                xycoords="axes fraction",
                xybox=(6, 0),
                boxcoords="offset points",
                box_alignment=(0, 0.5),
                frameon=False,
                pad=0,
                annotation_clip=False,
            )
        )


def _spread(wanted: np.ndarray, gap: float, height: float) -> np.ndarray:
    """Move heights apart to at least ``gap``, as little as possible, and keep them on the axes if
    they fit."""
    order = np.argsort(wanted, kind="stable")
    clusters: list[list[float]] = []  # mean of wanted minus offset, members
    for position, index in enumerate(order):
        clusters.append([wanted[index] - position * gap, 1])
        while len(clusters) > 1 and clusters[-2][0] > clusters[-1][0]:
            mean, size = clusters.pop()
            before, count = clusters.pop()
            clusters.append([(mean * size + before * count) / (size + count), size + count])
    flat = np.concatenate([np.full(int(size), mean) for mean, size in clusters])
    low, high = 0.0, max(0.0, height - (len(wanted) - 1) * gap)
    placed = np.empty_like(wanted)
    placed[order] = np.clip(flat, low, high) + np.arange(len(wanted)) * gap
    return placed
