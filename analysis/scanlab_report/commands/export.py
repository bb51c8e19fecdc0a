"""Export every sample as tidy tables, CSV and Parquet, with a data dictionary.

One row is one sample; the table files has the origin of each. The file dictionary.md has the unit
and the meaning of each column. Nothing is written if anything in the input is wrong. Counters,
timelines, experiments and cases that were not timed are not exported.
"""

import argparse
import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pandas as pd

from scanlab_report import DATA, opened
from scanlab_report.console import SOUND, count, refuse, say
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table
from scanlab_report.schema.base import Provenance
from scanlab_report.schema.results import Context
from scanlab_report.schema.samples import TABLES
from scanlab_report.written import in_place_of

EXAMPLE = """  scanlab-report export data/recorded --out tidy"""
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


def arguments(parser: argparse.ArgumentParser) -> None:
    add, results = parser.add_argument, "folders or files, recorded or new"
    add("results", nargs="+", type=Path, metavar="RESULTS", help=results)
    where = "write TABLE.csv, TABLE.parquet and the dictionary to DIR"
    add("--out", type=Path, required=True, metavar="DIR", help=where)


def run(options: argparse.Namespace) -> int:
    data = opened.sound(options.results)
    made = {name: data[name] for name in ROWS if name != "files" and len(data[name])}
    if not made:
        return refuse(opened.nothing_among(options.results))
    for name in made:
        choices = {"choice": lambda rows: rows["choice"].map(lambda own: str(own or ""))}
        made[name] = made[name].assign(**choices if name == "scan" else {})
        if "converged" in made[name]:
            made[name] = made[name].astype({"converged": float})
    tables = {"files": _files(data, made, options.results)} | made
    parquet = importlib.util.find_spec("pyarrow") is not None
    with in_place_of(options.out) as out:
        for name, rows in tables.items():
            rows.to_csv(out / f"{name}.csv", index=False)
            if parquet:
                rows.to_parquet(out / f"{name}.parquet", index=False, compression="zstd")
            say(f"{name}: {count(len(rows), 'row')}")
        (out / "dictionary.md").write_text(dictionary(tables), encoding="utf-8")
    lacking = ", without Parquet: this Python has no pyarrow (the .venv of ./check has it)"
    say(f"Written: {options.out}{'' if parquet else lacking}")
    return SOUND


def _files(data: Data, made: Mapping[str, pd.DataFrame], paths: list[Path]) -> pd.DataFrame:
    """The files of some tables, named by their place in the data or in what was exported."""
    ends = [path if path.is_dir() else path.parent for path in paths]
    folder = os.path.commonpath([os.path.abspath(path) for path in ends])
    rows = []
    for number in sorted({number for rows in made.values() for number in rows["file"]}):
        file = data.files[number]
        path = file.path.resolve()
        inside, path = (DATA, path) if path.is_relative_to(DATA) else (folder, file.path)
        row = {"file": number, "path": Path(os.path.abspath(path)).relative_to(inside).as_posix()}
        rows.append(row | {key: str(file.context.get(key, "")) for key in PROVENANCE})
    return pd.DataFrame(rows)


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
