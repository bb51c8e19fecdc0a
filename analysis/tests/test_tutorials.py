"""The tutorials: code and times are those of their sources; every program compiles."""

import os
import re
import shutil
import subprocess

import pytest

from scanlab_report import tutorials
from scanlab_report.console import Refused

PAGES = tutorials.PAGES
PROGRAM = os.environ.get("SCANLAB_PROGRAM", "")
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
CXX = shutil.which(os.environ.get("CXX", "")) or shutil.which("c++")


def test_what_is_generated_is_up_to_date_and_every_picture_is_shown(recorded) -> None:
    """Where it is not: scanlab-report tutorials."""
    texts = {page: page.read_text(encoding="utf-8") for page in PAGES.rglob("*.md")}
    assert [page for page, text in texts.items() if tutorials.filled(page, recorded) != text] == []
    linked = set(re.findall(r"([\w.]+\.svg)\)", "".join(texts.values())))
    assert {picture.name for picture in PAGES.rglob("*.svg")} <= linked


STEPS, TILE = "variants/scan/hs_steps.cuh", "variants/scan/register_tile.cuh"


@pytest.mark.parametrize(
    ("marker", "stated"),
    [
        ("code variants/scan/none.cuh for", "there is no source variants/scan/none.cuh"),
        (f"code {STEPS} while (true)", f"{STEPS}: 0 lines begin with: while (true)"),
        (f"code {TILE} SCANLAB_HD", "lines begin with: SCANLAB_HD"),
        (f"code {STEPS} for (int offset = 1 … while", f"{STEPS}: no end of: for (int offset"),
        ("speed hs_block none_such", "no recorded times of none_such"),
    ],
)
def test_a_marker_that_asks_for_what_is_not_there_is_named(
    recorded, marker, stated, tmp_path
) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"<!-- {marker}:begin -->\n<!-- {marker}:end -->\n")
    with pytest.raises(Refused, match=f"^{page}: .*{re.escape(stated)}"):
        tutorials.filled(page, recorded)


@pytest.mark.skipif(not CXX, reason="there is no C++ compiler")
def test_the_applications_print_what_their_page_shows(tmp_path) -> None:
    source, program = PAGES / "scans" / "applications.cpp", tmp_path / "applications"
    line = [CXX, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-o", program, source]
    subprocess.run(line, check=True)
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    page = (PAGES / "scans" / "9-applications.md").read_text(encoding="utf-8")
    assert f"```text\n{printed}```\n" in page


@pytest.mark.skipif(not NVCC, reason="there is no nvcc")
@pytest.mark.parametrize("source", sorted(PAGES.rglob("*.cu")), ids=lambda source: source.stem)
def test_a_program_compiles_and_does_what_it_says_on_a_gpu(source, tmp_path) -> None:
    program = tmp_path / source.stem
    subprocess.run([NVCC, "-std=c++20", "-o", program, source], check=True)
    ran = subprocess.run([program], capture_output=True, text=True)
    without = "no CUDA-capable device|driver version is insufficient"
    if not (ran.stdout.startswith("CUDA: ") and re.search(without, ran.stdout)):
        assert ran.returncode == 0 and " items are " in ran.stdout, ran.stdout
