"""What nvbench timed of Scanlab's scans: how it is read, and held against our own times."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scanlab_report.derive.stopwatch import over
from scanlab_report.read import results, streams
from tests.stream_fixtures import stopwatch, timed_by_nvbench


def read(folder: Path, content: dict[str, Any]) -> results.Results:
    (folder / "nvbench.json").write_text(json.dumps(content))
    return results.read([folder], [])


def test_medians_of_isolated_runs_and_means_of_batches_are_rows(tmp_path: Path) -> None:
    skipped = timed_by_nvbench("best", 64) | {"is_skipped": True, "skip_reason": "refused"}
    found = read(tmp_path, stopwatch([timed_by_nvbench("best", 1024, mean=3e-6, median=2e-6, batch=1e-6), timed_by_nvbench("memcpy", 1024, mean=4e-6), skipped]))
    assert not found.problems
    assert [of.kind for of in found.streams] == [streams.STOPWATCH]
    rows = found.streams[0].rows
    assert [tuple(row) for row in rows[["variant", "items", "cache", "launch"]].itertuples(index=False)] == [
        ("best", 1024, "cold", "stream"), ("best", 1024, "warm", "batch"), ("memcpy", 1024, "cold", "stream")]  # fmt: skip
    np.testing.assert_allclose(rows["time_ns"], [2000, 1000, 4000])


@pytest.mark.parametrize(("change", "said"), [
    (lambda of: of["benchmarks"][0]["states"][0]["axis_values"].pop(0), "lacks one of the axes"),
    (lambda of: of["benchmarks"][0]["states"].__setitem__(0, timed_by_nvbench("best", 10.5, mean=1e-6)), "not a whole number"),
    (lambda of: of["context"].pop("device"), "device"),
])  # fmt: skip
def test_what_is_not_of_our_scans_is_refused(tmp_path: Path, change: Any, said: str) -> None:
    content = json.loads(json.dumps(stopwatch([timed_by_nvbench("best", 1024, mean=3e-6)])))
    change(content)
    found = read(tmp_path, content)
    assert any(said in str(problem) for problem in found.problems), found.problems


def test_a_ratio_has_the_interval_of_our_median_alone() -> None:
    ratio = over(12.0, np.array([10.0, 10, 10, 10, 10, 10, 12, 8]))
    assert ratio.value == pytest.approx(1.2)
    assert (ratio.low, ratio.high) == (pytest.approx(1.0), pytest.approx(1.5))
