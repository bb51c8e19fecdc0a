"""Why scans are as fast as they are: tiles, ideas, waits, bytes and counts chosen by hand."""

from typing import Any

import pytest

from scanlab_report.chapters import counts, hardware, ladder
from scanlab_report.data import Data
from scanlab_report.groups import CEILING
from scanlab_report.pick import Lacking
from scanlab_report.tables import POINTS
from tests import tiny
from tests.tiny import EXACT, LEAST, MOST, case, count, near, several, tables, with_rows

N = 1 << 20
COPY = case(CEILING, N, 100.0, EXACT)


def test_a_tile_is_as_large_as_its_setting_says() -> None:
    look_ahead = {"": 125.0, "tile=12": 200.0, "piece=1": 1.0, "piece=1 tile=36": 1.0}
    cases = [case("look_ahead", N, ns, settings=own) for own, ns in look_ahead.items()]
    for settings, ns in (("", 250.0), ("threads=256", 160.0)):
        cases.append(case("decoupled_lookback", N, ns, settings=settings))
    (axes,) = tiny.drawn(ladder.tile_size, tables([COPY, *cases])).axes
    ours, back = tiny.look("look_ahead"), tiny.look("decoupled_lookback")
    assert tiny.points(axes, ours) == [near((12, 0.5)), near((30, 0.8))]
    assert tiny.points(axes, back) == [near((28, 0.625)), near((56, 0.4))]
    bars = tiny.bars(axes, ours.colour)
    assert near((12, 0.5 / MOST, 0.5 / LEAST)) in bars and len(bars) == 4


def test_an_idea_is_worth_the_time_that_a_scan_without_it_takes_more() -> None:
    cases = [case("look_ahead", N, 100.0, EXACT), case("look_ahead", N, 125.0, settings="stages=2")]
    cases.append(case("look_ahead", N, 50.0, settings="stages=2 tile=10"))
    cases += several(dict(decoupled_lookback=150.0, reduce_then_scan=160.0), N)
    (axes,) = tiny.drawn(ladder.ablation, tables(cases)).axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["2 stages", "decoupled_lookback", "reduce_then_scan"]
    assert [bar.get_x() + bar.get_width() for bar in axes.patches] == near([1.25, 1.5, 1.6])
    assert tiny.bars(axes)[0] == near((0, 1.25 * LEAST, 1.25 * MOST))


def test_shapes_of_cub_stand_at_their_tiles_and_the_fastest_of_those_left_is_starred() -> None:
    few, many = 1 << 20, 1 << 22
    cases = several({CEILING: 100.0, "cub_newest": 125.0}, many, exact=True)
    two, four, left_out = "warps=2 items=63", "warps=4 items=63", "warps=2 items=31"
    timed = ((two, few, 200.0), (two, many, 160.0), (four, few, 160.0), (four, many, 200.0))
    for settings, n, ns in (*timed, (left_out, many, 100.0)):
        cases.append(case("cub_look_ahead_shape", n, ns, settings=settings))
    figure = tiny.drawn(ladder.cub_shapes, tables(cases, kind="tuning"))
    assert [own.get_title("left") for own in figure.axes] == ["i32, $n$ = $2^{22}$"], (
        "the size at which all were timed"
    )
    drawn = {own.get_label(): own.get_xydata().tolist() for own in figure.axes[0].get_lines()}
    tiles = ([7.75, 1.0], [15.75, 0.625], [31.5, 0.5])  # KiB
    assert sorted(drawn["look-ahead"]) == [near(tile) for tile in tiles]
    assert drawn["tuned"] == [near([15.75, 0.625])] and drawn["as shipped"][0][1] == near(0.8)


def counted(*rows: dict[str, Any]) -> Data:
    return with_rows(Data(), "counts", rows)


def test_traffic_is_the_bytes_of_all_launches_over_those_of_the_items() -> None:
    same = dict(variant="warp_shuffle", settings="", type="i32", op="plus", mode="inclusive")
    same |= dict(items=N, kernel="k", launch_index=0, dram_bytes_read=4 * N)
    launches = [dict(dram_bytes_written=2 * N), dict(dram_bytes_written=6 * N, launch_index=1)]
    others = [
        dict(dram_bytes_written=0) | own for own in (dict(type="i64"), dict(settings="tile=1"))
    ]
    rows = [same | own for own in (*launches, *others)]
    moved, _ = counts.dram_over_items(with_rows(Data(), "traffic", rows, device="Test Device"))
    assert moved[["items", "moved"]].to_numpy().tolist() == [[N, 4]]


def test_a_count_that_differs_from_the_closed_form_is_said() -> None:
    block = count("hso_block", 64, totals={"operations": 126}, closed_forms={"operations": 125})
    (sentence,) = counts.disagreements(counted(block))
    assert "hso_block" in sentence and "126 operations" in sentence and "125" in sentence


def counters(variant: str, launch: int, *counts: int) -> dict[str, Any]:
    ways = ("load_wavefronts", "store_wavefronts", "load_conflicts", "store_conflicts")
    same = dict(variant=variant, padding="none", type="i32", op="plus", items=64, kernel="k")
    shared = {f"shared_{way}": own for way, own in zip(ways, counts, strict=True)}
    return same | dict(launch_index=launch) | shared


def test_emulator_and_hardware_stand_side_by_side() -> None:
    """Conflicts are the transactions beyond ten requests; launches are added up."""
    rows = [count("hso_block", 64, 40)]
    rows.append(count("hso_blocked", 64, 25))
    launches = [counters("hso_block", 0, 20, 12, 7, 1), counters("hso_block", 1, 5, 4, 20, 2)]
    launches.append(counters("hso_blocked", 0, 20, 5, 9, 6))
    with pytest.raises(Lacking):
        counts.both_counted(counted(*rows))
    data = with_rows(counted(*rows), "counters", launches, device="Test Device")
    cases, _ = counts.both_counted(data)
    assert cases["transactions_emulator"].tolist() == [40, 25]
    assert cases["transactions_hardware"].tolist() == [41, 25]
    assert cases[["conflicts_emulator", "conflicts_hardware"]].to_numpy()[0].tolist() == [30, 30]
    assert cases["differs"].tolist() == [True, False]
    assert cases["transactions_off"].tolist() == [near(100 / 41), 0]


def test_the_cycles_of_a_role_are_shared_out_by_what_it_waits_for() -> None:
    names = ("cycles_total", "cycles_waiting_data", "cycles_waiting_prefix")
    roles = {"scan": (1000, 250, 500), "load": (200, 150, 0)}
    same = dict(variant="look_ahead", items=N, type="i32")
    rows = [same | {"role": r} | dict(zip(names, own, strict=True)) for r, own in roles.items()]
    (axes,) = tiny.drawn(hardware.prefix_wait, with_rows(Data(), "waits", rows)).axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["$2^{20}$: load", "$2^{20}$: scan"]
    spans = {
        container.get_label(): [(bar.get_x(), bar.get_width()) for bar in container]
        for container in axes.containers
    }
    assert spans["stall: data"] == [near((0, 0.75)), near((0, 0.25))]
    assert spans["stall: prefix"] == [near((0.75, 0)), near((0.25, 0.5))]
    assert spans["rest"] == [near((0.75, 0.25)), near((0.75, 0.25))]


def test_a_timeline_shows_the_share_of_tiles_that_have_come_to_each_point() -> None:
    same = dict(items=N, type="i32")
    row = lambda variant, tile, ns: (
        same
        | {"variant": variant, "settings": "", "tile": tile}
        | {point: ns + 1000 * place for place, point in enumerate(POINTS)}
    )
    rows = [row("one_wave", 0, 0), row("one_wave", 1, 500), row("copy_one_wave", 0, 100)]
    (axes,) = tiny.drawn(hardware.tile_times, with_rows(Data(), "tile_times", rows)).axes
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert list(lines["has its items"].get_xdata()) == [1, 1.5]
    assert list(lines["has its items"].get_ydata()) == [0.5, 1]
    assert list(lines["copy: stores"].get_xdata()) == [4.1]
    assert axes.get_title(loc="left") == "$2^{20}$ items, one_wave"
