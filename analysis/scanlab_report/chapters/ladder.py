"""Gains of each idea: the ladder of scans, and a single wave step by step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullLocator

from scanlab_report import style
from scanlab_report.chapters.scans import subject
from scanlab_report.data import Data
from scanlab_report.groups import (
    ANY_TYPE,
    BEST,
    CEILING,
    CUBS,
    FLOOR,
    LARGEST,
    MEETING_CEILING,
    TUNED,
    VECTOR_CEILING,
    VENDOR,
)
from scanlab_report.looks import look
from scanlab_report.pick import (
    Lacking,
    caches,
    items_words,
    line,
    pick,
    power_of_two,
    scan_of,
    scans,
    shares,
)
from scanlab_report.shown import Shown, figure, shown

LADDER = (
    "hs_multipass",
    "hso_blocked_padded",
    "hs_blocked",
    "warp_shuffle",
    "reduce_then_scan",
    "decoupled_lookback",
    "look_ahead",
    BEST,
)
"""The rungs of the ladder in order, each one idea beyond the last, as in the papers and on the page
of the variants."""
SINGLE_PASS = LADDER[3:]


def ladder_cases(data: Data, types: Sequence[str] = ("i32",)) -> pd.DataFrame:
    return scans(data, types=types, all_of=(CEILING,), any_of=SINGLE_PASS)


def rungs(cases: pd.DataFrame) -> pd.DataFrame:
    """`variant`, `ratio`, `low`, `high`: the share of a copy of each rung at `ladder_size`."""
    parts = [
        pick(shares(cases, v, CEILING, caches(cases)[0]), items=ladder_size(cases)).assign(
            variant=v
        )
        for v in LADDER
    ]
    return pd.concat(parts, ignore_index=True)


def ladder_size(cases: pd.DataFrame) -> int:
    """Return LARGEST, or the nearest size at which the copy was timed."""
    copied = line(cases, CEILING, cache=caches(cases)[0])["items"]
    return int(copied[copied <= max(LARGEST, copied.min())].max())


@figure("scans", follows=("type", "op"))
def waterfall(data: Data) -> Shown:
    """Speed of scans with four, three and two moves per item, as a share of a device copy: dark
    parts are gains."""
    cases = ladder_cases(data, ANY_TYPE)
    climbed = rungs(cases)
    drawn, (axes,) = style.figure(style.COLUMN, 0.9 + 0.2 * len(climbed))
    lines = _reference_lines(axes, cases)
    before = 0.0
    for height, rung in enumerate(climbed.itertuples()):
        now, gained = rung.ratio, rung.ratio >= before
        low, high = min(before, now), max(before, now)
        axes.barh(height, low, height=0.62, color="#DDDDDD", zorder=1)
        axes.barh(
            height,
            high - low,
            left=low,
            height=0.62,
            zorder=1,
            color=style.BLUE if gained else "white",
            edgecolor=style.BLUE,
            linewidth=0.8,
            linestyle="-" if gained else ":",
        )
        style.error_bars_across(axes, [now], [height], [rung.low], [rung.high], style.BLACK)
        crossed = any(0 <= share - now < 0.14 for share in lines)
        inside, on_blue = now > 0.8 or crossed, now - before > 0.12
        at = (now if on_blue else low) if inside else high
        axes.annotate(
            f"{now:.2f}",
            (at, height),
            xytext=(-5 if inside else 5, 0),
            textcoords="offset points",
            va="center",
            fontsize=7.5,
            zorder=9,
            color="white" if inside and on_blue else "black",
            ha="right" if inside else "left",
        )
        before = now
    axes.set_yticks(range(len(climbed)), climbed["variant"])
    axes.set_ylim(len(climbed) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    axes.set_xlim(0, 1.04)
    axes.set_xlabel("share of a device copy")
    return shown(
        data,
        drawn,
        "Speed of scans, from many moves per item to two, as a share of a device copy. Inclusive "
        f"{subject(cases)}, cold cache, stream launches, at the largest size at which all were "
        "timed. Dark parts are gains over the scan above. Vertical lines: the copy and CUB's "
        "scans. Bars: 95% intervals.",
        cases,
        scanned=scan_of(cases),
    )


def _reference_lines(axes: Axes, cases: pd.DataFrame) -> list[float]:
    """Draw the copy and the scans of CUB. Return their shares."""
    names = [("memcpy", "memcpy", 1.0, "-", 2.0, style.GREY)]
    for variant, label, dash in ((VENDOR, "CUB", "-"), (TUNED, "CUB tuned", ":")):
        rows = pick(shares(cases, variant, CEILING, caches(cases)[0]), items=ladder_size(cases))
        for share in rows["ratio"]:
            names.append((label, f"{label}, {share:.2f}", share, dash, 0.9, style.BLACK))
    handles = []
    for label, text, share, dash, width, colour in names:
        form = {"color": colour, "linestyle": dash, "linewidth": width}
        axes.axvline(share, zorder=1 if label == "memcpy" else 3, **form)
        handles += axes.plot([], [], label=text, **form)
    axes.get_figure().legend(
        handles=handles,
        loc="outside upper right",
        ncols=len(handles),
        borderpad=0,
        columnspacing=1.0,
    )
    return [share for _, _, share, *_ in names]


WAVE_STEPS = (FLOOR, VECTOR_CEILING, MEETING_CEILING, BEST, "cub")
"""Steps of a wave. Each adds work to the step before; `cub` is the fastest of its scans."""
WAVE_SMALLEST, WAVE_LARGEST = 1 << 10, 1 << 22


def wave_cases(data: Data, types: Sequence[str] = ("i32",)) -> pd.DataFrame:
    members = (FLOOR, VECTOR_CEILING, MEETING_CEILING, BEST, CUBS)
    return scans(
        data,
        types=types,
        all_of=(MEETING_CEILING, VECTOR_CEILING, FLOOR, BEST),
        any_of=(CUBS,),
        launches=("graph",),
        only=members,
    )


def wave_steps(data: Data, cases: pd.DataFrame) -> pd.DataFrame:
    """`step`, `items`, `us`, `low`, `high`: µs per graph node, warm, at each power of two."""
    cases = pick(cases, cache="warm", settings="")
    of_cub = cases["variant"].isin(data.variants.ids(CUBS))
    cases = cases.assign(step=cases["variant"].where(~of_cub, "cub"))
    within = cases["items"].between(WAVE_SMALLEST, WAVE_LARGEST)
    sized = cases[within & power_of_two(cases["items"])]
    if sized.empty:
        raise Lacking("warm timings at a power of two from 2^10 to 2^22")
    floor = cases[cases["variant"] == FLOOR].iloc[-1:]
    floors = [floor.assign(items=n) for n in sorted(set(sized["items"]))]
    rows = pd.concat([sized, *floors]).sort_values("median_ns")
    rows = rows.drop_duplicates(["step", "items"]).sort_values(["step", "items"], ignore_index=True)
    times = {
        name: rows[f"{end}_ns"] / 1e3
        for name, end in (("us", "median"), ("low", "low"), ("high", "high"))
    }
    return pd.DataFrame({"step": rows["step"], "items": rows["items"].astype(np.int64)} | times)


@figure("scans", follows=("type", "op"))
def single_wave(data: Data) -> Shown:
    """Time per graph node from an empty node over two copies to best and the fastest CUB: each step
    adds work."""
    cases = wave_cases(data, ANY_TYPE)
    steps = wave_steps(data, cases)
    drawn, (axes,) = style.figure(style.COLUMN, 2.4)
    axes.set_yscale("log")
    style.items_axis(axes, steps["items"])
    ends = []
    for step in WAVE_STEPS:
        rows = pick(steps, step=step)
        drawn_as = look(VENDOR if step == "cub" else step, data.variants)
        axes.plot(rows["items"], rows["us"], **drawn_as.plot())
        if step != FLOOR:  # one measurement, whatever n
            style.error_bars(
                axes, rows["items"], rows["us"], rows["low"], rows["high"], drawn_as.colour
            )
        name = "CUB, fastest" if step == "cub" else data.variants[step].label
        ends.append(style.End(name, drawn_as, rows["items"].iloc[-1], rows["us"].iloc[-1]))
    axes.yaxis.set_major_locator(LogLocator(base=2))
    style.decade_axis(axes.yaxis)
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_ylabel("time per graph node, µs")
    style.margin_legend(axes, ends)
    return shown(
        data,
        drawn,
        f"Time per graph node against array size, warm cache, {items_words(scan_of(cases)[0])}. "
        "Lines: an empty node, a vector copy, a copy with a grid-wide barrier, `best`, and the "
        "fastest CUB scan. On the log axis, equal distances are equal ratios. The copy with the "
        "barrier is a comparison, not a bound. Bars: 95% intervals.",
        cases,
        scanned=scan_of(cases),
    )
