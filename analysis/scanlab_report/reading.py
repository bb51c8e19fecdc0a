"""Plain files of JSON. Whatever cannot be read is a Misfit."""

import gzip
import json
import zlib
from codecs import BOM_UTF8
from pathlib import Path
from typing import Any

import msgspec

from scanlab_report.schema.fields import Misfit

HISTORY = "history.csv.gz"
JSON, LINES = (".json", ".json.gz"), (".jsonl", ".jsonl.gz")


def load_bytes(file: Path) -> bytes:
    """The bytes of a file, plain or .gz, without a byte order mark."""
    try:
        raw = file.read_bytes()
        return (gzip.decompress(raw) if file.suffix == ".gz" else raw).removeprefix(BOM_UTF8)
    except (EOFError, zlib.error) as error:
        raise Misfit("", f"is truncated or damaged ({error})") from None
    except OSError as error:
        raise Misfit("", f"cannot be read: {error.strerror or error}") from None


def decoded(raw: bytes, place: str = "") -> Any:
    """The value of JSON text."""
    try:
        return msgspec.json.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        try:  # Python takes NaN, which msgspec refuses, and says the place of what is wrong
            return json.loads(raw)
        except ValueError as error:
            raise Misfit(place, f"is truncated or not JSON ({error})") from None
