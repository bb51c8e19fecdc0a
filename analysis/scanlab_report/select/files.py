"""Which file answers where several have a case: the one that timed the most variants, of equals the newest.

So what is compared was timed together wherever a file has it together, and repetitions of two files are never pooled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd


def places(timed: Mapping[int, int], dates: Mapping[int, str]) -> dict[int, int]:
    """The place of each file in the order in which they answer. ``timed``: how many variants each has; ``dates``: when it was begun."""
    newest_first = sorted(timed, key=lambda file: (timed[file], dates[file], file), reverse=True)
    return {file: place for place, file in enumerate(newest_first)}


def of_first(rows: pd.DataFrame, case: Sequence[str], file: str, place: Mapping[int, int]) -> pd.DataFrame:
    """The repetitions of each case in the file that answers first; ``file`` is the column that says which."""
    if rows.empty:
        return rows
    rank = rows[file].map(place)
    return rows[rank == rank.groupby([rows[column] for column in case]).transform("min")]
