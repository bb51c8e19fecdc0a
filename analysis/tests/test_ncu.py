"""Reports of ncu: cases, launches and counts are read; what is missing is named with its launch.

`data/ncu_report.csv` is cut from a recorded report: six launches, below lines of ncu and of the
program.
"""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from scanlab_report import ncu
from scanlab_report.load import load
from tests import fixtures

REPORT = (Path(__file__).parent / "data" / "ncu_report.csv").read_text()
HEADER = next(line for line in REPORT.splitlines() if line.startswith('"ID"'))
STORES = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"
USUAL = {"kind": "scan", "type": "i32", "op": "plus", "mode": "exclusive", "items": 2048}
RANGES = [
    ("hso_block", "i32", 2048, ""),
    ("hso_reentry", "i32", 2048, ""),
    ("hso_block_padded", "i32", 2048, "padding:two_level_16"),
    ("hso_blocked_padded", "i32", 2048, "load:neighbours"),
    ("hso_reentry_padded", "f64", 65536, "padding:one_in_16"),
]
"""Variant, type, items and settings of the ranges of REPORT."""


def named(name: str, **case: Any) -> dict[str, Any]:
    return {"name": f"scan/variant:{name}"} | USUAL | case


def ranges(*cases: dict[str, Any]) -> str:
    """The ranges that `scanlab bench --once` writes."""
    context = fixtures.context(schema="scanlab-ranges/1")
    return json.dumps({"context": context, "ranges": cases})


def write(folder: Path, text: str) -> Path:
    """The report, and beside it what its ranges are."""
    listed = []
    for id_, type_, items, setting in RANGES:
        padding = {"padding": "two_level", "load": "halves"} if "padded" in id_ else {}
        settings = padding | dict([setting.split(":")] if setting else [])
        path = f"{id_}/type:{type_}/op:plus/mode:exclusive/items:{items}"
        path += f"/{setting}" if setting else ""
        listed.append(named(path, variant=id_, type=type_, items=items, settings=settings))
    (folder / "bank_conflicts.csv").write_text(text, encoding="utf-8")
    (folder / "bank_conflicts.ranges.json").write_text(ranges(*listed))
    return folder / "bank_conflicts.csv"


def test_each_launch_is_a_row_with_its_case_and_whole_counts(tmp_path: Path) -> None:
    assert ncu.is_ncu(REPORT) and not ncu.is_ncu("variant,padding,type\n")
    table = load([write(tmp_path, REPORT)])["counters"]
    columns = ["variant", "padding", "load", "type", "mode", "items", "launch_index"]
    assert table[columns].values.tolist() == [
        ["hso_block", "none", "halves", "i32", "exclusive", 2048, 0],
        ["hso_reentry", "none", "halves", "i32", "exclusive", 2048, 0],
        ["hso_reentry", "none", "halves", "i32", "exclusive", 2048, 1],
        ["hso_block_padded", "two_level_16", "halves", "i32", "exclusive", 2048, 0],
        ["hso_blocked_padded", "two_level", "neighbours", "i32", "exclusive", 2048, 0],
        ["hso_reentry_padded", "one_in_16", "halves", "f64", "exclusive", 65536, 0],
    ]
    first = table.iloc[0]
    assert (first["shared_load_wavefronts"], first["shared_load_conflicts"]) == (1596, 1260)


WITHOUT_STORES = "\n".join(
    line for line in REPORT.splitlines() if not (STORES in line and line.startswith('"9"'))
)
NO_NUMBER = "op_ld.sum must be a whole number of 0 to 2^53, not 'n/a'"


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        (WITHOUT_STORES, f"launch 9 lacks the metric {STORES}"),
        (re.sub('"1,260"', '"n/a"', REPORT, count=1), NO_NUMBER),
        (REPORT[: REPORT.rindex("Command line")], "is cut off"),
        (REPORT.replace("domain>:scan/variant", "domain>:other"), "run ncu with --nvtx"),
    ],
)
def test_what_a_report_lacks_is_named_with_its_launch(
    tmp_path: Path, text: str, stated: str
) -> None:
    data = load([write(tmp_path, text)])
    (problem,) = data.problems
    assert data["counters"].empty and "bank_conflicts.csv" in str(problem)
    assert stated in str(problem)


NAME = "look_ahead/type:i32/op:plus/mode:inclusive/items:262144"
CASE = {"variant": "look_ahead", "mode": "inclusive", "items": 262144}
TILES = [
    named(NAME, **CASE, settings={"tile": "30", "piece": "4"}),
    named(f"{NAME}/tile:26", **CASE, settings={"tile": "26", "piece": "4"}),
]
"""The name of one begins with that of the other."""


def dram_report(unit: str = "byte", read: str = "1,048,576") -> str:
    """A report of one launch of look_ahead with tiles of 26 KiB."""
    cells = dict.fromkeys(HEADER.strip('"').split('","'), "")
    column = next(column for column in cells if "Push/Pop" in column)
    cells[column] = f'""<default domain>:{TILES[1]["name"]}:none:none"" '
    cells |= {"ID": "0", "Kernel Name": "look_ahead", "Metric Unit": unit}
    counts = {"dram__bytes_read.sum": read, "dram__bytes_write.sum": "0"}
    lines = [cells | {"Metric Name": name, "Metric Value": n} for name, n in counts.items()]
    rows = [",".join(f'"{value}"' for value in line.values()) for line in lines]
    return "\n".join([HEADER, *rows]) + "\n"


@pytest.mark.parametrize(
    ("unit", "read", "bytes_"), [("byte", "1,024", 1024), ("Mbyte", "1.05", 1050000)]
)
def test_dram_bytes_are_scaled_back_and_of_the_case_that_the_file_beside_says(
    tmp_path: Path, unit: str, read: str, bytes_: int
) -> None:
    (tmp_path / "dram_bytes.csv").write_text(dram_report(unit, read))
    (tmp_path / "dram_bytes.ranges.json.gz").write_bytes(gzip.compress(ranges(*TILES).encode()))
    data = load([tmp_path])
    (row,) = data["traffic"].itertuples()
    assert not data.problems and data.files[row.file].commit == fixtures.COMMIT
    assert (row.variant, row.settings, row.items) == ("look_ahead", "tile=26", 262144)
    assert (row.dram_bytes_read, row.dram_bytes_written) == (bytes_, 0)


def test_a_report_without_its_ranges_or_with_wrong_ones_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "dram_bytes.csv"
    file.write_text(dram_report())
    beside = "dram_bytes.ranges.json is not beside it: scanlab bench --once --out writes it"
    assert beside in str(load([tmp_path]).problems[0])
    for text, stated in (
        (ranges(TILES[0], TILES[1] | {"items": -1}), "ranges[1].items: expected int >= 0, got -1"),
        (ranges(TILES[0] | {"variant": "new"}), "context.variants says nothing of new"),
        (ranges(*TILES).replace("ranges/1", "ranges/2"), "of a newer Scanlab: update"),
        ("{", "not JSON"),
    ):
        (tmp_path / "dram_bytes.ranges.json").write_text(text)
        assert stated in str(load([file]).problems[0])
