"""Scans at random odd sizes: intervals are over processes, and no other table or claim reads these files."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from scanlab_report.claims.checked import check
from scanlab_report.claims.standing import FAILS, HOLDS, NOT_MEASURED
from scanlab_report.claims.stated import Claim
from scanlab_report.read.records import Results
from scanlab_report.select.drift import Sessions
from scanlab_report.select.timings import AllTimings
from scanlab_report.tables import odd_sizes
from tests import tiny
from tests.tiny import case, near

ARGV = "scanlab bench --sweep odd_sizes --seed {} --out odd_sizes_{}.json"
WON, FLIPPING, LOST = 5037, 40961, 2_000_001
RATIOS = {WON: (1.2,) * 7 + (1.3,), FLIPPING: (0.95, 1.05) * 4, LOST: (0.9, 0.95) + (0.97,) * 6}
"""Time of CUB over that of best in each of 8 processes."""


def processes(number: int = 8, device: str = "Test Device") -> Results:
    """The newest CUB is the faster one in the median over processes, though not in the first."""
    files = [[case(variant, items, time, (1.0,) * 3) for items, ratios in RATIOS.items() for variant, time in (
        ("best", 1000.0), ("device_scan", 500.0), ("cub_newest", 1000.0 * ratios[place]), ("cub_device_scan", 800.0 if place == 0 else 2000.0))]
        for place in range(number)]  # fmt: skip
    read = tiny.results(*files, device=device)
    read.runs = [dataclasses.replace(run, context={**run.context, "argv": ARGV.format(place, place)}) for place, run in enumerate(read.runs, start=1)]
    return read


def stands(read: Results, variant: str, **named: Any) -> list[tuple[str, str]]:
    claim = Claim(statement="all cases", source="scanlab", figure="odd_sizes", measure="odd_sizes", variant=variant, at_most=0, **named)
    return [(standing.verdict, standing.where) for standing in check([claim], read, {})]


def test_a_case_is_won_or_lost_only_if_its_processes_agree() -> None:
    table = tiny.built(odd_sizes, processes())
    best, header = tiny.cells(table, 0), tiny.cells(table, 1)
    assert [best[name] for name in ("variant", "type", "cases", "won", "equal", "lost", "rival", "spread")] == ["`best`", "all", "3", "1", "1", "1", "`cub_newest`", "10.5%"]
    assert [header[name] for name in ("variant", "won", "equal", "lost")] == ["`device_scan`", "3", "0", "0"]
    assert "8 processes" in table.caption and "3 random odd sizes, 5\u2009037 to 2\u2009000\u2009001" in table.caption
    single = table.rows.iloc[table.printed :]
    ratios = {row.items: row.ratio for row in single[single["variant"] == "best"].itertuples()}
    assert {items: (ratio.value, ratio.low, ratio.high, ratio.count) for items, ratio in ratios.items()} == {
        WON: near((1.2, 1.2, 1.3, 8)), FLIPPING: near((1.0, 0.95, 1.05, 8)), LOST: near((0.97, 0.9, 0.97, 8)),
    }  # fmt: skip
    assert single["ratio"].map(lambda ratio: ratio.value).is_monotonic_increasing
    assert len(odd_sizes.short(**tiny.gathered(odd_sizes, processes())).rows) == 2


def test_the_claim_counts_lost_cases_and_names_the_worst_on_each_device() -> None:
    assert stands(processes(), "best") == [(FAILS, "i32, 2000001, cold, stream: 0.970 [0.900, 0.970] × CUB over 8 processes")]
    assert stands(processes(), "device_scan") == [(HOLDS, "i32, 2000001, cold, stream: 1.94 [1.80, 1.94] × CUB over 8 processes")]
    assert stands(processes(5), "best") == [(NOT_MEASURED, "not in the data")]  # too few for an interval
    both, other = processes(), processes(device="Other Device")
    both.runs += other.runs
    both.timing_rows += [(row[0] + 8, *row[1:]) for row in other.timing_rows]
    assert [verdict for verdict, _ in stands(both, "best")] == [FAILS, FAILS]


@pytest.mark.parametrize("need", [AllTimings(), Sessions()])
def test_no_other_table_or_claim_reads_these_files(need: Any) -> None:
    assert need.find(processes(), {}) is None
    assert stands(tiny.results([case(variant, WON, 1000.0) for variant in ("best", "cub_newest")]), "best") == [(NOT_MEASURED, "not in the data")]
