"""Counts of the SIMT emulator and of the hardware: cost, bank conflicts, DRAM bytes."""

from typing import Any

import numpy as np
import pandas as pd
from msgspec import UNSET

from scanlab_report.data import Data
from scanlab_report.groups import BEST
from scanlab_report.pick import origin_first, pick
from scanlab_report.versus import or_lacking


def counts(data: Data) -> pd.DataFrame:
    """Emulator counts of sums: counted now, else recorded."""
    rows = pick(data["counts"], op="plus", primitive="scan")
    return origin_first(data, rows, "counts of the SIMT emulator")


def usual_load(rows: pd.DataFrame) -> pd.Series:
    return rows["load"].isin(("", "halves"))


def usual_counts(rows: pd.DataFrame) -> pd.DataFrame:
    """One case per variant and size: i32, default settings, the mode that costs least."""
    rows = rows[rows["variant"] != BEST]
    usual = np.where(rows["unpadded"] != rows["variant"], "two_level", "none")
    keys = {
        "i32": rows["type"] == "i32",
        "usual": rows["padding"] == usual,
        "usual_load": usual_load(rows),
        "cost": [-content.totals.operations for content in rows["content"]],
        "inclusive": rows["mode"] == "inclusive",
    }
    ranked = rows.assign(**keys).sort_values([*keys], kind="stable")
    return ranked.drop_duplicates(["variant", "items"], keep="last").drop(columns=[*keys])


def cost(content: Any) -> dict[str, Any]:
    """The costs of one case, for the page of the variants."""
    totals = content.totals
    moved = float(totals.global_bytes_read + totals.global_bytes_written)
    return {
        "items": content.items,
        "operations": totals.operations,
        "barriers": totals.barriers,
        "global_bytes_per_item": moved / max(content.items, 1),
        "worst_degree": totals.banks32.max_degree or None,
    }


def disagreements(data: Data) -> list[str]:
    """Return one sentence per count that differs from the closed form of the variant."""
    sentences = []
    for row in data["counts"].itertuples():
        for key in ("operations", "swaps"):
            stated = getattr(row.content.closed_forms, key)
            counted = getattr(row.content.totals, key)
            if stated not in (None, counted):
                case = f"{data.files[row.file].path}: {row.variant}, {row.mode}, {row.items} items"
                form = f"{counted} {key} were counted, the closed form says {stated}"
                sentences.append(f"{case}: {form}")
    return sentences


def both_counted(data: Data) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The cases that emulator and hardware counted, by how much both differ, and the launches."""
    launches = origin_first(data, data["counters"], "hardware bank-conflict counters")
    rows = pick(data["counts"], primitive="scan")
    rows = origin_first(data, rows, "counts of the SIMT emulator")
    rows = rows[[content.totals.banks32.transactions > 0 for content in rows["content"]]]
    # Counters that do not tell two cases apart go with the more usual one.
    rows = rows.assign(usual=usual_load(rows), inclusive=rows["mode"] == "inclusive")
    rows = rows.sort_values(["usual", "inclusive"], ascending=False, kind="stable")
    named = ["type", "items", "variant", "load", "padding", "op", "mode"]
    keys = [column for column in named if column in launches]
    sums = launches.groupby(keys)[list(launches.filter(like="shared_"))].sum().reset_index()
    cases = rows.drop_duplicates(keys).merge(sums, on=keys)
    or_lacking(cases, "hardware counters and counts of the SIMT emulator of the same cases")
    totals = [content.totals for content in cases["content"]]
    groups = [t.shared_requests if t.banks32.groups is UNSET else t.banks32.groups for t in totals]
    cases["transactions_emulator"] = [t.banks32.transactions for t in totals]
    cases["conflicts_emulator"] = cases["transactions_emulator"] - groups
    cases["differs"] = False
    for quantity, what in (("transactions", "wavefronts"), ("conflicts", "conflicts")):
        hardware = cases[f"shared_load_{what}"] + cases[f"shared_store_{what}"]
        off = (hardware - cases[f"{quantity}_emulator"]).abs()
        cases[f"{quantity}_hardware"] = hardware
        cases["differs"] |= off > 0
        wavefronts = cases["transactions_hardware"]
        cases[f"{quantity}_off"] = 100 * off / wavefronts.where(wavefronts > 0)
    return cases.sort_values(keys, ignore_index=True), launches


def dram_over_items(data: Data) -> tuple[pd.DataFrame, pd.DataFrame]:
    """`moved`: DRAM bytes over those of n items, of usual i32 sums; also the launches."""
    launches = origin_first(data, data["traffic"], "DRAM bytes from hardware counters")
    by = ["variant", "settings", "type", "op", "mode", "items"]
    rows = launches.groupby(by)[["dram_bytes_read", "dram_bytes_written"]].sum().reset_index()
    rows = pick(rows, settings="", type="i32", op="plus")
    rows = rows.drop_duplicates(["variant", "items"], keep="last").astype({"items": int})
    moved = rows["dram_bytes_read"] + rows["dram_bytes_written"]
    return rows.assign(moved=moved / (4 * rows["items"])), launches
