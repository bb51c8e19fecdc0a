"""Results of nvbench and Google Benchmark: compared and drawn as Scanlab's own are, and what a file
does not allow to say is said."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy import stats

from scanlab_report import comparison, comparison_page, comparison_sides, intervals, style
from scanlab_report.chapters import others
from scanlab_report.commands.__main__ import main
from scanlab_report.intervals import welch
from scanlab_report.load import load
from tests import fixtures
from tests.foreign_fixtures import (
    WRONG,
    aggregate,
    changed,
    google,
    keys,
    noisy,
    nvbench,
    repeated,
    repetition,
    skipped,
    state,
    sweep,
)


def compared(tmp_path: Path, *words: Path | str) -> tuple[int, pd.DataFrame, str]:
    """The status, the CSV and the page of a comparison, with an empty figure."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(comparison_page, "figure", lambda _: Figure())
        status = main(["compare", *map(str, words), "--out", str(tmp_path / "out")])
    page = (tmp_path / "out" / "compare.md").read_text()
    return status, pd.read_csv(tmp_path / "out" / "compare.csv"), page


def sound(*files: Path) -> pd.DataFrame:
    """The cases of files that have nothing wrong in them."""
    data = load(files)
    assert not data.problems, data.problems
    return data["other"]


def medians(*files: Path) -> pd.DataFrame:
    return others.medians(load(files)).content.rows


def names(cases: pd.DataFrame) -> list[str]:
    columns = (cases[name] for name in ("benchmark", "case", "device"))
    return [comparison_sides.case_name(*row) for row in zip(*columns, strict=True)]


def two(tmp_path: Path, make: Callable[[Path, float, int], Path], factor: float) -> list[Path]:
    """Two files, the second of which takes so many times longer."""
    return [make(tmp_path / "a.json", 1, 1), make(tmp_path / "b.json", factor, 50)]


# ---------------------------------------------------------------------------------------- compare


def test_samples_of_nvbench_are_compared_by_their_medians(tmp_path: Path) -> None:
    a, b = two(tmp_path, lambda file, by, seed: sweep(file, {"I32": by, "I64": 2}, seed), 1.2)
    status, cases, page = compared(tmp_path, a, b)
    assert status == 1 and set(cases["by"]) == {"medians"}
    names = [f"T={kind} Elements=2^{k}" for kind in ("I32", "I64") for k in range(16, 25, 2)]
    assert cases["case"].tolist() == names
    assert cases["verdict"].tolist() == ["slower"] * 5 + ["neither"] * 5
    times = ((1, 1), (1.2, 50))
    samples = [np.float32(noisy(by * (2e-6 + 2**16 * 2.5e-12), seed=seed)) for by, seed in times]
    before, after = np.median(samples, axis=1)
    row = cases.iloc[0]
    assert row["median_a_ns"] == pytest.approx(1e9 * before)
    assert row["ratio"] == pytest.approx(after / before) and row["low"] < row["ratio"] < row["high"]
    assert row["p"] == pytest.approx(stats.mannwhitneyu(*samples, method="exact").pvalue)
    assert "The threshold is 10%, a default" in page
    assert page.count("`copy` | `T=I32 Elements=2^") == 5
    assert compared(tmp_path, b, a)[0] == 0  # faster


@pytest.mark.parametrize("binary", [(False, False), (True, False)])
def test_without_samples_means_are_compared_and_that_is_said(
    tmp_path: Path, binary: tuple[bool, bool]
) -> None:
    a = sweep(tmp_path / "a.json", {"I32": 1}, 1, binary[0])
    b = sweep(tmp_path / "b.json", {"I32": 1.3}, 50, binary[1])
    status, cases, page = compared(tmp_path, a, b)
    assert status == 1 and set(cases["verdict"]) == {"slower"} and set(cases["by"]) == {"means"}
    assert "A file has no samples of 5 cases" in page and "--jsonbin FILE" in page
    assert "Welch's test" in page and "With so few repetitions" not in page
    times = ((1, 1), (1.3, 50))
    samples = [noisy(by * (2e-6 + 2**16 * 2.5e-12), seed=seed) for by, seed in times]
    p = stats.ttest_ind(*samples, equal_var=False).pvalue
    assert cases["p"][0] == pytest.approx(p, rel=1e-3, abs=0)
    assert cases["median_a_ns"][0] == pytest.approx(1e9 * samples[0].mean(), rel=1e-6)


def test_a_mean_without_its_spread_gets_no_verdict(tmp_path: Path) -> None:
    """nvbench writes inf where samples were fewer than five, whatever sample size stands beside."""

    def four(file: Path, factor: float, seed: int) -> Path:
        nvbench(file, {"copy": [state({"n": 1}, noisy(factor * 1e-6, 4))]})
        file.write_text(file.read_text().replace('"value": "4"', '"value": "40"'))
        return file

    status, cases, _ = compared(tmp_path, *two(tmp_path, four, 9))
    assert status == 0 and cases["verdict"].tolist() == ["too few"]


def test_skipped_states_are_said_with_their_reasons(tmp_path: Path) -> None:
    untimed = state({"n": 3}, noisy(1e-6)) | {"summaries": None}
    states = [state({"n": 1}, noisy(1e-6)), skipped({"n": 2}, "out of\nmemory."), untimed]
    file = nvbench(tmp_path / "a.json", {"copy": states})
    _, cases, page = compared(tmp_path, file, file)
    reasons = "(`copy n=2`: out of memory; `copy n=3`: the file has no time of it)"
    assert len(cases) == 1 and f"Both have 2 cases without a time {reasons}" in page
    table = medians(file)
    assert table["skipped"].tolist() == ["", "out of memory.", "the file has no time of it"]


def on_gpus(file: Path, seconds: float, *gpus: tuple[int, str]) -> Path:
    """A copy on each of some GPUs, which are given by number and name."""
    nvbench(file, {"copy": [state({"n": 1}, noisy(seconds), number) for number, _ in gpus]})
    devices = [{"id": number, "name": name} for number, name in gpus]
    file.write_text(json.dumps(json.loads(file.read_text()) | {"devices": devices}))
    return file


def test_the_slot_of_a_gpu_names_a_case_only_where_a_file_has_several(tmp_path: Path) -> None:
    first = on_gpus(tmp_path / "a.json", 1e-6, (0, "GPU"))
    second = on_gpus(tmp_path / "b.json", 2e-6, (1, "Another"))
    status, cases, _ = compared(tmp_path, first, second)
    assert status == 1 and cases["verdict"].tolist() == ["slower"]
    assert medians(first, second)["device"].tolist() == ["GPU", "Another"]
    both = on_gpus(tmp_path / "d.json", 2e-6, (0, "GPU"), (1, "GPU"))
    _, cases, page = compared(tmp_path, both, second)
    assert cases["verdict"].tolist() == ["only in A", "neither"]
    assert page.endswith("## Only in A\n\n- `copy` `n=1` on device 0\n")
    assert medians(both)["device"].tolist() == ["GPU on device 0", "GPU on device 1"]


def test_repetitions_of_google_benchmark_are_compared_by_their_medians(tmp_path: Path) -> None:
    def copies(file: Path, factor: float, seed: int) -> Path:
        times = {f"BM_copy/{n}/real_time": noisy(factor * n * 1e-9, 9, seed + n) for n in (64, 512)}
        failed = repetition("BM_x", 0, 0, error_occurred=True, error_message="no device")
        fitted = aggregate("BM_copy", "BigO", 0, 9)
        return google(file, [*repeated(times, time_unit="us"), failed, fitted])

    status, cases, page = compared(tmp_path, *two(tmp_path, copies, 1.5))
    assert status == 1 and cases["verdict"].tolist() == ["slower", "slower"]
    assert cases["case"].tolist() == ["64/real_time", "512/real_time"]
    assert cases["median_a_ns"][0] == pytest.approx(1e9 * np.median(noisy(64e-9, 9, 65)))
    assert "Both have 1 case without a time (`BM_x`: no device)" in page


def aggregates(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [entry for entry in entries if entry["run_type"] == "aggregate"]


def test_aggregates_of_google_benchmark_are_compared_by_their_means(tmp_path: Path) -> None:
    copies = lambda file, by, _: google(file, aggregates(repeated({"BM": noisy(by * 1e-6, 9)})))
    status, cases, page = compared(tmp_path, *two(tmp_path, copies, 2))
    assert status == 1 and cases["by"].tolist() == ["means"]
    assert "--benchmark_repetitions=10" in page
    mean, stdev = np.mean(noisy(1, 9)), np.std(noisy(1, 9), ddof=1)
    p, _ = welch(mean, stdev, 9, 2 * mean, 2 * stdev, 9)
    assert cases["p"][0] == pytest.approx(p, rel=1e-3, abs=0)


def untimed(program: str, file: Path, failed: str, left_out: str, *timed: str) -> Path:
    """A file with a case that failed, one that was skipped, and some that have times."""
    if program == "nvbench":
        states = [skipped({"n": n}, "Unexpected error: wrong result") for n in failed]
        states += [skipped({"n": n}, "no room") for n in left_out]
        states += [state({"n": n}, noisy(1e-6)) for n in timed]
        return nvbench(file, {"BM": states})
    error = {"error_occurred": True, "error_message": "wrong result"}
    entries = [repetition(f"BM/n:{n}", 0, 0, **error) for n in failed]
    skip = {"skipped": True, "skip_message": "no room"}
    entries += [repetition(f"BM/n:{n}", 0, 0, **skip) for n in left_out]
    return google(file, [*entries, *repeated({f"BM/n:{n}": noisy(1e-6, 9) for n in timed})])


@pytest.mark.parametrize("program", ["nvbench", "Google Benchmark"])
def test_what_fails_in_b_alone_is_wrong_and_what_is_skipped_there_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], program: str
) -> None:
    """Google Benchmark says which of the two it is; of nvbench the reason begins as that of an
    exception."""
    a = untimed(program, tmp_path / "a.json", "", "", "1", "2", "3")
    b = untimed(program, tmp_path / "b.json", "2", "3", "1")
    status, cases, page = compared(tmp_path, a, b)
    assert status == 1 and sorted(cases["verdict"]) == ["neither", "only in A", "only in A"]
    assert "**Wrong in B**: 1 case that A has a time of failed in B, such as `BM" in page
    assert "wrong result. B has 1 other case without a time (`BM" in page
    room = untimed(program, tmp_path / "c.json", "", "3", "1", "2")
    assert compared(tmp_path, a, room)[0] == compared(tmp_path, b, b)[0] == 0
    alone = untimed(program, tmp_path / "d.json", "", "", "2")
    wrong = untimed(program, tmp_path / "e.json", "2", "")
    status, cases, page = compared(tmp_path, alone, wrong)
    assert status == 1 and cases["verdict"].tolist() == ["only in A"]
    unlike = untimed(program, tmp_path / "f.json", "", "2", "4")
    assert main(["compare", str(a), str(unlike)]) == 2
    message = (
        r"have no timed case in common: A has BM n[=:]1, B has BM n[=:]4. B has 1 case "
        r"without a time \(`BM n[=:]2`: no room\)\n"
    )
    assert re.search(message, capsys.readouterr().err)


def test_aggregates_of_google_benchmark_before_1_5_are_no_cases(tmp_path: Path) -> None:
    """Nothing but their names says what they are; a benchmark whose name ends likewise, and has no
    namesake without, is one."""
    new = ("run_name", "run_type", "repetitions", "repetition_index", "aggregate_name")
    times = {"BM_copy/64": noisy(1e-6, 9), "BM_geometric_mean": [1e-6, 1.1e-6]}
    entries = [{k: v for k, v in entry.items() if k not in new} for entry in repeated(times)]
    entries.append({"name": "BM_copy_BigO", "real_coefficient": 1.0, "big_o": "N"})
    cases = sound(google(tmp_path / "a.json", entries))
    assert names(cases) == ["BM_copy 64", "BM_geometric_mean"]
    assert cases["count"].tolist() == [9, 2]


def test_one_repetition_is_too_few_and_how_to_have_more_is_said(tmp_path: Path) -> None:
    file = google(tmp_path / "a.json", [repetition("BM_copy/64", 0, 1e-6)])
    status, cases, page = compared(tmp_path, file, file)
    assert status == 0 and cases["verdict"].tolist() == ["too few"]
    assert "--benchmark_repetitions=10" in page


def test_files_of_two_programs_are_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = sweep(tmp_path / "a.json", {"I32": 1}, 1)
    b = google(tmp_path / "b.json", repeated({"BM_copy": noisy(1e-6, 9)}))
    (own := tmp_path / "own.json").write_text(json.dumps(fixtures.timings(rounds=5, top=10)))
    for first, second, reason in (
        (a, b, "is of nvbench and"),
        (own, a, "is of Scanlab and"),
        (b, own, "of Scanlab: they time in different ways"),
    ):
        assert main(["compare", str(first), str(second), "--out", str(tmp_path / "out")]) == 2
        assert reason in capsys.readouterr().err and not (tmp_path / "out").exists()
    assert main(["compare", str(a), str(a), "--record-noise", str(tmp_path / "noise.json")]) == 2
    assert "--record-noise is for results of scanlab" in capsys.readouterr().err
    assert not (tmp_path / "noise.json").exists()


@pytest.mark.parametrize(
    "command",
    [["figure", "throughput", "--out", "none.pdf"], ["mine", "best"], ["table", "rivals"]],
)
def test_commands_for_one_scan_say_what_reads_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    file = nvbench(tmp_path / "a.json", {"copy": [state({"n": 1}, noisy(1e-6))]})
    assert main([*command[:2], str(file), *command[2:]]) == 2
    assert "has results of nvbench: `scanlab-report compare`" in capsys.readouterr().err


def test_samples_are_found_by_the_path_of_older_versions_and_where_files_were_moved(
    tmp_path: Path,
) -> None:
    file = sweep(tmp_path / "run.json", {"I32": 1}, seed=1)
    file.write_text(file.read_text().replace('"run.json-bin/', '"perf_data/old/run.json-bin/'))
    assert set(sound(file)["samples"].map(len)) == {40}


def test_a_name_used_twice_is_two_cases_and_repetitions_in_one_list_are_samples(
    tmp_path: Path,
) -> None:
    both = ((1e-6, 0), (2e-6, 2))
    states = [state({"n": 1}, noisy(seconds)) for seconds, _ in both]
    entries = [repetition("BM", 0, seconds, family_index=family) for seconds, family in both]
    for file, name in (
        (nvbench(tmp_path / "a.json", {"BM": states}), "BM n=1 (occurrence 2) on device 0"),
        (google(tmp_path / "b.json", entries), "BM (occurrence 2)"),
    ):
        cases = sound(file)
        assert names(cases)[1] == name and cases["key"].nunique() == 2
        assert cases["mean_ns"][1] == pytest.approx(2 * cases["mean_ns"][0], rel=0.1)
    runs = [repetition("BM", 0, seconds) for seconds in noisy(1e-6, 10)]
    unnumbered = [{k: v for k, v in run.items() if not k.startswith("repetition")} for run in runs]
    for entries in (runs, unnumbered):
        assert sound(google(tmp_path / "c.json", entries))["count"].tolist() == [10]


def test_axes_in_another_order_are_the_same_case(tmp_path: Path) -> None:
    a = nvbench(tmp_path / "a.json", {"copy": [state({"T": "I32", "n": 1}, noisy(1e-6))]})
    b = nvbench(tmp_path / "b.json", {"copy": [state({"n": 1, "T": "I32"}, noisy(1e-6))]})
    _, cases, _ = compared(tmp_path, a, b)
    assert cases[["case", "verdict"]].values.tolist() == [["T=I32 n=1", "neither"]]


@pytest.mark.parametrize("repetitions", [1, 9])
def test_the_samples_of_several_runs_a_side_are_pooled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], repetitions: int
) -> None:
    """Files of aggregates alone have one sample each, their mean."""
    sides: list[list[str]] = [[], []]
    for side, run in np.ndindex(2, 6):
        entries = repeated({"BM/64": noisy(1e-6 * (1 + side), repetitions, 10 * run + side)})
        entries = entries[:1] if repetitions == 1 else aggregates(entries)
        sides[side].append(str(google(tmp_path / f"{side}{run}.json", entries)))
    status, cases, _ = compared(tmp_path, *sides[0], "--with", *sides[1])
    (row,) = cases.itertuples()
    assert status == 1
    assert (row.by, row.verdict, row.count_a, row.count_b) == ("medians", "slower", 6, 6)
    assert "A pools the samples of 6 files, and B those of 6 files." in capsys.readouterr().out
    assert main(["compare", *sides[0]]) == main(["compare", *sides[0][:1]]) == 2
    assert "name A and B, or several files a side" in capsys.readouterr().err


def test_the_interval_of_a_ratio_of_means_covers_it() -> None:
    draw, within = np.random.default_rng(3), 0
    for _ in range(400):
        a, b = draw.normal(1, 0.1, 12), draw.normal(1.5, 0.3, 20)
        _, ratio = welch(a.mean(), a.std(ddof=1), 12, b.mean(), b.std(ddof=1), 20)
        within += ratio.low <= 1.5 <= ratio.high
    assert 0.92 < within / 400 < 0.98
    unspread = [welch(1, 0, 9, b, 0, 9)[0] for b in (1, 2)]
    assert unspread == [1, 0] and welch(1, np.inf, 9, 2, 1, 9)[0] == 1


# ------------------------------------------------------------------------------------------ build


def test_a_build_has_the_table_and_both_figures_and_leaves_none_of_an_earlier_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    file = sweep(tmp_path / "a.json", {"I32": 1}, seed=1)
    assert main(["build", str(file), "--out", str(out)]) == 0
    row = pd.read_csv(out / "tables" / "medians.csv").iloc[0]
    samples = sound(file)["samples"][0] / 1e9
    for name, values in (("median_us", 1e6 * samples), ("gb_per_s", 8 * 2**16 / samples / 1e9)):
        interval = intervals.median_interval(values)
        ends = row[[name, f"{name}_low", f"{name}_high"]].tolist()
        assert ends == pytest.approx([interval.value, interval.low, interval.high])
    figures = lambda: {path.name for path in (out / "figures").iterdir()}
    axis = {"time_by_axis.pdf", "time_by_axis.png"}
    assert figures() == axis | {"distributions.pdf", "distributions.png"}
    sweep(tmp_path / "a.json", {"I32": 1}, 1, binary=False)
    assert main(["build", str(file), "--out", str(out)]) == 0 and figures() == axis
    reason = "figure distributions is left out: no case has two samples or more."
    assert reason in capsys.readouterr().out


def test_figures_draw_the_samples_and_the_medians_of_both_files(tmp_path: Path) -> None:
    files = two(tmp_path, lambda file, by, seed: sweep(file, {"I32": by, "$I_$": 2}, seed), 1.2)
    data = load(files)
    samples = [cases["samples"].tolist() for _, cases in data["other"].groupby("file")]
    with style.sheet():
        steps, along = (make(data).content for make in (others.distributions, others.time_by_axis))
    steps.canvas.draw()  # a dollar sign of a name begins no formula
    drawn = [line for line in steps.axes[0].lines if len(line.get_xdata()) == 41]
    for line, of_file in zip(drawn, samples, strict=True):
        assert line.get_xdata()[1:] == pytest.approx(np.sort(of_file[0]) / 1e3)
        assert line.get_ydata() == pytest.approx(np.arange(41) / 40)
    times, rates = ({line.get_label(): line for line in axes.lines} for axes in along.axes[:2])
    sizes = [2**k for k in range(16, 25, 2)]
    assert list(times["T=I32, b.json"].get_xdata()) == sizes
    own = [np.median(values) / 1e3 for values in samples[1][:5]]
    assert times["T=I32, b.json"].get_ydata() == pytest.approx(own)
    own = [8 * n / np.median(values) for n, values in zip(sizes, samples[0], strict=False)]
    assert rates["T=I32, a.json"].get_ydata() == pytest.approx(own, rel=1e-5)


@pytest.mark.parametrize(
    "more", [[], ["--recorded", "."], ["--page", "README.md"], ["--device", "NVIDIA H200"]]
)
def test_results_of_scanlab_and_of_others_are_not_mixed(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    more: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").mkdir()
    sweep(tmp_path / "run" / "a.json", {"I32": 1}, 1)
    (tmp_path / "README.md").write_text("<!-- results:begin -->\n<!-- results:end -->\n")
    reason = (
        f"{more[0]}: of Scanlab's results alone" if more else "own.json is Scanlab's own: build"
    )
    if not more:
        (tmp_path / "run" / "own.json").write_text(json.dumps(fixtures.timings(rounds=5, top=10)))
    assert main(["build", "run", *more, "--out", "out"]) == 2
    assert reason in capsys.readouterr().err and not Path("out").exists()


# -------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize("command", ["compare", "build"])
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"context": {"schema": "scanlab-results/1"}, "benchmarks": []}', "context.schema: is"),
        ('{"meta": {"version": {"json": {"major": 2}, "nvbench": {"major": 0}}}}', "only format 1"),
        ('{"results": [{"command": "ls"}]}', "results[0].command: seems to be results of hyperf"),
        ('[{"jmhVersion": "1.37"}]', "[0].jmhVersion: seems to be results of JMH"),
        (
            '{"name": "x", "version": 2}',
            "is JSON of no program that is known here; its keys are 'n",
        ),
        ("| T | Samples |\n|---|---|\n", "line 1: is no JSON, and begins with '| T | Samples |'"),
        ('{"meta": {"vers', "byte 10: is truncated or not JSON"),
        ('{"benchmarks": ' + "9" * 5000 + "}", "cannot be read"),
    ],
)
def test_a_file_of_no_known_program_is_refused_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, content: str, reason: str
) -> None:
    bad, out = tmp_path / "bad.json", tmp_path / "out"
    bad.write_text(content)
    assert main([command, *[str(bad)] * (2 if command == "compare" else 1), "--out", str(out)]) == 2
    message = capsys.readouterr().err.splitlines()[0]
    assert message.startswith(f"error: {bad}: ") and reason in message
    assert not out.exists() or not any(out.iterdir())


def nvbench_with(summary: int, field: int = 0, **changes: Any) -> Callable[[Path], Any]:
    """A file with one state whose summary is changed."""

    def write(file: Path) -> None:
        document = json.loads(sweep(file, {"I32": 1}, seed=1).read_text())
        document["benchmarks"][0]["states"][1]["summaries"][summary]["data"][field] |= changes
        file.write_text(json.dumps(document))

    return write


def google_with(**changes: Any) -> Callable[[Path], Any]:
    times = {"BM_copy/64": noisy(1e-6, 9), "BM_copy/128": noisy(1e-6, 9)}
    entries = repeated(times)
    entries[3] |= changes
    return lambda file: google(file, entries)


def samples_as(change: Callable[[bytes], bytes]) -> Callable[[Path], Any]:
    def write(file: Path) -> None:
        sweep(file, {"I32": 1}, seed=1)
        binary = file.parent / f"{file.name}-bin" / "1.bin"
        if content := change(binary.read_bytes()):
            binary.write_bytes(content)
        else:
            binary.unlink()

    return write


MEAN = "benchmarks[0].states[1].summaries[2].data[0].value is "
NAME = "benchmarks[0].states[1].summaries[7].data[0].value is "
TIME = "benchmarks[3].real_time is "


@pytest.mark.parametrize(
    ("write", "place", "reason"),
    [
        (samples_as(lambda raw: b""), NAME, "cannot be read beside the JSON (No such file"),
        (samples_as(lambda raw: raw[:-2]), NAME, "has 158 bytes, and 40 samples take 160"),
        (
            samples_as(lambda raw: (2 * np.frombuffer(raw, "<f4")).tobytes()),
            NAME,
            "of another run: the mean of its samples is",
        ),
        (
            samples_as(lambda raw: raw[:-4] + np.array([np.nan], "<f4").tobytes()),
            "benchmarks[0].states[1]: sample 39",
            "is nan s, no time",
        ),
        (nvbench_with(7, 1, value="0"), NAME, "and 0 samples take 0"),
        (nvbench_with(2, value="nan"), MEAN, "nan s, no time"),
        (nvbench_with(2, value="-1e-6"), MEAN, "-1e-06 s, no time"),
        (nvbench_with(2, value="fast"), MEAN, "'fast', no number"),
        (nvbench_with(2, value=3), MEAN.removesuffix("is "), "expected str, got"),
        (google_with(real_time=-1), TIME, "no time that a run takes"),
        (google_with(real_time=0), TIME, "no time that a run takes"),
        (google_with(real_time=float("nan")), TIME, "nan s, no time"),
        (google_with(real_time=None), TIME, "missing"),
        (google_with(time_unit="h"), "benchmarks[3].time_unit", "invalid enum value 'h'"),
    ],
)
def test_a_case_that_cannot_be_used_is_left_out_and_named_and_the_others_are_compared(
    tmp_path: Path, write: Callable[[Path], Any], place: str, reason: str
) -> None:
    write(bad := tmp_path / "bad.json")
    status, cases, page = compared(tmp_path, bad, bad)
    line = next(line for line in page.splitlines() if "Both have 1 case without a time" in line)
    assert status == 0 and len(cases) and place in line and reason in line
    assert (medians(bad)["skipped"] != "").sum() == 1


def test_names_with_markup_stay_intact_in_markdown(tmp_path: Path) -> None:
    """Rendered by a parser of CommonMark with tables, each row has its columns, and each name reads
    as in the file."""
    called = ["scan<int, 4>|x", "a*b*c", "__init__ _x_"]
    cells = ["`scan<int, 4>\\|x`", "`a*b*c`", "`__init__ _x_`"]
    error = {"error_occurred": True, "error_message": "no <b>room</b> *at* _all_ in my_scan"}

    def write(file: Path, factor: float, seed: int) -> Path:
        times = {name: noisy(factor * 1e-6, 9) for name in [*called, f"only<{file.stem}>"]}
        return google(file, [repetition("BM", 0, 0, **error), *repeated(times)])

    a, b = two(tmp_path, write, 2)
    page = compared(tmp_path, a, b)[2]
    slower = [line.split(" | ")[1] for line in page.splitlines() if line.startswith("| slower")]
    assert slower == cells
    assert page.endswith("## Only in A\n\n- `only<a>`\n\n## Only in B\n\n- `only<b>`\n")
    assert r"(`BM`: no \<b>room\</b> \*at\* \_all\_ in my_scan)" in page
    table = others.medians(load([a])).content.markdown()
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| `")]
    assert [row[0] for row in rows] == [f"| {cell}" for cell in ["`BM`", *cells, "`only<a>`"]]
    assert len({len(row) for row in rows}) == 1


def test_control_characters_and_keys_of_the_user_are_read(tmp_path: Path) -> None:
    odd = state({"n": "a\nb"}, noisy(1e-6))
    lines = {"name": "value", "type": "string", "value": "first\nsecond"}
    odd["summaries"].append({"tag": "mine", "data": [lines]})
    assert names(sound(nvbench(tmp_path / "a.json", {"copy": [odd]}))) == ["copy n=a b on device 0"]
    file = google(tmp_path / "b.json", repeated({"BM/\x1b[1mßé": noisy(1e-6, 3)}, skipped=3.5))
    document = json.loads(file.read_text())
    document["context"]["schema"] = "v2"
    file.write_text("\ufeff" + json.dumps(document))
    assert sound(file)["count"].tolist() == [3]


def test_every_field_that_cannot_be_is_a_sentence_or_has_a_meaning(tmp_path: Path) -> None:
    file, refused, seen = tmp_path / "a.json", 0, set()
    samples = noisy(1e-6, 6)
    states = [state({"T": "I32", "n": 2}, samples, bytes_moved=8), skipped({"n": 3}, "why")]
    entries = repeated({"BM_copy/64": samples}, bytes_per_second=1e9)
    written = nvbench(file, {"copy": states}, {0: samples}), google(tmp_path / "g.json", entries)
    for document in [json.loads(path.read_text()) for path in written]:
        for path, value in ((path, value) for path in keys(document) for value in WRONG):
            file.write_text(changed(document, path, value))
            try:
                sides = comparison_sides.sides([file], [file])
                pairs = comparison.paired(*sides)
            except comparison_sides.Refused as error:
                refused += 1
                (reason,) = map(str, error.args)
                assert str(file) in reason and reason.isprintable(), (path, value)
                continue
            read = repr([side.cases.to_dict() | side.untimed.to_dict() for side in sides])
            if read not in seen:
                seen.add(read)
                page = comparison_page.page(comparison.judged(pairs, 0.1))
                assert "nan" not in page or value == "nan", (path, value)
    assert refused
