"""Reports of ncu: cases, launches and counts are read; what is missing is named with its launch.

``data/ncu_report.csv`` is cut from a recorded report: six launches, with the lines of ncu and of the program above them.
"""

from __future__ import annotations

import re
from pathlib import Path

from scanlab_report.read import ncu, results

REPORT = (Path(__file__).parent / "data" / "ncu_report.csv").read_text()
STORES = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"


def problems(folder: Path, text: str) -> list[str]:
    (folder / "bank_conflicts.csv").write_text(text)
    read = results.read([], [folder])
    assert read.counters.empty
    return [str(problem) for problem in read.problems]


def test_report_below_lines_of_ncu_and_of_the_program_is_recognised() -> None:
    assert REPORT.startswith("==WARNING==") and "\n==PROF== Connected" in REPORT
    assert ncu.is_ncu(REPORT)
    assert not ncu.is_ncu("variant,padding,type\n")


def test_each_launch_is_a_row_with_its_case() -> None:
    table = ncu.bank_conflicts(REPORT)
    cases = table[["variant", "padding", "load", "type", "mode", "items", "launch_index"]].values.tolist()
    assert cases == [
        ["hso_block", "none", "halves", "i32", "exclusive", 2048, 0],
        ["hso_reentry", "none", "halves", "i32", "exclusive", 2048, 0],
        ["hso_reentry", "none", "halves", "i32", "exclusive", 2048, 1],
        ["hso_block_padded", "two_level_16", "halves", "i32", "exclusive", 2048, 0],
        ["hso_blocked_padded", "two_level", "neighbours", "i32", "exclusive", 2048, 0],
        ["hso_reentry_padded", "one_in_16", "halves", "f64", "exclusive", 65536, 0],
    ]


def test_counts_have_their_thousands_put_together() -> None:
    first = ncu.bank_conflicts(REPORT).iloc[0]
    assert (first["shared_load_wavefronts"], first["shared_load_conflicts"]) == (1596, 1260)
    assert first["shared_load_conflicts"] + first["shared_store_conflicts"] == 2205


def test_report_is_read_among_the_results(tmp_path: Path) -> None:
    (tmp_path / "bank_conflicts.csv").write_text(REPORT)
    read = results.read([], [tmp_path])
    assert not read.problems and len(read.counters) == 6


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


def test_dram_bytes_are_read_with_the_settings_of_their_case() -> None:
    (launch,) = ncu.dram_bytes(dram_report()).itertuples()
    assert (launch.variant, launch.settings, launch.items) == ("look_ahead", "tile=26", 262144)
    assert (launch.dram_bytes_read, launch.dram_bytes_written) == (1048576, 0)


def test_bytes_that_ncu_scaled_are_scaled_back() -> None:
    (launch,) = ncu.dram_bytes(dram_report("Mbyte", "1.05")).itertuples()
    assert launch.dram_bytes_read == 1050000


def test_dram_bytes_are_read_among_the_results(tmp_path: Path) -> None:
    (tmp_path / "dram_bytes.csv").write_text(dram_report())
    read = results.read([], [tmp_path])
    assert not read.problems and read.traffic["dram_bytes_read"].tolist() == [1048576]
