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
from scanlab_report.chapters import others, others_by_axis
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


def compared(tmp_path: Path, a: Path, b: Path, *more: str) -> tuple[int, pd.DataFrame, str]:
    """The status, the CSV and the page of a comparison, with an empty figure."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(comparison_page, "figure", lambda _: Figure())
        status = main(["compare", str(a), str(b), "--out", str(tmp_path / "out"), *more])
    return (
        status,
        pd.read_csv(tmp_path / "out" / "compare.csv"),
        (tmp_path / "out" / "compare.md").read_text(),
    )


def sound(*files: Path) -> pd.DataFrame:
    """The cases of files that have nothing wrong in them."""
    data = load(files)
    assert not data.problems, data.problems
    return data["other"]


def medians(tmp_path: Path, *files: Path) -> pd.DataFrame:
    """The table of medians as CSV."""
    (tmp_path / "medians.csv").write_text(others.medians(load(files)).content.csv())
    return pd.read_csv(tmp_path / "medians.csv")


def names(cases: pd.DataFrame) -> list[str]:
    return [
        comparison_sides.case_name(*row)
        for row in zip(cases["benchmark"], cases["case"], cases["device"], strict=True)
    ]


# -------------------------------------------------------------------------------------------------
# compare


def test_samples_of_nvbench_are_compared_by_their_medians(tmp_path: Path) -> None:
    a, b = (
        sweep(tmp_path / "a.json", {"I32": 1, "I64": 2}, seed=1),
        sweep(tmp_path / "b.json", {"I32": 1.2, "I64": 2}, seed=50),
    )
    status, cases, page = compared(tmp_path, a, b)
    assert status == 1 and cases["by"].eq("medians").all() and "Welch" not in page
    assert cases.set_index("case")["verdict"].to_dict() == {
        f"T={kind} Elements=2^{k}": verdict
        for kind, verdict in (("I32", "slower"), ("I64", "neither"))
        for k in range(16, 25, 2)
    }
    first, samples = (
        cases.iloc[0],
        [
            np.float32(noisy(factor * (2e-6 + 2**16 * 2.5e-12), seed=seed)).astype(float)
            for factor, seed in ((1, 1), (1.2, 50))
        ],
    )
    assert first["median_a_ns"] == pytest.approx(1e9 * np.median(samples[0])) and first[
        "ratio"
    ] == pytest.approx(np.median(samples[1]) / np.median(samples[0]))
    assert (
        first["p"] == pytest.approx(stats.mannwhitneyu(*samples, method="exact").pvalue, rel=1e-9)
        and first["low"] < first["ratio"] < first["high"]
    )
    assert first["p_corrected"] == pytest.approx(
        stats.false_discovery_control(cases["p"])[0], abs=0
    )
    assert "The threshold is 10%, a default" in page
    assert page.count("| slower | `copy` | `T=I32 Elements=2^") == 5
    assert compared(tmp_path, b, a)[0] == 0  # faster


@pytest.mark.parametrize("binary", [(False, False), (True, False)])
def test_without_samples_means_are_compared_and_that_is_said(
    tmp_path: Path, binary: tuple[bool, bool]
) -> None:
    a, b = (
        sweep(tmp_path / f"{name}.json", {"I32": factor}, seed, of)
        for (name, factor, seed), of in zip((("a", 1, 1), ("b", 1.3, 50)), binary, strict=True)
    )
    status, cases, page = compared(tmp_path, a, b)
    assert status == 1 and cases["verdict"].eq("slower").all() and cases["by"].eq("means").all()
    assert (
        "A file has no samples of 5 cases" in page
        and "With so few repetitions" not in page
        and "Welch's test" in page
        and "--jsonbin FILE" in page
    )
    samples = [
        noisy(factor * (2e-6 + 2**16 * 2.5e-12), seed=seed) for factor, seed in ((1, 1), (1.3, 50))
    ]
    assert cases["p"][0] == pytest.approx(
        stats.ttest_ind(*samples, equal_var=False).pvalue, rel=1e-3, abs=0
    )
    assert cases["median_a_ns"][0] == pytest.approx(1e9 * samples[0].mean(), rel=1e-6)


def test_a_mean_without_its_spread_gets_no_verdict(tmp_path: Path) -> None:
    """nvbench writes inf where samples were fewer than five, though a sample size of 40 may stand
    beside it."""
    a, b = (
        nvbench(tmp_path / f"{name}.json", {"copy": [state({"n": 1}, noisy(seconds, 4))]})
        for name, seconds in (("a", 1e-6), ("b", 9e-6))
    )
    for file in (a, b):
        file.write_text(file.read_text().replace('"value": "4"', '"value": "40"'))
    status, cases, _ = compared(tmp_path, a, b)
    assert status == 0 and cases["verdict"].tolist() == ["too few"]


def test_skipped_states_are_said_with_their_reasons(tmp_path: Path) -> None:
    states = [
        state({"n": 1}, noisy(1e-6)),
        skipped({"n": 2}, "out of\nmemory."),
        state({"n": 3}, noisy(1e-6)) | {"summaries": None},
    ]
    file = nvbench(tmp_path / "a.json", {"copy": states})
    _, cases, page = compared(tmp_path, file, file)
    assert (
        len(cases) == 1
        and (
            "Both have 2 cases without a time (`copy n=2`: out of memory; `copy n=3`: the file "
            "has no time of it)"
        )
        in page
    )
    table = medians(tmp_path, file)
    assert table["skipped"].fillna("").tolist() == [
        "",
        "out of memory.",
        "the file has no time of it",
    ]


def test_cases_of_one_file_alone_are_listed(tmp_path: Path) -> None:
    a, b = (
        nvbench(tmp_path / f"{name}.json", {"copy": [state({"n": n}, noisy(1e-6)) for n in sizes]})
        for name, sizes in (("a", (1, 2)), ("b", (2, 4096)))
    )
    _, cases, page = compared(tmp_path, a, b)
    assert cases["verdict"].tolist() == ["only in A", "neither", "only in B"]
    assert page.endswith("## Only in A\n\n- `copy` `n=1`\n\n## Only in B\n\n- `copy` `n=2^12`\n")


def of_gpus(file: Path, seconds: float, *gpus: tuple[int, str]) -> Path:
    """A copy on each of some GPUs, which are given by number and name."""
    nvbench(file, {"copy": [state({"n": 1}, noisy(seconds), number) for number, _ in gpus]})
    file.write_text(
        json.dumps(
            json.loads(file.read_text())
            | {"devices": [{"id": number, "name": name} for number, name in gpus]}
        )
    )
    return file


def test_one_gpu_each_is_compared_whatever_its_slot_and_several_are_by_their_numbers(
    tmp_path: Path,
) -> None:
    one, other = (
        of_gpus(tmp_path / "a.json", 1e-6, (0, "GPU")),
        of_gpus(tmp_path / "b.json", 2e-6, (1, "GPU")),
    )
    status, cases, _ = compared(tmp_path, one, other)
    assert status == 1 and cases["verdict"].tolist() == ["slower"]
    assert medians(tmp_path, one, of_gpus(tmp_path / "c.json", 2e-6, (0, "Another")))[
        "device"
    ].tolist() == ["GPU", "Another"]
    both = of_gpus(tmp_path / "d.json", 2e-6, (0, "GPU"), (1, "GPU"))
    status, cases, page = compared(tmp_path, both, other)
    assert cases["verdict"].tolist() == ["only in A", "neither"] and page.endswith(
        "- `copy` `n=1` on device 0\n"
    )
    assert medians(tmp_path, both)["device"].tolist() == ["GPU on device 0", "GPU on device 1"]


def test_repetitions_of_google_benchmark_are_compared_by_their_medians(tmp_path: Path) -> None:
    a, b = (
        google(
            tmp_path / f"{name}.json",
            [
                *repeated(
                    {
                        f"BM_copy/{n}/real_time": noisy(factor * n * 1e-9, 9, seed + n)
                        for n in (64, 512)
                    },
                    time_unit="us",
                ),
                repetition("BM_other", 0, 0, error_occurred=True, error_message="no device"),
                aggregate("BM_copy", "BigO", 0, 9),
            ],
        )
        for name, factor, seed in (("a", 1, 1), ("b", 1.5, 7))
    )
    status, cases, page = compared(tmp_path, a, b)
    assert (
        status == 1
        and cases["verdict"].tolist() == ["slower", "slower"]
        and cases["case"].tolist() == ["64/real_time", "512/real_time"]
    )
    assert cases["median_a_ns"][0] == pytest.approx(1e9 * np.median(noisy(64e-9, 9, 65)))
    assert "Both have 1 case without a time (`BM_other`: no device)" in page


def test_aggregates_of_google_benchmark_are_compared_by_their_means(tmp_path: Path) -> None:
    a, b = (
        google(
            tmp_path / f"{name}.json",
            [
                of
                for of in repeated({"BM_copy/64": noisy(seconds, 9)})
                if of["run_type"] == "aggregate"
            ],
        )
        for name, seconds in (("a", 1e-6), ("b", 2e-6))
    )
    status, cases, page = compared(tmp_path, a, b)
    assert (
        status == 1 and cases["by"].tolist() == ["means"] and "--benchmark_repetitions=10" in page
    )
    assert cases["p"][0] == pytest.approx(
        welch(
            1,
            np.std(noisy(1, 9), ddof=1) / np.mean(noisy(1, 9)),
            9,
            2,
            2 * np.std(noisy(1, 9), ddof=1) / np.mean(noisy(1, 9)),
            9,
        )[0],
        rel=1e-3,
        abs=0,
    )


@pytest.mark.parametrize("program", ["nvbench", "Google Benchmark"])
def test_what_fails_in_b_alone_is_wrong_and_what_is_skipped_there_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], program: str
) -> None:
    """Google Benchmark says which of the two it is; of nvbench the reason begins as that of an
    exception."""

    def file(
        name: str, without_a_time: dict[str, tuple[bool, str]], timed: tuple[str, ...]
    ) -> Path:
        if program == "nvbench":
            states = [
                *(state({"n": n}, noisy(1e-6)) for n in timed),
                *(
                    skipped({"n": n}, f"Unexpected error: {why}" if failed else why)
                    for n, (failed, why) in without_a_time.items()
                ),
            ]
            return nvbench(tmp_path / name, {"BM": states})
        entries = [
            repetition(
                f"BM/n:{n}",
                0,
                0,
                **(
                    {"error_occurred": True, "error_message": why}
                    if failed
                    else {"skipped": True, "skip_message": why}
                ),
            )
            for n, (failed, why) in without_a_time.items()
        ]
        return google(
            tmp_path / name, [*entries, *repeated({f"BM/n:{n}": noisy(1e-6, 9) for n in timed})]
        )

    a, b = (
        file("a.json", {}, ("1", "2", "3")),
        file("b.json", {"2": (True, "wrong result"), "3": (False, "no room")}, ("1",)),
    )
    status, cases, page = compared(tmp_path, a, b)
    assert status == 1 and sorted(cases["verdict"]) == ["neither", "only in A", "only in A"]
    assert (
        "**Wrong in B**: 1 case that A has a time of failed in B, such as `BM" in page
        and "wrong result. B has 1 other case without a time (`BM" in page
    )
    assert compared(tmp_path, a, file("c.json", {"3": (False, "no room")}, ("1", "2")))[0] == 0
    assert compared(tmp_path, b, b)[0] == compared(tmp_path, b, a)[0] == 0
    status, cases, page = compared(
        tmp_path, file("d.json", {}, ("2",)), file("e.json", {"2": (True, "wrong result")}, ())
    )  # the only case
    assert (
        status == 1
        and cases["verdict"].tolist() == ["only in A"]
        and "**Wrong in B**: 1 case" in page
    )
    assert main(["compare", str(a), str(file("f.json", {"2": (False, "no room")}, ("4",)))]) == 2
    message = capsys.readouterr().err
    assert re.search(
        (
            r"have no timed case in common: A has BM n[=:]1, B has BM n[=:]4. B has 1 case "
            r"without a time \(`BM n[=:]2`: no room\)\n"
        ),
        message,
    ), message


def test_repetitions_without_numbers_are_successive_and_a_time_of_nothing_is_none(
    tmp_path: Path,
) -> None:
    a, b = (
        google(
            tmp_path / f"{name}.json",
            [
                *(
                    {
                        key: value
                        for key, value in of.items()
                        if key not in ("repetitions", "repetition_index")
                    }
                    for of in repeated({"BM_copy/64": noisy(factor * 1e-6, 9, seed)})
                    if of["run_type"] == "iteration"
                ),
                repetition("BM_nothing", 0, 0.0),
            ],
        )
        for name, factor, seed in (("a", 1, 1), ("b", 1.5, 7))
    )
    status, cases, page = compared(tmp_path, a, b)
    assert (
        status == 1 and cases["verdict"].tolist() == ["slower"] and cases["count_a"].tolist() == [9]
    )
    assert (
        "Both have 1 case without a time (`BM_nothing`: benchmarks[9].real_time is 0 s, no "
        "time that a run takes)"
    ) in page


def test_aggregates_of_google_benchmark_before_1_5_are_no_cases(tmp_path: Path) -> None:
    """Nothing but their names says what they are; a benchmark whose name ends likewise, and has no
    namesake without, is one."""
    new = ("run_name", "run_type", "repetitions", "repetition_index", "aggregate_name")
    entries = [
        {key: value for key, value in of.items() if key not in new}
        for of in repeated({"BM_copy/64": noisy(1e-6, 9), "BM_geometric_mean": [1e-6, 1.1e-6]})
    ]
    entries.append(
        {
            "name": "BM_copy_BigO",
            "cpu_coefficient": 1.0,
            "real_coefficient": 1.0,
            "big_o": "N",
            "time_unit": "ns",
        }
    )
    assert dict(
        zip(
            names(cases := sound(google(tmp_path / "a.json", entries))), cases["count"], strict=True
        )
    ) == {"BM_copy 64": 9, "BM_geometric_mean": 2}


def test_one_repetition_is_too_few_and_how_to_have_more_is_said(tmp_path: Path) -> None:
    file = google(tmp_path / "a.json", [repetition("BM_copy/64", 0, 1e-6)])
    status, cases, page = compared(tmp_path, file, file)
    assert (
        status == 0
        and cases["verdict"].tolist() == ["too few"]
        and "--benchmark_repetitions=10" in page
    )


def test_files_of_two_programs_are_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = (
        sweep(tmp_path / "a.json", {"I32": 1}, 1),
        google(tmp_path / "b.json", repeated({"BM_copy": noisy(1e-6, 9)})),
    )
    (own := tmp_path / "own.json").write_text(json.dumps(fixtures.timings(rounds=5, top=10)))
    for first, second, said in (
        (a, b, "is of nvbench and"),
        (own, a, "is of Scanlab and"),
        (b, own, "of Scanlab: they time in different ways"),
    ):
        assert main(["compare", str(first), str(second), "--out", str(tmp_path / "out")]) == 2
        assert said in capsys.readouterr().err and not (tmp_path / "out").exists()
    assert main(["compare", str(a), str(a), "--record-noise", str(tmp_path / "noise.json")]) == 2
    assert (
        "--record-noise is for results of scanlab" in capsys.readouterr().err
        and not (tmp_path / "noise.json").exists()
    )


@pytest.mark.parametrize(
    "command",
    [["figure", "throughput", "--out", "none.pdf"], ["mine", "best"], ["table", "rivals"]],
)
def test_commands_for_one_scan_say_what_reads_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    other = tmp_path / "x.json"
    other.write_text('{"x": 1}')
    for file, said in (
        (
            nvbench(tmp_path / "a.json", {"copy": [state({"n": 1}, noisy(1e-6))]}),
            "has results of nvbench: `scanlab-report compare`",
        ),
        (other, "is JSON of no program that is known here"),
    ):
        assert main([*command[:2], str(file), *command[2:]]) == 2
        assert said in capsys.readouterr().err


def test_samples_are_found_by_the_path_of_older_versions_and_where_files_were_moved(
    tmp_path: Path,
) -> None:
    file = sweep(tmp_path / "run.json", {"I32": 1}, seed=1)
    file.write_text(file.read_text().replace('"run.json-bin/', '"perf_data/old/run.json-bin/'))
    assert all(len(samples) == 40 for samples in sound(file)["samples"])


# -------------------------------------------------------------------------------------------------
# statistics


def test_the_interval_of_a_ratio_of_means_covers_it() -> None:
    draw, within = np.random.default_rng(3), 0
    for _ in range(400):
        a, b = draw.normal(1, 0.1, 12), draw.normal(1.5, 0.3, 20)
        _, ratio = welch(a.mean(), a.std(ddof=1), 12, b.mean(), b.std(ddof=1), 20)
        within += ratio.low <= 1.5 <= ratio.high
    assert 0.92 < within / 400 < 0.98
    assert (
        welch(1, 0, 9, 1, 0, 9)[0] == 1
        and welch(1, 0, 9, 2, 0, 9)[0] == 0
        and welch(1, np.inf, 9, 2, 1, 9)[0] == 1
    )


# -------------------------------------------------------------------------------------------------
# build


def test_a_table_has_the_median_and_the_throughput_of_every_case(tmp_path: Path) -> None:
    file = sweep(tmp_path / "a.json", {"I32": 1}, seed=1)
    assert main(["build", str(tmp_path), "--out", str(tmp_path / "out")]) == 0
    table = pd.read_csv(tmp_path / "out" / "tables" / "medians.csv")
    samples = sound(file)["samples"][0] / 1e9
    interval = intervals.median_interval(1e6 * samples)
    assert table.iloc[0][
        ["median_us", "median_us_low", "median_us_high"]
    ].tolist() == pytest.approx([interval.value, interval.low, interval.high])
    rate = intervals.median_interval(8 * 2**16 / samples / 1e9)
    assert table.iloc[0][["gb_per_s", "gb_per_s_low", "gb_per_s_high"]].tolist() == pytest.approx(
        [rate.value, rate.low, rate.high]
    )
    assert {path.name for path in (tmp_path / "out" / "figures").iterdir()} == {
        f"{name}.{suffix}"
        for name in ("distributions", "time_by_axis")
        for suffix in ("pdf", "png")
    }


def test_figures_draw_the_samples_and_the_medians_of_both_files(tmp_path: Path) -> None:
    data = load(
        [
            sweep(tmp_path / f"{name}.json", {"I32": factor, "$I_$": 2}, seed)
            for name, factor, seed in (("a", 1, 1), ("b", 1.2, 50))
        ]
    )
    samples = [cases["samples"].tolist() for _, cases in data["other"].groupby("file")]
    with style.sheet():
        steps, lines = (
            make(data).content for make in (others.distributions, others_by_axis.time_by_axis)
        )
    steps.canvas.draw()  # a dollar sign of a name begins no formula
    panel = steps.axes[0]
    for line, of_file in zip(
        [of for of in panel.lines if len(of.get_xdata()) == 41], samples, strict=True
    ):
        assert line.get_xdata()[1:] == pytest.approx(
            np.sort(of_file[0]) / 1e3
        ) and line.get_ydata() == pytest.approx(np.arange(41) / 40)
    drawn = {of.get_label(): of for of in lines.axes[0].lines}
    assert drawn["T=I32, b.json"].get_xdata().tolist() == [2**k for k in range(16, 25, 2)]
    assert drawn["T=I32, b.json"].get_ydata() == pytest.approx(
        [np.median(of) / 1e3 for of in samples[1][:5]]
    )
    rates = {of.get_label(): of for of in lines.axes[1].lines}
    assert rates["T=I32, a.json"].get_ydata() == pytest.approx(
        [8 * 2**k / np.median(of) for k, of in zip(range(16, 25, 2), samples[0], strict=False)],
        rel=1e-5,
    )


def test_without_samples_no_distribution_is_drawn_and_none_of_an_earlier_build_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    for binary in (True, False):
        assert (
            main(
                ["build", str(sweep(tmp_path / "a.json", {"I32": 1}, 1, binary)), "--out", str(out)]
            )
            == 0
        )
        assert (out / "figures" / "distributions.png").exists() == binary and (
            out / "figures" / "time_by_axis.png"
        ).exists()
    assert (
        "figure distributions is left out: no case has two samples or more."
        in capsys.readouterr().out
    )


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
    if not more:
        (tmp_path / "run" / "own.json").write_text(json.dumps(fixtures.timings(rounds=5, top=10)))
    assert main(["build", "run", *more, "--out", "out"]) == 2
    assert re.search(
        r"own.json is Scanlab's own: build each alone"
        if not more
        else rf"{more[0]}: of Scanlab's results alone",
        capsys.readouterr().err,
    )
    assert not Path("out").exists()


# -------------------------------------------------------------------------------------------------
# bad input


def of_nvbench(change: Callable[[dict[str, Any]], Any]) -> Callable[[Path], None]:
    def write(file: Path) -> None:
        document = json.loads(sweep(file, {"I32": 1}, seed=1).read_text())
        change(document["benchmarks"][0]["states"][1])
        file.write_text(json.dumps(document))

    return write


def of_google(change: Callable[[list[dict[str, Any]]], Any]) -> Callable[[Path], None]:
    def write(file: Path) -> None:
        change(entries := repeated({"BM_copy/64": noisy(1e-6, 9), "BM_copy/128": noisy(1e-6, 9)}))
        google(file, entries)

    return write


def of_samples(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def write(file: Path) -> None:
        binary = sweep(file, {"I32": 1}, seed=1).parent / f"{file.name}-bin" / "1.bin"
        binary.write_bytes(change(binary.read_bytes()))

    return write


def text(content: str) -> Callable[[Path], None]:
    return lambda file: file.write_text(content) and None


MEAN, NAME = (
    "benchmarks[0].states[1].summaries[2].data[0].value",
    "benchmarks[0].states[1].summaries[7].data[0].value",
)
BAD: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "cut": (
        lambda file: file.write_text(sweep(file, {"I32": 1}, 1).read_text()[:2000]) and None,
        "line ",
        "is truncated or not JSON",
    ),
    "another format": (
        lambda file: (
            file.write_text(
                sweep(file, {"I32": 1}, 1).read_text().replace('"major": 1', '"major": 2')
            )
            and None
        ),
        "meta.version.json.major",
        "is 2, and only format 1",
    ),
    "hyperfine": (
        text('{"results": [{"command": "ls", "mean": 1.0, "times": [1.0]}]}'),
        "results[0].command",
        "seems to be results of hyperfine",
    ),
    "pyperf": (
        text('{"benchmarks": [{"runs": []}], "metadata": {}, "version": "1.0"}'),
        "benchmarks[0].runs",
        "seems to be results of pyperf",
    ),
    "pytest-benchmark": (
        text('{"machine_info": {}, "benchmarks": [{"name": "a", "stats": {}}]}'),
        "benchmarks[0].stats",
        "seems to be results of pytest-benchmark",
    ),
    "JMH": (text('[{"jmhVersion": "1.37"}]'), "[0].jmhVersion", "seems to be results of JMH"),
    "nvbench's list": (
        text('{"benchmarks": [{"name": "copy", "index": 0, "axes": []}]}'),
        "benchmarks[0].axes",
        "nvbench's list of benchmarks, without results",
    ),
    "other JSON": (
        text('{"name": "x", "version": 2}'),
        "is JSON of no program",
        "its keys are 'name', 'version'",
    ),
    "a table": (
        text("| T | Samples |\n|---|---|\n"),
        "line 1",
        "is no JSON, and begins with '| T | Samples |'",
    ),
    "an endless integer": (
        text('{"benchmarks": ' + "9" * 5000 + "}"),
        "cannot be read",
        "Exceeds the limit (4300 digits)",
    ),
    "an older Scanlab": (
        text('{"context": {"schema": "scanlab-results/1"}, "benchmarks": []}'),
        "context.schema",
        "of an older Scanlab: measure again",
    ),
}
LEFT_OUT: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "no samples beside it": (
        lambda file: (sweep(file, {"I32": 1}, 1).parent / f"{file.name}-bin" / "1.bin").unlink(),
        NAME,
        "cannot be read beside the JSON (No such file",
    ),
    "samples cut": (
        of_samples(lambda raw: raw[:-2]),
        NAME,
        "has 158 bytes, and 40 samples take 160",
    ),
    "samples of another run": (
        of_samples(lambda raw: (2 * np.frombuffer(raw, "<f4")).tobytes()),
        NAME,
        "of another run: the mean of its samples is",
    ),
    "a sample that is NaN": (
        of_samples(lambda raw: raw[:-4] + np.array([np.nan], "<f4").tobytes()),
        "benchmarks[0].states[1]: sample 39",
        "is nan s, no time",
    ),
    "no samples at all": (
        of_nvbench(lambda of: of["summaries"][7]["data"][1].update(value="0")),
        NAME,
        "and 0 samples take 0",
    ),
    "a mean that is NaN": (
        of_nvbench(lambda of: of["summaries"][2]["data"][0].update(value="nan")),
        MEAN,
        "is nan s, no time",
    ),
    "a negative mean": (
        of_nvbench(lambda of: of["summaries"][2]["data"][0].update(value="-1e-6")),
        MEAN,
        "is -1e-06 s, no time",
    ),
    "a mean in words": (
        of_nvbench(lambda of: of["summaries"][2]["data"][0].update(value="fast")),
        MEAN,
        "is 'fast', no number",
    ),
    "a mean without a value": (
        of_nvbench(lambda of: of["summaries"][2]["data"][0].pop("value")),
        MEAN,
        "is missing",
    ),
    "an axis that is a number": (
        of_nvbench(lambda of: of["axis_values"][0].update(value=3)),
        "benchmarks[0].states[1].axis_values[0].value",
        "expected str, got",
    ),
    "a negative time": (
        of_google(lambda of: of[3].update(real_time=-1)),
        "benchmarks[3].real_time",
        "no time that a run takes",
    ),
    "a time that is NaN": (
        of_google(lambda of: of[3].update(real_time=float("nan"))),
        "benchmarks[3].real_time",
        "is nan s, no time",
    ),
    "no time": (
        of_google(lambda of: of[3].pop("real_time")),
        "benchmarks[3].real_time",
        "is missing",
    ),
    "another unit": (
        of_google(lambda of: of[3].update(time_unit="h")),
        "benchmarks[3].time_unit",
        "invalid enum value 'h'",
    ),
}


@pytest.mark.parametrize("fault", BAD)
@pytest.mark.parametrize("command", ["compare", "build"])
def test_what_is_wrong_is_said_with_its_place_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, fault: str
) -> None:
    write, place, said = BAD[fault]
    bad, out = tmp_path / "bad.json", tmp_path / "out"
    write(bad)
    assert main([command, *[str(bad)] * (2 if command == "compare" else 1), "--out", str(out)]) == 2
    first = capsys.readouterr().err.splitlines()[0]
    assert first.startswith(f"error: {bad}: {place}") and said in first, first
    assert not out.exists() or not any(out.iterdir())


@pytest.mark.parametrize("fault", LEFT_OUT)
def test_a_case_that_cannot_be_used_is_left_out_and_named_and_the_others_are_compared(
    tmp_path: Path, fault: str
) -> None:
    write, place, reason = LEFT_OUT[fault]
    write(bad := tmp_path / "bad.json")
    status, cases, page = compared(tmp_path, bad, bad)
    line = next(line for line in page.splitlines() if "Both have 1 case without a time" in line)
    assert status == 0 and len(cases) and place in line and reason in line
    assert medians(tmp_path, bad)["skipped"].notna().sum() == 1


def test_a_name_used_twice_is_two_cases_and_repetitions_in_one_list_are_samples(
    tmp_path: Path,
) -> None:
    twice = [{**state({"n": 1}, noisy(seconds))} for seconds in (1e-6, 2e-6)]
    of_nvbench = sound(nvbench(tmp_path / "a.json", {"copy": twice}))
    of_google = sound(
        google(
            tmp_path / "b.json",
            [
                repetition("BM", 0, seconds, family_index=family)
                for seconds, family in ((1e-6, 0), (2e-6, 2))
            ],
        )
    )
    for cases in (of_nvbench, of_google):
        first, second = names(cases)
        assert cases["key"].nunique() == 2 and second == f"{first} (occurrence 2)".replace(
            " on device 0 (occurrence 2)", " (occurrence 2) on device 0"
        )
        assert cases["mean_ns"][1] == pytest.approx(2 * cases["mean_ns"][0], rel=0.1)
    assert sound(
        google(tmp_path / "c.json", [repetition("BM", 0, seconds) for seconds in noisy(1e-6, 10)])
    )["count"].tolist() == [10]


def test_axes_in_another_order_are_the_same_case(tmp_path: Path) -> None:
    a, b = (
        nvbench(tmp_path / f"{name}.json", {"copy": [state(axes, noisy(1e-6))]})
        for name, axes in (("a", {"T": "I32", "n": 1}), ("b", {"n": 1, "T": "I32"}))
    )
    assert compared(tmp_path, a, b)[1][["case", "verdict"]].to_numpy().tolist() == [
        ["T=I32 n=1", "neither"]
    ]


@pytest.mark.parametrize("repetitions", [1, 9])
def test_the_samples_of_several_runs_a_side_are_pooled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], repetitions: int
) -> None:
    """Files of aggregates alone have one sample each, their mean."""
    sides = [
        [
            google(
                tmp_path / f"{side}{run}.json",
                [repetition("BM/64", 0, noisy(seconds, 1, 10 * run + side)[0])]
                if repetitions == 1
                else [
                    of
                    for of in repeated({"BM/64": noisy(seconds, repetitions, 10 * run + side)})
                    if of["run_type"] == "aggregate"
                ],
            )
            for run in range(6)
        ]
        for side, seconds in ((0, 1e-6), (1, 2e-6))
    ]
    paths = [[str(file) for file in files] for files in sides]
    assert main(["compare", *paths[0], "--with", *paths[1], "--out", str(tmp_path / "out")]) == 1
    (row,) = pd.read_csv(tmp_path / "out" / "compare.csv").itertuples()
    assert (row.by, row.verdict, row.count_a, row.count_b) == ("medians", "slower", 6, 6)
    assert "A pools the samples of 6 files, and B those of 6 files." in capsys.readouterr().out
    assert main(["compare", *paths[0]]) == main(["compare", *paths[0][:1]]) == 2
    assert "name A and B, or several files a side" in capsys.readouterr().err


def test_names_with_markup_stay_intact_in_markdown(tmp_path: Path) -> None:
    """Rendered by a parser of CommonMark with tables, each row has its columns, and each name reads
    as in the file."""
    called = ["scan<int, 4>|x", "a*b*c", "__init__ _x_", "tick`s ``"]
    cells = ["`scan<int, 4>\\|x`", "`a*b*c`", "`__init__ _x_`", "``` tick`s `` ```"]
    failed = repetition(
        "BM", 0, 0, error_occurred=True, error_message="no <b>room</b> *at* _all_ in my_scan"
    )
    a, b = (
        google(
            tmp_path / f"{name}.json",
            [failed, *repeated({of: noisy(seconds, 9) for of in [*called, f"only<{name}>"]})],
        )
        for name, seconds in (("a", 1e-6), ("b", 2e-6))
    )
    page = compared(tmp_path, a, b)[2]
    assert [
        line.split(" | ")[1] for line in page.splitlines() if line.startswith("| slower")
    ] == cells
    assert page.endswith("## Only in A\n\n- `only<a>`\n\n## Only in B\n\n- `only<b>`\n")
    assert r"(`BM`: no \<b>room\</b> \*at\* \_all\_ in my_scan)" in page
    rows = [
        line.split(" | ")
        for line in others.medians(load([a])).content.markdown().splitlines()
        if line.startswith("| `")
    ]
    assert [row[0].removeprefix("| ") for row in rows if "real" in row] == [
        "`BM`",
        *cells,
        "`only<a>`",
    ] and len({len(row) for row in rows}) == 1


def test_control_characters_and_keys_of_the_user_are_read(tmp_path: Path) -> None:
    file = nvbench(tmp_path / "a.json", {"copy": [state({"n": "a\nb"}, noisy(1e-6))]})
    document = json.loads(file.read_text())
    document["benchmarks"][0]["states"][0]["summaries"].append(
        {"tag": "mine", "data": [{"name": "value", "type": "string", "value": "first\nsecond"}]}
    )
    file.write_text(json.dumps(document))
    assert names(sound(file)) == ["copy n=a b on device 0"]
    file = google(tmp_path / "b.json", repeated({"BM/\x1b[1mßé": noisy(1e-6, 3)}, skipped=3.5))
    document = json.loads(file.read_text())
    document["context"]["schema"] = "v2"
    file.write_text("\ufeff" + json.dumps(document))
    assert sound(file)["count"].tolist() == [3]


def test_every_field_that_cannot_be_is_a_sentence_or_has_a_meaning(tmp_path: Path) -> None:
    file, refused, seen = tmp_path / "a.json", 0, set()
    nvbench(
        file,
        {
            "copy": [
                state({"T": "I32", "n": 2}, samples := noisy(1e-6, 6), bytes_moved=8),
                skipped({"n": 3}, "why"),
            ]
        },
        {0: samples},
    )
    documents = [json.loads(file.read_text())]
    documents.append(
        json.loads(
            google(
                tmp_path / "g.json", repeated({"BM_copy/64": noisy(1e-6, 6)}, bytes_per_second=1e9)
            ).read_text()
        )
    )
    for document in documents:
        for path in keys(document):
            for value in WRONG:
                file.write_text(changed(document, path, value))
                try:
                    read = comparison_sides.sides([file], [file])
                    if (
                        found := repr(
                            [side.cases.to_dict() | side.untimed.to_dict() for side in read]
                        )
                    ) in seen:
                        continue
                    seen.add(found)
                    page = comparison_page.page(comparison.judged(comparison.paired(*read), 0.1))
                    assert "nan" not in page or value == "nan", (path, value)
                except comparison_sides.Refused as error:
                    refused += 1
                    assert [
                        str(file) in str(said) and str(said).isprintable() for said in error.args
                    ] == [True], (path, value, error.args)
    assert refused
