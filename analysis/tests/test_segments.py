"""Scans by key and of segments: the copy and the rival of each case."""

from pathlib import Path
from typing import Any

from scanlab_report.chapters import segments
from scanlab_report.load import load
from tests import fixtures, tiny
from tests.fixtures import repetition, results, variant


def samples(id_: str, ns: float, **changes: Any) -> list:
    cut = {"kind": "scan_by_key", "segment": 8, "lengths": "random", "width": 4} | changes
    return [repetition(fixtures.case(id_, 1024) | cut, i, ns + i) for i in range(6)]


def test_a_scan_is_compared_in_segments_of_the_same_lengths(tmp_path: Path) -> None:
    about = {id_: variant(id_) for id_ in ("key_best", "key_copy", "cub")}
    about["cub"] |= {"family": "CUB", "origin": "baseline"}
    cases = [samples("key_best", 2e6), samples("key_copy", 1e6), samples("cub", 4e6)]
    power = {"lengths": "power"}
    cases += [samples("key_best", 2e6, **power), samples("key_copy", 5e5, **power)]
    cases += [samples("cub", 1e6, **power), samples("key_best", 2e6, segment=128)]
    document = results(*(entry for own in cases for entry in own), variants=about)
    data = load([fixtures.write(tmp_path / "samples.json", document)])
    table = tiny.built(segments.segment_standings, data)
    rows = table.rows.set_index("lengths")
    assert [round(share.value, 3) for share in rows["share"]] == [0.5, 0.25]
    assert [round(ratio.value, 2) for ratio in rows["ratio"]] == [2.0, 0.5]
    assert list(rows.index) == ["random", "power"] and list(rows["outcome"]) == ["win", "loss"]
    assert table.notes == ("Won: 1; tied: 0; lost: 1.",)
