"""How fast are scans on one device: time, throughput, share of a copy, the ladder of ideas."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullLocator

from scanlab_report import style
from scanlab_report.data import CASE, Data, ranked
from scanlab_report.formats import Column, Table, code, significant, size, whole, with_interval
from scanlab_report.intervals import (
    FEWEST_OF_MEDIAN,
    Interval,
    median_interval,
    ratio_interval,
    ratio_intervals,
    summarise,
)
from scanlab_report.looks import host_looks, look
from scanlab_report.pick import (
    ANY_TYPE,
    BEST,
    CEILING,
    CEILINGS,
    COPIES,
    CUBS,
    FLOOR,
    HOST,
    JAX,
    LARGEST,
    MEETING_CEILING,
    NEWEST_VENDOR,
    OVERVIEW_CUBS,
    OWN,
    PYTHON,
    SCANS,
    TORCH,
    TUNED,
    VECTOR_CEILING,
    VENDOR,
    Lacking,
    Query,
    answering,
    by_device,
    caches,
    fastest_cub,
    floor_ns,
    items_words,
    line,
    of_variant,
    parts,
    pick,
    power_of_two,
    scan_of,
    scan_words,
    scans,
    shares,
    sources,
    timed,
)
from scanlab_report.shown import Shown, figure, shown, table

ALL = ("variants", "type", "op")


def _subject(cases: pd.DataFrame) -> str:
    """`sum of 32-bit integers`."""
    type_name, op = scan_of(cases)
    return f"{scan_words(op)} of {items_words(type_name)}"


def python_notes(present: Iterable[str], data: Data) -> tuple[str, ...]:
    """How the libraries of Python were timed; none if none of them was. For tables of cold times."""
    timed_ = set(present)
    notes = []
    if timed_ & set(data.variants.ids(PYTHON)):
        notes.append("Python libraries were timed in a run of their own.")
    if JAX in timed_:
        notes.append("JAX is absent: it exposes no CUDA stream for events, so it was timed warm, "
                     "by the wall clock.")  # fmt: skip
    return tuple(notes)


# ------------------------------------------------------------------------- time and throughput


@figure("scans", follows=ALL)
def throughput(data: Data) -> Shown:
    """Throughput against array size, cold and warm, beside a device copy."""
    cases = scans(data, types=ANY_TYPE, all_of=(CEILING,))
    named, about = data.ask.variants, data.variants
    hosts = host_machines(data, cases)

    def is_shown(name: str) -> bool:
        return about[name].overview or name in named

    names = [v for v in timed(cases) if v != FLOOR and is_shown(v)]
    drawn, axes = style.figure(style.DOUBLE, 3.0, len(caches(cases)), sharey=True)
    ends: list[style.End] = []
    for panel, cache in zip(axes, caches(cases), strict=True):
        panel.set_yscale("log")
        style.items_axis(panel, cases.loc[cases["variant"].isin(names), "items"])
        style.decade_axis(panel.yaxis)
        panel.set_title(f"{cache} cache")
        here = [_throughput_line(panel, data, cases, v, cache, look(v, about)) for v in names]
        for (host, machine), drawn_as in zip(hosts.items(), itertools.cycle(host_looks(about))):
            for name in filter(is_shown, timed(machine)):
                end = _throughput_line(panel, data, machine, name, cache, drawn_as)
                here.append(end and replace(end, label=f"CPU: {host}"))
        own = [end for end in here if end]
        ends = own + [end for end in ends if end.label not in {other.label for other in own}]
    axes[0].set_ylabel("throughput, GB/s of 2$n$ items")
    style.margin_legend(axes[-1], ends)
    kinds = "" if named else ("One variant of each kind is shown. CPUs are timed warm only and "
                              "stand in both panels. ")  # fmt: skip
    details = ""
    if any(name in timed(cases) and is_shown(name) for name in about.ids(HOST)):
        details = (f"The CPU beside the GPU is {host_of(data, cases)}; its times differ by "
                   "session.")  # fmt: skip
    return shown(
        data, drawn,
        f"Throughput of an inclusive {_subject(cases)} against array size, counting 2n items "
        "moved, stream launches. Cold: L2 flush before each run; warm: none. The thick line is a "
        f"device copy, the reference of large scans. {kinds}Bars: 95% intervals.",
        cases, *hosts.values(), details=details, scanned=scan_of(cases),
    )  # fmt: skip


def _throughput_line(panel: Axes, data: Data, cases: pd.DataFrame, name: str, cache: str,
                     drawn_as: style.Look) -> style.End | None:  # fmt: skip
    about, rows = data.variants[name], line(cases, name, cache=cache)
    if rows.empty and about.on_host:
        rows = line(cases, name)
    if rows.empty:
        return None
    n, moved = rows["items"].to_numpy(), rows["bytes"].to_numpy(dtype=float)
    rate = moved / rows["median_ns"].to_numpy()  # bytes per nanosecond are GB/s
    width = 2.6 if name == CEILING else 1.0
    order = 1 if name == CEILING else 1.8 if about.origin == "baseline" else 2
    panel.plot(n, rate, linewidth=width, zorder=order, **drawn_as.plot())
    if len(n) == 1 and name == CEILING:  # one point draws no line
        panel.axhline(rate[0], linewidth=width, zorder=1, **drawn_as.plot())
    style.error_bars(panel, n, rate, moved / rows["high_ns"], moved / rows["low_ns"],
                     drawn_as.colour)  # fmt: skip
    label = "memcpy (a copy)" if name == CEILING else about.label
    return style.End(label, drawn_as, float(n[-1]), float(rate[-1]), width)


def host_of(data: Data, cases: pd.DataFrame) -> str:
    """The processors beside which some cases were timed."""
    return "; ".join(sorted({data.files[n].host for n in set(cases["file"])}))


def host_machines(data: Data, cases: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The CPU baselines of every machine without a GPU, of the same scan."""
    type_name, op = scan_of(cases)
    only = data.ask.variants or (HOST,)
    return _machines(data, Query((type_name,), op, any_of=only, only=only, kinds=("host",)))


def _machines(data: Data, query: Query) -> dict[str, pd.DataFrame]:
    machines: dict[str, pd.DataFrame] = {}
    for cases in query.each(data):
        machines.setdefault(host_of(data, cases), cases)
    return machines


FEWEST_OF_FAMILY, OTHERS = 3, "others"
"""A family of fewer variants shares a panel with others."""


@figure("scans", follows=ALL)
def time(data: Data) -> Shown:
    """Time against array size by family of algorithms, beside an empty launch."""
    cases = scans(data, types=ANY_TYPE, all_of=(FLOOR,))
    named, about, cache = data.ask.variants, data.variants, caches(cases)[0]
    sizes = Counter(about[v].family for v in about.ids(OWN))
    panel_of = {v: about[v].family if sizes[about[v].family] >= FEWEST_OF_FAMILY else OTHERS
                for v in timed(cases) if OWN.has(about[v])}  # fmt: skip
    if named:  # asked for to be compared: in one panel
        panel_of = {v: "" for v in timed(cases) if v in named}
    families = sorted(dict.fromkeys(panel_of.values()), key=OTHERS.__eq__) or ["baselines"]
    columns = min(2, len(families))
    lines = -(-len(families) // columns)
    width, height = (style.DOUBLE, 1.85 * lines) if columns > 1 else (style.COLUMN, 2.5)
    drawn, axes = style.figure(width, height, columns, lines, sharey=True)
    for unused in axes[len(families) :]:
        unused.remove()
    beside = [v for v in named or (VENDOR, NEWEST_VENDOR, CEILING)
              if v in timed(cases) and v not in panel_of]  # fmt: skip
    floor_us = floor_ns(cases, cache) / 1e3
    for panel, name in zip(axes, families, strict=False):
        panel.set_yscale("log")
        style.items_axis(panel, cases.loc[cases["variant"] != FLOOR, "items"])
        style.decade_axis(panel.yaxis)
        panel.set_title(name)
        members = [v for v, family in panel_of.items() if family == name]
        ends = [_time_line(panel, data, cases, v, cache) for v in (*members, *beside)]
        panel.axhline(floor_us, **look(FLOOR, about).plot(), linewidth=1.4)
        right = panel.get_xlim()[1]
        label = f"empty launch, {floor_us:.1f} µs"
        ends.append(style.End(label, look(FLOOR, about), right, floor_us, 1.4))
        style.margin_legend(panel, [end for end in ends if end])
    for panel in axes[::columns]:
        panel.set_ylabel(f"time, µs ({cache} cache)")
    panels = "" if named else ", one panel per family of algorithms with shared baselines"
    return shown(
        data, drawn,
        f"Time of an inclusive {_subject(cases)} against array size, stream launches{panels}. The "
        "dotted line is an empty kernel launch, the least time of any launch. Bars: 95% "
        "intervals.",
        cases, scanned=scan_of(cases),
    )  # fmt: skip


def _time_line(
    panel: Axes, data: Data, cases: pd.DataFrame, name: str, cache: str
) -> style.End | None:
    rows = line(cases, name, cache=cache)
    if rows.empty:
        return None
    about, drawn_as = data.variants[name], look(name, data.variants)
    n, us = rows["items"].to_numpy(), rows["median_ns"].to_numpy() / 1e3
    width = 2.6 if name == CEILING else 1.0
    order = 1 if name == CEILING else 1.8 if about.origin == "baseline" else 2
    panel.plot(n, us, linewidth=width, zorder=order, **drawn_as.plot())
    low, high = rows["low_ns"] / 1e3, rows["high_ns"] / 1e3
    style.error_bars(panel, n, us, low, high, drawn_as.colour)
    return style.End(about.label, drawn_as, float(n[-1]), float(us[-1]), width)


# ------------------------------------------------------------------------------ share of a copy


def _shares_from(data: Data, cases: pd.DataFrame, variants: Iterable[str],
                 least: int) -> dict[str, pd.DataFrame]:  # fmt: skip
    """Shares of a copy by variant, from a number of items on; Lacking if there are none."""
    cache = caches(cases)[0]
    every = {v: shares(cases, v, CEILING, cache) for v in variants}
    named = {v: rows for v, of in every.items() if len(rows := of[of["items"] >= least])}
    if not named:
        power = f"2^{least.bit_length() - 1}"
        raise Lacking(f"timings of scans beside {CEILING} at {power} items or more")
    return named


@figure("scans", "python", follows=("type", "op"))
def overview(data: Data) -> Shown:
    """Speed of scans as a share of a device copy, against array size."""
    told = ("decoupled_lookback", "hso_blocked_padded")  # the README tells of these two
    members = (CEILING, BEST, OVERVIEW_CUBS, TORCH, *told)
    cases = scans(data, types=ANY_TYPE, all_of=(CEILING,), any_of=(BEST,), only=members,
                  python=True)  # fmt: skip
    about = data.variants
    present = [v for v in about.ids(*members) if v in timed(cases) and v != CEILING]
    named = _shares_from(data, cases, present, 2**16)
    drawn, (axes,) = style.figure(style.COLUMN, 2.7)
    largest = max(int(rows["items"].max()) for rows in named.values())
    style.items_axis(axes, (2**16, max(largest, 2**17)))
    copy = look(CEILING, about)
    axes.axhline(1, color=copy.colour, linewidth=2.4)
    handles = axes.plot([], [], label="memcpy (a copy)", color=copy.colour, linewidth=2.4)
    for variant in sorted(named, key=lambda v: -float(named[v]["ratio"].iloc[-1])):
        rows, drawn_as = named[variant], look(variant, about)
        handles += axes.plot(rows["items"], rows["ratio"], label=about[variant].label,
                             **drawn_as.plot())  # fmt: skip
        style.ratio_bars(axes, rows, drawn_as.colour)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("share of a device copy")
    drawn.legend(handles=handles, loc="outside upper left", ncols=2, borderpad=0.2,
                 columnspacing=1.0)  # fmt: skip
    return shown(
        data, drawn,
        f"Speed of an inclusive {_subject(cases)} as a share of a device copy of the same bytes, "
        "against array size: cold cache, stream launches. The thick line is the copy, the "
        "reference of large scans. Bars: 95% intervals.",
        cases, scanned=scan_of(cases),
    )  # fmt: skip


@figure("scans", follows=ALL)
def ceiling_share(data: Data) -> Shown:
    """Speed of the fastest scans as a share of a device copy, against array size."""
    cases = scans(data, types=ANY_TYPE, all_of=(CEILING,))
    asked, about = data.ask.variants, data.variants
    present = [v for v in timed(cases) if SCANS.has(about[v]) or v in asked]
    named = _shares_from(data, cases, present, 2**14)
    largest = max(int(rows["items"].max()) for rows in named.values())
    best = sorted(named, key=lambda v: float(named[v]["ratio"].iloc[-1]), reverse=True)
    drawn, (axes,) = style.figure(style.COLUMN, 2.5)
    style.items_axis(axes, (2**14, max(largest, 2**15)))
    axes.axhline(1, color=look(CEILING, about).colour, linewidth=2.2)
    ends = [style.End("memcpy", look(CEILING, about), axes.get_xlim()[1], 1.0, 2.2)]
    for variant in best[: max(6, len(asked))]:
        rows, drawn_as = named[variant], look(variant, about)
        axes.plot(rows["items"], rows["ratio"], **drawn_as.plot())
        style.ratio_bars(axes, rows, drawn_as.colour)
        last = rows.iloc[-1]
        ends.append(style.End(about[variant].label, drawn_as, last["items"], last["ratio"]))
    axes.set_ylim(bottom=0)
    axes.set_ylabel("share of a device copy")
    style.margin_legend(axes, ends)
    which = "the fastest six scans of 16,384 items or more at their largest sizes"
    return shown(
        data, drawn,
        f"Speed of {'each scan' if asked else which} as a share of a device copy, against array "
        f"size. Inclusive {_subject(cases)}, stream launches, cold cache, or warm where nothing "
        "was timed cold. The copy, at 1, is the reference of large scans; small scans can pass "
        "it. Bars: 95% intervals.",
        cases, scanned=scan_of(cases),
    )  # fmt: skip


# ------------------------------------------------------------------------------- the ladder

LADDER = ("hs_multipass", "hso_blocked_padded", "hs_blocked", "warp_shuffle", "reduce_then_scan",
          "decoupled_lookback", "look_ahead", BEST)  # fmt: skip
"""The rungs that a reader climbs, each one idea beyond the last: the course of the papers and of
the variants' page."""
SINGLE_PASS = LADDER[3:]


def ladder_cases(data: Data, types: Sequence[str] = ("i32",)) -> pd.DataFrame:
    return scans(data, types=types, all_of=(CEILING,), any_of=SINGLE_PASS)


def rungs(cases: pd.DataFrame) -> pd.DataFrame:
    """`variant`, `ratio`, `low`, `high`: the share of a copy of each rung at `ladder_size`."""
    found = [pick(shares(cases, v, CEILING, caches(cases)[0]), items=ladder_size(cases))
             .assign(variant=v) for v in LADDER]  # fmt: skip
    return pd.concat(found, ignore_index=True)


def ladder_size(cases: pd.DataFrame) -> int:
    """LARGEST, or as near to it as the copy was timed."""
    copied = line(cases, CEILING, cache=caches(cases)[0])["items"]
    return int(copied[copied <= max(LARGEST, copied.min())].max())


@figure("scans", follows=("type", "op"))
def waterfall(data: Data) -> Shown:
    """Speed of scans with four, three and two moves per item, as a share of a device copy: dark parts are gains."""
    cases = ladder_cases(data, ANY_TYPE)
    climbed = rungs(cases)
    drawn, (axes,) = style.figure(style.COLUMN, 0.9 + 0.2 * len(climbed))
    lines = _reference_lines(axes, cases)
    before = 0.0
    for height, rung in enumerate(climbed.itertuples()):
        now, gained = rung.ratio, rung.ratio >= before
        low, high = min(before, now), max(before, now)
        axes.barh(height, low, height=0.62, color="#DDDDDD", zorder=1)
        axes.barh(height, high - low, left=low, height=0.62, zorder=1,
                  color=style.BLUE if gained else "white", edgecolor=style.BLUE, linewidth=0.8,
                  linestyle="-" if gained else ":")  # fmt: skip
        style.error_bars_across(axes, [now], [height], [rung.low], [rung.high], style.BLACK)
        crossed = any(0 <= share - now < 0.14 for share in lines)
        inside, on_blue = now > 0.8 or crossed, now - before > 0.12
        at = (now if on_blue else low) if inside else high
        axes.annotate(f"{now:.2f}", (at, height), xytext=(-5 if inside else 5, 0),
                      textcoords="offset points", va="center", fontsize=7.5, zorder=9,
                      color="white" if inside and on_blue else "black",
                      ha="right" if inside else "left")  # fmt: skip
        before = now
    axes.set_yticks(range(len(climbed)), climbed["variant"])
    axes.set_ylim(len(climbed) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    axes.set_xlim(0, 1.04)
    axes.set_xlabel("share of a device copy")
    return shown(
        data, drawn,
        "Speed of scans, from many moves per item to two, as a share of a device copy. Inclusive "
        f"{_subject(cases)}, cold cache, stream launches, at the largest size at which all were "
        "timed. Dark parts are gains over the scan above. Vertical lines: the copy and CUB's "
        "scans. Bars: 95% intervals.",
        cases, scanned=scan_of(cases),
    )  # fmt: skip


def _reference_lines(axes: Axes, cases: pd.DataFrame) -> list[float]:
    """Draws the copy and CUB's scans; their shares."""
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
    axes.get_figure().legend(handles=handles, loc="outside upper right", ncols=len(handles),
                             borderpad=0, columnspacing=1.0)  # fmt: skip
    return [share for _, _, share, *_ in names]


WAVE_STEPS = (FLOOR, VECTOR_CEILING, MEETING_CEILING, BEST, "cub")
"""Each does what the one before does and something more; `cub` is the fastest of its scans."""
WAVE_SMALLEST, WAVE_LARGEST = 1 << 10, 1 << 22


def wave_cases(data: Data, types: Sequence[str] = ("i32",)) -> pd.DataFrame:
    members = (FLOOR, VECTOR_CEILING, MEETING_CEILING, BEST, CUBS)
    return scans(data, types=types, all_of=(MEETING_CEILING, VECTOR_CEILING, FLOOR, BEST),
                 any_of=(CUBS,), launches=("graph",), only=members)  # fmt: skip


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
    times = {name: rows[f"{end}_ns"] / 1e3 for name, end in
             (("us", "median"), ("low", "low"), ("high", "high"))}  # fmt: skip
    return pd.DataFrame({"step": rows["step"], "items": rows["items"].astype(np.int64)} | times)


@figure("scans", follows=("type", "op"))
def single_wave(data: Data) -> Shown:
    """Time per graph node from an empty node over two copies to best and the fastest CUB: each step adds work."""
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
            style.error_bars(axes, rows["items"], rows["us"], rows["low"], rows["high"],
                             drawn_as.colour)  # fmt: skip
        name = "CUB, fastest" if step == "cub" else data.variants[step].label
        ends.append(style.End(name, drawn_as, rows["items"].iloc[-1], rows["us"].iloc[-1]))
    axes.yaxis.set_major_locator(LogLocator(base=2))
    style.decade_axis(axes.yaxis)
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_ylabel("time per graph node, µs")
    style.margin_legend(axes, ends)
    return shown(
        data, drawn,
        f"Time per graph node against array size, warm cache, {items_words(scan_of(cases)[0])}. "
        "Lines: an empty node, a vector copy, a copy with a grid-wide barrier, `best`, and the "
        "fastest CUB scan. On the log axis, equal distances are equal ratios. The copy with the "
        "barrier is a comparison, not a bound. Bars: 95% intervals.",
        cases, scanned=scan_of(cases),
    )  # fmt: skip


# -------------------------------------------------------------------------------- the tables


def standings(data: Data, cases: pd.DataFrame) -> pd.DataFrame:
    """One row per scan at its largest size up to LARGEST, fastest first: `variant`, `items`,
    `count`, `median_us`, and the intervals `rate` (GB/s), `of_memcpy` and `of_cub`."""
    cache, rows = caches(cases)[0], []
    for variant in timed(cases):
        own = of_variant(cases, variant, cache=cache)
        if own.empty and data.variants[variant].on_host:
            own = of_variant(cases, variant)
        own = own[own["items"] <= LARGEST]
        if variant == FLOOR or own.empty:
            continue
        case = own.iloc[-1]
        n, moved, time_ = int(case["items"]), float(case["bytes"]), median_interval(case["samples"])
        rate = Interval(moved / time_.value, moved / time_.high, moved / time_.low, time_.count)
        cub = fastest_cub(data, cases, n, cache)

        def over(other: str | None, n: int = n, case: Any = case) -> Interval | None:
            rival = of_variant(cases, other or "", cache=cache, items=n)
            if other in (None, case["variant"]) or rival.empty:
                return None
            return ratio_interval(rival.iloc[0]["samples"], case["samples"])

        rows.append({"variant": variant, "items": n, "count": time_.count,
                     "median_us": time_.value / 1e3, "rate": rate, "of_memcpy": over(CEILING),
                     "of_cub": over(cub)})  # fmt: skip
    rows.sort(key=lambda row: (-row["items"], -row["rate"].value))
    columns = ["variant", "items", "count", "median_us", "rate", "of_memcpy", "of_cub"]
    frame = pd.DataFrame(rows, columns=columns)
    for column in ("rate", "of_memcpy", "of_cub"):
        frame[column] = pd.Series([row[column] for row in rows], dtype=object)
    return frame


@table("scans", "python", follows=ALL)
def summary(data: Data) -> Shown:
    """Every scan at its largest size, for the paper and docs/CLAIMS.md, and six of them for the README."""
    cases = scans(data, types=ANY_TYPE, all_of=(CEILING,), python=True)
    rows = standings(data, cases)
    if rows.empty:
        raise Lacking(f"timings of at most {size(LARGEST)} items")
    notes = python_notes(timed(cases), data)
    if rows["count"].min() < FEWEST_OF_MEDIAN:
        few = f"Medians of fewer than {FEWEST_OF_MEDIAN} repetitions have no interval."
        notes = (few, *notes)
    if any(data.variants[v].on_host for v in rows["variant"]):
        notes += ("CPU times are warm, by the wall clock and of one session; they differ by "
                  "session.",)  # fmt: skip
    caption = (
        f"Every scan at its largest timed size up to {size(LARGEST)}: inclusive "
        f"{_subject(cases)}, {caches(cases)[0]} cache. Columns: median time, throughput of 2n "
        "items, and speed over a device copy and over the fastest CUB, with 95% intervals in "
        "brackets."
    )
    three = partial(with_interval, digits=3)
    columns = (
        Column("variant", "variant", code, right=False), Column("items", "n", size),
        Column("time_us", "time, µs", partial(significant, digits=4)),
        Column("gb_per_s", "GB/s", three), Column("of_memcpy", "× memcpy", three),
        Column("of_cub", "× CUB", three),
    )  # fmt: skip
    printed = rows.rename(columns={"median_us": "time_us", "rate": "gb_per_s"})
    return shown(data, Table(caption, columns, printed, notes), caption, cases,
                 scanned=scan_of(cases))  # fmt: skip


def _share(interval: Interval | None) -> str:
    return "—" if interval is None else f"{interval.value:.2f}"


_STANDING = (
    Column("median_us", "time, ms", lambda v: significant(v / 1e3, 3)),
    Column("rate", "GB/s", lambda v: whole(round(v.value))),
    Column("of_memcpy", "× memcpy", _share), Column("of_cub", "× fastest CUB", _share),
)  # fmt: skip


def _at_largest(data: Data) -> tuple[pd.DataFrame, pd.DataFrame, str]:
    """The cases, the standings on the GPU at the largest size, and how sure the medians are."""
    cases = scans(data, types=ANY_TYPE, all_of=(CEILING,), python=True)
    rows = standings(data, cases)
    on_host = rows["variant"].isin(data.variants.ids(HOST))
    rows = rows[(rows["items"] == rows["items"].max()) & ~on_host].reset_index(drop=True)
    apart = [max(i.high / i.value - 1, 1 - i.low / i.value) for i in rows["rate"] if i.known]
    within = ""
    if apart:
        within = (f" Rows with six samples or more have 95% intervals within "
                  f"{significant(100 * max(apart), 2)}% of their medians.")  # fmt: skip
    return cases, rows, within


def short(data: Data) -> Shown:
    """The scans at the largest size of all, against the copy and CUB, without intervals."""
    cases, rows, within = _at_largest(data)
    type_name, op = scan_of(cases)
    caption = (
        f"Inclusive {scan_words(op)} of {size(rows['items'].max())} {items_words(type_name)}, "
        f"{caches(cases)[0]} cache: median time, throughput of 2n items, and speed over a device "
        f"copy and over the fastest CUB.{within}"
    )
    columns = (Column("variant", "variant", code, right=False), *_STANDING)
    notes = python_notes(timed(cases), data)
    return shown(data, Table(caption, columns, rows, notes), caption, cases)


def six(data: Data) -> Shown:
    """Six rows for the README: ceiling, ours, CUB tuned and as shipped, what many call, then the
    fastest others of overviews; with what each is, and the versions that ran."""
    cases, rows, within = _at_largest(data)
    type_name, op = scan_of(cases)
    about, present = data.variants, set(rows["variant"])
    wide = [v for v in rows["variant"] if about[v].overview]
    first = dict.fromkeys(v for v in (CEILING, BEST, *about.ids(OVERVIEW_CUBS), TORCH, *wide)
                          if v in present)  # fmt: skip
    rows = rows[rows["variant"].isin(list(first)[:6])].reset_index(drop=True)
    rows["title"] = [about[v].title for v in rows["variant"]]
    source = sources(data, cases)[0]
    fastest = rows.loc[rows["of_cub"].isna(), "variant"]
    times = rows.set_index("variant")["median_us"]
    device = data.files[cases["file"].iloc[0]].device
    caption = (
        f"Inclusive {scan_words(op)} of {size(rows['items'].max())} {items_words(type_name)}, "
        f"{caches(cases)[0]} cache, stream launches, on {device}. Time is the median, and GB/s "
        f"counts 2n items. Ratios are speeds over `{CEILING}` and over the fastest CUB"
        + (f", here `{fastest.iloc[0]}`" if len(fastest) == 1 else "") + "."
        + (f" `{BEST}` has {significant(times[VENDOR] / times[BEST], 3)} times the speed of the "
           f"toolkit's CUB, `{VENDOR}`." if {BEST, VENDOR} <= set(times.index) else "") + within
        + (" PyTorch was timed in a run of its own." if TORCH in set(rows["variant"]) else "")
        + (f" Versions: {', '.join(source.versions)}." if source.versions else "")
    )  # fmt: skip
    ratios = (replace(column, form=lambda v: "1" if v is None else _share(v))
              for column in _STANDING[2:])  # fmt: skip
    columns = (Column("variant", "row", code, right=False),
               Column("title", "scan or copy", right=False), *_STANDING[:2], *ratios)  # fmt: skip
    return shown(data, Table(caption, columns, rows), caption, cases)


@table("scans")
def kernels(data: Data) -> Shown:
    """Resources of the kernels of each scan."""
    rows = kernel_rows(data, OWN, CUBS)
    default = pick(rows, settings="")
    cubs = data.variants.ids(CUBS)
    made = [_kernel(str(variant), own) for variant, own in default.groupby("variant", sort=True)]
    made.sort(key=lambda row: row["variant"] in cubs)
    notes = []
    for variant, local in pick(default, variant=cubs).groupby("variant")["local_bytes"]:
        if local.min() > 0:
            other = (" Its configurations are CUB's for another chip; `cub_tuned` has those found "
                     "on this one.") if variant == "cub_newest_look_ahead" else ""  # fmt: skip
            notes.append(f"`{variant}` has local memory in every kernel: {local.min():.0f} to "
                         f"{local.max():.0f} B.{other}")  # fmt: skip
    headings = {"launches": "launches", "threads": "threads", "registers": "registers",
                "shared_bytes": "shared, B", "local_bytes": "local, B",
                "workspace_bytes": "workspace, B"}  # fmt: skip
    columns = (
        Column("variant", "variant", code, right=False),
        Column("items", "n", lambda v: "—" if pd.isna(v) else size(v), group="i32"),
        *(Column(key, heading, whole, group="i32") for key, heading in headings.items()),
        Column("prepare_us", "prepare, µs", partial(significant, digits=2), group="i32"),
        *(Column(f"most_{key}", headings[key], whole, group="maximum") for key in _MOST),
    )  # fmt: skip
    caption = (
        "Resources of the kernels of each scan, CUB's last. Columns give 32-bit inclusive sums at "
        f"the largest size up to {size(LARGEST)}, then the maximum over all types, operators and "
        "sizes. Local memory holds spilled registers and arrays indexed at run time. Preparation "
        "runs once before the first run, untimed."
    )
    content = Table(caption, columns, pd.DataFrame(made), tuple(notes))
    return shown(data, content, caption, rows.drop(columns="count", errors="ignore"))


_MOST = ("registers", "shared_bytes", "local_bytes")


def kernel_rows(data: Data, *groups: Any) -> pd.DataFrame:
    """One row per case whose kernels are known, of one device."""
    for _, _, rows in by_device(data, "scan"):
        rows = rows[rows["registers"].notna() & rows["variant"].isin(data.variants.ids(*groups))]
        rows = answering(data, rows.drop_duplicates(["file", *CASE]))
        if len(rows):
            return rows
    raise Lacking("registers of kernels beside timings on a CUDA device")


def _kernel(variant: str, own: pd.DataFrame) -> dict[str, Any]:
    usual = pick(own, type="i32", op="plus", mode="inclusive")
    usual = usual[usual["items"] <= LARGEST].sort_values(["items", "cache", "launch"])
    last = usual.iloc[-1] if len(usual) else {}
    names = ("items", "launches", "threads", "registers", "shared_bytes", "local_bytes",
             "workspace_bytes")  # fmt: skip
    row = {"variant": variant} | {name: last.get(name, math.nan) for name in names}
    row["prepare_us"] = last.get("prepare_ns", math.nan) / 1e3
    return row | {f"most_{name}": own[name].max() for name in _MOST}


@table()
def skipped(data: Data) -> Shown:
    """Cases that were not timed, with the harness's reasons."""
    rows = data["skipped"]
    if rows.empty:
        raise Lacking("cases skipped by the harness")
    origins = rows["file"].map(lambda number: data.files[number].origin)
    rows = rows[origins == min(origins)]  # measured now before recorded
    named = rows.assign(settings=rows["settings"].replace("", "default"))
    grouped = named.groupby(["variant", "settings", "reason"], sort=True)["items"]
    grouped = grouped.agg(cases="size", smallest="min", largest="max").reset_index()
    columns = (
        Column("variant", "variant", code, right=False),
        Column("settings", "settings", right=False), Column("cases", "cases", whole),
        Column("smallest", "smallest n", size), Column("largest", "largest n", size),
        Column("reason", "reason", right=False),
    )  # fmt: skip
    caption = "Cases that were not timed, grouped by the reason that the harness gave."
    return shown(data, Table(caption, columns, grouped), caption, rows)


# ------------------------------------------------------------------------------ one core, 2007

ONE_CORE, ALL_CORES = "cpu_sequential", "cpu_parallel"
OF_2007 = ("hso_blocked_padded", "hso_blocked", "hs_blocked")
CORE_RANGE = (1024, 2**24)


def core_sessions(data: Data, types: Sequence[str] = ("f32", "i32"), all_of: Sequence[str] = (),
                  any_of: Sequence[str] = ()) -> list[pd.DataFrame]:  # fmt: skip
    """The cases of every session that timed one core beside some variants, the newest first: times
    of a CPU vary by the session."""
    only = (ONE_CORE, ALL_CORES, *all_of, *any_of)
    query = Query(tuple(types), all_of=(ONE_CORE, *all_of), any_of=tuple(any_of), only=only,
                  beside=(ALL_CORES,)).asked(data)  # fmt: skip
    every = data.every or data

    def make() -> list[pd.DataFrame]:
        for _, _, rows in by_device(every, "scan", query.kinds):
            newest = sorted(set(rows["file"]), key=lambda n: (every.files[n].date, n), reverse=True)
            for type_name in query.types:
                tables = [query.of_type(every, pick(rows, file=n), type_name) for n in newest]
                if answers := [cases for cases in tables if query.answered(every, cases)]:
                    return answers
        return []

    sessions = data.once(("core", query), make)
    if not sessions:
        raise Lacking(query.words(), [ONE_CORE, *all_of, *any_of])
    return sessions


def core_shown(data: Data, sessions: list[pd.DataFrame]) -> list[str]:
    """What the user named, or else the first of OF_2007 that a session timed beside one core, and
    CUB."""
    named = [v for v in data.ask.variants if v not in (ONE_CORE, ALL_CORES)]
    present = [v for v in named or (*OF_2007, VENDOR) if len(over_core(sessions, v, ONE_CORE))]
    if named:
        return present
    return [v for v in present if v in OF_2007][:1] + [v for v in present if v == VENDOR]


def over_core(sessions: list[pd.DataFrame], above: str, below: str) -> pd.DataFrame:
    """`items`, `type`, `ratio`, `low`, `high`, `sessions`: time of `below` over time of `above` at
    each size. Of several sessions the least ratio up to the most; of one its interval."""
    every = pd.concat([session_over_core(cases, above, below) for cases in sessions], ignore_index=True)
    rows = []
    for n, own in every.groupby("items"):
        low, high = own["ratio"].min(), own["ratio"].max()
        if len(own) == 1:
            low, high = own["low"].iloc[0], own["high"].iloc[0]
        rows.append((n, own["type"].iloc[0], own["ratio"].min(), low, high, len(own)))
    return pd.DataFrame(rows, columns=["items", "type", "ratio", "low", "high", "sessions"])


def session_over_core(cases: pd.DataFrame, above: str, below: str) -> pd.DataFrame:
    cache = caches(cases)[0]
    cpu = of_variant(cases, below, cache=cache)
    cpu = (of_variant(cases, below) if cpu.empty else cpu).drop_duplicates("items")
    both = of_variant(cases, above, cache=cache).merge(cpu, on="items", suffixes=("", "_cpu"))
    both = both[both["items"].between(*CORE_RANGE)]
    ratios = ratio_intervals(list(both["samples_cpu"]), list(both["samples"]))
    return pd.DataFrame({"items": both["items"], "type": both["type"]} | parts(ratios))


@figure("scans", follows=ALL)
def speedup(data: Data) -> Shown:
    """Speedup of GPU scans over one CPU core, beside the values of 2007."""
    published = published_table(data, "hso2007_table2")
    types = tuple(dict.fromkeys(("f32", "i32", *ANY_TYPE)))
    sessions = core_sessions(data, types, any_of=(*OF_2007, VENDOR))
    drawn, (axes,) = style.figure(style.COLUMN, 3.0)
    axes.set_yscale("log")
    style.items_axis(axes, CORE_RANGE)
    style.decade_axis(axes.yaxis)
    axes.axhline(1, color=style.BLACK, linewidth=0.6)
    about = data.variants

    def add(rows: pd.DataFrame, drawn_as: style.Look, label: str) -> None:
        axes.plot(rows["items"], rows["ratio"], label=label, **drawn_as.plot())
        style.ratio_bars(axes, rows, drawn_as.colour)

    for variant in core_shown(data, sessions):
        rows, label = over_core(sessions, variant, ONE_CORE), about[variant].label
        add(rows, look(variant, about), f"{label} / one core, {rows['type'].iloc[0]}")
        if variant == VENDOR and len(rows := over_core(sessions, variant, ALL_CORES)):
            add(rows, look(ALL_CORES, about), f"{label} / all cores")
    printed = published.table
    axes.plot(printed["items"], printed["cpu_ms"] / printed["gpu_ms"], color=style.VERMILLION,
              marker="*", markersize=5, linestyle="-.",
              label=f"{published.citation} (8800 GTX)")  # fmt: skip
    axes.set_ylabel("speedup, CPU time / GPU time")
    axes.legend(loc="upper left", borderaxespad=0.2)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * 6)
    every = data.every or data
    hosts = "; ".join(sorted({host_of(every, cases) for cases in sessions} - {""}))
    details = ("All times are of one session alone; bars: 95% intervals."
               if len(sessions) == 1 else
               f"Points take the fastest core of {len(sessions)} sessions, bars reach to the "
               "slowest, since CPU times differ between sessions.")  # fmt: skip
    same = "Inclusive" if data.ask.variants else ("The same algorithm is `hso_blocked_padded`; "
                                                  "inclusive")  # fmt: skip
    return shown(
        data, drawn,
        "Speedup of GPU scans over one CPU core of the same machine, against array size, beside "
        f"the values of Harris, Sengupta and Owens (2007). {same} sums, cold cache where timed, "
        "stream launches. Below 1 the CPU is faster. Published values have no bars.",
        pd.concat(sessions, ignore_index=True),
        details=f"{details} Host: {hosts}." if hosts else details,
    )  # fmt: skip


def published_table(data: Data, name: str):
    """A table of the literature; Lacking if it was not read."""
    if name not in data.published:
        raise Lacking(f"published table {name}")
    return data.published[name]


@table("scans", name="speedup")
def speedup_table(data: Data) -> Shown:
    """Speedup of GPU scans over one CPU core, in 2007 and now, by size."""
    frame = published_table(data, "hso2007_table2").table[["items", "cpu_ms", "gpu_ms"]].copy()
    sessions = core_sessions(data, any_of=(*OF_2007, VENDOR))
    frame["speedup_2007"] = frame["cpu_ms"] / frame["gpu_ms"]
    columns = [Column("items", "n", size)]
    columns += [Column(key, heading, significant, group="2007") for key, heading in
                (("cpu_ms", "CPU, ms"), ("gpu_ms", "GPU, ms"), ("speedup_2007", "speedup"))]  # fmt: skip
    same = ""
    for variant in core_shown(data, sessions):
        now = {row.items: Interval(row.ratio, row.low, row.high, row.sessions)
               for row in over_core(sessions, variant, ONE_CORE).itertuples()}  # fmt: skip
        frame[f"speedup_{variant}"] = pd.Series([now.get(n) for n in frame["items"]], dtype=object,
                                                index=frame.index)  # fmt: skip
        heading = "CUB" if variant == VENDOR else "same"
        columns.append(Column(f"speedup_{variant}", heading, with_interval, group="speedup now"))
        same += f" The same algorithm now is `{variant}`." if variant != VENDOR else ""
    brackets = ("Now: one session, with 95% intervals in brackets." if len(sessions) == 1 else
                f"Now: with the fastest core of {len(sessions)} sessions; in brackets between the "
                "fastest and the slowest, since CPU times differ between sessions.")  # fmt: skip
    caption = ("Sequential CPU time over GPU time, published in 2007 and measured now. The source "
               f"prints the ninth size, 8388608, as 8388688.{same} {brackets}")  # fmt: skip
    return shown(data, Table(caption, columns, frame), caption,
                 pd.concat(sessions, ignore_index=True))  # fmt: skip
