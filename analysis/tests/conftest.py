"""Fixtures that several files of tests share."""

import contextlib
import resource
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from scanlab_report import chapters, opened, report, shown
from scanlab_report.commands.__main__ import main
from scanlab_report.data import Data


@pytest.fixture(scope="session")
def all_recorded() -> Data:
    """The recorded data, which take seconds to read."""
    return opened.opened([opened.RECORDED])


@pytest.fixture(scope="session")
def recorded(all_recorded: Data) -> Data:
    """The recorded data of the first device, which the pages promise to have."""
    return all_recorded.on(all_recorded.devices[0])


@pytest.fixture
def blank(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are picked and captioned but not written: where it does not matter what is drawn."""
    chapters.load_all()

    def save(figure: Figure, targets: list[Path]) -> None:
        for target in targets:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("drawn")

    monkeypatch.setattr(shown.style, "save", save)
    monkeypatch.setattr(report, "WORKERS", 1)  # what others draw is not seen here


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run a command, and return what it prints: the error if it is refused."""

    def run(*words: object, status: int = 0) -> str:
        assert main([*map(str, words)]) == status
        printed = capsys.readouterr()
        return printed.err if status == 2 else printed.out

    return run


@contextlib.contextmanager
def full_disk(room: int = 50) -> Iterator[None]:
    """No file grows beyond some bytes. Modules imported meanwhile are not kept: Python 3.11 would
    keep the first bytes of one, at which every later import fails."""
    before, kept = resource.getrlimit(resource.RLIMIT_FSIZE), sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        sys.dont_write_bytecode = kept
