"""What stands in the cells of each table, of a few times and counts chosen by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from scanlab_report.documents import ladder
from scanlab_report.figures.speedup import details
from scanlab_report.read.documents.results import Choice
from scanlab_report.read.published import Publication
from scanlab_report.select.evidence import CounterEvidence, CountEvidence, TableEvidence
from scanlab_report.select.needs import Gathered, gather
from scanlab_report.select.streams_evidence import SERIAL
from scanlab_report.stats.intervals import Interval
from scanlab_report.tables import (
    bits,
    costs,
    cpu_baselines,
    hardware_conflicts,
    head_to_head,
    kernels,
    losses,
    model_advice,
    operators,
    rivals,
    schedules,
    sessions,
    skipped,
    speedup,
    standing,
    summary,
    targets,
)
from tests import test_plotted_streams, tiny
from tests.tiny import EXACT, LEAST, MOST, NOWHERE, case, cells, near

N = 1 << 20
"""At 8 bytes an item that is read and written, 8388.608 ns are 1000 GB/s."""
THOUSAND = 8 * N / 1000


def ends(interval: Interval) -> tuple[float, float, float]:
    return interval.value, interval.low, interval.high


def test_a_scan_stands_at_its_largest_size_with_rate_and_ratios() -> None:
    times = {"memcpy": (EXACT, 1.0), "best": (tiny.SPREAD, 1.25), "cub_device_scan": (EXACT, 2.0), "cub_newest": (EXACT, 1.6)}
    read = tiny.results([*(case(variant, n, by * n / N * THOUSAND, spread) for variant, (spread, by) in times.items() for n in (N // 2, N)),
                         case("best", 1 << 29, 1.0), case("hs_blocked", N // 2, THOUSAND), case("cpu_parallel", N // 2, 10 * THOUSAND, cache="warm")])  # fmt: skip
    table = tiny.built(summary, read)
    rows = table.rows.set_index("variant")
    assert rows.index.tolist() == ["memcpy", "best", "cub_newest", "cub_device_scan", "hs_blocked", "cpu_parallel"]
    assert rows["items"].tolist() == [N, N, N, N, N // 2, N // 2]  # 2^29 is beyond where scans are set side by side
    assert rows.at["best", "time_us"] == near(1.25 * THOUSAND / 1e3)
    assert ends(rows.at["best", "gb_per_s"]) == near((800, 800 / MOST, 800 / LEAST))
    assert ends(rows.at["best", "of_memcpy"]) == near((0.8, 0.8 / MOST, 0.8 / LEAST)) and rows.at["memcpy", "of_memcpy"] is None
    assert rows.at["best", "of_cub"].value == near(1.28) and rows.at["cub_newest", "of_cub"] is None and rows.at["cub_device_scan", "of_cub"].value == near(0.8)
    assert cells(table, 1)["gb_per_s"] == "800 [571, 889]" and any("differ by session" in note for note in table.notes)
    assert "no interval" not in "".join(table.notes)
    (few,) = tiny.built(summary, tiny.results([case("memcpy", N, 1.0), case("best", N, 1.0, (1, 1, 1, 1))])).notes
    assert few.startswith("Medians of fewer than 6 repetitions")


def test_the_short_summary_has_the_largest_size_alone_and_how_wide_intervals_are() -> None:
    read = tiny.results([case("memcpy", N, 1e6, (1, 1, 1, 1, 1.01, 0.98)), case("best", N, 2e6, EXACT), case("hs_blocked", N // 2, 1e6), case("cpu_parallel", N, 1e6, cache="warm")])
    table = summary.short(**tiny.gathered(summary, read))
    assert [row for row in map(lambda place: cells(table, place), range(len(table.rows)))] == [
        {"variant": "`memcpy`", "median_us": "1.00", "rate": "8", "of_memcpy": "—", "of_cub": "—"},
        {"variant": "`best`", "median_us": "2.00", "rate": "4", "of_memcpy": "0.50", "of_cub": "—"}]  # fmt: skip
    assert "95% intervals within 2.0% of their medians" in table.caption


def test_a_standing_is_a_share_at_each_size_the_fastest_first() -> None:
    read = tiny.results([case(variant, n, ns) for n in (1024, N) for variant, ns in (("memcpy", 100.0), ("cub_device_scan", 200.0), ("best", 125.0 if n == N else 1e4))])
    table = tiny.built(standing, read)
    best, cub = (cells(table, place) for place in (0, 1))
    assert best == {"variant": "`best`", "of_memcpy_2^10": "0.010", "of_memcpy_2^20": "0.800", "of_cub_2^10": "0.020", "of_cub_2^20": "1.60"}
    assert cub["of_memcpy_2^20"] == "0.500" and cub["of_cub_2^20"] == "1.00"


FIELD = {"best": 100.0, "memcpy": 90.0, "copy_bulk": 80.0, "copy_one_wave": 95.0, "cub_device_scan": 150.0, "cub_newest": 130.0, "thrust_scan": 300.0}


def test_rivals_are_over_best_and_copies_its_ceiling() -> None:
    table = tiny.built(rivals, tiny.results([case(variant, n, ns * n / N, choice=Choice(variant="look_ahead")) for variant, ns in FIELD.items() for n in (N, 1 << 26, 1 << 28)]))
    assert table.rows["items"].tolist() == [N, 1 << 28]
    row = cells(table)
    assert (row["time_us"], row["of_memcpy"], row["of_copy_bulk"], row["of_copy_one_wave"]) == ("0.1000", "0.900", "0.800", "0.950")
    assert (row["of_cub_device_scan"], row["of_cub_newest"], row["of_thrust_scan"], row["chosen"]) == ("1.50", "1.30", "3.00", "look_ahead")
    fast = rivals.fastest(**tiny.gathered(rivals, tiny.results([case(variant, 1 << 28, 1e6 * ns) for variant, ns in FIELD.items()])))
    assert cells(fast) == {"type": "i32", "items": "2^28", "time_us": "100", "of_memcpy": "0.90", "of_cub": "1.30", "fastest_cub": "`cub_newest`"}


def test_the_score_tells_cub_as_shipped_from_cub_tuned() -> None:
    shipped = [case(variant, 1 << 28, ns, EXACT) for variant, ns in FIELD.items()]
    said = rivals.score(**tiny.gathered(rivals, tiny.results(shipped)))
    assert said.startswith("Against the fastest scan of CUB as shipped, `best` is faster in 1 of 1 cases, equal in 0 and slower in 0.")
    assert "(`cub_tuned`) has no times in this recording." in said
    read = tiny.results([*shipped, case("cub_tuned", 1 << 28, 80.0, EXACT)], device="NVIDIA H200")  # of which the title speaks
    said = rivals.score(**tiny.gathered(rivals, read))
    assert "as shipped, `best` is faster in 1 of 1 cases, equal in 0 and slower in 0." in said
    assert "Against CUB with shapes tuned on the device (`cub_tuned`), `best` is faster in 0 of 1 cases, equal in 0 and slower in 1." in said
    read = tiny.results([*shipped, case("cub_tuned", 1 << 28, 80.0, EXACT)], device="NVIDIA H100")
    assert "Against CUB with shapes tuned on another device, NVIDIA H200 (`cub_tuned`), `best`" in rivals.score(**tiny.gathered(rivals, read))


def test_the_readme_has_six_rows_and_cub_tuned_where_it_was_timed() -> None:
    timed = ["memcpy", "best", "cub_device_scan", "cub_newest", "torch_cumsum", "decoupled_lookback", "hs_blocked", "thrust_scan"]
    rows = [case(variant, N, 1e6 * (1 + place)) for place, variant in enumerate(timed)]
    table = summary.six(**tiny.gathered(summary, tiny.results(rows, toolkit="13.0", driver="580", cccl_newest="3.6.0")))
    assert table.rows["variant"].tolist() == ["memcpy", "best", "cub_device_scan", "cub_newest", "torch_cumsum", "decoupled_lookback"]
    assert "Versions: CUDA 13.0, driver 580, CCCL 3.6.0 as the newest." in table.caption
    table = summary.six(**tiny.gathered(summary, tiny.results([*rows, case("cub_tuned", N, 1.5e6)])))
    assert table.rows["variant"].tolist() == ["memcpy", "cub_tuned", "best", "cub_device_scan", "cub_newest", "torch_cumsum"]


def test_operators_have_both_sizes_side_by_side() -> None:
    table = tiny.built(operators, tiny.results([case(variant, n, ns * (1 + (n > N)), op="max") for variant, ns in FIELD.items() for n in (N, 1 << 28)]))
    row = cells(table)
    assert (row["op"], row["time_us_small"], row["time_us_large"], row["items"]) == ("max", "0.1000", "0.2000", "2^28")
    assert (row["of_memcpy_small"], row["fastest_cub_large"]) == ("0.90", "newest") and row["of_cub_large"].startswith("1.30 [")


HEAD_TO_HEAD = [*(case("best", n, 100.0, EXACT) for n in (1024, 2048, 4096, 8192)), *(case("cub_device_scan", n, ns, EXACT) for n, ns in ((1024, 200.0), (2048, 100.0), (4096, 80.0), (8192, 50.0)))]


def test_the_head_to_head_is_counted_by_won_tied_and_lost() -> None:
    table = tiny.built(head_to_head, tiny.results([*HEAD_TO_HEAD, case("best", N, 100.0, EXACT, type="i64", cache="warm"), case("cub_newest", N, 300.0, EXACT, type="i64", cache="warm")]))
    assert [row["type"] for row in map(lambda place: cells(table, place), range(3))] == ["i32", "i64", "all"]
    assert cells(table) == {"type": "i32", "op": "plus", "cold_stream": "1 / 1 / 2", "warm_stream": "0 / 0 / 0", "cases": "4", "lost": "2", "least": "0.500", "median": "0.900"}
    assert (cells(table, 2)["cold_stream"], cells(table, 2)["warm_stream"], cells(table, 2)["median"]) == ("1 / 1 / 2", "1 / 0 / 0", "1.00")


def test_a_head_to_head_without_an_interval_is_open() -> None:
    few = [case(variant, 512, ns, (1.0,) * 3) for variant, ns in (("best", 500.0), ("cub_device_scan", 100.0))]
    row = cells(tiny.built(head_to_head, tiny.results([*HEAD_TO_HEAD, *few])))
    assert (row["cold_stream"], row["cases"], row["least"]) == ("1 / 1 / 2", "4", "0.500")
    assert "1 case with too few repetitions for an interval is left out." in tiny.built(head_to_head, tiny.results([*HEAD_TO_HEAD, *few])).caption
    assert "2 of 4" in tiny.built(losses, tiny.results([*HEAD_TO_HEAD, *few])).caption


def test_losses_are_those_alone_the_worst_first() -> None:
    table = tiny.built(losses, tiny.results(HEAD_TO_HEAD))
    assert [(row["items"], row["times_cub"], row["rival"], row["chosen"]) for row in map(lambda place: cells(table, place), range(len(table.rows)))] == [
        ("2^13", "0.500 [0.500, 0.500]", "`cub_device_scan`", "—"), ("2^12", "0.800 [0.800, 0.800]", "`cub_device_scan`", "—")]  # fmt: skip
    assert "2 of 4" in table.caption


def test_kernels_show_the_usual_case_and_the_most_of_any() -> None:
    def kernel(registers: float, local: float = 0.0, ns: float = 2000.0) -> dict[str, float]:
        return tiny.KERNEL | {"registers": registers, "local_bytes": local, "prepare_ns": ns}

    read = tiny.results([case("best", N, 1.0, kernel=kernel(40)), case("best", 2 * N, 1.0, kernel=kernel(32, ns=3500.0)), case("best", 1 << 29, 1.0, kernel=kernel(80)),
                         case("best", 4 * N, 1.0, type="i64", kernel=kernel(96, local=16)), case("cub_newest", N, 1.0, kernel=kernel(60, local=8)), case("memcpy", N, 1.0)])  # fmt: skip
    table = tiny.built(kernels, read)
    row, cub = cells(table), cells(table, 1)
    assert (row["variant"], row["items"], row["registers"], row["prepare_us"]) == ("`best`", "2^21", "32", "3.5")
    assert (row["local_bytes"], row["most_registers"], row["most_local_bytes"]) == ("0", "96", "16")
    assert cub["variant"] == "`cub_newest`" and table.notes == ("`cub_newest` has local memory in every kernel: 8 to 8 B.",)


def counts(**changes: Any) -> Any:
    totals = {"launches": 2, "operations": 126, "swaps": 63, "barriers": 12, "global_bytes_read": 256, "global_bytes_written": 384}
    return tiny.explanation("hso_block", 64, {"max_degree": 16, "mean_degree": 4.5, "transactions": 40}, totals=totals, closed_forms={"operations": 125, "swaps": None}, **changes)


def test_costs_are_what_was_counted_beside_the_closed_form() -> None:
    table = costs.build(CountEvidence([counts()], NOWHERE))
    assert cells(table) == {"variant": "`hso_block`", "mode": "inclusive", "items": "64", "launches": "2", "operations": "126", "operations_closed_form": "125", "swaps": "63",
                            "swaps_closed_form": "—", "barriers": "12", "global_bytes_per_item": "10.0", "worst_degree": "16"}  # fmt: skip


def test_a_rung_has_the_bytes_an_item_that_were_counted_and_its_measured_standing() -> None:
    read = tiny.results([case("memcpy", N, THOUSAND, EXACT), case("hso_block", N, 4 * THOUSAND), case("best", N, 2 * THOUSAND), case("cub_device_scan", N, 3 * THOUSAND, EXACT)])
    read.explanations = [counts(), tiny.explanation("hso_block", 1 << 12, {"max_degree": 2}, totals={"global_bytes_read": 1 << 14, "global_bytes_written": 1 << 15})]
    found = gather(ladder.NEEDS, read, {}).found
    table = ladder.build(**found)
    assert table.rows["variant"].tolist() == ["hso_block", "best"]  # upward to the ceiling, and of ours alone
    slow, best = cells(table), cells(table, 1)
    assert (slow["cost_items"], slow["bytes_per_item"], slow["worst_degree"], slow["barriers"]) == ("2^12", "12.0", "2", "3")  # of the counts nearest to 2^16
    assert (slow["time_us"], slow["of_memcpy"], slow["of_cub"]) == ("33.55", "0.250 [0.179, 0.278]", "0.750 [0.536, 0.833]")
    assert (best["cost_items"], best["bytes_per_item"], best["of_memcpy"]) == ("—", "—", "0.500 [0.357, 0.556]")


def test_emulator_and_hardware_stand_side_by_side() -> None:
    columns = ["shared_load_wavefronts", "shared_store_wavefronts", "shared_load_conflicts", "shared_store_conflicts"]
    launches = pd.DataFrame([{"variant": "hso_block", "padding": "none", "type": "i32", "op": "plus", "items": 64, "kernel": "k", "launch_index": i} | dict(zip(columns, of, strict=True))
                             for i, of in enumerate(((20, 12, 7, 1), (5, 4, 1, 2)))])  # fmt: skip
    table = hardware_conflicts.build(CounterEvidence(launches, [tiny.explanation("hso_block", 64, {"transactions": 40})], NOWHERE, NOWHERE))
    assert cells(table) == {"variant": "`hso_block`", "padding": "none", "load": "halves", "items": "64", "transactions_emulator_i32": "40", "transactions_hardware_i32": "41",
                            "conflicts_emulator_i32": "30", "conflicts_hardware_i32": "11"}  # fmt: skip


def cores(*sessions_: float) -> Any:
    return tiny.results(*([case("cpu_sequential", N, ns, cache="warm"), case("cpu_sequential", N, 1.0, type="i64"), case("cpu_parallel", 2 * N, THOUSAND, cache="warm")] for ns in sessions_))


def test_cpu_baselines_have_microseconds_and_rates_and_how_sessions_differ() -> None:
    table = tiny.built(cpu_baselines, cores(40 * THOUSAND, 10 * THOUSAND, 20 * THOUSAND))
    first, second = cells(table), cells(table, 1)
    assert (first["machine"], first["items"], first["cpu_sequential_us"], first["cpu_sequential_gb_per_s"]) == ("Test CPU, 4 cores", "2^20", "168", "50.0 [35.7, 55.6]")
    assert (second["items"], second["cpu_parallel_us"], second["cpu_sequential_us"]) == ("2^21", "8.39", "—")
    assert table.notes == ("CPU, one thread: 3 sessions with Test Device took between 83.9 and 336 µs for 2^20 items. Intervals of one session do not cover that range.",
                           "CPU, all cores: 3 sessions with Test Device took between 8.39 and 8.39 µs for 2^21 items. Intervals of one session do not cover that range.")  # fmt: skip
    assert tiny.built(cpu_baselines, cores(THOUSAND)).notes == ()


def over_one_core(*cpu: float) -> Gathered:
    published = Publication(pd.DataFrame({"items": [1024, N], "cpu_ms": [1.0, 9.0], "gpu_ms": [4.0, 2.0]}), {"short": "then"})
    read = tiny.results(*([case("cpu_sequential", N, ns, cache="warm"), case("hso_blocked_padded", N, 100.0, EXACT), case("cub_device_scan", N, 50.0, EXACT)] for ns in cpu))
    return gather(speedup.NEEDS, read, {"hso2007_table2": published})


def test_a_speedup_over_one_core_is_a_range_over_the_sessions() -> None:
    gathered = over_one_core(3000.0, 2000.0, 6200.0)
    table = speedup.build(**gathered.found)
    assert cells(table) == {"items": "2^10", "cpu_ms": "1.00", "gpu_ms": "4.00", "speedup_2007": "0.250", "speedup_hso_blocked_padded": "—", "speedup_cub_device_scan": "—"}
    assert cells(table, 1)["speedup_2007"] == "4.50" and cells(table, 1)["speedup_hso_blocked_padded"] == "20.0 [20.0, 62.0]"
    assert cells(table, 1)["speedup_cub_device_scan"] == "40.0 [40.0, 124]"
    assert "with the fastest core of 3 sessions" in table.caption and "the fastest core of 3 sessions" in details(**gathered.found)
    assert "hso_blocked_padded_low" in table.csv().splitlines()[0]
    alone = over_one_core(2000.0)
    assert "one session, with 95% intervals in brackets" in speedup.build(**alone.found).caption and "one session alone" in details(**alone.found)
    assert cells(speedup.build(**alone.found), 1)["speedup_hso_blocked_padded"] == "20.0 [18.0, 28.0]"


def test_schedules_stand_where_they_are_fastest() -> None:
    made = test_plotted_streams.schedule
    rows = [made(SERIAL, 1, 44.0), made(SERIAL, 2, 42.0) | {"samples": [42e6] * 5}, made("depth_first", 2, 30.0), made("depth_first", 4, 21.0), made("graph", 2, 20.5, work=7),
            made("null_stream_trap", 2, 63.0), made("depth_first", 2, 1.0, workload="vector_add", bound_ms=None)]  # fmt: skip
    table = schedules.build(test_plotted_streams.scheduled(*rows))
    first, second, third = (cells(table, place) for place in (0, 1, 2))
    assert (first["id"], first["chunks"], first["streams"], first["median_ms"], first["events_ms"]) == ("`depth_first`", "4", "4", "21.00", "18.90")
    assert (first["of_bound"], first["speedup"]) == ("1.05 [0.945, 1.47]", "2.00 [1.43, 2.22]")
    assert (second["id"], second["chunks"], second["streams"], second["speedup"][:4]) == (f"`{SERIAL}`", "2", "—", "1.00")
    assert (third["id"], third["speedup"]) == ("`null_stream_trap`", "—")  # it computes twice as much
    assert table.rows["workload"].iloc[-1] == "vector_add" and cells(table, len(table.rows) - 1)["of_bound"] == "—"


def test_what_is_advised_stands_beside_the_fastest() -> None:
    def choice(ms: float, chunks: int) -> dict[str, Any]:
        return {"schedule": "graph", "chunks": chunks, "streams": 2, "measured_us": 1e3 * ms}

    row = {"workload": "scale", "items": N, "work": 3, "copied_bytes": 8 * N, "choices": 40, "median_error": 0.012, "worst_error": 0.2, "stated_was_measured": False,
           "advised": choice(1.05, 8), "fastest": choice(1.0, 4), "slower": 0.05, "ties": 3, "ties_least_slower": 0.004, "ties_most_slower": 0.061}  # fmt: skip
    table = model_advice.build(TableEvidence(pd.DataFrame([row]), NOWHERE))
    assert cells(table) == {"workload": "scale", "items": "2^20", "work": "3", "choices": "40", "advised_choice": "graph, 8 × 2", "advised_ms": "1.05", "fastest_choice": "graph, 4 × 2",
                            "fastest_ms": "1.00", "percent": "5.0", "ties": "3", "ties_apart": "0.4–6.1", "median_percent": "1.2", "worst_percent": "20.0"}  # fmt: skip
    assert table.notes == ("The advised choice was not measured for scale of 2^20 items; the best measured one stands instead.",)


def test_cases_not_timed_are_counted_by_reason() -> None:
    rows = [{"variant": "v", "settings": settings, "items": n, "reason": "too large"} for n, settings in ((1024, ""), (4096, ""), (2048, ""), (99, "tile=1"))]
    table = skipped.build(TableEvidence(pd.DataFrame(rows), NOWHERE))
    assert cells(table) == {"variant": "`v`", "settings": "default", "cases": "3", "smallest": "2^10", "largest": "2^12", "reason": "too large"}


def test_a_session_has_its_drift_outliers_and_clocks() -> None:
    times = {f"v{place}": [100.0, 100.0, 100.0, 100.0, 101.0 + place / 100] for place in range(20)} | {"outlier": [100.0, 98.0, 99.0, 102.0, 200.0]}
    row = cells(sessions.build(test_plotted_streams.repeated(times)))
    assert (row["session"], row["cases"], row["rounds"], row["drift_cases"]) == ("drift", "21", "5", "21")
    assert row["drift_percent"].startswith("1.1 [1.0") and (row["slower"], row["faster"]) == ("0", "0")
    assert (row["outliers_percent"], row["worst"], row["clocks"], row["lowered"]) == ("20", "2.01", "105", "1")
    assert row["later_slower_percent"] == "70.5"  # of ten pairs of each of 20 cases four rise and six are ties, which makes seven; of the other's, eight rise


def test_bits_vary_where_they_do() -> None:
    rows = [{"variant": variant, "type": kind, "op": "plus", "mode": "inclusive", "cases": n, "varying": varying, "runs": runs}
            for variant, kind, n, varying, runs in (("v", "f32", 12, 3, 100), ("v", "f16", 10, 0, 50), ("memcpy", "f32", 9, 9, 100))]  # fmt: skip
    table = bits.build(TableEvidence(pd.DataFrame(rows), NOWHERE, tiny.ABOUT))
    assert len(table.rows) == 1 and cells(table) == {"variant": "`v`", "types": "f16, f32", "cases": "22", "runs": "50", "varying": "3", "where": "f32 plus"}


def test_a_target_shows_how_it_stands_and_the_copy_that_bounds_it() -> None:
    read = tiny.results([case(variant, 1 << 28, ns, EXACT) for variant, ns in (("best", 100.0), ("cub_device_scan", 110.0), ("memcpy", 80.0), ("copy_one_wave", 90.0))])
    table = tiny.built(targets, read)
    found = [cells(table, place) for place in range(len(table.rows))]
    row = next(row for row in found if row["statement"] == "best: i32, 1 GiB and more" and "CUB" in row["wanted"])
    assert (row["wanted"], row["measured"], row["where"], row["verdict"]) == ("≥ 1.12 × CUB", "1.10 [1.10, 1.10]", "2^28", "fails")
    assert row["bound"] == "none: copy_one_wave has 1.22" and "source" not in row and "figure" not in row
    lost = next(row for row in found if "lost" in row["wanted"])
    assert (lost["statement"], lost["measured"], lost["verdict"]) == ("cases that best loses: all 1 cases, by the interval", "0", "holds")
    assert next(row for row in found if row["statement"].startswith("best: i8"))["verdict"] == "not measured"


def test_nothing_that_is_not_known_is_printed_as_a_number() -> None:
    for form in (column.form for column in costs.COLUMNS if column.key in ("swaps_closed_form", "worst_degree", "barriers")):
        assert form(None) == form(np.nan) == "—"
