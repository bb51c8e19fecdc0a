"""How figures look: widths, fonts, axes, legends, and colours that survive print and colour
blindness (the palette of Okabe and Ito)."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.offsetbox import AnnotationBbox, DrawingArea, HPacker, TextArea
from matplotlib.textpath import TextPath
from matplotlib.transforms import ScaledTranslation

COLUMN, DOUBLE = 3.4, 7.1
"""Widths in inches of a figure in one column, and of one across both columns."""
FOOTER_SIZE, FOOTER_LINE = 6.0, 0.1
"""Size of the footer's letters in points, and height of one of its lines in inches."""
HEADING = 0.2
"""Height in inches of the line above a part of a stack."""
NARROW = 0.8
"""Height of a panel in a column, as a part of its height across both."""
SLACK = 0.04
"""Inches left free at the right edge, for letters that are wider in one file format than in
another."""

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
        return {
            "color": self.colour,
            "marker": self.marker,
            "linestyle": self.line,
            "markerfacecolor": self.colour if self.filled else "white",
            "markeredgecolor": self.colour,
        }


@dataclass(frozen=True)
class End:
    """The end of a line that a margin legend names; `width` is that of the line in points."""

    label: str
    look: Look
    x: float
    y: float
    width: float | None = None


# --------------------------------------------------------------------------------------- sheets


def _letters(text: float, small: float) -> dict[str, float]:
    """Sizes of letters in points: of text, and of ticks and legends."""
    return {name: text for name in ("font.size", "axes.titlesize", "axes.labelsize")} | {
        name: small for name in ("xtick.labelsize", "ytick.labelsize", "legend.fontsize")
    }


@dataclass(frozen=True)
class Style:
    """Where a figure stands: its width, and the settings in which it differs from other figures."""

    width: float = 0.0
    """Width of every figure in inches; panels then stand in one column. 0: a column of the page or
    both, as the figure requires."""
    ratio: float = 0.0
    """Least ratio of width to height; 0: as the figure requires."""
    settings: Mapping[str, float] = field(default_factory=dict)


_SLIDE = {"lines.linewidth": 1.5, "lines.markersize": 4.5, "savefig.dpi": 280}
STYLES = {
    "page": Style(),
    "ieee-column": Style(3.5, settings=_letters(8, 7)),
    "slide": Style(ratio=16 / 9, settings=_letters(10, 9) | _SLIDE),
}
"""The styles by name. ``slide`` is as wide as a page and is meant to be shown at twice the size."""
_style = STYLES["page"]
_TICKS = {"major.width": 0.6, "minor.width": 0.4, "major.size": 2.5, "minor.size": 1.5}
_SETTINGS: dict[str, Any] = _letters(8.5, 7.5) | {
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "axes.titlelocation": "left",
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.5,
    "axes.axisbelow": True,
    **{f"{axis}tick.{name}": value for axis in "xy" for name, value in _TICKS.items()},
    "lines.linewidth": 1.0,
    "lines.markersize": 3.4,
    "lines.markeredgewidth": 0.8,
    "figure.dpi": 100,
    "savefig.dpi": 220,
    "pdf.fonttype": 42,
}


@contextmanager
def sheet(name: str = "page") -> Iterator[None]:
    """The settings under which every figure is drawn."""
    global _style
    before, _style = _style, STYLES[name]
    try:
        with mpl.rc_context(_SETTINGS | dict(_style.settings)):
            yield
    finally:
        _style = before


def figure(
    width: float, height: float, columns: int = 1, rows: int = 1, **subplots: Any
) -> tuple[Figure, Sequence[Axes]]:
    """A figure and its axes row by row, laid out so that nothing is cut; sizes in inches.

    While `stack` draws, it is the next part of that figure.
    """
    grid = {ratios: subplots.pop(ratios, None) for ratios in ("width_ratios", "height_ratios")}
    if _style.width:
        if width > COLUMN and columns > 1:  # what stands side by side on a page
            ratios = grid["height_ratios"] or [1.0] * rows
            grid = {"height_ratios": [ratio for ratio in ratios for _ in range(columns)]}
            height, rows, columns = NARROW * height * columns, rows * columns, 1
            for axis in ("sharex", "sharey"):
                subplots[axis] = subplots.get(axis) not in ("col", "row", None, False)
        width = _style.width
    elif _style.ratio:
        width, height = DOUBLE, max(height, DOUBLE / _style.ratio)
    drawn = _stack.part(width, height) if _stack else _sheet(width, height)
    axes = drawn.subplots(rows, columns, squeeze=False, gridspec_kw=grid, **subplots)
    return drawn, list(axes.flat)


def _sheet(width: float, height: float) -> Figure:
    drawn = pyplot.figure(figsize=(width, height), layout="constrained")
    drawn.get_layout_engine().set(w_pad=0.03, h_pad=0.02)
    _leave_room(drawn)
    return drawn


def _leave_room(drawn: Figure, lines: int = 1) -> None:
    """Keep the axes above a footer of some lines."""
    width, height = drawn.get_size_inches()
    bottom = (0.04 + FOOTER_LINE * lines) / height
    drawn.get_layout_engine().set(rect=(0, bottom, 1 - SLACK / width, 1 - bottom))


class Stack:
    """A figure that grows downwards by parts, each below a line with its `name`."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.name = ""
        self.sheet: Figure | None = None
        self.heights: list[float] = []  # of a name, of its part, of the next name, …

    def part(self, width: float, height: float) -> SubFigure:
        """The next part. The parts before it keep their size."""
        if self.sheet is None:
            self.sheet = _sheet(width, height)
            self.grid = self.sheet.add_gridspec(2 * self.most, 1)
        row = len(self.heights)
        self.heights += [HEADING, height - FOOTER_LINE]
        self.sheet.set_size_inches(width, sum(self.heights) + FOOTER_LINE + 0.04)
        _leave_room(self.sheet)
        self.grid.set_height_ratios(self.heights + [0.0] * (2 * self.most - len(self.heights)))
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


def close(drawn: Figure) -> None:
    pyplot.close(drawn)


def plain(text: str) -> str:
    """Return text of a user for a figure: a dollar sign begins no formula in it."""
    return text.replace("$", r"\$")


def footer(drawn: Figure, parts: Sequence[str]) -> None:
    """Write small lines under a figure that state device, date, commit and whether it was measured
    or recorded. Parts stand side by side if they fit. Each further line makes the figure taller and
    leaves its axes as they are."""
    width, height = drawn.get_size_inches()
    lines: list[str] = []
    for part in map(plain, parts):
        joined = f"{lines[-1]}; {part}" if lines else part
        if lines and _text_width(joined) <= width - 0.04:
            lines[-1] = joined
        else:
            most = int(len(part) * (width - 0.04) / _text_width(part))
            lines += textwrap.wrap(part, max(20, most))
    if not lines:
        return
    taller = height + (len(lines) - 1) * FOOTER_LINE
    drawn.set_size_inches(width, taller)
    _leave_room(drawn, len(lines))
    for number, line in enumerate(reversed(lines)):
        bottom = (0.035 + number * FOOTER_LINE) / taller
        drawn.text(0.02 / width, bottom, line, fontsize=FOOTER_SIZE, color=GREY, va="bottom")


@cache
def _text_width(line: str) -> float:
    """Width in inches of a line of the footer; many figures have the same."""
    letters = FontProperties(family=mpl.rcParams["font.family"])
    return TextPath((0, 0), line, size=FOOTER_SIZE, prop=letters).get_extents().width / 72


def save(drawn: Figure, targets: Iterable[Path]) -> None:
    """Write a figure to files, without the date, and close it."""
    for target in targets:
        metadata = {"CreationDate": None} if target.suffix == ".pdf" else None
        try:
            drawn.savefig(target, metadata=metadata)
        # closing a PDF on a full disk, matplotlib fails with one of several errors of its own
        except Exception as error:
            if isinstance(error.__context__, OSError):
                raise error.__context__ from None
            raise
        drawn.set_layout_engine("none")
    pyplot.close(drawn)


_named_lines: WeakKeyDictionary[Figure, dict[str, Line2D]] = WeakKeyDictionary()
"""The lines of each figure by name, from the highest end down, in a column of a paper."""


def finish(drawn: Figure) -> None:
    """Complete a figure for a column of a paper. Label the axis of each panel, which had its label
    from a panel beside it, and name the lines above all panels."""
    if not _style.width:
        return
    above = ""
    for axes in drawn.axes:
        ticks = (label.get_text().replace("mathdefault", "") for label in axes.get_yticklabels())
        has_names = any(re.search("[a-z]{2}", text) for text in ticks)
        spec = axes.get_subplotspec()
        above = axes.get_ylabel() or above
        if above and spec and spec.get_gridspec().ncols == 1 and axes.axison and not has_names:
            axes.set_ylabel(above)
    if named := _named_lines.pop(drawn, {}):
        letter = mpl.rcParams["legend.fontsize"] / FOOTER_SIZE
        widths = [_text_width(name) * letter + 0.52 for name in named]  # with a sample, and space
        lines = 1
        while sum(max(widths[n : n + lines]) for n in range(0, len(widths), lines)) > _style.width:
            if (lines := lines + 1) >= len(widths):
                break
        drawn.set_size_inches(_style.width, drawn.get_figheight() + 0.15 * lines + 0.06)
        _leave_room(drawn)
        columns = -(-len(named) // lines)
        legend(drawn, named.values(), "left", columns, borderpad=0.2, columnspacing=1.0)


# -------------------------------------------------------------------------------------- legends


def legend(
    drawn: Figure,
    named: Axes | Iterable[Any],
    side: str = "right",
    columns: int = 0,
    **options: Any,
) -> None:
    """Name the lines of a panel, or some samples, above a figure at a side, in one row unless
    there is a number of columns."""
    handles = named.get_legend_handles_labels()[0] if isinstance(named, Axes) else [*named]
    place = {"loc": f"outside upper {side}", "ncols": columns or max(1, len(handles))}
    drawn.legend(handles=handles, **place, **{"borderpad": 0} | options)


def margin_legend(axes: Axes, ends: Iterable[End | None]) -> None:
    """Name lines at the right margin, each at the height where it ends, pushed apart.

    Lines that end early are named too, with a leader to the margin only for those that reach it.
    Call last, when limits are final. What stands in the margin is placed in points from the axes'
    right edge, so that the layout can make room for it.
    """
    known = [end for end in ends if end]
    if not known:
        return
    sample = lambda end: end.look.plot() | {"linewidth": end.width}
    if _style.width:
        named = _named_lines.setdefault(axes.figure.figure, {})
        for end in sorted(known, key=lambda end: -end.y):
            named.setdefault(end.label, Line2D([], [], label=end.label, **sample(end)))
        return
    figure_, letters = axes.get_figure(), mpl.rcParams["legend.fontsize"]
    figure_.canvas.draw()
    to_axes = axes.transData + axes.transAxes.inverted()
    starts = to_axes.transform([(end.x, end.y) for end in known])[:, 1]
    height = axes.get_window_extent().height * 72.0 / figure_.dpi
    targets = _spread(starts * height, 7.6 * letters / 7.5, height) / height
    left, right = np.log(axes.get_xlim())
    margin = axes.transAxes + ScaledTranslation(5 / 72, 0, figure_.dpi_scale_trans)
    leader = {"arrowstyle": "-", "lw": 0.5, "shrinkA": 0, "shrinkB": 0}
    place = {"xycoords": "axes fraction", "annotation_clip": False}
    for end, start, target in zip(known, starts, targets, strict=True):
        if np.log(end.x) > right - 0.12 * (right - left):
            arrow = leader | {"color": end.look.colour}
            ends_at = {"xytext": (1, target), "textcoords": margin}
            axes.annotate("", (1, start), arrowprops=arrow, **ends_at, **place)
        drawn = DrawingArea(16, 4)
        drawn.add_artist(Line2D([0, 16], [2, 2], **sample(end) | {"marker": ""}))
        drawn.add_artist(Line2D([8], [2], **end.look.plot()))
        text = TextArea(end.label, textprops={"fontsize": letters})
        name = HPacker(children=[drawn, text], pad=0, sep=3, align="center")
        offset = {"xybox": (6, 0), "boxcoords": "offset points", "box_alignment": (0, 0.5)}
        axes.add_artist(AnnotationBbox(name, (1, target), frameon=False, pad=0, **offset, **place))


def _spread(wanted: np.ndarray, gap: float, height: float) -> np.ndarray:
    """Move heights apart to at least ``gap``, as little as possible, and keep them on the axes if
    they fit."""
    order = np.argsort(wanted, kind="stable")
    offsets = np.arange(len(wanted)) * gap
    clusters: list[list[float]] = []  # of heights without offsets, which may not fall
    for place in wanted[order] - offsets:
        clusters.append([place])
        while len(clusters) > 1 and np.mean(clusters[-2]) > np.mean(clusters[-1]):
            clusters[-2:] = [clusters[-2] + clusters[-1]]
    means = [np.mean(cluster) for cluster in clusters for _ in cluster]
    placed = np.empty_like(wanted)
    placed[order] = np.clip(means, 0.0, max(0.0, height - offsets[-1])) + offsets
    return placed
