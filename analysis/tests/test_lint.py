"""ruff and mypy find nothing. The lock has ruff; mypy is tried where it is installed, and pyproject.toml names it under ``types``."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_ruff_finds_nothing() -> None:
    if importlib.util.find_spec("ruff") is None:
        pytest.skip("there is no ruff")
    clean([sys.executable, "-m", "ruff", "check", "--no-cache", "analysis", "baselines/python", "tools", *(f"tools/{name}" for name in ("count", "count_lines", "record"))])


def test_mypy_finds_nothing(tmp_path: Path) -> None:
    program = shutil.which("mypy")
    if program is None:
        pytest.skip("there is no mypy: pip install mypy pandas-stubs")
    clean([program, "--python-executable", sys.executable, "--cache-dir", str(tmp_path)])


def clean(command: list[str]) -> None:
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
