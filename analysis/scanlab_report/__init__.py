"""Scanlab's analysis: reads results, never measures, and writes the figures and tables of the
report.

The rooms, from the ground up; imports point down only, and rooms of one floor do not know each
other:

1. ``stats`` numbers from repetitions; ``read`` files in, checked tables out
2. ``select`` which run answers a question
3. ``derive`` quantities that several rooms need; ``layout`` how figures and tables look
4. ``claims`` what is claimed, and how it stands
5. ``figures``, ``tables``, ``page`` one file each; ``documents`` numbers and parts of documents
written by hand
6. ``commands`` one file each, or one folder with what only that command needs
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
    """A file of the data by its place there, another by its name: no paths of one machine."""
    whole = file.resolve()
    return whole.relative_to(DATA).as_posix() if whole.is_relative_to(DATA) else file.name
