"""What is kept of older sessions: ``history.csv.gz``, one row a case with the times of its repetitions, in the folder of the device.

Kept are the cases that are compared over sessions, since they differ by the session more than by the code: sums of 32-bit items in
files that timed one core of the host too, and scans larger than the device.
"""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd

from scanlab_report.read import streams
from scanlab_report.read.json_files import load
from scanlab_report.read.records import CASE, Complaint, Results, Run, StreamFile

FILE = "history.csv.gz"
PROVENANCE = ["session", "date", "git_commit", "kind", "device", "cpu", "cores"]
"""``session`` is the name of the folder that it had; the others are as in the context of a results file."""
_SCANS = [column for column in (*streams.SCAN, "bytes") if column not in CASE]
COLUMNS = [*PROVENANCE, *CASE, *_SCANS, "times_ns"]
"""``times_ns``: of each repetition, in the order of the rounds, separated by spaces. Of a scan larger than the device ``variant``
is empty, and the columns from ``way`` on are filled in; of others they are empty."""
_WHOLE = ("items", "budget", "chunks", "mapped", "bytes")
_ONE_CORE = "cpu_sequential"
_NONE = "is no history of sessions"


def kept(session: Path, results: Results) -> pd.DataFrame:
    """The rows of a session's results."""
    rows = []
    timings = results.timings
    for number, run in enumerate(results.runs):
        of = timings[(timings["run"] == number) & timings["type"].isin(("i32", "f32"))]
        of = of[(of["op"] == "plus") & (of["mode"] == "inclusive") & (of["settings"] == "") & (of["launch"] == "stream")]
        if _ONE_CORE in set(of["variant"]):
            rows.append(_cases(session, run, of, CASE))
    rows += [_cases(session, file.run, file.rows, [*streams.SCAN, "bytes"]) for file in results.streams if file.kind == streams.STREAM_SCAN]
    return pd.concat(rows, ignore_index=True).reindex(columns=COLUMNS) if rows else pd.DataFrame(columns=COLUMNS)


def _cases(session: Path, run: Run, rows: pd.DataFrame, case: list[str]) -> pd.DataFrame:
    times = rows.sort_values("round", kind="stable").groupby(case, sort=False)["time_ns"].agg(lambda of: " ".join(f"{time:.6g}" for time in of))
    said = {"session": session.name, **{key: str(run.context.get(key, "")) for key in PROVENANCE[1:]}, "kind": run.kind}
    return times.rename("times_ns").reset_index().astype(str).assign(**said)


def table(file: Path, problems: list[Complaint]) -> pd.DataFrame | None:
    """The rows of a history, all text; None, and a problem, if it is none."""
    if (raw := load(file, problems)) is None:
        return None
    try:
        found = pd.read_csv(io.BytesIO(raw), dtype=str, keep_default_na=False)
        if list(found.columns) != COLUMNS:
            raise ValueError(f"its columns are not {', '.join(COLUMNS)}")
        return found
    except ValueError as error:
        problems.append(Complaint(file, "", f"{_NONE}: {error}"))
    return None


def read(file: Path, origin: str, results: Results) -> None:
    """Each session of the file as a run of its own, below the folder that it had."""
    if (found := table(file, results.problems)) is None:
        return
    try:
        for values, rows in found.groupby(PROVENANCE, sort=False):
            context = dict(zip(PROVENANCE, values, strict=True))
            run = Run(file.parent / context["session"] / FILE, origin, context)
            scans, larger = (_repetitions(rows[(rows["way"] != "") == way]) for way in (False, True))
            if len(scans):
                number = len(results.runs)
                results.runs.append(run)
                results.timing_rows += [(number, *of, float("nan"), float("nan")) for of in scans[[*CASE, "round", "time_ns"]].itertuples(index=False)]
            if len(larger):
                results.streams.append(StreamFile(run, streams.STREAM_SCAN, larger[streams.STREAM_SCAN_COLUMNS]))
    except ValueError as error:
        results.problems.append(Complaint(file, "", f"{_NONE}: {error}"))


def _repetitions(rows: pd.DataFrame) -> pd.DataFrame:
    """One row a repetition, numbers as such."""
    rows = rows.assign(time_ns=rows["times_ns"].str.split()).explode("time_ns")
    rows["round"] = rows.groupby(level=0).cumcount()
    rows["time_ns"] = rows["time_ns"].astype(float)
    if not (rows["time_ns"] > 0).all():
        raise ValueError("a time is not positive")
    for column in _WHOLE:
        if len(rows) and (rows[column] != "").all():
            rows[column] = rows[column].astype("int64")
    return rows.reset_index(drop=True)
