"""Results of other programs, nvbench's JSON and Google Benchmark's, as rows of the table `other`.

A row is a case: a benchmark at one point of its axes, on one device, with its samples, or with what
the file states where it has none.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from scanlab_report.data import Complaint
from scanlab_report.others.cases import new_case
from scanlab_report.others.google_benchmark import google
from scanlab_report.others.nvbench import nvbench
from scanlab_report.schema.fields import Misfit
from scanlab_report.schema.versions import schema_of
from scanlab_report.tables import COLUMNS

NVBENCH, GOOGLE = "nvbench", "Google Benchmark"
_UNKNOWN = f"is no results file of a known program: Scanlab, {NVBENCH} or {GOOGLE}"


class Unknown(Complaint):
    """A file of no known program."""


def program(document: Any) -> str:
    """The other program that wrote a document, sound or not; empty if none of the two did."""
    if not isinstance(document, dict) or _is_own(document):
        return ""
    with contextlib.suppress(KeyError, TypeError):
        return NVBENCH if document["meta"]["version"]["json"]["major"] == 1 else ""
    context = document.get("context")
    return GOOGLE if isinstance(context, dict) and "library_build_type" in context else ""


def _is_own(document: Mapping[str, Any]) -> bool:
    """Whether a document states a schema of Scanlab."""
    holders = [part for part in (document, document.get("context")) if isinstance(part, dict)]
    return any(str(holder.get("schema", "")).startswith("scanlab-") for holder in holders)


def unknown(file: Path, document: Any) -> Unknown | None:
    """Return a complaint about a document of no known program."""
    parts = document if isinstance(document, list) else [document]
    try:
        known = any(program(part) or schema_of(part) for part in parts)
    except Misfit:  # Scanlab's reader states what is wrong with it
        known = True
    return None if known else Unknown(file, "", _UNKNOWN)


def no_json(file: Path, raw: bytes) -> Unknown | None:
    """A complaint about bytes that do not begin as JSON does."""
    begins = raw[:99].lstrip()[:1] in (b"{", b"[", b"")
    return None if begins else Unknown(file, "", f"{_UNKNOWN}: it is no JSON")


def read(file: Path, document: Mapping[str, Any]) -> tuple[dict[str, Any], pd.DataFrame]:
    """Return the context of a file and its rows of `other`; Misfit if it is no results file. A case
    that does not fit has a reason and no time."""
    by = program(document)
    context, cases = (nvbench if by == NVBENCH else google)(file, document)
    rows = pd.DataFrame(cases, columns=list(new_case("", "")))
    if len(set(rows["device"]) - {""}) == 1:  # the slot of the only GPU names no case
        rows["device"] = ""
    again = rows.groupby(["benchmark", "case", "device"]).cumcount() + 1
    occurrence = (" (occurrence " + again.astype(str) + ")").where(again > 1, "")
    rows["case"] = (rows["case"] + occurrence).str.strip()
    rows["samples"] = 1e9 * rows["samples"]
    for name in ("median", "mean", "stdev"):
        rows[f"{name}_ns"] = 1e9 * rows[name].astype(float)
    rows["stdev_ns"] = rows["stdev_ns"].where(rows["stdev_ns"].between(0, sys.float_info.max))
    return context | {"program": by}, rows.reindex(columns=COLUMNS["other"])
