"""Reports of ncu: cases, launches and counts are read; what is missing is named with its launch.

`data/ncu_report.csv` is cut from a recorded report: six launches, below lines of ncu and of the
program.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from scanlab_report.load import load
from tests import fixtures

REPORT = (Path(__file__).parent / "data" / "ncu_report.csv").read_text()
HEADER = next(line for line in REPORT.splitlines() if line.startswith('"ID"'))
STORES = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"
RANGES = [
    ("hso_block", "i32", 2048, ""),
    ("hso_reentry", "i32", 2048, ""),
    ("hso_block_padded", "i32", 2048, "padding:two_level_16"),
    ("hso_blocked_padded", "i32", 2048, "load:neighbours"),
    ("hso_reentry_padded", "f64", 65536, "padding:one_in_16"),
]
"""Variant, type, items and settings of the ranges of REPORT."""


def ranges(*cases: dict[str, Any], **context: Any) -> dict[str, Any]:
    """The ranges of a report, as `scanlab bench --once` writes them."""
    usual = {"kind": "scan", "type": "i32", "op": "plus", "mode": "exclusive", "settings": {}}
    return {
        "context": fixtures.context(schema="scanlab-ranges/1") | context,
        "ranges": [usual | case for case in cases],
    }


def write(folder: Path, stem: str, text: str, *cases: dict[str, Any]) -> Path:
    """A report, and its ranges beside it."""
    (folder / f"{stem}.ranges.json").write_text(json.dumps(ranges(*cases)))
    (folder / f"{stem}.csv").write_text(text, encoding="utf-8")
    return folder / f"{stem}.csv"


def conflicts(folder: Path, text: str) -> Path:
    cases = []
    for id_, type_, items, setting in RANGES:
        padding = {"padding": "two_level", "load": "halves"} if "padded" in id_ else {}
        settings = padding | dict([setting.split(":")] if setting else [])
        path = f"scan/variant:{id_}/type:{type_}/op:plus/mode:exclusive/items:{items}"
        path += f"/{setting}" if setting else ""
        case = {"name": path, "variant": id_, "type": type_, "items": items, "settings": settings}
        cases.append(case)
    return write(folder, "bank_conflicts", text, *cases)


def test_each_launch_is_a_row_with_its_case_and_whole_counts(tmp_path: Path) -> None:
    table = load([conflicts(tmp_path, REPORT)])["counters"]
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


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        (WITHOUT_STORES, f"launch 9 lacks the metric {STORES}"),
        (re.sub('"1,260"', '"n/a"', REPORT, count=1), "ld.sum: Expected int, got str"),
        (REPORT[: REPORT.rindex("Command line")], "is cut off"),
        (REPORT.replace("domain>:scan/variant", "domain>:other"), "run ncu with --nvtx"),
    ],
)
def test_what_a_report_lacks_is_named_with_its_launch(
    tmp_path: Path, text: str, stated: str
) -> None:
    data = load([conflicts(tmp_path, text)])
    (problem,) = data.problems
    assert data["counters"].empty and "bank_conflicts.csv" in str(problem)
    assert stated in str(problem)


DRAM = "scan/variant:look_ahead/type:i32/op:plus/mode:inclusive/items:262144"
TILES = [
    {"variant": "look_ahead", "mode": "inclusive", "items": 262144, "name": name}
    | {"settings": {"tile": tile, "piece": "4"}}
    for name, tile in ((DRAM, "30"), (f"{DRAM}/tile:26", "26"))
]
"""The name of a range begins with that of another."""


def dram_report() -> str:
    """A report of one launch of look_ahead with tiles of 26 KiB."""
    cells = dict.fromkeys(HEADER.strip('"').split('","'), "")
    column = next(column for column in cells if "Push/Pop" in column)
    cells |= {column: f'""<default domain>:{DRAM}/tile:26:none:none"" '}
    cells |= {"ID": "0", "Kernel Name": "look_ahead", "Metric Unit": "byte"}
    counts = {"dram__bytes_read.sum": "1,050,000", "dram__bytes_write.sum": "1,024"}
    lines = [cells | {"Metric Name": metric, "Metric Value": n} for metric, n in counts.items()]
    rows = [",".join(f'"{value}"' for value in line.values()) for line in lines]
    return "\n".join([HEADER, *rows]) + "\n"


def test_dram_bytes_are_of_the_case_that_the_file_beside_says(tmp_path: Path) -> None:
    text = dram_report()
    data = load([write(tmp_path, "dram_bytes", text, *TILES)])
    (row,) = data["traffic"].itertuples()
    assert not data.problems and data.files[row.file].commit == fixtures.COMMIT
    assert (row.variant, row.settings, row.items) == ("look_ahead", "tile=26", 262144)
    assert (row.dram_bytes_read, row.dram_bytes_written) == (1_050_000, 1024)
    scaled = write(tmp_path, "dram_bytes", text.replace('"byte"', '"Mbyte"'), *TILES)
    assert "is in Mbyte: run ncu with --print-units base" in str(load([scaled]).problems[0])
    (tmp_path / "dram_bytes.ranges.json").unlink()
    beside = "dram_bytes.ranges.json is not beside it: scanlab bench --once --out writes it"
    assert beside in str(load([tmp_path]).problems[0])
