"""Effects of tiles, single ideas and shapes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from scanlab_report import style
from scanlab_report.data import Data
from scanlab_report.groups import CEILING, SHAPES, cub_as_shipped, ideal_bytes
from scanlab_report.intervals import summarise
from scanlab_report.looks import look
from scanlab_report.pick import (
    Lacking,
    answering,
    by_device,
    caches,
    items_words,
    pick,
    scan_of,
    scan_words,
    scans,
    shares,
)
from scanlab_report.shown import Shown, figure, shown
from scanlab_report.tables import CASE, ELEMENT_BYTES

SIZES = (2**20, 2**24, 2**28)
"""The sizes at which tiles and ideas are compared."""
FOUR_BYTES = ("i32", "f32")

# ------------------------------------------------------------------------------------- tiles

SWEPT = {"look_ahead": "tile", "decoupled_lookback": "threads"}
"""The parameter that sets the tile of each variant."""


def tile_cases(data: Data, types: Sequence[str] = ("i32",)) -> pd.DataFrame:
    return scans(data, types=types, all_of=(CEILING,), any_of=tuple(SWEPT), only=(CEILING, *SWEPT))


def by_tile(data: Data, cases: pd.DataFrame) -> pd.DataFrame:
    """`variant`, `items`, `kib`, `ratio`, `low`, `high`, ordered by tile; every other parameter at
    its default. Lacking if no tile was timed at SIZES."""
    parts = []
    narrow = ELEMENT_BYTES[scan_of(cases)[0]] == 4
    kib = {"tile": 1.0, "threads": (112 if narrow else 64) / 1024}
    for variant, parameter in SWEPT.items():
        defaults = data.variants[variant].defaults
        default = {name: value for name, value in defaults.items() if name == parameter}
        for settings in set(pick(cases, variant=variant)["settings"]):
            chosen = default | data.settings[settings]
            if chosen.keys() == {parameter}:
                rows = shares(cases, variant, CEILING, caches(cases)[0], settings)
                tile = kib[parameter] * int(chosen[parameter])
                parts.append(pick(rows, items=SIZES).assign(variant=variant, kib=tile))
    rows = pd.concat(parts) if parts else pd.DataFrame()
    if rows.empty:
        raise Lacking("timings of tiles at 2^20, 2^24 or 2^28")
    return rows.sort_values(["variant", "items", "kib"], ignore_index=True)


@figure("scans", follows=("type", "op"))
def tile_size(data: Data) -> Shown:
    """Speed of single-pass scans against tile size."""
    cases = tile_cases(data, FOUR_BYTES)
    rows = by_tile(data, cases)
    sizes = [n for n in SIZES if n in set(rows["items"])]
    drawn, axes = style.figure(style.COLUMN, 2.1, max(1, len(sizes)), sharey=True)
    bottom = 0.5 if rows["low"].min() > 0.5 else 0
    for panel, n in zip(axes, sizes, strict=True):
        for variant in SWEPT:
            own, drawn_as = pick(rows, items=n, variant=variant), look(variant, data.variants)
            panel.plot(own["kib"], own["ratio"], label=variant, **drawn_as.plot())
            style.error_bars(
                panel, own["kib"], own["ratio"], own["low"], own["high"], drawn_as.colour
            )
        panel.set_xscale("log", base=2)
        panel.set_xlim(7, 76)
        style.ticks_at(panel, (8, 16, 32, 64))
        panel.set_ylim(bottom, max(1.0, 1.02 * rows["high"].fillna(rows["ratio"]).max()))
        panel.set_title(f"$n$ = {style.power_of_two(n)}")
    axes[len(sizes) // 2].set_xlabel("tile, KiB")
    axes[0].set_ylabel("share of a device copy")
    drawn.legend(
        *axes[0].get_legend_handles_labels(),
        loc="outside upper right",
        ncols=len(SWEPT),
        borderpad=0,
    )
    type_name, op = scan_of(cases)
    return shown(
        data,
        drawn,
        "Speed of single-pass scans as a share of a device copy, against tile size, one panel per "
        f"array size. Inclusive {scan_words(op)} of {items_words(type_name)}, cold cache, stream "
        "launches. Each tile has its own number of warps, stages and loads in flight. Bars: 95% "
        "intervals.",
        cases,
        scanned=(type_name, op),
    )


# -------------------------------------------------------------------------------- single ideas

WHOLE = "look_ahead"
WITHOUT = {
    "2 stages": "stages=2",
    "3 stages": "stages=3",
    "4 stages": "stages=4",
    "5 stages": "stages=5",
    "1 tile loading": "loading=1",
    "4 tiles loading": "loading=4",
    "all tiles loading": "loading=all",
    "static tiles": "assignment=static",
    "no PDL": "pdl=no",
    "states at once": "asking=at_once",
    "arrival per lane": "arrivals=lane",
    "decoupled_lookback": "",
    "reduce_then_scan": "",
}
"""The experiments by name: settings of WHOLE, or another scan with its defaults."""


def ablation_cases(data: Data, types: Sequence[str] = ("i32",)) -> pd.DataFrame:
    members = (WHOLE, "decoupled_lookback", "reduce_then_scan")
    return scans(data, types=types, all_of=members, only=members)


def ablations(cases: pd.DataFrame) -> pd.DataFrame:
    """`idea`, `items`, `ratio`, `low`, `high`: time without an idea over time with it."""
    parts = []
    for idea, settings in WITHOUT.items():
        rows = shares(cases, WHOLE if settings else idea, WHOLE, caches(cases)[0], settings)
        rows = pick(rows, items=SIZES)
        ratio = 1 / rows["ratio"]
        parts.append(
            pd.DataFrame(
                {
                    "idea": idea,
                    "items": rows["items"].astype(int),
                    "ratio": ratio,
                    "low": 1 / rows["high"],
                    "high": 1 / rows["low"],
                }
            )
        )
    rows = pd.concat(parts, ignore_index=True)
    if rows.empty:
        raise Lacking("timings of look_ahead and of another at 2^20, 2^24 or 2^28")
    return rows


@figure("scans", follows=("type", "op"))
def ablation(data: Data) -> Shown:
    """Time of look_ahead with one idea removed or one parameter changed, over the time of the
    unchanged kernel: above 1 is slower."""
    cases = ablation_cases(data, FOUR_BYTES)
    rows = ablations(cases)
    ideas = [idea for idea in WITHOUT if idea in set(rows["idea"])]
    sizes = [n for n in SIZES if n in set(rows["items"])]
    height = 0.8 + 0.17 * len(ideas)
    drawn, axes = style.figure(style.COLUMN, height, max(1, len(sizes)), sharey=True)
    for panel, n in zip(axes, sizes, strict=True):
        own, heights = pick(rows, items=n).set_index("idea").reindex(ideas), list(range(len(ideas)))
        panel.barh(heights, own["ratio"] - 1, left=1, height=0.6, color=style.BLUE)
        style.error_bars_across(panel, own["ratio"], heights, own["low"], own["high"], style.BLACK)
        panel.axvline(1, color=style.BLACK, linewidth=0.8)
        panel.grid(axis="y", visible=False)
        panel.set_title(f"$n$ = {style.power_of_two(n)}")
        for height, ratio, high in zip(heights, own["ratio"], own["high"], strict=True):
            if ratio == ratio:  # timed at this size
                at = (np.nanmax([ratio, high, 1]), height)
                panel.annotate(
                    f"{ratio:.2f}",
                    at,
                    xytext=(3, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=6,
                )
        left, right = panel.get_xlim()
        panel.set_xlim(left, right + 0.35 * (right - left))  # room for the numbers
        panel.locator_params(axis="x", nbins=3)
    axes[0].set_yticks(range(len(ideas)), ideas)
    axes[0].set_ylim(len(ideas) - 0.4, -0.6)
    axes[len(sizes) // 2].set_xlabel("relative time")
    type_name, op = scan_of(cases)
    return shown(
        data,
        drawn,
        "Time of `look_ahead` with one change, over that of the unchanged kernel; above 1 is "
        f"slower. Inclusive {scan_words(op)} of {items_words(type_name)}, cold cache, stream "
        "launches. States at once: it asks for all groups at once, at every size. Arrival per "
        "lane: every lane arrives at barriers. The last two rows are other scans. Bars: 95% "
        "intervals.",
        cases,
        scanned=(type_name, op),
    )


# ------------------------------------------------------------------------------ shapes of CUB

LOOK_AHEAD, LOOK_BACK, SHIPPED = "look-ahead", "look-back", "as shipped"


def shape_cases(data: Data) -> pd.DataFrame:
    """The shapes that CUB was tuned among for sums, beside CUB as shipped and a copy."""
    for _, _, rows in by_device(data, "scan", ("tuning",)):
        rows = pick(rows, op="plus")
        if rows["variant"].isin(data.variants.ids(SHAPES)).any():
            return summarise(answering(data, rows), CASE)
    raise Lacking("times of the shapes that a rival was tuned among for sums on a CUDA device")


def by_shape(data: Data, cases: pd.DataFrame) -> pd.DataFrame:
    """Return `type`, `items`, `algorithm`, `kib`, `ratio`, `tuned`: the time of a copy over that of
    each shape, cold and from a stream, at the sizes where all were timed. `algorithm`: LOOK_AHEAD
    or LOOK_BACK, or SHIPPED, the fastest as shipped. `tuned`: the fastest of the few shapes that
    were left."""
    cases = pick(cases, cache="cold", launch="stream")
    is_shape = cases["variant"].isin(data.variants.ids(SHAPES))
    by = ["type", "variant", "settings"]
    sizes = cases[is_shape].groupby(by)["items"].transform("nunique").reindex(cases.index)
    left = is_shape & (sizes > sizes.groupby(cases["type"]).transform("min"))
    rows = []
    for (type_name, n), here in cases.groupby(["type", "items"], sort=False):
        time = here.set_index("variant")["median_ns"]
        shapes, finalists = here[is_shape[here.index]], here[left[here.index]]
        if CEILING not in time.index or len(shapes) == len(finalists):
            continue
        tuned = finalists["median_ns"].idxmin() if len(finalists) else None
        for row in shapes.itertuples():
            algorithm, items = _shape(data, row.variant, row.settings)
            kib = ideal_bytes(type_name, items) / 2 / 1024
            share = time[CEILING] / row.median_ns
            rows.append((type_name, n, algorithm, kib, share, row.Index == tuned))
        shipped = here[here["variant"].isin(cub_as_shipped(data)) & ~is_shape[here.index]]
        for ns in shipped["median_ns"].nsmallest(1):
            rows.append((type_name, n, SHIPPED, np.nan, time[CEILING] / ns, False))
    columns = ["type", "items", "algorithm", "kib", "ratio", "tuned"]
    by_width = lambda c: c.map(lambda t: (ELEMENT_BYTES[t], t)) if c.name == "type" else c
    frame = pd.DataFrame(rows, columns=columns)
    return frame.sort_values(["type", "items"], key=by_width, kind="stable")


def _shape(data: Data, variant: str, settings: str) -> tuple[str, int]:
    """The algorithm, and the items that a block takes at once."""
    values = data.variants[variant].defaults | data.settings[settings]
    number = {name: int(value) for name, value in values.items() if value.isdigit()}
    if "warps" in number:
        return LOOK_AHEAD, 32 * number["warps"] * number["items"]
    return LOOK_BACK, number["threads"] * number["items"]


@figure("cub_shapes", wide=True)
def cub_shapes(data: Data) -> Shown:
    """Speed of CUB in each configuration that tuning tried for sums of integers: share of a copy,
    by tile size; the star is cub_tuned."""
    cases = shape_cases(data)
    rows = by_shape(data, cases)
    columns = list(rows.groupby("type", sort=False))
    most = max(own["items"].nunique() for _, own in columns)
    drawn, axes = style.figure(
        style.DOUBLE, 0.3 + 1.05 * most, len(columns), most, sharex=True, sharey=True
    )
    for column, (type_name, own) in enumerate(columns):
        panels, sizes = axes[column :: len(columns)], list(own.groupby("items"))
        for panel in panels[: most - len(sizes)]:
            panel.set_axis_off()
        for panel, (n, here) in zip(panels[most - len(sizes) :], sizes, strict=True):
            _shapes(panel, here)
            panel.set_title(f"{type_name}, $n$ = {style.power_of_two(n)}")
    for panel in axes[-len(columns) :]:
        panel.set_xlabel("tile, KiB")
    for panel in axes[:: len(columns)]:
        panel.set_ylabel("share of a copy")
    handles, labels = axes[-1].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside upper right", ncols=len(labels), borderpad=0)
    return shown(
        data,
        drawn,
        "Speed of CUB's sums as a share of a device copy, against tile size. Columns are types, "
        "rows sizes, the largest at the bottom: inclusive scans, cold cache, stream launches. Each "
        "mark is one configuration of look-back or look-ahead. The line, as shipped, is the "
        "fastest untuned CUB, the star `cub_tuned`. There are no error bars.",
        cases,
    )


def _shapes(panel: Axes, rows: pd.DataFrame) -> None:
    for algorithm, colour, marker in ((LOOK_BACK, style.GREY, "o"), (LOOK_AHEAD, style.BLUE, "^")):
        own = pick(rows, algorithm=algorithm)
        panel.plot(
            own["kib"],
            own["ratio"],
            label=algorithm,
            alpha=0.6,
            **style.Look(colour, marker, "").plot() | {"markersize": 3.5},
        )
    for ratio in pick(rows, algorithm=SHIPPED)["ratio"][:1]:
        panel.axhline(ratio, color=style.BLACK, linewidth=1, label=SHIPPED)
    tuned = rows[rows["tuned"]]
    panel.plot(
        tuned["kib"],
        tuned["ratio"],
        "*",
        color=style.VERMILLION,
        markersize=8,
        label="tuned",
        zorder=4,
    )
    panel.set_xlim(0, 50)
    panel.set_ylim(0, 1)
