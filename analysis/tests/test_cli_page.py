"""docs/CLI.md is what the program says of itself; where there is no program, that is not looked at."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from scanlab_report.commands import cli
from scanlab_report.commands.__main__ import main
from scanlab_report.documents import markers, program_help

PROGRAM = os.environ.get("SCANLAB_PROGRAM", "")

HELP = """\
scanlab: scans, timed

usage: scanlab COMMAND [options]

  list         every variant
  streams      schedules of copies

'scanlab COMMAND --help' lists the options of a command, with an example.

example: scanlab list
"""
STREAMS = "scanlab streams: schedules of copies\n\nusage: scanlab streams COMMAND [options]\n\n  check        names every pair\n"
OPTIONS = """\
scanlab list: every variant

options:
  --variant GLOB        only these, or
                        globs
  --a-long-option NUMBERS
                        of items
  -h [ --help ]         this text

example: scanlab list --variant 'hso_*'

A paragraph behind
in two lines:

    [[scenario]]
"""


def fake(folder: Path) -> Path:
    """A program that has three commands."""
    said = {"--help": HELP, "streams --help": STREAMS, "list --help": OPTIONS, "streams check --help": "scanlab streams check: names every pair\n"}
    cases = "".join(f'  "{words}") cat <<\'TEXT\'\n{text}TEXT\n  ;;\n' for words, text in said.items())
    program = folder / "scanlab"
    program.write_text(f'#!/bin/sh\ncase "$*" in\n{cases}  *) exit 2 ;;\nesac\n')
    program.chmod(0o755)
    return program


def test_the_page_is_what_the_program_says() -> None:
    if not PROGRAM:
        pytest.skip("SCANLAB_PROGRAM names no program")
    text = cli.PAGE.read_text(encoding="utf-8")
    begin, end = markers.find(text, cli.MARKER)
    written = f"scanlab-report cli {PROGRAM} writes it anew"
    assert text[begin:end].strip().splitlines() == program_help.reference(program_help.helps(PROGRAM)).splitlines(), written


def test_every_command_has_its_help_on_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "CLI.md"
    page.write_text("# Before\n<!-- cli:begin -->\n<!-- cli:end -->\nafter\n")
    assert main(["cli", str(fake(tmp_path)), "--page", str(page)]) == 0
    text = page.read_text()
    assert [line for line in text.splitlines() if line.startswith("###")] == ["### `scanlab`", "### `scanlab list`", "### `scanlab streams`", "### `scanlab streams check`"]
    assert "  --variant GLOB        only these, or\n" in text and text.startswith("# Before\n") and text.endswith("after\n")
    assert main(["cli", str(tmp_path / "none"), "--page", str(page)]) == 2 and "build the program first" in capsys.readouterr().err
    page.write_text("no markers")
    assert main(["cli", str(fake(tmp_path)), "--page", str(page)]) == 2 and "<!-- cli:begin --> is missing" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["Usage: true [options]\n", "scanlab-report: figures\n", "scanlab: scans\n\nusage: scanlab COMMAND\n\n  list         every variant\n", "\\377"])
def test_what_is_another_program_is_refused_and_the_page_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    program, page = tmp_path / "program", tmp_path / "CLI.md"
    program.write_text(f"#!/bin/sh\nprintf '%b' '{text}'\n")
    program.chmod(0o755)
    page.write_text("<!-- cli:begin -->\nthe last good one\n<!-- cli:end -->\n")
    assert main(["cli", str(program), "--page", str(page)]) == 2
    assert capsys.readouterr().err.startswith(f"error: {program}: {'cannot be run' if text == chr(92) + '377' else 'is not scanlab, whose help begins with'}")
    assert "the last good one" in page.read_text()
