"""One variant on its page: its bank conflicts and bytes of DRAM."""

from __future__ import annotations

import re
import shlex

import pandas as pd

from scanlab_report.chapters.counts import counts
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table, significant, size, whole
from scanlab_report.pick import Lacking, origin_first, pick
from scanlab_report.shown import footer_line
from scanlab_report.sources import sources
from scanlab_report.tables import ELEMENT_BYTES, changed

_CASE = {
    "type": Column("type", "type", right=False),
    "op": Column("op", "operator", right=False),
    "mode": Column("mode", "mode", right=False),
    "items": Column("items", "n", size),
}


def _page_table(
    data: Data, head: str, columns: list[Column], rows: pd.DataFrame, drawn: pd.DataFrame
) -> str:
    return f"{head}\n\n{Table('', columns, rows).markdown()}\n{footer_line(sources(data, drawn))}"


def counted_by_emulator(variant: str, data: Data, stem: str) -> str:
    every = pick(data["counts"], variant=variant)
    if every.empty:
        explain = f"build/cpu/scanlab explain {shlex.quote(variant)} --json > results/{stem}.json"
        return f"Not counted in these results. To count them: `{explain}`"
    used = counts(data, (variant,), op=every["op"].iloc[0])
    defaults = data.variants[variant].defaults
    default = [not changed(content.parameters, defaults) for content in used["content"]]
    rows = used[default].sort_values("mode", kind="stable")
    rows = rows.drop_duplicates(["type", "items"], keep="last").sort_values(["type", "items"])
    totals = [content.totals for content in rows["content"]]
    banks = [total.banks32 if total.shared_requests else None for total in totals]
    rows = rows.assign(
        requests=[total.shared_requests for total in totals],
        mean=[bank and bank.mean_degree for bank in banks],
        worst=[bank and bank.max_degree for bank in banks],
    )
    columns = [
        _CASE["type"],
        _CASE["items"],
        Column("requests", "shared-memory requests", whole),
        Column("mean", "transactions per request", significant),
        Column("worst", "worst", whole),
    ]
    head = "Of 32 banks; 1 transaction per request is free of conflicts."
    return _page_table(data, head, columns, rows, used)


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
    case = [name for name in _CASE if name in rows]
    counted = {
        f"shared_{way}_{column}": f"{way} {word}"
        for column, word in (("wavefronts", "transactions"), ("conflicts", "conflicts"))
        for way in ("load", "store")
    }
    columns = [_CASE[name] for name in case]
    columns += [Column(key, name, whole) for key, name in counted.items()]
    summed = rows.groupby(case, as_index=False, dropna=False)[list(counted)].sum()
    head = "Of shared memory, over all launches of one scan."
    return _page_table(data, head, columns, summed, launches)


def bytes_in_hardware(variant: str, data: Data) -> str:
    rows, launches = _launches(variant, data, "traffic")
    rows = rows[rows["settings"] == ""]
    if rows.empty:
        return _by_hardware(variant, "traffic", "dram_bytes", "2^18:2^28:x4")
    moved = ["dram_bytes_read", "dram_bytes_written"]
    summed = rows.groupby(["type", "op", "items"], as_index=False)[moved].sum()
    timed = data["scan"].drop_duplicates("op")  # whose bytes state how many elements an item has
    timed = timed[timed["items"] > 0].set_index("op")
    elements = timed["bytes"] // (2 * timed["items"] * timed["type"].map(ELEMENT_BYTES))
    parts = summed["op"].map(elements).fillna(1)
    once = summed["items"] * summed["type"].map(ELEMENT_BYTES) * parts
    columns = [_CASE["type"], _CASE["op"], _CASE["items"]]
    columns += [Column(key, key.split("_")[-1], significant) for key in moved]
    summed[moved] = summed[moved].div(once, axis=0)
    head = "Over the bytes of n items: a scan that reads and writes once has 1 and 1."
    return _page_table(data, head, columns, summed, launches)
