"""The tables of an export, one observation a row, and the dictionary of their columns."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import pandas as pd

from scanlab_report import DATA
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table
from scanlab_report.schema.base import Provenance
from scanlab_report.schema.results import Context
from scanlab_report.schema.samples import TABLES

PROVENANCE = [*Provenance.__struct_fields__, "kind", "seed", "rounds", "width_percent"]
PROVENANCE += ["cap_seconds"]
ROWS = {
    "files": "a file of results, with its provenance",
    "scan": "a sample of a scan on one device, or of a copy beside it",
    "schedule": "a sample of a schedule, or of a copy or kernel alone",
    "stream_scan": "a sample of a scan larger than the device",
    "distributed": "a sample of a scan over several ranks",
}
"""The tables of an export, and the meaning of a row of each."""
_MEANINGS = {
    "file": ("number of the file, as in the table files", ""),
    "path": ("the file, from the folder that was exported", ""),
    "entry": ("schedule, copy or kernel", ""),
    "kind": ("what the algorithm is: a scan, a copy, a read", ""),
    "device_ns": ("device time between events, in a replay of its own before that of ns", "ns"),
}
"""Meaning and unit of columns that are no field of a sample."""


def tables(data: Data, paths: Sequence[Path]) -> dict[str, pd.DataFrame]:
    """Every table that the data have rows for, read from the paths."""
    made = {name: data[name] for name in ROWS if name != "files" and len(data[name])}
    if "scan" in made:
        choices = [str(choice or "") for choice in made["scan"]["choice"]]
        made["scan"] = made["scan"].assign(choice=choices)
    for name in made:
        if "converged" in made[name]:
            made[name] = made[name].astype({"converged": float})
    ends = [path if path.is_dir() else path.parent for path in paths]
    folder = os.path.commonpath([os.path.abspath(path) for path in ends])
    files = [
        {"file": number, "path": _place(data.files[number].path, folder)}
        | {key: str(data.files[number].context.get(key, "")) for key in PROVENANCE}
        for number in sorted({number for rows in made.values() for number in rows["file"]})
    ]
    return {"files": pd.DataFrame(files)} | made if made else {}


def _place(file: Path, folder: str) -> str:
    """Name a file of the data by its place there, and another file by its place in the folder, so
    that names hold no paths of a machine."""
    if file.resolve().is_relative_to(DATA):
        return file.resolve().relative_to(DATA).as_posix()
    return Path(os.path.abspath(file)).relative_to(folder).as_posix()


def meaning(table: str, column: str) -> tuple[str, str]:
    """The meaning of a column and its unit; KeyError if nobody wrote it down."""
    if table == "files" and column in PROVENANCE:
        fields = {field.name: field.type for field in msgspec.structs.fields(Context)}
        about = fields[column].__metadata__[-1].extra
        return about["text"], about["unit"]
    if column in _MEANINGS:
        return _MEANINGS[column]
    return TABLES[table][column].meaning, TABLES[table][column].unit


def dictionary(made: Mapping[str, pd.DataFrame]) -> str:
    """The meaning of each column of the tables, as a page."""
    cells = [
        Column("column", "column", "`{}`".format, right=False),
        *(Column(name, name, str, right=False) for name in ("unit", "meaning")),
    ]
    text = "# Data dictionary\n\nEach table is a file of its own, as CSV and as Parquet.\n"
    for name, rows in made.items():
        described = [(column, *meaning(name, column)) for column in rows]
        columns = pd.DataFrame(described, columns=["column", "meaning", "unit"])
        text += f"\n## {name}\n\nA row is {ROWS[name]}; there are {len(rows)}.\n\n"
        text += Table("", cells, columns).markdown().strip().replace("\\`", "`") + "\n"
    return text
