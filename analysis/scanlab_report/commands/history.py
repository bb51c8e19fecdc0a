"""Add recorded sessions to the history of their device, so that their folders can be deleted.

The history keeps every repetition of the cases that compare sessions: sums beside one core of the
host, and scans larger than the device. The rest of a session goes with its folder, except files
that another session.json lists.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from scanlab_report.console import SOUND, count, missing, refuse, say
from scanlab_report.written import one_file

EXAMPLE = "  scanlab-report history data/recorded/my-device/2026-01-01"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="+", type=Path, metavar="DIR", help="folder of a session")


def run(options: argparse.Namespace) -> int:
    import pandas as pd

    from scanlab_report.data import Complaint
    from scanlab_report.load import load
    from scanlab_report.load_others import HISTORY_COLUMNS, kept_of, load_history
    from scanlab_report.reading import HISTORY

    no_folders = [path for path in options.folder if not path.is_dir()]
    wrong = missing(options.folder)
    wrong = wrong or [f"{path}: a file; name the folder of the session" for path in no_folders]
    if wrong:
        return refuse(*wrong)
    devices = sorted({folder.resolve().parent for folder in options.folder})
    if len(devices) != 1:
        return refuse(
            f"the sessions are of {' and '.join(map(str, devices))}: take those of one device",
            "nothing was written",
        )
    problems: list[Complaint] = []
    file = devices[0] / HISTORY
    table = (
        load_history(file, problems) if file.is_file() else pd.DataFrame(columns=HISTORY_COLUMNS)
    )
    if table is None:
        return refuse(*problems, f"{file}: nothing was written")
    for folder in options.folder:
        if folder.resolve().name in set(table["session"]):
            return refuse(f"{file} has {folder.resolve().name} already: nothing was written")
        data = load([], [folder])
        if data.problems:
            return refuse(*data.problems, f"{file}: nothing was written")
        rows = kept_of(folder.resolve(), data)
        if rows.empty:
            return refuse(
                f"{folder}: holds no case that the history keeps: no sums beside one core "
                "of the host, and no scans larger than the device",
                f"{file}: nothing was written",
            )
        table = pd.concat([table, rows], ignore_index=True)
        say(f"{folder}: {count(len(rows), 'case')}")
    with one_file(file) as made:
        table.to_csv(made, index=False, compression={"method": "gzip", "mtime": 0})
    return SOUND
