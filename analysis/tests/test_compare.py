"""Tests of compare: it finds differences, finds none between two runs of one code, and reports
undecided cases."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from scanlab_report import comparison, comparison_page, comparison_sides, noise
from scanlab_report.commands.__main__ import main
from scanlab_report.data import File
from scanlab_report.intervals import mann_whitney_p
from scanlab_report.tables import CASE, MEASURED
from tests import fixtures, stream_fixtures, tiny
from tests.fixtures import SESSION, case, context, repetition

RUN = File(Path("run.json"), MEASURED, context(), tiny.ABOUT)
UNTIMED = pd.DataFrame(columns=[*CASE, "name", "reason", "why", "failed"])
SIZES = tuple(2**k for k in range(10, 20))


def side(samples: list[np.ndarray], launches: Any = 1, **named: Any) -> comparison_sides.Side:
    """A run with these samples, each of a case of its own unless columns are named."""
    columns = dict.fromkeys(CASE, "x") | {"items": range(len(samples))} | named
    cases = pd.DataFrame(columns).assign(
        samples=pd.Series(samples, dtype=object),
        launches=launches,
        on="device",
        count=[len(values) for values in samples],
        median_ns=[np.median(values) for values in samples],
        mean_ns=np.nan,
        stdev_ns=np.nan,
        sampled=True,
        column="cold stream",
    )
    return comparison_sides.Side(RUN, "scans", CASE, CASE, cases, UNTIMED)


def spread(seed: int, cases: int, rounds: int = 11, sigma: float = 0.02) -> np.ndarray:
    return np.random.default_rng(seed).lognormal(0, sigma, (cases, rounds))


def judged(factor: float, threshold: float, rounds: int = 11) -> comparison.Comparison:
    """Twenty cases of a variant that takes so many times longer in B."""
    a, b = (list(by * spread(seed, 20, rounds)) for seed, by in ((1, 1e5), (2, factor * 1e5)))
    return comparison.judged(comparison.paired(side(a), side(b)), threshold)


def write(file: Path, times: dict[str, float], seed: int = 1, **about: Any) -> str:
    """Write a results file with 2% noise; `times`: median nanoseconds by variant, equal at all
    sizes."""
    cases = [(variant, n) for variant in times for n in SIZES]
    entries = [
        repetition(case(variant, n, launch="stream"), index, times[variant] * float(factor))
        for (variant, n), factors in zip(cases, spread(seed, len(cases)), strict=True)
        for index, factor in enumerate(factors)
    ]
    known = fixtures.variants()
    described = known | {id_: fixtures.variant(id_) for id_ in times if id_ not in known}
    about = context(**{"variants": described} | about)
    file.write_text(json.dumps({"context": about, "benchmarks": entries}))
    return str(file)


def compare(tmp_path: Path, *words: str) -> tuple[int, pd.DataFrame, str]:
    """The status, the CSV and the page of comparing a.json with b.json."""
    files = (str(tmp_path / name) for name in ("a.json", "b.json"))
    status = main(["compare", *files, *words, "--out", str(tmp_path / "out")])
    page = (tmp_path / "out" / "compare.md").read_text()
    return status, pd.read_csv(tmp_path / "out" / "compare.csv"), page


def change(file: Path, **fields: Any) -> None:
    """Change the entries of one case."""
    document = json.loads(file.read_text())
    for entry in document["benchmarks"]:
        if (entry["variant"], entry["items"]) == ("best", SIZES[3]):
            entry |= fields
    file.write_text(json.dumps(document))


# --------------------------------------------------------------------------------------- verdicts


def test_slower_is_status_1_and_each_case_is_named(tmp_path: Path) -> None:
    write(tmp_path / "a.json", {"best": 1e5, "memcpy": 1e5, "gone": 1e5})
    write(tmp_path / "b.json", {"best": 1.2e5, "memcpy": 1e5, "new": 1e5}, seed=2)
    status, cases, page = compare(tmp_path, "--threshold", "0.03")
    verdicts = cases.groupby("variant")["verdict"].agg(set).to_dict()
    assert status == 1 and verdicts == {
        "best": {"slower"},
        "memcpy": {"neither"},
        "gone": {"only in A"},
        "new": {"only in B"},
    }
    assert page.count("| slower | `best` | 2^") == 10 and "20 cases in both" in page
    name = "i32 plus inclusive cold stream: 10 sizes, 2^10 to 2^19"
    assert f"## Only in A\n\n- gone {name}\n\n## Only in B\n\n- new {name}\n" in page
    assert (tmp_path / "out" / "compare.pdf").read_bytes().startswith(b"%PDF")
    files = [str(tmp_path / name) for name in ("b.json", "a.json")]
    assert main(["compare", *files, "--threshold", "0.03"]) == 0  # faster


def test_cases_of_schedules_are_listed_by_what_they_have() -> None:
    columns = ["entry", "items", "bytes", "chunks", "memory", "id"]
    rows = [
        ("copy", 0, 1 << 20, 0, "pinned", "h2d"),
        ("copy", 0, 1 << 26, 0, "pinned", "h2d"),
        ("schedule", 1 << 20, 0, 4, "pinned", "graph"),
    ]
    assert comparison_page.listed(pd.DataFrame(rows, columns=columns), columns) == [
        "- copy pinned h2d: 2 sizes, 1,048,576 bytes to 67,108,864 bytes",
        "- schedule chunks 4 pinned graph: 2^20",
    ]


def test_a_difference_counts_if_its_whole_interval_is_beyond_the_threshold() -> None:
    assert set(judged(1.2, 0.1).cases["verdict"]) == {"slower"}
    assert set(judged(0.8, 0.1).cases["verdict"]) == {"faster"}
    within = judged(1.06, 0.1).cases
    assert set(within["verdict"]) == {"neither"} and (within["p_corrected"] < 0.05).any()
    undecided = judged(1.06, 0.05).cases.query("ratio > 1.05 and low < 1.05")
    assert len(undecided) and set(undecided["verdict"]) == {"neither"}


def test_what_too_few_repetitions_cannot_show_is_said() -> None:
    few = judged(2.0, 0.03, rounds=4)
    assert set(few.cases["verdict"]) == {"too few"}
    assert "too few for any verdict (the fewest: 4)" in " ".join(comparison_page.summary(few))
    five = judged(2.0, 0.03, rounds=5)
    assert set(five.cases["verdict"]) == {"slower"}  # 20 × 2/252; 4 × 0.05 > 20 × 2/252
    alone = "its corrected p is 0.16 at best): 4 cases must differ at once"
    assert alone in " ".join(comparison_page.summary(five))


def test_with_ties_the_p_is_never_smaller_than_that_of_all_permutations() -> None:
    draw = np.random.default_rng(0)
    chosen = [list(places) for places in itertools.combinations(range(10), 5)]
    for _ in range(30):
        shift = float(draw.integers(0, 4))
        a, b = draw.integers(1, 6, 5).astype(float), draw.integers(1, 6, 5) + shift
        ranks = stats.rankdata(np.concatenate([a, b]))
        off = np.array([abs(ranks[places].sum() - 27.5) for places in chosen])
        exact = np.mean(off >= off[0])
        # where nobody would call it a difference, it need not be exact
        assert mann_whitney_p(a, b) >= exact - 1e-9 or exact > 0.2


def test_hundreds_of_repetitions_are_told_apart_at_once() -> None:
    draw = np.random.default_rng(0)
    before, after = draw.normal(1.0, 0.1, (50, 400)), draw.normal(1.02, 0.1, (50, 400))
    begun = time.process_time()
    assert mann_whitney_p(before, after).shape == (50,) and time.process_time() - begun < 5
    before, after = before[:, :101], after[:, :101]
    exact = stats.mannwhitneyu(before, after, axis=-1, method="exact").pvalue
    assert mann_whitney_p(before, after) == pytest.approx(exact, rel=0.1)


@pytest.mark.parametrize("repetitions", [50, 101])
def test_a_coarse_clock_hides_no_slowdown(repetitions: int) -> None:
    draw = np.random.default_rng(0)
    shares = ([0.75, 0.25], [0.25, 0.75])
    before, after = (draw.choice([5.12, 6.144], (20, repetitions), p=p) for p in shares)
    assert (mann_whitney_p(before, after) < 0.01).all()


def test_the_correction_is_that_of_benjamini_and_hochberg() -> None:
    before = [np.arange(1.0, 6.0)] * 3
    after = [np.arange(11.0, 16.0), np.arange(2.5, 7.0), np.arange(1.25, 6.0)]
    cases = comparison.paired(side(before), side(after)).cases
    first, second, third = cases["p"]
    assert first < second < third
    assert cases["p_corrected"].tolist() == pytest.approx([3 * first, 3 / 2 * second, third])


def test_few_pairs_of_runs_that_differ_by_chance_show_anything() -> None:
    """The chance of any false verdict is the level, 5%, even with a threshold of nothing."""
    runs = [side(list(spread(seed, 40, 8, 0.05))) for seed in range(100)]
    pairs = (comparison.paired(a, b) for a, b in zip(runs[::2], runs[1::2], strict=True))
    false = sum(bool(len(comparison.judged(p, 0.0).with_verdict("slower"))) for p in pairs)
    assert false <= 7  # 5% of 50, with room for chance


FAILED = {"outcome": "failed", "error_occurred": True, "real_time": 0, "iterations": 0}


def test_what_became_wrong_in_b_is_said_and_has_a_status(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(tmp_path / f"{name}.json", {"best": 1e5})
    change(tmp_path / "b.json", error_message="item <3> is 5", **FAILED)
    status, _, page = compare(tmp_path, "--threshold", "0.03")
    assert status == 1 and "**Wrong in B**: 1 case" in page and r"item \<3> is 5" in page
    assert "9 neither" in page
    for name in ("a", "b"):  # the only case
        document = json.loads((tmp_path / f"{name}.json").read_text())
        kept = [entry for entry in document["benchmarks"] if entry["items"] == SIZES[3]]
        (tmp_path / f"{name}.json").write_text(json.dumps(document | {"benchmarks": kept}))
    status, _, page = compare(tmp_path)
    assert status == 1 and "**Wrong in B**: 1 case" in page


# ------------------------------------------------------------------------------------------ noise


def noise_of(tmp_path: Path, a: str, b: str) -> dict[str, Any]:
    """The pair that two files add to an empty record."""
    file = tmp_path / "noise" / "test.json"
    assert main(["compare", a, b, "--record-noise", str(file)]) == 0
    (pair,) = json.loads(file.read_text())["pairs"]
    return pair


@pytest.mark.parametrize(("file", "cases"), [("i64_f16_f32_f64", 209), ("i16", 35), ("i32", 718)])
def test_two_recorded_runs_of_one_commit_show_nothing_by_the_noise_of_others(
    file: str, cases: int
) -> None:
    files = ([SESSION / "scan.json.gz"], [SESSION / f"head_to_head_{file}.json.gz"])
    pairs = comparison.paired(*comparison_sides.sides(*files))
    alone = pairs._replace(cases=pairs.cases.assign(unchanged=False))  # which would excuse itself
    (known,) = noise.read([pairs.a.device])
    known = [pair for pair in known if SESSION.name not in pair["a"]["file"]]
    judged = comparison.judged(alone, noise.thresholds(known, pairs.kind, pairs.both)).both
    assert judged["verdict"].tolist() == ["neither"] * cases
    if file == "i32":
        without = comparison.judged(alone, 0.0).with_verdict("slower", "faster")
        assert len(without) > 20  # which the threshold is for


def test_the_threshold_is_what_two_runs_of_one_commit_differ_by(tmp_path: Path) -> None:
    times = {"best": 2e5, "memcpy": 1e3, "copy_vector": 1e3, "cpu_parallel": 2e5}
    later = {"best": 2.4e5, "memcpy": 1.5e3, "copy_vector": 1.5e3, "cpu_parallel": 3e5}
    times |= {"look_ahead": 2e5}
    later |= {"look_ahead": 2.4e5}
    a = write(tmp_path / "a.json", times)
    b = write(tmp_path / "b.json", later, seed=2, date="2026-01-03")
    assert noise_of(tmp_path, a, b) == noise_of(tmp_path, a, b)  # the same pair: no second entry
    (known,) = noise.read(["Test Device"], tmp_path / "noise")
    at = {"on": ["device"] * 3 + ["host"], "time_us": [200.0, 1.0, 50.0, 200.0]}
    long, short, between, host = noise.thresholds(known, "scans", pd.DataFrame(at))
    assert 0.17 < long < 0.25 and 0.45 < short == between < 0.6
    assert np.isnan(host)  # ten cases are too few; no host is guessed
    judged = comparison.paired(*comparison_sides.sides([Path(a)], [Path(b)]))
    judged = comparison.judged(judged, noise.thresholds(known, "scans", judged.both))
    assert set(judged.both.query("on == 'host'")["verdict"]) == {"no threshold"}
    said = " ".join(comparison_page.summary(judged))
    assert "Of 10 cases on the host no noise is on record: they have no threshold" in said


def test_noise_of_two_commits_is_of_the_vendors_code_alone(tmp_path: Path) -> None:
    a = write(tmp_path / "a.json", {"best": 1e5, "memcpy": 1e5})
    b = {"best": 3e5, "memcpy": 1e5}
    about = {"date": "2026-01-03", "git_commit": "f" * 40}
    pair = noise_of(tmp_path, a, write(tmp_path / "b.json", b, seed=2, **about))
    assert pair["of"] == "vendor" and pair["thresholds"][0]["threshold"] < 0.1


@pytest.mark.parametrize(
    ("about", "reason"),
    [
        ({"device": "Other"}, "are not of one device, driver, toolkit and CCCL"),
        ({"toolkit": "9"}, "are not of one device"),
        ({}, "they are one run"),
    ],
)
def test_what_is_no_pair_of_runs_of_one_code_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], about: dict[str, str], reason: str
) -> None:
    a, b = (
        write(tmp_path / f"{n}.json", {"best": 1e5}, **of) for n, of in (("a", {}), ("b", about))
    )
    assert main(["compare", a, b, "--record-noise", str(tmp_path / "noise.json")]) == 2
    assert reason in capsys.readouterr().err and not (tmp_path / "noise.json").exists()


def test_without_noise_on_record_the_default_is_taken_and_said(tmp_path: Path) -> None:
    write(tmp_path / "a.json", {"best": 1e5, "slow": 1e5})
    write(tmp_path / "b.json", {"best": 1.08e5, "slow": 1.2e5}, seed=2)
    status, _, page = compare(tmp_path)
    assert status == 1 and "10 slower, 10 neither" in page
    assert "The threshold is 10%, a default or more, since too few cases" in page
    status, _, page = compare(tmp_path, "--threshold", "0.3")
    assert status == 0 and "The threshold is 30%, as given." in page


def schedules(file: Path, day: int, by: float, slower: float = 1.0, **about: Any) -> str:
    """A run of schedules and their parts, each off by so much one way or the other; breadth_first
    slower by a factor."""
    draw, document = np.random.default_rng(day), stream_fixtures.schedules()
    document["context"] |= {"date": f"2026-01-0{day}T03:04:05Z"} | about
    off: dict[str, float] = {}
    for entry in document["benchmarks"]:
        factor = slower if "schedule:breadth_first/" in entry["name"] else 1.0
        factor *= off.setdefault(entry["name"], 1 + by * draw.choice((-1, 1)))
        entry["real_time"] *= factor * float(draw.lognormal(0, 0.005))
    file.write_text(json.dumps(document))
    return str(file)


def test_schedules_have_noise_and_verdicts_like_scans(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = (schedules(tmp_path / f"{day}.json", day, 0.04) for day in (1, 2))
    after = schedules(tmp_path / "3.json", 3, 0.03, 1.3, git_commit="f" * 40)
    # No commit's schedules are the vendor's.
    assert main(["compare", a, after, "--record-noise", str(tmp_path / "noise.json")]) == 2
    pair = noise_of(tmp_path, a, b)
    assert (pair["kind"], pair["of"]) == ("schedules", "all")
    (row,) = (row for row in pair["thresholds"] if row["time"] == "100 µs and more")
    assert row["on"] == "device" and 0.08 < row["threshold"] < 0.11  # 1.04 / 0.96
    monkeypatch.setattr(noise.read, "__defaults__", (tmp_path / "noise",))
    capsys.readouterr()
    assert main(["compare", a, b]) == 0
    assert "as far as runs of one code on record lie apart" in capsys.readouterr().out
    assert main(["compare", a, after, "--out", str(tmp_path / "out")]) == 1
    verdicts = pd.read_csv(tmp_path / "out" / "compare.csv")
    assert set(verdicts.loc[verdicts["verdict"] == "slower", "id"]) == {"breadth_first"}
    assert "three_streams_unordered" not in set(verdicts["id"])  # wrong on purpose
    assert main(["compare", a, write(tmp_path / "a.json", {"best": 1e5})]) == 2


@pytest.mark.parametrize("name", ["stream_scan_memory_1024MiB", "stream_scan_file_mapping_1024MiB"])
def test_a_file_is_the_hosts_and_pinned_memory_the_devices(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    a = SESSION / f"{name}.json.gz"
    document = json.loads(gzip.decompress(a.read_bytes()))
    document["context"]["date"] = "2026-11-22T00:00:00Z"
    for entry in document["benchmarks"]:
        entry["real_time"] *= 1.002 if "memory" in name else 0.75
    (again := tmp_path / "again.json").write_text(json.dumps(document))
    pair = noise_of(tmp_path, str(a), str(again))
    on = {row["on"]: (row["cases"], row["threshold"] > 0.1) for row in pair["thresholds"]}
    host = 1 if "memory" in name else 3
    assert pair["kind"] == "stream_scan"
    assert on == ({"device": (2, False), "host": (1, False)} if host == 1 else {"host": (3, True)})
    capsys.readouterr()
    assert main(["compare", str(a), str(again)]) == 0
    assert f"Of {host} case{'s' * (host > 1)} on the host no noise" in capsys.readouterr().out


def test_a_threshold_of_few_cases_is_the_default_and_none_is_below_that_of_longer_times() -> None:
    def thresholds(*rows: tuple[str, str, int, float], **cases: Any) -> list[float]:
        keys = ("on", "time", "cases", "threshold")
        pairs = [{"kind": "scans", "thresholds": [dict(zip(keys, r, strict=True)) for r in rows]}]
        return noise.thresholds(pairs, "scans", pd.DataFrame(cases)).tolist()

    times = ("under 10 µs", "10 to 100 µs", "100 µs and more")
    for known, wanted in ((0.001, noise.DEFAULT), (0.2, 0.2)):
        rows = [(on, times[2], 6, known) for on in ("device", "host")]
        got = thresholds(*rows, on=["device", "host"], time_us=200.0)
        assert got == pytest.approx([wanted, np.nan], nan_ok=True)
    rows = [("device", time, 30, t) for time, t in zip(times, (0.01, 0.1, 0.02), strict=True)]
    assert thresholds(*rows, on="device", time_us=[1.0, 50.0, 200.0]) == [0.1, 0.1, 0.02]


# --------------------------------------------------------------------------------------- machines


def test_unchanged_code_is_known_by_what_made_it(tmp_path: Path) -> None:
    """Slower by as much as the scan, it is the machine; of another CCCL it may be the code, and
    then nothing excuses it."""
    before, after = {"best": 1e5, "cub_device_scan": 1e5}, {"best": 1.2e5, "cub_device_scan": 1.2e5}
    alone = "For 20 of the 20 cases that are slower or faster no code that is the same in both was"

    def b_against_a(**about: Any) -> tuple[int, str]:
        write(tmp_path / "b.json", after, seed=2, **about)
        status, _, page = compare(tmp_path, "--threshold", "0.03")
        return status, page

    write(tmp_path / "a.json", before)
    status, page = b_against_a()
    assert status == 0 and "20 neither" in page
    differ = r"The machines differ, .* takes up to 2\d% longer \(cub_device_scan: .* timed cold, st"
    assert re.search(differ, page)
    status, page = b_against_a(cccl="9.9")
    assert status == 1 and "The machines differ" not in page and alone in page
    status, page = b_against_a(device="Other")  # whose machine is meant to differ
    assert status == 1 and alone not in page
    write(tmp_path / "a.json", before, cccl="")
    assert b_against_a(cccl="")[0] == 1  # neither says of what CCCL


def verdicts_of(**times: tuple[float, float, int]) -> dict[str, str]:
    """The verdict of each variant by a threshold of 5%, in two runs with 0.5% of spread. `times`:
    a variant's time in A and in B, in nanoseconds, and its launches."""
    named = {"variant": np.repeat([*times], 10), "items": [*range(10)] * len(times)}
    launches = np.repeat([count for _, _, count in times.values()], 10)
    a, b = (
        side(
            list(np.repeat(by, 10)[:, None] * spread(seed, 10 * len(times), sigma=0.005)),
            launches,
            **named,
        )
        for seed, by in enumerate(zip(*((a, b) for a, b, _ in times.values()), strict=True))
    )
    both = comparison.judged(comparison.paired(a, b), 0.05).both
    return {variant: " ".join(set(rows["verdict"])) for variant, rows in both.groupby("variant")}


def test_unchanged_code_excuses_only_what_takes_about_as_long_a_launch() -> None:
    """A host that adds 1 µs to each launch: two launches of 3 µs are excused, one of 6 µs is not,
    nor what becomes faster."""
    assert verdicts_of(
        memcpy=(3e3, 4e3, 1), twice=(6e3, 8e3, 2), once=(6e3, 7e3, 1), better=(5e3, 4e3, 1)
    ) == {"memcpy": "neither", "twice": "neither", "once": "slower", "better": "faster"}


@pytest.mark.parametrize("way", [1, -1])
def test_the_threshold_counts_from_most_unchanged_code_and_spares_what_any_did(way: int) -> None:
    """Most copies 20% off, one 40%: code that is 24% off lies within 5% of most, 35% off within the
    farthest, 50% off beyond both."""
    off = {"memcpy": 1.2, "cub_device_scan": 1.2, "near": 1.24, "far": 1.35, "farther": 1.5}
    times = {variant: (3e3, 3e3 * by**way, 1) for variant, by in off.items()}
    called, spared = "slower" if way > 0 else "faster", dict.fromkeys(off, "neither")
    assert verdicts_of(**times) == spared | {"far": called, "farther": called}
    with_thrust = verdicts_of(**times, thrust_scan=(3e3, 3e3 * 1.4**way, 1))
    assert with_thrust == spared | {"thrust_scan": "neither", "farther": called}


# --------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("threshold", ["-0.1", "nan", "inf", "much"])
def test_a_threshold_that_is_no_fraction_is_refused(threshold: str) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["compare", "a", "b", f"--threshold={threshold}"])


def test_bad_files_are_refused_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, out = write(tmp_path / "a.json", {"best": 1e5}), tmp_path / "out"
    (tmp_path / "cut.json").write_text(Path(good).read_text()[:300])
    write(tmp_path / "other.json", {"unlike": 1e5})
    write(tmp_path / "whose.json", {"best": 1e5}, git_commit="")
    for bad, reason in (
        ("nowhere.json", "no such file"),
        (".", "is a folder"),
        ("cut.json", "cut.json: line 1"),
        ("other.json", "have no case in common"),
        ("whose.json", "whose.json: context.git_commit: is missing"),
    ):
        assert main(["compare", good, str(tmp_path / bad), "--out", str(out)]) == 2
        assert reason in capsys.readouterr().err
    assert not out.exists()
    assert main(["compare", good, good, "--out", good]) == 2
    assert "it is a file, and a folder is wanted" in capsys.readouterr().err


def test_a_page_loads_nothing_that_draws_and_may_lose_its_reader(tmp_path: Path) -> None:
    a = write(tmp_path / "a.json", {"best": 1e5})
    b = write(tmp_path / "b.json", {"best": 1.2e5}, seed=2)
    command = (
        "import sys; from scanlab_report.commands.__main__ import main; status = main(['compare', "
        f"{a!r}, {b!r}, '--threshold', '0.03']); "
        "sys.exit(9 if 'matplotlib' in sys.modules else status)"
    )
    nobody, output = os.pipe()
    os.close(nobody)
    ended = subprocess.run(
        [sys.executable, "-c", command], stdout=output, stderr=subprocess.PIPE, text=True
    )
    os.close(output)
    assert (ended.returncode, ended.stderr) == (1, "")
