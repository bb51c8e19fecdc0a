"""JSON files, plain or compressed, with the place of what is wrong in them."""

from __future__ import annotations

import contextlib
import gzip
import json
import zlib
from codecs import BOM_UTF8
from pathlib import Path
from typing import Any

import msgspec

from scanlab_report.read.records import Complaint

OWN = b'"scanlab-'
"""The schema's prefix near the beginning of every document of Scanlab."""


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
    with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
        return msgspec.json.decode(raw)
    try:  # what that does not take is taken here, as NaN is, or named with its place
        text = raw.decode("utf-8")
        return json.loads(text)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start)
        column = error.start - (raw.rfind(b"\n", 0, error.start) + 1) + 1
        problems.append(Complaint(file, _position(line + max(line_number, 1), column, error.start), "is not UTF-8 text"))
    except json.JSONDecodeError as error:
        byte = len(text[: error.pos].encode("utf-8"))
        cut = "is truncated or" if error.pos >= len(text.rstrip()) or "Unterminated" in error.msg else "is"
        problems.append(Complaint(file, _position(error.lineno - 1 + max(line_number, 1), error.colno, byte), f"{cut} not JSON ({error.msg})"))
    except ValueError as error:  # an integer of more digits than Python reads
        problems.append(Complaint(file, "", f"cannot be read: {error}"))
    return None


def _position(line: int, column: int, byte: int) -> str:
    return f"line {line}, column {column}, byte {byte}"
