"""Scanlab's fastest scan beside every other scan, at two sizes."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import pandas as pd

from scanlab_report import groups
from scanlab_report.chapters.head_to_head import FILES, type_op_rows
from scanlab_report.chapters.scans import python_notes
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table, significant, size, with_interval
from scanlab_report.groups import BEST, BULK_CEILING, CEILING, CUBS, TUNED, cub_as_shipped
from scanlab_report.intervals import Interval
from scanlab_report.looks import ordered
from scanlab_report.pick import pick
from scanlab_report.shown import Shown, shown, table
from scanlab_report.versus import against, contests, decided, pairs, versus_cub

SMALL = 1 << 20
LARGE_BYTES = 1 << 30
NARROW = ("CUB adds sums of i8 and i16 in 32 bits, and `best` in 8 and 16 bits.",)
"""This note stands wherever a ratio of such sums stands."""
SUMS = [(kind, "plus") for kind in groups.TYPES]
FOUR = partial(significant, digits=4)


def at_two_sizes(
    data: Data, cases: pd.DataFrame, scanned: Iterable[tuple[str, str]]
) -> pd.DataFrame:
    """Return `beside_rivals` of cold inclusive scans from a stream, by type and operator, at
    `two_sizes`."""
    usual = pick(cases, mode="inclusive", cache="cold", launch="stream")
    made = []
    for kind, op in scanned:
        own = pick(usual, type=kind, op=op)
        made += [beside_rivals(data, own, n) for n in two_sizes(data, own)]
    columns = ["type", "op", "items", "time_us", "chosen", "fastest_cub", "of_cub"]
    rows = pd.DataFrame(made, columns=[*columns, *(f"of_{v}" for v in _others(data))])
    return rows.assign(of_cub=pd.Series([row["of_cub"] for row in made], dtype=object))


def _others(data: Data) -> list[str]:
    return [CEILING, BULK_CEILING, groups.BARRIER_CEILING, *data.variants.ids(groups.RIVALS)]


def two_sizes(data: Data, here: pd.DataFrame) -> list[int]:
    """Return 2^20, and the largest size of at least 1 GiB at which best was timed beside CUB,
    preferably beside the copy too. `here`: the cases of one type and operator."""
    sizes = list(pairs(here, BEST, [*data.variants.ids(CUBS), CEILING])["items"])
    bytes_of = here.groupby("items")["bytes"].first()
    large = [n for n in sizes if bytes_of[n] >= 2 * LARGE_BYTES]
    copied = set(pairs(here, BEST, [CEILING])["items"])
    return [n for n in sizes if n == SMALL] + ([n for n in large if n in copied] or large)[-1:]


def beside_rivals(data: Data, here: pd.DataFrame, items: int) -> dict[str, Any]:
    """Return the time of best, its shares of copies, and its ratio to all rivals, from one file.
    Only rivals that this file lacks are from another."""
    here, cubs = pick(here, items=items), data.variants.ids(CUBS)
    matches = (pairs(here, BEST, rivals) for rivals in ([BULK_CEILING], [CEILING], cubs))
    match = next(m.iloc[0] for m in matches if len(m))
    times = here.pivot(index="place", columns="variant", values="median_ns")
    theirs = times.loc[match["place"]].fillna(times.bfill().iloc[0]).reindex(_others(data))
    in_file = against(pick(here, file=match["file"]), BEST, cubs)
    versus = pd.concat([in_file, against(here, BEST, cubs)])[["rival", "interval"]]
    cub, of_cub = versus.iloc[0] if len(versus) else (None, None)
    row = {
        "type": match["type"],
        "op": match["op"],
        "items": items,
        "time_us": match["median_ns"] / 1e3,
        "chosen": match["choice"].variant if match["choice"] else "—",
        "fastest_cub": cub,
        "of_cub": of_cub,
    }
    return row | (theirs / match["median_ns"]).add_prefix("of_").to_dict()


@table(*FILES, "python")
def rivals(data: Data) -> Shown:
    """Speedup of best over every other scan, by type, at two sizes."""
    versus_cub(data)  # Lacking if no case has CUB beside best
    cases, about = contests(data, python=True), data.variants
    rows = at_two_sizes(data, cases, SUMS)
    others = [v for v in ordered(about.ids(groups.RIVALS), about) if rows[f"of_{v}"].notna().any()]
    short = {"CUB": "toolkit", "deterministic": "determ."}
    last = {v: about[v].label.split(", ")[-1] for v in others}
    group = {v: "× CUB" if CUBS.has(about[v]) else "× others" for v in others}
    columns = (
        Column("type", "type", right=False),
        Column("items", "n", size),
        Column("chosen", "chosen", right=False),
        Column("time_us", "µs", FOUR),
        Column("of_memcpy", "memcpy", significant, group="share of"),
        Column("of_copy_bulk", "bulk", significant, group="share of"),
        Column("of_copy_one_wave", "one wave", significant, group="share of"),
        *(
            Column(f"of_{v}", short.get(last[v], last[v]), significant, group=group[v])
            for v in others
        ),
    )
    caption = (
        "Time of `best`, its speed as a share of copies, and its speedup over other scans. "
        f"Inclusive sums, cold cache, stream launches, at {size(SMALL)} items and at the largest "
        "size of 1 GiB or more. One wave is a copy with a grid-wide barrier."
    )
    notes = NARROW + python_notes(cases["variant"], data)
    return shown(data, Table(caption, columns, rows, notes), caption, cases)


def fastest(data: Data) -> Shown:
    """Sums of every type at the large size, against the copy and the fastest CUB."""
    versus_cub(data)
    cases = contests(data)
    rows = at_two_sizes(data, cases, SUMS)
    rows = rows[rows["items"] != SMALL].reset_index(drop=True)
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
    return shown(data, Table(caption, columns, rows, NARROW), caption, cases)


def score(data: Data) -> Shown:
    """In how many cases best is faster than CUB as shipped, and in shapes tuned on the device."""
    versus_cub(data)
    cases = contests(data)
    sentences = [_score(cases, cub_as_shipped(data), "the fastest scan of CUB as shipped")]
    if TUNED in set(cases["variant"]):
        named = data.variants[TUNED].title.partition(", tuned on ")[2]
        here = named == data.files[cases["file"].iloc[0]].device
        device = "the device" if here else f"another device, {named}"
        sentences.append(_score(cases, [TUNED], f"CUB with shapes tuned on {device} (`{TUNED}`)"))
    sentences += [
        *NARROW,
        "A compared case is a type, operator, mode, size, cache state and launch.",
        "A case counts as faster or slower only if the 95% interval of its ratio excludes 1.",
    ]
    return shown(data, " ".join(sentences), "", cases)


def _score(cases: pd.DataFrame, cubs: Sequence[str], what: str) -> str:
    outcomes = list(decided(against(cases, BEST, cubs))["outcome"])
    won, tied, lost = (outcomes.count(o) for o in (groups.WIN, groups.TIE, groups.LOSS))
    return (
        f"Against {what}, `best` is faster in {won} of {len(outcomes)} cases, equal in {tied} "
        f"and slower in {lost}."
    )


@table(*FILES)
def operators(data: Data) -> Shown:
    """Speedup of best over the fastest CUB scan for every type and operator, at two sizes."""
    cases, key = contests(data), ["type", "op"]
    made = at_two_sizes(data, cases, type_op_rows(versus_cub(data)))
    rows, small = made[key].drop_duplicates(), made["items"] == SMALL
    for name, own in (("small", made[small]), ("large", made[~small])):
        rows = rows.join(own.set_index(key).add_suffix(f"_{name}"), on=key)
    rows = rows.rename(columns={"items_large": "items"}).reset_index(drop=True)
    columns = [Column("type", "type", right=False), Column("op", "op", right=False)]
    for where, group in (("small", size(SMALL)), ("large", "largest")):
        if where == "large":
            columns.append(Column("items", "n", _size, group=group))
        columns += [
            Column(f"time_us_{where}", "µs", FOUR, group=group),
            Column(f"of_memcpy_{where}", "memcpy", partial(significant, digits=2), group=group),
            Column(f"of_cub_{where}", "× CUB", _of_cub, group=group),
            Column(f"fastest_cub_{where}", "fastest CUB", _cub_name, right=False, group=group),
        ]
    rows = rows.reindex(columns=[column.key for column in columns])
    caption = (
        f"Speed of `best` for every type and operator, at {size(SMALL)} items and at the largest "
        "size of 1 GiB or more: time, share of memcpy, and speedup over the fastest CUB scan with "
        "its 95% interval; toolkit is `cub_device_scan`. Inclusive scans, cold cache, stream "
        "launches. Items of affine, arg_max, complex_multiply and segmented_plus have two parts, "
        "those of matrix_2x2 four."
    )
    return shown(data, Table(caption, columns, rows), caption, cases)


def _size(value: Any) -> str:
    return "—" if pd.isna(value) else size(value)


def _of_cub(value: Interval | None) -> str:
    return with_interval(value if isinstance(value, Interval) else None)


def _cub_name(value: Any) -> str:
    if pd.isna(value):
        return "—"
    return {"cub_device_scan": "toolkit"}.get(value, value.removeprefix("cub_"))
