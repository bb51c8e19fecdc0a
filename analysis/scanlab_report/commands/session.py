"""Write session.json, which joins recorded files to one session of a device, and says whether it is
complete.

A report is made from one session per device: the one that build --session names, else the newest
complete one. The command add-device writes session.json by itself; this command serves files of
several runs that belong together. Each file keeps its own provenance.
"""

import argparse
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from scanlab_report.console import SOUND, Refused, count, missing, refuse, say
from scanlab_report.load import load
from scanlab_report.schema import NAMES
from scanlab_report.schema.documents import Session
from scanlab_report.schema.samples import PRIMITIVES
from scanlab_report.written import write

EXAMPLE = (
    "  scanlab-report session data/recorded/my-device/2026-01-02 "
    "data/recorded/my-device/2026-01-01/implicit_sync.json.gz"
)
FILE = "session.json"
KINDS = dict.fromkeys((*PRIMITIVES, "skipped"), "timings")
KINDS |= {"schedule": "schedules", "spans": "trace"}
KINDS |= {"block_counters": "counters", "nvbench": "stopwatch", "tile_times": "waits"}
TABLES = ("counters", "traffic", "waits", "repeats", "counts")
RUNS = ("stream_scan", "implicit_sync", "concurrency", "distributed")
KINDS |= {name: name for name in (*RUNS, *TABLES)}
"""The kind of file that has rows of each table. TABLES belong to a run; other files are runs."""
OF_SEVERAL = {"timings", "distributed", "repeats", "waits"}
"""The kinds of file of a session over several GPUs: timings are of `best` on one of the GPUs."""
WHOLE = set(KINDS.values()) - {"stopwatch", "distributed", "counts"}
"""The kinds of file that a complete session of a GPU has."""


def arguments(parser: argparse.ArgumentParser) -> None:
    folder = "folder of the session; all its files belong to it"
    parser.add_argument("folder", type=Path, metavar="DIR", help=folder)
    further = "recorded files of other folders that belong to it"
    parser.add_argument("further", nargs="*", type=Path, metavar="FILE", help=further)


def run(options: argparse.Namespace) -> int:
    if wrong := missing([options.folder, *options.further]):
        return refuse(*wrong)
    if not options.folder.is_dir():
        return refuse(f"{options.folder}: a file; name the folder")
    own = [path for path in options.folder.iterdir() if path.is_file() and path.name != FILE]
    session, lacking = join([*own, *options.further], options.folder)
    state = f"not complete: it lacks {lacking}" if lacking else "complete"
    say(f"{options.folder / FILE}: {count(len(session['files']), 'file')}, {state}")
    return SOUND


def join(files: Iterable[Path], folder: Path) -> tuple[dict[str, Any], str]:
    """Write the session of some files. Return its content, and what it lacks. Refused if a file is
    wrong, or if the files are of two devices."""
    data = load(sorted(files), unknown=True)
    if data.problems:
        raise Refused(*data.problems)
    kinds = {(data.files[n], kind) for table, kind in KINDS.items() for n in data[table]["file"]}
    kinds -= {(file, kind) for file, kind in kinds if file.of_no_device and kind != "counts"}
    runs = [file for file, kind in kinds if kind not in TABLES]
    gpu = any(file.kind != "host" for file in runs)
    # The times of a host, without its GPU, belong to the GPU's session.
    owned = [file for file, _ in kinds if file.device and not (gpu and file.kind == "host")]
    devices = sorted({file.device for file in owned if runs})
    if len(devices) != 1:
        raise Refused(f"a session is of one device, not of {' and '.join(devices) or 'none'}")
    present, commits = {kind for _, kind in kinds}, {file.commit for file in runs}
    # A session of one GPU may have scans over several, too.
    ranks = {*data["distributed"]["ranks"]} if present <= OF_SEVERAL else set()
    gpus = int(max(ranks, default=1))
    lacking = sorted((WHOLE if gpu else {"timings", "counts"}) - present)
    if gpus > 1:
        lacking = sorted({"timings"} - present) + ["scans on 1 GPU"] * (1 not in ranks)
    paths = {(Path(os.path.relpath(f.path, folder)).as_posix(), kind) for f, kind in kinds}
    listed = sorted(paths)  # a file may hold many explanations
    commit = commits.pop() if len(commits) == 1 else ""
    session: dict[str, Any] = {"schema": NAMES[Session], "device": devices[0]}
    session |= {"date": max(f.date for f in runs), "commit": commit, "complete": not lacking}
    session |= {"gpus": gpus} if gpus > 1 else {}
    session |= {"files": [{"file": file, "kind": kind} for file, kind in listed]}
    write(folder / FILE, json.dumps(session, indent=1) + "\n")
    return session, ", ".join(lacking)
