"""CSV files, checked column by column."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from scanlab_report.read import ncu
from scanlab_report.schema.base import Count, Name, Positive, Type
from scanlab_report.schema.fields import Misfit, convert, fits, shown
from scanlab_report.read.records import COUNTER_COLUMNS, TRAFFIC_COLUMNS, WAIT_COLUMNS, Complaint, Results

_COUNTERS, _TRAFFIC, _WAITS = (
    {column: forms.get(column, Count) for column in columns} | {"type": Type}
    for columns, forms in ((COUNTER_COLUMNS, dict.fromkeys(("variant", "padding", "op", "kernel"), Name)),
                           (TRAFFIC_COLUMNS, dict.fromkeys(("variant", "op", "mode", "kernel"), Name) | {"settings": str}),
                           (WAIT_COLUMNS, dict.fromkeys(("variant", "role"), Name)))
)  # fmt: skip
"""What the columns of each table hold."""


def read_csv(text: str) -> pd.DataFrame:
    """A table whose values are all text; ValueError if a row has more of them than there are columns, or it is no table."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # of longer rows: else the first columns would be taken for names of rows
            return pd.read_csv(io.StringIO(text), comment="#", index_col=False, dtype=str, keep_default_na=False).fillna("")
    except (pd.errors.ParserWarning, pd.errors.EmptyDataError) as error:
        raise ValueError(str(error)) from None


def checked(table: pd.DataFrame, forms: Mapping[str, Any]) -> tuple[pd.DataFrame, list[tuple[str, str]]]:
    """The rows whose values fit, numbers as such; and of what does not fit the place, and what is wrong."""
    wrong = []
    for column, form in forms.items():
        values = pd.to_numeric(table[column], errors="coerce").astype(float) if form in (Count, Positive) else table[column]
        if form is Count:
            values = pd.Series([int(value) if value.is_integer() else value for value in values], index=values.index, dtype=object)
        sound = values.map(lambda value, form=form: fits(value, form)).astype(bool)
        for row in table.index[~sound]:
            said = shown(table.at[row, column])[1:-1] or "empty"
            try:
                convert(values[row], form)
            except Misfit as misfit:
                wrong.append((f"row {row + 1} after the header", f"refused: {column} is {said}: {misfit.message.partition(', got ')[0].partition(': ')[0]}"))
        table = table[sound].assign(**{column: values[sound].astype("int64") if form is Count else values[sound]})
    return table, wrong


def read_table(
    file: Path, origin: str, results: Results, columns: Mapping[str, Any],
    from_ncu: Callable[[str], pd.DataFrame] | None, optional: Mapping[str, Any] = MappingProxyType({}), further: str = "",
) -> pd.DataFrame | None:  # fmt: skip
    """A CSV with some columns, or a report of ncu that becomes one; rows with impossible values are left out and said.

    ``further``: columns whose names begin so are kept too, as counts.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
        table = from_ncu(text) if from_ncu and ncu.is_ncu(text) else read_csv(text)
    except (ValueError, csv.Error, OSError) as error:
        results.problems.append(Complaint(file, "", f"cannot be read as counters ({error})"))
        return None
    if missing := [column for column in columns if column not in table]:
        results.problems.append(Complaint(file, "line 1", f"lacks the columns {', '.join(missing)}"))
        return None
    more = {column: Count for column in table if further and column.startswith(further)}
    kept = {**columns, **{column: form for column, form in optional.items() if column in table}, **more}
    table, wrong = checked(table[list(kept)], kept)
    results.problems += [Complaint(file, *of) for of in wrong]
    return table.assign(origin=origin, file=str(file))
