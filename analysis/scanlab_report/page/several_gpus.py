"""Scans of one array over several GPUs by items per GPU, with copies on all GPUs."""

from __future__ import annotations

from typing import Any

import pandas as pd

from scanlab_report.chapters.rank_cases import (
    COPY,
    VENDOR,
    compared,
    ordered,
    several,
    usual,
)
from scanlab_report.chapters.rank_cases import look as look_of
from scanlab_report.data import Data, ranked
from scanlab_report.page.columns import intervals, look, numbers, source_line, times
from scanlab_report.pick import pick
from scanlab_report.sources import sources

_PROBLEM = ("type", "op", "mode", "ranks")


def views(data: Data) -> list[dict[str, Any]]:
    """A view per device: its cases as columns, each algorithm with its usual settings, and the
    times of copies on all GPUs."""
    files = [data.files[number] for number in data["distributed"]["file"].unique()]
    made = []
    for device in ranked(files, data.first):
        part = data.cut(lambda file: file.device == device)
        made.append(_view(device, part, several(part)))
    return made


def _view(device: str, data: Data, timed: pd.DataFrame) -> dict[str, Any]:
    cases = usual(timed)
    scans, copies = compared(cases), pick(cases, algorithm=COPY)
    ratios: dict[str, Any] = {}
    for name in ("of_copy", "of_vendor"):
        ratios |= intervals(name, scans[name].tolist())
    return {
        "device": device, "source": source_line(sources(data, timed)[0]), "copy": COPY,
        "vendor": VENDOR,
        "looks": {id_: look(id_, look_of(id_)) for id_ in (*ordered(scans["algorithm"]), COPY)},
        "cases": _columns(scans, "algorithm", "settings", *_PROBLEM, "count") | ratios,
        "copies": _columns(copies, *_PROBLEM),
    }  # fmt: skip


def _columns(rows: pd.DataFrame, *names: str) -> dict[str, list[Any]]:
    columns = {name: rows[name].tolist() for name in names}
    columns |= {"items": rows["items_per_rank"].tolist()} | times("time_us", rows, 1e3)
    return columns | {"rate": numbers(rows["gb_per_s"])}
