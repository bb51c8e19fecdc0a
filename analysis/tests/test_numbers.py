"""The numbers in the papers' text and on the page, and how they are printed, of times chosen by
hand."""

from __future__ import annotations

import math
import re
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

from scanlab_report.chapters.bounds import PIPELINE, SERIAL, SERIAL_SUM
from scanlab_report.data import Data
from scanlab_report.formats import (
    Column,
    Table,
    citation,
    code,
    figure,
    significant,
    size,
    whole,
    with_interval,
)
from scanlab_report.intervals import Interval
from scanlab_report.numbers import head_to_head, printed, ranks, scans, streams
from scanlab_report.page import columns, timelines
from scanlab_report.page import scans as scans_page
from scanlab_report.page import schedules as schedules_page
from tests import test_head_to_head, test_model, test_ranks, test_sessions, tiny
from tests.test_streams import MS, TWO, schedule, scheduled
from tests.test_streams import scan as larger
from tests.tiny import EXACT, LEAST, MOST, SPREAD, case, count, near, several, tables, with_rows

N = 1 << 28
THOUSAND = 8 * N / 1000
"""Nanoseconds of N items at 1000 GB/s."""


def has(module: ModuleType, data: Data, *lines: str) -> None:
    """Some numbers are these, by name; a dash: there is no such number."""
    made = printed(data, module.FUNCTIONS)
    wanted = " ".join(lines).split()
    names, values = wanted[::2], wanted[1::2]
    plain = {name: re.sub(r"\\ensuremath|\\texttt|[\\{}]", "", own) for name, own in made.items()}
    assert [plain.get(name, "—") for name in names] == values


# ------------------------------------------------------------------------------------------ scans


def test_the_text_has_rates_shares_and_gains_at_the_largest_size() -> None:
    slower = dict(memcpy=1.0, best=1.25, hso_blocked=10.0, hso_blocked_padded=8.0, hs_blocked=16.0)
    slower |= dict(cub_device_scan=2.0, copy_bulk=1.1, look_ahead=1.375)
    times = {variant: by * THOUSAND for variant, by in slower.items()}
    data = tables([*several(times, N), *several(times, N // 4), case("empty_launch", 0, 3100.0)])
    has(
        scans,
        data,
        "copyRate 1000 copyItems 2^28 floorTime 3.1 bestRate 800 bestOfCopy 0.800",
        "bestOfVendor 1.60 vendorOfCopy 0.50 paddingGainLargest 1.25 doublingOverTree 0.500",
        "rungBest 0.800 rungLookAhead 0.727 rungBulkCopy 0.909 lookAheadOfBulk 0.800",
    )


def test_the_text_has_the_fastest_tile_of_the_smallest_and_the_largest_size() -> None:
    tiles, small = {"tile=12": 200.0, "": 130.0, "tile=36": 160.0}, 1 << 20
    cases = several(dict(memcpy=100.0), small, N)
    cases += [case("look_ahead", N, ns, settings=tile) for tile, ns in tiles.items()]
    cases += [case("look_ahead", small, 330 - ns, settings=tile) for tile, ns in tiles.items()]
    has(
        scans,
        tables(cases),
        "tileDefault 30 tileSmall 12 tileLarge 30 tileLargest 36 tileLargestLoses 19",
    )


def test_the_text_has_what_each_idea_and_the_second_form_are_worth() -> None:
    slower = {"stages=2": 125.0, "pdl=no": 110.0, "asking=at_once": 130.0, "": 100.0}
    sizes = {1 << 20: 0.0, N: 100.0}
    cases = [
        case("look_ahead", n, ns + more, EXACT, settings=own)
        for n, more in sizes.items()
        for own, ns in slower.items()
    ]
    cases += several(dict(decoupled_lookback=150.0, reduce_then_scan=160.0), N, exact=True)
    has(
        scans,
        tables(cases),
        "ablationStagesTwo 1.12 ablationPdlSmall 1.10 ablationAskingSmall 1.30",
        "ablationLookBack 0.75 ablationReduceThenScan 0.80",
    )
    forms = {"tile=49": (100.0, 200.0), "folding=repeated tile=49": (105.0, 270.0), "": (1.0, 1.0)}
    heavy = dict(type="f32", op="log_sum_exp")
    cases = [
        case("look_ahead", n, ns, EXACT, settings=own, **heavy)
        for own, both in forms.items()
        for n, ns in zip(sizes, both, strict=True)
    ]
    has(scans, tables(cases), "secondFormSmall 1.05 secondFormLarge 1.35")


def test_the_text_counts_wins_and_names_the_tuned_rival() -> None:
    wide = (1 << 20, 1 << 24, N)
    cold = dict(memcpy=100.0, best=104.0, device_scan=106.08, cub_tuned=125.0)
    cases = several(cold | dict(cub_device_scan=130.0), *wide, exact=True)
    cases += several(dict(cub_tuned=50.0, device_scan=100.0), 1 << 16, exact=True)  # it loses
    cases += several(dict(best=100.0, cub_device_scan=103.0), 1 << 22, exact=True)  # by little
    node = dict(exact=True, cache="warm", launch="graph")
    few = [*several(dict(best=1.5e3, cub_device_scan=3e3), 1 << 10, **node)]
    few += [*several(dict(empty_launch=600.0), 0, **node), case("best", 1 << 18, 1.2e3, **NODE)]
    floor = case("empty_launch", 0, 3100.0, cache="warm")
    data = tables([*cases, *few, floor])
    has(
        head_to_head,
        data,
        "headToHeadCases 5 headToHeadWins 5 headToHeadLosses 0 headToHeadRivalTuned 3",
        "leadItems 2^28 leadLargest 1.20 headToHeadApart 5 headToHeadLeast 1.03 tunedOfCopy 0.80",
        "headerCases 4 headerWins 3 headerLosses 1 headerBelow 1 headerLeast 0.50",
        "headerSome 0.106 headerSomeBest 0.104 headerSomeVendor 0.125",
        "floorWarm 3.1 smallGraphLeast 2.0 smallGraphMost 2.5",
    )
    has(head_to_head, tables(test_head_to_head.DUELS), "headToHeadTies 1 headToHeadLosses 2")


NODE = dict(cache="warm", launch="graph")


def test_the_text_sets_pairs_that_the_rival_was_searched_for_apart() -> None:
    pairs = ({}, dict(op="log_sum_exp", type="f32"), dict(op="max"))
    searched, shape = dict(settings="threads=128 items=32"), "cub_look_back_shape"
    tuning = [case(shape, N, 1.0, **searched, **own) for own in pairs[:2]]
    cases = []
    for n, times in ((1 << 20, (90.0, 110.0, 300.0)), (N, (130.0, 150.0, 200.0))):
        for ns, own in zip(times, pairs, strict=True):
            cases += several(dict(best=100.0, cub_tuned=ns), n, exact=True, **own)
    data = tiny.about(tables(cases, tuning), 1, kind="tuning")
    has(
        head_to_head,
        data,
        "headToHeadSearched 4 headToHeadSearchedWins 3 headToHeadSearchedMedian 1.20",
        "headToHeadUnsearchedMedian 2.50",
    )


def test_the_text_has_the_times_of_libraries_over_best() -> None:
    data = tables(several(dict(best=100.0, thrust_scan=131.0, torch_cumsum=162.0), N))
    has(head_to_head, data, "thrustOfBest 1.31 torchOfBest 1.62 cupyOfBest —")


def test_the_text_has_what_was_counted() -> None:
    def counted(variant: str, operations: int, degree: int, padding: str = "none") -> dict:
        shared = dict(banks32=tiny.degrees(degree), banks16=tiny.degrees(1))
        launch = dict(steps=[dict(name="up-sweep", number=1, shared=shared)], barriers=7, blocks=2)
        totals = dict(operations=operations, global_bytes_read=8192, global_bytes_written=24576)
        parameters = {} if padding == "none" else {"padding": padding}
        return count(variant, 2048, {}, parameters, totals=totals, launches=[launch])

    rows = [counted("hso_block", 100, 4), counted("hso_block_padded", 100, 2, "two_level")]
    rows += [counted("hs_block", 900, 1), counted("hs_blocked", 300, 1)]
    data = with_rows(Data(), "counts", [*rows, counted("hso_blocked", 100, 1)])
    has(
        scans,
        data,
        "degreeItems 2^11 worstDegreeBare 4 worstDegreeTwoLevel 2 additionsItems 2^11",
        "additionsHillisSteele 900 additionsWorkEfficient 100 barriersDoubling 7",
        "tileDoubling 1024 trafficAllows 0.50",
    )


# ------------------------------------------------------------- streams, sessions and several GPUs


def test_the_text_has_the_best_schedule_over_its_estimate_and_over_serial() -> None:
    cases = [
        schedule(SERIAL, 1, 44.0),
        schedule(SERIAL, 2, 42.0),
        schedule("depth_first", 4, 26.25),
    ]
    cases += [schedule("breadth_first", 8, 27.0), schedule("breadth_first", 4, 25.0)]
    data = scheduled(*cases, schedule("null_stream_trap", 2, 120.0))
    has(
        streams,
        data,
        "streamBest breadth_first streamBestChunks 4 streamBestOfBound 1.00",
        "streamSpeedup 1.68 streamSpeedupIdeal 1.60 streamDuplexCost 25",
        "streamBreadthOfBound 1.20 streamBreadthChunks 8 streamTrapOfSerial 2.00",
        "streamRateIn 0.336 streamRateOut 0.336",
    )


def test_the_text_has_the_fewest_streams_that_are_worth_it() -> None:
    times = {1: 40.0, 2: 30.5, 4: 30.0, 8: 29.95}
    cases = [schedule("depth_first", 16, ms, number) for number, ms in times.items()]
    has(
        streams,
        scheduled(*cases, schedule("graph", 16, 30.0, 1)),
        "streamsWorth 2 streamsWorthRatio 2.0 streamsWorthChunks 16 streamsWorthBreadth —",
    )


def test_the_text_says_which_schedule_beats_its_estimate_by_more_than_two_percent() -> None:
    few = [schedule(id_, 1, 45.0) for id_ in ("graph", "depth_first")]
    for ms, spread, beaten in ((28.5, EXACT, "0.95"), (29.7, EXACT, "—"), (28.5, SPREAD, "—")):
        data = scheduled(*few, schedule("depth_first", 2, ms, spread=spread))
        name = "—" if beaten == "—" else "depth_first"
        has(streams, data, f"streamBoundBeaten {beaten} streamBoundBeatenBy {name}")


def test_the_text_has_the_rates_of_scans_of_host_data() -> None:
    rows = [
        larger("streamed", 1, MS / 8),
        larger("streamed", 2, MS / 4),
        larger("naive", 2, MS, "file"),
    ]
    rows += [larger("streamed", 1, MS / 3, "file", 1), larger("streamed", 1, MS / 5, "file")]
    rows += [larger("streamed", 2, MS / 2, "file"), larger("files", 2, MS / 3, "file")]
    data = with_rows(Data(), "stream_scan", [row for own in rows for row in own], device="d")
    has(
        streams,
        data,
        "streamScanRate 8.00 streamScanSize 2~GiB streamFileRate 5.00",
        "streamFileOfNaiveLargest 2.00 streamFileOfFiles 0.667 streamFileSessions —",
    )


def test_the_text_has_the_errors_of_the_model_either_way() -> None:
    rows = []
    for us, unaided, spread, queues in (
        (80, 100, 0.2, 4),
        (103, 103.5, 0.01, 3),
        (99, 50, 0.02, 2),
    ):
        row = test_model.compared("graph", 8, us, 9, 10) | dict(unaided_us=unaided, estimate_us=70)
        for which, both in (("unaided_", 8), ("repeated_", 7)):
            row |= {f"{which}overlap_in_both": both, f"{which}overlap_in_either": 10}
        queues_ = dict(copy_queues=queues, queues_ordered_as_modelled=queues == 4)
        rows.append(row | queues_ | dict(measured_spread=spread))
    has(
        streams,
        with_rows(Data(), "comparison", rows),
        "modelCases 3 modelMedian 3.0 modelWorst 20.0 modelOverlap 90.0",
        "modelRepeatedOverlap 70.0 modelBestOverlap 100 modelUnaidedMedian 3.5",
        "modelUnaidedWorst 50.0 modelUnaidedOverlap 80.0 modelQueuesTurned 2",
        "modelQueuesInOrder 1 modelEstimateMedian 30 modelRepeatable 2",
        "modelRepeatableWorst 3.00",
    )


def test_the_text_says_what_advice_is_worth_apart_for_problems_too_small_to_foretell() -> None:
    rows = [test_model.advice(1 << n, error) for n, error in ((14, 0.2), (20, 0.04), (26, 0.01))]
    has(
        streams,
        with_rows(Data(), "advice", rows),
        "adviceProblems 3 adviceMedian 5.0 adviceLargeProblems 2",
        "adviceLargeMedianError 4.00 adviceSmallMedianError 20.0 adviceSmallBytes 0.125",
        "adviceSmallLost 50",
    )


def test_the_text_has_what_happened_while_sessions_were_measured() -> None:
    cases = [
        schedule("graph", n + 1, 10.0, spread=own) for n, own in enumerate(test_sessions.DRIFT)
    ]
    rows = [row | {"converged": 1.0} for own in cases for row in own]
    data = with_rows(Data(), "schedule", rows, device="d", schedules={})
    has(streams, data, "driftSchedules 1.1 convergedSchedules 100 convergedSchedulesCases 21")


def test_the_text_tells_of_all_gpus_and_of_no_fewer() -> None:
    sizes = (ranks.FEW, ranks.MIDDLE, ranks.MOST)
    own = dict(copy_all=4.5, read_all=2.5, reduce_exchange_scan=8.0)
    cases = [
        test_ranks.on(n, items, peer_look_ahead=4.0 + n / 4, **own)
        for n in (1, 2, 4)
        for items in sizes
    ]
    data = test_ranks.timed(*(case_ for of in cases for case_ in of))
    data = test_ranks.with_best(data, test_ranks.best(18e3, 4 * ranks.MOST))
    has(
        ranks,
        data,
        "peersGpus 4 peersWeak 0.850 peersOfCopy 0.900 peersStrong 3.60 peersSmall 5.0",
        "peersBlocked 0.875",
    )


# --------------------------------------------------------------------------------------- the page


def test_the_page_has_times_shares_and_speedups_of_each_case() -> None:
    exact = dict(memcpy=100.0, cub_device_scan=250.0, cub_newest=200.0)
    cases = [*several(exact, 1024, exact=True), case("best", 1024, 125.0)]
    cases += [case("look_ahead", 1024, 400.0), case("empty_launch", 0, 80.0)]
    (view,) = scans_page.views(tables(cases))
    own = pd.DataFrame(view["cases"]).set_index("variant")
    names = ["time_ns", "time_ns_low", "time_ns_high", "share", "speedup"]
    assert own.loc["best", names].tolist() == [125, 112.5, 175, 0.8, 1.6]
    assert own.at["best", "rival"] == "cub_newest"
    shares = own.loc["best", ["share_low", "share_high"]].tolist()
    assert shares == [float(f"{0.8 / MOST:.5g}"), float(f"{0.8 / LEAST:.5g}")]
    assert (own.at["memcpy", "share"], own.at["look_ahead", "share"]) == (1, 0.25)
    assert own.at["cub_device_scan", "speedup"] == 0.8
    assert own.loc["empty_launch", ["time_ns", "share", "speedup"]].tolist() == [80, 1.25, 2.5]


def test_the_page_has_milliseconds_and_speedups_of_schedules() -> None:
    cases = (schedule(SERIAL, 1, 44.0), schedule(SERIAL, 2, 42.0), schedule("graph", 2, 21.0))
    (view,) = schedules_page.views(scheduled(*cases))
    own = pd.DataFrame(view["cases"]).set_index("id")
    assert own.loc["graph", ["time_ms", "time_ms_high", "speedup"]].tolist() == near([21, 29.4, 2])
    assert view["bounds"][PIPELINE]["ms"] == [30, 40, 30]
    assert view["bounds"][SERIAL_SUM]["ms"] == [40, 40, 40]


@pytest.mark.parametrize("issued", [False, True])
def test_the_page_has_operations_in_milliseconds_and_the_host_above_them(issued: bool) -> None:
    data = with_rows(Data(), "spans", TWO.to_dict("records"), device="d", schedule="graph")
    call = dict(lane_name="host", kind="copies in", start_us=4e3, end_us=7e3, chunk=0, operation=0)
    data.tables["calls"] = pd.DataFrame(
        [call | {"file": 0}] if issued else [], columns=["file", *call]
    )
    (view,) = timelines.views(data)
    begin = int(issued)
    assert view["lanes"] == ["host"] * issued + ["H2D copies", "kernels"]
    assert view["operations"]["start"] == [begin, begin + 2] + [0] * issued
    assert view["operations"]["end"] == [begin + 2, begin + 2.5] + [3] * issued
    assert (view["makespan"], view["whole"]) == (2.5, 2.5 + begin)


def test_numbers_on_the_page_have_five_digits_and_none_is_invented() -> None:
    printed = columns.numbers([1234567.0, 0.123456789, 3.0, math.nan, math.inf])
    assert printed == [1234600, 0.12346, 3, None, None]


# ------------------------------------------------------------------------------ how it is printed


def test_numbers_have_their_significant_digits() -> None:
    three = {0.0123456: "0.0123", 123456: "123\u2009456", 1.0: "1.00", 0: "0", None: "—"}
    assert [significant(value) for value in three] == list(three.values())
    assert [significant(v, 2) for v in (-0.5, 9.999, math.nan)] == ["-0.50", "10.0", "—"]
    sizes = [size(n) for n in (64, 1000, 1024, 1 << 28, 3 << 20)]
    assert sizes == ["64", "1\u2009000", "2^10", "2^28", "3\u2009145\u2009728"]
    assert [whole(n) for n in (7.0, 1234567, None, np.nan)] == [
        "7",
        "1\u2009234\u2009567",
        "—",
        "—",
    ]
    assert with_interval(Interval(1.5, 1.25, 2.0, 5)) == "1.50 [1.25, 2.00]"
    assert with_interval(Interval(1.5, math.nan, math.nan, 2)) == "1.50"


def test_a_paper_cites_the_sources_of_a_table_and_other_texts_name_them() -> None:
    def one(column: Column, *values: str) -> Table:
        return Table("c", (column,), pd.DataFrame({column.key: values}))

    table = one(Column("source", "source", refers=citation), "merrill2016", "ours")
    assert r"\cite{merrill2016} \\" in table.latex(in_paper=True)
    assert "ours" in table.latex(in_paper=True) and r"\cite" not in table.latex()
    table = one(Column("figure", "figure", code, refers=figure), "scenarios_order")
    assert r"\figref{scenarios_order} \\" in table.latex(in_paper=True)
    assert "| `scenarios_order` |" in table.markdown()


def test_a_table_prints_some_rows_and_keeps_all_as_csv_with_ends_of_intervals() -> None:
    values: Any = [Interval(1.5, 1.0, 2.0, 5), None, Interval(3, 2, 4, 5)]
    rows = pd.DataFrame({"a": ["x|y", "z", "w"], "b": pd.Series(values, dtype=object)})
    shown = (Column("a", "A"), Column("b", "B", with_interval, group="G"))
    table = Table("c", shown, rows, ("note",), printed=2)
    head = ["| A | G B |", "|---:|---:|", r"| x\|y | 1.50 [1.00, 2.00] |", "| z | — |"]
    assert table.markdown().splitlines() == [*head, "", "note"]
    assert table.csv().splitlines() == [
        "a,b,b_low,b_high",
        "x|y,1.5,1.0,2.0",
        "z,,,",
        "w,3.0,2.0,4.0",
    ]
    assert r"\multicolumn{1}{c}{G}" in table.latex() and r"\cmidrule(lr){2-2}" in table.latex()
