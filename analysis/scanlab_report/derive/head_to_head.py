"""best against the fastest CUB: its rows by type and operator, the order of columns, and the worst head_to_head of each octave of sizes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from scanlab_report.console import count
from scanlab_report.select.evidence import LOSS, TIE, WIN, AllTimingEvidence

TYPES = ("i8", "i16", "i32", "i64", "f16", "f32", "f64")


def pairs(of: pd.DataFrame) -> list[tuple[str, str]]:
    """Types and operators of some cases, as rows of a figure or table: types in their order, ``plus`` before other operators by name."""
    present = dict.fromkeys(of[["type", "op"]].itertuples(index=False, name=None))
    return sorted(present, key=lambda pair: (TYPES.index(pair[0]), pair[1] != "plus", pair[1]))


def too_few_repetitions(timings: AllTimingEvidence, so: str) -> str:
    """A sentence for a caption, after a space: how many cases have no outcome, and ``so`` are left out; empty if none."""
    undecided = len(timings.comparisons) - len(timings.decided)
    return f" {count(undecided, 'case')} with too few repetitions for an interval {'is' if undecided == 1 else 'are'} {so}." if undecided else ""


def in_columns(comparisons: pd.DataFrame, columns: Iterable[tuple[str, str]]) -> np.ndarray:
    """Which cases are of one of these caches and launches."""
    return pd.MultiIndex.from_frame(comparisons[["cache", "launch"]]).isin(list(columns))


def worst_of_octaves(timings: AllTimingEvidence) -> pd.DataFrame:
    """One row a type, operator, column and octave of sizes: the head_to_head of worst outcome, and among those of least ratio."""
    comparisons = timings.decided[in_columns(timings.decided, COLUMNS) & (timings.decided["mode"] == "inclusive") & (timings.decided["items"] > 0)]
    severity = comparisons["outcome"].map({LOSS: 0, TIE: 1, WIN: 2})
    ranked = comparisons.assign(octave=[int(n).bit_length() - 1 for n in comparisons["items"]], severity=severity)
    ranked = ranked.sort_values(["severity", "ratio"], kind="stable")
    return ranked.drop_duplicates(["type", "op", "cache", "launch", "octave"])


COLUMNS = (("cold", "stream"), ("cold", "graph"), ("warm", "stream"), ("warm", "graph"))
