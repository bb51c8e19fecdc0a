"""Check a run and file it into the recorded data, the source of the figures of its device.

DIR is what ./reproduce --device cuda --out DIR wrote, or any folder with results files and
verify.jsonl. Every file must be whole, of a known schema, of one device and one clean commit, with
five repetitions per case and verified output. Nothing is filed otherwise. A host without a GPU is
filed below its processor's name, with the counts of the SIMT emulator.
"""

from __future__ import annotations

import argparse
import gzip
import os
from pathlib import Path
from typing import TYPE_CHECKING

from scanlab_report import DATA
from scanlab_report.commands import session
from scanlab_report.console import SOUND, count, refuse, say
from scanlab_report.written import in_place_of, put

if TYPE_CHECKING:  # pandas is not loaded to print a help text
    from scanlab_report.recording import Record

EXAMPLE = """  ./reproduce --device cuda --out results/run
  scanlab-report add-device results/run"""


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run", type=Path, metavar="DIR", help="folder of a run")
    add(
        "--recorded",
        type=Path,
        default=DATA / "recorded",
        metavar="DIR",
        help="file the run below DIR, as DEVICE/DATE (default: data/recorded)",
    )


def run(options: argparse.Namespace) -> int:
    from scanlab_report.recording import examine

    if not options.recorded.is_dir():
        return refuse(f"{options.recorded}: no such folder")
    record = examine(options.run, options.recorded)
    if record.wrong:
        return refuse(*record.wrong, f"{options.run}: nothing was recorded")
    try:
        target = file_away(record, options.recorded)
    except OSError as error:
        return refuse(f"{options.recorded}: {error.strerror}")
    except ValueError as error:
        return refuse(*error.args, f"{options.run}: nothing was recorded")
    counted = f" and the counts of {count(len(record.counts), 'case')}" if record.counts else ""
    say(f"Recorded {record.device}, {count(len(record.files), 'file')}{counted}: {target}")
    if record.ignored:
        ignored = ", ".join(file.name for file in record.ignored)
        say(f"Left where they are, because they are no measurements: {ignored}")
    pages = "bring the pages up to date (CONTRIBUTING.md), and open a pull request"
    say(f"Next: git add {target}, {pages}.")
    return SOUND


def file_away(record: Record, recorded: Path) -> Path:
    """Copy the files, with JSON compressed, to `recorded/DEVICE/DATE`, plus a letter if the date
    is taken."""
    import msgspec

    from scanlab_report.recording import COUNTS

    packed = lambda content: gzip.compress(content, mtime=0)
    device = recorded / record.name
    device.mkdir(parents=True, exist_ok=True)
    taken = max((path.name for path in device.glob(f"{record.date}*")), default="")
    # Gaps stay open, so that names are in the order of runs.
    letter = chr(ord(taken.removeprefix(record.date) or "a") + 1) if taken else ""
    target = device / (record.date + letter)
    with in_place_of(device, target) as made:
        whole = made / "run"
        whole.mkdir()
        for file in (*record.files, *record.model):
            kept = whole / file.relative_to(record.folder)
            kept.parent.mkdir(parents=True, exist_ok=True)
            content = file.read_bytes()
            if file.suffix in (".json", ".jsonl"):
                kept, content = kept.with_name(f"{file.name}.gz"), packed(content)
            put(kept, content)
        if record.counts:
            put(whole / f"{COUNTS}.json.gz", packed(msgspec.json.encode(record.counts)))
        session.join((file for file in whole.iterdir() if file.is_file()), whole, of_one_run=True)
        os.rename(whole, target)
    return target
