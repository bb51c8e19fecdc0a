"""The stream laboratory: what is read, what is refused and where, bounds, choices, targets, and timelines in time."""

from __future__ import annotations

import contextlib
import gzip
import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot

from scanlab_report.claims.checked import check, targets
from scanlab_report.claims.stated import OF_STREAMS
from scanlab_report.commands.__main__ import main
from scanlab_report.derive import implicit_sync
from scanlab_report.derive.schedules import best_schedule, over_bound
from scanlab_report.documents import streams_macros
from scanlab_report.figures import concurrency, schedules_speedup, schedules_streams
from scanlab_report.figures import gantt as gantt_figure
from scanlab_report.figures import schedules as schedules_figure
from scanlab_report.figures import stream_scan as scan_figure
from scanlab_report.layout import gantt, style
from scanlab_report.layout import scenarios as scenario_layout
from scanlab_report.layout.schedules import look
from scanlab_report.read import published, results, streams
from scanlab_report.select import streams_evidence
from scanlab_report.select.scenarios import Scenarios
from scanlab_report.select.streams_evidence import Parts, Schedules, Traces
from scanlab_report.tables import generations, model_advice
from scanlab_report.tables import schedules as schedules_table
from scanlab_report.tables.claims import reference
from tests import stream_fixtures as fixtures
from tests.conftest import PUBLISHED
from tests.fixtures import SESSION, explanation


def write(folder: Path, name: str, document: dict[str, Any]) -> None:
    (folder / name).write_text(json.dumps(document))


def read(folder: Path) -> results.Results:
    return results.read([], [folder])


def problem(folder: Path, document: dict[str, Any]) -> str:
    """The only problem of a folder with one document."""
    write(folder, "d.json", document)
    (found,) = read(folder).problems
    assert found.file.name == "d.json"
    return str(found)


# ------------------------------------------------------------------------------------------------- reading


@pytest.fixture(scope="module")
def recorded() -> results.Results:
    return read(SESSION)


def test_the_recorded_session_is_read_whole(recorded: results.Results) -> None:
    assert not recorded.problems
    assert {file.kind for file in recorded.streams} == {streams.SCHEDULES, streams.STREAM_SCAN, streams.TRACE, streams.IMPLICIT_SYNC, streams.CONCURRENCY, streams.STOPWATCH}


def test_a_truncated_file_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    fixtures.write_all(tmp_path)
    (tmp_path / "cut.json.gz").write_bytes(gzip.compress(json.dumps(fixtures.trace()).encode())[:200])
    found = read(tmp_path)
    assert [p.file.name for p in found.problems] == ["cut.json.gz"] and sum(of.kind != streams.DISTRIBUTED for of in found.streams) == 12
    assert "truncated" in str(found.problems[0])


def test_what_advice_is_worth_is_said_apart_for_problems_too_small_to_foretell(tmp_path: Path) -> None:
    write(tmp_path, "advice.json", fixtures.advice())
    (file,) = read(tmp_path).streams
    evidence = streams_evidence.Experiments(streams.ADVICE).find(read(tmp_path), {})
    assert evidence is not None and len(file.rows) == 3
    said = streams_macros._advice_values(evidence)
    assert (said["adviceProblems"], said["adviceLargeProblems"], said["adviceSmallBytes"]) == ("3", "2", "0.125")
    assert (said["adviceLargeMedianError"], said["adviceLargeWorstError"]) == ("4.00", "8.00")
    assert (said["adviceSmallMedianError"], said["adviceSmallWorstError"], said["adviceSmallLost"]) == ("20.0", "40.0", "10")
    table = model_advice.build(evidence)
    assert ["scale of 2^14 items" in note for note in table.notes] == [True], "the choice that was not measured"
    assert "4.0 | 8.0" in table.markdown() and "0.5–3.0" in table.markdown()


@pytest.mark.parametrize("document", [fixtures.schedules(), fixtures.implicit_sync(), fixtures.concurrency(), fixtures.stream_scan(),
                                      fixtures.comparison(), fixtures.advice(), explanation("hso_block", 64)])  # fmt: skip
def test_a_newer_version_of_a_schema_is_refused_and_says_what_to_do(tmp_path: Path, document: dict[str, Any]) -> None:
    holder = document if "schema" in document else document["context"]
    holder["schema"] = holder["schema"].partition("/")[0] + "/9"
    assert f"schema: is {holder['schema']}, of a newer Scanlab: update" in problem(tmp_path, document)


@pytest.mark.parametrize(("change", "says"), [
    ({"real_time": 0.0}, "real_time is 0, and the outcome is timed"),
    ({"device_time_ms": 0.0}, "device_time_ms: expected float > 0.0, got 0.0"),
    ({"verified": False}, "its output was wrong, though it is no control"),
])  # fmt: skip
def test_a_bad_repetition_is_refused_with_its_place_and_the_rest_is_read(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    document = {"context": fixtures.about(schema="scanlab-results/2"), "benchmarks": fixtures.schedule("serial_pinned", 40.0)}
    document["benchmarks"][1] |= change
    said = problem(tmp_path, document)
    assert "benchmarks[1]" in said and says in said
    assert len(read(tmp_path).streams[0].rows) == len(fixtures.SPREAD) - 1


@pytest.mark.parametrize(("change", "says"), [
    ({"traceEvents": []}, "no process is of kind engines"), ({"otherData": 1}, "otherData"),
])  # fmt: skip
def test_what_is_no_trace_of_engines_is_refused(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    assert says in problem(tmp_path, fixtures.trace() | change)


# ------------------------------------------------------------------------------------------------- bounds


@pytest.mark.parametrize("parts", [Parts(4, 1, 3), Parts(1, 5, 2), Parts(1, 2, 6)])
def test_the_bound_is_the_largest_of_van_werkhovens_three(parts: Parts) -> None:
    h, k, d = parts.copy_in, parts.kernels, parts.copy_out
    for n in (1, 3, 64):
        assert parts.overlapped(n) == pytest.approx(max(h + (k + d) / n, k + (h + d) / n, d + (h + k) / n))
    assert parts.overlapped(1) == parts.serial()


def test_kernels_on_the_side_are_work_that_waits_for_no_copy() -> None:
    even, heavy = Parts(20, 1, 20, side=1), Parts(20, 19, 20, side=19)
    assert even.serial() == 42 and heavy.serial() == 78
    assert heavy.ratio() == Parts(20, 19, 20).ratio()
    for parts, kernels in ((even, 2), (heavy, 38)):
        without = Parts(parts.copy_in, parts.kernels, parts.copy_out)
        for n in (1, 4, 64):
            assert parts.overlapped(n) == max(without.overlapped(n), kernels)
            assert parts.pipeline(parts, n) == pytest.approx(parts.overlapped(n))


def test_schedules_with_side_kernels_are_held_against_what_they_compute(tmp_path: Path) -> None:
    write(tmp_path, "d.json", fixtures.schedules())
    evidence = Schedules().find(read(tmp_path), {})
    panel = evidence.panels("chunks")[-1]
    at = {case.id: case for case in panel[panel["chunks"] == 64].itertuples()}
    kernels = fixtures.kernel_ms(512) / 1e3
    assert at["per_thread_default"].bound == pytest.approx(2 * kernels) and at["per_thread_default"].alone.side == pytest.approx(kernels)
    assert at["three_streams"].bound == pytest.approx(fixtures.bound_ms(512, 64) / 1e3) and at["three_streams"].alone.side == 0
    assert not set(schedules_speedup.speedups(panel)["id"]) & fixtures.SIDE_KERNELS
    assert not set(schedules_figure.one_each(panel.iloc[::-1], "chunks")["id"]) & fixtures.SIDE_KERNELS
    rows = schedules_table.build(evidence).rows.set_index("id")
    assert rows.loc[list(fixtures.SIDE_KERNELS), "speedup"].isna().all() and rows.loc["graph", "speedup"].notna().all()
    fast = evidence.cases.assign(median_ns=evidence.cases["median_ns"].where(evidence.cases["id"] != "per_thread_default", 1.0))
    assert best_schedule(replace(evidence, cases=fast), "scale").id == "double_buffered"


def test_a_schedule_that_heeds_no_number_of_streams_has_none_in_the_table(tmp_path: Path) -> None:
    write(tmp_path, "d.json", fixtures.schedules())
    table = schedules_table.build(Schedules().find(read(tmp_path), {}))
    shown = next(column.form for column in table.columns if column.key == "streams")
    streams_of = {row.id: shown(row.streams) for row in table.rows.itertuples()}
    assert streams_of["three_streams"] == streams_of["double_buffered"] == "—" and streams_of["graph"] == "4"


def test_the_devices_own_time_stands_beside_the_hosts_where_it_was_measured(tmp_path: Path) -> None:
    document = fixtures.schedules()
    write(tmp_path, "d.json", document)
    without = schedules_table.build(Schedules().find(read(tmp_path), {}))
    assert "events_ms" not in [column.key for column in without.columns] and "events" not in without.caption
    for entry in document["benchmarks"]:
        if "schedule:graph/" in entry["name"]:
            entry["device_time_ms"] = entry["real_time"] / 1e6 - (0.5 if entry["round"] == 0 else 0.25)
    write(tmp_path, "d.json", document)
    found = read(tmp_path)
    (file,) = found.streams
    graph = file.rows["id"] == "graph"
    assert file.rows.loc[~graph, "device_ns"].isna().all()
    first = file.rows[graph].iloc[0]
    assert first["device_ns"] == pytest.approx(first["time_ns"] - 5e5)
    table = schedules_table.build(Schedules().find(found, {}))
    for row in table.rows[table.rows["id"] == "graph"].itertuples():
        case = graph & (file.rows["chunks"] == row.chunks) & (file.rows["streams"] == row.streams) & (file.rows["work"] == row.work)
        assert row.events_ms == pytest.approx(file.rows.loc[case, "device_ns"].median() / 1e6)
    assert table.rows.loc[table.rows["id"] != "graph", "events_ms"].isna().all() and table.rows["events_ms"].notna().any()
    keys = [column.key for column in table.columns]
    assert keys.index("events_ms") == keys.index("median_ms") + 1 and "by events" in table.caption
    shown = next(column.form for column in table.columns if column.key == "events_ms")
    assert shown(float("nan")) == "—" and shown(1.23456) == "1.235"


def test_breadth_first_is_told_of_where_chunks_share_a_stream(tmp_path: Path) -> None:
    document = fixtures.schedules()
    for streams_, of_bound in ((64, 1.01), (32, 1.15)):
        document["benchmarks"] += fixtures.schedule("breadth_first", of_bound * fixtures.bound_ms(1, 64), 64, streams_)
    write(tmp_path, "d.json", document)
    named = streams_macros._schedule_values(Schedules().find(read(tmp_path), {}))
    assert (named["streamBreadthOfBound"], named["streamBreadthChunks"], named["streamBreadthStreams"]) == ("1.15", "64", "32")
    assert named["streamAddSize"] == "1~GiB"
    trap = 1.1 * (2 * fixtures.COPY_MS + fixtures.kernel_ms(1)) / (2 * fixtures.COPY_MS + 2 * fixtures.kernel_ms(1))
    assert float(named["streamTrapOfSerial"]) == pytest.approx(trap, rel=0.01)


def test_equal_thirds_over_n_chunks_allow_the_speedup_of_the_lecture() -> None:
    third = Parts(1, 1, 1)
    for n in (1, 2, 4, 100):
        assert third.serial() / third.overlapped(n) == pytest.approx(streams_evidence.equal_thirds(n))


def test_copies_slow_each_other_down_only_while_both_directions_run() -> None:
    alone, duplex = Parts(20, 1, 20), Parts(22, 1, 24)
    assert alone.pipeline(duplex, 1) == alone.serial()  # one chunk: they never do
    assert alone.pipeline(alone, 4) == pytest.approx(alone.overlapped(4))  # nor if they do not disturb each other
    # 16.225 together: 1/6 of that later is the last copy out, and the bus has done both by then.
    assert alone.pipeline(duplex, 4) == pytest.approx(20 + 16.225 / 6 + (1 + 20) / 4) == pytest.approx(40 - (10 / 11 + 5 / 6 - 1) * 16.225)
    # Two arrays in and one out: copies out run for 22, and so long those in have 10/11 of their rate; without end of chunks.
    assert Parts(40, 1, 20).pipeline(Parts(44, 1, 22), 10**9) == pytest.approx(40 + 22 / 11)
    # Together at a third of the rate each, they are best kept apart.
    assert alone.pipeline(Parts(60, 1, 60), 10**9) == pytest.approx(40)


def test_a_pipeline_is_never_faster_than_without_disturbance_nor_slower_than_with_it_all_the_time() -> None:
    random = np.random.default_rng(5)
    for _ in range(500):
        alone = Parts(*random.uniform(0.1, 20, 3))
        slower_in, slower_out = random.uniform(1, 2, 2)  # and so both at once never cost more than one after the other
        duplex = Parts(slower_in * alone.copy_in, alone.kernels, slower_out * alone.copy_out)
        chunks = int(random.integers(1, 64))
        assert alone.overlapped(chunks) <= alone.pipeline(duplex, chunks) * (1 + 1e-12) <= duplex.overlapped(chunks) * (1 + 1e-9)


def test_no_recorded_schedule_whose_copies_take_longest_is_faster_than_the_pipeline_estimate(recorded: results.Results) -> None:
    cases = Schedules().find(recorded, {}).cases
    bound_by_copies = [case for case in cases[cases["bound"].notna()].itertuples() if case.alone.kernels + case.alone.side < 0.9 * case.alone.copy_in]
    assert len(bound_by_copies) > 50 and {case.workload for case in bound_by_copies} >= {"scale", "vector_add"}
    assert min(over_bound(case).value for case in bound_by_copies) > 0.975  # copies alone and schedules are timed apart, and the host's bus is slower at times


def test_kernels_are_one_over_the_whole_array_where_that_was_timed(tmp_path: Path) -> None:
    document = fixtures.schedules()
    for entry in document["benchmarks"]:
        if f"kind:kernel/workload:scale/items:{fixtures.ITEMS // 16}/" in entry["name"]:
            entry["real_time"] *= 1.1
        if f"kind:kernel/workload:vector_add/items:{fixtures.ITEMS // 16}/" in entry["name"]:
            entry["real_time"] *= 1.2
    document["benchmarks"] = [e for e in document["benchmarks"] if f"kind:kernel/workload:vector_add/items:{fixtures.ITEMS}/" not in e["name"]]
    write(tmp_path, "d.json", document)
    cases = Schedules().find(read(tmp_path), {}).cases
    cases = cases[(cases["id"] == "three_streams") & (cases["chunks"] == 16) & (cases["work"] == 1)].set_index("workload")
    kernels = 1e-3 * fixtures.kernel_ms(1)
    assert [cases.at[w, "alone"].kernels for w in ("scale", "vector_add")] == pytest.approx([kernels, 1.2 * kernels])


def test_a_schedule_is_set_against_the_copies_and_kernels_of_its_own_run(tmp_path: Path) -> None:
    write(tmp_path, "old.json", fixtures.schedules())
    newer = fixtures.schedules()
    newer["context"]["date"] = "2026-01-03"
    newer["benchmarks"] = [e | {"real_time": 2 * e["real_time"]} for e in newer["benchmarks"] if e["kind"] != "schedule" or e["workload"] != "vector_add"]
    write(tmp_path, "new.json", newer)
    cases = Schedules().find(read(tmp_path), {}).cases
    assert not cases["id"].str.contains("unordered").any()
    for workload, doubled in (("scale", 2), ("vector_add", 1)):
        case = next(cases[(cases["workload"] == workload) & (cases["id"] == "three_streams") & (cases["chunks"] == 16)].itertuples())
        assert case.duplex.copy_out == pytest.approx(doubled * fixtures.DUPLEX_MS / 1e3)
        assert case.duplex.copy_in == pytest.approx(doubled * case.inputs * fixtures.DUPLEX_MS / 1e3)
        assert over_bound(case).value == pytest.approx(1.02, abs=1e-4)


def test_panels_are_amounts_of_work_from_the_least_to_the_most(tmp_path: Path) -> None:
    write(tmp_path, "d.json", fixtures.schedules())
    works = [panel["work"].iloc[0] for panel in Schedules().find(read(tmp_path), {}).panels("chunks")]
    assert len(works) == 3 and works[0] == min(fixtures.WORKS) and works[-1] == max(fixtures.WORKS)


def test_the_work_whose_kernels_take_as_long_as_a_copy_is_among_those_drawn(tmp_path: Path) -> None:
    write(tmp_path, "d.json", fixtures.schedules())
    panels = Schedules().find(read(tmp_path), {}).panels("streams")
    assert [panel["work"].iloc[0] for panel in panels] == [1, 128, 512]  # 0.03, 0.28 (and not 0.09) and 1.05 of a copy
    assert [panel["work"].iloc[0] for panel in sorted(panels, key=streams_evidence.from_even)] == [512, 128, 1]


@pytest.mark.parametrize(("figure", "over"), [(schedules_figure, "chunks"), (schedules_streams, "streams"), (schedules_speedup, "chunks")])
def test_no_panel_is_empty_and_every_schedule_drawn_is_named_once(tmp_path: Path, figure: ModuleType, over: str) -> None:
    document = fixtures.schedules()
    document["benchmarks"] = [  # one work at a single number, one without what speedups are over, and two schedules in one panel alone
        e for e in document["benchmarks"]
        if not ("/work:32/" in e["name"] and "/schedule:" in e["name"] and "/chunks:16/streams:4/" not in e["name"])
        and not ("/work:128/" in e["name"] and "/schedule:serial_pinned/" in e["name"])
        and not ("/work:1/" not in e["name"] and ("/schedule:graph/" in e["name"] or "/schedule:skewed/" in e["name"]))
    ]  # fmt: skip
    write(tmp_path, "d.json", document)
    evidence = Schedules(over=over).find(read(tmp_path), {})
    with style.sheet():
        panels = [axes for axes in figure.draw(evidence).axes]
    drawn = {id_: look(place) for id_, place in zip(evidence.cases["id"], evidence.cases["place"], strict=True)}
    looks = {(of.colour, of.line, of.marker): id_ for id_, of in drawn.items()}
    shown = [{looks.get((line.get_color(), line.get_linestyle(), line.get_marker())) for line in axes.get_lines()} - {None} for axes in panels]
    assert all(shown) and {"graph", "skewed"} <= set.union(*shown)
    named = [box.get_children()[0].get_children()[1].get_text() for axes in panels for box in axes.artists]
    assert len(named) == len(set(named)) and set.union(*shown) <= set(named)


# ------------------------------------------------------------------------------------------------ targets


def found_targets(folder: Path) -> list:
    return check(targets(OF_STREAMS).claims, read(folder), {})


def test_targets_are_reached_by_what_was_measured(tmp_path: Path) -> None:
    fixtures.write_all(tmp_path)
    scale, add, duplex, naive, collection = found_targets(tmp_path)
    assert all(row.reached is True for row in (scale, add, duplex, naive, collection))
    assert scale.measured.value == pytest.approx(1.01, abs=1e-4) and scale.where == "double_buffered, 64 chunks; arrays of 1 GiB"
    assert duplex.measured.value == pytest.approx(0.96)
    assert naive.measured.value == pytest.approx(6.0 / 1.6)  # the faster way to write on either side
    assert collection.measured.value == -2.0


def test_targets_are_missed_by_what_was_measured(tmp_path: Path) -> None:
    fixtures.write_all(tmp_path)
    slow = fixtures.schedules()
    for entry in slow["benchmarks"]:
        if "/schedule:" in entry["name"]:
            entry["real_time"] *= 1.2
    write(tmp_path, "streams.json", slow)
    scans = fixtures.stream_scan()
    for entry in scans["benchmarks"]:
        if "way:streamed" in entry["name"]:
            entry["real_time"] *= 1.5
    write(tmp_path, "larger.json", scans)
    write(tmp_path, "trace_depth_first_4.json", fixtures.trace(tracing_overhead_percent=-7.0))
    assert [row.reached for row in found_targets(tmp_path)] == [False] * 5


def test_files_count_at_16_gib_in_the_session_that_gains_least_beside_reading_and_writing_alone(tmp_path: Path) -> None:
    def session(name: str, day: str, slowed: int) -> None:
        scans = fixtures.stream_scan()
        scans["context"]["date"] = f"{day}T00:00:00"
        for entry in scans["benchmarks"]:
            if "from:file" in entry["name"] and f"items:{slowed}/" in entry["name"] and "way:naive" not in entry["name"]:
                entry["real_time"] *= 2
        (tmp_path / name).mkdir()
        write(tmp_path / name, "larger.json", scans)

    def naive():
        return next(row for row in found_targets(tmp_path) if row.measure == "× naive")

    session("a", "2026-01-03", slowed=2**30)  # 4 GiB
    assert naive().reached and naive().measured.value == pytest.approx(6.0 / 1.6) and naive().where == "16 GiB, by mapping"
    session("b", "2026-01-02", slowed=2**32)  # 16 GiB, and not the newest
    row = naive()
    assert (row.reached, row.met, row.runs) == (False, 1, 2) and row.where == "16 GiB, by mapping; 3.75 in other sessions"
    assert row.measured.value == pytest.approx(6.0 / 1.6 / 2) and reference(row) == "file access alone: 2.19"  # 7.0 / 1.6 / 2


def test_what_was_not_measured_is_neither_reached_nor_missed(tmp_path: Path) -> None:
    assert all(row.reached is None and row.measured is None for row in found_targets(tmp_path))


# --------------------------------------------------------------------------------------- traces and experiments


def test_one_hardware_queue_is_told_by_the_channels_of_the_kernels(tmp_path: Path) -> None:
    fixtures.write_all(tmp_path)
    found = Traces(("depth_first", "breadth_first")).find(read(tmp_path), {})
    assert [t.title for t in found.traces] == ["depth_first", "depth_first, one hardware work queue", "breadth_first", "breadth_first, one hardware work queue"]


def test_a_trace_of_any_length_is_drawn_as_as_many_things(tmp_path: Path) -> None:
    """What takes long to draw is a thing of its own for each operation: a lane is one, whatever is in it."""

    def things(operations: int) -> int:
        write(tmp_path, "t.json", fixtures.trace(operations=operations, issued=True))
        (found,) = read(tmp_path).streams
        drawn = gantt.draw([(found.run.context, found.rows, found.calls)])
        pyplot.close(drawn)
        return sum(len(axes.get_children()) for axes in drawn.axes)

    assert things(1000) == things(10)


def test_a_trace_is_drawn_into_a_folder_that_was_not_there(tmp_path: Path) -> None:
    write(tmp_path, "t.json", fixtures.trace(operations=1000))
    assert main(["gantt", str(tmp_path / "t.json"), "--out", str(tmp_path / "new" / "t.png")]) == 0
    assert (tmp_path / "new" / "t.png").read_bytes().startswith(b"\x89PNG")


def test_an_export_of_nsight_systems_is_told_what_makes_a_timeline_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "report.sqlite")) as database:
        database.execute("CREATE TABLE StringIds (id INTEGER)")
    assert main(["gantt", str(tmp_path / "report.sqlite"), "--out", str(tmp_path / "t.png")]) == 2
    assert f"'scanlab streams import {tmp_path / 'report.sqlite'} --out TRACE' makes a timeline of it" in capsys.readouterr().err
    assert not (tmp_path / "t.png").exists()


def test_timelines_stand_one_below_the_other_on_one_axis_of_time() -> None:
    long, short = (streams.trace(fixtures.trace(schedule_, operations=n)) for schedule_, n in (("graph", 48), ("skewed", 12)))
    with style.sheet():
        axes = gantt.draw([(found.context, found.rows, found.calls) for found in (long, short)]).axes
    assert [axis.get_title("left").partition(",")[0] for axis in axes] == ["graph", "skewed"]
    assert axes[0].get_xlim() == axes[1].get_xlim()


def test_the_connections_that_a_trace_states_are_believed() -> None:
    rows = streams.trace(fixtures.trace(channels=1)).rows
    assert [streams_evidence.Trace(about, rows).one_queue for about in ({}, {"connections": 8}, {"connections": 1})] == [True, False, True]


def test_the_edges_of_many_bars_do_not_fill_a_lane() -> None:
    with style.sheet():
        _, (axes,) = style.figure(style.COLUMN, 1.4)
        gantt.draw_trace(axes, streams.trace(fixtures.trace(operations=3000)).rows, "")
        assert all(1000 * bars.get_linewidth()[0] < 72 * style.COLUMN / 4 for bars in axes.collections)


def test_a_timeline_says_what_ran() -> None:
    assert gantt.time_label({"workload": "scale", "items": 2**28, "chunks": 64}) == "time, ms; scale, $2^{28}$ items, 64 chunks"
    assert gantt.time_label({}) == "time, ms"


LANES = ["H2D copies", "kernels", "D2H copies"]


def test_engines_have_lanes_in_the_order_of_a_chunks_way() -> None:
    found = streams.trace(fixtures.trace())
    with style.sheet():
        _, (axes,) = style.figure(style.COLUMN, 1.4)
        gantt.draw_trace(axes, found.rows.sort_values("start_us", ascending=False), "")
        assert [label.get_text() for label in axes.get_yticklabels()] == LANES


@pytest.mark.parametrize("issued", [True, False])
def test_the_host_has_a_lane_above_the_engines_where_a_trace_says_when_it_issued(tmp_path: Path, issued: bool) -> None:
    for schedule_ in ("depth_first", "breadth_first"):
        write(tmp_path, f"{schedule_}.json", fixtures.trace(schedule_, issued=issued))
    evidence = Traces().find(read(tmp_path), {})
    assert evidence.traces[0].calls["kind"].tolist() == ([*streams.ENGINES] * 16 + [""] if issued else [])
    with style.sheet():
        first, second = gantt_figure.draw(evidence).axes
        (alone,) = gantt.draw([(found.run.context, found.rows, found.calls) for found in read(tmp_path).streams[:1]]).axes
    for axes in (first, second, alone):
        assert [label.get_text() for label in axes.get_yticklabels()] == (["host"] if issued else []) + LANES
        heights = [path.get_extents().y0 for bars in axes.collections for path in bars.get_paths()]
        assert axes.get_ylim()[1] == (-1.5 if issued else -0.5) < min(heights) < (-1 if issued else 0)


def told(document: dict[str, Any]) -> pd.DataFrame:
    """The rows of a document of experiments."""
    return streams.experiments(document, document["schema"]).rows


def test_a_call_has_its_two_questions_side_by_side_and_says_what_differs() -> None:
    rows = told(fixtures.implicit_sync())
    malloc, peer = implicit_sync.calls(rows).itertuples()
    assert (malloc.call, malloc.host_answer, malloc.streams_stated, malloc.streams_counted) == ("Malloc (64 MiB)", "no", "yes", "0 of 15")
    assert implicit_sync.text(malloc.host_stated) == "—"
    assert implicit_sync.cell(malloc.streams_answer, malloc.streams_differs) == "no (!)" and implicit_sync.cell(malloc.host_answer, malloc.host_differs) == "no"
    assert implicit_sync.cell(peer.streams_answer, peer.streams_differs) == "—"
    (launch,) = implicit_sync.others(rows).itertuples()
    assert launch.question == "a kernel launch waits for the end of its kernel"


def test_makespans_are_in_units_of_a_blocks_time() -> None:
    cases = concurrency.in_block_times(told(fixtures.concurrency()))
    one_queue = cases[(cases["kernels"] == 3) & (cases["connections"] == 1)].iloc[0]
    assert one_queue["measured"] == pytest.approx(9.018) and one_queue["predicted"] == pytest.approx(9) and one_queue["total"] == 96


@pytest.mark.parametrize(("size", "name"), [(1 << 30, "1 GiB"), (3 << 29, "1.5 GiB"), (1 << 20, "1 MiB"), (100, "100 B")])
def test_sizes_are_named_in_binary_units(size: int, name: str) -> None:
    assert scan_figure.size_name(size) == name


# ------------------------------------------------------------------------------------------------- simulated scenarios


def test_a_simulation_is_no_measured_trace(tmp_path: Path) -> None:
    write(tmp_path, "t.json", fixtures.trace("depth_first"))
    write(tmp_path, "s.json", fixtures.trace("depth_first", date="2027-01-01", simulated_on="h200"))
    write(tmp_path, "only.json", fixtures.trace("breadth_first", simulated_on="h200"))
    found = read(tmp_path)
    assert sorted(file.kind for file in found.streams) == [streams.SIMULATION, streams.SIMULATION, streams.TRACE]
    (measured,) = Traces().find(found, {}).traces
    assert measured.about["date"] == "2026-01-02T03:04:05Z"


def test_scenarios_of_now_win_over_recorded_ones_and_none_may_lack(tmp_path: Path) -> None:
    now, old = tmp_path / "now", tmp_path / "old"
    for folder, date in ((now, "2026-01-03"), (old, "2026-01-04")):
        folder.mkdir()
        for name in ("a", "b"):
            write(folder, f"{name}.json", fixtures.scenario(name, date=date))
    found = results.read([now], [old])
    evidence = Scenarios([["a", "b"]]).find(found, {})
    assert evidence.provenance.line() == "Engine model, 2026-01-03, commit 012345678, simulated"
    assert [(letter, scenario.about["fact"]) for letter, _, scenario in scenario_layout.panels(evidence)] == [("a", "What a shows."), ("b", "What b shows.")]
    assert "simulated, recorded" in Scenarios([["a", "b"]]).find(results.read([], [old]), {}).provenance.line()
    assert Scenarios([["a", "c"]]).find(found, {}) is None


def test_blocks_are_shown_on_all_multiprocessors_and_bars_have_numbers(tmp_path: Path) -> None:
    write(tmp_path, "a.json", fixtures.scenario("a", multiprocessors=4))
    write(tmp_path, "b.json", fixtures.scenario("b"))
    with style.sheet():
        blocks, engines = scenario_layout.draw(Scenarios([["a"], ["b"]]).find(read(tmp_path), {})).axes
    assert [label.get_text() for label in blocks.get_yticklabels()] == ["SM 0", "SM 1", "SM 2", "SM 3"]
    assert [text.get_text() for text in blocks.texts] == ["0", "0"]
    assert [label.get_text() for label in engines.get_yticklabels()] == LANES
    assert [text.get_text() for text in engines.texts].count("2") == 2  # its kernel is too short for a number
    assert all(text.get_fontsize() >= 7 for axes in (blocks, engines) for text in axes.texts)
    assert "simulated" in engines.get_xlabel()


def test_a_comparison_has_the_lanes_of_both() -> None:
    document = fixtures.trace("depth_first")
    document["traceEvents"] += [event | {"pid": event["pid"] + 10, "args": dict(event["args"])} for event in document["traceEvents"]]
    for event in document["traceEvents"]:
        if event["name"] == "process_name":
            event["args"] |= {"of": "predicted" if event["pid"] > 10 else "measured"}
    document["otherData"] |= {"measured_us": 1500.0, "predicted_us": 1490.0}
    found = streams.trace(document)
    rows = found.rows
    assert {"copies in, measured", "copies in, predicted"} <= set(rows["lane_name"])
    assert rows["lane"].nunique() == 2 * streams.trace(fixtures.trace("depth_first")).rows["lane"].nunique()
    with style.sheet():
        (axes,) = gantt.draw([(found.context, rows, found.calls)]).axes
    assert axes.get_title("left") == "depth_first, 1.50 ms measured, 1.49 predicted"


def test_simulated_generations_stand_beside_the_published_ones(tmp_path: Path) -> None:
    for device in generations.DEVICES:
        for order, time in (("sequential", 12e3), ("depth_first", 6e3), ("breadth_first", 9e3)):
            write(tmp_path, f"{device}_{order}.json", fixtures.scenario(f"{device}_{order}", makespan_us=time))
    published_ = published.read(PUBLISHED, [])
    needs = generations.NEEDS
    table = generations.build(needs["scenarios"].find(read(tmp_path), {}), needs["published"].find(read(tmp_path), published_))
    row = table.rows.set_index(["device", "schedule"]).loc[("c2050", "depth_first")]
    assert row["published_ratio"] == pytest.approx(0.574, abs=1e-3) and row["simulated_ratio"] == 0.5
    assert row["percent"] == pytest.approx(-13, abs=0.1)
    assert set(table.rows["device"]) == {"c1060", "c2050", "k20c"}
    newest = table.rows.set_index(["device", "schedule"]).loc["k20c"]
    assert newest["published_ms"].tolist() == [7.10176, 3.974144, 3.967616]
    assert newest.loc["breadth_first", "published_ratio"] == pytest.approx(0.559, abs=1e-3)


@pytest.mark.parametrize("kind", [streams.COMPARISON, streams.ADVICE])
def test_what_is_computed_names_the_measured_runs_first_and_the_simulator_behind(tmp_path: Path, kind: str) -> None:
    document = fixtures.comparison() if kind == streams.COMPARISON else fixtures.advice()
    document["context"] |= {"git_commit": "a" * 40, "git_dirty": "true", "measured_commit": "b" * 40, "measured_dirty": "false"}
    for count, entry in enumerate(document["traces"] if kind == streams.COMPARISON else document["problems"], start=7):
        for of in [entry] if kind == streams.COMPARISON else [entry["advised"], entry["fastest"]]:
            of["repetitions"] = min(count, 9)
    write(tmp_path, "computed.json", document)
    provenance = streams_evidence.Experiments(kind).find(results.read([tmp_path], []), {}).provenance
    assert "commit bbbbbbbbb, simulated by commit aaaaaaaaa+, computed now" in provenance.line()
    assert provenance.repeated == "median of 7 to 9 repetitions"
