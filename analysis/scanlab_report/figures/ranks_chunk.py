"""Throughput of scans over several GPUs against the size of the chunks that are dealt out."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from scanlab_report.derive.ranks import COPY, chunks, main_kind
from scanlab_report.layout import style
from scanlab_report.layout.ranks import COPY_WIDTH, look, told_label, told_look
from scanlab_report.select.ranks_evidence import CHUNK, RanksEvidence, SeveralGpus

CAPTION = (
    "Throughput of a scan over several GPUs against the size of the chunks that are dealt out, one panel per number of items per GPU. Thick: "
    "copies on all GPUs. GPUs tell each other the aggregate of each tile, or of each chunk. Aggregates of tiles arrive earlier; aggregates of "
    "chunks are fewer. Bars: 95% intervals."
)
NEEDS = {"timed": SeveralGpus(CHUNK)}
PANELS = 3


def draw(timed: RanksEvidence) -> Figure:
    rows = chunks(main_kind(timed.cases))
    rows = rows[rows["ranks"] == rows["ranks"].max()]
    sizes = sorted(set(rows["items"]))
    sizes = sizes if len(sizes) <= PANELS else [sizes[0], sizes[len(sizes) // 2], sizes[-1]]
    copies = timed.cases[timed.cases["algorithm"] == COPY].merge(rows[["type", "op", "mode", "ranks", "items"]].drop_duplicates()).set_index("items")
    drawn, axes = style.figure(style.DOUBLE, 2.3, len(sizes))
    for panel, items in zip(axes, sizes, strict=True):
        of_size = rows[rows["items"] == items]
        if items in copies.index:
            copy = copies.loc[items]
            panel.axhline(copy["bytes"] / copy["median_ns"] / 1e3, linewidth=COPY_WIDTH, zorder=1, label="copies, 2n", **look(COPY).plot())
        for (name, told), of in of_size.groupby(["algorithm", "told"]):
            seen, moved = told_look(name, told), of["bytes"] / 1e3
            panel.plot(of[CHUNK], moved / of["median_ns"], label=told_label(name, told), zorder=2, **seen.plot())
            style.error_bars(panel, of[CHUNK], moved / of["median_ns"], moved / of["high_ns"], moved / of["low_ns"], seen.colour)
        panel.set_xscale("log", base=2)
        panel.xaxis.set_major_locator(FixedLocator(sorted({float(n) for n in of_size[CHUNK]})))
        panel.xaxis.set_minor_locator(NullLocator())
        panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        panel.set_ylim(0, 1.06 * panel.dataLim.y1)
        gpus = of_size["ranks"].iloc[0]
        panel.set_title(f"{style.power_of_two(items / gpus)} items per GPU, {gpus} GPUs")
        panel.set_xlabel("tiles per chunk")
    axes[0].set_ylabel("throughput of all GPUs, TB/s")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=4, borderpad=0)
    return drawn
