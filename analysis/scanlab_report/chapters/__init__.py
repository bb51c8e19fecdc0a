"""The figures and tables, a file per question; importing a file registers what it has."""

from __future__ import annotations

import importlib

ORDER = (
    "scans",
    "ladder",
    "standings",
    "one_core",
    "head_to_head",
    "rivals",
    "odd_sizes",
    "tuning",
    "hardware",
    "counts",
    "pipeline",
    "ranks",
    "schedules",
    "timelines",
    "concurrency",
    "larger",
    "scenarios",
    "model",
    "sessions",
    "claims",
)
"""The questions, in the order of the gallery; `others` are of other programs' files."""


def load_all() -> None:
    """Registers every figure and table."""
    for name in (*ORDER, "others"):
        importlib.import_module(f"{__name__}.{name}")
