"""The command session: what belongs to a session, what makes it complete, and what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from scanlab_report.choosing import choose_session
from scanlab_report.commands.__main__ import main
from scanlab_report.load import load
from scanlab_report.pick import scans, timed
from tests import fixtures
from tests.fixtures import record


def written(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "session.json").read_text())


def test_files_of_other_folders_can_belong_to_it_and_those_not_listed_do_not(
    tmp_path: Path,
) -> None:
    record(tmp_path, "2026-01-01", 1.0)
    folder = record(tmp_path, "2026-01-02", 2.0, variant="best")
    more = (folder / "scan.json").read_text().replace("best", "look_ahead")
    (folder / "more.json").write_text(more)
    assert main(["session", str(folder), str(tmp_path / "2026-01-01" / "scan.json")]) == 0
    session = written(folder)
    files = [entry["file"] for entry in session["files"]]
    assert files == ["../2026-01-01/scan.json", "more.json", "scan.json"]
    about = (session["device"], session["complete"], session["date"])
    assert about == ("Test Device", False, "2026-01-02T00:00:00")
    session["files"].pop(1)
    (folder / "session.json").write_text(json.dumps(session))
    assert timed(scans(choose_session(load([], [tmp_path]), "2026-01-02"))) == ["best", "memcpy"]


def test_a_recorded_table_that_is_named_alone_answers_for_its_device(tmp_path: Path) -> None:
    """No run is read beside it."""
    for device in ("A", "B"):
        (tmp_path / device).mkdir()
        repeated = fixtures.verification(repeated=True, device=device)
        (tmp_path / device / "repeat.jsonl").write_text(repeated)
    both = choose_session(load([], [tmp_path / device / "repeat.jsonl" for device in "AB"], "B"))
    assert both.devices == ["B", "A"]
    for device in both.devices:
        numbers = both.on(device)["repeats"]["file"]
        assert {both.files[number].device for number in numbers} == {device}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fixtures.write_all(tmp_path_factory.mktemp("whole"), top=18)


def test_a_session_that_has_every_kind_is_complete(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    assert main(["session", str(tmp_path)]) == 0
    session = written(tmp_path)
    assert session["complete"], {entry["kind"] for entry in session["files"]}
    files = {entry["kind"]: entry["file"] for entry in session["files"]}
    (tmp_path / files["implicit_sync"]).unlink()
    assert main(["session", str(tmp_path)]) == 0 and not written(tmp_path)["complete"]


@pytest.mark.parametrize(
    ("about", "lacks"),
    [
        ({"kind": "host", "device": ""}, "it lacks counts\n"),
        ({}, "it lacks concurrency, counters, implicit_sync, repeats,"),
    ],
)
def test_a_host_lacks_only_what_a_host_can_have(
    tmp_path: Path, about: dict[str, str], lacks: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["session", str(record(tmp_path, "2026-01-01", 1.0, **about))]) == 0
    assert f"not complete: {lacks}" in capsys.readouterr().out


def test_a_session_is_of_one_device_and_of_files_that_are_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = record(tmp_path, "2026-01-01", 1.0, complete=True)
    record(tmp_path, "2026-01-02", 1.0, device="Another")
    assert main(["session", str(folder), str(tmp_path / "2026-01-02" / "scan.json")]) == 2
    assert "of Another and Test Device" in capsys.readouterr().err
    repeated = folder / "repeat.jsonl"
    repeated.write_text(fixtures.verification(repeated=True, device="A Third"))
    assert main(["session", str(folder)]) == 2
    assert "of A Third and Test Device" in capsys.readouterr().err  # tables are of a device, too
    repeated.unlink()
    assert main(["session", str(folder / "scan.json")]) == 2
    assert "scan.json: a file; name the folder of the session" in capsys.readouterr().err
    (folder / "scan.json").rename(tmp_path / "moved.json")
    (problem,) = load([], [folder]).problems
    assert "files[0].file" in str(problem) and "no such file" in str(problem)


@pytest.mark.parametrize(("kind", "status"), [("dram_bytes", 2), ("streams", 2), ("scan", 0)])
def test_a_case_in_two_files_is_refused_except_of_scans(
    whole: Path, tmp_path: Path, kind: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    (file,) = (path for path in tmp_path.iterdir() if path.stem == kind)
    later = file.read_bytes().replace(b"2026-01-02", b"2026-01-03")  # as another run of it
    (tmp_path / f"{kind}_again{file.suffix}").write_bytes(later)
    assert main(["session", str(tmp_path)]) == status
    assert ("such as" in capsys.readouterr().err) == (status == 2)


def test_a_name_that_no_session_has_is_refused_before_anything_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(tmp_path / "recorded", "2026-01-01", 1.0)
    paths = ["--recorded", str(tmp_path / "recorded"), "--out", str(tmp_path / "out")]
    assert main(["build", *paths, "--session", "x", "--no-pdf"]) == 2
    assert "no recorded session is called x; there are 2026-01-01" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
