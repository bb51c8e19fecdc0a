"""The command session: what belongs to a session, what makes it complete, and what is refused."""

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


def test_files_of_other_folders_belong_to_it_and_those_not_listed_do_not(tmp_path: Path) -> None:
    record(tmp_path, "2026-01-01", 1.0)
    folder = record(tmp_path, "2026-01-02", 2.0, variant="best")
    more = (folder / "scan.json").read_text().replace("best", "look_ahead")
    (folder / "more.json").write_text(more)
    assert main(["session", str(folder), str(tmp_path / "2026-01-01" / "scan.json")]) == 0
    session = written(folder)
    files = [entry["file"] for entry in session["files"]]
    assert files == ["../2026-01-01/scan.json", "more.json", "scan.json"]
    session["files"].pop(1)
    (folder / "session.json").write_text(json.dumps(session))
    assert timed(scans(choose_session(load([], [tmp_path]), "2026-01-02"))) == ["best", "memcpy"]


def test_a_session_that_has_every_kind_is_complete(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    large = shutil.ignore_patterns(
        "head_to_head*", "odd_sizes*", "cub_shapes*", "verify*", "scan.*"
    )
    shutil.copytree(fixtures.SESSION, tmp_path, dirs_exist_ok=True, ignore=large)
    assert main(["session", str(tmp_path)]) == 0 and written(tmp_path)["complete"]
    files = {entry["kind"]: entry["file"] for entry in written(tmp_path)["files"]}
    (tmp_path / files["implicit_sync"]).unlink()
    assert main(["session", str(tmp_path)]) == 0 and not written(tmp_path)["complete"]
    host = record(tmp_path / "host", "2026-01-01", 1.0, kind="host", device="")
    assert main(["session", str(host)]) == 0
    printed = capsys.readouterr().out
    assert "it lacks implicit_sync\n" in printed and "it lacks counts\n" in printed


def test_a_session_is_of_one_device(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = record(tmp_path, "2026-01-01", 1.0)
    record(tmp_path, "2026-01-02", 1.0, device="Another")
    assert main(["session", str(folder), str(tmp_path / "2026-01-02" / "scan.json")]) == 2
    assert "not of Another and Test Device" in capsys.readouterr().err
    (folder / "repeat.jsonl").write_text(fixtures.verification(repeated=True, device="A Third"))
    assert main(["session", str(folder)]) == 2 and not (folder / "session.json").exists()
    assert (
        "not of A Third and Test Device" in capsys.readouterr().err
    )  # tables are of a device, too
