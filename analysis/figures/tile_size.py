"""How large a tile should be: throughput against tile size, at three array sizes."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from analysis import style
from analysis.evidence import CEILING, TimingEvidence, Timings
from analysis.figures.ceiling_share import shares

SIZES = (2**20, 2**24, 2**28)
SWEPT = {"look_ahead": ("tile", 30, 1.0), "decoupled_lookback": ("threads", 256, 64 / 1024)}
"""Of a variant: the parameter that sets the tile, its default, which names leave out, and KiB a unit of it."""
WIDTH = "column"
CAPTION = (
    "Speed of the single-pass scans against the size of their tile, as a share of a device copy, at three array sizes "
    "(32-bit integers, inclusive sum, cold cache, launched in a stream; look_ahead loads a tile in its usual pieces). A large tile "
    "costs less for its size, small ones fill the device sooner. Bars are 95% bootstrap intervals of the ratio of medians."
)
NEEDS = {"timings": Timings(all_of=(CEILING,), any_of=tuple(SWEPT), only=(CEILING, *SWEPT))}


def draw(timings: TimingEvidence) -> Figure:
    rows = by_tile(timings)
    sizes = [n for n in SIZES if n in set(rows["items"])]
    drawn, axes = style.figure(style.COLUMN, 2.1, max(1, len(sizes)), sharey=True)
    for panel, n in zip(axes, sizes):
        for variant in SWEPT:
            of, look = rows[(rows["items"] == n) & (rows["variant"] == variant)], style.look(variant)
            panel.plot(of["kib"], of["ratio"], label=variant, **look.plot())
            style.error_bars(panel, of["kib"], of["ratio"], of["low"], of["high"], look.colour)
        panel.set_xscale("log", base=2)
        panel.set_xlim(6.5, 46)
        panel.xaxis.set_major_locator(FixedLocator([8, 16, 32]))
        panel.xaxis.set_minor_locator(NullLocator())
        panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        panel.set_ylim(0, 1)
        panel.set_title(f"$n$ = {style.power_of_two(n)}")
    axes[len(sizes) // 2].set_xlabel("tile, KiB")
    axes[0].set_ylabel("share of a device copy")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=len(SWEPT), borderpad=0)
    return drawn


def by_tile(timings: TimingEvidence) -> pd.DataFrame:
    """``variant``, ``items``, ``kib``, ``ratio``, ``low``, ``high``, ordered by tile; every other parameter at its default."""
    rows = []
    for variant, (parameter, default, kib) in SWEPT.items():
        given = set(timings.cases.loc[timings.cases["variant"] == variant, "settings"])
        for settings in given:
            name, _, value = settings.partition("=")
            if settings and (name != parameter or not value.isdigit()):
                continue
            tile = kib * (int(value) if settings else default)
            of = shares(timings, variant, CEILING, timings.caches()[0], settings)
            rows += [(variant, int(r.items), tile, r.ratio, r.low, r.high) for r in of.itertuples() if r.items in SIZES]
    table = pd.DataFrame(rows, columns=["variant", "items", "kib", "ratio", "low", "high"])
    return table.drop_duplicates(["variant", "items", "kib"]).sort_values(["variant", "items", "kib"], ignore_index=True)
