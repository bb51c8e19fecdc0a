"""The pictures that lectures draw by hand, simulated: which scenarios a figure shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from scanlab_report.read import streams
from scanlab_report.read.published import Publication
from scanlab_report.read.records import MEASURED, Results
from scanlab_report.select.provenance import Provenance, run_provenance
from scanlab_report.select.streams_evidence import Trace

Rows = Sequence[Sequence[str]]
"""Ids of scenarios, as they stand on the page."""
PICTURES: dict[str, Rows] = {
    "scenarios_generations": [[f"{device}_{order}" for order in ("sequential", "depth_first", "breadth_first")]
                           for device in ("c1060", "c2050", "k20c")],
    "scenarios_worth": [
    ["ideal_whole", "ideal_two_streams", "ideal_four_streams"],
    ["small_copies_whole", "small_copies_hoped", "small_copies_streams"],
    ["tails_one_stream", "tails_two_streams", "tails_one_grid"],
    ["small_grids_one_stream", "small_grids_four_streams", "small_grids_no_concurrency"],
],
    "scenarios_order": [[f"{what}_{which}" for which in ("expected", "real", "reordered")]
                           for what in ("one_way", "small_grids", "large_grids")],
    "scenarios_default_stream": [
    ["default_stream", "two_streams", "four_chunk_pipeline"],
    ["null_stream_legacy", "null_stream_per_thread", "null_stream_non_blocking"],
],
    "scenarios_chunks": [["even_chunks"], ["uneven_chunks"]],
}  # fmt: skip
"""By figure, the scenarios that it shows."""


@dataclass(frozen=True)
class ScenarioEvidence:
    """Scenarios in rows, all of one run of the model."""

    rows: list[list[Trace]]
    provenance: Provenance


@dataclass(frozen=True)
class Scenarios:
    """Certain scenarios, from the results of now or else the recorded ones, the newest."""

    rows: Rows
    measured_by: ClassVar = ("scenarios",)

    def find(self, results: Results, published: dict[str, Publication]) -> ScenarioEvidence | None:
        files = [file for file in results.streams if file.kind == streams.SIMULATION and "scenario" in file.run.context]
        files.sort(key=lambda file: (file.run.origin != MEASURED, file.run.date), reverse=True)
        newest = {file.run.context["scenario"]: file for file in files}  # of equals the last, which is the newest of now
        wanted = [scenario for row in self.rows for scenario in row]
        if not all(scenario in newest for scenario in wanted):
            return None
        used = [newest[scenario].run for scenario in wanted]
        origin = "simulated" if used[0].origin == MEASURED else f"simulated, {used[0].origin}"
        rows = [[Trace(dict(newest[scenario].run.context), newest[scenario].rows) for scenario in row] for row in self.rows]
        return ScenarioEvidence(rows, replace(run_provenance("scenarios", used, origin), device="Engine model"))

    def asked(self) -> str:
        return "simulated scenarios"
