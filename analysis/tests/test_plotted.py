"""What stands on the axes: the points and bars of each figure of scans, of a few times chosen by hand."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from matplotlib.axes import Axes

from scanlab_report.derive import tiles
from scanlab_report.figures import (
    ablation,
    bank_conflicts,
    ceiling_share,
    cub_shapes,
    cub_shapes_operators,
    dram_traffic,
    hardware_conflicts,
    head_to_head,
    padding,
    prefix_wait,
    single_wave,
    speedup,
    speedup_by_type,
    throughput,
    tile_size,
    time,
    time_over_copy,
    waterfall,
)
from scanlab_report.layout import style
from scanlab_report.read.published import Publication
from scanlab_report.read.records import MEASURED, Explanation
from scanlab_report.select.evidence import CounterEvidence
from scanlab_report.select.needs import gather, of_any_type
from scanlab_report.select.provenance import Provenance
from scanlab_report.select.variants import CEILING, FLOOR
from scanlab_report.tables import head_to_head as head_to_head_table
from tests import tiny
from tests.tiny import EXACT, LEAST, MOST, case, near

N = 1 << 20
"""At 8 bytes an item that is read and written, 8388.608 ns are 1000 GB/s."""
THOUSAND = 8 * N / 1000


def across(axes: Axes) -> list[list[float]]:
    """Heights of the lines across a panel."""
    return [list(line.get_ydata()) for line in axes.get_lines() if list(line.get_xdata()) == [0, 1]]


def test_throughput_is_the_bytes_that_a_scan_must_move_over_its_median_time() -> None:
    read = tiny.results([case(CEILING, N, THOUSAND), case(CEILING, 2 * N, THOUSAND), case(CEILING, 3 * N, 1.0), case("look_ahead", N, 2 * THOUSAND),
                         case("look_ahead", N, THOUSAND, cache="warm"), case("cpu_parallel", N, 10 * THOUSAND, cache="warm")])  # fmt: skip
    cold, warm = tiny.drawn(throughput, read).axes
    assert tiny.points(cold, tiny.look(CEILING)) == [near((N, 1000)), near((2 * N, 2000))]  # and not at 3 N, which is no power of two
    assert tiny.points(cold, tiny.look("look_ahead")) == [near((N, 500))]
    assert tiny.points(warm, tiny.look("look_ahead")) == [near((N, 1000))]
    assert tiny.points(cold, tiny.look("cpu_parallel")) == tiny.points(warm, tiny.look("cpu_parallel")) == [near((N, 100))]
    assert tiny.bars(cold, tiny.look("look_ahead").colour) == [near((N, 500 / MOST, 500 / LEAST))]


def test_times_are_microseconds_above_the_floor_each_family_in_its_panel() -> None:
    read = tiny.results([case(FLOOR, 0, 2500.0), case("hs_blocked", N, 7000.0), case("hso_blocked", N, 9000.0), case("cub_device_scan", N, 5000.0),
                         case("best", N, 6000.0), case("warp_shuffle", N, 8000.0)])  # fmt: skip
    doubling, tree, others = tiny.drawn(time, read).axes
    assert [panel.get_title("left") for panel in (doubling, tree, others)] == ["Hillis–Steele", "Harris–Sengupta–Owens", "others"]
    assert tiny.points(doubling, tiny.look("hs_blocked")) == [near((N, 7))] and tiny.points(tree, tiny.look("hso_blocked")) == [near((N, 9))]
    assert not tiny.lines(tree, tiny.look("hs_blocked"))
    assert tiny.points(others, tiny.look("best")) == [near((N, 6))] and tiny.points(others, tiny.look("warp_shuffle")) == [near((N, 8))]  # of two small families
    assert tiny.points(tree, tiny.look("cub_device_scan")) == [near((N, 5))]
    assert tiny.bars(tree, tiny.look("hso_blocked").colour) == [near((N, 9 * LEAST, 9 * MOST))]
    assert across(doubling) == across(tree) == [near([2.5, 2.5])]


def test_shares_of_the_ceiling_are_copy_time_over_scan_time_of_the_six_fastest() -> None:
    ours = {"look_ahead": 1.25, "one_wave": 1.5, "warp_shuffle": 2.0, "hs_blocked": 4.0, "hso_blocked": 5.0, "cub_device_scan": 1.6, "hs_multipass": 10.0}
    read = tiny.results([case(CEILING, n, 1e3, EXACT) for n in (1 << 13, N)] + [case(variant, n, 1e3 * by) for variant, by in ours.items() for n in (1 << 13, N)])
    (axes,) = tiny.drawn(ceiling_share, read).axes
    assert tiny.points(axes, tiny.look("look_ahead")) == [near((N, 0.8))]  # 2^13 is too small to be shown
    assert tiny.points(axes, tiny.look("hso_blocked")) == [near((N, 0.2))]
    assert not tiny.lines(axes, tiny.look("hs_multipass"))
    assert tiny.bars(axes, tiny.look("warp_shuffle").colour) == [near((N, 0.5 / MOST, 0.5 / LEAST))]
    assert across(axes) == [[1, 1]]


def test_a_copy_is_the_bound_of_times_cub_and_the_fastest_copy_counts() -> None:
    times = {"best": 100.0, "cub_device_scan": 170.0, "cub_newest": 150.0, "memcpy": 90.0, "copy_vector": 75.0, "copy_bulk": 80.0}
    read = tiny.results([*(case(variant, N, time, EXACT if variant != "best" else tiny.SPREAD) for variant, time in times.items()),
                         case("best", N, 100.0, cache="warm"), case("cub_newest", N, 300.0, EXACT, cache="warm"),
                         case("best", 3 * N, 100.0), case("cub_newest", 3 * N, 500.0)])  # fmt: skip
    (axes,) = tiny.drawn(speedup_by_type, read).axes
    cold, warm = (speedup_by_type.COLUMNS[column] for column in (("cold", "stream"), ("warm", "stream")))
    assert tiny.points(axes, cold) == [near((N, 1.5))] and tiny.points(axes, warm) == [near((N, 3))]
    assert tiny.bars(axes, cold.colour) == [near((N, 1.5 / MOST, 1.5 / LEAST))]
    (bound,) = [line for line in axes.get_lines() if line.get_label() == "device copy, cold, stream"]
    assert bound.get_xydata().tolist() == [near([N, 2])]  # 150 over 75


def test_speedups_of_sums_are_of_a_device_that_timed_sums() -> None:
    read = tiny.results([case("best", N, 100.0, op="max"), case("cub_newest", N, 150.0, op="max")])
    assert speedup_by_type.NEEDS["timings"].find(read, {}) is None
    assert head_to_head.NEEDS["timings"].find(read, {}) is not None


def test_a_cell_of_the_head_to_head_is_the_worst_of_its_octave() -> None:
    cub = [case("cub_device_scan", n, time, EXACT) for n, time in ((1024, 300.0), (1500, 150.0), (2048, 80.0), (4096, 100.0))]
    read = tiny.results([*(case("best", n, 100.0, EXACT if n != 4096 else tiny.SPREAD) for n in (1024, 1500, 2048, 4096)), *cub])
    axes = tiny.drawn(head_to_head, read).axes[0]
    (mesh,) = axes.collections
    assert mesh.get_array().ravel().tolist() == [near(1.5), 1, near(1)]  # 1500 is the worse of the first; a loss is no darker than a tie
    ties, losses = (next(line for line in axes.get_lines() if line.get_marker() == marker) for marker in ".x")
    assert ties.get_xydata().tolist() == [[12, 0]] and losses.get_xydata().tolist() == [[11, 0]]


def test_rows_are_the_operators_that_were_timed_known_ones_first() -> None:
    ops = ("zeta", "affine", "bit_or", "plus")
    read = tiny.results([case(variant, 1024, time, EXACT, op=op) for op in ops for variant, time in (("best", 100.0), ("cub_device_scan", 200.0))])
    rows = ["plus", "affine", "bit_or", "zeta"]
    axes = tiny.drawn(head_to_head, read).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == [f"i32 {op}" for op in rows]
    assert tiny.built(head_to_head_table, read).rows["op"].tolist() == [*rows, ""]


def test_an_octave_shows_a_loss_before_a_lesser_ratio_that_is_none() -> None:
    read = tiny.results([case("best", 1024, 100.0, (1.0, 3.0, 0.3, 1.0, 1.0)), case("cub_device_scan", 1024, 90.0, EXACT),  # anything
                         case("best", 1500, 100.0, EXACT), case("cub_device_scan", 1500, 95.0, EXACT)])  # fmt: skip
    (worst,) = head_to_head.worst_of_octaves(tiny.gathered(head_to_head, read)["timings"]).itertuples()
    assert (worst.items, worst.outcome, worst.ratio) == (1500, "loss", near(0.95))


def test_padding_gains_by_the_time_without_over_the_time_with() -> None:
    read = tiny.results([case("hso_blocked", N, 300.0, EXACT), case("hso_blocked_padded", N, 200.0)])
    read.explanations = [tiny.explanation("hso_blocked", n, {"mean_degree": mean, "max_degree": 16}) for n, mean in ((1024, 9.0), (2048, 4.0))]
    read.explanations.append(tiny.explanation("hso_blocked_padded", 2048, {"mean_degree": 1.5, "max_degree": 2}, {"padding": "two_level"}))
    read.explanations.append(tiny.explanation("hso_block_padded", 2048, {"mean_degree": 1.0, "max_degree": 1}, {"padding": "two_level"}))  # the other was not counted
    measured, counted = tiny.drawn(padding, read).axes
    look = tiny.look("hso_blocked_padded")
    assert tiny.points(measured, look) == [near((N, 1.5))] and tiny.bars(measured) == [near((N, 1.5 / MOST, 1.5 / LEAST))]
    dots = {line.get_markerfacecolor(): line.get_xydata().tolist() for line in counted.get_lines() if line.get_linestyle() == "None"}
    assert dots == {look.colour: [[1.5, 0]], "white": [[4.0, 0]]}
    assert [text.get_text() for text in counted.texts] == ["1.50 (2)", "4.00 (16)"]


def test_a_rung_adds_what_it_has_beyond_the_one_below() -> None:
    times = {CEILING: 100.0, "warp_shuffle": 400.0, "reduce_then_scan": 500.0, "look_ahead": 125.0, "cub_device_scan": 160.0}
    read = tiny.results([case(variant, n, time, EXACT if variant == CEILING else tiny.SPREAD) for variant, time in times.items() for n in (N, 1 << 29)]
                        + [case(CEILING, 1 << 28, 100.0, EXACT), case("look_ahead", 1 << 28, 125.0), case("warp_shuffle", 1 << 28, 400.0),
                           case("reduce_then_scan", 1 << 28, 500.0), case("cub_device_scan", 1 << 28, 200.0)])  # fmt: skip
    axes = tiny.drawn(waterfall, read).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["warp_shuffle", "reduce_then_scan", "look_ahead"]
    spans = [(round(bar.get_x(), 9), round(bar.get_x() + bar.get_width(), 9)) for bar in axes.patches]
    assert spans == [(0, 0), (0, 0.25), (0, 0.2), (0.2, 0.25), (0, 0.2), (0.2, 0.8)]
    upright = [line.get_xdata()[0] for line in axes.get_lines() if list(line.get_ydata()) == [0, 1]]
    assert upright == [1, near(0.5)]  # the copy, and CUB at 2^28
    assert tiny.bars(axes)[0] == near((0, 0.25 / MOST, 0.25 / LEAST))


ABLATED = [case("look_ahead", N, 100.0, EXACT), case("look_ahead", N, 125.0, settings="stages=2"), case("look_ahead", N, 50.0, settings="stages=2 tile=10"),
           case("decoupled_lookback", N, 150.0), case("reduce_then_scan", N, 160.0)]  # fmt: skip


def test_an_idea_is_worth_the_time_that_a_scan_without_it_takes_more() -> None:
    (axes,) = tiny.drawn(ablation, tiny.results(ABLATED)).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["2 stages", "decoupled_lookback", "reduce_then_scan"]
    assert [round(bar.get_x() + bar.get_width(), 9) for bar in axes.patches] == [1.25, 1.5, 1.6]


def test_a_tile_is_as_large_as_its_setting_says() -> None:
    read = tiny.results([case(CEILING, N, 100.0, EXACT), case("look_ahead", N, 125.0), case("look_ahead", N, 200.0, settings="tile=12"),
                         case("look_ahead", N, 1.0, settings="piece=1"), case("look_ahead", N, 1.0, settings="piece=1 tile=36"),
                         case("decoupled_lookback", N, 250.0), case("decoupled_lookback", N, 160.0, settings="threads=256")])  # fmt: skip
    (axes,) = tiny.drawn(tile_size, read).axes
    assert tiny.points(axes, tiny.look("look_ahead")) == [near((12, 0.5)), near((30, 0.8))]
    assert tiny.points(axes, tiny.look("decoupled_lookback")) == [near((28, 0.625)), near((56, 0.4))]
    bars = tiny.bars(axes, tiny.look("look_ahead").colour)  # that of the family: both have it
    assert near((12, 0.5 / MOST, 0.5 / LEAST)) in bars and near((30, 0.8 / MOST, 0.8 / LEAST)) in bars and len(bars) == 4


def test_a_tile_of_8_byte_items_is_of_64_bytes_a_thread_and_a_point_at_the_copy_is_within_the_axes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tile_size, "NEEDS", of_any_type(tiles.NEEDS))  # as --type f64 does
    read = tiny.results([case(variant, N, ns, type="f64") for variant, ns in ((CEILING, 100.0), ("look_ahead", 99.0), ("decoupled_lookback", 250.0))])
    (axes,) = tiny.drawn(tile_size, read).axes
    assert tiny.points(axes, tiny.look("decoupled_lookback")) == [near((32, 0.4))]
    assert axes.get_ylim()[1] > 100 / 99


def test_the_shapes_of_cub_are_where_their_tiles_are_and_the_fastest_that_was_left_is_starred() -> None:
    shape, few, many = "cub_look_ahead_shape", 1 << 20, 1 << 22
    at_both = {"warps=2 items=63": (200.0, 160.0), "warps=4 items=63": (160.0, 200.0)}  # tiles of 15.75 and 31.5 KiB
    cases = [case(CEILING, n, 100.0, EXACT) for n in (few, many)] + [case("cub_newest", n, 125.0) for n in (few, many)]
    cases += [case(shape, n, ns, settings=settings) for settings, both in at_both.items() for n, ns in zip((few, many), both, strict=True)]
    cases.append(case(shape, many, 400.0, settings="warps=2 items=31"))  # and at no other size: it was not left
    shown = tiny.drawn(cub_shapes, tiny.results(cases, kind="tuning")).axes
    assert [axes.get_title("left") for axes in shown] == ["i32, $n$ = $2^{22}$"]  # where all were timed
    of = {line.get_label(): list(zip(line.get_xdata(), line.get_ydata(), strict=True)) for line in shown[0].get_lines()}
    assert of["look-ahead"] == [near((7.75, 0.25)), near((15.75, 0.625)), near((31.5, 0.5))]
    assert of["tuned"] == [near((15.75, 0.625))]
    assert of["as shipped"] == [near((0, 0.8)), near((1, 0.8))]


def test_shapes_for_operators_have_tiles_of_their_items_and_a_row_for_each_size() -> None:
    shape, sizes = "cub_look_back_shape", (1 << 20, 1 << 22, 1 << 24)
    of_op = {"op": "complex_multiply", "type": "f32"}  # items of 8 bytes
    cases = [case(variant, n, ns, settings=settings, **of_op) for n in sizes[1:] for variant, settings, ns in
             ((CEILING, "", 100.0), (shape, "threads=128 items=32", 125.0), (shape, "threads=128 items=64", 400.0))]
    cases += [case(shape, sizes[0], 150.0, settings="threads=128 items=32", **of_op), case(CEILING, sizes[1], 10.0), case(shape, sizes[1], 20.0)]
    shown = tiny.drawn(cub_shapes_operators, tiny.results(cases, kind="tuning")).axes
    assert [axes.get_title("left") for axes in shown] == [f"complex_multiply\nf32, $n$ = $2^{{{n}}}$" for n in (22, 24)]
    of = {line.get_label(): list(zip(line.get_xdata(), line.get_ydata(), strict=True)) for line in shown[1].get_lines()}
    assert of["look-back"] == [near((32, 0.8)), near((64, 0.25))] and of["tuned"] == [near((32, 0.8))]


def test_sizes_of_operators_are_one_below_another_from_the_bottom_up() -> None:
    shape, few, many = "cub_look_back_shape", "threads=128 items=32", "threads=128 items=64"
    cases = [case(shape, 1 << 18, 150.0, settings=few, op=op) for op in ("max", "affine")]
    for op, sizes in (("max", (22, 24, 26)), ("affine", (22, 24))):
        cases += [case(variant, 1 << n, 100.0, settings=settings, op=op) for n in sizes for variant, settings in ((CEILING, ""), (shape, few), (shape, many))]
    shown = tiny.drawn(cub_shapes_operators, tiny.results(cases, kind="tuning")).axes
    titles = [axes.get_title("left").replace("\n", " ") if axes.axison else "" for axes in shown]
    assert titles == ["", "max i32, $n$ = $2^{22}$", "affine i32, $n$ = $2^{22}$", "max i32, $n$ = $2^{24}$", "affine i32, $n$ = $2^{24}$", "max i32, $n$ = $2^{26}$"]
    assert cub_shapes.NEEDS["shapes"].find(tiny.results([case(CEILING, 1 << 20, 1.0)], kind="tuning"), {}) is None


def in_graph(variant: str, items: int, ns: float, **named: Any) -> tiny.Case:
    return case(variant, items, ns, cache="warm", launch="graph", **named)


def test_a_single_wave_has_the_times_of_its_steps_in_microseconds() -> None:
    small, large = 1 << 10, 1 << 22
    of = {FLOOR: 600.0, "copy_vector": 1000.0, "copy_one_wave": 1500.0, "best": 1600.0, "cub_device_scan": 2500.0, "cub_newest": 2000.0}
    read = tiny.results([in_graph(variant, 0 if variant == FLOOR else n, ns) for variant, ns in of.items() for n in (small // 2, small, large, 3 * small, 2 * large)])
    (axes,) = tiny.drawn(single_wave, read).axes
    for variant, us in (("copy_vector", 1.0), ("copy_one_wave", 1.5), ("best", 1.6), ("cub_device_scan", 2.0), (FLOOR, 0.6)):  # CUB: the fastest of its scans
        assert tiny.points(axes, tiny.look(variant)) == [near((small, us)), near((large, us))]
    assert tiny.bars(axes, tiny.look("copy_vector").colour)[0] == near((small, LEAST, MOST))


def test_times_over_the_copy_are_over_the_fastest_one_of_the_same_size() -> None:
    warm = {"memcpy": 100.0, "copy_vector": 80.0, "copy_one_wave": 10.0, "best": 120.0, "cub_device_scan": 200.0, "cub_newest": 160.0, FLOOR: 40.0}
    read = tiny.results([case(variant, 0 if variant == FLOOR else N, ns, EXACT if "copy" in variant else tiny.SPREAD, cache="warm") for variant, ns in warm.items()])
    (axes,) = tiny.drawn(time_over_copy, read).axes
    assert tiny.points(axes, tiny.look("best")) == [near((N, 1.5))] and tiny.bars(axes, tiny.look("best").colour) == [near((N, 1.5 * LEAST, 1.5 * MOST))]
    assert tiny.points(axes, tiny.look("cub_device_scan")) == [near((N, 2))]
    assert tiny.points(axes, tiny.look(FLOOR)) == [near((N, 0.5))]


def test_speedups_take_the_fastest_core_of_the_sessions_and_bars_reach_to_the_slowest() -> None:
    def session(cpu: float) -> list[tiny.Case]:
        return [case("cpu_sequential", N, cpu, cache="warm"), case("cpu_parallel", N, cpu / 10, cache="warm"), case("hso_blocked_padded", N, 100.0, EXACT),
                case("hso_blocked", N, 50.0), case("cub_device_scan", N, 50.0, EXACT)]  # fmt: skip

    published = {"hso2007_table2": Publication(pd.DataFrame({"items": [N], "cpu_ms": [9.0], "gpu_ms": [2.0]}), {"short": "then"})}
    (axes,) = tiny.drawn(speedup, tiny.results(session(3000.0), session(2000.0), session(6000.0)), published).axes
    assert tiny.points(axes, tiny.look("hso_blocked_padded")) == [near((N, 20))] and tiny.bars(axes, tiny.look("hso_blocked_padded").colour) == [near((N, 20, 60))]
    assert tiny.points(axes, tiny.look("cub_device_scan")) == [near((N, 40))] and tiny.points(axes, tiny.look("cpu_parallel")) == [near((N, 4))]
    assert not tiny.lines(axes, tiny.look("hso_blocked"))
    (then,) = [line for line in axes.get_lines() if line.get_label() == "then (8800 GTX)"]
    assert then.get_xydata().tolist() == [[N, 4.5]]
    (axes,) = tiny.drawn(speedup, tiny.results(session(2000.0)), published).axes
    assert tiny.bars(axes, tiny.look("hso_blocked_padded").colour) == [near((N, 20 * LEAST, 20 * MOST))]


def traffic(variant: str, items: int, read: int, written: int, **changes: Any) -> dict[str, Any]:
    return {"variant": variant, "settings": "", "type": "i32", "op": "plus", "mode": "inclusive", "items": items, "kernel": "k", "launch_index": 0,
            "dram_bytes_read": read, "dram_bytes_written": written, "origin": MEASURED, "file": "dram_bytes.csv"} | changes  # fmt: skip


def test_traffic_is_the_bytes_of_all_launches_over_those_of_the_items() -> None:
    read = tiny.results([case(CEILING, N, 1.0)], l2_bytes="4000000")
    read.traffic_tables = [pd.DataFrame([traffic("warp_shuffle", N, 4 * N, 2 * N), traffic("warp_shuffle", N, 4 * N, 6 * N, launch_index=1),
                                         traffic("warp_shuffle", N, 99 * N, 0, type="i64"), traffic("warp_shuffle", N, 99 * N, 0, settings="tile=1")])]  # fmt: skip
    reads, both = tiny.drawn(dram_traffic, read).axes
    assert tiny.points(reads, tiny.look("warp_shuffle")) == [(N, 2)] and tiny.points(both, tiny.look("warp_shuffle")) == [(N, 4)]
    assert [line.get_xdata()[0] for line in both.get_lines() if list(line.get_ydata()) == [0, 1]] == [1e6]  # items of 4 bytes in L2
    assert across(both) == [[2, 2], [3, 3], [4, 4]]


def test_a_roles_cycles_are_shared_out_by_what_it_waits_for() -> None:
    read = tiny.results([case(CEILING, N, 1.0)])
    read.wait_tables = [pd.DataFrame([{"variant": "look_ahead", "items": N, "type": "i32", "role": role, "cycles_total": total, "cycles_waiting_data": data,
                                       "cycles_waiting_prefix": prefix, "origin": MEASURED, "file": "prefix_wait.csv"}
                                      for role, total, data, prefix in (("scan", 1000, 250, 500), ("load", 200, 150, 0))])]  # fmt: skip
    (axes,) = tiny.drawn(prefix_wait, read).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["$2^{20}$: load", "$2^{20}$: scan"]
    spans = {container.get_label(): [(bar.get_x(), bar.get_width()) for bar in container] for container in axes.containers}
    assert spans == {"stall: data": [near((0, 0.75)), near((0, 0.25))], "stall: prefix": [near((0.75, 0)), near((0.25, 0.5))], "rest": [near((0.75, 0.25)), near((0.75, 0.25))]}


def tree(padding_: str, *degrees: int, **changes: Any) -> Explanation:
    steps = [{"name": name, "number": 1, "shared": {"banks32": tiny.degrees(degree), "banks16": tiny.degrees(degree // 2)}}
             for name, degree in zip(("load", "up-sweep", "down-sweep"), (99, *degrees), strict=True)]  # fmt: skip
    return tiny.explanation("hso_block" if padding_ == "none" else "hso_block_padded", 8, {}, {"padding": padding_}, launches=[{"steps": steps}], **changes)


def test_a_row_of_the_tree_has_the_worst_degree_of_each_step() -> None:
    read = tiny.results()
    read.explanations = [tree("two_level", 1, 2), tree("none", 16, 32), tree("none", 4, 4, type="i64")]
    old, new = tiny.drawn(bank_conflicts, read).axes
    assert [[text.get_text() for text in axes.texts][:4] for axes in (old, new)] == [["8", "16", "·", "1"], ["16", "32", "1", "2"]]
    assert new.images[0].get_array().tolist() == [[16, 32], [1, 2]] and old.images[0].get_array().tolist() == [[8, 16], [1, 1]]
    assert [label.get_text() for label in new.get_yticklabels()] == ["none", "$i/32 + i/32^2$"]


def counters(**launches: tuple[int, int, int, int]) -> pd.DataFrame:
    columns = ["shared_load_wavefronts", "shared_store_wavefronts", "shared_load_conflicts", "shared_store_conflicts"]
    return pd.DataFrame([{"variant": variant.rstrip("0123456789"), "padding": "none", "type": "i32", "op": "plus", "items": 64, "kernel": "k", "launch_index": place}
                         | dict(zip(columns, counts, strict=True)) for place, (variant, counts) in enumerate(launches.items())])  # fmt: skip


def test_a_case_stands_where_emulator_and_hardware_counted_it() -> None:
    nowhere = Provenance("", "")
    counted = [tiny.explanation(variant, 64, {"transactions": transactions}) for variant, transactions in (("hso_block", 40), ("hso_blocked", 25))]
    evidence = CounterEvidence(counters(hso_block=(20, 12, 7, 1), hso_block2=(5, 4, 1, 2), hso_blocked=(20, 5, 9, 6)), counted, nowhere, nowhere)
    with style.sheet():
        transactions, conflicts = hardware_conflicts.draw(evidence).axes
    shown = [[tuple(float(v[0]) for v in line.get_data()) for line in axes.get_lines() if line.get_linestyle() == "None"] for axes in (transactions, conflicts)]
    assert shown == [[(40, 41), (25, 25)], [(30, 11), (15, 15)]]  # conflicts are the transactions beyond ten requests
    assert [axes.texts[0].get_text() for axes in (transactions, conflicts)] == ["1 of 2\nequal"] * 2


def test_duels_of_exclusive_scans_or_without_intervals_are_not_drawn() -> None:
    timed = (("best", 50.0), ("cub_device_scan", 100.0))
    exclusive = tiny.results([case(variant, 1024, ns, EXACT, mode="exclusive") for variant, ns in timed])
    few = tiny.results([case(variant, 1024, ns, (1.0,) * 3) for variant, ns in timed])
    for module, of, reasons in ((head_to_head, exclusive, True), (head_to_head, few, True), (speedup_by_type, exclusive, True), (speedup_by_type, few, False)):
        assert bool(gather(module.NEEDS, of, {}).reasons) is reasons
