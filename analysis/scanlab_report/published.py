"""Tables of the literature: a CSV each, and a TOML with its source."""

import tomllib
from pathlib import Path

import pandas as pd

from scanlab_report.data import Publication


def load_published(folder: Path, problems: list[str]) -> dict[str, Publication]:
    """The tables of the literature in a folder, by name."""
    made = {}
    for file in sorted(folder.glob("*.csv")):
        try:
            source = tomllib.loads(file.with_suffix(".toml").read_text(encoding="utf-8"))
            made[file.stem] = Publication(pd.read_csv(file), source)
        except (ValueError, OSError) as error:
            problems.append(f"{file}: cannot be read ({error})")
    return made
