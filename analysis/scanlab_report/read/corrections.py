"""Facts on recorded files that the files lack: ``data/corrections.toml`` withdraws measurements, and names the run of a table."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from scanlab_report import DATA

FILE = DATA / "corrections.toml"


@cache
def known() -> Mapping[str, list[dict[str, Any]]]:
    """The entries by their kind, ``withdrawn`` and ``source``."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def withdrawn(file: Path) -> dict[str, str]:
    """The algorithms of a file that are withdrawn, with the reason."""
    place = _place(file)
    return {name: entry["reason"] for entry in known()["withdrawn"] if fnmatch(place, entry["files"]) for name in entry["names"]}


def source(file: Path) -> dict[str, str]:
    """Device, date and commit of a table that names none; empty if they are not known."""
    place = _place(file)
    return next((entry for entry in known()["source"] if entry["file"] == place), {})


def corrected(file: Path, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of a file without algorithms that are withdrawn."""
    return rows[~rows["algorithm"].isin(list(withdrawn(file)))] if "algorithm" in rows else rows


def _place(file: Path) -> str:
    whole, recorded = file.resolve(), DATA / "recorded"
    return whole.relative_to(recorded).as_posix() if whole.is_relative_to(recorded) else ""
