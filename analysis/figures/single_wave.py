"""What a single wave spends its time on: from an empty launch over two copies to a scan."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from analysis import style
from analysis.evidence import BEST, CUBS, FLOOR, MEETING_CEILING, VECTOR_CEILING, TimingEvidence, Timings

LAUNCH = "graph"
SMALLEST, LARGEST = 1 << 10, 1 << 22
STEPS = (FLOOR, VECTOR_CEILING, MEETING_CEILING, BEST, "cub")
"""Each does what the one before does and something more; CUB stands for the fastest of its scans."""
WIDTH = "column"
CAPTION = (
    "Time of one node of a graph (warm cache, 32-bit integers), from nothing to a scan: an empty launch; a copy by "
    "vectors, which also loads and stores; a copy whose blocks meet between the two, as those of one_wave do; best; and "
    "the fastest of CUB's scans. What lies between two lines is what a step costs. That copy is no bound: best is below it "
    "where it is redundant_reduce, whose blocks do not meet, and can be where it is one_wave, which scans its rows while the "
    "copy merely pauses before it asks for the others. Bars are 95% bootstrap intervals of the median."
)
NEEDS = {"timings": Timings(all_of=(MEETING_CEILING, VECTOR_CEILING, FLOOR, BEST), any_of=CUBS, launches=(LAUNCH,),
                            only=(FLOOR, VECTOR_CEILING, MEETING_CEILING, BEST, *CUBS))}  # fmt: skip


def draw(timings: TimingEvidence) -> Figure:
    table = steps(timings)
    drawn, (axes,) = style.figure(style.COLUMN, 2.4)
    axes.set_yscale("log")
    style.items_axis(axes, table["items"])
    ends = []
    for step in STEPS:
        rows, look = table[table["step"] == step], style.look(CUBS[0] if step == "cub" else step)
        axes.plot(rows["items"], rows["us"], **look.plot())
        if step != FLOOR:  # one measurement, whatever n
            style.error_bars(axes, rows["items"], rows["us"], rows["low"], rows["high"], look.colour)
        name = {"cub": "CUB, fastest", FLOOR: "empty launch"}.get(step, style.title(step))
        ends.append(style.End(name, look, float(rows["items"].iloc[-1]), float(rows["us"].iloc[-1])))
    axes.yaxis.set_major_locator(LogLocator(base=2))
    style.decade_axis(axes.yaxis)
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_ylabel("time, µs (a node of a graph)")
    style.margin_legend(axes, ends)
    return drawn


def steps(timings: TimingEvidence) -> pd.DataFrame:
    """``step``, ``items``, ``us``, ``low``, ``high``: microseconds at each power of two from SMALLEST to LARGEST."""
    cases = timings.cases[(timings.cases["cache"] == "warm") & (timings.cases["settings"] == "")]
    cases = cases.assign(step=cases["variant"].where(~cases["variant"].isin(CUBS), "cub"))
    sized = cases[cases["items"].between(SMALLEST, LARGEST) & ((cases["items"] & (cases["items"] - 1)) == 0)]
    floor = cases[cases["variant"] == FLOOR].iloc[-1:]
    floors = pd.concat([floor.assign(items=n) for n in sorted(set(sized["items"]))])
    rows = pd.concat([sized, floors]).sort_values("median_ns").drop_duplicates(["step", "items"])  # the fastest CUB
    rows = rows.sort_values(["step", "items"], ignore_index=True)
    return pd.DataFrame({"step": rows["step"], "items": rows["items"].astype(np.int64)}
                        | {name: rows[f"{of}_ns"] / 1e3 for name, of in (("us", "median"), ("low", "low"), ("high", "high"))})  # fmt: skip
