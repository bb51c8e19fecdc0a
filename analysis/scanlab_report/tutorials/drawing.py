"""Pictures of the tutorials as SVG, of text, boxes and arrows: the same picture is the same bytes.

A picture is 400 units wide and its letters are 12 units high or more, so that it can be read on a
phone. It has a white ground of its own, since the page around it may be dark.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import accumulate

WIDTH = 400
SHOWN = 560
"""Pixels across where there is room."""
INK, FAINT, LINE = "#1a1a1a", "#8a8a8a", "#b8b8b8"
BLUE, VERMILLION, SKY, GREEN = "#0072B2", "#C04F00", "#56B4E9", "#00795A"
PALE, PALE_BLUE, PALE_RED, PALE_GREEN = "#f3f3f3", "#d3e8f5", "#fbdcc8", "#d2efe4"
_FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"

ITEMS = (3, 1, 7, 0, 4, 1, 6, 3)
"""The example of all pages."""


def exclusive(items: Iterable[int]) -> list[int]:
    """Return the exclusive prefix sums: for each item, the sum of the items before it."""
    return [0, *accumulate(items)][:-1]


def _n(value: float) -> str:
    """A coordinate: a tenth of a unit is as fine as it gets."""
    return f"{round(value, 1):g}"


class Picture:
    """Boxes, lines and text, each drawn over what was there before."""

    def __init__(self, title: str, height: float) -> None:
        self.title = title
        self.height = height
        self._parts: list[str] = []
        self._heads: dict[str, None] = {}

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        fill: str = PALE,
        edge: str = LINE,
        round_: float = 3,
    ) -> None:
        self._parts.append(
            f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}" '
            f'rx="{_n(round_)}" fill="{fill}" stroke="{edge}"/>'
        )

    def text(
        self,
        x: float,
        y: float,
        words: object,
        size: float = 13,
        anchor: str = "middle",
        colour: str = INK,
        bold: bool = False,
    ) -> None:
        """``y`` is the middle of the letters."""
        weight = ' font-weight="bold"' if bold else ""
        self._parts.append(
            f'<text x="{_n(x)}" y="{_n(y + 0.36 * size)}" font-size="{_n(size)}" '
            f'text-anchor="{anchor}" fill="{colour}"{weight}>{escape(str(words))}</text>'
        )

    def line(
        self,
        x1: float,
        y1: float,
        x2: float,
        y2: float,
        colour: str = FAINT,
        arrow: bool = False,
        dashed: bool = False,
        width: float = 1.2,
    ) -> None:
        marks = ""
        if arrow:
            self._heads[colour] = None
            marks = f' marker-end="url(#head-{colour[1:]})"'
        if dashed:
            marks += ' stroke-dasharray="4 3"'
        self._parts.append(
            f'<line x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}" '
            f'stroke="{colour}" stroke-width="{_n(width)}"{marks}/>'
        )

    def arc(self, x1: float, x2: float, y: float, rise: float, colour: str = VERMILLION) -> None:
        """An arrow from x1 to x2 above y."""
        self._heads[colour] = None
        self._parts.append(
            f'<path d="M{_n(x1)} {_n(y)} Q{_n((x1 + x2) / 2)} {_n(y - 2 * rise)} {_n(x2)} {_n(y)}" '
            f'fill="none" stroke="{colour}" stroke-width="1.2" '
            f'marker-end="url(#head-{colour[1:]})"/>'
        )

    def svg(self) -> str:
        heads = "".join(
            f'<marker id="head-{colour[1:]}" viewBox="0 0 8 8" refX="7" refY="4" '
            f'markerWidth="6" markerHeight="6" orient="auto">'
            f'<path d="M0 0.5 L8 4 L0 7.5 z" fill="{colour}"/></marker>'
            for colour in self._heads
        )
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{SHOWN}" '
                f'height="{_n(self.height * SHOWN / WIDTH)}" '
                f'viewBox="0 0 {WIDTH} {_n(self.height)}" '
                f'role="img" font-family="{_FONT}">',
                f"<title>{escape(self.title)}</title>",
                *([f"<defs>{heads}</defs>"] if heads else []),
                f'<rect width="{WIDTH}" height="{_n(self.height)}" fill="#ffffff"/>',
                *self._parts,
                "</svg>",
                "",
            ]
        )


class Row:
    """A row of cells with a value in each; knows where they lie."""

    def __init__(
        self,
        picture: Picture,
        y: float,
        values: Sequence[object],
        fills: Mapping[int, str] | None = None,
        label: str = "",
        left: float = 12,
        cell: float = 40,
        gap: float = 7,
        height: float = 28,
        size: float = 15,
    ) -> None:
        self.y, self.left, self.cell, self.gap, self.height = y, left, cell, gap, height
        if label:
            picture.text(left, y - 11, label, 12.5, "start", INK)
        for place, value in enumerate(values):
            fill = (fills or {}).get(place, PALE)
            if value is None:
                continue
            picture.box(self.x(place) - cell / 2, y, cell, height, fill)
            picture.text(self.x(place), y + height / 2, value, size)

    def x(self, place: float) -> float:
        """The middle of a cell."""
        return self.left + self.cell / 2 + place * (self.cell + self.gap)

    @property
    def bottom(self) -> float:
        return self.y + self.height
