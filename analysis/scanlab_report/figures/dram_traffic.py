"""DRAM bytes of one scan over the bytes of its items, from hardware counters."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scanlab_report.derive.traffic import over_items
from scanlab_report.layout import style
from scanlab_report.layout.looks import look
from scanlab_report.select.counted import Traffic
from scanlab_report.select.evidence import TrafficEvidence
from scanlab_report.select.variants import NEWEST_VENDOR, OWN, VENDOR

CAPTION = (
    "DRAM bytes of one scan over the bytes of its n items, counted by the hardware (ncu), against array size. Left: reads. "
    "Right: reads and writes, beside 2n, 3n and 4n. Accesses that hit L2 do not count; the vertical line marks n items as "
    "large as L2. One run each, so no bars."
)
NEEDS = {"traffic": Traffic()}
LINES = {2: "2$n$", 3: "3$n$", 4: "4$n$"}


def draw(traffic: TrafficEvidence) -> Figure:
    rows = over_items(traffic)
    drawn, (reads, both) = style.figure(style.DOUBLE, 2.2, 2)
    variants = [v for v in dict.fromkeys(rows["variant"]) if OWN.has(traffic.about[v]) or v in (VENDOR, NEWEST_VENDOR)]
    for panel, column, title in ((reads, "read", "reads"), (both, "moved", "reads and writes")):
        style.items_axis(panel, rows["items"])
        panel.set_title(title)
        ends = [_line(panel, rows[rows["variant"] == variant], column, traffic.about[variant].label, look(variant, traffic.about)) for variant in variants]
        panel.set_ylim(0, max(4.3 if column == "moved" else 2.3, 1.05 * float(rows[column].max())))
        if traffic.l2_bytes:
            panel.axvline(traffic.l2_bytes / 4, color=style.GREY, linewidth=0.8, linestyle=":")
        if column == "moved":
            style.margin_legend(panel, ends)
    for level, name in LINES.items():
        both.axhline(level, color=style.GREY, linewidth=0.8)
        both.annotate(name, (0, level), xycoords=("axes fraction", "data"), xytext=(2, 1), textcoords="offset points", fontsize=7)
    for level in (1, 2):
        reads.axhline(level, color=style.GREY, linewidth=0.8)
    reads.set_ylabel("DRAM bytes / bytes of $n$ items")
    return drawn


def _line(panel: Axes, rows: pd.DataFrame, column: str, label: str, of: style.Look) -> style.End:
    rows = rows.sort_values("items")
    panel.plot(rows["items"], rows[column], **of.plot())
    return style.End(label, of, float(rows["items"].iloc[-1]), float(rows[column].iloc[-1]))
