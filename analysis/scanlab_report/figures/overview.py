"""Throughput of selected scans and of a device copy against array size, as the README shows it."""

from __future__ import annotations

from matplotlib.figure import Figure

from scanlab_report.figures.throughput import line
from scanlab_report.layout import style
from scanlab_report.layout.looks import look
from scanlab_report.select.evidence import TimingEvidence
from scanlab_report.select.timings import Timings
from scanlab_report.select.variants import BEST, CEILING, OVERVIEW_CUBS, TORCH

CAPTION = (
    "Throughput of inclusive sums of 32-bit integers against array size, counting 2n items moved: cold cache, stream launches. "
    "The thick line is a device copy, the ceiling of large scans. Bars: 95% intervals."
)
TOLD = ("decoupled_lookback", "hso_blocked_padded")
"""The README tells of these two of ours besides ``best``: the single pass that libraries have, and the scan of 2007."""
SHOWN = (CEILING, BEST, OVERVIEW_CUBS, TORCH, *TOLD)
NEEDS = {"timings": Timings(all_of=(CEILING,), any_of=(BEST,), only=SHOWN, python=True)}


def draw(timings: TimingEvidence) -> Figure:
    """One panel as wide as a phone: letters are as large there as those of the text."""
    cache = timings.caches()[0]
    drawn, (axes,) = style.figure(style.COLUMN, 2.7)
    axes.set_yscale("log")
    names = [name for name in timings.about.ids(*SHOWN) if name in timings.variants()]
    style.items_axis(axes, timings.cases.loc[timings.cases["variant"].isin(names), "items"])
    style.decade_axis(axes.yaxis)
    ends = [end for name in names if (end := line(axes, timings, name, cache, look(name, timings.about)))]
    axes.set_ylabel(f"throughput, GB/s ({cache})")
    handles = sorted(ends, key=lambda end: -end.y)
    drawn.legend(handles=[axes.plot([], [], label=end.label, linewidth=end.width, **end.look.plot())[0] for end in handles],
                 loc="outside upper left", ncols=2, borderpad=0.2, columnspacing=1.0)  # fmt: skip
    return drawn
