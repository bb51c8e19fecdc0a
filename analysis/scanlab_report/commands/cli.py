"""Writes the reference of docs/CLI.md from the help of the program.

A test compares the page with the program that ./check builds.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from scanlab_report import DATA
from scanlab_report.console import SOUND, refuse, say
from scanlab_report.documents import markers, program_help
from scanlab_report.written import write

EXAMPLE = """  scanlab-report cli build/cuda/scanlab"""
PAGE = DATA.parent / "docs" / "CLI.md"
MARKER = "cli"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", metavar="PROGRAM", help="the program, such as build/cuda/scanlab or build/cpu/scanlab")
    parser.add_argument("--page", type=Path, default=PAGE, metavar="FILE", help="the page with the markers (default: docs/CLI.md of this checkout)")


def run(options: argparse.Namespace) -> int:
    try:
        markers.check(options.page, MARKER)
        helps = program_help.helps(options.program)
    except markers.MarkerError as error:
        return refuse(f"{options.page}: {error}")
    except program_help.NoProgram as error:
        return refuse(error)
    text = options.page.read_text(encoding="utf-8")
    write(options.page, markers.replaced(text, MARKER, program_help.reference(helps)))
    say(f"{options.page}: {len(helps)} commands written")
    return SOUND
