"""Claims about scans over several GPUs: each is computed from its own cases, and says so where nobody measured them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scanlab_report.claims import stated
from scanlab_report.claims.checked import check
from scanlab_report.claims.standing import MISSING, Standing
from scanlab_report.claims.stated import OF_MODELS, OF_RANKS, OF_SCANS, OF_STREAMS, OURS, Claim, read
from scanlab_report.commands.__main__ import main
from scanlab_report.documents import markers
from scanlab_report.read import results
from tests import fixtures
from tests.fixtures import SESSION
from tests.ranks_fixtures import document, entry, run, times_us, write

N = 2**20


def claim(measure: str, bound: float, variant: str = "peer_look_ahead", at_most: bool = False, **cases: Any) -> Claim:
    limit: dict[str, Any] = {"at_most" if at_most else "at_least": bound}
    return Claim("a claim", OURS, "several_gpus", measure, variant=variant, cases={"type": "i32", "ranks": 4} | cases, **limit)


def standing(folder: Path, of: Claim) -> Standing:
    (found,) = check([of], results.read([folder], []), {})
    return found


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    """On one GPU 2^20 items in 8 µs; on four 2^20 each in 10 µs, beside copies of 9 and reading of 4; twice as many in 30. NCCL and CUB take 30."""
    times = {"peer_look_ahead": 10.0, "reduce_exchange_scan": 20.0, "copy_all": 9.0, "read_all": 4.0, "nccl_cub": 30.0}
    four = [entry(name, 4 * N, 4, us) for name, us in times.items()] + [entry("peer_look_ahead", 8 * N, 4, 30.0), entry("copy_all", 8 * N, 4, 12.0)]
    one = [entry("peer_look_ahead", N, 1, 8.0), entry("copy_all", N, 1, 8.9)]
    best = {"context": fixtures.context(), "benchmarks": [fixtures.repetition(fixtures.case("best", 4 * N, "warm"), i, 35e3) for i in range(6)]}
    return write(tmp_path / "run", {"four": document(four, 4), "one": document(one, 1), "best": best})


@pytest.mark.parametrize(("measure", "cases", "value", "what", "copies"), [
    ("ranks_copies", {"items_per_rank": N}, 0.9, "of copy_all", None),
    ("ranks_copies", {"items_per_rank": [N, 2 * N]}, 0.4, "of copy_all", None),
    ("ranks_weak", {"items_per_rank": N}, 0.8, "of one GPU's speed", 8.9 / 9),
    ("ranks_strong", {"items": 4 * N}, 3.5, "× best on one GPU", 35 / 9),
    ("ranks_vendor", {"items_per_rank": N}, 3.0, "× nccl_cub", 30 / 9),
    ("ranks_bound", {"items_per_rank": N}, 1.3, "of the 3n bound", None),
    ("ranks_time", {"items_per_rank": N}, 10.0, "µs", 9.0),
])  # fmt: skip
def test_a_claim_is_computed_from_its_cases_and_a_copy_is_its_reference(
    measured: Path, measure: str, cases: dict[str, Any], value: float, what: str, copies: float | None
) -> None:
    at_most = measure == "ranks_time"
    for bound, reached in ((value * (1.001 if at_most else 0.999), True), (value * (0.999 if at_most else 1.001), False)):
        found = standing(measured, claim(measure, bound, at_most=at_most, **cases))
        assert found.measured is not None and found.measured.value == pytest.approx(value) and found.reached is reached and found.measure == what
    if copies is None:
        assert found.bound is None
    else:
        assert found.bound is not None and (found.bound.what, found.bound.allows) == ("copy_all", pytest.approx(copies)) and found.bound.enough
    assert found.where == {"items": "2^22 in all on 4"}.get(next(iter(cases)), f"2^{21 if isinstance(cases.get('items_per_rank'), list) else 20} per GPU on 4")


@pytest.mark.parametrize("of", [
    claim("ranks_copies", 0.9, ranks=8, items_per_rank=N), claim("ranks_copies", 0.9, type="f32", items_per_rank=N), claim("ranks_copies", 0.9, op="affine", items_per_rank=N),
    claim("ranks_weak", 0.9, items_per_rank=2 * N), claim("ranks_strong", 3.0, items=8 * N), claim("ranks_vendor", 1.0, items_per_rank=2 * N),
    claim("ranks_bound", 0.9, items_per_rank=2 * N), claim("ranks_time", 9.0, "another", True, items_per_rank=N),
])  # fmt: skip
def test_what_nobody_measured_is_not_in_the_data(measured: Path, of: Claim) -> None:
    found = standing(measured, of)
    assert found.reached is None and found.where == MISSING and not found.provenances


def test_claims_of_four_gpus_are_not_of_eight(tmp_path: Path) -> None:
    write(tmp_path / "x4", {"a": run(4, [N], date="2026-01-01T00:00:00Z")})
    slow = run(4, [N])
    for of in slow["benchmarks"]:
        of["real_time"] *= 2
    write(tmp_path / "x8", {"a": slow, "b": run(8, [N])})
    for ranks, slower in ((4, 1), (8, 1)):
        (found,) = check([claim("ranks_time", 9, at_most=True, ranks=ranks, items_per_rank=N)], results.read([], [tmp_path]), {})
        assert found.measured.value == pytest.approx(slower * times_us(ranks * N, ranks)["peer_look_ahead"])


def test_the_report_has_targets_of_four_and_eight_gpus_and_none_is_among_those_of_papers() -> None:
    ours = [of for of in read() if of.measure in OF_RANKS]
    assert [sum(of.cases["ranks"] == ranks for of in ours) for ranks in (2, 4, 8)] == [12, 12, 3] and all(of.source == OURS for of in ours)
    assert not set(OF_RANKS) & set(OF_SCANS + OF_STREAMS + OF_MODELS) and len(OF_RANKS) == 6


def test_the_page_has_them_under_a_heading_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "CLAIMS.md"
    page.write_text("<!-- claims:begin -->\n<!-- claims:end -->\n")
    assert main(["claims", str(SESSION / "schedules.json.gz"), "--page", str(page)]) in (0, 1)
    text = page.read_text()
    begin, end = markers.find(text, "claims")
    group = text[begin:end].partition("### Several GPUs\n")[2].partition("###")[0]
    assert group.count("\n| peer_look_ahead") == 25 and group.count("\n| reduce_exchange_scan") == 2
    assert group.count("not in the data") == 27, "a session of one GPU alone"


@pytest.mark.parametrize(("change", "said"), [
    ({"cases": {"type": "i32", "items": 8}}, "needs cases of a type and of one number of ranks"), ({"cases": {"ranks": 4}}, "needs cases of a type and"),
    ({"cases": {}}, "needs cases"), ({"variant": ""}, "needs variant"),
])  # fmt: skip
def test_a_claim_that_could_not_be_computed_is_refused(change: dict[str, Any], said: str) -> None:
    sound = {"statement": "s", "source": OURS, "set_by": "012345678", "figure": "several_gpus", "measure": "ranks_copies", "variant": "v", "at_least": 1.0,
             "cases": {"type": "i32", "ranks": 4, "items_per_rank": [1, 2]}}  # fmt: skip
    assert stated._wrong(sound, {"several_gpus"}, {OURS}, ["plus"]) == ""
    assert said in stated._wrong(sound | change, {"several_gpus"}, {OURS}, ["plus"])
