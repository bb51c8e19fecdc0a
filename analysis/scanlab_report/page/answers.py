"""Tables of the page: drift by results file, and the experiments on implicit synchronisation."""

from __future__ import annotations

from typing import Any

from scanlab_report.chapters import sessions as chapter
from scanlab_report.data import Data
from scanlab_report.page.columns import source_line
from scanlab_report.pick import Lacking, newest
from scanlab_report.sources import sources as sources_of


def sessions(data: Data) -> list[dict[str, Any]]:
    """One view per device: the table of drift, outliers and clocks of its results files."""
    made = []
    for device in data.devices or [""]:
        try:
            shown = chapter.sessions(data.on(device) if device else data)
        except Lacking:
            continue
        (source,), table = shown.sources, shown.content
        made.append(
            {
                "device": source.device,
                "source": source_line(source),
                "text": shown.caption,
                "columns": [column.full_heading for column in table.columns],
                "rows": [
                    [column.form(row[column.key]) for column in table.columns]
                    for row in table.rows.to_dict("records")
                ],
            }
        )
    return made


def implicit_sync(data: Data) -> list[dict[str, Any]]:
    """One view per device, with its experiments as columns."""
    asks = {"host": "blocks the host", "streams": "serialises streams"}
    made = []
    for device in data.devices:
        own = data.on(device)
        try:
            rows = newest(own, "implicit_sync", "")
        except Lacking:
            continue
        shown = rows[["question", "asks", "stated", "answer", "differs", "yes", "trials", "source"]]
        shown = shown.fillna({"stated": "", "answer": "not tried"})
        shown["asks"] = shown["asks"].map(asks).fillna("launches, events, order and queues")
        made.append(
            {
                "device": device,
                "source": source_line(sources_of(own, rows)[0]),
                "experiments": shown.to_dict("list"),
            }
        )
    return made
