"""What ``scanlab verify --repeat`` printed: whether a variant's bits are the same on every run.

A line names a variant, type, operator and mode; it ends in ``same bits in 100 runs of each of 12``, or the line below it
says ``bits vary in 3 of 12: …``.
"""

from __future__ import annotations

import re

import pandas as pd

COLUMNS = ["variant", "type", "op", "mode", "cases", "varying", "runs"]

_GROUP = re.compile(r"^(?P<variant>\w+) +(?P<type>\w+) +(?P<op>\w+) +(?P<mode>inclusive|exclusive) +\d+ passed\b")
_SAME = re.compile(r"same bits in (?P<runs>\d+) runs of each of (?P<cases>\d+)")
_VARY = re.compile(r"^ +bits vary in (?P<varying>\d+) of (?P<cases>\d+): .* in (?P<runs>\d+) runs")


def read(text: str) -> pd.DataFrame:
    """One row a group whose runs were repeated: how many cases, in how many of them the bits varied, and in how many runs of each."""
    rows: list[tuple[object, ...]] = []
    group: tuple[str, ...] = ()
    for line in text.splitlines():
        if named := _GROUP.match(line):
            group = named.group("variant", "type", "op", "mode")
            if same := _SAME.search(line):
                rows.append((*group, int(same["cases"]), 0, int(same["runs"])))
        elif group and (vary := _VARY.match(line)):
            rows.append((*group, int(vary["cases"]), int(vary["varying"]), int(vary["runs"])))
    if not rows:
        raise ValueError("no line tells of repeated runs")
    return pd.DataFrame(rows, columns=COLUMNS)
