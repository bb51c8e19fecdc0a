"""Tests of pages: links lead somewhere, commands exist, words are spelt, and the generated parts of
pages are of the recorded session."""

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scanlab_report import DATA, chapters, commands, experiments, markers, tutorials
from scanlab_report.commands.__main__ import command_line
from scanlab_report.data import Data
from scanlab_report.report import pages
from scanlab_report.shown import FIGURES
from tests.run_tutorials import BLOCKS, wrong

ROOT = DATA.parent
PROGRAM = os.environ.get("SCANLAB_PROGRAM", "")
WRITTEN = set(
    ".cpp .hpp .cu .cuh .cmake .py .sh .md .tex .bib .toml .cff .js .css .html .in".split()
)
PYTHON = ["analysis", "baselines/python", "examples", "tests", "tools"]
NOT_OURS = {"recorded", "generated", "vega.js"}
FENCED = re.compile(r"^( *)```.*?^\1```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)>\s]+)>?[^)]*\)")
NAMES = "kno,thid,vermillion,leary,mattern,udo,sqare,chek,maping,paddin"
"""A constant, a variable, a palette's word, authors, and words that are misspelt on purpose."""


def files(suffixes: set[str]) -> Iterator[Path]:
    """Yield the files that are written by hand and kept in the repository."""
    for top in sorted(ROOT.iterdir()):
        if not top.name.startswith((".", "build", "results")):
            for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
                if path.suffix in suffixes and not NOT_OURS & set(path.relative_to(ROOT).parts):
                    yield path


def anchors(page: str) -> set[str]:
    """The names by which a page's headings are linked to, as GitHub makes them."""
    headings = re.findall(r"^#+ +(.*?) *$", FENCED.sub("", page), re.MULTILINE)
    texts = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in headings]
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in texts}


def test_every_link_of_a_page_leads_somewhere() -> None:
    lost = []
    for page in files({".md"}):
        text = FENCED.sub("", page.read_text(encoding="utf-8"))
        prose = re.sub(r"`[^`\n]*`", "", text)
        named = re.findall(r"^\[[^\]]+\]: +(\S+)", prose, re.MULTILINE)
        for target in [*(link[1] for link in LINK.finditer(text)), *named]:
            name, _, anchor = target.partition("#")
            file = (page.parent / name).resolve() if name else page
            if re.match(r"[a-z]+:", target):
                continue
            if not file.is_relative_to(ROOT) or not file.exists():
                lost.append(f"{page}: {target}: no such file")
            elif anchor and anchor not in anchors(file.read_text(encoding="utf-8")):
                lost.append(f"{page}: {target}: no such heading")
    assert lost == []


@pytest.mark.parametrize(
    "name", ["README.md", "CONTRIBUTING.md", "docs/OWN_KERNEL.md", "docs/USE_IT.md"]
)
def test_a_page_shows_code_of_the_examples_alone(name) -> None:
    page = (ROOT / name).read_text(encoding="utf-8")
    shown = [m for m in tutorials.MARKER.findall(page) if m[1] == "code"]
    assert len(shown) == page.count("```cpp\n") + page.count("```python\n") > 0
    for marker, _, words in shown:
        assert page == markers.replaced(page, marker, tutorials.excerpt(words))


def test_codespell_ruff_and_mypy_find_nothing(tmp_path) -> None:
    paths = [*map(str, files(WRITTEN)), "check", "reproduce", ".zenodo.json"]
    tools = ["tools/count", "tools/count_lines", "tools/record"]
    lines = {"codespell_lib": ["--ignore-words-list", NAMES, *paths]}
    lines |= {"ruff": ["check", "--no-cache", *PYTHON, *tools]}
    lines |= {"mypy": ["--cache-dir", str(tmp_path)]}
    for module, words in lines.items():
        if importlib.util.find_spec(module):
            line = [sys.executable, "-m", module, *words]
            ran = subprocess.run(line, cwd=ROOT, capture_output=True, text=True)
            assert ran.returncode == 0, ran.stdout + ran.stderr


PAGES = [ROOT / "README.md", ROOT / "paper" / "ARTIFACT.md", *sorted((ROOT / "docs").glob("*.md"))]
LINES = {
    line.strip()
    for page in PAGES
    if page.stem != "GALLERY"
    for _, block, _ in BLOCKS.findall(page.read_text(encoding="utf-8"))
    for line in block.splitlines()
}


def fault(words: list[str]) -> str:
    """Return the fault of a command; empty if it has none."""
    program, *arguments = words
    if program == ".venv/bin/scanlab-report":
        try:
            command_line().parse_args(arguments)
        except SystemExit:
            return f"scanlab-report does not take {arguments}"
    elif program in ("./check", "./reproduce"):
        line = [ROOT / program, "--help"]
        known = subprocess.run(line, capture_output=True, text=True, check=True).stdout
        return " ".join(w for w in arguments if w[0] == "-" and w.partition("=")[0] not in known)
    elif program == "torchrun":
        return "" if (ROOT / arguments[-1]).is_file() else f"there is no {arguments[-1]}"
    elif program == "tools/record":
        return "" if set(arguments[2:]) - {"--gpus", "4"} <= set(experiments.known()) else program
    usual = {"cd", "podman", "git", "cmake", "mpirun", ".venv/bin/scanlab-report"}
    return "" if program in usual or program.startswith("scanlab=") else f"what is {program}"


@pytest.mark.parametrize("line", sorted(LINES))
def test_every_command_of_a_page_is_one_that_the_checkout_has(line, tmp_path) -> None:
    if line.startswith("$scanlab"):
        if not PROGRAM:
            pytest.skip("SCANLAB_PROGRAM names no program")
        (tmp_path / "results").mkdir()
        line = line if " new " in line else line.replace("my_scan", "one_block")
        assert wrong(PROGRAM, line, None, str(tmp_path)) == ""
    elif not line.startswith("mpirun"):
        for command in line.split(" && "):
            assert fault(shlex.split(command, comments=True)) == ""


def test_the_page_of_commands_lists_each_with_an_example() -> None:
    text = (ROOT / "docs" / "CLI.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z -]+)` .*`scanlab-report \1\b", text, re.MULTILINE)
    assert sorted(rows) == sorted(name.replace("_", "-") for name in commands.NAMES)


GENERATED = ["README.md results", "docs/METHOD.md devices", "docs/DEVICES.md devices"]
GENERATED += [f"docs/CLAIMS.md {name}" for name in ("standings", "types", "losses", "over_vendor")]


@pytest.mark.parametrize("place", GENERATED)
def test_a_generated_part_is_up_to_date(place, recorded) -> None:
    """Where it is not: CONTRIBUTING.md, Generated pages."""
    page, part = place.split()
    text = (ROOT / page).read_text(encoding="utf-8")
    assert markers.replaced(text, part, pages.PARTS[part](recorded)) == text


def test_the_readme_is_read_in_a_minute() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.encode()) <= 8 << 10
    assert len(re.findall(r"^\| `", text[slice(*markers.find(text, "results"))], re.MULTILINE)) == 6


def test_the_gallery_has_every_figure_of_a_chapter() -> None:
    chapters.load_all()
    page = (ROOT / "docs" / "GALLERY.md").read_text(encoding="utf-8")
    stale = "docs/GALLERY.md is not what its figures say: CONTRIBUTING.md, Add a figure"
    assert markers.replaced(page, "gallery", pages.gallery(Data())) == page, stale
    shown = set(re.findall(r"^!\[figure\]\(gallery/(\w+)\.png\)$", page, re.MULTILINE))
    own = {name for name, entry in FIGURES.items() if not entry.of_others}
    assert own == shown == {picture.stem for picture in pages.GALLERY.iterdir()}
