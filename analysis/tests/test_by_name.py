"""Figures and tables by name: what is listed of them, and one drawn alone."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scanlab_report import experiments, opened, style
from scanlab_report.chapters.scans import throughput, time
from scanlab_report.commands import mine
from scanlab_report.commands.__main__ import main
from scanlab_report.data import Ask
from scanlab_report.groups import CEILING, FLOOR
from scanlab_report.load import load
from scanlab_report.pick import Lacking
from tests import fixtures, tiny
from tests.tiny import case, near

REPOSITORY = Path(__file__).parents[2]
N = 1 << 20


@pytest.fixture
def listed(capsys: pytest.CaptureFixture[str]) -> dict[tuple[str, str], dict[str, Any]]:
    assert main(["list", "--json"]) == 0
    return {(entry["kind"], entry["name"]): entry for entry in json.loads(capsys.readouterr().out)}


def test_every_figure_and_table_is_listed_with_what_measures_it(
    listed: dict[tuple[str, str], dict[str, Any]],
) -> None:
    assert set(listed) == {
        (kind, name) for kind in ("figure", "table") for name in opened.registered(kind)
    }
    for entry in listed.values():
        assert entry["shows"].endswith((".", "!")), entry
        assert bool(entry["commands"]) == bool(entry["experiments"]), entry
        assert entry["seconds"] == sum(
            experiments.known()[name].seconds for name in entry["experiments"]
        )


HEAD_TO_HEAD = [
    "head_to_head_i8",
    "head_to_head_i16",
    "head_to_head_i32",
    "head_to_head_i64",
    "head_to_head_f16",
    "head_to_head_f32",
    "head_to_head_f64",
    "head_to_head_operators",
]


@pytest.mark.parametrize(
    ("kind", "name", "by"),
    [
        ("figure", "throughput", ["scans"]),
        ("figure", "head_to_head", HEAD_TO_HEAD),
        ("figure", "dram_traffic", ["traffic"]),
        ("figure", "hardware_conflicts", ["counters", "explain"]),
        ("table", "rivals", [*HEAD_TO_HEAD, "python"]),
        ("table", "implicit_sync", ["implicit_sync"]),
        ("figure", "scenarios_order", ["scenarios"]),
        (
            "table",
            "streams_targets",
            ["schedules", "traces", "from_memory", "from_files", "from_large_files"],
        ),
    ],
)
def test_what_a_figure_needs_says_what_measures_it(
    listed: dict[tuple[str, str], dict[str, Any]], kind: str, name: str, by: list[str]
) -> None:
    assert listed[kind, name]["experiments"] == by


def test_steps_of_one_session_are_one_command() -> None:
    measured = experiments.plan(["explain", "traffic", "scans"])
    assert measured.commands == (
        "tools/record build/cuda/scanlab results/run scans traffic",
        "build/cpu/scanlab explain --all --out results/run/explain --force",
    )
    seconds = {name: experiments.known()[name].seconds for name in ("scans", "traffic", "explain")}
    assert measured.seconds == sum(seconds.values()) and re.search(
        r" \(about \d min\)$", str(measured)
    )


def record(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, REPOSITORY / "tools/record", *words], capture_output=True, text=True
    )


def test_steps_over_several_gpus_are_asked_for_by_their_number_and_take_longer_on_more(
    tmp_path: Path,
) -> None:
    steps = [of.name for of in experiments.known().values() if of.command == "gpus"]
    assert experiments.plan(["ranks_chunk", "scans"]).commands == (
        "tools/record build/cuda/scanlab results/run scans",
        "tools/record build/cuda/scanlab results/x4 --gpus 4 ranks_chunk",
    )
    run = tmp_path / "run"
    assert record("true", run, "--gpus", "2", "--seconds", "0").stdout.split("\n") == [
        f"{step}: not begun, for lack of time" for step in steps
    ] + [""]
    seconds = experiments.known()["ranks_chunk"].seconds
    for gpus, enough in ((8, 2 * seconds), (2, seconds // 2)):
        assert (
            "not begun"
            in record(
                "true", run, "--gpus", str(gpus), "--seconds", str(enough - 1), "ranks_chunk"
            ).stdout
        )
    for words, said in (
        (["ranks_chunk"], "no step ranks_chunk; there are verify"),
        (["--gpus", "2", "scans"], "no step scans with --gpus"),
        (["--gpus"], "expected one argument"),
    ):
        refused = record("true", run, *words)
        assert refused.returncode == 2 and said in refused.stderr
    assert (
        record("true", run, "--gpus", "2", "ranks_strong").returncode == 0
        and (run / "log" / "ranks_strong.finished").exists()
    )


@pytest.mark.parametrize(
    ("program", "words", "said"),
    [
        ("true", ["--seconds"], "--seconds: expected one argument"),
        ("true", ["--seconds", "-5"], "not '-5'"),
        ("true", ["--seconds", "abc", "scans"], "not 'abc'"),
        ("nope", ["scans"], "there is no program nope: build it, or name another"),
        ("true", ["nope"], "there is no step nope"),
    ],
)
def test_tools_record_says_what_is_wrong_in_one_sentence_and_makes_nothing(
    tmp_path: Path, program: str, words: list[str], said: str
) -> None:
    refused = record(program, tmp_path / "run", *words)
    assert (
        refused.returncode == 2
        and said in refused.stderr
        and len(refused.stderr.splitlines()) == 1
        and not refused.stdout
    )
    assert not (tmp_path / "run").exists()


def test_a_step_that_was_left_out_is_tried_again(tmp_path: Path) -> None:
    """``true`` has no ``scanlab_nvbench`` beside it."""
    for _ in range(2):
        ran = record("/bin/true", tmp_path / "run", "nvbench")
        assert "Left out: there is no /bin/scanlab_nvbench" in ran.stdout
    assert not (tmp_path / "run" / "log" / "nvbench.finished").exists()


# ------------------------------------------------------------------------------------------------
# one figure, one table


def of_floats(document: dict[str, Any]) -> dict[str, Any]:
    """The same results of a kernel that takes floats alone."""
    document["benchmarks"] = [
        entry | {"type": "f32"}
        for entry in document["benchmarks"]
        if (entry["type"], entry["op"]) == ("i32", "plus")
    ]
    return document


@pytest.fixture(scope="module")
def floats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("floats") / "scan.json"
    file.write_text(json.dumps(of_floats(fixtures.timings(rounds=6, top=16))))
    return file


@pytest.mark.parametrize(
    "name", ["throughput", "time", "ceiling_share", "speedup", "waterfall", "single_wave"]
)
def test_of_floats_alone_every_figure_of_scans_is_drawn_and_says_so(
    floats: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert main(["figure", name, str(floats), "--out", str(tmp_path / "f.svg")]) == 0
    said = capsys.readouterr().out
    assert "32-bit floats" in said or name == "speedup", said  # its legend has the type
    assert "32-bit integers" not in said and (tmp_path / "f.svg").stat().st_size > 10_000


@pytest.mark.parametrize("name", ["throughput", "time", "waterfall", "overview"])
def test_sizes_of_which_none_is_a_power_of_two_are_drawn(tmp_path: Path, name: str) -> None:
    document = fixtures.timings(rounds=6, top=17)
    document["benchmarks"] = [
        entry if entry["variant"] == FLOOR else entry | {"items": entry["items"] - 24}
        for entry in document["benchmarks"]
        if entry["variant"] == FLOOR or entry["items"] >= 1024
    ]
    (tmp_path / "scan.json").write_text(json.dumps(document))
    assert (
        main(["figure", name, str(tmp_path / "scan.json"), "--out", str(tmp_path / "f.svg")]) == 0
    )
    assert (
        main(["table", "summary", str(tmp_path / "scan.json"), "--out", str(tmp_path / "t.csv")])
        == 0
    )
    assert len((tmp_path / "t.csv").read_text().splitlines()) > 3


def test_i32_comes_before_other_types_and_copies_alone_do_not_count() -> None:
    both = tiny.tables(
        [
            case(variant, N, 1e4, type=type_)
            for variant in (CEILING, "best")
            for type_ in ("f32", "i32", "i8")
        ]
    )
    with style.sheet():
        assert not throughput(both).unusual
        floats = tiny.tables(
            [
                case(CEILING, N, 1e4),
                case(CEILING, N, 1e4, type="f32"),
                case("best", N, 2e4, type="f32"),
            ]
        )
        assert throughput(floats).unusual == ("f32",)


def test_what_is_asked_for_by_name_is_shown_and_nothing_else_but_what_a_figure_refers_to() -> None:
    read = tiny.tables(
        [
            case(variant, n, 1e4 * place, type=type_)
            for type_ in ("i32", "f64")
            for n in (N, 2 * N)
            for place, variant in enumerate(
                (CEILING, "hso_block", "best", "look_ahead", "cpu_parallel"), start=1
            )
        ]
    )
    assert not read.variants["hso_block"].overview
    asked = read.asking(Ask(("hso_block", "best"), "f64"))
    (axes,) = tiny.drawn(throughput, asked).axes
    assert {
        line.get_marker()
        for line in axes.get_lines()
        if len(line.get_xdata()) == 2 and line.get_marker() != "_"
    } == {tiny.look(name).marker for name in (CEILING, "hso_block", "best")}
    assert tiny.points(axes, tiny.look("hso_block")) == [
        near((N, 16 * N / 2e4)),
        near((2 * N, 32 * N / 2e4)),
    ]
    with style.sheet():
        made = throughput(asked)
    assert (
        made.unusual == ("f64",)
        and "64-bit floats" in made.caption
        and "One variant of each kind" not in made.caption
    )


def test_times_asked_for_by_name_are_compared_in_one_panel() -> None:
    read = tiny.tables(
        [case(FLOOR, 0, 2500.0)]
        + [
            case(name, N, 7e3 * place)
            for place, name in enumerate(
                ("hs_blocked", "hso_blocked", "thrust_scan", "memcpy"), start=1
            )
        ]
    )
    (axes,) = tiny.drawn(time, read.asking(Ask(("hs_blocked", "hso_blocked", "thrust_scan")))).axes
    assert [
        tiny.points(axes, tiny.look(name)) for name in ("hs_blocked", "hso_blocked", "thrust_scan")
    ] == [[near((N, 7))], [near((N, 14))], [near((N, 21))]]
    assert not [line for line in axes.get_lines() if line.get_linewidth() == 2.6]  # no copy


def test_a_figure_for_a_column_is_as_wide_as_one_and_has_its_fonts_in_it(
    floats: Path, tmp_path: Path
) -> None:
    assert (
        main(
            [
                "figure",
                "throughput",
                str(floats),
                "--variants",
                "best,cub*",
                "--style",
                "ieee-column",
                "--out",
                str(tmp_path / "f.pdf"),
            ]
        )
        == 0
    )
    drawn = (tmp_path / "f.pdf").read_bytes()
    assert float(re.search(rb"/MediaBox \[ ?0 0 ([\d.]+) ", drawn)[1]) == 3.5 * 72
    assert b"/FontFile2" in drawn and b"/Type3" not in drawn


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["figure", "throughputs"],
            (
                r"error: there is no figure throughputs; the nearest is throughput "
                r"\(scanlab-report list has them all\)"
            ),
        ),
        (["table", "summary_"], r"error: there is no table summary_; the nearest is summary "),
        (
            ["figure", "head_to_head", "--type", "f32"],
            (
                r"error: figure head_to_head cannot follow --type; these can: "
                r".*ceiling_share.* throughput"
            ),
        ),
        (
            ["figure", "waterfall", "--variants", "best"],
            r"error: figure waterfall cannot follow --variants; these can: .*throughput",
        ),
        (
            ["figure", "distributions", "--style", "ieee-column"],
            r"error: figure distributions needs both columns of a page: take --style page",
        ),
        (
            ["figure", "throughput", "--variants", "best_"],
            (
                r"error: no variant best_ was timed; the nearest are best, .* --variant "
                r"'best_,memcpy,empty_launch'"
            ),
        ),
        (
            ["figure", "throughput", "--type", "i8"],
            r"no i8 plus inclusive timings of memcpy .*bench --variant 'memcpy' --type i8 ",
        ),
        (
            ["figure", "throughput", "--op", "nope"],
            r"error: there is no operator nope; there are affine, .*plus.*",
        ),
        (
            ["figure", "throughput", "--variants", "best,jax_cumsum"],
            "no variant jax_cumsum was timed",
        ),
        (
            ["figure", "dram_traffic"],
            (
                r"no DRAM bytes from hardware counters\. To measure it: tools/record "
                r"build/cuda/scanlab results/run traffic \(about \d+ s\)"
            ),
        ),
        (
            ["figure", "single_wave", "--type", "i8"],
            r"bench --variant 'cub\*,copy_one_wave,copy_vector,empty_launch,best' --type i8 ",
        ),
        (
            ["table", "implicit_sync"],
            (
                r"no experiments on implicit synchronisation\. To measure it: tools/record .* "
                r"implicit_sync "
            ),
        ),
        (
            ["figure", "speedup_by_type", "--variants", "best,look_ahead"],
            "is of one variant, and 2 were asked for: best, look_ahead",
        ),
    ],
)
def test_what_cannot_be_had_is_said_in_one_sentence_and_nothing_is_written(
    floats: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    said: str,
) -> None:
    out = tmp_path / ("t.md" if arguments[0] == "table" else "f.pdf")
    assert main([*arguments[:2], str(floats), *arguments[2:], "--out", str(out)]) == 2
    printed = capsys.readouterr()
    assert re.search(said, printed.err) and not printed.out and len(printed.err.splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "case_of", "said"),
    [
        (
            "single_wave",
            {"items": 512, "cache": "warm", "launch": "graph"},
            "no warm timings at a power of two from 2^10 to 2^22",
        ),
        ("tile_size", {"items": 1 << 16}, "no timings of tiles at 2^20, 2^24 or 2^28"),
        ("ablation", {"items": 1 << 16}, "no timings of look_ahead and of another at"),
        ("overview", {"items": 1 << 8}, "no timings of scans beside memcpy at 2^16"),
        ("ceiling_share", {"items": 1 << 8}, "no timings of scans beside memcpy at 2^14"),
        (
            "head_to_head",
            {"items": 1 << 20, "cache": "warm", "launch": "batch"},
            "no such timings of arrays",
        ),
        (
            "speedup_by_type",
            {"items": 1 << 20, "cache": "cold", "launch": "graph"},
            "no such timings cold by stream or ",
        ),
    ],
)
def test_results_with_too_little_for_a_figure_leave_it_out_with_a_reason(
    name: str, case_of: dict[str, Any], said: str
) -> None:
    """Neither an error that ends the whole report, nor a blank figure."""
    variants = (
        "empty_launch",
        "memcpy",
        "copy_vector",
        "copy_one_wave",
        "best",
        "look_ahead",
        "decoupled_lookback",
        "reduce_then_scan",
        "cub_device_scan",
    )
    read = tiny.tables([case(variant, ns=9.0, **case_of) for variant in variants])
    with pytest.raises(Lacking) as lacks:
        opened.registered("figure")[name].make(read)
    assert f"no {lacks.value}".startswith(said)


def test_a_glob_takes_what_was_timed_and_an_id_must_have_been(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``hs_multipass`` was timed of integers alone, ``hs_blocked`` of floats, too."""
    document = of_floats(fixtures.timings(rounds=5, top=12))
    document["benchmarks"] = [
        entry for entry in document["benchmarks"] if entry["variant"] != "hs_multipass"
    ]
    (tmp_path / "f32.json").write_text(json.dumps(document))
    (tmp_path / "i32.json").write_text(json.dumps(fixtures.timings(rounds=5, top=12)))
    figure = [
        "figure",
        "throughput",
        str(tmp_path),
        "--type",
        "f32",
        "--out",
        str(tmp_path / "f.png"),
    ]
    assert main([*figure, "--variants", "hs_*"]) == 0
    assert main([*figure, "--variants", "hs_blocked,hs_multipass"]) == 2
    assert "no f32 plus inclusive timings of hs_multipass" in capsys.readouterr().err


def test_a_table_is_printed_and_written_as_its_name_says(
    floats: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["table", "summary", str(floats), "--variants", "look_ahead,cub_device_scan"]) == 0
    said = capsys.readouterr().out
    assert "32-bit floats" in said and {
        line.split("`")[1] for line in said.splitlines() if line.startswith("| `")
    } == {CEILING, "look_ahead", "cub_device_scan"}
    for name, begins in (
        ("t.csv", "variant,items,"),
        ("t.tex", r"\begin{tabular}"),
        ("t.md", "Every scan"),
    ):
        assert main(["table", "summary", str(floats), "--out", str(tmp_path / name)]) == 0
        assert (tmp_path / name).read_text().startswith(begins)


# ------------------------------------------------------------------------------------------------
# one variant


def page_of(out: Path, *arguments: str) -> str:
    assert main(["mine", *arguments, "--out", str(out)]) == 0
    return (out / f"{arguments[0]}.md").read_text()


@pytest.fixture(scope="module")
def of_floats_alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of a kernel that takes floats alone: times beside CUB, and verification, which for
    another variant failed."""
    folder = tmp_path_factory.mktemp("mine")
    document = of_floats(fixtures.timings(rounds=8, top=14))
    document["benchmarks"] = [
        entry | ({"variant": "my_scan", "settings": {}} if entry["variant"] == "look_ahead" else {})
        for entry in document["benchmarks"]
        if not (
            entry["variant"] == "look_ahead"
            and entry["settings"] != fixtures.PARAMETERS["look_ahead"]
        )
    ]
    document["context"]["variants"]["my_scan"] = fixtures.variant("my_scan") | {"title": "My scan"}
    (folder / "mine.json").write_text(json.dumps(document))
    (folder / "verify.jsonl").write_text(
        fixtures.verification().replace('"look_ahead"', '"my_scan"')
    )
    return folder


def test_a_page_says_whether_a_variant_is_verified_and_how_fast_it_is_at_each_size(
    of_floats_alone: Path, tmp_path: Path
) -> None:
    page = page_of(tmp_path, "my_scan", str(of_floats_alone))
    assert (
        "**Verified**: 9 checks passed, 0 failed, 0 skipped; types f32. On Test Device, "
        "seed 1, commit 012345678, 2026-01-02."
    ) in page
    assert re.findall("^## Throughput.*", page, re.MULTILINE) == ["## Throughput, f32"]
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| 2^")]
    assert [row[0] for row in rows] == [f"| 2^{k}" for k in range(10, 15)]
    for n, (_, took, rate, copy, cub, which) in zip(
        (2**k for k in range(10, 15)), rows, strict=True
    ):
        us = (3100 + 8 * n / (4250 * 0.95)) / 1e3  # the model of the times, whose noise is 1.5%
        assert float(took) == pytest.approx(us, rel=0.04) and float(
            rate.split()[0]
        ) == pytest.approx(8 * n / us / 1e3, rel=0.04)
        assert (
            float(copy.split()[0]) == pytest.approx((3100 + 8 * n / 4250) / 1e3 / us, rel=0.06)
            and "[" in copy
        )
        fastest = (4300 + 8 * n / (4250 * 0.73)) / 1e3
        assert (
            float(cub.split()[0]) == pytest.approx(fastest / us, rel=0.06)
            and "[" in cub
            and which.startswith("`cub_")
        )
    slow = page_of(tmp_path / "slow", "hs_blocked", str(of_floats_alone))
    assert all(
        float(line.split(" | ")[column].split()[0]) < 0.85
        for line in slow.splitlines()
        if line.startswith("| 2^")
        for column in (3, 4)
    )
    assert {path.name for path in tmp_path.glob("*.*")} == {
        "my_scan.md",
        "my_scan.pdf",
        "throughput_f32.png",
    }
    assert (
        float(
            re.search(rb"/MediaBox \[ ?0 0 ([\d.]+) ", (tmp_path / "my_scan.pdf").read_bytes())[1]
        )
        == 3.5 * 72
    )


def test_a_page_says_what_is_not_measured_and_by_which_command_it_is(
    of_floats_alone: Path, tmp_path: Path
) -> None:
    page = page_of(tmp_path / "timed", "my_scan", str(of_floats_alone / "mine.json"))
    assert (
        "Not verified in these results. To verify it: `build/cuda/scanlab verify --variant "
        "my_scan --json "
    ) in page
    assert (
        "To count them: `build/cpu/scanlab explain my_scan --json > " in page
        and "count conflicts " in page
        and "count traffic " in page
    )
    page = page_of(tmp_path / "verified", "my_scan", str(of_floats_alone / "verify.jsonl"))
    assert (
        "**Verified**" in page
        and (
            "Not timed on a GPU in these results. To time it: `build/cuda/scanlab bench "
            "--variant 'my_scan,memcpy,cub*' --out "
        )
        in page
    )
    assert [path.name for path in (tmp_path / "verified").iterdir()] == ["my_scan.md"]


def changed(
    file: Path, out: Path, change: Callable[[dict[str, Any]], dict[str, Any] | None]
) -> Path:
    """The same results with other entries; without those of which the change is None."""
    document = json.loads(file.read_text())
    document["benchmarks"] = [
        entry | new for entry in document["benchmarks"] if (new := change(entry)) is not None
    ]
    out.write_text(json.dumps(document))
    return out


def test_a_command_on_a_page_names_the_files_that_were_given_and_works(
    of_floats_alone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_max = changed(
        of_floats_alone / "mine.json",
        tmp_path / "of max.json",
        lambda entry: {"op": "max"} if entry["variant"] != "empty_launch" else {},
    )
    page = page_of(tmp_path / "out", "my_scan", str(of_floats_alone / "mine.json"), str(of_max))
    (command,) = re.findall("Also timed with max: `scanlab-report (.*)`", page)
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(command)) == 0 and (tmp_path / "throughput.pdf").exists()


def test_a_page_says_how_what_it_has_no_figure_of_was_timed(
    of_floats_alone: Path, tmp_path: Path
) -> None:
    graph = changed(
        of_floats_alone / "mine.json",
        tmp_path / "graph.json",
        lambda entry: (
            {"cache": "warm", "launch": "graph"}
            if (entry["cache"], entry["launch"]) == ("cold", "stream")
            else None
        ),
    )
    page = page_of(tmp_path / "graph", "my_scan", str(graph))
    assert (
        "No figure: it is of inclusive scans launched in a stream, and these results have "
        "inclusive ones launched in a graph. To measure it: "
    ) in page
    assert "Inclusive sum, warm cache, launched in a graph: median time" in page
    tuned = changed(
        of_floats_alone / "mine.json",
        tmp_path / "tuned.json",
        lambda entry: (
            {"settings": {"tile_bytes": "15360"}} if entry["variant"] == "my_scan" else {}
        ),
    )
    assert (
        "Timed with tile_bytes=15360 alone, and this page is of default settings. To time it: "
        in page_of(tmp_path / "tuned", "my_scan", str(tuned))
    )


def test_a_page_on_code_of_the_host_asks_for_nothing_that_a_gpu_does(tmp_path: Path) -> None:
    document = fixtures.timings(rounds=5, top=12)
    entries = [
        entry | {"launch": "host"}
        for entry in document["benchmarks"]
        if entry["variant"] == "cpu_sequential"
    ]
    (tmp_path / "cpu.json").write_text(
        json.dumps({"context": document["context"] | {"kind": "host"}, "benchmarks": entries})
    )
    page = page_of(tmp_path / "out", "cpu_sequential", str(tmp_path / "cpu.json"))
    assert (
        f"Timed on a host alone, whose times are not on this page. To have them in a "
        f"table: `scanlab-report export {tmp_path / 'cpu.json'} --out tidy`"
    ) in page
    assert not re.search("cuda|Bank conflicts|hardware", page)


def test_a_name_that_no_file_may_have_is_made_one(
    of_floats_alone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = json.loads(
        (of_floats_alone / "mine.json").read_text().replace('"my_scan"', '"My scan/x,y"')
    )
    (tmp_path / "mine.json").write_text(json.dumps(document))
    monkeypatch.chdir(tmp_path)
    assert main(["mine", "My scan/x,y", "mine.json"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["My_scan_x_y", "mine.json"]
    assert {path.name for path in (tmp_path / "My_scan_x_y").iterdir()} == {
        "My_scan_x_y.md",
        "My_scan_x_y.pdf",
        "throughput_f32.png",
    }


def test_a_failed_check_makes_a_variant_wrong_and_other_code_is_named(
    of_floats_alone: Path, tmp_path: Path
) -> None:
    text = (of_floats_alone / "verify.jsonl").read_text().replace(fixtures.COMMIT, "f" * 40)
    failing = text.replace('"items": 104, ', '"items": 104, ', 1).splitlines()
    failing[5] = (
        failing[5]
        .replace('"passed"', '"failed"')
        .replace('"reason": ""', '"reason": "output 3 is 7, not 6"')
    )
    failing[-1] = failing[-1].replace('"passed": 9, "failed": 0', '"passed": 8, "failed": 1')
    (tmp_path / "verify.jsonl").write_text("\n".join(failing) + "\n")
    page = page_of(
        tmp_path / "out",
        "my_scan",
        str(of_floats_alone / "mine.json"),
        str(tmp_path / "verify.jsonl"),
    )
    assert (
        "**Wrong**: 8 checks passed, 1 failed" in page
        and "The first that failed: f32 plus inclusive, 104 items: output 3 is 7, not 6." in page
    )
    assert "not the code that was timed**: commit fffffffff was verified" in page
    both = page_of(
        tmp_path / "both", "my_scan", str(of_floats_alone), str(tmp_path / "verify.jsonl")
    )
    assert (
        "**Wrong**: 8 checks passed, 1 failed" in both and "**Verified**: 9 checks passed" in both
    )
    assert "not the code that was timed" not in both, "one of the two verifications is of it"


def test_what_was_counted_is_on_the_page_of_default_settings_alone(tmp_path: Path) -> None:
    folder = fixtures.write_all(tmp_path / "all", rounds=6, top=18)
    (folder / "twice.explain.json").write_text(
        json.dumps(fixtures.explanation("hso_block_padded", 64, "row"))
    )
    page = page_of(tmp_path / "out", "hso_block_padded", str(folder))
    emulator, hardware = page.split("## Bank conflicts")[1:]
    assert [line.split(" | ")[1] for line in emulator.splitlines() if line.startswith("| i32")] == [
        "2^10",
        "2^11",
    ]
    (counted,) = [line for line in hardware.splitlines() if line.startswith("| i32 | plus | 2^11")]
    content = fixtures.explanation("hso_block_padded", 2048, "two_level")["totals"]["banks32"][
        "transactions"
    ]
    assert counted.split(" | ")[3] == f"{int(content * 0.6) + 64:,}".replace(",", "\u2009")
    again = fixtures.write_all(tmp_path / "data" / "recorded" / "again", rounds=6, top=18)
    both = load([folder], [again])
    assert len(both["counters"]) == 2 * len(load([folder])["counters"])
    assert counted in mine.page("hso_block_padded", both, tmp_path, "page", ""), (
        "counted anew: what is recorded is not added"
    )
    assert re.search(
        r"^\| i32 \| plus \| 2\^18 \| 1.00 \| 1.00 \|$",
        page_of(tmp_path / "traffic", "look_ahead", str(folder)),
        re.MULTILINE,
    )


def test_a_variant_of_which_nothing_is_known_is_refused(
    of_floats_alone: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mine", "my_scam", str(of_floats_alone), "--out", str(tmp_path / "out")]) == 2
    assert (
        "nothing was measured of my_scam; the nearest is my_scan" in capsys.readouterr().err
        and not (tmp_path / "out").exists()
    )
