"""How fast are scans on one device: throughput, and share of a copy."""

import itertools
from collections.abc import Iterable

import pandas as pd
from matplotlib.axes import Axes

from scanlab_report import groups, marks, style
from scanlab_report.data import Data
from scanlab_report.groups import ANY_TYPE, CEILING, FLOOR, HOST
from scanlab_report.looks import host_looks, look
from scanlab_report.pick import Lacking, by_device, caches, line, of_type, scans, shares, timed
from scanlab_report.shown import Shown, figure, shown
from scanlab_report.style import End
from scanlab_report.tables import ELEMENT_BYTES

ALL = ("variants", "type", "op")
SUMS = "Inclusive sums of 32-bit integers, cold cache, stream launches."
"""The scans of figures and tables that follow no wish of a user."""


def scan_of(cases: pd.DataFrame) -> tuple[str, str]:
    """The type and operator of the scans."""
    scanned = cases[cases["variant"] != FLOOR].iloc[0]
    return str(scanned["type"]), str(scanned["op"])


def subject(cases: pd.DataFrame) -> str:
    """Return the scan in words, such as `sum of 32-bit integers`."""
    type_name, op = scan_of(cases)
    kind = "floats" if type_name.startswith("f") else "integers"
    scan = "sum" if op == "plus" else f"scan by {op}"
    return f"{scan} of {8 * ELEMENT_BYTES[type_name]}-bit {kind}"


def python_notes(present: Iterable[str], data: Data) -> tuple[str, ...]:
    """How the libraries of Python were timed, for tables of cold times; none if none was."""
    timed_ = set(present)
    run = ("Python libraries were timed in a run of their own.",)
    warm = ("JAX is absent: it was timed warm, by the wall clock.",)
    libraries = timed_ & set(data.variants.ids(groups.PYTHON))
    return run * bool(libraries) + warm * (groups.JAX in timed_)


@figure("scans", follows=ALL)
def throughput(data: Data) -> Shown:
    """Throughput against array size, cold and warm, beside a device copy."""
    cases, about = scans(data, types=ANY_TYPE, all_of=(CEILING,)), data.variants
    hosts: dict[str, pd.DataFrame] = {}
    for _, _, rows in by_device(data, "scan", ("host",)):
        own = of_type(data, rows, *scan_of(cases), data.ask.variants or (HOST,))
        if len(own):
            hosts.setdefault(host_of(data, own), own)
    is_shown = lambda name: about[name].overview or name in data.ask.variants
    names = [v for v in timed(cases) if v != FLOOR and is_shown(v)]
    lines = [(cases, v, look(v, about), about[v].label) for v in names]
    for (host, machine), drawn_as in zip(hosts.items(), itertools.cycle(host_looks(about))):
        lines += [(machine, v, drawn_as, f"CPU: {host}") for v in timed(machine) if is_shown(v)]
    drawn, axes = style.figure(style.DOUBLE, 3.0, len(caches(cases)), sharey=True)
    ends: dict[str, End] = {}
    for panel, cache in zip(axes, caches(cases), strict=True):
        panel.set_yscale("log")
        marks.items_axis(panel, cases.loc[cases["variant"].isin(names), "items"])
        marks.decade_axis(panel.yaxis)
        panel.set_title(f"{cache} cache")
        for every, name, drawn_as, label in lines:
            rows = line(every, name, cache=cache)
            if rows.empty and about[name].on_host:
                rows = line(every, name)
            draw = marks.reference if name == CEILING else marks.curve
            if end := draw(panel, marks.rates(rows), "items", drawn_as, label):
                ends[label] = end
    axes[0].set_ylabel("throughput, GB/s of 2$n$ items")
    style.margin_legend(axes[-1], ends.values())
    caption = (
        f"Throughput of an inclusive {subject(cases)} against array size, counting 2n items "
        "moved, stream launches; cold with an L2 flush before each run, warm without. The thick "
        "line is a device copy, the reference of large scans; CPUs are timed warm only, stand in "
        "both panels, and differ by session. Bars: 95% intervals."
    )
    details = f"The CPU beside the GPU is {host_of(data, cases)}."
    scanned = scan_of(cases)
    return shown(data, drawn, caption, cases, *hosts.values(), details=details, scanned=scanned)


def host_of(data: Data, cases: pd.DataFrame) -> str:
    """The processors beside which some cases were timed."""
    return "; ".join(sorted({data.files[n].host for n in set(cases["file"])}))


def _share_curves(
    axes: Axes, data: Data, cases: pd.DataFrame, variants: Iterable[str], least: int, most: int
) -> list[End | None]:
    """Draw the shares of a copy from a number of items on, of those with the largest in the end,
    and return their ends with that of the copy."""
    about, cache = data.variants, caches(cases)[0]
    every = {v: shares(cases, v, CEILING, cache) for v in variants}
    named = {v: own for v, rows in every.items() if len(own := rows[rows["items"] >= least])}
    if not named:
        raise Lacking(f"timings of scans beside {CEILING} at {least} items or more")
    fastest = sorted(named, key=lambda v: -named[v]["ratio"].iloc[-1])[:most]
    marks.items_axis(axes, (least, *(n for rows in named.values() for n in rows["items"])))
    copy = marks.level(axes, 1, look(CEILING, about), "memcpy", width=2.3)
    ends = [
        marks.curve(axes, named[v], "items", look(v, about), about[v].label, "ratio")
        for v in fastest
    ]
    axes.set_ylim(bottom=0)
    axes.set_ylabel("share of a device copy")
    return [*ends, copy]


@figure("scans", "python")
def overview(data: Data) -> Shown:
    """Speed of scans as a share of a device copy, against array size."""
    extra = ("decoupled_lookback", "hso_blocked_padded")  # the README tells of these two
    members = (groups.BEST, groups.OVERVIEW_CUBS, groups.TORCH, *extra)
    cases = scans(data, all_of=(CEILING,), only=(CEILING, *members), python=True)
    drawn, (axes,) = style.figure(style.COLUMN, 2.7)
    present = [v for v in data.variants.ids(*members) if v in timed(cases)]
    _share_curves(axes, data, cases, present, 1 << 16, len(present))
    style.legend(drawn, axes, "left", 2, borderpad=0.2, columnspacing=1.0)
    caption = (
        f"Speed of scans as a share of a device copy of the same bytes, against array size. {SUMS} "
        "The thick line is the copy, the reference of large scans; bars are 95% intervals."
    )
    return shown(data, drawn, caption, cases)


@figure("scans", follows=ALL)
def ceiling_share(data: Data) -> Shown:
    """Speed of the fastest scans as a share of a device copy, against array size."""
    cases, asked = scans(data, types=ANY_TYPE, all_of=(CEILING,)), data.ask.variants
    present = [v for v in timed(cases) if groups.SCANS.has(data.variants[v]) or v in asked]
    drawn, (axes,) = style.figure(style.COLUMN, 2.5)
    ends = _share_curves(axes, data, cases, present, 1 << 14, max(6, len(asked)))
    style.margin_legend(axes, ends)
    which = "each scan" if asked else "the fastest six scans of 16,384 items or more"
    caption = (
        f"Speed of {which} as a share of a device copy, against array size: inclusive "
        f"{subject(cases)}, stream launches, {caches(cases)[0]} cache. The copy, at 1, is the "
        "reference of large scans; small scans can pass it. Bars: 95% intervals."
    )
    return shown(data, drawn, caption, cases, scanned=scan_of(cases))
