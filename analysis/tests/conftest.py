"""What several files of tests need: a whole report, and figures that take no time."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import resource
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from scanlab_report import chapters, processes
from scanlab_report.data import Data
from scanlab_report.shown import FIGURES, Shown
from tests import whole
from tests.whole import PUBLISHED, Built

__all__ = ["PUBLISHED", "Built", "full_disk"]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Every figure and table, drawn from invented results, which nobody changes."""
    made = os.environ.get("SCANLAB_BUILT")
    return whole.found(Path(made)) if made else whole.build(tmp_path_factory.mktemp("report"))


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the figures that are drawn from here on: nothing is in them, for where it does not matter what is."""
    names: list[str] = []

    def empty(name: str):
        def make(_: Data) -> Shown:
            names.append(name)
            return Shown(Figure(figsize=(1, 1), layout="constrained"), "")  # the footer goes below what that lays out

        return make

    chapters.load_all()
    for name, entry in FIGURES.items():
        monkeypatch.setitem(FIGURES, name, dataclasses.replace(entry, make=empty(name)))
    monkeypatch.setattr(processes, "WORKERS", 1)  # what others draw is not seen here
    return names


@contextlib.contextmanager
def full_disk(room: int = 50) -> Iterator[None]:
    """No file grows beyond some bytes. Modules imported meanwhile are not kept: Python 3.11 would keep the first bytes of one, at which every later import fails."""
    before, kept = resource.getrlimit(resource.RLIMIT_FSIZE), sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        sys.dont_write_bytecode = kept
