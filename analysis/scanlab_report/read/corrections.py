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
    """The algorithms and experiments of a file that are withdrawn, with the reason."""
    place = _place(file)
    return {name: entry["reason"] for entry in known()["withdrawn"] if fnmatch(place, entry["files"]) for name in entry["names"]}


def source(file: Path) -> dict[str, str]:
    """Device, date and commit of a table that names none; empty if they are not known."""
    place = _place(file)
    return next((entry for entry in known()["source"] if entry["file"] == place), {})


def corrected(file: Path, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of a file without algorithms that are withdrawn; experiments that are stay, as not tried."""
    reasons = withdrawn(file)
    if "algorithm" in rows:
        return rows[~rows["algorithm"].isin(list(reasons))]
    if "why_not" in rows and reasons:
        named = rows["name"].isin(list(reasons))
        return rows.assign(
            answer=rows["answer"].mask(named, None), differs=rows["differs"] & ~named, yes=rows["yes"].mask(named, 0), trials=rows["trials"].mask(named, 0),
            why_not=rows["name"].map(reasons).fillna(rows["why_not"]),
        )  # fmt: skip
    return rows


def _place(file: Path) -> str:
    whole, recorded = file.resolve(), DATA / "recorded"
    return whole.relative_to(recorded).as_posix() if whole.is_relative_to(recorded) else ""
