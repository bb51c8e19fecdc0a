"""The history of older sessions: each session reads as a file of its own, and damage is named."""

import gzip
from pathlib import Path

import pytest

from scanlab_report.choosing import choose_session
from scanlab_report.load import load
from scanlab_report.reading import HISTORY
from tests.fixtures import record

HEADER = (
    "session,date,git_commit,kind,device,cpu,cores,variant,settings,type,op,mode,items,cache,"
    "launch,way,scan,from,to,budget,chunks,mapped,bytes,times_ns"
)
SCAN = "cub_device_scan,,i32,plus,inclusive,1048576,cold,stream,,,,,,,,"
LARGER = ",,i32,plus,inclusive,4096,,,streamed,best,file,memory,2048,2,1,16384"
RUN = "2025-12-0{0},2025-12-0{0}T00:00:00Z,abc,cuda,Test Device,Test CPU,4"
ROWS = [f"{RUN.format(day)},{case},{day}0 {day}1" for day in (1, 2) for case in (SCAN, LARGER)]
TABLE = "\n".join([HEADER, *ROWS]) + "\n"


def test_a_history_has_the_samples_of_each_session_and_answers_for_none(tmp_path: Path) -> None:
    record(tmp_path, "2026-01-02", 5.0)
    (tmp_path / HISTORY).write_bytes(gzip.compress(TABLE.encode()))
    data = load([], [tmp_path])
    assert not data.problems
    for table, moved in (("scan", 2 * 4 * 2**20), ("stream_scan", 16384)):
        rows = data[table]
        days = rows["file"].map(lambda number: data.files[number].date[:10])
        for day in (1, 2):
            old = rows[days == f"2025-12-0{day}"]
            assert old["ns"].tolist() == [10 * day, 10 * day + 1] and set(old["bytes"]) == {moved}
            assert old["round"].tolist() == [0, 1]
    assert data["stream_scan"]["mapped"].tolist() == [1] * 4
    data = choose_session(data)
    assert {data.files[number].date for number in data["scan"]["file"]} == {"2026-01-02T00:00:00"}
    assert len(data.every["stream_scan"]) == 4, "for what differs by the session"


@pytest.mark.parametrize(
    ("content", "stated"),
    [
        (b"junk", "cannot be read"),
        (gzip.compress(TABLE.encode())[:-9], "is truncated or damaged"),
        *(
            (gzip.compress(TABLE.replace(*change).encode()), "is no history of sessions")
            for change in (("times_ns", "times"), ("20 21", "20 nan"), ("1048576", "many"))
        ),
    ],
)
def test_a_history_that_is_none_is_named(tmp_path: Path, content: bytes, stated: str) -> None:
    (file := tmp_path / HISTORY).write_bytes(content)
    (problem,) = load([], [file]).problems
    assert str(problem).startswith(f"{file}: {stated}")
