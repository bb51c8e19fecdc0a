"""Time against array size by family of algorithms, beside an empty launch."""

from __future__ import annotations

from collections import Counter

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scanlab_report.layout import style
from scanlab_report.layout.looks import look
from scanlab_report.select.evidence import TimingEvidence
from scanlab_report.select.timings import ANY_TYPE, Timings
from scanlab_report.select.variants import CEILING, FLOOR, NEWEST_VENDOR, OWN, VENDOR

CAPTION = (
    "Time of an inclusive {scan} of {items} against array size, stream launches{, one panel per family of algorithms with "
    "shared baselines|}. The dotted line is an empty kernel launch, the least time of any launch. Bars: 95% intervals."
)
NEEDS = {"timings": Timings(ANY_TYPE, all_of=(FLOOR,))}
FOLLOWS = ("variants", "type", "op")
FEWEST, OTHERS = 3, "others"
"""A family of fewer variants shares a panel with others."""


def draw(timings: TimingEvidence) -> Figure:
    cache, about = timings.caches()[0], timings.about
    sizes = Counter(about[v].family for v in about.ids(OWN))
    panel_of = {v: about[v].family if sizes[about[v].family] >= FEWEST else OTHERS for v in timings.variants() if OWN.has(about[v])}
    if timings.named:  # asked for to be compared: in one panel
        panel_of = {v: "" for v in timings.variants() if v in timings.named}
    families = sorted(dict.fromkeys(panel_of.values()), key=OTHERS.__eq__) or ["baselines"]
    columns = min(2, len(families))
    lines = -(-len(families) // columns)
    width, height = (style.DOUBLE, 1.85 * lines) if columns > 1 else (style.COLUMN, 2.5)
    drawn, axes = style.figure(width, height, columns, lines, sharey=True)
    for unused in axes[len(families) :]:
        unused.remove()
    shared = [v for v in timings.named or (VENDOR, NEWEST_VENDOR, CEILING) if v in timings.variants() and v not in panel_of]
    items = timings.cases.loc[timings.cases["variant"] != FLOOR, "items"]
    floor_us = timings.floor_ns(cache) / 1e3
    for panel, name in zip(axes, families, strict=False):
        panel.set_yscale("log")
        style.items_axis(panel, items)
        style.decade_axis(panel.yaxis)
        panel.set_title(name)
        members = [v for v, of in panel_of.items() if of == name]
        ends = [end for v in (*members, *shared) if (end := _line(panel, timings, v, cache))]
        panel.axhline(floor_us, **look(FLOOR, about).plot(), linewidth=1.4)
        right = panel.get_xlim()[1]
        ends.append(style.End(f"empty launch, {floor_us:.1f} µs", look(FLOOR, about), right, floor_us, 1.4))
        style.margin_legend(panel, ends)
    for panel in axes[::columns]:
        panel.set_ylabel(f"time, µs ({cache} cache)")
    return drawn


def _line(panel: Axes, timings: TimingEvidence, name: str, cache: str) -> style.End | None:
    rows = timings.series(name, cache=cache)
    if rows.empty:
        return None
    n, us = rows["items"].to_numpy(), rows["median_ns"].to_numpy() / 1e3
    of, width = look(name, timings.about), 2.6 if name == CEILING else 1.0
    panel.plot(n, us, linewidth=width, zorder=1 if name == CEILING else 1.8 if timings.about[name].origin == "baseline" else 2, **of.plot())
    style.error_bars(panel, n, us, rows["low_ns"] / 1e3, rows["high_ns"] / 1e3, of.colour)
    return style.End(timings.about[name].label, of, float(n[-1]), float(us[-1]), width)
