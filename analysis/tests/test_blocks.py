"""Block scans: what is compared with what, and by which measure."""

from typing import Any

from scanlab_report import DATA
from scanlab_report.chapters import blocks
from scanlab_report.data import Data
from scanlab_report.load import load
from tests import tiny
from tests.tiny import with_rows

RECORDED = DATA / "recorded"


def samples(variant: str, ns: float, cycles: float, threads: int = 64, **settings: str) -> list:
    chosen = {"scans": "256"} | settings
    name = " ".join(f"{key}={value}" for key, value in sorted(chosen.items()))
    case: dict[str, Any] = dict(variant=variant, settings=name, type="i32", op="plus")
    case |= dict(mode="inclusive", items=4 * threads, rows=100, cache="warm", launch="stream")
    case |= dict(entry="block_scan", registers=32, shared_bytes=64, local_bytes=0)
    return [(case | dict(round=i, ns=ns + i, cycles=cycles + i), name, chosen) for i in range(6)]


def data_of(*cases: list) -> Data:
    every = [sample for case in cases for sample in case]
    data = with_rows(Data(), "block_scan", [row for row, _, _ in every], device="Test Device")
    data.settings.update({name: chosen for _, name, chosen in every})
    return data


def test_the_fastest_of_ours_meets_the_fastest_of_theirs_in_each_measure() -> None:
    data = data_of(
        samples("block_best", 1000.0, 350.0),
        samples("block_best", 1100.0, 300.0, predicate="lane"),
        samples("block_raking", 900.0, 500.0),
        samples("cub_block_scan", 2000.0, 450.0, algorithm="warp_scans"),
        samples("cub_block_scan", 1800.0, 600.0),
        samples("block_copy", 10.0, 10.0),
    )
    (row,) = blocks.against_cub(blocks.block_cases(data)).itertuples()
    assert (row.time_ours, row.time_theirs) == ("block_raking", "cub_block_scan raking")
    assert (row.cycles_ours, row.cycles_theirs) == ("block_best lane", "cub_block_scan warp_scans")
    assert round(row.time_ratio.value, 1) == 2.0 and round(row.cycles_ratio.value, 1) == 1.5
    assert row.time_outcome == row.cycles_outcome == "win" and row.threads == 64


def test_a_loss_is_counted_as_one_with_its_ratio_and_its_threads() -> None:
    slow = [samples("block_best", 3000.0, 900.0, 128), samples("block_best", 1000.0, 300.0)]
    theirs = [samples("cub_block_scan", 1500.0, 450.0, threads) for threads in (64, 128)]
    (row,) = blocks.block_scan_rivals(data_of(*slow, *theirs)).content.rows.itertuples()
    assert (row.time_win, row.time_tie, row.time_loss, row.time_at) == (1, 0, 1, "128")
    assert round(row.time_least.value, 1) == 0.5


def test_one_scan_between_load_and_store_is_no_throughput() -> None:
    data = data_of(samples("block_best", 1000.0, 300.0), samples("block_tree", 9.0, 9.0, scans="1"))
    assert set(blocks.block_cases(data)["name"]) == {"block_best"}


def test_items_per_nanosecond_are_those_of_all_rows_and_scans() -> None:
    data = data_of(samples("block_best", 100.0, 300.0), samples("block_best", 100.0, 300.0, 256))
    cycles, items = tiny.drawn(blocks.block_scans, data).axes
    (line,) = items.get_lines()
    assert list(line.get_ydata()) == [100 * 256 * 4 * n / 102.5 for n in (64, 256)]
    assert list(cycles.get_lines()[0].get_xdata()) == [64, 256]


def test_counters_are_of_one_algorithm_each() -> None:
    data = load([], sorted((RECORDED / "nvidia-h200" / "2026-11-29").iterdir()))
    rows = blocks.block_scan_cost(data).content.rows.set_index("name")["wavefronts"]
    counted = data["block_counters"].query("items == 1024")
    ways = [f"shared_{way}_wavefronts" for way in ("load", "store")]
    of = lambda variant, settings: counted.query(
        f"variant == '{variant}' and settings == '{settings}'"
    )[ways].to_numpy()
    assert rows["block_best"] == of("block_best", "").sum()
    assert rows["cub_block_scan warp_scans"] != rows["cub_block_scan raking"]
    scans = of("cub_block_scan", "algorithm=warp_scans")
    assert len(scans) == 1 and rows["cub_block_scan warp_scans"] == scans.sum()
