"""Scans over several ranks: how their samples are read, and the table of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scanlab_report.derive.ranks import medians
from scanlab_report.read import results, streams
from tests.stream_fixtures import several_gpus


def read(folder: Path, content: dict[str, Any]) -> results.Results:
    (folder / "distributed.json").write_text(json.dumps(content))
    return results.read([folder], [])


def test_a_scan_stands_beside_a_copy_on_every_gpu_and_beside_the_vendor(tmp_path: Path) -> None:
    found = read(tmp_path, several_gpus())
    assert not found.problems and [of.kind for of in found.streams] == [streams.DISTRIBUTED]
    rows = medians(found.streams[0].rows)
    assert list(rows["algorithm"]) == ["peer_look_ahead", "nccl_cub"], "the fastest first, and no copy among scans"
    assert rows["of_copy"].tolist() == pytest.approx([0.5 / 0.52, 0.5 / 1.04])
    assert rows["of_vendor"].tolist() == pytest.approx([2, 1])
    assert rows["gb_per_s"][0] == pytest.approx(2**33 / 0.52e6)


def test_cases_of_other_numbers_of_ranks_are_not_compared(tmp_path: Path) -> None:
    two = several_gpus(ranks=2)
    two["benchmarks"] = [entry for entry in two["benchmarks"] if entry["variant"] == "peer_look_ahead"]
    four = several_gpus()
    four["benchmarks"] += two["benchmarks"]
    rows = medians(read(tmp_path, four).streams[0].rows)
    assert rows[rows["ranks"] == 2]["of_copy"].isna().all() and rows[rows["ranks"] == 4]["of_copy"].notna().all()


@pytest.mark.parametrize(("change", "said"), [
    ({"variant": "unknown"}, "context.algorithms says nothing"),
    ({"verified": False}, "its output was wrong, or not looked at"),
    ({"ranks": "four"}, "ranks"),
])  # fmt: skip
def test_what_is_wrong_with_an_entry_is_said_with_its_place(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    content = several_gpus()
    content["benchmarks"][3] |= change
    found = read(tmp_path, content)
    assert [said in str(problem) and "benchmarks[3]" in str(problem) for problem in found.problems] == [True]
