"""How fast are scans on one device: time, throughput, share of a copy."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pandas as pd
from matplotlib.axes import Axes

from scanlab_report import style
from scanlab_report.data import Data
from scanlab_report.groups import (
    ANY_TYPE,
    BEST,
    CEILING,
    FLOOR,
    HOST,
    JAX,
    NEWEST_VENDOR,
    OVERVIEW_CUBS,
    OWN,
    PYTHON,
    SCANS,
    TORCH,
    VENDOR,
)
from scanlab_report.looks import host_looks, look
from scanlab_report.pick import (
    Lacking,
    Query,
    caches,
    floor_ns,
    items_words,
    line,
    scan_of,
    scan_words,
    scans,
    shares,
    timed,
)
from scanlab_report.shown import Shown, figure, shown

ALL = ("variants", "type", "op")


def subject(cases: pd.DataFrame) -> str:
    """Return the scan in words, such as `sum of 32-bit integers`."""
    type_name, op = scan_of(cases)
    return f"{scan_words(op)} of {items_words(type_name)}"


def python_notes(present: Iterable[str], data: Data) -> tuple[str, ...]:
    """How the libraries of Python were timed, for tables of cold times; none if none was."""
    timed_ = set(present)
    notes = []
    if timed_ & set(data.variants.ids(PYTHON)):
        notes.append("Python libraries were timed in a run of their own.")
    if JAX in timed_:
        notes.append(
            "JAX is absent: it exposes no CUDA stream for events, so it was timed warm, "
            "by the wall clock."
        )
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
    kinds = (
        ""
        if named
        else (
            "One variant of each kind is shown. CPUs are timed warm only and stand in both panels. "
        )
    )
    details = ""
    if any(name in timed(cases) and is_shown(name) for name in about.ids(HOST)):
        details = f"The CPU beside the GPU is {host_of(data, cases)}; its times differ by session."
    return shown(
        data,
        drawn,
        f"Throughput of an inclusive {subject(cases)} against array size, counting 2n items "
        "moved, stream launches. Cold: L2 flush before each run; warm: none. The thick line is a "
        f"device copy, the reference of large scans. {kinds}Bars: 95% intervals.",
        cases,
        *hosts.values(),
        details=details,
        scanned=scan_of(cases),
    )


def _throughput_line(
    panel: Axes, data: Data, cases: pd.DataFrame, name: str, cache: str, drawn_as: style.Look
) -> style.End | None:
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
    style.error_bars(
        panel, n, rate, moved / rows["high_ns"], moved / rows["low_ns"], drawn_as.colour
    )
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
    panel_of = {
        v: about[v].family if sizes[about[v].family] >= FEWEST_OF_FAMILY else OTHERS
        for v in timed(cases)
        if OWN.has(about[v])
    }
    if named:  # asked for to be compared: in one panel
        panel_of = {v: "" for v in timed(cases) if v in named}
    families = sorted(dict.fromkeys(panel_of.values()), key=OTHERS.__eq__) or ["baselines"]
    columns = min(2, len(families))
    lines = -(-len(families) // columns)
    width, height = (style.DOUBLE, 1.85 * lines) if columns > 1 else (style.COLUMN, 2.5)
    drawn, axes = style.figure(width, height, columns, lines, sharey=True)
    for unused in axes[len(families) :]:
        unused.remove()
    baselines = [
        v
        for v in named or (VENDOR, NEWEST_VENDOR, CEILING)
        if v in timed(cases) and v not in panel_of
    ]
    floor_us = floor_ns(cases, cache) / 1e3
    for panel, name in zip(axes, families, strict=False):
        panel.set_yscale("log")
        style.items_axis(panel, cases.loc[cases["variant"] != FLOOR, "items"])
        style.decade_axis(panel.yaxis)
        panel.set_title(name)
        members = [v for v, family in panel_of.items() if family == name]
        ends = [_time_line(panel, data, cases, v, cache) for v in (*members, *baselines)]
        panel.axhline(floor_us, **look(FLOOR, about).plot(), linewidth=1.4)
        right = panel.get_xlim()[1]
        label = f"empty launch, {floor_us:.1f} µs"
        ends.append(style.End(label, look(FLOOR, about), right, floor_us, 1.4))
        style.margin_legend(panel, [end for end in ends if end])
    for panel in axes[::columns]:
        panel.set_ylabel(f"time, µs ({cache} cache)")
    panels = "" if named else ", one panel per family of algorithms with shared baselines"
    return shown(
        data,
        drawn,
        f"Time of an inclusive {subject(cases)} against array size, stream launches{panels}. The "
        "dotted line is an empty kernel launch, the least time of any launch. Bars: 95% "
        "intervals.",
        cases,
        scanned=scan_of(cases),
    )


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


def _shares_from(
    cases: pd.DataFrame, variants: Iterable[str], least: int
) -> dict[str, pd.DataFrame]:
    """Shares of a copy by variant, from a number of items on; Lacking if there are none."""
    cache = caches(cases)[0]
    every = {v: shares(cases, v, CEILING, cache) for v in variants}
    named = {v: rows for v, curve in every.items() if len(rows := curve[curve["items"] >= least])}
    if not named:
        power = f"2^{least.bit_length() - 1}"
        raise Lacking(f"timings of scans beside {CEILING} at {power} items or more")
    return named


@figure("scans", "python", follows=("type", "op"))
def overview(data: Data) -> Shown:
    """Speed of scans as a share of a device copy, against array size."""
    extra = ("decoupled_lookback", "hso_blocked_padded")  # the README tells of these two
    members = (CEILING, BEST, OVERVIEW_CUBS, TORCH, *extra)
    cases = scans(
        data, types=ANY_TYPE, all_of=(CEILING,), any_of=(BEST,), only=members, python=True
    )
    about = data.variants
    present = [v for v in about.ids(*members) if v in timed(cases) and v != CEILING]
    named = _shares_from(cases, present, 2**16)
    drawn, (axes,) = style.figure(style.COLUMN, 2.7)
    largest = max(int(rows["items"].max()) for rows in named.values())
    style.items_axis(axes, (2**16, max(largest, 2**17)))
    copy = look(CEILING, about)
    axes.axhline(1, color=copy.colour, linewidth=2.4)
    handles = axes.plot([], [], label="memcpy (a copy)", color=copy.colour, linewidth=2.4)
    for variant in sorted(named, key=lambda v: -float(named[v]["ratio"].iloc[-1])):
        rows, drawn_as = named[variant], look(variant, about)
        handles += axes.plot(
            rows["items"], rows["ratio"], label=about[variant].label, **drawn_as.plot()
        )
        style.ratio_bars(axes, rows, drawn_as.colour)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("share of a device copy")
    drawn.legend(
        handles=handles, loc="outside upper left", ncols=2, borderpad=0.2, columnspacing=1.0
    )
    return shown(
        data,
        drawn,
        f"Speed of an inclusive {subject(cases)} as a share of a device copy of the same bytes, "
        "against array size: cold cache, stream launches. The thick line is the copy, the "
        "reference of large scans. Bars: 95% intervals.",
        cases,
        scanned=scan_of(cases),
    )


@figure("scans", follows=ALL)
def ceiling_share(data: Data) -> Shown:
    """Speed of the fastest scans as a share of a device copy, against array size."""
    cases = scans(data, types=ANY_TYPE, all_of=(CEILING,))
    asked, about = data.ask.variants, data.variants
    present = [v for v in timed(cases) if SCANS.has(about[v]) or v in asked]
    named = _shares_from(cases, present, 2**14)
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
        data,
        drawn,
        f"Speed of {'each scan' if asked else which} as a share of a device copy, against array "
        f"size. Inclusive {subject(cases)}, stream launches, cold cache, or warm where nothing "
        "was timed cold. The copy, at 1, is the reference of large scans; small scans can pass "
        "it. Bars: 95% intervals.",
        cases,
        scanned=scan_of(cases),
    )
