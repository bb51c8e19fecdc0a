"""The pipeline of look_ahead: the roles of a block's warps against time. A drawing without measured numbers.

The drawing in the variant's documentation is this one:

    python -m scanlab_report.figures.pipeline variants/scan/look_ahead.svg
"""

from __future__ import annotations

import itertools
import sys
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scanlab_report.layout import style

CAPTION = (
    "Decoupled look-ahead in `look_ahead`, as in CCCL's warpspeed scan: the work of one block's specialised warps on four "
    "tiles, against time (schematic). Two tiles load at a time. A block publishes a tile's aggregate as soon as it is "
    "reduced. A prefix is folded from aggregates alone. Arrows follow tile 1; aggregates of other blocks are not drawn."
)
NEEDS: dict = {}

ROLES = ("load", "reduce", "publish", "look ahead", "scan", "store")
TILES = 4
_LASTS = {"load": 2.0, "reduce": 0.8, "publish": 0.16, "look ahead": 0.55, "scan": 0.8, "store": 1.1}
_LOADING = 2
_SVG = {"svg.fonttype": "none", "svg.hashsalt": "pipeline", "font.family": "serif", "font.serif": ["DejaVu Serif"]}
_ALONE = ("reduce", "look ahead", "scan")
"""Roles whose warps do one tile after another; loads and stores are under way by themselves."""
_GREYS = ("#F2F2F2", "#D4D4D4", "#ABABAB", "#7F7F7F")


@dataclass(frozen=True)
class Span:
    """When a role is busy with a tile."""

    role: str
    tile: int
    begin: float
    end: float


def schedule() -> list[Span]:
    """Every role begins a tile when the role before it is done with it, and when it is done with the tile before itself."""
    spans: dict[tuple[str, int], Span] = {}
    for tile in range(TILES):
        ready = spans["load", tile - _LOADING].end if tile >= _LOADING else 0.5 * tile * _LASTS["load"]
        for role in ROLES:
            begin = ready
            if role in _ALONE and tile > 0:
                begin = max(ready, spans[role, tile - 1].end)
            spans[role, tile] = Span(role, tile, begin, begin + _LASTS[role])
            ready = spans[role, tile].end
    return list(spans.values())


def draw() -> Figure:
    drawn, (axes,) = style.figure(style.DOUBLE, 2.3)
    spans = schedule()
    for span in spans:
        height = _height(span)
        axes.barh(height, span.end - span.begin, left=span.begin, height=_thickness(span.role), color=_GREYS[span.tile],
                  edgecolor=style.BLACK, linewidth=0.7, zorder=2)  # fmt: skip
        if span.role != "publish":
            axes.text((span.begin + span.end) / 2, height, f"tile {span.tile}" if span.role == "load" else f"{span.tile}", ha="center",
                      va="center", fontsize=7, color="white" if span.tile == 3 else style.BLACK, zorder=3)  # fmt: skip
    _follow(axes, [span for span in spans if span.tile == 1])
    end = max(span.end for span in spans)
    axes.set_xlim(-0.1, end + 0.1)
    axes.set_ylim(len(ROLES) - 0.4, -0.75)
    names = [f"{role} warp" if role in ("load", "look ahead") else f"{role} warps" if role in ("reduce", "scan") else role
             for role in ROLES]  # fmt: skip
    axes.set_yticks(range(len(ROLES)), names)
    axes.set_xticks([])
    axes.set_xlabel("time →")
    axes.grid(visible=False)
    axes.tick_params(axis="y", length=0)
    for height in range(1, len(ROLES)):
        axes.axhline(height - 0.5, color="#E4E4E4", linewidth=0.5, zorder=0)
    return drawn


def _height(span: Span) -> float:
    """Loads and stores of neighbouring tiles overlap in time, so they take turns in two lanes."""
    return ROLES.index(span.role) + (0.23 * (-1) ** (span.tile + 1) if span.role in ("load", "store") else 0)


def _thickness(role: str) -> float:
    return 0.42 if role in ("load", "store") else 0.62


def _follow(axes: Axes, spans: list[Span]) -> None:
    for before, after in itertools.pairwise(spans):
        axes.annotate("", xy=(after.begin, _height(after) - 0.5 * _thickness(after.role)),
                      xytext=(before.end, _height(before) + 0.5 * _thickness(before.role)),
                      arrowprops={"arrowstyle": "-|>", "color": style.VERMILLION, "lw": 0.9, "shrinkA": 0, "shrinkB": 0,
                                  "mutation_scale": 6}, zorder=4)  # fmt: skip


def write_svg(file: Path) -> None:
    """The same drawing as SVG: letters stay letters, and the same drawing gives the same bytes."""
    with style.sheet(), mpl.rc_context(_SVG):
        draw().savefig(file, format="svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    write_svg(Path(sys.argv[1]))
