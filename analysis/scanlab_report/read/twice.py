"""Runs that stand in two files, whose repetitions would count twice; and cases in two files of one kind, of which no figure could say which is meant.

Of cases scans are left out: a session times some of them both beside all others and head-to-head (:mod:`scanlab_report.select.timings`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd

from scanlab_report.read import streams
from scanlab_report.read.json_files import OWN, load
from scanlab_report.read.records import OPTIONAL_COUNTER_COLUMNS, REPEATED, SCANS, Complaint, Results

COUNTED = {
    "counters": ("counter_tables", ["variant", "padding", "type", "op", "items", *OPTIONAL_COUNTER_COLUMNS]),
    "traffic": ("traffic_tables", ["variant", "settings", "type", "op", "mode", "items"]),
    "waits": ("wait_tables", ["variant", "tile", "items", "type", "ranks", "rank", "role"]),
    "repeats": ("repeat_tables", ["variant", "type", "op", "mode"]),
}
"""The tables of :class:`Results` of which no case is chosen by its date: their parts, one a file, and the columns that name a case."""


def copies(files: Iterable[Path]) -> Iterator[Complaint]:
    """Of documents that are copies of an earlier one, compressed or not."""
    by_size: dict[int, list[Path]] = {}
    for file in files:
        by_size.setdefault(_size(file), []).append(file)
    for alike in by_size.values():
        known: dict[bytes, Path] = {}
        for file in alike if len(alike) > 1 else []:  # so next to nothing is read twice
            content = load(file, []) or b""
            if OWN in content and (first := known.setdefault(content, file)) != file:
                yield Complaint(file, "", f"holds the same as {first}: they are one run; leave one of the files out")


def _size(file: Path) -> int:
    """In bytes, of what it holds: a compressed file ends with it. -1 if it cannot be read, which its reader says."""
    try:
        if file.suffix != ".gz":
            return file.stat().st_size
        with file.open("rb") as compressed:
            compressed.seek(-4, os.SEEK_END)
            return int.from_bytes(compressed.read(), "little")
    except OSError:
        return -1


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
