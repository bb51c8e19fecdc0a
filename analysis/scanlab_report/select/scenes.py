"""The pictures that lectures draw by hand, simulated: which scenes a figure shows."""

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
"""Ids of scenes, as they stand on the page."""


@dataclass(frozen=True)
class SceneEvidence:
    """Scenes in rows, all of one run of the model."""

    rows: list[list[Trace]]
    provenance: Provenance


@dataclass(frozen=True)
class Scenes:
    """Certain scenes, from the results of now or else the recorded ones, the newest."""

    rows: Rows
    measured_by: ClassVar = ("scenarios",)

    def find(self, results: Results, published: dict[str, Publication]) -> SceneEvidence | None:
        files = [file for file in results.streams if file.kind == streams.SIMULATION and "scene" in file.run.context]
        files.sort(key=lambda file: (file.run.origin != MEASURED, file.run.date), reverse=True)
        newest = {file.run.context["scene"]: file for file in files}  # of equals the last, which is the newest of now
        wanted = [scene for row in self.rows for scene in row]
        if not all(scene in newest for scene in wanted):
            return None
        used = [newest[scene].run for scene in wanted]
        origin = "simulated" if used[0].origin == MEASURED else f"simulated, {used[0].origin}"
        rows = [[Trace(dict(newest[scene].run.context), newest[scene].rows) for scene in row] for row in self.rows]
        return SceneEvidence(rows, replace(run_provenance("scenes", used, origin), device="Engine model"))

    def absent(self) -> str:
        return "no simulated scenes"
