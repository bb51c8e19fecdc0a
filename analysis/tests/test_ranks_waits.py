"""Stall cycles on each of several GPUs: how they are told from those of one GPU, and what stands in their figure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scanlab_report.commands.__main__ import main
from scanlab_report.figures import ranks_waits
from scanlab_report.layout import style
from scanlab_report.read import results
from scanlab_report.select import sessions
from scanlab_report.select.counted import RanksWaits, Waits
from tests import fixtures, ranks_fixtures
from tests.tiny import near


def write(folder: Path, ranks: int = 2, alone: bool = True) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"ranks_prefix_wait_{ranks}.csv").write_text(ranks_fixtures.waits(ranks))
    if alone:
        (folder / "prefix_wait.csv").write_text(fixtures.PREFIX_WAIT)
    return folder


def test_cycles_of_one_gpu_and_of_several_answer_for_themselves_alone(tmp_path: Path) -> None:
    read = results.read([write(write(tmp_path, 2), 4)], [])
    assert not read.problems
    one, several = Waits().find(read, {}), RanksWaits().find(read, {})
    assert one is not None and set(one.rows["variant"]) == {"look_ahead", "decoupled_lookback"}
    assert several is not None and set(several.rows["ranks"]) == {4} and set(several.rows["items"]) == {2**30}, "of the most GPUs, the largest array"
    assert RanksWaits().find(results.read([tmp_path / "prefix_wait.csv"], []), {}) is None
    assert Waits().find(results.read([tmp_path / "ranks_prefix_wait_2.csv"], []), {}) is None


def test_a_table_says_which_run_it_is_of(tmp_path: Path) -> None:
    for ranks, commit in ((2, "a" * 40), (4, "b" * 40)):
        (tmp_path / f"ranks_prefix_wait_{ranks}.csv").write_text(ranks_fixtures.waits(ranks, commit=commit))
    read = results.read([tmp_path], [])
    several = RanksWaits().find(read, {})
    assert not read.problems and several is not None
    assert several.provenance.line() == "Test Device, 2026-01-03, commit bbbbbbbbb, measured now", "of the table that is shown alone"


def test_a_case_in_two_files_is_a_fault(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "again_prefix_wait.csv").write_text(ranks_fixtures.waits(2))
    assert "has 20 of the cases" in str(results.read([tmp_path], []).problems[0])


def test_ranks_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    (tmp_path / "ranks_prefix_wait.csv").write_text(ranks_fixtures.waits(1).replace(",i32,1,0,", ",i32,1,first,", 1))
    (wrong,) = results.read([tmp_path], []).problems
    assert "rank is first" in str(wrong)


@pytest.mark.parametrize("gpus", [1, 2])
def test_a_recorded_session_over_several_gpus_has_them(tmp_path: Path, gpus: int) -> None:
    """Where its session.json says that it is of several; else it is one of one GPU."""
    folder = write(ranks_fixtures.write(tmp_path / "x2" / "2026-01-02", {"two": ranks_fixtures.run(2, [2**20])}), alone=False)
    about = {"schema": "scanlab-session/1", "device": "Test Device", "date": "2026-01-02", "commit": "", "complete": True, "gpus": gpus,
             "files": [{"file": "two.json", "kind": "distributed"}, {"file": "ranks_prefix_wait_2.csv", "kind": "waits"}]}  # fmt: skip
    (folder / "session.json").write_text(json.dumps(about))
    read = sessions.chosen(results.read([], [tmp_path]))
    found = RanksWaits().find(read, {})
    assert found is not None and len(found.rows) == 10 and found.provenance.dates


def test_each_role_has_a_bar_per_gpu(tmp_path: Path) -> None:
    waits = RanksWaits().find(results.read([write(tmp_path)], []), {})
    with style.sheet():
        panels = ranks_waits.draw(waits).axes
    assert [of.get_title("left") for of in panels] == ["load", "reduce", "look ahead", "tell", "scan"]
    ahead = {bars.get_label(): [(bar.get_x(), bar.get_width()) for bar in bars] for bars in panels[2].containers}
    assert ahead["stall: prefix"] == [near((0, 0.5)), near((0, 0.55))] and ahead["rest"] == [near((0.6, 0.4)), near((0.65, 0.35))]
    assert [of.get_text() for of in panels[0].get_yticklabels()] == ["GPU 0", "GPU 1"]


def test_it_is_left_out_with_its_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "prefix_wait.csv").write_text(fixtures.PREFIX_WAIT)
    assert main(["figure", "ranks_waits", str(tmp_path), "--out", str(tmp_path / "f.png")]) != 0
    assert "no cycles spent waiting on each of several GPUs. To measure it: tools/record build/cuda/scanlab results/x4 --gpus 4 ranks_cycles" in capsys.readouterr().err
