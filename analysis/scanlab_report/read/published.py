"""Tables of the literature: a CSV each, with a TOML of the same stem that states its source."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from msgspec import Struct

from scanlab_report.schema.base import Count, Name, Positive
from scanlab_report.schema.fields import Misfit, convert
from scanlab_report.read.records import Complaint
from scanlab_report.read.tables import checked, read_csv

_COLUMNS: Mapping[str, Mapping[str, Any]] = {
    "harris2012_overlap": {"device": Name, "schedule": Name, "milliseconds": Positive},
    "hso2007_table2": {"items": Count, "items_printed": Count, "cpu_ms": Positive, "gpu_ms": Positive, "speedup_printed": Positive},
}
"""Of the tables that figures and claims know, what they read."""


class _Source(Struct):
    short: Name


@dataclass(frozen=True)
class Publication:
    """A published table and its source."""

    table: pd.DataFrame
    source: Mapping[str, Any]

    @property
    def citation(self) -> str:
        """Authors and year, for a legend."""
        return str(self.source["short"])


def read(folder: Path, problems: list[Complaint]) -> dict[str, Publication]:
    """Every published table of a folder, by file stem."""
    publications: dict[str, Publication] = {}
    for file in sorted(folder.glob("*.csv")):
        sidecar = file.with_suffix(".toml")
        try:
            source = tomllib.loads(sidecar.read_text(encoding="utf-8-sig"))
        except FileNotFoundError:
            problems.append(Complaint(file, "", f"its source is missing: expected {sidecar.name} beside it"))
            continue
        except (ValueError, OSError) as error:
            problems.append(Complaint(sidecar, "", f"is not TOML ({error})"))
            continue
        try:
            convert(source, _Source)
        except Misfit as misfit:
            problems.append(Complaint(sidecar, misfit.place, misfit.message))
            continue
        try:
            table, forms = read_csv(file.read_text(encoding="utf-8-sig")), _COLUMNS.get(file.stem, {})
        except (ValueError, OSError) as error:
            problems.append(Complaint(file, "", f"cannot be read as CSV ({error})"))
            continue
        if missing := [column for column in forms if column not in table]:
            problems.append(Complaint(file, "line 1", f"lacks the columns {', '.join(missing)}"))
            continue
        table, wrong = checked(table, forms)
        problems += [Complaint(file, *of) for of in wrong]
        publications[file.stem] = Publication(table, source)
    return publications
