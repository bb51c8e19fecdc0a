"""Drift, outliers and clocks of each session: the medians of its rounds, and its farthest outliers."""

from __future__ import annotations

from typing import Any

from scanlab_report.page.columns import numbers, source
from scanlab_report.read.published import Publication
from scanlab_report.read.records import Results, ranked, repeated
from scanlab_report.select.drift import TITLES, Sessions, TimedFiles
from scanlab_report.select.provenance import run_provenance

MOST = 300
"""So many outliers of a session are on the page, the farthest ones; how many there are is said."""


def views(results: Results, published: dict[str, Publication]) -> list[dict[str, Any]]:
    """One view a device and session; times are over the median of the other repetitions of their case."""
    found = []
    for device in ranked((file.run for file in repeated(results)), results.first):
        if evidence := Sessions(device).find(results, published):
            found += [_view(device, session) for session in evidence.sessions]
    return found


def _view(device: str, session: TimedFiles) -> dict[str, Any]:
    rounds, outliers, clocks = session.rounds, session.outliers, session.clocks
    farthest = outliers.head(MOST)
    return {
        "device": device, "title": f"{TITLES[session.kind]}: {session.name}",
        "source": source(run_provenance("session", session.runs, session.runs[0].origin)),
        "cases": len(session.names), "repetitions": len(session.repetitions), "outside": len(outliers),
        "normal_percent": numbers([100 * session.outliers_of_normal])[0],
        "rising": session.trending(slower=True), "falling": session.trending(slower=False), "power": session.power_said(), "went_on": session.went_on_said().replace("`", ""),
        "clocks": len(clocks), "lowered": session.lowered, "throttling": session.throttling(),
        "rounds": {"of": rounds["of"].tolist(), "round": (rounds["round"] + 1).tolist(), "cases": rounds["cases"].tolist()}
        | {name: numbers(100 * (rounds[name] - 1)) for name in ("median", "low", "high")},
        "outliers": {"round": (farthest["round"] + 1).tolist(), "name": farthest["name"].tolist(), "relative": numbers(farthest["relative"])},
    }  # fmt: skip
