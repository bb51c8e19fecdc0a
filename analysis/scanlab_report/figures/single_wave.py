"""The time of a single wave: from an empty launch over two copies to a scan."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from scanlab_report.derive import waves
from scanlab_report.derive.waves import STEPS, steps
from scanlab_report.layout import style
from scanlab_report.select.evidence import TimingEvidence
from scanlab_report.select.needs import of_any_type
from scanlab_report.select.variants import FLOOR, VENDOR

CAPTION = (
    "Time of one node of a graph (warm cache, {items}), from nothing to a scan: an empty launch; a copy by "
    "vectors, which also loads and stores; a copy whose blocks meet between the two, as those of one_wave do; best; and "
    "the fastest of CUB's scans. What lies between two lines is what a step costs. That copy is no bound: best is below it "
    "where it is redundant_reduce, whose blocks do not meet, and can be where it is one_wave, which scans its rows while the "
    "copy merely pauses before it asks for the others. Bars are 95% intervals of the median."
)
NEEDS = of_any_type(waves.NEEDS)
FOLLOWS = ("type", "op")


def draw(timings: TimingEvidence) -> Figure:
    table = steps(timings)
    drawn, (axes,) = style.figure(style.COLUMN, 2.4)
    axes.set_yscale("log")
    style.items_axis(axes, table["items"])
    ends = []
    for step in STEPS:
        rows, look = table[table["step"] == step], style.look(VENDOR if step == "cub" else step)
        axes.plot(rows["items"], rows["us"], **look.plot())
        if step != FLOOR:  # one measurement, whatever n
            style.error_bars(axes, rows["items"], rows["us"], rows["low"], rows["high"], look.colour)
        name = "CUB, fastest" if step == "cub" else timings.about[step].label
        ends.append(style.End(name, look, float(rows["items"].iloc[-1]), float(rows["us"].iloc[-1])))
    axes.yaxis.set_major_locator(LogLocator(base=2))
    style.decade_axis(axes.yaxis)
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_ylabel("time, µs (a node of a graph)")
    style.margin_legend(axes, ends)
    return drawn
