"""When copies and kernels overlap: bounds, schedules, timelines and scans larger than the device,
of times chosen by hand."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from scanlab_report import load, style
from scanlab_report.chapters import bounds, concurrency, larger, schedules, timelines
from scanlab_report.chapters.bounds import PIPELINE, SERIAL, SERIAL_SUM, WERKHOVEN, Parts
from scanlab_report.chapters.timelines import Trace
from scanlab_report.data import Data
from scanlab_report.pick import Lacking, pick
from scanlab_report.tables import COLUMNS, STREAM_SCAN
from tests import fixtures, stream_fixtures, tiny
from tests.tiny import EXACT, LEAST, MOST, SPREAD, near, with_rows

ITEMS = 1 << 20
PLACES = (SERIAL, "depth_first", "breadth_first", "graph", "skewed", "null_stream_trap")
COPIES = dict(h2d=10.0, d2h=10.0, duplex_h2d=12.5, duplex_d2h=12.5)
"""Milliseconds of a copy of one array."""
Rows = list[dict[str, Any]]

# ------------------------------------------------------------------------------------ the bounds


@pytest.mark.parametrize("parts", [Parts(4, 1, 3), Parts(1, 5, 2), Parts(1, 2, 6), Parts(1, 1, 1)])
def test_the_bound_is_the_largest_of_van_werkhovens_three(parts: Parts) -> None:
    h, k, d = parts.copy_in, parts.kernels, parts.copy_out
    for n in (1, 3, 64):
        assert parts.overlapped(n) == near(max(h + (k + d) / n, k + (h + d) / n, d + (h + k) / n))
    assert parts.overlapped(1) == parts.serial()
    if h == k == d:
        assert parts.serial() / parts.overlapped(4) == near(bounds.equal_thirds(4))
    beside = Parts(h, k, d, side=k)  # kernels that wait for no copy
    assert beside.overlapped(64) == max(parts.overlapped(64), 2 * k)


def test_copies_slow_each_other_down_only_while_both_directions_run() -> None:
    alone, duplex = Parts(20, 1, 20), Parts(22, 1, 24)
    assert alone.pipeline(duplex, 1) == alone.serial(), "with one chunk they never do"
    assert alone.pipeline(alone, 4) == near(alone.overlapped(4))
    # 16.225 together: 1/6 of that later is the last copy out, and the bus has done both by then.
    assert alone.pipeline(duplex, 4) == near(20 + 16.225 / 6 + (1 + 20) / 4)
    # Two arrays in and one out: for 22 copies in have 10/11 of their rate; without end of chunks.
    assert Parts(40, 1, 20).pipeline(Parts(44, 1, 22), 10**9) == pytest.approx(40 + 22 / 11)
    apart = alone.pipeline(Parts(60, 1, 60), 10**9)  # at a third of the rate each
    assert apart == pytest.approx(40)


def test_no_recorded_schedule_bound_by_copies_is_faster_than_the_pipeline_estimate() -> None:
    """Copies alone and schedules are timed apart, and the host's bus is slower at times."""
    recorded = load.load([], [fixtures.SESSION / "schedules.json.gz"])
    cases = bounds.schedules_of(recorded)
    bound = [case for case in cases[cases["bound"].notna()].itertuples()]
    bound = [c for c in bound if c.alone.kernels + c.alone.side < 0.9 * c.alone.copy_in]
    assert {"scale", "vector_add"} <= {case.workload for case in bound} and len(bound) > 50
    assert min(bounds.over_bound(case).value for case in bound) > 0.975


# --------------------------------------------------------------------------------- the schedules


def sample(entry: str, id_: str, ms: float, spread: Sequence[float] = EXACT, **named: Any) -> Rows:
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
    *cases: Rows,
    kernels: Any = None,
    slower: float = 1.0,
    data: Any = None,
    date: str = "2026-01-01",
) -> Data:
    """Schedules of two copies that take 10 ms each, 12.5 at once, and kernels that take 20: an
    estimate of 20 + 20/n ms for n chunks. `kernels`: milliseconds by work."""
    rows = [row for of in cases for row in of]
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
    assert tiny.points(above, look("breadth_first")) == [near((2, 60))]
    assert not tiny.lines(below, look("breadth_first")), "twice the estimate"
    assert not tiny.lines(above, look("graph")), "of pageable memory"
    assert tiny.bars(above, own.colour)[1] == near((2, 33 * LEAST, 33 * MOST))
    assert tiny.bars(below, own.colour)[1] == near((2, 1.1 * LEAST, 1.1 * MOST))
    for name, ms in ((PIPELINE, (40, 30)), (SERIAL_SUM, (40, 40)), (WERKHOVEN, (40, 30))):
        points = tiny.points(above, schedules.BOUND_LOOKS[name])
        assert points == [near((1, ms[0])), near((2, ms[1]))]
    assert above.get_title("left") == "compute : copy 2"


def test_a_schedule_that_beats_the_estimate_is_named_with_how_far() -> None:
    fast = [schedule("graph", 2, 15.0), schedule("skewed", 2, 20.0)]
    shown = tiny.shown(schedules.schedules, scheduled(schedule("depth_first", 1, 40.0), *fast))
    details = shown.details
    assert "graph with 2 chunks at compute : copy 2 takes 0.50 of it" in details


def test_a_speedup_is_over_serial_execution_at_its_fastest() -> None:
    axes = tiny.drawn(schedules.schedules_speedup, scheduled(*CASES)).axes[0]
    assert tiny.points(axes, look("depth_first")) == [near((1, 42 / 40)), near((2, 42 / 33))]
    bars = tiny.bars(axes, look("depth_first").colour)
    assert bars[1] == near((2, 42 / 33 / MOST, 42 / 33 / LEAST))
    assert not tiny.lines(axes, look(SERIAL))
    for name in (PIPELINE, WERKHOVEN):
        assert tiny.points(axes, schedules.BOUND_LOOKS[name]) == [near((1, 1)), near((2, 4 / 3))]
    thirds = tiny.points(axes, schedules.BOUND_LOOKS[SERIAL_SUM])
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
    assert "by events" in table.caption


def test_schedules_with_side_kernels_are_held_against_what_they_compute() -> None:
    trap = [schedule("null_stream_trap", n, 1.0) for n in (1, 2)]
    cases = bounds.schedules_of(scheduled(*SERIALS, *trap, *DEPTH_FIRST))
    seconds = {(c.id, c.chunks): c.bound for c in cases.itertuples()}
    assert seconds["null_stream_trap", 2] == near(0.04) and seconds["depth_first", 2] == near(0.03)
    (panel,) = bounds.panels(cases, "chunks")
    assert "null_stream_trap" not in set(bounds.speedups(panel)["id"])
    assert "null_stream_trap" not in set(bounds.one_each(panel.iloc[::-1], "chunks")["id"])
    assert bounds.best_schedule(cases, "scale").id == "depth_first"


def test_a_schedule_is_set_against_the_parts_of_its_own_file() -> None:
    large = [schedule(id_, 2, 60.0, items=2 * ITEMS) for id_ in ("graph", "skewed")]
    old = scheduled(*large)
    cases = bounds.schedules_of(scheduled(*CASES, slower=3, data=old, date="2026-01-03"))
    newer, older = pick(cases, id="depth_first"), pick(cases, items=2 * ITEMS)
    assert [parts.copy_out for parts in newer["duplex"]] == near([0.0375] * 2)
    assert [parts.copy_in for parts in older["duplex"]] == near([0.0125] * 2)


WORKS = {1: 0.3, 32: 0.9, 128: 2.8, 512: 10.5}
"""Milliseconds of the kernels: those of the third are nearer to a copy's than the second's are."""


def test_panels_are_the_least_and_most_work_and_those_nearest_to_a_copy() -> None:
    ids = ("depth_first", "graph")
    cases = [schedule(id_, n, 50.0, work=w) for id_ in ids for n in (1, 2) for w in WORKS]
    control = schedule("skewed", 2, 1.0, control=1)
    found = bounds.schedules_of(scheduled(*cases, control, kernels=WORKS))
    assert "skewed" not in set(found["id"]), "a control computes nothing right"
    panels = bounds.panels(found, "chunks")
    assert [panel["work"].iloc[0] for panel in panels] == [1, 128, 512]
    assert [p["work"].iloc[0] for p in sorted(panels, key=bounds.from_even)] == [512, 128, 1]
    with pytest.raises(Lacking):
        bounds.panels(found, "streams")


# ------------------------------------------------------------------------------------- timelines


def operations(*spans: tuple[str, int, float, float]) -> pd.DataFrame:
    """Operations by kind and lane."""
    rows = [
        (lane, kind, kind, start, end, place, place, "s", 0, 8, "")
        for place, (kind, lane, start, end) in enumerate(spans)
    ]
    return pd.DataFrame(rows, columns=COLUMNS["spans"])


def calls(*spans: tuple[str, float, float]) -> pd.DataFrame:
    rows = [("host", kind, start, end, 0, 0) for kind, start, end in spans]
    return pd.DataFrame(rows, columns=COLUMNS["calls"])


def panel(trace: Trace) -> Axes:
    with style.sheet():
        _, (axes,) = style.figure(style.COLUMN, 1.4)
        timelines.draw_trace(axes, trace, "")
    return axes


def drawn_timelines(*traces: Trace) -> Figure:
    with style.sheet():
        return timelines.draw_timelines(traces)


def bars(axes: Axes) -> list[list[float]]:
    """Begin, end and height of each bar."""
    boxes = [path.get_extents() for own in axes.collections for path in own.get_paths()]
    return sorted([round(v, 9) for v in (b.x0, b.x1, (b.y0 + b.y1) / 2)] for b in boxes)


TWO = operations(("copies in", 1, 5000.0, 7000.0), ("kernels", 2, 7000.0, 7500.0))


def test_time_begins_with_the_first_operation_or_call_in_the_colour_of_its_engine() -> None:
    rows = pd.concat([operations(("copies out", 3, 8000.0, 9000.0)), TWO])
    trace = Trace({}, rows, calls(), 0)
    axes = panel(trace)
    assert bars(axes) == [[0, 2, 0], [2, 2.5, 1], [3, 4, 2]] and trace.makespan_ms == 4
    lanes = [label.get_text() for label in axes.get_yticklabels()]
    assert lanes == ["H2D copies", "kernels", "D2H copies"]
    host = calls(("copies in", 4000.0, 7000.0), ("", 7000.0, 7500.0))
    axes = panel(Trace({}, TWO, host, 0))
    assert bars(axes) == [[0, 3, -1], [1, 3, 0], [3, 3.5, -1], [3, 3.5, 1]]
    assert axes.get_yticklabels()[0].get_text() == "host"
    colours = [to_hex(own.get_facecolor()[0]) for own in axes.collections[2:]]
    wanted = (style.GREY, timelines.ENGINE_COLOURS["copies in"])
    assert sorted(colours) == sorted(map(str.lower, wanted))


def test_a_bar_with_room_has_the_label_of_a_scenario_file() -> None:
    spans = (("copies in", 1, 0, 2e3), ("kernels", 2, 2e3, 7e3), ("kernels", 2, 7e3, 7.2e3))
    rows = operations(*spans)
    labelled = Trace({"title": "For $5"}, rows.assign(label=["$A$", "", "short"]), calls(), 0)
    (axes,) = drawn_timelines(labelled).axes
    assert [text.get_text() for text in axes.texts] == ["$A$", "1"]
    assert axes.get_title("left") == r"For \$5, 7.20 ms"
    (axes,) = drawn_timelines(Trace({}, rows, calls(), 0)).axes
    assert not axes.texts


def test_one_hardware_queue_is_told_by_the_channels_of_kernels_or_as_stated(tmp_path: Path) -> None:
    for name, channels in itertools.product(("depth_first", "breadth_first"), (1, 4)):
        document = stream_fixtures.trace(name, channels=channels)
        (tmp_path / f"{name}{channels}.json").write_text(json.dumps(document))
    simulated = stream_fixtures.trace("depth_first", date="2027-01-01", simulated_on="h200")
    (tmp_path / "simulated.json").write_text(json.dumps(simulated))
    figure = tiny.drawn(timelines.gantt, load.load([tmp_path]))  # of measurements alone
    titles = [title.partition(":")[0] for title in tiny.titles(figure)]
    queues = ("", ", one hardware work queue")
    assert titles == [f"{name}{q}" for name in ("depth_first", "breadth_first") for q in queues]
    limits, artists = ({f(axes) for axes in figure.axes} for f in (Axes.get_xlim, _artists))
    assert len(limits) == len(artists) == 1, "few artists on one axis of time"
    stated = [Trace({"connections": n}, operations(), calls(), 0).one_queue for n in (1, 8)]
    assert stated == [True, False]


def _artists(axes: Axes) -> int:
    return len(axes.get_children())


# ------------------------------------------------- concurrent kernels, scans larger than the device


def grids(connections: int, streams_: int, kernels: int, blocks: int, *times: float) -> dict:
    """Measured, predicted and serial time in units of a block, which takes 2 ms."""
    measured, predicted, serial = times
    case = dict(streams=streams_, kernels=kernels, blocks=blocks, slots=4, connections=connections)
    seconds = dict(predicted_seconds=2e-3 * predicted, serial_seconds=2e-3 * serial)
    makespans = [2e-3 * measured * factor for factor in SPREAD]
    return case | seconds | dict(block_seconds=2e-3, makespan_seconds=makespans)


GRIDS = [grids(1, 2, 1, 3, 2.2, 2, 2), grids(1, 1, 1, 100, 25, 25, 25), grids(8, 4, 1, 1, 3, 1, 4)]
QUEUES = [grids(8, 4, 3, 1, 3.1, 3, 12), grids(1, 4, 3, 1, 9.3, 9, 12), grids(8, 2, 3, 1, 3, 3, 6)]


def test_makespans_of_small_grids_are_in_block_times() -> None:
    data = with_rows(Data(), "concurrency", [*GRIDS, *QUEUES])
    stairs, queue = tiny.drawn(concurrency.concurrency, data).axes
    drawn = {line.get_label(): line.get_xydata().tolist() for line in stairs.get_lines()}
    assert drawn["1 hardware work queue"] == [near([6, 2.2])], "25 are beyond the staircase"
    assert drawn["8 hardware work queues"] == [near([4, 3])]
    assert drawn["⌈blocks / slots⌉"][:5] == [[1, 1], [2, 1], [3, 1], [4, 1], [5, 2]]
    assert tiny.bars(stairs)[0] == near((6, 2.2 * LEAST, 2.2 * MOST))
    heights = [bar.get_height() for bar in queue.patches]
    assert heights == [near(9.3), near(3.1)]
    assert [label.get_text() for label in queue.get_xticklabels()] == ["1", "8"]
    dashed = [line for line in queue.get_lines() if line.get_linestyle() == "--"]
    assert sorted(line.get_ydata()[0] for line in dashed) == [near(3), near(9), near(12)]


MS = 2**30 / 1e9 * 1e3
"""Milliseconds of 1 GiB at 1 GB/s."""


def scan(way: str, gib: float, ms: float, place: str = "memory", mapped: int = 0, **named) -> Rows:
    size = int(gib * 2**30)
    case = dict.fromkeys(STREAM_SCAN, "") | dict(way=way, items=size // 4, budget=1 << 31, chunks=8)
    case |= {"from": place, "to": place, "mapped": mapped, "bytes": size} | named
    case |= dict(sm_clock_mhz=np.nan, converged=np.nan)
    return [case | {"round": n, "ns": 1e6 * ms * factor} for n, factor in enumerate(SPREAD)]


def test_scans_of_host_data_stand_at_the_bytes_of_their_input_per_second() -> None:
    memory = [scan("streamed", 1, MS / 8), scan("streamed", 1, MS / 4, chunks=4)]
    memory += [scan("streamed", 2, MS / 8), scan("duplex_copy", 1, MS / 16)]
    files = [scan("streamed", 1, MS / 3, "file", 1), scan("streamed", 1, MS / 5, "file")]
    files += [scan("files", 1, MS / 6, "file"), scan("naive", 1, MS / 2)]
    rows = [row for own in (*memory, *files) for row in own]
    data = with_rows(Data(), "stream_scan", rows, device="Test Device")
    (axes,) = tiny.drawn(larger.stream_scan, data).axes
    own, gib = lambda way, place="": tiny.points(axes, larger._way_look(way, place)), 2**30
    assert own("streamed") == [near((gib, 8)), near((2 * gib, 16))], "of two ways the faster"
    assert own("naive") == [near((gib, 2))] and own("files", "pwrite") == [near((gib, 6))]
    assert own("streamed", "mapping") == [near((gib, 3))]
    assert own("streamed", "pwrite") == [near((gib, 5))]
    assert near((gib, 8 / MOST, 8 / LEAST)) in tiny.bars(axes, style.BLUE)


# ------------------------------------------------------------------------- implicit synchronisation


def test_a_call_has_its_two_questions_side_by_side_and_a_difference_is_marked(
    tmp_path: Path,
) -> None:
    (tmp_path / "answers.json").write_text(json.dumps(stream_fixtures.implicit_sync()))
    data = load.load([tmp_path])
    table = tiny.built(concurrency.implicit_sync_calls, data)
    keys = "call host_stated host_shown streams_stated streams_shown streams_counted"
    assert tiny.printed(table, keys) == "Malloc (64 MiB) | — | no | yes | no (!) | 0 of 15"
    assert tiny.printed(table, "call host_shown streams_shown", 1).endswith(" | — | —")
    (question,) = tiny.built(concurrency.implicit_sync_questions, data).rows["question"]
    assert question == "a kernel launch waits for the end of its kernel"
    every = tiny.built(concurrency.implicit_sync, data)
    assert tiny.printed(every, "refusal", 2) == "it needs a second device"


# --------------------------------------------------------------------------------------- its files


def test_a_bad_sample_is_refused_with_its_place_and_the_rest_is_read(tmp_path: Path) -> None:
    wrong = [({"real_time": 0.0}, "real_time is 0, and the outcome is timed")]
    wrong.append(({"device_time_ms": 0.0}, "device_time_ms: expected float > 0.0, got 0.0"))
    wrong.append(({"verified": False}, "its output was wrong, though it is no control"))
    for change, says in wrong:
        entries = stream_fixtures.schedule("serial_pinned", 40.0)
        entries[1] |= change
        (tmp_path / "d.json").write_text(json.dumps(stream_fixtures.results(entries)))
        data = load.load([tmp_path])
        (problem,) = data.problems
        assert "benchmarks[1]" in str(problem) and says in str(problem)
        assert len(data["schedule"]) == len(entries) - 1
