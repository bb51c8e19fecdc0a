"""What the C++ program says of its commands, for the reference of docs/CLI.md."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

TITLE = "scanlab"
_COMMAND = re.compile(r"^  ([a-z][a-z-]*) {2,}\S", re.MULTILINE)


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


def reference(of: Mapping[str, str]) -> str:
    """The generated part of docs/CLI.md: a heading and the help of each command."""
    return "\n\n".join(f"### `{name}`\n\n```text\n{_plain(said)}\n```" for name, said in of.items())


def _plain(said: str) -> str:
    return "\n".join(line.rstrip() for line in said.splitlines())
