"""The choice of runs: measured before recorded, newest before older, one device at a time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from analysis import results
from analysis.evidence import Timings, gather
from analysis.tests.fixtures import case_name, context, repetition


def run(folder: Path, name: str, time: float, variant: str = "memcpy", **changes: Any) -> None:
    folder.mkdir(exist_ok=True)
    entries = [repetition(case_name(variant, 1024), i, time) for i in range(5)]
    (folder / name).write_text(json.dumps({"context": context(**changes), "benchmarks": entries}))


def median(measured: list[Path], recorded: list[Path], **need: Any) -> tuple[float, str]:
    evidence = Timings(**need).find(results.read(measured, recorded), {})
    assert evidence is not None
    return float(evidence.of("memcpy")["median_ns"].iloc[0]), evidence.provenance.line()


def test_what_was_measured_now_is_preferred_and_said(tmp_path: Path) -> None:
    run(tmp_path / "now", "a.json", 1.0)
    run(tmp_path / "then", "a.json", 2.0)
    assert median([tmp_path / "now"], [tmp_path / "then"]) == (1.0, "Test Device, 2026-01-02, commit 012345678, measured now")
    assert median([], [tmp_path / "then"])[1].endswith("recorded")


def test_recorded_is_taken_where_what_was_measured_does_not_suffice(tmp_path: Path) -> None:
    run(tmp_path / "now", "a.json", 1.0, variant="cpu_sequential", kind="host")
    run(tmp_path / "then", "a.json", 2.0)
    assert median([tmp_path / "now"], [tmp_path / "then"])[0] == 2.0


def test_two_commits_are_never_pooled_and_the_newer_is_taken(tmp_path: Path) -> None:
    run(tmp_path, "a.json", 3.0, date="2026-02-01T00:00:00", git_commit="f" * 40, git_dirty="true")
    run(tmp_path, "b.json", 2.0, date="2026-01-01T00:00:00")
    assert median([], [tmp_path]) == (3.0, "Test Device, 2026-02-01, commit fffffffff+, recorded")


def test_missing_evidence_is_said_in_a_clause(tmp_path: Path) -> None:
    gathered = gather({"timings": Timings(all_of=("memcpy",))}, results.Results(), {})
    assert gathered.reasons == ("no i32 plus inclusive timings of memcpy on a CUDA device",)
