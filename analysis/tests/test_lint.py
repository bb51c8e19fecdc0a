"""ruff and mypy find nothing, where they are installed; the lock does not have them, and pyproject.toml names them under ``lint``."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ANALYSIS = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(("tool", "arguments"), [("ruff", ["check", "--no-cache"]), ("mypy", ["--python-executable", sys.executable])])
def test_the_package_is_clean(tool: str, arguments: list[str], tmp_path: Path) -> None:
    program = shutil.which(tool)
    if program is None:
        pytest.skip(f"there is no {tool}: pip install ruff mypy")
    cache = ["--cache-dir", str(tmp_path)] if tool == "mypy" else []
    ran = subprocess.run([program, *arguments, *cache], cwd=ANALYSIS, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
