"""How shares of cycles look: a bar of parts, by what is waited for."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes

from scanlab_report.layout import style

_FILLS = {  # of what is waited for: colour and hatch, so that no two differ by colour alone
    "data": ("#BBBBBB", ""), "prefix": (style.VERMILLION, "////"), "store": (style.BLUE, "...."),
    "free": (style.SKY, "\\\\\\\\"), "reduced": (style.GREEN, "xxxx"),
}  # fmt: skip
_SPARE = ((style.PURPLE, "----"), (style.ORANGE, "||||"), (style.GREY, "++++"))
REST = "rest"


def stack(axes: Axes, heights: pd.Series, rows: pd.DataFrame, kinds: Sequence[str]) -> None:
    """At each height the bar of a row: a part for each of ``kinds``, and the rest."""
    before = pd.Series(0.0, index=rows.index)
    spare = iter(_SPARE * len(kinds))
    for kind in (*kinds, REST):
        colour, hatch = ("white", "") if kind == REST else _FILLS.get(kind) or next(spare)
        axes.barh(heights, rows[kind], left=before, height=0.7, color=colour, hatch=hatch, edgecolor=style.BLACK,
                  linewidth=0.5, label=kind if kind == REST else f"stall: {kind}")  # fmt: skip
        before += rows[kind]
    axes.set_ylim(heights.iloc[-1] + 0.6, heights.iloc[0] - 0.6)
    axes.set_xlim(0, 1)
    axes.grid(axis="y", visible=False)
