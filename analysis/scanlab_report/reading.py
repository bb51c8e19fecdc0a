"""Plain files: JSON and CSV."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import warnings
import zlib
from codecs import BOM_UTF8
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd

from scanlab_report.data import Complaint
from scanlab_report.schema.base import Count, Positive
from scanlab_report.schema.fields import Misfit, convert, fits, shown

HISTORY = "history.csv.gz"
JSON, LINES = (".json", ".json.gz"), (".jsonl", ".jsonl.gz")


def load_json(file: Path, problems: list[Complaint]) -> Any:
    """The content of a JSON file, plain or .gz; None, and a complaint, if it cannot be read."""
    raw = load_bytes(file, problems)
    return None if raw is None else decoded(file, raw, problems)


def load_bytes(file: Path, problems: list[Complaint]) -> bytes | None:
    """The bytes of a file, plain or .gz; None, and a complaint, if it cannot be read."""
    try:
        raw = file.read_bytes()
        return (gzip.decompress(raw) if file.suffix == ".gz" else raw).removeprefix(BOM_UTF8)
    except (EOFError, zlib.error) as error:
        problems.append(Complaint(file, "", f"is truncated or damaged ({error})"))
    except OSError as error:
        problems.append(Complaint(file, "", f"cannot be read: {error.strerror or error}"))
    return None


def decoded(file: Path, raw: bytes, problems: list[Complaint], line: int = 0) -> Any:
    """The value of JSON text, of a file or of line `line` of one; None, and a complaint, if it is
    not JSON."""
    with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
        return msgspec.json.decode(raw)
    try:  # Python takes NaN, which msgspec refuses, and says the place of what is wrong
        return json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        number = raw.count(b"\n", 0, error.start) + max(line, 1)
        column = error.start - raw.rfind(b"\n", 0, error.start)
        place = f"line {number}, column {column}, byte {error.start}"
        problems.append(Complaint(file, place, "is not UTF-8 text"))
    except json.JSONDecodeError as error:
        whole = error.doc.rstrip()
        cut = "is truncated or" if error.pos >= len(whole) or "Untermin" in error.msg else "is"
        number, byte = error.lineno - 1 + max(line, 1), len(error.doc[: error.pos].encode())
        place = f"line {number}, column {error.colno}, byte {byte}"
        problems.append(Complaint(file, place, f"{cut} not JSON ({error.msg})"))
    except ValueError as error:  # an integer of thousands of digits
        problems.append(Complaint(file, "", f"cannot be read: {error}"))
    return None


def read_csv(text: str) -> pd.DataFrame:
    """A table of text; ValueError if a row is longer than the header, or it is no table."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # a longer row
            return pd.read_csv(
                io.StringIO(text), comment="#", index_col=False, dtype=str, keep_default_na=False
            ).fillna("")
    except (pd.errors.ParserWarning, pd.errors.EmptyDataError) as error:
        raise ValueError(str(error)) from None


def checked(
    table: pd.DataFrame, forms: Mapping[str, Any]
) -> tuple[pd.DataFrame, list[tuple[str, str]]]:
    """The rows whose values fit, and place and sentence of each value that does not."""
    wrong = []
    for column, form in forms.items():
        values = table[column]
        if form in (Count, Positive):
            values = pd.to_numeric(values, errors="coerce").astype(float)
        if form is Count:
            whole = [int(v) if v.is_integer() else v for v in values]
            values = pd.Series(whole, index=values.index, dtype=object)
        sound = values.map(lambda value, form=form: fits(value, form)).astype(bool)
        for row in table.index[~sound]:
            text = shown(table.at[row, column])[1:-1] or "empty"
            try:
                convert(values[row], form)
            except Misfit as misfit:
                reason = misfit.message.partition(", got ")[0].partition(": ")[0]
                message = f"refused: {column} is {text}: {reason}"
                wrong.append((f"row {row + 1} after the header", message))
        values = values[sound].astype("int64") if form is Count else values[sound]
        table = table[sound].assign(**{column: values})
    return table, wrong
