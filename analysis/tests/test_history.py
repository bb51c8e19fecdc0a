"""The history keeps what is compared over sessions, and it reads as the sessions did."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pandas as pd
import pytest

from scanlab_report.choosing import choose_session
from scanlab_report.commands.__main__ import main
from scanlab_report.load import load
from scanlab_report.reading import HISTORY
from tests import fixtures, stream_fixtures


def record(folder: Path, factor: float) -> Path:
    """A session of a kind that is compared over sessions, one core slower by a factor."""
    folder.mkdir(parents=True)
    times = {"cpu_sequential": 3000 * factor, "cub_device_scan": 10.0, "hso_blocked_padded": 20.0}
    entries = [
        fixtures.repetition(fixtures.case(variant, 2**20), number, time + number)
        for variant, time in times.items()
        for number in range(6)
    ]
    about = fixtures.context(date=f"{folder.name}T00:00:00+00:00")
    larger = stream_fixtures.stream_scan()
    larger["context"]["date"] = about["date"]
    documents = {"scan": {"context": about, "benchmarks": entries}, "stream_scan": larger}
    for name, document in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(document))
    return folder


def samples(folder: Path, table: str) -> pd.DataFrame:
    """The samples of all sessions that are compared over sessions, by day."""
    data = load([], [folder])
    assert not data.problems, data.problems
    rows = data[table].assign(day=[data.files[n].date[:10] for n in data[table]["file"]])
    columns = ["day", "variant", "way", "scan", "items", "round", "ns", "bytes"]
    rows = rows[[column for column in columns if column in rows]]
    return rows.sort_values(list(rows)).reset_index(drop=True)


def test_a_session_in_the_history_counts_as_it_did(tmp_path: Path) -> None:
    old, new = record(tmp_path / "2026-01-01", 1.0), record(tmp_path / "2026-01-02", 2.0)
    before = {table: samples(tmp_path, table) for table in ("scan", "stream_scan")}
    assert main(["history", str(old)]) == 0
    for file in old.iterdir():
        file.unlink()
    for table, rows in before.items():
        assert rows["day"].nunique() == 2
        pd.testing.assert_frame_equal(samples(tmp_path, table), rows, rtol=1e-5, check_dtype=False)
    assert main(["history", str(new)]) == 0


def test_a_session_is_added_once_and_a_report_is_made_of_none_that_is_history(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, history = record(tmp_path / "2026-01-01", 1.0), tmp_path / HISTORY
    record(tmp_path / "2026-01-02", 2.0)
    assert main(["history", str(old)]) == 0
    before = history.read_bytes()
    assert main(["history", str(old)]) == 2 and history.read_bytes() == before
    assert "2026-01-01 already" in capsys.readouterr().err
    data = choose_session(load([], [tmp_path]))
    kept = {data.files[number].path.parent.name for number in data["scan"]["file"]}
    assert kept == {"2026-01-02"}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("2026-01-01/scan.json", "scan.json: a file; name the folder of the session"),
        ("others", "others: holds no case that the history keeps"),
    ],
)
def test_where_there_is_nothing_to_keep_no_history_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, said: str
) -> None:
    record(tmp_path / "2026-01-01", 1.0)
    (tmp_path / "others").mkdir()
    entries = [fixtures.repetition(fixtures.case("best", 64), i, 5.0) for i in range(6)]
    document = {"context": fixtures.context(), "benchmarks": entries}
    (tmp_path / "others" / "scan.json").write_text(json.dumps(document))
    assert main(["history", str(tmp_path / name)]) == 2
    assert said in capsys.readouterr().err and not list(tmp_path.rglob(HISTORY))


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (b"junk", "cannot be read"),
        (gzip.compress(b"junk" * 99, mtime=0)[:-9], "is truncated or damaged"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0), "is no history of sessions"),
    ],
)
def test_what_is_no_history_is_left_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], before: bytes, said: str
) -> None:
    session, file = record(tmp_path / "2026-01-01", 1.0), tmp_path / HISTORY
    file.write_bytes(before)
    assert main(["history", str(session)]) == 2
    assert f"{file}: {said}" in capsys.readouterr().err and file.read_bytes() == before


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace("times_ns", "times"),
        lambda text: text.replace(",3000 ", ",nan "),
        lambda text: text.replace("1048576", "many"),
    ],
)
def test_a_history_that_is_none_is_named(tmp_path: Path, spoil) -> None:
    assert main(["history", str(record(tmp_path / "2026-01-01", 1.0))]) == 0
    file = tmp_path / HISTORY
    file.write_bytes(gzip.compress(spoil(gzip.decompress(file.read_bytes()).decode()).encode()))
    (problem,) = load([], [file]).problems
    assert problem.file == file and "is no history of sessions" in problem.message
