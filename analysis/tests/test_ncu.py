"""Reports of ncu: cases, launches and counts are read; what is missing is named with its launch.

``data/ncu_report.csv`` is cut from a recorded report: six launches, with the lines of ncu and of the program above them.
"""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

from scanlab_report.read import ncu, results
from scanlab_report.read.records import MEASURED

from tests import fixtures

REPORT = (Path(__file__).parent / "data" / "ncu_report.csv").read_text()
STORES = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"


OF_BLOCK = {"kind": "scan", "type": "i32", "op": "plus", "mode": "exclusive", "items": 2048, "settings": {}}
CASES = {
    "scan/variant:hso_block/type:i32/op:plus/mode:exclusive/items:2048": {"variant": "hso_block"},
    "scan/variant:hso_reentry/type:i32/op:plus/mode:exclusive/items:2048": {"variant": "hso_reentry"},
    "scan/variant:hso_block_padded/type:i32/op:plus/mode:exclusive/items:2048/padding:two_level_16":
        {"variant": "hso_block_padded", "settings": {"padding": "two_level_16", "load": "halves"}},
    "scan/variant:hso_blocked_padded/type:i32/op:plus/mode:exclusive/items:2048/load:neighbours":
        {"variant": "hso_blocked_padded", "settings": {"padding": "two_level", "load": "neighbours"}},
    "scan/variant:hso_reentry_padded/type:f64/op:plus/mode:exclusive/items:65536/padding:one_in_16":
        {"variant": "hso_reentry_padded", "type": "f64", "items": 65536, "settings": {"padding": "one_in_16", "load": "halves"}},
}  # fmt: skip
"""Of the ranges of REPORT."""


def write(folder: Path, text: str) -> Path:
    """The report, and beside it what its ranges are."""
    (folder / "bank_conflicts.csv").write_text(text, encoding="utf-8")
    listed = [{"name": name} | OF_BLOCK | case for name, case in CASES.items()]
    (folder / "bank_conflicts.ranges.json").write_text(json.dumps({"context": fixtures.context(schema="scanlab-ranges/1"), "ranges": listed}), encoding="utf-8")
    return folder / "bank_conflicts.csv"


def problems(folder: Path, text: str) -> list[str]:
    write(folder, text)
    read = results.read([], [folder])
    assert read.counters.empty
    return [str(problem) for problem in read.problems]


def test_report_below_lines_of_ncu_and_of_the_program_is_recognised() -> None:
    assert REPORT.startswith("==WARNING==") and "\n==PROF== Connected" in REPORT
    assert ncu.is_ncu(REPORT)
    assert not ncu.is_ncu("variant,padding,type\n")


def test_each_launch_is_a_row_with_its_case(tmp_path: Path) -> None:
    table = results.read([write(tmp_path, REPORT)], []).counters
    cases = table[["variant", "padding", "load", "type", "mode", "items", "launch_index"]].values.tolist()
    assert cases == [
        ["hso_block", "none", "halves", "i32", "exclusive", 2048, 0],
        ["hso_reentry", "none", "halves", "i32", "exclusive", 2048, 0],
        ["hso_reentry", "none", "halves", "i32", "exclusive", 2048, 1],
        ["hso_block_padded", "two_level_16", "halves", "i32", "exclusive", 2048, 0],
        ["hso_blocked_padded", "two_level", "neighbours", "i32", "exclusive", 2048, 0],
        ["hso_reentry_padded", "one_in_16", "halves", "f64", "exclusive", 65536, 0],
    ]


def test_counts_have_their_thousands_put_together(tmp_path: Path) -> None:
    first = results.read([write(tmp_path, REPORT)], []).counters.iloc[0]
    assert (first["shared_load_wavefronts"], first["shared_load_conflicts"]) == (1596, 1260)
    assert first["shared_load_conflicts"] + first["shared_store_conflicts"] == 2205


def test_missing_metric_is_named_with_its_launch(tmp_path: Path) -> None:
    lines = [line for line in REPORT.splitlines() if not (STORES in line and line.startswith('"9"'))]
    (problem,) = problems(tmp_path, "\n".join(lines))
    assert "bank_conflicts.csv" in problem and f"launch 9 lacks the metric {STORES}" in problem


def test_metric_without_a_number_is_named_with_its_launch(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, re.sub(r'"1,260"', '"n/a"', REPORT, count=1))
    assert "launch 0, l1tex__data_bank_conflicts" in problem and "must be a whole number of 0 to 2^53, not 'n/a'" in problem


def test_report_cut_in_the_middle_of_a_line_is_named(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, REPORT[: REPORT.rindex("Command line")])
    assert "bank_conflicts.csv" in problem and "is cut off within launch 113" in problem


def test_report_without_named_cases_says_what_to_do(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, REPORT.replace("<default domain>:scan/variant", "<default domain>:other"))
    assert "run ncu with --nvtx" in problem


HEADER = next(line for line in REPORT.splitlines() if line.startswith('"ID"'))


def dram_report(unit: str = "byte", read: str = "1,048,576") -> str:
    """A report of one launch of look_ahead with tiles of 26 KiB."""
    cells = dict.fromkeys(HEADER.strip('"').split('","'), "")
    ranges = next(column for column in cells if "Push/Pop" in column)
    cells |= {"ID": "0", "Kernel Name": "look_ahead", "Metric Unit": unit,
              ranges: '""<default domain>:scan/variant:look_ahead/type:i32/op:plus/mode:inclusive/items:262144/tile:26:none:none"" '}  # fmt: skip
    lines = [cells | {"Metric Name": name, "Metric Value": value}
             for name, value in (("dram__bytes_read.sum", read), ("dram__bytes_write.sum", "0"))]  # fmt: skip
    return "\n".join([HEADER, *(",".join(f'"{value}"' for value in line.values()) for line in lines)]) + "\n"


NAME = "scan/variant:look_ahead/type:i32/op:plus/mode:inclusive/items:262144/tile:26"
LOOK_AHEAD = ncu.by_name({NAME: {"variant": "look_ahead", "settings": "tile=26", "type": "i32", "op": "plus", "mode": "inclusive", "items": 262144}})


def test_dram_bytes_are_read_with_the_settings_of_their_case() -> None:
    (launch,) = ncu.dram_bytes(dram_report(), LOOK_AHEAD).itertuples()
    assert (launch.variant, launch.settings, launch.items) == ("look_ahead", "tile=26", 262144)
    assert (launch.dram_bytes_read, launch.dram_bytes_written) == (1048576, 0)


def test_bytes_that_ncu_scaled_are_scaled_back() -> None:
    (launch,) = ncu.dram_bytes(dram_report("Mbyte", "1.05"), LOOK_AHEAD).itertuples()
    assert launch.dram_bytes_read == 1050000


def ranges(**changes: object) -> str:
    """What ``scanlab bench --once`` says of the ranges of that report; one range's name begins with another's."""
    of = {"kind": "scan", "variant": "look_ahead", "type": "i32", "op": "plus", "mode": "inclusive", "items": 262144, "settings": {"tile": "26", "piece": "4"}}
    listed = [{"name": NAME.rpartition("/")[0]} | of | {"settings": {"tile": "30", "piece": "4"}}, {"name": NAME} | of | changes]
    return json.dumps({"context": fixtures.context(schema="scanlab-ranges/1"), "ranges": listed})


def test_a_range_is_of_the_case_that_the_file_beside_the_report_says(tmp_path: Path) -> None:
    (tmp_path / "dram_bytes.csv").write_text(dram_report())
    for name, content in (("dram_bytes.ranges.json", ranges().encode()), ("dram_bytes.ranges.json.gz", gzip.compress(ranges().encode()))):
        (tmp_path / name).write_bytes(content)
        read = results.read([tmp_path], [])
        (tmp_path / name).unlink()
        assert not read.problems and read.traffic[["variant", "settings", "items"]].values.tolist() == [["look_ahead", "tile=26", 262144]]
        assert read.beside(str(tmp_path / "dram_bytes.csv"), MEASURED).commit == fixtures.COMMIT


def test_a_report_of_now_without_its_ranges_or_with_wrong_ones_is_refused(tmp_path: Path) -> None:
    (tmp_path / "dram_bytes.csv").write_text(dram_report())
    assert "dram_bytes.ranges.json is not beside it: scanlab bench --once --out writes it" in str(results.read([tmp_path], []).problems[0])
    for wrong, said in ((ranges(items=-1), "ranges[1].items: expected int >= 0, got -1"), (ranges(variant="new"), "context.variants says nothing of new"),
                        (ranges().replace("ranges/1", "ranges/2"), "of a newer Scanlab: update"), ("{", "not JSON")):  # fmt: skip
        (tmp_path / "dram_bytes.ranges.json").write_text(wrong)
        assert any(said in str(problem) for problem in results.read([tmp_path / "dram_bytes.csv"], []).problems), wrong
