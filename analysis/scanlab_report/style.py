"""How figures look: widths, fonts, axes, legends, and colours that survive print and colour
blindness (the palette of Okabe and Ito)."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation
from scipy.optimize import isotonic_regression

COLUMN, DOUBLE = 3.4, 7.1
"""Widths in inches of a figure in one column, and of one across both columns."""
FOOTER_SIZE, FOOTER_LINE, FOOTER_LETTER, HEADING = 6.0, 0.1, 0.041, 0.2
"""Size of the footer's letters in points; in inches the height of its lines and the width of its
letters, and the height of the line above a part of a stack."""
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILLION, PURPLE, GREY = "#0072B2", "#D55E00", "#CC79A7", "#6E6E6E"
WINE = "#882255"
"""WINE is of Tol's muted palette, darker than the other colours."""


@dataclass(frozen=True)
class Look:
    """Colour, marker, line and fill of one series."""

    colour: str
    marker: str
    line: str
    filled: bool = True

    def plot(self) -> dict[str, Any]:
        """Keyword arguments for ``Axes.plot`` and ``Line2D``."""
        inside = self.colour if self.filled else "white"
        edge = {"color": self.colour, "marker": self.marker, "markeredgecolor": self.colour}
        return edge | {"linestyle": self.line, "markerfacecolor": inside}


@dataclass(frozen=True)
class End:
    """The end of a line that a margin legend names; `width` is that of the line in points."""

    label: str
    look: Look
    x: float
    y: float
    width: float | None = None


_TICKS = {"major.width": 0.6, "minor.width": 0.4, "major.size": 2.5, "minor.size": 1.5}
_SETTINGS: dict[str, Any] = {
    **dict.fromkeys(("font.size", "axes.titlesize", "axes.labelsize"), 8.5),
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), 7.5),
    **{f"{axis}tick.{name}": value for axis in "xy" for name, value in _TICKS.items()},
    **dict.fromkeys(("legend.frameon", "axes.spines.top", "axes.spines.right"), False),
    **{"font.family": "STIXGeneral", "mathtext.fontset": "stix", "pdf.fonttype": 42},
    **{"axes.grid": True, "grid.color": "#E4E4E4", "grid.linewidth": 0.5, "axes.linewidth": 0.6},
    **{"axes.axisbelow": True, "axes.titlelocation": "left", "legend.handlelength": 2.6},
    **{"lines.linewidth": 1.0, "lines.markersize": 3.4, "lines.markeredgewidth": 0.8},
    **{"figure.dpi": 100, "savefig.dpi": 220},
    **{"figure.constrained_layout.w_pad": 0.03, "figure.constrained_layout.h_pad": 0.02},
}


sheet = partial(mpl.rc_context, _SETTINGS)
"""The settings under which every figure is drawn."""


def figure(
    width: float, height: float, columns: int = 1, rows: int = 1, **subplots: Any
) -> tuple[Figure, Sequence[Axes]]:
    """A figure and its axes row by row, laid out so that nothing is cut; sizes in inches.

    While `stack` draws, it is the next part of that figure.
    """
    ratios = {key: subplots.pop(key, None) for key in ("width_ratios", "height_ratios")}
    drawn = _stack.part(width, height) if _stack else _leave_room(_sheet(width, height))
    axes = drawn.subplots(rows, columns, squeeze=False, gridspec_kw=ratios, **subplots)
    return drawn, list(axes.flat)


def _sheet(width: float, height: float) -> Figure:
    return pyplot.figure(figsize=(width, height), layout="constrained")


def _leave_room(drawn: Figure, lines: int = 1) -> Figure:
    """Keep the axes above a footer of some lines."""
    bottom = (0.04 + FOOTER_LINE * lines) / drawn.get_figheight()
    drawn.get_layout_engine().set(rect=(0, bottom, 0.99, 1 - bottom))
    return drawn


class Stack:
    """A figure that grows downwards by parts, each below a line with its `name`."""

    def __init__(self, most: int) -> None:
        self.name, self.sheet = "", _sheet(DOUBLE, 1.0)
        self.heights = np.zeros(2 * most)  # of a name, of its part, of the next name, …
        self.grid = self.sheet.add_gridspec(2 * most, 1)

    def part(self, width: float, height: float) -> SubFigure:
        """The next part. The parts before it keep their size."""
        row = np.count_nonzero(self.heights)
        self.heights[row : row + 2] = HEADING, height - FOOTER_LINE
        self.sheet.set_size_inches(width, self.heights.sum() + FOOTER_LINE + 0.04)
        _leave_room(self.sheet)
        self.grid.set_height_ratios(self.heights)
        heading, part = (self.sheet.add_subfigure(self.grid[place]) for place in (row, row + 1))
        self.heading = heading.text(0.02 / width, 0.5, self.name, fontweight="bold", va="center")
        return part


_stack: Stack | None = None


@contextmanager
def stack(most: int) -> Iterator[Stack]:
    """Collect the figures that :func:`figure` makes as parts of one figure, `most` at the most."""
    global _stack
    _stack = Stack(most)
    try:
        yield _stack
    finally:
        _stack = None


def plain(text: str) -> str:
    """Return text of a user for a figure: a dollar sign begins no formula in it."""
    return text.replace("$", r"\$")


def footer(drawn: Figure, parts: Sequence[str]) -> None:
    """Write small lines under a figure that state its sources. Each further line makes the figure
    taller and leaves its axes as they are."""
    width, height = drawn.get_size_inches()
    lines = textwrap.wrap(plain("; ".join(parts)), int(width / FOOTER_LETTER))
    taller = height + max(0, len(lines) - 1) * FOOTER_LINE
    drawn.set_size_inches(width, taller)
    _leave_room(drawn, max(1, len(lines)))
    form = {"fontsize": FOOTER_SIZE, "color": GREY, "va": "bottom", "linespacing": 1.2}
    drawn.text(0.02 / width, 0.035 / taller, "\n".join(lines), **form)


def save(drawn: Figure, targets: Iterable[Path]) -> None:
    """Write a figure to files, without the date, and close it."""
    if engine := drawn.get_layout_engine():
        engine.execute(drawn)
        drawn.set_layout_engine("none")  # else a file would be drawn once more for its layout
    for target in targets:
        metadata = {"CreationDate": None} if target.suffix == ".pdf" else None
        drawn.savefig(target, metadata=metadata)
    pyplot.close(drawn)


def legend(
    drawn: Figure, named: Axes | Iterable[Any], side: str = "right", columns: int = 0, **form: Any
) -> None:
    """Name the lines of a panel, or some samples, above a figure at a side, in one row unless
    there is a number of columns."""
    handles = named.get_legend_handles_labels()[0] if isinstance(named, Axes) else [*named]
    place = {"loc": f"outside upper {side}", "ncols": columns or max(1, len(handles))}
    drawn.legend(handles=handles, **place, **{"borderpad": 0} | form)


def margin_legend(axes: Axes, ends: Iterable[End | None]) -> None:
    """Name lines at the right margin, each at the height where it ends, pushed apart. A leader goes
    to the name of a line that reaches the margin. Call last, when limits are final."""
    known = sorted(filter(None, ends), key=lambda end: end.y)
    if not known:
        return
    drawn, letters = axes.get_figure(), mpl.rcParams["legend.fontsize"]
    shift = lambda x, y: axes.transAxes + ScaledTranslation(x / 72, y / 72, drawn.dpi_scale_trans)
    form = lambda end: end.look.plot() | {"label": end.label, "linewidth": end.width}
    samples = [Line2D([], [], **form(end)) for end in known]
    near = {"borderaxespad": 0, "borderpad": 0, "handlelength": 16 / letters, "handletextpad": 0.4}
    drawn.figure.get_layout_engine().execute(drawn.figure)  # which takes less than to draw
    to_axes = axes.transData + axes.transAxes.inverted()
    across, starts = to_axes.transform([(end.x, end.y) for end in known]).T
    gaps = np.arange(len(known)) * letters * drawn.dpi / 72 / axes.get_window_extent().height
    placed = np.clip(isotonic_regression(starts - gaps).x, 0, max(0, 1 - gaps[-1])) + gaps
    leader: dict[str, Any] = {"arrowstyle": "-", "lw": 0.5, "shrinkA": 0, "shrinkB": 0}
    place = {"textcoords": shift(5, 0), "xycoords": "axes fraction", "annotation_clip": False}
    for end, sample, x, start, at in zip(known, samples, across, starts, placed, strict=True):
        if x > 0.88:
            leader["color"] = end.look.colour
            axes.annotate("", (1, start), xytext=(1, at), arrowprops=leader, **place)
        where = {"loc": "center left", "bbox_to_anchor": (1, at), "bbox_transform": shift(5, 0)}
        name = axes.add_artist(Legend(axes, [sample], [end.label], **where, **near))
        name.set_clip_box(None)  # the layout makes room for it
