"""A drawing of look_ahead, without measured numbers; `variants/scan/look_ahead.svg` is the same:

python -m scanlab_report.chapters.pipeline variants/scan/look_ahead.svg
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
from matplotlib.figure import Figure

from scanlab_report import style
from scanlab_report.data import Data
from scanlab_report.shown import Shown, figure, shown

ROLES = {"load": 2.0, "reduce": 0.8, "publish": 0.16, "look ahead": 0.55, "scan": 0.8, "store": 1.1}
"""How long each role is busy with a tile."""
TILES, LOADING = 4, 2
ALONE = ("reduce", "look ahead", "scan")
"""Roles whose warps do one tile after another; loads and stores are under way by themselves."""


class Span(NamedTuple):
    """The time in which a role is busy with a tile, and where it is drawn."""

    role: str
    tile: int
    begin: float
    end: float

    @property
    def by_itself(self) -> bool:
        """Loads and stores of neighbouring tiles overlap, and take turns in two lanes."""
        return self.role in ("load", "store")

    @property
    def height(self) -> float:
        turn = 0.23 * (-1) ** (self.tile + 1) if self.by_itself else 0
        return list(ROLES).index(self.role) + turn

    @property
    def thickness(self) -> float:
        return 0.42 if self.by_itself else 0.62


def spans() -> list[Span]:
    """Return the spans of each role. A role begins a tile once the role before it and its own last
    tile are done."""
    made: dict[tuple[str, int], Span] = {}
    for tile in range(TILES):
        ready = 0.5 * tile * ROLES["load"]
        if tile >= LOADING:
            ready = made["load", tile - LOADING].end
        for role, lasts in ROLES.items():
            if role in ALONE and tile > 0:
                ready = max(ready, made[role, tile - 1].end)
            made[role, tile] = Span(role, tile, ready, ready + lasts)
            ready += lasts
    return list(made.values())


def draw() -> Figure:
    drawn, (axes,) = style.figure(style.DOUBLE, 2.3)
    greys = ("#F2F2F2", "#D4D4D4", "#ABABAB", "#7F7F7F")
    edge = {"edgecolor": style.BLACK, "linewidth": 0.7, "zorder": 2}
    centred = {"ha": "center", "va": "center", "fontsize": 7, "zorder": 3}
    for span in spans():
        length, height = span.end - span.begin, span.height
        fill = {"height": span.thickness, "color": greys[span.tile]}
        axes.barh(height, length, left=span.begin, **fill, **edge)
        if span.role != "publish":
            text = f"tile {span.tile}" if span.role == "load" else f"{span.tile}"
            colour = "white" if span.tile == 3 else style.BLACK
            axes.text(span.begin + length / 2, height, text, color=colour, **centred)
    arrow = {"arrowstyle": "-|>", "mutation_scale": 6, "color": style.VERMILLION, "lw": 0.9}
    arrow |= {"shrinkA": 0, "shrinkB": 0}
    for before, after in itertools.pairwise(span for span in spans() if span.tile == 1):
        start = (before.end, before.height + 0.5 * before.thickness)
        end = (after.begin, after.height - 0.5 * after.thickness)
        axes.annotate("", end, xytext=start, arrowprops=arrow, zorder=4)
    axes.set_xlim(-0.1, max(span.end for span in spans()) + 0.1)
    warps = {"load": " warp", "look ahead": " warp", "reduce": " warps", "scan": " warps"}
    axes.set_yticks(range(len(ROLES)), [role + warps.get(role, "") for role in ROLES])
    axes.set_ylim(len(ROLES) - 0.4, -0.75)
    axes.set_xticks([])
    axes.set_xlabel("time →")
    axes.grid(visible=False)
    axes.tick_params(axis="y", length=0)
    for height in range(1, len(ROLES)):
        axes.axhline(height - 0.5, color="#E4E4E4", linewidth=0.5, zorder=0)
    return drawn


@figure()
def pipeline(data: Data) -> Shown:
    """The pipeline of look_ahead: the roles of a block's warps against time. A drawing without
    measured numbers."""
    caption = (
        "Decoupled look-ahead in `look_ahead`, as in CCCL's warpspeed scan: the work of one "
        "block's specialised warps on four tiles, against time (schematic). Two tiles load at a "
        "time. A block publishes a tile's aggregate as soon as it is reduced. A prefix is folded "
        "from aggregates alone. Arrows follow tile 1; aggregates of other blocks are not drawn."
    )
    return shown(data, draw(), caption)


def write_svg(file: Path) -> None:
    """The drawing as SVG: letters stay letters, and the same drawing gives the same bytes."""
    letters = {"font.family": "serif", "font.serif": ["DejaVu Serif"]}
    same = {"svg.fonttype": "none", "svg.hashsalt": "pipeline"}
    with style.sheet(), mpl.rc_context(letters | same):
        draw().savefig(file, format="svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    write_svg(Path(sys.argv[1]))
