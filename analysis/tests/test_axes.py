"""Scans along an axis: the copy and the rivals of each shape, and where figures show them."""

from pathlib import Path
from typing import Any

import numpy as np

from scanlab_report.chapters import axes, segments, selections
from scanlab_report.data import Data
from scanlab_report.load import load
from tests import fixtures, tiny
from tests.fixtures import repetition, results, variant

OURS = ("axis_best", "block_per_row", "key_best", "key_copy", "select_look_ahead", "select_copy")
SHAPES = {"128x4": 4e6, "32x4": 1.25e6}
ABOUT = {id_: variant(id_) for id_ in (*OURS, "axis_copy", "cub", "torch")}
ABOUT["axis_copy"] |= {"kind": "copy", "origin": "baseline"}
ABOUT["cub"] |= {"family": "CUB", "origin": "baseline"}
ABOUT["torch"] |= {"family": "Python", "origin": "baseline"}


def samples(id_: str, ns: float, items: int, rows: int, inner: int = 1, **changes: Any) -> list:
    own = fixtures.case(id_, items, type_name="f32") | {"rows": rows, "inner": inner}
    own |= {"kind": "scan_axis"} | changes
    return [repetition(own, i, ns + i) for i in range(6)]


def data_of(folder: Path, *files: list[list]) -> Data:
    """The data of some files: the cases of each."""
    paths = []
    for number, cases in enumerate(files):
        document = results(*(entry for own in cases for entry in own), variants=ABOUT)
        paths.append(fixtures.write(folder / f"{number}.json", document))
    return load(paths)


def beside_a_copy(ns: float, *shape: int, copied: float = 1e6) -> list[list]:
    return [samples("axis_best", ns, *shape), samples("axis_copy", copied, *shape)]


def test_a_share_is_of_the_copy_of_the_same_shape(tmp_path) -> None:
    cases = beside_a_copy(2e6, 256, 4, 8) + beside_a_copy(2e6, 256, 8, 4, copied=4e5)
    cases += [samples("block_per_row", 1e6, 7, 1)]  # whose shape was not copied
    rows = axes.axis_cases(data_of(tmp_path, cases)).query("variant == 'axis_best'")
    assert rows[["items", "rows", "inner"]].to_numpy().tolist() == [[256, 4, 8], [256, 8, 4]]
    assert set(rows["octave"]) == {13}
    assert [round(share.value, 3) for share in rows["share"]] == [0.5, 0.2]


def test_a_rival_is_the_fastest_that_was_timed_for_the_shape(tmp_path) -> None:
    won = [*beside_a_copy(1.25e6, 32, 4096), samples("cub", 2.5e6, 32, 4096)]
    lost = [*beside_a_copy(2.5e6, 33, 4096), samples("cub", 1.25e6, 33, 4096)]
    columns = beside_a_copy(1e6, 32, 64, 64)
    python = [samples("torch", 2e6, 32, 4096), samples("torch", 3e6, 33, 4096)]
    data = data_of(tmp_path, [*won, *lost, *columns], python)
    table = tiny.built(axes.axis_standings, data)
    assert table.rows["rival"].to_list() == ["torch", "cub", None]
    assert [r and round(r.value, 2) for r in table.rows["ratio"]] == [1.6, 0.5, None]
    assert tiny.printed(table, "octave items rival outcome") == "2^17 | 32 | `torch` | win"
    assert tiny.printed(table, "inner rival share_rival ratio outcome", 2) == "64 | — | — | — | —"
    assert "Won: 1; tied: 0; lost: 1." in table.notes and "a run of their own" in table.notes[1]


def test_a_wrong_scan_is_named_and_stands_nowhere(tmp_path) -> None:
    wrong = [entry | {"verified": False} for entry in samples("cub", 1.0, 32, 4096)]
    data = data_of(tmp_path, [*beside_a_copy(2e6, 32, 4096), wrong])
    assert len(data.problems) == 6 and "its output was wrong" in str(data.problems[0])
    assert tiny.built(axes.axis_standings, data).rows["rival"].to_list() == [None]
    lost = [entry | {"inner": -1} for entry in samples("cub", 1.0, 32, 4096)]
    file = fixtures.write(tmp_path / "lost.json", results(*lost, variants=ABOUT))
    assert "inner" in str(load([file]).problems[0])


def keyed(id_: str, ns: float, **changes: Any) -> list:
    cut = {"kind": "scan_by_key", "segment": 8, "lengths": "random", "width": 4} | changes
    return [repetition(fixtures.case(id_, 1024) | cut, i, ns + i) for i in range(6)]


def test_a_scan_is_compared_in_segments_of_the_same_lengths(tmp_path) -> None:
    cases = [keyed("key_best", 2e6), keyed("key_copy", 1e6), keyed("cub", 4e6)]
    power = {"lengths": "power"}
    cases += [keyed("key_best", 2e6, **power), keyed("key_copy", 5e5, **power)]
    cases += [keyed("cub", 1e6, **power), keyed("key_best", 2e6, segment=128)]
    table = tiny.built(segments.segment_standings, data_of(tmp_path, cases))
    rows = table.rows.set_index("lengths")
    assert [round(share.value, 3) for share in rows["share"]] == [0.5, 0.25]
    assert [round(ratio.value, 2) for ratio in rows["ratio"]] == [2.0, 0.5]
    assert list(rows.index) == ["random", "power"] and list(rows["outcome"]) == ["win", "loss"]
    assert table.notes == ("Won: 1; tied: 0; lost: 1.",)


def test_cub_in_given_shapes_is_as_fast_as_the_fastest_of_them(tmp_path, monkeypatch) -> None:
    parameter = {"name": "shape", "values": ["128x4", "32x4"], "help": ""}
    monkeypatch.setitem(ABOUT, "cub", ABOUT["cub"] | {"parameters": [parameter]})
    cases = [keyed("key_best", 2e6), keyed("key_copy", 1e6)]
    cases += [keyed("cub", ns, settings={"shape": shape}) for shape, ns in SHAPES.items()]
    rows = tiny.built(segments.segment_standings, data_of(tmp_path, cases)).rows
    assert [(r.rival, round(r.share_rival.value, 3), r.outcome) for r in rows.itertuples()] == [
        ("cub", 0.8, "loss")
    ]


def selected(id_: str, ns: float, kept: int, kind: str = "select") -> list:
    case = fixtures.case(id_, 1024) | {"kind": kind, "kept": kept}
    return [repetition(case, i, ns + i) for i in range(6)]


def test_a_selection_is_held_against_a_copy_that_writes_as_much(tmp_path) -> None:
    cases = [selected("select_look_ahead", 2e6, 64), selected("select_copy", 1e6, 64)]
    cases += [selected("select_copy", 5e5, 0), selected("select_look_ahead", 1e6, 0)]
    cases += [selected("cub", 4e6, 64), selected("cub", 5e5, 0)]
    for id_, ns in (("partition_look_ahead", 5e6), ("partition_copy", 4e6), ("cub", 1e7)):
        cases += [selected(id_, ns, 64, "partition")]
    data = data_of(tmp_path, cases)
    rows = tiny.built(selections.selection_standings, data).rows
    assert [(r.kept, round(r.share.value, 2), r.outcome) for r in rows.itertuples()] == [
        (0.0, 0.5, "loss"),
        (0.5, 0.5, "win"),
        (0.5, 0.8, "win"),
    ]
    page = tiny.drawn(selections.selections, data)
    lines = {line.get_label(): np.round(line.get_ydata(), 3) for line in page.axes[0].get_lines()}
    assert [*lines["select_look_ahead"], *lines["cub"]] == [0.5, 0.5, 1.0, 0.25]


def test_an_application_is_held_against_pytorch_on_the_same_device(tmp_path) -> None:
    paths = []
    for device, theirs in (("A", 3e6), ("B", 1e6)):
        entries = []
        for id_, ns in (("torch", theirs), ("scanlab", 1e6)):
            case = fixtures.case(id_, 1024) | {"kind": "application", "application": "where"}
            entries += [repetition(case | {"rows": 1}, i, ns) for i in range(6)]
        document = results(*entries, variants=ABOUT)
        document["context"] |= {"device": device}
        paths.append(fixtures.write(tmp_path / f"{device}.json", document))
    page = tiny.drawn(selections.applications, load(paths))
    assert [bar.get_width() for bar in page.axes[0].patches] == [3.0]
