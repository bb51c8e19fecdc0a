"""Tables of the literature: a CSV each, and a TOML with its source."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from scanlab_report.data import Publication
from scanlab_report.reading import checked, read_csv
from scanlab_report.schema.base import Count, Name, Positive
from scanlab_report.schema.fields import Misfit, convert


class _Source(Struct):
    short: Name


_PUBLISHED: Mapping[str, Mapping[str, Any]] = {
    "harris2012_overlap": {"device": Name, "schedule": Name, "milliseconds": Positive},
    "hso2007_table2": {
        **dict.fromkeys(("items", "items_printed"), Count),
        **dict.fromkeys(("cpu_ms", "gpu_ms", "speedup_printed"), Positive),
    },
}
"""The columns that figures and claims read."""


def load_published(folder: Path, problems: list[str]) -> dict[str, Publication]:
    """The tables of the literature in a folder, by name: a CSV each, and a TOML with its source."""
    made = {}
    for file in sorted(folder.glob("*.csv")):
        at, forms = file.with_suffix(".toml"), _PUBLISHED.get(file.stem, {})
        try:
            source = tomllib.loads(at.read_text(encoding="utf-8-sig"))
            convert(source, _Source)
            at = file
            table, wrong = checked(read_csv(file.read_text(encoding="utf-8-sig")), forms)
        except Misfit as misfit:
            problems.append(f"{at}: {misfit}")
        except (ValueError, OSError) as error:
            problems.append(f"{at}: cannot be read ({error})")
        else:
            problems += [f"{file}: {sentence}" for sentence in wrong]
            made[file.stem] = Publication(table, source)
    return made
