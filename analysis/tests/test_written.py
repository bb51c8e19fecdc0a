"""Files that take their places when they are whole: which one a full disk is said of, and what stays of the file that was there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scanlab_report.commands.__main__ import main
from scanlab_report.written import in_place_of, one_file, put, write
from tests import stream_fixtures
from tests.conftest import full_disk


@pytest.mark.parametrize("full", ["paper", "out"])
def test_of_two_folders_the_one_without_room_is_named(tmp_path: Path, full: str) -> None:
    folders = {name: tmp_path / name for name in ("paper", "out")}
    for folder in folders.values():
        folder.mkdir()
    with pytest.raises(OSError, match="cannot be written: File too large") as said, in_place_of(folders["paper"]) as paper, in_place_of(folders["out"]) as out:
        put(paper / "small", "")
        with full_disk():
            put((paper if full == "paper" else out) / "large", 1000 * "x")
    assert said.value.filename == str(folders[full])
    assert not any(path for folder in folders.values() for path in folder.iterdir())


def test_a_file_that_is_read_is_named_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as said, one_file(tmp_path / "page.md") as made:
        made.write_bytes((tmp_path / "none").read_bytes())
    assert said.value.filename == str(tmp_path / "none")


def test_what_a_link_leads_to_is_replaced_and_keeps_its_mode(tmp_path: Path) -> None:
    page, link = tmp_path / "shared" / "page.md", tmp_path / "link.txt"
    page.parent.mkdir()
    page.write_text("old")
    page.chmod(0o664)
    link.symlink_to(page)
    write(link, "new")
    assert link.is_symlink() and page.read_text() == "new" and page.stat().st_mode & 0o777 == 0o664
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["link.txt", "page.md", "shared"]


def test_timelines_may_be_links(tmp_path: Path) -> None:
    traces = tmp_path / "traces"
    traces.mkdir()
    (tmp_path / "run.json").write_text(json.dumps(stream_fixtures.trace()))
    (traces / "a.json").symlink_to(tmp_path / "run.json")
    assert main(["gantt", str(traces), "--out", str(tmp_path / "t.png")]) == 0
