"""Repeated runs: what kept its bits, and what did not."""

from __future__ import annotations

import gzip
from pathlib import Path

import pandas as pd
from scanlab_report.read import results

from tests import fixtures

ROWS = [("look_ahead", "f32", "plus", "inclusive", 12, 0, 100), ("decoupled_lookback", "f32", "plus", "inclusive", 12, 3, 100)]


def told(repeats: pd.DataFrame) -> list[tuple[object, ...]]:
    return list(repeats.drop(columns=["origin", "file"]).itertuples(index=False, name=None))


def test_groups_that_keep_their_bits_and_groups_that_do_not_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "repeat.jsonl").write_text(fixtures.verification(repeated=True))
    (tmp_path / "again.jsonl.gz").write_bytes(gzip.compress(fixtures.verification(repeated=True).encode()))
    for file in tmp_path.iterdir():
        read = results.read([file], [])
        assert not read.problems and told(read.repeats) == ROWS
    (problem,) = results.read([tmp_path], []).problems
    assert "has 2 of the cases of" in str(problem)  # neither says when it ran


def test_a_verification_without_repeated_runs_has_no_rows(tmp_path: Path) -> None:
    (tmp_path / "verify.jsonl").write_text(fixtures.verification())
    read = results.read([tmp_path], [])
    assert read.repeats.empty and [of.passed for of in read.verifications] == [9]
