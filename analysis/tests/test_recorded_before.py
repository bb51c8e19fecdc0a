"""What was recorded before entries had fields: its names say the same as fields do now, below data/ and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scanlab_report.read import results, streams

_SAMPLE = {"run_type": "iteration", "iterations": 3.0, "real_time": 1500.0, "time_unit": "ns", "round": 0.0, "repetition_index": 0, "verified": 1.0}
NAMES = {
    "scan/variant:look_ahead/type:i32/op:plus/mode:inclusive/items:4096/tile:36/cache:cold/launch:graph/iterations:7/manual_time": "scanlab-results/1",
    "streams/schedule:graph/workload:scale/items:4096/chunks:4/streams:2/memory:pinned/work:1/blocks:0/buffers:2": "scanlab-streams/1",
    "streams/copy:duplex_h2d/bytes:1024/memory:pinned": "scanlab-streams/1",
    "streams/kernel:scale/items:1024/work:1/blocks:0": "scanlab-streams/1",
    "stream_scan/way:streamed/scan:best/type:i32/op:plus/mode:inclusive/items:64/from:file/to:file/budget:64/chunks:2": "scanlab-results/1",
}


def document(name: str, **changes: Any) -> dict[str, Any]:
    entry = _SAMPLE | {"name": name, "run_name": name, "inputs": 1.0, "bytes": 2048.0, "control": 0.0, "mapped": 1.0, "bytes_each_way": 256.0} | changes
    context = {"schema": NAMES.get(name, "scanlab-results/1"), "kind": "cuda", "device": "a device", "git_dirty": False, "l2_bytes": 100}
    return {"context": context, "benchmarks": [entry, {"name": "of all", "run_type": "aggregate"}]}


def read(folder: Path, content: dict[str, Any]) -> results.Results:
    (folder / "d.json").write_text(json.dumps(content))
    return results.read([], [folder])


def test_a_scan_is_what_its_name_says(tmp_path: Path) -> None:
    scan, *_ = NAMES
    found = read(tmp_path, document(scan, threads=256.0, registers=64.0, settled=1.0))
    assert not found.problems
    row = found.timings.iloc[0]
    assert (row["variant"], row["settings"], row["items"], row["cache"], row["launch"], row["settled"]) == ("look_ahead", "tile=36", 4096, "cold", "graph", 1)
    assert found.kernels.iloc[0]["threads"] == 256 and found.runs[0].context["l2_bytes"] == "100" and not found.runs[0].dirty


@pytest.mark.parametrize(("name", "said"), list(zip(list(NAMES)[1:], (
    {"entry": "schedule", "id": "graph", "chunks": 4, "streams": 2, "buffers": 2, "bytes": 2048, "inputs": 1},
    {"entry": "copy", "id": "duplex_h2d", "bytes": 1024, "memory": "pinned"}, {"entry": "kernel", "id": "scale", "workload": "scale", "items": 1024},
    {"way": "streamed", "scan": "best", "budget": 64, "mapped": 1, "bytes": 256}), strict=True)))  # fmt: skip
def test_what_is_of_streams_is_what_its_name_says(tmp_path: Path, name: str, said: dict[str, Any]) -> None:
    found = read(tmp_path, document(name))
    assert not found.problems and found.streams[0].kind == (streams.STREAM_SCAN if "way" in said else streams.SCHEDULES)
    assert {key: found.streams[0].rows.iloc[0][key] for key in said} == said


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_lacks_a_part_is_refused_and_so_is_a_file_of_ones_own(tmp_path: Path, name: str) -> None:
    assert "lacks" in str(read(tmp_path, document(name) | {"benchmarks": [_SAMPLE | {"name": name.partition("/items")[0].partition("/bytes")[0]}]}).problems[0])
    (tmp_path / "d.json").write_text(json.dumps(document(name)))
    assert f"{tmp_path / 'd.json'}: context.schema: is {NAMES[name]}, of an older Scanlab: measure again" in map(str, results.read([tmp_path], []).problems)
