"""The two sides of a comparison, from the files of a user."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from scanlab_report.data import Complaint, Data, File, Variants
from scanlab_report.formats import code
from scanlab_report.groups import HOST
from scanlab_report.intervals import summarise
from scanlab_report.load import load
from scanlab_report.others import cases
from scanlab_report.tables import CASES

KINDS = {"scan": "scans", "schedule": "schedules", "stream_scan": "stream_scan"}
"""Name of each table in files of noise and in sentences."""


class Refused(ValueError):
    """Files that cannot be compared; `args` are the sentences that state why."""


class Side(NamedTuple):
    """One run. `cases` has one row per case: its `samples`, or its mean and deviation alone;
    `untimed` has one row per case without a time. `key` are the columns that both sides must agree
    in, and `case` those that name a case in print."""

    file: File
    kind: str
    key: list[str]
    case: list[str]
    cases: pd.DataFrame
    untimed: pd.DataFrame
    runs: int = 1


def sides(a: Sequence[Path], b: Sequence[Path]) -> tuple[Side, Side]:
    """Both sides, each of one file, or of several of another program; Refused with the reasons."""
    files = [*a, *b]
    for file in files:
        if not file.is_file():
            what = "is a folder; name one results file in it" if file.is_dir() else "no such file"
            raise Refused(f"{file}: {what}")
    read = [load([file]) for file in files]
    if problems := [str(problem) for data in read for problem in data.problems]:
        raise Refused(*dict.fromkeys(problems))
    programs = [
        str(data.files[0].context.get("program", "Scanlab")) if data.files else "Scanlab"
        for data in read
    ]
    for file, program in zip(files, programs, strict=True):
        if program != programs[0]:
            raise Refused(
                f"{files[0]} is of {programs[0]} and {file} of {program}: they time in different "
                "ways, so only files of one program are compared"
            )
    if programs[0] != "Scanlab":
        tables = cases.without_numbers([data["other"] for data in read])
        return _others(read[: len(a)], tables[: len(a)]), _others(read[len(a) :], tables[len(a) :])
    if len(files) > 2:
        raise Refused(
            "several files a side are for nvbench and Google Benchmark: time more "
            "repetitions with scanlab bench, and compare two files"
        )
    return _own(a[0], read[0]), _own(b[0], read[-1])


def _own(path: Path, data: Data) -> Side:
    """Return the repeated timings of a results file of Scanlab. Schedules that are wrong on purpose
    are left out, since they are not timed for their speed."""
    tables = {name: data[name] for name in KINDS}
    tables["schedule"] = tables["schedule"].query("control == 0")
    timed = [name for name, rows in tables.items() if len(rows)]
    timed = timed or ["scan"] * bool(len(data["skipped"]))  # nothing but failures
    if len(data.files) != 1 or len(timed) != 1:
        message = "holds no repeated timings (of scanlab bench, streams run or stream-scan)"
        raise Refused(str(Complaint(path, "", message)))
    (file,), (table,) = data.files, timed
    missing = "is missing: what is compared says where it is from"
    if lacking := [key for key in ("date", "git_commit") if not file.context.get(key)]:
        raise Refused(*(str(Complaint(path, f"context.{key}", missing)) for key in lacking))
    case, rows = CASES[table], tables[table]
    cases = summarise(rows, case).assign(sampled=True, mean_ns=np.nan, stdev_ns=np.nan)
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
    named = [f"{v} of {n} items" for v, n in zip(untimed["variant"], untimed["items"], strict=True)]
    untimed = untimed.assign(name=named, why=untimed["reason"]).reindex(
        columns=[*case, "name", "reason", "why", "failed"]
    )
    return Side(file, KINDS[table], case, case, cases, untimed)


def _others(read: Sequence[Data], tables: list[pd.DataFrame]) -> Side:
    """The cases of another program's files, pooled."""
    rows = cases.pooled(tables).reset_index(drop=True)
    on = np.where(rows["clock"] == "GPU", "device", "host")
    rows = rows.assign(
        launches=1.0, on=on, column=rows["clock"], sampled=rows["samples"].map(len) > 0
    )
    named = zip(rows["benchmark"], rows["case"], rows["device"], strict=True)
    rows["name"] = pd.Series([code(case_name(*row)) for row in named], dtype=object)
    reason = rows["skipped"].str.rstrip(".")
    rows = rows.assign(reason=reason, why=rows["name"] + ": " + reason)
    key, case = (["benchmark", name, "device"] for name in ("key", "case"))
    timed, file = rows["skipped"] == "", read[0].files[0]
    program = str(file.context["program"])
    return Side(file, program, key, case, rows[timed], rows[~timed], runs=len(read))


def case_name(benchmark: str, case: str, device: str) -> str:
    return " ".join(filter(None, (benchmark, case, device and f"on device {device}")))
