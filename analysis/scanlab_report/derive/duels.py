"""best against the fastest CUB: the order of types, operators and columns, and the worst duel of each octave of sizes."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from scanlab_report.select.evidence import LOSS, TIE, WIN, AllTimingEvidence

TYPES = ("i8", "i16", "i32", "i64", "f16", "f32", "f64")
_FIRST = ("plus", "max", "min", "affine")


def operators(found: Iterable[str]) -> list[str]:
    """Operators in the order of rows: those that every type has come first, then the others by name."""
    return sorted(set(found), key=lambda op: (_FIRST.index(op) if op in _FIRST else len(_FIRST), op))


def worst_of_octaves(timings: AllTimingEvidence) -> pd.DataFrame:
    """One row a type, operator, column and octave of sizes: the duel of worst outcome, and among those of least ratio."""
    duels = timings.duels[(timings.duels["mode"] == "inclusive") & (timings.duels["items"] > 0)]
    severity = duels["outcome"].map({LOSS: 0, TIE: 1, WIN: 2})
    ranked = duels.assign(octave=[int(n).bit_length() - 1 for n in duels["items"]], severity=severity)
    ranked = ranked.sort_values(["severity", "ratio"], kind="stable")
    return ranked.drop_duplicates(["type", "op", "cache", "launch", "octave"])


COLUMNS = (("cold", "stream"), ("cold", "graph"), ("warm", "stream"), ("warm", "graph"))
