"""Time per graph node from an empty node over two copies to best and the fastest CUB: each step adds work."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from scanlab_report.derive import waves
from scanlab_report.derive.waves import STEPS, steps
from scanlab_report.layout import style
from scanlab_report.layout.looks import look
from scanlab_report.select.evidence import TimingEvidence
from scanlab_report.select.needs import of_any_type
from scanlab_report.select.variants import FLOOR, VENDOR

CAPTION = (
    "Time per graph node against array size, warm cache, {items}. Lines: an empty node, a vector copy, a copy with a "
    "grid-wide barrier, `best`, and the fastest CUB scan. On the log axis, equal distances are equal ratios. The copy with "
    "the barrier is a comparison, not a bound. Bars: 95% intervals."
)
NEEDS = of_any_type(waves.NEEDS)
lacks = waves.lacks
FOLLOWS = ("type", "op")


def draw(timings: TimingEvidence) -> Figure:
    table = steps(timings)
    drawn, (axes,) = style.figure(style.COLUMN, 2.4)
    axes.set_yscale("log")
    style.items_axis(axes, table["items"])
    ends = []
    for step in STEPS:
        rows, of = table[table["step"] == step], look(VENDOR if step == "cub" else step, timings.about)
        axes.plot(rows["items"], rows["us"], **of.plot())
        if step != FLOOR:  # one measurement, whatever n
            style.error_bars(axes, rows["items"], rows["us"], rows["low"], rows["high"], of.colour)
        name = "CUB, fastest" if step == "cub" else timings.about[step].label
        ends.append(style.End(name, of, float(rows["items"].iloc[-1]), float(rows["us"].iloc[-1])))
    axes.yaxis.set_major_locator(LogLocator(base=2))
    style.decade_axis(axes.yaxis)
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_ylabel("time per graph node, µs")
    style.margin_legend(axes, ends)
    return drawn
