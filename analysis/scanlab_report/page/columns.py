"""Tables as the page keeps them: a list a column, numbers to five digits, and what a series looks like."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from scanlab_report.layout.style import Look
from scanlab_report.select.provenance import Provenance
from scanlab_report.stats.intervals import Interval

DIGITS = 5


def numbers(values: Iterable[float]) -> list[float | int | None]:
    """Numbers to :data:`DIGITS` significant digits; None for those that are not known."""
    return [None if not np.isfinite(value) else _shortest(float(f"{value:.{DIGITS}g}")) for value in map(float, values)]


def _shortest(value: float) -> float | int:
    return int(value) if value.is_integer() else value


def times(name: str, cases: pd.DataFrame, unit: float) -> dict[str, list[Any]]:
    """Medians and their intervals as the columns ``name``, ``name_low`` and ``name_high``; ``unit`` in nanoseconds."""
    of = {name: "median_ns", f"{name}_low": "low_ns", f"{name}_high": "high_ns"}
    return {column: numbers(cases[nanoseconds] / unit) for column, nanoseconds in of.items()}


def intervals(name: str, of: Sequence[Interval]) -> dict[str, list[Any]]:
    """Values and their intervals as the columns ``name``, ``name_low`` and ``name_high``."""
    return {name: numbers(i.value for i in of), f"{name}_low": numbers(i.low for i in of), f"{name}_high": numbers(i.high for i in of)}


def look(title: str, of: Look) -> dict[str, Any]:
    """What the page draws a series with; markers and lines are named as matplotlib names them."""
    return {"title": title} | asdict(of)


def source(provenance: Provenance) -> str:
    """Device, date, commit, origin and repetitions, as the captions of the paper say them."""
    return provenance.line() + (f"; {provenance.repeated}" if provenance.repeated else "")
