"""GPU over CPU, now and as published in 2007."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis import statistics, style
from analysis.evidence import VENDOR, EachSession, Published, SessionTimingEvidence, TimingEvidence, Timings
from analysis.published import Publication

WIDTH = "column"
CAPTION = (
    "Speedup of a scan on the GPU over a sequential scan on one core of the same machine, beside the table of Harris, "
    "Sengupta and Owens of 2007 (GeForce 8800 GTX against one core at 2.93 GHz). The same algorithm, padded and "
    "scanned by blocks, is hso_blocked_padded; inclusive sums, cold cache where timed, in a stream. Below the line at 1 the CPU is faster. "
    "The published values have no bars."
)
ONE_CORE = "cpu_sequential"
RANGE = (1024, 2**24)
OURS = ("hso_blocked_padded", "hso_blocked", "hs_blocked")
ALL_CORES = "cpu_parallel"


def over_one_core(*, all_of: Sequence[str] = (), any_of: Sequence[str] = ()) -> EachSession:
    """Sessions that timed one core beside these variants."""
    return EachSession(Timings(("f32", "i32"), all_of=(ONE_CORE, *all_of), any_of=any_of, only=(ONE_CORE, ALL_CORES, *all_of, *any_of)))


NEEDS = {"timings": over_one_core(any_of=(*OURS, VENDOR)), "published": Published("hso2007_table2")}


def draw(timings: SessionTimingEvidence, published: Publication) -> Figure:
    drawn, (axes,) = style.figure(style.COLUMN, 3.0)
    axes.set_yscale("log")
    style.items_axis(axes, RANGE)
    style.decade_axis(axes.yaxis)
    axes.axhline(1, color=style.BLACK, linewidth=0.6)
    for variant in shown(timings):
        ratios = by_session(timings, variant, ONE_CORE)
        _draw(axes, ratios, style.look(variant), f"{style.title(variant)} / one core, {ratios['type'].iloc[0]}")
        if variant == VENDOR and not (ratios := by_session(timings, variant, ALL_CORES)).empty:
            _draw(axes, ratios, style.look(ALL_CORES), f"{style.title(variant)} / all cores")
    printed = published.table
    axes.plot(printed["items"], printed["cpu_ms"] / printed["gpu_ms"], color=style.VERMILLION, marker="*",
              markersize=5, linestyle="-.", label=f"{published.citation} (8800 GTX)")  # fmt: skip
    axes.set_ylabel("speedup, CPU time / GPU time")
    axes.legend(loc="upper left", borderaxespad=0.2)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * 6)
    return drawn


def details(timings: SessionTimingEvidence, published: Publication) -> str:
    """What the bars are: of one session an interval, of several what lies between them, which is far more."""
    if (count := len(timings.sessions)) == 1:
        return "Of one session alone; bars are 95% bootstrap intervals of the ratio of medians."
    return (f"Points are medians over {count} sessions, bars reach from the least to the most of them: the time of the CPU differs by the session, "
            "which no interval within one shows.")  # fmt: skip


def shown(timings: SessionTimingEvidence) -> list[str]:
    """The first of OURS that any session timed beside one core, and CUB, as far as they were timed so."""
    timed = [v for v in (*OURS, VENDOR) if not by_session(timings, v, ONE_CORE).empty]
    return [v for v in timed if v in OURS][:1] + [v for v in timed if v == VENDOR]


def by_session(timings: SessionTimingEvidence, above: str, below: str) -> pd.DataFrame:
    """``items``, ``type``, ``ratio``, ``low``, ``high``, ``sessions``: :func:`speedups` over all sessions that have a size, and how many have it.

    The median of several sessions with the least and the most of them; of a single one its ratio with its interval.
    """
    every = pd.concat([speedups(session, above, below) for session in timings.sessions], ignore_index=True)
    rows = []
    for n, of in every.groupby("items"):
        alone = len(of) == 1
        low, high = (of["low"].iloc[0], of["high"].iloc[0]) if alone else (of["ratio"].min(), of["ratio"].max())
        rows.append((n, of["type"].iloc[0], of["ratio"].median(), low, high, len(of)))
    return pd.DataFrame(rows, columns=["items", "type", "ratio", "low", "high", "sessions"])


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
