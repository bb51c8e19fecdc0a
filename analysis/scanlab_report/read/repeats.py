"""What ``scanlab verify --repeat`` printed: whether a variant's bits are the same on every run.

A line names a variant, type, operator and mode; it ends in ``same bits in 100 runs of each of 12``, or the line below it
says ``bits vary in 3 of 12: …``.
"""

from __future__ import annotations

import pandas as pd

from scanlab_report.read.fields import whole
from scanlab_report.read.names import repeated_bits, verified_group

COLUMNS = ["variant", "type", "op", "mode", "cases", "varying", "runs"]


def read(text: str) -> pd.DataFrame:
    """One row a group whose runs were repeated: how many cases, in how many of them the bits varied, and in how many runs of each."""
    rows: list[tuple[object, ...]] = []
    group: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        named = verified_group(line)
        group = named or group
        if group and (of := repeated_bits(line, first=bool(named))):
            rows.append((*group, *(whole(of[name], f"line {number}: {name}") for name in COLUMNS[4:])))
    if not rows:
        raise ValueError("no line tells of repeated runs")
    return pd.DataFrame(rows, columns=COLUMNS)
