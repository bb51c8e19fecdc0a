"""A whole invented results folder, and the report of it: built once, and read by many tests.

``python -m tests.whole DIR`` leaves them in a folder; with ``SCANLAB_BUILT=DIR`` the tests of several processes read them there.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from scanlab_report.commands.__main__ import main
from tests import fixtures

PUBLISHED = Path(__file__).parents[2] / "data" / "published"


@dataclass(frozen=True)
class Built:
    """Where a run of the driver wrote, and how it ended."""

    recorded: Path
    out: Path
    paper: Path
    status: int


def build(root: Path) -> Built:
    """Every figure and table, drawn from invented results."""
    recorded = fixtures.write_all(root / "recorded", top=24)
    out, paper = root / "out", root / "paper"
    status = main(["build", "--recorded", str(recorded), "--published", str(PUBLISHED), "--out", str(out), "--paper", str(paper), "--no-pdf"])
    return Built(recorded, out, paper, status)


def found(root: Path) -> Built:
    """What :func:`build` left in a folder; it is left there only if it ended well."""
    return Built(root / "recorded", root / "out", root / "paper", 0)


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1])).status)
