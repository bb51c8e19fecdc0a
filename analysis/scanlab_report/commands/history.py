"""Add recorded sessions to the history of their device, so that their folders can be deleted.

The history keeps every repetition of the cases that compare sessions: sums beside one core of the host, and scans larger
than the device. The rest of a session goes with its folder, except files that another session.json lists.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from scanlab_report.console import SOUND, count, missing, refuse, say

EXAMPLE = """  scanlab-report history data/recorded/my-device/2026-01-01 data/recorded/my-device/2026-01-01b"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="+", type=Path, metavar="DIR", help="folder of a session")


def run(options: argparse.Namespace) -> int:
    import pandas as pd

    from scanlab_report.read import history, results

    if wrong := missing(options.folder):
        return refuse(*wrong)
    devices = sorted({folder.resolve().parent for folder in options.folder})
    if len(devices) != 1:
        return refuse(f"the sessions are of {' and '.join(map(str, devices))}: take those of one device", "nothing was written")
    file = devices[0] / history.FILE
    table = pd.read_csv(file, dtype=str, keep_default_na=False) if file.is_file() else pd.DataFrame(columns=history.COLUMNS)
    for folder in options.folder:
        if folder.resolve().name in set(table["session"]):
            return refuse(f"{file} has {folder.resolve().name} already: nothing was written")
        found = results.read([], [folder])
        if found.problems:
            return refuse(*map(str, found.problems), f"{file}: nothing was written")
        rows = history.kept(folder.resolve(), found)
        table = pd.concat([table, rows], ignore_index=True)
        say(f"{folder}: {count(len(rows), 'case')}")
    partial = file.with_suffix(".partial")
    table.to_csv(partial, index=False, compression={"method": "gzip", "mtime": 0})
    partial.replace(file)
    return SOUND
