"""The help of each command of the C++ program, and its sentences for the linter."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

TITLE = "scanlab"
_COMMAND = re.compile(r"^  ([a-z][a-z-]*) {2,}\S", re.MULTILINE)
_OPTION = re.compile(r"^  (-\S(?: \[ --\w+ \])?.*?)(?:\s{2,}(\S.*))?$")


class NoProgram(ValueError):
    """A program that is not there, or is another, in a sentence."""


def helps(program: str | Path) -> dict[str, str]:
    """The help of the program and of each command, by what one types before ``--help``; NoProgram if it has none."""
    try:
        return dict(_helps(str(program), []))
    except (OSError, subprocess.CalledProcessError, UnicodeDecodeError) as error:
        raise NoProgram(f"{program}: cannot be run ({error}): build the program first, by ./check") from None


def _helps(program: str, words: list[str]) -> Iterator[tuple[str, str]]:
    said = subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=True).stdout.rstrip()
    name = " ".join([TITLE, *words])
    if not said.startswith(f"{name}: "):
        raise NoProgram(f"{program}: is not {TITLE}, whose help begins with '{name}: ': name the program that ./check built")
    yield name, said
    if "\nusage:" in said:
        for command in _COMMAND.findall(said):
            yield from _helps(program, [*words, command])


def strings(of: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Each text of the help with its place: the summary, an option's meaning, the paragraphs behind the options; no examples."""
    for name, said in of.items():
        held: list[str] = []
        place, is_option = f"{name} --help", False
        for line in [*said.splitlines(), ""]:
            option = _OPTION.match(line)
            begins = option or not line.strip() or line.startswith(("options:", "usage:", "example:", "  ")) and not (is_option and line.startswith("    "))
            if begins and held:
                yield place, " ".join(held)
                held = []
            if option:
                place, is_option = f"{name} {option[1].split()[0].rstrip(',')}", True
                held = [option[2]] if option[2] else []
            elif line.strip() and not line.startswith(("options:", "usage:", "example:")) and (is_option or not line.startswith("    ")):
                if not line.startswith("  "):
                    place, is_option = f"{name} --help", False
                held.append(re.sub(r"^scanlab[\w -]*: |^  [a-z-]+ {2,}", "", line).strip())
            elif not line.strip():
                is_option = False
