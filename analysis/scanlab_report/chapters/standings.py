"""Every scan at its largest size, the resources of its kernels, and what was not timed."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from scanlab_report.chapters.scans import ALL, python_notes, subject
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table, code, significant, size, whole, with_interval
from scanlab_report.groups import (
    ANY_TYPE,
    BEST,
    CEILING,
    CUBS,
    FLOOR,
    HOST,
    LARGEST,
    OVERVIEW_CUBS,
    OWN,
    TORCH,
    VENDOR,
)
from scanlab_report.intervals import FEWEST_OF_MEDIAN, Interval, median_interval, ratio_interval
from scanlab_report.pick import (
    Lacking,
    answering,
    by_device,
    caches,
    fastest_cub,
    items_words,
    of_variant,
    origin_first,
    pick,
    scan_of,
    scan_words,
    scans,
    timed,
)
from scanlab_report.shown import Shown, shown, table
from scanlab_report.sources import sources
from scanlab_report.tables import CASE


def standings(data: Data, cases: pd.DataFrame) -> pd.DataFrame:
    """One row per scan at its largest size up to LARGEST, fastest first: `variant`, `items`,
    `count`, `median_us`, and the intervals `rate` (GB/s), `of_memcpy` and `of_cub`."""
    rows: list[dict[str, Any]] = []
    cache = caches(cases)[0]
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

        rows.append(
            {
                "variant": variant,
                "items": n,
                "count": time_.count,
                "median_us": time_.value / 1e3,
                "rate": rate,
                "of_memcpy": over(CEILING),
                "of_cub": over(cub),
            }
        )
    rows.sort(key=lambda row: (-row["items"], -row["rate"].value))
    columns = ["variant", "items", "count", "median_us", "rate", "of_memcpy", "of_cub"]
    frame = pd.DataFrame(rows, columns=columns)
    for column in ("rate", "of_memcpy", "of_cub"):
        frame[column] = pd.Series([row[column] for row in rows], dtype=object)
    return frame


@table("scans", "python", follows=ALL)
def summary(data: Data) -> Shown:
    """Every scan at its largest size, for the paper and docs/CLAIMS.md, and six of them for the
    README."""
    cases = scans(data, types=ANY_TYPE, all_of=(CEILING,), python=True)
    rows = standings(data, cases)
    if rows.empty:
        raise Lacking(f"timings of at most {size(LARGEST)} items")
    notes = python_notes(timed(cases), data)
    if rows["count"].min() < FEWEST_OF_MEDIAN:
        few = f"Medians of fewer than {FEWEST_OF_MEDIAN} repetitions have no interval."
        notes = (few, *notes)
    if any(data.variants[v].on_host for v in rows["variant"]):
        notes += (
            "CPU times are warm, by the wall clock and of one session; they differ by session.",
        )
    caption = (
        f"Every scan at its largest timed size up to {size(LARGEST)}: inclusive "
        f"{subject(cases)}, {caches(cases)[0]} cache. Columns: median time, throughput of 2n "
        "items, and speed over a device copy and over the fastest CUB, with 95% intervals in "
        "brackets."
    )
    three = partial(with_interval, digits=3)
    columns = (
        Column("variant", "variant", code, right=False),
        Column("items", "n", size),
        Column("time_us", "time, µs", partial(significant, digits=4)),
        Column("gb_per_s", "GB/s", three),
        Column("of_memcpy", "× memcpy", three),
        Column("of_cub", "× CUB", three),
    )
    printed = rows.rename(columns={"median_us": "time_us", "rate": "gb_per_s"})
    return shown(
        data, Table(caption, columns, printed, notes), caption, cases, scanned=scan_of(cases)
    )


def _share(interval: Interval | None) -> str:
    return "—" if interval is None else f"{interval.value:.2f}"


_STANDING = (
    Column("median_us", "time, ms", lambda v: significant(v / 1e3, 3)),
    Column("rate", "GB/s", lambda v: whole(round(v.value))),
    Column("of_memcpy", "× memcpy", _share),
    Column("of_cub", "× fastest CUB", _share),
)


def _at_largest(data: Data) -> tuple[pd.DataFrame, pd.DataFrame, str]:
    """Return the cases, the standings on the GPU at the largest size, and a sentence on how sure
    the medians are."""
    cases = scans(data, types=ANY_TYPE, all_of=(CEILING,), python=True)
    rows = standings(data, cases)
    on_host = rows["variant"].isin(data.variants.ids(HOST))
    rows = rows[(rows["items"] == rows["items"].max()) & ~on_host].reset_index(drop=True)
    apart = [max(i.high / i.value - 1, 1 - i.low / i.value) for i in rows["rate"] if i.known]
    within = ""
    if apart:
        within = (
            f" Rows with six samples or more have 95% intervals within "
            f"{significant(100 * max(apart), 2)}% of their medians."
        )
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
    first = dict.fromkeys(
        v for v in (CEILING, BEST, *about.ids(OVERVIEW_CUBS), TORCH, *wide) if v in present
    )
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
        + (f", here `{fastest.iloc[0]}`" if len(fastest) == 1 else "")
        + "."
        + (
            f" `{BEST}` has {significant(times[VENDOR] / times[BEST], 3)} times the speed of the "
            f"toolkit's CUB, `{VENDOR}`."
            if {BEST, VENDOR} <= set(times.index)
            else ""
        )
        + within
        + (" PyTorch was timed in a run of its own." if TORCH in set(rows["variant"]) else "")
        + (f" Versions: {', '.join(source.versions)}." if source.versions else "")
    )
    ratios = (
        replace(column, form=lambda v: "1" if v is None else _share(v)) for column in _STANDING[2:]
    )
    columns = (
        Column("variant", "row", code, right=False),
        Column("title", "scan or copy", right=False),
        *_STANDING[:2],
        *ratios,
    )
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
            other = (
                (
                    " Its configurations are CUB's for another chip; `cub_tuned` has those found "
                    "on this one."
                )
                if variant == "cub_newest_look_ahead"
                else ""
            )
            notes.append(
                f"`{variant}` has local memory in every kernel: {local.min():.0f} to "
                f"{local.max():.0f} B.{other}"
            )
    headings = {
        "launches": "launches",
        "threads": "threads",
        "registers": "registers",
        "shared_bytes": "shared, B",
        "local_bytes": "local, B",
        "workspace_bytes": "workspace, B",
    }
    columns = (
        Column("variant", "variant", code, right=False),
        Column("items", "n", lambda v: "—" if pd.isna(v) else size(v), group="i32"),
        *(Column(key, heading, whole, group="i32") for key, heading in headings.items()),
        Column("prepare_us", "prepare, µs", partial(significant, digits=2), group="i32"),
        *(Column(f"most_{key}", headings[key], whole, group="maximum") for key in _MOST),
    )
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
    names = (
        "items",
        "launches",
        "threads",
        "registers",
        "shared_bytes",
        "local_bytes",
        "workspace_bytes",
    )
    row = {"variant": variant} | {name: last.get(name, math.nan) for name in names}
    row["prepare_us"] = last.get("prepare_ns", math.nan) / 1e3
    return row | {f"most_{name}": own[name].max() for name in _MOST}


@table()
def skipped(data: Data) -> Shown:
    """Cases that were not timed, with the harness's reasons."""
    rows = origin_first(data, data["skipped"], "cases skipped by the harness")
    named = rows.assign(settings=rows["settings"].replace("", "default"))
    grouped = named.groupby(["variant", "settings", "reason"], sort=True)["items"]
    grouped = grouped.agg(cases="size", smallest="min", largest="max").reset_index()
    columns = (
        Column("variant", "variant", code, right=False),
        Column("settings", "settings", right=False),
        Column("cases", "cases", whole),
        Column("smallest", "smallest n", size),
        Column("largest", "largest n", size),
        Column("reason", "reason", right=False),
    )
    caption = "Cases that were not timed, grouped by the reason that the harness gave."
    return shown(data, Table(caption, columns, grouped), caption, rows)
