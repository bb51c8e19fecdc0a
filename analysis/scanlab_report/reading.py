"""Plain files: JSON and CSV. Whatever cannot be read is a Misfit."""

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

from scanlab_report.schema.fields import Misfit, convert, shown

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


def checked(table: pd.DataFrame, forms: Mapping[str, Any]) -> tuple[pd.DataFrame, list[str]]:
    """The rows whose values fit, and a sentence on each value that does not."""
    if missing := [column for column in forms if column not in table]:
        raise Misfit("line 1", f"lacks the columns {', '.join(missing)}")
    wrong = []
    for column, form in forms.items():
        sound: dict[Any, Any] = {}
        for row, text in table[column].items():
            try:
                sound[row] = convert(text, form, strict=False)
            except Misfit as misfit:
                reason = misfit.message.partition(", got ")[0].partition(": ")[0]
                value = shown(text)[1:-1] or "empty"
                wrong.append(
                    f"row {row + 1} after the header: refused: {column} is {value}: {reason}"
                )
        table = table.loc[list(sound)].assign(**{column: list(sound.values())})
    return table, wrong
