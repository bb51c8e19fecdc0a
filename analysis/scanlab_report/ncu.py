"""Hardware counters as NVIDIA's ncu prints them (``--csv --nvtx``), brought to one row a kernel
launch.

``scanlab bench --once --out X.ranges.json`` runs each case in an NVTX range, and says in that file
which is of which case.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping
from functools import lru_cache

import pandas as pd

from scanlab_report.schema.base import EXACT
from scanlab_report.schema.fields import whole

BANK_METRICS = {
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": "shared_load_wavefronts",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum": "shared_store_wavefronts",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": "shared_load_conflicts",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum": "shared_store_conflicts",
}
"""ncu's metric, and the column it becomes."""
DRAM_METRICS = {
    "dram__bytes_read.sum": "dram_bytes_read",
    "dram__bytes_write.sum": "dram_bytes_written",
}
"""The same for traffic between L2 and DRAM."""
METRICS = {"counters": BANK_METRICS, "traffic": DRAM_METRICS}
_BYTES = {"byte": 1, "Kbyte": 10**3, "Mbyte": 10**6, "Gbyte": 10**9}
"""Units in which ncu prints bytes, unless asked for base units."""
_HEADER = '"ID","Process ID"'


def is_ncu(text: str) -> bool:
    """Whether this is a report of ncu: a table below lines of ncu's own and of the program's."""
    return any(line.startswith(_HEADER) for line in text.splitlines())


CaseOf = Callable[[str], Mapping[str, object] | None]
"""Function from the names of a launch's ranges to the case; None if there is no case."""


def by_name(cases: Mapping[str, Mapping[str, object]]) -> CaseOf:
    """Cases by the names of their ranges, behind which ncu has a colon and the fields that a range
    lacks."""
    return lru_cache(
        lambda cell: next((case for name, case in cases.items() if f":{name}:" in cell), None)
    )


def tidy(text: str, metrics: Mapping[str, str], case_of: CaseOf) -> pd.DataFrame:
    """One row a launch: the case, the kernel, the launch's number within the case, and the columns
    of ``metrics``.

    Launches outside a case's range are left out. Raises ValueError, naming the launch, if a metric
    is missing or is not a number.
    """
    lines = text.splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if line.startswith(_HEADER))
    reader = csv.DictReader(io.StringIO("".join(lines[first:])))
    if lacking := {"ID", "Kernel Name", "Metric Name", "Metric Value"} - set(
        reader.fieldnames or ()
    ):
        raise ValueError(f"lacks the columns {', '.join(sorted(lacking))}")
    launches: dict[str, dict[str, object]] = {}
    of_case: dict[tuple[object, ...], int] = {}
    for row in reader:
        case = case_of(
            next((value for column, value in row.items() if column and "Push/Pop" in column), None)
            or ""
        )
        if case is None:
            continue
        identity = row["ID"]
        if identity not in launches:
            key = tuple(case.values())
            number = of_case[key] = of_case.get(key, -1) + 1
            launches[identity] = {**case, "kernel": row["Kernel Name"], "launch_index": number}
        if row["Metric Value"] is None:
            raise ValueError(f"is cut off within launch {identity}")
        if column := metrics.get(row["Metric Name"]):
            place = f"launch {identity}, {row['Metric Name']}"
            launches[identity][column] = _count(
                row["Metric Value"], row.get("Metric Unit") or "", place
            )
    for identity, launch in launches.items():
        for metric, column in metrics.items():
            if column not in launch:
                raise ValueError(f"launch {identity} lacks the metric {metric}")
    if not launches:
        raise ValueError("no launch lies in an NVTX range that names a case; run ncu with --nvtx")
    return pd.DataFrame(launches.values())


def _count(value: str, unit: str, place: str) -> int:
    digits = value.replace(",", "")
    if (
        unit in _BYTES
        and re.fullmatch(r"[0-9]+(\.[0-9]*)?", digits)
        and (count := float(digits) * _BYTES[unit]) <= EXACT
    ):
        return round(count)
    return whole(digits, place)
