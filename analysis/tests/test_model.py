"""The engine model: scenarios, predictions against a device, advice."""

import json
from pathlib import Path
from typing import Any

import pytest

from scanlab_report import load, opened
from scanlab_report.chapters import model, scenarios
from scanlab_report.data import Data
from scanlab_report.pick import Lacking
from scanlab_report.shown import FIGURES
from tests import fixtures, tiny
from tests.tiny import near, with_rows

CHUNKS = FIGURES["scenarios_chunks"].make


def written(folder: Path, **documents: dict[str, Any]) -> Data:
    folder.mkdir(exist_ok=True)
    for name, document in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(document))
    return load.load([folder])


def test_scenarios_are_the_newest_and_blocks_stand_on_all_multiprocessors(tmp_path) -> None:
    made = {name: fixtures.scenario(name) for name in ("even_chunks", "uneven_chunks")}
    written(tmp_path / "old", **{name: own | {"traceEvents": []} for name, own in made.items()})
    made["even_chunks"] = fixtures.scenario("even_chunks", multiprocessors=4)
    written(tmp_path / "now", **made)
    data = load.load([tmp_path / "now"], [tmp_path / "old"])
    shown = tiny.shown(CHUNKS, data)
    line = "Engine model, 2026-01-02, commit 012345678, simulated"
    assert [source.line() for source in shown.sources] == [line]
    titles = ["(a) even_chunks: 1.6 units", "(b) uneven_chunks: 1.6 units"]
    assert [own.get_title("left") for own in shown.content.axes] == titles
    above, below = shown.content.axes
    names = [label.get_text() for label in above.get_yticklabels()]
    assert names == ["SM 0", "SM 1", "SM 2", "SM 3"], "the idle ones too"
    assert [text.get_text() for text in above.texts] == ["0", "0"]
    assert [text.get_text() for text in below.texts].count("2") == 2, "a kernel is too short"
    with pytest.raises(Lacking, match="simulated scenarios"):
        FIGURES["scenarios_order"].make(data)


def test_figures_of_scenarios_are_drawn_of_those_that_they_name(tmp_path) -> None:
    named = {name for rows in scenarios.PICTURES.values() for row in rows for name in row}
    data = written(tmp_path, **{name: fixtures.scenario(name) for name in named})
    for figure, rows in scenarios.PICTURES.items():
        shown = tiny.shown(FIGURES[figure].make, data)
        assert len(shown.content.axes) >= sum(map(len, rows))


def test_simulated_generations_stand_beside_the_published_ones(tmp_path) -> None:
    times = dict(sequential=12e3, depth_first=6e3, breadth_first=9e3)
    documents = {
        f"{device}_{order}": fixtures.scenario(f"{device}_{order}", makespan_us=us)
        for device in scenarios.GENERATIONS
        for order, us in times.items()
    }
    data = written(tmp_path, **documents)
    data.published = opened.opened([opened.RECORDED / "nvidia-h200-x2"]).published
    table = tiny.built(scenarios.generations, data)
    row = table.rows.set_index(["device", "schedule"]).loc[("c2050", "depth_first")]
    assert row["published_ratio"] == pytest.approx(0.574, abs=1e-3)
    assert row["simulated_ratio"] == 0.5 and row["percent"] == pytest.approx(-13, abs=0.1)
    assert set(table.rows["device"]) == {"c1060", "c2050", "k20c"}


def compared(schedule: str, connections: int, us: float, both: int, best: int) -> dict[str, Any]:
    """A trace of 100 µs whose prediction takes so long, and shares so many of ten overlaps."""
    row = dict(schedule=schedule, connections=connections, measured_us=100.0, predicted_us=us)
    overlaps = dict(overlap_in_either=10, overlap_in_both=both, best_overlap_in_either=10)
    return row | overlaps | dict(best_overlap_in_both=best, repetitions=connections + 6)


def test_the_model_is_off_by_predicted_over_measured_for_every_number_of_queues() -> None:
    rows = [compared("graph", 8, 110.0, 9, 10), compared("graph", 1, 90.0, 5, 8)]
    rows += [compared("skewed", 8, 100.0, 2, 4), compared("skewed", 3, 97.0, 2, 4)]
    about = dict(git_commit="a" * 40, git_dirty="true", measured_commit="b" * 40)
    data = with_rows(Data(), "comparison", rows, device="d", measured_dirty="false", **about)
    shown = tiny.shown(model.model_residuals, data)
    left, right = shown.content.axes
    marked = lambda axes: [own for own in axes.get_lines() if own.get_marker() in {*"os^"}]
    ratios = [line.get_ydata().tolist() for line in marked(left)]
    assert ratios == [[near(0.9)], [near(0.97)], near([1.1, 1])]
    pairs = [line.get_xydata().tolist() for line in marked(right)]
    assert pairs[0] == [near([80, 50])] and pairs[2] == [near([100, 90]), near([40, 20])]
    (source,) = shown.sources
    assert "commit bbbbbbbbb, simulated by commit aaaaaaaaa+, computed now" in source.line()
    assert source.repeated == "median of 7 to 14 repetitions"


def advice(items: int, error: float = 0.012, **changes: Any) -> dict[str, Any]:
    """A problem of which the advised choice is 5 % slower than the fastest."""
    choice = dict(schedule="graph", streams=2)
    advised = choice | dict(chunks=8, measured_us=1050.0)
    fastest = choice | dict(chunks=4, measured_us=1000.0)
    problem = dict(workload="scale", items=items, work=3, copied_bytes=8 * items, choices=40)
    ties = dict(ties=3, ties_least_slower=0.004, ties_most_slower=0.061, slower=0.05)
    errors = dict(median_error=error, worst_error=0.2, stated_was_measured=False)
    return problem | ties | errors | dict(advised=advised, fastest=fastest) | changes


def test_what_is_advised_stands_beside_the_fastest() -> None:
    data = with_rows(Data(), "advice", [advice(1 << 20)], device="d")
    table = tiny.built(model.model_advice, data)
    keys = "items advised_choice advised_ms fastest_choice fastest_ms percent ties ties_apart"
    assert tiny.printed(table, keys) == (
        "2^20 | graph, 8 × 2 | 1.05 | graph, 4 × 2 | 1.00 | 5.0 | 3 | 0.4–6.1"
    )
    assert tiny.printed(table, "median_percent worst_percent") == "1.2 | 20.0"
    assert "was not measured for scale of 2^20 items" in table.notes[0]
