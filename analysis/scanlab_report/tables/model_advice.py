"""Advice of the engine model, beside the fastest choice measured."""

from __future__ import annotations

from typing import Any

from scanlab_report.layout.table_formats import Column, Table, significant, size
from scanlab_report.read import streams
from scanlab_report.select.evidence import TableEvidence
from scanlab_report.select.streams_evidence import WORK_SAID, Experiments

NEEDS = {"experiments": Experiments(streams.ADVICE)}


def _choice(of: dict[str, Any]) -> str:
    return f"{of['schedule']}, {of['chunks']} × {of['streams']}"


def build(experiments: TableEvidence) -> Table:
    rows = experiments.rows.sort_values(["workload", "items", "work"], ignore_index=True)
    for which in ("advised", "fastest"):
        rows[f"{which}_choice"] = [_choice(of) for of in rows[which]]
        rows[f"{which}_ms"] = [of["measured_us"] / 1e3 for of in rows[which]]
    rows["percent"] = 100 * rows["slower"]
    rows["ties_apart"] = [f"{100 * row.ties_least_slower:.1f}–{100 * row.ties_most_slower:.1f}" for row in rows.itertuples()]
    for which in ("median", "worst"):
        rows[f"{which}_percent"] = 100 * rows[f"{which}_error"]
    unmeasured = [f"{row.workload} of {size(row.items)} items" for row in rows.itertuples() if not row.stated_was_measured]
    columns = [
        Column("workload", "workload", right=False),
        Column("items", "items", size),
        Column("work", "work"),
        Column("choices", "choices"),
        *(Column(f"{which}_{key}", heading, form, right=key == "ms", group=which)
          for which in ("advised", "fastest")
          for key, heading, form in (("choice", "chunks × streams", str), ("ms", "ms", lambda v: significant(v, 3)))),
        Column("percent", "slower, %", lambda v: f"{v:.1f}"),
        Column("ties", "n", group="ties"),
        Column("ties_apart", "slower, %", group="ties"),
        Column("median_percent", "median", lambda v: f"{v:.1f}", group="error, %"),
        Column("worst_percent", "worst", lambda v: f"{v:.1f}", group="error, %"),
    ]  # fmt: skip
    return Table(
        caption="Advice of the engine model, calibrated by microbenchmarks alone, beside the fastest measured choice; times are medians of one sweep. "
        f"{WORK_SAID} "
        "Ties: the number n of measured choices that the model predicts as fast as the advised one, and their slowdown over the fastest. "
        "Error: predicted against measured makespan over all choices.",
        columns=columns,
        rows=rows,
        notes=(f"The advised choice was not measured for {', '.join(unmeasured)}; the best measured one stands instead.",) if unmeasured else (),
    )
