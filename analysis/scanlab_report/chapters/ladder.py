"""Gains of each idea: the ladder of scans, and a single wave step by step."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from scanlab_report import groups, marks, style
from scanlab_report.chapters.scans import SUMS
from scanlab_report.data import Data
from scanlab_report.groups import BEST, CEILING, CUBS, FLOOR, VENDOR
from scanlab_report.looks import look
from scanlab_report.pick import Lacking, caches, line, pick, power_of_two, scans, shares
from scanlab_report.shown import Shown, figure, shown

SINGLE_PASS = ("warp_shuffle", "reduce_then_scan", "decoupled_lookback", "look_ahead", BEST)
LADDER = ("hs_multipass", "hso_blocked_padded", "hs_blocked", *SINGLE_PASS)
"""The rungs of the ladder in order, each one idea beyond the last, as in the papers and on the page
of the variants."""


def ladder_cases(data: Data) -> pd.DataFrame:
    return scans(data, all_of=(CEILING,), any_of=SINGLE_PASS)


def rungs(cases: pd.DataFrame, variants: Sequence[str] = LADDER) -> pd.DataFrame:
    """`variant`, `ratio`, `low`, `high`: the share of a copy of each rung at `ladder_size`."""
    size, cache = ladder_size(cases), caches(cases)[0]
    parts = [pick(shares(cases, v, CEILING, cache), items=size).assign(variant=v) for v in variants]
    return pd.concat(parts, ignore_index=True)


def ladder_size(cases: pd.DataFrame) -> int:
    """Return LARGEST, or the nearest size at which the copy was timed."""
    copied = line(cases, CEILING, cache=caches(cases)[0])["items"]
    return int(copied[copied <= max(groups.LARGEST, copied.min())].max())


@figure("scans")
def waterfall(data: Data) -> Shown:
    """Speed of scans with four, three and two moves per item, as a share of a device copy: dark
    parts are gains."""
    cases = ladder_cases(data)
    climbed = rungs(cases)
    drawn, (axes,) = style.figure(style.COLUMN, 0.9 + 0.2 * len(climbed))
    axes.axvline(1, label="memcpy", color=style.GREY, linewidth=2.0, zorder=1)
    for vendor in rungs(cases, [VENDOR, groups.TUNED]).itertuples():
        name, dash = ("CUB", "-") if vendor.variant == VENDOR else ("CUB tuned", ":")
        text = f"{name}, {vendor.ratio:.2f}"
        axes.axvline(vendor.ratio, label=text, color=style.BLACK, linestyle=dash, linewidth=0.9)
    style.legend(drawn, axes, columnspacing=1.0)
    before, form = climbed["ratio"].shift(fill_value=0.0), {"height": 0.62, "zorder": 1}
    low, gains = np.minimum(before, climbed["ratio"]), climbed["ratio"] - before
    axes.barh(climbed.index, low, color="#DDDDDD", **form)
    fills = ["white" if gain < 0 else style.BLUE for gain in gains]
    edge = {"edgecolor": style.BLUE, "linewidth": 0.8, "color": fills}
    axes.barh(climbed.index, gains.abs(), left=low, **form, **edge)
    ends = climbed["low"], climbed["high"]
    marks.error_bars(axes, climbed["ratio"], climbed.index, *ends, style.BLACK, across=True)
    marks.rows_of_names(
        axes, [f"{rung.variant}  {rung.ratio:.2f}" for rung in climbed.itertuples()]
    )
    axes.set_xlim(0, 1.04)
    axes.set_xlabel("share of a device copy")
    caption = (
        "Speed of scans, from many moves per item to two, as a share of a device copy, at the "
        f"largest size at which all were timed. {SUMS} Dark parts are gains over the scan above; "
        "vertical lines are the copy and CUB's scans; bars are 95% intervals."
    )
    return shown(data, drawn, caption, cases)


WAVE_STEPS = (FLOOR, groups.VECTOR_CEILING, groups.BARRIER_CEILING, BEST, "cub")
"""Steps of a wave. Each adds work to the step before; `cub` is the fastest of its scans."""
WAVE_SMALLEST, WAVE_LARGEST = 1 << 10, 1 << 22


def wave_cases(data: Data) -> pd.DataFrame:
    steps = WAVE_STEPS[:-1]
    return scans(data, all_of=steps, any_of=(CUBS,), only=(*steps, CUBS), launches=("graph",))


def wave_steps(data: Data, cases: pd.DataFrame) -> pd.DataFrame:
    """`step`, `items`, `us`, `low`, `high`: µs per graph node, warm, at each power of two."""
    cases = pick(cases, cache="warm", settings="")
    by_cub = cases["variant"].isin(data.variants.ids(CUBS))
    cases = cases.assign(step=cases["variant"].where(~by_cub, "cub"))
    within = cases["items"].between(WAVE_SMALLEST, WAVE_LARGEST)
    sized = cases[within & power_of_two(cases["items"])]
    if sized.empty:
        raise Lacking("warm timings at a power of two from 2^10 to 2^22")
    floor = cases[cases["variant"] == FLOOR].iloc[-1:]
    floors = [floor.assign(items=n) for n in sorted(set(sized["items"]))]
    rows = pd.concat([sized, *floors]).sort_values("median_ns").astype({"items": np.int64})
    rows = rows.drop_duplicates(["step", "items"]).sort_values(["step", "items"], ignore_index=True)
    return marks.times(rows, 1e3).rename(columns={"y": "us"})


@figure("scans")
def single_wave(data: Data) -> Shown:
    """Time per graph node from an empty node over two copies to best and the fastest CUB: each step
    adds work."""
    cases, about = wave_cases(data), data.variants
    steps = wave_steps(data, cases)
    steps.loc[steps["step"] == FLOOR, "low"] = np.nan  # one measurement, whatever n
    drawn, (axes,) = style.figure(style.COLUMN, 2.4)
    axes.set_yscale("log")
    marks.items_axis(axes, steps["items"])
    ends = []
    for step in WAVE_STEPS:
        name = "CUB, fastest" if step == "cub" else about[step].label
        drawn_as = look(VENDOR if step == "cub" else step, about)
        ends.append(marks.curve(axes, pick(steps, step=step), "items", drawn_as, name, "us"))
    marks.decade_axis(axes.yaxis)
    axes.set_ylabel("time per graph node, µs")
    style.margin_legend(axes, ends)
    caption = (
        "Time per graph node against array size, warm cache, 32-bit integers: an empty node, a "
        "vector copy, a copy with a grid-wide barrier, `best`, and the fastest CUB scan. The copy "
        "with the barrier is a comparison, not a bound. Bars: 95% intervals."
    )
    return shown(data, drawn, caption, cases)
