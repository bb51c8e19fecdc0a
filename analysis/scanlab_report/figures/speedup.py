"""Speedup of GPU scans over one CPU core, beside the values of 2007."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scanlab_report.derive.one_core import ALL_CORES, ONE_CORE, OURS, RANGE, by_session, over_one_core, shown
from scanlab_report.layout import style
from scanlab_report.layout.looks import look
from scanlab_report.read.published import Publication
from scanlab_report.select.counted import Published
from scanlab_report.select.evidence import SessionTimingEvidence
from scanlab_report.select.needs import of_any_type
from scanlab_report.select.variants import VENDOR

CAPTION = (
    "Speedup of GPU scans over one CPU core of the same machine, against array size, beside the values of Harris, Sengupta "
    "and Owens (2007). {The same algorithm is `hso_blocked_padded`; inclusive|Inclusive} sums, cold cache where timed, stream "
    "launches. Below 1 the CPU is faster. Published values have no bars."
)


NEEDS = of_any_type({"timings": over_one_core(any_of=(*OURS, VENDOR)), "published": Published("hso2007_table2")})
FOLLOWS = ("variants", "type", "op")


def draw(timings: SessionTimingEvidence, published: Publication) -> Figure:
    drawn, (axes,) = style.figure(style.COLUMN, 3.0)
    axes.set_yscale("log")
    style.items_axis(axes, RANGE)
    style.decade_axis(axes.yaxis)
    axes.axhline(1, color=style.BLACK, linewidth=0.6)
    about = timings.sessions[0].about
    for variant in shown(timings):
        label = about[variant].label
        ratios = by_session(timings, variant, ONE_CORE)
        _draw(axes, ratios, look(variant, about), f"{label} / one core, {ratios['type'].iloc[0]}")
        if variant == VENDOR and not (ratios := by_session(timings, variant, ALL_CORES)).empty:
            _draw(axes, ratios, look(ALL_CORES, about), f"{label} / all cores")
    printed = published.table
    axes.plot(printed["items"], printed["cpu_ms"] / printed["gpu_ms"], color=style.VERMILLION, marker="*",
              markersize=5, linestyle="-.", label=f"{published.citation} (8800 GTX)")  # fmt: skip
    axes.set_ylabel("speedup, CPU time / GPU time")
    axes.legend(loc="upper left", borderaxespad=0.2)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * 6)
    return drawn


def details(timings: SessionTimingEvidence, published: Publication) -> str:
    """What the bars are: of one session an interval, of several what lies between them, which is far more; and the host."""
    hosts = "; ".join(sorted({session.host for session in timings.sessions} - {""}))
    host = f"Host: {hosts}." if hosts else ""
    if (count := len(timings.sessions)) == 1:
        return f"All times are of one session alone; bars: 95% intervals. {host}".strip()
    return f"Points take the fastest core of {count} sessions, bars reach to the slowest, since CPU times differ between sessions. {host}".strip()


def _draw(axes: Axes, ratios: pd.DataFrame, of: style.Look, label: str) -> None:
    axes.plot(ratios["items"], ratios["ratio"], label=label, **of.plot())
    style.error_bars(axes, ratios["items"], ratios["ratio"], ratios["low"], ratios["high"], of.colour)
