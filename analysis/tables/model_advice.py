"""What the engine model advises, held against a sweep in which every choice was measured."""

from __future__ import annotations

from typing import Any

from analysis import streams
from analysis.evidence import TableEvidence
from analysis.streams_evidence import Experiments
from analysis.table_formats import Column, Table, significant, size

NEEDS = {"experiments": Experiments(streams.ADVICE)}


def _choice(of: dict[str, Any]) -> str:
    return f"{of['schedule']}, {of['chunks']} × {of['streams']}"


def build(experiments: TableEvidence) -> Table:
    rows = experiments.rows.sort_values(["workload", "items", "work"], ignore_index=True)
    for which in ("advised", "fastest"):
        rows[f"{which}_choice"] = [_choice(of) for of in rows[which]]
        rows[f"{which}_ms"] = [of["measured_us"] / 1e3 for of in rows[which]]
    rows["percent"] = 100 * rows["slower"]
    columns = [
        Column("workload", "workload", right=False),
        Column("items", "items", size),
        Column("work", "work"),
        Column("choices", "choices"),
        *(Column(f"{which}_{key}", heading, form, right=key == "ms", group=which)
          for which in ("advised", "fastest")
          for key, heading, form in (("choice", "chunks × streams", str), ("ms", "ms", lambda v: significant(v, 3)))),
        Column("percent", "slower, %", lambda v: f"{v:.1f}"),
    ]  # fmt: skip
    return Table(
        caption="What the engine model advises, calibrated by microbenchmarks alone, beside the fastest of all choices as measured: each "
        "problem's choices were all timed, and both times are medians of that sweep.",
        columns=columns,
        rows=rows,
        wide=True,
    )
