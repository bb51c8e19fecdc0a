"""Results of nvbench and Google Benchmark: compared and drawn as Scanlab's own are, and what a file
does not allow to say is said."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from scanlab_report.chapters import others
from scanlab_report.commands.__main__ import main
from scanlab_report.load import load
from tests import fixtures
from tests.foreign_fixtures import (
    aggregate,
    google,
    noisy,
    nvbench,
    repeated,
    repetition,
    skipped,
    state,
    sweep,
)


def compared(tmp_path: Path, *words: Path | str) -> tuple[int, pd.DataFrame, str]:
    """The status, the CSV and the page of a comparison."""
    status = main(["compare", *map(str, words), "--out", str(tmp_path / "out")])
    page = (tmp_path / "out" / "compare.md").read_text()
    return status, pd.read_csv(tmp_path / "out" / "compare.csv"), page


def medians(*files: Path) -> pd.DataFrame:
    """The cases of files that have nothing wrong in them."""
    data = load(files)
    assert not data.problems, data.problems
    return others.medians(data).content.rows


def test_samples_of_nvbench_are_compared_by_their_medians(tmp_path) -> None:
    a = sweep(tmp_path / "a.json", {"I32": 1, "I64": 2}, 1)
    b = sweep(tmp_path / "b.json", {"I32": 1.2, "I64": 2}, 50)
    status, cases, page = compared(tmp_path, a, b)
    assert status == 1 and set(cases["by"]) == {"medians"}
    verdicts = cases.set_index("case")["verdict"].to_dict()
    sizes = range(16, 25, 2)
    assert verdicts == {f"Elements=2^{k} T=I32": "slower" for k in sizes} | {
        f"Elements=2^{k} T=I64": "neither" for k in sizes
    }
    row = cases.set_index("case").loc["Elements=2^16 T=I32"]
    samples = np.float32(noisy(2e-6 + 2**16 * 2.5e-12, seed=1))
    assert row["median_a_ns"] == pytest.approx(1e9 * np.median(samples))
    assert page.count("`copy` | `Elements=2^") == 5 and "a default" in page
    assert compared(tmp_path, b, a)[0] == 0  # faster


def aggregates(file: Path, factor: float) -> Path:
    entries = repeated({"BM/n:64": noisy(factor * 1e-6, 9)})
    return google(file, [entry for entry in entries if entry["run_type"] == "aggregate"])


@pytest.mark.parametrize(
    "make", [aggregates, lambda file, by: sweep(file, {"I32": by}, 1, binary=False)]
)
def test_without_samples_means_are_compared_and_that_is_said(tmp_path, make) -> None:
    status, cases, page = compared(
        tmp_path, make(tmp_path / "a.json", 1), make(tmp_path / "b.json", 1.3)
    )
    assert status == 1 and set(cases["verdict"]) == {"slower"} and set(cases["by"]) == {"means"}
    assert "A file has no samples" in page and "With so few repetitions" not in page


def test_a_mean_without_its_spread_gets_no_verdict(tmp_path) -> None:
    """nvbench writes inf where samples were fewer than five, whatever sample size stands beside."""
    for name, factor in (("a.json", 1), ("b.json", 9)):
        file = nvbench(tmp_path / name, [state({"n": 1}, noisy(factor * 1e-6, 4))])
        file.write_text(file.read_text().replace('"value": "4"', '"value": "40"'))
    status, cases, _ = compared(tmp_path, tmp_path / "a.json", tmp_path / "b.json")
    assert status == 0 and cases["verdict"].tolist() == ["too few"]


def test_repetitions_of_google_benchmark_are_compared_by_their_medians(tmp_path) -> None:
    for name, factor in (("a.json", 1), ("b.json", 1.5)):
        times = {f"BM_copy/{n}/real_time": noisy(factor * n * 1e-9, 9, n) for n in (64, 512)}
        fitted = aggregate("BM_copy", "BigO", 0, 9)
        google(tmp_path / name, [*repeated(times), fitted])
    status, cases, _ = compared(tmp_path, tmp_path / "a.json", tmp_path / "b.json")
    assert status == 1 and cases["verdict"].tolist() == ["slower", "slower"]
    assert set(cases["case"]) == {"64/real_time", "512/real_time"}
    assert cases["median_a_ns"].min() == pytest.approx(1e9 * np.median(noisy(64e-9, 9, 64)))


def untimed(program: str, file: Path, failed: str, left_out: str, *timed: str) -> Path:
    """A file with a case that failed, one that was skipped, and some that have times."""
    if program == "nvbench":
        states = [skipped({"n": n}, "Unexpected error: wrong\nresult") for n in failed]
        states += [skipped({"n": n}, "no room") for n in left_out]
        return nvbench(file, states + [state({"n": n}, noisy(1e-6)) for n in timed])
    error = {"error_occurred": True, "error_message": "wrong result"}
    entries = [repetition(f"BM/n:{n}", 0, 0, **error) for n in failed]
    skip = {"skipped": True, "skip_message": "no room"}
    entries += [repetition(f"BM/n:{n}", 0, 0, **skip) for n in left_out]
    return google(file, [*entries, *repeated({f"BM/n:{n}": noisy(1e-6, 9) for n in timed})])


@pytest.mark.parametrize("program", ["nvbench", "Google Benchmark"])
def test_what_fails_in_b_alone_is_wrong_and_what_is_skipped_there_is_not(tmp_path, program) -> None:
    a = untimed(program, tmp_path / "a.json", "", "", "1", "2", "3")
    b = untimed(program, tmp_path / "b.json", "2", "3", "1")
    status, cases, page = compared(tmp_path, a, b)
    assert status == 1 and sorted(cases["verdict"]) == ["neither", "only in A", "only in A"]
    assert "**Wrong in B**, with a time in A: 1 case, such as `" in page
    assert "wrong result" in page and "no room" in page
    assert medians(b)["skipped"].map(bool).tolist() == [True, True, False]
    room = untimed(program, tmp_path / "c.json", "", "3", "1", "2")
    assert compared(tmp_path, a, room)[0] == compared(tmp_path, b, b)[0] == 0
    alone = untimed(program, tmp_path / "d.json", "2", "")  # nothing but failures
    assert compared(tmp_path, a, alone)[0] == 1


def test_files_of_two_programs_are_not_compared(tmp_path, said) -> None:
    a = sweep(tmp_path / "a.json", {"I32": 1}, 1)
    b = google(tmp_path / "b.json", repeated({"BM_copy": noisy(1e-6, 9)}))
    own = fixtures.write(tmp_path / "own.json", fixtures.timings())
    for first, second in ((a, b), (own, a), (b, own)):
        refused = said("compare", first, second, "--out", tmp_path / "out", status=2)
        assert "so only one program is compared" in refused
    for stated, *words in (
        ("two runs of one code", "compare", a, a, "--record-noise", tmp_path / "noise.json"),
        ("own.json is Scanlab's own: build each alone", "build", a, own, "--out", tmp_path),
        ("has results of nvbench: `scanlab-report compare`", "table", "rivals", a),
    ):
        assert stated in said(*words, status=2)
    assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".json-bin"}


def test_a_name_used_twice_is_two_cases_and_repetitions_in_one_list_are_samples(tmp_path) -> None:
    states = [state({"n": 1}, noisy(seconds)) for seconds in (1e-6, 2e-6)]
    entries = [repetition("BM/n", 0, 1e-6, family_index=family) for family in (0, 2)]
    for file in (nvbench(tmp_path / "a.json", states), google(tmp_path / "b.json", entries)):
        assert medians(file)["case"].str.contains("occurrence 2").tolist() == [False, True]
    runs = [repetition("BM", 0, seconds) for seconds in noisy(1e-6, 10)]
    assert medians(google(tmp_path / "c.json", runs))["count"].tolist() == [10]


def test_neither_the_order_of_axes_nor_the_slot_of_the_only_gpu_names_a_case(tmp_path) -> None:
    a = nvbench(tmp_path / "a.json", [state({"T": "I32", "n": 1}, noisy(1e-6))])
    b = nvbench(tmp_path / "b.json", [state({"n": 1, "T": "I32"}, noisy(1e-6), device=1)])
    _, cases, _ = compared(tmp_path, a, b)
    assert cases[["case", "verdict"]].values.tolist() == [["T=I32 n=1", "neither"]]
    two = [state({"n": 1}, noisy(1e-6), device) for device in (0, 1)]
    assert len(compared(tmp_path, *[nvbench(tmp_path / "c.json", two)] * 2)[1]) == 2


def test_the_samples_of_several_runs_a_side_are_pooled(tmp_path) -> None:
    """Files of aggregates alone, as of B, have one sample each, their mean."""
    sides: list[list[str]] = [[], []]
    for side, run in np.ndindex(2, 6):
        entries = repeated({"BM/64": noisy(1e-6 * (1 + side), 3, 10 * run + side)})
        entries = entries[3:] if side else entries[:3]
        sides[side].append(str(google(tmp_path / f"{side}{run}.json", entries)))
    status, cases, _ = compared(tmp_path, *sides[0], "--with", *sides[1])
    (row,) = cases.itertuples()
    assert (row.verdict, row.count_a, row.count_b, status) == ("slower", 18, 6, 1)
    assert main(["compare", *sides[0]]) == main(["compare", *sides[0][:1]]) == 2


def test_a_build_has_the_table_and_both_figures_and_leaves_none_of_an_earlier_one(
    tmp_path, said
) -> None:
    out = tmp_path / "out"
    file = sweep(tmp_path / "a.json", {"I32": 1}, seed=1)
    assert main(["build", str(file), "--out", str(out)]) == 0
    row = pd.read_csv(out / "tables" / "medians.csv").iloc[0]
    samples = np.float32(noisy(2e-6 + 2**16 * 2.5e-12, seed=1))
    assert row["time"] == pytest.approx(1e6 * np.median(samples))
    assert row["time_low"] < row["time"] < row["time_high"]
    assert row["gb_per_s"] == pytest.approx(8e-9 / samples.mean())
    line = others.time_by_axis(load([file])).content.axes[0].lines[0]
    assert line.get_xdata().tolist() == [2**k for k in range(16, 25, 2)]
    assert line.get_ydata()[0] == pytest.approx(np.median(samples))
    figures = lambda: {path.stem for path in (out / "figures").iterdir()}
    assert figures() == {"time_by_axis", "distributions"}
    sweep(tmp_path / "a.json", {"I32": 1}, 1, binary=False)
    assert "figure distributions is left out" in said("build", file, "--out", out)
    assert figures() == {"time_by_axis"}


@pytest.mark.parametrize("command", ["compare", "build"])
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"context": {"schema": "scanlab-results/1"}, "benchmarks": []}', "context.schema: is"),
        ('{"meta": {"version": {"json": {"major": 2}}}}', "is no results file of a known program"),
        ("| T | Samples |\n|---|---|\n", "is no results file of a known program: Scanlab, nvbench"),
        ('{"meta": {"vers', "is truncated or not JSON"),
        ('{"benchmarks": ' + "9" * 5000 + "}", "is truncated or not JSON"),
        ('{"context": {"library_build_type": ""}, "benchmarks": [{}]}', "benchmarks[0].name: is"),
    ],
)
def test_a_file_of_no_known_program_is_refused_and_nothing_is_written(
    tmp_path, said, command, content, reason
) -> None:
    bad, out = tmp_path / "bad.json", tmp_path / "out"
    bad.write_text(content)
    files = [bad] * (2 if command == "compare" else 1)
    message = said(command, *files, "--out", out, status=2).splitlines()[0]
    assert message.startswith(f"error: {bad}: ") and reason in message
    assert not out.exists() or not any(out.iterdir())


def nvbench_with(summary: int, **changes: Any) -> Callable[[Path], Any]:
    """A file with one state whose summary is changed."""

    def write(file: Path) -> None:
        document = json.loads(sweep(file, {"I32": 1}, seed=1).read_text())
        document["benchmarks"][0]["states"][1]["summaries"][summary]["data"][-1] |= changes
        file.write_text(json.dumps(document))

    return write


def google_with(**changes: Any) -> Callable[[Path], Any]:
    entries = repeated({"BM_copy/64": noisy(1e-6, 9), "BM_copy/128": noisy(1e-6, 9)})
    entries[3] |= changes
    return lambda file: google(file, entries)


def samples_as(change: Callable[[bytes], bytes]) -> Callable[[Path], Any]:
    def write(file: Path) -> None:
        sweep(file, {"I32": 1}, seed=1)
        binary = file.parent / f"{file.name}-bin" / "1.bin"
        binary.write_bytes(change(binary.read_bytes()))

    return write


TIME = "no time that a run takes"


@pytest.mark.parametrize(
    ("write", "reason"),
    [
        (samples_as(lambda raw: raw[:-2]), "has 158 bytes, not 4 for each of 40 samples"),
        (samples_as(lambda raw: (2 * np.frombuffer(raw, "<f4")).tobytes()), "is of another run"),
        (samples_as(lambda raw: raw[:-4] + np.array([np.nan], "<f4").tobytes()), TIME),
        (nvbench_with(5, name="filename", value="x/1.bin"), "cannot be read (No such file"),
        (nvbench_with(5, value="0"), "has 160 bytes, not 4 for each of 0 samples"),
        (nvbench_with(1, value="nan"), TIME),
        (nvbench_with(1, value="fast"), "could not convert string to float: 'fast'"),
        (nvbench_with(1, value=3), "expected str, got"),
        (google_with(real_time=0), TIME),
        (google_with(real_time=float("nan")), TIME),
    ],
)
def test_a_case_that_cannot_be_used_is_left_out_and_named_and_the_others_are_compared(
    tmp_path, write, reason
) -> None:
    write(bad := tmp_path / "bad.json")
    status, cases, page = compared(tmp_path, bad, bad)
    assert status == 0 and len(cases) and "Without a time in B: 1 case, such as `" in page
    assert reason in page and (medians(bad)["skipped"] != "").sum() == 1


def test_control_characters_and_keys_of_the_user_are_read(tmp_path: Path) -> None:
    odd = state({"n": "a\nb"}, noisy(1e-6))
    lines = {"name": "value", "type": "string", "value": "first\nsecond"}
    odd["summaries"].append({"tag": "mine", "data": [lines]})
    assert medians(nvbench(tmp_path / "a.json", [odd]))["case"].tolist() == ["n=a b"]
    file = google(tmp_path / "b.json", repeated({"BM/\x1b[1mßé": noisy(1e-6, 3)}, skipped=3.5))
    document = json.loads(file.read_text())
    document["context"]["schema"] = "v2"
    file.write_text("\ufeff" + json.dumps(document))
    assert medians(file)["count"].tolist() == [3]
