"""Time over that of the fastest copy of the same size, in a stream and in a graph: 1 is as fast as a copy."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scanlab_report.layout import style
from scanlab_report.layout.looks import look
from scanlab_report.read.variants import Wanted
from scanlab_report.select.evidence import TimingEvidence
from scanlab_report.select.timings import ANY_TYPE, Timings
from scanlab_report.select.variants import BEST, CEILING, CEILINGS, COPIES, CUBS, FLOOR, VENDOR
from scanlab_report.stats.intervals import ratio_intervals

SHOWN = ("one_wave", "look_ahead", BEST)
LAUNCHES = {"stream": "stream launches", "graph": "graph nodes"}
HIGHEST = 4.0
"""Slower than so many copies is beyond the axis."""
CAPTION = (
    "Time of an inclusive {scan} of {items} over the time of the fastest copy of the same items, against array size, warm "
    "cache. The thick line is the copy, a reference and not a bound. The dotted line is an empty launch.{ CUB is its fastest "
    "scan at each size.|} Bars: 95% intervals."
)
NEEDS = {"timings": Timings(ANY_TYPE, all_of=(CEILING, FLOOR), any_of=SHOWN, only=(*SHOWN, CUBS, CEILINGS, FLOOR), launches=tuple(LAUNCHES), beside=(CEILINGS,), cache="warm")}
FOLLOWS = ("variants", "type", "op")


def lacks(timings: TimingEvidence) -> str:
    return "" if _launches(timings) else f"warm timings of {CEILING}"


def _launches(timings: TimingEvidence) -> list[str]:
    return [launch for launch in LAUNCHES if not timings.of(CEILING, cache="warm", launch=launch).empty]


def draw(timings: TimingEvidence) -> Figure:
    launches = _launches(timings)
    drawn, axes = style.figure(style.DOUBLE, 2.6, len(launches), sharey=True)
    for panel, launch in zip(axes, launches, strict=True):
        copy = fastest(timings, launch, COPIES)
        style.items_axis(panel, copy.index)
        panel.set_ylim(0, HIGHEST)
        panel.set_title(LAUNCHES[launch])
        panel.axhline(1, linewidth=2.6, zorder=1, **look(CEILING, timings.about).plot())
        floor = timings.floor_ns("warm", launch)
        panel.plot(copy.index, floor / copy["median_ns"], linewidth=1.4, **look(FLOOR, timings.about).plot())
        right = panel.get_xlim()[1]
        ends = [style.End("fastest copy", look(CEILING, timings.about), right, 1.0, 2.6),
                style.End(f"empty launch, {floor / 1e3:.1f} µs", look(FLOOR, timings.about), right, 0.0, 1.4)]  # fmt: skip
        drawn_as = ({} if timings.named else {VENDOR: "CUB, fastest"}) | {variant: timings.about[variant].label for variant in timings.named or SHOWN}
        for variant, name in drawn_as.items():
            if end := _line(panel, name, look(variant, timings.about), fastest(timings, launch, CUBS if variant == VENDOR and not timings.named else variant), copy):
                ends.append(end)
        style.margin_legend(panel, ends)
    axes[0].set_ylabel("time / fastest copy")
    return drawn


def fastest(timings: TimingEvidence, launch: str, of: Wanted) -> pd.DataFrame:
    """By items, the case of the variant with the least median, at each power of two, or at each size if none is one."""
    rows = timings.cases[timings.cases["variant"].isin(timings.about.ids(of)) & (timings.cases["settings"] == "")
                         & (timings.cases["cache"] == "warm") & (timings.cases["launch"] == launch)]  # fmt: skip
    rows = timings.line_sizes(rows)
    return rows.loc[rows.groupby("items")["median_ns"].idxmin()].set_index("items").sort_index()


def _line(panel: Axes, name: str, look: style.Look, rows: pd.DataFrame, copy: pd.DataFrame) -> style.End | None:
    """Times over those of the copy, where both were timed."""
    common = rows.index.intersection(copy.index)
    if common.empty:
        return None
    ratios = ratio_intervals(rows.loc[common, "samples"].tolist(), copy.loc[common, "samples"].tolist())
    values = [ratio.value for ratio in ratios]
    panel.plot(common, values, zorder=2, **look.plot())
    style.error_bars(panel, common, values, [ratio.low for ratio in ratios], [ratio.high for ratio in ratios], look.colour)
    return style.End(name, look, float(common[-1]), values[-1])
