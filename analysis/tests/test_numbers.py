"""The numbers in the papers' text and on the page, and how they are printed, of times chosen by
hand."""

import math
import re
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from scanlab_report.chapters.schedules import SERIAL
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
from scanlab_report.load import load
from scanlab_report.numbers import printed, scans, streams
from scanlab_report.page import views
from tests import fixtures, test_axes, test_ranks
from tests.test_streams import ITEMS, sample, schedule, scheduled
from tests.tiny import LEAST, MOST, case, several, tables

N = 1 << 28
THOUSAND = 8 * N / 1000
"""Nanoseconds of N items at 1000 GB/s."""


def has(module: ModuleType, data: Data, *lines: str) -> None:
    """Some numbers are these, by name; a dash: there is no such number."""
    made = printed(module.numbers(data))
    wanted = " ".join(lines).split()
    names, values = wanted[::2], wanted[1::2]
    plain = {name: re.sub(r"\\ensuremath|\\texttt|[\\{}]", "", own) for name, own in made.items()}
    assert [plain.get(name, "—") for name in names] == values


def test_the_text_has_shares_of_a_copy_along_axes_and_by_key(tmp_path) -> None:
    rows = dict(axis_copy=1e6, axis_best=1.25e6, cub_newest_segmented_scan=4e6, cub_axis_by_key=2e6)
    keys = dict(key_copy=1e6, key_best=1.25e6, key_pairs=8e6, cub_by_key=2e6)
    about = {id_: fixtures.variant(id_) for id_ in (*rows, *keys)}
    for id_ in ("cub_newest_segmented_scan", "cub_axis_by_key", "cub_by_key"):
        about[id_] |= {"family": "CUB", "origin": "baseline"}
    cut = dict(kind="scan_by_key", type="i32", segment=8, lengths="random", width=4)
    by_key = lambda id_, ns, items=N, **changes: test_axes.samples(
        id_, ns, items, 1, **cut | changes
    )
    samples = []
    for shape in ((32, 1 << 15), (33, 31775), (32, 1 << 19)):
        slower = dict(axis_best=2.5e6) if shape[0] == 33 else {}
        samples += [test_axes.samples(id_, ns, *shape) for id_, ns in (rows | slower).items()]
    for inner, ns in ((16, 2.5e6), (4096, 1.25e6)):
        shape = (1 << 27) // inner, 1, inner
        samples += [test_axes.samples("axis_copy", 1e6, *shape)]
        samples += [test_axes.samples("axis_best", ns, *shape)]
    for items, mean, ns in ((N, 8, 1.25e6), (N, 128, 1e6), (scans.SOME, 8, 2e6)):
        times = (keys | dict(key_best=ns)).items()
        samples += [by_key(id_, own, items, segment=mean) for id_, own in times]
    for changes in ({"width": 8}, {"type": "i8"}, {"type": "f16"}):
        times = (keys | dict(key_best=4e6 if "type" in changes else 2e6)).items()
        samples += [by_key(id_, own, **changes) for id_, own in times]
    document = fixtures.results(*(entry for own in samples for entry in own), variants=about)
    has(
        scans,
        load([fixtures.write(tmp_path / "samples.json", document)]),
        "rowsItems 2^24 rowsLeast 0.800 rowsMost 0.800 rowsByKey 0.500 rowsSegmentedLeast 0.250",
        "rowsCases 3 rowsWins 2 rowsLosses 1 rowsSmall 0.400 rowsByte — rowsTorchLeast —",
        "columnsLeast 0.400 columnsMost 0.800 columnsRival —",
        "keysLeast 0.800 keysMost 1.00 keysVendorMost 0.500 keysPairs 0.125 keysSmall 0.500",
        "keysWidths 0.500 keysByte 0.250 keysShort 0.250 segmentsItems 2^28 segmentsLeast —",
    )


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
        "rungVendorNewest — paddingGainReentry — worstDegreeBare —",
    )


def test_the_text_counts_wins_and_sets_libraries_and_an_empty_launch_beside_best() -> None:
    wide = (1 << 20, 1 << 24, N)
    cold = dict(memcpy=100.0, best=104.0, device_scan=106.08, cub_tuned=125.0, thrust_scan=131.04)
    cold |= dict(cub_device_scan=130.0, torch_cumsum=162.24, cupy_cumsum=208.0)
    cases = several(cold, *wide, exact=True)
    cases += several(dict(cub_tuned=50.0, device_scan=100.0), 1 << 16, exact=True)  # it loses
    once_faster = (1.0,) * 8 + (0.9,)  # best wins by little, and the samples overlap
    cases += [case("best", 1 << 22, 100.0, (1.0,) * 9)]
    cases += [case("cub_device_scan", 1 << 22, 103.0, once_faster)]
    spread, other = (0.8, 0.9, 1.0, 1.1, 1.2), (0.85, 0.95, 1.05, 1.15, 1.25)
    cases += [case("best", 1 << 12, 100.0, spread)]
    cases += [case("cub_device_scan", 1 << 12, 105.0, other)]  # nobody can tell
    node = dict(cache="warm", launch="graph")
    cases += several(dict(best=1.5e3, cub_device_scan=3e3), 1 << 10, exact=True, **node)
    cases += several(dict(empty_launch=600.0), 0, exact=True, **node)
    cases += [case("best", 1 << 18, 1.2e3, **node), case("empty_launch", 0, 3100.0, cache="warm")]
    has(
        scans,
        tables(cases),
        "headToHeadCases 6 headToHeadWins 5 headToHeadLosses 0 headToHeadRivalTuned 3",
        "headToHeadSureWins 5 headToHeadSureLosses 0 headToHeadNoSlower 5",
        "leadItems 2^28 leadLargest 1.20 headToHeadApart 4 headToHeadLeast 1.03 tunedOfCopy 0.80",
        "headerCases 4 headerWins 3 headerLosses 1 headerBelow 1 headerLeast 0.50",
        "headerSome 0.106 headerSomeBest 0.104 headerSomeVendor 0.125",
        "floorWarm 3.1 smallGraphLeast 2.0 smallGraphMost 2.5",
        "thrustOfBest 1.26 torchOfBest 1.56 cupyOfBest 2.00",
    )


def test_the_text_has_the_best_schedule_over_its_estimate_and_over_serial() -> None:
    add = dict(workload="vector_add", items=ITEMS, work=1)
    cases = [schedule(SERIAL, 1, 44.0), schedule(SERIAL, 2, 42.0)]
    cases += [schedule("depth_first", 4, 26.25), schedule("null_stream_trap", 2, 120.0)]
    cases += [schedule("breadth_first", 8, 27.0), schedule("breadth_first", 4, 25.0)]
    cases += [schedule("graph", 4, 50.0, **add), sample("kernel", "vector_add", 20.0, **add)]
    has(
        streams,
        scheduled(*cases),
        "streamBest breadth_first streamBestChunks 4 streamBestOfBound 1.00",
        "streamSpeedup 1.68 streamSpeedupIdeal 1.60 streamDuplexCost 25 streamAddOfBound 2.00",
        "streamBreadthOfBound 1.20 streamBreadthChunks 8 streamTrapOfSerial 2.00",
        "streamRateIn 0.336 streamRateOut 0.336",
    )


def test_the_text_tells_of_all_gpus_and_of_no_fewer() -> None:
    own = dict(copy_all=4.5, read_all=2.5, reduce_exchange_scan=8.0)
    cases = []
    for n in (1, 2, 4):
        for items in (scans.SOME, scans.MIDDLE, scans.MOST):
            cases += test_ranks.on(n, items, peer_look_ahead=4.0 + n / 4, **own)
    wide = test_ranks.on(4, scans.MOST, peer_look_ahead=9.0, copy_all=4.5)
    cases += [[row | {"type": "i64"} for row in rows] for rows in wide]
    data = test_ranks.timed(*cases)
    has(
        scans,
        test_ranks.with_best(data, test_ranks.best(18e3, 4 * scans.MOST)),
        "peersGpus 4 peersWeak 0.850 peersOfCopy 0.900 peersStrong 3.60 peersSmall 5.0",
        "peersBlocked 0.875 peersWide 0.50",
    )


def test_the_page_has_times_shares_and_speedups_of_each_case() -> None:
    exact = dict(memcpy=100.0, cub_device_scan=250.0, cub_newest=200.0)
    cases = [*several(exact, 1024, exact=True), case("best", 1024, 125.0)]
    cases += [case("look_ahead", 1024, 400.0), case("empty_launch", 0, 80.0)]
    (view,) = views.of_scans(tables(cases))
    own = pd.DataFrame(view["cases"]).set_index("variant")
    names = ["time_ns", "time_ns_low", "time_ns_high", "share", "speedup"]
    assert own.loc["best", names].tolist() == [125, 112.5, 175, 0.8, 1.6]
    shares = own.loc["best", ["share_low", "share_high"]].tolist()
    assert shares == [float(f"{0.8 / MOST:.5g}"), float(f"{0.8 / LEAST:.5g}")]
    assert (own.at["memcpy", "share"], own.at["look_ahead", "share"]) == (1, 0.25)
    assert own.at["cub_device_scan", "speedup"] == 0.8
    assert own.at["best", "net"] == float(f"{20 / 45:.5g}"), "less 80 each"
    assert "empty_launch" not in own.index


def test_numbers_have_their_significant_digits_and_none_is_invented() -> None:
    three = {0.0123456: "0.0123", 123456: "123\u2009456", 1.0: "1.00", 0: "0", None: "—"}
    assert [significant(value) for value in three] == list(three.values())
    assert [significant(v, 2) for v in (-0.5, 9.999, math.nan)] == ["-0.50", "10.0", "—"]
    sizes = [size(n) for n in (64, 1000, 1024, 1 << 28, 3 << 20)]
    assert sizes == ["64", "1\u2009000", "2^10", "2^28", "3\u2009145\u2009728"]
    assert [whole(n) for n in (7.0, 12345, None, np.nan)] == ["7", "12\u2009345", "—", "—"]
    assert with_interval(Interval(1.5, 1.25, 2.0, 5)) == "1.50 [1.25, 2.00]"
    assert with_interval(Interval(1.5, math.nan, math.nan, 2)) == "1.50"
    on_page = views.numbers([1234567.0, 0.123456789, 3.0, math.nan, math.inf])
    assert on_page == [1234600, 0.12346, 3, None, None]


def test_a_table_prints_some_rows_and_keeps_all_as_csv_with_ends_of_intervals() -> None:
    values: Any = [Interval(1.5, 1.0, 2.0, 5), None, Interval(3, 2, 4, 5)]
    rows = pd.DataFrame({"a": ["x|_y", "2^20", "w"], "b": pd.Series(values, dtype=object)})
    rows = rows.assign(source=["merrill2016", "ours", ""], figure="order_of")
    shown = (
        Column("a", "A", right=False),
        Column("b", "B", with_interval, group="G"),
        Column("source", "S", refers=citation),
        Column("figure", "F", code, refers=figure),
    )
    table = Table("c", shown, rows, ("note",), printed=2)
    assert table.markdown().splitlines() == [
        "| A | G B | S | F |",
        "|---|---:|---:|---:|",
        r"| x\|\_y | 1.50 [1.00, 2.00] | merrill2016 | `order_of` |",
        "| 2^20 | — | ours | `order_of` |",
        *("", "note"),
    ]
    assert table.csv().splitlines()[:2] == [
        "a,b,b_low,b_high,source,figure",
        "x|_y,1.5,1.0,2.0,merrill2016,order_of",
    ]
    assert len(table.csv().splitlines()) == 4
    latex = table.latex(in_paper=True)
    assert r" & \multicolumn{1}{c}{G} & & " in latex and r"\cmidrule(lr){2-2}" in latex
    assert r"x|\_\allowbreak{}y & 1.50 [1.00, 2.00] & \cite{merrill2016} & \figref" in latex
    assert r"$2^{20}$ & --- & ours & \figref{order_of} \\" in latex
    assert r"\texttt{order\_\allowbreak{}of} \\" in table.latex()
