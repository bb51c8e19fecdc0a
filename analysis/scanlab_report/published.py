"""Tables of the literature: a CSV each, and a TOML with its source."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from scanlab_report.data import Complaint, Publication
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


def load_published(folder: Path, problems: list[Complaint]) -> dict[str, Publication]:
    """The tables of the literature in a folder, by name: a CSV each, and a TOML with its source."""
    made = {}
    for file in sorted(folder.glob("*.csv")):
        at, forms = file.with_suffix(".toml"), _PUBLISHED.get(file.stem, {})
        try:
            source = tomllib.loads(at.read_text(encoding="utf-8-sig"))
            convert(source, _Source)
            at = file
            table = read_csv(file.read_text(encoding="utf-8-sig"))
            if missing := [column for column in forms if column not in table]:
                raise Misfit("line 1", f"lacks the columns {', '.join(missing)}")
        except Misfit as misfit:
            problems.append(Complaint(at, misfit.place, misfit.message))
        except (ValueError, OSError) as error:
            problems.append(Complaint(at, "", f"cannot be read ({error})"))
        else:
            table, wrong = checked(table, forms)
            problems += [Complaint(file, *sentence) for sentence in wrong]
            made[file.stem] = Publication(table, source)
    return made
