"""Scans of one array over several GPUs against the items per GPU, with copies on all GPUs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from scanlab_report.derive.ranks import COPY, beside
from scanlab_report.layout.ranks import COPIES, ordered
from scanlab_report.layout.ranks import look as look_of
from scanlab_report.page.columns import intervals, look, numbers, source, times
from scanlab_report.read import streams
from scanlab_report.read.published import Publication
from scanlab_report.read.records import Results, ranked
from scanlab_report.select.ranks_evidence import VENDOR, RanksEvidence, SeveralGpus

_CASE = ("algorithm", "settings", "type", "op", "mode", "ranks", "count")


def views(results: Results, published: dict[str, Publication]) -> list[dict[str, Any]]:
    """One view a device: its cases as columns, each algorithm with its usual settings, and the times of copies on all GPUs."""
    files = [file for file in results.streams if file.kind == streams.DISTRIBUTED]
    found = []
    for device in ranked([file.run for file in files], results.first):
        part = replace(results, found={}, streams=[file for file in files if file.run.device == device])
        if timed := SeveralGpus().find(part, published):
            found.append(_view(device, timed))
    return found


def _view(device: str, timed: RanksEvidence) -> dict[str, Any]:
    usual = timed.usual()
    cases = beside(usual)
    columns: dict[str, list[Any]] = {name: cases[name].tolist() for name in _CASE} | {"items": cases["items_per_rank"].tolist()}
    columns |= times("time_us", cases, 1e3) | {"rate": numbers(cases["gb_per_s"])}
    for name in ("of_copy", "of_vendor"):
        columns |= intervals(name, cases[name].tolist())
    copies = usual[usual["algorithm"] == COPY]
    return {
        "device": device, "source": source(timed.provenance), "copy": COPY, "vendor": VENDOR, "looks": {of: look(of, look_of(of)) for of in ordered(cases["algorithm"])} | {COPY: look(COPY, COPIES)},
        "cases": columns,
        "copies": {name: copies[name].tolist() for name in ("type", "op", "mode", "ranks")} | {"items": (copies["items"] / copies["ranks"]).tolist()}
        | times("time_us", copies, 1e3) | {"rate": numbers(copies["bytes"] / copies["median_ns"])},
    }  # fmt: skip
