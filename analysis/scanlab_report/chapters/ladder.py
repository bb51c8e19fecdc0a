"""Gains of each idea: the ladder of scans, a single wave step by step, tiles and shapes."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scanlab_report import groups, marks, style
from scanlab_report.chapters.standings import SUMS
from scanlab_report.data import Data
from scanlab_report.groups import BEST, CEILING, CUBS, FLOOR, SHAPES, VENDOR, cub_as_shipped
from scanlab_report.looks import look
from scanlab_report.pick import answering, caches, line, pick, power_of_two, scans, shares
from scanlab_report.shown import Shown, figure, shown
from scanlab_report.tables import ELEMENT_BYTES
from scanlab_report.versus import on_first, or_lacking

SINGLE_PASS = ("warp_shuffle", "reduce_then_scan", "decoupled_lookback", "look_ahead", BEST)
LADDER = ("hs_multipass", "hso_blocked_padded", "hs_blocked", *SINGLE_PASS)
"""The rungs of the ladder, each one idea beyond the last, as in the papers and on their page."""


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
    axes.set(xlim=(0, 1.04), xlabel="share of a device copy")
    caption = (
        "Speed of scans, from many moves per item to two, as a share of a device copy, at the "
        f"largest size at which all were timed. {SUMS} Dark parts are gains over the scan above; "
        "vertical lines are the copy and CUB's scans; bars are 95% intervals."
    )
    return shown(data, drawn, caption, cases)


WAVE_STEPS = (FLOOR, groups.VECTOR_CEILING, groups.BARRIER_CEILING, BEST, "cub")
"""Steps of a wave. Each adds work to the step before; `cub` is the fastest of its scans."""
WAVE_SMALLEST, WAVE_LARGEST = 1 << 10, 1 << 22


def wave_steps(data: Data) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Cases, and `step`, `items`, `us`, `low`, `high`: µs per warm graph node, at powers of two."""
    steps = WAVE_STEPS[:-1]
    every = scans(data, all_of=steps, any_of=(CUBS,), only=(*steps, CUBS), launches=("graph",))
    cases = pick(every, cache="warm", settings="")
    by_cub = cases["variant"].isin(data.variants.ids(CUBS))
    cases = cases.assign(step=cases["variant"].where(~by_cub, "cub"))
    within = cases["items"].between(WAVE_SMALLEST, WAVE_LARGEST)
    sized = cases[within & power_of_two(cases["items"])]
    or_lacking(sized, "warm timings at a power of two from 2^10 to 2^22")
    floor = cases[cases["variant"] == FLOOR].iloc[-1:].drop(columns="items")
    floors = floor.merge(sized[["items"]].drop_duplicates(), how="cross")
    rows = pd.concat([sized, floors]).sort_values("median_ns").astype({"items": np.int64})
    rows = rows.drop_duplicates(["step", "items"]).sort_values(["step", "items"], ignore_index=True)
    return every, marks.times(rows, 1e3).rename(columns={"y": "us"})


@figure("scans")
def single_wave(data: Data) -> Shown:
    """Time per graph node from an empty node over two copies to best and the fastest CUB: each step
    adds work."""
    (cases, steps), about = wave_steps(data), data.variants
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


SIZES = (2**20, 2**24, 2**28)

# ------------------------------------------------------------------------------------- tiles

SWEPT = {"look_ahead": ("tile", 1.0), "decoupled_lookback": ("threads", 112 / 1024)}
"""The parameter that sets the tile of each variant, and KiB of 32-bit integers per unit of it."""


def by_tile(data: Data) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Cases, and `variant`, `items`, `kib`, `ratio`, `low`, `high` by tile, at SIZES."""
    cases = scans(data, all_of=(CEILING,), any_of=tuple(SWEPT), only=(CEILING, *SWEPT))
    parts = []
    for variant, (parameter, kib) in SWEPT.items():
        default = {parameter: data.variants[variant].defaults.get(parameter, "")}
        for settings in set(pick(cases, variant=variant)["settings"]):
            chosen = default | data.settings[settings]
            if chosen.keys() == {parameter} and chosen[parameter]:
                rows = shares(cases, variant, CEILING, caches(cases)[0], settings)
                tile = kib * int(chosen[parameter])
                parts.append(pick(rows, items=SIZES).assign(variant=variant, kib=tile))
    rows = [part for part in parts if len(part)]
    or_lacking(rows, "timings of tiles at 2^20, 2^24 or 2^28")
    return cases, pd.concat(rows).sort_values(["variant", "items", "kib"], ignore_index=True)


def _by_size(rows: pd.DataFrame, height: float, label: str) -> tuple[Figure, dict[int, Axes]]:
    """A figure with a panel for each of SIZES that was timed, and the label of their axes."""
    sizes = [n for n in SIZES if n in set(rows["items"])]
    drawn, axes = style.figure(style.COLUMN, height, len(sizes), sharey=True)
    for panel, n in zip(axes, sizes, strict=True):
        panel.set_title(f"$n$ = {marks.power_of_two(n)}")
    axes[len(axes) // 2].set_xlabel(label)
    return drawn, dict(zip(sizes, axes, strict=True))


@figure("scans")
def tile_size(data: Data) -> Shown:
    """Speed of single-pass scans against tile size."""
    cases, rows = by_tile(data)
    drawn, panels = _by_size(rows, 2.1, "tile, KiB")
    for n, panel in panels.items():
        for variant in SWEPT:
            own, drawn_as = pick(rows, items=n, variant=variant), look(variant, data.variants)
            marks.curve(panel, own, "kib", drawn_as, variant, "ratio")
        marks.ticks_at(panel, (8, 16, 32, 64), base=2)
        panel.set_xlim(7, 76)
        panel.set_ylim(0.5 if rows["low"].min() > 0.5 else 0, max(1.0, 1.02 * rows["high"].max()))
    axes = [*panels.values()]
    axes[0].set_ylabel("share of a device copy")
    style.legend(drawn, axes[0])
    caption = (
        "Speed of single-pass scans as a share of a device copy, against tile size, one panel per "
        f"array size. {SUMS} Each tile has its own number of warps, stages and loads in flight; "
        "bars are 95% intervals."
    )
    return shown(data, drawn, caption, cases)


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


def ablations(data: Data) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Cases, and `idea`, `items`, `ratio`, `low`, `high`: time without an idea over with it."""
    members = (WHOLE, "decoupled_lookback", "reduce_then_scan")
    cases, parts = scans(data, all_of=members, only=members), []
    for idea, settings in WITHOUT.items():
        rows = shares(cases, WHOLE if settings else idea, WHOLE, caches(cases)[0], settings)
        rows = pick(rows, items=SIZES).rename(columns={"low": "high", "high": "low"})
        rows[["ratio", "low", "high"]] = 1 / rows[["ratio", "low", "high"]]
        parts.append(rows.assign(idea=idea))
    rows = pd.concat(parts, ignore_index=True)
    or_lacking(rows, "timings of look_ahead and of another at 2^20, 2^24 or 2^28")
    return cases, rows.astype({"items": int})


@figure("scans")
def ablation(data: Data) -> Shown:
    """Time of look_ahead with one idea removed or one parameter changed, over the time of the
    unchanged kernel: above 1 is slower."""
    cases, rows = ablations(data)
    ideas = [idea for idea in WITHOUT if idea in set(rows["idea"])]
    drawn, panels = _by_size(rows, 0.8 + 0.17 * len(ideas), "relative time")
    for n, panel in panels.items():
        own = pick(rows, items=n).set_index("idea").reindex(ideas).reset_index()
        panel.barh(own.index, own["ratio"] - 1, left=1, height=0.6, color=style.BLUE)
        marks.error_bars(panel, own["ratio"], own.index, own["low"], own["high"], style.BLACK, True)
        panel.axvline(1, color=style.BLACK, linewidth=0.8)
        marks.rows_of_names(panel, ideas)
        at = {"xytext": (3, 0), "textcoords": "offset points", "va": "center", "fontsize": 6}
        for row in own.dropna(subset="ratio").itertuples():
            end = np.nanmax([row.ratio, row.high, 1.0])
            panel.annotate(f"{row.ratio:.2f}", (end, row.Index), **at)
        left, right = panel.get_xlim()
        panel.set_xlim(left, right + 0.35 * (right - left))  # room for the numbers
        panel.locator_params(axis="x", nbins=3)
    caption = (
        "Time of `look_ahead` with one change, over that of the unchanged kernel; above 1 is "
        f"slower. {SUMS} States at once: it asks for all groups at once; arrival per lane: every "
        "lane arrives at barriers; the last two rows are other scans; bars are 95% intervals."
    )
    return shown(data, drawn, caption, cases)


# ------------------------------------------------------------------------------ shapes of CUB

LOOK_AHEAD, LOOK_BACK, SHIPPED = "look-ahead", "look-back", "as shipped"


def by_shape(data: Data, cases: pd.DataFrame) -> pd.DataFrame:
    """The `ratio` of a copy's time over that of each shape, cold and from a stream, at the sizes
    where all were timed. `algorithm`: LOOK_AHEAD or LOOK_BACK, or SHIPPED, the fastest as shipped.
    `tuned`: the fastest of the few shapes that were left."""
    by, cases = ["type", "items"], pick(cases, cache="cold", launch="stream")
    copies = pick(cases, variant=CEILING)[[*by, "median_ns"]]
    cases = cases.merge(copies, on=by, how="left", suffixes=("", "_copy"))
    cases["ratio"] = cases["median_ns_copy"] / cases["median_ns"]
    rows = pick(cases, variant=data.variants.ids(SHAPES))
    sizes = rows.groupby(["type", "variant", "settings"])["items"].transform("nunique")
    rows = rows.assign(left=sizes > sizes.groupby(rows["type"]).transform("min"))
    rows = rows[rows["ratio"].notna() & ~rows.groupby(by)["left"].transform("all")]
    or_lacking(rows, "cold times of shapes beside a copy, from a stream")
    best = rows["ratio"].where(rows["left"]).groupby([rows[name] for name in by]).transform("max")
    pairs = zip(rows["variant"], rows["settings"], strict=True)
    shapes = pd.DataFrame([data.variants[v].defaults | data.settings[own] for v, own in pairs])
    shapes = shapes.reindex(columns=["warps", "threads", "items"]).set_index(rows.index)
    shapes = shapes.apply(pd.to_numeric, errors="coerce")
    threads = (32 * shapes["warps"]).fillna(shapes["threads"])  # look-ahead has warps
    rows["algorithm"] = np.where(shapes["warps"].notna(), LOOK_AHEAD, LOOK_BACK)
    kib = threads * shapes["items"] * rows["type"].map(ELEMENT_BYTES) / 1024
    rows = rows.assign(kib=kib, tuned=rows["ratio"] == best)
    shipped = set(cub_as_shipped(data)) - set(data.variants.ids(SHAPES))
    fastest = pick(cases, variant=shipped).groupby(by)["ratio"].max().reset_index()
    fastest = fastest.merge(rows[by].drop_duplicates()).assign(algorithm=SHIPPED, tuned=False)
    rows = pd.concat([rows[[*by, "algorithm", "kib", "ratio", "tuned"]], fastest])
    rows["bytes"] = rows["type"].map(ELEMENT_BYTES)
    return rows.sort_values(["bytes", *by], kind="stable")


@figure("cub_shapes")
def cub_shapes(data: Data) -> Shown:
    """Speed of CUB in each configuration that tuning tried for sums of integers: share of a copy,
    by tile size; the star is cub_tuned."""
    tuned = data.variants.ids(SHAPES)
    sums = lambda rows: pick(rows, op="plus", variant=tuned)
    wanted = lambda rows: pick(rows, op="plus") if len(sums(rows)) else ()
    lacking = "times of the shapes that a rival was tuned among for sums on a CUDA device"
    cases = answering(data, on_first(data, "cases", wanted, lacking, kinds=["tuning"]))
    columns = list(by_shape(data, cases).groupby("type", sort=False))
    most = max(own["items"].nunique() for _, own in columns)
    height = 0.3 + 1.05 * most
    drawn, axes = style.figure(style.DOUBLE, height, len(columns), most, sharex=True, sharey=True)
    back, ahead = style.Look(style.GREY, "o", ""), style.Look(style.BLUE, "^", "")
    line, star = style.Look(style.BLACK, "None", "-"), style.Look(style.VERMILLION, "*", "None")
    for column, (type_name, own) in enumerate(columns):
        panels, sizes = axes[column :: len(columns)], list(own.groupby("items"))
        for panel in panels[: most - len(sizes)]:
            panel.set_axis_off()
        for panel, (n, here) in zip(panels[most - len(sizes) :], sizes, strict=True):
            for name, drawn_as in ((LOOK_BACK, back), (LOOK_AHEAD, ahead)):
                rows, form = pick(here, algorithm=name), {"alpha": 0.6, "markersize": 3.5}
                marks.curve(panel, rows, "kib", drawn_as, name, "ratio", **form)
            for ratio in pick(here, algorithm=SHIPPED)["ratio"]:
                marks.level(panel, ratio, line, SHIPPED)
            rows, form = here[here["tuned"]], {"markersize": 8, "zorder": 4}
            marks.curve(panel, rows, "kib", star, "tuned", "ratio", **form)
            panel.set(xlim=(0, 50), ylim=(0, 1))
            panel.set_title(f"{type_name}, $n$ = {marks.power_of_two(n)}")
        panels[-1].set_xlabel("tile, KiB")
    for panel in axes[:: len(columns)]:
        panel.set_ylabel("share of a copy")
    style.legend(drawn, axes[-1])
    caption = (
        "Speed of CUB's sums as a share of a device copy, against tile size. Columns are types, "
        "rows sizes, the largest at the bottom: inclusive scans, cold cache, stream launches. Each "
        "mark is a configuration of look-back or look-ahead, the line, as shipped, the fastest "
        "untuned CUB, and the star `cub_tuned`; there are no error bars."
    )
    return shown(data, drawn, caption, cases)
