"""Speed of selected scans as a share of a device copy, against array size, as the README shows it."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from scanlab_report.derive.shares import shares
from scanlab_report.layout import style
from scanlab_report.layout.looks import look
from scanlab_report.select.evidence import TimingEvidence
from scanlab_report.select.timings import ANY_TYPE, Timings
from scanlab_report.select.variants import BEST, CEILING, OVERVIEW_CUBS, TORCH

CAPTION = (
    "Speed of an inclusive {scan} of {items} as a share of a device copy of the same bytes, against array size: cold cache, "
    "stream launches. The thick line is the copy, the reference of large scans. Bars: 95% intervals."
)
TOLD = ("decoupled_lookback", "hso_blocked_padded")
"""The README tells of these two of ours besides ``best``: the single pass that libraries have, and the scan of 2007."""
SHOWN = (CEILING, BEST, OVERVIEW_CUBS, TORCH, *TOLD)
FOLLOWS = ("type", "op")
NEEDS = {"timings": Timings(ANY_TYPE, all_of=(CEILING,), any_of=(BEST,), only=SHOWN, python=True)}
SMALLEST = 2**16
"""Below, a launch takes longer than the bytes."""


def lacks(timings: TimingEvidence) -> str:
    return "" if _named(timings) else f"timings of scans beside {CEILING} at 2^16 items or more"


def _named(timings: TimingEvidence) -> dict[str, pd.DataFrame]:
    cache = timings.caches()[0]
    named = {v: shares(timings, v, CEILING, cache) for v in timings.about.ids(*SHOWN) if v in timings.variants() and v != CEILING}
    return {v: rows for v, of in named.items() if len(rows := of[of["items"] >= SMALLEST])}


def draw(timings: TimingEvidence) -> Figure:
    """One panel as wide as a phone: letters are as large there as those of the text."""
    drawn, (axes,) = style.figure(style.COLUMN, 2.7)
    named = _named(timings)
    largest = max((int(rows["items"].max()) for rows in named.values()), default=SMALLEST)
    style.items_axis(axes, (SMALLEST, max(largest, 2 * SMALLEST)))
    copy = look(CEILING, timings.about)
    axes.axhline(1, color=copy.colour, linewidth=2.4)
    handles = [axes.plot([], [], label="memcpy (a copy)", color=copy.colour, linewidth=2.4)[0]]
    for variant in sorted(named, key=lambda v: -float(named[v]["ratio"].iloc[-1])):
        rows, of = named[variant], look(variant, timings.about)
        handles += axes.plot(rows["items"], rows["ratio"], label=timings.about[variant].label, **of.plot())
        style.error_bars(axes, rows["items"], rows["ratio"], rows["low"], rows["high"], of.colour)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("share of a device copy")
    drawn.legend(handles=handles, loc="outside upper left", ncols=2, borderpad=0.2, columnspacing=1.0)
    return drawn
