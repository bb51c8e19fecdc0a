"""Simulated scenarios: the finding of each panel of the figures of scenarios."""

from __future__ import annotations

from scanlab_report.layout.scenarios import panels
from scanlab_report.layout.table_formats import Column, Table, code, figure, records
from scanlab_report.select.scenarios import PICTURES, ScenarioEvidence, Scenarios

NEEDS = {name: Scenarios(rows) for name, rows in PICTURES.items()}


def build(**scenarios: ScenarioEvidence) -> Table:
    return Table(
        caption="Simulated scenarios: makespan and finding of each panel of the figures of scenarios.",
        columns=(
            Column("figure", "figure", code, right=False, refers=figure),
            Column("panel", "panel", right=False),
            Column("title", "scenario", right=False, wrap=12),
            Column("makespan", "makespan"),
            Column("finding", "finding", right=False, wrap=32),
        ),
        rows=records([{"figure": name, "panel": letter, "title": scenario.about["title"], "makespan": makespan, "finding": scenario.about["fact"]}
                      for name in PICTURES for letter, makespan, scenario in panels(scenarios[name])]),
    )  # fmt: skip
