"""Pictures of the tutorials as SVG, of text, boxes and arrows: the same picture is the same bytes.

A picture is 400 units wide and its letters are 12 units high or more, so that it can be read on a
phone. It has a white ground of its own, since the page around it may be dark.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

WIDTH, SHOWN = 400, 560
"""Units across, and pixels across where there is room."""
INK, FAINT, LINE = "#1a1a1a", "#8a8a8a", "#b8b8b8"
BLUE, RED, SKY, GREEN, WHITE = "#0072B2", "#C04F00", "#56B4E9", "#00795A", "#ffffff"
FILLS = {".": "#f3f3f3", "b": "#d3e8f5", "r": "#fbdcc8", "g": "#d2efe4", "w": WHITE}
"""Fills of boxes by a letter: pale grey, pale blue, pale red, pale green, white."""
_FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"


def _element(name: str, inner: object = "", **attributes: str | float) -> str:
    """An element; a coordinate is given to a tenth of a unit."""
    shown = (
        f' {key.replace("_", "-")}="{value if isinstance(value, str) else f"{round(value, 1):g}"}"'
        for key, value in attributes.items()
    )
    return f"<{name}{''.join(shown)}" + (f">{inner}</{name}>" if inner != "" else "/>")


class Picture:
    """Boxes, lines and text, each drawn over what was there before."""

    def __init__(self, title: str, height: float) -> None:
        self.title, self.height = title, height
        self._parts: list[str] = []
        self._heads: dict[str, None] = {}

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        fill: str = ".",
        words: object = "",
        size: float = 12.5,
        edge: str = LINE,
        rx: float = 3,
    ) -> None:
        """A box with words in its middle. ``fill``: a letter of FILLS, or a colour."""
        place = {"x": x, "y": y, "width": width, "height": height, "rx": rx}
        self._parts.append(_element("rect", **place, fill=FILLS.get(fill, fill), stroke=edge))
        if words != "":
            self.text(x + width / 2, y + height / 2, words, size, anchor="middle")

    def text(
        self,
        x: float,
        y: float,
        words: object,
        size: float = 12.5,
        colour: str = INK,
        anchor: str = "start",
        bold: bool = False,
    ) -> None:
        """``y`` is the middle of the letters."""
        look: dict[str, str | float] = {"font_size": size, "text_anchor": anchor, "fill": colour}
        look |= {"font_weight": "bold"} if bold else {}
        self._parts.append(_element("text", escape(str(words)), x=x, y=y + 0.36 * size, **look))

    def line(
        self,
        x1: float,
        y1: float,
        x2: float,
        y2: float,
        colour: str = LINE,
        arrow: bool = False,
        width: float = 1.2,
    ) -> None:
        place = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
        end = {"marker_end": self._head(colour)} if arrow else {}
        self._parts.append(_element("line", **place, stroke=colour, stroke_width=width, **end))

    def arc(self, x1: float, x2: float, y: float, rise: float) -> None:
        """An arrow from x1 to x2 above y."""
        path = f"M{x1:g} {y:g} Q{(x1 + x2) / 2:g} {y - 2 * rise:g} {x2:g} {y:g}"
        look: dict[str, str | float] = {"fill": "none", "stroke": RED, "stroke_width": 1.2}
        self._parts.append(_element("path", d=path, **look, marker_end=self._head(RED)))

    def _head(self, colour: str) -> str:
        self._heads[colour] = None
        return f"url(#head-{colour[1:]})"

    def svg(self) -> str:
        heads = "".join(
            f'<marker id="head-{colour[1:]}" viewBox="0 0 8 8" refX="7" refY="4" '
            'markerWidth="6" markerHeight="6" orient="auto">'
            f'<path d="M0 0.5 L8 4 L0 7.5 z" fill="{colour}"/></marker>'
            for colour in self._heads
        )
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{SHOWN}" '
            f'height="{self.height * SHOWN / WIDTH:g}" viewBox="0 0 {WIDTH} {self.height:g}" '
            f'role="img" font-family="{_FONT}">',
            _element("title", escape(self.title)),
            *([_element("defs", heads)] if heads else []),
            _element("rect", width=WIDTH, height=self.height, fill=WHITE),
            *self._parts,
            "</svg>\n",
        ]
        return "\n".join(lines)


class Row:
    """A row of cells with a value in each. ``fills``: a letter per cell; ``places``: the left end
    of the first, their width, and the gap between two."""

    def __init__(
        self,
        draw: Picture,
        y: float,
        values: Sequence[object],
        fills: str = "",
        label: str = "",
        places: tuple[float, float, float] = (12, 40, 7),
        height: float = 28,
        size: float = 15,
    ) -> None:
        self.draw, self.y, self.bottom, self.places = draw, y, y + height, places
        left, cell, _ = places
        if label:
            draw.text(left, y - 11, label)
        for place, value in enumerate(values):
            if value is not None:
                fill = fills[place : place + 1] or "."
                draw.box(self.x(place) - cell / 2, y, cell, height, fill, value, size)

    def x(self, place: float) -> float:
        """The middle of a cell."""
        left, cell, gap = self.places
        return left + cell / 2 + place * (cell + gap)

    def below(self, space: float, values: Sequence[object], fills: str = "") -> Row:
        """The next row, with cells in the same places."""
        return Row(self.draw, self.bottom + space, values, fills, places=self.places)

    def arrow(self, to: Row, start: int, end: int, colour: str, aside: float = 0) -> None:
        """An arrow from a cell to one of a row below, or as far aside of its middle."""
        ends = (self.x(start), self.bottom + 1, to.x(end) + aside, to.y - 2)
        self.draw.line(*ends, colour, arrow=True)
