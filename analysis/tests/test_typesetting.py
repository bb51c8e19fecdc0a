"""The papers as PDF, and what a second build does again: only what has changed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from scanlab_report.documents import macros, typesetting

from scanlab_report.commands.__main__ import main
from tests import fixtures
from tests.conftest import Built

LATEXMK = """#!/bin/sh
[ -e generated/macros.tex ] || exit 3
for last; do paper=$(/usr/bin/basename "$last" .tex); done
echo '{said}' >$paper.log
{end}
echo "%PDF of $paper" >$paper.pdf
"""
"""A stand-in: it says something, and then it fails or writes the paper."""


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    """Results that two figures can be drawn of."""
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "e.json").write_text(json.dumps(fixtures.explanation("hso_block", 64)))
    return tmp_path / "results"


@pytest.fixture
def last(tmp_path: Path) -> Path:
    """An output folder with a paper of an earlier build."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "scan.pdf").write_text("the last good one")
    return tmp_path / "out"


def latexmk(folder: Path, monkeypatch: pytest.MonkeyPatch, said: str = "", end: str = "") -> None:
    program = folder / "bin" / "latexmk"
    program.parent.mkdir(exist_ok=True)
    program.write_text(LATEXMK.format(said=said, end=end))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")


def build(results: Path, out: Path, *more: str) -> int:
    return main(["build", str(results), "--out", str(out), *more])


def test_the_papers_lie_beside_the_figures(counts: Path, last: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    latexmk(counts.parent, monkeypatch)
    assert build(counts, last) == 0
    assert [(last / f"{paper}.pdf").read_text() for paper in typesetting.PAPERS] == ["%PDF of scan\n", "%PDF of streams\n"]
    assert (last / "figures" / "bank_conflicts.pdf").exists()


def test_where_latex_fails_the_last_pdf_stays_and_all_else_is_new(
    counts: Path, last: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    latexmk(counts.parent, monkeypatch, "! Undefined control sequence.\nl.7 at \\\\bestOfCpy", "exit 12")
    assert build(counts, last) == 1
    error = capsys.readouterr().err
    assert "scan.tex: latexmk failed (Undefined control sequence. l.7 at \\bestOfCpy" in error and "streams.tex: latexmk failed" in error
    assert re.search(r"these data lack \d+ numbers of its text, which --recorded data/recorded has", error)
    assert f"{last / 'scan.pdf'} is that of an earlier build" in error and f"{last / 'streams.pdf'} is" not in error
    assert (last / "scan.pdf").read_text() == "the last good one"
    assert (last / "figures" / "bank_conflicts.pdf").exists()


@pytest.mark.parametrize(("points", "status"), [("4.9", 0), ("5.1", 1)])
def test_a_line_that_runs_off_its_page_is_said(
    counts: Path, last: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], points: str, status: int
) -> None:
    latexmk(counts.parent, monkeypatch, rf"Overfull \\hbox ({points}pt too wide) in paragraph at lines 1--9")
    assert build(counts, last) == status
    assert (f"runs off its page: Overfull \\hbox ({points}pt" in capsys.readouterr().err) is bool(status)


def test_beside_what_a_gpu_was_measured_to_do_there_are_no_papers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.json").write_text(json.dumps(fixtures.timings(rounds=5, top=11)))
    latexmk(tmp_path, monkeypatch)
    assert build(tmp_path / "a.json", tmp_path / "out") == 0
    assert "the papers speak of the recorded session" in capsys.readouterr().out
    assert not (tmp_path / "out" / "scan.pdf").exists()


def test_without_latexmk_one_line_says_so(counts: Path, last: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PATH", str(counts))
    assert build(counts, last) == 0
    assert "the papers are left out: there is no latexmk here" in capsys.readouterr().out


def has_class() -> bool:
    return bool(typesetting.latexmk() and shutil.which("kpsewhich") and subprocess.run(["kpsewhich", "IEEEtran.cls"], capture_output=True).returncode == 0)


@pytest.mark.skipif(not has_class(), reason="there is no latexmk, or no IEEEtran")
@pytest.mark.parametrize("paper", typesetting.PAPERS)
def test_a_paper_is_typeset_from_whole_data_and_refers_to_nothing_that_is_not_there(built: Built, tmp_path: Path, paper: str) -> None:
    """Numbers that are only there under a condition are in the recorded session, and not in invented data."""
    generated = shutil.copytree(built.paper, tmp_path / "generated")
    with (generated / "macros.tex").open("a") as file:
        file.writelines(f"\\providecommand{{\\{name}}}{{0}}\n" for name, says in macros.NAMES.items() if says.startswith("defined if"))
    assert [line for line in typesetting.typeset(paper, generated, tmp_path) if float(re.search(r"\((\S+)pt", line)[1]) > 30] == []
    assert (tmp_path / f"{paper}.pdf").read_bytes().startswith(b"%PDF")
    log = (tmp_path / typesetting.WORK / paper / f"{paper}.log").read_text(errors="replace")
    assert "undefined" not in log
