"""What ``session.json`` says of recorded files that belong together: device, day, commit, and whether all kinds are there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from scanlab_report.commands.add_device import several_gpus
from scanlab_report.read import results, streams, twice
from scanlab_report.schema import kept
from scanlab_report.written import write as write_text

FILE = "session.json"
WHOLE = {
    "cuda": {"timings", streams.SCHEDULES, streams.STREAM_SCAN, streams.TRACE, streams.IMPLICIT_SYNC, streams.CONCURRENCY, "counters", "traffic", "waits", "repeats"},
    "host": {"timings", "counts"},
}
"""The kinds of file that a session of a GPU, or of a machine without one, must have to be complete."""


def describe(files: Iterable[Path], folder: Path, of_one_run: bool = False) -> tuple[dict[str, Any], str]:
    """The content of the ``session.json`` of a folder, and what it lacks to be complete; files that hold no results are left out.

    ValueError, whose ``args`` are sentences, if anything is wrong with one, if they are of two devices, or if two of a kind hold the same case.
    """
    read = results.read(sorted(files), [])
    if wrong := [*read.problems, *twice.repeated(read)]:
        raise ValueError(*map(str, wrong))
    kinds = [*((run.file, "timings") for run in read.runs), *((of.run.file, of.kind) for of in read.streams), *((of.file, "counts") for of in read.explanations),
             *((Path(file), kind) for kind in twice.COUNTED for file in getattr(read, kind)["file"].unique())]  # fmt: skip
    listed = [{"file": Path(os.path.relpath(file, folder)).as_posix(), "kind": kind} for file, kind in sorted(set(kinds))]
    runs = read.runs + [of.run for of in read.streams]
    on_gpus = [run for run in runs if run.kind != "host"]
    counted = [run for run in read.owners.values() if run.context.get("device")] if runs else []  # tables alone are no session
    if len(devices := sorted({run.device for run in [*(on_gpus or runs), *counted]})) != 1:
        raise ValueError(f"a session is of one device, and these files are of {' and '.join(devices) or 'none'}")
    # What a host timed alone, without its GPU, belongs to the GPU's session. Files of several runs may be of several hosts, and say which.
    if of_one_run and on_gpus and len(hosts := sorted({run.host for run in runs if run.kind == "host" or "cpu" in run.context})) > 1:
        raise ValueError(f"a run is of one machine, and these files are of {' and '.join(hosts)}")
    commits = {run.commit for run in runs}
    present = {of["kind"] for of in listed}
    gpus = several_gpus.gpus(on_gpus) if present <= set(several_gpus.KINDS) else 1  # a session of one GPU may have scans over several, too
    tables = [of.rows for of in read.streams if of.kind == streams.DISTRIBUTED]
    lacking = ", ".join(sorted(WHOLE["cuda" if on_gpus else "host"] - present))
    if gpus > 1:
        lacking = "" if several_gpus.complete(present, tables, gpus) else "`best`, or scans and copies on 1 and on all GPUs (data/README.md)"
    return {
        "schema": kept.SESSION, "device": devices[0], "date": max(run.date for run in runs), "commit": commits.pop() if len(commits) == 1 else "",
        "complete": not lacking, **({"gpus": gpus} if gpus > 1 else {}), "files": listed,
    }, lacking  # fmt: skip


def write(files: Iterable[Path], folder: Path, of_one_run: bool = False) -> tuple[dict[str, Any], str]:
    """Writes it, and returns the same."""
    said, lacking = describe(files, folder, of_one_run)
    write_text(folder / FILE, json.dumps(said, indent=1) + "\n")
    return said, lacking
