"""Cases in two files of one kind, of which no figure could say which is meant.

Of cases scans are left out: a session times some of them both beside all others and head-to-head (:mod:`scanlab_report.select.timings`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from scanlab_report.read import streams
from scanlab_report.read.records import OPTIONAL_COUNTER_COLUMNS, REPEATED, SCANS, Complaint, Results

COUNTED = {
    "counters": ("counter_tables", ["variant", "padding", "type", "op", "items", *OPTIONAL_COUNTER_COLUMNS]),
    "traffic": ("traffic_tables", ["variant", "settings", "type", "op", "mode", "items"]),
    "waits": ("wait_tables", ["variant", "tile", "items", "type", "ranks", "rank", "role"]),
    "repeats": ("repeat_tables", ["variant", "type", "op", "mode"]),
}
"""The tables of :class:`Results` of which no case is chosen by its date: their parts, one a file, and the columns that name a case."""


def counted(results: Results, origin: str) -> Iterator[Complaint]:
    """Of counted tables of one device; which that is, the run says that a table belongs to."""
    for kind, (files, case) in COUNTED.items():
        if len(getattr(results, files)) > 1:
            table = getattr(results, kind)
            table = table[table["origin"] == origin]
            devices = {file: run.device if (run := results.beside(file, origin)) else "" for file in table["file"].unique()}
            for _, of_device in table.groupby(table["file"].map(devices), sort=False):
                yield from _twice(of_device, case)


def repeated(results: Results) -> Iterator[Complaint]:
    """Of schedules and of scans larger than the device."""
    for kind, case in REPEATED.items():
        tables = [of.rows.assign(file=str(of.run.file)) for of in results.streams if of.kind == kind]
        if kind != SCANS and tables:
            rows = pd.concat(tables, ignore_index=True)
            yield from _twice(rows[rows["entry"] == "schedule"] if kind == streams.SCHEDULES else rows, case)


def _twice(table: pd.DataFrame, case: list[str]) -> Iterator[Complaint]:
    """One problem a file that has a case of an earlier one."""
    if table["file"].nunique() < 2:
        return
    of = table[["file", *(column for column in case if column in table)]].drop_duplicates()
    first = of.groupby(list(of.columns[1:]), dropna=False)["file"].transform("first")
    for (file, before), cases in of[of["file"] != first].groupby(["file", first.rename("before")], sort=False):
        named = " ".join(str(value) for value in cases.iloc[0, 1:] if value != "" and not pd.isna(value))
        yield Complaint(Path(file), "", f"has {len(cases)} of the cases of {before}, such as {named}: leave one of the files out")
