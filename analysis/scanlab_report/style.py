"""How figures look: column widths, fonts, axes, legends, and colours that survive print and colour
blindness (Okabe & Ito's palette)."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
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
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator
from matplotlib.transforms import ScaledTranslation

from scanlab_report.intervals import FEWEST_OF_MEDIAN

COLUMN = 3.4
"""Width in inches of a figure in one column."""
DOUBLE = 7.1
"""Width in inches of a figure across both columns."""
_FOOTER_SIZE, _FOOTER_LINE = 6.0, 0.1
"""Size of the footer's letters in points, and height of one of its lines in inches."""
_HEADING = 0.2
"""Height in inches of the line above a part of a stack."""
_NARROW = 0.8
"""Height of a panel in a column, as a part of its height across both."""
_SLACK = 0.04
"""Inches left free at the right edge, for letters that are wider in one file format than in
another."""

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILLION, PURPLE, GREY = "#0072B2", "#D55E00", "#CC79A7", "#6E6E6E"
WINE = "#882255"
"""Of Tol's muted palette: darker than the others."""


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


def _letters(text: float, small: float) -> dict[str, float]:
    """Sizes of letters in points: of text, and of ticks and legends."""
    return {name: text for name in ("font.size", "axes.titlesize", "axes.labelsize")} | {
        name: small for name in ("xtick.labelsize", "ytick.labelsize", "legend.fontsize")
    }


@dataclass(frozen=True)
class Style:
    """Where a figure is to stand: how wide it is, and what differs from the settings of every
    figure."""

    width: float = 0.0
    """In inches, of every figure; panels then stand one below the other. 0: a column of the page,
    or both, as the figure says."""
    ratio: float = 0.0
    """Width to height at least; 0: as the figure says."""
    settings: Mapping[str, float] = field(default_factory=dict)


STYLES = {
    "page": Style(),
    "ieee-column": Style(3.5, settings=_letters(8, 7)),
    "slide": Style(
        ratio=16 / 9,
        settings=_letters(10, 9)
        | {"lines.linewidth": 1.5, "lines.markersize": 4.5, "savefig.dpi": 280},
    ),
}
"""By name; ``slide`` is as wide as a page and is meant to be shown twice as large."""
_style = STYLES["page"]


@contextmanager
def sheet(name: str = "page") -> Iterator[None]:
    """The settings under which every figure is drawn."""
    global _style
    before, _style = _style, STYLES[name]
    try:
        with _settings():
            yield
    finally:
        _style = before


def _settings() -> AbstractContextManager[None]:
    return mpl.rc_context(
        {
            "font.family": "STIXGeneral",
            "mathtext.fontset": "stix",
            "font.size": 8.5,
            "axes.titlesize": 8.5,
            "axes.labelsize": 8.5,
            "xtick.labelsize": 7.5,
            "ytick.labelsize": 7.5,
            "legend.fontsize": 7.5,
            "legend.frameon": False,
            "legend.handlelength": 2.6,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.linewidth": 0.6,
            "axes.grid": True,
            "grid.color": "#E4E4E4",
            "grid.linewidth": 0.5,
            "axes.axisbelow": True,
            "xtick.major.width": 0.6,
            "ytick.major.width": 0.6,
            "xtick.minor.width": 0.4,
            "ytick.minor.width": 0.4,
            "xtick.major.size": 2.5,
            "ytick.major.size": 2.5,
            "xtick.minor.size": 1.5,
            "ytick.minor.size": 1.5,
            "lines.linewidth": 1.0,
            "lines.markersize": 3.4,
            "lines.markeredgewidth": 0.8,
            "figure.dpi": 100,
            "savefig.dpi": 220,
            "pdf.fonttype": 42,
            "axes.titlelocation": "left",
            **_style.settings,
        }
    )


def figure(
    width: float, height: float, columns: int = 1, rows: int = 1, **subplots: Any
) -> tuple[Figure, Sequence[Axes]]:
    """A figure and its axes row by row, laid out so that nothing is cut; sizes in inches.

    While :func:`stacked` draws, it is the next part of that figure.
    """
    grid = {ratios: subplots.pop(ratios, None) for ratios in ("width_ratios", "height_ratios")}
    if _style.width:
        if width > COLUMN and columns > 1:  # what stands side by side on a page
            heights = [of for of in grid["height_ratios"] or [1.0] * rows for _ in range(columns)]
            height, rows, columns, grid = (
                _NARROW * height * columns,
                rows * columns,
                1,
                {"height_ratios": heights},
            )
            subplots |= {
                axis: False for axis in ("sharex", "sharey") if subplots.get(axis) in ("col", "row")
            }
        width = _style.width
    elif _style.ratio:
        width, height = DOUBLE, max(height, DOUBLE / _style.ratio)
    drawn = _stack.part(width, height) if _stack else _sheet(width, height)
    axes = drawn.subplots(rows, columns, squeeze=False, gridspec_kw=grid, **subplots)
    return drawn, list(axes.flat)


def _sheet(width: float, height: float) -> Figure:
    drawn = pyplot.figure(figsize=(width, height), layout="constrained")
    drawn.get_layout_engine().set(w_pad=0.03, h_pad=0.02)
    _leave_room(drawn, 1)
    return drawn


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
        self.heights += [_HEADING, height - _FOOTER_LINE]
        self.sheet.set_size_inches(width, sum(self.heights) + _FOOTER_LINE + 0.04)
        _leave_room(self.sheet, 1)
        self.grid.set_height_ratios(self.heights + [0.0] * (2 * self.most - len(self.heights)))
        heading, part = (self.sheet.add_subfigure(self.grid[place]) for place in (row, row + 1))
        self.heading = heading.text(0.02 / width, 0.5, self.name, fontweight="bold", va="center")
        return part


_stack: Stack | None = None


@contextmanager
def stack(most: int) -> Iterator[Stack]:
    """Meanwhile :func:`figure` makes the next part of one figure, of `most` at the most."""
    global _stack
    _stack = Stack(most)
    try:
        yield _stack
    finally:
        _stack = None


def close(drawn: Figure) -> None:
    pyplot.close(drawn)


def plain(text: str) -> str:
    """Text of others in a figure: a dollar sign begins no formula there."""
    return text.replace("$", r"\$")


def footer(drawn: Figure, parts: Sequence[str]) -> None:
    """The small lines under a figure that say device, date, commit and whether it was measured or
    recorded.

    Parts stand side by side where they fit; each further line makes the figure taller and leaves
    its axes as they are.
    """
    if not parts:
        return
    width, height = drawn.get_size_inches()
    lines: list[str] = []
    for part in map(plain, parts):
        joined = f"{lines[-1]}; {part}" if lines else part
        if lines and _text_width(joined) <= width - 0.04:
            lines[-1] = joined
        else:
            lines += textwrap.wrap(
                part, max(20, int(len(part) * (width - 0.04) / _text_width(part)))
            )
    taller = height + (len(lines) - 1) * _FOOTER_LINE
    drawn.set_size_inches(width, taller)
    _leave_room(drawn, len(lines))
    for number, line in enumerate(reversed(lines)):
        drawn.text(
            0.02 / width,
            (0.035 + number * _FOOTER_LINE) / taller,
            line,
            fontsize=_FOOTER_SIZE,
            color=GREY,
            ha="left",
            va="bottom",
        )


def save(drawn: Figure, targets: Iterable[Path]) -> None:
    """Writes a figure to files, without the date, and closes it."""
    for target in targets:
        try:
            drawn.savefig(
                target, metadata={"CreationDate": None} if target.suffix == ".pdf" else None
            )
        # closing a PDF on a full disk, matplotlib fails with one of several errors of its own
        except Exception as error:
            if isinstance(error.__context__, OSError):
                raise error.__context__ from None
            raise
        drawn.set_layout_engine("none")
    pyplot.close(drawn)


def finish(drawn: Figure) -> None:
    """In a column of a paper: says each panel's axis, which stood beside the others, and names the
    lines above all panels."""
    if not _style.width:
        return
    above = ""
    for axes in drawn.axes:
        in_column = (
            axes.get_subplotspec() is not None and axes.get_subplotspec().get_gridspec().ncols == 1
        )
        of_names = any(
            re.search("[a-z]{2}", label.get_text().replace("mathdefault", ""))
            for label in axes.get_yticklabels()
        )
        above = axes.get_ylabel() or above
        if above and in_column and axes.axison and not of_names:
            axes.set_ylabel(above)
    if named := _named.pop(drawn, {}):
        widths = [
            _text_width(name) * mpl.rcParams["legend.fontsize"] / _FOOTER_SIZE + 0.52
            for name in named
        ]  # with a sample of the line, and space
        lines = next(
            of
            for of in range(1, len(named) + 1)
            if sum(max(widths[place : place + of]) for place in range(0, len(named), of))
            <= _style.width
            or of == len(named)
        )
        columns = -(-len(named) // lines)
        drawn.set_size_inches(_style.width, drawn.get_figheight() + 0.15 * lines + 0.06)
        _leave_room(drawn, 1)
        drawn.legend(
            handles=list(named.values()),
            loc="outside upper left",
            ncols=columns,
            borderpad=0.2,
            columnspacing=1.0,
        )


_named: WeakKeyDictionary[Figure, dict[str, Line2D]] = WeakKeyDictionary()
"""In a column of a paper: the lines of each figure by name, from the highest end down."""


def _leave_room(drawn: Figure, lines: int) -> None:
    """Keeps the axes above a footer of some lines."""
    width, height = drawn.get_size_inches()
    bottom = (0.04 + _FOOTER_LINE * lines) / height
    drawn.get_layout_engine().set(rect=(0, bottom, 1 - _SLACK / width, 1 - bottom))


@cache
def _text_width(line: str) -> float:
    """Width in inches of a line of the footer; many figures have the same."""
    return (
        TextPath(
            (0, 0), line, size=_FOOTER_SIZE, prop=FontProperties(family=mpl.rcParams["font.family"])
        )
        .get_extents()
        .width
        / 72
    )


# ------------------------------------------------------------------------------------------
# axes


def power_of_two(value: float) -> str:
    """2^k as mathematics when the value is a power of two, else the plain number."""
    n = round(value)
    if n > 0 and n & (n - 1) == 0:
        return rf"$2^{{{n.bit_length() - 1}}}$"
    return f"{n:,}".replace(",", " ")


def items_axis(axes: Axes, items: Iterable[int]) -> None:
    """A logarithmic axis of array sizes with ticks at powers of two, no more than eight of them."""
    sizes = [n for n in items if n > 0]
    low, high = int(np.floor(np.log2(min(sizes)))), int(np.ceil(np.log2(max(sizes))))
    step = next(s for s in (1, 2, 4, 8) if (high - low) / s <= 7 or s == 8)
    axes.set_xscale("log", base=2)
    axes.set_xlim(2.0 ** (low - 0.4), 2.0 ** (high + 0.4))
    axes.xaxis.set_major_locator(
        FixedLocator([2.0**k for k in range(low, high + 1) if (k - high) % step == 0])
    )
    axes.xaxis.set_minor_locator(FixedLocator([2.0**k for k in range(low, high + 1)]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: power_of_two(value)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("items $n$")


def decade_axis(axis: Any) -> None:
    """Plain numbers (0.01, 1, 100, 10 000) at the decades of a logarithmic axis, and no minor
    clutter."""
    axis.set_major_formatter(
        FuncFormatter(
            lambda value, _: f"{value:g}" if value < 1e4 else f"{value:,.0f}".replace(",", "\u2009")
        )
    )
    axis.set_major_locator(_Decades())
    axis.set_minor_locator(NullLocator())


class _Decades(LogLocator):
    """Decades, and within less than two of them 2 and 5 times those: few numbers would be on the
    axis else."""

    def tick_values(self, vmin: float, vmax: float) -> np.ndarray:
        self.set_params(subs=(1, 2, 5) if vmax < 100 * vmin else (1,))
        return super().tick_values(vmin, vmax)


def power_axis(axis: Any) -> None:
    """0, 1, 10 and then powers of ten at the decades of a logarithmic axis of counts, for narrow
    panels."""
    axis.set_major_formatter(
        FuncFormatter(
            lambda value, _: f"{value:g}" if value <= 10 else f"$10^{{{np.log10(value):.0f}}}$"
        )
    )
    axis.set_minor_locator(NullLocator())


def bars_said(repetitions: Iterable[int]) -> str:
    """For the caption of medians of so many repetitions each: what bars mean, or why there are
    none."""
    enough = {count >= FEWEST_OF_MEDIAN for count in repetitions}
    if enough == {False}:
        return f"There are no error bars: fewer than {FEWEST_OF_MEDIAN} repetitions."
    return (
        "Bars: 95% intervals"
        + f", where there are {FEWEST_OF_MEDIAN} repetitions" * (False in enough)
        + "."
    )


def error_bars(axes: Axes, x: Any, middle: Any, low: Any, high: Any, colour: str) -> None:
    """Vertical 95% intervals, drawn only where they are known."""
    x, middle, low, high = (np.asarray(v, dtype=float) for v in (x, middle, low, high))
    known = np.isfinite(low) & np.isfinite(high)
    if known.any():
        below, above = np.clip(middle - low, 0, None), np.clip(high - middle, 0, None)
        axes.errorbar(
            x[known],
            middle[known],
            yerr=[below[known], above[known]],
            fmt="none",
            ecolor=colour,
            elinewidth=0.8,
            capsize=1.4,
            capthick=0.6,
            zorder=1.5,
        )


def ratio_bars(axes: Axes, rows: Any, colour: str) -> None:
    """The intervals of `ratio` against `items`."""
    error_bars(axes, rows["items"], rows["ratio"], rows["low"], rows["high"], colour)


def error_bars_across(axes: Axes, middle: Any, y: Any, low: Any, high: Any, colour: str) -> None:
    """The same, horizontal."""
    middle, y, low, high = (np.asarray(v, dtype=float) for v in (middle, y, low, high))
    known = np.isfinite(low) & np.isfinite(high)
    if known.any():
        below, above = np.clip(middle - low, 0, None), np.clip(high - middle, 0, None)
        axes.errorbar(
            middle[known],
            y[known],
            xerr=[below[known], above[known]],
            fmt="none",
            ecolor=colour,
            elinewidth=0.8,
            capsize=1.4,
            capthick=0.6,
            zorder=3,
        )


# ------------------------------------------------------------------------------------------
# legends


@dataclass(frozen=True)
class End:
    """The end of a line that a margin legend names."""

    label: str
    look: Look
    x: float
    y: float
    width: float = 1.0


def margin_legend(axes: Axes, ends: Sequence[End], gap: float = 7.6) -> None:
    """Names lines at the right margin, each at the height where it ends, pushed apart by at least
    ``gap`` points.

    Lines that end early are named too, with a leader to the margin only for those that reach it.
    Call last, when limits are final. What stands in the margin is placed in points from the axes'
    right edge, so that the layout can make room for it.
    """
    if not ends:
        return
    if _style.width:
        named = _named.setdefault(axes.figure.figure, {})
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
    """Moves heights apart to at least ``gap``, as little as possible, and keeps them on the axes if
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
