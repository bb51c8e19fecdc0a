"""The two sides of a comparison, from the files of a user."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
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

TIMED = {"scans": ["cache", "launch"], "schedules": ["entry"], "stream_scan": ["way"]}
"""The columns that state how a case is timed, by kind; together they are its `column`. Cases of the
host have `host` there."""


KINDS = {"scan": "scans", "schedule": "schedules", "stream_scan": "stream_scan"}
"""Name of each table in files of noise and in sentences."""


class Refused(ValueError):
    """Files that cannot be compared; `args` are the sentences that state why."""


class Side(NamedTuple):
    """One run. `cases` has one row per case, with its `samples`; `untimed` has one row per case
    without a time."""

    file: File
    kind: str
    case: list[str]
    cases: pd.DataFrame
    untimed: pd.DataFrame
    throttling: str = ""
    runs: int = 1

    @property
    def own(self) -> bool:
        return self.kind in TIMED


# ----------------------------------------------------------------------------------------- reading


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
    programs = [_program(data) for data in read]
    for file, program in zip(files, programs, strict=True):
        if program != programs[0]:
            message = f"{files[0]} is of {programs[0]} and {file} of {program}"
            raise Refused(
                f"{message}: they time in different ways, so only files of one program are compared"
            )
    if programs[0] == "Scanlab":
        if len(files) > 2:
            raise Refused(
                "several files a side are for nvbench and Google Benchmark: time more "
                "repetitions with scanlab bench, and compare two files"
            )
        return _own(a[0], read[0]), _own(b[0], read[-1])
    tables = cases.without_numbers([data["other"] for data in read])
    return (_others(read[: len(a)], tables[: len(a)]), _others(read[len(a) :], tables[len(a) :]))


def _program(data: Data) -> str:
    return str(data.files[0].context.get("program", "Scanlab")) if data.files else "Scanlab"


def _own(path: Path, data: Data) -> Side:
    """Return the repeated timings of a results file of Scanlab. Schedules that are wrong on purpose
    are left out, since they are not timed for their speed."""
    schedules = data["schedule"]
    tables = {name: data[name] for name in KINDS} | {
        "schedule": schedules[schedules["control"] == 0]
    }
    timed = [name for name, rows in tables.items() if len(rows)]
    timed = timed or ["scan"] * bool(len(data["skipped"]))  # nothing but failures
    if len(data.files) != 1 or len(timed) != 1:
        message = "holds no repeated timings (of scanlab bench, streams run or stream-scan)"
        raise Refused(str(Complaint(path, "", message)))
    (file,), (table,), missing = (
        data.files,
        timed,
        "is missing: what is compared says where it is from",
    )
    if lacking := [key for key in ("date", "git_commit") if not file.context.get(key)]:
        raise Refused(*(str(Complaint(path, f"context.{key}", missing)) for key in lacking))
    kind, case, rows = KINDS[table], CASES[table], tables[table]
    cases = summarise(rows, case)[
        [*case, "samples", "count", "median_ns", *(["launches"] if table == "scan" else [])]
    ]
    if table != "scan":
        cases["launches"] = 1.0
    variants = Variants(file.variants)
    cases["on"] = "host" if file.kind == "host" else "device"
    if table == "scan":
        cases.loc[cases["variant"].isin(variants.ids(HOST)), "on"] = "host"
    if table == "stream_scan":  # the processor reads, writes and copies all but pinned memory
        pinned = cases["way"].isin(("streamed", "duplex_copy"))
        pinned &= (cases["from"] == "memory") & (cases["to"] == "memory")
        cases.loc[~pinned, "on"] = "host"
    names = [cases[name].astype(str) for name in TIMED[kind]]
    cases["column"] = reduce(lambda before, more: before + " " + more, names)
    if table == "scan":  # the host launches nothing
        cases.loc[cases["on"] == "host", "column"] = "host"
    untimed = data["skipped"]
    named = [f"{v} of {n} items" for v, n in zip(untimed["variant"], untimed["items"], strict=True)]
    untimed = untimed.assign(name=named, why=untimed["reason"])
    untimed = untimed.reindex(columns=[*case, "name", "reason", "why", "failed"])
    return Side(file, kind, case, cases, untimed, _throttling(data, rows, table))


def _throttling(data: Data, rows: pd.DataFrame, table: str) -> str:
    """Return a sentence on how often, and how far, the clock was lowered. A quick look suffices for
    most files."""
    highest = float(data.files[0].context.get("sm_clock_mhz_max") or np.nan)
    if not (rows["sm_clock_mhz"] < highest).any():
        return ""
    from scanlab_report.drift import session_of

    return session_of(data, rows, table).throttling()


def _others(read: Sequence[Data], tables: list[pd.DataFrame]) -> Side:
    """The cases of another program's files, pooled."""
    rows = cases.pooled(tables).reset_index(drop=True)
    rows["launches"], rows["column"] = 1.0, rows["clock"]
    rows["on"] = np.where(rows["clock"] == "GPU", "device", "host")
    untimed, file = rows[rows["skipped"] != ""], read[0].files[0]
    named = [
        code(case_name(*row))
        for row in zip(untimed["benchmark"], untimed["case"], untimed["device"], strict=True)
    ]
    reasons = untimed["skipped"].str.rstrip(".")
    untimed = untimed.assign(
        name=named, reason=reasons, why=[f"{n}: {r}" for n, r in zip(named, reasons, strict=True)]
    )
    case = ["benchmark", "case", "device"]
    return Side(
        file,
        str(file.context["program"]),
        case,
        rows[rows["skipped"] == ""],
        untimed,
        runs=len(read),
    )


def case_name(benchmark: str, case: str, device: str) -> str:
    return " ".join(filter(None, (benchmark, case, device and f"on device {device}")))
