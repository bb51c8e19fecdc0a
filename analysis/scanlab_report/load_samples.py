"""Rows of samples, from the entries of a results file."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

import pandas as pd

from scanlab_report.data import Data
from scanlab_report.load_others import withdrawn
from scanlab_report.schema import results, samples
from scanlab_report.schema.fields import Misfit, convert, convert_each, listed
from scanlab_report.tables import (
    CASES,
    COLUMNS,
    ELEMENT_BYTES,
    changed,
    rank_settings_name,
    settings_name,
)

_ABOUT = ("outcome", "error_message", "verified", "repetition_index")
_NUMBERS = ["items", "chunks", "streams", "work", "blocks", "buffers", "bytes", "inputs"]
_NUMBERS += ["control", "side_kernels", "own_streams"]
"""Columns of schedules that are 0 for copies and kernels, which have no such field."""
_PLACE = "benchmarks[{}]".format


def read_samples(data: Data, path: Path, origin: str, document: Mapping[str, Any]) -> None:
    """Read the entries of a results file. Those that do not fit are named, and left out."""
    context = convert(document.get("context"), results.Context, "context")
    number = data.add_file(path, origin, context, variants=context.variants)
    entries = listed(document, "benchmarks")
    kinds: dict[type[samples.Sample], dict[int, Any]] = {}
    for index, entry in enumerate(convert_each(entries, samples.ENTRY, _PLACE)):
        if isinstance(entry, Misfit):
            data.complain(path, entry.place, entry.message)
        else:
            kinds.setdefault(type(entry), {})[index] = entry
    for table in dict.fromkeys(kind.table for kind in kinds):
        parts = [_frame(kind, own) for kind, own in kinds.items() if kind.table == table]
        rows = _MADE[table](pd.concat(parts).sort_index(), context, data)
        for index, message in (wrong := _faults(rows)).items():
            data.complain(path, _PLACE(index), message)
        rows = rows.drop(list(wrong))
        case = rows.groupby(CASES[table], sort=False, dropna=False).ngroup()
        timed = rows.assign(case=case)[rows["outcome"] == "timed"]
        twice = timed.duplicated(["case", "round"])
        for index, sample in timed.loc[twice, "round"].items():
            message = f"repetition {sample} of this case was already read"
            data.complain(path, _PLACE(index), message)
        # The last check of a case may fail: its earlier times are of a wrong scan.
        failed = rows["outcome"] == "failed"
        left = timed[~twice & ~timed["case"].isin(set(case[failed]))]
        if table == "distributed":
            left = left[~left["algorithm"].isin(withdrawn(path))]
        data.add_rows(table, number, left[COLUMNS[table]].copy())
        if table == "scan":
            skipped = rows.assign(reason=rows["error_message"], failed=failed)
            skipped = skipped.loc[rows["outcome"] != "timed", COLUMNS["skipped"]]
            data.add_rows("skipped", number, skipped.drop_duplicates())


def _frame(kind: type[samples.Sample], entries: Mapping[int, Any]) -> pd.DataFrame:
    """One row per entry of a kind, by its place: its columns, and what says whether it counts."""
    fields = {name: column.field for name, column in samples.columns(kind).items()}
    fields |= dict(zip(_ABOUT, _ABOUT, strict=True))
    values = {
        name: list(map(attrgetter(field), entries.values())) for name, field in fields.items()
    }
    rows = pd.DataFrame(values, index=list(entries))
    rows["round"] = rows[["round", "repetition_index"]].max(axis=1)
    return rows.assign(entry=kind.__struct_config__.tag)


def _scans(rows: pd.DataFrame, context: results.Context, data: Data) -> pd.DataFrame:
    defaults = {id_: variant.defaults for id_, variant in context.variants.items()}
    names: dict[Any, str] = {}
    settings = []
    for variant, given in zip(rows["variant"], rows["settings"], strict=True):
        key = (variant, *given.items())
        if key not in names:
            own = changed(given, defaults.get(variant, {}))
            names[key] = settings_name(own)
            data.settings.setdefault(names[key], own)
        settings.append(names[key])
    least = 2 * rows["items"] * rows["type"].map(ELEMENT_BYTES)
    return rows.assign(
        settings=settings,
        launch=rows["launch"].replace("host", "stream"),
        bytes=rows["bytes"].where(rows["bytes"] > 0, least),
    )


def _schedules(rows: pd.DataFrame, context: results.Context, data: Data) -> pd.DataFrame:
    rows = rows.reindex(columns=dict.fromkeys([*rows, *COLUMNS["schedule"]]))
    both = rows["both_ways"] == True  # noqa: E712
    rows["id"] = rows["id"].astype(object).fillna(rows["workload"])
    rows["id"] = rows["id"].mask(both, "duplex_" + rows["id"]).astype(str)
    rows = rows.fillna({"workload": "", "memory": "", **dict.fromkeys(_NUMBERS, 0)})
    rows = rows.astype(dict.fromkeys(_NUMBERS, int))
    chunks = rows[["chunks", "items"]].min(axis=1)
    planned = rows["entry"] == "schedule"
    return rows.assign(
        buffers=rows["buffers"].where(rows["buffers"] < chunks, 0),
        side_kernels=(rows["side_kernels"] > 0).astype(int),
        own_streams=(planned & (rows["own_streams"] != rows["streams"])).astype(int),
        device_ns=1e6 * rows["device_ns"],
    )


def _distributed(rows: pd.DataFrame, context: results.Context, data: Data) -> pd.DataFrame:
    kinds = {id_: algorithm.kind for id_, algorithm in context.algorithms.items()}
    names = [rank_settings_name(settings) for settings in rows["settings"]]
    return rows.assign(settings=names, kind=rows["algorithm"].map(kinds))


_MADE = {"scan": _scans, "block_scan": _scans, "scan_axis": _scans, "schedule": _schedules}
_MADE |= {"distributed": _distributed}
_MADE |= {"stream_scan": lambda rows, context, data: rows.astype({"mapped": int})}
"""The function that makes the columns of each table from the fields."""


def _faults(rows: pd.DataFrame) -> dict[Any, str]:
    """How an entry contradicts itself, by its place."""
    wrong: dict[Any, str] = {}
    timed = rows["outcome"] == "timed"
    tags = ("scan", "block_scan", "warp_scan", "scan_axis", "distributed")
    scans = rows["entry"].isin(tags)
    planned = (rows["entry"] == "schedule") & (rows.get("control", 0) == 0)
    for index in rows.index[timed & (scans | planned) & ~rows["verified"]]:
        why = "or not looked at" if scans[index] else "though it is no control"
        wrong[index] = f"verified is false: its output was wrong, {why}"
    for index in rows.index[timed & (rows["ns"] == 0)]:
        wrong[index] = "real_time is 0, and the outcome is timed"
    return wrong
