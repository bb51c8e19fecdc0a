"""Widths, colours, and the look of a series."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

COLUMN = 3.4
"""Width in inches of a figure in one column."""
DOUBLE = 7.1
"""Width in inches of a figure across both columns."""
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
