"""Collects the files, rows and complaints of what is read, and makes tables of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd
from msgspec import Struct

from scanlab_report.data import Complaint, Data, File
from scanlab_report.tables import MEASURED


class Reader:
    """Collects files, tables and complaints."""

    def __init__(self, first: str) -> None:
        self.data = Data(first=first)
        self.parts: dict[str, list[pd.DataFrame]] = {}
        self.unowned: set[int] = set()
        """Numbers of files whose tables do not name their run."""

    def add_file(self, path: Path, origin: str, context: Any = None, **more: Any) -> int:
        """Add a file. Return its number."""
        about = msgspec.to_builtins(context) if isinstance(context, Struct) else dict(context or {})
        self.data.files.append(File(path, origin, about, **more))
        return len(self.data.files) - 1

    def add_rows(self, table: str, file: int, rows: pd.DataFrame) -> None:
        rows.insert(0, "file", file)
        self.parts.setdefault(table, []).append(rows)

    def complain(self, file: Path, place: str, message: str) -> None:
        self.data.problems.append(Complaint(file, place, message))

    def finish(self) -> Data:
        """Join the parts of each table, and finds the runs of tables that do not name theirs."""
        data = self.data
        data.tables = {
            name: pd.concat(parts, ignore_index=True) for name, parts in self.parts.items()
        }
        for number in self.unowned:
            data.files[number] = replace(data.files[number], **self._beside(data.files[number]))
        data.problems += [*_twice(data)]
        return data

    def _beside(self, file: File) -> dict[str, Any]:
        """Return the context of the run that a table belongs to: the sweep in its folder, another
        run there, or the first run of its origin. If there are runs of several commits, only the
        device is known."""
        runs = [
            other
            for number, other in enumerate(self.data.files)
            if number not in self.unowned and other.on_gpu and other.origin == file.origin
        ]
        here = [run for run in runs if run.path.parent == file.path.parent]
        sweep = [run for run in here if run.path.name.startswith("scan.json")]
        if not (run := next(iter([*sweep, *here, *runs]), None)):
            return {"of_no_device": True}
        if len({run.commit for run in here}) > 1:
            return {"context": {"kind": run.kind, "device": run.device}}
        return {"context": run.context}


_TOLD_APART = {
    "counters": ["variant", "padding", "type", "op", "items", "mode", "load"],
    "traffic": ["variant", "settings", "type", "op", "mode", "items"],
    "waits": ["variant", "tile", "items", "type", "ranks", "rank", "role"],
    "repeats": ["variant", "type", "op", "mode"],
}
"""Columns that name a case, for the tables whose cases are not chosen by date."""


def _twice(data: Data) -> Iterator[Complaint]:
    """Return the complaint about a case in two files measured now on one device: no figure could
    tell which is meant."""
    for name, case in _TOLD_APART.items():
        rows = data.rows(name, lambda file: file.origin == MEASURED)
        devices = rows["file"].map(lambda number: data.files[number].device)
        for _, part in rows.groupby(devices, sort=False):
            yield from doubled(data, part, case)


def doubled(data: Data, rows: pd.DataFrame, case: Iterable[str]) -> Iterator[Complaint]:
    """Return one complaint per file that has a case of an earlier file."""
    case = [column for column in case if column in rows]
    cases = rows[["file", *case]].drop_duplicates()
    first = cases.groupby(case, dropna=False)["file"].transform("first")
    again = cases[cases["file"] != first]
    for (number, before), part in again.groupby(["file", first.rename("before")], sort=False):
        named = " ".join(str(v) for v in part.iloc[0, 1:] if v != "" and not pd.isna(v))
        message = f"has {len(part)} of the cases of {data.files[before].path}, such as {named}"
        yield Complaint(data.files[number].path, "", f"{message}: leave one of the files out")
