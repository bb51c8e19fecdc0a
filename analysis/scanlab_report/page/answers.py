"""Sessions with their drift, and the experiments on implicit synchronisation."""

from __future__ import annotations

from typing import Any

from scanlab_report.data import Data, ranked
from scanlab_report.drift import Session, sessions_of
from scanlab_report.page.columns import numbers, source_line
from scanlab_report.pick import Lacking, newest
from scanlab_report.sources import source_of, sources

MOST = 300
"""So many outliers of a session are on the page, the farthest ones."""


def sessions(data: Data) -> list[dict[str, Any]]:
    """One view per device and session; times are over the median of the others of their case."""
    timed = {n for kind in ("scan", "schedule", "stream_scan") for n in data[kind]["file"]}
    made = []
    for device in ranked([data.files[n] for n in timed], data.first):
        try:
            device_sessions = sessions_of(data, device)
        except Lacking:
            continue
        made += [_session(device, session) for session in device_sessions]
    return made


def _session(device: str, session: Session) -> dict[str, Any]:
    rounds, outliers = session.rounds, session.outliers.head(MOST)
    changes = {name: numbers(100 * (rounds[name] - 1)) for name in ("median", "low", "high")}
    return {
        "device": device,
        "title": session.title,
        "source": source_line(source_of(session.files)),
        "cases": len(session.names),
        "repetitions": len(session.samples),
        "outside": len(session.outliers),
        "normal_percent": numbers([100 * session.outliers_of_normal])[0],
        "rising": session.trending(slower=True),
        "falling": session.trending(slower=False),
        "power": session.power(),
        "went_on": session.went_on().replace("`", ""),
        "clocks": len(session.clocks),
        "throttling": session.throttling(),
        "rounds": {
            "of": rounds["rounds"].tolist(),
            "round": (rounds["round"] + 1).tolist(),
            "cases": rounds["cases"].tolist(),
        }
        | changes,
        "outliers": {
            "round": (outliers["round"] + 1).tolist(),
            "name": outliers["name"].tolist(),
            "relative": numbers(outliers["relative"]),
        },
    }


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
                "source": source_line(sources(own, rows)[0]),
                "experiments": shown.to_dict("list"),
            }
        )
    return made
