"""Write session.json, which joins recorded files to one session of a device, and says whether it is
complete.

A report is made from one session per device: the one that build --session names, else the newest
complete one. The command add-device writes session.json by itself; this command serves files of
several runs that belong together. Each file keeps its own provenance.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scanlab_report.console import SOUND, count, missing, refuse, say
from scanlab_report.written import write

if TYPE_CHECKING:  # pandas is not loaded to print a help text
    import pandas as pd

    from scanlab_report.data import Data, File

EXAMPLE = (
    "  scanlab-report session data/recorded/my-device/2026-01-02 "
    "data/recorded/my-device/2026-01-01/implicit_sync.json.gz"
)
FILE = "session.json"
KINDS = {
    "scan": "timings",
    "skipped": "timings",
    "schedule": "schedules",
    "stream_scan": "stream_scan",
    "spans": "trace",
    "implicit_sync": "implicit_sync",
    "concurrency": "concurrency",
    "nvbench": "stopwatch",
    "distributed": "distributed",
    "rank_spans": "ranks_trace",
    "counters": "counters",
    "traffic": "traffic",
    "waits": "waits",
    "repeats": "repeats",
    "counts": "counts",
}
"""The kind of file that has rows of each table."""
COUNTED = ("counters", "traffic", "waits", "repeats", "counts")
"""Kinds of tables that belong to a run. Files of the other kinds are runs."""
OF_SEVERAL = {"timings", "distributed", "ranks_trace", "repeats", "waits"}
"""The kinds of file of a session over several GPUs: timings are of `best` on one of the GPUs."""
WHOLE = {
    "cuda": set(KINDS.values()) - {"stopwatch", "distributed", "ranks_trace", "counts"},
    "host": {"timings", "counts"},
}
"""The kinds of file that a complete session has: of a GPU, or of a machine without a GPU."""


def arguments(parser: argparse.ArgumentParser) -> None:
    folder = "folder of the session; all its files belong to it"
    parser.add_argument("folder", type=Path, metavar="DIR", help=folder)
    further = "recorded files of other folders that belong to it"
    parser.add_argument("further", nargs="*", type=Path, metavar="FILE", help=further)


def run(options: argparse.Namespace) -> int:
    wrong = missing([options.folder, *options.further])
    if not wrong and not options.folder.is_dir():
        wrong = [f"{options.folder}: a file; name the folder of the session"]
    if wrong:
        return refuse(*wrong)
    own = [path for path in options.folder.iterdir() if path.is_file() and path.name != FILE]
    try:
        session, lacking = join([*own, *options.further], options.folder)
    except ValueError as error:
        return refuse(*error.args, f"{options.folder}: nothing was written")
    state = f"not complete: it lacks {lacking}" if lacking else "complete"
    say(
        f"{options.folder / FILE}: {count(len(session['files']), 'file')} of "
        f"{session['device']}, {state}"
    )
    return SOUND


def kinds(data: Data) -> list[tuple[File, str]]:
    """Return each file and its kind, without simulations."""
    pairs = [
        (data.files[number], kind)
        for table, kind in KINDS.items()
        for number in dict.fromkeys(data[table]["file"])
    ]
    simulated = lambda file, kind: kind == "trace" and file.of_no_device
    return [pair for pair in dict.fromkeys(pairs) if not simulated(*pair)]


def gpus(runs: Iterable[File]) -> int:
    """The most GPUs that the scans of some files ran over; 1 if none ran over several."""
    ranks = [int(file.context.get("ranks") or 1) for file in runs if file.kind != "host"]
    return max(ranks, default=1)


def join(
    files: Iterable[Path], folder: Path, of_one_run: bool = False
) -> tuple[dict[str, Any], str]:
    """Write the session of some files. Return its content, and what it lacks. Files without results
    are left out.

    ValueError, whose `args` are sentences, if anything is wrong with a file, if the files are of
    two devices, or if two of a kind hold the same case.
    """
    from scanlab_report.data import doubled
    from scanlab_report.load import load
    from scanlab_report.others import Unknown
    from scanlab_report.schema import kept
    from scanlab_report.tables import CASES

    data = load(sorted(files))
    schedules = data["schedule"]
    twice = [
        *doubled(data, schedules[schedules["entry"] == "schedule"], CASES["schedule"]),
        *doubled(data, data["stream_scan"], CASES["stream_scan"]),
    ]
    problems = [p for p in (*data.problems, *twice) if not isinstance(p, Unknown)]
    if problems:
        raise ValueError(*map(str, problems))
    pairs = kinds(data)
    listed = {(Path(os.path.relpath(file.path, folder)).as_posix(), kind) for file, kind in pairs}
    runs = [file for file, kind in pairs if kind not in COUNTED]
    on_gpus = [file for file in runs if file.kind != "host"]
    counted = [file for file, kind in pairs if kind in COUNTED and file.device]
    counted *= bool(runs)  # tables alone are no session
    devices = sorted({file.device for file in [*(on_gpus or runs), *counted]})
    if len(devices) != 1:
        raise ValueError(
            f"a session is of one device, and these files are of {' and '.join(devices) or 'none'}"
        )
    # The times of a host alone, without its GPU, belong to the GPU's session. Files of several runs
    # may be of several hosts, which they name.
    hosts = sorted({file.host for file in runs if file.kind == "host" or file.context.get("cpu")})
    if of_one_run and on_gpus and len(hosts) > 1:
        raise ValueError(f"a run is of one machine, and these files are of {' and '.join(hosts)}")
    commits, present = {file.commit for file in runs}, {kind for _, kind in listed}
    # A session of one GPU may have scans over several, too.
    number = gpus(on_gpus) if present <= OF_SEVERAL else 1
    lacking = ", ".join(sorted(WHOLE["cuda" if on_gpus else "host"] - present))
    if number > 1:
        whole = "timings" in present and complete(data["distributed"], number)
        several = "`best`, or scans and copies on 1 and on all GPUs (data/README.md)"
        lacking = "" if whole else several
    session = {
        "schema": kept.SESSION,
        "device": devices[0],
        "date": max(file.date for file in runs),
        "commit": commits.pop() if len(commits) == 1 else "",
        "complete": not lacking,
        **({"gpus": number} if number > 1 else {}),
        "files": [{"file": file, "kind": kind} for file, kind in sorted(listed)],
    }
    write(folder / FILE, json.dumps(session, indent=1) + "\n")
    return session, lacking


def complete(rows: pd.DataFrame, number: int) -> bool:
    """Return whether a report over several GPUs can be made. It needs a scan on 1 GPU and on all,
    at equal items per GPU and at equal items in all, beside copies."""
    copied = set(rows.loc[rows["algorithm"] == "copy_all", "ranks"])
    scans = rows[rows["kind"] == "scan"]
    columns = ["algorithm", "settings", "type", "op", "mode", "items"]
    alone, everywhere = (
        {*scans.loc[scans["ranks"] == ranks, columns].itertuples(index=False, name=None)}
        for ranks in (1, number)
    )
    return (
        {1, number} <= copied
        and bool(alone & everywhere)
        and any((*case[:-1], case[-1] * number) in everywhere for case in alone)
    )
