"""Speed of each scan as a share of a device copy of the same bytes."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from scanlab_report.derive.shares import shares
from scanlab_report.layout import style
from scanlab_report.layout.looks import look
from scanlab_report.select.evidence import TimingEvidence
from scanlab_report.select.timings import ANY_TYPE, Timings
from scanlab_report.select.variants import CEILING, SCANS

CAPTION = (
    "Speed of {the fastest six scans of 16,384 items or more at their largest sizes|each scan} as a share of a device copy, against array size. Inclusive "
    "{scan} of {items}, stream launches, cold cache, or warm where nothing was timed cold. The copy, at 1, is the reference of large scans; small scans "
    "can pass it. Bars: 95% intervals."
)
NEEDS = {"timings": Timings(ANY_TYPE, all_of=(CEILING,))}
FOLLOWS = ("variants", "type", "op")
SMALLEST = 2**14
SHOWN = 6


def lacks(timings: TimingEvidence) -> str:
    return "" if _named(timings) else f"timings of scans beside {CEILING} at 2^14 items or more"


def _named(timings: TimingEvidence) -> dict[str, pd.DataFrame]:
    cache = timings.caches()[0]
    named = {v: shares(timings, v, CEILING, cache) for v in timings.variants() if SCANS.has(timings.about[v]) or v in timings.named}
    return {v: rows for v, of in named.items() if len(rows := of[of["items"] >= SMALLEST])}


def draw(timings: TimingEvidence) -> Figure:
    named = _named(timings)
    largest = max((int(rows["items"].max()) for rows in named.values()), default=SMALLEST)
    best = sorted(named, key=lambda v: float(named[v]["ratio"].iloc[-1]), reverse=True)[: max(SHOWN, len(timings.named))]
    drawn, (axes,) = style.figure(style.COLUMN, 2.5)
    style.items_axis(axes, (SMALLEST, max(largest, 2 * SMALLEST)))
    axes.axhline(1, color=look(CEILING, timings.about).colour, linewidth=2.2)
    ends = [style.End("memcpy", look(CEILING, timings.about), axes.get_xlim()[1], 1.0, 2.2)]
    for variant in best:
        rows, of = named[variant], look(variant, timings.about)
        axes.plot(rows["items"], rows["ratio"], **of.plot())
        style.error_bars(axes, rows["items"], rows["ratio"], rows["low"], rows["high"], of.colour)
        ends.append(style.End(timings.about[variant].label, of, float(rows["items"].iloc[-1]), float(rows["ratio"].iloc[-1])))
    axes.set_ylim(bottom=0)
    axes.set_ylabel("share of a device copy")
    style.margin_legend(axes, ends)
    return drawn
