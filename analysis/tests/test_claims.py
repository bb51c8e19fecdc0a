"""claims: a value is computed from the cases that the claim is about, and its bound decides."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from scanlab_report import CLAIMS, DATA, markers, opened
from scanlab_report.chapters.claims import claims_table, reference, sections
from scanlab_report.claims import checked, standing, stated
from scanlab_report.claims.checked import check
from scanlab_report.claims.standing import FAILS, HOLDS, NOT_MEASURED, Bound, Standing
from scanlab_report.claims.stated import Claim
from scanlab_report.commands.__main__ import main
from scanlab_report.data import Data, File, Publication
from scanlab_report.pick import Lacking
from scanlab_report.tables import RANKS
from tests import fixtures, tiny
from tests.tiny import EXACT, LEAST, MOST, case, ends, near

N = 1 << 20
THEN = Publication(
    pd.DataFrame({"items": [1024, N], "cpu_ms": [1.0, 9.0], "gpu_ms": [4.0, 2.0]}),
    {"short": "then"},
)


def claim(measure: str, **fields: Any) -> Claim:
    usual = {"kind": stated.CLAIM, "statement": "all cases", "figure": "time"}
    return Claim(measure=measure, **usual | fields)


def speed(over: Any = "cub", **fields: Any) -> Claim:
    bound = {} if {"at_most", "equals"} & set(fields) else {"at_least": 1.0}
    return claim("speed", **{"variant": "best", "over": over, "type": "i32"} | bound | fields)


def timed(times: dict[str, float], items: int = N, spread: Any = EXACT, **named: Any) -> list:
    return [case(variant, items, ns, spread, **named) for variant, ns in times.items()]


def standing_of(entry: Claim, data: Data, **published: Publication) -> Standing:
    data.published = published
    (found,) = check([entry], data)
    return found


# ------------------------------------------------------------------------------------ verdicts


@pytest.mark.parametrize(
    ("bound", "held", "missed", "wanted"),
    [
        ({"at_least": 0.95}, 0.95, 0.949, "≥ 0.95"),
        ({"at_least": 1, "variation": 0.1}, 0.9, 0.89, "≥ 1 − 10%"),
        ({"at_most": 1.4}, 1.4, 1.41, "≤ 1.40"),
        ({"at_most": 1, "variation": 0.02}, 1.02, 1.03, "≤ 1 + 2%"),
        ({"equals": 3, "variation": 0.05}, 3.15, 3.16, "= 3 ± 5%"),
        ({"equals": 3, "variation": 0.05}, 2.85, 2.84, "= 3 ± 5%"),
        ({"at_most": 0}, 0, 1, "0"),
    ],
)
def test_a_bound_may_be_missed_by_the_variation_and_no_more(bound, held, missed, wanted) -> None:
    entry = claim("losses", **bound)
    assert entry.meets(held) and not entry.meets(missed) and entry.wanted == wanted


def test_the_worst_of_the_sizes_that_a_claim_names_counts() -> None:
    data = tiny.tables(
        timed({"best": 100.0, "memcpy": 110.0}, 1 << 28) + timed({"best": 100.0, "memcpy": 50.0})
    )
    found = standing_of(speed(["memcpy"]), data)
    assert (found.verdict, found.where) == (FAILS, "2^20") and checked.unit(
        found.claim
    ) == "of memcpy"
    assert standing_of(speed(["memcpy"], least_mib=1024), data).verdict == HOLDS
    assert standing_of(speed(["memcpy"], items=[1 << 28]), data).verdict == HOLDS
    assert standing_of(speed(["memcpy"], cache="warm"), data).verdict == NOT_MEASURED
    assert standing_of(speed(["memcpy"], variant="one_wave"), data).verdict == NOT_MEASURED


def test_a_ratio_has_an_interval_and_may_hold_by_the_median_only() -> None:
    data = tiny.tables([case("best", N, 125.0), case("memcpy", N, 100.0, EXACT)])
    found = standing_of(speed(["memcpy"], at_least=0.79), data)
    assert ends(found.measured) == near((0.8, 0.8 / MOST, 0.8 / LEAST))
    assert found.qualified == "holds by the median only"
    few = tiny.tables(timed({"best": 100.0, "memcpy": 100.0}, spread=(1.0,)))
    assert standing_of(speed(["memcpy"]), few).unsure  # too few repetitions for an interval
    exact = tiny.tables(timed({"best": 100.0, "memcpy": 100.0}))
    assert standing_of(speed(["memcpy"]), exact).qualified == HOLDS


def test_a_claim_that_one_of_two_files_misses_fails() -> None:
    data = tiny.tables(
        timed({"best": 100.0, "cub_device_scan": 130.0}),
        timed({"best": 100.0, "cub_device_scan": 120.0}, 2 * N),
    )
    found = standing_of(speed(at_least=1.25), data)
    assert (found.qualified, found.where) == ("fails in 1 of 2 files", "2^21")


def test_both_sides_are_of_the_file_with_most_variants_of_equals_the_newest() -> None:
    data = tiny.tables(
        timed({"best": 100.0, "cub_device_scan": 120.0, "memcpy": 96.0}),
        timed({"best": 100.0, "cub_device_scan": 130.0}),
    )
    assert standing_of(speed(), data).measured.value == near(1.2)
    data = tiny.tables(
        timed({"best": 100.0, "cub_device_scan": 120.0}),
        timed({"best": 100.0, "cub_device_scan": 130.0}),
    )
    assert standing_of(speed(), data).measured.value == near(1.3)


def test_cub_as_shipped_is_cub_without_the_shapes_tuned_on_the_device() -> None:
    data = tiny.tables(timed({"best": 100.0, "cub_newest": 140.0, "cub_tuned": 110.0}))
    values = [standing_of(speed(over), data).measured.value for over in ("cub", "cub_as_shipped")]
    assert values == near([1.1, 1.4])


@pytest.mark.parametrize(
    ("over", "at_least", "said"),
    [
        ("cub", 1.3, "copy_bulk: 1.22"),
        ("cub", 1.2, "none: copy_bulk has 1.22"),
        ("cub_as_shipped", 1.6, "copy_bulk: 1.56"),
        (["memcpy"], 0.97, "none: copy_bulk has 1.06"),
        (["memcpy"], 1.1, "copy_bulk: 1.06"),
    ],
)
def test_a_copy_stands_beside_a_target_that_is_missed(
    over: Any, at_least: float, said: str
) -> None:
    times = {
        "best": 100.0,
        "cub_newest": 140.0,
        "cub_tuned": 110.0,
        "memcpy": 95.0,
        "copy_bulk": 90.0,
    }
    data = tiny.tables(timed(times))
    found = standing_of(speed(over, at_least=at_least), data)
    assert found.verdict == FAILS and reference(found) == said
    published = standing_of(speed(over, at_least=at_least, kind=stated.PUBLISHED), data)
    assert published.bound is None and standing_of(speed(over, at_least=0.1), data).bound is None


def test_the_copy_that_meets_as_one_wave_comes_first_and_the_file_with_most_copies() -> None:
    times = {"best": 100.0, "cub_device_scan": 120.0, "memcpy": 80.0, "copy_one_wave": 96.0}
    data = tiny.tables(timed(times), timed({"best": 10.0, "cub_device_scan": 10.0, "memcpy": 1.0}))
    assert standing_of(speed(at_least=1.3), data).bound == Bound("copy_one_wave", near(1.25), False)


def test_a_value_is_printed_with_the_digits_that_its_verdict_needs() -> None:
    data = tiny.tables(timed({"best": 100.0, "cub_newest": 108.8}))
    for at_least, printed in ((1.09, "1.088 [1.088, 1.088]"), (1.1, "1.09 [1.09, 1.09]")):
        table = claims_table([standing_of(speed(at_least=at_least), data)], "")
        assert tiny.cells(table)["measured"] == printed


# ------------------------------------------------------------------------------------ measures


@pytest.mark.parametrize(("best", "verdict"), [(279.0, HOLDS), (281.0, FAILS)])
def test_a_time_is_set_over_an_empty_launch_of_its_file_and_launch(
    best: float, verdict: str
) -> None:
    floors = [
        case("empty_launch", 0, ns, EXACT, cache=cache, launch=launch)
        for ns, cache, launch in (
            (200.0, "warm", "stream"),
            (20.0, "warm", "graph"),
            (2.0, "cold", "stream"),
        )
    ]
    ours = [case("best", n, ns, cache="warm") for n, ns in ((1024, best), (512, 210.0), (N, 1e6))]
    entry = claim("floor", variant="best", type="i32", most_items=4096, cache="warm", at_most=1.4)
    found = standing_of(entry, tiny.tables([*floors, *ours]))
    assert (found.verdict, found.where) == (verdict, "2^10")
    assert ends(found.measured) == near((best / 200, best / 200 * LEAST, best / 200 * MOST))


def test_lost_cases_are_counted_and_the_worst_is_named() -> None:
    def losses(*ours: float, spread: Any = EXACT) -> Standing:
        rows = [
            own
            for place, ns in enumerate(ours)
            for own in timed({"best": ns, "cub_device_scan": 100.0}, 1024 << place, spread)
        ]
        return standing_of(claim("losses", at_most=0), tiny.tables(rows))

    found = losses(90.0, 110.0, 125.0, 100.0)
    assert (found.verdict, found.measured.value, found.where) == (FAILS, 2, "i32 plus, 4096")
    assert found.statement == "all 4 cases" and not losses(90.0).unsure  # a count has no interval
    assert losses(90.0, 100.0).verdict == HOLDS
    assert losses(500.0, spread=(1.0,) * 3).verdict == NOT_MEASURED


def test_kernels_with_local_memory_are_counted_by_case() -> None:
    kernel = tiny.USUAL | {"local_bytes": 8.0}
    spilling = [
        case("best", 2 * N, 1.0, kernel=kernel),
        case("look_ahead", N, 1.0, kernel=kernel),
        case("memcpy", N, 1.0, kernel=kernel),
    ]
    found = standing_of(claim("spills", at_most=0), tiny.tables([case("best", N, 1.0), *spilling]))
    assert (found.measured.value, found.where, found.reached) == (2, "best, look_ahead", False)


def session(cpu: float) -> list:
    return [
        case("cpu_sequential", N, cpu, cache="warm"),
        case("hso_blocked_padded", N, 100.0, EXACT),
    ]


def test_over_one_core_every_session_counts_and_the_range_is_stated() -> None:
    data = tiny.tables(session(600.0), session(200.0), session(400.0), session(1.0)[:1])
    entry = claim("speedup", variant="hso_blocked_padded", at_least=3, least_items=1024)
    found = standing_of(entry, data)
    assert found.measured.value == near(2) and found.qualified == "fails in 1 of 3 files"
    assert found.where == "i32, 2^20; 2.00 to 6.00 by the session"
    now = claim("speedup", variant="hso_blocked_padded", of_published="then", at_least=1)
    found = standing_of(now, tiny.tables(session(900.0)), then=THEN)  # 9 now, 4.5 then
    assert ends(found.measured) == near((2, 2 * LEAST, 2 * MOST)) and found.where == "i32, 2^20"


@pytest.mark.parametrize(
    ("moved", "verdict"), [(2.0, HOLDS), (2.09, HOLDS), (3.0, FAILS), (1.0, FAILS)]
)
def test_traffic_is_counted_by_the_hardware(moved: float, verdict: str) -> None:
    row = {
        "variant": "look_ahead",
        "settings": "",
        "type": "i32",
        "op": "plus",
        "mode": "inclusive",
        "items": N,
        "kernel": "k",
        "dram_bytes_read": 4 * N,
        "dram_bytes_written": 4 * N * (moved - 1),
    }
    entry = claim("traffic", variant="look_ahead", type="i32", items=N, equals=2, variation=0.05)
    assert standing_of(entry, tiny.with_rows(Data(), "traffic", [row])).verdict == verdict


@pytest.mark.parametrize(
    ("yes", "part", "none"),
    [(15, HOLDS, FAILS), (12, HOLDS, FAILS), (11, FAILS, FAILS), (3, FAILS, HOLDS)],
)
def test_a_statement_on_a_call_is_decided_by_the_trials(yes: int, part: str, none: str) -> None:
    rows = [
        {"name": "a", "yes": yes, "trials": 15, "subject": "one call"},
        {"name": "b", "yes": 0, "trials": 15, "subject": "another"},
    ]
    data = tiny.with_rows(Data(), "implicit_sync", rows, device="Test Device")
    for names, answer, verdict in (
        (["a"], "yes", part),
        (["a"], "no", none),
        (["a", "b"], "no", none),
        (["a", "c"], "no", NOT_MEASURED),
    ):
        entry = claim("implicit_sync", experiments=names, answer=answer, at_least=0.75)
        assert standing_of(entry, data).verdict == verdict


def test_an_order_is_the_time_of_the_schedule_that_was_faster_over_the_other() -> None:
    table = pd.DataFrame(
        {"device": ["d"] * 3, "schedule": ["a", "b", "c"], "milliseconds": [3.0, 1.0, 2.0]}
    )
    for b, verdict, value in ((10.0, HOLDS, 0.5), (25.0, FAILS, 1.25)):
        data = Data()
        for name, us in (("a", 40.0), ("b", b), ("c", 20.0)):
            span = {"lane": 0, "lane_name": "", "kind": "kernels", "start_us": 0.0, "end_us": us}
            tiny.with_rows(data, "spans", [span], scenario=f"d_{name}", makespan_us=us)
        data.files = [File(f.path, f.origin, f.context, of_no_device=True) for f in data.files]
        found = standing_of(
            claim("order", board="d", at_most=1), data, harris2012_overlap=Publication(table, {})
        )
        assert (found.verdict, found.measured.value, found.where) == (verdict, near(value), "b, c")


def predictions(*predicted: float, both: int = 9, best: int = 10) -> Data:
    rows = [
        {
            "schedule": "graph",
            "chunks": place,
            "measured_us": 100.0,
            "predicted_us": us,
            "overlap_in_either": 10,
            "overlap_in_both": both,
            "best_overlap_in_either": 10,
            "best_overlap_in_both": best,
            "repetitions": 3,
        }
        for place, us in enumerate(predicted)
    ]
    return tiny.with_rows(Data(), "comparison", rows, device="Test Device")


def test_a_makespan_is_off_whether_it_is_longer_or_shorter() -> None:
    data = predictions(80.0, 90.0, 97.0, 104.0, 110.0)
    median, worst = (
        standing_of(claim(f"makespan_{which}", at_most=10), data) for which in ("median", "worst")
    )
    assert (median.measured.value, median.where) == (near(10), "of 5 configurations")
    assert (worst.measured.value, worst.where, worst.verdict) == (
        near(20),
        "graph, 0 chunks",
        FAILS,
    )


def test_pairs_that_overlap_in_both_are_percent_of_those_that_do_in_either() -> None:
    found = standing_of(claim("overlap", at_least=95), predictions(100.0, 100.0))
    assert (found.measured.value, found.where, found.verdict) == (near(90), "of 20 pairs", FAILS)
    assert found.bound == Bound("best possible prediction", near(100), True)
    assert not standing_of(claim("overlap", at_least=95), predictions(100.0, best=9)).bound.enough
    assert standing_of(claim("overlap", at_least=90), predictions(100.0)).bound is None


@pytest.mark.parametrize(
    ("hardware", "conflicts", "differ"), [(40, 30, 0), (41, 30, 1), (40, 29, 1), (40, 31, 1)]
)
def test_counts_differ_whichever_side_counts_more(
    hardware: int, conflicts: int, differ: int
) -> None:
    launch = {
        "variant": "hso_block",
        "padding": "none",
        "type": "i32",
        "op": "plus",
        "items": 64,
        "kernel": "k",
        "launch_index": 0,
        "shared_load_wavefronts": hardware,
        "shared_store_wavefronts": 0,
        "shared_load_conflicts": conflicts,
        "shared_store_conflicts": 0,
    }
    counts = tiny.count("hso_block", 64, tiny.degrees(0) | {"transactions": 40})
    data = tiny.with_rows(
        tiny.with_rows(Data(), "counters", [launch], device="D"), "counts", [counts]
    )
    found = standing_of(claim("counts", at_most=0), data)
    assert (found.measured.value, found.where) == (differ, "of 1")
    off = standing_of(claim("conflicts", at_most=1), data)
    assert (off.measured.value, off.where) == (
        near(100 * abs(conflicts - 30) / hardware),
        "hso_block, i32, 64",
    )


def test_tracing_counts_by_how_far_it_changes_the_makespan_either_way() -> None:
    data = Data()
    for percent in (2.0, -6.0, 4.0):
        span = {"lane": 0, "lane_name": "", "kind": "kernels", "start_us": 0.0, "end_us": 1.0}
        about = {"schedule": f"s{percent}", "connections": 8, "tracing_overhead_percent": percent}
        tiny.with_rows(data, "spans", [span], device="Test Device", **about)
    found = standing_of(claim("tracing", at_most=5), data)
    assert (found.measured.value, found.where, found.verdict) == (-6, "s-6.0", FAILS)


def ranks_data() -> Data:
    """On one GPU 2^20 items in 8 µs; on four 2^20 each in 10 µs, beside copies of 9 and reading of
    4; twice as many in 30. NCCL and CUB take 30."""
    four = {"peer_look_ahead": 10.0, "copy_all": 9.0, "read_all": 4.0, "nccl_cub": 30.0}
    timed_ = [(name, 4, 4 * N, us) for name, us in four.items()]
    timed_ += [("peer_look_ahead", 4, 8 * N, 30.0), ("copy_all", 4, 8 * N, 12.0)]
    timed_ += [("peer_look_ahead", 1, N, 8.0), ("copy_all", 1, N, 8.9)]
    kinds = {"copy_all": "copy", "read_all": "empty_launch"}
    rows = [
        dict(zip(RANKS, (name, "", "i32", "plus", "inclusive", ranks, n), strict=True))
        | {
            "kind": kinds.get(name, "scan"),
            "on": "gpus",
            "bytes": 8 * n,
            "round": place,
            "ns": 1e3 * us,
        }
        for name, ranks, n, us in timed_
        for place in range(6)
    ]
    data = tiny.tables([case("best", 4 * N, 35e3, EXACT, cache="warm")])
    return tiny.with_rows(data, "distributed", rows, device="Test Device", date="2026-01-02")


@pytest.mark.parametrize(
    ("measure", "cases", "value", "unit", "copies"),
    [
        ("ranks_copies", {"items_per_rank": N}, 0.9, "of copy_all", None),
        ("ranks_copies", {"items_per_rank": [N, 2 * N]}, 0.4, "of copy_all", None),
        ("ranks_weak", {"items_per_rank": N}, 0.8, "of one GPU's speed", 8.9 / 9),
        ("ranks_strong", {"items": 4 * N}, 3.5, "× best on one GPU", 35 / 9),
        ("ranks_vendor", {"items_per_rank": N}, 3.0, "× nccl_cub", 30 / 9),
        ("ranks_bound", {"items_per_rank": N}, 1.3, "of the 3n bound", None),
        ("ranks_time", {"items_per_rank": N}, 10.0, "µs", 9.0),
    ],
)
def test_a_claim_on_several_gpus_has_a_copy_as_its_reference(
    measure, cases, value, unit, copies
) -> None:
    data, bound = ranks_data(), "at_most" if measure == "ranks_time" else "at_least"
    fields = {"variant": "peer_look_ahead", "type": "i32", "ranks": 4} | cases
    missed = value * (0.999 if bound == "at_most" else 1.001)
    found = standing_of(claim(measure, **fields, **{bound: missed}), data)
    assert found.measured.value == near(value) and found.verdict == FAILS
    assert checked.unit(found.claim) == unit
    per = {"items": "2^22 in all on 4"}.get(next(iter(cases)))
    assert found.where == (per or f"2^{21 if value == 0.4 else 20} per GPU on 4")
    assert (found.bound and found.bound.allows) == (copies and near(copies))
    assert standing_of(claim(measure, **fields, **{bound: value}), data).verdict == HOLDS
    for change in ({"ranks": 8}, {"type": "f32"}, {"op": "affine"}, {"variant": "another"}):
        assert (
            standing_of(claim(measure, **fields | change, **{bound: value}), data).verdict
            == NOT_MEASURED
        )


# ----------------------------------------------------------------------------- devices, output


def two_devices() -> Data:
    data = tiny.tables(
        timed({"best": 100.0, "memcpy": 95.0}), timed({"best": 100.0, "memcpy": 50.0})
    )
    data.files[1] = File(
        data.files[1].path,
        "recorded",
        data.files[1].context | {"device": "B"},
        data.files[1].variants,
    )
    return data


def test_a_claim_is_checked_on_its_devices_and_another_on_the_first_that_tells() -> None:
    data, entry = two_devices(), {"over": ["memcpy"], "at_least": 0.9}
    values = lambda **more: [(s.verdict, s.where) for s in check([speed(**entry, **more)], data)]
    assert values() == values(on=["Test Device"]) == [(HOLDS, "2^20")]
    assert values(on=["Test Device", "B"]) == [(HOLDS, "2^20"), (FAILS, "2^20, B")]
    assert values(on=["Other"]) == [(NOT_MEASURED, standing.MISSING)]


def test_each_kind_has_a_table_with_verdicts_of_its_own() -> None:
    data = tiny.tables(timed({"best": 100.0, "cub_device_scan": 120.0}))
    entries = [speed(kind=kind, at_least=bound) for kind in stated.KINDS for bound in (1.1, 1.3)]
    text = sections(check([*entries, speed(variant="no", kind=stated.TARGET)], data))
    for sentence in (
        "2 claims: 1 holds, 1 fails.",
        "2 statements: 1 agrees, 1 differs.",
        "3 targets: 1 reached, 1 missed, 1 not measured.",
    ):
        assert sentence in text
    assert re.findall("^### (.*)", text, re.M) == [
        "Claims of Scanlab",
        "Published statements, tested again",
        "Open targets",
    ]
    assert "| agrees |" in text and "| missed |" in text


GOOD = """
[[claim]]
statement = "look-back, {type}"
figure = "ceiling_share"
set_by = "012345678"
measure = "speed"
variant = "best"
over = ["memcpy"]
at_least = 1
variation = 0.1
each = [{ type = "i32" }]
"""


def results(folder: Path, copy: float) -> str:
    rows = [
        fixtures.repetition(fixtures.case(variant, N, launch="stream"), place, ns)
        for variant, ns in (("best", 100.0), ("memcpy", copy))
        for place in range(6)
    ]
    file = folder / f"{copy}.json"
    file.write_text(json.dumps({"context": fixtures.context(), "benchmarks": rows}))
    return str(file)


@pytest.mark.parametrize(("kind", "status"), [("claim", 1), ("published", 0), ("target", 0)])
def test_the_status_is_1_only_if_a_claim_fails(
    tmp_path: Path, capsys, kind: str, status: int
) -> None:
    file, page = tmp_path / "own.toml", tmp_path / "page.md"
    text = GOOD.replace("[[claim]]", f"[[{kind}]]")
    file.write_text(text.replace("set_by", "source") if kind == "published" else text)
    page.write_text("before\n<!-- claims:begin -->\n<!-- claims:end -->\nafter\n")
    command = ["claims", results(tmp_path, 50.0), "--claims", str(file)]
    assert main([*command, "--page", str(page)]) == status
    made = page.read_text()
    assert (
        "| look-back, i32 | ≥ 1 − 10% of memcpy | 0.500 [" in made
        and "Test Device, 2026-01-02" in made
    )
    assert made.startswith("before\n") and made.endswith("after\n")
    command[1] = results(tmp_path, 95.0)
    assert main(command) == 0 and "Sources: Test Device" in capsys.readouterr().out


def test_a_page_is_left_as_it_is_without_results_or_markers(tmp_path: Path, capsys) -> None:
    file, page = tmp_path / "own.toml", tmp_path / "page.md"
    file.write_text(GOOD.replace('"best"', '"one_wave"'))
    page.write_text("<!-- claims:begin -->\nlast\n<!-- claims:end -->\n")
    command = ["claims", results(tmp_path, 50.0), "--claims", str(file), "--page", str(page)]
    assert (
        main(command) == 0
        and "left as it is" in capsys.readouterr().out
        and "last" in page.read_text()
    )
    page.write_text("no markers")
    assert main(command) == 2 and "<!-- claims:begin --> is missing" in capsys.readouterr().err


# ----------------------------------------------------------------------------------- the files


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('figure = "ceiling_share"', "", "figure: is missing"),
        ("variation", "claims", "unknown field"),
        ('"speed"', '"haste"', "measure: invalid enum value 'haste'"),
        ('over = ["memcpy"]', "", "measure 'speed' needs over"),
        ("at_least = 1", "", "has none"),
        ("at_least = 1", "at_least = 1\nat_most = 2", "has at_least and at_most"),
        ("at_least = 1", "at_least = nan", "at_least: expected float"),
        ("0.1", "10", "variation: expected float"),
        ('"i32"', '"i33"', "type: invalid enum value 'i33'"),
        ("{type}", "{size}", "'size' is no field"),
        ("at_least = 1", 'at_least = 1\nop = "plu"', "op is 'plu', none of affine, arg_max"),
        ("at_least = 1", "at_least = 1\nranks = 4", "ranks and items_per_rank are for measures"),
        ("each = [{", "each = [3, {", "each is"),
        ('set_by = "012345678"', "", "set_by is missing"),
        ('"speed"', '"traffic"\nitems = [1, 2]', "needs one number of items"),
        ("[[claim]]", "[[claim", "is not TOML"),
        ("[[claim]]", "[[claims]]", "claims: unknown"),
        (GOOD, "", "holds no [[claim]]"),
        (GOOD, "device = 3\n" + GOOD, "device is 3"),
        (GOOD, "claim = 1", "claim is 1"),
    ],
)
def test_a_fault_is_named_with_its_place(
    tmp_path: Path, capsys, before: str, after: str, said: str
) -> None:
    file = tmp_path / "own.toml"
    file.write_text(GOOD.replace(before, after))
    assert main(["claims", results(tmp_path, 50.0), "--claims", str(file)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: {file}: ") and said in error


def test_entries_name_a_figure_a_reference_and_the_commit_that_set_the_bound() -> None:
    shown = opened.registered("figure").keys() | opened.registered("table").keys()
    bibliographies = sorted(CLAIMS.parent.glob("*/references.bib"))
    keys = re.findall(r"^@\w+{\s*([^\s,]+)", "".join(f.read_text() for f in bibliographies), re.M)
    before: dict[str, list[Any]] = {}
    for entry in stated.read():
        assert entry.figure in shown and entry.source in {"", *keys}, entry.statement
        if entry.ours and entry.set_by not in before:
            before[entry.set_by] = _bounds_at(entry.set_by)
        if entry.ours:
            assert _bound(entry) in before[entry.set_by], entry.statement


def _bound(entry: Claim) -> tuple[Any, ...]:
    over = "cub" if entry.over == "cub_as_shipped" else entry.over
    return (
        entry.measure,
        entry.variant,
        over,
        entry.wanted,
        entry.type,
        entry.op,
        entry.cache,
        entry.launch,
        entry.items,
        entry.items_per_rank,
        entry.ranks,
        entry.workload,
    )


def _bounds_at(commit: str) -> list[tuple[Any, ...]]:
    """The bounds of a commit with one list in paper/claims.toml, where `collection` was tracing."""
    git = ["git", "show", f"{commit}:paper/claims.toml"]
    text = subprocess.run(git, cwd=CLAIMS.parent, capture_output=True, text=True)
    if text.returncode:
        pytest.skip("no history here, or not all of it")
    names, bounds = set(Claim.__struct_fields__), []
    for old in tomllib.loads(text.stdout)["claim"]:
        measure = {"collection": "tracing", "caveat": "implicit_sync"}.get(
            old["measure"], old["measure"]
        )
        entry = {
            name: value for name, value in (old | old.get("cases", {})).items() if name in names
        }
        bounds.append(_bound(claim(**entry | {"measure": measure, "kind": stated.CLAIM})))
    return bounds


def test_entries_on_calls_name_recorded_experiments() -> None:
    """A name that no experiment has would leave the entry unmeasured for ever."""
    data = opened.opened(sorted((DATA / "recorded").glob("*/*/implicit_sync.json*")))
    entries = [entry for entry in stated.read() if entry.measure == "implicit_sync"]
    assert {found.verdict for found in check(entries, data)} == {HOLDS, FAILS}


def test_claims_and_targets_of_a_measure_stand_together_in_the_papers() -> None:
    data = tiny.tables(timed({"best": 100.0, "cub_device_scan": 130.0, "memcpy": 98.0}, 1 << 28))
    rows = [found.claim for found in checked.targets(data, *stated.OF_SCANS)]
    placed = {entry.row: entry.statement for entry in stated.read() if entry.row}
    assert placed and all(rows[row - 1].statement == text for row, text in placed.items())
    assert not [row for row in rows if row.on or row.row], "of whichever device tells"
    with pytest.raises(Lacking):
        checked.targets(Data(), *stated.OF_SCANS)


def test_the_page_has_the_recorded_verdicts() -> None:
    text = (CLAIMS.parents[1] / "docs" / "CLAIMS.md").read_text(encoding="utf-8")
    part = text[slice(*markers.find(text, "claims"))]
    counts = [sum(entry.kind == kind for entry in stated.read()) for kind in stated.KINDS]
    assert [int(n) for n in re.findall(r"^(\d+) (?:claim|statement|target)s?:", part, re.M)] == [
        counts[0] + 1,
        *counts[1:],
    ]  # a claim is of two devices
    assert "fails" not in part.partition("### Published")[0]
