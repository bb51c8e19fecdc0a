"""One variant on its page: its bank conflicts and bytes of DRAM."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

import pandas as pd

from scanlab_report.chapters.counts import counts
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table, significant, size, whole
from scanlab_report.pick import Lacking, origin_first, pick
from scanlab_report.shown import footer_line
from scanlab_report.sources import sources
from scanlab_report.tables import ELEMENT_BYTES, changed


def _page_table(
    data: Data, head: str, table: Callable, rows: pd.DataFrame, drawn: pd.DataFrame
) -> str:
    return f"{head}\n\n{table('', rows).markdown()}\n{footer_line(sources(data, drawn))}"


def counted_by_emulator(variant: str, data: Data, stem: str) -> str:
    every = pick(data["counts"], variant=variant)
    if every.empty:
        return (
            f"Not counted in these results. To count them: `build/cpu/scanlab explain "
            f"{shlex.quote(variant)} --json > results/{stem}.json`"
        )
    used, defaults = (
        counts(data, (variant,), op=every["op"].iloc[0]),
        data.variants[variant].defaults,
    )
    rows = used[
        [not changed(content.parameters, defaults) for content in used["content"]]
    ].sort_values("mode", kind="stable")
    rows = rows.drop_duplicates(["type", "items"], keep="last").sort_values(["type", "items"])
    totals = [content.totals for content in rows["content"]]
    banks = {
        name: [getattr(total.banks32, field) if total.shared_requests else None for total in totals]
        for name, field in (("mean", "mean_degree"), ("worst", "max_degree"))
    }
    rows = rows.assign(requests=[total.shared_requests for total in totals], **banks)
    table = lambda caption, rows: Table(
        caption,
        (
            Column("type", "type", right=False),
            Column("items", "n", size),
            Column("requests", "shared-memory requests", whole),
            Column("mean", "transactions per request", significant),
            Column("worst", "worst", whole),
        ),
        rows,
    )
    return _page_table(
        data, "Of 32 banks; 1 transaction per request is free of conflicts.", table, rows, used
    )


def _by_hardware(variant: str, what: str, file: str, items: str) -> str:
    plain = re.sub(r"[^\w*]", "", variant)
    counted = (
        f"tools/count {what} build/cuda/scanlab results/{file}.csv --variant {plain} --items "
        f"{items}"
    )
    return f"Not counted in these results. To count them: `{counted}`"


def _launches(variant: str, data: Data, table: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The launches of the variant, and all that were counted with them: now, else recorded."""
    try:
        launches = origin_first(data, data[table], table)
    except Lacking:
        launches = data[table][:0]
    return launches[launches["variant"] == variant], launches


def conflicts_in_hardware(variant: str, data: Data) -> str:
    rows, launches = _launches(variant, data, "counters")
    for setting, default in data.variants[variant].defaults.items():
        if setting in rows:
            rows = rows[rows[setting].isna() | (rows[setting] == default)]
    if rows.empty:
        return _by_hardware(variant, "conflicts", "bank_conflicts", "2048")
    case = [name for name in ("type", "op", "mode", "items") if name in rows]
    counted = {
        f"shared_{way}_{column}": f"{way} {word}"
        for column, word in (("wavefronts", "transactions"), ("conflicts", "conflicts"))
        for way in ("load", "store")
    }
    table = lambda caption, rows: Table(
        caption,
        [
            *(
                Column(
                    name,
                    "n" if name == "items" else name,
                    size if name == "items" else str,
                    right=name == "items",
                )
                for name in case
            ),
            *(Column(key, name, whole) for key, name in counted.items()),
        ],
        rows,
    )
    summed = rows.groupby(case, as_index=False, dropna=False)[list(counted)].sum()
    return _page_table(
        data, "Of shared memory, over all launches of one scan.", table, summed, launches
    )


def bytes_in_hardware(variant: str, data: Data) -> str:
    rows, launches = _launches(variant, data, "traffic")
    rows = rows[rows["settings"] == ""]
    if rows.empty:
        return _by_hardware(variant, "traffic", "dram_bytes", "2^18:2^28:x4")
    summed = rows.groupby(["type", "op", "items"], as_index=False)[
        ["dram_bytes_read", "dram_bytes_written"]
    ].sum()
    timed = data["scan"].drop_duplicates("op")  # whose bytes state how many elements an item has
    elements = {
        op: moved // (2 * items * ELEMENT_BYTES[kind])
        for op, kind, items, moved in zip(
            *(timed[name] for name in ("op", "type", "items", "bytes")), strict=True
        )
        if items
    }
    once = [
        n * ELEMENT_BYTES[kind] * elements.get(op, 1)
        for kind, op, n in zip(summed["type"], summed["op"], summed["items"], strict=True)
    ]
    summed = summed.assign(
        read=summed["dram_bytes_read"] / once, written=summed["dram_bytes_written"] / once
    )
    table = lambda caption, rows: Table(
        caption,
        (
            Column("type", "type", right=False),
            Column("op", "operator", right=False),
            Column("items", "n", size),
            Column("read", "read", significant),
            Column("written", "written", significant),
        ),
        rows,
    )
    return _page_table(
        data,
        "Over the bytes of n items: a scan that reads and writes once has 1 and 1.",
        table,
        summed,
        launches,
    )
