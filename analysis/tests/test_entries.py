"""Results files with typed fields: what is read is what the fields say, whatever the name is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scanlab_report.read import results, streams

from tests import fixtures

_FIELDS = {"run_type": "iteration", "iterations": 3, "real_time": 1500.0, "time_unit": "ns", "round": 0, "repetition_index": 0, "outcome": "timed",
           "verified": True, "converged": False, "threads": 1, "name": "of no matter"}  # fmt: skip
SCAN = _FIELDS | {"kind": "scan", "variant": "look_ahead", "type": "i32", "op": "plus", "mode": "inclusive", "items": 4096, "cache": "cold",
                  "settings": {"tile": "36", "piece": "4"}, "launch": "batch", "threads_per_block": 288, "registers": 64}  # fmt: skip
SCHEDULE = _FIELDS | {"kind": "schedule", "schedule": "graph", "workload": "scale", "items": 4096, "chunks": 4, "streams": 2, "memory": "pinned", "work": 1,
                      "blocks": 0, "buffers": 2, "bytes": 32768, "inputs": 1, "operations": 12, "streams_created": 2, "side_kernels": 0, "control": False, "device_time_ms": 1.25}  # fmt: skip
COPY = _FIELDS | {"kind": "copy", "direction": "h2d", "both_ways": True, "memory": "pinned", "bytes": 1024}
KERNEL = _FIELDS | {"kind": "kernel", "workload": "scale", "items": 1024, "work": 1, "blocks": 0}
STREAM_SCAN = _FIELDS | {"kind": "stream_scan", "way": "streamed", "variant": "best", "type": "i32", "op": "plus", "mode": "inclusive", "items": 4096,
                         "from": "memory", "to": "memory", "budget_bytes": 1 << 20, "chunks": 4, "mapped": False, "bytes_each_way": 16384}  # fmt: skip
CONTEXT = {"schema": "scanlab-results/2", "kind": "cuda", "device": "a device", "date": "2026-01-02T03:04:05Z", "git_commit": "abc", "git_dirty": "false",
           "variants": {"look_ahead": fixtures.variant("look_ahead") | {"parameters": [{"name": "tile", "values": ["30", "36"]}, {"name": "piece", "values": ["4"]}]}}}  # fmt: skip


def read(folder: Path, *of: dict[str, Any], **context: Any) -> results.Results:
    (folder / "results.json").write_text(json.dumps({"context": CONTEXT | context, "benchmarks": of}), encoding="utf-8")
    return results.read([folder], [])


def test_a_scan_is_what_its_fields_say(tmp_path: Path) -> None:
    found = read(tmp_path, SCAN)
    assert not found.problems
    row = found.timings.iloc[0]
    assert (row["variant"], row["settings"], row["items"], row["cache"], row["launch"]) == ("look_ahead", "tile=36", 4096, "cold", "batch")
    assert row["time_ns"] == 1500 and row["converged"] == 0
    assert found.kernels.iloc[0]["threads"] == 288


def test_host_code_is_launched_like_a_stream(tmp_path: Path) -> None:
    assert read(tmp_path, SCAN | {"launch": "host"}).timings.iloc[0]["launch"] == "stream"


def test_schedules_and_their_parts_are_what_their_fields_say(tmp_path: Path) -> None:
    found = read(tmp_path, SCHEDULE, COPY, KERNEL, SCHEDULE | {"buffers": 4, "repetition_index": 0})
    assert not found.problems and [file.kind for file in found.streams] == [streams.SCHEDULES]
    rows = found.streams[0].rows
    assert list(rows["entry"]) == ["schedule", "copy", "kernel", "schedule"]
    assert list(rows["id"]) == ["graph", "duplex_h2d", "scale", "graph"]
    assert list(rows["buffers"]) == [2, 0, 0, 0]
    assert rows.iloc[0]["device_ns"] == 1.25e6


def test_a_scan_larger_than_the_device_is_what_its_fields_say(tmp_path: Path) -> None:
    found = read(tmp_path, STREAM_SCAN)
    assert not found.problems and [file.kind for file in found.streams] == [streams.STREAM_SCAN]
    assert dict(found.streams[0].rows.iloc[0]) | {"scan": "best", "budget": 1 << 20, "bytes": 16384} == dict(found.streams[0].rows.iloc[0])


@pytest.mark.parametrize("entry", [SCAN, SCHEDULE, COPY, KERNEL, STREAM_SCAN], ids=lambda of: of["kind"])
def test_a_field_that_is_missing_or_of_another_type_is_named(tmp_path: Path, entry: dict[str, Any]) -> None:
    for field in set(entry) - {*_FIELDS, "threads_per_block", "registers", "operations", "device_time_ms"} | {"verified", "real_time", "iterations", "outcome", "name", "kind"}:
        for wrong in ({key: value for key, value in entry.items() if key != field}, entry | {field: [1]}):
            problems = [str(problem) for problem in read(tmp_path, wrong).problems]
            assert len(problems) == 1 and "results.json" in problems[0] and "benchmarks[0]" in problems[0] and field in problems[0], problems


def test_a_context_that_says_nothing_of_its_variants_is_refused(tmp_path: Path) -> None:
    assert "variants" in str(read(tmp_path, SCAN, variants=None).problems[0])


def test_a_wrong_output_counts_for_nothing(tmp_path: Path) -> None:
    assert "verified" in str(read(tmp_path, SCAN | {"verified": False}).problems[0])
    assert "wrong" in str(read(tmp_path, SCHEDULE | {"verified": False}).problems[0])
    assert not read(tmp_path, SCHEDULE | {"verified": False, "control": True}).problems
