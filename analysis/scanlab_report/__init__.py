"""Scanlab's analysis: reads results, never measures, and writes figures, tables, page and papers.

From the ground up; a file imports from those above it:

1. `schema` what a file may hold; `load` files in, tables out; `data` the tables
2. `intervals` medians and tests; `pick` the cases that a figure draws, and their sources
3. `style`, `looks`, `marks`, `formats` how figures and tables look; `shown` the registry of both
4. `chapters` figures and tables by question; `claims` how claims stand; `numbers` the papers'
numbers
5. `page`, `report`, `comparison`, `tutorials` what is made of them
6. `commands` one file each
"""

from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parents[2]
DATA = (
    _CHECKOUT if (_CHECKOUT / "data" / "experiments.toml").is_file() else Path.cwd()
) / "data"  # installed, it reads the clone that it runs in
"""The data of this checkout: what is published, recorded and known of devices."""
CLAIMS = DATA.parent / "paper" / "claims"
"""Claims, published statements and open targets of its papers and pages."""


def place(file: Path) -> str:
    """Name a file of the data by its place there, and another file by its name, without paths of a
    machine."""
    whole = file.resolve()
    return whole.relative_to(DATA).as_posix() if whole.is_relative_to(DATA) else file.name
