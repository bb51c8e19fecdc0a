"""Bank conflicts and wavefronts: the emulator beside hardware counters."""

from __future__ import annotations

import pandas as pd
from msgspec import UNSET

from scanlab_report.chapters.counts import PADDINGS, usual_load
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table, code, size, whole
from scanlab_report.pick import Lacking, origin_first, pick
from scanlab_report.shown import Shown, shown, table

_CASE = ["type", "items", "variant", "load", "padding", "op", "mode"]
QUANTITIES = {"transactions": "wavefronts", "conflicts": "conflicts"}


def both_counted(data: Data) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return one row per case that both emulator and hardware counted: `transactions` and
    `conflicts` of both, summed over launches, whether any `differs`, and by how many percent of the
    wavefronts each is off. Return the launches as well."""
    launches = origin_first(data, data["counters"], "hardware bank-conflict counters")
    rows = pick(data["counts"], primitive="scan")
    rows = origin_first(data, rows, "counts of the SIMT emulator")
    rows = rows[[content.totals.banks32.transactions > 0 for content in rows["content"]]]
    # Counters that do not tell two cases apart go with the more usual one.
    rows = rows.assign(usual=usual_load(rows), inclusive=rows["mode"] == "inclusive")
    rows = rows.sort_values(["usual", "inclusive"], ascending=False, kind="stable")
    keys = [column for column in _CASE if column in launches]
    sums = launches.groupby(keys)[list(launches.filter(like="shared_"))].sum().reset_index()
    cases = rows.drop_duplicates(keys).merge(sums, on=keys)
    if cases.empty:
        raise Lacking("hardware counters and counts of the SIMT emulator of the same cases")
    totals = [content.totals for content in cases["content"]]
    groups = [t.shared_requests if t.banks32.groups is UNSET else t.banks32.groups for t in totals]
    cases["transactions_emulator"] = [t.banks32.transactions for t in totals]
    cases["conflicts_emulator"] = cases["transactions_emulator"] - groups
    cases["differs"] = False
    for quantity, what in QUANTITIES.items():
        hardware = cases[f"shared_load_{what}"] + cases[f"shared_store_{what}"]
        off = (hardware - cases[f"{quantity}_emulator"]).abs()
        cases[f"{quantity}_hardware"] = hardware
        cases["differs"] |= off > 0
        wavefronts = cases["transactions_hardware"]
        cases[f"{quantity}_off"] = 100 * off / wavefronts.where(wavefronts > 0)
    return cases.sort_values(keys, ignore_index=True), launches


@table("counters", "explain")
def hardware_conflicts(data: Data) -> Shown:
    """Shared-memory wavefronts and bank conflicts: SIMT emulator beside hardware counters."""
    cases, launches = both_counted(data)
    columns = [
        Column("variant", "variant", code, right=False),
        Column("padding", "padding", lambda name: PADDINGS.get(name, name), right=False),
        Column("load", "loads", right=False),
        Column("type", "type", right=False),
        Column("items", "n", size),
    ]
    for quantity, what in QUANTITIES.items():
        columns.append(Column(f"{quantity}_emulator", "emulator", whole, group=what))
        columns.append(Column(f"{quantity}_hardware", "ncu", whole, group=what))
    caption = (
        "Shared-memory wavefronts and bank conflicts of one scan: SIMT emulator with 32 banks "
        f"beside hardware counters (ncu), which agree in {int((~cases['differs']).sum())} of "
        f"{len(cases)} cases. A conflict is a wavefront beyond the first of each group of threads "
        "served together."
    )
    return shown(data, Table(caption, columns, cases), caption, launches, cases)
