"""Bank conflicts and wavefronts: the emulator beside hardware counters."""

from __future__ import annotations

from typing import Any

import pandas as pd
from msgspec import UNSET

from scanlab_report.chapters.counts import PADDINGS, usual_load
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table, code, size, whole
from scanlab_report.pick import Lacking, origin_first
from scanlab_report.shown import Shown, shown, table
from scanlab_report.tables import MEASURED, RECORDED


def both_counted(data: Data) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return one row per case that both emulator and hardware counted: `transactions` and
    `conflicts` of both, summed over launches, whether any `differs`, and by how many percent of the
    wavefronts each is off. Return the launches and the counts as well."""
    for origin in (MEASURED, RECORDED):
        launches = data.rows("counters", lambda file: file.origin == origin)
        rows = data["counts"]
        for column in ("variant", "items"):
            rows = rows[rows[column].isin(launches[column])]
        own = [tuple(launches.index[_same_case(row, launches)]) for row in rows.itertuples()]
        rows = rows.assign(launches=pd.Series(own, rows.index, dtype=object))
        rows = rows[rows["launches"].map(len) > 0]
        if len(rows):
            rows = origin_first(data, rows, "counts")
            return _compared(launches, rows), launches, rows
    raise Lacking("hardware bank-conflict counters with counts of the emulator for the same cases")


def _same_case(row: Any, launches: pd.DataFrame) -> pd.Series:
    """Whether each launch is of the case that was counted."""
    same = pd.Series(True, index=launches.index)
    for column in ("variant", "padding", "type", "op", "items", "mode", "load"):
        if column in launches:
            values = launches[column]
            same &= (values == getattr(row, column)) | values.isna()
    return same


def _compared(launches: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    rows = rows[[content.totals.banks32.transactions > 0 for content in rows["content"]]]
    # Counters that do not tell two cases apart go with the more usual one.
    ranked = rows.assign(usual=usual_load(rows), inclusive=rows["mode"] == "inclusive")
    ranked = ranked.sort_values(["usual", "inclusive"], ascending=False, kind="stable")
    cases = ranked.drop_duplicates("launches", ignore_index=True)
    totals = [content.totals for content in cases["content"]]
    groups = [t.shared_requests if t.banks32.groups is UNSET else t.banks32.groups for t in totals]
    cases["transactions_emulator"] = [t.banks32.transactions for t in totals]
    cases["conflicts_emulator"] = cases["transactions_emulator"] - groups
    cases["differs"] = False
    for quantity, what in (("transactions", "wavefronts"), ("conflicts", "conflicts")):
        counted = launches[f"shared_load_{what}"] + launches[f"shared_store_{what}"]
        hardware = pd.Series([int(counted[list(own)].sum()) for own in cases["launches"]])
        off = (hardware - cases[f"{quantity}_emulator"]).abs()
        cases[f"{quantity}_hardware"] = hardware
        cases["differs"] |= off > 0
        wavefronts = cases["transactions_hardware"].where(cases["transactions_hardware"] > 0)
        cases[f"{quantity}_off"] = 100 * off / wavefronts
    order = ["type", "items", "unpadded", "load", "padding"]
    return cases.sort_values(order, ignore_index=True)


@table("counters", "explain")
def hardware_conflicts(data: Data) -> Shown:
    """Shared-memory wavefronts and bank conflicts: SIMT emulator beside hardware counters."""
    cases, launches, counted = both_counted(data)
    columns = [
        Column("variant", "variant", code, right=False),
        Column("padding", "padding", lambda name: PADDINGS.get(name, name), right=False),
        Column("load", "loads", lambda name: name or "halves", right=False),
        Column("type", "type", right=False),
        Column("items", "n", size),
    ]
    for quantity, name in (("transactions", "wavefronts"), ("conflicts", "bank conflicts")):
        columns.append(Column(f"{quantity}_emulator", "emulator", whole, group=name))
        columns.append(Column(f"{quantity}_hardware", "ncu", whole, group=name))
    caption = (
        "Shared-memory wavefronts and bank conflicts of one scan: SIMT emulator with 32 banks "
        f"beside hardware counters (ncu), which agree in {int((~cases['differs']).sum())} of "
        f"{len(cases)} cases. A conflict is a wavefront beyond the first of each group of threads "
        "served together."
    )
    return shown(data, Table(caption, columns, cases), caption, launches, counted)
