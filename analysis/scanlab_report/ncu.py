"""Hardware counters as NVIDIA's ncu prints them (``--csv --nvtx``), brought to one row a kernel
launch.

``scanlab bench --once --out X.ranges.json`` runs each case in an NVTX range, and says in that file
which is of which case.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping

import pandas as pd

from scanlab_report.schema.fields import whole

METRICS = {
    "counters": {
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": "shared_load_wavefronts",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum": "shared_store_wavefronts",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": "shared_load_conflicts",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum": "shared_store_conflicts",
    },
    "traffic": {
        "dram__bytes_read.sum": "dram_bytes_read",
        "dram__bytes_write.sum": "dram_bytes_written",
    },
}
METRICS["block_counters"] = METRICS["counters"]
"""ncu's metrics, and the columns that they become, by table."""
_HEADER = '"ID","Process ID"'
CaseOf = Callable[[str], Mapping[str, object] | None]


def is_ncu(text: str) -> bool:
    """Whether this is a report of ncu: a table below lines of ncu's own and of the program's."""
    return any(line.startswith(_HEADER) for line in text.splitlines())


def by_name(cases: Mapping[str, Mapping[str, object]]) -> CaseOf:
    """Return a function from a launch's ranges to its case, or None. ncu puts a colon and the
    fields that a range lacks behind its name."""
    return lambda cell: next((case for name, case in cases.items() if f":{name}:" in cell), None)


def tidy(text: str, metrics: Mapping[str, str], case_of: CaseOf) -> pd.DataFrame:
    """One row a launch: the case, the kernel, the launch's number within the case, and the columns
    of ``metrics``.

    Launches outside a case's range are left out. Raises ValueError, naming the launch, if a metric
    is missing or is not a number.
    """
    lines = text.splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if line.startswith(_HEADER))
    try:
        table = pd.read_csv(io.StringIO("".join(lines[first:])), dtype=str, keep_default_na=False)
    except pd.errors.ParserError as error:
        raise ValueError(f"is cut off: {error}") from None
    needed = {"ID", "Kernel Name", "Metric Name", "Metric Unit", "Metric Value"}
    if lacking := sorted(needed - set(table)):
        raise ValueError(f"lacks the columns {', '.join(lacking)}")
    ranges = next((column for column in table if "Push/Pop" in column), "ID")
    case_by_range = {cell: case_of(cell) for cell in set(table[ranges])}
    launches: dict[str, dict[str, object]] = {}
    numbers: dict[tuple[object, ...], int] = {}
    for row in table.to_dict("records"):
        if (case := case_by_range[row[ranges]]) is None:
            continue
        id_, metric = row["ID"], row["Metric Name"]
        if id_ not in launches:
            key = tuple(case.values())
            numbers[key] = number = numbers.get(key, -1) + 1
            launches[id_] = {**case, "kernel": row["Kernel Name"], "launch_index": number}
        if column := metrics.get(metric):
            place = f"launch {id_}, {metric}"
            launches[id_][column] = _count(row["Metric Value"], row["Metric Unit"], place)
    for id_, launch in launches.items():
        if lacking := [metric for metric, column in metrics.items() if column not in launch]:
            raise ValueError(f"launch {id_} lacks the metric {lacking[0]}")
    if not launches:
        raise ValueError("no launch lies in an NVTX range that names a case; run ncu with --nvtx")
    return pd.DataFrame(launches.values())


def _count(value: str, unit: str, place: str) -> int:
    if unit.endswith("byte") and unit != "byte":
        raise ValueError(f"{place} is in {unit}: run ncu with --print-units base")
    return whole(value.replace(",", ""), place)
