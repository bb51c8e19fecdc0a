"""How fast are scans on one device: throughput, share of a copy, and all at their largest size."""

import itertools
from collections.abc import Iterable
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from scanlab_report import groups, marks, style
from scanlab_report.data import Data, Variants
from scanlab_report.formats import Table, alike, code, digits, size, whole, with_interval
from scanlab_report.groups import ANY_TYPE, BEST, CEILING, CUBS, FLOOR, HOST, LARGEST, VENDOR
from scanlab_report.intervals import Interval, ratio_interval
from scanlab_report.looks import host_looks, look
from scanlab_report.pick import (
    answering,
    by_device,
    caches,
    line,
    of_type,
    origin_first,
    pick,
    scans,
    shares,
    timed,
)
from scanlab_report.shown import Shown, figure, shown, table
from scanlab_report.sources import sources
from scanlab_report.style import End
from scanlab_report.tables import CASE, ELEMENT_BYTES
from scanlab_report.versus import on_first, or_lacking, spans

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


def python_notes(variants: Iterable[str], about: Variants) -> tuple[str, ...]:
    """How the libraries of Python were timed, for tables of cold times; none if none was."""
    present = set(variants)
    run = ("Python libraries were timed in a run of their own.",)
    warm = ("JAX is absent: it was timed warm, by the wall clock.",)
    return run * bool(present & set(about.ids(groups.PYTHON))) + warm * (groups.JAX in present)


@figure("scans", follows=ALL)
def throughput(data: Data) -> Shown:
    """Throughput against array size, cold and warm, beside a device copy."""
    cases, about = scans(data, types=ANY_TYPE, all_of=(CEILING,)), data.variants
    hosts: dict[str, pd.DataFrame] = {}
    for _, _, rows in by_device(data, "cases", ("host",)):
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
            form = marks.THICK if name == CEILING else {}
            if end := marks.curve(panel, marks.rates(rows), "items", drawn_as, label, **form):
                ends[label] = end
    axes[0].set_ylabel("throughput, GB/s of 2$n$ items")
    style.margin_legend(axes[-1], ends.values())
    caption = (
        f"Throughput of an inclusive {subject(cases)} against array size, counting 2n items "
        "moved, stream launches; cold with an L2 flush before each run, warm without. The thick "
        "line is a device copy, the reference of large scans; CPUs are timed warm only, stand in "
        "both panels, and differ by session. Bars: 95% intervals."
    )
    about_cases: dict[str, Any] = {"details": f"The CPU beside the GPU is {host_of(data, cases)}."}
    about_cases["scanned"] = scan_of(cases)
    return shown(data, drawn, caption, cases, *hosts.values(), **about_cases)


def host_of(data: Data, cases: pd.DataFrame) -> str:
    """The processors beside which some cases were timed."""
    return "; ".join(sorted({data.files[n].host for n in set(cases["file"])}))


def _share_curves(
    axes: Axes, data: Data, cases: pd.DataFrame, variants: Iterable[str], least: int, most: int
) -> list[End | None]:
    """Draw shares of a copy from a number of items on, of the fastest; return the ends of lines."""
    about, cache = data.variants, caches(cases)[0]
    every = {v: shares(cases, v, CEILING, cache) for v in variants}
    named = {v: own for v, rows in every.items() if len(own := rows[rows["items"] >= least])}
    or_lacking(named, f"timings of scans beside {CEILING} at {least} items or more")
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


# ---------------------------------------------------------------------- at the largest size

SIX = (CEILING, BEST, groups.TUNED, VENDOR, groups.NEWEST_VENDOR, groups.TORCH)


def standings(data: Data, cases: pd.DataFrame) -> pd.DataFrame:
    """Scans at their largest size up to LARGEST, fastest first; CPUs were timed warm alone."""
    cache = caches(cases)[0]
    usual = cases[(cases["settings"] == "") & (cases["variant"] != FLOOR)]
    in_cache = pick(usual, cache=cache)
    warm = pick(usual, variant=set(data.variants.ids(HOST)) - set(in_cache["variant"]))
    rows = pd.concat([in_cache, warm])
    rows = rows[rows["items"] <= LARGEST].sort_values("items", kind="stable")
    rows = rows.drop_duplicates("variant", keep="last").sort_values("variant")
    rows = rows.assign(y=rows["bytes"] / rows["median_ns"], median_us=rows["median_ns"] / 1e3)
    rows = rows.sort_values(["items", "y"], ascending=False, ignore_index=True)
    times = in_cache.set_index(["variant", "items"])["samples"].to_dict()
    cubs = pick(in_cache, variant=data.variants.ids(CUBS)).sort_values("median_ns")
    cub = cubs.drop_duplicates("items").set_index("items")["variant"]
    fastest = {"of_memcpy": dict.fromkeys(rows["items"], CEILING), "of_cub": cub}
    for name, rivals in fastest.items():
        over = []
        for row in rows.itertuples():
            rival = rivals.get(row.items)
            known = (rival, row.items) in times and rival != row.variant
            over.append(ratio_interval(times[rival, row.items], row.samples) if known else None)
        rows[name] = pd.Series(over, dtype=object)
    ends = (rows["bytes"] / rows[f"{end}_ns"] for end in ("median", "high", "low"))
    rows["rate"] = spans(ends, rows["count"])
    made = ["variant", "items", "count", "median_us", "rate", "of_memcpy", "of_cub"]
    return rows[made].astype({"items": int})


@table("scans", "python", follows=ALL)
def summary(data: Data) -> Shown:
    """Every scan at its largest size, for the paper and docs/CLAIMS.md, and six of them for the
    README."""
    cases = scans(data, types=ANY_TYPE, all_of=(CEILING,), python=True)
    rows = or_lacking(standings(data, cases), f"timings of at most {size(LARGEST)} items")
    notes = python_notes(timed(cases), data.variants)
    caption = (
        f"Every scan at its largest timed size up to {size(LARGEST)}: inclusive "
        f"{subject(cases)}, {caches(cases)[0]} cache, on CPUs warm and of one session. Columns: "
        "median time, throughput of 2n items, and speed over a device copy and over the fastest "
        "CUB, with 95% intervals in brackets."
    )
    ratios = {"of_memcpy": "× memcpy", "of_cub": "× CUB"}
    columns = [*alike(code, "variant"), *alike(size, items="n")]
    columns += alike(digits(4), time_us="time, µs") + alike(
        with_interval, gb_per_s="GB/s", **ratios
    )
    rows = rows.rename(columns={"median_us": "time_us", "rate": "gb_per_s"})
    content = Table(caption, columns, rows, notes)
    return shown(data, content, caption, cases, scanned=scan_of(cases))


def _share(interval: Interval | None) -> str:
    return "—" if interval is None else f"{interval.value:.2f}"


_TIMES = [
    *alike(lambda v: digits(3)(v / 1e3), median_us="time, ms"),
    *alike(lambda v: whole(round(v.value)), rate="GB/s"),
]
_OVER = {"of_memcpy": "× memcpy", "of_cub": "× fastest CUB"}


def _at_largest(data: Data) -> tuple[pd.DataFrame, pd.DataFrame, str, str]:
    """The cases, the GPU's standings at the largest size, their subject, and how sure they are."""
    cases = scans(data, all_of=(CEILING,), python=True)
    rows = standings(data, cases)
    rows = rows[(rows["items"] == rows["items"].max())]
    rows = rows[~rows["variant"].isin(data.variants.ids(HOST))].reset_index(drop=True)
    what = f"Inclusive sum of {size(rows['items'].max())} 32-bit integers, cold cache"
    apart = [max(i.high / i.value - 1, 1 - i.low / i.value) for i in rows["rate"] if i.known]
    widest = digits(2)(100 * max(apart, default=0))
    within = f"Rows with six samples or more have 95% intervals within {widest}% of their medians."
    return cases, rows, what, within


def short(data: Data) -> Shown:
    """The scans at the largest size of all, against the copy and CUB, without intervals."""
    cases, rows, what, within = _at_largest(data)
    caption = (
        f"{what}: median time, throughput of 2n items, and speed over a device copy and over the "
        f"fastest CUB. {within}"
    )
    columns = [*alike(code, "variant"), *_TIMES, *alike(_share, **_OVER)]
    notes = python_notes(timed(cases), data.variants)
    return shown(data, Table(caption, columns, rows, notes), caption, cases)


def six(data: Data) -> Shown:
    """The rows of SIX for the README, with what each is, and the versions that ran."""
    cases, rows, what, within = _at_largest(data)
    rows = pick(rows, variant=SIX).reset_index(drop=True)
    rows["title"] = [data.variants[v].title for v in rows["variant"]]
    fastest = ", ".join(map(code, rows.loc[rows["of_cub"].isna(), "variant"]))
    times = rows.set_index("variant")["median_us"].reindex([VENDOR, BEST])
    lead = digits(3)(times[VENDOR] / times[BEST])
    caption = (
        f"{what}, stream launches, on {data.files[cases['file'].iloc[0]].device}. Time is the "
        f"median, and GB/s counts 2n items. Ratios are speeds over `{CEILING}` and over the "
        f"fastest CUB, here {fastest}. `{BEST}` has {lead} times the speed of the toolkit's CUB, "
        f"`{VENDOR}`. {within} PyTorch was timed in a run of its own. "
        f"Versions: {', '.join(sources(data, cases)[0].versions)}."
    )
    columns = [*alike(code, variant="row"), *alike(str, title="scan or copy"), *_TIMES]
    columns += alike(lambda v: "1" if v is None else _share(v), **_OVER)
    return shown(data, Table(caption, columns, rows), caption, cases)


_MOST = {"registers": "registers", "shared_bytes": "shared, B", "local_bytes": "local, B"}
_KERNEL = {"launches": "launches", "threads": "threads", **_MOST, "workspace_bytes": "workspace, B"}


@table("scans")
def kernels(data: Data) -> Shown:
    """Resources of the kernels of each scan."""
    rows = kernel_rows(data, groups.OWN, CUBS)
    default, cubs = pick(rows, settings=""), data.variants.ids(CUBS)
    usual = pick(default, type="i32", op="plus", mode="inclusive")
    usual = usual[usual["items"] <= LARGEST].sort_values(["items", "cache", "launch"])
    usual = usual.drop_duplicates("variant", keep="last").set_index("variant")
    usual = usual.assign(prepare_us=usual["prepare_ns"] / 1e3)[["items", *_KERNEL, "prepare_us"]]
    by_variant = default.groupby("variant")
    made = by_variant[list(_MOST)].max().add_prefix("most_").join(usual).reset_index()
    made = made.sort_values("variant", key=lambda own: own.isin(cubs), kind="stable")
    local = by_variant["local_bytes"].agg(["min", "max"]).reindex(cubs)
    notes = tuple(
        f"`{row.Index}` has local memory in every kernel: {row.min:.0f} to {row.max:.0f} B."
        for row in local[local["min"] > 0].itertuples()
    )
    most = {f"most_{key}": heading for key, heading in _MOST.items()}
    columns = [*alike(code, "variant"), *alike(size, items="n", group="i32")]
    columns += alike(whole, **_KERNEL, group="i32")
    columns += alike(digits(2), prepare_us="prepare, µs", group="i32")
    columns += alike(whole, **most, group="maximum")
    caption = (
        "Resources of the kernels of each scan, CUB's last. Columns give 32-bit inclusive sums at "
        f"the largest size up to {size(LARGEST)}, then the maximum over all types, operators and "
        "sizes. Local memory holds spilled registers and arrays indexed at run time; preparation "
        "runs once before the first run, untimed."
    )
    content = Table(caption, columns, made, notes)
    return shown(data, content, caption, rows.drop(columns="count", errors="ignore"))


def kernel_rows(data: Data, *groups: Any) -> pd.DataFrame:
    """One row per case whose kernels are known, of one device."""
    wanted = data.variants.ids(*groups)
    known = lambda rows: rows[rows["registers"].notna() & rows["variant"].isin(wanted)]
    cases = lambda rows: answering(data, known(rows).drop_duplicates(["file", *CASE]))
    return on_first(data, "scan", cases, "registers of kernels beside timings on a CUDA device")


@table()
def skipped(data: Data) -> Shown:
    """Cases that were not timed, with the harness's reasons."""
    rows = origin_first(data, data["skipped"], "cases skipped by the harness")
    named = rows.assign(settings=rows["settings"].replace("", "default"))
    items = named.groupby(["variant", "settings", "reason"])["items"]
    grouped = items.agg(cases="size", smallest="min", largest="max").reset_index()
    columns = [*alike(code, "variant"), *alike(str, "settings"), *alike(whole, "cases")]
    columns += alike(size, smallest="smallest n", largest="largest n") + alike(str, "reason")
    caption = "Cases that were not timed, grouped by the reason that the harness gave."
    return shown(data, Table(caption, columns, grouped), caption, rows)
