"""claims: what is claimed holds, fails or was not measured, by the bound that the file states."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from scanlab_report import CLAIMS, DATA
from scanlab_report.claims import stated as claims
from scanlab_report.claims.checked import check
from scanlab_report.claims.standing import FAILS, HOLDS, NOT_MEASURED
from scanlab_report.claims.stated import Claim
from scanlab_report.commands.__main__ import main
from scanlab_report.read import results
from scanlab_report.read.published import Publication
from scanlab_report.tables import claims as claims_table
from tests import fixtures, stream_fixtures
from tests.fixtures import case, context, repetition

GOOD = """[[claim]]
statement = "look-back runs at copy speed"
source = "merrill2016"
figure = "ceiling_share"
measure = "speed"
variant = "decoupled_lookback"
over = ["memcpy"]
at_least = 1
variation = 0.1
cases = { type = "i32", items = 268435456 }
"""


def of_speed(**changes: Any) -> Claim:
    return Claim(**({"statement": "s", "source": "merrill2016", "figure": "time", "measure": "speed", "variant": "decoupled_lookback",
                     "over": ["memcpy"], "at_least": 1, "cases": {"type": "i32"}} | changes))  # fmt: skip


def write(folder: Path, times: dict[str, float], items: int = 2**28) -> Path:
    """A run of one case of i32: median times in nanoseconds by variant."""
    entries = [repetition(case(variant, items, launch="stream"), i, time * spread)
               for variant, time in times.items() for i, spread in enumerate((0.99, 0.995, 1, 1.005, 1.01))]  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{items}.json"
    file.write_text(json.dumps({"context": context(), "benchmarks": entries}))
    return file


def verdict(claim: Claim, folder: Path, published: dict[str, Publication] | None = None) -> str:
    (found,) = check([claim], results.read([folder], []), published or {})
    return found.verdict


@pytest.mark.parametrize(("bound", "held", "missed", "wanted"), [
    ({"at_least": 0.95}, 0.95, 0.949, "≥ 0.95"), ({"at_least": 1, "variation": 0.1}, 0.9, 0.89, "≥ 1 − 10%"),
    ({"at_most": 1.4}, 1.4, 1.41, "≤ 1.40"), ({"at_most": 1, "variation": 0.02}, 1.02, 1.03, "≤ 1 + 2%"),
    ({"equals": 3, "variation": 0.05}, 3.15, 3.16, "= 3 ± 5%"), ({"equals": 3, "variation": 0.05}, 2.85, 2.84, "= 3 ± 5%"), ({"at_most": 0}, 0, 1, "0"),
])  # fmt: skip
def test_a_bound_may_be_missed_by_the_variation_and_no_more(bound: dict[str, float], held: float, missed: float, wanted: str) -> None:
    claim = of_speed(**({"at_least": None} | bound))
    assert claim.meets(held) and not claim.meets(missed) and claim.wanted == wanted


@pytest.mark.parametrize(("copy", "says"), [(95.0, HOLDS), (85.0, FAILS)])
def test_a_claim_is_checked_against_any_results(tmp_path: Path, copy: float, says: str) -> None:
    write(tmp_path / "r", {"decoupled_lookback": 100.0, "memcpy": copy})
    assert verdict(of_speed(variation=0.1), tmp_path / "r") == says
    assert verdict(of_speed(variation=0.1, variant="one_wave"), tmp_path / "r") == NOT_MEASURED
    assert verdict(of_speed(variation=0.1, cases={"type": "i64"}), tmp_path / "r") == NOT_MEASURED


def test_of_several_sizes_the_worst_counts_and_only_those_that_the_claim_names(tmp_path: Path) -> None:
    write(tmp_path / "r", {"decoupled_lookback": 100.0, "memcpy": 110.0})
    write(tmp_path / "r", {"decoupled_lookback": 100.0, "memcpy": 50.0}, items=2**20)
    assert verdict(of_speed(), tmp_path / "r") == FAILS
    assert verdict(of_speed(cases={"type": "i32", "least_items": 2**21}), tmp_path / "r") == HOLDS
    assert verdict(of_speed(cases={"type": "i32", "least_mib": 1024}), tmp_path / "r") == HOLDS


def test_cub_as_shipped_is_cub_without_the_shapes_tuned_on_the_device(tmp_path: Path) -> None:
    write(tmp_path / "r", {"best": 100.0, "cub_device_scan": 150.0, "cub_newest": 140.0, "cub_tuned": 110.0, "memcpy": 95.0})
    for over, values in (("cub", {1.09: HOLDS, 1.11: FAILS}), ("cub_as_shipped", {1.39: HOLDS, 1.41: FAILS})):
        for bound, says in values.items():
            assert verdict(of_speed(variant="best", over=over, at_least=bound), tmp_path / "r") == says, (over, bound)


def test_a_value_is_printed_with_the_digits_that_its_verdict_needs(tmp_path: Path) -> None:
    write(tmp_path / "r", {"best": 100.0, "cub_newest": 108.8, "copy_bulk": 99.2})
    (found,) = check([of_speed(source="scanlab", variant="best", over="cub", at_least=1.09)], results.read([tmp_path / "r"], []), {})
    assert found.verdict == FAILS and "| 1.088 [" in claims_table.table([found], "Claims").markdown()
    (found,) = check([of_speed(source="scanlab", variant="best", over="cub", at_least=1.1)], results.read([tmp_path / "r"], []), {})
    assert "| 1.09 [" in claims_table.table([found], "Claims").markdown()
    assert claims_table.reference(found) == "copy_bulk: 1.097"


@pytest.mark.parametrize(("over", "at_least", "said"), [
    ("cub", 1.3, "copy_bulk: 1.22"), ("cub", 1.2, "none: copy_bulk has 1.22"), ("cub_as_shipped", 1.6, "copy_bulk: 1.56"),
    (["memcpy"], 0.97, "none: copy_bulk has 1.06"), (["memcpy"], 1.1, "copy_bulk: 1.06"),
])  # fmt: skip
def test_beside_a_target_of_ours_that_is_missed_stands_what_a_copy_has(tmp_path: Path, over: Any, at_least: float, said: str) -> None:
    write(tmp_path / "r", {"best": 100.0, "cub_newest": 140.0, "cub_tuned": 110.0, "memcpy": 95.0, "copy_bulk": 90.0})
    (found,) = check([of_speed(source="scanlab", variant="best", over=over, at_least=at_least)], results.read([tmp_path / "r"], []), {})
    assert found.verdict == FAILS and claims_table.reference(found) == said


def test_a_claim_that_another_device_tells_of_names_it_and_sources_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The head of the table names the report's."""
    more = GOOD.replace('"memcpy"', '"copy_bulk"').replace("decoupled_lookback", "look_ahead")
    (tmp_path / "claims.toml").write_text(f'device = "A"\n{GOOD}{more}')
    for device, times in (("A", {"decoupled_lookback": 100.0, "memcpy": 95.0}), ("B", {"look_ahead": 100.0, "copy_bulk": 95.0})):
        file = write(tmp_path / "r" / device, times)
        file.write_text(file.read_text().replace("Test Device", device))
    arguments = ["claims", *(str(tmp_path / "r" / device) for device in "AB"), "--claims", str(tmp_path / "claims.toml")]
    assert main(arguments) == 0
    said = capsys.readouterr().out
    rows = [line.split(" | ") for line in said.splitlines() if "copy speed" in line]
    assert [row[3].endswith(", B") for row in rows] == [False, True]
    assert f"Sources: A, B, 2026-01-02, commit {fixtures.COMMIT[:9]}, measured now." in said
    assert main(["claims", arguments[2], *arguments[3:]]) == 0  # the head is of A, though only B was measured
    assert [", B |" in line for line in capsys.readouterr().out.splitlines() if "copy speed" in line] == [False, True]


def test_a_claim_that_holds_by_the_median_alone_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "claims.toml").write_text(GOOD)
    for copy, said in ((90.1, "holds by the median only"), (95.0, "holds"), (89.9, "fails")):  # repetitions within 1%, and 0.9 is wanted
        write(tmp_path / "r", {"decoupled_lookback": 100.0, "memcpy": copy})
        assert main(["claims", str(tmp_path / "r"), "--claims", str(tmp_path / "claims.toml")]) == (said == "fails")
        printed = capsys.readouterr().out
        assert f"| {said} |" in printed
        assert ("of those that hold, 1 by the median and not by every interval" in printed) == ("interval" in said)


def test_a_claim_that_rests_on_too_few_repetitions_for_an_interval_holds_by_the_median_alone(tmp_path: Path) -> None:
    file = write(tmp_path / "r", {"decoupled_lookback": 100.0, "memcpy": 100.0})
    document = json.loads(file.read_text())
    document["benchmarks"] = [one for one in document["benchmarks"] if one["repetition_index"] == 0]
    file.write_text(json.dumps(document))
    (found,) = check([of_speed(variation=0.1)], results.read([tmp_path / "r"], []), {})
    assert found.said == "holds by the median only" and not found.measured.known
    (counted,) = check([of_speed(measure="losses", over="cub", at_least=None, at_most=0, variant="best", cases={})], results.read([], [DATA / "recorded"]), {})
    assert counted.sure and not counted.measured.known  # a count needs no interval


def test_a_claim_is_of_its_device_and_that_of_the_literature_of_any(tmp_path: Path) -> None:
    write(tmp_path / "r", {"decoupled_lookback": 100.0, "memcpy": 95.0})
    assert verdict(of_speed(variation=0.1, on="Test Device"), tmp_path / "r") == HOLDS
    assert verdict(of_speed(variation=0.1, on="Other Device"), tmp_path / "r") == NOT_MEASURED
    other = write(tmp_path / "other", {"decoupled_lookback": 100.0, "memcpy": 50.0})
    other.write_text(other.read_text().replace("Test Device", "Other Device").replace("2026-01-02", "2026-02-03"))
    for first, on, says in (("", "", FAILS), ("Test Device", "", HOLDS), ("Test Device", "Other Device", FAILS), ("", "Test Device", HOLDS)):
        (found,) = check([of_speed(variation=0.1, on=on)], results.read([], [tmp_path], first), {})
        assert found.verdict == says, (first, on)


def test_the_reports_own_claims_are_of_the_device_that_the_file_names(tmp_path: Path) -> None:
    ours = {claim.on for claim in claims.read() if claim.source == claims.OURS and claim.measure not in claims.ON_EVERY_DEVICE}
    assert ours == {claims.device()} != {""} and {claim.on for claim in claims.read() if claim.source != claims.OURS} == {""}
    (tmp_path / "claims.toml").write_text(GOOD)
    assert claims.device(tmp_path / "claims.toml") == ""


@pytest.mark.parametrize(("moved", "says"), [(2.0, HOLDS), (2.09, HOLDS), (3.0, FAILS), (1.0, FAILS)])
def test_traffic_is_what_the_hardware_counted(tmp_path: Path, moved: float, says: str) -> None:
    n = 2**28
    (tmp_path / "dram_bytes.csv").write_text(
        "variant,settings,type,op,mode,items,kernel,launch_index,dram_bytes_read,dram_bytes_written\n"
        f"decoupled_lookback,,i32,plus,inclusive,{n},k,0,{4 * n},{int(4 * n * (moved - 1))}\n")  # fmt: skip
    claim = of_speed(measure="traffic", at_least=None, equals=2, variation=0.05, cases={"type": "i32", "items": n})
    assert verdict(claim, tmp_path) == says


# ----------------------------------------------------------------------------------------------- the file


def test_the_commit_that_a_target_names_has_its_bound() -> None:
    """Of a checkout with its history: the claim may be worded anew since, and the rival be CUB as shipped, which was all of CUB then."""
    said_then: dict[str, list[dict[str, Any]]] = {}

    def bound(of: dict[str, Any]) -> list[Any]:
        over, measure = of.get("over"), of.get("measure")
        measure = {"collection": "tracing", "caveat": "implicit_sync"}.get(measure, measure)  # their names at older commits
        return [measure, *(of.get(name) for name in ("variant", "cases", "at_least", "at_most", "equals", "variation", "workload", "least_gib")), "cub" if over == "cub_as_shipped" else over]

    for entry in tomllib.loads(CLAIMS.read_text())["claim"]:
        if entry["source"] != claims.OURS:
            continue
        commit = entry["set_by"]
        if commit not in said_then:
            shown = subprocess.run(["git", "show", f"{commit}:paper/claims.toml"], cwd=CLAIMS.parent, capture_output=True, text=True)
            if shown.returncode:
                pytest.skip("no history here, or not all of it")
            said_then[commit] = [bound(of) for of in tomllib.loads(shown.stdout)["claim"]]
        assert bound(entry) in said_then[commit], entry["statement"]


def test_every_source_is_in_the_bibliography() -> None:
    known = set(re.findall(r"^@\w+{(\w+),", "".join(file.read_text() for file in claims.REFERENCES), re.MULTILINE))
    assert len(known) > 10 and {claim.source for claim in claims.read()} <= known | {claims.OURS}


@pytest.mark.parametrize(("before", "after", "said"), [
    ('figure = "ceiling_share"', "", "figure: is missing"),
    ('figure = "ceiling_share"', 'figure = "celing"', "figure: 'celing' is no figure or table"),
    ("statement", "claims", "unknown field"),
    ('"speed"', '"haste"', "measure: invalid enum value 'haste'"),
    ('over = ["memcpy"]', "", "measure 'speed' needs over"),
    ("at_least = 1", "", "needs one of at_least, at_most, equals, and has none"),
    ("at_least = 1", "at_least = 1\nat_most = 2", "has at_least and at_most"),
    ("at_least = 1", 'at_least = "much"', "at_least: expected float"),
    ("at_least = 1", "at_least = nan", "at_least: expected float"), ("at_least = 1", "at_most = inf", "at_most: expected float"),
    ("at_least = 1", "at_least = 1\nleast_gib = nan", "least_gib: expected float"),
    ('source = "merrill2016"', 'source = "nosuch2"', "source: 'nosuch2' is neither 'scanlab' nor a key of references.bib"),
    ('"i32"', '"i33"', "cases.type: invalid enum value 'i33'"), ('"i32"', '["i32"]', "cases.type: expected str"),
    ("items = ", 'op = "plu", items = ', "cases: op is 'plu', none of affine, arg_max"), ("items = ", 'cache = "tepid", items = ', "cases.cache: invalid enum value 'tepid'"),
    ("items = ", 'mode = "both", items = ', "cases.mode: invalid enum value 'both'"), ("items = ", 'launch = "twice", items = ', "cases.launch: invalid enum value 'twice'"),
    ("items = ", "ranks = 'four', items = ", "cases.ranks: expected int"), ("items = ", "items_per_rank = [1, -1], items = ", "cases.items_per_rank[1]: expected int"),
    ("items = ", "ranks = 4, items = ", "cases: ranks: of several GPUs, which measure 'speed' knows nothing of"),
    ("items = ", "items_per_rank = [4], ranks = 4, items = ", "cases: ranks and items_per_rank: of several GPUs"),
    ("items = ", "powers = 1, items = ", "cases.powers: expected bool"), ("items = 268435456", "items = [1, nan]", "cases.items[1]: expected int"),
    ('over = ["memcpy"]', "over = 3", "over: expected"), ('"decoupled_lookback"', "3", "variant: expected str"),
    ('measure = "speed"', 'measure = "order"\ndevice = 3', "device: expected str"),
    ("items = 268435456", 'items = "all"', "cases.items: expected int"), ("items = ", "least_mib = -1, items = ", "cases.least_mib: expected int"),
    ("variation = 0.1", "variation = 10", "variation: expected float"), ("variation = 0.1", "variation = nan", "variation: expected float"),
    ("items =", "size =", "cases: Object contains unknown field"),
    ('"speed"', '"implicit_sync"', "measure 'implicit_sync' needs answer and experiments"),
    ('"speed"', '"implicit_sync"\nexperiments = "kernel_launch"\nanswer = "no"', "experiments: expected array"),
    ('"speed"', '"implicit_sync"\nexperiments = ["kernel_launch"]\nanswer = "maybe"', "answer: invalid enum value 'maybe'"),
    ("[[claim]]", "[[claim", "is not TOML"), (GOOD, "", "holds no [[claim]]"),
])  # fmt: skip
def test_a_file_that_cannot_be_used_is_named_with_the_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], before: str, after: str, said: str
) -> None:
    run, file = write(tmp_path / "r", {"memcpy": 1.0}), tmp_path / "claims.toml"
    file.write_text(GOOD + "\n" + GOOD.replace(before, after) if before not in (GOOD, "[[claim]]") else GOOD.replace(before, after))
    assert main(["claims", str(run), "--claims", str(file)]) == 2
    error = capsys.readouterr().err
    assert f"{file}: " in error and said in error
    assert "claim 2" in error or before in (GOOD, "[[claim]]")


def test_traffic_is_of_one_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, file = write(tmp_path / "r", {"memcpy": 1.0}), tmp_path / "claims.toml"
    file.write_text(GOOD.replace('"speed"', '"traffic"').replace(", items = 268435456", ""))
    assert main(["claims", str(run), "--claims", str(file)]) == 2
    assert "measure 'traffic' needs cases of one number of items" in capsys.readouterr().err


def test_status_and_table_say_what_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, page = tmp_path / "claims.toml", tmp_path / "README.md"
    file.write_text(GOOD)
    page.write_text("before\n<!-- claims:begin -->\n<!-- claims:end -->\nafter\n")
    slow, quick, other = (str(write(tmp_path / name, times)) for name, times in (
        ("slow", {"decoupled_lookback": 100.0, "memcpy": 50.0}), ("quick", {"decoupled_lookback": 100.0, "memcpy": 97.0}), ("other", {"memcpy": 97.0})))  # fmt: skip
    assert main(["claims", other, "--claims", str(file), "--page", str(page)]) == 0
    assert "1 claim: 1 not measured." in capsys.readouterr().out and "begin -->\n<!--" in page.read_text()
    assert main(["claims", quick, "--claims", str(file)]) == 0
    assert main(["claims", slow, "--claims", str(file), "--page", str(page)]) == 1
    text = page.read_text()
    assert "| look-back runs at copy speed | ≥ 1 − 10% of memcpy | 0.500 [" in text and "| fails | merrill2016 | `ceiling_share` |" in text
    assert "Test Device, 2026-01-02, commit 012345678" in text and text.startswith("before\n") and text.endswith("after\n")


def test_a_claim_that_fails_in_one_of_two_runs_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "claims.toml").write_text(GOOD.replace("items = 268435456", "items = [268435456, 536870912]"))
    write(tmp_path / "1", {"decoupled_lookback": 100.0, "memcpy": 97.0})
    write(tmp_path / "2", {"decoupled_lookback": 100.0, "memcpy": 80.0}, items=2**29)
    assert main(["claims", str(tmp_path / "1"), str(tmp_path / "2"), "--claims", str(tmp_path / "claims.toml")]) == 1
    assert "| fails in 1 of 2 files |" in capsys.readouterr().out


def test_bad_results_and_a_page_without_markers_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "README.md"
    page.write_text("no markers")
    good = str(write(tmp_path / "r", {"memcpy": 1.0}))
    (tmp_path / "cut.json").write_text("{")
    assert main(["claims", good, "--page", str(page)]) == 2 and "<!-- claims:begin --> is missing" in capsys.readouterr().err
    assert main(["claims", str(tmp_path / "cut.json")]) == 2 and "cut.json: line 1" in capsys.readouterr().err
    assert main(["claims", str(tmp_path / "nowhere")]) == 2 and page.read_text() == "no markers"


def of_model(measure: str, **bound: float) -> Claim:
    return Claim(statement="s", source="scanlab", figure="model_residuals", measure=measure, **bound)


@pytest.mark.parametrize(("extra", "says"), [(0, HOLDS), (1, FAILS)])
def test_counts_that_differ_from_the_hardwares_fail_the_claim(tmp_path: Path, extra: int, says: str) -> None:
    claim = of_model("counts", at_most=0)
    assert verdict(claim, tmp_path) == NOT_MEASURED
    (found,) = check([claim], results.read([], [fixtures.write_all(tmp_path, rounds=2, top=10, extra=extra)]), {})
    assert found.verdict == says and found.measured.value == (0 if not extra else int(found.where.removeprefix("of ")))


def of_implicit_sync(*experiments: str, answer: str) -> Claim:
    return Claim(statement="s", source="harris2015", figure="implicit_sync_calls", measure="implicit_sync", experiments=experiments, answer=answer, at_least=0.75)


@pytest.mark.parametrize(("yes", "parts", "parts_none"), [(15, HOLDS, FAILS), (12, HOLDS, FAILS), (11, FAILS, FAILS), (4, FAILS, FAILS), (3, FAILS, HOLDS)])
def test_a_claim_on_a_call_is_decided_by_the_trials(tmp_path: Path, yes: int, parts: str, parts_none: str) -> None:
    document = stream_fixtures.implicit_sync()
    document["experiments"][1]["yes"] = yes
    (tmp_path / "implicit_sync.json").write_text(json.dumps(document))
    name = document["experiments"][1]["name"]
    for answer, says in (("yes", parts), ("no", parts_none)):
        assert verdict(of_implicit_sync(name, answer=answer), tmp_path) == says
    assert verdict(of_implicit_sync(name, "kernel_launch", answer="no"), tmp_path) == parts_none  # the worse of two
    assert verdict(of_implicit_sync(name, "peer_copy.streams", answer="no"), tmp_path) == NOT_MEASURED  # it was not tried
    assert verdict(of_implicit_sync(name, "no_such_call", answer="no"), tmp_path) == NOT_MEASURED


def test_the_experiments_that_claims_name_are_on_record() -> None:
    """A name that no experiment has would leave its claim unmeasured for ever."""
    of_calls = [claim for claim in claims.read() if claim.measure == "implicit_sync"]
    checked = check(of_calls, results.read([], sorted((DATA / "recorded").glob("*/*/implicit_sync.json*"))), {})
    assert len(checked) >= 4 and {one.verdict for one in checked} == {HOLDS, FAILS}
