"""The tutorials: pictures, code and times are those of their sources; every program compiles."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from scanlab_report.commands import tutorials
from scanlab_report.data import Data
from scanlab_report.markers import MarkerError
from scanlab_report.opened import RECORDED, opened
from scanlab_report.tutorials import drawing, parts
from tests.run_tutorials import wrong

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "tutorials"
PROGRAM = os.environ.get("SCANLAB_PROGRAM", "")
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
CXX = shutil.which(os.environ.get("CXX", "")) or shutil.which("c++")


@pytest.fixture(scope="module")
def data() -> Data:
    """The recorded data: the pages promise to have its times."""
    read = opened([RECORDED])
    return read.on(read.devices[0])


def test_what_is_generated_is_up_to_date(data: Data) -> None:
    """Where it is not: scanlab-report tutorials --scanlab PROGRAM."""
    made = tutorials.made(PAGES, data, Path(PROGRAM) if PROGRAM else None)
    assert [file for file, text in made.items() if text != file.read_text(encoding="utf-8")] == []


def test_every_page_has_exercises_with_solutions_and_pictures_for_a_phone() -> None:
    for page in PAGES.glob("*/*.md"):
        text = page.read_text(encoding="utf-8")
        assert "\nYou will learn: " in text and "<summary>Solutions</summary>" in text, page
        questions, _, solutions = text.partition("## Exercises")[2].partition("<details>")
        numbers = [re.findall(r"^(\d+)\. ", part, re.MULTILINE) for part in (questions, solutions)]
        assert numbers[0] == numbers[1] != [], page
    linked = "".join(page.read_text(encoding="utf-8") for page in PAGES.rglob("*.md"))
    for file in PAGES.rglob("*.svg"):
        text = file.read_text(encoding="utf-8")
        assert f"{file.name})" in linked and f'viewBox="0 0 {drawing.WIDTH} ' in text, file
        assert min(map(float, re.findall(r'font-size="([\d.]+)"', text))) >= 12, file
        places = re.findall(r'<(?:text|rect)[^>]* x="([\d.]+)"', text)
        assert max(map(float, places)) <= drawing.WIDTH, file


@pytest.mark.parametrize(
    ("marker", "stated"),
    [
        ("code variants/scan/none.cuh for", "there is no source variants/scan/none.cuh"),
        (
            "code variants/scan/hs_steps.cuh while (true)",
            "variants/scan/hs_steps.cuh: no line begins with: while (true)",
        ),
        (
            "code variants/scan/hs_steps.cuh const int",
            "variants/scan/hs_steps.cuh: several lines begin with: const int",
        ),
        ("speed hs_block none_such", "no recorded times of none_such"),
        ("schedules depth_first/7", "no recorded times of depth_first/7"),
        ("calls none_such", "no recorded experiment none_such"),
    ],
)
def test_a_marker_that_asks_for_what_is_not_there_is_named(
    data: Data, marker: str, stated: str, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"<!-- {marker}:begin -->\n<!-- {marker}:end -->\n")
    with pytest.raises(MarkerError, match=re.escape(f"{page}: {stated}")):
        parts.filled(page, data, {})


def test_an_excerpt_follows_its_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = "  for (int i = 0; i < n; ++i) {  // {\n    if (i) {\n    } else {\n    }\n  }\n"
    (tmp_path / "kernel.cuh").write_text(f"// not shown\n{body}// not shown\n")
    monkeypatch.setattr(parts, "ROOT", tmp_path)
    wanted = "for (int i = 0; i < n; ++i) {  // {\n  if (i) {\n  } else {\n  }\n}"
    assert parts.excerpt("kernel.cuh for (int i = 0") == f"```cpp\n{wanted}\n```"


@pytest.mark.skipif(not CXX, reason="there is no C++ compiler")
def test_the_applications_print_what_their_page_shows(tmp_path: Path) -> None:
    source, program = PAGES / "scans" / "applications.cpp", tmp_path / "applications"
    line = [CXX, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-o", program, source]
    subprocess.run(line, check=True)
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    page = (PAGES / "scans" / "9-applications.md").read_text(encoding="utf-8")
    assert f"```text\n{printed}```\n" in page


@pytest.mark.skipif(not NVCC, reason="there is no nvcc")
@pytest.mark.parametrize("source", sorted(PAGES.rglob("*.cu")), ids=lambda source: source.stem)
def test_a_program_compiles_and_does_what_it_says_on_a_gpu(source: Path, tmp_path: Path) -> None:
    program = tmp_path / source.stem
    subprocess.run([NVCC, "-std=c++20", "-o", program, source], check=True)
    ran = subprocess.run([program], capture_output=True, text=True)
    without = "no CUDA-capable device|driver version is insufficient"
    if not (ran.stdout.startswith("CUDA: ") and re.search(without, ran.stdout)):
        assert ran.returncode == 0 and " items are " in ran.stdout, ran.stdout


@pytest.mark.skipif(not PROGRAM, reason="SCANLAB_PROGRAM names no program")
def test_a_page_that_shows_another_output_is_caught(tmp_path: Path) -> None:
    line, shown = "$scanlab explain hs_block --items 8", "…\n  operations      {} …\n…\n"
    assert wrong(PROGRAM, line, shown.format(17), str(tmp_path)) == ""
    assert "as the page shows" in wrong(PROGRAM, line, shown.format(18), str(tmp_path))
