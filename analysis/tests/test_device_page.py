"""Commands of pages are those that the checkout has; docs/DEVICES.md has a time for every step, and the times are those on record."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from scanlab_report.commands.__main__ import command_line
from tests.run_tutorials import BLOCKS, wrong

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "DEVICES.md"
PAGES = [ROOT / "README.md", ROOT / "paper" / "ARTIFACT.md", *(page for page in sorted((ROOT / "docs").glob("*.md")) if page.stem != "GALLERY")]
"""Pages of which every command is looked at. Those of the gallery are generated from what the commands are."""
GIT = {"clone": (), "switch": ("-c",), "add": (), "commit": ("-m",), "push": ("--set-upstream",)}


def commands(page: str) -> list[str]:
    """The lines of the page's blocks of commands, with their comments."""
    return [line.strip() for _, block, _ in BLOCKS.findall(page) for line in block.splitlines()]


def said(command: Sequence[str]) -> str:
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return ran.stdout


def unknown_options(words: Sequence[str], help_text: str) -> list[str]:
    known = set(re.findall(r"(?<![\w-])--?[\w-]+", help_text))
    return [word.partition("=")[0] for word in words if word.startswith("-") and word.partition("=")[0] not in known]


def fault(line: str, scanlab: str, folder: Path) -> str:
    """What is wrong with a line of commands, or nothing. Those of the program run; of the others the options are looked up."""
    if line.startswith("$scanlab"):
        (folder / "results").mkdir(exist_ok=True)
        return wrong(scanlab, line if " new " in line else line.replace("my_scan", "one_block"), None, str(folder))
    if line.startswith("mpirun -n"):  # how it runs is tested where there is an mpirun; here, that the words are those of the program
        words = shlex.split(line, comments=True)[4:]
        asked = said([scanlab, *words[:2], "--help"])
        return "".join(f"the program has no option {option}" for option in unknown_options(words, asked))
    return "".join(_fault(shlex.split(command, comments=True), folder) for command in line.split(" && "))


def _fault(words: list[str], folder: Path) -> str:
    program, arguments = words[0], words[1:]
    if program in ("cd", "podman") or program.startswith("scanlab="):
        return ""
    if program == "git":
        options = [word for word in arguments if word.startswith("-")]
        return "" if arguments[0] in GIT and set(options) <= set(GIT[arguments[0]]) else f"git has no {arguments}"
    if program == "cmake":
        return _fault_of_cmake(arguments)
    if program == ".venv/bin/scanlab-report":
        try:
            command_line().parse_args(arguments)
        except SystemExit:
            return f"scanlab-report does not take {arguments}"
        return ""
    if program == "tools/record":  # begins no step, and says so of each
        ran = subprocess.run([str(ROOT / program), arguments[0], str(folder / "run"), *arguments[2:], "--seconds", "0"], capture_output=True, text=True)
        return "" if ran.returncode == 0 and "not begun" in ran.stdout else ran.stderr or "tools/record has no such step"
    if program in ("./check", "./reproduce"):
        return "".join(f"{program} has no option {option}" for option in unknown_options(arguments, said([str(ROOT / program), "--help"])))
    return f"{program} is no program of the checkout"


def _fault_of_cmake(arguments: list[str]) -> str:
    if arguments[0] == "--build":
        return "" if arguments[1] in ("build/cuda", "build/cpu") else f"{arguments[1]} is no folder of a build"
    presets = {preset["name"] for preset in json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]}
    variables = [word[2:].partition("=")[0] for word in arguments if word.startswith("-D")]
    text = (ROOT / "CMakeLists.txt").read_text() + (ROOT / "baselines" / "cub.cmake").read_text()
    lost = [name for name in variables if not re.search(rf"\b{name}\b", text)]
    return f"CMake knows no {lost}" if lost else "" if arguments[1] in presets else f"there is no preset {arguments[1]}"


PROGRAM = os.environ.get("SCANLAB_PROGRAM", "")


@pytest.mark.parametrize("line", sorted({line for page in PAGES for line in commands(page.read_text(encoding="utf-8"))}))
def test_every_command_of_a_page_is_one_that_the_checkout_has(line: str, tmp_path: Path) -> None:
    if "$scanlab" in line and not PROGRAM:
        pytest.skip("SCANLAB_PROGRAM names no program")
    assert fault(line, PROGRAM, tmp_path) == ""
