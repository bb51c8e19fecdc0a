"""Brings the tutorials up to date: pictures, lines of the kernels' sources, and recorded times.

It writes every picture of docs/tutorials, and the parts of its pages that stand between markers. Timelines that are simulated need the program:
without --scanlab they stay as they are.
"""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path

from scanlab_report import DATA
from scanlab_report.console import BAD_INPUT, SOUND, complain, count, missing, refuse, say

EXAMPLE = """  scanlab-report tutorials --scanlab build/cpu/scanlab"""
PAGES = DATA.parent / "docs" / "tutorials"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("paths", nargs="*", type=Path, metavar="PATH", help="result files and folders (default: the recorded data)")
    add("--scanlab", type=Path, metavar="PROGRAM", help="the program, which simulates timelines (default: none, and those are kept)")
    add("--pages", type=Path, default=PAGES, metavar="DIR", help="folder of the pages (default: docs/tutorials of the checkout)")


def run(options: argparse.Namespace) -> int:
    if wrong := missing([*options.paths, options.pages, *filter(None, [options.scanlab])]):
        return refuse(*wrong)

    from scanlab_report.claims import stated
    from scanlab_report.commands.tutorials import parts, scan_pictures, stream_pictures
    from scanlab_report.documents import markers
    from scanlab_report.select.needs import gather
    from scanlab_report.select.opened import Unreadable, opened

    try:
        results, publications = opened(options.paths or [DATA / "recorded"], stated.device())
    except Unreadable as error:
        return refuse(*error.args)
    gathered = gather(parts.NEEDS, results, publications)
    if gathered.reasons:
        return refuse(f"the tutorials are left as they are: {' and '.join(gathered.reasons)}")

    found = parts.found(gathered)
    made: dict[Path, str] = {}
    for page in sorted(options.pages.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        for name, kind, words in list(parts.asked(text)):
            try:
                text = markers.replaced(text, name, parts.generated(kind, words, found))
            except (parts.PartError, markers.MarkerError) as error:
                complain(f"{page}: {error}")
                return BAD_INPUT
        made[page] = text
    made |= {options.pages / name: picture() for name, picture in scan_pictures.PICTURES.items()}
    made |= {options.pages / name: picture(found.traces.traces) for name, picture in stream_pictures.RECORDED.items()}
    if options.scanlab:
        try:
            made |= {options.pages / name: stream_pictures.simulated(options.scanlab.resolve(), name) for name in stream_pictures.SIMULATED}
        except (OSError, subprocess.CalledProcessError) as error:
            return refuse(f"{options.scanlab}: cannot simulate: {getattr(error, 'stderr', b'') or error}")

    changed = [file for file, text in made.items() if not file.exists() or file.read_text(encoding="utf-8") != text]
    for file in changed:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(made[file], encoding="utf-8")
        say(f"Written: {file}")
    say(f"{count(len(made), 'file')}, of which {len(changed)} changed")
    return SOUND
