"""claims: a value is computed from the cases that the claim is about, and its bound decides."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scanlab_report import CLAIMS, DATA, markers, opened
from scanlab_report.chapters.claims import FAILS, HOLDS, NOT_MEASURED, Standing, check, claims_table
from scanlab_report.claims import stated
from scanlab_report.claims.stated import Claim
from scanlab_report.data import Data
from tests import fixtures, tiny
from tests.tiny import EXACT, LEAST, MOST, case, ends, near

N = 1 << 20


def claim(measure: str, **fields: Any) -> Claim:
    usual = {"kind": stated.CLAIM, "statement": "all cases", "figure": "time"}
    bound = {} if {"at_least", "at_most", "equals"} & set(fields) else {"at_least": 1.0}
    return Claim(measure=measure, **usual | bound | fields)


def speed(over: Any = "cub", **fields: Any) -> Claim:
    return claim("speed", **{"variant": "best", "over": over, "type": "i32"} | fields)


def timed(times: dict[str, float], items: int = N, spread: Any = EXACT, **named: Any) -> list:
    return [case(variant, items, ns, spread, **named) for variant, ns in times.items()]


def standing_of(entry: Claim, data: Data) -> Standing:
    (result,) = check([entry], data)
    return result


@pytest.mark.parametrize(
    ("bound", "held", "missed", "wanted"),
    [
        ({"at_least": 0.95}, 0.95, 0.949, "≥ 0.95"),
        ({"at_least": 1, "variation": 0.1}, 0.9, 0.89, "≥ 1 − 10%"),
        ({"at_most": 1, "variation": 0.02}, 1.02, 1.03, "≤ 1 + 2%"),
        ({"equals": 3, "variation": 0.05}, 2.85, 3.16, "= 3 ± 5%"),
        ({"at_most": 0}, 0, 1, "0"),
        ({"at_most": 1}, 1, float("nan"), "≤ 1"),
    ],
)
def test_a_bound_may_be_missed_by_the_variation_and_no_more(bound, held, missed, wanted) -> None:
    entry = claim("losses", **bound)
    assert entry.meets(held) and not entry.meets(missed) and entry.wanted == wanted


def test_the_worst_of_the_cases_that_a_claim_names_counts() -> None:
    data = tiny.tables(
        timed({"best": 100.0, "memcpy": 110.0}, 1 << 28) + timed({"best": 100.0, "memcpy": 50.0})
    )
    for fields, verdict, where in (
        ({}, FAILS, "2^20"),
        ({"least_mib": 1024}, HOLDS, "2^28"),
        ({"cache": "warm"}, NOT_MEASURED, "not in the data"),
        ({"variant": "one_wave"}, NOT_MEASURED, "not in the data"),
    ):
        result = standing_of(speed(["memcpy"], **fields), data)
        assert (result.verdict, result.where) == (verdict, where)


def test_a_ratio_has_an_interval_and_may_hold_by_the_median_only() -> None:
    data = tiny.tables([case("best", N, 125.0), case("memcpy", N, 100.0, EXACT)])
    result = standing_of(speed(["memcpy"], at_least=0.79), data)
    assert ends(result.measured) == near((0.8, 0.8 / MOST, 0.8 / LEAST))
    few = tiny.tables(timed({"best": 100.0, "memcpy": 100.0}, spread=(1.0,)))
    for unsure in (result, standing_of(speed(["memcpy"]), few)):
        assert unsure.qualified == "holds by the median only"


def test_a_claim_that_one_of_two_files_misses_fails() -> None:
    data = tiny.tables(
        timed({"best": 100.0, "cub_device_scan": 130.0}),
        timed({"best": 100.0, "cub_device_scan": 120.0}, 2 * N),
    )
    result = standing_of(speed(at_least=1.25), data)
    assert (result.qualified, result.where) == ("fails in 1 of 2 files", "2^21")


def losses(*ours: float, spread: Any = EXACT) -> Data:
    rows = []
    for place, ns in enumerate(ours):
        rows += timed({"best": ns, "cub_device_scan": 100.0}, 1024 << place, spread)
    return tiny.tables(rows)


LOSSES = claim("losses", at_most=0)
NONE = (NOT_MEASURED, None, "not in the data")


@pytest.mark.parametrize(
    ("entry", "data", "stands"),
    [
        (LOSSES, losses(90.0, 110.0, 125.0, 100.0), (FAILS, 2, "i32 plus, 4096")),
        (LOSSES, losses(500.0, spread=(1.0,) * 3), NONE),  # too few for an interval
    ],
)
def test_a_measure_has_its_verdict_its_value_and_its_place(entry, data, stands) -> None:
    """The page has the recorded verdicts of the other measures."""
    result = standing_of(entry, data)
    value = result.measured and near(result.measured.value)
    assert (result.verdict, value, result.where) == stands


def test_a_claim_is_checked_on_its_devices_and_another_on_the_first_that_tells() -> None:
    times = ({"best": 100.0, "memcpy": copy} for copy in (95.0, 50.0))
    data = tiny.about(tiny.recorded(tiny.tables(*map(timed, times)), 1), 1, device="B")
    entry = {"over": ["memcpy"], "at_least": 0.9}
    values = lambda **more: [(s.verdict, s.where) for s in check([speed(**entry, **more)], data)]
    assert values() == values(on=["Test Device"]) == [(HOLDS, "2^20")]
    assert values(on=["Test Device", "B"]) == [(HOLDS, "2^20"), (FAILS, "2^20, B")]
    assert values(on=["Other"]) == [(NOT_MEASURED, "not in the data")]


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


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The only file of claims."""
    (tmp_path / "claims").mkdir()
    monkeypatch.setattr(stated, "CLAIMS", tmp_path / "claims")
    stated.read.cache_clear()
    yield tmp_path / "claims" / "own.toml"
    stated.read.cache_clear()


def results(folder: Path, copy: float) -> str:
    rows = [
        fixtures.repetition(fixtures.case(variant, N, launch="stream"), place, ns)
        for variant, ns in (("best", 100.0), ("memcpy", copy))
        for place in range(6)
    ]
    file = folder / f"{copy}.json"
    file.write_text(json.dumps({"context": fixtures.context(), "benchmarks": rows}))
    return str(file)


@pytest.mark.parametrize(
    ("kind", "copy", "status"),
    [("claim", 50.0, 1), ("claim", 95.0, 0), ("published", 50.0, 0), ("target", 50.0, 0)],
)
def test_the_status_is_1_only_if_a_claim_fails_and_the_page_has_the_tables(
    own, tmp_path, said, kind, copy, status
) -> None:
    own.write_text(GOOD.replace("[[claim]]", f"[[{kind}]]"))
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- claims:begin -->\n<!-- claims:end -->\nafter\n")
    printed = said("claims", results(tmp_path, copy), "--page", page, status=status)
    made = page.read_text()
    row = f"| look-back, i32 | ≥ 1 − 10% of memcpy | {copy / 100:.3f} ["
    assert row in made and row in printed and "Sources: Test Device" in printed
    assert made.startswith("before\n") and made.endswith("after\n")


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('measure = "speed"', "", "measure: is missing"),
        ('"speed"', '"haste"', "measure: invalid enum value 'haste'"),
        ("at_least = 1", "", "needs one of at_least, at_most, equals"),
        ("{type}", "{size}", "'size'"),
    ],
)
def test_a_fault_is_named_with_its_place(own, tmp_path, said, before, after, message) -> None:
    own.write_text(GOOD.replace(before, after))
    error = said("claims", results(tmp_path, 50.0), status=2)
    assert error.startswith(f"error: {own}: ") and message in error


def test_entries_name_a_figure_a_reference_and_the_commit_that_set_the_bound() -> None:
    shown = opened.registered("figure").keys() | opened.registered("table").keys()
    bibliographies = sorted(CLAIMS.parent.glob("*/references.bib"))
    keys = re.findall(r"^@\w+{\s*([^\s,]+)", "".join(f.read_text() for f in bibliographies), re.M)
    for entry in stated.read():
        assert entry.figure in {"", *shown}, entry.statement
        assert entry.set_by if entry.ours else entry.source in keys, entry.statement


def test_the_page_has_the_recorded_values_and_verdicts(all_recorded, said, monkeypatch) -> None:
    """Except of the rows that need simulations."""
    rows = lambda text: [
        line for line in text.splitlines() if line[:2] == "| " and "engine model" not in line
    ]
    text = (CLAIMS.parents[1] / "docs" / "CLAIMS.md").read_text(encoding="utf-8")
    page = rows(text[slice(*markers.find(text, "claims"))])
    monkeypatch.setattr(opened, "opened", lambda *_: all_recorded)
    assert rows(said("claims", DATA / "recorded")) == page and len(page) > 100


def test_a_value_is_printed_with_the_digits_that_its_verdict_needs() -> None:
    data = tiny.tables(timed({"best": 100.0, "cub_newest": 108.8}))
    for at_least, printed in ((1.09, "1.088 [1.088, 1.088]"), (1.1, "1.09 [1.09, 1.09]")):
        table = claims_table([standing_of(speed(at_least=at_least), data)], "")
        assert tiny.cells(table)["measured"] == printed
