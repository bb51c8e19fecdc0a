"""The output of every command of ``scanlab-report``: exit statuses, sentences, counts."""

import os
import sys
from pathlib import Path

SOUND, FOUND, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
"""All is well; what the command looks for was found; wrong input or output; ended by the user."""
_MOST = 20
"""At most this many sentences are printed."""


class Refused(ValueError):
    """Input that cannot be used, or a wish that cannot be met; `args` are sentences."""


def say(sentence: str) -> None:
    """Print a sentence, unless nobody reads on. OSError if the disk of the output is full."""
    try:
        print(sentence, flush=True)
    except OSError as error:
        # Python would try again as it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise OSError(error.errno, error.strerror, "standard output") from None


def complain(sentence: object) -> None:
    print(f"error: {sentence}", file=sys.stderr, flush=True)


def refuse(*wrong: object) -> int:
    """Print what is wrong, with the outcome as last sentence. Return the exit status."""
    *before, outcome = wrong
    more = [f"and {len(before) - _MOST} more of the kind"] if len(before) > _MOST else []
    for sentence in (*before[:_MOST], *more, outcome):
        complain(sentence)
    return BAD_INPUT


def count(number: int, singular: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{number} {singular}{'s' * (number != 1)}"


def missing(paths: list[Path]) -> list[str]:
    """A sentence for each path that does not exist."""
    return [f"{path}: no such file or folder" for path in paths if not path.exists()]
