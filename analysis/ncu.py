"""Hardware counters as NVIDIA's ncu prints them (``--csv --nvtx``), brought to one row a kernel launch.

The harness names each case in an NVTX range (``scanlab bench --once``), so every launch tells which case it is of.
"""

from __future__ import annotations

import csv
import io
import re

import pandas as pd

METRICS = {
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": "shared_load_wavefronts",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum": "shared_store_wavefronts",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": "shared_load_conflicts",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum": "shared_store_conflicts",
}
"""ncu's metric, and the column it becomes."""
DEFAULT_PADDING = "two_level"
"""Padding of a padded variant whose case names none: names carry only what is not the default."""

_HEADER = '"ID","Process ID"'
_CASE = re.compile(r"(scan/variant:.*?/items:\d+(?:/[a-z_0-9]+:[a-z_0-9]+)*?)(?::none)*\"")


def is_ncu(text: str) -> bool:
    """Whether this is a report of ncu, which begins with lines of its own and of the program."""
    return any(line.startswith(_HEADER) for line in text.splitlines())


def tidy(text: str) -> pd.DataFrame:
    """One row a launch: the case, the kernel, the launch's number within the case, and the columns of ``METRICS``.

    Launches outside a named case are left out. Raises ValueError if a metric is missing or is not a number.
    """
    body = text[text.index("\n" + _HEADER) + 1 :] if not text.startswith(_HEADER) else text
    launches: dict[str, dict[str, object]] = {}
    numbers: dict[str, int] = {}
    for row in csv.DictReader(io.StringIO(body)):
        named = next((m for key, value in row.items() if key and "Push/Pop" in key and (m := _CASE.search(value or ""))), None)
        if named is None:
            continue
        launch = launches.get(row["ID"])
        if launch is None:
            case = named.group(1)
            launch = launches[row["ID"]] = {**_case(case), "kernel": row["Kernel Name"], "launch_index": numbers.get(case, 0)}
            numbers[case] = numbers.get(case, 0) + 1
        column = METRICS.get(row["Metric Name"])
        if column:
            launch[column] = int(row["Metric Value"].replace(",", ""))
    table = pd.DataFrame(launches.values())
    for metric, column in METRICS.items():
        if column not in table.columns or table[column].isna().any():
            raise ValueError(f"lacks the metric {metric} for some launch")
    return table


def _case(name: str) -> dict[str, object]:
    parts = dict(part.split(":", 1) for part in name.split("/")[1:])
    unpadded = not parts["variant"].endswith("_padded")
    return {
        "variant": parts["variant"],
        "padding": "none" if unpadded else parts.get("padding", DEFAULT_PADDING),
        "type": parts["type"],
        "op": parts["op"],
        "items": int(parts["items"]),
        "mode": parts["mode"],
        "load": parts.get("load", "halves"),
    }
