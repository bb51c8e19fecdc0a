"""The head_to_head and the targets: what is compared is from one run, who won is said by the interval, and yes is computed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scanlab_report.claims.checked import check, targets
from scanlab_report.claims.standing import MISSING, Bound, Standing
from scanlab_report.claims.stated import OF_SCANS
from scanlab_report.read import results
from scanlab_report.select.evidence import LOSS, OPEN, TIE, WIN, AllTimingEvidence, outcome
from scanlab_report.select.timings import AllTimings
from scanlab_report.select.variants import CUBS
from scanlab_report.stats.intervals import Interval
from scanlab_report.tables import rivals
from scanlab_report.tables.claims import reference
from tests.fixtures import _KERNEL, COMMIT, case, context, repetition

GIB_OF_I32 = 2**28
SPREAD = (0.99, 0.995, 1.0, 1.005, 1.01)


def write(folder: Path, name: str, times: dict[str, float], items: int = GIB_OF_I32, ran: str = "look_ahead", **changes: Any) -> None:
    """A run of one case of i32: median times in nanoseconds by variant."""
    folder.mkdir(exist_ok=True)
    entries = [repetition(case(variant, items, launch="stream"), i, time * spread, **_KERNEL | changes.get("kernel", {}),
                          **({"choice": {"variant": ran}} if variant == "best" else {}))
               for variant, time in times.items() for i, spread in enumerate(changes.get("spread", SPREAD))]  # fmt: skip
    about = context(date=changes.get("date", "2026-01-02"), git_commit=changes.get("commit", COMMIT))
    (folder / name).write_text(json.dumps({"context": about, "benchmarks": entries}))


def evidence(folder: Path) -> AllTimingEvidence:
    found = AllTimings().find(results.read([], [folder]), {})
    assert found is not None
    return found


def row(folder: Path, what: str, measure: str) -> Standing:
    read = results.read([], [folder])
    rows = check(targets(OF_SCANS).claims, read, {})
    (found,) = [r for r in rows if r.what.startswith(what) and r.measure == measure]
    return found


@pytest.mark.parametrize(("low", "high", "said"), [(1.01, 1.2, WIN), (0.99, 1.2, TIE), (0.8, 0.99, LOSS), (np.nan, np.nan, OPEN)])
def test_the_interval_says_who_won(low: float, high: float, said: str) -> None:
    assert outcome(Interval(1.0, low, high, 5)) == said


def test_both_sides_of_a_head_to_head_are_from_the_newest_run_that_has_both(tmp_path: Path) -> None:
    write(tmp_path, "old.json", {"best": 100.0, "cub_device_scan": 110.0}, date="2026-01-01")
    write(tmp_path, "mid.json", {"best": 100.0, "cub_device_scan": 130.0}, date="2026-01-02")
    write(tmp_path, "new.json", {"best": 50.0}, date="2026-01-03")
    timings = evidence(tmp_path)
    (key,) = timings.keys()
    assert timings.match(key, "best", (CUBS,)).ratio.value == pytest.approx(1.3)


def test_the_shares_of_copy_and_cub_in_a_row_are_of_one_run(tmp_path: Path) -> None:
    write(tmp_path, "full.json", {"best": 100.0, "cub_device_scan": 130.0, "memcpy": 95.0}, date="2026-01-01")
    write(tmp_path, "head_to_head.json", {"best": 100.0, "cub_device_scan": 150.0}, date="2026-01-02")
    timings = evidence(tmp_path)
    found = rivals.against(timings, timings.keys()[0])
    assert found["of_memcpy"] == pytest.approx(0.95)
    assert found["of_cub"].value == found["of_cub_device_scan"] == pytest.approx(1.3)


def test_a_target_is_reached_or_missed_by_its_worst_size(tmp_path: Path) -> None:
    write(tmp_path, "a.json", {"best": 100.0, "cub_device_scan": 130.0, "memcpy": 98.0})
    assert row(tmp_path, "best: i32, 1 GiB", "× CUB as shipped").reached is True
    write(tmp_path, "b.json", {"best": 200.0, "cub_device_scan": 240.0, "memcpy": 196.0}, items=2**29)
    missed = row(tmp_path, "best: i32, 1 GiB", "× CUB as shipped")
    assert missed.reached is False and missed.where == "2^29" and missed.measured.value == pytest.approx(1.2)
    assert row(tmp_path, "best: i32, 1 GiB", "of memcpy").reached is True


def test_what_the_data_do_not_tell_is_neither_reached_nor_missed(tmp_path: Path) -> None:
    write(tmp_path, "a.json", {"best": 100.0, "cub_device_scan": 130.0})
    missing = row(tmp_path, "best: i8", "of memcpy")
    assert missing.reached is None and missing.measured is None and missing.where == MISSING


def test_of_two_runs_of_a_case_the_one_that_timed_more_tells_of_a_target_and_of_equals_the_newest(tmp_path: Path) -> None:
    write(tmp_path, "full.json", {"best": 100.0, "cub_device_scan": 120.0, "memcpy": 96.0}, date="2026-01-01")
    write(tmp_path, "head_to_head.json", {"best": 100.0, "cub_device_scan": 130.0}, date="2026-01-02")
    found = row(tmp_path, "best: i32, 1 GiB", "× CUB as shipped")
    assert (found.met, found.runs, found.reached) == (0, 1, False) and found.measured.value == pytest.approx(1.2)
    write(tmp_path, "head_to_head.json", {"best": 100.0, "cub_device_scan": 130.0, "memcpy": 96.0}, date="2026-01-02")
    assert row(tmp_path, "best: i32, 1 GiB", "× CUB as shipped").reached is True


def test_a_target_that_one_of_two_runs_misses_at_a_size_of_its_own_is_not_reached(tmp_path: Path) -> None:
    write(tmp_path, "a.json", {"best": 100.0, "cub_device_scan": 130.0})
    write(tmp_path, "b.json", {"best": 100.0, "cub_device_scan": 120.0}, items=2**29)
    found = row(tmp_path, "best: i32, 1 GiB", "× CUB as shipped")
    assert (found.met, found.runs, found.reached) == (1, 2, False) and found.said == "fails in 1 of 2 files"


@pytest.mark.parametrize(("cub", "said"), [(125.1, "holds by the median only"), (130.0, "holds"), (124.9, "fails")])
def test_a_target_that_the_median_alone_reaches_says_so(tmp_path: Path, cub: float, said: str) -> None:
    write(tmp_path, "a.json", {"best": 100.0, "cub_device_scan": cub})
    assert row(tmp_path, "best: i32, 1 GiB", "× CUB as shipped").said == said


def test_an_interval_that_reaches_beyond_the_bound_counts_at_every_size(tmp_path: Path) -> None:
    write(tmp_path, "narrow.json", {"best": 100.0, "cub_device_scan": 130.0})
    write(tmp_path, "wide.json", {"best": 100.0, "cub_device_scan": 131.0}, items=2**29, spread=(0.9, 0.95, 1.0, 1.05, 1.1))
    found = row(tmp_path, "best: i32, 1 GiB", "× CUB as shipped")
    assert (found.where, found.said) == ("2^28", "holds by the median only")


def test_a_row_that_is_not_reached_shows_what_a_copy_has_and_one_that_is_does_not(tmp_path: Path) -> None:
    times = {"cub_device_scan": 120.0, "cub_newest": 125.0, "memcpy": 80.0, "copy_vector": 75.0}
    write(tmp_path, "a.json", {"best": 100.0} | times)
    assert row(tmp_path, "best: i32, 1 GiB", "× CUB as shipped").bound == Bound("copy_vector", pytest.approx(1.6), True)  # the fastest, and 1.25 is wanted
    write(tmp_path, "a.json", {"best": 100.0} | times | {"copy_one_wave": 96.0})
    assert reference(row(tmp_path, "best: i32, 1 GiB", "× CUB as shipped")) == "none: copy_one_wave has 1.25"
    write(tmp_path, "a.json", {"best": 100.0} | times | {"copy_one_wave": 100.0})
    assert reference(row(tmp_path, "best: i32, 1 GiB", "× CUB as shipped")) == "copy_one_wave: 1.20"
    write(tmp_path, "a.json", {"best": 90.0} | times)
    reached = row(tmp_path, "best: i32, 1 GiB", "× CUB as shipped")
    assert reached.reached and reached.bound is None


def test_the_copies_beside_a_row_are_of_the_run_that_has_them(tmp_path: Path) -> None:
    write(tmp_path, "full.json", {"best": 100.0, "cub_device_scan": 120.0, "copy_one_wave": 80.0}, date="2026-01-01")
    write(tmp_path, "head_to_head.json", {"best": 10.0, "cub_device_scan": 11.0, "memcpy": 9.0}, date="2026-01-02")
    missed = row(tmp_path, "best: i32, 1 GiB", "× CUB as shipped")
    assert missed.measured.value == pytest.approx(1.1) and missed.bound.what == "memcpy"  # of runs with as many copies, the newest
    write(tmp_path, "full.json", {"best": 100.0, "cub_device_scan": 120.0, "copy_one_wave": 80.0, "copy_bulk": 70.0}, date="2026-01-01")
    assert row(tmp_path, "best: i32, 1 GiB", "× CUB as shipped").bound == Bound("copy_one_wave", pytest.approx(1.5), True)
