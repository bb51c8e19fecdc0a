"""The tutorials: pictures, code and times are what their sources say, every program compiles, and the overview names the packages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from scanlab_report.commands import tutorials
from scanlab_report.commands.tutorials import drawing, scan_pictures, stream_pictures
from scanlab_report.pick import parts
from tests.run_tutorials import wrong

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "tutorials"
PROGRAM = os.environ.get("SCANLAB_PROGRAM", "")
PICTURES = {*scan_pictures.PICTURES, *stream_pictures.RECORDED, *stream_pictures.SIMULATED}
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
CXX = shutil.which(os.environ.get("CXX", "")) or shutil.which("c++")


@pytest.fixture(scope="module")
def gathered() -> parts.Found:
    from scanlab_report.select.needs import gather
    from scanlab_report.select.opened import RECORDED, opened

    from scanlab_report.claims import stated

    return parts.found(gather(parts.NEEDS, *opened([RECORDED], stated.device())))


def test_what_is_generated_is_up_to_date(gathered: parts.Found) -> None:
    """Where it is not: scanlab-report tutorials --scanlab PROGRAM."""
    made = tutorials.made(PAGES, gathered, Path(PROGRAM) if PROGRAM else None)
    assert [file for file, text in made.items() if text != file.read_text(encoding="utf-8")] == []
    if not PROGRAM:
        pytest.skip("SCANLAB_PROGRAM names no program: the simulated timelines were not drawn again")


def test_every_picture_is_on_a_page_and_every_page_has_exercises() -> None:
    linked = {(page.parent / link).resolve() for page in PAGES.rglob("*.md") for link in re.findall(r"!\[[^\]]+\]\(([^)]+\.svg)\)", page.read_text(encoding="utf-8"))}
    assert {PAGES / name for name in PICTURES} == set(PAGES.rglob("*.svg"))
    assert {PAGES / name for name in PICTURES} - linked == set()
    for page in PAGES.glob("*/*.md"):
        text = page.read_text(encoding="utf-8")
        assert "\nYou will learn: " in text and "\n## Exercises\n" in text and "<summary>Solutions</summary>" in text, page
        questions, _, solutions = text.partition("## Exercises")[2].partition("<details>")
        numbered = re.compile(r"^(\d+)\. ", re.MULTILINE)
        assert numbered.findall(questions) == numbered.findall(solutions) != [], page


def test_every_picture_can_be_read_on_a_phone() -> None:
    for file in PAGES.rglob("*.svg"):
        text = file.read_text(encoding="utf-8")
        assert f'viewBox="0 0 {drawing.WIDTH} ' in text, file
        assert min(map(float, re.findall(r'font-size="([\d.]+)"', text))) >= 12, file
        assert max(map(float, re.findall(r'<(?:text|rect)[^>]* x="([\d.]+)"', text))) <= drawing.WIDTH, file


@pytest.mark.parametrize(("marker", "said"), [
    ("code variants/scan/none.cuh for", "there is no source variants/scan/none.cuh"),
    ("code variants/scan/hs_steps.cuh while (true)", "no line begins with: while (true)"),
    ("code variants/scan/hs_steps.cuh if (t < count) {", ""),
    ("code variants/scan/hs_steps.cuh const int", "several lines begin with: const int"),
    ("code variants/scan/hs_steps.cuh if (t >= offset) { … nothing", "no line behind that begins with: nothing"),
    ("speed hs_block none_such", "no recorded times of none_such"),
    ("schedules depth_first/7", "no recorded times of depth_first/7"),
    ("calls none_such", "no recorded experiment none_such"),
])  # fmt: skip
def test_a_marker_that_asks_for_what_is_not_there_is_named(tmp_path: Path, gathered: parts.Found, marker: str, said: str) -> None:
    page = tmp_path / "page.md"
    ((_, kind, words),) = parts.asked(f"<!-- {marker}:begin -->\n<!-- {marker}:end -->\n")
    if said:
        with pytest.raises(parts.PartError, match=re.escape(said)):
            parts.generated(kind, words, gathered, page, {})
    else:
        assert parts.generated(kind, words, gathered, page, {}).endswith("\n}\n```")


@pytest.mark.parametrize("line", ["before", "first", "last"])
def test_an_excerpt_follows_its_source(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "kernel.cuh"
    lines = {"before": "// not shown", "first": "  for (int i = 0; i < n; ++i) {  // {", "last": "    if (i) {\n    } else {\n    }\n  }"}
    source.write_text("\n".join(lines.values()) + "\n// not shown\n")
    monkeypatch.setattr(parts, "ROOT", tmp_path)
    before = parts.excerpt("kernel.cuh for (int i = 0")
    assert before == "```cpp\nfor (int i = 0; i < n; ++i) {  // {\n  if (i) {\n  } else {\n  }\n}\n```"
    source.write_text(source.read_text().replace(lines[line], "// changed" if line == "before" else lines[line].replace("i)", "n)")))
    assert (parts.excerpt("kernel.cuh for (int i = 0") == before) == (line == "before")


def test_the_applications_print_what_their_page_shows(tmp_path: Path) -> None:
    if CXX is None:
        pytest.skip("there is no C++ compiler")
    program = tmp_path / "applications"
    subprocess.run([CXX, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-o", program, PAGES / "scans" / "applications.cpp"], check=True)
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert f"```text\n{printed}```\n" in (PAGES / "scans" / "9-applications.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("source", sorted(PAGES.rglob("*.cu")), ids=lambda source: source.stem)
def test_a_program_compiles_and_does_what_it_says_where_there_is_a_gpu(source: Path, tmp_path: Path) -> None:
    if NVCC is None:
        pytest.skip("there is no nvcc")
    program = tmp_path / source.stem
    subprocess.run([NVCC, "-std=c++20", "-o", program, source], check=True)
    ran = subprocess.run([program], capture_output=True, text=True)
    if ran.stdout.startswith("CUDA: ") and re.search("no CUDA-capable device|driver version is insufficient", ran.stdout):
        return  # compiled; that a machine without a GPU is told so is all that can be seen here
    assert ran.returncode == 0 and " items are " in ran.stdout, ran.stdout


def test_the_overview_names_the_packages_that_a_build_needs() -> None:
    needs = re.findall(r"^([\w-]+) +\| ([^|]*?) *\| [^|]*\| (.*)$", (ROOT / "tools" / "packages.sh").read_text(encoding="utf-8"), re.MULTILINE)
    vital = {package for need, packages, lost in needs if lost == "-" and need != "gtest" for package in packages.split()}
    asked = re.search(r"apt-get install --no-install-recommends (.*)", (PAGES / "README.md").read_text(encoding="utf-8"))
    assert vital and asked and set(asked[1].split()) == vital | {"git"}


def test_a_page_that_shows_another_output_is_caught(tmp_path: Path) -> None:
    if not PROGRAM:
        pytest.skip("SCANLAB_PROGRAM names no program")
    assert wrong(PROGRAM, "$scanlab explain hs_block --items 8", "…\n  operations      17 …\n…\n", str(tmp_path)) == ""
    assert "as the page shows" in wrong(PROGRAM, "$scanlab explain hs_block --items 8", "…\n  operations      18 …\n…\n", str(tmp_path))
