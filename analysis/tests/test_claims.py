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
from scanlab_report.claims import standing, stated
from scanlab_report.claims.checked import check
from scanlab_report.claims.standing import FAILS, HOLDS, NOT_MEASURED, Bound, Standing
from scanlab_report.claims.stated import Claim
from scanlab_report.commands.__main__ import main
from scanlab_report.data import Data, File, Publication
from tests import fixtures, test_kernels, test_model, test_ranks, tiny
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
    (result,) = check([entry], data)
    return result


def stands(entry: Claim, data: Data, **published: Publication) -> tuple[Any, ...]:
    """The verdict, the value and the place."""
    result = standing_of(entry, data, **published)
    return result.verdict, result.measured.value, result.where


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


def test_the_worst_of_the_cases_that_a_claim_names_counts() -> None:
    data = tiny.tables(
        timed({"best": 100.0, "memcpy": 110.0}, 1 << 28) + timed({"best": 100.0, "memcpy": 50.0})
    )
    assert stands(speed(["memcpy"]), data) == (FAILS, near(0.5), "2^20")
    assert stands(speed(["memcpy"], least_mib=1024), data) == (HOLDS, near(1.1), "2^28")
    assert stands(speed(["memcpy"], items=[1 << 28]), data) == (HOLDS, near(1.1), "2^28")
    for none in ({"cache": "warm"}, {"variant": "one_wave"}):
        assert standing_of(speed(["memcpy"], **none), data).verdict == NOT_MEASURED


def test_a_ratio_has_an_interval_and_may_hold_by_the_median_only() -> None:
    data = tiny.tables([case("best", N, 125.0), case("memcpy", N, 100.0, EXACT)])
    result = standing_of(speed(["memcpy"], at_least=0.79), data)
    assert ends(result.measured) == near((0.8, 0.8 / MOST, 0.8 / LEAST))
    assert result.qualified == "holds by the median only"
    few = tiny.tables(timed({"best": 100.0, "memcpy": 100.0}, spread=(1.0,)))
    assert standing_of(speed(["memcpy"]), few).unsure  # too few repetitions for an interval


def test_a_claim_that_one_of_two_files_misses_fails() -> None:
    data = tiny.tables(
        timed({"best": 100.0, "cub_device_scan": 130.0}),
        timed({"best": 100.0, "cub_device_scan": 120.0}, 2 * N),
    )
    result = standing_of(speed(at_least=1.25), data)
    assert (result.qualified, result.where) == ("fails in 1 of 2 files", "2^21")


def test_cub_as_shipped_is_cub_without_the_shapes_tuned_on_the_device() -> None:
    data = tiny.tables(timed({"best": 100.0, "cub_newest": 140.0, "cub_tuned": 110.0}))
    values = [standing_of(speed(over), data).measured.value for over in ("cub", "cub_as_shipped")]
    assert values == near([1.1, 1.4])


@pytest.mark.parametrize(
    ("over", "at_least", "message"),
    [
        ("cub", 1.3, "copy_bulk: 1.22"),
        ("cub", 1.2, "none: copy_bulk has 1.22"),
        ("cub_as_shipped", 1.6, "copy_bulk: 1.56"),
        (["memcpy"], 0.97, "none: copy_bulk has 1.06"),
        (["memcpy"], 1.1, "copy_bulk: 1.06"),
    ],
)
def test_a_copy_stands_beside_a_target_that_is_missed(
    over: Any, at_least: float, message: str
) -> None:
    times = {
        "best": 100.0,
        "cub_newest": 140.0,
        "cub_tuned": 110.0,
        "memcpy": 95.0,
        "copy_bulk": 90.0,
    }
    data = tiny.tables(timed(times))
    result = standing_of(speed(over, at_least=at_least), data)
    assert result.verdict == FAILS and reference(result) == message
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


def test_a_time_is_set_over_an_empty_launch_of_its_file_and_launch() -> None:
    cases = [
        case("empty_launch", 0, ns, EXACT, cache=cache, launch=launch)
        for ns, cache, launch in (
            (200.0, "warm", "stream"),
            (20.0, "warm", "graph"),
            (2.0, "cold", "stream"),
        )
    ]
    cases += [
        case("best", n, ns, cache="warm") for n, ns in ((1024, 281.0), (512, 210.0), (N, 1e6))
    ]
    entry = claim("floor", variant="best", type="i32", most_items=4096, cache="warm", at_most=1.4)
    result = standing_of(entry, tiny.tables(cases))
    assert (result.verdict, result.where) == (FAILS, "2^10")
    assert ends(result.measured) == near((1.405, 1.405 * LEAST, 1.405 * MOST))


def test_lost_cases_are_counted_and_the_worst_is_named() -> None:
    def losses(*ours: float, spread: Any = EXACT) -> Standing:
        rows = [
            own
            for place, ns in enumerate(ours)
            for own in timed({"best": ns, "cub_device_scan": 100.0}, 1024 << place, spread)
        ]
        return standing_of(claim("losses", at_most=0), tiny.tables(rows))

    result = losses(90.0, 110.0, 125.0, 100.0)
    assert (result.verdict, result.measured.value, result.where) == (FAILS, 2, "i32 plus, 4096")
    assert result.statement == "all 4 cases" and not losses(90.0).unsure  # a count has no interval
    assert losses(500.0, spread=(1.0,) * 3).verdict == NOT_MEASURED


def test_kernels_with_local_memory_are_counted_by_case() -> None:
    kernel = tiny.USUAL | {"local_bytes": 8.0}
    cases = [case(name, N, 1.0, kernel=kernel) for name in ("best", "look_ahead", "memcpy")]
    data = tiny.tables([*cases, case("best", 2 * N, 1.0)])
    assert stands(claim("spills", at_most=0), data) == (FAILS, 2, "best, look_ahead")


def test_over_one_core_every_session_counts_and_the_range_is_stated() -> None:
    def sessions(*cpu: float) -> Data:
        ours = case("hso_blocked_padded", N, 100.0, EXACT)
        return tiny.tables(*([case("cpu_sequential", N, ns, cache="warm"), ours] for ns in cpu))

    entry = claim("speedup", variant="hso_blocked_padded", at_least=3, least_items=1024)
    result = standing_of(entry, sessions(600.0, 200.0, 400.0))
    assert result.measured.value == near(2) and result.qualified == "fails in 1 of 3 files"
    assert result.where == "i32, 2^20; 2.00 to 6.00 by the session"
    now = claim("speedup", variant="hso_blocked_padded", of_published="then", at_least=1)
    result = standing_of(now, sessions(900.0), then=THEN)  # 9 now, 4.5 then
    assert ends(result.measured) == near((2, 2 * LEAST, 2 * MOST)) and result.where == "i32, 2^20"


@pytest.mark.parametrize(("moved", "verdict"), [(2.09, HOLDS), (3.0, FAILS), (1.0, FAILS)])
def test_traffic_is_counted_by_the_hardware(moved: float, verdict: str) -> None:
    row = test_kernels.traffic(4 * N, int(4 * N * (moved - 1)), variant="look_ahead")
    entry = claim("traffic", variant="look_ahead", type="i32", items=N, equals=2, variation=0.05)
    assert standing_of(entry, tiny.with_rows(Data(), "traffic", [row])).verdict == verdict


@pytest.mark.parametrize(("yes", "part", "none"), [(12, HOLDS, FAILS), (3, FAILS, HOLDS)])
def test_a_statement_on_a_call_is_decided_by_the_trials(yes: int, part: str, none: str) -> None:
    rows = [
        {"name": name, "yes": own, "trials": 15, "subject": name}
        for name, own in (("a", yes), ("b", 0))
    ]
    data = tiny.with_rows(Data(), "implicit_sync", rows, device="Test Device")
    for names, answer, verdict in (
        (["a"], "yes", part),
        (["a", "b"], "no", none),
        (["a", "c"], "no", NOT_MEASURED),
    ):
        entry = claim("implicit_sync", experiments=names, answer=answer, at_least=0.75)
        assert standing_of(entry, data).verdict == verdict


def test_an_order_is_the_time_of_the_schedule_that_was_faster_over_the_other() -> None:
    table = pd.DataFrame(
        {"device": ["d"] * 3, "schedule": ["a", "b", "c"], "milliseconds": [3.0, 1.0, 2.0]}
    )
    data = Data()
    for name, us in (("a", 40.0), ("b", 25.0), ("c", 20.0)):
        span = {"lane": 0, "lane_name": "", "kind": "kernels", "start_us": 0.0, "end_us": us}
        tiny.with_rows(data, "spans", [span], scenario=f"d_{name}", makespan_us=us)
    data.files = [File(f.path, f.origin, f.context, of_no_device=True) for f in data.files]
    entry = claim("order", board="d", at_most=1)
    published = Publication(table, {})
    assert stands(entry, data, harris2012_overlap=published) == (FAILS, near(1.25), "b, c")


def predictions(*predicted: float, best: int = 10) -> Data:
    rows = [
        test_model.compared("graph", 8, us, 9, best) | {"chunks": place}
        for place, us in enumerate(predicted)
    ]
    return tiny.with_rows(Data(), "comparison", rows, device="Test Device")


def test_a_makespan_is_off_whether_it_is_longer_or_shorter() -> None:
    data = predictions(80.0, 90.0, 97.0, 104.0, 110.0)
    median, worst = (claim(f"makespan_{which}", at_most=10) for which in ("median", "worst"))
    assert stands(median, data) == (HOLDS, near(10), "of 5 configurations")
    assert stands(worst, data) == (FAILS, near(20), "graph, 0 chunks")


def test_pairs_that_overlap_in_both_are_percent_of_those_that_do_in_either() -> None:
    result = standing_of(claim("overlap", at_least=95), predictions(100.0, 100.0))
    assert (result.measured.value, result.where, result.verdict) == (near(90), "of 20 pairs", FAILS)
    assert result.bound == Bound("best possible prediction", near(100), True)
    assert not standing_of(claim("overlap", at_least=95), predictions(100.0, best=9)).bound.enough


@pytest.mark.parametrize(
    ("hardware", "conflicts", "differ"), [(40, 30, 0), (41, 30, 1), (40, 31, 1)]
)
def test_counts_differ_whichever_side_counts_more(
    hardware: int, conflicts: int, differ: int
) -> None:
    launch = test_kernels.counters("hso_block", 0, hardware, 0, conflicts, 0)
    counts = tiny.count("hso_block", 64, tiny.degrees(0) | {"transactions": 40})
    data = tiny.with_rows(Data(), "counters", [launch], device="D")
    data = tiny.with_rows(data, "counts", [counts])
    assert stands(claim("counts", at_most=0), data)[1:] == (differ, "of 1")
    off = near(100 * abs(conflicts - 30) / hardware)
    assert stands(claim("conflicts", at_most=1), data)[1:] == (off, "hso_block, i32, 64")


def test_tracing_counts_by_how_far_it_changes_the_makespan_either_way() -> None:
    data = Data()
    for percent in (2.0, -6.0, 4.0):
        span = {"lane": 0, "lane_name": "", "kind": "kernels", "start_us": 0.0, "end_us": 1.0}
        about = {"schedule": f"s{percent}", "connections": 8, "tracing_overhead_percent": percent}
        tiny.with_rows(data, "spans", [span], device="Test Device", **about)
    assert stands(claim("tracing", at_most=5), data) == (FAILS, -6, "s-6.0")


@pytest.mark.parametrize(
    ("measure", "cases", "value", "copies"),
    [
        ("ranks_copies", {"items_per_rank": N}, 0.9, None),
        ("ranks_copies", {"items_per_rank": [N, 2 * N]}, 0.4, None),
        ("ranks_weak", {"items_per_rank": N}, 0.8, 8.9 / 9),
        ("ranks_strong", {"items": 4 * N}, 3.5, 35 / 9),
        ("ranks_vendor", {"items_per_rank": N}, 3.0, 30 / 9),
        ("ranks_bound", {"items_per_rank": N}, 1.3, None),
        ("ranks_time", {"items_per_rank": N}, 10.0, 9.0),
    ],
)
def test_a_claim_on_several_gpus_has_a_copy_as_its_reference(
    measure: str, cases: dict[str, Any], value: float, copies: float | None
) -> None:
    """On one GPU 2^20 items take 8 µs; on four 2^20 each 10 µs, twice as many 30."""
    four = dict(peer_look_ahead=10.0, copy_all=9.0, read_all=4.0, nccl_cub=30.0)
    rows = [
        *test_ranks.on(4, N, **four),
        *test_ranks.on(4, 2 * N, peer_look_ahead=30.0, copy_all=12.0),
        *test_ranks.on(1, N, peer_look_ahead=8.0, copy_all=8.9),
    ]
    data = test_ranks.with_best(test_ranks.timed(*rows), test_ranks.best(35e3, 4 * N))
    bound, by = ("at_most", 0.999) if measure == "ranks_time" else ("at_least", 1.001)
    fields = {"variant": "peer_look_ahead", "type": "i32", "ranks": 4} | cases
    result = standing_of(claim(measure, **fields, **{bound: value * by}), data)
    assert result.measured.value == near(value) and result.verdict == FAILS
    per = f"2^{21 if value == 0.4 else 20} per GPU on 4"
    assert result.where == ("2^22 in all on 4" if "items" in cases else per)
    assert (result.bound and result.bound.allows) == (copies and near(copies))
    for change in ({"ranks": 8}, {"type": "f32"}, {"variant": "another"}):
        entry = claim(measure, **fields | change, **{bound: value})
        assert standing_of(entry, data).verdict == NOT_MEASURED


# ----------------------------------------------------------------------------- devices, output


def test_a_claim_is_checked_on_its_devices_and_another_on_the_first_that_tells() -> None:
    times = ({"best": 100.0, "memcpy": copy} for copy in (95.0, 50.0))
    data = tiny.about(tiny.recorded(tiny.tables(*map(timed, times)), 1), 1, device="B")
    entry = {"over": ["memcpy"], "at_least": 0.9}
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
        "| agrees |",
    ):
        assert sentence in text


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
    ("before", "after", "message"),
    [
        ('figure = "ceiling_share"', "", "figure: is missing"),
        ("variation", "claims", "unknown field"),
        ('"speed"', '"haste"', "measure: invalid enum value 'haste'"),
        ('over = ["memcpy"]', "", "measure 'speed' needs over"),
        ("at_least = 1", "", "has none"),
        ("{type}", "{size}", "'size' is no field"),
        ("at_least = 1", 'at_least = 1\nop = "plu"', "op is 'plu', none of affine, arg_max"),
        ("at_least = 1", "at_least = 1\nranks = 4", "ranks and items_per_rank are for measures"),
        ("each = [{", "each = [3, {", "each is"),
        ('set_by = "012345678"', "", "set_by is missing"),
        ('"speed"', '"traffic"\nitems = [1, 2]', "needs one number of items"),
        ("[[claim]]", "[[claim", "is not TOML"),
        ("[[claim]]", "[[claims]]", "unknown field `claims`"),
        (GOOD, "", "holds no [[claim]]"),
        (GOOD, "device = 3\n" + GOOD, "device: expected str"),
    ],
)
def test_a_fault_is_named_with_its_place(
    tmp_path: Path, capsys, before: str, after: str, message: str
) -> None:
    file = tmp_path / "own.toml"
    file.write_text(GOOD.replace(before, after))
    assert main(["claims", results(tmp_path, 50.0), "--claims", str(file)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: {file}: ") and message in error


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
    assert {result.verdict for result in check(entries, data)} == {HOLDS, FAILS}


def test_the_page_has_the_recorded_verdicts() -> None:
    text = (CLAIMS.parents[1] / "docs" / "CLAIMS.md").read_text(encoding="utf-8")
    part = text[slice(*markers.find(text, "claims"))]
    counts = [sum(entry.kind == kind for entry in stated.read()) for kind in stated.KINDS]
    assert [int(n) for n in re.findall(r"^(\d+) (?:claim|statement|target)s?:", part, re.M)] == [
        counts[0] + 1,
        *counts[1:],
    ]  # a claim is of two devices
    assert "fails" not in part.partition("### Published")[0]
