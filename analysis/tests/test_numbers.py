"""The numbers in the paper's text and on the page, and how numbers are printed: of a few times chosen by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scanlab_report.documents import (
    rival_macros,
    scan_macros,
    session_macros,
    streams_macros,
)
from scanlab_report.figures import ablation, schedules, tile_size, waterfall
from scanlab_report.layout import table_formats
from scanlab_report.layout.table_formats import significant, size, whole, with_interval
from scanlab_report.read import noise, records
from scanlab_report.read.published import Publication
from scanlab_report.read.records import (
    MEASURED,
    SCANS,
    Results,
    Run,
    StreamFile,
    ideal_bytes,
)
from scanlab_report.read.streams import CALL_COLUMNS, SCHEDULES
from scanlab_report.select import streams_evidence
from scanlab_report.select.counted import Counts, Traffic
from scanlab_report.select.drift import SessionEvidence
from scanlab_report.select.evidence import CountEvidence, TableEvidence
from scanlab_report.select.needs import gather
from scanlab_report.select.streams_evidence import (
    DUPLEX,
    NAIVE,
    SERIAL,
    STREAMED,
    ScanEvidence,
)
from scanlab_report.select.timings import AllTimings, Shapes, Timings
from scanlab_report.select.variants import CUBS
from scanlab_report.stats.intervals import Interval

from scanlab_report.claims import stated as claims
from scanlab_report.claims.checked import targets
from scanlab_report.claims.stated import OF_SCANS
from scanlab_report.commands import compare
from scanlab_report.commands.compare import comparison, machine
from scanlab_report.page import columns, scans, timelines
from scanlab_report.page import schedules as schedules_page
from scanlab_report.page import sessions as sessions_page
from tests import test_cells, test_plotted_streams, tiny
from tests.test_plotted_streams import grids, scan, schedule, scheduled
from tests.tiny import EXACT, LEAST, MOST, NOWHERE, case, near

N = 1 << 28
THOUSAND = 8 * N / 1000


def described(describe: Callable[..., dict[str, str]], needs: dict[str, Any], read: Results, published: dict[str, Publication] | None = None) -> dict[str, str]:
    gathered = gather(needs, read, published or {})
    assert not gathered.reasons
    return describe(**gathered.found)


def test_the_text_has_rates_shares_and_gains_of_the_largest_size() -> None:
    times = {"memcpy": 1.0, "best": 1.25, "hso_blocked": 10.0, "hso_blocked_padded": 8.0, "hs_blocked": 16.0, "cub_device_scan": 2.0, "cub_newest": 2.5, "copy_bulk": 1.1, "look_ahead": 1.375}
    read = tiny.results([*(case(variant, n, by * n / N * THOUSAND) for variant, by in times.items() for n in (N // 4, N)), case("empty_launch", 0, 3100.0)])
    found = described(scan_macros._timing_values, {"timings": Timings(all_of=("memcpy",))}, read) | described(scan_macros._rung_values, waterfall.NEEDS, read)
    assert {name: found[name] for name in ("copyRate", "copyItems", "floorTime", "bestRate", "bestOfCopy", "bestOfVendor", "vendorOfCopy", "paddingGainLargest", "rungBest", "rungLookAhead", "lookAheadOfBulk", "rungBulkCopy")} == {
        "copyRate": "1000", "copyItems": r"\ensuremath{2^{28}}", "floorTime": "3.1", "bestRate": "800", "bestOfCopy": "0.800", "bestOfVendor": "1.60",
        "vendorOfCopy": "0.50", "paddingGainLargest": "1.25", "rungBest": "0.800", "rungLookAhead": "0.727",
        "lookAheadOfBulk": "0.800", "rungBulkCopy": "0.909"}  # fmt: skip


def test_the_text_has_the_tuned_rival_the_header_and_small_scans_as_nodes() -> None:
    """Of 2^18 items and fewer, 2^20, 2^24 and 2^28; a copy takes 100 of its own units everywhere."""
    few, large = (1 << 10, 1 << 18), (1 << 20, 1 << 24, 1 << 28)
    cold = {"memcpy": 100.0, "best": 104.0, "device_scan": 106.08, "cub_tuned": 125.0, "cub_device_scan": 130.0}
    cases = [case(variant, n, ns, tiny.EXACT) for variant, ns in cold.items() for n in large]
    cases += [case("cub_tuned", 1 << 16, 50.0, tiny.EXACT), case("device_scan", 1 << 16, 100.0, tiny.EXACT)]  # the header loses
    cases += [case("best", 1 << 22, 100.0, tiny.EXACT), case("cub_device_scan", 1 << 22, 103.0, tiny.EXACT)]  # won by little
    for launch, floor in (("stream", 3100.0), ("graph", 600.0)):
        cases += [case("empty_launch", 0, floor, tiny.EXACT, cache="warm", launch=launch)]
        cases += [case(variant, n, ns, tiny.EXACT, cache="warm", launch=launch) for n, times in zip(few, (1.5, 3.0), strict=True)
                  for variant, ns in (("best", times * floor), ("cub_device_scan", 2 * times * floor))]  # fmt: skip
    read = tiny.results(cases)
    found: dict[str, str] = {}
    for needs, describe in rival_macros.describers():
        gathered = gather(needs, read, {})
        found |= {} if gathered.reasons else describe(**gathered.found)
    assert found == {
        "tunedOfCopy": "0.80", "leadItems": r"\ensuremath{2^{28}}", "leadLargest": "1.20", "headToHeadRivalTuned": "3", "floorWarm": "3.1", "smallGraphLeast": "1.5",
        "smallGraphMost": "3.0", "headToHeadHostBound": "2.00", "headToHeadOthers": "1.20", "headToHeadApart": "8", "headToHeadNarrow": "1",
        "headerCases": "4", "headerWins": "3", "headerLosses": "1", "headerBelow": "1", "headerLeast": "0.50",
        "headerSome": "0.106", "headerSomeBest": "0.104", "headerSomeVendor": "0.125"}  # fmt: skip


def test_the_text_sets_pairs_that_the_rival_was_searched_for_apart() -> None:
    of_op = {"op": "log_sum_exp", "type": "f32"}
    searched = [case("cub_look_back_shape", N, 1.0, settings="threads=128 items=32", **of) for of in ({}, of_op)]
    cases = [case("best", n, 100.0, EXACT, **of) for n in (1 << 20, N) for of in ({}, of_op, {"op": "max"})]
    cases += [case("cub_tuned", n, ns, EXACT, **of) for n, times in ((1 << 20, (90.0, 110.0, 300.0)), (N, (130.0, 150.0, 200.0))) for ns, of in zip(times, ({}, of_op, {"op": "max"}), strict=True)]
    shapes = tiny.results(searched, kind="tuning")
    found = rival_macros._searched(AllTimings(against=(CUBS,)).find(tiny.results(cases), {}), Shapes(sums=True).find(shapes, {}), Shapes(sums=False).find(shapes, {}))
    assert found == {"headToHeadSearched": "4", "headToHeadSearchedWins": "3", "headToHeadSearchedMedian": "1.20", "headToHeadUnsearchedMedian": "2.50"}


def test_the_text_has_the_fastest_tile_of_the_smallest_and_the_largest_size() -> None:
    tiles = {"tile=12": 200.0, "": 130.0, "tile=36": 160.0}
    read = tiny.results([case("memcpy", n, 100.0) for n in (1 << 20, N)] + [case("look_ahead", N, ns, settings=tile) for tile, ns in tiles.items()]
                        + [case("look_ahead", 1 << 20, 330.0 - ns, settings=tile) for tile, ns in tiles.items()])  # fmt: skip
    found = described(scan_macros._tile_values, tile_size.NEEDS, read)
    assert found == {"tileDefault": "30", "tileSmall": "12", "tileLarge": "30", "tileLargest": "36", "tileLargestLoses": "19"}  # 130 of 160


def test_the_text_has_the_price_of_a_reset_at_an_equal_tile() -> None:
    times = {"memcpy": 100.0, "best": 125.0, "look_ahead": 200.0}
    read = tiny.results([*(case(variant, n, ns) for variant, ns in times.items() for n in (1 << 24, N)), *(case("look_ahead", n, 130.0, settings="tile=28") for n in (1 << 24, N)),
                         case("device_scan", 1 << 24, 156.0), case("device_scan", N, 143.0)])  # fmt: skip
    found = described(scan_macros._rung_values, waterfall.NEEDS, read)
    assert (found["resetSome"], found["resetMany"]) == ("1.20", "1.10")


def test_the_text_has_what_the_second_form_gains_at_an_equal_tile() -> None:
    times = {"tile=49": (100.0, 200.0), "folding=repeated tile=49": (105.0, 270.0), "": (50.0, 50.0)}
    cases = [case("look_ahead", n, ns, EXACT, type="f32", op="log_sum_exp", settings=settings) for settings, both in times.items() for n, ns in zip((1 << 20, N), both, strict=True)]
    (need, describe), = ((needs, of) for needs, of in scan_macros.describers() if of is scan_macros._second_form_values)
    assert described(describe, need, tiny.results(cases)) == {"secondFormSmall": "1.05", "secondFormLarge": "1.35"}


def test_the_text_has_what_each_idea_is_worth() -> None:
    slower = {"stages=2": 125.0, "pdl=no": 110.0, "asking=at_once": 130.0, "": 100.0}
    read = tiny.results([case("look_ahead", n, ns + n / (1 << 20), EXACT, settings=of) for n in (1 << 20, N) for of, ns in slower.items()]
                        + [case(other, N, 250.0, EXACT) for other in ("decoupled_lookback", "reduce_then_scan")])  # fmt: skip
    found = described(scan_macros._ablation_values, ablation.NEEDS, read)
    assert found == {"ablationStagesTwo": "1.07", "ablationPdlSmall": "1.10", "ablationAskingSmall": "1.30", "ablationLookBack": "0.70", "ablationReduceThenScan": "0.70"}


def test_the_text_counts_duels_and_targets() -> None:
    read = tiny.results([*test_cells.HEAD_TO_HEAD, case("empty_launch", 0, 80.0, cache="warm"), case("best", 512, 100.0, cache="warm")])
    found = scan_macros._head_to_head_values(AllTimings().find(read, {}), targets(OF_SCANS).find(read, {}))
    assert {name: found[name] for name in ("headToHeadCases", "headToHeadWins", "headToHeadTies", "headToHeadLosses", "headToHeadLeast", "smallOverFloor")} == {
        "headToHeadCases": "4", "headToHeadWins": "1", "headToHeadTies": "1", "headToHeadLosses": "2", "headToHeadLeast": "0.500", "smallOverFloor": "1.25"}  # fmt: skip
    assert (found["targetsKnown"], found["targetsReached"]) == ("3", "2")  # the floor and no spills are, no loss is not


def test_the_text_has_the_libraries_times_over_best() -> None:
    read = tiny.results([case("best", N, 100.0), case("thrust_scan", N, 131.0), case("torch_cumsum", N, 162.0)])
    assert scan_macros._library_values(AllTimings(python=True).find(read, {})) == {"thrustOfBest": "1.31", "torchOfBest": "1.62"}


def test_the_text_has_what_passed_through_dram() -> None:
    read = tiny.results([case("memcpy", N, 1.0)])
    row = {"settings": "", "type": "i32", "op": "plus", "mode": "inclusive", "kernel": "k", "launch_index": 0, "origin": MEASURED, "file": "d.csv"}
    read.traffic_tables = [pd.DataFrame([row | {"variant": variant, "items": n, "dram_bytes_read": 4 * n * reads, "dram_bytes_written": 4 * n}
                                         for variant, n, reads in (("reduce_then_scan", 4096, 2), ("reduce_then_scan", 1024, 1), ("look_ahead", 4096, 1))])]  # fmt: skip
    assert scan_macros._traffic_values(Traffic().find(read, {})) == {"movedLookAhead": "2.00"}


def test_the_text_has_the_shares_of_waits_in_percent() -> None:
    rows = [{"variant": "look_ahead", "items": n, "type": "i32", "role": role, "cycles_total": 1000, "cycles_waiting_data": data, "cycles_waiting_prefix": prefix, "cycles_waiting_store": 50}
            for n, role, data, prefix in ((1024, "load", 1, 1), (4096, "load", 250, 0), (4096, "scan", 10, 125))]  # fmt: skip
    assert scan_macros._wait_values(TableEvidence(pd.DataFrame(rows), NOWHERE)) == {"waitLoad": "25", "waitFree": "5.0", "waitScan": "12"}


def test_the_text_has_what_was_counted() -> None:
    def counted(variant: str, operations: int, transactions: int, padding: str = "none") -> Any:
        parameters = {} if padding == "none" else {"padding": padding}
        launches = [{"steps": [{"name": "up-sweep", "number": 1, "shared": {"banks32": tiny.degrees(transactions // 10), "banks16": tiny.degrees(1)}}], "barriers": 7, "blocks": 2}]
        banks = {"transactions": transactions, "max_degree": 1, "mean_degree": 1.0}
        return tiny.explanation(variant, 2048, banks, parameters, totals={"operations": operations, "global_bytes_read": 8192, "global_bytes_written": 24576}, launches=launches)

    found = scan_macros._count_values(CountEvidence([counted("hso_block", 100, 40), counted("hso_block_padded", 100, 20, "two_level"), counted("hs_block", 900, 10)], NOWHERE))
    assert found == {"degreeItems": r"\ensuremath{2^{11}}", "worstDegreeBare": "4", "worstDegreeTwoLevel": "2",
                     "additionsItems": r"\ensuremath{2^{11}}", "additionsHillisSteele": "900", "additionsWorkEfficient": "100"}  # fmt: skip
    read = tiny.results([case(variant, n, ns, type=kind) for variant, ns in (("memcpy", 100.0), ("hs_blocked", 400.0), ("hso_blocked_padded", 500.0), ("hso_blocked", 800.0))
                         for n in (1024, 4096) for kind in ("i32", "i64")])  # fmt: skip
    read.explanations = [counted("hs_blocked", 300, 10), counted("hso_blocked", 100, 10)]
    found = described(scan_macros._finding_values, {"timings": Timings(all_of=("memcpy",)), "counts": Counts()}, read)
    wanted = {"doublingOverTree": "1.25", "barriersDoubling": "7", "tileDoubling": "1024", "trafficAllows": "0.50"}
    assert {name: found.get(name) for name in wanted} == wanted


def test_the_text_says_by_how_much_hardware_and_emulator_differ_either_way() -> None:
    cases = pd.DataFrame({"type": ["i32", "i64"], "items": [64, 128], "transactions_emulator": [100, 200], "transactions_hardware": [90, 200], "conflicts_emulator": [50, 0],
                          "conflicts_hardware": [51, 3]})  # fmt: skip
    found = scan_macros.hardware_differences(cases)
    assert found == {"hardwareCases": "2", "hardwareEqual": "0", "hardwareLargestDifference": "11.1"}


def test_the_text_has_what_happened_while_sessions_were_measured() -> None:
    times = {f"v{place}": [100.0, 100.0, 100.0, 100.0, 101.0 + place / 100] for place in range(20)} | {"outlier": [100.0, 98.0, 99.0, 102.0, 200.0]}
    found = session_macros._session_values(SessionEvidence([replace(of, kind=SCHEDULES) for of in test_plotted_streams.repeated(times).sessions], NOWHERE))
    assert found == {"driftSchedules": "1.1", "convergedSchedules": "100", "convergedSchedulesCases": "21"}


# ----------------------------------------------------------------------------------------------- streams


def test_the_text_has_the_best_schedule_over_its_estimate_and_over_serial() -> None:
    cases = scheduled(schedule(SERIAL, 1, 44.0), schedule(SERIAL, 2, 42.0), schedule("depth_first", 8, 21.0), schedule("breadth_first", 8, 30.0), schedule("breadth_first", 4, 25.0),
                      schedule("null_stream_trap", 2, 80.0))  # fmt: skip
    found = streams_macros._schedule_values(cases)
    assert {name: found[name] for name in ("streamBest", "streamBestChunks", "streamBestOfBound", "streamSpeedup", "streamSpeedupIdeal", "streamDuplexCost", "streamBreadthOfBound",
                                           "streamBreadthChunks", "streamTrapOfSerial")} == {
        "streamBest": r"\texttt{depth\_first}", "streamBestChunks": "8", "streamBestOfBound": "1.05", "streamSpeedup": "2.00", "streamSpeedupIdeal": "1.78", "streamDuplexCost": "25",
        "streamBreadthOfBound": "1.50", "streamBreadthChunks": "8", "streamTrapOfSerial": "2.00"}  # fmt: skip
    assert (found["streamRateIn"], found["streamRateOut"]) == ("0.336", "0.336")  # 4 MiB in 12.5 ms


def test_the_text_has_the_fewest_streams_that_are_worth_it() -> None:
    times = {1: 40.0, 2: 30.5, 4: 30.0, 8: 29.95}
    found = streams_macros._worth_values(scheduled(*(schedule("depth_first", 16, ms, streams) for streams, ms in times.items()), schedule("graph", 16, 30.0, 1)))
    assert (found["streamsWorth"], found["streamsWorthRatio"], found["streamsWorthChunks"]) == ("2", "2.0", "16") and "streamsWorthBreadth" not in found


def test_the_text_says_which_schedule_passes_its_estimate_by_more_than_two_percent() -> None:
    steady = {"low_ns": np.nan, "high_ns": np.nan}
    cases = [schedule("graph", 1, 30.0), schedule("graph", 2, 19.9) | steady, schedule("depth_first", 1, 30.0), schedule("depth_first", 2, 19.0) | steady]
    assert streams_macros._beaten_values(scheduled(*cases)) == {"streamBoundBeaten": "0.95", "streamBoundBeatenBy": r"\texttt{depth\_first}", "streamBoundBeatenRatio": "2.0"}
    assert streams_macros._beaten_values(scheduled(*cases[:3], schedule("depth_first", 2, 19.8) | steady)) == {}
    assert streams_macros._beaten_values(scheduled(*cases[:3], schedule("depth_first", 2, 19.0))) == {}  # an interval that reaches beyond


def test_the_text_has_the_rates_of_scans_of_host_data() -> None:
    ms = 2**30 / 1e9 * 1e3  # of 1 GiB at 1 GB/s
    rows = pd.DataFrame([scan(STREAMED, 1, ms / 8), scan(STREAMED, 2, ms / 4), scan(DUPLEX, 1, ms / 16), scan(STREAMED, 1, ms / 3, "file", 1), scan(STREAMED, 1, ms / 5, "file"),
                         scan(NAIVE, 1, ms / 2, "file"), scan(STREAMED, 2, ms / 2, "file"), scan(NAIVE, 2, ms, "file"), scan("files", 2, ms / 3, "file")])  # fmt: skip
    found = streams_macros._scan_values(ScanEvidence(rows, NOWHERE, [rows, rows.assign(median_ns=rows["median_ns"] * np.where(rows["way"] == NAIVE, 0.75, 1.0),
                                                                                     samples=[[of * (0.75 if way == NAIVE else 1) for of in samples] for way, samples in zip(rows["way"], rows["samples"], strict=True)])]))  # fmt: skip
    assert {name: found[name] for name in ("streamScanRate", "streamFileRate", "streamFileOfNaiveLargest", "streamFileSessions", "streamFileOfNaiveSession",
                                           "streamFileOfNaiveSessionSize", "streamFileOfFiles")} == {
        "streamScanRate": "8.00", "streamFileRate": "5.00", "streamFileOfNaiveLargest": "2.00", "streamFileSessions": "2", "streamFileOfNaiveSession": "1.50",
        "streamFileOfNaiveSessionSize": "2~GiB", "streamFileOfFiles": "0.667"}  # fmt: skip


def test_the_text_has_how_far_small_grids_are_from_the_formula_either_way() -> None:
    cases = [grids(8, 2, 1, 3, 1.9, 2, 2), grids(1, 2, 1, 3, 2.06, 2, 2), grids(1, 4, 3, 1, 9.3, 9, 12), grids(8, 4, 3, 1, 3.1, 3, 12)]
    assert streams_macros._concurrency_values(TableEvidence(pd.DataFrame(cases), NOWHERE)) == {
        "streamStairsCases": "2", "streamStairsFarthest": "5.0", "streamQueueOne": "9.30", "streamQueueMany": "3.10"}  # fmt: skip


def test_the_text_has_the_models_errors_whichever_way_they_are() -> None:
    rows = [{"measured_us": 100.0, "predicted_us": predicted, "unaided_us": unaided, "estimate_us": 70.0, "measured_spread": spread, "copy_queues": queues, "queues_ordered_as_modelled": queues == 4}
            | {f"{which}overlap_in_{of}": n for which, both in (("", 9), ("unaided_", 8), ("repeated_", 7), ("best_", 10)) for of, n in (("both", both), ("either", 10))}
            for predicted, unaided, spread, queues in ((80.0, 100.0, 0.2, 4), (103.0, 103.5, 0.01, 3), (99.0, 50.0, 0.02, 2))]  # fmt: skip
    found = streams_macros._model_values(TableEvidence(pd.DataFrame(rows), NOWHERE))
    assert found == {"modelCases": "3", "modelMedian": "3.0", "modelWorst": "20.0", "modelOverlap": "90.0", "modelRepeatedOverlap": "70.0", "modelBestOverlap": "100",
                     "modelEstimateMedian": "30", "modelEstimateWorst": "30.0", "modelUnaidedMedian": "3.5", "modelUnaidedWorst": "50.0", "modelUnaidedOverlap": "80.0", "modelQueuesTurned": "2", "modelQueuesInOrder": "1", "modelRepeatable": "2",
                     "modelRepeatableSpread": "5.0", "modelRepeatableWorst": "3.00"}  # fmt: skip


# ------------------------------------------------------------------------------------------------ the page


def test_the_page_has_times_shares_and_speedups_of_each_case() -> None:
    read = tiny.results([case("memcpy", 1024, 100.0, EXACT), case("best", 1024, 125.0), case("cub_device_scan", 1024, 250.0, EXACT), case("cub_newest", 1024, 200.0, EXACT),
                         case("look_ahead", 1024, 400.0, settings="tile=12"), case("empty_launch", 0, 80.0)])  # fmt: skip
    (view,) = scans.views(read, {})
    of = pd.DataFrame(view["cases"]).set_index("variant")
    assert of.at["best", "time_ns"] == 125 and (of.at["best", "time_ns_low"], of.at["best", "time_ns_high"]) == (112.5, 175)
    assert (of.at["best", "share"], of.at["best", "speedup"], of.at["best", "rival"]) == (0.8, 1.6, "cub_newest")
    assert (of.at["best", "share_low"], of.at["best", "share_high"]) == (float(f"{0.8 / MOST:.5g}"), float(f"{0.8 / LEAST:.5g}"))
    assert (of.at["memcpy", "share"], of.at["cub_newest", "speedup"], of.at["cub_device_scan", "speedup"], of.at["look_ahead tile=12", "share"]) == (1, 1, 0.8, 0.25)
    assert view["bytes_an_item"] == 8 and view["floor_ns"] == {"cold stream": 80} and "best" in view["shown"]


def test_the_page_has_milliseconds_and_speedups_of_schedules() -> None:
    cases = scheduled(schedule(SERIAL, 1, 44.0), schedule(SERIAL, 2, 42.0), schedule("depth_first", 2, 21.0))
    (problem,) = cases.problems()[streams_evidence.PROBLEM].to_dict("records")
    view = schedules_page._view("d", cases, problem)
    of = pd.DataFrame(view["cases"]).set_index("id")
    assert (of.at["depth_first", "time_ms"], of.at["depth_first", "time_ms_high"], of.at["depth_first", "speedup"]) == (21, near(29.4), 2)
    assert view["bounds"][schedules.PIPELINE]["ms"] == [20, 20, 20] and view["bounds"]["serial sum"]["ms"] == [40, 40, 40]


def test_the_page_has_rounds_and_outliers_from_one_on_and_in_percent() -> None:
    times = {f"v{place}": [100.0, 100.0, 100.0, 100.0, 102.0] for place in range(20)} | {"outlier": [100.0, 98.0, 99.0, 102.0, 200.0]}
    (session,) = test_plotted_streams.repeated(times).sessions
    view = sessions_page._view("d", session)
    assert view["rounds"]["round"] == [1, 2, 3, 4, 5] and view["rounds"]["median"][4] == 2 and view["rounds"]["cases"] == [21] * 5
    assert (view["outliers"]["round"][0], view["outliers"]["relative"][0], view["outside"], view["lowered"]) == (5, 2.0101, 21, 1)


def test_the_page_has_operations_in_milliseconds_from_the_first_on() -> None:
    rows = test_plotted_streams.operations(("copies in", 1, 5000.0, 7000.0), ("kernels", 2, 7000.0, 7500.0))
    (view,) = timelines.views(Results(streams=[StreamFile(Run(Path("t.json"), MEASURED, {"device": "d", "schedule": "graph"}), "trace", rows)]))
    assert view["operations"]["start"] == [0, 2] and view["operations"]["end"] == [2, 2.5] and view["makespan"] == view["whole"] == 2.5
    assert view["lanes"] == ["H2D copies", "kernels"]


def test_the_page_has_the_hosts_calls_in_the_first_lane_from_the_first_of_them_on() -> None:
    rows = test_plotted_streams.operations(("copies in", 1, 5000.0, 7000.0), ("kernels", 2, 7000.0, 7500.0))
    calls = pd.DataFrame([("host", "copies in", 4000.0, 7000.0, 0, 0)], columns=CALL_COLUMNS)
    (view,) = timelines.views(Results(streams=[StreamFile(Run(Path("t.json"), MEASURED, {"device": "d", "schedule": "graph"}), "trace", rows, calls)]))
    assert view["lanes"] == ["host", "H2D copies", "kernels"] and view["operations"]["lane"] == [1, 2, 0]
    assert view["operations"]["start"] == [1, 3, 0] and view["operations"]["kind"][-1] == view["calls"] and (view["makespan"], view["whole"]) == (2.5, 3.5)


def test_numbers_on_the_page_have_five_digits_and_none_is_invented() -> None:
    assert columns.numbers([1234567.0, 0.123456789, 3.0, math.nan, math.inf]) == [1234600, 0.12346, 3, None, None]


# ------------------------------------------------------------------------------------------- how it is printed


@pytest.mark.parametrize(("value", "digits", "printed"), [
    (0.0123456, 3, "0.0123"), (123456, 3, "123\u2009456"), (1.0, 3, "1.00"), (-0.5, 2, "-0.50"), (9.999, 2, "10.0"), (0, 3, "0"), (None, 3, "—"), (math.nan, 3, "—")])  # fmt: skip
def test_numbers_have_their_significant_digits(value: float | None, digits: int, printed: str) -> None:
    assert significant(value, digits) == printed


def test_a_paper_cites_the_sources_of_a_table_and_other_texts_name_them() -> None:
    rows = pd.DataFrame({"source": ["merrill2016", "ours", ""]})
    table = table_formats.Table("c", (table_formats.Column("source", "source", refers=table_formats.citation),), rows)
    assert table.latex(in_paper=True).splitlines()[4:7] == [r"\cite{merrill2016} \\", r"ours \\", r" \\"]
    assert r"merrill2016 \\" in table.latex() and "| merrill2016 |" in table.markdown()
    named = table_formats.Table("c", (table_formats.Column("figure", "figure", table_formats.code, refers=table_formats.figure),), pd.DataFrame({"figure": ["scenarios_order"]}))
    assert r"\figref{scenarios_order} \\" in named.latex(in_paper=True) and "| `scenarios_order` |" in named.markdown()


def test_sizes_counts_and_intervals_are_printed_as_readers_know_them() -> None:
    assert [size(n) for n in (64, 1000, 1024, 1 << 28, 3 << 20)] == ["64", "1\u2009000", "2^10", "2^28", "3\u2009145\u2009728"]
    assert [whole(n) for n in (7.0, 1234567, None)] == ["7", "1\u2009234\u2009567", "—"]
    assert with_interval(Interval(1.5, 1.25, 2.0, 5)) == "1.50 [1.25, 2.00]" and with_interval(Interval(1.5, math.nan, math.nan, 2)) == "1.50" and with_interval(None) == "—"


def test_a_table_prints_so_many_rows_and_keeps_all_as_csv_with_ends_of_intervals() -> None:
    rows = pd.DataFrame({"a": ["x|y", "z", "w"], "b": pd.Series([Interval(1.5, 1.0, 2.0, 5), None, Interval(3, 2, 4, 5)], dtype=object)})
    table = table_formats.Table("c", (table_formats.Column("a", "A"), table_formats.Column("b", "B", with_interval, group="G")), rows, ("note",), printed=2)
    assert table.markdown().splitlines() == ["| A | G B |", "|---:|---:|", r"| x\|y | 1.50 [1.00, 2.00] |", "| z | — |", "", "note"]
    assert table.csv().splitlines() == ["a,b,b_low,b_high", "x|y,1.5,1.0,2.0", "z,,,", "w,3.0,2.0,4.0"]
    assert r"\multicolumn{1}{c}{G}" in table.latex() and r"\cmidrule(lr){2-2}" in table.latex()


def test_bytes_that_a_scan_must_move_are_two_an_item_and_pairs_are_twice_as_wide() -> None:
    assert [ideal_bytes(kind, op, 10) for kind, op in (("i8", "plus"), ("f16", "max"), ("i32", "plus"), ("f64", "plus"), ("i32", "affine"))] == [20, 40, 80, 160, 160]


def test_an_operator_has_the_bytes_that_its_first_results_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "_elements_per_item", {})
    assert records.know_operator("welford", "f32", 1000, 32001) == "is 32001, no multiple of 8000"
    assert records.know_operator("welford", "f32", 1000, 32000) == records.know_operator("welford", "f64", 10, 640) == ""
    assert records.know_operator("welford", "f32", 1000, 16000) == "is 16000, and other entries of welford have 32000 for such items"
    assert ideal_bytes("f32", "welford", 10) == 320, "what is known stays"
    assert ideal_bytes("f32", "plus", 10) == 80


# --------------------------------------------------------------------------------------- cases and machines


def test_the_cases_of_a_claim_are_those_within_its_limits() -> None:
    timings = AllTimings().find(tiny.results([case("best", n, 1.0, type=kind, cache=cache) for n in (1024, 1500, 1 << 28) for kind in ("i32", "i64") for cache in ("cold", "warm")]), {})

    def sizes(**cases: Any) -> list[int]:
        return [key.items for key in claims.Claim("s", "scanlab", "time", "speed", cases={"type": "i32"} | cases).keys(timings)]

    assert sizes() == [1024, 1500, 1 << 28] and sizes(least_items=1500) == [1500, 1 << 28] and sizes(most_items=1500) == [1024, 1500]
    assert sizes(powers=True) == [1024, 1 << 28] and sizes(powers=False) == [1024, 1500, 1 << 28]
    assert sizes(least_mib=1024) == [1 << 28] and sizes(least_mib=1025) == [] and sizes(items=[1024, 1500], cache="warm") == [1024, 1500]


def test_unchanged_code_beside_a_case_is_what_takes_about_as_long_a_launch() -> None:
    rows = pd.DataFrame({"on": "device", "column": "cold", "launch_us": [10.0, 8.0, 12.5, 7.9, 12.6], "ratio": [9.0, 1.1, 1.3, 5.0, 6.0], "unchanged": [False, True, True, True, True]})
    assert machine.beside(rows).iloc[0].tolist() == near([1.1, 1.2, 1.3])
    assert machine.beside(rows.assign(column=["cold"] + ["warm"] * 4)).iloc[0].isna().all()


def test_the_ladder_of_the_paper_is_at_the_largest_size_of_the_copy() -> None:
    read = tiny.results([case("memcpy", n, 100.0) for n in (1 << 20, 1 << 26, 1 << 30)] + [case("look_ahead", 1 << 26, 125.0)])
    timings = gather(waterfall.NEEDS, read, {}).found["timings"]
    assert waterfall.size_of(timings) == 1 << 26 and waterfall.rungs_at_largest(timings)["ratio"].tolist() == near([0.8])


def test_the_smallest_p_is_two_in_all_ways_to_mix_the_repetitions() -> None:
    assert [comparison.smallest_p(5, 5), comparison.smallest_p(1, 1), comparison.smallest_p(3, 2)] == near([2 / 252, 1.0, 0.2])


def measured(date: str, device: str = "Test Device", **times: float) -> comparison.Measured:
    rows = [{"variant": variant, "settings": "", "type": "i32", "op": "plus", "mode": "inclusive", "items": 1024, "cache": "cold", "launch": "stream",
             "samples": ns * np.array([0.99, 0.995, 1.0, 1.005, 1.01]), "launches": 1.0} for variant, ns in times.items()]  # fmt: skip
    return comparison.Measured(Run(Path(f"{date}.json"), MEASURED, {"kind": "cuda", "device": device, "date": date}), SCANS, pd.DataFrame(rows))


def test_a_ratio_of_two_runs_is_the_second_over_the_first() -> None:
    found = comparison.paired(measured("a", best=100.0, alone=1.0), measured("b", best=125.0, new=1.0)).cases.set_index("variant")
    assert found.at["best", "ratio"] == near(1.25) and (found.at["best", "median_a_ns"], found.at["best", "median_b_ns"]) == near((100, 125))
    assert found["verdict"].to_dict() == {"best": comparison.NEITHER, "alone": comparison.ONLY_A, "new": comparison.ONLY_B}
    assert found.at["best", "time_us"] == near(0.1) and found.at["best", "p"] == near(2 / 252)


def test_noise_is_how_far_an_interval_lies_from_1_either_way() -> None:
    cases = pd.DataFrame({"on": "device", "time_us": [1.0, 50.0, 500.0, 500.0], "low": [0.7, 1.1, 0.9, 0.5], "high": [0.8, 1.3, 1.1, 0.9]})
    rows = noise.pair("scans", "all", {}, {}, cases)["thresholds"]
    assert {row["time"]: row["threshold"] for row in rows} == {"under 10 µs": 0.25, "10 to 100 µs": 0.10001, "100 µs and more": 0.11112}  # rounded up


def test_of_two_devices_the_larger_threshold_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {name: noise.Noise(name, [{"kind": SCANS, "thresholds": [{"on": "device", "time": "under 10 µs", "cases": 50, "threshold": of}]}]) for name, of in (("a", 0.05), ("b", 0.2))}
    monkeypatch.setattr(noise, "read", lambda devices: [known[device] for device in devices])
    thresholds, _ = compare._thresholds(comparison.paired(measured("1", "a", best=100.0), measured("2", "b", best=100.0)))
    assert thresholds.tolist() == [0.2]
