"""Write session.json, which joins recorded files to one session of a device, and says whether it is complete.

A report is made from one session per device: the one that build --session names, else the newest complete one. The command
add-device writes session.json by itself; this command serves files of several runs that belong together. Each file keeps its own provenance.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from scanlab_report.console import SOUND, count, missing, refuse, say

EXAMPLE = """  scanlab-report session data/recorded/my-device/2026-01-02 data/recorded/my-device/2026-01-01/implicit_sync.json.gz"""


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", type=Path, metavar="DIR", help="folder of the session; all its files belong to it")
    add("further", nargs="*", type=Path, metavar="FILE", help="recorded files of other folders that belong to it")


def run(options: argparse.Namespace) -> int:
    from scanlab_report.commands.add_device import session

    if wrong := missing([options.folder, *options.further]) or ([] if options.folder.is_dir() else [f"{options.folder}: a file; name the folder of the session"]):
        return refuse(*wrong)
    own = [path for path in options.folder.iterdir() if path.is_file() and path.name != session.FILE]
    try:
        said, lacking = session.write([*own, *options.further], options.folder)
    except ValueError as error:
        return refuse(*error.args, f"{options.folder}: nothing was written")
    say(f"{options.folder / session.FILE}: {count(len(said['files']), 'file')} of {said['device']}, "
        + (f"not complete: it lacks {lacking}" if lacking else "complete"))  # fmt: skip
    return SOUND
