"""Figures: where one is to stand, its parts, its footer, and its files."""

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
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.textpath import TextPath

from scanlab_report.style.base import (
    COLUMN,
    DOUBLE,
    FOOTER_LINE,
    FOOTER_SIZE,
    GREY,
    HEADING,
    NARROW,
    SLACK,
)


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


STYLES = {
    "page": Style(),
    "ieee-column": Style(3.5, settings=_letters(8, 7)),
    "slide": Style(
        ratio=16 / 9,
        settings=_letters(10, 9)
        | {"lines.linewidth": 1.5, "lines.markersize": 4.5, "savefig.dpi": 280},
    ),
}
"""The styles by name. ``slide`` is as wide as a page and is meant to be shown at twice the size."""
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

    While `stack` draws, it is the next part of that figure.
    """
    grid = {ratios: subplots.pop(ratios, None) for ratios in ("width_ratios", "height_ratios")}
    if _style.width:
        if width > COLUMN and columns > 1:  # what stands side by side on a page
            heights = [
                ratio for ratio in grid["height_ratios"] or [1.0] * rows for _ in range(columns)
            ]
            height, rows, columns, grid = (
                NARROW * height * columns,
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
        self.heights += [HEADING, height - FOOTER_LINE]
        self.sheet.set_size_inches(width, sum(self.heights) + FOOTER_LINE + 0.04)
        _leave_room(self.sheet, 1)
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
    taller = height + (len(lines) - 1) * FOOTER_LINE
    drawn.set_size_inches(width, taller)
    _leave_room(drawn, len(lines))
    for number, line in enumerate(reversed(lines)):
        drawn.text(
            0.02 / width,
            (0.035 + number * FOOTER_LINE) / taller,
            line,
            fontsize=FOOTER_SIZE,
            color=GREY,
            ha="left",
            va="bottom",
        )


def save(drawn: Figure, targets: Iterable[Path]) -> None:
    """Write a figure to files, without the date, and closes it."""
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
    """Complete a figure for a column of a paper. Label the axis of each panel, which had its label
    from a panel beside it, and name the lines above all panels."""
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
    if named := named_lines.pop(drawn, {}):
        widths = [
            _text_width(name) * mpl.rcParams["legend.fontsize"] / FOOTER_SIZE + 0.52
            for name in named
        ]  # with a sample of the line, and space
        lines = next(
            count
            for count in range(1, len(named) + 1)
            if sum(max(widths[place : place + count]) for place in range(0, len(named), count))
            <= _style.width
            or count == len(named)
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


named_lines: WeakKeyDictionary[Figure, dict[str, Line2D]] = WeakKeyDictionary()
"""The lines of each figure by name, from the highest end down, in a column of a paper."""


def _leave_room(drawn: Figure, lines: int) -> None:
    """Keep the axes above a footer of some lines."""
    width, height = drawn.get_size_inches()
    bottom = (0.04 + FOOTER_LINE * lines) / height
    drawn.get_layout_engine().set(rect=(0, bottom, 1 - SLACK / width, 1 - bottom))


@cache
def _text_width(line: str) -> float:
    """Width in inches of a line of the footer; many figures have the same."""
    return (
        TextPath(
            (0, 0), line, size=FOOTER_SIZE, prop=FontProperties(family=mpl.rcParams["font.family"])
        )
        .get_extents()
        .width
        / 72
    )


def current() -> Style:
    """The style under which figures are drawn now."""
    return _style
