"""A whole invented results folder, and what the driver makes of it, once a session."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from analysis.__main__ import main
from analysis.tests import fixtures

PUBLISHED = Path(__file__).parents[2] / "data" / "published"


@dataclass(frozen=True)
class Built:
    """Where a run of the driver wrote, and how it ended."""

    recorded: Path
    out: Path
    paper: Path
    status: int


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Every figure and table, drawn from invented results."""
    root = tmp_path_factory.mktemp("report")
    recorded = fixtures.write_all(root / "recorded", top=24)
    out, paper = root / "out", root / "paper"
    status = main(["build", "--recorded", str(recorded), "--published", str(PUBLISHED), "--out", str(out), "--paper", str(paper), "--no-pdf"])
    return Built(recorded, out, paper, status)
