"""When copies and kernels overlap: bounds, schedules and timelines of times chosen by hand."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from scanlab_report import load, style
from scanlab_report.chapters import concurrency, schedules
from scanlab_report.chapters.schedules import PIPELINE, SERIAL, SERIAL_SUM, WERKHOVEN
from scanlab_report.data import Data
from scanlab_report.pick import pick
from scanlab_report.tables import COLUMNS
from tests import fixtures, tiny
from tests.tiny import EXACT, LEAST, MOST, SPREAD, near, with_rows

ITEMS = 1 << 20
PLACES = (SERIAL, "depth_first", "breadth_first", "graph", "skewed", "null_stream_trap")
COPIES = dict(h2d=10.0, d2h=10.0, duplex_h2d=12.5, duplex_d2h=12.5)
"""Milliseconds of a copy of one array."""
Rows = list[dict[str, Any]]


@pytest.mark.parametrize(
    ("alone", "duplex", "chunks", "pipeline"),
    [
        ((4, 1, 3), (4, 3), 4, None),  # the bus serves both at full rate: as Van Werkhoven has it
        ((1, 5, 2), (1, 2), 3, None),
        ((20, 1, 20), (22, 24), 1, 41),  # with one chunk copies never meet
        # 16.225 together: 1/6 of that later is the last copy out, and the bus has done both by then
        ((20, 1, 20), (22, 24), 4, 20 + 16.225 / 6 + (1 + 20) / 4),
        ((40, 1, 20), (44, 22), 10**9, 40 + 22 / 11),
        ((20, 1, 20), (60, 60), 10**9, 40),  # at a third of the rate each
    ],
)
def test_bounds_of_parts(alone, duplex, chunks, pipeline) -> None:
    (h, k, d), n = alone, chunks
    names = dict(chunks=n, copy_in=h, kernels=k, copy_out=d, side=0.0)
    rows = pd.DataFrame([names | dict(duplex_in=duplex[0], duplex_out=duplex[1])])
    (row,) = schedules.bounds(rows).itertuples()
    werkhoven = max(h + (k + d) / n, k + (h + d) / n, d + (h + k) / n)
    assert row.serial_sum == h + k + d and row.werkhoven == near(werkhoven)
    assert row.bound == pytest.approx(werkhoven if pipeline is None else pipeline)
    (row,) = schedules.bounds(rows.assign(side=100.0)).itertuples()
    assert row.bound == row.werkhoven == k + 100, "kernels that wait for no copy"
    assert np.isnan(schedules.bounds(rows.assign(duplex_in=np.nan))["bound"]).all()


def test_no_recorded_schedule_bound_by_copies_is_faster_than_the_pipeline_estimate() -> None:
    """Copies alone and schedules are timed apart, and the host's bus is slower at times."""
    recorded = load.load([], [fixtures.SESSION / "schedules.json.gz"])
    cases = schedules.schedules_of(recorded)
    bound = [case for case in cases[cases["bound"].notna()].itertuples()]
    bound = [c for c in bound if c.kernels + c.side < 0.9 * c.copy_in]
    assert {"scale", "vector_add"} <= {case.workload for case in bound} and len(bound) > 50
    assert min(schedules.over_bound(case).value for case in bound) > 0.975


def sample(entry: str, id_: str, ms: float, spread: Any = EXACT, **named: Any) -> Rows:
    case = dict.fromkeys([*COLUMNS["schedule"], "side_kernels", "own_streams"], 0)
    case |= dict(entry=entry, id=id_, workload="", memory="", device_ns=np.nan) | named
    case |= dict(sm_clock_mhz=np.nan, converged=np.nan)
    return [case | {"round": n, "ns": 1e6 * ms * factor} for n, factor in enumerate(spread)]


def schedule(id_: str, chunks: int, ms: float, streams: int = 4, **named: Any) -> Rows:
    case = dict(workload="scale", items=ITEMS, chunks=chunks, streams=streams, memory="pinned")
    case |= dict(work=1, inputs=1, bytes=8 * ITEMS, device_ns=0.9e6 * ms)
    case |= dict(side_kernels=int(id_ == "null_stream_trap"), own_streams=int(id_ == SERIAL))
    return sample("schedule", id_, ms, **{"spread": SPREAD} | case | named)


def scheduled(
    *cases: Rows, kernels: Any = None, slower: float = 1.0, data: Any = None, date: str = "2026"
) -> Data:
    """Schedules of two copies that take 10 ms each, 12.5 at once, and kernels that take 20: an
    estimate of 20 + 20/n ms for n chunks. `kernels`: milliseconds by work."""
    rows = [row for own in cases for row in own]
    for direction, ms in COPIES.items():
        rows += sample("copy", direction, slower * ms, memory="pinned", bytes=4 * ITEMS)
    for work, ms in (kernels or {1: 20.0}).items():
        rows += sample("kernel", "scale", ms, workload="scale", items=ITEMS, work=work)
    known = {id_: {"control": False} for id_ in PLACES}
    about = dict(kind="cuda", device="Test Device", date=date, schedules=known)
    return with_rows(data or Data(), "schedule", rows, **about)


def look(id_: str) -> style.Look:
    return schedules.schedule_look(PLACES.index(id_))


SERIALS = [schedule(SERIAL, 1, 44.0), schedule(SERIAL, 2, 42.0, spread=EXACT)]
DEPTH_FIRST = [schedule("depth_first", 1, 40.0), schedule("depth_first", 2, 33.0)]
OTHERS = [schedule("breadth_first", 2, 60.0), schedule("graph", 2, 7.0, memory="pageable")]
CASES = [*SERIALS, *DEPTH_FIRST, *OTHERS]


def test_schedules_stand_at_their_milliseconds_and_below_at_multiples_of_the_estimate() -> None:
    above, below = tiny.drawn(schedules.schedules, scheduled(*CASES)).axes
    own = look("depth_first")
    assert tiny.points(above, own) == [near((1, 40)), near((2, 33))]
    assert tiny.points(below, own) == [near((1, 1)), near((2, 1.1))]
    assert not tiny.lines(below, look("breadth_first")), "twice the estimate"
    assert not tiny.lines(above, look("graph")), "of pageable memory"
    assert tiny.bars(above, own.colour)[1] == near((2, 33 * LEAST, 33 * MOST))
    assert tiny.bars(below, own.colour)[1] == near((2, 1.1 * LEAST, 1.1 * MOST))
    for name, ms in ((PIPELINE, (40, 30)), (SERIAL_SUM, (40, 40)), (WERKHOVEN, (40, 30))):
        points = tiny.points(above, schedules.BOUND_LOOKS[name])
        assert points == [near((1, ms[0])), near((2, ms[1]))]
    assert above.get_title("left") == "compute : copy 2"


def test_a_speedup_is_over_serial_execution_at_its_fastest() -> None:
    axes = tiny.drawn(schedules.schedules_speedup, scheduled(*CASES)).axes[0]
    assert tiny.points(axes, look("depth_first")) == [near((1, 42 / 40)), near((2, 42 / 33))]
    bars = tiny.bars(axes, look("depth_first").colour)
    assert bars[1] == near((2, 42 / 33 / MOST, 42 / 33 / LEAST))
    assert not tiny.lines(axes, look(SERIAL))
    for name in (PIPELINE, WERKHOVEN):
        assert tiny.points(axes, schedules.BOUND_LOOKS[name]) == [near((1, 1)), near((2, 4 / 3))]
    thirds = tiny.points(axes, schedules.BOUND_LOOKS[schedules.THIRDS])
    assert thirds[0] == near((1, 1)) and thirds[-1] == near((2.6, 7.8 / 4.6))


def test_schedules_stand_in_the_table_where_they_are_fastest() -> None:
    cases = [*SERIALS, schedule("depth_first", 2, 30.0), schedule("depth_first", 4, 26.25)]
    cases += [schedule("graph", 2, 20.5, work=7), schedule("null_stream_trap", 2, 63.0)]
    cases.append(schedule("depth_first", 2, 1.0, workload="vector_add"))
    table, keys = tiny.built(schedules.schedules_table, scheduled(*cases)), "id chunks streams"
    assert tiny.printed(table, f"{keys} median_ms") == "`depth_first` | 4 | 4 | 26.25"
    times = "events_ms of_bound speedup"
    assert tiny.printed(table, times) == "23.62 | 1.05 [0.945, 1.47] | 1.60 [1.14, 1.78]"
    assert tiny.printed(table, keys, 1) == f"`{SERIAL}` | 2 | —", "it makes its own streams"
    assert tiny.printed(table, "id speedup", 2) == "`null_stream_trap` | —", "it computes more"
    assert table.rows["workload"].iloc[-1] == "vector_add"
    assert tiny.printed(table, "of_bound", len(table.rows) - 1) == "—"


def test_parts_are_of_the_file_of_a_schedule_and_side_kernels_are_added() -> None:
    trap = [schedule("null_stream_trap", n, 1.0) for n in (1, 2)]
    cases = schedules.schedules_of(scheduled(*SERIALS, *trap, *DEPTH_FIRST))
    seconds = {(c.id, c.chunks): c.bound for c in cases.itertuples()}
    assert seconds["null_stream_trap", 2] == near(0.04) and seconds["depth_first", 2] == near(0.03)
    (panel,) = schedules.panels(cases, "chunks")
    assert "null_stream_trap" not in set(schedules.speedups(panel)["id"])
    assert schedules.best_schedule(cases, "scale").id == "depth_first"
    old = scheduled(*(schedule(id_, 2, 60.0, items=2 * ITEMS) for id_ in ("graph", "skewed")))
    cases = schedules.schedules_of(scheduled(*CASES, slower=3, data=old, date="2027"))
    assert list(pick(cases, id="depth_first")["duplex_out"]) == near([0.0375] * 2)
    assert list(pick(cases, items=2 * ITEMS)["duplex_in"]) == near([0.0125] * 2)


def grids(connections: int, streams_: int, kernels: int, blocks: int, *times: float) -> dict:
    """Measured, predicted and serial time in units of a block, which takes 2 ms."""
    measured, predicted, serial = times
    case = dict(streams=streams_, kernels=kernels, blocks=blocks, slots=4, connections=connections)
    seconds = dict(predicted_seconds=2e-3 * predicted, serial_seconds=2e-3 * serial)
    makespans = [2e-3 * measured * factor for factor in SPREAD]
    return case | seconds | dict(block_seconds=2e-3, makespan_seconds=makespans)


def test_makespans_of_small_grids_are_in_block_times() -> None:
    rows = [grids(1, 2, 1, 3, 2.2, 2, 2), grids(1, 1, 1, 100, 25, 25, 25)]
    rows += [grids(8, 4, 1, 1, 3, 1, 4), grids(8, 4, 3, 1, 3.1, 3, 12)]
    rows += [grids(1, 4, 3, 1, 9.3, 9, 12), grids(8, 2, 3, 1, 3, 3, 6)]
    data = with_rows(Data(), "concurrency", rows)
    stairs, queue = tiny.drawn(concurrency.concurrency, data).axes
    lines = {line.get_label(): line.get_xydata().tolist() for line in stairs.get_lines()}
    assert lines["1 hardware work queue"] == [near([6, 2.2])], "25 are beyond the staircase"
    assert lines["8 hardware work queues"] == [near([4, 3])]
    assert lines["⌈blocks / slots⌉"][:5] == [[1, 1], [2, 1], [3, 1], [4, 1], [5, 2]]
    assert tiny.bars(stairs)[0] == near((6, 2.2 * LEAST, 2.2 * MOST))
    assert [bar.get_height() for bar in queue.patches] == [near(9.3), near(3.1)]
    dashed = {line.get_ydata()[0] for line in queue.get_lines() if line.get_linestyle() == "--"}
    assert sorted(dashed) == [near(3), near(9), near(12)]
