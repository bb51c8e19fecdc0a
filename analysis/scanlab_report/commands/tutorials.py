"""Bring the tutorials up to date: pictures, lines of the kernels' sources, and recorded times.

It writes every picture of docs/tutorials, and the parts of its pages that stand between markers.
Timelines that are simulated need the program: without --scanlab they stay as they are.
"""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from scanlab_report import DATA, opened
from scanlab_report.console import SOUND, count, missing, refuse, say
from scanlab_report.written import write

if TYPE_CHECKING:
    from scanlab_report.data import Data

EXAMPLE = """  scanlab-report tutorials --scanlab build/cpu/scanlab"""
PAGES = DATA.parent / "docs" / "tutorials"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    opened.add_paths(parser)
    add(
        "--scanlab",
        type=Path,
        metavar="PROGRAM",
        help="simulate timelines with this program (default: none, and those timelines are kept)",
    )
    add(
        "--pages",
        type=Path,
        default=PAGES,
        metavar="DIR",
        help="write the pages of this folder (default: docs/tutorials of the checkout)",
    )


def run(options: argparse.Namespace) -> int:
    if wrong := missing([*options.paths, options.pages, *filter(None, [options.scanlab])]):
        return refuse(*wrong)

    from scanlab_report.markers import MarkerError
    from scanlab_report.pick import Lacking

    try:
        data = opened.opened(options.paths or [DATA / "recorded"])
        data = data.on(data.devices[0]) if data.devices else data
        files = made(options.pages, data, options.scanlab)
    except (opened.Refused, MarkerError) as error:
        return refuse(*error.args)
    except Lacking as error:
        return refuse(f"the tutorials are left as they are: no {error}")
    except (OSError, subprocess.CalledProcessError) as error:
        reason = getattr(error, "stderr", b"") or str(error).encode()
        return refuse(f"{options.scanlab}: cannot simulate: {reason.decode().strip()}")
    changed = 0
    for file, text in files.items():
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            write(file, text)
            say(f"Written: {file}")
            changed += 1
    say(f"{count(len(files), 'file')}, of which {changed} changed")
    return SOUND


def made(folder: Path, data: Data, program: Path | None) -> dict[Path, str]:
    """Return every page of the folder as it should be, and every picture. Simulated pictures are
    left out if there is no program."""
    from scanlab_report.chapters import timelines
    from scanlab_report.tutorials import parts, scan_pictures, stream_pictures

    files: dict[Path, str] = {}
    # The overview comes last: it says how long the others are.
    for page in sorted(folder.rglob("*.md"), key=lambda page: (page.parent == folder, page)):
        files[page] = parts.filled(page, data, files)
    pictures = {name: svg() for name, svg in scan_pictures.PICTURES.items()}
    pictures |= stream_pictures.recorded(
        timelines.traces_of(data, ("depth_first", "breadth_first"))
    )
    if program:
        for name in stream_pictures.SIMULATED:
            pictures[name] = stream_pictures.simulated(program.resolve(), name)
    return files | {folder / name: text for name, text in pictures.items()}
