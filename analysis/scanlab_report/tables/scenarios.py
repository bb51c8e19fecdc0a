"""Simulated scenarios: the finding of each panel of the figures of scenarios."""

from __future__ import annotations

from scanlab_report.layout.scenes import panels
from scanlab_report.layout.table_formats import Column, Table, code, figure, records
from scanlab_report.select.scenes import PICTURES, SceneEvidence, Scenes

NEEDS = {name: Scenes(rows) for name, rows in PICTURES.items()}


def build(**scenes: SceneEvidence) -> Table:
    return Table(
        caption="Simulated scenarios: makespan and finding of each panel of the figures of scenarios.",
        columns=(
            Column("figure", "figure", code, right=False, refers=figure),
            Column("panel", "panel", right=False),
            Column("title", "scenario", right=False, wrap=12),
            Column("makespan", "makespan"),
            Column("finding", "finding", right=False, wrap=32),
        ),
        rows=records([{"figure": name, "panel": letter, "title": scene.about["title"], "makespan": makespan, "finding": scene.about["fact"]}
                      for name in PICTURES for letter, makespan, scene in panels(scenes[name])]),
    )  # fmt: skip
