"""JSON files, plain or compressed, with the place of what is wrong in them."""

from __future__ import annotations

import contextlib
import gzip
import json
import re
import zlib
from codecs import BOM_UTF8
from pathlib import Path
from typing import Any

import msgspec

from scanlab_report.read.fields import REMEDY
from scanlab_report.read.records import Complaint

OWN = b'"scanlab-'
"""What stands near the beginning of every document of Scanlab."""


def load_json(file: Path, problems: list[Complaint]) -> Any:
    """The content of a JSON file, plain or .gz; None, and a problem with its place, if it cannot be read."""
    raw = load(file, problems)
    return None if raw is None else decoded(file, raw, problems)


def load(file: Path, problems: list[Complaint]) -> bytes | None:
    """The bytes of a file, plain or .gz, without a byte-order mark; None, and a problem, if it cannot be read."""
    try:
        raw = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        return raw.removeprefix(BOM_UTF8)
    except (EOFError, zlib.error) as error:
        problems.append(Complaint(file, "", f"is truncated or damaged ({error})"))
    except OSError as error:
        problems.append(Complaint(file, "", f"cannot be read: {error.strerror or error}"))
    return None


def decoded(file: Path, raw: bytes, problems: list[Complaint], line_number: int = 0) -> Any:
    """What JSON says, of a file or, with a number from 1, of a line of one; None, and a problem with its place, if it is no JSON."""
    with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return msgspec.json.decode(raw)
    try:  # what that does not take is taken here, as NaN is, or named with its place
        text = raw.decode("utf-8")
        found = _loaded(text)
        if half := _half_of_a_pair(found, f"line {line_number}" if line_number else "") if _HALF.search(raw) else None:
            problems.append(Complaint(file, *half))
            return None
        return found
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start)
        column = error.start - (raw.rfind(b"\n", 0, error.start) + 1) + 1
        problems.append(Complaint(file, _position(line + max(line_number, 1), column, error.start), "is not UTF-8 text"))
    except json.JSONDecodeError as error:
        byte = len(text[: error.pos].encode("utf-8"))
        cut = "is truncated or" if error.pos >= len(text.rstrip()) or "Unterminated" in error.msg else "is"
        problems.append(Complaint(file, _position(error.lineno - 1 + max(line_number, 1), error.colno, byte), f"{cut} not JSON ({error.msg})"))
    except RecursionError:
        problems.append(Complaint(file, "", "is nested too deeply to be a results file"))
    return None


def _loaded(text: str) -> Any:
    """A number that is too long for Python is read as the double that it is to other programs, so that the field is named."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except ValueError:
        return json.loads(text, parse_int=lambda digits: int(digits) if len(digits) < 40 else float(digits))


_HALF = re.compile(rb"\\u[dD][89a-fA-F]")


def _half_of_a_pair(value: Any, place: str = "") -> tuple[str, str] | None:
    """The first text that holds half of a surrogate pair, which no encoding of files can say, and its place."""
    if isinstance(value, str):
        halved = not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value)
        return (place, f"is {ascii(value)[:60]}, half of a surrogate pair, which is no text: {REMEDY}") if halved else None
    inner = [(f"{place}[{index}]", of) for index, of in enumerate(value)] if isinstance(value, list) else []
    if isinstance(value, dict):
        inner = [(f"{place}.{ascii(key)[1:-1]}".lstrip("."), part) for key, of in value.items() for part in (key, of)]
    return next((found for at, of in inner if (found := _half_of_a_pair(of, at))), None)


def _position(line: int, column: int, byte: int) -> str:
    return f"line {line}, column {column}, byte {byte}"
