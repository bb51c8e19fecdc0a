"""JSON files, plain or compressed, with the place of what is wrong in them."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from pathlib import Path
from typing import Any

from scanlab_report.read.fields import REMEDY, Misfit
from scanlab_report.read.records import Problem


def load_json(file: Path, problems: list[Problem]) -> Any:
    """The content of a JSON file, plain or .gz; None, and a problem with its place, if it cannot be read."""
    try:
        raw = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    except (EOFError, zlib.error) as error:
        problems.append(Problem(file, "", f"is truncated or damaged ({error})"))
        return None
    except OSError as error:
        problems.append(Problem(file, "", f"cannot be read: {error.strerror or error}"))
        return None
    try:
        text = raw.decode("utf-8")
        found = _loaded(text)
        if half := _half_of_a_pair(found) if _HALF.search(raw) else None:
            problems.append(Problem(file, *half))
            return None
        return found
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - (raw.rfind(b"\n", 0, error.start) + 1) + 1
        problems.append(Problem(file, _position(line, column, error.start), "is not UTF-8 text"))
    except json.JSONDecodeError as error:
        byte = len(text[: error.pos].encode("utf-8"))
        cut = "is truncated or" if error.pos >= len(text.rstrip()) or "Unterminated" in error.msg else "is"
        problems.append(
            Problem(file, _position(error.lineno, error.colno, byte), f"{cut} not JSON ({error.msg})")
        )
    except RecursionError:
        problems.append(Problem(file, "", "is nested too deeply to be a results file"))
    return None


def _loaded(text: str) -> Any:
    """What Python takes for too long a number is read as the double that it is to other programs, so that the field is named."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except ValueError:
        return json.loads(text, parse_int=float)


_HALF = re.compile(rb"\\u[dD][89a-fA-F]")


def _half_of_a_pair(value: Any) -> Misfit | None:
    """The first text that holds half of a surrogate pair, which no encoding of files can say."""
    if isinstance(value, str):
        return None if value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value) else Misfit(
            "", f"is {ascii(value)[:60]}, half of a surrogate pair, which is no text: {REMEDY}")  # fmt: skip
    inner = [(f"[{index}]", of) for index, of in enumerate(value)] if isinstance(value, list) else []
    if isinstance(value, dict):
        inner = [(ascii(key)[1:-1], part) for key, of in value.items() for part in (key, of)]
    return next((found.within(at) for at, of in inner if (found := _half_of_a_pair(of))), None)


def _position(line: int, column: int, byte: int) -> str:
    return f"line {line}, column {column}, byte {byte}"
