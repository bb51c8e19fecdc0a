"""Check a run and file it into the recorded data, the source of the figures of its device.

DIR is what ./reproduce --device cuda --out DIR wrote, or any folder with results files and verify.jsonl. Every file must be whole,
of a known schema, of one device and one clean commit, with five repetitions per case and verified output. Nothing is filed otherwise.
A host without a GPU is filed below its processor's name, with the counts of the SIMT emulator.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from scanlab_report import DATA
from scanlab_report.console import SOUND, count, refuse, say

EXAMPLE = """  ./reproduce --device cuda --out results/run
  scanlab-report add-device results/run"""


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run", type=Path, metavar="DIR", help="folder of a run")
    add("--recorded", type=Path, default=DATA / "recorded", metavar="DIR", help="file the run below DIR, as DEVICE/DATE (default: data/recorded)")


def run(options: argparse.Namespace) -> int:
    from scanlab_report.commands.add_device import recording

    if not options.recorded.is_dir():
        return refuse(f"{options.recorded}: no such folder")
    found = recording.examine(options.run, options.recorded)
    if found.wrong:
        return refuse(*found.wrong, f"{options.run}: nothing was recorded")
    try:
        target = recording.file_away(found, options.recorded)
    except OSError as error:
        return refuse(f"{options.recorded}: {error.strerror}")
    except ValueError as error:
        return refuse(*error.args, f"{options.run}: nothing was recorded")
    counted = f" and the counts of {count(len(found.counts), 'case')}" if found.counts else ""
    say(f"Recorded {found.device}, {count(len(found.files), 'file')}{counted}: {target}")
    if found.ignored:
        say(f"Left where they are, because they are no measurements: {', '.join(file.name for file in found.ignored)}")
    say(f"Next: git add {target}, bring the pages up to date (CONTRIBUTING.md), and open a pull request.")
    return SOUND
