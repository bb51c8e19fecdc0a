"""Scanlab's fastest scan beside every other scan, at two sizes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from scanlab_report.chapters.head_to_head import FILES, type_op_rows
from scanlab_report.chapters.scans import python_notes
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table, significant, size, with_interval
from scanlab_report.groups import (
    BEST,
    BULK_CEILING,
    CEILING,
    CUBS,
    LOSS,
    MEETING_CEILING,
    RIVALS,
    TIE,
    TUNED,
    TYPES,
    WIN,
    cub_as_shipped,
)
from scanlab_report.looks import ordered
from scanlab_report.pick import pick
from scanlab_report.shown import Shown, shown, table
from scanlab_report.versus import against, contests, decided, pairs, versus_cub

SMALL = 1 << 20
LARGE_BYTES = 1 << 30
NARROW = "CUB adds sums of i8 and i16 in 32 bits, and `best` in 8 and 16 bits."
"""This note stands wherever a ratio of such sums stands."""


def usual_cases(cases: pd.DataFrame) -> dict[tuple[str, str], pd.DataFrame]:
    """Cold inclusive scans from a stream, by type and operator."""
    usual = pick(cases, mode="inclusive", cache="cold", launch="stream")
    return dict(list(usual.groupby(["type", "op"])))


def two_sizes(data: Data, here: pd.DataFrame) -> list[int]:
    """Return 2^20, and the largest size of at least 1 GiB at which best was timed beside CUB,
    preferably beside the copy too. `here`: the cases of one type and operator."""
    sizes = list(pairs(here, BEST, [*data.variants.ids(CUBS), CEILING])["items"])
    bytes_of = here.groupby("items")["bytes"].first()
    large = [n for n in sizes if bytes_of[n] >= 2 * LARGE_BYTES]
    copied = set(pairs(here, BEST, [CEILING])["items"])
    return [n for n in sizes if n == SMALL] + ([n for n in large if n in copied] or large)[-1:]


def beside_rivals(data: Data, here: pd.DataFrame, items: int) -> dict[str, Any] | None:
    """Return the time of best, its shares of copies, and its ratio to all rivals, from one file.
    Only rivals that this file lacks are from another."""
    here = pick(here, items=items)
    cubs = data.variants.ids(CUBS)
    matches = (pairs(here, BEST, rivals) for rivals in ([BULK_CEILING], [CEILING], cubs))
    match = next((m.iloc[0] for m in matches if len(m)), None)
    if match is None:
        return None
    ours, file = match["median_ns"], match["file"]

    def over(variant: str) -> float:
        theirs = pick(here, variant=variant)
        theirs = pd.concat([pick(theirs, file=file), theirs])
        return float(theirs["median_ns"].iloc[0]) / ours if len(theirs) else np.nan

    in_file = pick(here, file=file)
    versus = against(in_file, BEST, cubs)
    versus = versus if len(versus) else against(here, BEST, cubs)
    cub = versus.iloc[0] if len(versus) else None
    row = {
        "type": match["type"],
        "op": match["op"],
        "items": items,
        "time_us": ours / 1e3,
        "chosen": match["choice"].variant if match["choice"] else "—",
        "of_memcpy": over(CEILING),
        "of_copy_bulk": over(BULK_CEILING),
        "of_copy_one_wave": over(MEETING_CEILING),
        "fastest_cub": None if cub is None else cub["rival"],
        "of_cub": None if cub is None else cub["interval"],
    }
    return row | {f"of_{variant}": over(variant) for variant in data.variants.ids(RIVALS)}


def _require_cub(data: Data) -> None:
    """Lacking if no case has CUB beside best."""
    versus_cub(data)


@table(*FILES, "python")
def rivals(data: Data) -> Shown:
    """Speedup of best over every other scan, by type, at two sizes."""
    _require_cub(data)
    cases, about = contests(data, python=True), data.variants
    usual = usual_cases(cases)
    sums = [usual[kind, "plus"] for kind in TYPES if (kind, "plus") in usual]
    made = [
        row for own in sums for n in two_sizes(data, own) if (row := beside_rivals(data, own, n))
    ]
    rows = pd.DataFrame(made)
    others = [
        v
        for v in ordered(about.ids(RIVALS), about)
        if f"of_{v}" in rows and rows[f"of_{v}"].notna().any()
    ]
    short = {"CUB": "toolkit", "deterministic": "determ."}

    def heading(variant: str) -> str:
        last = about[variant].label.split(", ")[-1]
        return short.get(last, last)

    columns = (
        Column("type", "type", right=False),
        Column("items", "n", size),
        Column("chosen", "chosen", right=False),
        Column("time_us", "µs", partial(significant, digits=4)),
        *(
            Column(f"of_{key}", name, significant, group="share of")
            for key, name in (
                ("memcpy", "memcpy"),
                ("copy_bulk", "bulk"),
                ("copy_one_wave", "one wave"),
            )
        ),
        *(
            Column(
                f"of_{v}",
                heading(v),
                significant,
                group="× CUB" if CUBS.has(about[v]) else "× others",
            )
            for v in others
        ),
    )
    caption = (
        "Time of `best`, its speed as a share of copies, and its speedup over other scans. "
        f"Inclusive sums, cold cache, stream launches, at {size(SMALL)} items and at the largest "
        "size of 1 GiB or more. One wave is a copy with a grid-wide barrier. A dash: not timed."
    )
    notes = (*_narrow(rows), *python_notes(set(cases["variant"]), data))
    return shown(data, Table(caption, columns, rows, notes), caption, cases)


def _narrow(rows: pd.DataFrame) -> tuple[str, ...]:
    return (NARROW,) if rows["type"].isin(["i8", "i16"]).any() else ()


def fastest(data: Data) -> Shown:
    """Sums of every type at the large size, against the copy and the fastest CUB."""
    _require_cub(data)
    cases, made = contests(data), []
    usual = usual_cases(cases)
    for own in (usual[kind, "plus"] for kind in TYPES if (kind, "plus") in usual):
        for n in two_sizes(data, own)[-1:]:
            if n != SMALL and (row := beside_rivals(data, own, n)):
                made.append(row)
    rows = pd.DataFrame(
        made, columns=["type", "items", "time_us", "of_memcpy", "fastest_cub", "of_cub"]
    )
    columns = (
        Column("type", "type", right=False),
        Column("items", "n", size),
        Column("time_us", "best, ms", lambda v: significant(v / 1e3, 3)),
        Column("of_memcpy", "× memcpy", lambda v: "—" if pd.isna(v) else f"{v:.2f}"),
        Column("of_cub", "× CUB", lambda v: "—" if v is None else f"{v.value:.2f}"),
        Column("fastest_cub", "fastest CUB", lambda v: "—" if v is None else f"`{v}`", right=False),
    )
    caption = (
        "`best` beside the fastest CUB scan, per type: inclusive sums, cold cache, stream "
        "launches. Ratios are speeds."
    )
    return shown(data, Table(caption, columns, rows, _narrow(rows)), caption, cases)


def score(data: Data) -> Shown:
    """In how many cases best is faster than CUB as shipped, and in shapes tuned on the device."""
    _require_cub(data)
    cases = contests(data)
    sentences = [_score(data, cub_as_shipped(data), "the fastest scan of CUB as shipped")]
    if TUNED in set(cases["variant"]):
        _, _, named = data.variants[TUNED].title.partition(", tuned on ")
        here = data.files[cases["file"].iloc[0]].device
        device = (
            "the device"
            if named == here
            else f"another device, {named}"
            if named
            else "an unnamed device"
        )
        sentences.append(_score(data, [TUNED], f"CUB with shapes tuned on {device} (`{TUNED}`)"))
    else:
        sentences.append(
            "CUB with shapes tuned on the device (`cub_tuned`) has no times in this recording."
        )
    sentences += _narrow(cases)
    sentences.append(
        "A compared case is a type, operator, mode, size, cache state and launch. A "
        "case counts as faster or slower only if the 95% interval of its ratio "
        "excludes 1."
    )
    return shown(data, " ".join(sentences), "", cases)


def _score(data: Data, against_: Sequence[str], what: str) -> str:
    cases = contests(data)
    present = set(data.variants.ids(CUBS)) & set(cases["variant"])
    rows = versus_cub(data) if set(against_) == present else against(cases, BEST, against_)
    outcomes = list(decided(rows)["outcome"])
    won, tied, lost = (outcomes.count(o) for o in (WIN, TIE, LOSS))
    return (
        f"Against {what}, `best` is faster in {won} of {len(outcomes)} cases, equal in {tied} "
        f"and slower in {lost}."
    )


@table(*FILES)
def operators(data: Data) -> Shown:
    """Speedup of best over the fastest CUB scan for every type and operator, at two sizes."""
    comparisons, cases = versus_cub(data), contests(data)
    made, names = [], ("time_us", "of_memcpy", "of_cub", "fastest_cub")
    usual = usual_cases(cases)
    for kind, op in (key for key in type_op_rows(comparisons) if key in usual):
        own = usual[kind, op]
        of_size = {n == SMALL: beside_rivals(data, own, n) for n in two_sizes(data, own)}
        if any(of_size.values()):
            small, large = of_size.get(True) or {}, of_size.get(False) or {}
            row = {"type": kind, "op": op, "items": large.get("items")}
            row |= {f"{name}_small": small.get(name) for name in names}
            made.append(row | {f"{name}_large": large.get(name) for name in names})
    columns = [Column("type", "type", right=False), Column("op", "op", right=False)]
    for where, group in (("small", size(SMALL)), ("large", "largest")):
        if where == "large":
            items = lambda v: "—" if pd.isna(v) else size(v)
            columns.append(Column("items", "n", items, group=group))
        columns += [
            Column(f"time_us_{where}", "µs", partial(significant, digits=4), group=group),
            Column(f"of_memcpy_{where}", "memcpy", partial(significant, digits=2), group=group),
            Column(f"of_cub_{where}", "× CUB", with_interval, group=group),
            Column(f"fastest_cub_{where}", "fastest CUB", _cub_name, right=False, group=group),
        ]
    rows = pd.DataFrame(
        {
            c.key: pd.Series(
                [row[c.key] for row in made],
                dtype=object if c.key.startswith(("of_cub", "fastest")) else None,
            )
            for c in columns
        }
    )
    caption = (
        f"Speed of `best` for every type and operator, at {size(SMALL)} items and at the largest "
        "size of 1 GiB or more. Columns: time, share of memcpy, and speedup over the fastest CUB "
        "scan with its 95% interval; toolkit is `cub_device_scan`. Inclusive scans, cold cache, "
        "stream launches. Items of affine, arg_max, complex_multiply and segmented_plus have two "
        "parts, those of matrix_2x2 four."
    )
    return shown(data, Table(caption, columns, rows), caption, cases)


def _cub_name(value: str | None) -> str:
    if value is None:
        return "—"
    return {"cub_device_scan": "toolkit"}.get(value, value.removeprefix("cub_"))
