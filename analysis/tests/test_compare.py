"""Tests of compare: it finds differences, finds none between two runs of one code, and reports
undecided cases."""

from __future__ import annotations

import functools
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
from matplotlib.figure import Figure
from scipy import stats

from scanlab_report import DATA, comparison, comparison_page, comparison_sides, noise
from scanlab_report.commands.__main__ import main
from scanlab_report.data import File, Variants
from scanlab_report.groups import HOST, VENDOR_CODE
from scanlab_report.intervals import mann_whitney_p
from scanlab_report.tables import CASE, MEASURED
from tests import fixtures, stream_fixtures, tiny
from tests.fixtures import SESSION, case, context, repetition

RUN = File(Path("run.json"), MEASURED, context(), tiny.ABOUT)
UNTIMED = pd.DataFrame(columns=[*CASE, "name", "reason", "why", "failed"])


def side(samples: list[np.ndarray], launches: Any = 1, **named: Any) -> comparison_sides.Side:
    """A run with these samples, each of a case of its own unless columns are named."""
    columns = {column: "x" for column in CASE} | {"items": range(len(samples))} | named
    cases = pd.DataFrame(columns).assign(
        samples=pd.Series(samples, dtype=object), launches=launches, on="device"
    )
    cases = cases.assign(
        count=[len(of) for of in samples],
        median_ns=[np.median(of) for of in samples],
        column=cases["cache"] + " " + cases["launch"],
    )
    return comparison_sides.Side(RUN, "scans", CASE, cases, UNTIMED)


def read(
    file: Path, other: Path | None = None
) -> tuple[comparison_sides.Side, comparison_sides.Side]:
    return comparison_sides.sides([file], [other or file])


SIZES = tuple(2**k for k in range(10, 30))


def write(
    file: Path,
    times: dict[str, float],
    rounds: int = 11,
    seed: int = 1,
    sizes: tuple[int, ...] = SIZES,
    **about: Any,
) -> str:
    """Write a results file with 2% noise; ``times``: median nanoseconds by variant, equal at all
    sizes."""
    spread = np.random.default_rng(seed)
    entries = [
        repetition(case(variant, n, launch="stream"), i, time * float(spread.lognormal(0, 0.02)))
        for variant, time in times.items()
        for n in sizes
        for i in range(rounds)
    ]
    described = fixtures.variants() | {
        id_: fixtures.variant(id_) for id_ in times if id_ not in fixtures.variants()
    }
    file.write_text(
        json.dumps({"context": context(**{"variants": described} | about), "benchmarks": entries})
    )
    return str(file)


def compare_files(tmp_path: Path, *words: str) -> int:
    """The status of comparing a.json with b.json into out/."""
    a, b, out = (str(tmp_path / name) for name in ("a.json", "b.json", "out"))
    return main(["compare", a, b, *words, "--out", out])


def compared(
    tmp_path: Path, before: dict[str, float], after: dict[str, float], *more: str, rounds: int = 11
) -> tuple[int, pd.DataFrame, str]:
    """Return the status, the CSV and the page of a comparison of two such files, with an empty
    figure."""
    write(tmp_path / "a.json", before, rounds)
    write(tmp_path / "b.json", after, rounds, seed=2)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(comparison_page, "figure", lambda _: Figure())
        status = compare_files(tmp_path, "--threshold", "0.03", *more)
    return (
        status,
        pd.read_csv(tmp_path / "out" / "compare.csv"),
        (tmp_path / "out" / "compare.md").read_text(),
    )


def test_slower_is_status_1_and_names_each_case(tmp_path: Path) -> None:
    status, cases, page = compared(
        tmp_path, {"best": 1e5, "memcpy": 1e5}, {"best": 1.2e5, "memcpy": 1e5}
    )
    assert status == 1
    assert (cases.loc[cases["variant"] == "best", "verdict"] == "slower").all()
    assert (cases.loc[cases["variant"] == "memcpy", "verdict"] == "neither").all()
    assert page.count("| slower | `best` |") == len(SIZES) and "20 slower, 20 neither" in page


def test_faster_alone_is_status_0(tmp_path: Path) -> None:
    status, cases, _ = compared(tmp_path, {"best": 1.2e5}, {"best": 1e5})
    assert status == 0 and (cases["verdict"] == "faster").all()


def test_a_clear_difference_within_the_threshold_is_neither(tmp_path: Path) -> None:
    status, cases, _ = compared(tmp_path, {"best": 1e5}, {"best": 1.06e5}, "--threshold", "0.1")
    assert status == 0 and (cases["verdict"] == "neither").all()
    assert (cases["p_corrected"] < 0.05).any()


def test_an_interval_that_reaches_into_the_threshold_is_neither(tmp_path: Path) -> None:
    _, cases, _ = compared(tmp_path, {"best": 1e5}, {"best": 1.06e5}, "--threshold", "0.05")
    undecided = cases[(cases["ratio"] > 1.05) & (cases["low"] < 1.05)]
    assert len(undecided) and (undecided["verdict"] == "neither").all()


def test_cases_of_one_file_alone_are_listed(tmp_path: Path) -> None:
    write(tmp_path / "a.json", {"best": 1e5, "gone": 1e5})
    write(tmp_path / "b.json", {"best": 1e5, "new": 1e5}, seed=2, sizes=(1024, 2048, 1000))
    compare_files(tmp_path, "--threshold", "0.03")
    assert (tmp_path / "out" / "compare.pdf").read_bytes().startswith(b"%PDF")
    cases = pd.read_csv(tmp_path / "out" / "compare.csv")
    assert cases["verdict"].value_counts().to_dict() == {
        "only in A": 38,
        "neither": 2,
        "only in B": 4,
    }
    page = (tmp_path / "out" / "compare.md").read_text()
    assert (
        "## Only in A" in page
        and "- gone i32 plus inclusive cold stream: 20 sizes, 2^10 to 2^29" in page
    )
    assert (
        "- best i32 plus inclusive cold stream: 1\u2009000\n" not in page.split("## Only in B")[0]
    )


def test_cases_of_schedules_are_listed_by_what_they_have() -> None:
    rows = pd.DataFrame(
        {
            "entry": ["copy", "copy", "schedule"],
            "items": [0, 0, 1 << 20],
            "bytes": [1 << 20, 1 << 26, 0],
            "chunks": [0, 0, 4],
            "memory": ["pinned"] * 3,
            "id": ["h2d", "h2d", "graph"],
        }
    )
    assert comparison_page.listed(rows, list(rows.columns)) == [
        "- copy pinned h2d: 2 sizes, 1,048,576 bytes to 67,108,864 bytes",
        "- schedule chunks 4 pinned graph: 2^20",
    ]


@pytest.mark.parametrize(("rounds", "verdict"), [(4, "too few"), (5, "slower")])
def test_too_few_repetitions_for_any_verdict_are_said(
    tmp_path: Path, rounds: int, verdict: str
) -> None:
    status, cases, page = compared(tmp_path, {"best": 1e5}, {"best": 2e5}, rounds=rounds)
    assert (cases["verdict"] == verdict).all() and status == (verdict == "slower")
    assert ("the repetitions are too few for any verdict" in page) == (verdict == "too few")


def test_that_a_single_case_cannot_be_told_is_said_with_how_many_can(tmp_path: Path) -> None:
    _, _, page = compared(tmp_path, {"best": 1e5}, {"best": 1e5}, rounds=5)
    assert (
        "its corrected p is 0.16 at best): 4 cases must differ at once" in page
    )  # 20 × 2/252; 4 × 0.05 > 20 × 2/252


@pytest.mark.parametrize(("before", "after"), [(5, 5), (11, 5), (11, 11)])
def test_the_smallest_p_is_that_of_runs_that_do_not_overlap(before: int, after: int) -> None:
    p = stats.mannwhitneyu(np.arange(before), 100 + np.arange(after), method="exact").pvalue
    assert comparison.smallest_p(before, after) == pytest.approx(p)


def test_of_ties_the_p_is_never_smaller_than_that_of_all_permutations() -> None:
    draw = np.random.default_rng(0)
    for _ in range(30):
        a, b = (
            draw.integers(1, 6, 5).astype(float),
            draw.integers(1, 6, 5) + float(draw.integers(0, 4)),
        )
        (p,) = comparison.paired(side([a]), side([b])).cases["p"]
        ranks = stats.rankdata(np.concatenate([a, b]))
        off = np.array(
            [
                abs(ranks[list(chosen)].sum() - 27.5)
                for chosen in itertools.combinations(range(10), 5)
            ]
        )
        exact = np.mean(off >= off[0])
        assert (
            p >= exact - 1e-9 or exact > 0.2
        )  # where nobody would call it a difference, it need not be exact


def test_hundreds_of_repetitions_are_told_apart_at_once() -> None:
    draw = np.random.default_rng(0)
    before, after = draw.normal(1.0, 0.1, (50, 400)), draw.normal(1.02, 0.1, (50, 400))
    begun = time.monotonic()
    p = mann_whitney_p(before, after)
    assert time.monotonic() - begun < 5 and p.shape == (50,)
    before, after = before[:, :101], after[:, :101]
    assert mann_whitney_p(before, after) == pytest.approx(
        stats.mannwhitneyu(before, after, axis=-1, method="exact").pvalue, rel=0.1
    )


@pytest.mark.parametrize("repetitions", [50, 100, 101])
def test_a_coarse_clock_hides_no_slowdown(repetitions: int) -> None:
    draw = np.random.default_rng(0)
    before, after = (
        draw.choice([5.12, 6.144], (20, repetitions), p=p) for p in ([0.75, 0.25], [0.25, 0.75])
    )
    assert (mann_whitney_p(before, after) < 0.01).all()
    assert mann_whitney_p(before[0], after[0]) == pytest.approx(
        stats.mannwhitneyu(before[0], after[0], method="asymptotic").pvalue
    )


def test_what_became_wrong_in_b_is_said_and_has_a_status(tmp_path: Path) -> None:
    status, _, page = compared(tmp_path, {"best": 1e5}, {"best": 1e5})
    assert status == 0 and "Wrong" not in page
    document = json.loads((tmp_path / "b.json").read_text())
    for entry in document["benchmarks"]:
        if entry["items"] == SIZES[3]:
            entry |= {
                "outcome": "failed",
                "error_occurred": True,
                "error_message": "verification failed: item 3 is 5",
                "real_time": 0,
                "iterations": 0,
            }
    (tmp_path / "b.json").write_text(json.dumps(document))
    assert compare_files(tmp_path) == 1
    page = (tmp_path / "out" / "compare.md").read_text()
    assert "**Wrong in B**" in page and "item 3 is 5" in page and "0 slower" not in page


def test_a_failure_of_the_only_case_has_status_1(tmp_path: Path) -> None:
    compared(tmp_path, {"best": 1e5}, {"best": 1e5})
    for name in ("a", "b"):
        document = json.loads((tmp_path / f"{name}.json").read_text())
        document["benchmarks"] = [
            entry
            for entry in document["benchmarks"]
            if entry["items"] == SIZES[3] and entry["variant"] == "best"
        ]
        if name == "b":
            document["benchmarks"] = [
                document["benchmarks"][0]
                | {
                    "outcome": "failed",
                    "error_occurred": True,
                    "error_message": "item <3> is 5",
                    "real_time": 0,
                    "iterations": 0,
                }
            ]
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    assert compare_files(tmp_path) == 1
    assert (
        r"**Wrong in B**: 1 case" in (page := (tmp_path / "out" / "compare.md").read_text())
        and r"item \<3> is 5" in page
    )


def test_the_correction_is_that_of_benjamini_and_hochberg() -> None:
    sides = (
        [np.arange(1.0, 6.0)] * 3,
        [np.arange(11.0, 16.0), np.arange(2.5, 7.0), np.arange(1.25, 6.0)],
    )
    cases = comparison.paired(*map(side, sides)).cases
    first, second, third = cases["p"]
    assert first < second < third
    assert cases["p_corrected"].tolist() == pytest.approx([3 * first, 3 / 2 * second, third])


def test_of_runs_that_differ_by_chance_few_families_show_anything() -> None:
    """Under the null the chance of any false verdict is the level, 5%, even with a threshold of
    nothing."""
    spread, false = np.random.default_rng(4), 0
    for _ in range(50):
        a, b = (side(list(spread.lognormal(0, 0.05, (40, 8)))) for _ in range(2))
        false += bool(len(comparison.judged(comparison.paired(a, b), 0.0).with_verdict("slower")))
    assert false <= 7  # 5% of 50, with room for chance


# -------------------------------------------------------------------------------------------------
# noise


def by_noise_alone(found: comparison.Comparison) -> comparison.Comparison:
    """Without unchanged code, which would excuse itself, and what is beside it."""
    return found._replace(cases=found.cases.assign(unchanged=False))


@pytest.mark.parametrize(
    ("head_to_head", "verdicts"),
    [
        ("head_to_head_i64_f16_f32_f64", {"neither": 209}),
        ("head_to_head_i16", {"neither": 35}),
        ("head_to_head_i32", {"neither": 718}),
    ],
)
def test_two_recorded_runs_of_one_commit_show_nothing_by_the_noise_of_others(
    tmp_path: Path, head_to_head: str, verdicts: dict[str, int]
) -> None:
    content = json.loads((DATA / "noise" / "nvidia-h200.json").read_text())
    content["pairs"] = [pair for pair in content["pairs"] if SESSION.name not in pair["a"]["file"]]
    (tmp_path / "h200.json").write_text(json.dumps(content))
    found = by_noise_alone(
        comparison.paired(*read(SESSION / "scan.json.gz", SESSION / f"{head_to_head}.json.gz"))
    )
    known = noise.thresholds(noise.read([found.a.device], tmp_path)[0], found.kind, found.both)
    assert comparison.judged(found, known).both["verdict"].value_counts().to_dict() == verdicts
    if head_to_head == "head_to_head_i32":
        without = comparison.judged(found, 0.0).both["verdict"].value_counts()
        assert without["slower"] + without["faster"] > 20  # which the threshold is for


ON_RECORD = [
    pair
    for file in sorted(noise.FOLDER.glob("*.json"))
    for pair in json.loads(file.read_text())["pairs"]
    if all((DATA / pair[run]["file"]).is_file() for run in "ab")
]
"""Pairs whose files are recorded; for the others only the noise is."""
recorded = functools.lru_cache(lambda file: read(DATA / file)[0])  # most files are of several pairs


@pytest.mark.parametrize(
    "pair",
    ON_RECORD,
    ids=lambda pair: " ".join(pair[run]["file"].removesuffix(".json.gz") for run in "ab"),
)
def test_no_pair_on_record_shows_a_difference_in_code_that_it_says_is_the_same(
    pair: dict[str, Any],
) -> None:
    a, b = (recorded(pair[run]["file"]) for run in "ab")
    found = by_noise_alone(comparison.paired(a, b))
    (known,) = noise.read([found.a.device])
    verdicts = comparison.judged(found, noise.thresholds(known, found.kind, found.both)).both
    own = (
        verdicts[verdicts["variant"].isin(found.about.ids(*VENDOR_CODE))]
        if pair["of"] == "vendor"
        else verdicts
    )
    assert len(own) >= sum(row["cases"] for row in pair["thresholds"]) > 0
    assert not len(own[own["verdict"].isin([comparison.SLOWER, comparison.FASTER])])


def test_the_threshold_is_what_two_runs_of_one_commit_differ_by(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = write(tmp_path / "a.json", {"best": 2e5, "memcpy": 1e3})
    b = write(tmp_path / "b.json", {"best": 2.4e5, "memcpy": 1.5e3}, seed=2, date="2026-01-03")
    file = tmp_path / "noise" / "test.json"
    assert main(["compare", a, b, "--record-noise", str(file)]) == 0
    assert (
        main(["compare", a, b, "--record-noise", str(file)]) == 0
    )  # the same pair again: no second entry
    (pair,) = json.loads(file.read_text())["pairs"]
    thresholds = {row["time"]: row["threshold"] for row in pair["thresholds"]}
    assert 0.17 < thresholds["100 µs and more"] < 0.25 and 0.45 < thresholds["under 10 µs"] < 0.6
    (known,) = noise.read(["Test Device"], file.parent)
    cases = pd.DataFrame(
        {"on": ["device", "device", "device", "host"], "time_us": [200.0, 1.0, 50.0, 200.0]}
    )
    wanted = [
        thresholds["100 µs and more"],
        thresholds["under 10 µs"],
        max(thresholds.values()),
        np.nan,
    ]
    assert noise.thresholds(known, "scans", cases) == pytest.approx(wanted, nan_ok=True)


def test_the_host_has_noise_of_its_own_and_without_it_no_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = write(tmp_path / "a.json", {"best": 2e5, "cpu_parallel": 2e5})
    b = write(tmp_path / "b.json", {"best": 2e5, "cpu_parallel": 3e5}, seed=2, date="2026-01-03")
    assert main(["compare", a, b, "--record-noise", str(tmp_path / "noise.json")]) == 0
    (pair,) = json.loads((tmp_path / "noise.json").read_text())["pairs"]
    assert {row["on"]: row["threshold"] > 0.3 for row in pair["thresholds"]} == {
        "device": False,
        "host": True,
    }
    found = comparison.paired(*read(Path(a), Path(b)))
    pair["thresholds"] = [row for row in pair["thresholds"] if row["on"] == "device"]
    judged = comparison.judged(found, noise.thresholds([pair], "scans", found.both))
    assert len(judged.with_verdict("no threshold")) == len(judged.with_verdict("neither")) == 20, (
        "what nobody knows is not said to be as before"
    )
    assert "Of 20 cases on the host no noise is on record: they have no threshold" in " ".join(
        comparison_page.summary(judged)
    )


def test_of_two_commits_only_the_vendors_code_is_noise(tmp_path: Path) -> None:
    a = write(tmp_path / "a.json", {"best": 1e5, "memcpy": 1e5})
    b = write(
        tmp_path / "b.json",
        {"best": 3e5, "memcpy": 1e5},
        seed=2,
        date="2026-01-03",
        git_commit="f" * 40,
    )
    assert main(["compare", a, b, "--record-noise", str(tmp_path / "noise.json")]) == 0
    (pair,) = json.loads((tmp_path / "noise.json").read_text())["pairs"]
    assert pair["of"] == "vendor" and pair["thresholds"][0]["threshold"] < 0.1


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ({"device": "Other"}, "are not of one device, driver, toolkit and CCCL"),
        ({"toolkit": "9"}, "are not of one device"),
        ({}, "they are one run"),
    ],
)
def test_what_is_no_pair_of_runs_of_one_code_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], about: dict[str, str], said: str
) -> None:
    a, b = (
        write(tmp_path / "a.json", {"best": 1e5}),
        write(tmp_path / "b.json", {"best": 1e5}, **about),
    )
    assert main(["compare", a, b, "--record-noise", str(tmp_path / "noise.json")]) == 2
    assert said in capsys.readouterr().err and not (tmp_path / "noise.json").exists()


def test_where_no_noise_is_on_record_the_default_is_taken_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = (
        write(tmp_path / "a.json", {"best": 1e5, "slow": 1e5}),
        write(tmp_path / "b.json", {"best": 1.08e5, "slow": 1.2e5}, seed=2),
    )
    assert main(["compare", a, b]) == 1
    page = capsys.readouterr().out
    assert "20 slower, 20 neither" in page
    assert (
        "The threshold is 10%, a default or more, since too few cases of one code timed "
        "twice are on record for scans on Test Device: time one commit twice"
    ) in page
    assert main(["compare", a, b, "--threshold", "0.3"]) == 0
    assert "The threshold is 30%, as given." in capsys.readouterr().out


def schedules(
    file: Path, seed: int, slower: dict[str, float], off_by: float = 0.04, **about: Any
) -> str:
    """A run of schedules and their parts, 0.5% of spread, and in each run every case off by so
    much, one way or the other; some slower by a factor."""
    spread, document = np.random.default_rng(seed), stream_fixtures.schedules()
    document["context"] |= {"date": f"2026-01-0{seed}T03:04:05Z"} | about
    off: dict[str, float] = {}
    for entry in document["benchmarks"]:
        factor = next(
            (by for id_, by in slower.items() if f"schedule:{id_}/" in entry["name"]), 1.0
        )
        entry["real_time"] *= (
            factor
            * off.setdefault(entry["name"], 1 + off_by * spread.choice((-1, 1)))
            * float(spread.lognormal(0, 0.005))
        )
    file.write_text(json.dumps(document))
    return str(file)


def test_noise_of_schedules_comes_from_two_runs_of_one_commit_like_that_of_scans(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = schedules(tmp_path / "a.json", 1, {}), schedules(tmp_path / "b.json", 2, {})
    after = schedules(
        tmp_path / "after.json", 3, {"breadth_first": 1.3}, off_by=0.03, git_commit="f" * 40
    )
    assert (
        main(["compare", a, after, "--record-noise", str(tmp_path / "noise.json")]) == 2
    )  # no commit's schedules are the vendor's
    assert main(["compare", a, b, "--record-noise", str(tmp_path / "noise.json")]) == 0
    (pair,) = json.loads((tmp_path / "noise.json").read_text())["pairs"]
    assert (pair["kind"], pair["of"]) == ("schedules", "all")
    (row,) = (row for row in pair["thresholds"] if row["time"] == "100 µs and more")
    assert row["on"] == "device" and 0.08 < row["threshold"] < 0.11  # 1.04 / 0.96
    monkeypatch.setattr(noise.read, "__defaults__", (tmp_path / "folder",))
    (tmp_path / "folder").mkdir()
    (tmp_path / "noise.json").rename(tmp_path / "folder" / "test.json")
    capsys.readouterr()
    assert main(["compare", a, b]) == 0
    page = capsys.readouterr().out
    assert "slower" not in page and "as far as runs of one code on record lie apart" in page
    assert main(["compare", a, after, "--out", str(tmp_path / "out")]) == 1
    verdicts = pd.read_csv(tmp_path / "out" / "compare.csv")
    assert set(verdicts.loc[verdicts["verdict"] == "slower", "id"]) == {"breadth_first"}
    assert "three_streams_unordered" not in set(
        verdicts["id"]
    )  # wrong on purpose, and not timed for its speed


def test_noise_of_scans_larger_than_the_device_is_recorded_likewise(tmp_path: Path) -> None:
    for day in (1, 2):
        document = stream_fixtures.stream_scan()
        document["context"]["date"] = f"2026-01-0{day}T03:04:05Z"
        (tmp_path / f"{day}.json").write_text(json.dumps(document))
    assert (
        main(
            [
                "compare",
                str(tmp_path / "1.json"),
                str(tmp_path / "2.json"),
                "--record-noise",
                str(tmp_path / "noise.json"),
            ]
        )
        == 0
    )
    (pair,) = json.loads((tmp_path / "noise.json").read_text())["pairs"]
    assert pair["kind"] == "stream_scan" and sum(row["cases"] for row in pair["thresholds"]) == 27


@pytest.mark.parametrize("name", ["stream_scan_memory_1024MiB", "stream_scan_file_mapping_1024MiB"])
def test_a_file_is_the_hosts_and_pinned_memory_the_devices(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """Reading and writing one file took a quarter less in another session, streaming pinned memory
    the same to 0.2%."""
    a = SESSION / f"{name}.json.gz"
    document = json.loads(gzip.decompress(a.read_bytes()))
    document["context"]["date"] = "2026-11-22T00:00:00Z"
    for entry in document["benchmarks"]:
        entry["real_time"] *= 1.002 if name.startswith("stream_scan_memory") else 0.75
    (again := tmp_path / "again.json").write_text(json.dumps(document))
    assert (
        main(["compare", str(a), str(again), "--record-noise", str(tmp_path / "noise.json")]) == 0
    )
    (pair,) = json.loads((tmp_path / "noise.json").read_text())["pairs"]
    thresholds = {row["on"]: (row["cases"], row["threshold"]) for row in pair["thresholds"]}
    memory = name.startswith("stream_scan_memory")
    assert {on: cases for on, (cases, _) in thresholds.items()} == (
        {"device": 2, "host": 1} if memory else {"host": 3}
    )
    assert thresholds["device"][1] < 0.01 if memory else thresholds["host"][1] > 0.1
    capsys.readouterr()
    assert main(["compare", str(a), str(again)]) == 0
    assert (
        "Of 1 case on the host no noise" if memory else "Of 3 cases on the host no noise"
    ) in capsys.readouterr().out
    document["benchmarks"] = [
        entry for entry in document["benchmarks"] if entry["repetition_index"] < 4
    ]
    again.write_text(json.dumps(document))
    assert main(["compare", str(a), str(again), "--threshold", "0.05"]) == 0
    assert (
        "Of 3 cases the repetitions are too few for any verdict (the fewest: 4)"
        in capsys.readouterr().out
    )


def test_of_fewer_cases_than_a_threshold_needs_the_default_is_the_least() -> None:
    cases = pd.DataFrame({"on": ["device", "host"], "time_us": 200.0})
    for known, wanted in ((0.001, noise.DEFAULT), (0.2, 0.2)):
        rows = [
            {"on": on, "time": "100 µs and more", "cases": 6, "threshold": known}
            for on in ("device", "host")
        ]
        of = [{"kind": "stream_scan", "thresholds": rows}]
        assert noise.thresholds(of, "stream_scan", cases) == pytest.approx(
            [wanted, np.nan], nan_ok=True
        ) and not noise.knows(of, "stream_scan")


def test_a_threshold_is_never_narrower_than_that_of_longer_times() -> None:
    rows = [
        {"on": "device", "time": time, "cases": 30, "threshold": of}
        for time, of in (("under 10 µs", 0.01), ("10 to 100 µs", 0.1), ("100 µs and more", 0.02))
    ]
    cases = pd.DataFrame({"on": "device", "time_us": [1.0, 50.0, 200.0]})
    assert noise.thresholds(
        [{"kind": "scans", "thresholds": rows}], "scans", cases
    ) == pytest.approx([0.1, 0.1, 0.02])


# -------------------------------------------------------------------------------------------------
# machines

SLOWER, APART = 1.27, 1.6
"""A host launches more slowly than that of the recorded session by SLOWER. Launches are apart by at
most APART times the time of an empty kernel."""


def of_two_hosts(**factors: float) -> comparison.Comparison:
    """A recorded run, and the same on a host that launches a quarter more slowly, which no
    provenance tells; there some variants take longer by a factor, too: sums of i32 in a stream, at
    2^20 and 2^28."""
    a = b = recorded(f"recorded/nvidia-h200/{SESSION.name}/scan.json.gz")
    cases = b.cases.copy()
    launched = (
        (cases["launch"] == "stream")
        & (cases["cache"] == "warm")
        & ~cases["variant"].isin(Variants(b.file.variants).ids(HOST))
    )
    apart = APART * min(
        float(np.median(of.samples))
        for of in cases[launched & (cases["variant"] == "empty_launch")].itertuples()
    )
    slow = [
        np.maximum(of.samples, np.minimum(SLOWER * of.samples, apart * of.launches))
        if of.samples.min() > 2.5e3 * of.launches
        else of.samples
        for of in cases[launched].itertuples()
    ]
    cases.loc[launched, "samples"] = pd.Series(slow, index=cases.index[launched])
    planted = (
        (cases["launch"] == "stream")
        & cases["items"].isin((1 << 20, 1 << 28))
        & (cases["op"] == "plus")
        & (cases["type"] == "i32")
    )
    for variant, factor in factors.items():
        rows = planted & (cases["variant"] == variant)
        cases.loc[rows, "samples"] = cases.loc[rows, "samples"] * factor
    cases["median_ns"] = [np.median(of) for of in cases["samples"]]
    found = comparison.paired(a, b._replace(cases=cases))
    (known,) = noise.read([a.file.device])
    return comparison.judged(found, noise.thresholds(known, found.kind, found.both))


def test_a_host_that_launches_slowly_is_said_and_makes_no_code_slower() -> None:
    found = of_two_hosts()
    assert not len(found.with_verdict("slower"))
    own = found.both[
        [found.about[variant].origin == "baseline" for variant in found.both["variant"]]
    ]
    assert len(own) > 900 and set(own["verdict"]) == {"neither"}
    otherwise = comparison.judged(by_noise_alone(found), found.both["threshold"]).with_verdict(
        "slower"
    )
    assert len(otherwise) > 10 and {"best", "look_ahead"} <= set(otherwise["variant"])
    page = comparison_page.page(found)
    head = (
        r"in B, code that is the same in both takes up to 2\d% longer \(cub_newest[^)]* timed "
        r"warm, stream"
    )
    assert re.search(head, page) and re.search(head, " ".join(comparison_page.summary(found)))


def test_what_is_slower_is_called_so_on_a_slower_host_too() -> None:
    slower = of_two_hosts(look_ahead=1.3, best=1.3).with_verdict("slower")
    assert (
        set(slower["variant"]) == {"look_ahead", "best"}
        and set(slower["items"]) == {1 << 20, 1 << 28}
        and set(slower["column"]) == {"cold stream", "warm stream"}
    )


def test_unchanged_code_is_known_by_what_made_it(tmp_path: Path) -> None:
    """Slower by as much as the scan, it is the machine; of another CCCL it may be the code, and
    then nothing excuses it."""
    before, after = {"best": 1e5, "cub_device_scan": 1e5}, {"best": 1.2e5, "cub_device_scan": 1.2e5}
    status, cases, page = compared(tmp_path, before, after)
    assert (
        status == 0
        and set(cases["verdict"]) == {"neither"}
        and (
            "The machines differ, or the way of timing: in B, code that is the same in both "
            "takes up to 2"
        )
        in page
    )
    write(tmp_path / "b.json", after, seed=2, cccl="9.9")
    assert compare_files(tmp_path, "--threshold", "0.03") == 1
    page = (tmp_path / "out" / "compare.md").read_text()
    assert "40 slower" in page and "The machines differ" not in page
    said = (
        "For 40 of the 40 cases that are slower or faster no code that is the same in both was "
        "timed beside"
    )
    assert said in page
    write(tmp_path / "b.json", after, seed=2)
    for file in (tmp_path / "a.json", tmp_path / "b.json"):  # neither says of what CCCL
        document = json.loads(file.read_text())
        del document["context"]["cccl"]
        file.write_text(json.dumps(document))
    assert compare_files(tmp_path, "--threshold", "0.03") == 1
    write(tmp_path / "a.json", before)
    write(tmp_path / "b.json", after, seed=2, device="Other")  # whose machine is meant to differ
    assert compare_files(tmp_path, "--threshold", "0.03") == 1
    assert said not in (tmp_path / "out" / "compare.md").read_text()


def verdicts_of(threshold: float, **times: tuple[float, float, int]) -> dict[str, set[str]]:
    """The verdicts of each variant, in two runs with 0.5% of spread. `times`: a variant's time in A
    and in B, in nanoseconds, and its launches."""
    spread = np.random.default_rng(5)
    named = {
        "variant": [variant for variant in times for _ in SIZES],
        "items": list(SIZES) * len(times),
    }
    launches = [of[2] for of in times.values() for _ in SIZES]
    a, b = (
        side(
            [of[which] * spread.lognormal(0, 0.005, 11) for of in times.values() for _ in SIZES],
            launches,
            **named,
        )
        for which in (0, 1)
    )
    judged = comparison.judged(comparison.paired(a, b), threshold).both
    return judged.groupby("variant")["verdict"].agg(set).to_dict()


def test_unchanged_code_excuses_only_what_takes_about_as_long_a_launch() -> None:
    """A host that adds 1 µs to each launch: two launches of 3 µs are excused, one of 6 µs is not,
    nor what becomes faster."""
    found = verdicts_of(
        0.05, memcpy=(3e3, 4e3, 1), twice=(6e3, 8e3, 2), once=(6e3, 7e3, 1), better=(5e3, 4e3, 1)
    )
    assert found == {
        "memcpy": {"neither"},
        "twice": {"neither"},
        "once": {"slower"},
        "better": {"faster"},
    }


@pytest.mark.parametrize("way", [1, -1])
def test_the_threshold_counts_from_what_most_unchanged_code_did_and_spares_what_any_did(
    way: int,
) -> None:
    """Most copies 20% off, one 40%: code that is 24% off lies within 5% of most, 35% off within the
    farthest, 50% off beyond both."""
    off = {
        "memcpy": 1.2,
        "cub_device_scan": 1.2,
        "thrust_scan": 1.4,
        "near": 1.24,
        "far": 1.35,
        "farther": 1.5,
    }
    found = verdicts_of(
        0.05,
        **{
            variant: (3e3, 3e3 * by**way, 1)
            for variant, by in off.items()
            if variant != "thrust_scan"
        },
    )
    called = {"slower" if way > 0 else "faster"}
    assert found == {
        "memcpy": {"neither"},
        "cub_device_scan": {"neither"},
        "near": {"neither"},
        "far": called,
        "farther": called,
    }
    found = verdicts_of(0.05, **{variant: (3e3, 3e3 * by**way, 1) for variant, by in off.items()})
    assert found == {variant: {"neither"} for variant in off if variant != "farther"} | {
        "farther": called
    }


# -------------------------------------------------------------------------------------------------
# refusals


@pytest.mark.parametrize("threshold", ["-0.1", "nan", "inf", "much"])
def test_a_threshold_that_is_no_fraction_is_refused(threshold: str) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["compare", "a", "b", f"--threshold={threshold}"])


def test_bad_files_are_refused_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, out = write(tmp_path / "a.json", {"best": 1e5}), tmp_path / "out"
    (tmp_path / "cut.json").write_text(Path(good).read_text()[:300])
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    write(tmp_path / "old.json", {"best": 1e5}, schema="scanlab-results/0")
    write(tmp_path / "other.json", {"unlike": 1e5})
    write(tmp_path / "whose.json", {"best": 1e5}, git_commit="")
    (tmp_path / "before.json").write_text(
        Path(good).read_text().replace('"round": 4,', '"round": -4,')
    )
    for bad, said in (
        ("nowhere.json", "no such file"),
        (".", "is a folder"),
        ("cut.json", "cut.json: line 1"),
        ("table.csv", "table.csv: line 1: is no JSON, and begins with"),
        ("old.json", "old.json: context.schema"),
        ("other.json", "have no case in common"),
        ("whose.json", "whose.json: context.git_commit: is missing"),
        ("before.json", r"before.json: benchmarks\[4\]\.round: expected int >= 0, got -4"),
    ):
        assert main(["compare", good, str(tmp_path / bad), "--out", str(out)]) == 2
        assert re.search(said, capsys.readouterr().err)
    assert not out.exists()


def test_a_file_in_the_place_of_a_folder_is_said_to_be_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "a.json", {"best": 1e5})
    before = Path(file).read_bytes()
    assert main(["compare", file, file, "--out", file]) == 2
    assert (
        f"error: {file}: cannot be written to: it is a file, and a folder is wanted\n"
        == capsys.readouterr().err
        and Path(file).read_bytes() == before
    )


def test_schedules_are_compared_too_and_never_with_scans(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stream_fixtures.write_all(tmp_path)
    file = str(tmp_path / "streams.json")
    assert main(["compare", file, file, "--threshold", "0.03"]) == 0
    assert "neither" in capsys.readouterr().out
    assert (
        main(["compare", file, write(tmp_path / "a.json", {"best": 1e5}), "--threshold", "0.03"])
        == 2
    )


def test_a_page_alone_takes_no_time_to_load_what_draws(tmp_path: Path) -> None:
    """Two full runs are to be compared within 5 s: matplotlib alone would take half a second."""
    file = write(tmp_path / "a.json", {"best": 1e5})
    of = (
        f"import sys; from scanlab_report.commands.__main__ import main; main(['compare', "
        f"{file!r}, {file!r}, '--threshold', '0.03']); sys.exit('matplotlib' in sys.modules)"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", of], cwd=DATA.parent / "analysis", stdout=subprocess.DEVNULL
        ).returncode
        == 0
    )


def test_who_stops_reading_gets_no_traceback_and_the_same_status(tmp_path: Path) -> None:
    a, b = (
        write(tmp_path / "a.json", {"best": 1e5}),
        write(tmp_path / "b.json", {"best": 1.2e5}, seed=2),
    )
    read, written = os.pipe()
    os.close(read)
    command = [
        sys.executable,
        "-m",
        "scanlab_report.commands",
        "compare",
        a,
        b,
        "--threshold",
        "0.03",
    ]
    ended = subprocess.run(
        command, cwd=DATA.parent / "analysis", stdout=written, stderr=subprocess.PIPE, text=True
    )
    os.close(written)
    assert (ended.returncode, ended.stderr) == (1, "")


def test_a_compressed_file_is_compared(tmp_path: Path) -> None:
    plain = write(tmp_path / "a.json", {"best": 1e5})
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(Path(plain).read_bytes()))
    assert main(["compare", plain, str(tmp_path / "a.json.gz"), "--threshold", "0.03"]) == 0
