"""The command session: what belongs to a session, what makes it complete, and what is refused."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from scanlab_report.choosing import choose_session
from scanlab_report.commands.__main__ import main
from scanlab_report.console import Refused
from scanlab_report.data import Data
from scanlab_report.load import load
from scanlab_report.pick import scans, timed
from tests import fixtures
from tests.fixtures import ranks, record


def written(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "session.json").read_text())


def test_files_of_other_folders_belong_to_it_and_those_not_listed_do_not(tmp_path) -> None:
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


def test_a_session_that_has_every_kind_is_complete(tmp_path, capsys) -> None:
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


def test_a_session_is_of_one_device(tmp_path, said) -> None:
    folder = record(tmp_path, "2026-01-01", 1.0)
    record(tmp_path, "2026-01-02", 1.0, device="Another")
    refused = said("session", folder, tmp_path / "2026-01-02" / "scan.json", status=2)
    assert "not of Another and Test Device" in refused
    (folder / "repeat.jsonl").write_text(fixtures.verification(repeated=True, device="A Third"))
    refused = said("session", folder, status=2)  # tables are of a device, too
    assert "not of A Third and Test Device" in refused
    assert not (folder / "session.json").exists()


def chosen(recorded: Path, name: str = "", measured: tuple[Path, ...] = ()) -> Data:
    data = load(measured, [recorded])
    assert not data.problems
    return choose_session(data, name)


def times(data: Data) -> list[float]:
    """The least time of each case that answers."""
    return [min(values) for values in scans(data)["samples"]]


def test_the_newest_complete_session_answers_or_the_one_that_is_named(tmp_path) -> None:
    for day, complete in enumerate((True, True, False, None), start=1):
        record(tmp_path, f"2026-01-0{day}", 100.0 * day, complete)
    assert times(chosen(tmp_path)) == [200.0]
    assert times(chosen(tmp_path, "2026-01-04")) == [400.0], "whatever it lacks"
    with pytest.raises(Refused, match="2026-01-07; there are 2026-01-01, 2026-01-02"):
        chosen(tmp_path, "2026-01-07")


def test_what_was_measured_now_answers_and_nothing_of_another_session(tmp_path) -> None:
    record(tmp_path / "recorded", "2026-01-01", 100.0, True, "best")
    record(tmp_path / "recorded", "2026-01-02", 200.0, True)
    data = chosen(tmp_path / "recorded")
    assert set(data["scan"]["variant"]) == {"memcpy"} and len(data.every["scan"]) == 12
    now = record(tmp_path / "now", "2026-01-01", 50.0)
    assert times(chosen(tmp_path / "recorded", measured=(now,))) == [50.0]


def test_each_device_has_a_session_of_its_own(tmp_path) -> None:
    record(tmp_path / "a", "2026-01-01", 100.0, True, device="A")
    record(tmp_path / "b", "2026-01-02", 200.0, device="B")
    data = choose_session(load([], [tmp_path], "A"))
    assert data.devices == ["A", "B"]
    assert [times(data.on(device)) for device in data.devices] == [[100.0], [200.0]]


def test_a_session_names_a_file_that_is_gone(tmp_path) -> None:
    (record(tmp_path, "2026-01-01", 1.0, True) / "scan.json").unlink()
    (problem,) = load([], [tmp_path]).problems
    assert "files[0].file" in str(problem) and "no such file" in str(problem)


def test_files_of_several_gpus_are_a_session_beside_that_of_one(tmp_path) -> None:
    record(tmp_path, "2026-01-01", 100.0, True)
    folder = record(tmp_path, "2026-01-03", 1.0)  # `best` on one of the GPUs
    scaling = ranks("scaling")["ranks_scaling_2"]
    (folder / "ranks.json").write_text(json.dumps(scaling))
    session = {"schema": "scanlab-session/1", "device": "Test Device", "commit": "", "gpus": 2}
    session |= {"date": "2026-01-03", "complete": True}
    files = {"ranks.json": "distributed", "scan.json": "timings"}
    session |= {"files": [{"file": file, "kind": kind} for file, kind in files.items()]}
    (folder / "session.json").write_text(json.dumps(session))
    data = chosen(tmp_path)
    assert times(data) == [100.0] and set(data["distributed"]["ranks"]) == {2}
