"""Issue orders on devices of 2008, 2010 and 2012, published and simulated."""

from __future__ import annotations

from scanlab_report.layout.table_formats import Column, Table, significant
from scanlab_report.read.published import Publication
from scanlab_report.select.counted import Published
from scanlab_report.select.scenarios import ScenarioEvidence, Scenarios

DEVICES = {"c1060": "Tesla C1060", "c2050": "Tesla C2050", "k20c": "Tesla K20c"}
# What Harris' article of 2012 compares, by the names of its table and of the scenarios: no choice of ours.
ORDERS = {"sequential": "sequential", "depth_first": "depth-first", "breadth_first": "breadth-first"}
NEEDS = {
    "scenarios": Scenarios([[f"{device}_{order}" for order in ORDERS] for device in DEVICES]),
    "published": Published("harris2012_overlap"),
}


def build(scenarios: ScenarioEvidence, published: Publication) -> Table:
    simulated = {scenario.about["scenario"]: scenario.about["makespan_us"] / 1e3 for row in scenarios.rows for scenario in row}
    rows = published.table.rename(columns={"milliseconds": "published_ms"})
    rows["simulated_ms"] = [simulated[f"{row.device}_{row.schedule}"] for row in rows.itertuples()]
    for source in ("published", "simulated"):
        sequential = rows[rows["schedule"] == "sequential"].set_index("device")[f"{source}_ms"]
        rows[f"{source}_ratio"] = rows[f"{source}_ms"] / rows["device"].map(sequential)
    rows["percent"] = 100 * (rows["simulated_ratio"] / rows["published_ratio"] - 1)
    columns = [
        Column("device", "device", DEVICES.__getitem__, right=False),
        Column("schedule", "issue order", ORDERS.__getitem__, right=False),
        *(Column(f"{source}_{key}", heading, lambda v: significant(v, 3), group=source)
          for source in ("published", "simulated") for key, heading in (("ms", "ms"), ("ratio", "of sequential"))),
        Column("percent", "difference, %", lambda v: f"{v:+.1f}"),
    ]  # fmt: skip
    return Table(
        caption=f"Times of issue orders on three devices: published ({published.citation}) and simulated, 16 MiB in four chunks and four streams. The engine "
        "model gives H2D copy, kernel and D2H copy a third of the sequential time each; no parameter is fitted. The difference compares shares of sequential.",
        columns=columns,
        rows=rows,
        notes=("The model assumes three equal parts, and copies in both directions at full rate. Neither is published.",),
    )  # fmt: skip
