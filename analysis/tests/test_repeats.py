"""Logs of repeated runs: what kept its bits, and what did not."""

from __future__ import annotations

from pathlib import Path

from scanlab_report.read import repeats, results
from tests.fixtures import REPEAT


def test_groups_that_keep_their_bits_and_groups_that_do_not_are_told_apart() -> None:
    rows = repeats.read(REPEAT).set_index("variant")
    assert rows.at["look_ahead", "cases"] == 12 and rows.at["look_ahead", "varying"] == 0
    assert rows.at["decoupled_lookback", "cases"] == 12 and rows.at["decoupled_lookback", "varying"] == 3
    assert rows.at["decoupled_lookback", "type"] == "f32"


def test_groups_that_were_not_repeated_are_left_out() -> None:
    assert "hs_block" not in set(repeats.read(REPEAT)["variant"])


def test_log_without_repeated_runs_is_named(tmp_path: Path) -> None:
    (tmp_path / "repeat.txt").write_text("verifying on cuda\nhs_block             i32 plus   inclusive   46 passed\n")
    read = results.read([], [tmp_path])
    assert read.repeats.empty
    assert "repeat.txt" in str(read.problems[0]) and "no line tells of repeated runs" in str(read.problems[0])
