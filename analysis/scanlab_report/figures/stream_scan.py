"""Throughput of out-of-core scans against input size, beside copies and file access alone."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from scanlab_report.derive.sizes import size_name
from scanlab_report.derive.stream_scans import fastest
from scanlab_report.layout import style
from scanlab_report.select.streams_evidence import DUPLEX, FILES, NAIVE, STREAMED, ScanEvidence, StreamScans

CAPTION = (
    "Throughput of scans within a budget of device memory against input size, counting input bytes. Thick lines are the same transfers without a "
    "scan, a reference and not a bound. Naive: one synchronous loop on pageable memory. Recorded files lie in memory (tmpfs), written by pwrite or through a mapping."
)
NEEDS = {"scans": StreamScans()}

LOOKS = {
    (DUPLEX, ""): style.Look(style.GREY, "", "-"),
    (FILES, "pwrite"): style.Look(style.ORANGE, "", "-"), (FILES, "mapping"): style.Look(style.VERMILLION, "", "-"),
    (STREAMED, ""): style.Look(style.BLUE, "o", "-"), (NAIVE, ""): style.Look(style.BLUE, "o", ":", filled=False),
    (STREAMED, "generated"): style.Look(style.SKY, "D", "-"), (NAIVE, "generated"): style.Look(style.SKY, "D", ":", filled=False),
    (STREAMED, "pwrite"): style.Look(style.ORANGE, "^", "-"), (NAIVE, "pwrite"): style.Look(style.ORANGE, "^", ":", filled=False),
    (STREAMED, "mapping"): style.Look(style.VERMILLION, "s", "-"), (NAIVE, "mapping"): style.Look(style.VERMILLION, "s", ":", filled=False),
}  # fmt: skip
_WAYS = {STREAMED: "streamed", NAIVE: "naive", DUPLEX: "copies in both directions", FILES: "file access alone"}
_NO_SCAN = (DUPLEX, FILES)


def lacks(scans: ScanEvidence) -> str:
    return "scans of more than 0 bytes" if _shown(scans).empty else ""


def _shown(scans: ScanEvidence) -> pd.DataFrame:
    cases = fastest(scans.cases)
    return cases[cases["bytes"] > 0]


def draw(scans: ScanEvidence) -> Figure:
    cases = _shown(scans)
    drawn, (axes,) = style.figure(style.DOUBLE, 2.2)
    axes.set_yscale("log")
    sizes = sorted(set(cases["bytes"]))
    axes.set_xscale("log", base=2)
    axes.set_xlim(sizes[0] / 1.5, sizes[-1] * 1.5)
    axes.set_xticks(sizes, [size_name(size) for size in sizes])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    ends = []
    for (way, place, where), rows in cases.groupby(["way", "place", "where"]):
        rows = rows.sort_values("bytes")
        size = rows["bytes"].to_numpy(dtype=float)
        rate = size / rows["median_ns"]
        look = LOOKS.get((way, place), style.Look(style.GREY, "*", "-."))
        if way in _NO_SCAN and len(rows) == 1:
            axes.axhline(rate.iloc[0], color=look.colour, linewidth=2.6, zorder=1)
        axes.plot(size, rate, linewidth=2.6 if way in _NO_SCAN else 1.0, zorder=1 if way in _NO_SCAN else 2, **look.plot())
        style.error_bars(axes, size, rate, size / rows["high_ns"], size / rows["low_ns"], look.colour)
        ends.append(style.End(f"{_WAYS.get(way, way)}, {where}", look, float(size[-1]), float(rate.iloc[-1]), 2.6 if way in _NO_SCAN else 1.0))
    axes.set_xlabel("bytes of the input")
    axes.set_ylabel("throughput, GB/s each way")
    style.margin_legend(axes, ends)
    return drawn


def details(scans: ScanEvidence) -> str:
    """Which lines have bars, and which end before others, since they were not timed further."""
    largest = fastest(scans.cases).groupby(["way", "where"])["bytes"].max()
    short = largest[largest < largest.max()]
    every = largest.groupby("where").size()
    ends = [style.bars_said(len(samples) for samples in scans.cases["samples"])]
    for size in sorted(set(short)):
        of = short[short == size].index.to_frame(index=False).groupby("where", sort=False)["way"].agg(list)
        lines = "; ".join(f"all of {where}" if len(ways) == every[where] else f"{' and '.join(_WAYS.get(way, way) for way in ways)}, {where}" for where, ways in of.items())
        ends.append(f"Timed up to {size_name(size)} only: {lines}.")
    return " ".join(ends)
