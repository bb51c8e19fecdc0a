"""Reading what nvbench timed of Scanlab's scans: one row a scan, size and way to time it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd

from scanlab_report.schema import stopwatch
from scanlab_report.schema.fields import Misfit, convert
from scanlab_report.read.foreign import nvbench
from scanlab_report.read.streams import STOPWATCH, STOPWATCH_COLUMNS, Found

_ISOLATED, _BATCH = ("cold", "stream"), ("warm", "batch")
"""The columns of ``scanlab bench`` that nvbench's isolated runs, and its batches, are like."""


def found(file: Path, document: Mapping[str, Any]) -> Found:
    """The rows of a document of :mod:`scanlab_report.schema.stopwatch`; Misfit where it does not fit."""
    context = convert(document, stopwatch.Stopwatch).context
    rows, wrong = [], []
    for case in nvbench.read(file, document).cases:
        if case.misfit:
            raise case.misfit
        if case.skipped:
            continue
        axes = case.axes
        if not {"variant", "type", "items"} <= set(axes):
            wrong.append((case.place, "lacks one of the axes variant, type and items"))
            continue
        if not isinstance(items := axes["items"], int):
            raise Misfit(f"{case.place}.axis_values", f"items is {items!r}, not a whole number")
        named = (str(axes["variant"]), str(axes["type"]), items)
        isolated = case.median if math.isfinite(case.median) else case.mean
        rows += [(*named, *way, seconds * 1e9) for way, seconds in ((_ISOLATED, isolated), (_BATCH, case.batch)) if math.isfinite(seconds)]
    return Found(STOPWATCH, msgspec.to_builtins(context), pd.DataFrame(rows, columns=STOPWATCH_COLUMNS), wrong)
