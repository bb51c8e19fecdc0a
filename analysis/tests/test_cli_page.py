"""docs/CLI.md lists the commands of both programs; without a program, those of scanlab-report alone."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from scanlab_report import DATA, commands
from scanlab_report.modules import modules

PROGRAM = os.environ.get("SCANLAB_PROGRAM", "")
PAGE = (DATA.parent / "docs" / "CLI.md").read_text(encoding="utf-8")


def commands_on_page(program: str) -> list[str]:
    return re.findall(rf"^\| `([a-z -]+)` .*`(?:mpirun -n \d+ )?{program} \1\b", PAGE, re.MULTILINE)


def commands_of_program(*words: str) -> list[str]:
    text = subprocess.run([PROGRAM, *words, "--help"], capture_output=True, text=True, check=True).stdout
    if "\nusage:" not in text:
        return [" ".join(words)]
    names = re.findall(r"^  ([a-z][a-z-]*) {2,}\S", text, re.MULTILINE)
    return [command for name in names for command in commands_of_program(*words, name)]


def test_the_page_lists_the_commands_of_the_analysis_each_with_an_example() -> None:
    listed = sorted(name.replace("_", "-") for name, _ in modules(commands))
    assert sorted(commands_on_page("scanlab-report")) == listed


@pytest.mark.skipif(not PROGRAM, reason="SCANLAB_PROGRAM names no program")
def test_the_page_lists_the_commands_of_the_program_each_with_an_example() -> None:
    assert sorted(commands_on_page("scanlab")) == sorted(commands_of_program())
