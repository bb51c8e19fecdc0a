"""What figures compute before they draw."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scanlab_report.figures import prefix_wait, single_wave, tile_size
from scanlab_report.read import results
from scanlab_report.select.needs import Waits
from tests.conftest import Built
from tests.fixtures import PREFIX_WAIT


def test_tiles_loaded_in_other_pieces_are_not_mixed_with_the_usual_ones(built: Built) -> None:
    timings = tile_size.NEEDS["timings"].find(results.read([], [built.recorded]), {})
    assert {"piece=1", "piece=1 tile=36"} <= set(timings.cases["settings"])
    rows = tile_size.by_tile(timings)
    of = rows[(rows["variant"] == "look_ahead") & (rows["items"] == 2**20)].set_index("kib")["ratio"]
    assert of.index.tolist() == [12, 30, 36]
    assert of[36] > of[12] and of[30] == pytest.approx(of[36] * 1.05, rel=0.03)


def test_shares_of_waits_are_of_the_cycles_of_the_role_and_roles_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "prefix_wait.csv").write_text(PREFIX_WAIT)
    rows = prefix_wait.shares(Waits().find(results.read([], [tmp_path]), {}))
    large = rows[(rows["variant"] == "look_ahead") & (rows["items"] == 2**24)].set_index("role")
    assert large.index.tolist() == ["load", "reduce", "look ahead", "scan"]
    assert large.loc["scan", ["data", "prefix", "store", "rest"]].tolist() == pytest.approx([0.5, 0.1, 0.02, 0.38])


def test_steps_of_a_single_wave_begin_at_the_floor_and_end_at_the_fastest_cub(tmp_path: Path, built: Built) -> None:
    document = json.loads((built.recorded / "scan.json").read_text())
    for entry in document["benchmarks"]:
        if "variant:cub_newest/" in entry["name"]:
            entry["real_time"] /= 2
    (tmp_path / "scan.json").write_text(json.dumps(document))
    rows = single_wave.steps(single_wave.NEEDS["timings"].find(results.read([], [tmp_path]), {}))
    at = rows[rows["items"] == 2**20].set_index("step")["us"]
    assert set(at.index) == set(single_wave.STEPS)
    assert at["empty_launch"] == pytest.approx(0.6, rel=0.02)
    assert at["cub"] == pytest.approx((4300 - 2000 + 8 * 2**20 / (4250 * 0.71 * 1.6)) / 2e3, rel=0.03)
