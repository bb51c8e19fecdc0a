"""Scanlab's fastest scans beside the vendor's, from a few times chosen by hand."""

import pytest

from scanlab_report.chapters import head_to_head, odd_sizes
from scanlab_report.data import Data
from scanlab_report.groups import BEST, HEADER
from scanlab_report.pick import Lacking
from scanlab_report.schema.samples import Choice
from scanlab_report.versus import contests
from tests import tiny
from tests.tiny import EXACT, LEAST, MOST, Case, case, cells, near, several, tables

N, LARGE = 1 << 20, 1 << 28
LOOK_AHEAD = Choice(variant="look_ahead")
FIELD = dict(best=100.0, memcpy=90.0, copy_bulk=80.0, copy_one_wave=95.0, cub_device_scan=150.0)
FIELD |= dict(cub_newest=130.0, thrust_scan=300.0)


def duels(**cub: float) -> list[Case]:
    """Exact times of CUB by exponent of the size (`n10=200.0`); best takes 100."""
    rival = [case("cub_device_scan", 1 << int(n[1:]), ns, EXACT) for n, ns in cub.items()]
    return [*rival, *(own._replace(variant=BEST, times=(100.0,) * 6) for own in rival)]


DUELS = duels(n10=200.0, n11=100.0, n12=80.0, n13=50.0)
FEW = [case(v, 512, ns, (1.0,) * 3) for v, ns in ((BEST, 500.0), ("cub_device_scan", 100.0))]
"""Too few samples for an interval."""


def test_a_cell_is_the_worst_of_its_octave() -> None:
    cases = [*duels(n10=300.0, n11=97.0), case("cub_device_scan", 1500, 150.0, EXACT)]
    cases += [case(BEST, 1500, 100.0, EXACT), case(BEST, 4096, 100.0)]
    cases += [case(BEST, 3000, 100.0), case("cub_device_scan", 3000, 95.0, EXACT)]  # a tie
    data = tables([*cases, case("cub_device_scan", 4096, 100.0, EXACT)])
    axes = tiny.drawn(head_to_head.head_to_head, data).axes[0]
    (mesh,) = axes.collections
    assert mesh.get_array().ravel().tolist() == [near(1.5), 1, near(1)], "1500 is the worse"
    marks = {line.get_marker(): line.get_xydata().tolist() for line in axes.get_lines()}
    assert marks["."] == [[12, 0]] and marks["x"] == [[11, 0]], "a tie, and a loss"


def test_losses_are_listed_the_worst_first_and_what_has_no_interval_is_not_judged() -> None:
    data = tables([*DUELS, *FEW])
    table = tiny.built(head_to_head.losses, data)
    assert len(table.rows) == 2 and "2 of 4" in table.caption
    row = tiny.printed(table, "items times_cub rival chosen")
    assert row == "2^13 | 0.500 [0.500, 0.500] | `cub_device_scan` | —"
    with pytest.raises(Lacking):
        head_to_head.head_to_head(tables(FEW))


def test_rivals_are_over_best_and_copies_its_shares() -> None:
    cases = [
        own._replace(times=[ns * n / N for ns in own.times], choice=LOOK_AHEAD)
        for n in (N, 1 << 26, LARGE)
        for own in several(FIELD, n)
    ]
    table = tiny.built(head_to_head.rivals, tables([*cases, case("empty_launch", 0, 50.0)]))
    assert table.rows["items"].tolist() == [N, LARGE]
    own = "time_us chosen of_memcpy of_copy_bulk of_copy_one_wave net"
    assert tiny.printed(table, own) == "0.1000 | look_ahead | 0.900 | 0.800 | 0.950 | 0.600"
    others = "of_cub_device_scan of_cub_newest of_thrust_scan"
    assert tiny.printed(table, others) == "1.50 | 1.30 | 3.00"


def test_a_rival_is_of_another_file_only_if_that_of_best_beside_the_copy_lacks_it() -> None:
    first = several(dict(best=100.0, memcpy=90.0, copy_bulk=80.0, cub_newest=130.0), N)
    second = dict(best=50.0, cub_newest=10.0, thrust_scan=300.0, one_wave=1.0, hs_blocked=1.0)
    second = several(second, N)
    table = tiny.built(head_to_head.rivals, tables(second, first))
    own = "time_us of_cub_newest of_thrust_scan"
    assert tiny.printed(table, own) == "0.1000 | 1.30 | 3.00"


def test_operators_have_both_sizes_side_by_side() -> None:
    cases = [*several(FIELD, N, op="max"), *several(FIELD, LARGE, op="max")]
    row = cells(tiny.built(head_to_head.operators, tables(cases)))
    assert (row["op"], row["items"], row["of_memcpy_small"]) == ("max", "2^28", "0.90")
    assert (row["time_us_small"], row["fastest_cub_large"]) == ("0.1000", "newest")
    assert row["of_cub_large"].startswith("1.30 [")


def test_the_score_tells_cub_as_shipped_from_cub_tuned() -> None:
    tuned = [*several(FIELD, LARGE, exact=True), case("cub_tuned", LARGE, 80.0, EXACT)]
    devices = ("NVIDIA H200", "NVIDIA H100")
    here, there = (head_to_head.score(tables(tuned, device=own)).content for own in devices)
    assert "as shipped, `best` is faster in 1 of 1 cases, equal in 0 and slower in 0." in here
    lost = "`best` is faster in 0 of 1 cases, equal in 0 and slower in 1."
    assert f"tuned on the device (`cub_tuned`), {lost}" in here
    assert f"tuned on another device, NVIDIA H200 (`cub_tuned`), {lost}" in there


WON, FLIPPING, LOST = 5037, 40961, 2_000_001
RATIOS = {WON: (1.2,) * 7 + (1.3,), FLIPPING: (0.95, 1.05) * 4, LOST: (0.9, 0.95) + (0.97,) * 6}
"""Time of CUB over that of best in each of 8 processes."""


def processes() -> Data:
    """The newest CUB is the faster in the median over processes, though not in the first."""

    def process(place: int) -> list[Case]:
        toolkit = 800.0 if place == 0 else 2000.0
        times = dict(best=1000.0, device_scan=500.0, cub_device_scan=toolkit)
        newest = [case("cub_newest", n, 1e3 * own[place], EXACT) for n, own in RATIOS.items()]
        return [*several(times, *RATIOS, exact=True), *newest]

    return tables(*map(process, range(8)), argv="scanlab bench --sweep odd_sizes --out o.json")


def test_an_odd_size_is_won_or_lost_only_if_its_processes_agree() -> None:
    table = tiny.built(odd_sizes.odd_sizes, processes())
    keys = "variant type cases won equal lost rival spread"
    best = tiny.printed(table, keys)
    assert best == "`best` | all | 3 | 1 | 1 | 1 | `cub_newest` | 10.5%"
    assert tiny.printed(table, "variant won equal lost", 1) == "`device_scan` | 3 | 0 | 0"
    assert "8 processes" in table.caption
    single = table.rows.iloc[table.printed :]
    ratios = {row.items: row.ratio for row in single[single["variant"] == BEST].itertuples()}
    assert tiny.ends(ratios[WON]) == near((1.2, 1.2, 1.3))
    assert tiny.ends(ratios[FLIPPING]) == near((1.0, 0.95, 1.05))
    assert tiny.ends(ratios[LOST]) == near((0.97, 0.9, 0.97))
    short = tiny.built(odd_sizes.odd_sizes_short, processes())
    assert short.rows["variant"].tolist() == [BEST, HEADER]
    with pytest.raises(Lacking):  # no other table reads the sweep
        contests(processes())


def test_nvbench_stands_beside_the_same_cases_with_the_interval_of_our_median() -> None:
    timed = [case(BEST, 1024, 10.0), case(BEST, 1024, 8.0, cache="warm", launch="batch")]
    data = tables([*timed, case("memcpy", 1024, 5.0)])
    case_ = dict(variant=BEST, type="i32", items=1024)
    ways = (("cold", "stream", 12.0), ("warm", "batch", 4.0), ("cold", "graph", 1.0))
    rows = [case_ | dict(cache=cache, launch=launch, ns=ns) for cache, launch, ns in ways]
    data = tiny.with_rows(data, "nvbench", rows, device="Test Device")
    ratio = odd_sizes.beside_nvbench(data)[0].set_index("launch").at["stream", "ratio"]
    assert tiny.ends(ratio) == near((1.2, 1.2 / MOST, 1.2 / LEAST))
    table = tiny.built(odd_sizes.stopwatch, data)
    keys = "timed variant ours_us theirs_us ratio"
    assert tiny.printed(table, keys) == "one by one, cold | `best` | 0.01000 | 0.01200 | 1.200"
    assert tiny.printed(table, keys, 1) == "in batches | `best` | 0.008000 | 0.004000 | 0.5000"


def test_bits_vary_where_they_do() -> None:
    repeated = (("v", "f32", 12, 3, 100), ("v", "f16", 10, 0, 50), ("memcpy", "f32", 9, 9, 100))
    names = ("variant", "type", "cases", "varying", "runs")
    same = dict(op="plus", mode="inclusive")
    rows = [same | dict(zip(names, row, strict=True)) for row in repeated]
    table = tiny.built(
        odd_sizes.bits, tiny.with_rows(tables([case("memcpy", N, 1.0)]), "repeats", rows)
    )
    assert len(table.rows) == 1, "a copy has no bits of its own"
    keys = "variant types cases runs varying where"
    assert tiny.printed(table, keys) == "`v` | f16, f32 | 22 | 50 | 3 | f32 plus"
