"""Several devices: figures show them all, tables and macros are of one, and CPUs stand beside GPUs."""

from __future__ import annotations

import importlib
import json
import shutil
from functools import partial
from pathlib import Path

import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from matplotlib.text import Text
from scanlab_report.documents import macros
from scanlab_report.layout import looks, style
from scanlab_report.read import published, results
from scanlab_report.select.needs import by_device
from scanlab_report.select.sessions import chosen

from scanlab_report import figures
from scanlab_report.claims import stated as claims
from scanlab_report.commands.__main__ import main
from scanlab_report.modules import modules
from scanlab_report.tidy import tables
from tests import fixtures
from tests.conftest import PUBLISHED, Built

FIRST, OTHER, ALONE = claims.device(), "Other Device", "Lone CPU"
OF_NO_DEVICE = ("pipeline", "bank_conflicts", "scenarios_")
"""Figures of what no device was asked for begin so."""
OF_DEVICES = [name for name, _ in modules(figures) if not name.startswith(OF_NO_DEVICE)]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The report's device, another that was measured later, and a machine without a GPU that was measured last."""
    root = tmp_path_factory.mktemp("devices")
    recorded = root / "recorded"
    for device, day in ((FIRST, "2026-01-02"), (OTHER, "2026-02-03")):
        for file in fixtures.write_all(recorded / device / day, rounds=5, top=20).iterdir():
            if device == OTHER and (file.name.startswith("scenario_") or file.name.endswith(".explain.json")):
                file.unlink()  # of no device: once is enough
                continue
            text = file.read_text().replace("Test Device", device).replace("2026-01-02", day)
            file.write_text(in_another_order(text) if device == OTHER and file.suffix == ".json" else text)
    entries = [fixtures.repetition(fixtures.case("cpu_parallel", 2**k, "warm"), i, 900.0 * 2**k) for k in range(10, 15) for i in range(5)]
    about = fixtures.context(kind="host", device="", cpu=ALONE, cores="2", date="2026-03-04T00:00:00")
    (recorded / "cpu.json").write_text(json.dumps({"context": about, "benchmarks": entries}))
    out, paper = root / "out", root / "paper"
    return Built(recorded, out, paper, build(recorded, out, "--paper", str(paper)))


def in_another_order(text: str) -> str:
    """A document whose context has its variants the other way round, and one more among them, as the program of another commit may."""
    document = json.loads(text)
    if "variants" in (about := document.get("context", {})):
        about["variants"] = dict(reversed((about["variants"] | {"newer": fixtures.variant("newer") | {"overview": True}}).items()))
    return json.dumps(document)


def build(recorded: Path, out: Path, *words: str) -> int:
    """With what stands in a figure in place of its picture, which takes seconds."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Figure, "savefig", lambda figure, file, **_: Path(file).write_text("\n".join(text.get_text() for text in figure.findobj(Text))))
        return main(["build", "--recorded", str(recorded), "--published", str(PUBLISHED), "--out", str(out), "--no-pdf", *words])


@pytest.fixture(scope="module")
def read(planted: Built) -> results.Results:
    """What that report was made from."""
    return results.read([], [planted.recorded], FIRST)


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> results.Results:
    """A device that takes a thousand times as long for everything."""
    folder = fixtures.write_all(tmp_path_factory.mktemp("slow"), rounds=5, top=20)
    for file in folder.glob("*.json"):
        document = json.loads(file.read_text())
        for entry in document.get("benchmarks", []):
            if "real_time" in entry:  # nvbench has it elsewhere
                entry["real_time"] *= 1000
        file.write_text(json.dumps(document))
    return results.read([], [folder])


@pytest.mark.parametrize("name", OF_DEVICES)
def test_every_figure_has_every_device_in_it_and_in_its_footer(planted: Built, name: str) -> None:
    said = (planted.out / "figures" / f"{name}.pdf").read_text().splitlines()
    assert planted.status == 0 and {FIRST, OTHER} <= set(said)
    footer = " ".join(said)
    assert f"{FIRST}, 2026-01-02" in footer and f"{OTHER}, 2026-02-03" in footer


def test_the_papers_are_the_same_with_and_without_another_device(planted: Built, tmp_path: Path) -> None:
    """Their text is of the report's device."""
    assert build(planted.recorded / FIRST, tmp_path / "out", "--recorded", str(planted.recorded / "cpu.json"), "--paper", str(tmp_path / "paper")) == 0
    files = [{file.relative_to(paper): file.read_bytes() for file in paper.rglob("*") if file.is_file()} for paper in (planted.paper, tmp_path / "paper")]
    assert files[0].keys() == files[1].keys()
    assert [name.as_posix() for name, content in files[0].items() if content != files[1][name]] == []


def test_what_another_device_alone_tells_is_in_no_paper(planted: Built, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "first").mkdir()
    shutil.copy(planted.recorded / FIRST / "2026-01-02" / "streams.json", tmp_path / "first")
    of = tmp_path / "paper" / "figures" / "throughput.pdf"
    of.parent.mkdir(parents=True)
    of.write_text("left by an earlier run")
    assert build(planted.recorded / OTHER, tmp_path / "out", "--recorded", str(tmp_path / "first"), "--paper", str(tmp_path / "paper")) == 0
    assert not of.exists() and (tmp_path / "out" / "figures" / "throughput.pdf").exists()
    assert not (tmp_path / "paper" / "tables" / "summary.tex").exists() and (tmp_path / "out" / "tables" / "summary.tex").exists()
    assert f"figure throughput is left out of the papers, which are of {FIRST}: no plus inclusive timings of memcpy" in capsys.readouterr().out


def test_a_variant_looks_the_same_in_the_parts_of_all_devices(read: results.Results) -> None:
    module = importlib.import_module("scanlab_report.figures.throughput")
    parts = [of.found["timings"].about for of in by_device(module.NEEDS, read, {}).values()]
    seen = [looks.looks(about) for about in parts]
    assert len(parts) == 2 and seen[0] == seen[1] and "newer" in seen[0]
    assert [looks.ordered(about, about) for about in parts] == [looks.ordered(seen[0], parts[0])] * 2
    assert "newer" not in read.on(FIRST).variants  # which the papers are drawn from


def test_of_one_device_only_its_runs_are_left(read: results.Results) -> None:
    part = read.on(OTHER)
    assert {run.device for run in part.runs if run.kind != "host"} == {OTHER} != {run.device for run in read.runs if run.kind != "host"}
    assert {part.runs[place].device for place in set(part.timings["run"]) if part.runs[place].kind != "host"} == {OTHER}


@pytest.mark.parametrize("listed", [True, False])
def test_what_the_host_of_another_gpu_timed_is_left_out_and_what_a_host_timed_alone_stays(tmp_path: Path, listed: bool) -> None:
    """Whether a session.json says what belongs together, or the folder does."""
    entries = [fixtures.repetition(fixtures.case("cpu_parallel", 1024, "warm"), i, 900.0) for i in range(5)]
    for device in ("A", "B", ""):
        (folder := tmp_path / f"of {device}").mkdir()
        if device:
            about = fixtures.context(device=device)
            (folder / "scan.json").write_text(json.dumps({"context": about, "benchmarks": entries}))
        hosts = folder if not listed else tmp_path / f"host of {device}"
        hosts.mkdir(exist_ok=True)
        (hosts / "cpu.json").write_text(json.dumps({"context": fixtures.context(kind="host", device="", cpu=f"Host of {device}"), "benchmarks": entries}))
        if listed:
            assert main(["session", str(folder if device else hosts), *([str(hosts / "cpu.json")] if device else [])]) == 0
    read = chosen(results.read([], [tmp_path]))
    assert {run.device for run in read.runs if run.kind == "host"} == {"Host of A", "Host of B", "Host of "}
    for of in (read.on("A"), read.on("A").every):
        assert {run.device for run in of.runs} == {"A", "Host of A", "Host of "}


def test_a_report_can_be_of_one_device_alone(planted: Built, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert build(planted.recorded, tmp_path / "out", "--device", OTHER) == 0
    for name in OF_DEVICES:
        said = (tmp_path / "out" / "figures" / f"{name}.pdf").read_text()
        assert OTHER in said and FIRST not in said, name
    assert build(planted.recorded, tmp_path / "none", "--device", "H200") == 2 and not (tmp_path / "none").exists()
    assert f"no results are of a GPU called H200; there are those of {FIRST}, {OTHER}" in capsys.readouterr().err


def test_a_figure_or_table_can_be_of_another_device_and_a_table_says_which_others_have_it(
    planted: Built, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    of = str(planted.recorded)
    assert main(["table", "summary", of]) == 0
    said = capsys.readouterr().out
    assert f"{FIRST}, 2026-01-02" in said and said.splitlines()[-1] == f"Also measured: {OTHER} (--device NAME shows it)"
    assert main(["table", "summary", of, "--device", OTHER]) == 0
    said = capsys.readouterr().out
    assert f"{OTHER}, 2026-02-03" in said and FIRST not in said and "Also measured" not in said
    assert main(["table", "costs", of]) == 0 and "Also measured" not in capsys.readouterr().out  # of no device
    assert main(["figure", "dram_traffic", of, "--device", OTHER, "--out", str(tmp_path / "f.png")]) == 0
    said = capsys.readouterr().out
    assert f"{OTHER}, 2026-02-03" in said and FIRST not in said
    assert main(["table", "summary", of, "--device", "H200"]) == 2
    assert f"no results are of a GPU called H200; there are those of {FIRST}, {OTHER}" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["throughput", "head_to_head", "gantt", "hardware_conflicts", "schedules", "waterfall"])
def test_a_part_for_each_device_is_as_large_as_the_figure_of_one_and_nothing_is_cut_off(read: results.Results, name: str) -> None:
    module = importlib.import_module(f"scanlab_report.figures.{name}")
    on = by_device(module.NEEDS, read, published.read(PUBLISHED, []))
    with style.sheet():
        one = module.draw(**on[FIRST].found)
        drawn = style.stacked({device: partial(module.draw, **of.found) for device, of in on.items()})
        style.footer(drawn, ["a footer"])
        for of in (one, drawn):
            of.canvas.draw()
        sizes = [[axes.get_window_extent().size.round() for axes in of.axes] for of in (one, drawn)]
        half = len(drawn.axes) // 2
        shared = [a for a in drawn.axes[:half] for b in drawn.axes[half:] if a.get_shared_x_axes().joined(a, b) or a.get_shared_y_axes().joined(a, b)]
        page, box = drawn.bbox, drawn.get_tightbbox().transformed(drawn.dpi_scale_trans)
        said = [text.get_text() for text in drawn.findobj(Text)]
        pyplot.close(one)
        pyplot.close(drawn)
    assert not shared  # one device may be orders of magnitude faster than another
    assert all(text in said for text in (FIRST, OTHER)) and len(sizes[1]) == 2 * len(sizes[0])
    for alone, *parts in zip(sizes[0], sizes[1], sizes[1][len(sizes[0]) :], strict=False):
        assert all(abs(part - alone).max() <= 8 for part in parts)  # pixels: footers are of one line, and margins follow labels
    assert box.x0 >= page.x0 - 1 and box.x1 <= page.x1 + 1 and box.y0 >= page.y0 - 1 and box.y1 <= page.y1 + 1


@pytest.mark.parametrize("name", ["schedules", "single_wave", "stream_scan", "throughput", "time"])
def test_a_device_a_thousand_times_slower_has_ticks_on_every_axis_too(slow: results.Results, name: str) -> None:
    module = importlib.import_module(f"scanlab_report.figures.{name}")
    (found,) = by_device(module.NEEDS, slow, published.read(PUBLISHED, [])).values()
    with style.sheet():
        drawn = module.draw(**found.found)
        drawn.canvas.draw()
        for axes in drawn.axes:
            low, high = axes.get_ylim()
            places = axes.yaxis.get_majorticklocs()
            assert any(text and low <= place <= high for place, text in zip(places, axes.yaxis.get_major_formatter().format_ticks(places), strict=True))
        pyplot.close(drawn)


@pytest.mark.parametrize("name", [name for name, _ in modules(tables)])
def test_a_table_is_of_the_device_that_the_report_is_about(planted: Built, name: str) -> None:
    text = (planted.out / "tables" / f"{name}.md").read_text()
    assert OTHER not in text
    assert FIRST in text or "SIMT emulator" in text or "Engine model" in text


def test_macros_are_of_the_device_that_the_report_is_about(planted: Built) -> None:
    text = (planted.paper / "macros.tex").read_text()
    assert rf"\newcommand{{\scanDevice}}{{{FIRST}}}" in text and r"\newcommand{\scanDate}{2026-01-02}" in text


def test_macros_of_two_devices_are_never_in_one_text(planted: Built) -> None:
    now, then = planted.recorded / OTHER / "2026-02-03" / "scan.json", planted.recorded / FIRST
    defined = macros.values(results.read([now], [then], FIRST), published.read(PUBLISHED, []))
    assert defined["scanDevice"] == OTHER and "bestOfCopy" in defined
    assert "streamRateIn" not in defined  # which the other has


def test_a_cpu_without_a_gpu_stands_beside_each_gpu_and_is_no_device_of_figures(planted: Built) -> None:
    module = importlib.import_module("scanlab_report.figures.throughput")
    on = by_device(module.NEEDS, results.read([], [planted.recorded]), {})
    assert list(on) == [OTHER, FIRST]  # where the report names none, the last measured comes first
    with style.sheet():
        for of in on.values():
            drawn = module.draw(**of.found)
            said = [text.get_text() for text in drawn.findobj(Text)]
            pyplot.close(drawn)
            assert f"CPU: {ALONE}, 2 cores" in said and "CPU, all cores" in said
    assert f"{ALONE}, 2026-03-04" in (planted.paper / "figures" / "throughput.caption.tex").read_text()
    machines = (planted.out / "tables" / "cpu_baselines.csv").read_text()
    assert f"{ALONE}, 2 cores" in machines and "Test CPU, 4 cores" in machines


def test_what_is_measured_now_comes_first_and_the_recorded_device_stays_beside_it(planted: Built) -> None:
    now, then = planted.recorded / OTHER, planted.recorded / FIRST
    module = importlib.import_module("scanlab_report.figures.dram_traffic")
    on = by_device(module.NEEDS, results.read([now], [then], FIRST), {})
    assert [(device, of.provenances[0].origin) for device, of in on.items()] == [(OTHER, "measured now"), (FIRST, "recorded")]
