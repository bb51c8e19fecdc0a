"""One whole report of two devices: every figure, table and number; then what smaller builds say."""

import json
import re
from pathlib import Path

import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from matplotlib.text import Text

from scanlab_report import chapters, opened, shown, typesetting
from scanlab_report.commands.__main__ import main
from scanlab_report.data import Data
from scanlab_report.shown import FIGURES, TABLES
from tests import fixtures

chapters.load_all()
FIRST, OTHER = "NVIDIA H200", "NVIDIA H100 80GB HBM3"
PAPERS = {name: typesetting.source_text(name) for name in typesetting.PAPERS}
SIMULATED = ("scenarios_", "model_")
MEASURED = [n for n, e in FIGURES.items() if not (e.of_others or n.startswith(SIMULATED))]
DATE = r"20\d\d-\d\d-\d\d"
MODEL = ("model_advice", "model_targets")
"""Files of kinds that are not recorded: simulations, and comparisons with them."""


def saved(figure: Figure, targets: list[Path], save=shown.style.save) -> None:
    """Saves a figure, and its text beside it. That of a paper is the same without other devices:
    its caption is read, and it is not drawn once more."""
    if [target.suffix for target in targets] == [".pdf"]:
        return pyplot.close(figure)
    figure.get_layout_engine().execute(figure)
    figure.set_layout_engine("none")  # once is enough
    page, box = figure.bbox, figure.get_tightbbox().transformed(figure.dpi_scale_trans)
    cut = min(box.x0 - page.x0, box.y0 - page.y0, page.x1 - box.x1, page.y1 - box.y1) < -1
    texts = [text.get_text() for text in figure.findobj(Text)]
    targets[0].with_suffix(".txt").write_text("\n".join([*texts, "CUT OFF" * bool(cut)]))
    save(figure, targets)


@pytest.fixture(scope="module")
def built(all_recorded: Data, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of what is recorded: of the papers' device, and of another that has less."""
    root = tmp_path_factory.mktemp("report")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opened, "opened", lambda *_: all_recorded)
        patch.setattr(shown.style, "save", saved)
        patch.setitem(shown.style._SETTINGS, "savefig.dpi", 50)  # no pixel is looked at
        words = ["--recorded", opened.RECORDED, "--out", root / "out", "--paper", root / "paper"]
        assert main(["build", "--no-pdf", *map(str, words)]) == 0
    return root


def test_every_figure_is_whole_and_names_its_sources(built) -> None:
    for name in MEASURED:
        file = built / "out" / "figures" / name
        assert file.with_suffix(".pdf").read_bytes().startswith(b"%PDF"), name
        assert file.with_suffix(".png").read_bytes().startswith(b"\x89PNG"), name
        assert "CUT OFF" not in file.with_suffix(".txt").read_text(), name
        caption = (built / "paper" / "figures" / f"{name}.caption.tex").read_text()
        assert re.search(f"{DATE}.*commit [0-9a-f]{{9}}", caption), name
        assert OTHER not in caption, "the papers are of one device"


def test_figures_stack_the_devices_and_tables_and_numbers_are_of_the_first(built) -> None:
    out, paper = built / "out", built / "paper"
    for name in ("throughput", "schedules"):
        text = " ".join((out / "figures" / f"{name}.txt").read_text().split())
        assert re.search(f"{FIRST}, {DATE}", text) and re.search(f"{OTHER}, {DATE}", text)
    tables = {file.stem for file in (out / "tables").iterdir()}
    assert TABLES.keys() - tables == {"medians", "scenarios", "generations", *MODEL}
    for name in tables:
        latex, text, rows = (
            (out / "tables" / f"{name}{end}").read_text() for end in (".tex", ".md", ".csv")
        )
        assert r"\toprule" in latex and "|---" in text, name
        assert len(rows.splitlines()) > 1 or name == "losses", name  # none may be lost
        assert re.search("commit [0-9a-f]{9}", text), name
        assert (OTHER in text) == TABLES[name].of_all, name
        assert (paper / "tables" / f"{name}.caption.tex").exists(), name
    assert (out / "report.html").stat().st_size > 100_000
    assert re.search(f"recorded,{OTHER},{DATE}", (out / "cases.csv").read_text())
    numbers = json.loads((out / "numbers.json").read_text())
    assert numbers["scanDevice"] == FIRST and re.fullmatch(
        f"{DATE}( to {DATE})?", numbers["scanDate"]
    )
    defined, text = (paper / "macros.tex").read_text(), "".join(PAPERS.values())
    assert all(f"\\newcommand{{\\{name}}}{{{value}}}" in defined for name, value in numbers.items())
    assert [name for name in numbers if not re.search(rf"\\{name}(?![A-Za-z])", text)] == []


def test_parts_of_pages_are_filled_and_nothing_else_changes(
    counts, tmp_path, blank, capsys
) -> None:
    before = "# Title\n\nbefore\n<!-- {0}:begin -->\nold\n<!-- {0}:end -->\nafter\n"
    pages = {name: tmp_path / f"{name}.md" for name in ("results", "ladder", "odd_sizes")}
    for name, page in pages.items():
        page.write_text(before.format(name))
    scan = fixtures.write(tmp_path / "scan.json", fixtures.timings())
    words = [scan, counts, "--out", tmp_path / "out"]
    words += [word for page in pages.values() for word in ("--page", page)]
    assert main(["build", "--no-pdf", *map(str, words)]) == 0
    results = pages["results"].read_text()
    assert results.startswith("# Title\n\nbefore\n") and results.endswith(":end -->\nafter\n")
    assert "| `cub_device_scan` |" in results and "slower in 0." in results
    assert "| `hso_block` | 64 |" in pages["ladder"].read_text()
    assert pages["odd_sizes"].read_text() == before.format("odd_sizes")
    assert "odd_sizes is left as it is: no " in capsys.readouterr().out


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    """Results that two figures can be drawn of."""
    return fixtures.write(tmp_path / "counts.json", fixtures.explanation(64))


def test_missing_data_leave_a_sentence_and_no_figure(counts, tmp_path, blank, capsys) -> None:
    figures = tmp_path / "out" / "figures"
    figures.mkdir(parents=True)
    (figures / "throughput.pdf").write_text("of an earlier build")
    assert main(["build", str(counts), "--out", str(figures.parent), "--no-pdf"]) == 0
    lacking = r"figure throughput is left out: no .* To measure it: tools/record build/cuda/scanlab"
    assert re.search(lacking, capsys.readouterr().out)
    assert not (figures / "throughput.pdf").exists()


def test_what_makes_the_work_useless_is_said_before_it(counts, tmp_path, said) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("# no markers\n")
    out = ["--out", tmp_path / "out"]
    for words, stated in (
        ([counts, "--out", counts / "out"], "cannot be written"),
        ([tmp_path / "nowhere", *out], "nowhere: no such file or folder"),
        ([counts, *out, "--page", readme], "README.md: it has no generated part"),
        ([counts, *out, "--device", "H200"], "no results are of a GPU called H200"),
        (out, "nothing to read: give RESULTS or --recorded"),
    ):
        refused = said("build", *words, status=2)
        assert stated in refused and not (tmp_path / "out").exists()


LATEXMK = """#!/bin/sh
[ -e generated/macros.tex ] || exit 3
for last; do paper=$(/usr/bin/basename "$last" .tex); done
echo '{log}' >$paper.log
{end}
echo "%PDF of $paper" >$paper.pdf
"""
"""A stand-in: it writes a log, and then it fails or writes the paper."""
WIDE = r"Overfull \\hbox (5.1pt too wide) in paragraph at lines 1--9"


def test_a_wide_paper_is_said_and_a_bad_one_does_not_replace_the_last(
    counts, tmp_path, blank, monkeypatch, capsys
) -> None:
    program, paper = tmp_path / "bin" / "latexmk", tmp_path / "out" / "scan.pdf"
    program.parent.mkdir()
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    for log, end, status, stated in (
        ("", "", 0, ""),
        ("! Undefined control sequence.", "exit 12", 1, f"{paper} is not of this build"),
        (WIDE, "", 1, "the paper runs off its page: Overfull \\hbox (5.1pt"),
    ):
        program.write_text(LATEXMK.format(log=log, end=end))
        program.chmod(0o755)
        assert main(["build", str(counts), "--out", str(paper.parent)]) == status
        assert stated in capsys.readouterr().err and paper.read_text() == "%PDF of scan\n"


@pytest.mark.parametrize("paper", PAPERS)
def test_a_paper_shows_what_analysis_writes_and_refers_to_all_of_it(paper) -> None:
    text = re.sub(r"(?<!\\)%.*", "", PAPERS[paper])
    for kind, ref, known in (("figure", "figref", FIGURES), ("table", "tabref", TABLES)):
        displayed = set(re.findall(rf"\\scan(?:wide|page)?{kind}(?:\[\w+\])?{{(\w+)}}", text))
        named = set(re.findall(rf"\\{ref}{{(\w+)}}", text))
        own = set(re.findall(rf"\\label{{{ref[:3]}:(\w+)}}", text))
        assert displayed <= set(known) and displayed <= named <= set(known) | own
