"""Reports of ncu: cases, launches and counts are read; what is missing is named with its launch.

``data/ncu_report.csv`` is cut from a recorded report: six launches, with the lines of ncu and of the program above them.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from analysis import ncu, results

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
    table = ncu.tidy(REPORT)
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
    first = ncu.tidy(REPORT).iloc[0]
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
    assert "launch 0, l1tex__data_bank_conflicts" in problem and "'n/a' is not a count" in problem


def test_report_cut_in_the_middle_of_a_line_is_named(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, REPORT[: REPORT.rindex("Command line")])
    assert "bank_conflicts.csv" in problem and "is cut off within launch 113" in problem


def test_report_without_named_cases_says_what_to_do(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, REPORT.replace("<default domain>:scan/variant", "<default domain>:other"))
    assert "run ncu with --nvtx" in problem
