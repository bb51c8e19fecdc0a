"""Tables as the page keeps them: a list per column, numbers to five digits."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from scanlab_report.intervals import Interval
from scanlab_report.sources import Source
from scanlab_report.style import Look


def numbers(values: Iterable[float]) -> list[float | int | None]:
    """Numbers to five significant digits; None for those that are not known."""
    short = (float(f"{value:.5g}") for value in map(float, values))
    return [None if not np.isfinite(v) else int(v) if v.is_integer() else v for v in short]


def times(name: str, cases: pd.DataFrame, unit: float) -> dict[str, list[Any]]:
    """Medians with their intervals as three columns; `unit` in nanoseconds."""
    ends = {name: "median_ns", f"{name}_low": "low_ns", f"{name}_high": "high_ns"}
    return {column: numbers(cases[ns] / unit) for column, ns in ends.items()}


def intervals(name: str, values: Sequence[Interval]) -> dict[str, list[Any]]:
    """Values with their intervals as three columns."""
    ends = {name: "value", f"{name}_low": "low", f"{name}_high": "high"}
    return {column: numbers(getattr(v, end) for v in values) for column, end in ends.items()}


def look(title: str, drawn_as: Look) -> dict[str, Any]:
    """Return the look of a series on the page; markers and lines have the names of matplotlib."""
    return {"title": title} | asdict(drawn_as)


def source_line(source: Source) -> str:
    """Device, date, commit, origin and repetitions."""
    return "; ".join(filter(None, (source.line(), source.repeated)))
