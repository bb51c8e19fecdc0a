"""The axes of the figures of streams, sessions and scenarios, drawn from a few times chosen by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from scanlab_report.figures import concurrency, drift, model_residuals, schedules, schedules_speedup, schedules_streams, stream_scan
from scanlab_report.layout import gantt, style
from scanlab_report.layout import schedules as schedule_looks
from scanlab_report.read.records import MEASURED, SCANS, Repeated, Run
from scanlab_report.read.streams import CALL_COLUMNS, SCAN, TRACE_COLUMNS
from scanlab_report.select.drift import SessionEvidence, session
from scanlab_report.select.evidence import TableEvidence
from scanlab_report.select.streams_evidence import DUPLEX, FILES, NAIVE, SERIAL, STREAMED, Parts, ScanEvidence, ScheduleEvidence
from tests import tiny
from tests.tiny import LEAST, MOST, NOWHERE, near

ITEMS = 1 << 20


def styled(draw, *evidence: Any) -> Figure:
    with style.sheet():
        return draw(*evidence)


def timed(ms: float) -> dict[str, Any]:
    return {"count": 5, "median_ns": 1e6 * ms, "low_ns": 1e6 * ms * LEAST, "high_ns": 1e6 * ms * MOST, "samples": [1e6 * ms * of for of in tiny.SPREAD]}


PLACES = (SERIAL, "depth_first", "breadth_first", "graph", "skewed", "null_stream_trap")


def look(id_: str) -> style.Look:
    return schedule_looks.look(PLACES.index(id_))


def schedule(id_: str, chunks: int, ms: float, streams: int = 4, bound_ms: float | None = 20.0, **named: Any) -> dict[str, Any]:
    """10 ms of copies in, 20 ms of kernels and 10 ms of copies out."""
    return {"workload": "scale", "items": ITEMS, "chunks": chunks, "streams": streams, "memory": "pinned", "work": 1, "blocks": 0, "buffers": 0, "id": id_, "place": PLACES.index(id_), "inputs": 1, "side_kernels": int(id_.startswith(("null_stream_n", "null_stream_t", "per_thread"))), "own_streams": int(id_.startswith("serial")),
            "bytes": 8 * ITEMS, "alone": Parts(0.01, 0.02, 0.01), "duplex": Parts(0.0125, 0.02, 0.0125), "bound": bound_ms and bound_ms / 1e3, "device_ns": 0.9e6 * ms} | timed(ms) | named  # fmt: skip


def scheduled(*cases: dict[str, Any]) -> ScheduleEvidence:
    rows = pd.DataFrame(cases)
    return ScheduleEvidence(rows.astype({name: object for name in ("alone", "duplex", "bound")}), NOWHERE)


CASES = scheduled(schedule(SERIAL, 1, 44.0, bound_ms=40.0), schedule(SERIAL, 2, 42.0, bound_ms=30.0), schedule("depth_first", 1, 40.0, bound_ms=40.0),
                  schedule("depth_first", 2, 33.0, bound_ms=30.0), schedule("breadth_first", 2, 60.0, bound_ms=30.0), schedule("graph", 2, 7.0, memory="pageable"))  # fmt: skip


def test_schedules_stand_at_their_milliseconds_and_below_at_multiples_of_the_bound() -> None:
    above, below = styled(schedules.draw, CASES).axes
    assert tiny.points(above, look("depth_first")) == [near((1, 40)), near((2, 33))]
    assert tiny.points(below, look("depth_first")) == [near((1, 1)), near((2, 1.1))]
    assert tiny.points(above, look("breadth_first")) == [near((2, 60))] and not tiny.lines(below, look("breadth_first"))  # twice the bound
    assert not tiny.lines(above, look("graph"))
    assert tiny.bars(above, look("depth_first").colour)[1] == near((2, 33 * LEAST, 33 * MOST))
    assert tiny.bars(below, look("depth_first").colour)[1] == near((2, 1.1 * LEAST, 1.1 * MOST))
    assert tiny.points(above, schedules.BOUNDS[schedules.PIPELINE]) == [near((1, 40)), near((2, 30))]
    assert tiny.points(above, schedules.BOUNDS["serial sum"]) == [near((1, 40)), near((2, 40))]
    assert tiny.points(above, schedules.BOUNDS["Van Werkhoven"]) == [near((1, 40)), near((2, 30))]  # 20 and half of the others
    assert above.get_title("left") == "compute : copy 2"


def test_a_schedule_that_passes_the_estimate_is_named_with_how_far() -> None:
    said = schedules.details(scheduled(schedule("depth_first", 1, 40.0, bound_ms=40.0), schedule("graph", 2, 15.0, bound_ms=30.0), schedule("skewed", 2, 20.0, bound_ms=30.0)))
    assert "graph with 2 chunks at compute : copy 2 takes 0.50 of it" in said and "have 4." in said


def test_schedules_stand_over_their_streams_too() -> None:
    above, below = styled(schedules_streams.draw, scheduled(schedule("depth_first", 8, 30.0, 1), schedule("depth_first", 8, 24.0, 4), schedule("graph", 8, 26.0, 1))).axes
    assert tiny.points(above, look("depth_first")) == [near((1, 30)), near((4, 24))] and tiny.points(below, look("depth_first")) == [near((1, 1.5)), near((4, 1.2))]
    assert above.get_xlabel() == "" and below.get_xlabel() == "streams; scale, $2^{20}$ items"


def test_a_speedup_is_over_serial_copies_at_their_fastest() -> None:
    exact = {"samples": [42e6] * 5}
    cases = CASES.cases.to_dict("records")
    cases[1] |= exact
    axes = styled(schedules_speedup.draw, scheduled(*cases)).axes[0]
    assert tiny.points(axes, look("depth_first")) == [near((1, 42 / 40)), near((2, 42 / 33))]
    assert tiny.bars(axes, look("depth_first").colour)[1] == near((2, 42 / 33 / MOST, 42 / 33 / LEAST))
    assert not tiny.lines(axes, look(SERIAL))
    assert tiny.points(axes, schedules_speedup.LOOKS[schedules_speedup.MEASURED]) == [near((1, 1)), near((2, 4 / 3))]
    assert tiny.points(axes, schedules_speedup.LOOKS[schedules_speedup.DUPLEX]) == [near((1, 1)), near((2, 4 / 3))]
    thirds = tiny.points(axes, schedules_speedup.LOOKS[schedules_speedup.THIRDS])
    assert thirds[0] == near((1, 1)) and thirds[-1] == near((2.6, 7.8 / 4.6))


def scan(way: str, gib: float, ms: float, place: str = "memory", mapped: int = 0, **named: Any) -> dict[str, Any]:
    size = int(gib * 2**30)
    return dict.fromkeys(SCAN, "") | {"way": way, "items": size // 4, "from": place, "to": place, "budget": 1 << 31, "chunks": 8, "mapped": mapped, "bytes": size} | timed(ms) | named


def test_scans_of_host_data_stand_at_the_bytes_of_their_input_a_second() -> None:
    ms = 2**30 / 1e9 * 1e3  # of 1 GiB at 1 GB/s
    rows = [scan(STREAMED, 1, ms / 8), scan(STREAMED, 1, ms / 4, chunks=4), scan(STREAMED, 2, ms / 8), scan(DUPLEX, 1, ms / 16), scan(NAIVE, 1, ms / 2),
            scan(STREAMED, 1, ms / 3, "file", 1), scan(STREAMED, 1, ms / 5, "file"), scan(FILES, 1, ms / 6, "file")]  # fmt: skip
    (axes,) = styled(stream_scan.draw, ScanEvidence(pd.DataFrame(rows), NOWHERE)).axes
    looks, one = stream_scan.LOOKS, 2**30
    assert tiny.points(axes, looks[STREAMED, ""]) == [near((one, 8)), near((2 * one, 16))]  # of two ways to cut the faster
    assert tiny.points(axes, looks[NAIVE, ""]) == [near((one, 2))]
    assert tiny.points(axes, looks[STREAMED, "mapping"]) == [near((one, 3))] and tiny.points(axes, looks[STREAMED, "pwrite"]) == [near((one, 5))]
    assert tiny.points(axes, looks[FILES, "pwrite"]) == [near((one, 6))]
    assert near((one, 8 / MOST, 8 / LEAST)) in tiny.bars(axes, style.BLUE)
    said = stream_scan.details(ScanEvidence(pd.DataFrame(rows), NOWHERE))
    assert said == ("Bars: 95% intervals. Timed up to 1 GiB only: copies in both directions and naive, memory; all of file, pwrite; all of file, mapping.")


def grids(connections: int, streams: int, kernels: int, blocks: int, measured: float, predicted: float, serial: float) -> dict[str, Any]:
    return {"streams": streams, "kernels": kernels, "blocks": blocks, "slots": 4, "connections": connections, "block_seconds": 2e-3, "waves": 1, "fluid_seconds": 1e-3,
            "predicted_seconds": 2e-3 * predicted, "serial_seconds": 2e-3 * serial, "makespan_seconds": [2e-3 * measured * of for of in tiny.SPREAD]}  # fmt: skip


def test_makespans_of_small_grids_are_in_block_times() -> None:
    cases = [grids(1, 2, 1, 3, 2.2, 2, 2), grids(1, 1, 1, 100, 25, 25, 25), grids(8, 4, 3, 1, 3.1, 3, 12), grids(1, 4, 3, 1, 9.3, 9, 12), grids(8, 2, 3, 1, 3.0, 3, 6), grids(8, 4, 1, 1, 3.0, 1, 4)]
    stairs, queue = styled(concurrency.draw, TableEvidence(pd.DataFrame(cases), NOWHERE)).axes
    drawn = {line.get_label(): line.get_xydata().tolist() for line in stairs.get_lines()}
    step = drawn["⌈blocks / slots⌉"]
    assert (drawn["1 hardware work queue"], drawn["8 hardware work queues"]) == ([near([6, 2.2])], [near([4, 3.0])])  # 25 block times are beyond the staircase that is drawn
    assert step[:5] == [[1, 1], [2, 1], [3, 1], [4, 1], [5, 2]]
    assert tiny.bars(stairs)[0] == near((6, 2.2 * LEAST, 2.2 * MOST))
    assert [bar.get_height() for bar in queue.patches] == [near(9.3), near(3.1)] and [label.get_text() for label in queue.get_xticklabels()] == ["1", "8"]
    assert {text.get_text() for text in queue.texts} == {"full overlap", "no overlap", "one queue", "9.30", "3.10"}
    assert sorted(line.get_ydata()[0] for line in queue.get_lines() if line.get_linestyle() == "--") == [near(3), near(9), near(12)]


def test_the_model_is_off_by_predicted_over_measured() -> None:
    rows = [{"schedule": name, "connections": connections, "measured_us": 100.0, "predicted_us": predicted, "overlap_in_either": 10, "overlap_in_both": both,
             "best_overlap_in_either": 10, "best_overlap_in_both": best}
            for name, connections, predicted, both, best in (("graph", 8, 110.0, 9, 10), ("graph", 1, 90.0, 5, 8), ("skewed", 8, 100.0, 2, 4))]  # fmt: skip
    makespans, pairs = styled(model_residuals.draw, TableEvidence(pd.DataFrame(rows), NOWHERE)).axes
    assert [line.get_ydata().tolist() for line in makespans.get_lines() if line.get_marker() in "os"] == [[near(0.9)], [near(1.1), near(1)]]
    assert [label.get_text() for label in makespans.get_xticklabels()] == ["graph", "skewed"]
    assert [line.get_xydata().tolist() for line in pairs.get_lines() if line.get_marker() in "os"] == [[near([80, 50])], [near([100, 90]), near([40, 20])]]


def test_the_model_is_shown_for_every_number_of_queues() -> None:
    rows = [{"schedule": "graph", "connections": connections, "measured_us": 100.0, "predicted_us": 100.0 + connections, "overlap_in_either": 10, "overlap_in_both": 9,
             "best_overlap_in_either": 10, "best_overlap_in_both": 10} for connections in (1, 2, 4, 8, 32)]  # fmt: skip
    makespans, pairs = styled(model_residuals.draw, TableEvidence(pd.DataFrame(rows), NOWHERE)).axes
    assert [line.get_ydata().tolist() for line in makespans.get_lines() if line.get_linestyle() == "None"] == [[near(1 + connections / 100)] for connections in (1, 2, 4, 8, 32)]
    assert len(makespans.get_legend().get_texts()) == len([line for line in pairs.get_lines() if line.get_linestyle() == "None"]) == 5


def operations(*spans: tuple[str, int, float, float]) -> pd.DataFrame:
    rows = [(lane, kind, kind, start, end, place, place, "s", 0, 8, "") for place, (kind, lane, start, end) in enumerate(spans)]
    return pd.DataFrame(rows, columns=TRACE_COLUMNS)


def bars_of(axes: Axes) -> list[list[float]]:
    """Of each bar where it begins, ends, and its height."""
    found = [path.get_extents() for bars in axes.collections for path in bars.get_paths()]
    return [[round(box.x0, 9), round(box.x1, 9), round((box.y0 + box.y1) / 2, 9)] for box in found]


def test_a_timeline_begins_at_its_first_operation_and_is_in_milliseconds() -> None:
    rows = operations(("copies in", 1, 5000.0, 7000.0), ("kernels", 2, 7000.0, 7500.0), ("copies out", 3, 8000.0, 9000.0))
    with style.sheet():
        _, (axes,) = style.figure(style.COLUMN, 1.4)
        gantt.draw_trace(axes, rows, "")
    assert sorted(bars_of(axes)) == [[0, 2, 0], [2, 2.5, 1], [3, 4, 2]]
    assert gantt.makespan_ms(rows) == 4


def test_a_call_of_the_host_has_the_colour_of_the_engine_that_it_gives_work_to_and_time_begins_with_the_first() -> None:
    rows = operations(("copies in", 1, 5000.0, 7000.0), ("kernels", 2, 7000.0, 7500.0))
    calls = pd.DataFrame([("host", "copies in", 4000.0, 7000.0, 0, 0), ("host", "", 7000.0, 7500.0, -1, 1)], columns=CALL_COLUMNS)
    with style.sheet():
        _, (axes,) = style.figure(style.COLUMN, 1.4)
        gantt.draw_trace(axes, rows, "", calls=calls)
    assert sorted(bars_of(axes)) == [[0, 3, -1], [1, 3, 0], [3, 3.5, -1], [3, 3.5, 1]]
    colours = {path.get_extents().y0 + 1e3 * path.get_extents().x0: to_hex(bars.get_facecolor()[0]) for bars in axes.collections for path in bars.get_paths()}
    assert [colours[at] for at in (-1.3, 2998.7)] == [to_hex(gantt.COLOURS["copies in"]), to_hex(style.GREY)]


def test_a_bar_with_room_has_the_label_of_a_scenario_file() -> None:
    rows = operations(("copies in", 1, 0.0, 2000.0), ("kernels", 2, 2000.0, 7000.0), ("kernels", 2, 7000.0, 7200.0)).assign(label=["$A$", "", "short"])
    (axes,) = styled(gantt.draw, [({"title": "By hand for $5"}, rows, None)]).axes
    assert [text.get_text() for text in axes.texts] == ["$A$", "1"]
    assert axes.get_title("left") == r"By hand for \$5, 7.20 ms"
    (axes,) = styled(gantt.draw, [({}, rows.assign(label=""), None)]).axes
    assert not axes.texts


def repeated(times: dict[str, list[float]], **context: Any) -> SessionEvidence:
    rows = [{"variant": name, "settings": "", "type": "i32", "op": "plus", "mode": "inclusive", "items": 1024, "cache": "cold", "launch": "stream", "round": place, "time_ns": ns,
             "sm_clock_mhz": 1900.0 if ns > 150 else 2000.0, "converged": 1.0} for name, of in times.items() for place, ns in enumerate(of)]  # fmt: skip
    run = Run(Path("drift.json"), MEASURED, {"kind": "cuda", "device": "Test Device", "sm_clock_mhz_max": 2000.0} | context)
    return SessionEvidence([session(Repeated(run, SCANS, pd.DataFrame(rows)))], NOWHERE)


def test_repetitions_are_over_the_median_of_the_others_of_their_case_and_rounds_in_percent() -> None:
    times = {f"v{case}": [100.0, 100.0, 100.0, 100.0, 101.0 + case / 100] for case in range(20)} | {"outlier": [100.0, 98.0, 99.0, 102.0, 200.0]}
    above, below = styled(drift.draw, repeated(times)).axes
    grey, orange = (line.get_xydata() for line in above.get_lines())
    assert orange[-1].tolist() == near([0.5 + 4 + 20 / 21, 200 / 99.5])
    assert grey[-1].tolist() == near([0.5 + 3 + 20 / 21, 102 / 99.5]) and len(grey) + len(orange) == 105
    (rounds,) = [line for line in below.get_lines() if line.get_marker() == "o"]
    assert rounds.get_xydata()[-1].tolist() == near([5, 1.1])  # of 1.00 to 1.19 %, and one of 100 %
    assert below.get_legend().get_texts()[0].get_text() == "5 rounds: n = 21"


def test_a_clock_that_was_lowered_is_said_with_what_it_cost() -> None:
    said = drift.details(repeated({"a": [100.0, 100.0, 100.0, 100.0, 200.0]}))
    assert "1 of 5 readings" in said and "maximum, 2000 MHz, the lowest 1900 MHz" in said and "took 2.000 times as long" in said
