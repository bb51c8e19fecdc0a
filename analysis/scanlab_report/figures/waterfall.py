"""Speed of scans with four, three and two moves per item, as a share of a device copy: dark parts are gains."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scanlab_report.derive import rungs
from scanlab_report.derive.rungs import rungs_at_largest, size_of
from scanlab_report.derive.shares import shares
from scanlab_report.layout import style
from scanlab_report.select.evidence import TimingEvidence
from scanlab_report.select.needs import of_any_type
from scanlab_report.select.variants import CEILING, TUNED, VENDOR

CAPTION = (
    "Speed of scans, from many moves per item to two, as a share of a device copy. Inclusive "
    "{scan} of {items}, cold cache, stream launches, at the largest size at which all were timed. Dark parts are gains over the scan above. Vertical "
    "lines: the copy and CUB's scans. Bars: 95% intervals."
)
NEEDS = of_any_type(rungs.NEEDS)
FOLLOWS = ("type", "op")


def draw(timings: TimingEvidence) -> Figure:
    climbed = rungs_at_largest(timings)
    drawn, (axes,) = style.figure(style.COLUMN, 0.9 + 0.2 * len(climbed))
    lines = _reference_lines(axes, timings)
    before = 0.0
    for height, rung in enumerate(climbed.itertuples()):
        _bar(axes, height, before, rung.ratio)
        style.error_bars_across(axes, [rung.ratio], [height], [rung.low], [rung.high], style.BLACK)
        inside, on_blue = rung.ratio > 0.8 or _crossed(rung.ratio, lines), rung.ratio - before > 0.12  # beyond its end, or in it: on blue if there is room
        axes.annotate(f"{rung.ratio:.2f}", (rung.ratio if on_blue else min(before, rung.ratio), height) if inside else (max(rung.ratio, before), height),
                      xytext=(-5 if inside else 5, 0), textcoords="offset points", color="white" if inside and on_blue else "black",
                      ha="right" if inside else "left", va="center", fontsize=7.5, zorder=9)  # fmt: skip
        before = rung.ratio
    axes.set_yticks(range(len(climbed)), climbed["variant"])
    axes.set_ylim(len(climbed) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    axes.set_xlim(0, 1.04)
    axes.set_xlabel("share of a device copy")
    return drawn


def _crossed(end: float, lines: list[float]) -> bool:
    """Whether a line runs through where the number beyond a bar's end would be."""
    return any(0 <= line - end < 0.14 for line in lines)


def _bar(axes: Axes, height: int, before: float, now: float) -> None:
    low, high = min(before, now), max(before, now)
    axes.barh(height, low, height=0.62, color="#DDDDDD", zorder=1)
    gained = now >= before
    axes.barh(height, high - low, left=low, height=0.62, zorder=1, color=style.BLUE if gained else "white",
              edgecolor=style.BLUE, linewidth=0.8, linestyle="-" if gained else ":")  # fmt: skip


def _reference_lines(axes: Axes, timings: TimingEvidence) -> list[float]:
    """Draws the copy and CUB's scans, and says where."""
    axes.axvline(1, color=style.GREY, linewidth=2.0, zorder=1)
    names = [("memcpy", 1.0, "-", 2.0)]
    for variant, label, line in ((VENDOR, "CUB", "-"), (TUNED, "CUB tuned", ":")):
        rows = shares(timings, variant, CEILING, timings.caches()[0]).set_index("items")
        if size_of(timings) in rows.index:
            share = float(rows.at[size_of(timings), "ratio"])
            axes.axvline(share, color=style.BLACK, linestyle=line, linewidth=0.9, zorder=3)
            names.append((label, share, line, 0.9))
    handles = [axes.plot([], [], color=style.GREY if label == "memcpy" else style.BLACK, linestyle=line, linewidth=width,
                         label=label if label == "memcpy" else f"{label}, {share:.2f}")[0]
               for label, share, line, width in names]  # fmt: skip
    axes.get_figure().legend(handles=handles, loc="outside upper right", ncols=len(handles), borderpad=0, columnspacing=1.0)
    return [share for _, share, _, _ in names]
