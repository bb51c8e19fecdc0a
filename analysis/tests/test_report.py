"""The driver: every figure and table from whole data, sentences where data are missing, markers, statuses."""

from __future__ import annotations

import importlib
import json
import re
import shutil
from pathlib import Path

import pytest
from matplotlib import pyplot
from PIL import Image
from scanlab_report.commands.build.report import caption
from scanlab_report.documents import macros, typesetting
from scanlab_report.documents.markers import MarkerError, find, replaced
from scanlab_report.figures import speedup
from scanlab_report.layout import style
from scanlab_report.read import published, results
from scanlab_report.select.needs import gather

from scanlab_report import figures
from scanlab_report.commands.__main__ import main
from scanlab_report.modules import modules
from scanlab_report.tidy import tables
from scanlab_report.tutorials.parts import pages
from tests import fixtures
from tests.conftest import PUBLISHED, Built

PAPERS = {name: typesetting.source_text(name) for name in typesetting.PAPERS}
PREAMBLE = (PUBLISHED.parents[1] / "paper" / "preamble.tex").read_text(encoding="utf-8")
FIGURES = [name for name, _ in modules(figures)]
TABLES = [name for name, _ in modules(tables)]


def arguments(built_or_folder: Path, out: Path, *more: str) -> list[str]:
    return ["build", "--no-pdf", "--recorded", str(built_or_folder), "--published", str(PUBLISHED), "--out", str(out), *more]


@pytest.fixture(scope="module")
def read(built: Built) -> results.Results:
    """What that report was made from."""
    return results.read([], [built.recorded])


def test_whole_data_end_well(built: Built) -> None:
    assert built.status == 0


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_drawn_as_pdf_and_png(built: Built, name: str) -> None:
    assert (built.out / "figures" / f"{name}.pdf").read_bytes().startswith(b"%PDF")
    assert (built.out / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    caption = (built.paper / "figures" / f"{name}.caption.tex").read_text()
    if not importlib.import_module(f"scanlab_report.figures.{name}").NEEDS:
        return  # a drawing, with no number in it
    assert "2026-01-02" in caption and "commit 012345678" in caption and "recorded" in caption


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_written_in_three_formats(built: Built, name: str) -> None:
    assert r"\toprule" in (built.out / "tables" / f"{name}.tex").read_text()
    assert "|---" in (built.out / "tables" / f"{name}.md").read_text()
    assert len((built.out / "tables" / f"{name}.csv").read_text().splitlines()) > 1


@pytest.mark.parametrize("name", FIGURES)
def test_no_text_of_a_figure_is_cut_off(read: results.Results, name: str) -> None:
    module = importlib.import_module(f"scanlab_report.figures.{name}")
    gathered = gather(module.NEEDS, read, published.read(PUBLISHED, []))
    with style.sheet():
        drawn = module.draw(**gathered.found)
        style.footer(drawn, [p.line() for p in gathered.provenances])
        drawn.canvas.draw()
        page = drawn.bbox
        box = drawn.get_tightbbox().transformed(drawn.dpi_scale_trans)
        pyplot.close(drawn)
    slack = 1.0
    assert box.x0 >= page.x0 - slack and box.x1 <= page.x1 + slack
    assert box.y0 >= page.y0 - slack and box.y1 <= page.y1 + slack


def test_missing_data_leave_a_sentence_and_no_figure(tmp_path: Path, drawn: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "only_counts"
    folder.mkdir()
    (folder / "e.json").write_text(json.dumps(fixtures.explanation("hso_block", 64)))
    out = tmp_path / "out"
    (out / "figures").mkdir(parents=True)
    (out / "figures" / "throughput.pdf").write_text("left by an earlier run")
    assert main(arguments(folder, out)) == 0
    said = capsys.readouterr().out
    assert "figure throughput is left out: no plus inclusive timings of memcpy on a CUDA device. To measure it: tools/record build/cuda/scanlab results/run scans" in said
    assert not (out / "figures" / "throughput.pdf").exists()
    assert (out / "figures" / "bank_conflicts.pdf").exists()


OLDER = ("hs_", "hso_", "cub_device_scan", "thrust_scan", "memcpy", "empty_launch", "cpu_")


@pytest.mark.parametrize(("kept", "absent"), [
    (OLDER, "figure head_to_head is left out: no timings of best beside CUB"),
    (("best", "memcpy"), "figure head_to_head is left out: no timings of best beside CUB"),
    (("best", "cub_"), "figure waterfall is left out: no plus inclusive timings of memcpy"),
    (("one_wave", "memcpy", "empty_launch"), "figure tile_size is left out"),
])  # fmt: skip
def test_a_part_of_the_variants_gives_a_part_of_the_report(tmp_path: Path, drawn: list[str], capsys: pytest.CaptureFixture[str], kept: tuple[str, ...], absent: str) -> None:
    document = fixtures.timings(rounds=5, top=12)
    document["benchmarks"] = [e for e in document["benchmarks"] if e["name"].removeprefix("scan/variant:").startswith(kept)]
    (tmp_path / "scan.json").write_text(json.dumps(document))
    assert main(arguments(tmp_path / "scan.json", tmp_path / "out", "--paper", str(tmp_path / "paper"))) == 0
    assert absent in capsys.readouterr().out


def contents(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_build_that_breaks_off_keeps_the_last_good_one(built: Built, tmp_path: Path, drawn: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    out, paper = tmp_path / "out", tmp_path / "paper"
    shutil.copytree(built.out, out)
    shutil.copytree(built.paper, paper)
    before = contents(out), contents(paper)

    def broken(**_: object) -> None:
        raise RuntimeError("a figure that cannot be drawn")

    monkeypatch.setattr(importlib.import_module(f"scanlab_report.figures.{FIGURES[1]}"), "draw", broken)
    with pytest.raises(RuntimeError):
        main(arguments(built.recorded, out, "--paper", str(paper)))
    assert (contents(out), contents(paper)) == before


def test_unwritable_out_is_said_before_any_work(built: Built, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(arguments(built.recorded, tmp_path / "file" / "out")) == 2
    said = capsys.readouterr()
    assert "cannot be written to" in said.err and said.out == ""


def test_cpu_baselines_timed_beside_a_gpu_name_their_cpu(built: Built) -> None:
    text = (built.out / "tables" / "cpu_baselines.md").read_text()
    assert "Test CPU, 4 cores" in text and "| 2^24 |" in text


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """A file of timings that was recorded."""
    (tmp_path / "recorded.json").write_text(json.dumps(fixtures.timings(rounds=5, top=12)))
    return tmp_path / "recorded.json"


def test_cpu_baselines_measured_now_win_over_recorded_ones(recorded: Path, tmp_path: Path, drawn: list[str]) -> None:
    entries = [fixtures.repetition(fixtures.case("cpu_sequential", 1024), i, 100.0) for i in range(5)]
    context = fixtures.context(kind="host", device="", cpu="New CPU", cores="2")
    (tmp_path / "cpu.json").write_text(json.dumps({"context": context, "benchmarks": entries}))
    assert main([*arguments(recorded, tmp_path / "out"), str(tmp_path / "cpu.json")]) == 0
    text = (tmp_path / "out" / "tables" / "cpu_baselines.md").read_text()
    assert "New CPU, 2 cores" in text and "measured now" in text
    assert "recorded" in (tmp_path / "out" / "tables" / "summary.md").read_text()


def test_empty_results_folder_leaves_the_recorded_runs(recorded: Path, tmp_path: Path, drawn: list[str]) -> None:
    (tmp_path / "empty").mkdir()
    assert main([*arguments(recorded, tmp_path / "out"), str(tmp_path / "empty")]) == 0
    assert "recorded" in (tmp_path / "out" / "tables" / "summary.md").read_text()


def test_missing_folder_and_nothing_to_read_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments(tmp_path / "nowhere", tmp_path / "out")) == 2
    assert "no such file or folder" in capsys.readouterr().err
    assert main(["build", "--out", str(tmp_path / "out")]) == 2
    capsys.readouterr()
    for command in (["build", str(tmp_path), "--out", str(tmp_path / "out")], ["claims", str(tmp_path)]):
        assert main([*command, "--published", "nowhere"]) == 2
        assert capsys.readouterr().err == "error: nowhere: no such file or folder\n"
    assert not (tmp_path / "out").exists()  # nothing was written


@pytest.mark.parametrize("line", [["build", "--no-pdf", "--out", "out"], ["claims"], ["export", "--out", "out"], ["tutorials"], ["table", "summary"]])
def test_no_results_are_no_report(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, line: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    assert main([*line, "empty", "/dev/null"]) == 2
    said = capsys.readouterr()
    assert re.fullmatch(r"error: nothing to (read|export): no results among empty, /dev/null\n", said.err) and not said.out
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


DRAWN_AGAIN = speedup.draw


def test_same_data_give_the_same_bytes(built: Built, tmp_path: Path, drawn: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speedup, "draw", DRAWN_AGAIN)
    main(arguments(built.recorded, tmp_path / "out"))
    for file in ("figures/speedup.pdf", "tables/summary.tex", "cases.csv"):
        assert (tmp_path / "out" / file).read_bytes() == (built.out / file).read_bytes()


def test_losses_and_the_head_to_head_agree(built: Built) -> None:
    lost = (built.out / "tables" / "losses.csv").read_text().splitlines()[1:]
    assert len(lost) == 1 and lost[0].startswith("i64,affine,inclusive,4096,cold,stream,")
    assert (built.out / "tables" / "head_to_head.csv").read_text().splitlines()[-1].startswith("all,")


def test_baselines_timed_from_python_stand_beside_the_others(built: Built) -> None:
    assert "× others PyTorch" in (built.out / "tables" / "rivals.md").read_text()


# ------------------------------------------------------------------------------------------------- markers

PAGE = "# Title\n\nbefore\n<!-- results:begin -->\nold\n<!-- results:end -->\nafter\n"


def test_only_the_part_between_the_markers_changes() -> None:
    new = replaced(PAGE, "results", "| new |\n")
    assert new == PAGE.replace("\nold\n", "\n| new |\n")
    assert replaced(new, "results", "| new |") == new


@pytest.mark.parametrize(
    "page", ["no markers", PAGE.replace("<!-- results:end -->", ""), PAGE + PAGE,
             "<!-- results:end --> <!-- results:begin -->"],
)  # fmt: skip
def test_pages_without_a_pair_of_markers_are_refused(page: str) -> None:
    with pytest.raises(MarkerError):
        replaced(page, "results", "new")


def test_readme_and_ladder_are_filled(built: Built, tmp_path: Path, drawn: list[str]) -> None:
    readme, ladder = tmp_path / "README.md", tmp_path / "ladder.md"
    readme.write_text(PAGE)
    ladder.write_text(PAGE.replace("results:", "ladder:"))
    status = main(arguments(built.recorded, tmp_path / "out", "--page", str(readme), "--page", str(ladder)))
    assert status == 0
    assert "| `cub_device_scan` |" in readme.read_text() and "Test Device" in readme.read_text()
    assert "Against the fastest scan of CUB as shipped, `best` is faster in" in readme.read_text() and "slower in 1." in readme.read_text()
    assert "| `hso_block_padded` | 2^11 |" in ladder.read_text() and "after" in ladder.read_text()


def test_ladder_without_counts_is_left_as_it_is(built: Built, tmp_path: Path, drawn: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    page, recorded = PAGE.replace("results:", "ladder:"), tmp_path / "recorded"
    shutil.copytree(built.recorded, recorded, ignore=lambda folder, names: [n for n in names if "scan" not in n and n.endswith(".json")])
    ladder = tmp_path / "ladder.md"
    ladder.write_text(page)
    main(arguments(recorded, tmp_path / "out", "--page", str(ladder)))
    assert ladder.read_text() == page
    assert "ladder.md: ladder is left as it is: no counts of the SIMT emulator" in capsys.readouterr().out


def test_readme_without_markers_is_refused_before_any_work(built: Built, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("# no markers\n")
    assert main(arguments(built.recorded, tmp_path / "out", "--page", str(readme))) == 2
    assert "README.md: it has no generated part; the markers of one are <!-- results:begin -->" in capsys.readouterr().err
    assert readme.read_text() == "# no markers\n"


# --------------------------------------------------------------------------------------------------- paper


def test_every_macro_is_defined_from_whole_data(built: Built) -> None:
    defined = re.findall(r"\\newcommand{\\(\w+)}", (built.paper / "macros.tex").read_text())
    conditional = {name for name, says in macros.NAMES.items() if says.startswith("defined if")}
    assert set(defined) <= set(macros.NAMES)
    assert set(macros.NAMES) - set(defined) <= conditional


def test_every_macro_is_used_by_a_paper() -> None:
    said = "".join(words_of(paper) for paper in PAPERS)
    assert [name for name in macros.NAMES if not re.search(rf"(?<![A-Za-z]){name}(?![A-Za-z])", said)] == []


LATEX = set("""
    approx arraybackslash author begin bibliography bibliographystyle bottomrule byte caption centering cite emph end footnotesize
    frac giga hertz IEEEauthorblockN item kibi label lceil lg linewidth log maketitle max mebi mega micro midrule
    noindent num paragraph per percent qty raggedright rceil ref scriptsize second section setlength smallskip subsection tabcolsep texttt
    textwidth title toprule unit
""".split())
"""Macros of LaTeX and of the packages that the papers load, as far as their text uses them: CI has no TeX that would know a misspelt one."""


def words_of(paper: str) -> str:
    """The text from the title on, without comments."""
    return re.sub(r"(?<!\\)%.*", "", PAPERS[paper][PAPERS[paper].index(r"\title{") :])


def unknown_macros(text: str) -> set[str]:
    """Macros that neither LaTeX, nor the papers' preamble, nor analysis defines."""
    head = set(re.findall(r"\\newcommand{\\(\w+)}", PREAMBLE))
    return set(re.findall(r"\\([A-Za-z@]+)", text.replace(r"\\", ""))) - LATEX - head - set(macros.NAMES)


@pytest.mark.parametrize(("planted", "unknown"), [
    ("", set()), (r"\num{\bestOfCopy}", set()), (r"\num{\bestOfCpy}", {"bestOfCpy"}), (r"\bestofcopy", {"bestofcopy"}),
])  # fmt: skip
@pytest.mark.parametrize("paper", PAPERS)
def test_a_paper_uses_no_macro_that_nobody_defines(paper: str, planted: str, unknown: set[str]) -> None:
    assert unknown_macros(words_of(paper) + planted) == unknown


@pytest.mark.parametrize("paper", PAPERS)
def test_a_missing_number_is_an_error_and_no_condition(paper: str) -> None:
    assert not re.search(r"\\(given|shown|providecommand|IfFileExists|InputIfFileExists|ifdefined)\b", PREAMBLE + words_of(paper))


NO_MEASUREMENTS = (
    (r"(?:4|8|16)[- ]bytes?\b", "widths of items and accesses"),
    (r"(?:8-|16-|32-|16|32)[- ]?bits?\b|8- and 16-bit", "widths of items"),
    (r"within one per cent of it", "the rule by which a case has been timed often enough"),
    (r"95\\,\\% intervals between order statistics", "how sure intervals are, by choice"),
)
"""Numbers with units that the paper may type, and what they are."""

TYPED = re.compile(r"""
    \\(?:num|qty|SI|ang)\w*\s*(?:\[[^\]]*\]\s*)?\{\s*[+-]?\.?\d      # \num{3}: a number that nobody typed is a macro
  | \d*\.\d+(?![\d.]*(?:pt|in|em)\b)                             # no definition here has decimals, but for lengths of the layout
  | (?:\d[\d.,]*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twenty|fifty|hundred)\b) GAP
    (?: \\?%|\\percent|per\s?cent|percentage
      | \\times|×|times\b|fold\b|x\b
      | (?:[nmuµμ]|\\(?:text)?(?:mu|micro) GAP)?s(?:ecs?|econds?)?\b|(?:nano|micro|milli)seconds?\b|minutes?\b|hours?\b|cycles?\b
      | (?:[kKMGTP]i?)?(?:B|[Bb]ytes?|[Bb]its?)\b|(?:kilo|mega|giga|tera|kibi|mebi|gibi|tebi)(?:bytes?|bits?)\b
      | [kKMGT]?(?:Hz|W|J|FLOPS?|flops?)\b|(?:items|additions|elements)\s(?:per|a)\s
      | (?:\\(?:kilo|mega|giga|tera|kibi|mebi|gibi|tebi|milli|micro|nano) GAP)?\\(?:second|byte|bit|hertz|watt|joule)\b)
""".replace("GAP", r"(?:\\[,;:!\ ]|[\s~{}$-])*"), re.VERBOSE)  # what stands between a number and its unit: spaces of any kind, braces, dollars


def typed_values(text: str) -> list[str]:
    for allowed, _ in NO_MEASUREMENTS:
        text = re.sub(rf"(?<![\d.])(?:{allowed})", ";", text.replace("\n", " "))
    return [found[0] for found in TYPED.finditer(text)]


@pytest.mark.parametrize("paper", PAPERS)
def test_no_measured_value_in_a_paper_is_typed_by_hand(paper: str) -> None:
    assert not typed_values(words_of(paper))


@pytest.mark.parametrize("value", [
    r"93\,\%", "93%", r"93~\%", "3 percent", "three per cent", r"1.31$\times$", r"$3\times$", "2×", "2x", "1.31 times faster", "2 times as fast", "3-fold",
    r"3\,\textmu s", r"3~$\mu$s", r"$3\,\mu$s", "3 µs", "3 μs", "3 us", "3 ns", "3 ms", "2 s", "5 seconds", "3 microseconds", "9 cycles",
    "4 GiB/s", "4 TB/s", "4000 GB/s", r"4{}GB", "64 MiB", "500 MB/s", "64 bytes", "1980 MHz", "700 W", "5 items per second", "0.93 of the copy", ".93",
    r"\num{3}", r"\num[round-mode=places]{3}", r"\qty{3}{\percent}", r"\SI{3}{\micro\second}", r"\SIrange{3}{4}{\second}", r"3\,\micro\second", r"3\giga\byte",
])  # fmt: skip
def test_a_measured_value_in_any_spelling_is_seen(value: str) -> None:
    assert typed_values(f"It takes {value}, as it were.")


@pytest.mark.parametrize("text", [r"$2^{25}$ items", r"$\approx 3n$ & 22 a level", r"\num{\bestOfCopy}\,\%", "8-byte accesses", "GCC 12 and 13", "32 banks"])
def test_what_is_no_measured_value_is_no_alarm(text: str) -> None:
    assert not typed_values(text)


def test_options_and_formulas_in_captions_are_set_as_such() -> None:
    said = caption("As verify --repeat compares 2n items – of 3n/(n + 2), 4n.", [])
    assert said == "\\caption{As verify -{}-repeat compares $2n$ items -- of $3n/(n + 2)$, $4n$.}\n"


def test_every_caption_says_how_often_and_what_bars_mean_or_why_there_are_none(built: Built) -> None:
    for name in FIGURES:
        if not importlib.import_module(f"scanlab_report.figures.{name}").NEEDS:
            continue  # a drawing
        said = (built.paper / "figures" / f"{name}.caption.tex").read_text()
        if re.search(r"\(median of [\d to]+ repetition", said):
            assert re.search(r"95\\% (bootstrap )?interval|no error bars", said), name
        else:
            assert re.search("no (error )?bars|simulated", said), name


@pytest.mark.parametrize("paper", PAPERS)
def test_a_paper_refers_to_every_figure_and_table_that_it_shows(paper: str) -> None:
    text = words_of(paper)
    for what, kind in (("figref", "figure"), ("tabref", "table")):
        assert set(re.findall(rf"\\scan(?:wide|page)?{kind}{{(\w+)}}", text)) <= set(re.findall(rf"\\{what}{{(\w+)}}", text))


def test_the_paper_has_idea_work_span_and_traffic_of_every_scan() -> None:
    rows = re.findall(r"^\\texttt{([\w\\]+)} &.*?&.*?&.*?& *(.*?) *&.*\\\\$", PAPERS["scan"], re.MULTILINE)
    scans = PUBLISHED.parents[1] / "variants" / "scan"
    assert {name.replace("\\", "") for name, _ in rows} == {file.stem.removesuffix("_padded") for file in scans.glob("*.cu")}
    for name, traffic in rows:
        if stated := re.search(r'\.traffic = "(\dn)"', (scans / f"{name.replace(chr(92), '')}.cu").read_text()):
            assert traffic == f"${stated[1]}$", name


@pytest.mark.parametrize("paper", PAPERS)
def test_a_paper_shows_only_figures_and_tables_that_analysis_writes_or_its_own(paper: str) -> None:
    text = words_of(paper)
    assert set(re.findall(r"\\scan(?:wide)?figure{(\w+)}", text)) <= set(FIGURES)
    assert set(re.findall(r"\\scan(?:wide|page)?table{(\w+)}", text)) <= set(TABLES)
    assert set(re.findall(r"\\figref{(\w+)}", text)) <= set(FIGURES) | set(re.findall(r"\\label{fig:(\w+)}", text))
    assert set(re.findall(r"\\tabref{(\w+)}", text)) <= set(TABLES) | set(re.findall(r"\\label{tab:(\w+)}", text))


# ----------------------------------------------------------------------------------------- README and gallery

ROOT = Path(__file__).resolve().parents[2]


def test_the_readme_is_read_in_a_minute_and_has_six_rows() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.encode()) <= 8 << 10
    begin, end = find(text, "results")
    assert len(re.findall(r"^\| `", text[begin:end], re.MULTILINE)) == 6 and "Versions: CUDA" in text[begin:end]


def test_the_gallery_has_every_figure_that_recorded_data_allow() -> None:
    page = (ROOT / "docs" / "GALLERY.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"^!\[figure\]\(gallery/(\w+)\.png\)$", page, re.MULTILINE))
    known = {name for name, _ in modules(figures)}
    assert shown <= known and len(shown) >= 25
    pictures = list((ROOT / "docs" / "gallery").iterdir())
    assert {picture.stem for picture in pictures} == shown
    assert sum(picture.stat().st_size for picture in pictures) < 1 << 20


def test_a_gallery_is_filled_with_small_pictures_sentences_and_commands(built: Built, tmp_path: Path, drawn: list[str]) -> None:
    page = tmp_path / "GALLERY.md"
    page.write_text(PAGE.replace("results:", "gallery:"))
    assert main(arguments(built.recorded, tmp_path / "out", "--page", str(page))) == 0
    text = page.read_text()
    assert "### `throughput`\n\nThroughput against array size" in text
    assert "(gallery/throughput.png)\n```sh\ntools/record build/cuda/scanlab results/run" in text
    with Image.open(tmp_path / "gallery" / "throughput.png") as small:
        assert small.mode == "P" and small.width <= pages.WIDTH


def test_the_gallery_has_the_numbers_of_figures_in_the_papers() -> None:
    printed = pages._printed()
    assert printed["waterfall"] == "Figure 1 of the scan paper." and printed["ceiling_share"] == "Figure 4 of the scan paper.", "the third has no file"
    page = (ROOT / "docs" / "GALLERY.md").read_text(encoding="utf-8")
    assert page.count(" of the scan paper.") == 11 and page.count(" of the streams paper.") == 12
