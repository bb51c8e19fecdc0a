"""How fast are scans on one device: time, throughput, share of a copy."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pandas as pd
from matplotlib.axes import Axes

from scanlab_report import groups, marks, style
from scanlab_report.data import Data
from scanlab_report.groups import ANY_TYPE, BEST, CEILING, FLOOR, HOST, PYTHON, VENDOR
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
from scanlab_report.style import End, Look

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
    if groups.JAX in timed_:
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
    ends: dict[str, End] = {}
    for panel, cache in zip(axes, caches(cases), strict=True):
        _log_axes(panel, cases.loc[cases["variant"].isin(names), "items"])
        panel.set_title(f"{cache} cache")
        here = [_rates(panel, data, cases, v, cache, look(v, about)) for v in names]
        for (host, machine), drawn_as in zip(hosts.items(), itertools.cycle(host_looks(about))):
            for name in filter(is_shown, timed(machine)):
                end = _rates(panel, data, machine, name, cache, drawn_as)
                here.append(end and replace(end, label=f"CPU: {host}"))
        ends |= {end.label: end for end in here if end}
    axes[0].set_ylabel("throughput, GB/s of 2$n$ items")
    style.margin_legend(axes[-1], ends.values())
    kinds, details = "", ""
    if not named:
        kinds = (
            "One variant of each kind is shown. CPUs are timed warm only and stand in both panels. "
        )
    if any(HOST.has(about[name]) for name in names):
        details = f"The CPU beside the GPU is {host_of(data, cases)}; its times differ by session."
    caption = (
        f"Throughput of an inclusive {subject(cases)} against array size, counting 2n items "
        "moved, stream launches. Cold: L2 flush before each run; warm: none. The thick line is a "
        f"device copy, the reference of large scans. {kinds}Bars: 95% intervals."
    )
    return shown(
        data, drawn, caption, cases, *hosts.values(), details=details, scanned=scan_of(cases)
    )


def _log_axes(panel: Axes, items: Iterable[int]) -> None:
    panel.set_yscale("log")
    marks.items_axis(panel, items)
    marks.decade_axis(panel.yaxis)


def _rates(
    panel: Axes, data: Data, cases: pd.DataFrame, name: str, cache: str, drawn_as: Look
) -> End | None:
    rows = line(cases, name, cache=cache)
    if rows.empty and data.variants[name].on_host:
        rows = line(cases, name)
    rows = marks.rates(rows)
    label = "memcpy (a copy)" if name == CEILING else data.variants[name].label
    return _line(panel, data, rows, name, drawn_as, label)


def _line(
    panel: Axes, data: Data, rows: pd.DataFrame, name: str, drawn_as: Look, label: str
) -> End | None:
    """A line against array size: that of a copy is thick, and those of baselines are behind."""
    if name == CEILING:
        return marks.reference(panel, rows, "items", drawn_as, label)
    order = 1.8 if data.variants[name].origin == "baseline" else 2
    return marks.curve(panel, rows, "items", drawn_as, label, zorder=order)


def host_of(data: Data, cases: pd.DataFrame) -> str:
    """The processors beside which some cases were timed."""
    return "; ".join(sorted({data.files[n].host for n in set(cases["file"])}))


def host_machines(data: Data, cases: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The CPU baselines of every machine without a GPU, of the same scan."""
    type_name, op = scan_of(cases)
    only = data.ask.variants or (HOST,)
    query = Query((type_name,), op, any_of=only, only=only, kinds=("host",))
    machines: dict[str, pd.DataFrame] = {}
    for own in query.each(data):
        machines.setdefault(host_of(data, own), own)
    return machines


FEWEST_OF_FAMILY, OTHERS = 3, "others"
"""A family of fewer variants shares a panel with others."""


@figure("scans", follows=ALL)
def time(data: Data) -> Shown:
    """Time against array size by family of algorithms, beside an empty launch."""
    cases = scans(data, types=ANY_TYPE, all_of=(FLOOR,))
    named, about, cache = data.ask.variants, data.variants, caches(cases)[0]
    present, family = timed(cases), {v: about[v].family for v in about.ids(groups.OWN)}
    sizes = Counter(family.values())
    few = {v for v in family if sizes[family[v]] < FEWEST_OF_FAMILY}
    panel_of = {v: OTHERS if v in few else family[v] for v in present if v in family}
    if named:  # asked for to be compared: in one panel
        panel_of = {v: "" for v in present if v in named}
    families = sorted(dict.fromkeys(panel_of.values()), key=OTHERS.__eq__) or ["baselines"]
    columns = min(2, len(families))
    lines = -(-len(families) // columns)
    width, height = (style.DOUBLE, 1.85 * lines) if columns > 1 else (style.COLUMN, 2.5)
    drawn, axes = style.figure(width, height, columns, lines, sharey=True)
    for unused in axes[len(families) :]:
        unused.remove()
    references = named or (VENDOR, groups.NEWEST_VENDOR, CEILING)
    baselines = [v for v in references if v in present and v not in panel_of]
    floor_us = floor_ns(cases, cache) / 1e3
    for panel, name in zip(axes, families, strict=False):
        _log_axes(panel, cases.loc[cases["variant"] != FLOOR, "items"])
        panel.set_title(name)
        ends = [
            _line(panel, data, marks.times(rows, 1e3), v, look(v, about), about[v].label)
            for v in (*(v for v in panel_of if panel_of[v] == name), *baselines)
            if len(rows := line(cases, v, cache=cache))
        ]
        label = f"empty launch, {floor_us:.1f} µs"
        ends.append(marks.level(panel, floor_us, look(FLOOR, about), label, width=1.4))
        style.margin_legend(panel, ends)
    for panel in axes[::columns]:
        panel.set_ylabel(f"time, µs ({cache} cache)")
    panels = "" if named else ", one panel per family of algorithms with shared baselines"
    caption = (
        f"Time of an inclusive {subject(cases)} against array size, stream launches{panels}. The "
        "dotted line is an empty kernel launch, the least time of any launch. Bars: 95% "
        "intervals."
    )
    return shown(data, drawn, caption, cases, scanned=scan_of(cases))


# ------------------------------------------------------------------------------ share of a copy


def _shares_from(
    cases: pd.DataFrame, variants: Iterable[str], least: int
) -> dict[str, pd.DataFrame]:
    """Shares of a copy by variant, from a number of items on, the largest in the end first; Lacking
    if there are none."""
    every = {v: shares(cases, v, CEILING, caches(cases)[0]) for v in variants}
    every = {v: rows[rows["items"] >= least] for v, rows in every.items()}
    known = [v for v in every if len(every[v])]
    if not known:
        power = f"2^{least.bit_length() - 1}"
        raise Lacking(f"timings of scans beside {CEILING} at {power} items or more")
    return {v: every[v] for v in sorted(known, key=lambda v: -every[v]["ratio"].iloc[-1])}


def _draw_shares(
    axes: Axes, data: Data, named: dict[str, pd.DataFrame], least: int, most: int
) -> list[End | None]:
    largest = max(int(rows["items"].max()) for rows in named.values())
    marks.items_axis(axes, (least, max(largest, 2 * least)))
    about = data.variants
    draw = lambda v: marks.curve(axes, named[v], "items", look(v, about), about[v].label, "ratio")
    ends = [draw(variant) for variant in [*named][:most]]
    axes.set_ylim(bottom=0)
    axes.set_ylabel("share of a device copy")
    return ends


@figure("scans", "python", follows=("type", "op"))
def overview(data: Data) -> Shown:
    """Speed of scans as a share of a device copy, against array size."""
    extra = ("decoupled_lookback", "hso_blocked_padded")  # the README tells of these two
    members = (CEILING, BEST, groups.OVERVIEW_CUBS, groups.TORCH, *extra)
    cases = scans(
        data, types=ANY_TYPE, all_of=(CEILING,), any_of=(BEST,), only=members, python=True
    )
    present = [v for v in data.variants.ids(*members) if v in timed(cases) and v != CEILING]
    named = _shares_from(cases, present, 2**16)
    drawn, (axes,) = style.figure(style.COLUMN, 2.7)
    marks.level(axes, 1, look(CEILING, data.variants), "memcpy (a copy)", width=2.4)
    _draw_shares(axes, data, named, 2**16, len(named))
    style.legend(drawn, axes, "left", 2, borderpad=0.2, columnspacing=1.0)
    caption = (
        f"Speed of an inclusive {subject(cases)} as a share of a device copy of the same bytes, "
        "against array size: cold cache, stream launches. The thick line is the copy, the "
        "reference of large scans. Bars: 95% intervals."
    )
    return shown(data, drawn, caption, cases, scanned=scan_of(cases))


@figure("scans", follows=ALL)
def ceiling_share(data: Data) -> Shown:
    """Speed of the fastest scans as a share of a device copy, against array size."""
    cases = scans(data, types=ANY_TYPE, all_of=(CEILING,))
    asked, about = data.ask.variants, data.variants
    present = [v for v in timed(cases) if groups.SCANS.has(about[v]) or v in asked]
    named = _shares_from(cases, present, 2**14)
    drawn, (axes,) = style.figure(style.COLUMN, 2.5)
    copy = marks.level(axes, 1, look(CEILING, about), "memcpy", width=2.2)
    ends = _draw_shares(axes, data, named, 2**14, max(6, len(asked)))
    style.margin_legend(axes, [*ends, replace(copy, x=axes.get_xlim()[1])])
    which = "the fastest six scans of 16,384 items or more at their largest sizes"
    caption = (
        f"Speed of {'each scan' if asked else which} as a share of a device copy, against array "
        f"size. Inclusive {subject(cases)}, stream launches, cold cache, or warm where nothing "
        "was timed cold. The copy, at 1, is the reference of large scans; small scans can pass "
        "it. Bars: 95% intervals."
    )
    return shown(data, drawn, caption, cases, scanned=scan_of(cases))
