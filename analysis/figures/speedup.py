"""GPU over CPU, now and as published in 2007."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis import statistics, style
from analysis.evidence import VENDOR, Published, TimingEvidence, Timings
from analysis.published import Publication

WIDTH = "column"
CAPTION = (
    "Speedup of a scan on the GPU over a sequential scan on one core of the same machine, beside the table of Harris, "
    "Sengupta and Owens of 2007 (GeForce 8800 GTX against one core at 2.93 GHz). The same algorithm, padded and "
    "scanned by blocks, is hso_blocked_padded; inclusive sums, cold cache where timed, in a stream. Below the line at 1 the CPU is faster. Bars are 95% bootstrap "
    "intervals of the ratio of medians; the published values have none."
)
ONE_CORE = "cpu_sequential"
RANGE = (1024, 2**24)
OURS = ("hso_blocked_padded", "hso_blocked", "hs_blocked")
NEEDS = {
    "timings": Timings(types=("f32", "i32"), all_of=(ONE_CORE,), any_of=(*OURS, VENDOR)),
    "published": Published("hso2007_table2"),
}


def draw(timings: TimingEvidence, published: Publication) -> Figure:
    drawn, (axes,) = style.figure(style.COLUMN, 3.0)
    axes.set_yscale("log")
    style.items_axis(axes, RANGE)
    style.decade_axis(axes.yaxis)
    axes.axhline(1, color=style.BLACK, linewidth=0.6)
    present = timings.variants()
    for variant in [v for v in OURS if v in present][:1] + [v for v in (VENDOR,) if v in present]:
        ratios = speedups(timings, variant, ONE_CORE)
        _draw(axes, ratios, style.look(variant), f"{style.title(variant)} / one core, {ratios['type'].iloc[0]}")
        if variant == VENDOR and "cpu_parallel" in present:
            ratios = speedups(timings, variant, "cpu_parallel")
            _draw(axes, ratios, style.look("cpu_parallel"), f"{style.title(variant)} / all cores")
    printed = published.table
    axes.plot(printed["items"], printed["cpu_ms"] / printed["gpu_ms"], color=style.VERMILLION, marker="*",
              markersize=5, linestyle="-.", label=f"{published.citation} (8800 GTX)")  # fmt: skip
    axes.set_ylabel("speedup, CPU time / GPU time")
    axes.legend(loc="upper left", borderaxespad=0.2)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * 6)
    return drawn


def speedups(timings: TimingEvidence, above: str, below: str) -> pd.DataFrame:
    """``items``, ``type``, ``ratio``, ``low``, ``high``: time of ``below`` over time of ``above``, cold if timed so."""
    cache = timings.caches()[0]
    gpu = timings.of(above, cache=cache).set_index("items")
    cpu = timings.of(below, cache=cache)
    cpu = (cpu if not cpu.empty else timings.of(below)).drop_duplicates("items").set_index("items")
    rows = []
    for n in sorted(set(gpu.index) & set(cpu.index)):
        if RANGE[0] <= n <= RANGE[1]:
            ratio = statistics.ratio_interval(cpu.at[n, "samples"], gpu.at[n, "samples"])
            rows.append((n, gpu.at[n, "type"], ratio.value, ratio.low, ratio.high))
    return pd.DataFrame(rows, columns=["items", "type", "ratio", "low", "high"])


def _draw(axes: Axes, ratios: pd.DataFrame, look: style.Look, label: str) -> None:
    axes.plot(ratios["items"], ratios["ratio"], label=label, **look.plot())
    style.error_bars(axes, *(np.asarray(ratios[c]) for c in ("items", "ratio", "low", "high")), look.colour)
