"""Why scans are as fast as they are: tiles, ideas, waits, bytes and counts chosen by hand."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scanlab_report import load
from scanlab_report.chapters import conflicts, counts, hardware, pipeline, tuning
from scanlab_report.data import Ask, Data
from scanlab_report.groups import CEILING
from scanlab_report.pick import Lacking
from tests import fixtures, tiny
from tests.tiny import EXACT, LEAST, MOST, case, count, near, several, tables, with_rows

N = 1 << 20
COPY = case(CEILING, N, 100.0, EXACT)
DRAWING = Path(__file__).parents[2] / "variants" / "scan" / "look_ahead.svg"

# -------------------------------------------------------------------------- tiles, ideas, shapes


def test_a_tile_is_as_large_as_its_setting_says() -> None:
    look_ahead = {"": 125.0, "tile=12": 200.0, "piece=1": 1.0, "piece=1 tile=36": 1.0}
    cases = [case("look_ahead", N, ns, settings=own) for own, ns in look_ahead.items()]
    for settings, ns in (("", 250.0), ("threads=256", 160.0)):
        cases.append(case("decoupled_lookback", N, ns, settings=settings))
    (axes,) = tiny.drawn(tuning.tile_size, tables([COPY, *cases])).axes
    ours, back = tiny.look("look_ahead"), tiny.look("decoupled_lookback")
    assert tiny.points(axes, ours) == [near((12, 0.5)), near((30, 0.8))]
    assert tiny.points(axes, back) == [near((28, 0.625)), near((56, 0.4))]
    bars = tiny.bars(axes, ours.colour)
    assert near((12, 0.5 / MOST, 0.5 / LEAST)) in bars and len(bars) == 4


def test_a_tile_of_8_byte_items_has_64_bytes_per_thread_and_all_points_are_in_view() -> None:
    times = {CEILING: 100.0, "look_ahead": 99.0, "decoupled_lookback": 250.0}
    data = tables(several(times, N, type="f64")).asking(Ask(type="f64"))
    (axes,) = tiny.drawn(tuning.tile_size, data).axes
    assert tiny.points(axes, tiny.look("decoupled_lookback")) == [near((32, 0.4))]
    assert axes.get_ylim()[1] > 100 / 99


def test_an_idea_is_worth_the_time_that_a_scan_without_it_takes_more() -> None:
    cases = [case("look_ahead", N, 100.0, EXACT), case("look_ahead", N, 125.0, settings="stages=2")]
    cases.append(case("look_ahead", N, 50.0, settings="stages=2 tile=10"))
    cases += several(dict(decoupled_lookback=150.0, reduce_then_scan=160.0), N)
    (axes,) = tiny.drawn(tuning.ablation, tables(cases)).axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["2 stages", "decoupled_lookback", "reduce_then_scan"]
    assert [bar.get_x() + bar.get_width() for bar in axes.patches] == near([1.25, 1.5, 1.6])
    assert tiny.bars(axes)[0] == near((0, 1.25 * LEAST, 1.25 * MOST))


def test_shapes_of_cub_stand_at_their_tiles_and_the_fastest_of_those_left_is_starred() -> None:
    few, many = 1 << 20, 1 << 22
    cases = several({CEILING: 100.0, "cub_newest": 125.0}, few, many, exact=True)
    two, four, left_out = "warps=2 items=63", "warps=4 items=63", "warps=2 items=31"
    timed = ((two, few, 200.0), (two, many, 160.0), (four, few, 160.0), (four, many, 200.0))
    for settings, n, ns in (*timed, (left_out, many, 400.0)):
        cases.append(case("cub_look_ahead_shape", n, ns, settings=settings))
    figure = tiny.drawn(tuning.cub_shapes, tables(cases, kind="tuning"))
    assert tiny.titles(figure) == ["i32, $n$ = $2^{22}$"], "the size at which all were timed"
    drawn = {own.get_label(): own.get_xydata().tolist() for own in figure.axes[0].get_lines()}
    tiles = ([7.75, 0.25], [15.75, 0.625], [31.5, 0.5])  # KiB
    assert drawn["look-ahead"] == [near(tile) for tile in tiles]
    assert drawn["tuned"] == [near([15.75, 0.625])] and drawn["as shipped"][0][1] == near(0.8)


# --------------------------------------------------------------------------------- waits, traffic


def waits(**roles: tuple[int, int, int]) -> list[dict[str, Any]]:
    names = ("cycles_total", "cycles_waiting_data", "cycles_waiting_prefix")
    same = dict(variant="look_ahead", items=N, type="i32")
    cycles = ((role, zip(names, own, strict=True)) for role, own in roles.items())
    return [same | dict(role=role) | dict(own) for role, own in cycles]


def test_the_cycles_of_a_role_are_shared_out_by_what_it_waits_for() -> None:
    data = with_rows(Data(), "waits", waits(scan=(1000, 250, 500), load=(200, 150, 0)))
    (axes,) = tiny.drawn(hardware.prefix_wait, data).axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["$2^{20}$: load", "$2^{20}$: scan"]
    spans = {
        container.get_label(): [(bar.get_x(), bar.get_width()) for bar in container]
        for container in axes.containers
    }
    assert spans["stall: data"] == [near((0, 0.75)), near((0, 0.25))]
    assert spans["stall: prefix"] == [near((0.75, 0)), near((0.25, 0.5))]
    assert spans["rest"] == [near((0.75, 0.25)), near((0.75, 0.25))]


def traffic(read: int, written: int, **changes: Any) -> dict[str, Any]:
    usual = dict(variant="warp_shuffle", settings="", type="i32", op="plus", mode="inclusive")
    usual |= dict(items=N, kernel="k", launch_index=0)
    return usual | dict(dram_bytes_read=read, dram_bytes_written=written) | changes


def test_traffic_is_the_bytes_of_all_launches_over_those_of_the_items() -> None:
    rows = [traffic(4 * N, 2 * N), traffic(4 * N, 6 * N, launch_index=1)]
    rows += [traffic(99 * N, 0, type="i64"), traffic(99 * N, 0, settings="tile=1")]
    data = with_rows(tables([COPY]), "traffic", rows, device="Test Device", l2_bytes="4000000")
    reads, both = tiny.drawn(hardware.dram_traffic, data).axes
    drawn_as = tiny.look("warp_shuffle")
    assert tiny.points(reads, drawn_as) == [(N, 2)] and tiny.points(both, drawn_as) == [(N, 4)]
    upright = [line.get_xdata()[0] for line in both.get_lines() if list(line.get_ydata()) == [0, 1]]
    assert upright == [1e6], "items of 4 bytes in L2"
    assert tiny.across(both) == [2, 3, 4]


def test_a_case_that_two_tables_of_one_device_counted_is_refused(tmp_path: Path) -> None:
    """Neither says when: added up, the bytes would be wrong."""
    for day, top in (("2026-01-01", 18), ("2026-01-02", 19)):
        (tmp_path / day).mkdir()
        (tmp_path / day / "dram_bytes.csv").write_text(fixtures.dram_bytes(top))
    (problem,) = load.load([tmp_path]).problems
    assert problem.file == tmp_path / "2026-01-02" / "dram_bytes.csv"
    assert "has 3 of the cases of" in str(problem) and not load.load([], [tmp_path]).problems


# ------------------------------------------------------------------------ padding, bank conflicts


def counted(*rows: dict[str, Any], data: Data | None = None) -> Data:
    return with_rows(data or Data(), "counts", rows)


def test_padding_gains_the_time_without_over_the_time_with() -> None:
    data = tables([case("hso_blocked", N, 300.0, EXACT), case("hso_blocked_padded", N, 200.0)])
    data = counted(
        count("hso_blocked", 1024, dict(mean_degree=9.0, max_degree=16)),
        count("hso_blocked", 2048, dict(mean_degree=4.0, max_degree=16)),
        count("hso_blocked_padded", 2048, dict(mean_degree=1.5, max_degree=2), TWO_LEVEL),
        count("hso_block_padded", 2048, dict(mean_degree=1.0, max_degree=1), TWO_LEVEL),
        data=data,
    )
    left, right = tiny.drawn(counts.padding, data).axes
    drawn_as = tiny.look("hso_blocked_padded")
    assert tiny.points(left, drawn_as) == [near((N, 1.5))]
    assert tiny.bars(left) == [near((N, 1.5 / MOST, 1.5 / LEAST))]
    dots = {
        line.get_markerfacecolor(): line.get_xydata().tolist()
        for line in right.get_lines()
        if line.get_linestyle() == "None"
    }
    assert dots == {drawn_as.colour: [[1.5, 0]], "white": [[4.0, 0]]}
    assert [text.get_text() for text in right.texts] == ["1.50 (2)", "4.00 (16)"]


TWO_LEVEL = {"padding": "two_level"}


def tree(parameters: dict[str, str], *degrees: int, **changes: Any) -> dict[str, Any]:
    """Counts of a tree; the degree of a step for 16 banks is half of that for 32."""
    sweeps = zip(("load", "up-sweep", "down-sweep"), (99, *degrees), strict=True)
    steps = [
        dict(
            name=name,
            number=1,
            shared=dict(banks32=tiny.degrees(degree), banks16=tiny.degrees(degree // 2)),
        )
        for name, degree in sweeps
    ]
    variant = "hso_block_padded" if parameters else "hso_block"
    return count(variant, 8, {}, parameters, launches=[{"steps": steps}], **changes)


def test_a_row_of_the_tree_has_the_worst_degree_of_each_step() -> None:
    data = counted(tree(TWO_LEVEL, 1, 2), tree({}, 16, 32), tree({}, 4, 4, type="i64"))
    old, new = tiny.drawn(counts.bank_conflicts, data).axes
    assert new.images[0].get_array().tolist() == [[16, 32], [1, 2]]
    assert old.images[0].get_array().tolist() == [[8, 16], [1, 1]]
    assert [text.get_text() for text in old.texts][:4] == ["8", "16", "·", "1"]
    names = [label.get_text() for label in new.get_yticklabels()]
    assert names == ["none", "$i/32 + i/32^2$"]


TOTALS = dict(launches=2, operations=126, swaps=63, barriers=12)
TOTALS |= dict(global_bytes_read=256, global_bytes_written=384)
DEGREES = dict(max_degree=16, mean_degree=4.5, transactions=40)
FORMS = dict(operations=125, swaps=None)
HSO_BLOCK = count("hso_block", 64, DEGREES, totals=TOTALS, closed_forms=FORMS)


def test_costs_stand_beside_the_closed_form_and_a_difference_is_said() -> None:
    data = counted(HSO_BLOCK)
    table = tiny.built(counts.costs, data)
    keys = "variant mode items launches operations operations_closed_form swaps swaps_closed_form"
    assert tiny.printed(table, keys) == "`hso_block` | inclusive | 64 | 2 | 126 | 125 | 63 | —"
    assert tiny.printed(table, "barriers global_bytes_per_item worst_degree") == "12 | 10.0 | 16"
    (sentence,) = counts.disagreements(data)
    assert "hso_block" in sentence and "126 operations" in sentence and "125" in sentence
    (column,) = (column for column in table.columns if column.key == "worst_degree")
    assert column.form(None) == column.form(np.nan) == column.form(math.nan) == "—"


def test_default_settings_are_counted_and_no_fallback_of_best() -> None:
    paddings = ("row", "two_level", "one_in_16")
    rows = [count("hso_block_padded", 64, {}, dict(padding=padding)) for padding in paddings]
    chosen = counts.usual_counts(counts.counts(counted(*rows, count("best", 64, {}))))
    assert chosen["variant"].tolist() == ["hso_block_padded"]
    assert chosen["padding"].tolist() == ["two_level"]


def counters(variant: str, launch: int, *counts: int) -> dict[str, Any]:
    ways = ("load_wavefronts", "store_wavefronts", "load_conflicts", "store_conflicts")
    same = dict(variant=variant, padding="none", type="i32", op="plus", items=64, kernel="k")
    shared = {f"shared_{way}": own for way, own in zip(ways, counts, strict=True)}
    return same | dict(launch_index=launch) | shared


def test_emulator_and_hardware_stand_side_by_side() -> None:
    """Conflicts are the transactions beyond ten requests; launches are added up."""
    rows = [count("hso_block", 64, dict(transactions=40))]
    rows.append(count("hso_blocked", 64, dict(transactions=25)))
    launches = [counters("hso_block", 0, 20, 12, 7, 1), counters("hso_block", 1, 5, 4, 1, 2)]
    launches.append(counters("hso_blocked", 0, 20, 5, 9, 6))
    data = with_rows(counted(*rows), "counters", launches, device="Test Device")
    figure = tiny.drawn(conflicts.hardware_conflicts, data)
    points = [
        [tuple(map(float, np.ravel(line.get_xydata()))) for line in axes.get_lines()[1:]]
        for axes in figure.axes
    ]
    assert points == [[(40, 41), (25, 25)], [(30, 11), (15, 15)]]
    assert [axes.texts[0].get_text() for axes in figure.axes] == ["1 of 2\nequal"] * 2
    table = tiny.built(conflicts.hardware_conflicts_table, data)
    keys = "variant padding load items transactions_emulator_i32 transactions_hardware_i32"
    assert tiny.printed(table, keys) == "`hso_block` | none | halves | 64 | 40 | 41"
    assert tiny.printed(table, "conflicts_emulator_i32 conflicts_hardware_i32") == "30 | 11"


def test_nothing_is_drawn_of_counts_that_the_hardware_did_not_make() -> None:
    with pytest.raises(Lacking):
        conflicts.hardware_conflicts(counted(HSO_BLOCK))


# -------------------------------------------------------------------------------------- a drawing


def test_the_drawing_of_the_documentation_is_this_one(tmp_path: Path) -> None:
    pipeline.write_svg(tmp_path / "now.svg")
    words = re.compile(r"<text[^>]*>([^<]+)</text>")
    drawn, kept = (words.findall(file.read_text()) for file in (tmp_path / "now.svg", DRAWING))
    assert drawn == kept and "look ahead warp" in kept
