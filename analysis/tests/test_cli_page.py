"""docs/CLI.md lists the commands of both programs; without a program, those of scanlab-report alone."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from scanlab_report import DATA, commands
from scanlab_report.commands.__main__ import main
from scanlab_report.documents import program_help
from scanlab_report.modules import modules

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


def commands_of(page: str, program: str) -> list[str]:
    return re.findall(rf"^\| `([a-z -]+)` .*`(?:mpirun -n \d+ )?{program} \1\b", page, re.MULTILINE)


def test_the_page_lists_the_commands_of_both_programs_each_with_an_example() -> None:
    page = (DATA.parent / "docs" / "CLI.md").read_text(encoding="utf-8")
    assert sorted(commands_of(page, "scanlab-report")) == sorted(name.replace("_", "-") for name, _ in modules(commands))
    if not PROGRAM:
        pytest.skip("SCANLAB_PROGRAM names no program")
    helps = program_help.helps(PROGRAM)
    listed = [name.removeprefix("scanlab ") for name, text in helps.items() if "\nusage:" not in text]
    assert sorted(commands_of(page, "scanlab")) == sorted(listed)


@pytest.mark.parametrize("text", ["Usage: true [options]\n", "scanlab-report: figures\n", "scanlab: scans\n\nusage: scanlab COMMAND\n\n  list         every variant\n", "\\377"])
def test_another_program_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\nprintf '%b' '{text}'\n")
    program.chmod(0o755)
    assert main(["words", "--program", str(program), str(DATA.parent / "docs" / "CLI.md")]) == 2
    assert capsys.readouterr().err.startswith(f"error: {program}: {'cannot be run' if text == chr(92) + '377' else 'is not scanlab, whose help begins with'}")


def test_texts_of_the_help_are_told_from_names_and_examples(tmp_path: Path) -> None:
    found = list(program_help.strings(program_help.helps(fake(tmp_path))))
    assert ("scanlab list --variant", "only these, or globs") in found and ("scanlab list --a-long-option", "of items") in found
    assert ("scanlab list --help", "every variant") in found and ("scanlab list --help", "A paragraph behind in two lines:") in found
    assert ("scanlab streams --help", "names every pair") in found
    assert not any("hso_*" in text or "scenario" in text or "usage" in text for _, text in found)
