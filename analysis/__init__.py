"""Scanlab's analysis: reads results, never measures, and writes the figures and tables of the report."""

from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "data"
"""The data of this checkout: what is published, recorded and known of devices."""


def place(file: Path) -> str:
    """A file of the data by its place there, another by its name: no paths of one machine."""
    whole = file.resolve()
    return whole.relative_to(DATA).as_posix() if whole.is_relative_to(DATA) else file.name
