"""Which recorded session answers: the one named, else the newest complete one of the device; and
what says that one is complete."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from scanlab_report.chapters.hardware import dram_over_items
from scanlab_report.choosing import NoSession, choose_session
from scanlab_report.commands.__main__ import main
from scanlab_report.data import Data
from scanlab_report.load import load
from scanlab_report.pick import Lacking, pick, scans, timed
from tests import fixtures
from tests.fixtures import record


def answer(recorded: Path, name: str = "", measured: Path | None = None) -> float:
    data = load([measured] if measured else [], [recorded])
    assert not data.problems
    return copied(choose_session(data, name))


def copied(data: Data) -> float:
    return float(pick(scans(data), variant="memcpy")["median_ns"].iloc[0])


def test_the_newest_complete_session_answers_and_not_a_newer_one_that_is_not(
    tmp_path: Path,
) -> None:
    record(tmp_path, "2026-01-01", 1.0, complete=True)
    record(tmp_path, "2026-01-02", 2.0, complete=True)
    record(tmp_path, "2026-01-03", 3.0, complete=False)
    record(tmp_path, "2026-01-04", 4.0)
    assert answer(tmp_path) == 2.0


def test_the_session_that_is_named_answers_whatever_it_lacks(tmp_path: Path) -> None:
    record(tmp_path, "2026-01-01", 1.0)
    record(tmp_path, "2026-01-02", 2.0, complete=True)
    assert answer(tmp_path, "2026-01-01") == 1.0
    with pytest.raises(NoSession, match="2026-01-07; there are 2026-01-01, 2026-01-02"):
        answer(tmp_path, "2026-01-07")


def test_where_no_session_is_complete_the_newest_answers(tmp_path: Path) -> None:
    record(tmp_path, "2026-01-02", 2.0, complete=False)
    record(tmp_path, "2026-01-03", 3.0)
    record(tmp_path, "2026-01-01", 1.0)
    assert answer(tmp_path) == 3.0


def test_what_was_measured_now_comes_before_any_session(tmp_path: Path) -> None:
    record(tmp_path / "recorded", "2026-01-02", 2.0, complete=True)
    assert (
        answer(tmp_path / "recorded", measured=record(tmp_path / "now", "2026-01-01", 1.0)) == 1.0
    )


def test_nothing_of_another_session_is_mixed_in(tmp_path: Path) -> None:
    """Though it has what the newest lacks."""
    record(tmp_path, "2026-01-01", 1.0, complete=True)
    record(tmp_path, "2026-01-02", 2.0, complete=True, variant="best")
    for name, times in (("2026-01-01", 1), ("2026-01-02", 2)):
        head, *rows = fixtures.dram_bytes(18).splitlines()
        cells = [row.split(",") for row in rows]
        (tmp_path / name / "dram_bytes.csv").write_text(
            "\n".join(
                [
                    head,
                    *(",".join([*row[:-2], str(times * int(row[-2])), row[-1]]) for row in cells),
                ]
            )
        )
    for folder in tmp_path.iterdir():
        said = json.loads((folder / "session.json").read_text())
        said["files"].append({"file": "dram_bytes.csv", "kind": "traffic"})
        (folder / "session.json").write_text(json.dumps(said))
    data = choose_session(load([], [tmp_path]))
    with pytest.raises(Lacking):
        scans(data, all_of=("memcpy",))
    assert {data.files[number].date[:10] for number in data.numbers()} == {"2026-01-02"} and set(
        data["scan"]["variant"]
    ) == {"best"}
    assert dram_over_items(data)[0].set_index("variant").at["look_ahead", "read"] == 2
    assert set(data.every["scan"]["variant"]) == {
        "best",
        "memcpy",
    }  # of all sessions, for what differs by the session


def test_each_device_has_a_session_of_its_own(tmp_path: Path) -> None:
    record(tmp_path / "a", "2026-01-01", 1.0, complete=True, device="Device A")
    record(tmp_path / "b", "2026-01-02", 2.0, device="Device B")
    data = choose_session(load([], [tmp_path], "Device A"))
    assert data.devices == ["Device A", "Device B"]
    assert [copied(data.on(device)) for device in data.devices] == [1.0, 2.0]


def test_a_recorded_table_that_is_named_alone_answers_for_its_device(tmp_path: Path) -> None:
    """No run is read beside it."""
    for device in ("A", "B"):
        (tmp_path / device).mkdir()
        (tmp_path / device / "repeat.jsonl").write_text(
            fixtures.verification(repeated=True, device=device)
        )
    alone = choose_session(load([], [tmp_path / "A" / "repeat.jsonl"]))
    assert (alone.devices, len(alone["repeats"])) == (["A"], 2)
    both = choose_session(load([], [tmp_path / device / "repeat.jsonl" for device in "AB"], "B"))
    assert both.devices == ["B", "A"]
    assert [
        {both.files[number].device for number in both.on(device)["repeats"]["file"]}
        for device in "AB"
    ] == [{"A"}, {"B"}]


def test_files_of_other_folders_can_be_of_a_session_and_files_that_are_not_listed_are_not(
    tmp_path: Path,
) -> None:
    record(tmp_path, "2026-01-01", 1.0)
    folder = record(tmp_path, "2026-01-02", 2.0, variant="best")
    (folder / "more.json").write_text(
        (folder / "scan.json").read_text().replace("best", "look_ahead")
    )
    assert main(["session", str(folder), str(tmp_path / "2026-01-01" / "scan.json")]) == 0
    said = json.loads((folder / "session.json").read_text())
    assert [of["file"] for of in said["files"]] == [
        "../2026-01-01/scan.json",
        "more.json",
        "scan.json",
    ]
    assert (said["device"], said["complete"], said["date"]) == (
        "Test Device",
        False,
        "2026-01-02T00:00:00",
    )
    said["files"].pop(1)
    (folder / "session.json").write_text(json.dumps(said))
    assert timed(scans(choose_session(load([], [tmp_path]), "2026-01-02"))) == ["best", "memcpy"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fixtures.write_all(tmp_path_factory.mktemp("whole"), top=18)


def test_a_session_that_has_every_kind_is_complete(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    assert main(["session", str(tmp_path)]) == 0
    said = json.loads((tmp_path / "session.json").read_text())
    assert said["complete"], {of["kind"] for of in said["files"]}
    (tmp_path / next(of["file"] for of in said["files"] if of["kind"] == "implicit_sync")).unlink()
    assert main(["session", str(tmp_path)]) == 0
    assert not json.loads((tmp_path / "session.json").read_text())["complete"]


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ({"kind": "host", "device": ""}, "it lacks counts\n"),
        ({}, "it lacks concurrency, counters, implicit_sync, repeats,"),
    ],
)
def test_what_a_session_lacks_is_said_of_a_host_by_what_a_host_can_have(
    tmp_path: Path, about: dict[str, str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["session", str(record(tmp_path, "2026-01-01", 1.0, **about))]) == 0
    assert f"not complete: {said}" in capsys.readouterr().out


def test_a_session_is_of_one_device_and_of_files_that_are_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = record(tmp_path, "2026-01-01", 1.0, complete=True)
    record(tmp_path, "2026-01-02", 1.0, device="Another")
    assert main(["session", str(folder), str(tmp_path / "2026-01-02" / "scan.json")]) == 2
    assert "of Another and Test Device" in capsys.readouterr().err
    (folder / "repeat.jsonl").write_text(fixtures.verification(repeated=True, device="A Third"))
    assert main(["session", str(folder)]) == 2
    assert "of A Third and Test Device" in capsys.readouterr().err  # tables are of a device, too
    (folder / "repeat.jsonl").unlink()
    assert main(["session", str(folder / "scan.json")]) == 2
    assert "scan.json: a file; name the folder of the session" in capsys.readouterr().err
    (folder / "scan.json").rename(tmp_path / "moved.json")
    (problem,) = load([], [folder]).problems
    assert "files[0].file" in str(problem) and "no such file" in str(problem)


@pytest.mark.parametrize(
    ("kind", "said"),
    [("dram_bytes", "such as"), ("streams", "such as"), ("larger", "such as"), ("scan", "")],
)
def test_two_files_of_a_kind_with_the_same_case_are_no_session_except_files_of_scans(
    whole: Path, tmp_path: Path, kind: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    (file,) = (path for path in tmp_path.iterdir() if path.stem == kind)
    (tmp_path / f"{kind}_again{file.suffix}").write_bytes(
        file.read_bytes().replace(b"2026-01-02", b"2026-01-03")
    )  # as another run of it
    assert main(["session", str(tmp_path)]) == (2 if said else 0)
    assert said in capsys.readouterr().err


def test_a_name_that_no_session_has_is_refused_before_anything_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(tmp_path / "recorded", "2026-01-01", 1.0)
    assert (
        main(
            [
                "build",
                "--recorded",
                str(tmp_path / "recorded"),
                "--out",
                str(tmp_path / "out"),
                "--session",
                "x",
                "--no-pdf",
            ]
        )
        == 2
    )
    assert "no recorded session is called x; there are 2026-01-01" in capsys.readouterr().err


def test_emulator_counts_are_of_no_device_and_stay(tmp_path: Path) -> None:
    (tmp_path / "e.json").write_text(json.dumps(fixtures.explanation("hso_block", 64)))
    record(tmp_path, "2026-01-01", 1.0)
    assert len(choose_session(load([], [tmp_path]))["counts"]) == 1
