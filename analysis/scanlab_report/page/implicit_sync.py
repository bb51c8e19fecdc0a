"""Implicit synchronisation: each experiment with the answer of its source and of the device."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from scanlab_report.page.columns import source
from scanlab_report.read import streams
from scanlab_report.read.published import Publication
from scanlab_report.read.records import Results, ranked
from scanlab_report.select.streams_evidence import Experiments

_ASKS = {"host": "blocks the host", "streams": "serialises streams"}
_ELSE = "launches, events, order and queues"


def views(results: Results, published: dict[str, Publication]) -> list[dict[str, Any]]:
    """One view per device, with its experiments as columns."""
    found = []
    for device in ranked([file.run for file in results.streams if file.kind == streams.IMPLICIT_SYNC], results.first):
        part = replace(results, found={}, streams=[file for file in results.streams if file.run.device == device])
        if evidence := Experiments(streams.IMPLICIT_SYNC).find(part, published):
            rows = [_row(row) for row in evidence.rows.itertuples()]
            found.append({"device": device, "source": source(evidence.provenance), "experiments": {name: [row[name] for row in rows] for name in rows[0]}})
    return found


def _row(row: Any) -> dict[str, Any]:
    answer = row.answer if isinstance(row.answer, str) else "not tried"
    return {
        "question": row.question, "asks": _ASKS.get(row.asks, _ELSE), "stated": row.stated if isinstance(row.stated, str) else "", "answer": answer,
        "differs": bool(row.differs), "yes": int(row.yes), "trials": int(row.trials), "source": row.source,
    }  # fmt: skip
