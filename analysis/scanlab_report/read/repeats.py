"""What ``scanlab verify --repeat`` printed: whether a variant's bits are the same on every run.

A line names a variant, type, operator and mode; it ends in ``same bits in 100 runs of each of 12``, or the line below it
says ``bits vary in 3 of 12: …``.
"""

from __future__ import annotations

import re

import pandas as pd

from scanlab_report.read.fields import whole

COLUMNS = ["variant", "type", "op", "mode", "cases", "varying", "runs"]

_GROUP = re.compile(r"^(?P<variant>\w+) +(?P<type>\w+) +(?P<op>\w+) +(?P<mode>inclusive|exclusive) +\d+ passed\b")
_SAME = re.compile(r"same bits in (?P<runs>\d+) runs of each of (?P<cases>\d+)")
_VARY = re.compile(r"^ +bits vary in (?P<varying>\d+) of (?P<cases>\d+): .* in (?P<runs>\d+) runs")


def read(text: str) -> pd.DataFrame:
    """One row a group whose runs were repeated: how many cases, in how many of them the bits varied, and in how many runs of each."""
    rows: list[tuple[object, ...]] = []
    group: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        counted = None
        if named := _GROUP.match(line):
            group = named.group("variant", "type", "op", "mode")
            counted = _SAME.search(line)
        elif group:
            counted = _VARY.match(line)
        if counted:
            of = {"varying": "0"} | counted.groupdict()
            rows.append((*group, *(whole(of[name], f"line {number}: {name}") for name in COLUMNS[4:])))
    if not rows:
        raise ValueError("no line tells of repeated runs")
    return pd.DataFrame(rows, columns=COLUMNS)
