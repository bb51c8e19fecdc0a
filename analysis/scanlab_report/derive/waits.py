"""Where the cycles of each role's warps go."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scanlab_report.read.records import WAIT_PREFIX
from scanlab_report.select.evidence import TableEvidence

ROLES = ("load", "reduce", "look ahead", "tell", "scan", "block")
"""In the order in which a tile meets them."""
NAMED = ("variant", "items", "type", "tile", "rank", "role")


def shares(waits: TableEvidence) -> pd.DataFrame:
    """One row a variant, size, role and rank: the columns of ``NAMED``, one for each thing waited for, and ``rest``; all shares of the role's cycles.

    ``tile`` is in KiB, and ``rank`` a GPU of several; NaN where the file does not say.
    """
    place = waits.rows["role"].map({role: place for place, role in enumerate(ROLES)}).fillna(len(ROLES))
    rows = waits.rows.assign(place=place).sort_values(["variant", "items", "place"], kind="stable", ignore_index=True)
    columns = [column for column in rows.columns if column.startswith(WAIT_PREFIX)]
    found = pd.DataFrame({column.removeprefix(WAIT_PREFIX): rows[column].fillna(0) / rows["cycles_total"] for column in columns})
    found["rest"] = (1 - found.sum(axis=1)).clip(lower=0)
    return found.assign(**{name: rows.get(name, np.nan) for name in NAMED})


def kinds(found: pd.DataFrame) -> list[str]:
    """What is waited for, in what :func:`shares` found."""
    return [column for column in found.columns if column not in (*NAMED, "rest")]
