"""From the launch floor to the copy ceiling: time a byte against array size, in a stream and in a graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis import style
from analysis.evidence import BEST, CEILING, CEILINGS, COPIES, CUBS, FLOOR, TimingEvidence, Timings
from analysis.results import ideal_bytes

SHOWN = ("one_wave", "look_ahead", BEST)
LAUNCHES = {"stream": "back to back in a stream", "graph": "nodes of a graph"}
WIDTH = "double"
CAPTION = (
    "Time of an inclusive sum of 32-bit integers for each of the 2n items' bytes, warm cache, against array size: "
    "launched from the host, and as part of a captured graph. The dotted line is an empty launch, the floor; the "
    "thick one the fastest copy, the ceiling; CUB is the fastest of its scans at each size. Bars are 95% bootstrap "
    "intervals of the median."
)
NEEDS = {"timings": Timings(all_of=(CEILING, FLOOR), any_of=SHOWN, only=(*SHOWN, *CUBS, *CEILINGS, FLOOR), launches=tuple(LAUNCHES))}


def draw(timings: TimingEvidence) -> Figure:
    launches = [launch for launch in LAUNCHES if not timings.of(CEILING, cache="warm", launch=launch).empty]
    drawn, axes = style.figure(style.DOUBLE, 2.6, len(launches), sharey=True)
    items = timings.cases.loc[timings.cases["variant"].isin((*SHOWN, *CUBS)) & (timings.cases["cache"] == "warm"), "items"]
    for panel, launch in zip(axes, launches, strict=True):
        panel.set_yscale("log")
        style.items_axis(panel, items)
        style.decade_axis(panel.yaxis)
        panel.set_title(LAUNCHES[launch])
        ceiling = _fastest(panel, timings, launch, COPIES, CEILING, "fastest copy", 2.6)
        vendor = _fastest(panel, timings, launch, CUBS, CUBS[0], "CUB, fastest", 1.0)
        ours = [_line(panel, timings, variant, launch) for variant in SHOWN]
        panel.set_ylim(bottom=0.6 * ceiling.y)
        style.margin_legend(panel, [end for end in (_floor(panel, timings, items, launch), ceiling, vendor, *ours) if end])
    axes[0].set_ylabel("time a byte, ps (warm cache)")
    return drawn


def _floor(panel: Axes, timings: TimingEvidence, items: pd.Series, launch: str) -> style.End:
    """An empty launch, spread over more and more bytes, as far as it stays above the copy."""
    n = np.array(sorted(set(items)), dtype=float)
    ps = 1e3 * timings.floor_ns("warm", launch) / (8 * n)
    shown = n <= 2**20
    panel.plot(n[shown], ps[shown], **style.look(FLOOR).plot(), linewidth=1.4)
    return style.End(f"empty launch, {timings.floor_ns('warm', launch) / 1e3:.1f} µs", style.look(FLOOR), n[shown][-1], ps[shown][-1], 1.4)


def _fastest(panel: Axes, timings: TimingEvidence, launch: str, of: Sequence[str], looks: str, name: str, width: float) -> style.End | None:
    """The least median of several variants at each power of two."""
    rows = timings.cases[timings.cases["variant"].isin(of) & (timings.cases["settings"] == "")
                         & (timings.cases["cache"] == "warm") & (timings.cases["launch"] == launch)]  # fmt: skip
    if rows.empty:
        return None
    fastest = rows.groupby("items")["median_ns"].min()
    powers = fastest[[n & (n - 1) == 0 for n in fastest.index]]
    ps = 1e3 * powers.to_numpy() / (8 * powers.index.to_numpy())
    panel.plot(powers.index, ps, linewidth=width, zorder=1 if width > 1 else 1.8, **style.look(looks).plot())
    return style.End(name, style.look(looks), float(powers.index[-1]), float(ps[-1]), width)


def _line(panel: Axes, timings: TimingEvidence, variant: str, launch: str) -> style.End | None:
    rows = timings.series(variant, cache="warm", launch=launch)
    if rows.empty:
        return None
    n, look = rows["items"].to_numpy(), style.look(variant)
    moved = np.array([ideal_bytes(t, o, i) for t, o, i in zip(rows["type"], rows["op"], n, strict=True)], dtype=float)
    ps = 1e3 * rows["median_ns"].to_numpy() / moved
    panel.plot(n, ps, zorder=2, **look.plot())
    style.error_bars(panel, n, ps, 1e3 * rows["low_ns"] / moved, 1e3 * rows["high_ns"] / moved, look.colour)
    return style.End(style.title(variant), look, float(n[-1]), float(ps[-1]))
