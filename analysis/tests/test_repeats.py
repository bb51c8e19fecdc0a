"""Repeated runs: what kept its bits, and what did not."""

from __future__ import annotations

import gzip
from pathlib import Path

import pandas as pd

from scanlab_report.read import recorded_before, results
from tests import fixtures

OLD = """verifying on cuda: 3 variants and baselines
look_ahead           f32 plus   inclusive   12 passed  worst error/bound 0.010  same bits in 100 runs of each of 12
hs_block             i32 plus   inclusive   46 passed
    skipped 1: hs_block scans within one block: n <= 1024 (n = 1025)
decoupled_lookback   f32 plus   inclusive   12 passed  worst error/bound 0.012
    bits vary in 3 of 12: 7 different outputs in 100 runs (n = 1000000, uniform input)
"""
ROWS = [("look_ahead", "f32", "plus", "inclusive", 12, 0, 100), ("decoupled_lookback", "f32", "plus", "inclusive", 12, 3, 100)]


def told(repeats: pd.DataFrame) -> list[tuple[object, ...]]:
    return list(repeats.drop(columns=["origin", "file"]).itertuples(index=False, name=None))


def test_groups_that_keep_their_bits_and_groups_that_do_not_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "repeat.jsonl").write_text(fixtures.verification(repeated=True))
    (tmp_path / "again.jsonl.gz").write_bytes(gzip.compress(fixtures.verification(repeated=True).encode()))
    read = results.read([tmp_path], [])
    assert not read.problems and told(read.repeats) == ROWS * 2


def test_a_verification_without_repeated_runs_has_no_rows(tmp_path: Path) -> None:
    (tmp_path / "verify.jsonl").write_text(fixtures.verification())
    read = results.read([tmp_path], [])
    assert read.repeats.empty and [of.passed for of in read.verifications] == [9]


def test_what_was_recorded_before_says_the_same_and_another_such_file_is_refused(tmp_path: Path) -> None:
    assert recorded_before.repeated(OLD) == ROWS
    (tmp_path / "repeat.txt").write_text(OLD)
    assert told(results.read([], [tmp_path]).repeats) == ROWS
    assert "of an older Scanlab" in str(results.read([tmp_path], []).problems[0])


def test_log_without_repeated_runs_is_named(tmp_path: Path) -> None:
    (tmp_path / "repeat.txt").write_text("verifying on cuda\nhs_block             i32 plus   inclusive   46 passed\n")
    read = results.read([], [tmp_path])
    assert read.repeats.empty
    assert "repeat.txt" in str(read.problems[0]) and "no line tells of repeated runs" in str(read.problems[0])
