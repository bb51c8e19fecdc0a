"""Speed of single-pass scans against tile size."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from scanlab_report.derive import tiles
from scanlab_report.derive.tiles import SIZES, SWEPT, by_tile
from scanlab_report.layout import style
from scanlab_report.layout.looks import look
from scanlab_report.select.evidence import TimingEvidence
from scanlab_report.select.needs import of_any_type
from scanlab_report.select.timings import ANY_4_BYTES

CAPTION = (
    "Speed of single-pass scans as a share of a device copy, against tile size, one panel per array size. Inclusive {scan} of "
    "{items}, cold cache, stream launches. Each tile has its own number of warps, stages and loads in flight. Bars: 95% "
    "intervals."
)
NEEDS = of_any_type(tiles.NEEDS, ANY_4_BYTES)
FOLLOWS = ("type", "op")


def lacks(timings: TimingEvidence) -> str:
    return "timings of tiles at 2^20, 2^24 or 2^28" if by_tile(timings).empty else ""


def draw(timings: TimingEvidence) -> Figure:
    rows = by_tile(timings)
    sizes = [n for n in SIZES if n in set(rows["items"])]
    drawn, axes = style.figure(style.COLUMN, 2.1, max(1, len(sizes)), sharey=True)
    for panel, n in zip(axes, sizes, strict=False):
        for variant in SWEPT:
            of, drawn_as = rows[(rows["items"] == n) & (rows["variant"] == variant)], look(variant, timings.about)
            panel.plot(of["kib"], of["ratio"], label=variant, **drawn_as.plot())
            style.error_bars(panel, of["kib"], of["ratio"], of["low"], of["high"], drawn_as.colour)
        panel.set_xscale("log", base=2)
        panel.set_xlim(7, 76)
        panel.xaxis.set_major_locator(FixedLocator([8, 16, 32, 64]))
        panel.xaxis.set_minor_locator(NullLocator())
        panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        panel.set_ylim(0.5 if rows["low"].min() > 0.5 else 0, max(1.0, 1.02 * rows["high"].fillna(rows["ratio"]).max()))
        panel.set_title(f"$n$ = {style.power_of_two(n)}")
    axes[len(sizes) // 2].set_xlabel("tile, KiB")
    axes[0].set_ylabel("share of a device copy")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=len(SWEPT), borderpad=0)
    return drawn
