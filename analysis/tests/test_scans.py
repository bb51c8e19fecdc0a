"""Scans on one device: what is drawn and printed of a few times chosen by hand."""

import re
import runpy
from pathlib import Path

import pytest

from scanlab_report import looks, page, style
from scanlab_report.chapters import ladder, standings
from scanlab_report.data import Ask, Variants
from scanlab_report.groups import BEST, CEILING, FLOOR
from scanlab_report.schema.results import Variant
from scanlab_report.shown import FIGURES
from tests import tiny
from tests.fixtures import ROOT
from tests.tiny import LEAST, MOST, case, cells, near, several, tables

N = 1 << 20
"""At 8 bytes an item that is read and written, 8388.608 ns are 1000 GB/s."""
THOUSAND = 8 * N / 1000


def test_throughput_is_the_bytes_that_a_scan_must_move_over_its_median_time() -> None:
    cases = several({CEILING: THOUSAND, "look_ahead": 2 * THOUSAND}, N)
    cases += [case(CEILING, 2 * N, THOUSAND), case(CEILING, 3 * N, 1.0)]
    cases += several(dict(look_ahead=THOUSAND, cpu_parallel=10 * THOUSAND), N, cache="warm")
    cold, warm = tiny.drawn(standings.throughput, tables(cases)).axes
    copy, ours, cpu = map(tiny.look, (CEILING, "look_ahead", "cpu_parallel"))
    assert tiny.points(cold, copy) == [near((N, 1000)), near((2 * N, 2000))], "powers of two alone"
    assert tiny.points(cold, ours) == [near((N, 500))]
    assert tiny.points(warm, ours) == [near((N, 1000))]
    assert tiny.points(cold, cpu) == tiny.points(warm, cpu) == [near((N, 100))]
    assert tiny.bars(cold, ours.colour) == [near((N, 500 / MOST, 500 / LEAST))]


@pytest.mark.parametrize(("asked", "shown"), [((), 6), (("hs_multipass", "hs_blocked"), 2)])
def test_shares_are_copy_time_over_scan_time_of_the_six_fastest_or_those_asked_for(
    asked, shown
) -> None:
    slower = dict(look_ahead=1.25, one_wave=1.5, warp_shuffle=2.0, hs_blocked=4.0)
    slower |= dict(hso_blocked=5.0, cub_device_scan=1.6, hs_multipass=10.0)
    data = tables(several({CEILING: 1.0} | slower, 1 << 13, N, exact=CEILING))
    (axes,) = tiny.drawn(standings.ceiling_share, data.asking(Ask(asked))).axes
    drawn = {v: points for v in slower if (points := tiny.lines(axes, tiny.look(v)))}
    wanted = sorted(asked or slower, key=lambda v: slower[v])[:shown]
    assert drawn == {v: [[near((N, 1 / slower[v]))]] for v in wanted}, "2^13 is too small"
    for v in wanted:
        bar = near((N, 1 / slower[v] / MOST, 1 / slower[v] / LEAST))
        assert bar in tiny.bars(axes, tiny.look(v).colour)


def test_a_rung_adds_what_it_has_beyond_the_one_below() -> None:
    times = {CEILING: 100.0, "warp_shuffle": 400.0, "reduce_then_scan": 500.0}
    times |= dict(look_ahead=125.0, cub_device_scan=200.0)
    beyond = several(dict.fromkeys(times, 100.0), 1 << 29)
    data = tables([*several(times, N, 1 << 28, exact=CEILING), *beyond])
    (axes,) = tiny.drawn(ladder.waterfall, data).axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["warp_shuffle  0.25", "reduce_then_scan  0.20", "look_ahead  0.80"]
    spans = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in axes.patches]
    rungs = ((0, 0), (0, 0.2), (0, 0.2), (0, 0.25), (0.2, 0.25), (0.2, 0.8))
    assert spans == [near(rung) for rung in rungs], "at 2^28"
    upright = [line.get_xdata()[0] for line in axes.get_lines() if list(line.get_ydata()) == [0, 1]]
    assert upright == [1, near(0.5)], "the copy, and CUB"
    assert tiny.bars(axes)[0] == near((0, 0.25 / MOST, 0.25 / LEAST))


def test_a_single_wave_has_the_times_of_its_steps_in_microseconds() -> None:
    small, large = 1 << 10, 1 << 22
    us = dict(copy_vector=1.0, copy_one_wave=1.5, best=1.6, cub_device_scan=2.0, cub_newest=2.5)
    sizes, in_graph = (small // 2, small, large, 3 * small, 2 * large), dict(launch="graph")
    cases = several({v: 1e3 * time for v, time in us.items()}, *sizes, cache="warm", **in_graph)
    data = tables([case(FLOOR, 0, 600.0, cache="warm", **in_graph), *cases])
    (axes,) = tiny.drawn(ladder.single_wave, data).axes
    del us["cub_newest"]  # of CUB's scans the fastest is shown
    for variant, time in (us | {FLOOR: 0.6}).items():
        points = tiny.points(axes, tiny.look(variant))
        assert points == [near((small, time)), near((large, time))]


def test_a_scan_stands_at_its_largest_size_with_rate_and_ratios() -> None:
    slower, cases = dict(memcpy=1.0, best=1.25, cub_device_scan=2.0, cub_newest=1.6), []
    for n in (N // 2, N):
        times = {v: by * n / N * THOUSAND for v, by in slower.items()}
        cases += several(times, n, exact=("memcpy",))
    cases += [case("best", 1 << 29, 1.0), case("hs_blocked", N // 2, THOUSAND)]
    cases.append(case("cpu_parallel", N // 2, 10 * THOUSAND, cache="warm"))
    table = tiny.built(standings.summary, tables(cases))
    rows = table.rows.set_index("variant")
    order = ["memcpy", "best", "cub_newest", "cub_device_scan", "hs_blocked", "cpu_parallel"]
    assert rows.index.tolist() == order
    assert rows["items"].tolist() == [N] * 4 + [N // 2] * 2, "2^29 is beyond all others"
    best = rows.loc["best"]
    assert best["time_us"] == near(1.25 * THOUSAND / 1e3) and best["of_cub"].value == near(1.28)
    assert tiny.ends(best["of_memcpy"]) == near((0.8, 0.8 / MOST, 0.8 / LEAST))
    assert rows.at["memcpy", "of_memcpy"] is None and rows.at["cub_newest", "of_cub"] is None
    assert cells(table, 1)["gb_per_s"] == "800 [571, 889]"


def test_the_readme_has_six_rows_at_the_largest_size_and_what_ran() -> None:
    timed = "memcpy best cub_tuned cub_device_scan cub_newest torch_cumsum".split()
    rows = [case(v, N, 1e6 * (1 + place)) for place, v in enumerate([*timed, "hs_blocked"])]
    table = tiny.built(standings.six, tables(rows, toolkit="13.0", driver="580"))
    assert table.rows["variant"].tolist() == timed and "CUDA 13.0, driver 580" in table.caption
    assert "`best` has 2.00 times the speed of the toolkit's CUB" in table.caption
    printed = tiny.printed(table, "variant median_us of_memcpy of_cub", 1)
    assert printed == "`best` | 2.00 | 0.50 | 1.50"


def test_kernels_show_the_usual_case_and_the_most_of_any() -> None:
    def kernel(registers: float, local: float = 0.0, ns: float = 2000.0) -> dict[str, float]:
        return tiny.USUAL | {"registers": registers, "local_bytes": local, "prepare_ns": ns}

    cases = [case("best", N, 1.0, kernel=kernel(40)), case("memcpy", N, 1.0)]
    cases += [case("best", 2 * N, 1.0, kernel=kernel(32, ns=3500.0))]
    cases += [case("best", 1 << 29, 1.0, kernel=kernel(80))]
    cases += [case("best", 4 * N, 1.0, type="i64", kernel=kernel(96, local=16))]
    cases += [case("cub_newest", N, 1.0, kernel=kernel(60, local=8))]
    table = tiny.built(standings.kernels, tables(cases))
    keys = "variant items registers local_bytes prepare_us most_registers most_local_bytes"
    assert tiny.printed(table, keys) == "`best` | 2^21 | 32 | 0 | 3.5 | 96 | 16"
    assert table.notes == ("`cub_newest` has local memory in every kernel: 8 to 8 B.",)


def test_the_figure_of_the_examples_is_drawn() -> None:
    made = runpy.run_path(str(ROOT / "examples" / "my_figure.py"))
    del FIGURES["share_of_copy"]  # of no chapter
    cases = several({CEILING: 1.0, BEST: 1.25}, N, 2 * N)
    (axes,) = tiny.drawn(made["share_of_copy"], tables(cases)).axes
    assert tiny.points(axes, tiny.look(BEST)) == [near((N, 0.8)), near((2 * N, 0.8))]


def about(families: str, kind: str = "scan", ours: bool = True, on_host: bool = False) -> Variants:
    """A variant of each family, which is a letter."""
    origin, more = "variant" if ours else "baseline", dict(overview=False, on_host=on_host)
    same = dict(label="x", kind=kind, origin=origin) | more
    names = [f"{kind}{origin}{on_host}{place}" for place in range(len(families))]
    return Variants({n: Variant(family=f, **same) for n, f in zip(names, families, strict=True)})


def test_no_two_looks_are_the_same_and_copies_are_drawn_as_captions_say() -> None:
    many = about("abcdefghab" * 2) | about("C" * 15, ours=False)  # more families than colours
    many |= about("H" * 3, ours=False, on_host=True) | about("cc", "copy")
    for known in (Variants(many), tiny.ABOUT):
        drawn_as = looks.looks(known)
        every = [*drawn_as.values(), *map(looks.spare, range(40)), *looks.host_looks(known)]
        assert set(drawn_as) == set(known)
        assert len({(own.colour, own.marker, own.line) for own in every}) == len(every)
    copy, floor = drawn_as["memcpy"], drawn_as["empty_launch"]
    assert (copy.colour, copy.line, floor.line) == (style.GREY, "-", ":")


def test_the_page_has_every_marker_and_line() -> None:
    script = (Path(page.__file__).parent / "page.js").read_text(encoding="utf-8")
    markers = script[script.index("const MARKERS") : script.index("const DASHES")]
    for marker, line, _ in looks.FORMS:
        assert re.search(rf'[ {{]("{re.escape(marker)}"|{re.escape(marker)}):', markers), marker
        assert f'"{line}": [' in script
