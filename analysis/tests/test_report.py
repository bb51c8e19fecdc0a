"""One whole report of two devices: every figure, table and number; then what smaller builds say."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from scanlab_report import chapters, shown, typesetting
from scanlab_report.commands.__main__ import main
from scanlab_report.opened import first_device
from scanlab_report.shown import FIGURES, TABLES
from tests import fixtures
from tests.fixtures import case, explanation, results, samples

chapters.load_all()
FIRST, OTHER, ALONE = first_device(), "Other Device", "Lone CPU"
PAPERS = {name: typesetting.source_text(name) for name in typesetting.PAPERS}


@dataclass(frozen=True)
class Built:
    recorded: Path
    out: Path
    paper: Path

    def text(self, figure: str) -> str:
        """Return the words in a figure, and whether something is cut off."""
        return (self.out / "figures" / f"{figure}.txt").read_text()


def saved(figure: Figure, targets: list[Path], save=shown.style.save) -> None:
    """Saves a figure, and its text beside it."""
    figure.canvas.draw()
    page, box = figure.bbox, figure.get_tightbbox().transformed(figure.dpi_scale_trans)
    cut = min(box.x0 - page.x0, box.y0 - page.y0, page.x1 - box.x1, page.y1 - box.y1) < -1
    texts = [text.get_text() for text in figure.findobj(Text)]
    targets[0].with_suffix(".txt").write_text("\n".join([*texts, "CUT OFF" * bool(cut)]))
    save(figure, targets)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The device of the papers, another that was measured later and has less, and a CPU alone."""
    root = tmp_path_factory.mktemp("report")
    recorded = root / "recorded"
    for file in fixtures.write_all(recorded / "first", rounds=6, top=20).iterdir():
        file.write_text(file.read_text().replace("Test Device", FIRST))
        if file.name in ("scan.json", "streams.json", "implicit_sync.json"):
            later = file.read_text().replace(FIRST, OTHER).replace("2026-01-02", "2026-02-03")
            (recorded / "other").mkdir(exist_ok=True)
            (recorded / "other" / file.name).write_text(later)
    host = samples(5, case("cpu_parallel", 1 << 12, "warm"), 9e5)
    about = {"kind": "host", "device": "", "cpu": ALONE, "cores": "2", "date": "2026-03-04"}
    (recorded / "cpu.json").write_text(json.dumps(results(*host, **about)))
    built = Built(recorded, root / "out", root / "paper")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shown.style, "save", saved)
        words = ["--recorded", recorded, "--out", built.out, "--paper", built.paper, "--no-pdf"]
        assert main(["build", *map(str, words)]) == 0
    return built


def test_every_figure_is_whole_and_names_its_sources(built: Built) -> None:
    for name in FIGURES:
        if FIGURES[name].of_others:
            continue
        folder = built.out / "figures"
        assert (folder / f"{name}.pdf").read_bytes().startswith(b"%PDF"), name
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG"), name
        text = built.text(name)
        assert "CUT OFF" not in text, name
        caption = (built.paper / "figures" / f"{name}.caption.tex").read_text()
        assert "2026-01-02" in caption and "commit 012345678" in caption, name
        bars = r"95\\% (bootstrap )?interval|no error bars"
        often = re.search(r"\(median of [\d to]+ repetition", caption)
        assert re.search(bars if often else "no (error )?bars|simulated", caption), name
        assert OTHER not in caption, "the papers are of one device"


def test_figures_stack_the_devices_and_tables_are_of_the_first(built: Built) -> None:
    for name in ("throughput", "head_to_head", "schedules", "waterfall"):
        lines = built.text(name).splitlines()
        assert {FIRST, OTHER} <= set(lines)
        footer = " ".join(lines)
        assert f"{FIRST}, 2026-01-02" in footer and f"{OTHER}, 2026-02-03" in footer
    assert f"CPU: {ALONE}, 2 cores" in built.text("throughput")
    for name in TABLES:
        if TABLES[name].of_others:
            continue
        files = [built.out / "tables" / f"{name}{suffix}" for suffix in (".tex", ".md", ".csv")]
        latex, text, rows = (file.read_text() for file in files)
        assert r"\toprule" in latex and "|---" in text and len(rows.splitlines()) > 1, name
        commit = "commit unknown" if name == "model_targets" else "commit 012345678"
        assert OTHER not in text and commit in text, name


def test_numbers_are_of_the_first_device_and_the_papers_have_no_others(built: Built) -> None:
    assert (built.out / "report.html").stat().st_size > 100_000
    assert f"recorded,{OTHER},2026-02-03" in (built.out / "cases.csv").read_text()
    numbers = json.loads((built.out / "numbers.json").read_text())
    assert (numbers["scanDevice"], numbers["scanDate"]) == (FIRST, "2026-01-02")
    defined = (built.paper / "macros.tex").read_text()
    assert all(f"\\newcommand{{\\{name}}}{{{value}}}" in defined for name, value in numbers.items())
    text = "".join(PAPERS.values())
    assert [name for name in numbers if not re.search(rf"\\{name}(?![A-Za-z])", text)] == []


def test_readme_ladder_and_gallery_are_filled_and_nothing_else_changes(
    built: Built, tmp_path: Path, blank: None, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gallery").mkdir()
    before = "# Title\n\nbefore\n<!-- {0}:begin -->\nold\n<!-- {0}:end -->\nafter\n"
    pages = {name: tmp_path / f"{name}.md" for name in ("results", "ladder", "odd_sizes")}
    for name, page in pages.items():
        page.write_text(before.format(name))
    (built.recorded / "few").mkdir(exist_ok=True)
    shutil.copy(built.recorded / "first" / "scan.json", tmp_path / "scan.json")
    counts = next((built.recorded / "first").glob("hso_block_padded-two_level-2048*"))
    words = ["--recorded", tmp_path / "scan.json", "--recorded", counts, "--no-pdf"]
    words += ["--out", tmp_path / "out", *(w for page in pages.values() for w in ("--page", page))]
    assert main(["build", *map(str, words)]) == 0
    results_ = pages["results"].read_text()
    assert results_.startswith("# Title\n\nbefore\n") and results_.endswith(":end -->\nafter\n")
    assert "| `cub_device_scan` |" in results_ and FIRST in results_ and "slower in 1." in results_
    assert "| `hso_block_padded` | 2^11 |" in pages["ladder"].read_text()
    assert pages["odd_sizes"].read_text() == before.format("odd_sizes")
    assert "odd_sizes is left as it is: no " in capsys.readouterr().out


# ---------------------------------------------------------------------------------- smaller builds


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    """Results that two figures can be drawn of."""
    (tmp_path / "counts.json").write_text(json.dumps(explanation("hso_block", 64)))
    return tmp_path / "counts.json"


def test_missing_data_leave_a_sentence_and_no_figure(
    counts: Path, tmp_path: Path, blank: None, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    (out / "figures").mkdir(parents=True)
    for name in ("figures/throughput.pdf", "report.html"):
        (out / name).write_text("of an earlier build")
    assert main(["build", str(counts), "--out", str(out), "--no-pdf"]) == 0
    reason = "no plus inclusive timings of memcpy on a CUDA device. To measure it: tools/record "
    line = f"figure throughput is left out: {reason}build/cuda/scanlab results/run scans"
    assert line in capsys.readouterr().out
    assert not (out / "figures" / "throughput.pdf").exists() and not (out / "report.html").exists()


def test_a_build_that_breaks_off_keeps_the_last_good_one(
    counts: Path, tmp_path: Path, blank: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("out", "paper"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "macros.tex").write_text("the last good one")
    monkeypatch.setattr("scanlab_report.report.write_page", lambda *_: 1 / 0)
    words = ["--out", str(tmp_path / "out"), "--paper", str(tmp_path / "paper"), "--no-pdf"]
    with pytest.raises(ZeroDivisionError):
        main(["build", str(counts), *words])
    for name in ("out", "paper"):
        (file,) = (tmp_path / name).iterdir()
        assert file.read_text() == "the last good one"


def test_what_makes_the_work_useless_is_said_before_it(
    counts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("# no markers\n")
    out = ["--out", str(tmp_path / "out")]
    marker = "it has no generated part; the markers of one are <!-- results:begin -->"
    for words, stated in (
        ([str(counts), "--out", str(counts / "out")], "cannot be written to"),
        ([str(tmp_path / "nowhere"), *out], "nowhere: no such file or folder"),
        ([str(counts), *out, "--page", str(readme)], f"README.md: {marker}"),
        ([str(counts), *out, "--device", "H200"], "no results are of a GPU called H200"),
        ([str(counts), *out, "--session", "x"], "no recorded session is called x"),
        (out, "nothing to read: give RESULTS or --recorded"),
    ):
        assert main(["build", *words]) == 2
        told = capsys.readouterr()
        assert stated in told.err and not told.out and not (tmp_path / "out").exists()


LATEXMK = """#!/bin/sh
[ -e generated/macros.tex ] || exit 3
for last; do paper=$(/usr/bin/basename "$last" .tex); done
echo '{said}' >$paper.log
{end}
echo "%PDF of $paper" >$paper.pdf
"""
"""A stand-in: it says something, and then it fails or writes the paper."""
UNDEFINED = "! Undefined control sequence.\nl.7 at \\\\bestOfCpy"
WIDE = r"Overfull \\hbox (5.1pt too wide) in paragraph at lines 1--9"


@pytest.mark.parametrize(
    ("said", "end", "status", "stated"),
    [
        ("", "", 0, ""),
        (WIDE, "", 1, "the paper runs off its page: Overfull \\hbox (5.1pt"),
        (UNDEFINED, "exit 12", 1, "numbers of its text, which --recorded data/recorded has"),
    ],
)
def test_the_papers_lie_beside_the_figures_and_a_bad_one_does_not_replace_the_last(
    counts: Path,
    tmp_path: Path,
    blank: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    said: str,
    end: str,
    status: int,
    stated: str,
) -> None:
    (program := tmp_path / "bin" / "latexmk").parent.mkdir()
    program.write_text(LATEXMK.format(said=said, end=end))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    (last := tmp_path / "out" / "scan.pdf").parent.mkdir()
    last.write_text("the last good one")
    assert main(["build", str(counts), "--out", str(last.parent)]) == status
    error = capsys.readouterr().err
    assert stated in error and (f"{last} is that of an earlier build" in error) == bool(end)
    assert last.read_text() == ("the last good one" if end else "%PDF of scan\n")


@pytest.mark.parametrize("paper", PAPERS)
def test_a_paper_shows_what_analysis_writes_and_refers_to_all_of_it(paper: str) -> None:
    text = re.sub(r"(?<!\\)%.*", "", PAPERS[paper])
    for kind, ref, known in (("figure", "figref", FIGURES), ("table", "tabref", TABLES)):
        displayed = set(re.findall(rf"\\scan(?:wide|page)?{kind}(?:\[\w+\])?{{(\w+)}}", text))
        named = set(re.findall(rf"\\{ref}{{(\w+)}}", text))
        own = set(re.findall(rf"\\label{{{ref[:3]}:(\w+)}}", text))
        assert displayed <= set(known) and displayed <= named <= set(known) | own
