"""Tests of compare: it finds differences, finds none between two runs of one code, and reports
undecided cases."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from scanlab_report import comparison, noise
from scanlab_report.commands.__main__ import main
from scanlab_report.data import File
from scanlab_report.tables import CASE, MEASURED
from tests import fixtures, tiny
from tests.fixtures import SESSION, case, context, repetition

RUN = File(Path("run.json"), MEASURED, context(), tiny.ABOUT)
SIZES = tuple(2**k for k in range(10, 20))
FAILED = {"outcome": "failed", "error_occurred": True, "real_time": 0, "iterations": 0}


def side(samples: list[np.ndarray], launches: Any = 1, **named: Any) -> comparison.Side:
    """A run with these samples, each of a case of its own unless columns are named."""
    columns = dict.fromkeys(CASE, "x") | {"items": range(len(samples))} | named
    cases = pd.DataFrame(columns).assign(
        samples=pd.Series(samples, dtype=object),
        launches=launches,
        on="device",
        column="cold stream",
        count=[len(values) for values in samples],
        median_ns=[np.median(values) for values in samples],
        mean_ns=np.nan,
        stdev_ns=np.nan,
    )
    untimed = pd.DataFrame(columns=[*CASE, "name", "reason", "failed"])
    return comparison.Side(RUN, "scans", CASE, cases, untimed)


def spread(seed: int, cases: int, rounds: int = 11, sigma: float = 0.02) -> np.ndarray:
    return np.random.default_rng(seed).lognormal(0, sigma, (cases, rounds))


def judged(factor: float, threshold: float, rounds: int = 11) -> pd.DataFrame:
    """Twenty cases of a variant that takes so many times longer in B."""
    a, b = (list(by * spread(seed, 20, rounds)) for seed, by in ((1, 1e5), (2, factor * 1e5)))
    return comparison.judged(comparison.paired(side(a), side(b)), threshold).cases


def write(file: Path, times: dict[str, float], seed: int = 1, **about: Any) -> str:
    """Write a results file with 2% noise; `times`: median nanoseconds by variant, equal at all
    sizes."""
    cases = [(variant, n) for variant in times for n in SIZES]
    entries = [
        repetition(case(variant, n, launch="stream"), index, times[variant] * float(factor))
        for (variant, n), factors in zip(cases, spread(seed, len(cases)), strict=True)
        for index, factor in enumerate(factors)
    ]
    described = {id_: fixtures.variant(id_) for id_ in times} | fixtures.VARIANTS
    about = context(**{"variants": described} | about)
    file.write_text(json.dumps({"context": about, "benchmarks": entries}))
    return str(file)


def compare(tmp_path: Path, *words: str) -> tuple[int, pd.DataFrame, str]:
    """The status, the CSV and the page of comparing a.json with b.json."""
    files = (str(tmp_path / name) for name in ("a.json", "b.json"))
    status = main(["compare", *files, *words, "--out", str(tmp_path / "out")])
    page = (tmp_path / "out" / "compare.md").read_text()
    return status, pd.read_csv(tmp_path / "out" / "compare.csv"), page


def test_slower_is_status_1_and_each_case_is_named(tmp_path) -> None:
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
    files = [str(tmp_path / name) for name in ("b.json", "a.json")]
    assert main(["compare", *files, "--threshold", "0.03"]) == 0  # faster


@pytest.mark.parametrize(
    ("factor", "threshold", "rounds", "verdict"),
    [
        (1.2, 0.1, 11, "slower"),
        (0.8, 0.1, 11, "faster"),
        (1.06, 0.1, 11, "neither"),  # beyond chance, within the threshold
        (1.2, np.nan, 11, "no threshold"),
        (2.0, 0.03, 4, "too few"),
        (2.0, 0.03, 5, "slower"),  # 20 × 2/252; 4 × 0.05 > 20 × 2/252
    ],
)
def test_a_difference_counts_beyond_chance_and_threshold(
    factor, threshold, rounds, verdict
) -> None:
    assert set(judged(factor, threshold, rounds)["verdict"]) == {verdict}


def test_few_pairs_of_runs_that_differ_by_chance_show_anything() -> None:
    """The chance of any false verdict is the level, 5%, even with a threshold of nothing."""
    runs = [side(list(spread(seed, 40, 8, 0.05))) for seed in range(100)]
    pairs = (comparison.paired(a, b) for a, b in zip(runs[::2], runs[1::2], strict=True))
    false = sum(bool(len(comparison.judged(p, 0.0).with_verdict("slower"))) for p in pairs)
    assert false <= 7  # 5% of 50, with room for chance


def test_what_became_wrong_in_b_is_status_1(tmp_path) -> None:
    for name in ("a", "b"):
        write(tmp_path / f"{name}.json", {"best": 1e5})
    document = json.loads((tmp_path / "b.json").read_text())
    wrong = [entry for entry in document["benchmarks"] if entry["items"] == SIZES[3]]
    for entry in wrong:
        entry |= FAILED | {"error_message": "item <3> is 5"}
    for kept in (document["benchmarks"], wrong):  # the others, too; nothing else
        (tmp_path / "b.json").write_text(json.dumps(document | {"benchmarks": kept}))
        status, _, page = compare(tmp_path, "--threshold", "0.03")
        assert status == 1 and "**Wrong in B**" in page and r"item \<3> is 5" in page


def noise_of(tmp_path: Path, a: str, b: str) -> dict[str, Any]:
    """The pair that two files add to an empty record."""
    file = tmp_path / "noise" / "test.json"
    assert main(["compare", a, b, "--record-noise", str(file)]) == 0
    (pair,) = json.loads(file.read_text())["pairs"]
    return pair


def test_two_recorded_runs_of_one_commit_show_nothing_by_the_noise_of_another_model() -> None:
    h100 = SESSION.parents[1] / "nvidia-h100-80gb-hbm3" / "2026-11-27"
    files = ([h100 / "scan.json.gz"], [h100 / "head_to_head_i32.json.gz"])
    pairs = comparison.paired(*comparison.sides(*files))
    alone = pairs._replace(cases=pairs.cases.assign(unchanged=False))  # which would excuse itself
    (known,) = noise.read(["NVIDIA H200"])
    thresholds = noise.thresholds(known, pairs.a.kind, pairs.cases)
    assert comparison.judged(alone, thresholds).cases["verdict"].tolist() == ["neither"] * 718
    without = comparison.judged(alone, 0.0).with_verdict("slower", "faster")
    assert len(without) > 20  # which the threshold is for


def test_the_threshold_is_what_two_runs_of_one_commit_differ_by(tmp_path) -> None:
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


def test_noise_of_two_commits_is_of_the_vendors_code_alone(tmp_path) -> None:
    a = write(tmp_path / "a.json", {"best": 1e5, "memcpy": 1e5})
    b = {"best": 3e5, "memcpy": 1e5}
    about = {"date": "2026-01-03", "git_commit": "f" * 40}
    pair = noise_of(tmp_path, a, write(tmp_path / "b.json", b, seed=2, **about))
    assert pair["of"] == "vendor" and pair["thresholds"][0]["threshold"] < 0.1


@pytest.mark.parametrize(
    "about",
    [{"device": "Other"}, {"toolkit": "9"}, {"git_commit": "f" * 40, "date": "2026-01-03"}, {}],
)
def test_what_is_no_pair_of_runs_of_one_code_is_refused(tmp_path, said, about) -> None:
    a, b = write(tmp_path / "a.json", {"best": 1e5}), write(tmp_path / "b.json", {"best": 1e5})
    b = write(tmp_path / "b.json", {"best": 1e5}, **about)
    refused = said("compare", a, b, "--record-noise", tmp_path / "noise.json", status=2)
    assert "two runs of one code" in refused
    assert not (tmp_path / "noise.json").exists()


def test_without_noise_on_record_the_default_is_taken_and_said(tmp_path) -> None:
    write(tmp_path / "a.json", {"best": 1e5, "slow": 1e5})
    write(tmp_path / "b.json", {"best": 1.08e5, "slow": 1.2e5}, seed=2)
    status, _, page = compare(tmp_path)
    assert status == 1 and "10 slower, 10 neither" in page and "a default or more" in page
    status, _, page = compare(tmp_path, "--threshold", "0.3")
    assert status == 0 and "30%, as given." in page


def test_schedules_that_are_wrong_on_purpose_get_no_verdict(tmp_path) -> None:
    for name, factor in (("a", 1.0), ("b", 1.3)):
        document = fixtures.schedules()
        for entry in document["benchmarks"]:
            entry["real_time"] *= factor
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    status, cases, _ = compare(tmp_path)
    assert status == 1 and (cases["verdict"] == "slower").mean() > 0.9
    assert "breadth_first" in set(cases["id"]) and "three_streams_unordered" not in set(cases["id"])


@pytest.mark.parametrize(
    ("about", "status"),
    [
        ({}, 0),  # slower by as much as CUB: the machine
        ({"cccl": "9.9"}, 1),  # another CUB
        ({"device": "Other"}, 1),  # whose machine is meant to differ
    ],
)
def test_unchanged_code_is_known_by_what_made_it(tmp_path, about, status) -> None:
    write(tmp_path / "a.json", {"best": 1e5, "cub_device_scan": 1e5})
    write(tmp_path / "b.json", {"best": 1.2e5, "cub_device_scan": 1.2e5}, seed=2, **about)
    ended, _, page = compare(tmp_path, "--threshold", "0.03")
    assert ended == status
    assert ("Code that is the same in both (`cub_device_scan`) takes 1." in page) == (not status)
    assert ("No code is the same in both" in page) == bool(status)


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
    both = comparison.judged(comparison.paired(a, b), 0.05).cases
    return {variant: " ".join(set(rows["verdict"])) for variant, rows in both.groupby("variant")}


def test_unchanged_code_excuses_only_what_takes_about_as_long_a_launch() -> None:
    """A host that adds 1 µs to each launch: two launches of 3 µs are excused, one of 6 µs is not,
    nor what becomes faster."""
    assert verdicts_of(
        memcpy=(3e3, 4e3, 1), twice=(6e3, 8e3, 2), once=(6e3, 7e3, 1), better=(5e3, 4e3, 1)
    ) == {"memcpy": "neither", "twice": "neither", "once": "slower", "better": "faster"}


@pytest.mark.parametrize("way", [1, -1])
def test_the_threshold_counts_from_most_unchanged_code_and_spares_what_any_did(way) -> None:
    """Most copies 20% off, one 40%: code that is 24% off lies within 5% of most, 35% off within the
    farthest, 50% off beyond both."""
    off = {"memcpy": 1.2, "cub_device_scan": 1.2, "near": 1.24, "far": 1.35, "farther": 1.5}
    times = {variant: (3e3, 3e3 * by**way, 1) for variant, by in off.items()}
    called, spared = "slower" if way > 0 else "faster", dict.fromkeys(off, "neither")
    assert verdicts_of(**times) == spared | {"far": called, "farther": called}
    with_thrust = verdicts_of(**times, thrust_scan=(3e3, 3e3 * 1.4**way, 1))
    assert with_thrust == spared | {"thrust_scan": "neither", "farther": called}


@pytest.mark.parametrize("threshold", ["-0.1", "nan", "inf", "much"])
def test_a_threshold_that_is_no_fraction_is_refused(threshold) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["compare", "a", "b", f"--threshold={threshold}"])


def test_bad_files_are_refused_and_nothing_is_written(tmp_path, said) -> None:
    good, out = write(tmp_path / "a.json", {"best": 1e5}), tmp_path / "out"
    (tmp_path / "cut.json").write_text(Path(good).read_text()[:300])
    write(tmp_path / "other.json", {"unlike": 1e5})
    fixtures.write(tmp_path / "schedules.json", fixtures.schedules())
    for bad, reason in (
        ("nowhere.json", "is no file"),
        (".", "is no file"),
        ("cut.json", "cut.json: is truncated"),
        ("other.json", "have no timed case in common"),
        ("schedules.json", "have no case in common: they hold scans and schedules"),
    ):
        refused = said("compare", good, tmp_path / bad, "--out", out, status=2)
        assert reason in refused and not out.exists()
    refused = said("compare", good, good, "--out", good, status=2)
    assert "cannot be written: File exists" in refused
