"""Figures and tables by name: what is listed of them, and one drawn alone; one variant."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scanlab_report import experiments, opened, style
from scanlab_report.chapters.standings import throughput
from scanlab_report.commands.__main__ import main
from scanlab_report.data import Ask
from scanlab_report.groups import CEILING
from scanlab_report.pick import Lacking
from tests import fixtures, tiny
from tests.tiny import case, near

REPOSITORY = Path(__file__).parents[2]
N = 1 << 20


def test_every_figure_and_table_is_listed_with_what_measures_it(said) -> None:
    parts = {part.partition("\n")[0]: part for part in said("list").split("\n\n")}
    entries = {
        f"{kind} {name}": entry
        for kind in ("figure", "table")
        for name, entry in opened.registered(kind).items()
    }
    assert parts.keys() == entries.keys()
    for name, entry in entries.items():
        assert entry.title in parts[name]
        assert all(line in parts[name] for line in experiments.plan(entry.measured_by).commands)
    assert "results/run cycles" in parts["figure prefix_wait"]


def test_steps_of_one_session_are_one_command_and_those_over_gpus_another() -> None:
    names = ("explain", "traffic", "ranks_chunk", "scans")
    assert experiments.plan(names).commands == (
        "tools/record build/cuda/scanlab results/run scans traffic",
        "tools/record build/cuda/scanlab results/x4 --gpus 4 ranks_chunk",
        "build/cpu/scanlab explain --all --out results/run/explain --force",
    )


def record(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, REPOSITORY / "tools/record", *words], capture_output=True, text=True
    )


def test_steps_over_several_gpus_take_longer_on_more(tmp_path) -> None:
    on = lambda gpus, *words: record("true", tmp_path / "run", "--gpus", str(gpus), *words)
    seconds = experiments.known()["ranks_chunk"].seconds
    for gpus, enough in ((8, 2 * seconds), (2, seconds // 2)):
        assert "not begun" in on(gpus, "--seconds", str(enough - 1), "ranks_chunk").stdout
    assert on(2, "ranks_strong").returncode == 0
    assert (tmp_path / "run" / "log" / "ranks_strong.finished").exists()


@pytest.mark.parametrize(
    ("program", "words", "stated"),
    [
        ("true", ["--seconds", "-5"], "not '-5'"),
        ("nope", ["scans"], "there is no program nope: build it, or name another"),
        ("true", ["ranks_chunk"], "no step ranks_chunk; there are verify"),
        ("true", ["--gpus", "2", "scans"], "no step scans with --gpus"),
    ],
)
def test_tools_record_says_what_is_wrong_in_one_sentence_and_makes_nothing(
    tmp_path, program, words, stated
) -> None:
    refused = record(program, tmp_path / "run", *words)
    (sentence,) = refused.stderr.splitlines()
    assert refused.returncode == 2 and stated in sentence and not refused.stdout
    assert not (tmp_path / "run").exists()


def test_a_step_that_was_left_out_is_tried_again(tmp_path) -> None:
    """``true`` has no ``scanlab_nvbench`` beside it."""
    for _ in range(2):
        ran = record("/bin/true", tmp_path / "run", "nvbench")
        assert "Left out: there is no /bin/scanlab_nvbench" in ran.stdout


@pytest.fixture(scope="module")
def floats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of floats alone."""
    file = tmp_path_factory.mktemp("floats") / "scan.json"
    return fixtures.write(file, fixtures.timings(type_name="f32"))


def test_i32_comes_before_other_types_and_copies_alone_do_not_count() -> None:
    wanted = [(CEILING, "i32"), (CEILING, "f32"), ("best", "f32")]
    floats = [case(name, N, 1e4, type=kind) for name, kind in wanted]
    both = tiny.tables([*floats, case("best", N, 1e4)])
    with style.sheet():
        assert not throughput(both).unusual
        assert throughput(tiny.tables(floats)).unusual == ("f32",)


def test_what_is_asked_for_by_name_is_shown_and_nothing_else_but_what_a_figure_refers_to() -> None:
    timed = (CEILING, "hso_block", "best", "look_ahead", "cpu_parallel")
    read = tiny.tables(
        [
            case(variant, n, 1e4 * place, type=type_)
            for type_ in ("i32", "f64")
            for n in (N, 2 * N)
            for place, variant in enumerate(timed, start=1)
        ]
    )
    assert not read.variants["hso_block"].overview
    made = tiny.shown(throughput, read.asking(Ask(("hso_block", "best"), "f64")))
    (axes,) = made.content.axes
    lines = [line for line in axes.get_lines() if len(line.get_xdata()) == 2]
    markers = {line.get_marker() for line in lines} - {"_"}
    assert markers == {tiny.look(name).marker for name in (CEILING, "hso_block", "best")}
    rates = [near((N, 16 * N / 2e4)), near((2 * N, 32 * N / 2e4))]
    assert tiny.points(axes, tiny.look("hso_block")) == rates
    assert made.unusual == ("f64",) and "64-bit floats" in made.caption


@pytest.mark.parametrize(
    ("line", "stated"),
    [
        ("figure throughputs", r"there is no figure throughputs \(scanlab-report list has them"),
        ("figure head_to_head --type f32", "head_to_head cannot follow --type"),
        ("figure throughput --variants best_", "no plus inclusive timings of best_"),
        ("figure throughput --type i8", "figure throughput cannot be made: no i8 plus inclusive"),
        ("figure throughput --op nope", "no nope inclusive timings of memcpy"),
        ("figure prefix_wait", r"no cycles spent waiting \(scanlab-report list says"),
    ],
)
def test_what_cannot_be_had_is_said_in_one_sentence_and_nothing_is_written(
    floats, tmp_path, said, line, stated
) -> None:
    kind, name, *options = line.split()
    refused = said(kind, name, floats, *options, "--out", tmp_path / "f.pdf", status=2)
    assert re.search(stated, refused) and len(refused.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_a_table_is_printed_and_written_as_its_name_says(floats, tmp_path, said) -> None:
    printed = said("table", "summary", floats, "--variants", "look_ahead,cub_device_*")
    ids = {line.split("`")[1] for line in printed.splitlines() if line.startswith("| `")}
    assert "32-bit floats" in printed and ids == {CEILING, "look_ahead", "cub_device_scan"}
    starts = {"t.csv": "variant,items,", "t.tex": r"\begin{tabular}", "t.md": "Every scan"}
    for name, begins in starts.items():
        said("table", "summary", floats, "--out", tmp_path / name)
        assert (tmp_path / name).read_text().startswith(begins)


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of a kernel that takes floats alone: times beside CUB, and verification."""
    folder = tmp_path_factory.mktemp("mine")
    about = {"my_scan": fixtures.variant("my_scan") | {"title": "My scan"}}
    document = fixtures.timings(type_name="f32", variants=fixtures.VARIANTS | about)
    text = json.dumps(document).replace('"look_ahead"', '"my_scan"')
    fixtures.write(folder / "mine.json", text)
    verified = fixtures.verification().replace('"look_ahead"', '"my_scan"')
    fixtures.write(folder / "verify.jsonl", verified)
    return folder


def page_of(out: Path, *arguments: str) -> str:
    assert main(["mine", *arguments, "--out", str(out)]) == 0
    return (out / f"{arguments[0]}.md").read_text()


def test_a_page_says_whether_a_variant_is_verified_and_how_fast_it_is_at_each_size(
    mine, tmp_path
) -> None:
    page = page_of(tmp_path, "my_scan", str(mine))
    verified = "**Verified**: 9 checks passed, 0 failed, 0 skipped; types f32. On Test Device, "
    assert f"{verified}seed 1, commit 012345678, 2026-01-02." in page
    number = lambda cell: float(cell.split()[0])
    rows = [line[2:-2].split(" | ") for line in page.splitlines() if line.startswith("| 2^")]
    assert [row[0] for row in rows] == ["2^10", "2^11"]
    for n, (_, took, rate, copy, cub, which) in zip((1 << 10, 1 << 11), rows, strict=True):
        ids = ("look_ahead", "memcpy", "cub_newest")  # medians of six samples
        us, copied, fastest = ((fixtures.nanoseconds(id_, n) + 2.5) / 1e3 for id_ in ids)
        cells = [number(cell) for cell in (took, rate, copy, cub)]
        wanted = (us, 8 * n / us / 1e3, copied / us, fastest / us)
        assert cells == pytest.approx(wanted, rel=2e-3)
        assert "[" in copy and "[" in cub and "cub_newest" in which
    assert {"my_scan.md", "throughput_f32.png"} <= {path.name for path in tmp_path.iterdir()}


def test_a_page_says_what_is_not_measured_and_by_which_command_it_is(mine, tmp_path) -> None:
    page = page_of(tmp_path / "timed", "my_scan", str(mine / "mine.json"))
    verify = "build/cuda/scanlab verify --variant my_scan --json "
    assert f"Not verified in these results. To verify it: `{verify}" in page
    page = page_of(tmp_path / "verified", "my_scan", str(mine / "verify.jsonl"))
    assert "build/cuda/scanlab bench --variant 'my_scan,memcpy,cub*' --out " in page
    assert "**Verified**" in page


def test_a_failed_check_makes_a_variant_wrong_and_other_code_is_named(mine, tmp_path) -> None:
    text = (mine / "verify.jsonl").read_text().replace(fixtures.COMMIT, "f" * 40)
    lines = text.replace('"passed": 9, "failed": 0', '"passed": 8, "failed": 1').splitlines()
    lines[5] = lines[5].replace('"passed"', '"failed"')
    lines[5] = lines[5].replace('"reason": ""', '"reason": "output 3 is 7, not 6"')
    failed = tmp_path / "verify.jsonl"
    failed.write_text("\n".join(lines) + "\n")
    page = page_of(tmp_path / "out", "my_scan", str(mine / "mine.json"), str(failed))
    assert "**Wrong**: 8 checks passed, 1 failed" in page and "**Verified**" not in page
    assert "The first that failed: f32 plus inclusive, 104 items: output 3 is 7, not 6." in page
    assert "not the code that was timed**: commit fffffffff was verified" in page


def test_a_variant_of_which_nothing_is_known_is_refused(mine, tmp_path, said) -> None:
    refused = said("mine", "my_scam", mine, "--out", tmp_path / "out", status=2)
    assert "nothing was measured of my_scam" in refused
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "case_of"),
    [
        ("tile_size", {"items": 1 << 16}),
        ("ablation", {"items": 1 << 16}),
        ("overview", {"items": 1 << 8}),
        ("head_to_head", {"items": N, "cache": "warm", "launch": "batch"}),
    ],
)
def test_results_with_too_little_for_a_figure_leave_it_out_with_a_reason(
    name: str, case_of: dict[str, Any]
) -> None:
    """Neither an error that ends the whole report, nor a blank figure."""
    variants = "empty_launch memcpy best look_ahead decoupled_lookback cub_device_scan".split()
    read = tiny.tables([case(variant, ns=9.0, **case_of) for variant in variants])
    with pytest.raises(Lacking, match="timings"):
        opened.registered("figure")[name].make(read)
