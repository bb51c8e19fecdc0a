"""Time of look_ahead with one idea removed or one parameter changed, over the time of the unchanged kernel: above 1 is slower."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from scanlab_report.derive import ablation
from scanlab_report.layout import style
from scanlab_report.select.evidence import TimingEvidence
from scanlab_report.select.needs import of_any_type
from scanlab_report.select.timings import ANY_4_BYTES

CAPTION = (
    "Time of `look_ahead` with one change, over that of the unchanged kernel; above 1 is slower. Inclusive {scan} of {items}, cold cache, "
    "stream launches. States at once: it asks for all groups at once, at every size. Arrival per lane: every lane arrives at barriers. The "
    "last two rows are other scans. Bars: 95% intervals."
)
NEEDS = of_any_type(ablation.NEEDS, ANY_4_BYTES)
FOLLOWS = ("type", "op")


def lacks(timings: TimingEvidence) -> str:
    return "timings of look_ahead and of another at 2^20, 2^24 or 2^28" if ablation.ablation(timings).empty else ""


def draw(timings: TimingEvidence) -> Figure:
    rows = ablation.ablation(timings)
    ideas = [idea for idea in ablation.WITHOUT if idea in set(rows["idea"])]
    sizes = [n for n in ablation.SIZES if n in set(rows["items"])]
    drawn, axes = style.figure(style.COLUMN, 0.8 + 0.17 * len(ideas), max(1, len(sizes)), sharey=True)
    for panel, n in zip(axes, sizes, strict=False):
        of = rows[rows["items"] == n].set_index("idea").reindex(ideas)
        heights = list(range(len(ideas)))
        panel.barh(heights, of["ratio"] - 1, left=1, height=0.6, color=style.BLUE)
        style.error_bars_across(panel, of["ratio"], heights, of["low"], of["high"], style.BLACK)
        panel.axvline(1, color=style.BLACK, linewidth=0.8)
        panel.grid(axis="y", visible=False)
        panel.set_title(f"$n$ = {style.power_of_two(n)}")
        for height, ratio, high in zip(heights, of["ratio"], of["high"], strict=True):
            if ratio == ratio:  # not of an experiment that was not timed at this size
                panel.annotate(f"{ratio:.2f}", (np.nanmax([ratio, high, 1]), height), xytext=(3, 0), textcoords="offset points", va="center", fontsize=6)
        left, right = panel.get_xlim()
        panel.set_xlim(left, right + 0.35 * (right - left))  # room for the numbers
        panel.locator_params(axis="x", nbins=3)
    axes[0].set_yticks(range(len(ideas)), ideas)
    axes[0].set_ylim(len(ideas) - 0.4, -0.6)
    axes[len(sizes) // 2].set_xlabel("relative time")
    return drawn
