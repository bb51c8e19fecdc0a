"""What every command of ``scanlab-report`` says to its user: exit statuses, sentences, counts."""

from __future__ import annotations

import os
import sys
from pathlib import Path

SOUND, FOUND, BAD_INPUT = 0, 1, 2
"""All is well; the command found what it looks for (something slower, a claim that fails); something in the input is wrong."""


def say(sentence: str) -> None:
    """Where nobody reads on, as behind ``| head``, what is left is not said; files are still written and the status is the same."""
    try:
        print(sentence, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(sentence: object) -> None:
    print(f"error: {sentence}", file=sys.stderr, flush=True)


def refuse(*wrong: object) -> int:
    """Says everything that is wrong; the exit status."""
    for sentence in wrong:
        complain(sentence)
    return BAD_INPUT


def count(number: int, singular: str, plural: str = "") -> str:
    """``1 file``, ``2 files``."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def missing(paths: list[Path]) -> list[str]:
    """A sentence for each path that does not exist."""
    return [f"{path}: no such file or folder" for path in paths if not path.exists()]
