"""The two sides of a comparison, from the files of a user."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from scanlab_report.data import Data, File, Variants
from scanlab_report.groups import HOST
from scanlab_report.intervals import summarise
from scanlab_report.load import load
from scanlab_report.tables import CASES

KINDS = {"scan": "scans", "schedule": "schedules", "stream_scan": "stream_scan"}
"""Name of each table in files of noise and in sentences."""
_OTHER = ["benchmark", "case", "device"]


class Refused(ValueError):
    """Files that cannot be compared; `args` are the sentences that state why."""


class Side(NamedTuple):
    """One run. `cases` has one row per case: its `samples`, or its mean and deviation alone;
    `untimed` has one row per case without a time. The columns `case` name a case."""

    file: File
    kind: str
    case: list[str]
    cases: pd.DataFrame
    untimed: pd.DataFrame


def sides(a: Sequence[Path], b: Sequence[Path]) -> tuple[Side, Side]:
    """Both sides, each of one file, or of several of another program; Refused with the reasons."""
    files = [*a, *b]
    if unreadable := [f"{file}: is no file" for file in files if not file.is_file()]:
        raise Refused(*unreadable)
    read = [load([file]) for file in files]
    if problems := [str(problem) for data in read for problem in data.problems]:
        raise Refused(*dict.fromkeys(problems))
    programs = {
        str(file.context.get("program", "Scanlab")): file.path
        for data in read
        for file in data.files
    }
    if len(programs) > 1:
        named = " and ".join(f"{file} is of {program}" for program, file in programs.items())
        raise Refused(f"{named}: they time in different ways, so only one program is compared")
    if "Scanlab" not in programs and programs:
        return _others(read[: len(a)]), _others(read[len(a) :])
    if len(files) > 2:
        raise Refused("several files a side are for nvbench and Google Benchmark")
    return _own(a[0], read[0]), _own(b[0], read[1])


def _own(path: Path, data: Data) -> Side:
    """Return the repeated timings of a results file of Scanlab. Schedules that are wrong on purpose
    are left out, since they are not timed for their speed."""
    tables = {name: data[name] for name in KINDS}
    tables["schedule"] = tables["schedule"].query("control == 0")
    timed = [name for name, rows in tables.items() if len(rows)]
    timed = timed or ["scan"] * bool(len(data["skipped"]))  # nothing but failures
    if len(data.files) != 1 or len(timed) != 1:
        raise Refused(f"{path}: holds no repeated timings (of bench, streams run or stream-scan)")
    (file,), (table,) = data.files, timed
    case = CASES[table]
    cases = summarise(tables[table], case).assign(mean_ns=np.nan, stdev_ns=np.nan)
    on_host = pd.Series(file.kind == "host", cases.index)
    if table == "scan":
        on_host |= cases["variant"].isin(Variants(file.variants).ids(HOST))
        column = (cases["cache"] + " " + cases["launch"]).mask(on_host, "host")  # launches nothing
    else:
        column = cases["entry" if table == "schedule" else "way"]
        cases["launches"] = 1.0
    if table == "stream_scan":  # the processor reads, writes and copies all but pinned memory
        pinned = cases["way"].isin(("streamed", "duplex_copy"))
        on_host |= ~pinned | (cases["from"] != "memory") | (cases["to"] != "memory")
    cases = cases.assign(on=np.where(on_host, "host", "device"), column=column)
    untimed = data["skipped"]
    untimed = untimed.assign(name=untimed["variant"] + " of " + untimed["items"].astype(str))
    columns = [*case, "name", "reason", "failed"]
    return Side(file, KINDS[table], case, cases, untimed.reindex(columns=columns))


def _others(read: Sequence[Data]) -> Side:
    """The cases of another program's files. Several files are repeated runs: the samples of all are
    a case's samples, or its mean in a file without samples."""
    rows = pd.concat([data["other"] for data in read], ignore_index=True)
    if len(read) > 1:
        both = zip(rows["samples"], rows["mean_ns"], strict=True)
        samples = [own if len(own) else np.array([mean]) for own, mean in both]
        rows["samples"] = pd.Series(samples, dtype=object)
        runs = rows.groupby(_OTHER, sort=False)
        rows = runs.agg({"samples": list, "skipped": "max", "failed": "max"}).reset_index()
        rows["samples"] = rows["samples"].map(np.concatenate)
        rows["count"], rows["median_ns"] = rows["samples"].map(len), rows["samples"].map(np.median)
        rows[["mean_ns", "stdev_ns"]] = np.nan
    file, timed = read[0].files[0], rows["skipped"] == ""
    program, name = str(file.context["program"]), rows["benchmark"] + " " + rows["case"]
    rows = rows.assign(launches=1.0, on=file.kind, column=program, name=name)
    untimed = rows[~timed].rename(columns={"skipped": "reason"})
    return Side(file, program, _OTHER, rows[timed], untimed)
